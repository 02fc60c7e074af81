# SPDX-License-Identifier: MIT OR Apache-2.0
"""Right input: every command, type and format against the reference."""

import fractions
import random
import re
import resource
import struct
import subprocess
import time
import unittest

import reference as ref
import tool_case

SPECIAL = {
    "f16": [0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7C01, 0xFC01, 0x7FFF, 0xFFFF, 1, 0x8001, 0x7BFF],
    "bf16": [0, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 0xFFC0, 0x7F81, 0xFF81, 0x7FFF, 0xFFFF, 1, 0x8001, 0x7F7F],
    "f32": [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0xFFFFFFFF, 1,
            0x80000001, 0x7F7FFFFF],
    "f64": [0, 1 << 63, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 0xFFF8 << 48, 0x7FF0000000000001, 0xFFF0000000000001,
            2**64 - 1, 1, 2**63 + 1, 0x7FEFFFFFFFFFFFFF],
}


def sample(name, count=300):
  """Random bits with special values and repeats among them."""
  generator = random.Random(name)
  width = 8 * ref.SIZES[name]
  special = SPECIAL.get(name, [0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1])
  bits = [generator.getrandbits(width) for _ in range(count)] + special * 2
  generator.shuffle(bits)
  return bits


class Sort(tool_case.ToolCase):

  def check_sort(self, name, words, **order):
    bits = sample(name)
    expected = ref.argsort(bits, name, **order)
    out = self.good("sort", "--format=raw", "--type", name, *words, stdin=ref.to_raw(bits, name))
    self.assertEqual(ref.to_bits(out, name), [bits[i] for i in expected], name)
    out = self.good("argsort", "--format", "raw", "--type", name, *words, stdin=ref.to_raw(bits, name))
    self.assertEqual(ref.to_bits(out, "u64"), expected, name)

  def test_every_type_and_order(self):
    for name in ref.SIZES:
      self.check_sort(name, [])
      self.check_sort(name, ["-d"], descending=True)
      self.check_sort(name, ["--nan-last"], nan_last=True)
      self.check_sort(name, ["--nan-last", "--descending"], nan_last=True, descending=True)

  def test_threads_and_backend(self):
    self.check_sort("i32", ["--backend", "cpu", "--threads", "3"])
    self.check_sort("f32", ["--backend=auto", "--threads=1"])

  def test_many(self):
    generator = random.Random(5)
    bits = [generator.getrandbits(32) for _ in range(200000)]
    path = self.file("many.bin", ref.to_raw(bits, "u32"))
    out = self.good("sort", "--type", "u32", "-f", "raw", path)
    self.assertEqual(ref.to_bits(out, "u32"), sorted(bits))

  def test_text_is_the_default_of_streams(self):
    self.assertEqual(self.good("sort", stdin=b"3\n-1\n2"), b"-1\n2\n3\n")
    self.assertEqual(self.good("sort", "-", "-o", "-", stdin=b"3\n-1\n2\n"), b"-1\n2\n3\n")
    self.assertEqual(self.good("argsort", stdin=b"3\n-1\n2\n"), b"1\n2\n0\n")

  def test_nothing(self):
    for words in (["sort"], ["argsort"], ["topk", "-k0"]):
      self.assertEqual(self.good(*words), b"")
      self.assertEqual(self.good(*words, stdin=b"\n \r\n"), b"")
    self.assertEqual(self.good("sum"), b"0\n")
    self.assertEqual(ref.read_npy(self.good("sort", "--type", "f32", "--output-format", "npy")), ("<f4", (0,), b""))


class TopK(tool_case.ToolCase):

  def test_every_type(self):
    for name in ref.SIZES:
      bits = sample(name)
      for words, order in (([], {"descending": True}), (["--smallest"], {}),
                           (["--smallest", "--nan-last"], {"nan_last": True})):
        expected = ref.argsort(bits, name, **order)[:7]
        data = self.good("topk", "-k", "7", "-f", "raw", "--type", name, *words, stdin=ref.to_raw(bits, name))
        size = 8 + ref.SIZES[name]
        records = [data[i:i + size] for i in range(0, len(data), size)]
        self.assertEqual([int.from_bytes(r[:8], "little") for r in records], expected, name)
        self.assertEqual([int.from_bytes(r[8:], "little") for r in records], [bits[i] for i in expected], name)

  def test_text(self):
    out = self.good("topk", "--k=3", stdin=b"5\n9\n-2\n9\n")
    self.assertEqual(out, b"1\t9\n3\t9\n0\t5\n")
    self.assertEqual(self.good("topk", "-k2", "--smallest", stdin=b"1.5\n-0\n0\n"), b"1\t-0\n2\t0\n")

  def test_npy(self):
    out = self.good("topk", "-k2", "--type", "u16", "--output-format", "npy", stdin=b"5\n9\n7\n")
    descr, shape, raw = ref.read_npy(out)
    self.assertEqual((descr, shape), ([("index", "<u8"), ("value", "<u2")], (2,)))
    self.assertEqual(raw, struct.pack("<QHQH", 1, 9, 2, 7))


class Sum(tool_case.ToolCase):

  def test_integers(self):
    self.assertEqual(self.good("sum", stdin=b"".join(b"%d\n" % i for i in range(1, 1001))), b"500500\n")
    self.assertEqual(self.good("sum", "--type", "u64", stdin=b"18446744073709551615\n3\n"), b"2\n")
    self.assertEqual(self.good("sum", "--type", "i8", stdin=b"-128\n-128\n"), b"-256\n")
    self.assertEqual(self.good("sum", "--type", "u8", stdin=b"255\n255\n"), b"510\n")

  def test_floats(self):
    self.assertEqual(self.good("sum", stdin=b"1e300\n1\n-1e300\n"), b"1\n")
    self.assertEqual(self.good("sum", stdin=b"0.1\n0.2\n0.3\n"), b"0.6\n")
    self.assertEqual(self.good("sum", stdin=b"inf\n1\n"), b"inf\n")
    self.assertEqual(self.good("sum", stdin=b"inf\n-inf\n"), b"nan\n")
    self.assertEqual(self.good("sum", "--type", "bf16", stdin=b"1\n0.5\n"), b"1.5\n")

  def test_format_is_that_of_the_input(self):
    path = self.file("x.dat", ref.npy(struct.pack("<3i", 1, 2, 3), "i32"))
    self.assertEqual(self.good("sum", "--format", "npy", path), b"6\n")


class Text(tool_case.ToolCase):

  def test_text_keeps_every_bit(self):
    for name in ref.SIZES:
      raw = ref.to_raw(sample(name), name)
      text = self.good("sort", "--type", name, "--input-format", "raw", stdin=raw)
      again = self.good("sort", "--type", name, "--output-format", "raw", stdin=text)
      self.assertEqual(again, self.good("sort", "--type", name, "-f", "raw", stdin=raw), name)

  def test_shapes_of_lines(self):
    self.assertEqual(self.good("sort", stdin=b"\xef\xbb\xbf 3 \r\n\t+1\r\n007\n\n\n"), b"\t+1\r\n 3 \r\n007\n")
    self.assertEqual(self.good("sort", stdin=b"1e2\n.5\n-5.\n"), b"-5.\n.5\n1e2\n")
    self.assertEqual(self.good("sort", stdin=b"INF\n-Infinity\n1\n"), b"-Infinity\n1\nINF\n")
    self.assertEqual(self.good("sort", stdin=b"nan\n-nan\n0\n-0\n"), b"-nan\n0\n-0\nnan\n")
    self.assertEqual(self.good("sort", "--type", "f64", stdin=b"nan\n-nan\n0\n-0\n"), b"-nan\n-0\n0\nnan\n")

  def test_limits_of_integers(self):
    for name in ref.INTEGERS:
      width = 8 * ref.SIZES[name]
      low, high = (0, 2**width - 1) if name[0] == "u" else (-2**(width - 1), 2**(width - 1) - 1)
      self.assertEqual(self.good("sort", "--type", name, stdin=b"%d\n%d\n" % (high, low)), b"%d\n%d\n" % (low, high))

  def test_made_numbers_are_the_shortest_text(self):
    generator = random.Random(3)
    bits = [generator.getrandbits(64) for _ in range(400)] + [k << 52 for k in range(1, 2047, 7)] + list(range(1, 40))
    bits = [b for b in bits if not ref.is_nan(b, "f64") and b & (2**63 - 1) != 0x7FF << 52]
    out = self.good("sort", "--type", "f64", "--input-format", "raw", stdin=ref.to_raw(bits, "f64")).split()
    values = struct.unpack(f"<{len(bits)}d", ref.to_raw([bits[i] for i in ref.argsort(bits, "f64")], "f64"))
    for text, value in zip(out, values):
      self.assertEqual(float(text), value)
      self.assertEqual(len(significant(text.decode())), len(significant(repr(value))), (text, repr(value)))

  def test_floats_are_rounded_once_to_even(self):
    generator = random.Random(11)
    tiny = fractions.Fraction(1, 10**60)  # moves a tie, but not the double nearest to it
    for name in ("f16", "bf16", "f32"):
      top = (0x7F80 if name == "bf16" else 0x7C00) if name != "f32" else 0x7F800000
      lines, expected = [], []
      for low in [0, 1, 2, top - 3, top - 2] + [generator.randrange(top - 2) for _ in range(60)]:
        middle = (ref.value(low, name) + ref.value(low + 1, name)) / 2
        for exact in (middle, middle * (1 + tiny), middle * (1 - tiny), ref.value(low, name)):
          lines.append(decimal(exact))
          expected.append(ref.nearest(exact_value(lines[-1]), name))
      order = ref.argsort(expected, name)
      out = self.good("sort", "--type", name, "--output-format", "raw", stdin="\n".join(lines).encode())
      self.assertEqual(ref.to_bits(out, name), [expected[i] for i in order], name)
      # The middle between the greatest number and the one that would follow is the first out of range.
      edge = ref.value(top - 1, name) + (ref.value(top - 1, name) - ref.value(top - 2, name)) / 2
      self.bad(1, "out of range", "sort", "--type", name, stdin=decimal(edge).encode())
      out = self.good("sort", "--type", name, "--output-format", "raw", stdin=decimal(edge * (1 - tiny)).encode())
      self.assertEqual(ref.to_bits(out, name), [top - 1], name)


def significant(text):
  """The digits that a text gives."""
  return text.lstrip("-").split("e")[0].replace(".", "").strip("0")


def decimal(exact):
  """All digits of a fraction, in scientific form, cut at 400."""
  if exact == 0:
    return "0.0"
  exponent = 0
  while exact >= 10:
    exact, exponent = exact / 10, exponent + 1
  while exact < 1:
    exact, exponent = exact * 10, exponent - 1
  digits = str(exact.numerator * 10**400 // exact.denominator)
  return f"{digits[0]}.{digits[1:]}e{exponent}"


def exact_value(text):
  return fractions.Fraction(text)


class Npy(tool_case.ToolCase):

  def test_every_type(self):
    for name in ref.SIZES:
      bits = sample(name)
      path = self.file("in.npy", ref.npy(ref.to_raw(bits, name), name))
      words = ["--type", "bf16"] if name == "bf16" else []
      out = self.folder / "out.npy"
      self.assertEqual(self.good("sort", path, "-o", out, *words), b"")
      descr, shape, raw = ref.read_npy(out.read_bytes())
      self.assertEqual((descr, shape), (ref.NPY_DESCR[name], (len(bits),)))
      self.assertEqual(ref.to_bits(raw, name), [bits[i] for i in ref.argsort(bits, name)])

  def test_headers(self):
    raw = struct.pack("<4d", 3, 1, 2, 0)
    sorted_text = b"0\n1\n2\n3\n"
    for data in (ref.npy(raw, "f64", version=2), ref.npy(raw, "f64", padding=1), ref.npy(raw, "f64", padding=16),
                 ref.npy(raw, "f64", shape="(4)"), ref.npy(raw, "f64", shape="( 4 , )"),
                 ref.npy(raw, "f64", descr="=f8"),
                 b"\x93NUMPY\x01\x00\x36\x00{\"shape\":(4,),\"fortran_order\":False,\"descr\":\"<f8\"}".ljust(64) + raw):
      self.assertEqual(self.good("sort", "-f", "npy", "--output-format", "text", stdin=data), sorted_text)

  def test_headers_of_every_length(self):
    """Of many dimensions, so that a header ends anywhere before a multiple of 64, where the data begin."""
    for dimensions in range(1, 33):
      for first in (1, 10, 100):
        raw, shape = bytes(range(first)), (first,) + (1,) * (dimensions - 1)
        path = self.file("in.npy", ref.npy(raw, "u8", shape=str(shape)))
        self.assertEqual(ref.read_npy(self.good("sort", path, "-f", "npy")), ("|u1", shape, raw))

  def test_argsort_writes_u64(self):
    path = self.file("in.npy", ref.npy(struct.pack("<3h", 5, -5, 0), "i16"))
    out = self.good("argsort", path, "--output-format", "npy")
    self.assertEqual(ref.read_npy(out), ("<u8", (3,), struct.pack("<3Q", 1, 2, 0)))

  def test_numbers_below_the_least_of_half_width(self):
    for name, bits in (("f16", 26), ("bf16", 135)):  # half of the least is twice the first
      powers = [2.0**-bit for bit in range(bits, 1075)]
      numbers = [sign * number for number in powers for sign in (1, -1)]
      text = b"".join(b"%r\n" % number for number in numbers).replace(b"'", b"")
      out = self.good("sort", "--type", name, "--output-format", "raw", stdin=text)
      self.assertEqual(out, b"\x00\x80" * len(powers) + bytes(2 * len(powers)), name)

  def test_bf16_in_u16(self):
    path = self.file("in.npy", ref.npy(struct.pack("<2H", 0x3F80, 0xBF80), "u16"))
    self.assertEqual(self.good("sort", path, "--type", "bf16"), b"-1\n1\n")
    self.assertEqual(self.good("sort", path), b"16256\n49024\n")


class Info(tool_case.ToolCase):

  def test_engine(self):
    lines = dict(line.split(None, 1) for line in self.good("info", "--backend", "cpu").decode().splitlines())
    self.assertEqual(lines["backend"], "cpu")
    self.assertRegex(lines["version"], r"^1\.\d+\.\d+$")
    self.assertTrue(lines["reason"])
    self.assertNotIn("type", lines)

  def test_file(self):
    path = self.file("in.npy", ref.npy(struct.pack("<4f", 1.5, -2, 8, float("nan")), "f32"))
    lines = dict(line.split(None, 1) for line in self.good("info", path).decode().splitlines())
    self.assertEqual([lines[k] for k in ("type", "count", "least", "greatest", "mean")],
                     ["f32", "4", "-2", "nan", "nan"])
    lines = dict(line.split(None, 1) for line in self.good("info", "-", stdin=b"3\n8\n").decode().splitlines())
    self.assertEqual([lines[k] for k in ("type", "count", "least", "greatest", "mean")], ["i64", "2", "3", "8", "5.5"])
    lines = dict(line.split(None, 1) for line in self.good("info", path, "--nan-last").decode().splitlines())
    self.assertEqual([lines["least"], lines["greatest"]], ["-2", "8"])


class Words(tool_case.ToolCase):

  def test_help_and_version(self):
    for words in (["--help"], ["-h"], ["help"], ["sort", "--help"], ["topk", "-h"]):
      self.assertIn(b"Usage: gsort COMMAND", self.good(*words))
    for words in (["--version"], ["-V"], ["version"], ["sum", "-V"]):
      self.assertRegex(self.good(*words), rb"^gsort 1\.\d+\.\d+\n$")

  def test_help_fits_a_terminal(self):
    self.assertLessEqual(max(map(len, self.good("--help").splitlines())), 120)

  def test_dashes(self):
    self.file("-x", b"2\n1\n")
    self.assertEqual(self.good("sort", "--", "-x", cwd=self.folder), b"1\n2\n")

  def test_every_name_that_an_option_takes(self):
    for option, names in (("--progress", ("auto", "on", "off")), ("--backend", ("auto", "cpu"))):
      for name in names:
        self.assertEqual(self.run_tool("sort", option, name, stdin=b"2\n1\n").stdout, b"1\n2\n", (option, name))

  def test_more_files_than_descriptors(self):
    files = [self.file(f"{i}.txt", b"%d\n" % i) for i in range(40)]
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    for words in ([], ["--type", "i64"]):
      done = self.run_tool("sort", *words, *reversed(files), preexec_fn=few)
      self.assertEqual((done.returncode, done.stdout), (0, b"".join(b"%d\n" % i for i in range(40))), done.stderr)
    arrays = [self.file(f"{i}.npy", ref.npy(struct.pack("<h", i), "i16")) for i in range(40)]
    done = self.run_tool("sort", "--output-format", "text", *arrays, preexec_fn=few)
    self.assertEqual((done.returncode, done.stdout), (0, b"".join(b"%d\n" % i for i in range(40))), done.stderr)

  def test_progress(self):
    # What takes longer than the wait for the first line is quiet too, unless asked.
    for words, quiet in (([], True), (["--progress", "off"], True), (["--progress", "on"], False)):
      with subprocess.Popen([tool_case.TOOL, "sort", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE) as run:
        for wait_s in (0, 0.7, 0.7):
          time.sleep(wait_s)
          run.stdin.write(b"2\n1\n")
          run.stdin.flush()
        out, errors = run.communicate()
        self.assertEqual((out, run.returncode, errors == b""), (b"1\n1\n1\n2\n2\n2\n", 0, quiet), words)
    raw = self.file("x.bin", bytes(1 << 22))
    done = self.run_tool("sort", "--type", "u32", "-f", "raw", "--progress", "on", raw)
    self.assertEqual((done.returncode, len(done.stdout)), (0, 1 << 22))
    self.assertRegex(done.stderr, rb"^\r(reading|working|writing) \[[#.]{40}\] +\d+ %")
    self.assertTrue(done.stderr.endswith(b"\r"))  # wiped
    self.assertLessEqual(max(map(int, re.findall(rb"(\d+) %", done.stderr))), 100)
    # How much a pipe will bring is not known.
    many = self.file("many.txt", b"".join(b"%d\n" % i for i in range(300000)))
    words = ["sort", "--progress", "on", "--input-format", "text", many]
    for more, known in (([], True), (["-"], False)):
      reading = re.findall(rb"\rreading[^\r]*", self.run_tool(*words, *more, stdin=b"5\n").stderr)
      self.assertEqual([b"%" in bar for bar in reading], [known] * len(reading))
      self.assertTrue(reading)


if __name__ == "__main__":
  unittest.main()
