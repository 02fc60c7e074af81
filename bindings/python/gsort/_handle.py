# SPDX-License-Identifier: MIT OR Apache-2.0
"""A handle of the library: how it is made, used from threads, told apart after a fork, and given back."""

import _thread
import collections
import contextlib
import ctypes
import os
import threading

from . import _call, _library
from ._errors import ForkedError, InvalidArgumentError, error_of, integer_of

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
        if not isinstance(backend, str) or backend not in _library.BACKENDS:
            raise InvalidArgumentError(f"backend = {backend!r} is not one of {', '.join(_library.BACKENDS)}")
        threads = integer_of("threads", threads, 0, (1 << 32) - 1)
        device_memory_limit = integer_of("device_memory_limit", device_memory_limit, 0, (1 << 64) - 1)
        host_memory_limit = integer_of("host_memory_limit", host_memory_limit, 0, (1 << 64) - 1)
        device = None if device is None else integer_of("device", device, -1, (1 << 31) - 1)
        stream = None if stream is None else integer_of("stream", stream, 0, (1 << 64) - 1)
        if log is not None and not callable(log):
            raise InvalidArgumentError("log is not a function; pass one of a line of text, such as print")
        self._settings = (backend, device, threads, device_memory_limit, host_memory_limit, log)
        self._library = _library.library()
        # The first is held during a call, the second only while the handle is looked up or used without waiting.
        self._lock, self._closing, self._calls = threading.RLock(), threading.Lock(), 0
        # The library keeps the pointer, so the callback must live as long as the handle.
        self._log, self._logging = _log_function(log)
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

    @contextlib.contextmanager
    def _in_use(self):
        """The handle, which no other thread uses or closes meanwhile."""
        self._open_handle()
        self._refuse_in_log()
        with self._lock:
            handle = self._open_handle()  # Another thread may have closed it.
            self._calls += 1
            try:
                yield handle
            finally:
                self._calls -= 1

    def _refuse_in_log(self):
        # The call that tells it goes on when the function has returned, and what it asks for would wait for that call.
        if _thread.get_ident() in self._logging:
            raise InvalidArgumentError("the log function of a sorter cannot use that sorter; use another one")

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
        self._refuse_in_log()
        report = None if progress is None else _call.reporter(progress)
        function = getattr(self._library, name)
        device_view = next((view for view in views if view.device is not None), None)
        host_bytes = sum(view.bytes for view in views if view.device is None)

        def work():
            status = function(handle, *arguments)
            # The sentence belongs to the thread that made the call.
            return status, self._library.gsort_error_message(handle).decode() if status else ""

        # As _in_use(), whose generator a short call would feel.
        with self._lock:
            self._open_handle()
            self._calls += 1
            try:
                if device_view is not None and self._fixed_stream is None:
                    self._use_stream(device_view.stream, device_view.keep)
                if report is not None or _call.is_long(host_bytes):
                    status, sentence = _call.watched(self._library, handle, work, report)
                else:
                    status, sentence = work()
                if not status and any(view.kind.waits for view in views if view.device is not None):
                    self.synchronize()
            finally:
                self._calls -= 1
        if status:
            raise error_of(status, sentence)

    def _run_rows(self, name, rows, arguments, views, progress):
        """Calls the function once for every row, with arguments(row). The library has no call for all rows at once."""
        if rows == 1:
            self._run(name, arguments(0), views, progress)
            return
        report = None if progress is None else _call.reporter(progress)
        try:
            for row in range(rows):
                self._run(name, arguments(row), views)
                if report is not None:
                    report(row + 1, rows)
        finally:
            if report is not None:
                report.end()

    def synchronize(self):
        """Waits for all work that was enqueued on a GPU, and raises its errors."""
        with self._in_use() as handle:
            self._check(self._library.gsort_synchronize(handle))

    def cancel(self):
        """Stops the call that runs now, if any, from any thread; it raises CancelledError. Does not wait."""
        self._open_handle()
        with self._closing:
            self._check(self._library.gsort_cancel(self._open_handle()))

    def reserve(self, operation, dtype, n, parameter=0):
        """Allocates what a later call with device arrays needs, so that it can be captured into a CUDA graph. The
        arguments are those of workspace_bytes()."""
        call = _library.call_of(operation, dtype, n, parameter)
        with self._in_use() as handle:
            self._check(self._library.gsort_reserve(handle, *call))

    @property
    def info(self):
        """What this sorter is, and why it runs where it does.

        >>> gsort.Sorter(backend="cpu", threads=2).info.threads
        2
        """
        raw = _library.RawInfo(struct_size=ctypes.sizeof(_library.RawInfo))
        with self._in_use() as handle:
            self._check(self._library.gsort_info_get(handle, ctypes.byref(raw)))
        backend = {1: "cpu", 2: "cuda"}.get(raw.backend, "unknown")
        numbers = (getattr(raw, field) for field in Info._fields[1:-2])
        return Info(backend, *numbers, raw.device_name.decode(), raw.reason.decode())

    def close(self):
        """Waits for the sorter's work, that of other threads included, and gives its memory back. A closed sorter refuses
        every call."""
        if self._handle is None or self._pid != os.getpid():
            # In the child of a fork the locks may be held by a thread that is not there.
            self._destroy()
            return
        self._refuse_in_log()
        with self._lock:
            if self._calls:
                raise InvalidArgumentError("a call of this sorter is running; close it when that has returned")
            with self._closing:
                self._destroy()

    def _destroy(self):
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


def _log_function(log):
    """The log function as the library calls it, and a set that holds the thread in which it runs, while it runs."""
    threads = set()
    if log is None:
        return _library.LogFunction(), threads

    def tell(_user, line):
        threads.add(_thread.get_ident())
        try:
            log(line.decode())
        finally:
            threads.discard(_thread.get_ident())

    return _library.LogFunction(tell), threads


def _remake(kind, settings):
    backend, device, threads, device_memory_limit, host_memory_limit, log = settings
    return kind(backend, device=device, threads=threads, device_memory_limit=device_memory_limit,
                host_memory_limit=host_memory_limit, log=log)  # fmt: skip
