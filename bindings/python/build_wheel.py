# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the wheel: the package, the library, and what says so. Needs nothing beyond Python, so that `pip wheel` and
scripts/wheel do the same. (PEP 517 asks for the functions' names, PEP 427 for the format.)

The library is the one that GSORT_LIBRARY names, or that of the build folder `build` of these sources.
"""

import base64
import hashlib
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NAME = "libgsort"
# What a library's header calls its processor, and what pip calls it.
PROCESSORS = {62: "x86_64", 183: "aarch64"}
# The first moment that a zip file can hold: equal contents make equal wheels.
MOMENT = (1980, 1, 1, 0, 0, 0)


def version():
    """That of the header: the version stands once. SUFFIX follows it, such as rc1."""
    with open(os.path.join(ROOT, "include", "gsort.h"), encoding="utf-8") as header:
        numbers = re.findall(r"#define GSORT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read())
    return ".".join(numbers) + os.environ.get("GSORT_VERSION_SUFFIX", "")


def metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as readme:
        description = readme.read()
    fields = [
        "Metadata-Version: 2.4", f"Name: {NAME}", f"Version: {version()}",
        "Summary: Sorts, selects and sums arrays at the speed of memory, on NVIDIA GPUs and CPUs",
        "License-Expression: MIT OR Apache-2.0", "License-File: LICENSE-MIT", "License-File: LICENSE-APACHE",
        "Keywords: sort,argsort,top-k,sum,cuda,gpu,numpy,cupy,pytorch", "Requires-Python: >=3.8",
        "Classifier: Development Status :: 5 - Production/Stable", "Classifier: Environment :: GPU :: NVIDIA CUDA :: 13",
        "Classifier: Intended Audience :: Developers", "Classifier: Intended Audience :: Science/Research",
        "Classifier: Operating System :: POSIX :: Linux", "Classifier: Programming Language :: Python :: 3",
        "Classifier: Topic :: Scientific/Engineering", "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
    ]  # fmt: skip
    # The address of the sources, which they do not name themselves.
    if os.environ.get("GSORT_REPOSITORY"):
        fields.append(f"Project-URL: Repository, {os.environ['GSORT_REPOSITORY']}")
    return "\n".join(fields) + "\n\n" + description


def library_path():
    path = os.environ.get("GSORT_LIBRARY") or os.path.join(ROOT, "build", "libgsort.so.1")
    if not os.path.exists(path):
        raise SystemExit(f"build_wheel: {path} is not there; build the library first (cmake -S . -B build && cmake "
                         "--build build --target gsort), or name one with GSORT_LIBRARY")  # fmt: skip
    return path


def tag():
    """glibc 2.28 and later, which tests/abi/library_test.py holds the library to, on the processor that the library
    itself names. No part depends on Python's version."""
    with open(library_path(), "rb") as library:
        header = library.read(20)
    # An ELF file of 64 bits, the least byte first; its processor is the tenth pair of bytes.
    processor = int.from_bytes(header[18:20], "little") if header[:6] == b"\x7fELF\x02\x01" else None
    if processor not in PROCESSORS:
        raise SystemExit(f"build_wheel: {library_path()} is no library for 64-bit Linux on one of the processors that "
                         f"there are wheels for, which are {' and '.join(PROCESSORS.values())}")  # fmt: skip
    return f"py3-none-manylinux_2_28_{PROCESSORS[processor]}"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def contents():
    """(name in the wheel, bytes, executable) of every file but RECORD."""
    package = os.path.join(HERE, "gsort")
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".pyi")) or name == "py.typed":
            yield f"gsort/{name}", read(os.path.join(package, name)), False
    yield "gsort/libgsort.so", read(library_path()), True
    info = f"{NAME}-{version()}.dist-info"
    yield f"{info}/METADATA", metadata().encode(), False
    wheel = f"Wheel-Version: 1.0\nGenerator: gsort\nRoot-Is-Purelib: false\nTag: {tag()}\n"
    yield f"{info}/WHEEL", wheel.encode(), False
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        yield f"{info}/licenses/{name}", read(os.path.join(ROOT, name)), False


def _line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into the directory and returns its file name."""
    file_name = f"{NAME}-{version()}-{tag()}.whl"
    record_name = f"{NAME}-{version()}.dist-info/RECORD"
    record = ""
    os.makedirs(wheel_directory, exist_ok=True)
    with zipfile.ZipFile(os.path.join(wheel_directory, file_name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content, executable in contents():
            _write(wheel, name, content, executable)
            record += _line(name, content)
        _write(wheel, record_name, (record + f"{record_name},,\n").encode(), False)
    return file_name


def _write(wheel, name, content, executable):
    entry = zipfile.ZipInfo(name, MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    wheel.writestr(entry, content)


def get_requires_for_build_wheel(config_settings=None):
    return []
