# SPDX-License-Identifier: MIT OR Apache-2.0
"""Finds libgsort.so, opens it at the first use, and declares its functions."""

import ctypes
import os

from ._dtypes import code_of
from ._errors import InvalidArgumentError, error_of, integer_of

DESCENDING, NAN_LAST, SMALLEST, EXCLUSIVE = 1, 2, 4, 8
MIN, MAX, ARGMIN, ARGMAX, MEAN = 1, 2, 3, 4, 5
BACKENDS = {"auto": 0, "cpu": 1, "cuda": 2}
OPERATIONS = {
    "sort": 1, "sort_pairs": 2, "argsort": 3, "rank": 4, "merge": 5, "sort_segments": 6, "topk": 7, "topk_rows": 8,
    "sum": 9, "reduce": 10, "scan": 11, "topk_segments": 12,
}  # fmt: skip

_u32, _i32, _u64, _pointer = ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint64, ctypes.c_void_p

ProgressFunction = ctypes.CFUNCTYPE(_i32, _pointer, _u64, _u64)
LogFunction = ctypes.CFUNCTYPE(None, _pointer, ctypes.c_char_p)


class Options(ctypes.Structure):
    """gsort_options."""

    _fields_ = [
        ("struct_size", _u32), ("backend", _u32), ("device", _i32), ("threads", _u32),
        ("device_memory_limit_bytes", _u64), ("host_memory_limit_bytes", _u64),
        ("host_allocate", _pointer), ("host_deallocate", _pointer),
        ("device_allocate", _pointer), ("device_deallocate", _pointer), ("allocator_user", _pointer),
        ("log", LogFunction), ("log_user", _pointer),
    ]  # fmt: skip


class RawInfo(ctypes.Structure):
    """gsort_info."""

    _fields_ = [
        ("struct_size", _u32), ("backend", _u32), ("device", _i32), ("threads", _u32), ("compute_capability", _u32),
        ("driver_version", _u32), ("device_memory_bytes", _u64), ("device_memory_free_bytes", _u64),
        ("device_held_bytes", _u64), ("host_held_bytes", _u64), ("device_name", ctypes.c_char * 128),
        ("reason", ctypes.c_char * 256),
    ]  # fmt: skip


# Without argument types ctypes would cut 64-bit counts and addresses to an int.
_STATUS_FUNCTIONS = {
    "gsort_create": [ctypes.POINTER(Options), ctypes.POINTER(_pointer)],
    "gsort_info_get": [_pointer, ctypes.POINTER(RawInfo)],
    "gsort_set_stream": [_pointer, _pointer],
    "gsort_synchronize": [_pointer],
    "gsort_sort": [_pointer, _u32, _pointer, _pointer, _u64, _u32],
    "gsort_sort_pairs": [_pointer, _u32, _pointer, _pointer, _u32, _pointer, _pointer, _u64, _u32],
    "gsort_argsort": [_pointer, _u32, _pointer, _u64, _u32, _pointer, _u32],
    "gsort_rank": [_pointer, _u32, _pointer, _u64, _u32, _pointer, _u32],
    "gsort_merge": [_pointer, _u32, _pointer, _u64, _pointer, _u64, _pointer, _u32],
    "gsort_sort_segments": [_pointer, _u32, _pointer, _pointer, _u64, _pointer, _u64, _u32],
    "gsort_topk": [_pointer, _u32, _pointer, _u64, _u64, _pointer, _u32, _pointer, _u32],
    "gsort_topk_rows": [_pointer, _u32, _pointer, _u64, _u64, _u64, _u64, _pointer, _u32, _pointer, _u32],
    "gsort_topk_segments": [_pointer, _u32, _pointer, _u64, _pointer, _u64, _u64, _pointer, _u32, _pointer, _u32],
    "gsort_sum": [_pointer, _u32, _pointer, _u64, _pointer, _u32],
    "gsort_reduce": [_pointer, _u32, _u32, _pointer, _u64, _pointer, _u32],
    "gsort_scan": [_pointer, _u32, _pointer, _pointer, _u64, _u32],
    "gsort_reserve": [_pointer, _u32, _u32, _u64, _u64],
    "gsort_workspace_bytes": [_u32, _u32, _u64, _u64, ctypes.POINTER(_u64)],
    "gsort_set_progress": [_pointer, ProgressFunction, _pointer],
    "gsort_cancel": [_pointer],
}
_OTHER_FUNCTIONS = {
    "gsort_destroy": (None, [_pointer]),
    "gsort_error_message": (ctypes.c_char_p, [_pointer]),
    "gsort_version": (_u32, []),
    "gsort_version_string": (ctypes.c_char_p, []),
}


def _candidates():
    named = os.environ.get("GSORT_LIBRARY")
    if named:
        return [named]
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libgsort.so")
    return [inside] if os.path.exists(inside) else ["libgsort.so.1"]


def _open():
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            tried.append(str(error))
            continue
        declared = {name: (_i32, arguments) for name, arguments in _STATUS_FUNCTIONS.items()}
        for name, (result, arguments) in {**_OTHER_FUNCTIONS, **declared}.items():
            function = getattr(library, name, None)
            if function is None:
                raise ImportError(f"{path} is not gsort: it has no function {name}")
            function.restype, function.argtypes = result, arguments
        if library.gsort_version() // 10000 != 1:
            raise ImportError(
                f"{path} is gsort {library.gsort_version_string().decode()}; this package needs version 1"
            )
        return library
    raise ImportError(
        f"libgsort.so cannot be opened ({'; '.join(tried)}). It comes with the wheel; "
        "GSORT_LIBRARY=/path/to/libgsort.so names another one"
    )


_library = None


def library():
    """The opened library."""
    global _library
    if _library is None:
        _library = _open()
    return _library


def call_of(operation, dtype, n, parameter):
    """A call that is only described, in the library's numbers."""
    if not isinstance(operation, str) or operation not in OPERATIONS:
        raise InvalidArgumentError(f"operation = {operation!r} is not one of {', '.join(OPERATIONS)}")
    most = (1 << 64) - 1
    numbers = integer_of("n", n, 0, most), integer_of("parameter", parameter, 0, most)
    return (OPERATIONS[operation], code_of(dtype, "dtype"), *numbers)


def workspace_bytes(operation, dtype, n, parameter=0):
    """Device memory beyond its arrays that a call with device arrays needs. Needs no GPU.

    Args:
        operation: "sort", "sort_pairs", "argsort", "rank", "merge", "sort_segments", "topk", "topk_rows",
            "topk_segments", "sum", "reduce" or "scan".
        dtype: type of the elements.
        n: number of elements.
        parameter: k of a top-k, bytes of a value or an index, number of segments; otherwise 0.

    >>> gsort.workspace_bytes("sort", "float32", 0)
    0
    """
    call = call_of(operation, dtype, n, parameter)
    result = _u64()
    lib = library()
    status = lib.gsort_workspace_bytes(*call, ctypes.byref(result))
    if status:
        raise error_of(status, lib.gsort_error_message(None).decode())
    return result.value


def version():
    """Version of the library as text.

    >>> gsort.version().split(".")[0]
    '1'
    """
    return library().gsort_version_string().decode()
