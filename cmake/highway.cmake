# SPDX-License-Identifier: MIT OR Apache-2.0
# Which versions of Highway's headers the vector kernels are compiled with.

# The kernels call what earlier versions do not have, such as Ubuntu 22.04's 0.16; none before this one was tried.
set(gsort_highway_least 1.0.3)

# gsort_read_highway_version(folder variable): the version of the headers in folder/hwy, such as 1.0.7; empty if there
# are none. It stands in highway.h, and in later versions in base.h.
function(gsort_read_highway_version folder variable)
  set(numbers "")
  foreach(part MAJOR MINOR PATCH)
    foreach(header base.h highway.h)
      if(EXISTS ${folder}/hwy/${header})
        file(STRINGS ${folder}/hwy/${header} line REGEX "^#define HWY_${part} [0-9]+$" LIMIT_COUNT 1)
        string(REGEX MATCH "[0-9]+$" number "${line}")
        list(APPEND numbers ${number})
      endif()
    endforeach()
  endforeach()
  list(JOIN numbers "." version)
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()
