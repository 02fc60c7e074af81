# SPDX-License-Identifier: MIT OR Apache-2.0
"""The functions of the module: each thread has a sorter of its own for each device."""

import functools
import os
import threading
import types

from ._arrays import device_of
from ._sorter import Sorter

_of_thread = threading.local()


def default_sorter(device=None):
    """The calling thread's own sorter for host arrays (None) or for the arrays of a CUDA device."""
    sorters = _of_thread.__dict__
    if sorters.get("pid") != os.getpid():
        # The first call of the thread, or of the child of a fork, which cannot use its parent's.
        sorters.clear()
        sorters["pid"] = os.getpid()
    sorter = sorters.get(device)
    if sorter is None:
        # -1: an array that does not say where it lies, so the current device.
        sorter = Sorter() if device is None else Sorter("cuda", device=None if device < 0 else device)
        sorters[device] = sorter
    return sorter


def of_module(method):
    """A function that calls the method on the calling thread's own sorter."""

    @functools.wraps(method)
    def function(*arguments, **keywords):
        first = arguments[0] if arguments else next(iter(keywords.values()), None)
        return method(default_sorter(device_of(first)), *arguments, **keywords)

    # help() shows the signature of what is wrapped; that of a bound method has no self.
    function.__wrapped__ = types.MethodType(method, _of_thread)
    function.__module__, function.__qualname__ = "gsort", method.__name__
    return function
