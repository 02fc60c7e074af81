# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrays in GPU memory, through __cuda_array_interface__ and DLPack, with nothing but the CUDA driver. Skipped by name
without a GPU; GSORT_TESTS_REQUIRE_GPU=1 makes that a failure."""

import array
import ctypes
import os
import threading
import unittest

import gsort

_pointer, _size = ctypes.c_void_p, ctypes.c_size_t
HostFunction = ctypes.CFUNCTYPE(None, _pointer)


class Cuda:
    """The few functions of the driver that the tests need, on device 0."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = _pointer()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise OSError(f"{name} returned {status}")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), _size(size))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def put(self, address, content):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), content, _size(len(content)))

    def get(self, address, size):
        room = (ctypes.c_char * size)()
        self.call("cuMemcpyDtoH_v2", room, ctypes.c_uint64(address), _size(size))
        return bytes(room)

    def stream(self):
        """A stream that the legacy default stream does not wait for."""
        stream = _pointer()
        self.call("cuStreamCreate", ctypes.byref(stream), 1)
        return stream.value

    def wait(self, stream=None):
        if stream is None:
            self.call("cuCtxSynchronize")
        else:
            self.call("cuStreamSynchronize", _pointer(stream))

    def enqueue(self, stream, function):
        self.call("cuLaunchHostFunc", _pointer(stream), function, None)


def open_cuda():
    try:
        return Cuda()
    except OSError as error:
        if os.environ.get("GSORT_TESTS_REQUIRE_GPU") == "1":
            raise
        raise unittest.SkipTest(f"no usable NVIDIA GPU: {error}") from error


CUDA = open_cuda()


class OnDevice:
    """A copy of an array.array in GPU memory."""

    def __init__(self, values, shape=None, stream=None):
        self.letter, self.shape, self.stream = values.typecode, shape or (len(values),), stream
        self.bytes = len(values) * values.itemsize
        self.address = CUDA.allocate(max(self.bytes, 8))
        kind = "f" if self.letter in "fd" else "u" if self.letter.isupper() else "i"
        self.typestr = f"<{kind}{values.itemsize}"
        if self.bytes:
            CUDA.put(self.address, values.tobytes())

    def __del__(self):
        CUDA.free(self.address)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.typestr, "data": (self.address, False), "version": 3,
                "stream": self.stream}  # fmt: skip

    def get(self):
        result = array.array(self.letter)
        result.frombytes(CUDA.get(self.address, self.bytes))
        return result


class OnDeviceByDlpack:
    """The same memory, through DLPack alone."""

    def __init__(self, device):
        self.device, self.streams = device, []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        tensor = gsort._dlpack._Tensor
        self.shape = (ctypes.c_int64 * len(self.device.shape))(*self.device.shape)
        kind = {"i": 0, "u": 1, "f": 2}[self.device.typestr[1]]
        self.tensor = tensor(self.device.address, 2, 0, len(self.shape), kind, 8 * int(self.device.typestr[2:]), 1,
                             ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64)), None, 0)  # fmt: skip
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [_pointer, ctypes.c_char_p, _pointer]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


def numbers(letter, n):
    """Numbers of both signs where there are signs, with equal ones, zeros and NaNs among them."""
    if letter in "fd":
        special = {3: 0.0, 5: -0.0, 7: float("nan"), 11: float("inf")}
        return array.array(letter, (special.get(i % 101, (i * 7919 % 1009 - 500) / 8) for i in range(n)))
    low = 0 if letter.isupper() else -500
    return array.array(letter, (i * 7919 % 1009 + low for i in range(n)))


def room(letter, n):
    return OnDevice(array.array(letter, bytes(array.array(letter).itemsize * n)))


LENGTHS = (0, 1, 1000, 100_003)


class Results(unittest.TestCase):
    """The same bits as on the CPU."""

    @classmethod
    def setUpClass(cls):
        cls.cpu = gsort.Sorter("cpu")

    def test_orders(self):
        for letter in "fdiqQ":
            for n in LENGTHS:
                values = numbers(letter, n)
                for flags in ({}, {"descending": True}, {"nan_last": False}):
                    device, out = OnDevice(values), room(letter, n)
                    self.assertIs(gsort.sort(device, out=out, **flags), out)
                    CUDA.wait()
                    self.assertEqual(out.get().tobytes(), self.cpu.sort(values, **flags).tobytes(), (letter, n, flags))
                    for function in ("argsort", "rank"):
                        places = room("q", n)
                        getattr(gsort, function)(device, out=places, **flags)
                        CUDA.wait()
                        self.assertEqual(places.get(), getattr(self.cpu, function)(values, **flags), (letter, n, flags))
                    self.assertEqual(device.get().tobytes(), values.tobytes())

    def test_in_place_pairs_segments_and_merge(self):
        values, payload = numbers("f", 5000), numbers("Q", 5000)
        device, moved = OnDevice(values), OnDevice(payload)
        gsort.sort_pairs(device, moved, out=(device, moved))
        CUDA.wait()
        wanted = self.cpu.sort_pairs(values, payload)
        self.assertEqual((device.get().tobytes(), moved.get()), (wanted[0].tobytes(), wanted[1]))
        keys, offsets = numbers("i", 5000), [0, 10, 10, 4000, 5000]
        for places in (offsets, OnDevice(array.array("Q", offsets))):
            device = OnDevice(keys)
            gsort.sort_segments(device, places, out=device)
            CUDA.wait()
            self.assertEqual(device.get(), self.cpu.sort_segments(keys, offsets))
        a, b = self.cpu.sort(numbers("d", 700)), self.cpu.sort(numbers("d", 900))
        out = room("d", 1600)
        gsort.merge(OnDevice(a), OnDevice(b), out=out)
        CUDA.wait()
        self.assertEqual(out.get().tobytes(), self.cpu.merge(a, b).tobytes())

    def test_selections(self):
        for n, k in ((1000, 7), (100_003, 256)):
            values = numbers("f", n)
            best, places = room("f", k), room("i", k)
            gsort.topk(OnDevice(values), k, out=(best, places))
            CUDA.wait()
            wanted = self.cpu.topk(values, k, dtype="int32")
            self.assertEqual((best.get(), places.get()), wanted)

    def test_rows(self):
        values = numbers("f", 6000)
        matrix = memoryview(values).cast("B").cast("f", shape=[60, 100])
        device = OnDevice(values, (60, 100))
        out, places = OnDevice(values, (60, 100)), room("q", 6000)
        places.shape = (60, 100)
        gsort.sort(device, out=out)
        gsort.argsort(device, out=places)
        CUDA.wait()
        self.assertEqual(out.get().tobytes(), self.cpu.sort(matrix).tobytes())
        self.assertEqual(places.get().tobytes(), self.cpu.argsort(matrix).tobytes())

    def test_numbers_come_to_the_host(self):
        values = numbers("d", 100_003)
        finite = array.array("d", (value for value in values if abs(value) < 1e300))
        device = OnDevice(finite)
        for function in ("sum", "mean", "min", "max", "argmin", "argmax"):
            self.assertEqual(getattr(gsort, function)(device), getattr(self.cpu, function)(finite), function)
        out = room("d", len(finite))
        gsort.cumsum(device, out=out)
        CUDA.wait()
        self.assertEqual(out.get().tobytes(), self.cpu.cumsum(finite).tobytes())

    def test_dlpack(self):
        values = numbers("f", 1000)
        device, out = OnDeviceByDlpack(OnDevice(values)), OnDeviceByDlpack(room("f", 1000))
        self.assertIs(gsort.sort(device, out=out), out)
        CUDA.wait()
        self.assertEqual(out.device.get().tobytes(), self.cpu.sort(values).tobytes())
        # The legacy default stream, on which the work is then enqueued.
        self.assertEqual(set(device.streams), {1})

    def test_host_and_device_arrays_in_one_call(self):
        values = numbers("i", 5000)
        out = array.array("i", bytes(4 * 5000))
        gsort.sort(OnDevice(values), out=out)
        self.assertEqual(out, self.cpu.sort(values))


class Streams(unittest.TestCase):
    def test_work_is_enqueued_on_the_arrays_stream(self):
        stream, let_go = CUDA.stream(), threading.Event()
        hold = HostFunction(lambda _user: let_go.wait(20) and None)
        values = numbers("f", 100_000)
        device, out = OnDevice(values, stream=stream), room("f", 100_000)
        out.stream = stream
        gsort.sort(device, out=out)  # Brings the memory to work in, for which a held stream would be waited.
        CUDA.wait(stream)
        CUDA.put(out.address, bytes(out.bytes))
        CUDA.enqueue(stream, hold)
        try:
            gsort.sort(device, out=out)
            before = out.get()
        finally:
            let_go.set()
        CUDA.wait(stream)
        self.assertEqual(before.tobytes(), bytes(out.bytes), "the sort did not wait for the stream")
        self.assertEqual(out.get().tobytes(), gsort.Sorter("cpu").sort(values).tobytes())

    def test_each_array_has_its_own_stream(self):
        values = numbers("i", 200_000)
        wanted = gsort.Sorter("cpu").sort(values)
        streams = [CUDA.stream() for _ in range(4)]
        devices = [OnDevice(values, stream=streams[i % 4]) for i in range(16)]
        for device in devices:
            gsort.sort(device, out=device)
        for stream in streams:
            CUDA.wait(stream)
        for device in devices:
            self.assertEqual(device.get(), wanted)

    def test_a_stream_of_ones_own(self):
        stream = CUDA.stream()
        sorter = gsort.Sorter("cuda", stream=stream)
        device = OnDevice(numbers("i", 1000))
        sorter.sort(device, out=device)
        sorter.synchronize()
        self.assertEqual(device.get(), gsort.Sorter("cpu").sort(numbers("i", 1000)))

    def test_threads(self):
        values, failures = numbers("i", 50_000), []
        wanted = gsort.Sorter("cpu").sort(values)

        def work():
            for _ in range(10):
                device = OnDevice(values)
                gsort.sort(device, out=device)
                gsort._default.default_sorter(-1).synchronize()
                if device.get() != wanted:
                    failures.append("different")

        def guarded():
            try:
                CUDA.call("cuCtxSetCurrent", context)
                work()
            except Exception as error:
                failures.append(repr(error))

        context = _pointer()
        CUDA.call("cuCtxGetCurrent", ctypes.byref(context))
        threads = [threading.Thread(target=guarded) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Refusals(unittest.TestCase):
    def test_no_new_arrays_of_an_unknown_kind(self):
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "cannot make a new OnDevice.*pass out="):
            gsort.sort(OnDevice(numbers("i", 10)))

    def test_a_sorter_on_the_cpu(self):
        out = array.array("i", bytes(40))
        with self.assertRaises(gsort.Error) as caught:
            gsort.Sorter("cpu").sort(OnDevice(numbers("i", 10)), out=out)
        self.assertIn(caught.exception.status, (1, 7))
        self.assertEqual(out, array.array("i", bytes(40)))


if __name__ == "__main__":
    unittest.main()
