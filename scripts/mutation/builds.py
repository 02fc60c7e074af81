# SPDX-License-Identifier: MIT OR Apache-2.0
"""Copies of the sources and their builds: one that holds all changes behind the switch, one for a change at a time."""
import os
import re
import shutil
import subprocess
import sys

from mutation import changes, switch, tests

FOLDERS = ("CMakeLists.txt", "cmake", "include", "src", "tests", "tools", "bindings", "docs", "examples")
PLACE = re.compile(r"^\s*([\w./+-]+):(\d+):(\d+):\s+(error|note)?:?(.*)|from ([\w./+-]+):(\d+)(?::(\d+))?", re.M)
CUDA_PLACE = re.compile(r"^([\w./+-]+)\((\d+)\): (error)", re.M)  # of CUDA's own front end
# What follows from another error.
CONSEQUENCE = re.compile(r"not declared|no match|does not name|no member|must be available")
# Inlined by force into every kernel: with its changes behind the switch a compiler takes gigabytes and half an hour.
ALONE = {"src/cpu/vector/network-inl.h", "src/cpu/vector/blocks-inl.h"}


def write_if_new(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def copy_tree(tree, but=()):
    """What has not changed keeps its time."""
    for name in FOLDERS:
        for source in [changes.ROOT / name] if (changes.ROOT / name).is_file() else (changes.ROOT / name).rglob("*"):
            path = source.relative_to(changes.ROOT)
            to = tree / path
            if not source.is_file() or "__pycache__" in source.parts or "target" in source.parts or str(path) in but:
                continue
            if source.suffix == ".svg":  # Doxygen looks for pictures everywhere, and finds each once
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.exists() or to.read_bytes() != source.read_bytes():
                shutil.copy(source, to)
    deps = tree / ".deps"  # the CUDA compiler, where scripts/setup has fetched one
    if (changes.ROOT / ".deps").exists() and not deps.exists():
        deps.symlink_to((changes.ROOT / ".deps").resolve())


def configure(tree, build, cuda):
    """As scripts/test builds, so that a compiler's cache knows all but the changed sources."""
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX", "CUDA")] \
        if shutil.which("ccache") else []
    # Programs find the library by their own place, so that they run where they are copied to.
    command = ["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DGSORT_WERROR=ON",
               "-DGSORT_QUICK_BUILD=ON", f"-DGSORT_CUDA={'ON' if cuda else 'OFF'}",
               f"-DGSORT_TOOLS={'OFF' if cuda else 'ON'}", "-DGSORT_EXAMPLES=OFF", "-DGSORT_INSTALL=OFF", "-DCMAKE_BUILD_RPATH_USE_ORIGIN=ON", *launcher]
    result = subprocess.run(command, capture_output=True, text=True, env=environment())
    if result.returncode:
        sys.exit("mutants: CMake could not configure\n" + result.stderr[-2000:])


def environment():
    clean = {k: v for k, v in os.environ.items() if not k.endswith("COMPILER_LAUNCHER")}
    return dict(clean, CCACHE_MAXSIZE="20G")


def targets_of(cuda):
    if cuda:
        return [tests.CUDA_FAULTS, *[f"gsort_test_{p}" for p in tests.GPU_PROGRAMS]]
    return ["gsort_tool", "gsort_tool_faults", "gsort_test_host_faults", "gsort_test_fuzz", "gsort_test_fuzz_tool",
            *tests.UNITS, *[f"gsort_test_{p}" for p in tests.PROGRAMS]]


def ninja(build, targets, jobs, *more):
    result = subprocess.run(["ninja", "-C", build, "-j", str(jobs), *more, *targets], capture_output=True, text=True,
                            env=environment())
    return result.returncode, result.stdout + result.stderr


def room_for(numbers):
    """Rounded up, so that a few changes more do not compile everything anew."""
    return (len(numbers) // 2048 + 1) * 2048


class SwitchedBuild:
    """All changes behind the switch but those that need a constant, which the compiler names one after the other."""

    def __init__(self, folder, paths, numbers, cuda, prepared, jobs):
        self.tree, self.build = folder / "tree", folder / "tree" / "build"
        self.numbers, self.cuda, self.jobs = numbers, cuda, jobs
        self.constants_file = folder / "constants.txt"
        self.header = folder / "mutant.h"
        known = set(self.constants_file.read_text().splitlines()) if self.constants_file.exists() else set()
        # With CUDA a header's change would compile all kernels anew.
        self.constant = {c for c in numbers if c.name in known or c.path in ALONE or cuda and c.path.endswith(".h")}
        self.sources = {}
        if prepared:
            for path in paths:
                self.switch(path)
            return
        lists = [f"{folder}/CMakeLists.txt" for folder in ("src", "tools")]
        copy_tree(self.tree, {*paths, *lists})
        write_if_new(self.header, switch.HEADER % {"count": room_for(numbers)})
        for path in paths:
            self.write(path)
        for path in lists:
            write_if_new(self.tree / path, (changes.ROOT / path).read_text(encoding="utf-8") + self.options(path))
        configure(self.tree, self.build, cuda)
        self.compile(targets_of(cuda))

    def switch(self, path):
        mine = {c: n for c, n in self.numbers.items() if c.path == path and c not in self.constant}
        source = switch.Switched((changes.ROOT / path).read_text(encoding="utf-8"), mine)
        self.constant.update(source.left_out)
        self.sources[path] = source

    def write(self, path):
        """With the switch in the place of the comments that it begins with."""
        self.switch(path)
        text = (changes.ROOT / path).read_text(encoding="utf-8")
        if self.sources[path].places:
            lines = self.sources[path].text.split("\n")
            lines[0] = f'#include "{os.path.relpath(self.header, (self.tree / path).parent)}"'
            if path.endswith(".h") and not lines[1].strip():
                lines[1] = "#pragma GCC system_header"  # no warnings
            text = "\n".join(lines)
        write_if_new(self.tree / path, text)

    def options(self, path):
        """Quickly compiled, without warnings: numbers behind the switch are constants no longer."""
        folder = path.split("/")[0]
        host = [os.path.relpath(p, folder) for p in self.sources if p.startswith(folder) and p.endswith((".c", ".cpp"))]
        kernels = [os.path.relpath(p, folder) for p in self.sources if p.startswith(folder) and p.endswith(".cu")]
        text = ""
        for files, options in ((host, "-O1 -w -Wno-narrowing"), (kernels, "-w -Xcompiler=-w,-Wno-narrowing")):
            if files:
                text += f"\nset_property(SOURCE {' '.join(files)} APPEND PROPERTY COMPILE_OPTIONS {options})\n"
        return text

    def compile(self, targets):
        while True:
            status, output = ninja(self.build, targets, self.jobs, "-k", "0")
            self.constants_file.write_text("".join(sorted(c.name + "\n" for c in self.constant)))
            if status == 0:
                return
            blamed = self.blamed(output, "error") or self.blamed(output, "any")
            if not blamed:
                sys.exit("mutants: the sources with the switch do not build\n" + output[-6000:])
            print(f"mutants: {len(blamed)} changes need a constant", flush=True)
            self.constant |= blamed
            for path in {c.path for c in blamed}:
                self.write(path)

    def blamed(self, output, kind):
        found = set()
        for match in PLACE.finditer(output):
            if kind == "error" and (match[4] != "error" or CONSEQUENCE.search(match[5])):
                continue
            name, line, column = match.group(1, 2, 3) if match[1] else match.group(6, 7, 8)
            path = os.path.relpath(os.path.realpath(self.build / name), os.path.realpath(self.tree))
            if path in self.sources:
                found.update(self.sources[path].at(int(line), int(column or 1)))
        for match in CUDA_PLACE.finditer(output):
            path = os.path.relpath(os.path.realpath(self.build / match[1]), os.path.realpath(self.tree))
            if path in self.sources:
                found.update(self.sources[path].at(int(match[2])))
        return found


class PlainBuild:
    """One change at a time; made when the first is asked for."""

    def __init__(self, folder, cuda, jobs):
        self.tree, self.build = folder / "plain", folder / "plain" / "build"
        self.cuda, self.jobs = cuda, jobs
        self.ready = False

    def prepare(self):
        copy_tree(self.tree)
        configure(self.tree, self.build, self.cuda)
        if ninja(self.build, targets_of(self.cuda), self.jobs)[0]:
            sys.exit("mutants: the unchanged sources do not build")
        self.ready = True

    def with_change(self, change, run):
        """'does not compile', or what run() says while the change is in the build."""
        if not self.ready:
            self.prepare()
        file = self.tree / change.path
        text = file.read_text(encoding="utf-8")
        file.write_text(changes.broken(text, change), encoding="utf-8")
        try:
            return "does not compile" if ninja(self.build, targets_of(self.cuda), self.jobs)[0] else run()
        finally:
            file.write_text(text, encoding="utf-8")
