# SPDX-License-Identifier: MIT OR Apache-2.0
"""The binary interface against its kept description: what a program was compiled with must stay as it was.

usage: abi_test.py COMPILER INCLUDE_FOLDER DESCRIPTION [--update]

The description has a line for every function with its types, every number, and every field of a struct with its place
and size as the compiler lays it out. A line that is missing now breaks programs and fails. A new line only adds to the
interface: --update writes it down, and until then the test fails, so that nothing is added unseen.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

COMPILER, INCLUDE, DESCRIPTION = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
# What grows or changes with each version, or is not a number.
CHANGING = {"GSORT_VERSION", "GSORT_VERSION_MINOR", "GSORT_VERSION_PATCH", "GSORT_API", "GSORT_H"}


def header_text():
    text = re.sub(r"/\*.*?\*/", " ", (INCLUDE / "gsort.h").read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"[ \t]+", " ", text)


def type_of(parameter):
    """The parameter without its name, which no compiled program knows."""
    return re.sub(r"(?<=[\s*])\w+$", "", parameter.strip()).strip() if " " in parameter.strip() else parameter.strip()


def functions(text):
    for match in re.finditer(r"GSORT_API ([^;{}#()]*?)\(([^;{}]*)\);", text):
        types = ", ".join(type_of(parameter) for parameter in match[2].split(","))
        yield "function " + re.sub(r"\s+", " ", f"{match[1].strip()}({types})")


def typedefs(text):
    for match in re.finditer(r"typedef ([^;{}()]*);", text):
        yield "type " + re.sub(r"\s+", " ", match[1]).strip()
    for match in re.finditer(r"typedef ([^;{}()]*)\(\*(\w+)\)\(([^;{}]*)\);", text):
        types = ", ".join(type_of(parameter) for parameter in match[3].split(","))
        yield "type " + re.sub(r"\s+", " ", f"{match[1].strip()} (*{match[2]})({types})")


def numbers(text):
    return [name for name in re.findall(r"#define (GSORT_[A-Z0-9_]+) [-(]?\d", text) if name not in CHANGING]


def structs(text):
    for match in re.finditer(r"typedef struct (\w+) \{(.*?)\}", text, flags=re.DOTALL):
        fields = [re.sub(r"\[.*", "", field.split()[-1]).lstrip("*") for field in match[2].split(";") if field.strip()]
        yield match[1], fields


def laid_out(text):
    """Numbers and places of fields, as a compiled program prints them."""
    lines = []
    for name in numbers(text):
        lines.append(f'if ({name} < 0) printf("number {name} %lld\\n", (long long){name});')
        lines.append(f'else printf("number {name} %llu\\n", (unsigned long long){name});')
    for struct, fields in structs(text):
        lines.append(f'printf("struct {struct}: aligned to %zu\\n", _Alignof({struct}));')
        for field in fields:
            lines.append(f'printf("field {struct}.{field} at %zu, %zu bytes\\n", offsetof({struct}, {field}), '
                         f'sizeof((({struct} *)0)->{field}));')
    program = "#include <gsort.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
        source.write_text(program, encoding="utf-8")
        subprocess.run([COMPILER, "-std=c11", "-w", f"-I{INCLUDE}", source, "-o", binary], check=True)
        return subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    text = header_text()
    now = [*typedefs(text), *functions(text), *laid_out(text)]
    if len([line for line in now if line.startswith("function")]) < 30 or not any("field gsort_info." in l for l in now):
        sys.exit("abi_test: the header was not understood")
    kept = DESCRIPTION.read_text(encoding="utf-8").splitlines() if DESCRIPTION.exists() else []
    kept = [line for line in kept if line and not line.startswith("#")]
    gone, new = [line for line in kept if line not in now], [line for line in now if line not in kept]
    if gone:
        print("These were part of the interface, and programs were compiled with them:", *gone, sep="\n  ")
        if new:
            print("These are new or what became of them:", *new, sep="\n  ")
        sys.exit(1)
    if "--update" in sys.argv:
        head = ["# SPDX-License-Identifier: MIT OR Apache-2.0",
                "# The binary interface of version 1. Written by abi_test.py --update; lines are only added."]
        DESCRIPTION.write_text("\n".join(head + kept + new) + "\n", encoding="utf-8")
    elif new:
        print(f"These are not in {DESCRIPTION.name}; add them with --update:", *new, sep="\n  ")
        sys.exit(1)


main()
