# SPDX-License-Identifier: MIT OR Apache-2.0
"""The library's element types: their numbers, sizes and names, and how callers may name an index type."""

from ._errors import InvalidArgumentError, UnsupportedTypeError

U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64 = range(1, 13)

BY_NAME = {
    "uint8": U8, "int8": I8, "uint16": U16, "int16": I16, "uint32": U32, "int32": I32, "uint64": U64, "int64": I64,
    "float16": F16, "bfloat16": BF16, "float32": F32, "float64": F64,
}  # fmt: skip
NAMES = {code: name for name, code in BY_NAME.items()}
SIZES = {U8: 1, I8: 1, U16: 2, I16: 2, U32: 4, I32: 4, U64: 8, I64: 8, F16: 2, BF16: 2, F32: 4, F64: 8}
UNSIGNED = frozenset((U8, U16, U32, U64))
FLOATS = frozenset((F16, BF16, F32, F64))
INDEX_TYPES = frozenset((U32, I32, U64, I64))

# Format characters of the buffer protocol. "l" and "L" are 8 bytes on every system that the library runs on.
BY_FORMAT = {
    "B": U8, "b": I8, "c": U8, "?": U8, "H": U16, "h": I16, "I": U32, "i": I32, "L": U64, "l": I64, "Q": U64, "q": I64,
    "e": F16, "f": F32, "d": F64,
}  # fmt: skip
FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", U64: "Q", I64: "q", F16: "e", F32: "f", F64: "d"}


def name_of(dtype):
    """The plain name of a type given as a string, a NumPy, PyTorch or JAX type, or a class."""
    if isinstance(dtype, str):
        return dtype
    if isinstance(dtype, type):
        return dtype.__name__
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]


def is_bool(native):
    """Whether an element type, in the words of its own library, is that of booleans."""
    return name_of(native) in ("bool", "?", "|b1")


# NumPy makes the name of a type anew each time, which takes longer than all else before a short call.
_codes: dict = {}


def code_of(dtype, what):
    """The number of an element type, or an exception that says which types there are."""
    code = _codes.get(dtype)
    if code is not None:
        return code
    name = name_of(dtype)
    # Booleans are bytes of 0 and 1, and order as such.
    code = U8 if name == "bool" else BY_NAME.get(name)
    if code is None:
        hint = "; take .view('int64') of dates and durations" if name.startswith(("datetime", "timedelta")) else ""
        raise UnsupportedTypeError(
            f"{what} has elements of type {name}; gsort takes {', '.join(BY_NAME)} and bool{hint}"
        )
    _codes[dtype] = code
    return code


def index_code_of(dtype):
    """The number of a type for indices and ranks; None is int64."""
    if dtype is None:
        return I64
    code = BY_NAME.get(name_of(dtype))
    if code not in INDEX_TYPES:
        raise InvalidArgumentError(
            f"dtype = {name_of(dtype)} is not an index type; use int32, uint32, int64 or uint64"
        )
    return code
