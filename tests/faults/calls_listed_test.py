# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every function of the CUDA runtime that the library calls is on the list of those that tests make fail, and none
else.

usage: calls_listed_test.py NM STATIC_LIBRARY LIST
"""
import re
import subprocess
import sys
import unittest

NM, LIBRARY, LIST = sys.argv[1:4]


class Calls(unittest.TestCase):
    def test_list_is_complete(self):
        symbols = subprocess.run([NM, "--undefined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
        called = set(re.findall(r" U ((?:__)?cuda[A-Z]\w*)$", symbols, re.MULTILINE))
        self.assertGreater(len(called), 20, "nm showed hardly any call")
        with open(LIST, encoding="utf-8") as text:
            listed = {line.split()[1] for line in text if re.match("fails|passes|kept", line)}
        self.assertEqual(sorted(called - listed), [], "called, but not on the list")
        self.assertEqual(sorted(listed - called), [], "on the list, but not called")

    def test_no_call_of_the_driver_goes_around_the_runtime(self):
        symbols = subprocess.run([NM, "--undefined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
        self.assertNotRegex(symbols, r" U cu[A-Z]")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
