# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tool's tests share. The environment variable GSORT_TOOL names the program."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TOOL = os.environ.get("GSORT_TOOL", "gsort")


class ToolCase(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = pathlib.Path(folder.name)

  def file(self, name, data=b""):
    path = self.folder / name
    path.write_bytes(data)
    return path

  def run_tool(self, *words, stdin=b"", **options):
    return subprocess.run([TOOL, *map(str, words)], input=stdin, capture_output=True, timeout=120, **options)

  def good(self, *words, stdin=b"", **options):
    """Standard output of a run that must succeed without a word on standard error."""
    done = self.run_tool(*words, stdin=stdin, **options)
    self.assertEqual((done.returncode, done.stderr), (0, b""), words)
    return done.stdout

  def bad(self, code, text, *words, stdin=b"", **options):
    """A run that must end with `code`, nothing on standard output, and one sentence that holds `text`."""
    done = self.run_tool(*words, stdin=stdin, **options)
    sentence = done.stderr.decode()
    self.assertEqual(done.returncode, code, sentence)
    self.assertEqual(done.stdout, b"")
    self.assertTrue(sentence.startswith("gsort: "), sentence)
    self.assertIn(text, sentence)
    self.assertEqual(sentence.count("\n"), 2 if code == 2 else 1, sentence)

  def names(self):
    return sorted(path.name for path in self.folder.iterdir())
