#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The headers compile without a warning in every standard they are for.
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
echo "a float for the double of a sum, which must be refused"
mistaken='#include <gsort.h>
gsort_status sum(gsort *g, const float *in, TYPE *out) { return gsort_sum_f32(g, in, 9, out, 0); }'
compiles() { echo "$mistaken" | sed "s/TYPE/$1/" | "$c" -std=c99 $warnings -I"$include" -fsyntax-only -x c - 2>/dev/null; }
compiles double || { echo "the double itself was refused"; exit 1; }
if compiles float; then echo "the compiler said nothing"; exit 1; fi
for flags in -std=c++17 -std=c++20 "-std=c++17 -fno-exceptions -fno-rtti"; do
  echo "gsort.hpp with $flags"
  # shellcheck disable=SC2086 # The flags are words.
  "$cxx" $flags $warnings -Wsign-conversion -Wold-style-cast -Wnull-dereference -I"$include" -fsyntax-only "${source%.c}_hpp.cpp"
done
