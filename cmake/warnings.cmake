# SPDX-License-Identifier: MIT OR Apache-2.0
# gsort_set_warnings(target): the project's warnings on a target's host code, as errors where GSORT_WERROR is on.
function(gsort_set_warnings target)
  set(all -Wall -Wextra -Wpedantic -Wshadow)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:${all}>
    $<$<COMPILE_LANGUAGE:CXX>:${all};-Wconversion>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>)
  if(GSORT_WERROR)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>
      $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>)
  endif()
endfunction()
