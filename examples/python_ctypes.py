#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""gsort from Python's standard library alone: argsort, top-k and an exact sum.

usage: python_ctypes.py [COUNT]
The environment variable GSORT_LIBRARY names the library; without it libgsort.so.1 is looked for by the system.
"""

import array
import ctypes
import math
import os
import random
import sys

OK = 0
U64 = 7
F64 = 12
DESCENDING = 0x1
COUNT_MAX = 10_000_000


class GsortError(Exception):
  """A call failed; the text is the library's own sentence."""


class Gsort:
  """One handle. Use it in a `with` statement."""

  def __init__(self, path):
    u32, u64, pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
    # Without argument types ctypes would cut 64-bit counts and addresses to an int.
    signatures = {
        "gsort_create": (ctypes.c_int32, [pointer, ctypes.POINTER(pointer)]),
        "gsort_destroy": (None, [pointer]),
        "gsort_error_message": (ctypes.c_char_p, [pointer]),
        "gsort_version": (u32, []),
        "gsort_version_string": (ctypes.c_char_p, []),
        "gsort_argsort": (ctypes.c_int32, [pointer, u32, pointer, u64, u32, pointer, u32]),
        "gsort_topk": (ctypes.c_int32, [pointer, u32, pointer, u64, u64, pointer, u32, pointer, u32]),
        "gsort_sum": (ctypes.c_int32, [pointer, u32, pointer, u64, pointer, u32]),
    }
    self.library = ctypes.CDLL(path)
    for name, (result, arguments) in signatures.items():
      function = getattr(self.library, name)
      function.restype = result
      function.argtypes = arguments
    if self.library.gsort_version() // 10000 != 1:
      raise GsortError(f"{path} is gsort {self.version()}, but this program needs version 1")
    self.handle = ctypes.c_void_p()
    self._check(self.library.gsort_create(None, ctypes.byref(self.handle)))

  def __enter__(self):
    return self

  def __exit__(self, *_):
    self.library.gsort_destroy(self.handle)

  def _check(self, status):
    if status != OK:
      raise GsortError(self.library.gsort_error_message(self.handle).decode())

  def version(self):
    return self.library.gsort_version_string().decode()

  def argsort(self, values, flags=0):
    indices = array.array("Q", bytes(8 * len(values)))
    self._check(
        self.library.gsort_argsort(self.handle, F64, address(values), len(values), U64, address(indices), flags))
    return indices

  def topk(self, values, k):
    best, indices = array.array("d", bytes(8 * k)), array.array("Q", bytes(8 * k))
    self._check(
        self.library.gsort_topk(self.handle, F64, address(values), len(values), k, address(best), U64,
                                address(indices), 0))
    return list(zip(indices, best))

  def sum(self, values):
    result = ctypes.c_double()
    self._check(self.library.gsort_sum(self.handle, F64, address(values), len(values), ctypes.byref(result), 0))
    return result.value


def address(values):
  return values.buffer_info()[0]


def main(words):
  if len(words) > 1 or not all(word.isdecimal() and 1 <= int(word) <= COUNT_MAX for word in words):
    print(f"usage: python_ctypes.py [COUNT], COUNT from 1 to {COUNT_MAX}", file=sys.stderr)
    return 2
  count = int(words[0]) if words else 10000
  path = os.environ.get("GSORT_LIBRARY") or "libgsort.so.1"
  values = array.array("d", (random.gauss(0, 1e10) for _ in range(count)))
  k = min(3, count)
  try:
    with Gsort(path) as g:
      order = g.argsort(values, DESCENDING)
      best = g.topk(values, k)
      total = g.sum(values)
      version = g.version()
  except (OSError, AttributeError, GsortError) as error:
    print(f"python_ctypes.py: {error}", file=sys.stderr)
    return 1

  # Python's own sort is stable too, and fsum() is the exact sum rounded once.
  expected_order = sorted(range(count), key=lambda i: -values[i])
  right = (
      list(order) == expected_order and best == [(i, values[i]) for i in expected_order[:k]]
      and total == math.fsum(values))
  if not right:
    print("python_ctypes.py: the result is wrong", file=sys.stderr)
    return 1
  print(f"gsort {version}: {count} numbers, sum {total!r}, the greatest:")
  for index, value in best:
    print(f"  {value!r} at {index}")
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
