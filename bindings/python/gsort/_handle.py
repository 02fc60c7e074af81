# SPDX-License-Identifier: MIT OR Apache-2.0
"""A handle of the library: how it is made, used from threads, told apart after a fork, and given back."""

import collections
import ctypes
import os
import threading

from . import _call, _library
from ._dtypes import code_of
from ._errors import ForkedError, InvalidArgumentError, error_of

Info = collections.namedtuple(
    "Info",
    "backend device threads compute_capability driver_version device_memory_bytes device_memory_free_bytes "
    "device_held_bytes host_held_bytes device_name reason",
)
Info.__doc__ = "What a sorter is: the fields of gsort_info in gsort.h."


class Handle:
    """Owns one gsort handle. See Sorter."""

    def __init__(self, backend="auto", *, device=None, threads=0, device_memory_limit=0, host_memory_limit=0,
                 stream=None, log=None):  # fmt: skip
        self._handle = None
        if backend not in _library.BACKENDS:
            raise InvalidArgumentError(f"backend = {backend!r} is none of {', '.join(_library.BACKENDS)}")
        for name, value in (("threads", threads), ("device_memory_limit", device_memory_limit),
                            ("host_memory_limit", host_memory_limit)):  # fmt: skip
            if value < 0:
                raise InvalidArgumentError(f"{name} = {value} is below 0; pass 0 for the default")
        self._settings = (backend, device, threads, device_memory_limit, host_memory_limit, log)
        self._library = _library.library()
        # The library keeps the pointer, so the callback must live as long as the handle.
        self._log = _library.LogFunction(lambda _user, line: log(line.decode())) if log else _library.LogFunction()
        options = _library.Options(
            struct_size=ctypes.sizeof(_library.Options), backend=_library.BACKENDS[backend],
            device=-1 if device is None else device, threads=threads,
            device_memory_limit_bytes=device_memory_limit, host_memory_limit_bytes=host_memory_limit, log=self._log,
        )  # fmt: skip
        handle = ctypes.c_void_p()
        status = self._library.gsort_create(ctypes.byref(options), ctypes.byref(handle))
        if status:
            raise error_of(status, self._library.gsort_error_message(None).decode())
        self._handle, self._pid = handle, os.getpid()
        self._lock = threading.RLock()
        self._stream, self._stream_owner, self._fixed_stream = 0, None, stream
        if stream is not None:
            self._use_stream(stream, None)

    def _open_handle(self):
        if self._handle is None:
            raise InvalidArgumentError("this sorter is closed; make a new one")
        # Before the lock is taken: another thread of the parent may have held it when the process was forked.
        if self._pid != os.getpid():
            raise ForkedError("this sorter was made before a fork; make a new one in the child")
        return self._handle

    def _use_stream(self, stream, owner):
        if stream == 1:
            stream = 0  # Two names of CUDA's legacy default stream.
        # A stream that nothing keeps open may be another one by now at the same address, and the library tells them apart.
        if stream == self._stream and (stream == 0 or owner is not None):
            return
        self._check(self._library.gsort_set_stream(self._handle, stream))
        self._stream, self._stream_owner = stream, owner

    def _check(self, status):
        if status:
            raise error_of(status, self._library.gsort_error_message(self._handle).decode())

    def _run(self, name, arguments, views, progress=None):
        """Calls the function `name` of the library with the handle and `arguments`. `views` are its arrays."""
        handle = self._open_handle()
        report = None if progress is None else _call.reporter(progress)
        function = getattr(self._library, name)
        device_view = next((view for view in views if view.device is not None), None)
        host_bytes = sum(view.bytes for view in views if view.device is None)

        def work():
            status = function(handle, *arguments)
            # The sentence belongs to the thread that made the call.
            return status, self._library.gsort_error_message(handle).decode() if status else ""

        with self._lock:
            if device_view is not None and self._fixed_stream is None:
                self._use_stream(device_view.stream, device_view.keep)
            if report is not None or _call.is_long(host_bytes):
                status, sentence = _call.watched(self._library, handle, work, report)
            else:
                status, sentence = work()
            if not status and any(view.kind.waits for view in views if view.device is not None):
                self.synchronize()
        if status:
            raise error_of(status, sentence)

    def _run_rows(self, name, rows, arguments, views, progress):
        """Calls the function once for every row, with arguments(row). The library has no call for all rows at once."""
        if rows == 1:
            self._run(name, arguments(0), views, progress)
            return
        report = None if progress is None else _call.reporter(progress)
        for row in range(rows):
            self._run(name, arguments(row), views)
            if report is not None:
                report(row + 1, rows)
        if report is not None:
            report.end()

    def synchronize(self):
        """Waits for all work that was enqueued on a GPU, and raises its errors."""
        self._check(self._library.gsort_synchronize(self._open_handle()))

    def cancel(self):
        """Stops the call that runs now, if any, from any thread; it raises CancelledError. Does not wait."""
        self._check(self._library.gsort_cancel(self._open_handle()))

    def reserve(self, operation, dtype, n, parameter=0):
        """Allocates what a later call with device arrays needs, so that it can be captured into a CUDA graph. The
        arguments are those of workspace_bytes()."""
        if operation not in _library.OPERATIONS:
            raise InvalidArgumentError(f"operation = {operation!r} is none of {', '.join(_library.OPERATIONS)}")
        handle = self._open_handle()
        code = code_of(dtype, "dtype")
        self._check(self._library.gsort_reserve(handle, _library.OPERATIONS[operation], code, n, parameter))

    @property
    def info(self):
        """What this sorter is, and why it runs where it does.

        >>> gsort.Sorter(backend="cpu", threads=2).info.threads
        2
        """
        raw = _library.RawInfo(struct_size=ctypes.sizeof(_library.RawInfo))
        self._check(self._library.gsort_info_get(self._open_handle(), ctypes.byref(raw)))
        backend = {1: "cpu", 2: "cuda"}.get(raw.backend, "unknown")
        numbers = (getattr(raw, field) for field in Info._fields[1:-2])
        return Info(backend, *numbers, raw.device_name.decode(), raw.reason.decode())

    def close(self):
        """Waits for the sorter's work and gives its memory back. A closed sorter refuses every call."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._library.gsort_destroy(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()

    def __del__(self):
        # Even half-made, and at the end of the interpreter.
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __reduce__(self):
        # A handle belongs to its process: what is pickled is how it was made. A stream does not travel.
        return _remake, (type(self), self._settings)

    def __repr__(self):
        if self._handle is None:
            return "<gsort.Sorter, closed>"
        if self._pid != os.getpid():
            return "<gsort.Sorter of the parent process>"
        info = self.info
        where = info.device_name if info.backend == "cuda" else f"{info.threads} threads"
        return f"<gsort.Sorter on {info.backend}: {where}>"


def _remake(kind, settings):
    backend, device, threads, device_memory_limit, host_memory_limit, log = settings
    return kind(backend, device=device, threads=threads, device_memory_limit=device_memory_limit,
                host_memory_limit=host_memory_limit, log=log)  # fmt: skip
