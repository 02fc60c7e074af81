#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Installs into an empty prefix, moves it, and builds consumers from it with CMake and with pkg-config, of the shared
# library and of the static one.
# usage: package_test.sh CMAKE BUILD_FOLDER CONFIGURATION SCRATCH_FOLDER C_COMPILER
set -eu
cmake=$1 build=$2 configuration=$3 scratch=$4 c=$5
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$scratch"
mkdir -p "$scratch"

"$cmake" --install "$build" --config "$configuration" --prefix "$scratch/installed" > "$scratch/install.log"
# An installed tree must not depend on where it was first put.
mv "$scratch/installed" "$scratch/prefix"
prefix=$scratch/prefix
test -f "$prefix/include/gsort.h"
test -f "$prefix/include/gsort.hpp"
library=$(find "$prefix" -name libgsort.so.1)
test -n "$library" || { echo "no libgsort.so.1 was installed"; exit 1; }
library_folder=$(dirname "$library")
if grep -rl --include='*.cmake' --include='*.pc' -e "$build" -e "$scratch/installed" "$prefix"; then
  echo "the files above name the folder of the build or of the first installation"
  exit 1
fi

echo "consumer with find_package(gsort)"
"$cmake" -S "$here/cmake_consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$c" \
  > "$scratch/configure.log"
"$cmake" --build "$scratch/cmake" > "$scratch/build.log"
"$scratch/cmake/consumer"
"$scratch/cmake/consumer_static"
needs_no_gsort() {
  if readelf -d "$1" | grep -q 'NEEDED.*libgsort'; then
    echo "$1 was linked with the shared library"
    exit 1
  fi
}
needs_no_gsort "$scratch/cmake/consumer_static"

echo "the same with the next major version, which must be refused"
sed 's/find_package(gsort 1 /find_package(gsort 2 /' "$here/cmake_consumer/CMakeLists.txt" > "$scratch/next.cmake"
mkdir -p "$scratch/next/project"
cp "$scratch/next.cmake" "$scratch/next/project/CMakeLists.txt"
cp "$here/consumer.c" "$scratch/next/consumer.c"
if "$cmake" -S "$scratch/next/project" -B "$scratch/next/build" -DCMAKE_PREFIX_PATH="$prefix" \
  > "$scratch/next.log" 2>&1; then
  echo "version 2 was accepted"
  exit 1
fi

if ! command -v pkg-config > /dev/null; then
  echo "no pkg-config on this machine: that part is not run"
  exit 0
fi
echo "consumer with pkg-config"
PKG_CONFIG_PATH=$library_folder/pkgconfig
export PKG_CONFIG_PATH
pkg-config --exists --print-errors gsort
"$c" -std=c99 -Wall -Wextra -Werror "$here/consumer.c" -o "$scratch/consumer" $(pkg-config --cflags --libs gsort)
LD_LIBRARY_PATH=$library_folder "$scratch/consumer"
echo "the same with a path of its own to the library"
"$c" -std=c99 "$here/consumer.c" -o "$scratch/consumer_rpath" $(pkg-config --cflags --libs gsort) \
  -Wl,-rpath,"$(pkg-config --variable=libdir gsort)"
env -u LD_LIBRARY_PATH "$scratch/consumer_rpath"
echo "the same with the static library"
"$c" -std=c99 "$here/consumer.c" -o "$scratch/consumer_static" \
  $(pkg-config --static --cflags --libs gsort | sed 's/-lgsort/-l:libgsort.a/')
env -u LD_LIBRARY_PATH "$scratch/consumer_static"
needs_no_gsort "$scratch/consumer_static"
