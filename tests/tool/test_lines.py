# SPDX-License-Identifier: MIT OR Apache-2.0
"""Text: lines are ordered by their exact numbers and come out byte for byte as they went in."""

import decimal
import fractions
import random
import unittest

import tool_case


def number(token):
  """A key that orders as the numbers do: exact, -nan first, nan last, both zeros equal."""
  text = token.strip().decode().lower()
  negative = text.startswith("-")
  if "nan" in text:
    return (-2 if negative else 2, 0)
  if "inf" in text:
    return (-1 if negative else 1, 0)
  return (0, decimal.Decimal(text))


def ordered(lines, key=number, reverse=False):
  return sorted(lines, key=key, reverse=reverse)  # stable in either direction


def text(lines):
  return b"".join(line + b"\n" for line in lines)


def random_digits(generator, most):
  return "".join(generator.choice("0123456789") for _ in range(generator.randint(1, most)))


def random_number(generator):
  """A number in any way of writing one, often close to another one."""
  base = generator.choice(["9007199254740992", "12345678901234567890", "1", "0.1", random_digits(generator, 25)])
  kind = generator.randrange(8)
  if kind == 0:
    base = str(int(float(base)) + generator.randint(-3, 3))
  elif kind == 1:
    base = base + "." + random_digits(generator, 30) if "." not in base else base
  elif kind == 2:
    base += "0" * generator.randint(0, 5) if "." in base else ".0"
  elif kind == 3:
    base += f"e{generator.randint(-420, 420)}"
  elif kind == 4:
    base = generator.choice(["inf", "nan", "0", "-0", "0.000", "1e-400", "1e400", "1e-401", "0e5", ".5", "5.", "1E2"])
  elif kind == 5:
    base = base[0] + "." + base.replace(".", "")[1:] + f"e+{len(base) - 1}" if len(base) > 1 and "." not in base else base
  sign = generator.choice(["", "", "-", "+"]) if base[0] != "-" else ""
  blank = generator.choice(["", "", " ", "\t", "  "])
  return (blank + sign + base + generator.choice(["", "", " ", "\r"])).encode()


def random_integer(generator):
  width = generator.choice([8, 31, 53, 62, 63, 64, 65, 80])
  return str(generator.getrandbits(width) * generator.choice([1, 1, -1])).encode()


class Exact(tool_case.ToolCase):

  def test_nothing_is_changed(self):
    lines = [b"9007199254740993", b"0.1", b"10.50", b"007", b"9007199254740992.5", b"1e-400", b"0", b"-1e400"]
    want = [b"-1e400", b"0", b"1e-400", b"0.1", b"007", b"10.50", b"9007199254740992.5", b"9007199254740993"]
    self.assertEqual(self.good("sort", stdin=text(lines)), text(want))

  def test_random_numbers(self):
    for seed in range(30):
      generator = random.Random(seed)
      lines = [random_number(generator) for _ in range(generator.choice([1, 2, 50, 700]))]
      self.assertEqual(self.good("sort", stdin=text(lines)), text(ordered(lines)), seed)
      self.assertEqual(self.good("sort", "-r", stdin=text(lines)), text(ordered(lines, reverse=True)), seed)
      self.assertEqual(self.good("argsort", stdin=text(lines)),
                       text(b"%d" % i for i in ordered(range(len(lines)), lambda i: number(lines[i]))), seed)

  def test_integers_beyond_64_bits(self):
    for seed in range(12):
      generator = random.Random(seed)
      lines = [random_integer(generator) for _ in range(500)]
      self.assertEqual(self.good("sort", stdin=text(lines)), text(ordered(lines)), seed)
      positive = [line.lstrip(b"-") for line in lines if len(line) < 20]  # what u64 holds
      self.assertEqual(self.good("sort", stdin=text(positive)), text(ordered(positive)), seed)

  def test_many_lines_on_several_threads(self):
    generator = random.Random(8)
    lines = [b"%d.%d" % (generator.randrange(10**6), generator.randrange(100)) for _ in range(150000)]
    for threads in (1, 3, 7):
      self.assertEqual(self.good("sort", "--threads", threads, stdin=text(lines)), text(ordered(lines)))

  def test_lines_written_by_several_threads(self):
    lines = [b"%d" % (i * 7919 % 200003) + b" " * (i % 5) for i in range(300001)]
    whole_parts_and_one = text(lines[:9 * 2**15 + 1])
    self.assertEqual(self.good("sort", "--threads", "5", stdin=whole_parts_and_one),
                     self.good("sort", "--threads", "1", stdin=whole_parts_and_one))
    for words in ([], ["-u"]):
      want = self.good("sort", "--threads", "1", *words, stdin=text(lines))
      self.assertEqual(self.good("sort", "--threads", "5", *words, stdin=text(lines)), want)
    self.assertEqual([int(line) for line in want.splitlines()], list(range(200003)))

  def test_long_runs_of_almost_equal_numbers(self):
    generator = random.Random(4)
    lines = [b"1234567890123456789%d.5" % generator.randrange(10**6) for _ in range(3000)]
    self.assertEqual(self.good("sort", stdin=text(lines)), text(ordered(lines)))
    self.assertEqual(self.good("sort", "-d", stdin=text(lines)), text(ordered(lines, reverse=True)))
    lines = [b"-1e%d" % generator.randint(-10**9, 10**9) for _ in range(300)]
    self.assertEqual(self.good("sort", stdin=text(lines)), text(ordered(lines)))

  def test_a_mode_that_a_later_line_asks_for(self):
    for last in (b"0.5", b"18446744073709551615", b"-1", b"36893488147419103232", b"1e3"):
      lines = [b"%d" % (i * 7919 % 100003) for i in range(100003)] + [last, b"9223372036854775808"]
      self.assertEqual(self.good("sort", "--threads", "4", stdin=text(lines)), text(ordered(lines)))

  def test_nan_last(self):
    lines = [b"nan", b"1", b"-nan", b"-inf", b"nan(0x5)"]
    self.assertEqual(self.good("sort", "--nan-last", stdin=text(lines)), b"-inf\n1\nnan\n-nan\nnan(0x5)\n")
    self.assertEqual(self.good("sort", "--nan-last", "-r", stdin=text(lines)), b"1\n-inf\nnan\n-nan\nnan(0x5)\n")

  def test_hexadecimal_only_if_asked_for(self):
    for command in ("sort", "sum", "median"):
      self.bad(1, 'line 2: "0x10" is hexadecimal: give --hex', command, stdin=b"9\n0x10\n")
    self.assertEqual(self.good("sort", "--hex", stdin=b"0x10\n9\n-0XfF\n"), b"-0XfF\n9\n0x10\n")
    self.assertEqual(self.good("sort", "-x", stdin=b"0x10\n9.5\n0xffffffffffffffff\n0\n0x0\n"),
                     b"0\n0x0\n9.5\n0x10\n0xffffffffffffffff\n")
    self.assertEqual(self.good("sum", "-x", stdin=b"0x10\n9\n"), b"25\n")
    self.assertEqual(self.good("sum", "-x", stdin=b"-0x10\n.5\n"), b"-15.5\n")
    self.bad(1, "out of range for 64 bits", "sort", "-x", stdin=b"0x10000000000000000\n")
    for wrong in (b"0x", b"0x1g", b"0x1p3", b"0x.8", b"x10"):
      self.bad(1, "is not a number", "sort", "-x", stdin=wrong)

  def test_what_no_number_is(self):
    for wrong in (b"\v1", b"1\v", b"\f1", b"1_000", b"1,5", b"+-1", b"1e", b"1e+", b"e5", b".", b"-", b"infinit", b"nano",
                  b"nan(0x)", b"nan()", b"1d5", b"\xc2\xa01", b"0b1", b"1e5.5", b"--1", b"1-", b"in", b"1 2"):
      self.bad(1, "line 2: ", "sort", stdin=b"1\n" + wrong + b"\n")
      self.bad(1, "line 2: ", "sort", "--type", "f32", stdin=b"1\n" + wrong + b"\n")
    self.bad(1, "exponent of more than 17 digits", "sort", stdin=b"1e123456789012345678\n")
    self.assertEqual(self.good("sort", stdin=b"1e00000000000000000000007\n1e6"), b"1e6\n1e00000000000000000000007\n")


class Sort(tool_case.ToolCase):

  def test_columns(self):
    lines = [b"a 3 x", b"b  10.5 y", b" c\t-1", b"d 3.0 z"]
    self.assertEqual(self.good("sort", "-k2", stdin=text(lines)), text([lines[2], lines[0], lines[3], lines[1]]))
    for key in ("2,2", "2,2n", "2n,2", "2g"):
      self.assertEqual(self.good("sort", "-k", key, stdin=text(lines)), self.good("sort", "-k2", stdin=text(lines)))
    self.assertEqual(self.good("sort", "-k2,2nr", stdin=text(lines)), self.good("sort", "-rk2", stdin=text(lines)))
    lines = [b"a,,7", b"b,5, 6 ", b",x,-8"]
    self.assertEqual(self.good("sort", "-t,", "-k", "3", stdin=text(lines)), text(lines[::-1]))
    lines = [b"\t5", b"\t\t", b"x\t4"]
    self.assertEqual(self.good("sort", "-t", "\\t", "--key=2", stdin=text(lines[::2])), b"x\t4\n\t5\n")
    self.bad(1, "line 2: has no number in column 2", "sort", "-t", "\t", "-k2", stdin=text(lines))
    self.bad(1, "line 2: has no number in column 3", "sort", "-t,", "-k3", stdin=b"1,2,3\n1,2\n")
    self.bad(1, "line 2: has no number in column 2", "sort", "-t,", "-k2", stdin=b"1,2,3\n1, ,3\n")

  def test_the_file_of_a_first_line(self):
    files = [self.file(name, text) for name, text in (("a.txt", b"1\n"), ("b.txt", b"x\n"), ("c.txt", b"3\n"))]
    self.bad(1, 'b.txt: line 1: "x" is not a number', "sort", *files)

  def test_the_last_nan_of_a_sign_and_the_first_of_the_other(self):
    for name, digits in (("f16", b"3ff"), ("f32", b"7fffff"), ("f64", b"fffffffffffff")):
      lines = [b"-nan(0x1)", b"nan(0x" + digits + b")", b"-nan(0x" + digits + b")", b"nan(0x1)"]
      self.assertEqual(self.good("sort", "--type", name, "--nan-last", stdin=text(lines)),
                       text([lines[3], lines[1], lines[0], lines[2]]))
    self.bad(1, 'line 1: "x" is not a number', "sort", "-t,", "-k2", stdin=b"1,x,3\n")
    wide = [b"0," * 9 + b"%d,%d\n" % (i, -i) for i in (3, 1, 2)]
    self.assertEqual(self.good("sort", "-t,", "-k10", stdin=b"".join(wide)), b"".join(sorted(wide)))
    self.assertEqual(self.good("sort", "-t,", "-k11", stdin=b"".join(wide)), b"".join(sorted(wide, reverse=True)))
    self.bad(2, '--key: "1a" is not a column', "sort", "-k1a", stdin=b"1\n")
    self.bad(2, "--key: there is one key; sort by the lesser one first", "sort", "-t,", "-k2", "-k1,1n", stdin=b"1,2\n")
    self.assertEqual(self.good("sum", "-t,", "-k2", stdin=b"x,1\ny,2.5\n"), b"3.5\n")
    self.assertEqual(self.good("topk", "-k1", "--key", "2", stdin=b"x 1\ny 2.5\n"), b"1\ty 2.5\n")
    self.assertEqual(self.good("sort", "-t,", "-k2", "--type", "i32", stdin=b"x,12e\ny,2\n".replace(b"e", b"")),
                     b"y,2\nx,12\n")

  def test_several_files(self):
    a, b = self.file("a", b"3\n1"), self.file("b", b"\xef\xbb\xbf2\n\n\n")
    empty = self.file("empty")
    self.assertEqual(self.good("sort", a, empty, b), b"1\n2\n3\n")
    self.assertEqual(self.good("sort", b, "-", a, stdin=b"0\n\n"), b"0\n1\n2\n3\n")
    bad = self.file("bad", b"1\n2\nx\n")
    self.bad(1, f"{bad}: line 3: ", "sort", a, b, bad)
    self.bad(1, "none: no such file", "sort", a, self.folder / "none")
    self.assertEqual(self.good("sum", a, b), b"6\n")

  def test_files_whose_names_tell_their_format_beside_others(self):
    named, nameless = self.file("a.txt", b"3\n"), self.file("log", b"2\n")
    for files in ((named, nameless, "-"), ("-", named, nameless), (nameless, "-", named)):
      self.assertEqual(self.good("sort", *files, stdin=b"1\n"), b"1\n2\n3\n")
    self.assertEqual(self.good("merge", named, nameless), b"2\n3\n")
    array = self.folder / "x.npy"
    self.good("sort", "-o", array, nameless)
    self.assertEqual(self.good("sort", array, "-", stdin=array.read_bytes()), b"2\n2\n")
    self.bad(1, "log: is not a .npy file", "sort", array, nameless)
    self.bad(1, 'line 1: "?NUMPY', "sort", named, "-", stdin=array.read_bytes())

  def test_unique(self):
    lines = [b"5", b"3", b"3.0", b"03", b"5e0", b"1"]
    self.assertEqual(self.good("sort", "-u", stdin=text(lines)), b"1\n3\n5\n")
    self.assertEqual(self.good("sort", "-nru", stdin=text(lines)), b"5\n3\n1\n")
    self.assertEqual(self.good("sort", "-bgsn", stdin=b"  3\n 1\n"), b" 1\n  3\n")
    long = [b"1234567890123456789012.%d" % i for i in (2, 1, 2, 20, 1)]
    self.assertEqual(self.good("sort", "-u", stdin=text(long)), text([long[1], long[0]]))

  def test_ranges_of_integers(self):
    """Keys and places that have 64 bits together are sorted as one number, others as two."""
    for bits, count in ((1, 9000), (30, 200000), (45, 9000), (46, 9000), (47, 9000), (48, 9000), (49, 9000), (63, 9000)):
      for low in (0, -(1 << bits - 1), (1 << 63) - (1 << bits)):
        generator = random.Random(bits)
        numbers = [low, low + (1 << bits) - 1]
        numbers += [generator.choice((low, low + 1, low + generator.getrandbits(bits))) for _ in range(count)]
        lines = [b"%d" % n if i % 3 else b" %d" % n for i, n in enumerate(numbers)]
        data = text(lines)
        order = sorted(range(len(numbers)), key=lambda i: numbers[i])
        down = sorted(range(len(numbers)), key=lambda i: -numbers[i])
        for threads in ("1", "3"):
          self.assertEqual(self.good("sort", "--threads", threads, stdin=data), text([lines[i] for i in order]))
          self.assertEqual(self.good("sort", "-r", "--threads", threads, stdin=data), text([lines[i] for i in down]))
        self.assertEqual(self.good("argsort", stdin=data).split(), [b"%d" % i for i in order])
        ranks = [0] * len(order)
        for place, i in enumerate(order):
          ranks[i] = place
        self.assertEqual(self.good("rank", stdin=data).split(), [b"%d" % i for i in ranks])
        first = [i for at, i in enumerate(order) if at == 0 or numbers[order[at - 1]] != numbers[i]]
        self.assertEqual(self.good("sort", "-u", stdin=data), text([lines[i] for i in first]))

  def test_check(self):
    self.assertEqual(self.good("sort", "-c", stdin=b"1\n1.0\n2\n"), b"")
    self.bad(1, "line 3: is not in order: it belongs before", "sort", "-c", stdin=b"1\n3\n2\n")
    self.bad(1, "line 2: is not in order: its number was there", "sort", "-cu", stdin=b"1\n1.0\n2\n")
    self.assertEqual(self.good("sort", "-cr", stdin=b"3\n1\n"), b"")
    done = self.run_tool("sort", "-C", stdin=b"3\n1\n")
    self.assertEqual((done.returncode, done.stdout, done.stderr), (1, b"", b""))

  def test_short_decimals(self):
    """Those of up to 16 digits are read in another way than longer ones: the same numbers in the same order."""
    generator = random.Random(12)
    short = [b"0.5", b".5", b"5.", b"-.0", b"+0.25", b"0", b"00000000.00000001", b"9999999999999999", b"0.9999999999999999"]
    for _ in range(3000):
      digits = b"%0*d" % (generator.randint(1, 18), generator.randrange(10 ** generator.randint(1, 18)))
      point = generator.randint(0, len(digits))
      sign, blank = generator.choice((b"", b"-", b"+")), generator.choice((b"", b" ", b"\t"))
      short.append(blank + sign + generator.choice((digits[:point] + b"." + digits[point:], digits)) + blank)
    long = [(line.strip() if b"." in line else line.strip() + b".") + b"0" * 20 for line in short]
    lines = [line for pair in zip(short, long) for line in pair]
    for column in ([], ["-k1"], ["-t,", "-k2"]):
      rows = [b"x," + line for line in lines] if len(column) == 2 else lines
      order = sorted(range(len(lines)), key=lambda i: fractions.Fraction(lines[i].decode()))
      self.assertEqual(self.good("sort", *column, stdin=text(rows)), text([rows[i] for i in order]))
      order = sorted(range(len(lines)), key=lambda i: -fractions.Fraction(lines[i].decode()))
      self.assertEqual(self.good("sort", "-r", *column, stdin=text(rows)), text([rows[i] for i in order]))
    for wrong in (b".", b"-", b"1..2", b"1.2.3", b"1.5x", b"1-", b"--1.5", b"1.5 2"):
      self.bad(1, "line 2: ", "sort", stdin=b"0.5\n" + wrong + b"\n")

  def test_check_in_pieces(self):
    """What is out of order is found within a piece and between two, whatever kind of number it is there."""
    for form in ("%d", "%.2f"):
      lines = [form % i for i in range(1, 5001)]
      for at in (0, 1, 2500, 4998):
        wrong = lines[:at] + [lines[at + 1], "%d.00" % (at + 1)] + lines[at + 2:]
        twice = lines[:at + 1] + ["%d.0" % (at + 1)] + lines[at + 1:]
        for limit in ("1b", "5K", "1G"):
          self.bad(1, f"standard input: line {at + 2}: is not in order: it belongs", "sort", "-c", "-S", limit,
                   stdin="\n".join(wrong).encode())
          self.bad(1, f"line {at + 2}: is not in order: its number was", "sort", "-cu", "-S", limit,
                   stdin="\n".join(twice).encode())
          self.good("sort", "-c", "-S", limit, stdin="\n".join(twice).encode())
          self.good("sort", "-cr", "-S", limit, stdin="\n".join(reversed(twice)).encode())
    first, second = self.file("1.txt", b"1\n3\n"), self.file("2.txt", b"\n2\n")
    self.bad(1, "2.txt: line 2: is not in order", "sort", "-cB", first, second)

  def test_lines_left_out(self):
    lines = b"# a comment\n3\n\n  # another\n1\n \t\n"
    self.assertEqual(self.good("sort", "--comments", "#", "--skip-blank", stdin=lines), b"1\n3\n")
    self.assertEqual(self.good("sort", "-B#", "#", stdin=lines), b"1\n3\n")
    self.bad(1, "line 3: is empty", "sort", "-#", "#", stdin=lines)
    self.bad(1, 'line 1: "# a comment" is not', "sort", "-B", stdin=lines)
    many = b"".join(b"%d\n\n" % (i * 7919 % 100003) for i in range(100003))
    self.assertEqual(self.good("sort", "-B", "--threads", "5", stdin=many), text(b"%d" % i for i in range(100003)))

  def test_options_as_people_type_them(self):
    self.assertEqual(self.good("sort", "-nr", stdin=b"1\n2\n"), b"2\n1\n")
    self.assertEqual(self.good("sort", "--rev", "--num", stdin=b"1\n2\n"), b"2\n1\n")
    out = self.folder / "out"
    self.assertEqual(self.good("sort", "-rno", out, stdin=b"1\n2\n"), b"")
    self.assertEqual(out.read_bytes(), b"2\n1\n")
    path = self.file("in", b"1\n2\n")
    self.assertEqual(self.good("sort", path, "-r"), b"2\n1\n")


class Commands(tool_case.ToolCase):

  def test_count(self):
    self.assertEqual(self.good("count", stdin=b"5\n3\n3.0\n9\n3e0"), b"      3 3\n      1 5\n      1 9\n")
    self.assertEqual(self.good("count", "-r", stdin=b"5\n3\n5\n"), b"      2 5\n      1 3\n")
    self.assertEqual(self.good("count"), b"")

  def test_rank(self):
    lines = [b"5", b"3.5", b"-2", b"3.50", b"9"]
    self.assertEqual(self.good("rank", stdin=text(lines)), b"3\n1\n0\n2\n4\n")
    self.assertEqual(self.good("rank", "-r", stdin=text(lines)), b"1\n2\n4\n3\n0\n")

  def test_min_and_max(self):
    lines = [b"7", b"1234567890123456789.25", b"-3.0", b"1234567890123456789.5", b"-3"]
    self.assertEqual(self.good("min", stdin=text(lines)), b"-3.0\n")
    self.assertEqual(self.good("max", stdin=text(lines)), b"1234567890123456789.5\n")
    for command in ("min", "max", "median", "mean"):
      self.bad(1, "there are no numbers", command)
    self.assertEqual(self.good("max", "-t,", "-k2", stdin=b"a,1\nb,3\nc,2\n"), b"b,3\n")

  def test_topk(self):
    for seed in range(8):
      generator = random.Random(seed)
      lines = [random_number(generator) for _ in range(300)]
      for words, reverse in ((["--smallest"], False), ([], True)):
        order = ordered(range(300), lambda i: number(lines[i]), reverse)[:20]
        self.assertEqual(self.good("topk", "-k20", *words, stdin=text(lines)),
                         text(b"%d\t%s" % (i, lines[i]) for i in order), seed)

  def test_median(self):
    for lines, want in (([1, 2, 4, 3], "2.5"), ([5], "5"), (["0.1", "0.2"], "0.15"), ([-1, 0], "-0.5"),
                        ([2**63, 2**64 - 1], "13835058055282163711.5"), ([-2**63, 2**63 - 1], "-0.5"),
                        (["1.0", "1"], "1.0"), (["3.50", 9, 1], "3.50"), (["1e300", "3e300"], "2e+300"),
                        ([3, "inf"], "inf"), (["1e-30", "3e-30"], "0." + "0" * 29 + "2"), (["-0.5", "0.5"], "0")):
      self.assertEqual(self.good("median", stdin="\n".join(map(str, lines)).encode()).decode(), want + "\n", lines)
    for first, second in (("1e400", "3e400"), ("1", "3e400"), ("-1e400", "1")):
      self.bad(1, "the mean of the two numbers in the middle is out of range for f64", "median",
               stdin=f"{first}\n{second}\n".encode())

  def test_percentiles(self):
    lines = text(b"%d" % i for i in range(1, 1001))
    self.assertEqual(self.good("percentile", "-p", "0,0.1,0.100001,50,99.9,99.900001,100", stdin=lines),
                     b"0\t1\n0.1\t1\n0.100001\t2\n50\t500\n99.9\t999\n99.900001\t1000\n100\t1000\n")
    self.assertEqual(self.good("percentile", "-p50", stdin=b"1.50\n"), b"50\t1.50\n")

  def test_mean_and_sum(self):
    self.assertEqual(self.good("mean", stdin=b"1\n2\n4\n"), b"2.3333333333333335\n")
    self.assertEqual(self.good("mean", stdin=b"0.5\n1\n"), b"0.75\n")
    # Of the numbers as they stand: the doubles 0.1 and 0.2 have the mean 0.15000000000000002.
    self.assertEqual(self.good("mean", stdin=b"0.1\n0.2\n"), b"0.15\n")
    self.assertEqual(self.good("mean", stdin=b"0.3\n-0.1\n-0.2\n"), b"0\n")
    for seed in range(40):
      random.seed(seed)
      places = random.choice([0, 1, 9, 18])
      limit = 10 ** random.choice([1, 9, 17, 18])
      units = [random.randrange(-limit, limit + 1) if seed % 2 else random.randrange(limit) for _ in range(seed + 1)]
      lines = text(format(decimal.Decimal(unit).scaleb(-places), "f").encode() for unit in units)
      exact = fractions.Fraction(sum(units), len(units) * 10**places)
      self.assertEqual(float(self.good("mean", stdin=lines)), float(exact), seed)
    # Halfway between two doubles, and a little beyond.
    self.assertEqual(self.good("mean", stdin=b"9007199254740992\n9007199254740994\n"), b"9007199254740992\n")
    self.assertEqual(self.good("mean", stdin=b"9007199254740994\n9007199254740992\n9007199254740994\n"),
                     b"9007199254740994\n")
    self.assertEqual(self.good("sum", stdin=b"18446744073709551614\n1\n"), b"18446744073709551615\n")

  def test_sums_are_exact(self):
    self.assertEqual(self.good("sum", stdin=b"0.1\n0.2\n"), b"0.3\n")
    self.assertEqual(self.good("sum", stdin=b"9223372036854775807\n9223372036854775807\n"), b"18446744073709551614\n")
    self.assertEqual(self.good("sum", stdin=b"18446744073709551615\n" * 3), b"55340232221128654845\n")
    self.assertEqual(self.good("sum", stdin=b"-9223372036854775808\n" * 2), b"-18446744073709551616\n")
    self.assertEqual(self.good("sum", "--type", "i64", stdin=b"-9223372036854775808\n" * 2), b"0\n")
    self.assertEqual(self.good("sum", stdin=b"1.50\n-1.5\n"), b"0\n")
    self.assertEqual(self.good("sum", stdin=b"1.00000000000000001\n1\n"), b"2.00000000000000001\n")  # all of 18 digits
    for seed in range(20):
      generator = random.Random(seed)
      places = generator.randrange(10)
      numbers = [decimal.Decimal(generator.randint(-10**8, 10**8)).scaleb(-generator.randint(0, places)) for _ in range(99)]
      got = self.good("sum", stdin=text(str(number).encode() for number in numbers))
      self.assertEqual(decimal.Decimal(got.decode()), sum(numbers), seed)
      self.assertNotIn(b"e", got)
    # Past 18 digits the doubles are added, exactly.
    self.assertEqual(self.good("sum", stdin=b"1e18\n0.5\n-1e18\n"), b"0.5\n")
    self.assertEqual(self.good("sum", stdin=b"1e-30\n1e-30\n"), b"2e-30\n")
    self.assertEqual(self.good("sum", stdin=b"123456789012345678901234567890\n0.5\n"), b"1.2345678901234568e+29\n")
    self.assertEqual(self.good("sum", stdin=b"123456789012345678\n0.5\n"), b"1.2345678901234568e+17\n")
    self.assertEqual(self.good("sum", stdin=b"12345678901234567\n0.5\n"), b"12345678901234567.5\n")
    self.assertEqual(self.good("sum", stdin=b"nan\n0.5\n"), b"nan\n")

  def test_scan(self):
    self.assertEqual(self.good("scan", stdin=b"1\n2\n-4\n"), b"1\n3\n-1\n")
    self.assertEqual(self.good("scan", "--type", "f32", stdin=b"0.1\n2\n"), b"0.1\n2.1\n")

  def test_running_sums_that_leave_their_type(self):
    for name, greatest, lines in (("i64", 2**63 - 1, b"-1\n%d\n1\n1\n"), ("u64", 2**64 - 1, b"0\n%d\n0\n1\n")):
      lines = b"#\n" + lines % greatest
      self.bad(1, f"standard input: line 5: the sum up to here is out of range for {name}: give --type f64", "scan",
               "-##", stdin=lines)
      wrapped = self.good("scan", "-##", "--type", name, stdin=lines).split()
      self.assertEqual(wrapped[-1], {"i64": b"-9223372036854775808", "u64": b"0"}[name])
    self.assertEqual(self.good("scan", stdin=b"%d\n-1\n" % -(2**63 - 1)).split()[-1], b"%d" % -(2**63))
    self.bad(1, "line 2: the sum up to here is out of range for i64", "scan", stdin=b"%d\n-2\n" % -(2**63 - 1))

  def test_merge(self):
    a, b, c = self.file("a", b"1\n3.0\n9\n"), self.file("b", b"2\n3\n"), self.file("c")
    self.assertEqual(self.good("merge", a, b, c), b"1\n2\n3.0\n3\n9\n")
    self.assertEqual(self.good("sort", "-m", b, a), b"1\n2\n3\n3.0\n9\n")
    self.assertEqual(self.good("merge", "-u", b, a), b"1\n2\n3\n9\n")
    self.assertEqual(self.good("merge", a, "-", stdin=b"-1"), b"-1\n1\n3.0\n9\n")
    self.assertEqual(self.good("merge", c), b"")
    wrong = self.file("wrong", b"5\n4\n")
    done = self.run_tool("merge", a, wrong)
    self.assertEqual(done.returncode, 1)
    self.assertIn(b"wrong: line 2: is not in order", done.stderr)

  def test_binary_results_of_text(self):
    self.assertEqual(self.good("sort", "--output-format", "raw", stdin=b"2\n1\n"),
                     (1).to_bytes(8, "little") + (2).to_bytes(8, "little"))
    self.assertEqual(self.good("sort", "--output-format", "raw", stdin=b"18446744073709551615\n"), b"\xff" * 8)
    self.bad(1, f'does not hold "{"12345" * 8}" exactly', "sort", "--output-format", "raw",
             stdin=f"0.5\n{'12345' * 9}\n".encode())  # as much of it as a sentence has room for
    self.bad(1, 'line 1: f64, which the other lines ask for, does not hold "9007199254740993" exactly', "sort",
             "--output-format", "raw", stdin=b"9007199254740993\n0.5\n")
    self.good("sort", "--output-format", "raw", stdin=b"9007199254740992\n0.5\n")
    self.good("sort", "--output-format", "raw", stdin=b"1234567890123456.7\n0.5\n")  # a fraction is rounded


if __name__ == "__main__":
  unittest.main()
