# SPDX-License-Identifier: MIT OR Apache-2.0
# Archives and a Debian package of what cmake/install.cmake installs, by `cpack`; scripts/release calls it.
set(CPACK_PACKAGE_NAME libgsort)
set(CPACK_PACKAGE_VENDOR "the gsort authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION
    "The shared and the static library, the header, the command-line tool, and what CMake and pkg-config need.\n")
if(GSORT_WITH_CUDA)
  string(APPEND CPACK_PACKAGE_DESCRIPTION
         "Runs CUDA kernels of its own where there is an NVIDIA GPU and a driver, and on the threads of the CPU otherwise,
with the same results bit for bit.")
else()
  string(APPEND CPACK_PACKAGE_DESCRIPTION "Runs on the threads of the CPU; this build has no CUDA kernels.")
endif()
set(CPACK_PACKAGE_FILE_NAME libgsort-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE-MIT)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TXZ DEB)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
# The format asks for an address; whoever publishes the package puts one of theirs.
set(GSORT_PACKAGE_MAINTAINER "the gsort authors <nobody@example.invalid>" CACHE STRING "Maintainer of the Debian package")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${GSORT_PACKAGE_MAINTAINER})
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
# The library asks for nothing newer, wherever it was built (cmake/glibc.cmake); the tool is built beside it.
if(CMAKE_CROSSCOMPILING)
  # dpkg-shlibdeps finds libraries of its own machine alone. Nothing that is packed needs more than libc and libm.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -dM -E -include features.h -x c /dev/null OUTPUT_VARIABLE macros)
  string(REGEX REPLACE ".*__GLIBC_MINOR__ ([0-9]+).*" "\\1" glibc_minor "${macros}")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.${glibc_minor})")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
