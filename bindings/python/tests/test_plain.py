# SPDX-License-Identifier: MIT OR Apache-2.0
"""Python's standard library alone: the buffer protocol, refusals, and no NumPy anywhere."""

import array
import ctypes
import mmap
import pickle
import subprocess
import sys
import unittest

import gsort

FLOATS = [2.5, -1.0, 9.0, 0.0, 4.25]


class Buffers(unittest.TestCase):
    def test_an_array_gives_an_array(self):
        got = gsort.sort(array.array("d", FLOATS))
        self.assertEqual(got, array.array("d", sorted(FLOATS)))
        self.assertEqual(gsort.argsort(array.array("h", [30, 10, 20])), array.array("q", [1, 2, 0]))
        self.assertEqual(gsort.rank(array.array("f", FLOATS), dtype="uint32"), array.array("I", [2, 0, 4, 1, 3]))

    def test_every_type_code(self):
        for letter in "bBhHiIlLqQfd":
            self.assertEqual(gsort.sort(array.array(letter, [3, 1, 2])), array.array(letter, [1, 2, 3]))

    def test_half_precision(self):
        three_one_two = bytearray.fromhex("0042 003c 0040")
        try:
            half = memoryview(three_one_two).cast("e")
        except ValueError:
            self.skipTest("this Python's memoryview has no format 'e'")
        self.assertEqual(gsort.sum(half), 6.0)
        self.assertEqual(gsort.sort(half).tolist(), [1.0, 2.0, 3.0])

    def test_bytes_give_a_memoryview(self):
        self.assertEqual(gsort.sort(b"dacb").tobytes(), b"abcd")
        self.assertEqual(gsort.sort(bytearray(b"dacb"), descending=True).tobytes(), b"dcba")

    def test_in_place(self):
        keys = array.array("i", [3, 1, 2])
        self.assertIs(gsort.sort(keys, out=keys), keys)
        self.assertEqual(keys.tolist(), [1, 2, 3])

    def test_out_in_a_memory_map_and_in_ctypes(self):
        with mmap.mmap(-1, 4) as memory:
            gsort.sort(b"dacb", out=memory)
            self.assertEqual(memory[:], b"abcd")
        room = (ctypes.c_double * 5)()
        gsort.sort((ctypes.c_double * 5)(*FLOATS), out=room)
        self.assertEqual(list(room), sorted(FLOATS))

    def test_axes(self):
        matrix = memoryview(array.array("i", [3, 1, 2, 9, 7, 8])).cast("B").cast("i", shape=[2, 3])
        self.assertEqual(gsort.sort(matrix).tolist(), [[1, 2, 3], [7, 8, 9]])
        self.assertEqual(gsort.topk_rows(matrix, 1).indices.tolist(), [[0], [0]])
        self.assertEqual(gsort.sum(matrix, axis=-1).tolist(), [6, 24])

    def test_gaps_are_taken_by_a_copy(self):
        self.assertEqual(gsort.sort(memoryview(array.array("i", [3, 9, 1, 9, 2]))[::2]).tolist(), [1, 2, 3])

    def test_all_others(self):
        keys = array.array("i", [3, 1, 2])
        self.assertEqual(gsort.sort_pairs(keys, array.array("d", [0.3, 0.1, 0.2]))[1].tolist(), [0.1, 0.2, 0.3])
        self.assertEqual(gsort.sort_segments(keys, [1, 3], descending=True).tolist(), [3, 2, 1])
        self.assertEqual(gsort.merge(array.array("i", [1, 4]), array.array("i", [2])).tolist(), [1, 2, 4])
        self.assertEqual(gsort.topk_segments(keys, array.array("H", [0, 1, 3]), 2).indices.tolist(), [[0, -1], [1, 0]])
        self.assertEqual(gsort.cumsum(keys, exclusive=True).tolist(), [0, 3, 4])
        self.assertEqual([gsort.sum(keys), gsort.mean(keys), gsort.min(keys), gsort.max(keys)], [6, 2.0, 1, 3])
        self.assertEqual([gsort.argmin(keys), gsort.argmax(keys)], [1, 0])

    def test_nothing(self):
        for empty in (array.array("d"), b"", memoryview(b"")):
            self.assertEqual(len(gsort.sort(empty)), 0)
            self.assertEqual(gsort.sum(empty), 0)

    def test_nan_and_zeros(self):
        nan = float("nan")
        self.assertEqual(str(gsort.sort(array.array("d", [nan, 1.0, 0.0, -0.0, -nan])).tolist()),
                         "[-0.0, 0.0, 1.0, nan, nan]")  # fmt: skip
        self.assertEqual(
            str(gsort.sort(array.array("d", [nan, 1.0, -nan]), nan_last=False).tolist()), "[nan, 1.0, nan]"
        )
        self.assertEqual(gsort.topk(array.array("d", [1.0, nan, 2.0]), 1).values[0], 2.0)


class Refusals(unittest.TestCase):
    def refused(self, sentence, function, *arguments, **keywords):
        with self.assertRaisesRegex(gsort.InvalidArgumentError, sentence) as caught:
            function(*arguments, **keywords)
        self.assertEqual(caught.exception.status, 1)
        self.assertEqual(caught.exception.sentence, str(caught.exception))

    def test_no_array(self):
        self.refused("keys is a list, not an array; pass numpy.asarray", gsort.sort, [3, 1, 2])
        self.refused("keys is an int, not an array; pass numpy.asarray", gsort.sort, 3)
        self.refused("keys is a NoneType", gsort.sort, None)
        with self.assertRaises(TypeError):
            gsort.sort(3)

    def test_types(self):
        self.refused("buffer format", gsort.sort, (ctypes.c_longdouble * 2)())
        self.refused("b has elements of type d, and the other array i", gsort.merge,
                     array.array("i"), array.array("d"))  # fmt: skip
        self.refused("dtype = float64 is not an index type", gsort.argsort, array.array("i"), dtype="float64")
        self.refused("operation = 'none'", gsort.Sorter("cpu").reserve, "none", "int32", 1)

    def test_outputs(self):
        keys = array.array("i", [3, 1, 2])
        self.refused("out has elements of type I; pass int32", gsort.sort, keys, out=array.array("I", [0] * 3))
        self.refused(
            r"out has the shape \(2,\); the result has \(3,\)", gsort.sort, keys, out=array.array("i", [0] * 2)
        )
        self.refused("out is read-only", gsort.sort, b"abc", out=b"abc")
        self.refused("gaps", gsort.sort, b"abc", out=memoryview(bytearray(6))[::2])
        for out in (keys, (keys,), 3):
            self.refused(r"out is not a pair of arrays; pass \(values, indices\)", gsort.topk, keys, 1, out=out)
        self.refused("pass \\(keys, values\\)", gsort.sort_pairs, keys, keys, out=(keys, keys, keys))
        overlap = memoryview(bytearray(8))
        self.refused("overlap", gsort.sort, overlap[:5], out=overlap[1:6])
        self.assertEqual(keys.tolist(), [3, 1, 2])

    def test_axes(self):
        matrix = memoryview(bytearray(6)).cast("B", shape=[2, 3])
        self.refused("axis = 0 is not the last of 2", gsort.sort, matrix, axis=0)
        self.refused(r"axis = \(1,\) is not the last of 2", gsort.sum, matrix, axis=(1,))
        self.refused("keys has 2 axes; pass one", gsort.sort_pairs, matrix, b"ab")
        self.refused("two axes", gsort.topk_rows, b"abc", 1)
        self.refused("no axis", gsort.sort, memoryview(ctypes.c_int(3)))

    def test_counts(self):
        self.refused("k = 4 is above the 3 elements", gsort.topk, b"abc", 4)
        self.refused("k = -1", gsort.topk, b"abc", -1)
        self.refused("values has 2 entries on its first axis, and keys 3", gsort.sort_pairs, b"abc", b"ab")
        self.refused("k = 1.5 is a float; pass an integer", gsort.topk, b"abc", 1.5)
        self.refused("k = 18446744073709551617 is above", gsort.topk_segments, b"abc", [0, 3], 2**64 + 1)
        with self.assertRaises(TypeError):
            gsort.topk(b"abc", "1")

    def test_offsets(self):
        keys = array.array("i", [3, 1, 2])
        self.refused(r"offsets\[", gsort.sort_segments, keys, [0, 2, 1])
        self.refused("offsets", gsort.sort_segments, keys, [0, 4])
        self.refused("offsets", gsort.sort_segments, keys, [-1, 2])
        self.refused("offsets must be integers", gsort.sort_segments, keys, [])
        self.refused("offsets must be integers of 64 bits", gsort.sort_segments, keys, [0, 2**70])
        self.refused("offsets must be integers of 64 bits", gsort.sort_segments, keys, [0, 1.5])
        self.assertEqual(gsort.sort_segments(keys, (ctypes.c_int * 2)(0, 2)).tolist(), [1, 3, 2])
        self.refused("offsets must be integers", gsort.sort_segments, keys, array.array("d", [0.0]))

    def test_settings(self):
        self.refused("backend = 'gpu' is not one of auto, cpu, cuda", gsort.Sorter, "gpu")
        self.refused("backend = \\[\\] is not one of", gsort.Sorter, [])
        self.refused("threads = -1 is below 0", gsort.Sorter, threads=-1)
        # Numbers that a cut to 32 or 64 bits would make harmless.
        self.refused("threads = 4294967297 is above 4294967295", gsort.Sorter, threads=2**32 + 1)
        self.refused("host_memory_limit = 18446744073709551616 is above", gsort.Sorter, host_memory_limit=2**64)
        self.refused("device_memory_limit = 1.5 is a float; pass an integer", gsort.Sorter, device_memory_limit=1.5)
        self.refused("device = 4294967296 is above", gsort.Sorter, device=2**32)
        self.refused("device = 'cuda:0' is a str", gsort.Sorter, device="cuda:0")
        self.refused("stream = 'a' is a str", gsort.Sorter, "cpu", stream="a")
        self.refused("log is not a function", gsort.Sorter, log=3)
        self.refused("n = 36893488147419103232 is above", gsort.workspace_bytes, "sort", "int32", 2**65)
        self.refused("parameter = -1 is below 0", gsort.workspace_bytes, "topk", "int32", 10, -1)
        self.refused("n = -1 is below 0", gsort.Sorter("cpu").reserve, "sort", "int32", -1)
        self.refused("offsets holds -1; offsets are counted from 0", gsort.sort_segments, b"abc", [-1, 2])
        self.refused("operation = 'search' is not one of", gsort.workspace_bytes, "search", "int32", 1)
        self.refused("progress is neither", gsort.sort, b"abc", progress=3)
        with self.assertRaises(TypeError):
            gsort.sort(b"abc", ascending=True)

    def test_memory_limit(self):
        sorter = gsort.Sorter("cpu", host_memory_limit=4096)
        with self.assertRaises(MemoryError) as caught:
            sorter.argsort(array.array("d", (i * 7919 % 1048573 for i in range(1 << 20))))
        self.assertIsInstance(caught.exception, gsort.OutOfMemoryError)
        self.assertEqual(caught.exception.status, 2)
        self.assertEqual(sorter.sort(b"ba").tobytes(), b"ab")

    def test_errors_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(gsort.OutOfMemoryError("none left")))
        self.assertEqual((type(error), error.status, error.sentence), (gsort.OutOfMemoryError, 2, "none left"))


class WithoutNumpy(unittest.TestCase):
    def test_import_and_use_bring_no_other_package(self):
        program = (
            "import sys; sys.modules.update(dict.fromkeys(('numpy', 'torch', 'cupy', 'jax')))\n"
            "import array, gsort\n"
            "assert gsort.sort(array.array('d', [2, 1])).tolist() == [1, 2]\n"
            "assert gsort.topk(array.array('d', [2, 1]), 1).indices.tolist() == [0]\n"
            "print(gsort.version())"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), gsort.version())

    def test_the_version_where_others_look_for_it(self):
        self.assertEqual(gsort.__version__, gsort.version())
        with self.assertRaisesRegex(AttributeError, "module 'gsort' has no attribute 'sortt'"):
            gsort.sortt


if __name__ == "__main__":
    unittest.main()
