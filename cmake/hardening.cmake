# SPDX-License-Identifier: MIT OR Apache-2.0
# gsort_harden(target): checks by libc of the calls that write memory, in optimised builds, unless the user, a project
# around this one or the compiler itself has decided on _FORTIFY_SOURCE: a second value would be an error.
include(CheckCXXSourceCompiles)

function(gsort_harden target)
  if(GSORT_SANITIZE)
    return()
  endif()
  get_directory_property(definitions COMPILE_DEFINITIONS)
  get_directory_property(options COMPILE_OPTIONS)
  string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags_of_type)
  if("${CMAKE_CXX_FLAGS} ${${flags_of_type}} ${definitions} ${options}" MATCHES "_FORTIFY_SOURCE")
    return()
  endif()
  set(CMAKE_REQUIRED_FLAGS -O2)
  check_cxx_source_compiles("
    #ifdef _FORTIFY_SOURCE
    #error the compiler sets it
    #endif
    int main() { return 0; }" GSORT_FORTIFY_SOURCE_IS_OURS)
  if(GSORT_FORTIFY_SOURCE_IS_OURS)
    target_compile_definitions(${target} PRIVATE
      $<$<AND:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>,$<COMPILE_LANGUAGE:CXX>>:_FORTIFY_SOURCE=2>)
  endif()
endfunction()
