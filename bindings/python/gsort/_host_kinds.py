# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrays in host memory: NumPy, the buffer protocol, Arrow, Polars, pandas. No library is imported that the caller has
not imported: an array of it is the proof that it is there."""

import array
import struct
import sys

from . import _dtypes
from ._dtypes import BY_FORMAT, BY_NAME, FORMATS, I64, NAMES, SIZES, code_of
from ._errors import InvalidArgumentError, UnsupportedTypeError, named_type
from ._view import View, buffer_address, count, element_strides


class HostKind:
    """What all of them share. A kind has:
    view(array, what): the View of the caller's array.
    values_view(array, what): the same of values that are only moved, if more types will do for them.
    empty(like, shape, code): a View of a new array, of `like`'s own type where code is None.
    finish(view, like): what the caller gets for a View that empty() made.
    compact(view): a View of a contiguous copy.
    """

    always_host = True
    # How the sentence goes on that refuses an output because it cannot be written.
    readonly_hint = "; pass an array that can be written"

    @staticmethod
    def takes(source):
        """Whether an object of the module that this kind is for is an array at all."""
        return True

    @staticmethod
    def is_copy(view):
        """Whether a result that is written to the view would not be seen in the caller's array."""
        return view.copied

    # Whether results must be complete before the caller gets them.
    waits = False

    @classmethod
    def values_view(cls, source, what):
        return cls.view(source, what)

    @staticmethod
    def holds(code):
        """Whether the library that the array comes from has arrays of this type."""
        return True

    @staticmethod
    def default_index_code():
        """The type of indices where the caller names none."""
        return I64

    @staticmethod
    def result_code(code):
        """The type that a result of type `code` has in this kind of array."""
        return code

    @staticmethod
    def scalar(like, code):
        """A View of room for one element (of `like`'s own type where code is None), and a function that reads it."""
        code = code or like.code
        letter = FORMATS.get(code)
        if letter is None:
            raise UnsupportedTypeError(
                f"Python has no number of the type {NAMES[code]}; pass a NumPy array or a tensor"
            )
        room = memoryview(bytearray(8))[: SIZES[code]]
        view = View(BufferKind, room, buffer_address(room), code, letter, ())
        return view, lambda: struct.unpack("=" + letter, room)[0]

    @staticmethod
    def compact(view):
        raise InvalidArgumentError("the array has gaps between its elements; pass a contiguous copy")

    @staticmethod
    def finish(view, like):
        return view.source


class NumpyKind(HostKind):
    """numpy.ndarray."""

    @staticmethod
    def takes(source):
        return hasattr(source, "__array_interface__")

    @classmethod
    def view(cls, source, what):
        dtype = source.dtype
        if not dtype.isnative:
            raise UnsupportedTypeError(
                f"{what} has the other byte order ({dtype.str}); pass .astype({dtype.newbyteorder('=').str!r}) of it"
            )
        return cls._view(source, what, code_of(dtype, what))

    @classmethod
    def values_view(cls, source, what):
        if source.dtype.hasobject:
            raise UnsupportedTypeError(f"{what} has Python objects as elements; pass their indices")
        return cls._view(source, what, None)

    @classmethod
    def _view(cls, source, what, code):
        numpy = sys.modules["numpy"]
        if type(source) is not numpy.ndarray and isinstance(source, numpy.ma.MaskedArray):
            raise UnsupportedTypeError(f"{what} is a masked array; pass .compressed() or .filled(value) of it")
        flags, itemsize, strides = source.flags, source.dtype.itemsize, None
        copied = not flags.aligned or not flags.c_contiguous and any(stride % itemsize for stride in source.strides)
        if copied:
            source = source.copy()
            flags = source.flags
        if not flags.c_contiguous:
            strides = tuple(stride // itemsize for stride in source.strides)
        address = source.__array_interface__["data"][0]
        result = View(
            cls, source, address, code, source.dtype, source.shape, strides, not flags.writeable, None, itemsize
        )
        result.copied = copied
        return result

    @classmethod
    def empty(cls, like, shape, code):
        numpy = sys.modules["numpy"]
        result = numpy.empty(shape, like.native if code is None else NAMES[code])
        return NumpyKind._view(result, "result", code or like.code)

    @staticmethod
    def compact(view):
        copy = sys.modules["numpy"].ascontiguousarray(view.source)
        result = NumpyKind._view(copy, "copy", view.code)
        result.kind, result.origin = view.kind, view.origin
        return result

    @staticmethod
    def scalar(like, code):
        room = sys.modules["numpy"].zeros((), like.native if code is None else NAMES[code])
        return NumpyKind._view(room, "result", code or like.code), lambda: room[()]


class BufferKind(HostKind):
    """The buffer protocol: array.array, bytes, bytearray, memoryview, mmap, ctypes arrays."""

    @classmethod
    def view(cls, source, what):
        memory = memoryview(source)
        letters = memory.format.lstrip("@=<" if sys.byteorder == "little" else "@=>!")
        code = BY_FORMAT.get(letters)
        if code is None or SIZES[code] != memory.itemsize:
            raise UnsupportedTypeError(
                f"{what} has elements of the buffer format {memory.format!r}; gsort takes {' '.join(BY_FORMAT)} in the "
                "machine's byte order"
            )
        strides = None if memory.c_contiguous else element_strides(memory.strides, memory.itemsize)
        if memory.suboffsets:  # rows behind pointers
            strides = (0,) * memory.ndim
        address = buffer_address(memory)
        result = View(cls, memory, address, code, letters, memory.shape, strides, memory.readonly)
        result.origin = source
        return result

    @classmethod
    def empty(cls, like, shape, code):
        letter = like.native if code is None else FORMATS[code]
        if isinstance(like.origin, array.array) and len(shape) == 1:
            return cls.view(array.array(letter, (0,)) * shape[0], "result")
        room = bytearray(max(1, count(shape)) * SIZES[code or like.code])
        shaped = {"shape": list(shape)} if 0 not in shape else {}
        memory = memoryview(room)[: 0 if 0 in shape else None]
        try:
            return cls.view(memory.cast(letter, **shaped), "result")
        except ValueError as error:  # Before Python 3.12 for half precision.
            raise InvalidArgumentError(f"Python cannot make a memoryview of format {letter!r}; pass out=") from error

    @staticmethod
    def finish(view, like):
        return view.origin

    @classmethod
    def compact(cls, view):
        # As bytes: a memoryview cannot be cast to every format.
        copy = memoryview(view.source.tobytes())
        result = View(cls, copy, buffer_address(copy), view.code, view.native, view.shape, None, True)
        result.origin = view.origin
        return result


class ArrowKind(HostKind):
    """pyarrow.Array and ChunkedArray."""

    names = {"halffloat": _dtypes.F16, "float": _dtypes.F32, "double": _dtypes.F64}
    makers = {_dtypes.F16: "float16", _dtypes.F32: "float32", _dtypes.F64: "float64"}

    @staticmethod
    def takes(source):
        return hasattr(source, "null_count") or hasattr(source, "columns")

    @classmethod
    def view(cls, source, what):
        if hasattr(source, "columns"):
            raise UnsupportedTypeError(f"{what} is {named_type(source)}; pass one of its columns")
        if hasattr(source, "num_chunks"):
            source = source.chunk(0) if source.num_chunks == 1 else source.combine_chunks()
        name = str(source.type)
        code = cls.names.get(name) or (None if name == "bool" else BY_NAME.get(name))
        if code is None:
            raise UnsupportedTypeError(f"{what} has elements of Arrow type {name}; gsort takes numbers of 8 to 64 bits")
        if source.null_count:
            raise InvalidArgumentError(
                f"{what} has {source.null_count} nulls; pass .drop_null() or .fill_null(value) of it"
            )
        memory = source.buffers()[1]
        address = memory.address + source.offset * SIZES[code] if memory is not None else None
        return View(cls, source, address, code, source.type, (len(source),), None, True)

    @classmethod
    def empty(cls, like, shape, code):
        arrow = sys.modules["pyarrow"]
        if len(shape) != 1:
            raise InvalidArgumentError("an Arrow array has one axis; pass out=, or a NumPy array")
        native = like.native if code is None else getattr(arrow, cls.makers.get(code) or NAMES[code])()
        memory = arrow.allocate_buffer(shape[0] * SIZES[code or like.code])
        return View(cls, memory, memory.address, code or like.code, native, shape)

    @staticmethod
    def finish(view, like):
        return sys.modules["pyarrow"].Array.from_buffers(view.native, view.shape[0], [None, view.source])


class ColumnKind(NumpyKind):
    """What Polars and pandas share: columns over NumPy's memory."""

    @staticmethod
    def takes(source):
        return True

    @classmethod
    def values_view(cls, source, what):
        return cls.view(source, what)

    @classmethod
    def adopt(cls, values, column, what):
        result = NumpyKind.view(values, what)
        result.kind, result.origin = cls, column
        return result


class PolarsKind(ColumnKind):
    """polars.Series."""

    @classmethod
    def view(cls, source, what):
        if not hasattr(source, "rechunk") or hasattr(source, "columns"):
            raise UnsupportedTypeError(f"{what} is {named_type(source)}; pass one of its columns")
        name = str(source.dtype)
        if name.lower() not in BY_NAME:
            raise UnsupportedTypeError(f"{what} has elements of Polars type {name}; gsort takes numbers of 8 to 64 bits")
        if source.null_count():
            raise InvalidArgumentError(
                f"{what} has {source.null_count()} nulls; pass .drop_nulls() or .fill_null(value) of it"
            )
        return cls.adopt(source.rechunk().to_numpy(allow_copy=False), source, what)

    @staticmethod
    def finish(view, like):
        name = like.origin.name if like.kind is PolarsKind else ""
        return sys.modules["polars"].Series(name, view.source)


class PandasKind(ColumnKind):
    """pandas.Series and pandas.Index. Results are Series of the same name with an index of their own."""

    @staticmethod
    def takes(source):
        return hasattr(source, "to_numpy") and hasattr(source, "dtype") or hasattr(source, "columns")

    @classmethod
    def is_copy(cls, view):
        # Columns of sparse numbers, of categories and the like make a new array whenever one is asked of them.
        return view.copied or cls.view(view.origin, "out").address != view.address

    @classmethod
    def view(cls, source, what):
        if hasattr(source, "columns"):
            raise UnsupportedTypeError(f"{what} is a DataFrame; pass one of its columns, or .to_numpy() of it")
        plain = getattr(source.dtype, "numpy_dtype", None)
        if plain is None:
            result = cls.adopt(source.to_numpy(copy=False), source, what)
            # What an index holds must not change, whether pandas says so of the array or not.
            result.readonly = result.readonly or isinstance(source, sys.modules["pandas"].Index)
            return result
        if source.isna().any():
            raise InvalidArgumentError(f"{what} has missing values; pass .dropna() or .fillna(value) of it")
        return cls.adopt(source.to_numpy(dtype=plain), source, what)

    @classmethod
    def empty(cls, like, shape, code):
        if len(shape) != 1:
            raise InvalidArgumentError("a pandas column has one axis; pass out=, or .to_numpy() of the column")
        return NumpyKind.empty(like, shape, code)

    @staticmethod
    def finish(view, like):
        name = getattr(like.origin, "name", None) if like.kind is PandasKind else None
        return sys.modules["pandas"].Series(view.source, name=name, copy=False)
