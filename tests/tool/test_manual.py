# SPDX-License-Identifier: MIT OR Apache-2.0
"""The manual and the shells' completions know every option and command, and no other."""

import pathlib
import re
import shutil
import subprocess
import unittest

import tool_case

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
COMMANDS = {"sort", "merge", "count", "argsort", "rank", "topk", "min", "max", "median", "percentile", "sum", "mean",
            "scan", "info"}


def rules():
  """(name, letter) of the options, from the table that the program goes by."""
  source = (TOOLS / "option_rules.c").read_text()
  table = source[source.index("option_rules[] = {"):]
  return set(re.findall(r'\{"([a-z-]+)", (?:\'(.)\'|0)', table))


class Manual(tool_case.ToolCase):

  def setUp(self):
    super().setUp()
    self.names = {name for name, _ in rules()}
    self.letters = {letter for _, letter in rules() if letter}
    self.assertGreater(len(self.names), 30)

  def test_manual_page(self):
    page = (TOOLS / "gsort.1").read_text().replace("\\-", "-")
    self.assertEqual(set(re.findall(r"--([a-z][a-z-]*)", page)), self.names)
    self.assertEqual(set(re.findall(r"(?<![\w-])-([A-Za-z#])(?=[ ,]|$)", page, re.M)) - {"c"}, self.letters - {"c"})
    self.assertEqual(COMMANDS - set(re.findall(r"[a-z]+", page)), set())
    if shutil.which("groff"):
      done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", TOOLS / "gsort.1"], capture_output=True, timeout=60)
      self.assertEqual((done.returncode, done.stderr), (0, b""))

  def test_help(self):
    text = self.good("--help").decode()
    as_in_sort = {"numeric-sort", "general-numeric-sort", "stable", "ignore-leading-blanks"}
    self.assertEqual(set(re.findall(r"--([a-z][a-z-]*)", text)) | as_in_sort, self.names)
    self.assertEqual(COMMANDS - set(re.findall(r"[a-z]+", text)), set())

  def test_completions_of_all_shells(self):
    bash = (TOOLS / "completions/gsort.bash").read_text()
    zsh = (TOOLS / "completions/_gsort").read_text()
    fish = (TOOLS / "completions/gsort.fish").read_text()
    self.assertEqual(set(re.findall(r"--([a-z][a-z-]*)", bash)), self.names)
    self.assertEqual(set(re.findall(r"--([a-z][a-z-]*)", zsh)), self.names)
    self.assertEqual(set(re.findall(r"gsort .*?-l ([a-z-]+)", fish)), self.names)
    for text in (bash, zsh, fish):
      self.assertEqual(COMMANDS - set(re.findall(r"[a-z]+", text)), set())

  def complete(self, *words):
    script = ('source "$1"; shift; COMP_WORDS=(gsort "$@"); COMP_CWORD=$#; _gsort; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", TOOLS / "completions/gsort.bash", *words], capture_output=True,
                          cwd=self.folder, timeout=60)
    self.assertEqual(done.stderr, b"")
    return set(done.stdout.decode().split())

  @unittest.skipUnless(shutil.which("bash"), "no bash")
  def test_bash_completes(self):
    self.file("numbers.txt")
    self.assertEqual(self.complete("so"), {"sort"})
    self.assertEqual(self.complete("sort", "--un"), {"--unique"})
    self.assertEqual(self.complete("sort", "--type", "f"), {"f16", "f32", "f64"})
    self.assertEqual(self.complete("sort", "--format", ""), {"npy", "raw", "text"})
    self.assertEqual(self.complete("sort", "num"), {"numbers.txt"})


if __name__ == "__main__":
  unittest.main()
