#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs test modules beside this file and says by name what was skipped.

usage: run.py [MODULE]...   such as test_arrays; none or several: each in a process of its own, since CUDA and JAX do not
                            go with the forks that others try. GSORT_LIBRARY names the library. GSORT_TESTS_REQUIRE_GPU=1:
                            a missing GPU is a failure. Exit code 77: all skipped.
"""

import importlib
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def run(name):
    try:
        module = importlib.import_module(name)
    except unittest.SkipTest as reason:
        print(f"skipped: {name}: {reason}")
        return 77
    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromModule(module))
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if not result.wasSuccessful():
        return 1
    return 77 if result.testsRun and len(result.skipped) == result.testsRun else 0


def run_each(names):
    # test_wheel installs the package and must not find the sources.
    path = os.pathsep.join(filter(None, (os.path.dirname(HERE), os.environ.get("PYTHONPATH"))))
    codes = {}
    for name in names:
        environment = dict(os.environ) if name == "test_wheel" else dict(os.environ, PYTHONPATH=path)
        print(f"{name}:", flush=True)
        codes[name] = subprocess.run([sys.executable, "-B", __file__, name], env=environment, check=False).returncode
    words = {0: "passed", 77: "skipped"}
    print(", ".join(f"{name} {words.get(code, 'failed')}" for name, code in codes.items()))
    if any(code not in words for code in codes.values()):
        return 1
    return 0 if 0 in codes.values() else 77


def main():
    sys.path.insert(0, HERE)
    names = sys.argv[1:] or sorted(name[:-3] for name in os.listdir(HERE) if name.startswith("test_"))
    return run(names[0]) if len(names) == 1 else run_each(names)


if __name__ == "__main__":
    sys.exit(main())
