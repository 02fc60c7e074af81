# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sorts by way of files, forced by little memory: the same results as in memory, and nothing left behind."""

import array
import fractions
import os
import pathlib
import random
import re
import resource
import signal
import struct
import subprocess
import time
import unittest

import reference as ref
import test_lines
import tool_case


class External(tool_case.ToolCase):

  def same(self, words, path, limit, **options):
    """The result in little memory, which must be that in much, also into a file."""
    want = self.good("sort", *words, path)
    self.assertEqual(self.good("sort", "-S", limit, *words, path, **options), want, (words, limit))
    out = self.folder / "out"
    self.good("sort", "-S", limit, *words, "-o", out, "--output-format", "text", path)
    self.assertEqual(out.read_bytes(), want)
    out.unlink()
    return want

  def test_lines(self):
    generator = random.Random(2)
    lines = [test_lines.random_number(generator) for _ in range(20000)]
    path = self.file("in.txt", test_lines.text(lines))
    want = test_lines.text(test_lines.ordered(lines))
    for limit in ("1b", "20K", "200K", "2M"):
      self.assertEqual(self.same([], path, limit), want)
    self.assertEqual(self.good("sort", "-S", "30%", path), want)
    self.same(["-ru"], path, "50K")
    self.same(["--type", "f64"], self.file("f.txt", b"".join(b"%d\n" % (i * 7919 % 10007) for i in range(10007))), "30K")

  def test_stability_over_many_runs(self):
    generator = random.Random(3)
    lines = [b"%d,%d" % (i, generator.randrange(5)) for i in range(30000)]
    path = self.file("in.csv", test_lines.text(lines))
    want = test_lines.text(sorted(lines, key=lambda line: int(line.split(b",")[1])))
    for limit in ("10K", "100K"):
      self.assertEqual(self.same(["-t,", "-k2"], path, limit), want)
    want = test_lines.text(sorted(lines, key=lambda line: -int(line.split(b",")[1])))
    self.assertEqual(self.same(["-t,", "-k2", "-r"], path, "100K"), want)
    self.assertEqual(len(self.same(["-t,", "-k2", "-u"], path, "100K").splitlines()), 5)

  def test_lines_that_begin_with_a_mark(self):
    """A byte order mark is left out where a file begins, and nowhere else, wherever a run of sorted lines begins."""
    generator = random.Random(6)
    lines = [b"\xef\xbb\xbf%d,%d" % (i, generator.randrange(10**6)) for i in range(20000)]
    path = self.file("in.csv", test_lines.text(lines))
    lines[0] = lines[0][3:]
    want = test_lines.text(sorted(lines, key=lambda line: int(line.split(b",")[1])))
    for limit in ("10K", "100K"):
      self.assertEqual(self.same(["-t,", "-k2"], path, limit), want)

  def test_one_long_line_and_blank_ones(self):
    digits = b"9" * 100000
    path = self.file("in.txt", b"5\n" + digits + b"\n\n\n3\n\n")
    self.bad(1, "line 3: is empty", "sort", "-S", "1K", path)
    self.assertEqual(self.good("sort", "-S", "1K", "-B", path), b"3\n5\n" + digits + b"\n")
    # More than half of the memory is the beginning of a line whose end comes later.
    wide = [b"%d%s" % (i, b" " * 1500000) for i in (2, 1)]
    path = self.file("wide.txt", test_lines.text([b"3", *wide, b"0"]))
    self.assertTrue(self.good("sort", "-S", "1M", path) == test_lines.text([b"0", wide[1], wide[0], b"3"]))
    many = b"".join(b"%d\n\n" % (i * 7919 % 10007) for i in range(10007))
    self.assertEqual(self.good("sort", "-S", "10K", "-B", stdin=many), test_lines.text(b"%d" % i for i in range(10007)))

  def test_a_line_of_many_pieces_takes_time_by_its_length(self):
    path = self.file("in.txt", b"9" * 10**7 + b"\n2\n")

    def limit():
      resource.setrlimit(resource.RLIMIT_CPU, (8, 8))

    self.assertEqual(self.good("sort", "-S", "1K", path, preexec_fn=limit), b"2\n" + b"9" * 10**7 + b"\n")

  def test_lines_of_pieces_are_counted_on(self):
    a = self.file("a", b"".join(b"%d\n" % i for i in range(5000)))
    b = self.file("b", b"".join(b"%d\n" % i for i in range(5000)) + b"x\n")
    self.bad(1, f"{b}: line 5001: ", "sort", "-S", "20K", a, b)
    self.bad(1, f"{a}: line 5001: ", "sort", "-S", "20K", self.file("a", a.read_bytes() + b"x"), b)

  def test_modes_of_pieces(self):
    numbers = [b"-5"] * 3000 + [b"18446744073709551615"] * 3000 + [b"0.5"] * 3000 + [b"7"] * 3000
    path = self.file("in.txt", test_lines.text(numbers))
    self.same([], path, "30K")
    self.same([], self.file("in.txt", test_lines.text(numbers[:6000])), "30K")

  def test_merge_of_long_files(self):
    files = [self.file(f"m{k}", test_lines.text(b"%d.%d" % (i, k) for i in range(0, 20000, k + 1))) for k in range(5)]
    want = test_lines.text(test_lines.ordered(b"".join(f.read_bytes() for f in files).split()))
    self.assertEqual(self.good("merge", "-S", "50K", *files), want)
    bad = self.file("bad", test_lines.text(b"%d" % i for i in range(9000)) + b"8999\n8998\n")
    done = self.run_tool("merge", "-S", "20K", files[0], bad)
    self.assertEqual(done.returncode, 1)
    self.assertIn(b"bad: line 9002: is not in order", done.stderr)
    # Lines that have a block each.
    long = self.file("long", test_lines.text(b"%d%s" % (i, b" " * 9000) for i in (1, 3, 2, 4)))
    done = self.run_tool("merge", "-S", "1K", files[0], long)
    self.assertEqual(done.returncode, 1)
    self.assertIn(b"long: line 3: is not in order", done.stderr)

  def test_merges_by_several_threads(self):
    generator = random.Random(4)
    kinds = {
        "spread": lambda: b"%d" % generator.randrange(10**9),
        "few": lambda: b"%d.0" % generator.randrange(7),
        "equal": lambda: b"5",
        "cut": lambda: b"1234567890.12345678%02d" % generator.randrange(100),
    }
    for kind, make in kinds.items():
      lines = [b"%s %d" % (make(), i) for i in range(150000)]
      path = self.file("in.txt", test_lines.text(lines))
      for words, threads in (([], 3), (["-r"], 1), (["-u"], 4)):
        many = ["-k1", *words, "--threads", threads]
        want = self.good("sort", *many, path)
        self.assertEqual(self.good("sort", "-S", "2M", *many, path), want, (kind, words))
        halves = [self.file(f"half{i}", self.good("sort", *many, stdin=test_lines.text(lines[i * 75000:][:75000])))
                  for i in range(2)]
        if words != ["-r"]:
          self.assertEqual(self.good("merge", "-S", "2M", *many, *halves), want, (kind, words))

  def test_arrays(self):
    for name in ref.SIZES:
      generator = random.Random(name)
      bits = [generator.getrandbits(8 * ref.SIZES[name]) for _ in range(5000)]
      path = self.file("in.raw", ref.to_raw(bits, name))
      for words, order in (([], {}), (["-d"], {"descending": True}), (["--nan-last"], {"nan_last": True}),
                           (["--nan-last", "-r"], {"nan_last": True, "descending": True})):
        want = ref.to_raw([bits[i] for i in ref.argsort(bits, name, **order)], name)
        for limit in ("1b", "1K", "9K"):
          self.assertEqual(self.good("sort", "--type", name, "-f", "raw", "-S", limit, *words, path), want, (name, limit))
      self.same(["--type", name, "-u"], path, "4K")

  def test_arrays_in_other_orders(self):
    count = 200000
    generator = random.Random(7)
    orders = {
        "ascending": range(count),
        "descending": range(count, 0, -1),
        "sawtooth": [i % 30000 for i in range(count)],
        "equal": [5] * count,
        "few": [generator.randrange(3) for _ in range(count)],
        "one run far above": [i % 20000 + (10**6 if i // 20000 == 3 else 0) for i in range(count)],
    }
    for order, numbers in orders.items():
      path = self.file("in.raw", struct.pack(f"<{count}I", *numbers))
      want = struct.pack(f"<{count}I", *sorted(numbers))
      for limit, threads in (("40K", 3), ("300K", 2), ("300K", 1)):
        words = ["sort", "--type", "u32", "-f", "raw", "--threads", threads, "-S", limit, path]
        self.assertTrue(self.good(*words) == want, (order, limit, threads))

  ORDERED = (["count"], ["count", "-r"], ["median"], ["percentile", "-p", "0,50,99.9,12.5,50,100"])

  def test_count_median_and_percentiles_of_lines(self):
    generator = random.Random(8)
    kinds = {
        "mixed": lambda: test_lines.random_number(generator),
        "few": lambda: b"%d.%s" % (generator.randrange(5), b"0" * generator.randrange(3)),
        "even": lambda: b"%d" % generator.randrange(10**6),
        "typed": lambda: b"%.3e" % generator.uniform(-9, 9),
        "column": lambda: b"x,%d,%d" % (generator.randrange(300), generator.randrange(10**9)),
    }
    for kind, make in kinds.items():
      more = {"typed": ["--type", "f32", "--nan-last"], "column": ["-t,", "-k2"]}.get(kind, [])
      for count in (9999, 10000):
        path = self.file("in.txt", test_lines.text(make() for _ in range(count)))
        for words in self.ORDERED:
          want = self.good(*words, *more, "-S", "1T", path)
          for limit, threads in (("9K", 1), ("100K", 3)):
            got = self.good(*words, *more, "-S", limit, "--threads", threads, path)
            self.assertEqual(got, want, (kind, words, limit))
    self.bad(1, "line 2: ", "count", "-S", "1K", stdin=b"1\nx\n" + b"3\n" * 1000)
    self.bad(1, "there are no numbers", "median", "-B", "-S", "1K", stdin=b" \n" * 10000 + b" ")
    self.assertEqual(self.good("count", "-B", "-S", "1K", stdin=b" \n" * 10000 + b" "), b"")

  def test_medians_are_those_of_decimals(self):
    lines = [b"%d.%02d" % divmod(i * 7919 % 10006, 100) for i in range(10006)]
    self.assertEqual(self.good("median", "-S", "5K", stdin=test_lines.text(lines)), b"50.025\n")
    far = b"9999999999999999999\n89754591735169277260.87509096060775218789722746884513607\n"  # their mean is a double
    self.assertEqual(self.good("median", "-S", "1b", stdin=far), self.good("median", stdin=far))

  def test_count_median_and_percentiles_of_arrays(self):
    generator = random.Random(9)
    for name, size in ref.SIZES.items():
      for count in (4000, 4001):
        path = self.file("in.raw", b"".join(generator.choice((b"\1", b"\3", b"\x80")) * size for _ in range(count // 2)) +
                         generator.randbytes(size * (count - count // 2)))
        for words in self.ORDERED:
          more = ["--type", name, "--input-format", "raw", "--output-format", "text"]
          want = self.good(*words, *more, "-S", "1T", path)
          for limit in ("900b", "20K"):
            self.assertEqual(self.good(*words, *more, "-S", limit, path), want, (name, words, limit))
            self.assertEqual(self.good(*words, *more, "-S", limit, stdin=path.read_bytes()), want, (name, words, limit))
      more = ["count", "--type", name, "-f", "raw"]
      self.assertEqual(self.good(*more, "-S", "1K", path), self.good(*more, "-S", "1T", path))
    rows = self.file("rows.npy", ref.npy(struct.pack("<6h", 3, 1, 2, 9, 7, 8), "i16", shape=(2, 3)))
    self.assertEqual(self.good("median", "-S", "1b", rows), b"5\n")
    self.bad(1, "count of more than memory holds cannot write .npy", "count", "-S", "4b", "-f", "npy", rows)

  def test_text_that_becomes_an_array(self):
    """The type is that of all numbers, which may be known in the last piece alone."""
    small = [i * 7919 % 2003 - 1000 for i in range(4000)]
    integers, positive = [b"%d" % i for i in small], [b"%d" % abs(i) for i in small]
    zeros = [b"-0", b"0", b" -0 ", b"+0"]
    great, decimal = b"18446744073709549568", b"0.5"  # which f64 holds
    kinds = {
        "i64": integers, "u64": [*positive, great], "i64 to f64": [*integers, *zeros, *positive, decimal],
        "u64 to f64": [great, *positive, *zeros, *positive, decimal, *positive],
        "u64 to i64": [great, *positive, b"-1", *positive], "i64 to u64": [*integers, *positive, great, *positive],
        "f64": [b"-nan", b"inf", b"-0.0", b"1e-400", b"-1e-400", *zeros, *integers, b"nan", *positive],
        "zeros": [*zeros * 500, *integers, b"1e3", *zeros * 500],
    }
    for kind, lines in kinds.items():
      path = self.file("in.txt", test_lines.text(lines))
      for words in (["sort"], ["sort", "-r"], ["sort", "-r", "--nan-last"]):
        for form in ("npy", "raw"):
          want = self.good(*words, "-S", "1T", "--output-format", form, path)
          for limit in ("2K", "70K"):
            more = [*words, "-S", limit, "--output-format", form]
            self.assertTrue(self.good(*more, path) == want, (kind, more))
            self.assertTrue(self.good(*more, stdin=path.read_bytes()) == want, (kind, more))
      for words in (["sort", "-u"], ["count"], ["count", "-r"]):
        words = [*words, "--output-format", "raw", path]
        self.assertTrue(self.good(*words, "-S", "2K") == self.good(*words, "-S", "1T"), (kind, words))

  def test_text_of_a_type_that_becomes_an_array(self):
    lines = test_lines.text(b"%d" % (i * 7919 % 251) for i in range(5000))
    for name in ref.SIZES:
      words = ["sort", "--type", "u8" if name == "i8" else name, "--output-format", "raw"]
      for more in ([], ["-r"], ["-u"]):
        self.assertTrue(self.good(*words, *more, "-S", "3K", stdin=lines) == self.good(*words, *more, stdin=lines))
    self.bad(1, "line 4001: \"x\" is not a number", *words, "-S", "3K", stdin=b"7\n" * 4000 + b"x\n")
    self.bad(1, "cannot write .npy", "sort", "-u", "-S", "3K", "--output-format", "npy", stdin=lines)
    self.assertEqual(self.good("sort", "-B", "-S", "1K", "--output-format", "raw", stdin=b" \n" * 10000 + b" "), b"")

  def test_integers_that_doubles_do_not_hold(self):
    """They are named, also where a later piece asks for doubles."""
    words = ["sort", "-S", "1K", "--output-format", "raw"]
    for unkept in (b"9007199254740993", b"-9223372036854775807", b"18446744073709551615"):
      other = [b"-7" if unkept[:1] != b"-" else b"7"] * 1000
      before, after = [*other[:300], unkept, *other, unkept], [b"0.25", *other, unkept]
      for lines, at in ((before + after, 301), (after, 1002), ([*before, *other, b"-1", b"1e5"], 301)):
        with self.subTest(unkept=unkept, at=at):
          self.bad(1, f"line {at}: f64, which the other lines ask for, does not hold \"{unkept.decode()}\" exactly",
                   *words, stdin=test_lines.text(lines))
    kept = test_lines.text([*[b"-9223372036854775808", b"9007199254740994", b"36893488147419103232"] * 900, b"0.5"])
    self.assertTrue(self.good(*words, stdin=kept) == self.good("sort", "--output-format", "raw", stdin=kept))

  def test_merge_of_text_into_an_array(self):
    files = [self.file(f"m{k}", test_lines.text(b"%d" % i for i in range(k, 2000, 2))) for k in range(2)]
    words = ["merge", "--output-format", "raw", *files]
    self.assertEqual(self.good(*words), struct.pack("<2000q", *range(2000)))
    for limit in ("3K", "40K"):
      self.bad(1, "use sort, whose result is the same", *words, "-S", limit)

  def test_sums_of_many_pieces(self):
    block = b"".join(b"%d\n" % (i * 2654435761 % 10**9) for i in range(200000))
    total = sum(map(int, block.split()))
    times = (40 << 20) // len(block)
    self.assertEqual(self.good("sum", stdin=block * times), b"%d\n" % (total * times))
    # Of what kind all are, the last one tells.
    self.assertEqual(self.good("sum", stdin=block * times + b"-0.25\n"), b"%d.75\n" % (total * times - 1))
    many = block * times + b"-1\n18446744073709551615\n"
    self.assertEqual(float(self.good("sum", stdin=many)), float(total * times + 2**64 - 1))
    # A piece of negative integers and one of great ones: as in one piece.
    apart = b"-1\n" + block * times + b"18446744073709551615\n"
    self.assertEqual(self.good("sum", stdin=apart), self.good("sum", stdin=many))
    exact = fractions.Fraction(total * times + 2**64 - 1, times * 200000 + 2)
    self.assertEqual(float(self.good("mean", stdin=many)), float(exact))
    numbers = array.array("d", [1e300, 1.0, -1e300, 2.0**-60] * (1 << 20))
    raw = self.file("in.raw", numbers.tobytes())
    self.assertEqual(self.good("sum", "--type", "f64", raw), b"%d\n" % (1 << 20))
    self.assertEqual(self.good("mean", "--type", "f64", raw), b"0.25\n")
    integers = self.file("in.raw", b"\xff" * (1 << 25))
    self.assertEqual(self.good("sum", "--type", "u64", integers), b"%d\n" % (2**64 - (1 << 22)))
    self.assertEqual(float(self.good("mean", "--type", "u64", integers)), 2.0**64)
    self.bad(1, f"line {times * 200000 + 1}: \"1e999\" is out of range", "sum", stdin=block * times + b"1e999\n")

  def test_npy(self):
    numbers = [i * 7919 % 10007 - 5000 for i in range(10007)]
    path = self.file("a.npy", ref.npy(struct.pack(f">{len(numbers)}h", *numbers), "i16", descr=">i2"))
    other = self.file("b.npy", ref.npy(struct.pack("<2h", 9, 7), "i16", version=2))
    descr, shape, raw = ref.read_npy(self.good("sort", "-S", "5K", path, other, "-f", "npy"))
    self.assertEqual((descr, shape), ("<i2", (len(numbers) + 2,)))
    self.assertEqual(list(struct.unpack(f"<{len(numbers) + 2}h", raw)), sorted(numbers + [9, 7]))
    self.bad(1, "they must be of one type", "sort", "-S", "5K", path, self.file("c.npy", ref.npy(bytes(8), "f64")))
    self.bad(1, "announces 10007", "sort", "-S", "5K", self.file("d.npy", path.read_bytes()[:-1]))
    self.bad(1, "cannot write .npy", "sort", "-u", "-S", "5K", path, "-f", "npy")
    self.bad(1, "not a whole number", "sort", "-S", "1K", "--type", "i16", self.file("e.raw", bytes(4001)))

  def test_checks_sort_nothing(self):
    """Whether an array is in order is asked of one that is longer than the memory, too."""
    numbers = [i * 7919 % 10007 - 5000 for i in range(10007)]
    for content, code in ((numbers, 1), (sorted(numbers), 0)):
      raw = struct.pack(f"<{len(content)}h", *content)
      path = self.file("in.npy", ref.npy(raw, "i16"))
      for words, stdin in (([path], b""), (["-f", "raw", "--type", "i16"], raw)):
        done = self.run_tool("sort", "-C", "-S", "5K", *words, stdin=stdin)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (code, b"", b""), words)

  def test_arrays_past_the_page_cache(self):
    """Elements behind headers and files of odd lengths lie otherwise in memory than in their files."""
    block, times = random.Random(10).randbytes(65537), 1300
    data = block * times
    parts = (data[:(33 << 20) + 5], data[(33 << 20) + 5:])
    paths = [self.file(f"{i}.npy", ref.npy(part, "u8")) for i, part in enumerate(parts)]
    want = b"".join(bytes([value]) * (times * block.count(value)) for value in range(256))
    for cached in (True, False):
      for path in paths:
        with path.open("rb") as file:
          os.fsync(file.fileno())
          os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED if cached else os.POSIX_FADV_DONTNEED)
      self.assertTrue(ref.read_npy(self.good("sort", "-S", "64M", "-f", "npy", *paths))[2] == want, cached)
    self.good("sort", "-S", "64M", "-f", "npy", *paths, "-o", self.folder / "out.npy")
    self.assertTrue(ref.read_npy((self.folder / "out.npy").read_bytes())[2] == want)

  def test_merge_of_long_arrays(self):
    generator = random.Random(6)
    for name, words in (("i16", []), ("f32", ["--nan-last", "-r"]), ("u64", ["-u"])):
      size = ref.SIZES[name]
      order = ["-f", "raw", "--type", name, *words]
      parts = [b"".join(generator.getrandbits(8 * size).to_bytes(size, "little") for _ in range(count))
               for count in (9000, 1, 0, 20000)]
      files = [self.file(f"m{i}.raw", self.good("sort", *order, stdin=part)) for i, part in enumerate(parts)]
      want = self.good("sort", *order, stdin=b"".join(parts))
      for limit in ("1b", "3K", "50K", "1G"):
        if limit != "1b" or name == "i16":
          self.assertEqual(self.good("merge", "-S", limit, *order, *files), want, (name, limit))
    wrong = self.file("wrong.raw", struct.pack("<5000h", *range(4999), 7))
    for limit in ("1K", "1G"):
      self.bad(1, "wrong.raw: element 4999, counted from 0, is not in order", "merge", "-S", limit, "-f", "raw",
               "--type", "i16", wrong)
    a, b = (self.file(f"{name}.npy", ref.npy(bytes(8000), name)) for name in ("i16", "f64"))
    self.bad(1, "they must be of one type", "merge", "-S", "1K", a, b)
    self.assertEqual(ref.read_npy(self.good("merge", "-S", "1K", "-f", "npy", a, a))[1:], ((8000,), bytes(16000)))

  def test_pipes(self):
    generator = random.Random(5)
    for name in ("u8", "i32", "f64"):
      size = ref.SIZES[name]
      bits = [generator.getrandbits(8 * size) for _ in range(70000)]
      want = ref.to_raw([bits[i] for i in ref.argsort(bits, name)], name)
      raw, npy = ref.to_raw(bits, name), ref.npy(ref.to_raw(bits, name), name)
      for limit in ("1K", "40K", "1G"):
        words = ["sort", "-S", limit, "-f", "raw", "--type", name]
        self.assertEqual(self.good(*words, stdin=raw), want, (name, limit))
        self.assertEqual(self.good(*words, "-", self.file("more.raw", raw[:size]), stdin=raw[size:]), want)
        self.assertEqual(ref.read_npy(self.good("sort", "-S", limit, "-f", "npy", stdin=npy))[2], want, (name, limit))
        self.assertEqual(self.good("sort", "-S", limit, "-f", "raw", "--input-format", "npy", stdin=npy), want)
        self.assertEqual(self.good(*words, "-u", stdin=raw + raw), self.good(*words, "-u", stdin=raw), (name, limit))

  def test_pipes_of_other_shapes(self):
    numbers = [i * 7919 % 10007 - 5000 for i in range(10006)]
    swapped = ref.npy(struct.pack(f">{len(numbers)}h", *numbers), "i16", descr=">i2")
    raw = struct.pack(f"<{len(numbers)}h", *sorted(numbers))
    for limit in ("4K", "1G"):
      self.assertEqual(ref.read_npy(self.good("sort", "-S", limit, "-f", "npy", stdin=swapped))[2], raw)
    rows = self.file("rows.npy", ref.npy(struct.pack("<6h", 3, 1, 2, 9, 7, 8), "i16", shape=(2, 3)))
    for limit in ("1b", "1G"):
      self.assertEqual(self.good("sort", "-S", limit, stdin=rows.read_bytes()), b"1\t2\t3\n7\t8\t9\n")
      self.assertEqual(self.good("sort", "-S", limit, "--axis", "0", stdin=rows.read_bytes()), b"3\t1\t2\n9\t7\t8\n")
      self.bad(1, "several files must have one", "sort", "-S", limit, "-f", "npy", "-", rows, stdin=rows.read_bytes())

  def test_pipes_that_end_wrongly(self):
    npy = ref.npy(bytes(20000), "i16")
    for limit in ("1K", "1G"):
      words = ["sort", "-S", limit, "-f", "npy"]
      self.bad(1, "announces 10000 i16 elements of 2 bytes, but 19999 bytes", *words, stdin=npy[:-1])
      self.bad(1, "announces 10000 i16 elements of 2 bytes, but 20003 bytes", *words, stdin=npy + b"123")
      self.bad(1, "ends inside its .npy header", *words, stdin=npy[:20])
      self.bad(1, "is not a .npy file", *words, stdin=npy[:5])
      self.bad(1, "ends inside its .npy header", *words, stdin=b"\x93NUMPY\x02\0\xff\xff\xff\x7f{'descr'")
      self.bad(1, "4001 bytes are not a whole number of i16", "sort", "-S", limit, "--type", "i16", "-f", "raw",
               stdin=bytes(4001))
    self.bad(2, "give --type", "sort", "-f", "raw", stdin=bytes(8))

  def test_named_pipes(self):
    fifo = self.folder / "fifo"
    os.mkfifo(fifo)
    raw = os.urandom(300000)
    for words, data in ((["--type", "u8", "-f", "raw"], raw), (["-f", "npy", "--output-format", "raw"], ref.npy(raw, "u8"))):
      with subprocess.Popen([tool_case.TOOL, "sort", "-S", "64K", *words, str(fifo)], stdout=subprocess.PIPE) as run:
        fifo.write_bytes(data)
        self.assertEqual(run.communicate()[0], bytes(sorted(raw)))
        self.assertEqual(run.returncode, 0)

  def long_bytes(self):
    """A file of bytes, and these in order: as long as results must be to pass the page cache."""
    piece = random.Random(8).randbytes(1 << 20)
    return self.file("long.raw", piece * 36), b"".join(bytes([value]) * (36 * piece.count(value)) for value in range(256))

  def test_standard_output_is_shared(self):
    raw, want = self.long_bytes()
    path = self.folder / "out"
    for mode, before in (("wb", b""), ("ab", b"before\n")):
      path.write_bytes(before)
      with path.open(mode) as out:
        subprocess.run([tool_case.TOOL, "sort", "-S", "64M", "--type", "u8", "--output-format", "raw", raw], stdout=out,
                       check=True)
        subprocess.run(["echo", "and more"], stdout=out, check=True)
      self.assertTrue(path.read_bytes() == before + want + b"and more\n", mode)

  def test_pipes_of_results(self):
    raw, want = self.long_bytes()
    fifo = self.folder / "fifo"
    os.mkfifo(fifo)
    words = [tool_case.TOOL, "sort", "-S", "64M", "--type", "u8", "--output-format", "raw", str(raw), "-o", str(fifo)]
    with subprocess.Popen(words) as run:
      self.assertTrue(fifo.read_bytes() == want)
    self.assertEqual(run.returncode, 0)

  def peak_bytes(self, *words, command="sort", stdin=None):
    """The most memory that a command was seen with."""
    peak = 0
    target = [] if "-c" in words else ["-o", self.folder / "out"]
    words = [tool_case.TOOL, command, "--threads", "2", *target, *words]
    with subprocess.Popen(list(map(str, words)), stdin=stdin) as run:
      while run.poll() is None:
        seen = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{run.pid}/status").read_text())
        peak = max(peak, int(seen[1]) * 1024 if seen else 0)
        time.sleep(0.002)
      self.assertEqual(run.returncode, 0)
    return peak

  @unittest.skipUnless(os.environ.get("GSORT_TOOL_FAULTS"), "a sanitizer's own memory would be counted")
  def test_memory_is_kept_to(self):
    size = 1 << 26
    raw = self.file("x.raw", os.urandom(1 << 20) * (size >> 20))
    text = self.file("x.txt", b"".join(b"%d\n" % (i * 2654435761 % 2**32) for i in range(2500000)))
    for words in (["--type", "u32", raw], [text], ["--output-format", "npy", text],
                  ["--output-format", "raw", "--type", "f32", text]):
      peaks = [self.peak_bytes("-S", limit, *words) for limit in ("16M", "1T")]
      self.assertLess(peaks[0], 32 << 20, (words, peaks))
      self.assertGreater(peaks[1], 40 << 20, (words, peaks))
    for words, path in ((["--type", "u32", "-f", "raw"], raw), ([], text)):
      with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as pipe:
        self.assertLess(self.peak_bytes("-S", "16M", *words, stdin=pipe.stdout), 32 << 20, words)

    for words in (["--type", "u32", "-f", "raw", "--output-format", "text", raw], [text]):
      for command, more in (("count", ["-S", "16M"]), ("median", ["-S", "16M"]), ("sum", []), ("mean", [])):
        limit = (32 if more else 40) << 20
        self.assertLess(self.peak_bytes(*more, *words, command=command), limit, (command, words))

  @unittest.skipUnless(os.environ.get("GSORT_TOOL_FAULTS"), "a sanitizer's own memory would be counted")
  def test_checks_take_little_memory(self):
    size = 1 << 26
    raw, rows = self.file("x.raw", bytes(size)), self.file("x.npy", ref.npy(bytes(size), "u8", shape=(size >> 10, 1 << 10)))
    for words in (["--type", "u32", raw], ["--axis", "0", rows], ["--axis", "1", rows]):
      self.assertLess(self.peak_bytes("-c", *words), 16 << 20, words)
    with subprocess.Popen(["cat", str(raw)], stdout=subprocess.PIPE) as pipe:
      self.assertLess(self.peak_bytes("-c", "--type", "u32", "-f", "raw", stdin=pipe.stdout), 16 << 20)

  def test_pipes_of_text_take_less_memory_than_files(self):
    lines = b"7\n" * (17 << 20)  # with what their sort needs, more than 512 MB
    words = ["sort", "-u", "-T", self.folder / "none"]
    path = self.file("in.txt", lines)
    self.assertEqual(self.good(*words, path), b"7\n")
    with path.open("rb") as file:  # which tells its length
      done = subprocess.run([tool_case.TOOL, *map(str, words)], stdin=file, capture_output=True, check=True)
      self.assertEqual(done.stdout, b"7\n")
    self.bad(1, "none: cannot write a temporary file", *words, stdin=lines)
    self.assertEqual(self.good(*words, "-S", "1G", stdin=lines), b"7\n")
    self.assertEqual(self.good("sort", "-u", "-T", self.folder, stdin=lines), b"7\n")

  def test_folder_of_temporary_files(self):
    path = self.file("in.raw", bytes(100000))
    self.bad(1, "none: cannot write a temporary file", "sort", "-S", "1K", "--type", "u8", path, "-T", self.folder / "none")
    self.bad(1, "none: cannot write a temporary file", "sort", "-S", "1K", "--type", "u8", path,
             env=dict(os.environ, TMPDIR=str(self.folder / "none")))

  def interrupted(self, number, wait_s, command="sort", path="x.raw", form="raw"):
    out = self.file("old", b"old")
    words = [tool_case.TOOL, command, "--type", "u64", "--input-format", form, "-S", "1M", str(self.folder / path), "-o",
             str(out), *([] if form == "raw" else ["--output-format", "raw"])]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as run:
      time.sleep(wait_s)
      run.send_signal(number)
      code = run.wait(timeout=60)
    self.assertEqual(self.names(), ["old", path])
    # A signal may come when the file is in its place already.
    self.assertIn(out.read_bytes(), (b"old", self.want) if code != 0 else (self.want,))
    return code

  def test_signals_at_any_time_leave_nothing(self):
    raw = self.file("x.raw", os.urandom(1 << 24))
    self.want = self.good("sort", "--type", "u64", "-f", "raw", "--output-format", "text", raw)
    ended = 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
      for step in range(8):
        ended += self.interrupted(number, 0.02 + 0.05 * step) == -number
    self.assertGreater(ended, 5)
    self.want = self.good("count", "--type", "u64", "-f", "raw", "--output-format", "text", raw)
    for step in range(8):
      self.interrupted((signal.SIGINT, signal.SIGTERM)[step % 2], 0.02 + 0.1 * step, "count")
    raw.unlink()
    text = self.file("x.txt", b"".join(b"%d\n" % (i * 2654435761 % 2**32) for i in range(400000)))
    self.want = self.good("sort", "--type", "u64", "--output-format", "raw", text)
    ended = sum(self.interrupted(signal.SIGINT, 0.01 + 0.02 * step, path="x.txt", form="text") == -signal.SIGINT
                for step in range(8))
    self.assertGreater(ended, 1)

  def test_full_disk(self):
    def limit():
      resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))

    raw = self.file("x.raw", bytes(400000))
    old = self.file("old", b"old")
    for command in ("sort", "count"):
      self.bad(1, "File too large", command, "-S", "100K", "--type", "u8", raw, "-o", old, preexec_fn=limit)
      self.assertEqual((old.read_bytes(), self.names()), (b"old", ["old", "x.raw"]))
    text = self.file("x.txt", b"7\n" * 100000)
    self.bad(1, "File too large", "sort", "-S", "100K", "--output-format", "raw", text, "-o", old, preexec_fn=limit)
    self.assertEqual((old.read_bytes(), self.names()), (b"old", ["old", "x.raw", "x.txt"]))

  def test_progress_covers_all(self):
    raw = self.file("x.raw", os.urandom(1 << 25))
    done = self.run_tool("sort", "--type", "u16", "-S", "1M", raw, "--progress", "on", "-f", "raw")
    self.assertEqual(done.returncode, 0)
    shown = re.findall(rb"\r(\w+) \[[#.]{40}\] +(\d+) %", done.stderr)
    self.assertEqual([int(part) for _, part in shown], sorted(int(part) for _, part in shown))
    self.assertEqual({name for name, _ in shown}, {b"sorting", b"merging"})
    self.assertGreater(int(shown[-1][1]), 80)


if __name__ == "__main__":
  unittest.main()
