# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the library needs to know of an array, whoever made it."""

import ctypes

from ._dtypes import NAMES, SIZES, U8, is_bool, name_of
from ._errors import InvalidArgumentError


class View:
    """An array as an address, a type and a shape, and the kind of array that it is.

    Attributes:
        kind: how arrays of this kind are read and made (a class of _host_kinds or _device_kinds).
        source: the object that owns the memory, and what is returned where the view is a result.
        origin: the caller's own object, of which `source` may be a plainer form.
        code: the library's number of the element type; None for values that are only moved.
        native: the element type in the words of `source`.
        row_stride: elements from one row to the next where all else is contiguous, otherwise None.
        device: CUDA device ordinal, -1 for the current one, None for host memory.
        stream: the producer's current stream as an integer; keep holds it open.
        copied: whether the memory is that of a copy, which nobody would see a result in.
    """

    __slots__ = ("kind", "source", "origin", "address", "code", "native", "shape", "row_stride", "contiguous",
                 "readonly", "device", "stream", "keep", "item_bytes", "copied")  # fmt: skip

    def __init__(self, kind, source, address, code, native, shape, strides=None, readonly=False, device=None,
                 item_bytes=None):  # fmt: skip
        """strides: in elements; None where the array is contiguous. item_bytes: of values whose code is None."""
        self.kind, self.source, self.origin = kind, source, source
        self.address, self.code, self.native, self.shape = address, code, native, tuple(shape)
        self.readonly, self.device, self.stream, self.keep = readonly, device, None, None
        self.copied = False
        self.row_stride, self.contiguous = _layout(self.shape, strides)
        self.item_bytes = SIZES[code] if item_bytes is None else item_bytes

    @property
    def size(self):
        """Number of elements."""
        return count(self.shape)

    @property
    def bytes(self):
        """Size in bytes."""
        return self.size * self.item_bytes


def count(shape):
    """Number of elements of a shape."""
    result = 1
    for length in shape:
        result *= length
    return result


def element_strides(strides, item_bytes):
    """Strides in elements. Those that are no whole number of them, as those of a field of records, become 0, which fits
    no axis of several elements."""
    return tuple(0 if stride % item_bytes else stride // item_bytes for stride in strides)


def _layout(shape, strides):
    """(row_stride, contiguous). Strides of axes of length 1 do not matter."""
    expected, rows_end = 1, len(shape) - 1
    columns_fit, leading_fit = True, True
    if strides is None or 0 in shape:
        return (shape[-1] if shape else 1), True
    row_stride = shape[-1] if shape else 1
    for axis in range(len(shape) - 1, -1, -1):
        if shape[axis] != 1 and strides[axis] != expected:
            if axis == rows_end:
                columns_fit = False
            elif axis == rows_end - 1 and len(shape) == 2 and strides[axis] >= shape[-1]:
                row_stride, leading_fit = strides[axis], False
            else:
                columns_fit = False
        expected *= shape[axis]
    return (row_stride if columns_fit else None), columns_fit and leading_fit


def refuse_overlap(view, output):
    """Refuses an output that shares memory with an input, where the library is called more than once and cannot see it."""
    if view.bytes and output.bytes and view.address < output.address + output.bytes:
        if output.address < view.address + view.bytes:
            raise InvalidArgumentError("out overlaps the input; pass separate arrays")


def check_output(view, name, shape, codes, like):
    """Refuses an output that the library could not or should not write. codes: the types that it may have; with None
    among them, that of `like`."""
    # A boolean that is neither 0 nor 1 would be one that others take for granted not to be.
    misfit = view.code not in codes or view.code == U8 and is_bool(view.native) and not is_bool(like.native)
    if view.native != like.native if None in codes else misfit:
        wanted = name_of(like.native) if None in codes else " or ".join(NAMES[code] for code in sorted(codes))
        raise InvalidArgumentError(f"{name} has elements of type {name_of(view.native)}; pass {wanted}")
    if view.shape != tuple(shape):
        raise InvalidArgumentError(f"{name} has the shape {view.shape}; the result has {tuple(shape)}")
    if view.readonly:
        raise InvalidArgumentError(f"{name} is read-only{view.kind.readonly_hint}")
    if view.kind.is_copy(view):
        raise InvalidArgumentError(f"{name} can only be read by way of a copy, in which the result would be lost; pass "
                                   "an array of aligned elements without gaps")  # fmt: skip
    if not view.contiguous:
        raise InvalidArgumentError(f"{name} has gaps between its elements; pass a contiguous array")
    return view


class PyBuffer(ctypes.Structure):
    """Py_buffer of Python's C interface."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]  # fmt: skip


_BUFFER_OF_ANY_LAYOUT = 0x11C  # PyBUF_FULL_RO


def buffer_address(view):
    """Where the memory of a memoryview lies. The memoryview keeps it in place."""
    raw = PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(raw), _BUFFER_OF_ANY_LAYOUT)
    address = raw.buf
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(raw))
    return address
