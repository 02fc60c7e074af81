# SPDX-License-Identifier: MIT OR Apache-2.0
"""The shared library from outside: exported names, needed libraries, SONAME, hardening, size.

usage: library_test.py LIBRARY HEADER CONFIGURATION [BYTES]     BYTES: the most that it may have, stripped
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

LIBRARY, HEADER, CONFIGURATION = sys.argv[1:4]
BYTES_MAX = int(sys.argv[4]) if len(sys.argv) > 4 else None
LOADERS = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# glibc 2.28 is made up of these; since 2.34 libpthread, libdl and librt are empty, and libc.so.6 has what they had.
ALLOWED_NEEDED = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"} | LOADERS
# RHEL 8; Ubuntu 20.04 and Debian 10 have the same or later. Wheels are tagged with it (manylinux_2_28).
NEWEST_GLIBC = (2, 28)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared_functions():
    with open(HEADER, encoding="utf-8") as header:
        text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.DOTALL)
    return set(re.findall(r"GSORT_API[^;(]*?(gsort_\w+)\s*\(", text))


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dynamic = output("readelf", "-dW", LIBRARY)
        cls.segments = output("readelf", "-lW", LIBRARY)

    def exported(self):
        lines = output("nm", "-D", "--defined-only", LIBRARY).splitlines()
        # A version script's own name (type A) is no symbol that anyone links.
        return {line.split()[2].split("@")[0] for line in lines if line.split()[1] != "A"}

    def test_exports_are_the_headers_functions_and_nothing_else(self):
        self.assertGreater(len(declared_functions()), 30)
        self.assertEqual(self.exported(), declared_functions())

    def test_asks_for_no_newer_glibc_than_2_28(self):
        undefined = output("nm", "-D", "--undefined-only", LIBRARY)
        asked = set(re.findall(r"(\S+)@GLIBC_([0-9.]+)", undefined))
        self.assertGreater(len(asked), 30)
        newer = {name for name, version in asked if tuple(map(int, version.split("."))) > NEWEST_GLIBC}
        self.assertEqual(newer, set(), "src/glibc says how each kind of such names is avoided")

    def test_names_each_library_in_which_old_glibc_has_what_is_asked_for(self):
        # Without the name in NEEDED an old system would not load libpthread for a program without threads.
        asked = set(re.findall(r"Version needs section.*?(?=\n\n|\Z)", output("readelf", "-VW", LIBRARY), re.DOTALL))
        libraries = set(re.findall(r"File: (\S+)", "".join(asked)))
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", self.dynamic))
        self.assertEqual(libraries, needed)
        if needed & LOADERS:
            self.assertLessEqual({"libpthread.so.0", "libdl.so.2"}, needed)

    def test_needs_libc_and_its_loader_alone(self):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", self.dynamic))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, ALLOWED_NEEDED)

    def test_no_undefined_symbol_of_the_cuda_driver_or_the_cpp_runtime(self):
        undefined = output("nm", "-D", "--undefined-only", LIBRARY)
        self.assertNotRegex(undefined, r"\bU (cu[A-Z]|cuda|_ZNSt|__cxa_throw)")

    def test_soname(self):
        self.assertRegex(self.dynamic, r"\(SONAME\).*\[libgsort\.so\.1\]")

    def test_no_search_path(self):
        self.assertNotRegex(self.dynamic, r"\((RPATH|RUNPATH)\)")

    def test_stays_loaded(self):
        self.assertRegex(self.dynamic, r"\(FLAGS_1\).*NODELETE")

    def test_binds_at_load_and_is_read_only_afterwards(self):
        self.assertRegex(self.dynamic, r"BIND_NOW|\(FLAGS_1\).*NOW")
        self.assertIn("GNU_RELRO", self.segments)

    def test_no_text_relocations(self):
        self.assertNotIn("TEXTREL", self.dynamic)

    def test_stack_is_not_executable(self):
        stack = [line for line in self.segments.splitlines() if "GNU_STACK" in line]
        self.assertEqual(len(stack), 1)
        self.assertNotIn("E", stack[0].split()[-2])

    def test_no_segment_is_writable_and_executable(self):
        for line in self.segments.splitlines():
            if line.strip().startswith("LOAD"):
                self.assertNotIn("RWE", line)

    def test_stack_protector(self):
        self.assertIn("__stack_chk_fail", output("nm", "-D", "--undefined-only", LIBRARY))

    def test_calls_of_libc_check_their_bounds(self):
        if CONFIGURATION != "Release":
            self.skipTest("only optimised builds are fortified")
        self.assertRegex(output("nm", "-D", "--undefined-only", LIBRARY), r"\b__v?snprintf_chk\b")

    def test_is_small(self):
        if BYTES_MAX is None or CONFIGURATION != "Release":
            self.skipTest("only a release has a size to keep")
        with tempfile.TemporaryDirectory() as place:
            stripped = os.path.join(place, "libgsort.so")
            subprocess.run(["strip", "-o", stripped, LIBRARY], check=True)
            self.assertLessEqual(os.path.getsize(stripped), BYTES_MAX, "docs/library-size.md says what takes room")

    def test_no_path_of_the_build_machine(self):
        with open(LIBRARY, "rb") as library:
            content = library.read()
        self.assertNotIn(b"RUNPATH", content)
        self.assertNotRegex(content, rb"/home/\w+/")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
