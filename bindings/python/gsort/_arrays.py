# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which kind of array an object is."""

import array
import importlib
import sys

from ._dtypes import FLOATS, FORMATS, I64, U64
from ._errors import Error, InvalidArgumentError, UnsupportedTypeError, named_type
from ._host_kinds import ArrowKind, BufferKind, NumpyKind, PandasKind, PolarsKind

_HOST_MODULES = {"numpy": NumpyKind, "pyarrow": ArrowKind, "polars": PolarsKind, "pandas": PandasKind}
_DEVICE_MODULES = {"torch": "TorchKind", "cupy": "CupyKind", "jax": "JaxKind", "jaxlib": "JaxKind"}
_kinds_of_types: dict = {}


def _device_kind(name):
    # Imported only when such an array comes.
    return getattr(importlib.import_module("gsort._device_kinds"), name)


def _kind_of_type(source):
    if isinstance(source, type):
        return None
    for parent in type(source).__mro__:
        room = parent.__module__.partition(".")[0]
        if room in _HOST_MODULES and _HOST_MODULES[room].takes(source):
            return _HOST_MODULES[room]
        if room in _DEVICE_MODULES:
            return _device_kind(_DEVICE_MODULES[room])
    # Some classes have the attribute always and raise where it does not apply.
    if getattr(source, "__cuda_array_interface__", None) is not None:
        return _device_kind("CudaInterfaceKind")
    if hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        return _device_kind("DlpackKind")
    try:
        memoryview(source)
    except TypeError:
        return None
    return BufferKind


def _kind_of(source):
    """The kind of an array, or None."""
    kind = _kinds_of_types.get(type(source))
    if kind is None:
        kind = _kind_of_type(source)
        if kind is None:
            return None
        _kinds_of_types[type(source)] = kind
    return kind


def device_of(source):
    """The CUDA device on which an array lies; None for host memory and for what is not an array."""
    kind = _kind_of(source)
    if kind is None or kind.always_host:
        return None
    try:
        return kind.values_view(source, "the first argument").device
    except Error:  # The function that is called says it of its own argument.
        return None


def view_of(source, what, any_type=False):
    """The View of an array, or an exception that says what to pass instead. any_type: its elements are only moved."""
    kind = _kind_of(source)
    if kind is None:
        raise UnsupportedTypeError(
            f"{what} is {named_type(source)}, not an array; pass numpy.asarray({what}), array.array('d', {what}), "
            "or anything that has the buffer protocol, DLPack or __cuda_array_interface__"
        )
    return kind.values_view(source, what) if any_type else kind.view(source, what)


def contiguous_view_of(source, what, any_type=False):
    """The same, of a contiguous copy where the array has gaps. Without an axis it is refused."""
    view = view_of(source, what, any_type)
    if not view.shape:
        raise InvalidArgumentError(f"{what} has no axis; pass an array of one axis or more")
    return view if view.contiguous else view.kind.compact(view)


def offsets_view_of(source):
    """Offsets as 64-bit integers. The bits of an int64 are those of the library's uint64, where a negative one is above
    every length and refused. Shorter integers are converted, which copies them."""
    if isinstance(source, (list, tuple)):
        try:
            source = array.array("q", source)
        except (TypeError, OverflowError) as error:
            raise InvalidArgumentError(f"offsets must be integers of 64 bits: {error}") from error
        if source and min(source) < 0:
            raise InvalidArgumentError(f"offsets holds {min(source)}; offsets are counted from 0")
    view = contiguous_view_of(source, "offsets")
    if len(view.shape) != 1 or not view.size or view.code in FLOATS:
        raise InvalidArgumentError("offsets must be integers on one axis, at least one; segment s begins at offsets[s]")
    if view.code in (U64, I64):
        return view
    if isinstance(view.source, memoryview):
        # By way of bytes, since Python does not read the elements of ctypes' arrays.
        plain = memoryview(view.source.tobytes()).cast(FORMATS[view.code])
        return view_of(array.array("q", plain.tolist()), "offsets")
    # NumPy and its kin, PyTorch, Arrow.
    source = view.source if view.kind.holds(I64) else sys.modules["numpy"].asarray(view.source)
    names = ("astype", "to", "cast")
    convert = next((getattr(source, name) for name in names if hasattr(source, name)), None)
    if convert is None:
        raise InvalidArgumentError("offsets must be of type uint64 or int64")
    wide = sys.modules["torch"].int64 if hasattr(source, "data_ptr") else "int64"
    return view_of(convert(wide), "offsets")
