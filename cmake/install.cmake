# SPDX-License-Identifier: MIT OR Apache-2.0
# What is installed: both libraries, the headers, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS gsort EXPORT gsort-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS gsort_static EXPORT gsort-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/gsort.h ${PROJECT_SOURCE_DIR}/include/gsort.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/bindings/c/gsort_dl.h ${PROJECT_SOURCE_DIR}/bindings/c/gsort_dl.c
        DESTINATION ${CMAKE_INSTALL_DATADIR}/gsort/dl)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE-MIT ${PROJECT_SOURCE_DIR}/LICENSE-APACHE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(gsort_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gsort)
install(EXPORT gsort-targets NAMESPACE gsort:: DESTINATION ${gsort_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gsort-config.cmake.in ${PROJECT_BINARY_DIR}/gsort-config.cmake
                              INSTALL_DESTINATION ${gsort_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gsort-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gsort-config.cmake ${PROJECT_BINARY_DIR}/gsort-config-version.cmake
        DESTINATION ${gsort_package_dir})

# The prefix is found from where the .pc file lies, so that an installed tree can be moved.
file(RELATIVE_PATH gsort_pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_CURRENT_LIST_DIR}/gsort.pc.in ${PROJECT_BINARY_DIR}/gsort.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gsort.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
