# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tests share: packages that may be missing, data, and the order that gsort promises."""

import importlib
import unittest


def package(name):
    """The package, or the skip of everything that needs it, by its name."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise unittest.SkipTest(f"{name} is not installed for this Python") from error


numpy = package("numpy")

import gsort  # noqa: E402  (after the check of what it is compared with)

TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64")


def samples(dtype, shape, seed=1):
    """Numbers of every magnitude, with equal ones among them; floats with both zeros and NaNs of both signs."""
    random = numpy.random.default_rng(seed)
    kind = numpy.dtype(dtype)
    count = int(numpy.prod(shape))
    if kind.kind in "ui":
        bounds = numpy.iinfo(kind)
        values = random.integers(bounds.min, bounds.max, count, dtype=kind, endpoint=True)
        values[::3] = random.integers(0, 10, len(values[::3]))
    else:
        values = (random.standard_normal(count) * 10.0 ** random.integers(-3, 4, count)).astype(kind)
        values[::5] = random.integers(-3, 3, len(values[::5]))
        for place, special in enumerate((0.0, -0.0, numpy.nan, -numpy.nan, numpy.inf, -numpy.inf)):
            values[place + 2 :: 37] = special
    return values.reshape(shape)


def ordered_bits(values, descending, nan_last):
    """Unsigned integers that order as gsort orders the values, ascending."""
    kind = values.dtype
    bits = values.view(f"u{kind.itemsize}").copy()
    top = bits.dtype.type(1 << (8 * kind.itemsize - 1))
    if kind.kind == "i":
        bits ^= top
    elif kind.kind == "f":
        bits = numpy.where(bits & top, ~bits, bits | top)
    if descending:
        bits = ~bits
    if kind.kind == "f" and nan_last:
        # After all others, by their bits as an unsigned integer in either direction: two keys instead of one.
        return numpy.isnan(values), numpy.where(numpy.isnan(values), values.view(f"u{kind.itemsize}"), bits)
    return numpy.zeros(values.shape, bool), bits


def stable_order(values, descending=False, nan_last=True):
    """The order along the last axis, by NumPy's stable sort of the two keys."""
    last, bits = ordered_bits(values, descending, nan_last)
    return numpy.lexsort((bits, last), axis=-1)


def in_order(values, descending=False, nan_last=True):
    return numpy.take_along_axis(values, stable_order(values, descending, nan_last), -1)


def same_bits(case, got, wanted):
    """Equal shapes, types and bits: NaNs and zeros are told apart."""
    got, wanted = numpy.asarray(got), numpy.asarray(wanted)
    case.assertEqual((got.shape, got.dtype), (wanted.shape, wanted.dtype))
    case.assertEqual(numpy.ascontiguousarray(got).tobytes(), numpy.ascontiguousarray(wanted).tobytes())


def sorters():
    """A sorter for each backend that there is, by name."""
    result = {"cpu": gsort.Sorter("cpu", threads=2)}
    try:
        result["cuda"] = gsort.Sorter("cuda")
    except gsort.NoDeviceError:
        pass
    return result
