# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sums, means, extremes and running sums."""

from . import _library
from ._arrays import contiguous_view_of
from ._dtypes import F64, FLOATS, I64, U64, UNSIGNED, is_bool
from ._errors import InvalidArgumentError, UnsupportedTypeError
from ._results import Result, along, choice_flags
from ._view import refuse_overlap


def _sum_code(code):
    if code in FLOATS:
        return F64
    return U64 if code in UNSIGNED else I64


class Sums:
    """The methods of Sorter that add up or compare."""

    def sum(self, x, *, axis=None, out=None, progress=None):
        """The sum of all elements, or of every row.

        Floats: the exact sum, rounded once to float64, whatever the order and the magnitude of the elements; NaN if
        there is a NaN or both infinities. Integers: modulo 2**64, as int64 or uint64. Booleans count as 0 and 1.

        Args:
            x: an array of one axis or more.
            axis: None for all elements, -1 for every row.
            out: with axis=-1, receives the sums; must not overlap x.
            progress: as in sort().

        Returns:
            A NumPy scalar (of a JAX array, too), a Python number where x is no such array, or a tensor or CuPy array
            without axes, on the device and not waited for. With axis=-1, and two axes or more, an array without the last axis.

        Raises:
            InvalidArgumentError: an argument is wrong.

        >>> float(gsort.sum(numpy.array([1e100, 1.0, -1e100])))
        1.0
        >>> gsort.sum(numpy.array([[1, 2], [3, 4]]), axis=-1)
        array([3, 7])
        """
        x = contiguous_view_of(x, "x")
        return self._reduce("gsort_sum", (), x, axis, _sum_code(x.code), 0, out, progress)

    def mean(self, x, *, axis=None, out=None, progress=None):
        """The exact sum divided by the number of elements, rounded once to float64; of nothing, NaN.

        Args and Returns: as in sum().

        Raises:
            InvalidArgumentError: an argument is wrong.

        >>> float(gsort.mean(numpy.array([1, 2], dtype="uint8")))
        1.5
        """
        x = contiguous_view_of(x, "x")
        return self._reduce("gsort_reduce", (_library.MEAN,), x, axis, F64, 0, out, progress)

    def min(self, x, *, axis=None, nan_last=True, out=None, progress=None):
        """The least element, of all or of every row; -0.0 is less than 0.0.

        Args:
            nan_last: NaNs are never the least where there is a number. With nan_last=False a negative NaN is the least.
            x, axis, out, progress: as in sum().

        Returns:
            As sum(), in the type of x.

        Raises:
            InvalidArgumentError: there are no elements, or an argument is wrong.

        >>> float(gsort.min(numpy.array([2.0, numpy.nan, 1.0])))
        1.0
        """
        return self._extreme(_library.MIN, x, axis, nan_last, out, progress)

    def max(self, x, *, axis=None, nan_last=True, out=None, progress=None):
        """The greatest element, of all or of every row.

        Args:
            nan_last: NaNs are never the greatest where there is a number. With nan_last=False a positive NaN is.
            x, axis, out, progress: as in sum().

        Returns:
            As sum(), in the type of x.

        Raises:
            InvalidArgumentError: there are no elements, or an argument is wrong.

        >>> int(gsort.max(numpy.array([2, 9, 1])))
        9
        """
        return self._extreme(_library.MAX, x, axis, nan_last, out, progress)

    def argmin(self, x, *, axis=None, nan_last=True, out=None, progress=None):
        """The index of the least element, the lowest of equals; of all elements as one axis, or of every row.

        Args: as in min().

        Returns:
            As sum(), as int64.

        Raises:
            InvalidArgumentError: there are no elements, or an argument is wrong.

        >>> int(gsort.argmin(numpy.array([2, 1, 1])))
        1
        """
        return self._extreme(_library.ARGMIN, x, axis, nan_last, out, progress)

    def argmax(self, x, *, axis=None, nan_last=True, out=None, progress=None):
        """The index of the greatest element, the lowest of equals; of all elements as one axis, or of every row.

        Args: as in max().

        Returns:
            As sum(), as int64.

        Raises:
            InvalidArgumentError: there are no elements, or an argument is wrong.

        >>> gsort.argmax(numpy.array([[2, 9], [8, 1]]), axis=-1)
        array([1, 0])
        """
        return self._extreme(_library.ARGMAX, x, axis, nan_last, out, progress)

    def cumsum(self, x, *, axis=None, exclusive=False, out=None, progress=None):
        """Running sums, in the type of x.

        Integers wrap. Floats are added as float64 in an order that depends on nothing but the length, and each sum is
        rounded once to the type, so results are equal to the bit on every machine.

        Args:
            x: an array of one axis or more.
            axis: None for all elements as one axis, -1 for every row.
            exclusive: element i is the sum of those before i, and the first is 0.
            out: receives the result instead of a new array; may be x.
            progress: as in sort().

        Returns:
            An array of the kind and type of x, or out.

        Raises:
            InvalidArgumentError: an argument is wrong.
            UnsupportedTypeError: x is of booleans, whose running sums would wrap at 256.

        >>> gsort.cumsum(numpy.array([1, 2, 3]))
        array([1, 3, 6])
        >>> gsort.cumsum(numpy.array([1, 2, 3]), exclusive=True)
        array([0, 1, 3])
        """
        x = contiguous_view_of(x, "x")
        if is_bool(x.native):
            raise UnsupportedTypeError("x is of booleans, whose running sums would wrap at 256; convert it to integers")
        rows, columns, shape = along(x, axis)
        result = Result(x, out, "out", shape, None)
        if rows > 1 and result.address != x.address:
            refuse_overlap(x, result.view)
        flags = _library.EXCLUSIVE if exclusive else 0

        def arguments(row):
            begin = row * columns * x.item_bytes
            return x.code, x.address and x.address + begin, result.address and result.address + begin, columns, flags

        self._run_rows("gsort_scan", rows, arguments, (x, result.view), progress)
        return result.get()

    def _extreme(self, operation, x, axis, nan_last, out, progress):
        x = contiguous_view_of(x, "x")
        rows, columns, shape = along(x, axis)
        # Of no rows the best ones are none.
        if not columns:
            raise InvalidArgumentError("x has no elements, and so neither a least nor a greatest one")
        # The library writes an unsigned index, which has the same bits as an int64.
        code = I64 if operation in (_library.ARGMIN, _library.ARGMAX) else None
        if axis is None or rows == 1:
            flags = _library.NAN_LAST if nan_last else 0
            return self._reduce("gsort_reduce", (operation,), x, axis, code, flags, out, progress)
        # The best one of every row, in one call.
        result = Result(x, out, "out", shape[:-1], code)
        flags = choice_flags(operation in (_library.MIN, _library.ARGMIN), nan_last)
        values, indices = (result.address, None) if code is None else (None, result.address)
        arguments = (x.code, x.address, rows, columns, columns, 1, values, I64, indices, flags)
        self._run("gsort_topk_rows", arguments, (x, result.view), progress)
        return result.get()

    def _reduce(self, function, first, x, axis, code, flags, out, progress):
        rows, columns, shape = along(x, axis)
        # The one row of an array of one axis gives a number, as in NumPy, unless there is an array to put it in.
        if axis is None or len(x.shape) == 1 and out is None:
            if out is not None:
                raise InvalidArgumentError("out is for axis=-1; without an axis the result is a number")
            view, read = x.kind.scalar(x, code)
            self._run(function, (*first, x.code, x.address, x.size, view.address, flags), (x, view), progress)
            return read()
        result = Result(x, out, "out", shape[:-1], code and x.kind.result_code(code))
        refuse_overlap(x, result.view)

        def arguments(row):
            begin = x.address and x.address + row * columns * x.item_bytes
            return (*first, x.code, begin, columns, result.address + row * result.view.item_bytes, flags)

        self._run_rows(function, rows, arguments, (x, result.view), progress)
        return result.get()
