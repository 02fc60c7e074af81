# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sorts, selects and sums arrays at the speed of the memory they lie in, on NVIDIA GPUs and on CPUs.

Arrays of NumPy, PyTorch, CuPy, JAX, Arrow, Polars and pandas, and whatever has the buffer protocol, DLPack or
__cuda_array_interface__, give arrays of the same kind, without copies. Work on a GPU is enqueued on the current stream
of the array's own library. Results are the same bits on every machine.

>>> gsort.sort(numpy.array([3, 1, 2]))
array([1, 2, 3])
>>> values, indices = gsort.topk(numpy.array([0.5, 9.0, 4.0]), 2)
>>> values
array([9., 4.])
>>> float(gsort.sum(numpy.array([0.1] * 10)))
1.0
"""

from ._default import of_module as _of_module
from ._errors import (
    CancelledError,
    DeviceLostError,
    Error,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    NoDeviceError,
    NotSupportedError,
    OutOfMemoryError,
    UnsupportedTypeError,
)
from ._handle import Info
from ._library import version, workspace_bytes
from ._selection import TopK
from ._sorter import Sorter

# Their names are those of built-in functions, like NumPy's: import the module, not the names.
sort = _of_module(Sorter.sort)
argsort = _of_module(Sorter.argsort)
rank = _of_module(Sorter.rank)
sort_pairs = _of_module(Sorter.sort_pairs)
sort_segments = _of_module(Sorter.sort_segments)
merge = _of_module(Sorter.merge)
topk = _of_module(Sorter.topk)
topk_rows = _of_module(Sorter.topk_rows)
topk_segments = _of_module(Sorter.topk_segments)
sum = _of_module(Sorter.sum)
mean = _of_module(Sorter.mean)
min = _of_module(Sorter.min)
max = _of_module(Sorter.max)
argmin = _of_module(Sorter.argmin)
argmax = _of_module(Sorter.argmax)
cumsum = _of_module(Sorter.cumsum)

__all__ = [
    "CancelledError", "DeviceLostError", "Error", "ForkedError", "Info", "InternalError", "InvalidArgumentError",
    "NoDeviceError", "NotSupportedError", "OutOfMemoryError", "Sorter", "TopK", "UnsupportedTypeError", "argmax",
    "argmin", "argsort", "cumsum", "max", "mean", "merge", "min", "rank", "sort", "sort_pairs", "sort_segments", "sum",
    "topk", "topk_rows", "topk_segments", "version", "workspace_bytes",
]  # fmt: skip


def __getattr__(name):
    # The library is opened at the first use, not by the import.
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'gsort' has no attribute {name!r}")


# Tracebacks and help() name what users import.
for _name in __all__:
    globals()[_name].__module__ = "gsort"
