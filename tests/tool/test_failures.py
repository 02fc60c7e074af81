# SPDX-License-Identifier: MIT OR Apache-2.0
"""Wrong input, wrong words, full disks and signals: a sentence, an exit code, and never half a result."""

import os
import pty
import resource
import shutil
import signal
import stat
import struct
import subprocess
import time
import unittest

import reference as ref
import tool_case

F64 = struct.pack("<4d", 3, 1, 2, 0)


class Usage(tool_case.ToolCase):

  def test_commands(self):
    self.bad(2, "no command")
    self.bad(2, 'there is no command "frob"', "frob")
    self.bad(2, 'there is no command "--type"', "--type")

  def test_options(self):
    self.bad(2, "there is no option --frob", "sort", "--frob")
    self.bad(2, "there is no option --frob", "sort", "--frob=3")
    self.bad(2, "there is no option --typo", "sort", "--typo=u8")
    self.bad(2, "there is no option -y", "sort", "-ryz")
    self.bad(2, "--type needs a value", "sort", "--type")
    self.bad(2, "--k needs a value", "topk", "-k")
    self.bad(2, "-o, --output needs a value", "sort", "-ro")
    self.bad(2, "--descending takes no value", "sort", "--descending=yes")
    self.bad(2, "--p may be --parallel or --progress", "sort", "--p=1")
    self.bad(2, "there is no option --", "sort", "--=")

  def test_values(self):
    self.bad(2, 'there is no type "u128"', "sort", "--type", "u128")
    self.bad(2, 'there is no type ""', "sort", "--type=")
    self.bad(2, 'there is no format "csv"', "sort", "--format", "csv")
    self.bad(2, 'there is no format "x"', "sort", "--input-format", "x")
    self.bad(2, 'there is no format "x"', "sort", "--output-format", "x")
    self.bad(2, 'there is no backend "tpu"', "sort", "--backend", "tpu")
    self.bad(2, 'there is no "maybe"', "sort", "--progress", "maybe")
    self.bad(2, '"-1" is not a whole number', "topk", "-k", "-1")
    self.bad(2, '"1e3" is not a whole number', "topk", "-k", "1e3")
    self.bad(2, "--k needs a number", "topk", "--k=")
    self.bad(2, "18446744073709551616 is too great", "topk", "--k", "18446744073709551616")
    self.bad(2, "--threads: 4097 is too great", "sort", "--threads", "4097")
    self.bad(2, "--threads: 4294967296 is too great", "sum", "--threads", "4294967296")
    self.assertEqual(self.good("sort", "--threads", "4096", stdin=b"2\n1\n"), b"1\n2\n")
    self.bad(2, "--output needs the name of a file", "sort", "--output=")
    self.bad(2, "is not one character", "sort", "-t", "u32", "-k1")
    self.bad(2, "is not one character", "sort", "--field-separator=", "-k1")
    for key in ("0", "x", "-1", "2,3", "2x", "2,", ""):
      self.bad(2, "--key: ", "sort", "-k", key)
    for char in ("", "1", "-", "##", " ", "x"):
      self.bad(2, "--comments: ", "sort", "--comments", char)
    for share in ("101", "-1", "x", "", "50,", "1.2345678", ".", "1..2", "9" * 20):
      self.bad(2, "--percentiles: ", "percentile", "-p", share)
    self.bad(2, "more than 64", "percentile", "-p", ",".join(["1"] * 65))
    for size in ("5", "M", "5X", "x5M", "99999999999999999999G", "0K", "", "%", "0%", "101%", "5b%"):
      self.bad(2, "--memory: ", "sort", "-S", size)
    for axis in ("first", "", "-", "--1", "+1", "None"):
      self.bad(2, "is not the number of an axis, such as 0 or -1 for the last, nor none", "sort", f"--axis={axis}")
    for size in ("1k", "1K", "1m", "1g", "1t"):
      self.good("sort", "-S", size, stdin=b"1\n")
    self.bad(2, "--axis: 32 is too great", "sort", "--axis", "32")

  def test_letters_that_are_orders_of_sort(self):
    for letter, name in (("h", "help"), ("V", "version")):
      self.assertEqual(self.good("sort", f"-{letter}"), self.good(f"--{name}"))
      for words in ([f"-{letter}", "x"], ["x", f"-{letter}"], [f"-r{letter}", "x"], [f"-{letter}", "-r"]):
        self.bad(2, f"-{letter} is --{name} here and stands alone", "sort", *words)
      self.assertEqual(self.good("sort", f"--{name}", "x"), self.good(f"--{name}"))

  def test_combinations(self):
    self.bad(2, "topk needs --k", "topk")
    self.bad(2, "topk does not take the option --descending", "topk", "-k1", "-d")
    self.bad(2, "sort does not take the option --smallest", "sort", "--smallest")
    self.bad(2, "sum does not take the option --nan-last", "sum", "--nan-last")
    self.bad(2, "percentile needs --percentiles", "percentile")
    self.bad(2, "--check writes nothing", "sort", "-c", "-o", "x")
    self.bad(2, "needs --key", "sort", "-t,")
    self.bad(2, "a.npy and b.bin are of different formats", "sort", "a.npy", "b.bin")
    self.bad(2, "a.npy and b.bin are of different formats", "sort", "x", "a.npy", "y", "b.bin")
    self.bad(2, "b.bin is raw, and the name of x does not say what it is", "sort", "--type", "u8", "b.bin", "x")
    self.bad(2, "give --type", "sort", "--format", "raw")
    self.bad(2, "give --type", "sort", self.file("x.bin", F64))
    self.bad(2, "this command writes text, not npy", "sum", "-o", self.folder / "x.npy")
    self.bad(2, "this command writes text, not raw", "info", "--output-format", "raw")

  def test_options_and_inputs(self):
    """What has no meaning with the input is refused, for every command that takes it, not passed over."""
    files = {"npy": [self.file("x.npy", ref.npy(struct.pack("<3h", 1, 2, 3), "i16"))],
             "raw": [self.file("x.raw", struct.pack("<3h", 1, 2, 3)), "--type", "i16"],
             "text": [self.file("x", b"1\n2\n3\n")]}
    ways = {"argsort": [], "count": [], "max": [], "mean": [], "median": [], "merge": [], "min": [], "rank": [],
            "percentile": ["-p", "50"], "scan": [], "sort": [], "sum": [], "topk": ["-k1"], "info": []}
    of_text = [["--key", "1"], ["--key", "1", "-t,"], ["-B"], ["-#", "%"], ["-x"]]
    with_axis = set(ways) - {"count", "median", "merge", "percentile", "info"}
    for command, way in ways.items():
      for words in of_text:
        self.good(command, *way, *words, *files["text"])
        for kind in ("npy", "raw"):
          self.bad(2, f"goes with text, and the input is {kind}", command, *way, *words, *files[kind])
      for axis in ("0", "-1", "none"):
        if command in with_axis:
          self.good(command, *way, "--axis", axis, *files["npy"])
          self.good(command, *way, "--axis", axis, *files["raw"])
          self.bad(2, "--axis goes with .npy and raw files, and the input is text", command, *way, "--axis", axis,
                   *files["text"])
        else:
          self.bad(2, f"{command} does not take the option --axis", command, *way, "--axis", axis, *files["npy"])
    self.bad(2, "--key goes with text, and the input is npy", "sort", "-k1", stdin=files["npy"][0].read_bytes())
    self.bad(2, "--axis goes with .npy", "sort", "--axis", "0", stdin=b"1\n")
    for words in (["--type", "u8"], ["-k1"], ["--nan-last"], ["-f", "npy"], ["--input-format", "npy"], ["-x"]):
      self.bad(2, "goes with a file, or - for standard input", "info", *words)
    self.good("info", "--threads", "1", "--progress", "off", "--output-format", "text")

  def test_options_and_each_other(self):
    self.bad(2, "merge does not take the option --check", "sort", "-c", "-m")
    self.bad(2, "merge does not take the option --check", "sort", "-m", "-c")
    self.bad(2, "merge does not take the option --axis", "sort", "--axis", "0", "-m", "x.npy")
    for check in ("--check", "--check-quiet"):
      self.bad(2, f"{check} writes nothing: no --output", "sort", check, "-o", "x")
      self.bad(2, f"{check} writes nothing: no --output-format", "sort", check, "--output-format", "npy")
    self.bad(2, "no --axis but none", "sort", "-u", "--axis", "0", "x.npy")
    self.bad(2, "--format says nothing", "sort", "-f", "npy", "--input-format", "npy", "--output-format", "raw")
    for words in (["-o", "x", "-o", "y"], ["--type", "u8", "--type", "f32"], ["-k1", "-t,", "-t;"], ["-f", "npy", "-f", "raw"],
                  ["--axis", "0", "--axis", "1"], ["-#", "#", "-#", "%"]):
      self.bad(2, "is given twice", "sort", *words)
    self.bad(2, '--k is given twice, as "1" and as "2"', "topk", "-k1", "-k2")
    self.assertEqual(self.good("topk", "-k1", "-k1", "--threads", "1", "--threads", "2", "-", stdin=b"7\n"), b"0\t7\n")
    for words in (["sum"], ["mean"], ["merge"], ["sort", "-c"]):
      self.bad(2, "are the CPU's in any case", *words, "--backend", "cuda", stdin=b"1\n")
      self.good(*words, "--backend", "cpu", stdin=b"1\n")


class Files(tool_case.ToolCase):

  def test_no_such_file(self):
    self.bad(1, "none.txt: no such file", "sort", self.folder / "none.txt")
    self.bad(1, "cannot open", "sort", self.file("x") / "y")

  def test_folder(self):
    # As text, as an array that is read whole, and as one that need not be.
    for words in (["sort"], ["topk", "-k1", "--type", "u8", "-f", "raw"], ["sort", "--type", "u8", "-f", "raw"]):
      self.bad(1, f"{self.folder}: is a folder, not a file", *words, self.folder)
    self.bad(1, f"{self.folder}: is a folder, not a file", "sort", "--input-format", "text",
             self.file("1.txt", b"1\n"), self.folder)
    self.bad(1, "is a folder", "sort", "-o", self.folder)

  def test_wrong_size(self):
    for name, size in ref.SIZES.items():
      if size > 1:
        self.bad(1, f"not a whole number of {name} elements", "sort", "--type", name, self.file("x.bin", bytes(size + 1)))

  def test_raw_input_of_no_type(self):
    files = [self.file(name, bytes(8)) for name in ("x.raw", "y.raw")]
    for command in ("sort", "sum", "mean", "min", "median", "merge"):
      self.bad(2, "raw input says nothing about its type: give --type", command, "-f", "raw", *files)

  def test_k_above_count(self):
    self.bad(1, "--k 4 is more than there are numbers, 3", "topk", "-k4", stdin=b"1\n2\n3\n")
    rows = self.file("rows.npy", ref.npy(F64, "f64", shape="(2, 2)"))
    self.bad(1, "--k 3 is more than there are numbers, 2", "topk", "-k3", rows)
    self.bad(1, "--k 18446744073709551615 is more", "topk", "-k18446744073709551615", stdin=b"1\n2\n3\n")

  @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "this machine has a GPU")
  def test_no_gpu(self):
    done = self.run_tool("sort", "--backend", "cuda", stdin=b"1\n")
    self.assertEqual((done.returncode, done.stdout), (1, b""))
    self.assertGreater(len(done.stderr), len("gsort: GSORT_ERROR_NO_DEVICE\n"))

  def test_unreadable(self):
    if os.geteuid() == 0:
      self.skipTest("root may read everything")
    path = self.file("x", b"1\n")
    path.chmod(0)
    self.bad(1, "cannot open", "sort", path)


class Text(tool_case.ToolCase):

  def test_columns_without_a_key(self):
    for line in ("3,a", "1 2", "1;2", "x y"):
      self.bad(1, f'line 1: "{line}" is not a number: give --key, and --field-separator, to take that of a column',
               "sort", stdin=line.encode())
    self.bad(1, 'line 1: "3,a" is not a number\n', "sort", "-k1", stdin=b"3,a\n")
    self.bad(1, 'line 1: "3a" is not a number\n', "sort", stdin=b"3a\n")

  def test_not_a_number(self):
    self.bad(1, 'line 3: "frob" is not a number', "sort", stdin=b"1\n2\nfrob\n4\n")
    self.bad(1, 'line 1: "1 2" is not a number', "sort", stdin=b"1 2\n")
    self.bad(1, 'line 2: "0x" is not a number', "sort", "--type", "f32", stdin=b"1\n0x\n")
    self.bad(1, 'line 2: "1.5" is not a number of type u8', "sort", "--type", "u8", stdin=b"1\n1.5\n")
    self.bad(1, 'line 1: "1e3" is not a number of type i64', "sort", "--type", "i64", stdin=b"1e3\n")
    self.bad(1, 'line 1: "-" is not a number', "sort", stdin=b"-\n")
    self.bad(1, 'line 1: "--5" is not a number', "sort", stdin=b"--5\n")
    self.bad(1, 'line 1: "1.5.5" is not a number', "sort", stdin=b"1.5.5\n")
    self.bad(1, 'line 1: "infx" is not a number', "sort", stdin=b"infx\n")
    self.bad(1, 'line 1: "nan(0x)" is not a number', "sort", stdin=b"nan(0x)\n")
    self.bad(1, 'line 1: "nan(5)" is not a number', "sort", stdin=b"nan(5)\n")
    self.bad(1, 'line 1: "nanx" is not a number', "sort", stdin=b"nanx\n")
    self.bad(1, 'line 1: "1?2" is not a number', "sort", stdin=b"1\x002\n")
    for mark in "/:;@Aap":  # beside the digits, and what has their lower bits
      self.bad(1, f'line 2: "1{mark}2" is not a number', "sort", stdin=f"5\n1{mark}2\n".encode())
      self.bad(1, f'line 2: "{mark}" is not a number', "sum", stdin=f"5\n{mark}\n".encode())
    self.bad(1, "x.txt: line 2: is empty", "sort", self.file("x.txt", b"1\n\n2\n"))
    self.bad(1, 'line 1: "' + "9" * 9 + "z" * 31 + '..."', "sort", stdin=b"9" * 9 + b"z" * 500)
    self.bad(1, "line 1:", "sort", stdin=bytes(range(256)))

  def test_out_of_range(self):
    for name in ref.INTEGERS:
      width = 8 * ref.SIZES[name]
      low, high = (0, 2**width - 1) if name[0] == "u" else (-2**(width - 1), 2**(width - 1) - 1)
      for number in (low - 1, high + 1, 10**30, -10**30):
        self.bad(1, f'line 2: "{number}" is out of range for {name}', "sort", "--type", name, stdin=b"1\n%d\n" % number)
    self.bad(1, 'line 1: "1e999" is out of range for f64', "sum", stdin=b"1e999\n")
    self.bad(1, 'line 1: "1e39" is out of range for f32', "sort", "--type", "f32", stdin=b"1e39\n")
    self.bad(1, 'line 1: "65520" is out of range for f16', "sort", "--type", "f16", stdin=b"65520\n")
    self.bad(1, 'line 1: "-1e39" is out of range for bf16', "sort", "--type", "bf16", stdin=b"-1e39\n")
    self.bad(1, 'line 1: "nan(0x0)" is out of range for f32', "sort", "--type", "f32", stdin=b"nan(0x0)\n")
    self.bad(1, "is out of range for f32", "sort", "--type", "f32", stdin=b"nan(0x800000)\n")
    for payload in (b"11111111111111111", b"1000000000000000f", b"2000000000000000f", b"10000000000000"):
      self.bad(1, "is out of range for f64", "sum", stdin=b"nan(0x" + payload + b")\n")


class Npy(tool_case.ToolCase):

  def refuse(self, text, data, *words):
    self.bad(1, text, "sort", *words, self.file("x.npy", data))

  def test_kinds(self):
    self.refuse("has 0 dimensions", ref.npy(F64, "f64", shape="()"))
    self.refuse("elements of type <c16", ref.npy(F64, "f64", descr="<c16"))
    self.refuse("elements of type |u2", ref.npy(F64, "f64", descr="|u2"))
    self.refuse("elements of type record", ref.npy(F64, "f64", descr=[("a", "<f8")]))
    self.refuse("give --type bf16", ref.npy(F64, "bf16"))
    self.refuse("holds f64 numbers, not f32", ref.npy(F64, "f64"), "--type", "f32")
    # bool may be taken as u8, but as no other type of its size, and no other type as u8.
    self.refuse("numbers, not i8", ref.npy(b"\0\1", "u8", descr="|b1"), "--type", "i8")
    self.refuse("holds i8 numbers, not u8", ref.npy(b"\0\1", "i8"), "--type", "u8")

  def test_sizes(self):
    self.refuse("announces 5 f64 elements of 8 bytes, but 32 bytes follow", ref.npy(F64, "f64", shape="(5,)"))
    self.refuse("announces 3 f64", ref.npy(F64, "f64", shape="(3,)"))
    self.refuse("announces 4 f64", ref.npy(F64, "f64")[:-1])
    self.refuse("announces 4 f64", ref.npy(F64, "f64") + b"x")
    # 8 * (2**61 + 4) is 32 modulo 2**64.
    self.refuse("announces too many elements", ref.npy(F64, "f64", shape=f"({2**61 + 4},)"))

  def test_headers(self):
    good = ref.npy(F64, "f64")
    self.refuse("is not a .npy file", b"")
    self.refuse("is not a .npy file", b"1\n2\n3\n4\n5\n6\n")
    self.refuse("is not a .npy file", good[:9])
    self.refuse("version 4", b"\x93NUMPY\x04" + good[7:])
    self.refuse("ends inside its .npy header", good[:20])
    self.refuse("ends inside its .npy header", b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + good[12:])
    self.refuse("ends inside its .npy header", b"\x93NUMPY\x02\x00\x00\x00")
    for old, new in ((b"{", b" "), (b"}", b" "), (b"'shape'", b"'shapf'"), (b"False", b"Falsy"), (b"(4,)", b"(4;)"),
                     (b"(4,)", b"(-4)"), (b"'<f8'", b"'<f8 "), (b"'<f8'", b"<f8  "), (b"'shape': (4,), ", b" " * 15),
                     (b": (4,)", b"  (4,)"), (b", }", b", x")):
      self.assertIn(old, good)
      self.refuse("cannot be understood", good.replace(old, new, 1))
    self.refuse("cannot be understood", ref.npy(F64, "f64", shape=f"({10**30},)"))
    self.refuse("cannot be understood", ref.npy(F64, "f64", descr="<f8" + "x" * 100))

  def test_every_cut_and_every_byte(self):
    good = ref.npy(F64, "f64")
    for length in range(len(good)):
      self.assertEqual(self.run_tool("sort", self.file("x.npy", good[:length])).returncode, 1, length)
    for at in range(0, 128, 3):
      changed = good[:at] + bytes([good[at] ^ 0x15]) + good[at + 1:]
      self.assertIn(self.run_tool("sort", self.file("x.npy", changed)).returncode, (0, 1), at)


class Output(tool_case.ToolCase):

  def test_appears_whole(self):
    out = self.folder / "out.txt"
    self.good("sort", "-o", out, stdin=b"2\n1\n")
    self.assertEqual(out.read_bytes(), b"1\n2\n")
    self.assertEqual(self.names(), ["out.txt"])

  def test_same_file(self):
    path = self.file("x.npy", ref.npy(F64, "f64"))
    self.good("sort", path, "-o", path)
    self.assertEqual(ref.read_npy(path.read_bytes())[2], struct.pack("<4d", 0, 1, 2, 3))

  def test_permissions_and_links(self):
    new = self.folder / "new"
    self.good("sort", "-o", "new", stdin=b"1\n", cwd=self.folder, umask=0o027)
    self.assertEqual(stat.S_IMODE(new.stat().st_mode), 0o640)
    old = self.file("old", b"old")
    old.chmod(0o604)
    link = self.folder / "link"
    link.symlink_to("old")
    self.good("sort", "-o", link, stdin=b"1\n")
    self.assertTrue(link.is_symlink())
    self.assertEqual((old.read_bytes(), stat.S_IMODE(old.stat().st_mode)), (b"1\n", 0o604))

  def test_failure_keeps_the_old_file(self):
    old = self.file("old", b"old")
    self.bad(1, "is not a number", "sort", "-o", old, stdin=b"1\nx\n")
    self.bad(1, "more than there are numbers", "topk", "-k", "3", "-o", old, stdin=b"1\n")
    self.assertEqual(old.read_bytes(), b"old")
    self.assertEqual(self.names(), ["old"])

  def test_no_folder(self):
    self.bad(1, "cannot write in its folder", "sort", "-o", self.folder / "none" / "out", stdin=b"1\n")

  def test_full_device(self):
    for words in (["sort", "-o", "/dev/full"], ["--help"], ["--version"]):
      with open("/dev/full", "wb") as full:
        done = subprocess.run([tool_case.TOOL, *words], input=b"1\n", stdout=full, stderr=subprocess.PIPE, timeout=60)
      self.assertEqual(done.returncode, 1)
      self.assertIn(b"no space left on the device", done.stderr)

  def test_file_size_limit(self):
    def limit():
      resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    old = self.file("old.raw", b"old")
    raw = self.file("x.raw", bytes(400000))
    self.bad(1, "old.raw: cannot write: File too large", "sort", "--type", "u8", raw, "-o", old, preexec_fn=limit)
    self.assertEqual(old.read_bytes(), b"old")
    self.assertEqual(self.names(), ["old.raw", "x.raw"])

  def test_full_disk(self):
    if os.geteuid() != 0 or shutil.which("unshare") is None:
      self.skipTest("only root can make a small disk")
    raw = self.file("x.raw", bytes(400000))
    script = ('mount -t tmpfs -o size=128k none "$1" || exit 77; echo old > "$1/out.raw";'
              '"$2" sort --type u8 "$3" -o "$1/out.raw"; echo "code $?"; cat "$1/out.raw"; ls -A "$1"')
    disk = self.folder / "disk"
    disk.mkdir()
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", disk, os.path.abspath(tool_case.TOOL), raw],
                          capture_output=True, timeout=60)
    if done.returncode in (1, 77) and b"code" not in done.stdout:
      self.skipTest("no small disk can be made here")
    self.assertIn(b"no space left on the device", done.stderr)
    self.assertEqual(done.stdout, b"code 1\nold\nout.raw\n")

  def test_closed_pipe(self):
    done = subprocess.run(["sh", "-c", '"$1" sort -f raw --type u8 "$2" | head -c 1 | wc -c', "sh", tool_case.TOOL,
                           self.file("x.raw", bytes(1000000))], capture_output=True, timeout=60)
    self.assertEqual((done.stdout.strip(), done.stderr), (b"1", b""))

  def test_pipe_as_target(self):
    pipe = self.folder / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    self.addCleanup(reader.kill)  # It waits for ever if nobody writes.
    self.good("sort", "-o", pipe, stdin=b"2\n1\n")
    self.assertEqual(reader.communicate(timeout=60)[0], b"1\n2\n")
    self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))

  def writes(self, pid):
    """Whether the program has a file open in the folder that is no input: it has no name yet."""
    try:
      links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
      return False
    return any(link.startswith(str(self.folder)) and not link.endswith("x.raw") for link in links)

  def interrupt(self, raw, out, number):
    """Sends the signal when the temporary file is there. Returns the exit code."""
    words = [tool_case.TOOL, "sort", "--type", "f64", "--input-format", "raw", str(raw), "-o", str(out)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as run:
      while run.poll() is None and not self.writes(run.pid):
        time.sleep(0.001)
      run.send_signal(number)
      return run.wait(timeout=60)

  def test_signals(self):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
      old = self.file("old", b"old")
      size = 1 << 22
      code = 0
      while code == 0 and size <= 1 << 26:  # Too fast for the signal: try again with more.
        old.write_bytes(b"old")
        raw = self.file("x.raw", os.urandom(size))
        code = self.interrupt(raw, old, number)
        size *= 4
      self.assertEqual(code, -number)
      self.assertEqual(old.read_bytes(), b"old")
      self.assertEqual(self.names(), ["old", "x.raw"])


  def test_a_signal_that_is_ignored_stays_so(self):
    for number in (signal.SIGHUP, signal.SIGINT):  # as nohup and a shell's background leave them
      with subprocess.Popen([tool_case.TOOL, "sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            preexec_fn=lambda ignored=number: signal.signal(ignored, signal.SIG_IGN)) as run:
        run.stdin.write(b"2\n" * (1 << 19))  # more than a pipe holds: it reads once this is written
        run.stdin.flush()
        run.send_signal(number)
        self.assertEqual(run.communicate(b"1\n", timeout=60)[0], b"1\n" + b"2\n" * (1 << 19))
        self.assertEqual(run.returncode, 0)


class Terminal(tool_case.ToolCase):

  def test_short_work_draws_no_bar(self):
    ours, theirs = pty.openpty()
    done = subprocess.run([tool_case.TOOL, "sort"], input=b"2\n1\n", stdout=subprocess.PIPE, stderr=theirs, timeout=60)
    os.close(theirs)
    try:
      shown = os.read(ours, 1000)
    except OSError:  # Linux says so when the other side is closed and nothing was written.
      shown = b""
    os.close(ours)
    self.assertEqual((done.returncode, done.stdout, shown), (0, b"1\n2\n", b""))


if __name__ == "__main__":
  unittest.main()
