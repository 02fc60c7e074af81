# SPDX-License-Identifier: MIT OR Apache-2.0
"""Includes of src go one way: engine -> family -> primitive -> core, in each engine (CONTRIBUTING.md, "Where things
live").

usage: includes_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys
import unittest

FAMILIES = ("sort", "segments", "topk", "sum", "scan", "merge")
# What a launch file stands on, and what plans may know of the engine.
LAUNCHING = {"cuda/engine/" + name for name in ("check.h", "device_facts.h", "launch.h", "launch_chain.h", "launcher.h",
                                                "notice.h", "shared_bytes.h")}
FACTS = {"cuda/engine/device_facts.h"}
# A top-k of large k ends with a sort, in one launch where it fits a grid; long segments are sorted by the tile step of
# the LSD sort.
ACROSS = {"topk": ("cuda/sort/launch.h", "cuda/sort/plan.h", "cuda/sort/small/"),
          "segments": ("cuda/sort/lsd/",)}
# What the operations of the CPU's engine work with, and of those of other families what is said in src/cpu/README.md.
WORKING = {"cpu/engine/" + name for name in ("context.h", "float_environment.h", "operations.h")}
CPU_ACROSS = {"topk": {"cpu/sort/record_sort.h", "cpu/sort/vector_sort.h"},
              "segments": {"cpu/sort/ordered_keys.h", "cpu/sort/record_sort.h", "cpu/sort/vector_sort.h"},
              "sort": {"cpu/merge/merge.h"}}
# What calls on host arrays take of either engine.
OF_ENGINES = {"cuda/engine/check.h", "cpu/engine/pool.h", "cpu/sum/share.h", "cpu/topk/share.h"}
# A plan is a header or a source by these names: no CUDA, and nothing but arithmetic.
PLAN = re.compile(r"(^|_)(plan|layout|shape|tables|workspace_bytes)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = (".h", ".cuh", ".cpp", ".cu")


def part_of(path):
    """core, api, engine, primitive, the name of a family, the same of the CPU's as in cpu/sort, or the name of the file
    itself."""
    parts = path.split("/")
    if parts[0] == "cuda" and len(parts) > 2:
        return parts[1]
    if parts[0] == "cpu":
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 else path


def is_plan(path):
    stem, _, suffix = path.rsplit("/", 1)[-1].partition(".")
    return part_of(path) in FAMILIES and suffix in ("h", "cpp") and bool(PLAN.search(stem))


def is_plain(path):
    return path.endswith((".h", ".cpp"))


def allowed(path, target):
    """Whether the file at `path` may include the project's file `target`."""
    part, to = part_of(path), part_of(target)
    if target == "gsort.h":
        return True
    if part == "core":
        return to == "core"
    if part == "primitive":
        return to in ("core", "primitive") and not (is_plain(path) and not is_plain(target))
    if is_plan(path):
        across = any(target.startswith(where) for where in ACROSS.get(part, ())) and is_plan(target)
        return (to == "core" or target in FACTS or (to == "primitive" and is_plain(target)) or
                (to == part and is_plain(target)) or across)
    if part in FAMILIES:
        return (to in ("core", "primitive", part) or target in LAUNCHING or
                any(target.startswith(where) for where in ACROSS.get(part, ())))
    if part == "engine":
        return (to in ("core", "primitive", "engine", "engine.h", "host_memory") or
                (to in FAMILIES and is_plain(target)))
    if part == "host_memory":
        return to in ("core", "host_memory") or target in OF_ENGINES
    if part.startswith("cpu/"):
        return allowed_of_cpu(part.partition("/")[2], to, target)
    if part == "api":
        return not target.startswith("cuda/")
    return to == "core"  # engine.h


def allowed_of_cpu(folder, to, target):
    """The same of a file in a folder of the CPU's engine."""
    if to == "core" or to == "cpu/" + folder:
        return True
    if folder in FAMILIES:
        return (to == "cpu/primitive" or target in WORKING or target in CPU_ACROSS.get(folder, ()) or
                (to == "cpu/vector" and not target.endswith("-inl.h")))
    return folder == "engine" and to in ("cpu/primitive", "engine.h")


def includes_of(text):
    """(whether it is the project's, path) of every include."""
    return [(match[1] == '"', match[2]) for match in map(INCLUDE.match, text.splitlines()) if match]


def problems(files):
    """What is against the rule in {path: text}; paths are relative to src."""
    found = []
    for path, text in sorted(files.items()):
        for own, target in includes_of(text):
            if own and not allowed(path, target):
                found.append(f"{path} includes {target}")
            if not own and is_plan(path) and target.startswith(("cuda", "cub/", "cooperative")):
                found.append(f"{path} is a plan and includes <{target}>")
    return found


class Judge(unittest.TestCase):
    """The judge itself, on files made up for it."""

    def judged(self, path, *lines):
        return problems({path: "\n".join(lines)})

    def test_arrows_along_the_rule(self):
        for path, target in (("core/request.h", "core/dtype.h"), ("cuda/primitive/warp.cuh", "core/key_bits.h"),
                             ("cuda/scan/plan.h", "cuda/engine/device_facts.h"), ("cuda/scan/plan.h", "core/slices.h"),
                             ("cuda/segments/plan.h", "cuda/primitive/tile_shape.h"),
                             ("cuda/scan/launch.cu", "cuda/engine/launcher.h"),
                             ("cuda/topk/launch.cu", "cuda/sort/launch.h"),
                             ("cuda/engine/cuda_engine.cu", "cuda/scan/launch.h"), ("api/handle.h", "engine.h"),
                             ("cpu/engine/cpu_engine.cpp", "engine.h"),
                             ("cpu/engine/context.h", "cpu/primitive/range.h"),
                             ("cpu/sort/sort.cpp", "cpu/engine/operations.h"), ("cpu/sum/sum.cpp", "cpu/vector/fold.h"),
                             ("cpu/topk/sampled.h", "cpu/sort/vector_sort.h"),
                             ("cpu/vector/scan.h", "core/scan_order.h"),
                             ("host_memory/pieces_both.cpp", "cpu/sum/share.h")):
            self.assertEqual(self.judged(path, f'#include "{target}"'), [], path)

    def test_arrows_against_the_rule(self):
        for path, target in (("core/request.h", "cuda/engine/device_facts.h"),
                             ("cuda/primitive/warp.cuh", "cuda/sort/plan.h"),
                             ("cuda/primitive/tile_shape.h", "cuda/primitive/warp.cuh"),
                             ("cuda/scan/plan.h", "cuda/engine/launch.h"), ("cuda/scan/plan.h", "cuda/scan/scan.cuh"),
                             ("cuda/scan/scan.cuh", "cuda/engine/workspace.h"),
                             ("cuda/scan/scan.cuh", "cuda/merge/plan.h"),
                             ("cuda/topk/team.cuh", "cuda/sort/gather.cuh"),
                             ("cuda/topk/plan.cpp", "cuda/sort/launch.h"),
                             ("cuda/engine/cuda_engine.cu", "cuda/scan/scan.cuh"),
                             ("cpu/sort/sort.cpp", "cuda/sort/plan.h"),
                             ("cpu/sort/sort.cpp", "cpu/engine/shared_threads.h"),
                             ("cpu/sort/sort.cpp", "cpu/vector/keys-inl.h"),
                             ("cpu/sum/sum.cpp", "cpu/sort/word_sort.h"), ("cpu/topk/topk.cpp", "cpu/sort/pairs.cpp"),
                             ("cpu/merge/merge.h", "cpu/sort/sorted_runs.h"),
                             ("cpu/primitive/scatter.h", "cpu/engine/context.h"),
                             ("cpu/primitive/range.h", "cpu/vector/sort.h"),
                             ("cpu/engine/cpu_engine.cpp", "cpu/sort/record_sort.h"),
                             ("cpu/vector/sort.h", "cpu/sort/vector_sort.h"), ("cpu/stray.h", "cpu/engine/context.h"),
                             ("host_memory/pieces_both.cpp", "cpu/engine/context.h"),
                             ("api/reserve.cpp", "cuda/topk/plan.h"), ("engine.h", "cuda/engine/launch.h")):
            self.assertEqual(len(self.judged(path, f'#include "{target}"')), 1, (path, target))

    def test_plans_know_no_cuda(self):
        self.assertEqual(len(self.judged("cuda/sum/plan.h", "#include <cuda_runtime.h>")), 1)
        self.assertEqual(self.judged("cuda/sum/launch.cu", "#include <cuda_runtime.h>"), [])


class Sources(unittest.TestCase):
    def test_every_include_goes_along_the_rule(self):
        files = {str(path.relative_to(SOURCES)): path.read_text(encoding="utf-8") for path in SOURCES.rglob("*")
                 if path.suffix in SUFFIXES}
        self.assertGreater(len(files), 100, "hardly any source was found")
        found = problems(files)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_family_says_how_it_works(self):
        for family in FAMILIES + ("engine", "primitive", "sort/lsd", "sort/small", "sort/fast_path",
                                  "sort/in_place", "sort/sample_sort", "sort/msd"):
            self.assertTrue((SOURCES / "cuda" / family / "README.md").is_file(), family)
        for folder in ("cpu", "cpu/sort", "host_memory"):
            self.assertTrue((SOURCES / folder / "README.md").is_file(), folder)

    def test_every_file_of_the_cpu_has_a_room(self):
        folders = set(FAMILIES) | {"engine", "primitive", "vector"}
        self.assertEqual({path.name for path in (SOURCES / "cpu").iterdir()} - folders, {"README.md"})


if __name__ == "__main__":
    SOURCES = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
