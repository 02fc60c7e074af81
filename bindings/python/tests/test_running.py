# SPDX-License-Identifier: MIT OR Apache-2.0
"""What happens around a call: progress, Ctrl-C, threads, fork, pickle, streams of handles, the time of an import."""

import array
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import gsort
from gsort import _call, _default

LONG = 1 << 22  # keys; 32 MiB, far above what is_long() calls long


def keys(n=LONG):
    """Keys in no order, without NumPy: the low bits of multiples of an odd number, a permutation."""
    return array.array("Q", (i * 0x9E3779B97F4A7C15 % 2**64 for i in range(n)))


KEYS = keys()


class Progress(unittest.TestCase):
    def test_a_function_is_told_in_the_calling_thread(self):
        told = []
        gsort.sort(KEYS, progress=lambda done, total: told.append((done, total, threading.get_ident())))
        self.assertEqual({ident for _, _, ident in told}, {threading.get_ident()})
        done = [entry[0] for entry in told]
        self.assertEqual(done, sorted(done))
        self.assertEqual(told[-1][0], told[-1][1])
        self.assertGreater(told[-1][1], 0)

    def test_a_bar_is_moved(self):
        class Bar:
            def __init__(self):
                self.n, self.total, self.closed = 0, None, False

            def update(self, step):
                self.n += step

            def close(self):
                self.closed = True
                closed.append(self)

        closed, bar = [], Bar()
        gsort.sort(KEYS, progress=bar)
        self.assertEqual(bar.n, bar.total)
        self.assertFalse(bar.closed)
        gsort.argsort(KEYS, progress=Bar)
        self.assertEqual([(b.n == b.total, b.closed) for b in closed], [(True, True)])

    def test_tqdm(self):
        try:
            import tqdm
        except ImportError:
            self.skipTest("tqdm is not installed for this Python")
        with tqdm.tqdm(file=open(os.devnull, "w")) as bar:
            gsort.sort(KEYS, progress=bar)
            self.assertEqual(bar.n, bar.total)

    def test_what_it_raises_stops_the_call(self):
        class Enough(Exception):
            pass

        def stop(_done, _total):
            raise Enough

        sorter = gsort.Sorter("cpu")
        target = keys()
        with self.assertRaises(Enough):
            sorter.sort(target, out=target, progress=stop)
        self.assertEqual(sum(target) % 2**64, sum(KEYS) % 2**64)
        self.assertEqual(sorter.sort(b"ba").tobytes(), b"ab")

    def test_rows(self):
        told = []
        matrix = memoryview(KEYS).cast("B").cast("Q", shape=[4, LONG // 4])
        gsort.cumsum(matrix, axis=-1, progress=lambda done, total: told.append((done, total)))
        self.assertEqual(told, [(1, 4), (2, 4), (3, 4), (4, 4)])


class Interruptions(unittest.TestCase):
    def interrupt_an_endless_call(self):
        # A library that never ends unless it is cancelled, so that the test does not race with a real sort.
        ended = threading.Event()

        class Endless:
            cancelled = threading.Event()

            def gsort_cancel(self, _handle):
                self.cancelled.set()

        library = Endless()

        def work():
            library.cancelled.wait(20)
            ended.set()
            return 5, "cancelled"

        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            _call.watched(library, None, work, None)
        self.assertTrue(ended.is_set(), "the arrays were given back while the call still ran")
        self.assertLess(time.monotonic() - begin, 5)
        timer.join()

    def test_ctrl_c_ends_a_long_call(self):
        self.interrupt_an_endless_call()

    def test_ctrl_c_ends_a_long_call_where_signals_end_no_wait(self):
        # As a handler such as that of Polars leaves it, with which the system takes up a wait again.
        signal.siginterrupt(signal.SIGINT, False)
        self.addCleanup(signal.siginterrupt, signal.SIGINT, True)
        self.interrupt_an_endless_call()

    def test_ctrl_c_ends_a_sort(self):
        program = (
            "import array, os, signal, threading, time, gsort\n"
            "n = 1 << 22\n"
            "keys = array.array('Q', (i * 0x9E3779B97F4A7C15 % 2**64 for i in range(n))) * 8\n"
            "sorter = gsort.Sorter('cpu', threads=1)\n"
            "try:\n"
            "    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "    while True: sorter.argsort(keys)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', sorter.sort(b'ba').tobytes())\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "interrupted b'ab'\n"), done.stderr)

    def test_without_another_thread_the_call_is_made_all_the_same(self):
        def none_left(_function, _arguments):
            raise RuntimeError("can't start new thread")

        start, told = _call._thread.start_new_thread, []
        _call._thread.start_new_thread = none_left
        try:
            got = gsort.sort(array.array("i", [3, 1, 2]), progress=lambda done, total: told.append((done, total)))
        finally:
            _call._thread.start_new_thread = start
        self.assertEqual((got.tolist(), told[-1]), ([1, 2, 3], (3, 3)))

    def test_a_sort_at_the_end_of_the_interpreter(self):
        program = (
            "import array, atexit, gsort\n"
            "keys = array.array('Q', range(1 << 20, 0, -1))\n"
            "atexit.register(lambda: print(gsort.sort(keys)[0]))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"), done.stderr)

    def test_long_calls_are_watched_in_the_main_thread_alone(self):
        self.assertTrue(_call.is_long(1 << 24))
        self.assertFalse(_call.is_long(100))
        answers = []
        thread = threading.Thread(target=lambda: answers.append(_call.is_long(1 << 24)))
        thread.start()
        thread.join()
        self.assertEqual(answers, [False])

    def test_cancel_from_another_thread(self):
        # Which could not run, were Python's lock held during the call: a call forgets what was cancelled before it.
        sorter = gsort.Sorter("cpu", threads=1)
        stop = threading.Event()

        def cancel_until_heard():
            while not stop.wait(0.001):
                sorter.cancel()

        thread = threading.Thread(target=cancel_until_heard)
        thread.start()
        try:
            with self.assertRaises(gsort.CancelledError) as caught:
                for _ in range(100):
                    sorter.argsort(KEYS)
            self.assertEqual(caught.exception.status, 5)
        finally:
            stop.set()
            thread.join()


class Threads(unittest.TestCase):
    def test_each_thread_has_a_sorter_of_its_own(self):
        found = []

        def work():
            gsort.sort(b"ba")
            found.append(_default.default_sorter())

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        work()
        self.assertEqual(len(set(map(id, found))), 4)

    def test_one_sorter_for_many_threads(self):
        sorter, results = gsort.Sorter("cpu", threads=2), []

        def work(seed):
            values = array.array("q", ((i * 7919 + seed) % 1009 for i in range(50_000)))
            for _ in range(5):
                results.append(sorter.sort(values) == array.array("q", sorted(values)))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [True] * 20)


class Processes(unittest.TestCase):
    def in_child(self, work):
        """What work() returns in a child of a fork."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.write(write, repr(work()).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            answer = pipe.read().decode()
        os.waitpid(pid, 0)
        return answer

    def test_a_forked_sorter_says_so_and_the_functions_work(self):
        sorter = gsort.Sorter("cpu", threads=2)
        sorter.sort(b"ba")
        gsort.sort(b"ba")

        def work():
            try:
                sorter.sort(b"ba")
            except gsort.ForkedError as error:
                return error.status, error.sentence, repr(sorter), gsort.sort(b"dc").tobytes()

        self.assertEqual(
            self.in_child(work),
            "(6, 'this sorter was made before a fork; make a new one in the child', "
            "'<gsort.Sorter of the parent process>', b'cd')",
        )
        self.assertEqual(sorter.sort(b"ba").tobytes(), b"ab")

    def test_a_fork_while_another_thread_sorts(self):
        sorter, stop = gsort.Sorter("cpu", threads=1), threading.Event()

        def work():
            while not stop.is_set():
                sorter.argsort(KEYS)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(5):
                self.assertEqual(self.in_child(lambda: gsort.sort(b"dc").tobytes()), "b'cd'")
        finally:
            stop.set()
            thread.join()

    def test_a_pickled_sorter_is_made_anew_with_its_settings(self):
        sorter = gsort.Sorter("cpu", threads=2, host_memory_limit=1 << 20)
        copy = pickle.loads(pickle.dumps(sorter))
        self.assertEqual((copy.info.backend, copy.info.threads), ("cpu", 2))
        self.assertIsNot(copy._handle, sorter._handle)
        with self.assertRaises(gsort.OutOfMemoryError):
            copy.argsort(KEYS)
        self.assertEqual(pickle.loads(pickle.dumps(gsort.sort)), gsort.sort)


class Sorters(unittest.TestCase):
    def test_close(self):
        sorter = gsort.Sorter("cpu")
        with sorter:
            self.assertEqual(repr(sorter), f"<gsort.Sorter on cpu: {sorter.info.threads} threads>")
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "closed"):
            sorter.sort(b"ba")
        sorter.close()
        self.assertEqual(repr(sorter), "<gsort.Sorter, closed>")

    def test_close_waits_for_the_calls_of_other_threads(self):
        # A handle that was given back while a call was about to use it ended the process.
        values = array.array("q", range(50_000, 0, -1))
        sentences = set()

        def work(sorter):
            try:
                while True:
                    sorter.sort(values)
                    sorter.info
                    sorter.synchronize()
            except gsort.Error as error:
                sentences.add(error.sentence)

        for _ in range(40):
            sorter = gsort.Sorter("cpu", threads=1)
            threads = [threading.Thread(target=work, args=(sorter,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(0.002)
            sorter.cancel()
            sorter.close()
            for thread in threads:
                thread.join()
        others = sentences - {"this sorter is closed; make a new one"}
        self.assertLessEqual(others, {"the call was cancelled; call again to start over"})

    def test_close_inside_a_call_is_refused(self):
        sorter = gsort.Sorter("cpu", threads=1)
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "a call of this sorter is running"):
            sorter.argsort(KEYS, progress=lambda done, total: sorter.close())
        self.assertEqual(sorter.sort(b"ba").tobytes(), b"ab")

    def test_a_log_function_that_uses_its_sorter(self):
        # It would wait for the call that tells it, and that for the function.
        answers = []

        def log(_line):
            for use in (lambda: sorter.info, lambda: sorter.sort(b"ba"), lambda: sorter.close()):
                try:
                    use()
                except gsort.InvalidArgumentError as error:
                    answers.append(error.sentence)
                except NameError:
                    pass  # While the sorter is being made.

        sorter = gsort.Sorter("cpu", threads=1, log=log)
        for keys in (array.array("q", range(1000, 0, -1)), KEYS):
            answers.clear()
            sorter.sort(keys)
            self.assertIn("the log function of a sorter cannot use that sorter; use another one", answers)

    def test_log(self):
        lines = []
        sorter = gsort.Sorter("cpu", log=lines.append)
        sorter.sort(b"ba")
        self.assertTrue(lines)
        self.assertTrue(all(isinstance(line, str) and line for line in lines))

    def test_info(self):
        info = gsort.Sorter("cpu", threads=3).info
        self.assertEqual((info.backend, info.device, info.threads), ("cpu", -1, 3))
        self.assertTrue(info.reason)

    def test_cuda_without_a_device(self):
        try:
            sorter = gsort.Sorter("cuda")
        except gsort.NoDeviceError as error:
            self.assertEqual(error.status, 3)
            self.assertTrue(error.sentence)
        else:
            self.assertEqual(sorter.info.backend, "cuda")

    def test_streams_are_for_the_gpu(self):
        with self.assertRaises(gsort.NotSupportedError):
            gsort.Sorter("cpu", stream=4096)

    def test_a_stream_is_told_again_unless_it_is_kept_open(self):
        told = []

        class Library:
            @staticmethod
            def gsort_set_stream(_handle, stream):
                told.append(stream)
                return 0

        sorter, owner = gsort.Sorter("cpu"), object()
        real, sorter._library = sorter._library, Library
        try:
            for stream, keep in (
                (0, None),
                (1, None),
                (5, None),
                (5, None),
                (6, owner),
                (6, owner),
                (0, None),
                (0, None),
            ):
                sorter._use_stream(stream, keep)
        finally:
            sorter._library = real
        # 0 and 1 are the default stream, which is there from the beginning and never goes.
        self.assertEqual(told, [5, 5, 6, 0])

    def test_handles_are_given_back(self):
        # By itself: the last handle that used the library's threads ends them.
        program = """if True:
            import array, gc, os, gsort
            def threads():
                gc.collect()
                return len(os.listdir("/proc/self/task"))
            before = threads()
            kept = gsort.Sorter("cpu", threads=4)
            kept.sort(array.array("Q", range(1 << 16, 0, -1)))
            most = threads()
            for _ in range(20):
                gsort.Sorter("cpu", threads=4).sort(array.array("Q", range(1 << 16, 0, -1)))
            print(threads() - most)
            del kept
            print(threads() - before)
        """
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.split(), ["0", "0"])


class Import(unittest.TestCase):
    def test_takes_under_30_ms(self):
        # What the package costs beside what NumPy, if it is there, has imported already. Other work on the machine may
        # disturb a run, so one of some must do.
        program = (
            "try:\n    import numpy\nexcept ImportError:\n    pass\n"
            "import time; begin = time.perf_counter(); import gsort; print(time.perf_counter() - begin)"
        )
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        run = [sys.executable, "-c", program]
        for _ in range(20):
            seconds = float(subprocess.check_output(run, env=environment))
            if seconds < 0.030:
                break
        print(f"import gsort: {seconds * 1e3:.1f} ms")
        self.assertLess(seconds, 0.030)

    def said_of(self, library):
        environment = {**os.environ, "GSORT_LIBRARY": library}
        program = "import gsort\ntry: gsort.version()\nexcept ImportError as error: print(error)"
        return subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)

    def test_a_library_that_is_not_there(self):
        said = self.said_of("/no/such/library.so")
        self.assertIn("/no/such/library.so", said)
        self.assertIn("GSORT_LIBRARY", said)

    def test_another_library(self):
        self.assertIn("libc.so.6 is not gsort", self.said_of("libc.so.6"))


if __name__ == "__main__":
    unittest.main()
