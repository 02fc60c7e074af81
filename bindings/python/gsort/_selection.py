# SPDX-License-Identifier: MIT OR Apache-2.0
"""The k best."""

import collections

from ._arrays import contiguous_view_of, offsets_view_of, view_of
from ._errors import InvalidArgumentError, integer_of
from ._results import Result, along, choice_flags, one_axis, pair_of

TopK = collections.namedtuple("TopK", "values indices")
TopK.__doc__ = "What a top-k gives: the elements, best first, and the index of each."


def _rows_view_of(matrix, what):
    """A view whose rows may lie apart: the library takes them where they are."""
    view = view_of(matrix, what)
    if not view.shape:
        raise InvalidArgumentError(f"{what} has no axis; pass an array of one axis or more")
    return view if view.row_stride is not None else view.kind.compact(view)


def _count_of(k):
    return integer_of("k", k, 0, (1 << 63) - 1)


class Selection:
    """The methods of Sorter that select."""

    def topk(self, x, k, *, axis=-1, smallest=False, nan_last=True, dtype=None, out=None, progress=None):
        """The k greatest elements, best first, and their indices. Equal elements go by the lowest index.

        Args:
            x: an array of one axis or more; of two axes and more, the k best of every row.
            k: at most the length of the last axis.
            axis: -1, or None for all elements as one axis.
            smallest: the k least, ascending.
            nan_last: NaNs are never better than a number. With nan_last=False they take their place in IEEE 754
                totalOrder, in which a positive NaN is the greatest of all.
            dtype: type of the indices: int64 (the default), uint64, int32 or uint32.
            out: (values, indices) to receive the result.
            progress: as in sort().

        Returns:
            TopK(values, indices), in the same kind of array; the last axis is k long.

        Raises:
            InvalidArgumentError: k is above the length, or another argument is wrong.

        >>> gsort.topk(numpy.array([0.25, 7.5, -1.0, 7.5]), 2)
        TopK(values=array([7.5, 7.5]), indices=array([1, 3]))
        """
        x = _rows_view_of(x, "x")
        if axis is None and not x.contiguous:
            x = x.kind.compact(x)
        rows, columns, shape = along(x, axis)
        k = _count_of(k)
        if k > columns:
            raise InvalidArgumentError(f"k = {k} is above the {columns} elements that there are to choose from")
        values, indices = self._results(x, (*shape[:-1], k), dtype, out)
        flags, views = choice_flags(smallest, nan_last), (x, values.view, indices.view)
        tail = (k, values.address, indices.view.code, indices.address, flags)
        if len(shape) == 1:
            self._run("gsort_topk", (x.code, x.address, columns, *tail), views, progress)
        else:
            self._run("gsort_topk_rows", (x.code, x.address, rows, columns, x.row_stride, *tail), views, progress)
        return TopK(values.get(), indices.get())

    def topk_rows(self, matrix, k, *, smallest=False, nan_last=True, dtype=None, out=None, progress=None):
        """topk() of every row of a matrix. Rows may lie apart (matrix[:, :100]); they are not copied.

        Args:
            matrix: an array of two axes.
            k, smallest, nan_last, dtype, out, progress: as in topk().

        Returns:
            TopK(values, indices), each of the shape (rows, k); indices are those of columns.

        Raises:
            InvalidArgumentError: k is above the number of columns, or another argument is wrong.

        >>> gsort.topk_rows(numpy.array([[1, 5, 3], [6, 2, 4]]), 1).indices
        array([[1],
               [0]])
        """
        if len(view_of(matrix, "matrix").shape) != 2:
            raise InvalidArgumentError("matrix must have two axes; topk() takes one, and more")
        return self.topk(matrix, k, smallest=smallest, nan_last=nan_last, dtype=dtype, out=out, progress=progress)

    def topk_segments(self, x, offsets, k, *, smallest=False, nan_last=True, dtype=None, out=None, progress=None):
        """topk() of every segment of an array: of rows of different lengths.

        Args:
            x: elements on one axis.
            offsets: as in sort_segments().
            k: entries of each segment's result; may be above its length.
            smallest, nan_last, dtype, out, progress: as in topk().

        Returns:
            TopK(values, indices), each of the shape (segments, k). Indices count from the segment's first element.
            Where a segment has fewer than k elements, the values behind its last are 0 and the indices -1 (in an
            unsigned type: its greatest number).

        Raises:
            InvalidArgumentError: offsets descend or reach past the end.

        >>> gsort.topk_segments(numpy.array([3, 1, 2, 9]), [0, 3, 4], 2)
        TopK(values=array([[3, 2],
               [9, 0]]), indices=array([[ 0,  2],
               [ 0, -1]]))
        """
        x = one_axis(contiguous_view_of(x, "x"), "x")
        offsets = offsets_view_of(offsets)
        segments, k = offsets.size - 1, _count_of(k)
        values, indices = self._results(x, (segments, k), dtype, out)
        arguments = (x.code, x.address, x.size, offsets.address, segments, k, values.address, indices.view.code,
                     indices.address, choice_flags(smallest, nan_last))  # fmt: skip
        self._run("gsort_topk_segments", arguments, (x, offsets, values.view, indices.view), progress)
        return TopK(values.get(), indices.get())

    @staticmethod
    def _results(x, shape, dtype, out):
        out_values, out_indices = pair_of(out, "values, indices")
        values = Result(x, out_values, "out[0]", shape, None)
        return values, Result.of_indices(x, out_indices, "out[1]", shape, dtype)
