# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sorter: a handle and the operations on it."""

from ._handle import Handle
from ._ordering import Ordering
from ._selection import Selection
from ._sums import Sums


class Sorter(Ordering, Selection, Sums, Handle):
    """Sorts, selects and adds up on one backend.

    The functions of the module use a sorter of their own for each thread; make one to choose the backend, the device
    or limits, or to share one among threads, whose calls then take turns.

    Args:
        backend: "auto" (the GPU if there is a usable one), "cpu" or "cuda".
        device: CUDA device ordinal; None is the thread's current one.
        threads: CPU threads, the caller's included; 0 is one for each processor.
        device_memory_limit, host_memory_limit: most bytes that the sorter may hold beside the caller's arrays; 0 is no
            limit.
        stream: a cudaStream_t as an integer, on which everything is enqueued; None takes the current stream of the
            library that each array comes from.
        log: a function that is given one line of text about each decision of the library.

    A sorter that was made before a fork raises ForkedError in the child. A pickled one travels as its settings, and is
    a new sorter where it arrives.

    Raises:
        NoDeviceError: backend is "cuda", and there is no usable device.

    >>> with gsort.Sorter(backend="cpu", threads=2) as sorter:
    ...     sorter.sort(numpy.array([3, 1, 2]))
    array([1, 2, 3])
    """
