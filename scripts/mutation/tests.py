# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tests that look for mutants, in units that take moments: one test of a program, whatever its parameters.

Each unit is run once without a mutant, which tells how long it takes and which changes it reaches: a mutant is shown
to the units that reach its change alone.
"""
import dataclasses
import hashlib
import os
import pathlib
import pickle
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest

# Programs that look at the host code of a build without CUDA.
PROGRAMS = """all_lengths allocator argsort_rank arguments callbacks cancel concurrency device_pointer exponents
float_environment fork merge pairs reduce scan segments shapes signals sort sum test_tools threads topk topk_rows
topk_segments typed""".split()
UNITS = {"gsort_unit_cpu": "unit_cpu", "gsort_unit_plan": "unit_plan"}
CUDA_PROGRAMS = ["gsort_test_cuda_faults"]
# Of a processor. Units that take longer are left out: a mutant is shown to hundreds of others.
LONGEST_SECONDS = 30
STILL_SECONDS = 60
# A few calls of the tests whose length is a question of patience.
ENVIRONMENT = {"GSORT_SHAPES_SECONDS": "60", "GSORT_SHAPES_CALLS": "250", "GSORT_SHAPES_LENGTHS": "130",
               "GSORT_SHAPES_PATIENCE": "20", "GSORT_SHAPES_LANES": "2"}


@dataclasses.dataclass
class Unit:
    name: str
    command: list
    folder: str
    seconds: float = 0
    seen: bytes = b""


def run(unit, environment, seconds):
    """Exit status; not 0 where it took more than so many seconds of a processor, 124 where it stood still. Whatever else
    the machine does: a slow run is no failed one."""
    limited = ["sh", "-c", 'ulimit -t "$0"; exec "$@"', str(int(seconds) + 1), *unit.command]
    with subprocess.Popen(limited, cwd=unit.folder, env=environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, process_group=0) as process:
        try:
            return process.wait(STILL_SECONDS + 20 * seconds)
        except subprocess.TimeoutExpired:
            return 124
        finally:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass


def gtest_units(program, name):
    listed = subprocess.run([program, "--gtest_list_tests", "--gtest_filter=-*cuda_*"], capture_output=True, text=True,
                            timeout=60, check=True).stdout
    suite = ""
    tests = {}
    for line in listed.splitlines():
        if match := re.match(r"(\S+\.)(\s|$)", line):
            suite = match[1]
        elif match := re.match(r"  (\S+)", line):
            test = match[1].split("/")[0]
            tests[f"{suite}{test}"] = f"{suite}{test}" + ("/*" if "/" in match[1] else "")
    for test, wanted in tests.items():
        yield Unit(f"{name}: {test}", [str(program), f"--gtest_filter={wanted}-*cuda_*", "--gtest_brief=1",
                                       "--gtest_fail_fast"], str(program.parent))


def python_units(folder):
    sys.path.insert(0, str(folder))
    for file in sorted(folder.glob("test_*.py")):
        for suite in unittest.defaultTestLoader.loadTestsFromName(file.stem):
            for test in suite:
                yield Unit(f"tool: {test.id()}", ["python3", "-B", "-m", "unittest", "-f", test.id()], str(folder))


def units_of(tree, build, cuda):
    """All units, by the names of what is to be built for them."""
    programs = {name: build / "tests" / name for name in
                (CUDA_PROGRAMS if cuda else [f"gsort_test_{p}" for p in PROGRAMS] + ["gsort_test_host_faults"])}
    if not cuda:
        programs |= {name: build / "tests" / folder / name for name, folder in UNITS.items()}
        programs["gsort_unit_plan"] = build / "tests" / "gsort_unit_plan"
    units = [u for name, program in programs.items() for u in gtest_units(program, name.removeprefix("gsort_"))]
    if not cuda:
        fuzz = build / "tests" / "fuzz"
        for name, list_name in (("gsort_test_fuzz", "corpus.txt"), ("gsort_test_fuzz_tool", "corpus_tool.txt")):
            units.append(Unit(f"{name}: random", [str(fuzz / name), "4000"], str(fuzz)))
            units.append(Unit(f"{name}: corpus", [str(fuzz / name), "--corpus", str(tree / "tests/fuzz" / list_name)],
                              str(fuzz)))
        units += python_units(tree / "tests" / "tool")
    return units


def environment_of(build, **more):
    return dict(os.environ, GSORT_TOOL=str(build / "tools" / "gsort"), PYTHONPATH="",
                GSORT_TOOL_FAULTS=str(build / "tests" / "tool" / "libgsort_tool_faults.so"), **ENVIRONMENT, **more)


def measure(unit, build, count):
    """Runs it once for its time and what it reaches; why it cannot be used, '' if it can."""
    with tempfile.NamedTemporaryFile() as seen:
        seen.write(bytes(count))
        seen.flush()
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        status = run(unit, environment_of(build, GSORT_MUTANT_SEEN=seen.name), LONGEST_SECONDS)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        unit.seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
        unit.seen = pathlib.Path(seen.name).read_bytes()
    if unit.seconds > LONGEST_SECONDS:
        return "takes too long"
    return {0: "", 77: "skipped"}.get(status, f"fails without a mutant (status {status})")


def measured(units, switched, count, cache, prepared):
    """The units that can be used, measured. What was measured of the same program and sources is kept in `cache`."""
    if prepared:
        found = {name: value for (name, _), value in pickle.loads(cache.read_bytes()).items() if not value[0]}
        for unit in units:
            unit.seconds, unit.seen = found.get(unit.name, ("", 0, b""))[1:]
        return [u for u in units if u.name in found]
    sources = "".join(s.text for s in switched.sources.values())
    known = pickle.loads(cache.read_bytes()) if cache.exists() else {}
    digests = {}
    now = {}
    for unit in units:
        program = unit.command[0] if os.sep in unit.command[0] else sorted(pathlib.Path(unit.folder).glob("*.py"))
        if str(program) not in digests:
            files = [pathlib.Path(program)] if isinstance(program, str) else program
            digests[str(program)] = hashlib.sha256(sources.encode() + b"".join(f.read_bytes() for f in files)).digest()
        key = (unit.name, digests[str(program)])
        if key not in known:
            known[key] = (measure(unit, switched.build, count), unit.seconds, unit.seen)
            if known[key][0] not in ("", "skipped"):
                print(f"mutants: left out, for it {known[key][0]}: {unit.name}", flush=True)
        why, unit.seconds, unit.seen = now[key] = known[key]
    cache.write_bytes(pickle.dumps(now))
    usable = {name for (name, _), (why, _, _) in now.items() if not why}
    return [u for u in units if u.name in usable]


def limit_of(unit):
    return 3 * unit.seconds + 2
