# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each kind of array gives results of its own kind. Tests of packages that are not installed are skipped by name."""

import os
import sys
import unittest

from support import gsort, numpy, package, same_bits, samples, stable_order

VALUES = [2.5, -1.0, 9.0, 0.0, 4.25]


class Numpy(unittest.TestCase):
    def test_gaps_are_taken_by_a_copy(self):
        values = samples("int64", (40, 30))
        for view in (values[:, 3], values[::-1, 0], values.T, values[::2, ::3], numpy.asfortranarray(values)):
            same_bits(self, gsort.sort(view), numpy.sort(view))
            same_bits(self, gsort.sum(view), view.sum())

    def test_unaligned_arrays_are_taken_by_a_copy(self):
        unaligned = numpy.frombuffer(b"x" + samples("int32", 100).tobytes(), "int32", offset=1)
        self.assertFalse(unaligned.flags.aligned)
        same_bits(self, gsort.sort(unaligned), numpy.sort(unaligned))
        packed = numpy.zeros(50, numpy.dtype([("a", "u1"), ("b", "f8")]))
        packed["b"] = samples("float64", 50)
        same_bits(self, gsort.argsort(packed["b"]), stable_order(packed["b"].copy()))

    def test_fields_of_records_behind_a_memoryview(self):
        records = numpy.zeros((5, 8), numpy.dtype([("key", "i4"), ("mark", "u1")]))
        records["key"], records["mark"] = samples("int32", (5, 8)), 255
        keys, before = memoryview(records["key"]), records.copy()
        self.assertEqual(gsort.sort(keys).tolist(), numpy.sort(records["key"]).tolist())
        self.assertEqual(gsort.sum(keys), int(records["key"].sum()))
        self.assertEqual(gsort.topk(keys, 1).values.tolist(), records["key"].max(axis=1, keepdims=True).tolist())
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "gaps"):
            gsort.sort(records["key"].copy(), out=keys)
        self.assertEqual(records.tobytes(), before.tobytes())
        halves = memoryview(numpy.array([2.0, 9.0, 1.0], "float16"))[::2]
        self.assertEqual(gsort.sum(halves), 3.0)

    def test_in_place_and_out(self):
        values = samples("float32", 1000)
        wanted = gsort.sort(values)
        out = numpy.empty_like(values)
        self.assertIs(gsort.sort(values, out=out), out)
        same_bits(self, out, wanted)
        self.assertIs(gsort.sort(values, out=values), values)
        same_bits(self, values, wanted)

    def test_read_only_input(self):
        values = samples("int32", 10)
        values.flags.writeable = False
        same_bits(self, gsort.sort(values), numpy.sort(values))
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "out is read-only"):
            gsort.sort(values, out=values)

    def test_outputs_that_are_no_place_for_a_result(self):
        unaligned = numpy.zeros(25, "uint8")[1:].view("float64")
        booleans = numpy.zeros(3, bool)
        for out, keys, sentence in (
            (unaligned, numpy.array([3.0, 1.0, 2.0]), "by way of a copy"),
            (unaligned, unaligned, "by way of a copy"),
            (booleans, numpy.array([5, 3, 4], "uint8"), "elements of type bool; pass uint8"),
        ):
            with self.assertRaisesRegex(gsort.InvalidArgumentError, sentence):
                gsort.sort(keys, out=out)
            self.assertFalse(out.any())
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "pass equal types"):
            gsort.merge(booleans, numpy.array([5], "uint8"))
        bytes_of_booleans = numpy.zeros(2, "uint8")
        gsort.sort(numpy.array([True, False]), out=bytes_of_booleans)
        self.assertEqual(bytes_of_booleans.tolist(), [0, 1])

    def test_outputs_that_overlap_other_rows_of_the_input(self):
        matrix = numpy.arange(12).reshape(6, 2)
        kept, flat = matrix.copy(), matrix.reshape(-1)
        for call in (
            lambda: gsort.cumsum(matrix[:-1], axis=-1, out=matrix[1:]),
            lambda: gsort.sum(matrix, axis=-1, out=flat[6:]),
            lambda: gsort.rank(matrix, out=matrix),
        ):
            with self.assertRaisesRegex(gsort.InvalidArgumentError, "out overlaps the input"):
                call()
            self.assertEqual(matrix.tolist(), kept.tolist())
        self.assertIs(gsort.cumsum(matrix, axis=-1, out=matrix), matrix)
        self.assertEqual(matrix.tolist(), numpy.cumsum(kept, axis=-1).tolist())

    def test_the_last_axis_of_one_gives_a_number(self):
        values = numpy.array([3, 1, 2])
        for function, wanted in ((gsort.sum, 6), (gsort.mean, 2.0), (gsort.max, 3), (gsort.argmin, 1)):
            self.assertIsInstance(function(values, axis=-1), numpy.generic)
            self.assertEqual(function(values, axis=-1), wanted)
        out = numpy.zeros((), int)
        self.assertIs(gsort.sum(values, axis=-1, out=out), out)
        self.assertEqual(out, 6)

    def refused(self, sentence, array):
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, sentence):
            gsort.sort(array)

    def test_refusals(self):
        self.refused("keys is a type, not an array", numpy.ndarray)
        self.refused("keys is an iinfo, not an array", numpy.iinfo("int8"))
        self.refused(r"keys has the other byte order \(>i4\); pass .astype\('<i4'\)", numpy.arange(3, dtype=">i4"))
        self.refused("keys is a masked array", numpy.ma.masked_array([1, 2], [0, 1]))
        self.refused("elements of type complex128", numpy.zeros(3, complex))
        self.refused("elements of type object", numpy.array([None]))
        self.refused(r"datetime64\[s\].*view\('int64'\)", numpy.zeros(3, "datetime64[s]"))
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "Python objects"):
            gsort.sort_pairs(numpy.arange(1), numpy.array([None]))
        with self.assertRaisesRegex(gsort.InvalidArgumentError, r"out\[1\] has elements of type float64; pass int64"):
            gsort.sort_pairs(numpy.arange(2), numpy.arange(2), out=(numpy.arange(2), numpy.zeros(2)))

    def test_numbers_are_numpys(self):
        values = samples("float32", 10)
        self.assertIs(type(gsort.sum(values)), numpy.float64)
        self.assertIs(type(gsort.max(values)), numpy.float32)
        self.assertIs(type(gsort.argmax(values)), numpy.int64)

    def test_bfloat16(self):
        types = package("ml_dtypes")
        values = samples("float32", 1000).astype(types.bfloat16)
        bits = gsort.sort(values).view("uint16")
        wide = numpy.sort(values.astype("float32"))
        numpy.testing.assert_array_equal(bits.view(types.bfloat16).astype("float32"), wide)


class Spoken:
    """Any other library's array, which has nothing but DLPack."""

    def __init__(self, array, versioned):
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **options):
        if options and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        return self.array.__dlpack__(stream=stream, **options)


class Dlpack(unittest.TestCase):
    def test_types(self):
        for versioned in (False, True):
            for dtype in ("uint8", "int16", "uint32", "int64", "float16", "float32", "float64"):
                values = samples(dtype, 100)
                same_bits(self, gsort.sort(Spoken(values, versioned)), gsort.sort(values))
                self.assertEqual(gsort.argmax(Spoken(values, versioned)), gsort.argmax(values))

    def test_memory_is_shared_and_given_back(self):
        values = samples("int32", 100)
        before = sys.getrefcount(values)
        out = numpy.empty(100, "int32")
        self.assertIsInstance(gsort.sort(values, out=Spoken(out, False)), Spoken)
        same_bits(self, out, numpy.sort(values))
        gsort.sort(Spoken(values, True))
        self.assertEqual(sys.getrefcount(values), before)

    def test_read_only_output_is_refused(self):
        values = samples("int32", 10)
        values.flags.writeable = False
        spoken = Spoken(values, True)
        try:
            spoken.__dlpack__(max_version=(1, 0))
        except (BufferError, TypeError) as error:
            self.skipTest(f"this NumPy gives no read-only capsules: {error}")
        same_bits(self, gsort.sort(spoken), numpy.sort(values))
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "read-only"):
            gsort.sort(spoken, out=spoken)

    def test_rows_that_lie_apart(self):
        values = samples("float64", (8, 50))[:, :20]
        same_bits(self, gsort.topk_rows(Spoken(values, True), 3).indices, gsort.topk_rows(values, 3).indices)
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "gaps"):
            gsort.sort(Spoken(values, True))

    def test_types_that_gsort_does_not_know(self):
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "DLPack type"):
            gsort.sort(Spoken(numpy.zeros(3, complex), True))

    def test_devices_that_gsort_does_not_know(self):
        class Elsewhere(Spoken):
            def __dlpack_device__(self):
                return 8, 0

        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "device of DLPack kind 8"):
            gsort.sort(Elsewhere(numpy.zeros(3), True))


class CudaInterface(unittest.TestCase):
    """What is read from __cuda_array_interface__, without a GPU: the address is only looked at."""

    def view(self, **facts):
        whole = {"shape": (2, 3), "typestr": "<f4", "data": (4096, False), "version": 3, **facts}
        return gsort._arrays.view_of(type("Device", (), {"__cuda_array_interface__": whole})(), "x")

    def test_what_is_read(self):
        view = self.view(stream=7)
        self.assertEqual((view.address, view.shape, view.stream, view.device), (4096, (2, 3), 7, -1))
        self.assertTrue(view.contiguous)
        self.assertEqual(self.view().stream, 0)
        self.assertEqual(self.view(strides=(40, 4)).row_stride, 10)
        self.assertIsNone(self.view(strides=(4, 8)).row_stride)
        between = self.view(strides=(14, 4))
        self.assertEqual((between.contiguous, between.row_stride), (False, None))
        self.assertTrue(self.view(data=(4096, True)).readonly)

    def test_types(self):
        for typestr, name in (
            ("|u1", "uint8"),
            ("<i8", "int64"),
            ("<f2", "float16"),
            ("<f8", "float64"),
            ("|b1", "uint8"),
        ):
            self.assertEqual(gsort._dtypes.NAMES[self.view(typestr=typestr).code], name)
        for typestr in ("<c8", ">f4", "<f16", "|V4"):
            with self.assertRaisesRegex(gsort.UnsupportedTypeError, "type '"):
                self.view(typestr=typestr)
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "mask"):
            self.view(mask=object())


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.torch = package("torch")

    def devices(self):
        return ["cpu"] + (["cuda"] if self.torch.cuda.is_available() else [])

    def test_tensors_give_tensors(self):
        torch = self.torch
        for device in self.devices():
            for name in ("uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"):
                values = torch.arange(1000, device=device).mul(7919).remainder(251).to(getattr(torch, name))
                got = gsort.sort(values)
                self.assertEqual((got.dtype, got.device), (values.dtype, values.device))
                self.assertTrue(torch.equal(got, torch.sort(values, stable=True).values))
                order = gsort.argsort(values, descending=True)
                self.assertTrue(torch.equal(order, torch.sort(values, stable=True, descending=True).indices))
                best = gsort.topk(values, 5)
                self.assertTrue(torch.equal(best.values, torch.topk(values, 5).values))
                self.assertEqual(int(gsort.sum(values)), int(values.double().sum()))
                self.assertEqual(gsort.argmax(values).dtype, torch.int64)

    def test_rows_and_gaps(self):
        for device in self.devices():
            values = self.torch.randn(30, 40, device=device)
            self.assertTrue(self.torch.equal(gsort.sort(values), values.sort(-1).values))
            self.assertTrue(self.torch.equal(gsort.sort(values.T), values.T.sort(-1).values))
            self.assertTrue(self.torch.equal(gsort.topk(values[:, :20], 3).indices, values[:, :20].topk(3).indices))
            self.assertTrue(self.torch.equal(gsort.max(values, axis=-1), values.max(-1).values))

    def test_out(self):
        for device in self.devices():
            values = self.torch.randn(100, device=device)
            out = self.torch.empty_like(values)
            self.assertIs(gsort.sort(values, out=out), out)
            self.assertTrue(self.torch.equal(out, values.sort().values))

    def test_on_the_current_stream(self):
        if not self.torch.cuda.is_available():
            self.skipTest("PyTorch finds no GPU")
        stream = self.torch.cuda.Stream()
        with self.torch.cuda.stream(stream):
            values = self.torch.randn(1 << 22, device="cuda")
            self.assertEqual(gsort._arrays.view_of(values, "x").stream, stream.cuda_stream)
            for _ in range(20):  # Each waits for the one before on the stream alone.
                values = gsort.sort(values * -1)
        self.assertTrue(bool((values[1:] >= values[:-1]).all()))

    def test_refusals(self):
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "requires a gradient.*detach"):
            gsort.sort(self.torch.zeros(3, requires_grad=True))
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "to_dense"):
            gsort.sort(self.torch.zeros(3).to_sparse())
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "complex64"):
            gsort.sort(self.torch.zeros(3, dtype=self.torch.complex64))
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "device meta"):
            gsort.sort(self.torch.zeros(3, device="meta"))


class Cupy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cupy = package("cupy")
        try:
            cls.cupy.cuda.runtime.getDeviceCount()
        except Exception as error:
            raise unittest.SkipTest(f"CuPy finds no GPU: {error}") from error

    def test_arrays_give_arrays(self):
        for dtype in ("uint8", "int32", "uint64", "float16", "float32", "float64"):
            values = samples(dtype, 10_000)
            device = self.cupy.asarray(values)
            got = gsort.sort(device)
            self.assertIsInstance(got, self.cupy.ndarray)
            same_bits(self, got.get(), gsort.Sorter("cpu").sort(values))
            same_bits(self, gsort.argsort(device).get(), stable_order(values))
            same_bits(self, gsort.topk(device[::2], 7).indices.get(), stable_order(values[::2], True)[:7])
            self.assertEqual(gsort.argmin(device).get(), stable_order(values)[0])

    def test_on_the_current_stream(self):
        with self.cupy.cuda.Stream(non_blocking=True) as stream:
            values = self.cupy.random.random(1 << 22)
            self.assertEqual(gsort._arrays.view_of(values, "x").stream, stream.ptr)
            for _ in range(20):
                values = gsort.sort(-values)
            self.assertTrue(bool((values[1:] >= values[:-1]).all()))


class Jax(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # It would take most of a GPU's memory.
        cls.jax = package("jax")
        cls.devices = [cls.jax.devices("cpu")[0]]
        try:
            cls.devices.append(cls.jax.devices("gpu")[0])
        except RuntimeError:
            pass

    def setUp(self):
        before = self.jax.config.jax_enable_x64
        self.addCleanup(lambda: self.jax.config.update("jax_enable_x64", before))

    def cases(self):
        """Each device, without types of 64 bits and with them."""
        for device in self.devices:
            for wide in (False, True):
                self.jax.config.update("jax_enable_x64", wide)
                yield device, wide

    def same(self, got, wanted, device):
        """An array of JAX on the device, with the bits of a NumPy array."""
        self.assertIsInstance(got, self.jax.Array)
        self.assertEqual(got.devices(), {device})
        same_bits(self, numpy.asarray(got), wanted)

    def test_every_function(self):
        cpu = gsort.Sorter("cpu")
        for device, wide in self.cases():
            names = ("uint8", "int16", "int32", "uint32", "float16", "bfloat16", "float32")
            for name in names + (("int64", "uint64", "float64") if wide else ()):
                kind = self.jax.numpy.dtype(name)
                values = samples("float32" if name == "bfloat16" else name, (6, 50)).astype(kind)
                given, index = self.jax.device_put(values, device), "int64" if wide else "int32"
                for axis in (-1, None):
                    self.same(gsort.sort(given, axis=axis), cpu.sort(values, axis=axis), device)
                    self.same(gsort.cumsum(given, axis=axis), cpu.cumsum(values, axis=axis), device)
                    for function in ("argsort", "rank"):
                        wanted = getattr(cpu, function)(values, axis=axis).astype(index)
                        self.same(getattr(gsort, function)(given, axis=axis), wanted, device)
                for function in ("min", "max", "argmin", "argmax"):
                    wanted = getattr(cpu, function)(values, axis=-1)
                    wanted = wanted.astype(index) if function.startswith("arg") else wanted
                    self.same(getattr(gsort, function)(given, axis=-1), wanted, device)
                    self.assertEqual(getattr(gsort, function)(given), getattr(cpu, function)(values))
                flat, offsets = given.reshape(-1), [0, 2, 2, 300]
                self.same(gsort.sort_segments(flat, offsets), cpu.sort_segments(values.reshape(-1), offsets), device)
                for got, wanted in zip(
                    (*gsort.topk_rows(given, 3), *gsort.topk_segments(flat, offsets, 3), *gsort.topk(flat, 3)),
                    (*cpu.topk_rows(values, 3), *cpu.topk_segments(values.reshape(-1), offsets, 3),
                     *cpu.topk(values.reshape(-1), 3)),
                ):  # fmt: skip
                    self.same(got, wanted.astype(index) if wanted.dtype == "int64" != kind else wanted, device)
                merged = gsort.merge(gsort.sort(flat), gsort.sort(given[0]))
                self.same(merged, cpu.merge(cpu.sort(values.reshape(-1)), cpu.sort(values[0])), device)

    def test_sums(self):
        for device, wide in self.cases():
            for name in ("uint8", "int32", "float32", "float16") + (("int64", "float64") if wide else ()):
                values = numpy.nan_to_num(samples(name, (6, 50)), posinf=1, neginf=1) % 100
                given = self.jax.device_put(values, device)
                wanted = values.sum(axis=-1, dtype="float64")
                for function, divisor in ((gsort.sum, 1), (gsort.mean, 50)):
                    got = function(given, axis=-1)
                    self.assertEqual((got.devices(), got.shape), ({device}, (6,)))
                    self.assertEqual(got.dtype.itemsize, 8 if wide else 4)
                    numpy.testing.assert_allclose(numpy.asarray(got), wanted / divisor, rtol=1e-5)
                total = gsort.sum(given)
                self.assertIsInstance(total, numpy.generic)
                self.assertEqual(total.dtype.itemsize, 8)

    def test_results_that_need_64_bits(self):
        for device, wide in self.cases():
            for name, value in (("int32", 2**30), ("int32", -(2**31)), ("uint32", 2**31)):
                given = self.jax.device_put(numpy.full((2, 3), value, name), device)
                if wide:
                    self.assertEqual(gsort.sum(given, axis=-1).tolist(), [3 * value] * 2)
                else:
                    with self.assertRaisesRegex(gsort.InvalidArgumentError, "without jax_enable_x64; set that, or"):
                        gsort.sum(given, axis=-1)
                out = numpy.zeros(2, "int64" if value < 2**31 and name == "int32" else "uint64")
                self.assertIs(gsort.sum(given, axis=-1, out=out), out)
                self.assertEqual(out.tolist(), [3 * value] * 2)
                self.assertEqual(gsort.sum(given), 6 * value)
            given = self.jax.device_put(numpy.array([3, 1, 2], "int32"), device)
            got = gsort.argsort(given, dtype="int64")
            self.same(got, numpy.array([1, 2, 0], "int64" if wide else "int32"), device)

    def test_values_of_any_type(self):
        for device, _ in self.cases():
            keys = self.jax.device_put(numpy.array([2.5, -1.0, 9.0], "float32"), device)
            for values in (numpy.arange(3) * 1j, numpy.arange(12).reshape(3, 2, 2), numpy.arange(3).astype("float16")):
                values = self.jax.device_put(values, device)
                moved = gsort.sort_pairs(keys, values)[1]
                self.same(moved, numpy.asarray(values)[[1, 0, 2]], device)
            self.assertIsInstance(gsort.sort_pairs(numpy.arange(3), keys)[1], self.jax.Array)
            self.assertIsInstance(gsort.sort_pairs(keys, numpy.arange(3))[1], numpy.ndarray)
            with self.assertRaisesRegex(gsort.UnsupportedTypeError, "elements of type key"):
                gsort.sort_pairs(keys, self.jax.random.split(self.jax.random.key(0), 3))

    def test_shapes(self):
        numbers = self.jax.numpy
        for device, _ in self.cases():
            empty = self.jax.device_put(numpy.zeros((3, 0), "float32"), device)
            self.same(gsort.sort(empty), numpy.zeros((3, 0), "float32"), device)
            self.assertEqual(gsort.argsort(empty).shape, (3, 0))
            self.assertEqual(gsort.sum(empty), 0)
            matrix = self.jax.device_put(numpy.array([[3, 1, 2], [9, 7, 8]], "int32"), device)
            self.same(gsort.sort(matrix.T), numpy.array([[3, 9], [1, 7], [2, 8]], "int32"), device)
            self.same(gsort.sort(matrix[:, ::2]), numpy.array([[2, 3], [8, 9]], "int32"), device)
            self.assertEqual(gsort.sort_segments(matrix[0], numbers.asarray([0, 2, 3])).tolist(), [1, 3, 2])
            with self.assertRaisesRegex(gsort.InvalidArgumentError, "keys has no axis"):
                gsort.sort(matrix[0, 0])
            with self.assertRaisesRegex(gsort.InvalidArgumentError, "x has no elements"):
                gsort.max(empty)

    def test_arrays_in_another_layout(self):
        try:
            from jax.experimental.layout import Format, Layout
        except ImportError:
            self.skipTest("this JAX has no layouts")
        for device, _ in self.cases():
            matrix = self.jax.device_put(numpy.arange(12, dtype="int32").reshape(3, 4), device)
            turned = self.jax.device_put(matrix, Format(Layout(major_to_minor=(1, 0)), matrix.sharding))
            if device.platform == "cpu":
                self.same(gsort.sort(turned, descending=True), numpy.asarray(matrix)[:, ::-1], device)
            else:
                with self.assertRaisesRegex(gsort.InvalidArgumentError, "pass a copy in the default layout"):
                    gsort.sort(turned)

    def test_nothing_is_written_into_arrays_of_jax(self):
        for device, _ in self.cases():
            given = self.jax.device_put(numpy.array([3.0, 1.0, 2.0], "float32"), device)
            places = self.jax.device_put(numpy.zeros(3, "int32"), device)
            sentence = "out is read-only, as all arrays of JAX are; take the array that is returned, or pass a NumPy"
            for call in (
                lambda: gsort.sort(given, out=given),
                lambda: gsort.sort(numpy.asarray(given), out=given),
                lambda: gsort.argsort(given, out=places),
            ):
                with self.assertRaisesRegex(gsort.InvalidArgumentError, sentence):
                    call()
            with self.assertRaisesRegex(gsort.InvalidArgumentError, r"out\[0\] is read-only, as all arrays of JAX"):
                gsort.topk(given, 2, out=(given[:2], places[:2]))
            gsort.sort(given)
            self.assertEqual((given.tolist(), places.tolist()), ([3.0, 1.0, 2.0], [0, 0, 0]))
            out = numpy.zeros(3, "float32")
            self.assertIs(gsort.sort(given, out=out), out)
            self.assertEqual(out.tolist(), [1.0, 2.0, 3.0])

    def refused(self, sentence, source, function=gsort.sort):
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, sentence):
            function(source)

    def test_refusals(self):
        values = self.jax.numpy.asarray(VALUES)
        for transform in (self.jax.jit, self.jax.vmap, self.jax.grad):
            argument = values[None] if transform is self.jax.vmap else values
            self.refused("x is a tracer", argument, transform(gsort.sum))
        self.refused("keys is a ShapeDtypeStruct, not an array", self.jax.ShapeDtypeStruct((3,), "float32"))
        self.refused("keys is a PjitFunction, not an array", self.jax.numpy.sort)
        self.refused("keys has elements of type key", self.jax.random.split(self.jax.random.key(0), 3))
        for name in ("complex64", "float8_e4m3fn", "int4"):
            self.refused(f"keys has elements of type {name}; gsort takes", values.astype(name))
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "keys was deleted, or donated"):
            values.delete()
            gsort.sort(values)


class Arrow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.arrow = package("pyarrow")

    def test_arrays_give_arrays(self):
        for kind in ("uint8", "int64", "float32", "float64"):
            values = self.arrow.array([3, 1, 2], getattr(self.arrow, kind)())
            got = gsort.sort(values)
            self.assertEqual(got, self.arrow.array([1, 2, 3], values.type))
            self.assertEqual(gsort.sort(values[1:]).to_pylist(), [1, 2])
            self.assertEqual(gsort.argsort(values).to_pylist(), [1, 2, 0])
            self.assertEqual(gsort.topk(values, 2).values.to_pylist(), [3, 2])
            self.assertEqual(gsort.sum(values), 6)
        chunks = self.arrow.chunked_array([[3, 1], [2]])
        self.assertEqual(gsort.sort(chunks).to_pylist(), [1, 2, 3])
        self.assertEqual(gsort.sort(self.arrow.array([], self.arrow.int32())).to_pylist(), [])

    def test_offsets_and_buffers(self):
        offsets = self.arrow.array([0, 2, 3], self.arrow.int32())
        self.assertEqual(gsort.sort_segments(numpy.array([3, 1, 2]), offsets).tolist(), [1, 3, 2])
        self.assertEqual(gsort.sort(self.arrow.py_buffer(b"cab")).tobytes(), b"abc")

    def test_refusals(self):
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "a Table; pass one of its columns"):
            gsort.sort(self.arrow.table({"x": [1]}))
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "keys is an Int64Scalar, not an array"):
            gsort.sort(self.arrow.scalar(1))
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "1 nulls; pass .drop_null"):
            gsort.sort(self.arrow.array([1, None]))
        for values in (["a"], [True]):
            with self.assertRaisesRegex(gsort.UnsupportedTypeError, "Arrow type"):
                gsort.sort(self.arrow.array(values))
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "read-only"):
            gsort.sort(numpy.arange(3), out=self.arrow.array([1, 2, 3]))


class Polars(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.polars = package("polars")

    def test_columns_give_columns(self):
        frame = self.polars.DataFrame({"x": VALUES, "n": [3, 1, 2, 5, 4]})
        got = gsort.sort(frame["x"])
        self.assertIsInstance(got, self.polars.Series)
        self.assertEqual((got.name, got.to_list()), ("x", sorted(VALUES)))
        keys, values = gsort.sort_pairs(frame["n"], frame["x"])
        self.assertEqual((values.name, values.to_list()), ("x", [-1.0, 9.0, 2.5, 4.25, 0.0]))
        self.assertEqual(gsort.topk(frame["n"], 2).indices.to_list(), [3, 4])
        self.assertEqual(gsort.mean(frame["n"]), 3.0)
        chunks = self.polars.concat([frame["n"], frame["n"]], rechunk=False)
        self.assertEqual(gsort.sort(chunks).to_list(), sorted(chunks.to_list()))

    def test_refusals(self):
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "1 nulls"):
            gsort.sort(self.polars.Series([1, None]))
        for values in ([True], ["a"]):
            with self.assertRaisesRegex(gsort.UnsupportedTypeError, "Polars type"):
                gsort.sort(self.polars.Series(values))
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "one of its columns"):
            gsort.sort(self.polars.DataFrame({"x": [1]}))


class Pandas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pandas = package("pandas")

    def test_columns_give_columns(self):
        frame = self.pandas.DataFrame({"x": VALUES, "n": [3, 1, 2, 5, 4]}, index=list("abcde"))
        got = gsort.sort(frame["x"])
        self.assertIsInstance(got, self.pandas.Series)
        self.assertEqual((got.name, got.tolist()), ("x", sorted(VALUES)))
        self.assertEqual(frame["x"].iloc[gsort.argsort(frame["x"])].tolist(), sorted(VALUES))
        self.assertEqual(gsort.sort(self.pandas.Index([3, 1, 2])).tolist(), [1, 2, 3])
        for kind in ("Int64", "Float32"):
            self.assertEqual(gsort.sort(self.pandas.Series([3, 1, 2], dtype=kind)).tolist(), [1, 2, 3])

    def test_arrays_of_pandas_without_a_name(self):
        self.assertEqual(gsort.sort(self.pandas.array([3, 1, 2])).tolist(), [1, 2, 3])
        self.assertEqual(gsort.sum(self.pandas.Series([3, 1], name="x"), axis=-1), 4)

    def test_outputs_that_are_no_place_for_a_result(self):
        keys = numpy.array([3, 1, 2])
        for column in (
            self.pandas.Series(self.pandas.arrays.SparseArray([0, 0, 0])),
            self.pandas.Series([0, 0, 0]).astype("category"),
            self.pandas.RangeIndex(3),
            self.pandas.Index([0, 0, 0]),
        ):
            before = column.tolist()
            with self.assertRaisesRegex(gsort.InvalidArgumentError, "read-only|by way of a copy"):
                gsort.sort(keys, out=column)
            self.assertEqual(column.tolist(), before)

    def test_refusals(self):
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "a pandas column has one axis; pass out="):
            gsort.topk_segments(self.pandas.Series([2, 1]), [0, 2], 1)
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "keys is a Timestamp, not an array"):
            gsort.sort(self.pandas.Timestamp(0))
        with self.assertRaisesRegex(gsort.InvalidArgumentError, "missing values; pass .dropna"):
            gsort.sort(self.pandas.Series([1, None], dtype="Int64"))
        with self.assertRaisesRegex(gsort.UnsupportedTypeError, "DataFrame"):
            gsort.sort(self.pandas.DataFrame({"x": [1]}))
        with self.assertRaises(gsort.UnsupportedTypeError):
            gsort.sort(self.pandas.Series(["a", "b"]))
