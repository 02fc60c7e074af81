#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs one of the test modules beside this file and says by name what was skipped.

usage: run.py MODULE        (GSORT_LIBRARY names the library, PYTHONPATH the package; exit code 77: all skipped)
"""

import importlib
import os
import sys
import unittest


def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        module = importlib.import_module(sys.argv[1])
    except unittest.SkipTest as reason:
        print(f"skipped: {sys.argv[1]}: {reason}")
        return 77
    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromModule(module))
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if not result.wasSuccessful():
        return 1
    return 77 if result.testsRun and len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
