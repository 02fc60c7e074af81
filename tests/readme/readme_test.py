# SPDX-License-Identifier: MIT OR Apache-2.0
"""Does what README.md says: installs into a prefix of one's own, and compiles and runs its snippets there.

The snippet of Rust is run by bindings/rust/check-package, that of Python by bindings/python/tests.

usage: readme_test.py README CMAKE BUILD_FOLDER CONFIGURATION SCRATCH_FOLDER
"""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

README, CMAKE, BUILD, CONFIGURATION, SCRATCH = sys.argv[1:6]
TEXT = pathlib.Path(README).read_text(encoding="utf-8")
HOME = pathlib.Path(SCRATCH) / "home"
PREFIX = HOME / ".local"


def blocks(language):
    """(what stands between the block and the one before it, the block) of each block of a language."""
    parts = re.split(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
    return [(parts[i - 1], parts[i + 1]) for i in range(1, len(parts), 3) if parts[i] == language]


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH")}
    return {**kept, "HOME": str(HOME), **more}


def run(command, folder, **more):
    done = subprocess.run(command, cwd=folder, env=environment(**more), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        HOME.mkdir(parents=True)
        run([CMAKE, "--install", BUILD, "--config", CONFIGURATION, "--prefix", str(PREFIX)], SCRATCH)

    def compile_and_run(self, name, language, compiler):
        source = [block for before, block in blocks(language) if f"`{name}`" in before]
        self.assertEqual(len(source), 1, f"one snippet is called {name}")
        folder = pathlib.Path(SCRATCH) / language
        folder.mkdir()
        (folder / name).write_text(source[0], encoding="utf-8")
        command = [block for _, block in blocks("sh") if block.startswith(f"{compiler} ") and name in block]
        self.assertEqual(len(command), 1, f"one command compiles {name}")
        path = re.search(r"^export (PKG_CONFIG_PATH=\S+)", TEXT, re.MULTILINE)
        script = f"set -e\nexport {path.group(1)}\n{command[0]}"
        output = run(["sh", "-c", script], folder)
        promised = re.search(r"^\./\w+ +# (.*)$", command[0], re.MULTILINE).group(1)
        self.assertEqual(output.strip(), promised)

    @unittest.skipUnless(shutil.which("pkg-config"), "there is no pkg-config")
    def test_snippet_of_c(self):
        self.compile_and_run("hello.c", "c", "cc")

    @unittest.skipUnless(shutil.which("pkg-config"), "there is no pkg-config")
    def test_snippet_of_cpp(self):
        self.compile_and_run("hello.cpp", "cpp", "c++")

    @unittest.skipUnless(shutil.which("pkg-config"), "there is no pkg-config")
    def test_commands_of_the_examples(self):
        root = pathlib.Path(README).parent
        for folder in ("examples", "bindings/c"):
            shutil.copytree(root / folder, pathlib.Path(SCRATCH) / "tree" / folder)
        text = (root / "examples/README.md").read_text(encoding="utf-8")
        commands = re.search(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)
        path = re.search(r"^export (PKG_CONFIG_PATH=\S+)", TEXT, re.MULTILINE)
        script = f"set -e\nexport {path.group(1)}\n{commands}\n./hello\n./hello_cpp\n./c_linked\n./c_dlopen\n"
        output = run(["sh", "-c", script], pathlib.Path(SCRATCH) / "tree/examples")
        self.assertIn("best 7.5 at 1", output)
        self.assertIn("100000 requests", output)

    def test_what_is_installed_is_what_is_said(self):
        row = re.search(r"^\| `cmake --install` \| (.*?) \|", TEXT, re.MULTILINE).group(1)
        said = re.findall(r"`([^`]+)`", row)
        self.assertGreater(len(said), 6)
        # A library folder may have another name, and the rest of a folder that is named belongs to it.
        def matches(path, pattern):
            path = re.sub(r"^lib64/|^lib/[^/]+-linux-gnu/", "lib/", path)
            return fnmatch.fnmatch(path, pattern) or path.startswith(pattern + "/")
        installed = [str(path.relative_to(PREFIX)) for path in PREFIX.rglob("*") if not path.is_dir()]
        for path in installed:
            self.assertTrue(any(matches(path, pattern) for pattern in said), f"{path} is installed and not named")
        for pattern in said:
            self.assertTrue(any(matches(path, pattern) for path in installed), f"{pattern} is named and not installed")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
