# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every function against NumPy, on each backend that there is."""

import fractions
import itertools
import math
import unittest

from support import TYPES, gsort, in_order, numpy, same_bits, samples, sorters, stable_order

LENGTHS = (0, 1, 2, 3, 100, 1023, 1024, 1025, 30_000)
DIRECTIONS = tuple(itertools.product((False, True), (False, True)))


class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sorters = sorters()
        cls.where = "here"

    def each(self, lengths=LENGTHS, types=TYPES):
        """(sorter, values) for each backend, type and length."""
        for (name, sorter), dtype, n in itertools.product(self.sorters.items(), types, lengths):
            self.where = f"backend {name}, {dtype}, n = {n}"
            yield sorter, samples(dtype, n)

    def _formatMessage(self, message, standard):
        return f"{self.where}: {super()._formatMessage(message, standard)}"


class Orders(Cases):
    def test_sort(self):
        for sorter, values in self.each():
            for descending, nan_last in DIRECTIONS:
                got = sorter.sort(values, descending=descending, nan_last=nan_last)
                same_bits(self, got, in_order(values, descending, nan_last))

    def test_sort_of_numbers_without_nan_or_minus_zero_is_numpys(self):
        for sorter, values in self.each():
            values = values[numpy.isfinite(values)] + values.dtype.type(0)
            same_bits(self, sorter.sort(values), numpy.sort(values))

    def test_argsort_and_rank(self):
        for sorter, values in self.each():
            for descending, nan_last in DIRECTIONS:
                order = stable_order(values, descending, nan_last)
                same_bits(self, sorter.argsort(values, descending=descending, nan_last=nan_last), order)
                ranks = numpy.empty_like(order)
                ranks[order] = numpy.arange(len(order))
                same_bits(self, sorter.rank(values, descending=descending, nan_last=nan_last), ranks)

    def test_types_of_indices(self):
        values = samples("float32", 1000)
        for sorter, dtype in itertools.product(self.sorters.values(), ("int32", "uint32", "int64", "uint64")):
            for named in (dtype, numpy.dtype(dtype), getattr(numpy, dtype)):
                same_bits(self, sorter.argsort(values, dtype=named), stable_order(values).astype(dtype))
            out = numpy.zeros(1000, dtype)
            self.assertIs(sorter.rank(values, out=out), out)
            same_bits(self, out[stable_order(values)], numpy.arange(1000, dtype=dtype))

    def test_sort_pairs_moves_values_of_any_size(self):
        records = numpy.dtype([("a", "i4"), ("b", "u1"), ("c", "f8")])
        for sorter, keys in self.each((0, 1, 1000), ("int16", "float32", "uint64")):
            for values in (
                numpy.arange(len(keys)), numpy.arange(len(keys), dtype="u1"), samples("float64", (len(keys), 3)),
                numpy.array([str(i) for i in range(len(keys))], dtype="S7"),
                numpy.arange(len(keys)).astype("datetime64[s]"), numpy.zeros(len(keys), records),
            ):  # fmt: skip
                order = stable_order(keys)
                new_keys, new_values = sorter.sort_pairs(keys, values)
                same_bits(self, new_keys, keys[order])
                same_bits(self, new_values, values[order])

    def test_sort_pairs_in_place(self):
        for sorter in self.sorters.values():
            keys, values = samples("int32", 1000), numpy.arange(1000)
            order = stable_order(keys, descending=True)
            wanted = keys[order], values[order]
            got = sorter.sort_pairs(keys, values, descending=True, out=(keys, values))
            self.assertIs(got[0], keys)
            self.assertIs(got[1], values)
            same_bits(self, keys, wanted[0])
            same_bits(self, values, wanted[1])

    def test_sort_segments(self):
        cuts = [3, 3, 10, 500, 999]
        for sorter, keys in self.each((1000,)):
            wanted = keys.copy()
            for begin, end in zip(cuts, cuts[1:]):
                wanted[begin:end] = in_order(keys[begin:end], descending=True)
            for offsets in (cuts, tuple(cuts), *(numpy.array(cuts, t) for t in ("u8", "i8", "i4", "u2"))):
                same_bits(self, sorter.sort_segments(keys, offsets, descending=True), wanted)

    def test_merge(self):
        for sorter, keys in self.each():
            for descending, nan_last in DIRECTIONS:
                flags = {"descending": descending, "nan_last": nan_last}
                a, b = in_order(keys[: len(keys) // 3], **flags), in_order(keys[len(keys) // 3 :], **flags)
                same_bits(self, sorter.merge(a, b, **flags), in_order(keys, **flags))

    def test_rows(self):
        for sorter, dtype in itertools.product(self.sorters.values(), ("int32", "float64")):
            for shape in ((1, 50), (50, 1), (7, 129), (3, 4, 33), (4, 0), (0, 4)):
                values = samples(dtype, shape)
                order = stable_order(values)
                same_bits(self, sorter.sort(values), numpy.take_along_axis(values, order, -1))
                same_bits(self, sorter.sort(values, axis=len(shape) - 1, descending=True), in_order(values, True))
                same_bits(self, sorter.argsort(values), order)
                same_bits(self, sorter.rank(values), numpy.argsort(order, axis=-1))
                same_bits(self, sorter.sort(values, axis=None), in_order(values.reshape(-1)))

    def test_booleans(self):
        values = numpy.array([True, False, True])
        for sorter in self.sorters.values():
            same_bits(self, sorter.sort(values), numpy.array([False, True, True]))
            self.assertEqual(sorter.sum(values), 2)


class Selections(Cases):
    def test_topk(self):
        for sorter, values in self.each((1, 100, 30_000)):
            for (smallest, nan_last), k in itertools.product(DIRECTIONS, (0, 1, 17, len(values))):
                k = min(k, len(values))
                order = stable_order(values, not smallest, nan_last)[:k]
                got = sorter.topk(values, k, smallest=smallest, nan_last=nan_last)
                same_bits(self, got.values, values[order])
                same_bits(self, got.indices, order)

    def test_topk_of_rows(self):
        for sorter, dtype, k in itertools.product(self.sorters.values(), TYPES, (1, 8, 100)):
            values = samples(dtype, (5, 400))
            for matrix in (values, values[:, 50:300], values[::2]):
                order = stable_order(matrix, descending=True)[:, :k]
                for got in (sorter.topk_rows(matrix, k), sorter.topk(matrix, k)):
                    same_bits(self, got.indices, order)
                    same_bits(self, got.values, numpy.take_along_axis(matrix, order, -1))

    def test_topk_of_rows_that_lie_apart_is_not_a_copy(self):
        whole = samples("float32", (6, 100))
        part = whole[:, :60]
        view = gsort._selection._rows_view_of(part, "x")
        self.assertEqual((view.address, view.row_stride), (part.ctypes.data, 100))

    def test_topk_of_more_axes(self):
        for sorter in self.sorters.values():
            values = samples("int64", (3, 4, 50))
            order = stable_order(values, descending=True)[..., :5]
            same_bits(self, sorter.topk(values, 5).indices, order)
            flat = sorter.topk(values, 5, axis=None)
            same_bits(self, flat.values, in_order(values.reshape(-1), True)[:5])

    def test_topk_of_rows_that_overlap_or_lie_apart_in_two_axes(self):
        values = samples("float32", (4, 6, 50))
        row = samples("float32", 60)
        windows = numpy.lib.stride_tricks.as_strided(row, (11, 50), (row.itemsize, row.itemsize))
        for view in (values[:, ::2], values[::2, 1:], numpy.broadcast_to(row, (3, 60)), windows):
            order = stable_order(numpy.ascontiguousarray(view), descending=True)[..., :5]
            for sorter in self.sorters.values():
                same_bits(self, sorter.topk(view, 5).indices, order)

    def test_topk_of_segments(self):
        for sorter, values in self.each((1000,)):
            offsets = [0, 2, 2, 700, 1000]
            got = sorter.topk_segments(values, offsets, 3, smallest=True, dtype="int32")
            for row, (begin, end) in enumerate(zip(offsets, offsets[1:])):
                order = stable_order(values[begin:end])[:3]
                missing = 3 - len(order)
                best = numpy.concatenate((values[begin:end][order], numpy.zeros(missing, values.dtype)))
                same_bits(self, got.values[row], best)
                same_bits(self, got.indices[row], numpy.append(order, [-1] * missing).astype("int32"))

    def test_out(self):
        values = samples("float64", 500)
        for sorter in self.sorters.values():
            best, places = numpy.empty(4), numpy.empty(4, "uint32")
            got = sorter.topk(values, 4, out=(best, places))
            self.assertIs(got.values, best)
            self.assertIs(got.indices, places)
            same_bits(self, places, stable_order(values, True)[:4].astype("uint32"))


class Defaults(Cases):
    def test_nans_are_last_and_the_order_ascends(self):
        values = numpy.array([3.0, -numpy.nan, 1.0, numpy.nan, 2.0])
        for sorter in self.sorters.values():
            same_bits(self, sorter.sort(values)[:3], numpy.array([1.0, 2.0, 3.0]))
            same_bits(self, sorter.argsort(values)[:3], numpy.array([2, 4, 0]))
            same_bits(self, sorter.rank(values)[::2], numpy.array([2, 0, 1]))
            same_bits(self, sorter.sort_pairs(values, values)[0][:3], numpy.array([1.0, 2.0, 3.0]))
            same_bits(self, sorter.sort_segments(values, [0, 5])[:3], numpy.array([1.0, 2.0, 3.0]))
            same_bits(self, sorter.merge(values[2:4], values[4:])[:2], numpy.array([1.0, 2.0]))
            same_bits(self, sorter.topk(values, 1).values, numpy.array([3.0]))
            same_bits(self, sorter.topk_rows(values[None], 1).indices, numpy.array([[0]]))
            same_bits(self, sorter.topk_segments(values, [0, 5], 1).indices, numpy.array([[0]]))
            self.assertEqual((sorter.min(values), sorter.max(values)), (1.0, 3.0))
            self.assertEqual((sorter.argmin(values), sorter.argmax(values)), (2, 0))
            same_bits(self, sorter.cumsum(values[[0, 2]]), numpy.array([3.0, 4.0]))


class Numbers(Cases):
    def test_sums_of_integers_are_modulo_two_to_the_64(self):
        for sorter, values in self.each(types=TYPES[:8]):
            wanted = sum(int(value) for value in values) % 2**64
            got = sorter.sum(values)
            self.assertEqual(got.dtype, "uint64" if values.dtype.kind == "u" else "int64")
            self.assertEqual(int(got) % 2**64, wanted)

    def test_sums_and_means_of_floats_are_exact(self):
        for sorter, values in self.each(types=("float16", "float32", "float64")):
            values = values[numpy.isfinite(values)]
            exact = sum((fractions.Fraction(float(value)) for value in values), fractions.Fraction(0))
            self.assertEqual(float(sorter.sum(values)), float(exact))
            if len(values):
                self.assertEqual(float(sorter.mean(values)), float(exact / len(values)))
        self.assertTrue(math.isnan(sorter.mean(numpy.empty(0))))

    def test_extremes(self):
        for sorter, values in self.each(LENGTHS[1:]):
            for nan_last in (True, False):
                first = stable_order(values, False, nan_last)[0]
                last = stable_order(values, True, nan_last)[0]
                same_bits(self, sorter.min(values, nan_last=nan_last), values[first])
                same_bits(self, sorter.max(values, nan_last=nan_last), values[last])
                self.assertEqual(sorter.argmin(values, nan_last=nan_last), first)
                self.assertEqual(sorter.argmax(values, nan_last=nan_last), last)

    def test_rows(self):
        values = samples("int16", (6, 77))
        for sorter in self.sorters.values():
            same_bits(self, sorter.sum(values, axis=-1), values.sum(-1, dtype="int64"))
            same_bits(self, sorter.mean(values, axis=1), values.mean(-1))
            same_bits(self, sorter.min(values, axis=-1), values.min(-1))
            same_bits(self, sorter.argmax(values, axis=-1), values.argmax(-1))
            same_bits(self, sorter.cumsum(values, axis=-1), values.cumsum(-1, dtype="int16"))
            out = numpy.empty(6, "int16")
            self.assertIs(sorter.max(values, axis=-1, out=out), out)
            same_bits(self, out, values.max(-1))

    def test_cumsum(self):
        for sorter, values in self.each(types=TYPES[:8]):
            running = values.cumsum(dtype=values.dtype)
            same_bits(self, sorter.cumsum(values), running)
            same_bits(self, sorter.cumsum(values, exclusive=True), running - values)
        for sorter, values in self.each(types=("float32", "float64")):
            values = numpy.where(numpy.isfinite(values), values, 0).astype(values.dtype)
            numpy.testing.assert_allclose(sorter.cumsum(values), values.cumsum(dtype="float64"), rtol=1e-5, atol=1e-3)

    def test_nothing_has_no_extreme(self):
        for sorter in self.sorters.values():
            for name in ("min", "max", "argmin", "argmax"):
                with self.assertRaisesRegex(gsort.InvalidArgumentError, "no elements"):
                    getattr(sorter, name)(numpy.empty(0))
                with self.assertRaisesRegex(gsort.InvalidArgumentError, "no elements"):
                    getattr(sorter, name)(numpy.empty((2, 0)), axis=-1)
            self.assertEqual(sorter.sum(numpy.empty(0)), 0)

    def test_no_rows_have_no_results(self):
        no_rows = numpy.empty((0, 3), "float32")
        types = (("min max", "float32"), ("argmin argmax", "int64"), ("sum mean", "float64"))
        for sorter in self.sorters.values():
            for name, dtype in ((name, dtype) for names, dtype in types for name in names.split()):
                same_bits(self, getattr(sorter, name)(no_rows, axis=-1), numpy.empty(0, dtype))
