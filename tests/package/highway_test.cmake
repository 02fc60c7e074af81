# SPDX-License-Identifier: MIT OR Apache-2.0
# Which versions of Highway's headers a build takes.
# usage: cmake -DROOT=<root of the project> -DSCRATCH=<folder> -P highway_test.cmake
cmake_minimum_required(VERSION 3.22)
include(${ROOT}/cmake/highway.cmake)

# wanted(version taken header other_header): headers whose version stands in the first of the two
function(wanted version taken header other_header)
  string(REPLACE "." ";" numbers ${version})
  list(GET numbers 0 major)
  list(GET numbers 1 minor)
  list(GET numbers 2 patch)
  file(WRITE ${SCRATCH}/hwy/${header}
       "#define HWY_MAJOR ${major}\n#define HWY_MINOR ${minor}\n#define HWY_PATCH ${patch}\n#define HWY_MAX 4\n")
  file(WRITE ${SCRATCH}/hwy/${other_header} "#include \"hwy/targets.h\"\n")
  gsort_read_highway_version(${SCRATCH} read)
  if(NOT read STREQUAL version)
    message(FATAL_ERROR "${header} with ${version} was read as '${read}'")
  endif()
  set(is_taken NO)
  if(read VERSION_GREATER_EQUAL gsort_highway_least)
    set(is_taken YES)
  endif()
  if(NOT is_taken STREQUAL taken)
    message(FATAL_ERROR "Highway ${version}: taken is ${is_taken}, not ${taken}")
  endif()
endfunction()

wanted(0.16.0 NO highway.h base.h)
wanted(1.0.2 NO highway.h base.h)
wanted(1.0.3 YES highway.h base.h)
wanted(1.0.10 YES highway.h base.h)
wanted(1.2.0 YES base.h highway.h)
file(REMOVE_RECURSE ${SCRATCH}/hwy)
gsort_read_highway_version(${SCRATCH} read)
if(NOT read STREQUAL "")
  message(FATAL_ERROR "the version of no headers is '${read}'")
endif()
