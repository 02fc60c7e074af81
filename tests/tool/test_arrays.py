# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrays of several dimensions and files of other machines, against Python's own sorts."""

import itertools
import math
import random
import struct
import unittest

import reference as ref
import tool_case


def values_of(shape, seed=1):
  generator = random.Random(seed)
  return {at: generator.randint(-50, 50) for at in itertools.product(*map(range, shape))}


def pack(values, shape, code="h", fortran=False, big=False):
  places = list(itertools.product(*map(range, shape)))
  if fortran:
    places.sort(key=lambda at: at[::-1])
  return struct.pack((">" if big else "<") + f"{len(places)}{code}", *(values[at] for at in places))


def unpack(raw, shape, code, fortran=False):
  places = list(itertools.product(*map(range, shape)))
  if fortran:
    places.sort(key=lambda at: at[::-1])
  return dict(zip(places, struct.unpack(f"<{len(places)}{code}", raw)))


def read(data):
  descr, shape, raw = ref.read_npy(data.replace(b"'fortran_order': True", b"'fortran_order':False"))
  return descr, shape, raw, b"'fortran_order': True" in data


def along(values, shape, axis, work):
  """work(list) of each line along the axis."""
  out = {}
  for at in itertools.product(*(range(n) for i, n in enumerate(shape) if i != axis)):
    line = [values[at[:axis] + (i,) + at[axis:]] for i in range(shape[axis])]
    for i, value in enumerate(work(line)):
      out[at[:axis] + (i,) + at[axis:]] = value
  return out


class Axis(tool_case.ToolCase):

  def check(self, command, words, work, shape, axis, fortran, code="h"):
    values = values_of(shape)
    path = self.file("x.npy", ref.npy(pack(values, shape, fortran=fortran), "i16", shape=repr(shape), fortran=fortran))
    out = self.good(command, *words, "--axis", axis, path, "--output-format", "npy")
    _, got_shape, raw, got_fortran = read(out)
    self.assertEqual((got_shape, got_fortran), (shape, fortran))
    self.assertEqual(unpack(raw, shape, code, fortran), along(values, shape, axis % len(shape), work),
                     (command, shape, axis, fortran))

  def test_every_axis(self):
    for shape in ((3, 40), (1, 5), (5, 1), (4, 3, 70), (2, 3, 4, 5), (100, 2)):
      for axis in range(-1, len(shape)):
        for fortran in (False, True):
          self.check("sort", [], sorted, shape, axis, fortran)
          self.check("sort", ["-d"], lambda x: sorted(x, reverse=True), shape, axis, fortran)
          order = lambda x: sorted(range(len(x)), key=lambda i: x[i])
          self.check("argsort", [], order, shape, axis, fortran, "Q")
          self.check("argsort", ["-r"], lambda x: sorted(range(len(x)), key=lambda i: -x[i]), shape, axis, fortran, "Q")
          self.check("rank", [], lambda x: order(order(x)), shape, axis, fortran, "Q")
          self.check("scan", [], lambda x: list(itertools.accumulate(x)), shape, axis, fortran)

  def test_the_last_axis_is_the_default(self):
    path = self.file("x.npy", ref.npy(struct.pack("<6h", 3, 1, 2, 9, 8, 7), "i16", shape="(2, 3)"))
    self.assertEqual(self.good("sort", path), b"1\t2\t3\n7\t8\t9\n")
    self.assertEqual(self.good("sort", path, "--axis", "0"), b"3\t1\t2\n9\t8\t7\n")
    self.assertEqual(self.good("sort", path, "--axis", "none"), b"1\n2\n3\n7\n8\n9\n")
    self.assertEqual(self.good("sum", path), b"30\n")
    self.assertEqual(self.good("max", path), b"9\n")
    self.assertEqual(self.good("sum", path, "--axis", "0"), b"12\t9\t9\n".replace(b"\t", b"\n"))
    self.assertEqual(self.good("mean", path, "--axis=1"), b"2\n8\n")
    self.assertEqual(self.good("min", path, "--axis=-1"), b"1\n7\n")
    self.assertEqual(self.good("median", path), b"5\n")
    self.bad(1, "--axis 1: the array has 1 dimension\n", "sort", "--axis", "1",
             self.file("one.npy", ref.npy(struct.pack("<2h", 1, 2), "i16")))
    self.assertEqual(self.good("sum", path, "-f", "npy", "--axis", "none"), b"30\n")
    self.bad(1, "--axis 2: the array has 2 dimensions", "sort", path, "--axis", "2")
    self.bad(1, "--axis -3: the array has 2 dimensions", "sort", path, "--axis=-3")

  def test_shapes_without_the_axis(self):
    for shape in ((3, 5), (2, 3, 4), (2, 3, 4, 5)):
      for fortran in (False, True):
        values = values_of(shape)
        path = self.file("x.npy", ref.npy(pack(values, shape, fortran=fortran), "i16", shape=repr(shape),
                                          fortran=fortran))
        for axis in range(len(shape)):
          rest = shape[:axis] + shape[axis + 1:]
          for command, code in (("max", "h"), ("sum", "q"), ("mean", "d")):
            _, got_shape, raw, got_fortran = read(self.good(command, path, "--axis", axis, "--output-format", "npy"))
            self.assertEqual((got_shape, len(raw)), (rest, struct.calcsize(f"<{math.prod(rest)}{code}")))
            if command == "max":
              want = {at: max(values[at[:axis] + (i,) + at[axis:]] for i in range(shape[axis]))
                      for at in itertools.product(*map(range, rest))}
              self.assertEqual(unpack(raw, rest, code, got_fortran), want, (shape, axis, fortran))

  def test_headers_are_as_numpy_writes_them(self):
    for shape in ("(6,)", "(2, 3)", "(1, 2, 3)"):
      header = self.good("sort", self.file("x.npy", ref.npy(bytes(12), "i16", shape=shape)), "-f", "npy",
                         "--output-format", "npy")[10:]
      self.assertTrue(header.startswith(b"{'descr': '<i2', 'fortran_order': False, 'shape': " + shape.encode() + b", }"),
                      header)

  def test_topk_of_rows(self):
    shape = (3, 50, 2)
    values = values_of(shape)
    path = self.file("x.npy", ref.npy(pack(values, shape), "i16", shape=repr(shape)))
    out = self.good("topk", "-k4", "--axis", "1", path, "--output-format", "npy")
    descr, got_shape, raw, _ = read(out)
    self.assertEqual((descr, got_shape), ([("index", "<u8"), ("value", "<i2")], (3, 4, 2)))
    records = iter(struct.iter_unpack("<Qh", raw))
    best = lambda x: sorted(((-v, i) for i, v in enumerate(x)))[:4]
    want = along(values, shape, 1, lambda x: [(i, -v) for v, i in best(x)])
    self.assertEqual({at: next(records) for at in itertools.product(range(3), range(4), range(2))}, want)

  def test_empty_extents(self):
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 4)):
      path = self.file("x.npy", ref.npy(b"", "i16", shape=repr(shape)))
      for command in ("sort", "argsort", "scan"):
        for axis in range(len(shape)):
          self.assertEqual(read(self.good(command, path, "--axis", axis, "-f", "npy"))[1:3], (shape, b""))
      for command in ("min", "max", "mean"):
        self.bad(1, "there are no numbers", command, path)
      self.assertEqual(self.good("sum", path), b"0\n")
    for command in ("min", "max", "mean"):
      self.bad(1, "there are no numbers", command, "--type", "u8", "-f", "raw")
    self.bad(1, "has no order of all its elements", "argsort", "--axis", "none",
             self.file("f.npy", ref.npy(bytes(8), "i16", shape="(2, 2)", fortran=True)))


class Kinds(tool_case.ToolCase):

  def test_big_endian(self):
    for name in ref.SIZES:
      if name == "bf16":
        continue
      size = ref.SIZES[name]
      generator = random.Random(name)
      bits = [generator.getrandbits(8 * size) for _ in range(99)]
      raw = b"".join(b.to_bytes(size, "big") for b in bits)
      path = self.file("x.npy", ref.npy(raw, name, descr=">" + ref.NPY_DESCR[name][1:]))
      descr, _, got = ref.read_npy(self.good("sort", path, "-f", "npy"))
      self.assertEqual(descr, ref.NPY_DESCR[name])
      self.assertEqual(ref.to_bits(got, name), [bits[i] for i in ref.argsort(bits, name)])

  def test_bool(self):
    path = self.file("x.npy", ref.npy(b"\1\0\1\1", "u8", descr="|b1"))
    self.assertEqual(ref.read_npy(self.good("sort", path, "-f", "npy")), ("|b1", (4,), b"\0\1\1\1"))
    self.assertEqual(self.good("sum", path), b"3\n")
    self.assertEqual(self.good("count", path), b"      1 0\n      3 1\n")
    self.bad(1, "running sums of bool", "scan", path)
    self.assertEqual(self.good("scan", path, "--type", "u8"), b"1\n1\n2\n3\n")

  def test_npy_through_a_pipe_is_known_by_its_first_bytes(self):
    data = ref.npy(struct.pack("<3f", 3, 1.5, 2), "f32")
    self.assertEqual(self.good("sort", stdin=data), b"1.5\n2\n3\n")
    self.assertEqual(ref.read_npy(self.good("sort", "--output-format", "npy", stdin=data))[2], struct.pack("<3f", 1.5, 2, 3))
    self.assertEqual(self.good("sum", self.file("x.dat", data)), b"6.5\n")
    self.bad(1, "is not a number", "sort", "--input-format", "text", stdin=data)
    for version in (2, 3):
      self.assertEqual(self.good("sort", stdin=ref.npy(struct.pack("<2h", 9, 7), "i16", version=version)), b"7\n9\n")
    # Lengths of a header that take the third byte, and the fourth.
    for padding in (70000, 2**24 + 70000):
      long = ref.npy(struct.pack("<2h", 9, 7), "i16", version=2, padding=padding)
      self.assertEqual(self.good("sort", self.file("long.npy", long)), b"7\n9\n")

  def test_info_tells_the_shape(self):
    raw = struct.pack("<6h", 5, 1, 9, -3, 0, 4)
    for shape, line in (("(2, 3)", b"shape     2 x 3\n"), ("(1, 6, 1)", b"shape     1 x 6 x 1\n")):
      told = self.good("info", self.file("m.npy", ref.npy(raw, "i16", shape=shape)))
      self.assertIn(b"count     6\n" + line + b"least ", told)
    self.assertNotIn(b"shape", self.good("info", self.file("v.npy", ref.npy(raw, "i16"))))

  def test_several_files(self):
    a = self.file("a.npy", ref.npy(struct.pack("<2h", 5, 1), "i16"))
    b = self.file("b.npy", ref.npy(struct.pack("<2h", 3, -1), "i16"))
    self.assertEqual(self.good("sort", a, b), b"-1\n1\n3\n5\n")
    self.bad(1, "they must be of one type", "sort", a, self.file("c.npy", ref.npy(bytes(8), "f64")))
    self.bad(1, "several files must have one each", "sort", a, self.file("d.npy", ref.npy(bytes(4), "i16", shape="(1, 2)")))

  def test_merge(self):
    a = self.file("a.npy", ref.npy(struct.pack("<3h", -1, 5, 5), "i16"))
    b = self.file("b.npy", ref.npy(struct.pack("<2h", 3, 9), "i16"))
    self.assertEqual(self.good("merge", a, b, a), b"-1\n-1\n3\n5\n5\n5\n5\n9\n")
    self.assertEqual(self.good("merge", "-u", a, b, a), b"-1\n3\n5\n9\n")
    self.bad(1, "b.npy: element 1, counted from 0, is not in order", "merge", "-r",
             self.file("r.npy", ref.npy(struct.pack("<2h", 5, 1), "i16")), b)
    c = self.file("c.txt", b"1\n2\n")
    self.assertEqual(self.good("merge", c, c, "--output-format", "raw"), struct.pack("<4q", 1, 1, 2, 2))
    self.bad(1, "m.npy has 2 dimensions: only arrays of one can be merged", "merge", a,
             self.file("m.npy", ref.npy(struct.pack("<2h", 3, 9), "i16", shape="(1, 2)")))
    for name in ("u16", "f64"):  # of the same size and of another
      self.bad(1, f"d.npy holds {name} numbers, the files before it i16: they must be of one type", "merge", a,
               self.file("d.npy", ref.npy(bytes(8), name)))

  def test_unique_count_and_percentiles(self):
    path = self.file("x.npy", ref.npy(struct.pack("<5h", 5, 1, 5, 3, 1), "i16"))
    self.assertEqual(self.good("sort", "-u", path), b"1\n3\n5\n")
    self.assertEqual(self.good("count", path), b"      2 1\n      1 3\n      2 5\n")
    descr, shape, raw = ref.read_npy(self.good("count", path, "--output-format", "npy"))
    self.assertEqual((descr, shape), ([("count", "<u8"), ("value", "<i2")], (3,)))
    self.assertEqual(raw, struct.pack("<QhQhQh", 2, 1, 1, 3, 2, 5))
    once = self.file("once.npy", ref.npy(struct.pack("<4h", 2, 1, 3, 3), "i16"))  # the least ones are there once
    descr, shape, raw = ref.read_npy(self.good("count", once, "--output-format", "npy"))
    self.assertEqual((shape, raw), ((3,), struct.pack("<QhQhQh", 1, 1, 1, 2, 2, 3)))
    self.assertEqual(self.good("percentile", "-p50,100", path), b"50\t3\n100\t5\n")
    self.assertEqual(self.good("median", path), b"3\n")
    self.assertEqual(self.good("median", self.file("y.npy", ref.npy(struct.pack("<2f", 1, 2.5), "f32"))), b"1.75\n")
    self.assertEqual(self.good("median", self.file("z.npy", ref.npy(struct.pack("<2q", 2**62, 2**62 + 1), "i64"))),
                     b"4611686018427387904.5\n")

  def test_check(self):
    path = self.file("x.npy", ref.npy(struct.pack("<3f", -1, float("nan"), 5), "f32"))
    self.bad(1, "element 2, counted from 0, is not in order", "sort", "-c", path)
    for name in ref.SIZES:
      generator = random.Random(name)
      bits = [generator.getrandbits(8 * ref.SIZES[name]) for _ in range(200)]
      for words in ([], ["-d"], ["--nan-last"], ["-r", "--nan-last"]):
        out = self.good("sort", "--type", name, "-f", "raw", *words, stdin=ref.to_raw(bits, name))
        self.assertEqual(self.good("sort", "-c", "--type", name, "-f", "raw", *words, stdin=out), b"")
        if out[:len(out) // 2] != out[len(out) // 2:]:
          swapped = out[len(out) // 2:] + out[:len(out) // 2]
          self.assertEqual(self.run_tool("sort", "-C", "--type", name, "-f", "raw", *words, stdin=swapped).returncode, 1)

  def test_check_along_an_axis(self):
    for shape in ((2, 3), (3, 2), (1, 4), (4, 1), (2, 3, 4), (0, 3)):
      count = math.prod(shape)
      for axis in (None, *range(-1, len(shape))):
        for fortran in (False, True):
          words = [] if axis is None else ["--axis", axis]
          numbers = [i * 7919 % 10007 for i in range(count, 0, -1)]
          data = ref.npy(struct.pack(f"<{count}h", *numbers), "i16", shape=shape, fortran=fortran)
          path = self.file("x.npy", data)
          out = self.folder / "sorted.npy"
          self.good("sort", *words, path, "-o", out)
          self.good("sort", "-c", *words, out)
          self.good("sort", "-c", *words, stdin=out.read_bytes())
          is_sorted = out.read_bytes()[-2 * count:] == data[-2 * count:]
          self.assertEqual(self.run_tool("sort", "-C", *words, path).returncode, 0 if is_sorted else 1)
    rows = self.file("rows.npy", ref.npy(struct.pack("<6h", 7, 8, 9, 1, 3, 2), "i16", shape=(2, 3)))
    self.bad(1, "element 2 of row 1, counted from 0, is not in order: it belongs", "sort", "-c", rows)
    self.bad(1, "element 1 of row 0, counted from 0, is not in order", "sort", "-c", "--axis", "0", rows)
    self.bad(1, "element 3, counted from 0, is not in order", "sort", "-c", "--axis", "none", rows)
    self.bad(1, "element 3, counted from 0, is not in order", "sort", "-c", "-u", rows)
    self.bad(1, "--axis 2: the array has 2 dimensions", "sort", "-c", "--axis", "2", rows)
    fortran = self.file("f.npy", ref.npy(bytes(12), "i16", shape=(2, 3), fortran=True))
    self.bad(1, "has no order of all its elements", "sort", "-c", "--axis", "none", fortran)

  def test_check_in_pieces(self):
    """What is out of order is found within a piece, between two and between two files."""
    numbers = list(range(1, 40001))
    for at in (0, 1, 5, 19999, 38000, 39998):
      wrong = numbers[:at] + [numbers[at + 1], numbers[at]] + numbers[at + 2:]
      raw = struct.pack("<40000H", *wrong)
      for limit in ("1b", "10K", "1G"):
        words = ["sort", "-c", "-S", limit, "-f", "raw", "--type", "u16"]
        self.bad(1, f"standard input: element {at + 1}, counted from 0, is not in order", *words, stdin=raw)
        self.good(*words, stdin=struct.pack("<40000H", *numbers))
        self.bad(1, f"element {at + 1}, counted from 0, is not in order: it was there before", *words, "-u",
                 stdin=struct.pack("<40001H", *numbers[:at + 1], *numbers[at:]))
    first, second = self.file("1.raw", struct.pack("<2H", 1, 2)), self.file("2.raw", struct.pack("<2H", 1, 3))
    self.bad(1, "all files: element 2, counted from 0, is not in order", "sort", "-c", "--type", "u16", first, second)
    self.good("sort", "-c", "--type", "u16", "-f", "raw")

  def test_check_finds_the_first_place(self):
    """For every type and order, wherever it is in the loops over blocks and beyond the last whole block."""
    for name in ref.SIZES:
      generator = random.Random(name)
      bits = [generator.getrandbits(8 * ref.SIZES[name]) for _ in range(900)]
      for words, order in (([], {}), (["-r"], {"descending": True}), (["--nan-last"], {"nan_last": True}),
                           (["-r", "--nan-last"], {"nan_last": True, "descending": True})):
        if name in ref.INTEGERS and "nan_last" in order:
          continue
        ordered = [bits[i] for i in ref.argsort(bits, name, **order)]
        once = [bits for at, bits in enumerate(ordered) if at == 0 or ordered[at - 1] != bits]
        check = ["sort", "-c", "--type", name, "-f", "raw", *words]
        self.good(*check, stdin=ref.to_raw(ordered, name))
        self.good(*check, "-u", stdin=ref.to_raw(once, name))
        for at in (1, len(once) // 3, len(once) - 1):
          wrong = once[:at - 1] + [once[at], once[at - 1]] + once[at + 1:]
          wrong[-2:] = wrong[-2:] if at + 1 >= len(once) else wrong[-1:-3:-1]  # there is another one behind it
          self.bad(1, f"element {at}, counted from 0, is not in order: it belongs", *check, stdin=ref.to_raw(wrong, name))
          twice = once[:at] + once[at - 1:]
          self.bad(1, f"element {at}, counted from 0, is not in order: it was there", *check, "-u",
                   stdin=ref.to_raw(twice, name))
          self.good(*check, stdin=ref.to_raw(twice, name))

  def test_check_finds_the_first_row(self):
    """Rows alternate in memory, which is read in pieces of any size: the first row counts, not the first place."""
    generator = random.Random(11)
    for shape in ((5, 7), (3, 4, 5), (2, 50, 3), (2, 3, 400), (700, 2)):
      count = math.prod(shape)
      for axis in range(len(shape)):
        inner, columns = math.prod(shape[axis + 1:]), shape[axis]
        for _ in range(4):
          numbers = [i // inner % columns for i in range(count)]
          for _ in range(generator.choice((0, 1, 1, 2, 30))):
            numbers[generator.randrange(count)] = generator.randrange(columns)
          rows = [numbers[outer * columns * inner + k::inner][:columns]
                  for outer in range(count // (columns * inner)) for k in range(inner)]
          wrong = [(r, i) for r, row in enumerate(rows) for i in range(1, columns) if row[i - 1] > row[i]]
          path = self.file("x.npy", ref.npy(struct.pack(f"<{count}h", *numbers), "i16", shape=shape))
          for limit in ("1b", "100b", "1G"):
            words = ["sort", "-c", "--axis", axis, "-S", limit, path]
            if wrong:
              self.bad(1, f"element {wrong[0][1]} of row {wrong[0][0]}, counted from 0", *words)
            else:
              self.good(*words)

  def test_check_of_odd_inputs(self):
    words = ["sort", "-c", "--type", "u32", "-f", "raw"]
    empty, one = self.file("empty.raw"), self.file("one.raw", struct.pack("<I", 7))
    self.good(*words, empty)
    self.good(*words, one)
    self.good(*words, empty, one, empty, one)
    self.bad(1, "all files: element 1, counted from 0, is not in order: it was", *words, "-u", empty, one, empty, one)
    part = self.file("part.raw", bytes(4003))
    self.bad(1, "part.raw: 4003 bytes are not a whole number of u32", *words, part)
    self.bad(1, "part.raw: 4003 bytes are not a whole number of u32", *words, one, part)
    self.bad(1, "standard input: 4003 bytes are not a whole number of u32", *words, stdin=bytes(4003))
    self.bad(1, "no such file", *words, self.folder / "none.raw")
    self.bad(1, "is a folder", *words, self.folder)
    big = self.file("big.npy", ref.npy(struct.pack(">3h", -300, 1, 256), "i16", descr=">i2"))
    self.good("sort", "-c", big)
    self.bad(1, "element 1, counted", "sort", "-c", "-r", big)
    bools = self.file("bools.npy", ref.npy(bytes([0, 0, 1, 0, 1]), "u8", descr="|b1"))
    self.bad(1, "element 3, counted", "sort", "-c", bools)
    zeros = self.file("zeros.npy", ref.npy(struct.pack("<3d", -0.0, 0.0, -0.0), "f64"))
    self.bad(1, "element 2, counted", "sort", "-c", zeros)
    self.bad(1, "element 1, counted", "sort", "-cr", zeros)
    fortran = self.file("f.npy", ref.npy(struct.pack("<3h", 1, 3, 2), "i16", fortran=True))
    self.bad(1, "element 2, counted", "sort", "-c", fortran)
    npy = ref.npy(bytes(20000), "i16")
    self.bad(1, "announces 10000 i16 elements of 2 bytes, but 19999", "sort", "-c", stdin=npy[:-1])
    self.bad(1, "announces 10000 i16 elements of 2 bytes, but 19999", "sort", "-c", self.file("short.npy", npy[:-1]))

  def test_check_of_infinities_beside_nans(self):
    for name, mantissa_bits in ref.MANTISSA_BITS.items():
      top = 1 << (8 * ref.SIZES[name] - 1)
      infinity = top - (1 << mantissa_bits)
      ends = [0, 1, infinity - 1, infinity, infinity + 1, top - 1]
      bits = ends + [top + end for end in ends]
      for words, descending in ((["--nan-last"], False), (["-r", "--nan-last"], True)):
        ordered = [bits[i] for i in ref.argsort(bits, name, descending, nan_last=True)]
        for two in zip(ordered, ordered[1:]):
          for pair, code in ((two, 0), (two[::-1], 1)):
            done = self.run_tool("sort", "-C", "--type", name, "-f", "raw", *words, stdin=ref.to_raw(pair, name))
            self.assertEqual(done.returncode, code, (name, words, [hex(number) for number in pair]))

  def test_one_dimension_in_the_order_of_fortran(self):
    path = self.file("f.npy", ref.npy(struct.pack("<3h", 5, 1, 3), "i16", fortran=True))
    self.assertEqual(ref.read_npy(self.good("sort", path, "--output-format", "npy"))[1:],
                     ((3,), struct.pack("<3h", 1, 3, 5)))

  def test_long_arrays_through_a_pipe(self):
    raw = random.Random(7).randbytes(1 << 18)  # more than is expected of a pipe at first
    total = sum(raw)
    self.assertEqual(self.good("sum", "--type", "u8", "-f", "raw", stdin=raw), b"%d\n" % total)
    greatest = self.good("topk", "-k", "3", "--type", "u8", "-f", "raw", "--output-format", "text", stdin=raw)
    indices = sorted(range(len(raw)), key=lambda i: -raw[i])[:3]
    self.assertEqual(greatest, b"".join(b"%d\t%d\n" % (i, raw[i]) for i in indices))


if __name__ == "__main__":
  unittest.main()
