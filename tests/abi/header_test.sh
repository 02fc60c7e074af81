#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The header compiles without a warning in every standard it is for.
# usage: header_test.sh C_COMPILER CXX_COMPILER INCLUDE_FOLDER SOURCE
set -eu
c=$1 cxx=$2 include=$3 source=$4
warnings="-Wall -Wextra -pedantic -Wshadow -Wconversion -Werror"
for standard in c99 c11 c17; do
  echo "C $standard"
  "$c" -std=$standard $warnings -Wstrict-prototypes -I"$include" -fsyntax-only "$source"
done
for standard in c++11 c++17 c++20; do
  echo "C++ $standard"
  "$cxx" -std=$standard $warnings -I"$include" -x c++ -fsyntax-only "$source"
done
