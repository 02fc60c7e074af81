# SPDX-License-Identifier: MIT OR Apache-2.0
"""All changes of a source at once, behind a switch that a run reads from its environment.

An expression E with a change E' becomes (gsort_mutant(7) ? (E') : (E)), so that one build serves all changes but those
where only a constant may stand. Where a change lies inside another, E holds both and E' is as written: one change is
on at a time.
"""
import re

# No header of libc: a source that comes after says itself what it wants of them.
HEADER = """\
#ifndef GSORT_MUTANT_H_
#define GSORT_MUTANT_H_
#pragma GCC system_header
#include <asm/unistd.h>
#define GSORT_MUTANT_SHARED __attribute__((weak, visibility("hidden")))
#ifdef __CUDACC__  /* host code's changes alone: on a device none is on */
#define GSORT_MUTANT_ANYWHERE __host__ __device__
#else
#define GSORT_MUTANT_ANYWHERE
#endif
#ifdef __cplusplus
extern "C" {
#endif
extern char *gsort_mutant_getenv(const char *) __asm__("getenv");
extern int gsort_mutant_atoi(const char *) __asm__("atoi");
extern long gsort_mutant_syscall(long, ...) __asm__("syscall");
/* Which changes were reached: in the file that GSORT_MUTANT_SEEN names, if it does. */
extern unsigned char gsort_mutant_nowhere[%(count)d];
GSORT_MUTANT_SHARED unsigned char gsort_mutant_nowhere[%(count)d];
extern unsigned char *gsort_mutant_seen;
GSORT_MUTANT_SHARED unsigned char *gsort_mutant_seen = gsort_mutant_nowhere;
extern int gsort_mutant_chosen;
GSORT_MUTANT_SHARED int gsort_mutant_chosen = -1;
__attribute__((constructor(101))) static void gsort_mutant_begin(void) {
  const char *const seen = gsort_mutant_getenv("GSORT_MUTANT_SEEN");
  const char *const chosen = gsort_mutant_getenv("GSORT_MUTANT");
  if (gsort_mutant_chosen != -1) return;
  gsort_mutant_chosen = chosen ? gsort_mutant_atoi(chosen) : -2;
  if (!seen) return;
  /* By the system's numbers, past what tests put in front of libc's functions: open for reading and writing, map
     shared. */
  const long file = gsort_mutant_syscall(__NR_openat, -100L, seen, 2L);
  const long memory = file < 0 ? -1 : gsort_mutant_syscall(__NR_mmap, 0L, %(count)dL, 3L, 1L, file, 0L);
  if (memory != -1) gsort_mutant_seen = (unsigned char *)memory;
  if (file >= 0) gsort_mutant_syscall(__NR_close, file);
}
#ifdef __cplusplus
}
#define GSORT_MUTANT_RUNS !__builtin_is_constant_evaluated()
constexpr
#else
#define GSORT_MUTANT_RUNS 1
static
#endif
inline GSORT_MUTANT_ANYWHERE __attribute__((always_inline)) int gsort_mutant(int number) {
#ifdef __CUDA_ARCH__
  return (void)number, 0;
#else
  return GSORT_MUTANT_RUNS ? (gsort_mutant_seen[number] = 1, number == gsort_mutant_chosen) : 0;
#endif
}
#endif
"""

PRECEDENCE = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
              "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}
OPERATOR = re.compile(r"(?<=\s)(\|\||&&|==|!=|<=|>=|<<|>>|[|^&<>+\-*/%])(?=\s)")
OPENS, CLOSES = "([{", ")]}"


def without_comments(text):
    """(code, mask): comments blanked; in the mask the contents of strings, too. Newlines stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
    code = pattern.sub(lambda m: blank(m) if m[0][0] == "/" else m[0], text)
    return code, pattern.sub(lambda m: blank(m) if m[0][0] == "/" else m[0][0] + "_" * (len(m[0]) - 2) + m[0][-1], text)


def is_boundary(mask, i, step):
    """Whether the expression ends at this character, whatever its operator: separators and assignments."""
    c = mask[i]
    if c in ",;?":
        return True
    if c == ":":
        return mask[i - 1] != ":" and mask[i + 1] != ":"
    if c == "=":
        return mask[i - 1] not in "=!<>" and mask[i + 1] != "=" or mask[i - 2:i + 1] in ("<<=", ">>=")
    return step < 0 and c.isspace() and re.search(r"\b(return|else|do|throw|case)$", mask[max(0, i - 8):i]) is not None


def close_of(mask, i, step):
    """The bracket that belongs to the one at i."""
    opens, closes = (OPENS, CLOSES) if step > 0 else (CLOSES, OPENS)
    depth = 0
    while 0 <= i < len(mask):
        depth += (mask[i] in opens) - (mask[i] in closes)
        if depth == 0:
            return i
        i += step
    raise ValueError("a bracket without its other half")


def template_end(mask, i, step):
    """The other end of a template's brackets at i, or i if they are none."""
    opens, closes = ("<", ">") if step > 0 else (">", "<")
    depth, at = 0, i
    while 0 <= at < len(mask) and mask[at] not in ";":
        if mask[at] in (OPENS if step > 0 else CLOSES):
            at = close_of(mask, at, step)
        elif mask[at] in opens and mask[at - 1:at + 1] != "->":
            depth += 1
        elif mask[at] in closes and mask[at - 1:at + 1] != "->":
            depth -= 1
        if depth == 0:
            return at
        at += step
    return i


class Mask(str):
    """A mask that knows where its operators begin and end."""

    def __new__(cls, text):
        mask = super().__new__(cls, text)
        found = list(OPERATOR.finditer(text))
        mask.operators = {1: {m.start(): m for m in found}, -1: {m.end() - 1: m for m in found}}
        return mask


def operand_end(mask, i, step, stops):
    """Where the operand ends that begins at i and goes in the direction of `step`: the first place not in it.
    `stops(precedence)` says whether an operator ends it."""
    operators = mask.operators[step]
    while True:
        c = mask[i]
        if c in (CLOSES if step > 0 else OPENS) or is_boundary(mask, i, step):
            return i
        if i in operators:
            if stops(PRECEDENCE[operators[i][0]]):
                return i
            i = operators[i].end() if step > 0 else operators[i].start() - 1
            continue
        if c in (OPENS if step > 0 else CLOSES):
            other = close_of(mask, i, step)
            if c == "}" and not re.match(r"[\w>]", mask[other - 1]):
                return i  # the end of a block, not of T{...}
            if c == "{" and not re.match(r"[\w>]", mask[i - 1]):
                return i
            i = other
        elif c == ("<" if step > 0 else ">") and mask[i - 1:i + 1] != "->":
            i = template_end(mask, i, step)
        i += step


def extent_of(mask, change):
    """The expression that a change replaces a part of: (begin, end)."""
    begin, end = change.begin, change.end
    if change.kind == "binary":
        own = PRECEDENCE[mask[begin:end].split()[0]]
        left = operand_end(mask, begin, -1, lambda p: p < own) + 1
        sign = re.match(r"\s*\S+", mask[begin:])
        right = operand_end(mask, begin + sign.end(), 1, lambda p: p <= own)
        begin, end = left, right
    elif change.kind == "call":
        end = close_of(mask, end - 1, 1) + 1
    elif change.kind == "number":
        suffix = re.match(r"(u|ull|U|ULL)\b", mask[end:])
        end += suffix.end() if suffix else 0
        around = re.search(r"(\bU?INT\d+_C\(|\b\w+\{)$", mask[:begin])
        if around and mask[end] in ")}":  # a macro that wants a literal, a type that would be narrowed to
            begin, end = begin - len(around[0]), end + 1
    while mask[begin].isspace():
        begin += 1
    while mask[end - 1].isspace():
        end -= 1
    return begin, end


def is_constant(code, mask, begin, change):
    """Where nothing but a constant can stand: the changes that need a build of their own, told without the compiler."""
    line = code[code.rfind("\n", 0, begin) + 1:(code + "\n").find("\n", change.end)]
    is_variable = re.search(r"\bconstexpr\b[^(]* = ", line) or re.match(r"(static |enum|const )", line)
    is_enumerator = re.search(r"\benum\b[^;{}]*\{[^{}]*$", mask[max(0, begin - 2000):begin])
    return bool(is_variable or is_enumerator) or line.endswith("\\") or change.kind == "condition" and ";" in mask[change.begin:change.end]


class Switched:
    """A source with its changes behind the switch. numbers: {change: its number}."""

    def __init__(self, text, numbers):
        self.code, mask = without_comments(text)
        self.mask = Mask(mask)
        self.numbers = numbers
        self.nodes = {}  # (begin, end): [changes]
        self.left_out = []
        ends = []
        placed = []
        for change in numbers:
            try:
                extent = extent_of(self.mask, change)
            except (ValueError, IndexError):
                self.left_out.append(change)
                continue
            if is_constant(self.code, self.mask, extent[0], change):
                self.left_out.append(change)
            else:
                placed.append((extent, change))
        for extent, change in sorted(placed, key=lambda p: (p[0][0], -p[0][1])):
            while ends and ends[-1] <= extent[0]:
                ends.pop()
            if ends and extent[1] > ends[-1]:
                self.left_out.append(change)
                continue
            if not ends or ends[-1] != extent[1] or extent not in self.nodes:
                ends.append(extent[1])
            self.nodes.setdefault(extent, []).append(change)
        self.text, self.places = self.render()

    def changed(self, change, begin, end):
        new = self.code[begin:change.begin] + change.new + self.code[change.end:end]
        return new.replace("\n", " ")  # lines keep their numbers

    def render(self):
        """The text, and [(line, first column, last column, change)] of every change in it."""
        out = []
        places = []
        length = 0
        order = sorted(self.nodes, key=lambda e: (e[0], -e[1]))

        def emit(part):
            nonlocal length
            out.append(part)
            length += len(part)

        def walk(at, end, index):
            while index < len(order) and order[index][0] < end:
                begin, stop = order[index]
                emit(self.code[at:begin])
                first = length
                changes = self.nodes[order[index]]
                statement = [c for c in changes if c.kind == "statement"]
                others = [c for c in changes if c.kind != "statement"]
                for c in statement:
                    emit(f"if (gsort_mutant({self.numbers[c]})) {{}} else ")
                if others:
                    emit("(")
                for c in others:
                    if c.kind == "condition":
                        emit(f"!gsort_mutant({self.numbers[c]}) && ")
                    else:
                        emit(f"gsort_mutant({self.numbers[c]}) ? ({self.changed(c, begin, stop)}) : ")
                if others:
                    emit("(")
                index = walk(begin, stop, index + 1)
                if others:
                    emit("))")
                places.extend((first, length, c) for c in changes)
                at = stop
            emit(self.code[at:end])
            return index

        # A condition's && binds closer than the ?: of another change of the same place.
        for changes in self.nodes.values():
            changes.sort(key=lambda c: c.kind == "condition")
        walk(0, len(self.code), 0)
        return "".join(out), places

    def at(self, line, column=None):
        """The changes that stand at a place of the rendered text: the innermost ones, or all of the line."""
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        stop = (self.text + "\n").find("\n", start)
        place = start + (column or 1) - 1
        around = [p for p in self.places if column and p[0] <= place < p[1]]
        if around:
            least = min(p[1] - p[0] for p in around)
            return [p[2] for p in around if p[1] - p[0] == least]
        return [p[2] for p in self.places if p[0] < stop and p[1] > start]
