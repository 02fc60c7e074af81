# SPDX-License-Identifier: MIT OR Apache-2.0
"""A name of a namespace means one thing: no two files of src define a type or a constant of the same full name. A program
in which two different types have one name is wrong, and neither compiler nor linker says so. Words that the glossary of
docs/engine-notes/README.md gives one meaning are not used for another.

usage: names_test.py SOURCE_FOLDER
"""
import collections
import pathlib
import re
import sys
import unittest

SUFFIXES = (".h", ".cuh", ".cpp", ".cu")
NAMESPACE = re.compile(r"^namespace\s*([\w:]*)\s*\{")
CLOSED = re.compile(r"^\}\s*//\s*namespace")
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?)\s+(\w+)\b(?!::)[^;<]*\{")
CONSTANT = re.compile(r"^(?:inline )?constexpr [\w:<>, *]+?\b(k[A-Z]\w*)(?:\[[^\]]*\])?\s*=")
# A line that has the word has something of its meaning, too: a lock is held, by a thread. Keys are kept or buffered, and
# memory is allocated.
WORDS = {"held": re.compile(r"lock|mutex|fork")}


def names_of(text):
    """Full names of the types and constants that stand at the left margin, outside of namespaces without a name."""
    inside = []
    for line in text.splitlines():
        if opened := NAMESPACE.match(line):
            inside.append(opened[1])
        elif CLOSED.match(line) and inside:
            inside.pop()
        elif (found := TYPE.match(line) or CONSTANT.match(line)) and "" not in inside:
            yield "::".join(inside + [found[1]])


def problems(files):
    """The names of {path: text} that are defined in more than one file."""
    where = collections.defaultdict(set)
    for path, text in files.items():
        for name in names_of(text):
            where[name].add(path)
    return [f"{name}: {', '.join(sorted(paths))}" for name, paths in sorted(where.items()) if len(paths) > 1]


def words_of_another_meaning(files):
    """Lines of {path: text} that have one of the words above in a comment or as a name, and nothing of its meaning."""
    found = []
    for path, text in sorted(files.items()):
        for number, line in enumerate(text.splitlines(), 1):
            found += [f"{path}:{number}: {word}" for word, meaning in WORDS.items()
                      if re.search(rf"\b{word}\b", line, re.IGNORECASE) and not meaning.search(line)]
    return found


class Judge(unittest.TestCase):
    def test_one_name_in_two_files(self):
        for line in ("struct Slot {", "class Slot : public Base {", "enum class Slot : int { kOne };",
                     "constexpr uint32_t kSlot = 8;", "constexpr Row kSlot[] = {"):
            text = "namespace a::b {\n" + line + "\n}  // namespace a::b"
            self.assertEqual(len(problems({"x.h": text, "y.h": text})), 1, line)

    def test_names_that_are_two(self):
        one = "namespace a {\nstruct Slot {\n};\n}  // namespace a"
        for other in (one.replace("a", "b"), one.replace("Slot {\n}", "Slot"), "namespace a {\n" + one,
                      "namespace a {\nnamespace {\nstruct Slot {\n};\n}  // namespace\n}  // namespace a",
                      "namespace a {\ntemplate <>\nstruct Slot<int> {\n};\n}  // namespace a"):
            self.assertEqual(problems({"x.h": one, "y.h": other}), [], other)

    def test_words(self):
        for line in ("uint4 held[4];", "class Held {", "// Keys that are held in registers.", "  // held: a tile"):
            self.assertEqual(words_of_another_meaning({"x.h": "\n" + line}), ["x.h:2: held"], line)
        for line in ("// The lock is held.", "uint64_t held_bytes() const;", "// Holds the keys, which upheld it."):
            self.assertEqual(words_of_another_meaning({"x.h": line}), [], line)


def sources():
    return {str(path.relative_to(SOURCES)): path.read_text(encoding="utf-8") for path in SOURCES.rglob("*")
            if path.suffix in SUFFIXES}


class Sources(unittest.TestCase):
    def test_every_name_means_one_thing(self):
        files = sources()
        self.assertGreater(sum(1 for text in files.values() for _ in names_of(text)), 500, "hardly any name was found")
        found = problems(files)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_word_means_one_thing(self):
        found = words_of_another_meaning(sources())
        self.assertEqual(found, [], "\n" + "\n".join(found))


if __name__ == "__main__":
    SOURCES = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
