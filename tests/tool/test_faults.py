# SPDX-License-Identifier: MIT OR Apache-2.0
"""Calls of the system that fail, are interrupted or do half their work: the right result or none, and never half of one.
GSORT_TOOL_FAULTS names the library that is loaded in front of libc."""

import errno
import itertools
import os
import random
import re
import resource
import struct
import unittest

import reference as ref
import tool_case

FAULTS = os.environ.get("GSORT_TOOL_FAULTS", "")


def counted(lines, key):
  """What count says of them."""
  groups = [list(group) for _, group in itertools.groupby(sorted(lines, key=key), key)]
  return b"".join(b"%7d %s\n" % (len(group), group[0]) for group in groups)


@unittest.skipIf(FAULTS == "", "no library of faults was built")
class Faults(tool_case.ToolCase):

  def setUp(self):
    super().setUp()
    generator = random.Random(1)
    lines = [b"%d.%d" % (generator.randrange(10**6), generator.randrange(10)) for _ in range(60000)]
    self.input = self.file("in.txt", b"\n".join(lines))
    self.want = b"".join(line + b"\n" for line in sorted(lines, key=float))
    self.raw = self.file("in.raw", bytes(generator.randrange(256) for _ in range(300000)))
    self.raw_want = bytes(sorted(self.raw.read_bytes()))
    self.jobs = [(["sort", self.input], self.want), (["sort", "-S", "500K", self.input], self.want),
                 (["sort", "--type", "u8", self.raw], self.raw_want),
                 (["sort", "--type", "u8", "-S", "100K", self.raw], self.raw_want),
                 (["count", "-S", "500K", self.input], counted(lines, float)),
                 (["sum", self.input], b"%.1f\n" % (sum(round(10 * float(line)) for line in lines) / 10))]

  def outcome(self, words, want, fault, log=None):
    """0 if the result is right; 1 if there is none, the old file is whole and a sentence says why."""
    out = self.folder / "out.raw"
    out.write_bytes(b"old")
    text = [] if words[-1] == self.raw else ["--output-format", "text"]
    environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=fault)
    if log is not None:
      environment["GSORT_TEST_LOG"] = str(log)
    done = self.run_tool(*words, *text, "-o", out, env=environment)
    self.assertIn(done.returncode, (0, 1), (words, fault, done.stderr))
    self.assertEqual(out.read_bytes(), want if done.returncode == 0 else b"old", (words, fault))
    self.assertEqual(self.names(), ["in.raw", "in.txt", "out.raw"], (words, fault))
    self.assertEqual(done.stderr.count(b"gsort: "), done.returncode, (fault, done.stderr))
    return done.returncode

  def counted(self, words, want, call):
    """How many calls of this kind matter in a run without faults: the last of them is one whose failure is told."""
    low, high = 0, 1
    while self.outcome(words, want, f"{call}:{high}:5") == 1:
      low, high = high, high * 2
    while high - low > 1:
      middle = (low + high) // 2
      if self.outcome(words, want, f"{call}:{middle}:5") == 1:
        low = middle
      else:
        high = middle
    return low

  def test_each_write_sync_and_rename_fails(self):
    for words, want in self.jobs:
      for call, error, sentence in (("write", errno.ENOSPC, "no space"), ("write", errno.EIO, ""),
                                    ("fsync", errno.EIO, ""), ("rename", errno.EIO, ""), ("linkat", errno.EPERM, "")):
        self.assertEqual(self.outcome(words, want, f"{call}:1:{error}"), 1, (words, call))
      most = self.counted(words, want, "write")
      for n in {*range(1, most, max(1, most // 7)), most}:
        self.assertEqual(self.outcome(words, want, f"write:{n}:{errno.ENOSPC}"), 1, (words, n))
      # What is written last is not lost unseen.
      for n in range(most + 1, most + 4):
        self.outcome(words, want, f"write:{n}:{errno.ENOSPC}")

  def test_numbers_whose_type_changes_when_runs_are_written(self):
    """Runs of integers that become doubles are read, and written over."""
    numbers = [i * 7919 % 20011 - 10000 for i in range(20011)]
    self.input.write_bytes(b"".join(b"%d\n" % i for i in numbers) + b"0.5\n")
    want = struct.pack("<20012d", *sorted([*numbers, 0.5]))
    out, codes = self.folder / "out.raw", set()
    faults = [f"read:{n}:{fault}" for n in range(1, 70, 6) for fault in (errno.EIO, "end", errno.EINTR, "short")]
    faults += [f"write:{n}:{fault}" for n in range(1, 70, 6) for fault in (errno.ENOSPC, errno.EINTR, "short")]
    for fault in ["none:1:5", "read:1+:short", "write:1+:short", *faults, *(f"memory:{n}:12" for n in range(1, 70, 3))]:
      out.write_bytes(b"old")
      environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=fault)
      done = self.run_tool("sort", "-S", "200K", self.input, "-o", out, env=environment)
      # A file that ends early is one that has fewer numbers.
      if not fault.endswith("end") or done.returncode != 0:
        self.assertEqual(out.read_bytes(), want if done.returncode == 0 else b"old", (fault, done.stderr))
      self.assertEqual(done.stderr.count(b"gsort: "), done.returncode, (fault, done.stderr))
      self.assertEqual(self.names(), ["in.raw", "in.txt", "out.raw"], fault)
      if fault.endswith(("short", f":{errno.EINTR}", "none:1:5")):
        self.assertEqual(done.returncode, 0, (fault, done.stderr))
      codes.add((fault.split(":")[0], done.returncode))
    self.assertTrue({("read", 1), ("write", 1), ("memory", 1), ("memory", 0)} <= codes, codes)

  def test_each_close_fails(self):
    for words, want in self.jobs:
      codes = [self.outcome(words, want, f"close:{n}:{errno.EIO}") for n in range(1, 24)]
      self.assertIn(1, codes, words)  # that of the output is looked at
      self.assertIn(0, codes, words)  # those of what was only read are not

  def test_each_read_fails(self):
    for words, want in self.jobs:
      codes = [self.outcome(words, want, f"read:{n}:{errno.EIO}") for n in range(1, 40)]
      self.assertGreaterEqual(codes.count(1), 2, words)
      environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=f"read:1+:{errno.EIO}")
      sentence = f"{words[-1]}: cannot read: {os.strerror(errno.EIO)}\n"
      self.assertTrue(self.run_tool(*words, env=environment).stderr.decode().endswith(sentence), words)

  def test_files_that_become_shorter(self):
    words = ["sort", "--type", "u8", "-S", "100K", "-f", "raw", self.raw]
    sentences = set()
    for n in range(1, 40):
      environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=f"read:{n}:end")
      done = self.run_tool(*words, env=environment)
      self.assertTrue(done.returncode == 1 or done.stdout == self.raw_want, n)
      self.assertEqual(done.stderr.count(b"gsort: "), done.returncode, n)
      sentences.add(done.stderr)
    self.assertIn(f"gsort: {self.raw}: ends before all its elements were read\n".encode(), sentences)
    self.assertNotIn(os.strerror(0).encode(), b"".join(sentences))

  def test_files_that_grow_while_they_are_read(self):
    parts = [self.file("a.raw", self.raw_want[1000:]), self.file("b.raw", self.raw_want[:1000])]
    for size in (1, 2, 3, 1000):
      for command, inputs in (("sort", [self.raw]), ("merge", parts)):
        words = [command, "--type", "u8", "-f", "raw", *inputs]
        environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=f"size:1:{size}")
        done = self.run_tool(*words, env=environment)
        self.assertEqual((done.returncode, done.stdout == self.raw_want, done.stderr), (0, True, b""), (command, size))

  def test_interrupted_and_short_calls(self):
    for words, want in self.jobs:
      for call in ("read", "write"):
        for n in (1, 2, 3, 5, 9, 17):
          self.assertEqual(self.outcome(words, want, f"{call}:{n}:{errno.EINTR}"), 0, (words, call, n))
          self.assertEqual(self.outcome(words, want, f"{call}:{n}:short"), 0, (words, call, n))
        self.assertEqual(self.outcome(words, want, f"{call}:1+:short"), 0, (words, call))

  def test_files_that_pass_the_page_cache(self):
    data = random.Random(2).randbytes(80 << 20)
    self.raw.write_bytes(data)
    want = b"".join(bytes([value]) * data.count(value) for value in range(256))
    words = ["sort", "--type", "u8", "-S", "64M", self.raw]
    # What the file system does not take so goes the usual way.
    for fault in (f"open:3:{errno.EINVAL}", f"open:4:{errno.EINVAL}", f"write:1:{errno.EINVAL}",
                  f"write:9:{errno.EINVAL}", f"write:2:{errno.EINTR}", "write:3:short", "write:1+:short",
                  f"direct:1+:{errno.EINVAL}", f"read:7:{errno.EINVAL}", f"read:8:{errno.EINTR}", "read:9:short",
                  "read:1+:short"):
      for cached in (True, False):
        with self.raw.open("rb") as file:
          os.fsync(file.fileno())
          os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED if cached else os.POSIX_FADV_DONTNEED)
        self.assertEqual(self.outcome(words, want, fault), 0, (fault, cached))
    codes = [self.outcome(words, want, f"read:{n}:{errno.EIO}") for n in range(1, 40, 3)]
    self.assertGreaterEqual(codes.count(1), 5)
    writes = 2 * len(data) >> 22  # of 4 MB
    last = self.counted(words, want, "write")
    self.assertGreaterEqual(last, writes - 1)
    for n in (1, 2, writes // 2, writes - 1, last - 1, last):
      self.assertEqual(self.outcome(words, want, f"write:{n}:{errno.ENOSPC}"), 1, n)
    self.assertEqual(self.outcome(words, want, f"write:1+:{errno.EINVAL}"), 1)

  def test_runs_that_are_read_leave_the_disk(self):
    data = random.Random(3).randbytes(6 << 20)
    raw = self.file("long.raw", data)
    lines = [b"%d" % number for number in struct.unpack(f"<{len(data) // 4}I", data)]
    text = self.file("long.txt", b"\n".join(lines))
    places = self.folder.parent / (self.folder.name + ".places")
    self.addCleanup(lambda: places.unlink(missing_ok=True))
    out = self.folder / "out"
    for words, size, want in (
        (["--type", "u8", "-f", "raw", "-S", "1M", raw], len(data), bytes(sorted(data))),
        (["--type", "u8", "-f", "raw", "-S", "64K", raw], 2 * len(data), bytes(sorted(data))),  # two passes
        (["-S", "2M", text], text.stat().st_size, b"".join(line + b"\n" for line in sorted(lines, key=int)))):
      for fault, most in (("none:1:5", 0.25), (f"fallocate:1+:{errno.EOPNOTSUPP}", 1.1)):
        places.unlink(missing_ok=True)
        environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=fault, GSORT_TEST_PLACES=str(places))
        done = self.run_tool("sort", *words, "-o", out, env=environment)
        self.assertEqual((done.returncode, out.read_bytes() == want), (0, True), (words, fault, done.stderr))
        # The input and the output are as long as they were; the file of runs may be longer for its second pass.
        closed = [tuple(map(int, line.split())) for line in places.read_text().splitlines()]
        runs = min(held / length for length, held in closed if length >= size)
        self.assertLess(runs, most, (words, fault, closed))
        self.assertTrue(fault.startswith("none") or runs > 0.9, (words, fault, closed))

  def test_memory_runs_out(self):
    for words, want in self.jobs:
      codes = [self.outcome(words, want, f"memory:{n}:{errno.ENOMEM}") for n in list(range(1, 40)) + [60, 90, 150, 300]]
      self.assertIn(1, codes, words)

  def test_memory_runs_out_for_several_files(self):
    arrays = [self.file(f"{name}.npy", ref.npy(struct.pack("<3h", *numbers), "i16"))
              for name, numbers in (("a", (5, 1, 9)), ("b", (2, 8, 3)))]
    # Lines that outlive the block of the file that they came from.
    texts = [self.file(f"{begin}.txt", b"".join(b"%d%s\n" % (i, b" " * 3000) for i in range(begin, 400, 2)))
             for begin in (0, 1)]
    merged = b"".join(b"%d%s\n" % (i, b" " * 3000) for i in range(400))
    rows = self.file("rows.npy", ref.npy(struct.pack("<6h", 3, 1, 2, 9, 8, 7), "i16", shape="(2, 3)"))
    # Numbers that only their text tells apart.
    near = [b"1.%030d\n" % i for i in range(200)]
    ties = self.file("ties.txt", b"".join(reversed(near)))
    out = self.folder / "out"
    for words, want in ((["sort", "--output-format", "text", *arrays], b"1\n2\n3\n5\n8\n9\n"),
                        (["sort", ties], b"".join(near)), (["topk", "-k", "3", "--smallest", ties],
                         b"".join(b"%d\t%s" % (199 - i, near[i]) for i in range(3))),
                        (["merge", "-S", "100K", *texts], merged), (["rank", rows], b"2\t0\t1\n2\t1\t0\n"),
                        (["sum", arrays[0]], b"15\n")):
      codes = set()
      for n in list(range(1, 32)) + [60, 300]:
        out.write_bytes(b"old")
        environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=f"memory:{n}:{errno.ENOMEM}")
        done = self.run_tool(*words, "-o", out, env=environment)
        self.assertIn(done.returncode, (0, 1), (words, n, done.stderr))
        self.assertEqual(out.read_bytes(), want if done.returncode == 0 else b"old", (words, n))
        self.assertEqual(done.stderr.count(b"gsort: "), done.returncode, (words, n, done.stderr))
        codes.add(done.returncode)
      self.assertEqual(codes, {0, 1}, words)

  def test_memory_runs_out_in_the_midst_of_a_merge(self):
    data = random.Random(4).randbytes(4 << 20)
    self.raw.write_bytes(data)
    want = b"".join(bytes([value]) * data.count(value) for value in range(256))
    words = ["sort", "--type", "u8", "--threads", "2", "-S", "2M", self.raw]
    for n in range(1, 45):
      self.outcome(words, want, f"aligned:{n}:{errno.ENOMEM}")
    sentences = [self.run_tool(*words, "-f", "raw", env=dict(os.environ, LD_PRELOAD=FAULTS,
                                                             GSORT_TEST_FAULT=f"aligned:{n}:{errno.ENOMEM}")).stderr
                 for n in (1, 30, 36, 40)]
    self.assertIn(b"bytes of host scratch memory could not be had", b"".join(sentences))

  def test_interrupted_while_the_format_is_looked_for(self):
    data = ref.npy(struct.pack("<3h", 5, -5, 0), "i16")
    for n in range(1, 5):
      environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=f"read:{n}:{errno.EINTR}")
      done = self.run_tool("sort", "--output-format", "raw", stdin=data, env=environment)
      self.assertEqual((done.returncode, done.stdout), (0, struct.pack("<3h", -5, 0, 5)), (n, done.stderr))

  def test_no_threads(self):
    many = self.file("many.txt", b"".join(b"%d\n" % (i * 7919 % 400009) for i in range(400009)))
    environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=f"thread:1+:{errno.EAGAIN}")
    done = self.run_tool("sort", "--threads", "4", many, env=environment)
    self.assertEqual((done.returncode, done.stdout), (0, b"".join(b"%d\n" % i for i in range(400009))))

  def threads_begun(self, command, *words):
    log = self.folder.parent / (self.folder.name + ".log")
    self.addCleanup(lambda: log.unlink(missing_ok=True))
    log.unlink(missing_ok=True)
    environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT="none:1:5", GSORT_TEST_LOG=str(log))
    self.assertEqual(self.run_tool(command, "--backend", "cpu", *words, env=environment).returncode, 0)
    return log.read_text().split().count("thread") if log.exists() else 0

  def test_as_many_threads_as_asked_for(self):
    many = self.file("many.txt", b"".join(b"%d\n" % (i * 7919 % 400009) for i in range(400009)))
    for command in ("sort", "sum"):
      self.assertEqual(self.threads_begun(command, "--threads", "1", many), 0)
    self.assertEqual(self.threads_begun("sum", "--threads", "2", many), 2)  # one that parses, one that adds
    three, seven = (self.threads_begun("sort", "--threads", str(n), many) for n in (3, 7))
    self.assertGreaterEqual(three, 4)  # two of the library's and two that read lines, at least
    self.assertGreaterEqual(seven, three + 8)

  def test_file_systems_without_nameless_files(self):
    for words, want in self.jobs:
      self.assertEqual(self.outcome(words, want, f"open:1:{errno.EOPNOTSUPP}"), 0, words)
      self.outcome(words, want, f"open:1+:{errno.EROFS}")
    # A temporary file that has a name is removed where the call does not end well.
    out = self.file("out.raw", b"old")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    environment = dict(os.environ, LD_PRELOAD=FAULTS, GSORT_TEST_FAULT=f"open:1:{errno.EOPNOTSUPP}")
    self.bad(1, "out.raw: cannot write: File too large", "sort", "--type", "u8", self.raw, "-o", out, env=environment,
             preexec_fn=limit)
    self.assertEqual((out.read_bytes(), self.names()), (b"old", ["in.raw", "in.txt", "out.raw"]))

  def test_the_file_is_on_the_disk_before_it_has_its_name(self):
    for words, want in self.jobs:
      for fault in ("none:1:5", f"open:1:{errno.EOPNOTSUPP}"):
        log = self.folder.parent / (self.folder.name + ".log")
        self.addCleanup(lambda path=log: path.unlink(missing_ok=True))
        log.unlink(missing_ok=True)
        self.assertEqual(self.outcome(words, want, fault, log), 0)
        calls = " ".join(call for call in log.read_text().split() if call != "thread")
        self.assertRegex(calls, r"write( close)* fsync( linkat)? close rename fsync", words)
        self.assertIsNone(re.search(r"(rename|linkat).*write", calls), calls)


if __name__ == "__main__":
  unittest.main()
