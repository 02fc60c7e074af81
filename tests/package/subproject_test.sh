#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# gsort inside of another project, and what its options take.
# usage: subproject_test.sh CMAKE ROOT SCRATCH_FOLDER C_COMPILER CXX_COMPILER
set -eu
cmake=$1 root=$2 scratch=$3 c=$4 cxx=$5
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$scratch"
fail() { echo "$1"; exit 1; }
# The parent's build is kept, so that what has not changed is not compiled anew; not where CMake would be told otherwise.
rm -rf "$scratch/prefix" "$scratch/fortify" "$scratch/lower_case" "$scratch/misspelt"
cache=$scratch/parent/CMakeCache.txt
echo "$*" > "$scratch/words"
if [ ! -f "$cache" ] || ! cmp -s "$scratch/words" "$scratch/words_before" ||
  [ -n "$(find "$root/CMakeLists.txt" "$root/cmake" "$root/src" "$here" \( -name CMakeLists.txt -o -name '*.cmake' -o \
    -name '*.in' -o -name '*.sh' \) -newer "$cache" -print -quit)" ]; then rm -rf "$scratch/parent"; fi
mv "$scratch/words" "$scratch/words_before"

echo "a parent in C alone, without a build type"
"$cmake" -S "$here/subproject" -B "$scratch/parent" -DGSORT_ROOT="$root" -DCMAKE_C_COMPILER="$c" \
  -DCMAKE_CXX_COMPILER="$cxx" > "$scratch/parent.log"
"$cmake" --build "$scratch/parent" --target consumer --parallel 2 > "$scratch/build.log" ||
  { tail -n 20 "$scratch/build.log"; exit 1; }
"$scratch/parent/consumer"
echo "the parent is installed, and nothing of gsort"
"$cmake" --install "$scratch/parent" --prefix "$scratch/prefix" > "$scratch/install.log"
test -x "$scratch/prefix/bin/consumer"
test "$(find "$scratch/prefix" -type f | wc -l)" -eq 1 || fail "gsort installed files of its own: $(find "$scratch/prefix")"

# configure NAME OPTION...: what the project makes of the options, without building it.
configure() {
  name=$1; shift
  "$cmake" -S "$root" -B "$scratch/$name" -DCMAKE_C_COMPILER="$c" -DCMAKE_CXX_COMPILER="$cxx" -DGSORT_TESTS=OFF \
    -DGSORT_TOOLS=OFF -DGSORT_EXAMPLES=OFF "$@" > "$scratch/$name.log" 2>&1
}
echo "the user's own _FORTIFY_SOURCE"
configure fortify -DGSORT_CUDA=OFF -DCMAKE_CXX_FLAGS=-D_FORTIFY_SOURCE=3
grep -q '_FORTIFY_SOURCE=3' "$scratch/fortify/compile_commands.json" || fail "the user's value is not used"
if grep -q '_FORTIFY_SOURCE=2' "$scratch/fortify/compile_commands.json"; then fail "a second value beside the user's"; fi

echo "a wish for the CUDA engine in lower case, and one that is misspelt"
if CUDACXX=$scratch/no-compiler configure lower_case -DGSORT_CUDA=on; then fail "GSORT_CUDA=on was not taken for ON"; fi
grep -q 'no CUDA compiler was found' "$scratch/lower_case.log"
if configure misspelt -DGSORT_CUDA=onn; then fail "GSORT_CUDA=onn was accepted"; fi
grep -q 'GSORT_CUDA is "onn"' "$scratch/misspelt.log"
