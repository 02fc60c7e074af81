# SPDX-License-Identifier: MIT OR Apache-2.0
"""Kernels of the library that keep values in local memory: only those on the list, and no more than it says.

usage: spills_test.py CUOBJDUMP LIBRARY LIST     exit status 77: CUOBJDUMP is not there
"""
import os
import re
import subprocess
import sys
import unittest

SKIPPED = 77


def kernel_name(symbol):
    """The last plain name of a mangled one: _ZN1a5twicyIjEEvT_ -> twicy."""
    name, rest = symbol, symbol[3:] if symbol.startswith("_ZN") else symbol[2:]
    while match := re.match(r"(\d+)", rest):
        end = match.end() + int(match[1])
        name, rest = rest[match.end():end], rest[end:]
    return name


def local_bytes(report):
    """(architecture, symbol, bytes) of every kernel in what cuobjdump --dump-resource-usage printed."""
    architecture = symbol = None
    kernels = []
    for line in report.splitlines():
        if match := re.match(r"arch = (\w+)", line):
            architecture = match[1]
        elif match := re.match(r"\s*Function (\S+):", line):
            symbol = match[1]
        elif match := re.search(r"STACK:(\d+).*LOCAL:(\d+)", line):
            kernels.append((architecture, symbol, int(match[1]) + int(match[2])))
    return kernels


def read_list(text):
    limits = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, limit, reason = line.split(None, 2)
            if name in limits or not reason:
                raise ValueError(f"twice, or without a reason: {line}")
            limits[name] = int(limit)
    return limits


def problems(kernels, limits):
    found = [f"{kernel_name(symbol)} ({architecture}): {count} bytes of local memory a thread, allowed "
             f"{limits.get(kernel_name(symbol), 0)}: {symbol}"
             for architecture, symbol, count in kernels if count > limits.get(kernel_name(symbol), 0)]
    there = {kernel_name(symbol) for _, symbol, _ in kernels}
    return found + [f"{name} is on the list and no kernel" for name in sorted(set(limits) - there)]


class Judge(unittest.TestCase):
    """The judge itself, on a report made up for it."""
    REPORT = ("arch = sm_90\n Function _ZN14gsort_internal10sum_kernelIjEEvT_:\n  REG:64 STACK:8 SHARED:4 LOCAL:4 X:0\n"
              "arch = sm_75\n Function _ZN1a12_GLOBAL__N_13fooEv:\n  REG:8 STACK:0 SHARED:0 LOCAL:0 X:0\n")

    def test_reads_the_report(self):
        self.assertEqual([(a, kernel_name(s), b) for a, s, b in local_bytes(self.REPORT)],
                         [("sm_90", "sum_kernel", 12), ("sm_75", "foo", 0)])

    def test_more_than_the_list_allows_is_a_problem(self):
        kernels = local_bytes(self.REPORT)
        self.assertEqual(len(problems(kernels, {})), 1)
        self.assertEqual(len(problems(kernels, read_list("sum_kernel 11 why"))), 1)
        self.assertEqual(problems(kernels, read_list("# comment\nsum_kernel 12 why")), [])

    def test_a_name_that_is_no_kernel_is_a_problem(self):
        self.assertEqual(len(problems(local_bytes(self.REPORT), {"sum_kernel": 12, "gone": 4})), 1)


class Library(unittest.TestCase):
    def test_only_the_kernels_on_the_list_use_local_memory(self):
        command = [CUOBJDUMP, "--dump-resource-usage", LIBRARY]
        kernels = local_bytes(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        self.assertGreater(len(kernels), 50, "cuobjdump showed hardly any kernel")
        with open(LIST, encoding="utf-8") as text:
            found = problems(kernels, read_list(text.read()))
        self.assertEqual(found, [], "\n" + "\n".join(found))


if __name__ == "__main__":
    CUOBJDUMP, LIBRARY, LIST = sys.argv[1:4]
    if not os.access(CUOBJDUMP, os.X_OK):
        print(f"skipped: no cuobjdump ({CUOBJDUMP}); scripts/setup test brings one")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
