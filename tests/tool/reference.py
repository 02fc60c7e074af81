# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tool's results must be, in Python integers and fractions, independent of the library."""

import fractions
import struct

SIZES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8, "f16": 2, "bf16": 2, "f32": 4,
         "f64": 8}
MANTISSA_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
INTEGERS = [t for t in SIZES if t not in MANTISSA_BITS]
NPY_DESCR = {"u8": "|u1", "i8": "|i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "u64": "<u8",
             "i64": "<i8", "f16": "<f2", "bf16": "|V2", "f32": "<f4", "f64": "<f8"}


def to_bits(raw, name):
  size = SIZES[name]
  return [int.from_bytes(raw[i:i + size], "little") for i in range(0, len(raw), size)]


def to_raw(bits, name):
  return b"".join(b.to_bytes(SIZES[name], "little") for b in bits)


def is_nan(bits, name):
  if name in INTEGERS:
    return False
  width, mantissa = 8 * SIZES[name], MANTISSA_BITS[name]
  infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
  return bits & ((1 << (width - 1)) - 1) > infinity


def order_key(bits, name):
  """An integer that orders as the element does."""
  width = 8 * SIZES[name]
  negative = bits >> (width - 1) != 0
  if name[0] == "u":
    return bits
  if name[0] == "i":
    return bits - (1 << width) if negative else bits
  return -1 - (bits & ((1 << (width - 1)) - 1)) if negative else bits


def argsort(bits, name, descending=False, nan_last=False):
  def key(i):
    if nan_last and is_nan(bits[i], name):
      return (1, bits[i])
    k = order_key(bits[i], name)
    return (0, -k if descending else k)

  return sorted(range(len(bits)), key=key)


def value(bits, name):
  """The exact value of a number that is finite."""
  width = 8 * SIZES[name]
  if name in INTEGERS:
    return fractions.Fraction(order_key(bits, name))
  mantissa_bits = MANTISSA_BITS[name]
  exponent_bits = width - 1 - mantissa_bits
  bias = (1 << (exponent_bits - 1)) - 1
  exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
  mantissa = bits & ((1 << mantissa_bits) - 1)
  if exponent:
    mantissa |= 1 << mantissa_bits
  scale = fractions.Fraction(2) ** (max(exponent, 1) - bias - mantissa_bits)
  return (-mantissa if bits >> (width - 1) else mantissa) * scale


def nearest(exact, name):
  """Bits of the positive finite float nearest to a positive fraction, ties to even; None if it is out of range."""
  mantissa_bits = MANTISSA_BITS[name]
  width = 8 * SIZES[name]
  infinity = ((1 << (width - 1 - mantissa_bits)) - 1) << mantissa_bits
  low, high = 0, infinity  # value(low) <= exact; infinity counts as the next power of two
  top = value(infinity - 1, name) + (value(infinity - 1, name) - value(infinity - 2, name))

  def at(bits):
    return top if bits == infinity else value(bits, name)

  if exact >= top:
    return None
  while high - low > 1:
    middle = (low + high) // 2
    if at(middle) <= exact:
      low = middle
    else:
      high = middle
  below, above = exact - at(low), at(high) - exact
  result = high if above < below or (above == below and low & 1) else low
  return None if result == infinity else result


def npy(raw, name, version=1, shape=None, descr=None, fortran=False, padding=64):
  count = len(raw) // SIZES[name] if name else 0
  shape = f"({count},)" if shape is None else shape
  descr = repr(descr or NPY_DESCR[name])
  text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
  prefix = 10 if version == 1 else 12
  text += b" " * (-(prefix + len(text) + 1) % padding) + b"\n"
  length = struct.pack("<H" if version == 1 else "<I", len(text))
  return b"\x93NUMPY" + bytes([version, 0]) + length + text + raw


def read_npy(data):
  """(descr, shape, raw) of a version 1 file, with the padding that readers rely on checked."""
  assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
  (length,) = struct.unpack("<H", data[8:10])
  assert (10 + length) % 64 == 0 and data[10 + length - 1:10 + length] == b"\n"
  header = eval(data[10:10 + length].decode(), {"__builtins__": {}})  # the tool's own output, a literal
  assert set(header) == {"descr", "fortran_order", "shape"} and header["fortran_order"] is False
  return header["descr"], header["shape"], data[10 + length:]
