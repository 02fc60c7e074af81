# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the operations share: flags, axes, and arrays for results."""

import operator

from . import _library
from ._arrays import view_of
from ._dtypes import I64, INDEX_TYPES, U8, index_code_of, is_bool, name_of
from ._errors import InvalidArgumentError
from ._view import check_output, count


def order_flags(descending, nan_last):
    return (_library.DESCENDING if descending else 0) | (_library.NAN_LAST if nan_last else 0)


def choice_flags(smallest, nan_last):
    return (_library.SMALLEST if smallest else 0) | (_library.NAN_LAST if nan_last else 0)


def along(view, axis):
    """(rows, columns, shape of the result) of work along an axis; None is all elements as one row."""
    if axis is None:
        return 1, view.size, (view.size,)
    axes = len(view.shape)
    try:
        last = operator.index(axis) in (-1, axes - 1)
    except TypeError:
        last = False
    if not last:
        raise InvalidArgumentError(
            f"axis = {axis} is not the last of {axes}; gsort works along the last axis: move the other one there "
            "first, or pass axis=None for all elements"
        )
    return count(view.shape[:-1]), view.shape[-1], view.shape


def one_axis(view, what):
    if len(view.shape) != 1:
        raise InvalidArgumentError(f"{what} has {len(view.shape)} axes; pass one, such as {what}.reshape(-1)")
    return view


def check_same_type(view, like, what):
    if view.code != like.code or view.code == U8 and is_bool(view.native) != is_bool(like.native):
        raise InvalidArgumentError(
            f"{what} has elements of type {name_of(view.native)}, and the other array {name_of(like.native)}; pass "
            "equal types"
        )
    return view


def pair_of(out, names):
    """The two outputs of a call that has two, or None twice."""
    if out is None:
        return None, None
    try:
        first, second = out
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"out is not a pair of arrays; pass ({names})") from error
    return first, second


class Result:
    """An array for a result: the caller's, or a new one of the input's kind."""

    def __init__(self, like, out, name, shape, code):
        self.like, self.out = like, out
        if out is None:
            self.view = like.kind.empty(like, shape, code)
        else:
            view = view_of(out, name, any_type=like.code is None)
            self.view = check_output(view, name, shape, {code or like.code}, like)

    @classmethod
    def of_indices(cls, like, out, name, shape, dtype):
        """The same for indices, whose type `dtype` or else `out` decides."""
        if dtype is None and out is not None:
            code = view_of(out, name).code
            if code not in INDEX_TYPES:
                code = I64
        else:
            code = like.kind.default_index_code() if dtype is None else index_code_of(dtype)
        return cls(like, out, name, shape, code)

    @property
    def address(self):
        return self.view.address

    def get(self):
        return self.like.kind.finish(self.view, self.like) if self.out is None else self.out
