# SPDX-License-Identifier: MIT OR Apache-2.0
# For which GPUs kernels are compiled.

# Machine code for each architecture that a release serves, and PTX of the newest for what comes after. sm_86 and sm_89
# run the code of sm_80: the instructions are the same, plans choose by what the device has, and no kernel that they can
# choose there is bounded to more threads than a multiprocessor of theirs takes, so that code of their own would be a
# copy with other schedules.
set(gsort_release_architectures 75-real 80-real 90-real 100-real 120)
# Most bytes of a release's library, stripped: a little more than the last one that was linked has (19984160,
# docs/library-size.md). The aim is 12000000; lower this with every release that is smaller.
set(GSORT_RELEASE_BYTES_MAX 19990000)
# What a quick build takes on a machine without a GPU.
set(gsort_quick_architectures 90-real)

# gsort_native_architectures(variable): the architectures of the GPUs in this machine, which the driver's own tool knows;
# empty where there is none, where the tool is missing, or where the CUDA 13 compiler does not know one of them.
function(gsort_native_architectures variable)
  set(compiled_for 75 80 86 87 88 89 90 100 103 110 120 121)
  set(${variable} "" PARENT_SCOPE)
  find_program(GSORT_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(GSORT_NVIDIA_SMI)
  if(NOT GSORT_NVIDIA_SMI)
    return()
  endif()
  execute_process(COMMAND ${GSORT_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader TIMEOUT 30
                  RESULT_VARIABLE status OUTPUT_VARIABLE lines ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${lines}")
  if(NOT status EQUAL 0 OR NOT capabilities)
    return()
  endif()
  set(architectures)
  foreach(capability IN LISTS capabilities)
    string(REPLACE "." "" architecture ${capability})
    if(architecture IN_LIST compiled_for)
      list(APPEND architectures ${architecture}-real)
    elseif(architecture LESS 75)
      message(STATUS "gsort: a GPU of compute capability ${capability} is here; the CUDA engine serves 7.5 and later")
    else()
      return()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES architectures)
  list(SORT architectures COMPARE NATURAL)
  set(${variable} "${architectures}" PARENT_SCOPE)
endfunction()

# gsort_choose_architectures(architectures_variable reason_variable): what CMAKE_CUDA_ARCHITECTURES becomes where the
# user has not set it, and why.
function(gsort_choose_architectures architectures_variable reason_variable)
  set(architectures ${gsort_release_architectures})
  set(reason "all that a release serves")
  if(NOT GSORT_RELEASE_ARCHITECTURES)
    gsort_native_architectures(native)
    if(native)
      set(architectures ${native})
      set(reason "the GPUs in this machine")
    elseif(GSORT_QUICK_BUILD)
      set(architectures ${gsort_quick_architectures})
      set(reason "a quick build on a machine without a GPU")
    else()
      string(APPEND reason ", for no GPU was found here")
    endif()
  endif()
  set(${architectures_variable} "${architectures}" PARENT_SCOPE)
  set(${reason_variable} "${reason}" PARENT_SCOPE)
endfunction()
