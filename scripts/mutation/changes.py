# SPDX-License-Identifier: MIT OR Apache-2.0
"""What can be broken in a source, one change at a time, by the look of its lines.

A change is a comparison, + 1 or - 1, a constant, && for ||, a condition that never holds, a check that is left out.
Tuning constants stay as they are, for any value of them is right. clang-format's spaces tell an operator from the
brackets of a template.
"""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "),
         (" && ", " || "), (" || ", " && "), (" + 1", ""), (" - 1", ""), (" + 1", " + 2"), (" % ", " / "),
         ("min_of(", "max_of("), ("max_of(", "min_of("), ("std::min(", "std::max(")]


@dataclasses.dataclass(frozen=True)
class Change:
    """`new` in place of text[begin:end]; kind: binary, call, number, condition or statement."""
    path: str
    begin: int
    end: int
    new: str
    kind: str
    what: str
    line: int  # from 1
    occurrence: int  # among the changes of the line

    @property
    def name(self):
        return f"{self.path}:{self.line}: {self.what} ({self.occurrence})"


def code_of(line):
    """The line without comment and with strings blanked, in the same places."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', line)
    return re.sub(r"//.*", lambda m: " " * len(m[0]), line)


def is_code(code):
    text = code.strip()
    return text and "operator" not in text and not text.startswith(
        ("#", "/*", "* ", "*/", "namespace", "using", "template", "static_assert", "typedef", "case "))


def swaps_of(code):
    is_loop = code.strip().startswith("for ")
    for old, new in SWAPS:
        for match in re.finditer(re.escape(old), code):
            if old.strip() in "<>" and "template" in code or is_loop and old in (" < ", " <= "):
                continue
            if "(" in old and re.search(r"\b(?!return\b)\w+ $", code[:match.start()]):
                continue  # where the function is defined
            if old in (" + 1", " - 1") and re.match(r"[\w.]", code[match.end():match.end() + 1] or " "):
                continue
            yield match.start(), match.end(), new, "call" if "(" in old else "binary", \
                f"{old.strip()} -> {new.strip() or 'nothing'}"


def changes_of_line(code):
    """(begin, end, new, kind, what) for every change of the line."""
    if not is_code(code):
        return
    yield from swaps_of(code)
    if re.search(r"constexpr \w+ k[A-Z]\w* =", code):
        return
    for match in re.finditer(r"(?<![\w.\"'])(?<![eEpP][-+])([1-9]\d*)(u|ull)?(?![\w.\"'])", code):
        number = int(match[1])
        yield match.start(1), match.end(1), str(number + 1), "number", f"{number} -> {number + 1}"
    if match := re.match(r"\s*if \((.*)\)( \w.*;| \{|)$", code.rstrip()):
        if "constexpr" not in match[0]:
            yield match.start(1), match.end(1), "false", "condition", "if -> never"
    if match := re.match(r"\s*((\(void\))?(check|require)\w*\(.*\);)$", code.rstrip()):
        yield match.start(1), match.end(1), ";", "statement", "check left out"


def changes_of(path):
    changes = []
    start = 0
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(keepends=True), 1):
        for i, (begin, end, new, kind, what) in enumerate(changes_of_line(code_of(line.rstrip("\n")))):
            changes.append(Change(path, start + begin, start + end, new, kind, what, number, i))
        start += len(line)
    return changes


def broken(text, change):
    return text[:change.begin] + change.new + text[change.end:]
