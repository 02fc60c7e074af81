# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sorts, orders and ranks."""

import array

from ._arrays import contiguous_view_of, offsets_view_of, view_of
from ._errors import InvalidArgumentError
from ._results import Result, along, check_same_type, choice_flags, one_axis, order_flags, pair_of
from ._view import count, refuse_overlap


class Ordering:
    """The methods of Sorter that put things into order."""

    def sort(self, keys, *, axis=-1, descending=False, nan_last=True, out=None, progress=None):
        """The keys in order.

        Floats order by their bits: -0.0 comes before 0.0. NaNs come last in either direction, whatever their sign;
        with nan_last=False they take their place in IEEE 754 totalOrder, before -inf or after inf by their sign.

        Args:
            keys: an array of one axis or more, of any of the twelve types. Gaps between elements are taken, by a copy.
            axis: -1, or None for all elements as one axis.
            descending: from the greatest to the least.
            nan_last: NaNs after everything else.
            out: receives the result instead of a new array; of the same type and shape, without gaps. May be keys.
            progress: a function of (done, total), or a tqdm bar, told of work on host memory. What it raises stops the
                call and comes out of it.

        Returns:
            An array of the same kind, type and shape, or out.

        Raises:
            InvalidArgumentError: an argument is wrong; nothing was written.
            UnsupportedTypeError: keys is not an array, or of a type that gsort does not know.
            OutOfMemoryError: host or device memory ran out.

        >>> gsort.sort(numpy.array([2.5, numpy.nan, -1.0]))
        array([-1. ,  2.5,  nan])
        >>> gsort.sort(numpy.array([[3, 1, 2], [9, 7, 8]]), descending=True)
        array([[3, 2, 1],
               [9, 8, 7]])
        """
        keys = contiguous_view_of(keys, "keys")
        rows, columns, shape = along(keys, axis)
        result = Result(keys, out, "out", shape, None)
        flags, views = order_flags(descending, nan_last), (keys, result.view)
        if rows == 1:
            self._run("gsort_sort", (keys.code, keys.address, result.address, columns, flags), views, progress)
        else:
            offsets = view_of(array.array("q", range(0, keys.size + 1, max(columns, 1))), "offsets")
            arguments = (keys.code, keys.address, result.address, keys.size, offsets.address, offsets.size - 1, flags)
            self._run("gsort_sort_segments", arguments, (*views, offsets), progress)
        return result.get()

    def argsort(self, keys, *, axis=-1, descending=False, nan_last=True, dtype=None, out=None, progress=None):
        """The stable order of the keys as indices: keys[argsort(keys)] is sorted.

        Equal keys stay in the order of the input, in either direction.

        Args:
            keys, axis, descending, nan_last, progress: as in sort().
            dtype: type of the indices: int64 (the default), uint64, int32 or uint32.
            out: receives the indices instead of a new array; its type decides where dtype is not given.

        Returns:
            Indices of the shape of keys, in the same kind of array, or out.

        Raises:
            InvalidArgumentError: an argument is wrong, or dtype cannot hold the last index.

        >>> gsort.argsort(numpy.array([30, 10, 20]))
        array([1, 2, 0])
        """
        keys = contiguous_view_of(keys, "keys")
        rows, columns, shape = along(keys, axis)
        result = Result.of_indices(keys, out, "out", shape, dtype)
        if rows == 1:
            self._indices("gsort_argsort", keys, result, order_flags(descending, nan_last), progress)
        else:
            self._argsort_rows(keys, columns, result.view, descending, nan_last, progress)
        return result.get()

    def rank(self, keys, *, axis=-1, descending=False, nan_last=True, dtype=None, out=None, progress=None):
        """The place of every key in the stable order, counted from 0: the inverse of argsort().

        Args:
            keys, axis, descending, nan_last, dtype, out, progress: as in argsort().

        Returns:
            Ranks of the shape of keys, in the same kind of array, or out.

        Raises:
            InvalidArgumentError: an argument is wrong, or dtype cannot hold the last rank.

        >>> gsort.rank(numpy.array([30, 10, 20]))
        array([2, 0, 1])
        """
        keys = contiguous_view_of(keys, "keys")
        rows, columns, shape = along(keys, axis)
        result = Result.of_indices(keys, out, "out", shape, dtype)
        if rows == 1:
            self._indices("gsort_rank", keys, result, order_flags(descending, nan_last), progress)
        else:
            refuse_overlap(keys, result.view)
            order = Result(keys, None, "order", shape, result.view.code).view
            self._argsort_rows(keys, columns, order, descending, nan_last, progress)
            # The inverse of a permutation is its order.
            self._argsort_rows(order, columns, result.view, False, False, progress)
        return result.get()

    def _indices(self, function, keys, result, flags, progress):
        arguments = (keys.code, keys.address, keys.size, result.view.code, result.address, flags)
        self._run(function, arguments, (keys, result.view), progress)

    def _argsort_rows(self, keys, columns, indices, descending, nan_last, progress):
        """The order of every row: all of its elements as a top-k, whose rule for equal ones is a stable sort's."""
        flags = choice_flags(not descending, nan_last)
        arguments = (keys.code, keys.address, count(keys.shape[:-1]), columns, columns, columns, None, indices.code,
                     indices.address, flags)  # fmt: skip
        self._run("gsort_topk_rows", arguments, (keys, indices), progress)

    def sort_pairs(self, keys, values, *, descending=False, nan_last=True, out=None, progress=None):
        """The keys in order, and a value moved with each. Stable.

        Args:
            keys: n keys on one axis.
            values: an array whose first axis is n long: a value is everything behind one index of it, up to 65,536
                bytes, moved as it is. NumPy arrays may have any element type but objects.
            out: (keys, values) to receive the result. May be the inputs.
            descending, nan_last, progress: as in sort().

        Returns:
            (keys, values), each of the kind of its input, or out.

        Raises:
            InvalidArgumentError: an argument is wrong, such as values of another length than keys.

        >>> gsort.sort_pairs(numpy.array([3, 1, 2]), numpy.array(["c", "a", "b"]))
        (array([1, 2, 3]), array(['a', 'b', 'c'], dtype='<U1'))
        """
        keys = one_axis(contiguous_view_of(keys, "keys"), "keys")
        values = contiguous_view_of(values, "values", any_type=True)
        if values.shape[0] != keys.size:
            raise InvalidArgumentError(f"values has {values.shape[0]} entries on its first axis, and keys {keys.size}")
        out_keys, out_values = pair_of(out, "keys, values")
        new_keys = Result(keys, out_keys, "out[0]", keys.shape, None)
        new_values = Result(values, out_values, "out[1]", values.shape, None)
        # Of no values the size does not matter, but it must be one that the library takes.
        value_bytes = values.bytes // keys.size if keys.size else 1
        arguments = (keys.code, keys.address, new_keys.address, value_bytes, values.address, new_values.address,
                     keys.size, order_flags(descending, nan_last))  # fmt: skip
        self._run("gsort_sort_pairs", arguments, (keys, values, new_keys.view, new_values.view), progress)
        return new_keys.get(), new_values.get()

    def sort_segments(self, keys, offsets, *, descending=False, nan_last=True, out=None, progress=None):
        """Every segment of an array sorted on its own. Segment s is keys[offsets[s]:offsets[s + 1]].

        Args:
            keys: keys on one axis.
            offsets: ascending indices, one more than there are segments; an array of integers or a list.
            out, descending, nan_last, progress: as in sort().

        Returns:
            An array like keys, or out. Keys outside all segments are where they were.

        Raises:
            InvalidArgumentError: offsets descend or reach past the end.

        >>> gsort.sort_segments(numpy.array([3, 1, 2, 9, 8]), [0, 3, 5])
        array([1, 2, 3, 8, 9])
        """
        keys = one_axis(contiguous_view_of(keys, "keys"), "keys")
        offsets = offsets_view_of(offsets)
        result = Result(keys, out, "out", keys.shape, None)
        arguments = (keys.code, keys.address, result.address, keys.size, offsets.address, offsets.size - 1,
                     order_flags(descending, nan_last))  # fmt: skip
        self._run("gsort_sort_segments", arguments, (keys, offsets, result.view), progress)
        return result.get()

    def merge(self, a, b, *, descending=False, nan_last=True, out=None, progress=None):
        """Two sorted arrays as one.

        Args:
            a, b: arrays on one axis and of one type, each in the order that the keywords name.
            out: receives the result; must overlap neither.
            descending, nan_last, progress: as in sort().

        Returns:
            A sorted array of the kind of a, or out. If a or b is not sorted: the same keys in some order.

        Raises:
            InvalidArgumentError: the types differ, or out overlaps an input.

        >>> gsort.merge(numpy.array([1, 4]), numpy.array([2, 3, 5]))
        array([1, 2, 3, 4, 5])
        """
        a = one_axis(contiguous_view_of(a, "a"), "a")
        b = check_same_type(one_axis(contiguous_view_of(b, "b"), "b"), a, "b")
        result = Result(a, out, "out", (a.size + b.size,), None)
        arguments = (a.code, a.address, a.size, b.address, b.size, result.address, order_flags(descending, nan_last))
        self._run("gsort_merge", arguments, (a, b, result.view), progress)
        return result.get()
