# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes a call into the library so that progress is told and Ctrl-C works while it runs.

Python handles signals in the main thread, between two instructions; inside a long C function it would do neither. Long
calls are therefore made in a thread of their own, and the caller waits where Python can be interrupted.
"""

import _thread
import threading

from ._errors import InvalidArgumentError
from ._library import ProgressFunction

# Arrays in host memory below this size are done before anyone could press a key: two to five milliseconds.
_LONG_BYTES = 4 << 20
_REPORT_SECONDS = 0.05
_CANCEL_SECONDS = 0.01

_NO_PROGRESS = ProgressFunction(0)


def is_long(host_bytes):
    """Whether a call on so many bytes of host memory must be interruptible."""
    return host_bytes >= _LONG_BYTES and threading.current_thread() is threading.main_thread()


class _Bar:
    """Moves a tqdm bar, or anything with total, n and update()."""

    def __init__(self, bar, close):
        self.bar, self.close = bar, close

    def __call__(self, done, total):
        if self.bar.total != total:
            self.bar.total = total
        self.bar.update(done - self.bar.n)

    def end(self):
        if self.close:
            self.bar.close()


class _Function:
    def __init__(self, function):
        self.function = function

    def __call__(self, done, total):
        self.function(done, total)

    def end(self):
        pass


def reporter(progress):
    """What `progress=` means: a function of (done, total), a tqdm bar, or the class tqdm itself."""
    if isinstance(progress, type) and hasattr(progress, "update"):
        return _Bar(progress(), True)
    if hasattr(progress, "update") and hasattr(progress, "total"):
        return _Bar(progress, False)
    if not callable(progress):
        raise InvalidArgumentError("progress is neither a function of (done, total) nor a tqdm bar")
    return _Function(progress)


class _Job:
    """One call in a thread of its own."""

    def __init__(self, library, handle, work):
        self.library, self.handle, self.work = library, handle, work
        self.claimed, self.finished = _thread.allocate_lock(), _thread.allocate_lock()
        self.finished.acquire()
        self.done = False
        self.state = None
        self.result = (0, "")
        self.failure = None

    def run(self):
        if not self.claimed.acquire(False):
            return  # Interrupted before it began.
        try:
            self.result = self.work()
        except BaseException as error:  # The waiting thread raises it.
            self.failure = error
        finally:
            self.done = True
            self.finished.release()

    def note(self, _user, done, total):
        self.state = (done, total)
        return 0

    def wait(self, report):
        # Some libraries' handlers of signals, such as Polars', let a wait go on that Ctrl-C would end; none is endless.
        while not self.finished.acquire(timeout=_REPORT_SECONDS):
            if report is not None and self.state is not None:
                report(*self.state)

    def abandon(self):
        """Stops the call. The arrays are the library's until it has returned."""
        if self.claimed.acquire(False):
            return
        while not self.done:
            try:
                # Again and again: the call hears it only once it has begun.
                self.library.gsort_cancel(self.handle)
                self.finished.acquire(timeout=_CANCEL_SECONDS)
            except BaseException:  # A second Ctrl-C; the first is raised when the arrays are free.
                continue


def watched(library, handle, work, report):
    """(status, sentence) of work(), which is stopped if the waiting thread is interrupted or report() raises."""
    job = _Job(library, handle, work)
    note = ProgressFunction(job.note) if report is not None else None
    try:
        if note is not None:
            library.gsort_set_progress(handle, note, None)
        try:
            _thread.start_new_thread(job.run, ())
        except RuntimeError:
            job.run()  # There is no thread to be had, as at the end of the interpreter.
        job.wait(report)
        if report is not None and job.state is not None and not job.result[0]:
            report(job.state[1], job.state[1])
    except BaseException:
        job.abandon()
        raise
    finally:
        if note is not None:
            library.gsort_set_progress(handle, _NO_PROGRESS, None)
            report.end()
    if job.failure is not None:
        raise job.failure
    return job.result
