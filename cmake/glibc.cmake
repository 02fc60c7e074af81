# SPDX-License-Identifier: MIT OR Apache-2.0
# gsort_lower_glibc(target): lets a shared library that is built beside a new glibc run with 2.28 and later.
#
# Since 2.34 the functions of libpthread, libdl and librt lie in libc.so.6 under new versions. Whoever links there asks
# for glibc 2.34 at run time, though nothing in the functions has changed. The old libraries are therefore built here,
# empty but for the names and versions that glibc 2.28 has, and linked first. They are not installed: at run time the
# system's own stand in their place, whole with an old glibc and empty with a new one, whose libc.so.6 keeps the old
# versions. src/glibc/newer_symbols.c says what is still missing then.
include(CheckCSourceCompiles)
set(gsort_glibc_folder ${PROJECT_SOURCE_DIR}/src/glibc)
foreach(processor x86_64 aarch64)
  check_c_source_compiles("#include <features.h>
  #if !defined __GLIBC__ || !defined __${processor}__ || !defined __LP64__
  #error another system
  #endif
  int main(void) { return 0; }" GSORT_ON_GLIBC_${processor})
endforeach()
set(GSORT_LOWERS_GLIBC OFF)
if(GSORT_ON_GLIBC_x86_64 OR GSORT_ON_GLIBC_aarch64)
  set(GSORT_LOWERS_GLIBC ON)
endif()
# The version of the first glibc of the processor, which names all that other processors had earlier.
set(gsort_first_glibc 2.2.5)
if(GSORT_ON_GLIBC_aarch64)
  set(gsort_first_glibc 2.17)
endif()

# Writes the C source and the version script of one old library.
function(gsort_write_old_library library folder)
  file(STRINGS ${gsort_glibc_folder}/moved_symbols.txt lines REGEX "^${library} ")
  set(source "")
  set(versions "")
  foreach(line IN LISTS lines)
    string(REPLACE " " ";" words "${line}")
    list(GET words 1 version)
    list(GET words 2 symbol)
    string(REPLACE "GLIBC_" "" number ${version})
    if(number VERSION_LESS gsort_first_glibc)
      set(version GLIBC_${gsort_first_glibc})
    endif()
    string(APPEND source "__asm__(\".globl ${symbol}\\n.type ${symbol}, @function\\n${symbol}:\\n\");\n")
    list(APPEND versions ${version})
    string(APPEND symbols_${version} " ${symbol};")
  endforeach()
  list(REMOVE_DUPLICATES versions)
  set(script "")
  foreach(version IN LISTS versions)
    string(APPEND script "${version} { global:${symbols_${version}} };\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/${library}.c CONTENT "${source}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/${library}.map CONTENT "${script}" @ONLY)
endfunction()

function(gsort_lower_glibc target)
  set(folder ${PROJECT_BINARY_DIR}/old_glibc)
  foreach(library libpthread.so.0 libdl.so.2 librt.so.1)
    gsort_write_old_library(${library} ${folder})
    add_custom_command(
      OUTPUT ${folder}/${library}
      COMMAND ${CMAKE_C_COMPILER} -shared -fPIC -nostdlib -Wl,-soname,${library}
              -Wl,--version-script=${folder}/${library}.map ${folder}/${library}.c -o ${folder}/${library}
      DEPENDS ${folder}/${library}.c ${folder}/${library}.map VERBATIM)
    list(APPEND old_libraries ${folder}/${library})
  endforeach()
  add_custom_target(gsort_old_glibc DEPENDS ${old_libraries})
  add_dependencies(${target} gsort_old_glibc)
  target_sources(${target} PRIVATE ${gsort_glibc_folder}/newer_symbols.c)
  # The linker takes a name from the first library that has it. What needs these libraries comes later, the runtimes of
  # C++ and CUDA, so they are kept although nothing before them does.
  set(needed -l:libpthread.so.0 -l:libdl.so.2)
  if(GSORT_WITH_CUDA)
    list(APPEND needed -l:librt.so.1)
  endif()
  target_link_libraries(${target} PRIVATE -L${folder} -Wl,--push-state,--no-as-needed ${needed} -Wl,--pop-state)
endfunction()
