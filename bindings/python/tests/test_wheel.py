# SPDX-License-Identifier: MIT OR Apache-2.0
"""The wheel: what is in it, that it is what it says, and that it works where it is put."""

import base64
import csv
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import build_wheel  # noqa: E402

# EM_X86_64 and EM_AARCH64 of the ELF format, beside the names that pip has for these processors.
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}


def elf_header(machine, bits=64, order="<"):
    """The beginning of a shared library for the machine, as far as it says what it is for."""
    identity = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    return identity + struct.pack(f"{order}HHI", 3, machine, 1)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = os.path.join(cls.folder.name, build_wheel.build_wheel(cls.folder.name))
        cls.installed = os.path.join(cls.folder.name, "installed")
        with zipfile.ZipFile(cls.path) as wheel:
            wheel.extractall(cls.installed)
            cls.names = wheel.namelist()
        cls.info = os.path.join(cls.installed, f"libgsort-{build_wheel.version()}.dist-info")

    def read(self, *path):
        with open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()

    def run_python(self, program, folder=None, **environment):
        plain = {key: value for key, value in os.environ.items() if key not in ("GSORT_LIBRARY", "PYTHONPATH")}
        plain.update(PYTHONPATH=folder or self.installed, PYTHONDONTWRITEBYTECODE="1", **environment)
        return subprocess.run([sys.executable, "-c", program], env=plain, capture_output=True, text=True)

    def test_name(self):
        name = r"^libgsort-\d+\.\d+\.\d+\w*-(py3-none-manylinux_2_28_(\w+))\.whl$"
        self.assertRegex(os.path.basename(self.path), name)
        tag, processor = re.match(name, os.path.basename(self.path)).groups()
        self.assertIn(f"\nTag: {tag}\n", self.read(self.info, "WHEEL"))
        with open(os.path.join(self.installed, "gsort", "libgsort.so"), "rb") as library:
            self.assertTrue(library.read().startswith(elf_header(ELF_MACHINES[processor])), processor)

    def wheel_around(self, folder, library):
        """Makes a wheel with these bytes as its library; returns its file's name."""
        path = os.path.join(folder, "libgsort.so.1")
        with open(path, "wb") as file:
            file.write(library)
        with unittest.mock.patch.dict(os.environ, GSORT_LIBRARY=path):
            return build_wheel.build_wheel(folder)

    def test_the_platform_is_that_of_the_library(self):
        for processor, machine in ELF_MACHINES.items():
            with self.subTest(processor), tempfile.TemporaryDirectory() as folder:
                name = self.wheel_around(folder, elf_header(machine))
                self.assertTrue(name.endswith(f"-py3-none-manylinux_2_28_{processor}.whl"), name)
                with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
                    said = wheel.read(f"{os.path.basename(self.info)}/WHEEL").decode()
                self.assertEqual(re.findall("Tag: (.*)", said), [f"py3-none-manylinux_2_28_{processor}"])

    def test_no_wheel_for_another_platform(self):
        others = [elf_header(243), elf_header(40, 32), elf_header(62, 32), elf_header(183, 64, ">"), b"", b"\x7fELF"]
        for library in others + [b"no ELF file" + bytes(100)]:
            with self.subTest(library), tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(SystemExit, "is no library for 64-bit Linux"):
                    self.wheel_around(folder, library)
                self.assertEqual(os.listdir(folder), ["libgsort.so.1"])

    def test_record_lists_every_file_with_its_hash(self):
        rows = list(csv.reader(self.read(self.info, "RECORD").splitlines()))
        self.assertEqual(sorted(row[0] for row in rows), sorted(self.names))
        for name, digest, size in rows:
            if not digest:
                self.assertTrue(name.endswith("RECORD"))
                continue
            with open(os.path.join(self.installed, name), "rb") as file:
                content = file.read()
            wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, int(size)), (f"sha256={wanted}", len(content)))

    def test_holds_the_package_its_types_and_its_licences(self):
        self.assertLessEqual(
            {"gsort/__init__.py", "gsort/__init__.pyi", "gsort/py.typed", "gsort/libgsort.so"}, set(self.names)
        )
        metadata = self.read(self.info, "METADATA")
        self.assertIn("\nName: libgsort\n", metadata)
        for name in re.findall(r"License-File: (.*)", metadata):
            self.assertTrue(os.path.getsize(os.path.join(self.info, "licenses", name)))

    def test_names_the_address_of_the_sources_that_it_is_told(self):
        self.assertNotIn("Project-URL", build_wheel.metadata())
        with unittest.mock.patch.dict(os.environ, GSORT_REPOSITORY="https://example.org/gsort"):
            head = build_wheel.metadata().split("\n\n")[0]
        self.assertIn("\nProject-URL: Repository, https://example.org/gsort", head)

    def test_the_same_sources_make_the_same_wheel(self):
        with tempfile.TemporaryDirectory() as second:
            again = os.path.join(second, build_wheel.build_wheel(second))
            with open(self.path, "rb") as one, open(again, "rb") as other:
                self.assertEqual(one.read(), other.read())

    def test_works_with_its_own_library(self):
        done = self.run_python(
            "import array, gsort\n"
            "print(gsort.sort(array.array('i', [3, 1, 2])).tolist(), gsort.version())\n"
            "print([line.split()[-1] for line in open('/proc/self/maps') if 'gsort' in line][0])"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        result, library = done.stdout.splitlines()
        self.assertRegex(result, r"^\[1, 2, 3\] \d+\.\d+\.\d+$")
        self.assertEqual(library, os.path.join(os.path.realpath(self.installed), "gsort", "libgsort.so"))

    def test_the_version_is_that_of_the_library(self):
        done = self.run_python("import gsort; print(gsort.version())")
        self.assertTrue(build_wheel.version().startswith(done.stdout.strip()), done.stderr)

    def test_auditwheel(self):
        try:
            import auditwheel  # noqa: F401
        except ImportError:
            self.skipTest("auditwheel is not installed for this Python")
        said = subprocess.run([sys.executable, "-m", "auditwheel", "show", self.path], capture_output=True, text=True)
        tag = re.search(r'platform\s+tag:\s+"manylinux_2_(\d+)_(?:x86_64|aarch64)"', said.stdout)
        self.assertTrue(tag, said.stdout + said.stderr)
        self.assertLessEqual(int(tag[1]), 28)

    def install_by_pip(self, target, *arguments):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
            self.skipTest("pip is not installed for this Python")
        install = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", target, *arguments]
        done = subprocess.run(install, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_pip_takes_the_wheel_of_its_platform_out_of_several(self):
        with tempfile.TemporaryDirectory() as folder:
            for machine in ELF_MACHINES.values():
                self.wheel_around(folder, elf_header(machine))
            for processor, machine in ELF_MACHINES.items():
                target = os.path.join(folder, processor)
                platform = ["--platform", f"manylinux_2_28_{processor}", "--only-binary=:all:"]
                self.install_by_pip(target, "--find-links", folder, *platform, build_wheel.NAME)
                with open(os.path.join(target, "gsort", "libgsort.so"), "rb") as library:
                    self.assertEqual(library.read(), elf_header(machine))

    def test_pip_installs_it(self):
        target = os.path.join(self.folder.name, "by-pip")
        self.install_by_pip(target, self.path)
        done = self.run_python("import gsort; print(gsort.sort(b'ba').tobytes())", target)
        self.assertEqual(done.stdout, "b'ab'\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
