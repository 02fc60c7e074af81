# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads DLPack capsules (https://dmlc.github.io/dlpack/latest/c_api.html). A capsule is not consumed: whoever made it
takes the memory back when the capsule goes."""

import ctypes

from ._dtypes import BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64
from ._errors import UnsupportedTypeError

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_READ_ONLY, _COPIED = 1, 2
_LEGACY_DEFAULT_STREAM = 1
# By DLPack's type code and bits: signed, unsigned, float, bfloat, bool.
_CODES = {
    (0, 8): I8, (0, 16): I16, (0, 32): I32, (0, 64): I64, (1, 8): U8, (1, 16): U16, (1, 32): U32, (1, 64): U64,
    (2, 16): F16, (2, 32): F32, (2, 64): F64, (4, 16): BF16, (6, 8): U8,
}  # fmt: skip


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("type_code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class _ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    ]  # fmt: skip


class Read:
    """What a capsule says."""

    def __init__(self, capsule, tensor, code, flags):
        self.capsule, self.code = capsule, code
        self.readonly, self.copied = bool(flags & _READ_ONLY), bool(flags & _COPIED)
        self.shape = tuple(tensor.shape[: tensor.ndim])
        self.strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
        self.address = (tensor.data or 0) + tensor.byte_offset
        # Pinned and managed memory can be read as host memory; the library tells them apart.
        self.device = tensor.device_id if tensor.device_type == _CUDA else None


def _capsule(source, what):
    kind, _ = source.__dlpack_device__()
    if kind not in (_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED):
        raise UnsupportedTypeError(
            f"{what} lies on a device of DLPack kind {int(kind)}; gsort takes CPU and CUDA memory"
        )
    stream = {"stream": _LEGACY_DEFAULT_STREAM} if kind == _CUDA else {}
    try:
        return source.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:  # A producer of the time before versions.
        return source.__dlpack__(**stream)


def read(source, what):
    """What the capsule of `source` says. The Read keeps the memory."""
    capsule = _capsule(source, what)
    api = ctypes.pythonapi
    api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    flags = 0
    if api.PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        managed = _ManagedVersioned.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor_versioned"))
        flags = managed.flags
        tensor = managed.tensor
    else:
        tensor = _Tensor.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor"))
    code = _CODES.get((tensor.type_code, tensor.bits)) if tensor.lanes == 1 else None
    if code is None:
        raise UnsupportedTypeError(
            f"{what} has elements of DLPack type ({tensor.type_code}, {tensor.bits} bits), which gsort does not take"
        )
    return Read(capsule, tensor, code, flags)
