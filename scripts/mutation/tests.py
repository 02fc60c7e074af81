# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tests that look for mutants, in units that take moments: one test of a program, whatever its parameters.

Each unit is run once without a mutant, which tells how long it takes and which changes it reaches: a mutant is shown
to the units that reach its change alone.
"""
import concurrent.futures
import dataclasses
import hashlib
import itertools
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

# Programs that look at the host code of a build without CUDA.
PROGRAMS = """all_lengths allocator argsort_rank arguments callbacks cancel concurrency device_pointer exponents
float_environment fork merge pairs reduce scan segments shapes signals sort sum test_tools threads topk topk_rows
topk_segments typed""".split()
UNITS = {"gsort_unit_cpu": "unit_cpu", "gsort_unit_plan": "unit_plan"}
# And at that of the CUDA engine: its failures, on a stand-in where there is no GPU, and on a GPU its results.
CUDA_FAULTS = "gsort_test_cuda_faults"
GPU_PROGRAMS = """sort pairs argsort_rank merge segments topk topk_rows topk_segments sum reduce scan typed all_lengths
arguments cancel callbacks concurrency float_environment fork gpu_only contexts graphs host_arrays stress shapes
batch""".split()
# Of a processor. Units that take longer are left out: a mutant is shown to hundreds of others.
LONGEST_SECONDS = 30
# Without a word: beside ten times as long as without a mutant.
STILL_SECONDS = 30
# Of one process, against mutants that ask for all there is; a GPU's driver asks for more addresses than a machine has.
MEMORY_KIB, FILE_BLOCKS = 12 << 20, 16 << 20
# A few calls of the tests whose length is a question of patience.
ENVIRONMENT = {"GSORT_SHAPES_SECONDS": "60", "GSORT_SHAPES_CALLS": "250", "GSORT_SHAPES_LENGTHS": "130",
               "GSORT_SHAPES_PATIENCE": "20", "GSORT_SHAPES_LANES": "2"}


@dataclasses.dataclass
class Unit:
    name: str
    command: list
    folder: str
    gpu: bool = False
    seconds: float = 0  # of a processor
    waited: float = 0   # by the clock
    seen: bytes = b""


# Killed with all that it has started. Before Python 3.11 Popen knows no process_group.
IN_A_GROUP = {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}


def run(unit, environment, seconds, still):
    """(exit status, seconds of a processor): not 0 where it took more than so many of them, 137 where it stood still for
    `still` seconds by the clock. Whatever else the machine does: a slow run is no failed one."""
    memory = "" if unit.gpu else f"ulimit -v {MEMORY_KIB};"
    limited = ["sh", "-c", f'ulimit -c 0; ulimit -f {FILE_BLOCKS}; {memory} ulimit -t "$0"; exec "$@"',
               str(int(seconds) + 1), *unit.command]
    with subprocess.Popen(limited, cwd=unit.folder, env=environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **IN_A_GROUP) as process:
        timer = threading.Timer(still, kill_group, [process.pid])
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        finally:
            timer.cancel()
            kill_group(process.pid)
        return process.returncode, usage.ru_utime + usage.ru_stime


def kill_group(group):
    try:
        os.killpg(group, 9)
    except ProcessLookupError:
        pass


# A handle takes as many threads as there are processors, and jobs are as many again.
MOST_PROCESSORS = 8


def pool_of(jobs):
    """Threads that run units, each on at most so many processors of its own and of a few others."""
    processors = sorted(os.sched_getaffinity(0))
    parts = [processors[i:i + MOST_PROCESSORS] for i in range(0, len(processors), MOST_PROCESSORS)]
    turns = itertools.cycle(parts)
    return concurrent.futures.ThreadPoolExecutor(jobs, initializer=lambda: os.sched_setaffinity(0, next(turns)))


# In the names of tests, and in their parameters', that need a GPU.
GPU_MARK = "cuda_"


def gtest_units(program, name, gpu, apart=False):
    """Those that need no GPU, or those that do; `apart`: each parameter's is a unit of its own."""
    listed = subprocess.run([str(program), "--gtest_list_tests"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                            universal_newlines=True, timeout=300, check=True).stdout
    suite = ""
    tests = {}
    for line in listed.splitlines():
        suite_match, test_match = re.match(r"(\S+\.)(\s|$)", line), re.match(r"  (\S+)", line)
        if suite_match:
            suite = suite_match[1]
        elif test_match and (GPU_MARK in suite + test_match[1]) == gpu:
            test, _, parameter = test_match[1].partition("/")
            mark = f"*{GPU_MARK}*" if gpu else f"*-*{GPU_MARK}*"
            if apart or not parameter:
                tests[suite + test_match[1]] = suite + test_match[1]
            else:
                tests[suite + test] = f"{suite}{test}/{mark}"
    for test, wanted in tests.items():
        yield Unit(f"{name}: {test}{' on a GPU' if gpu else ''}",
                   [str(program), "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={wanted}"],
                   str(program.parent), gpu)


def python_units(folder):
    sys.path.insert(0, str(folder))
    for file in sorted(folder.glob("test_*.py")):
        for suite in unittest.defaultTestLoader.loadTestsFromName(file.stem):
            for test in suite:
                yield Unit(f"tool: {test.id()}", ["python3", "-B", "-m", "unittest", "-f", test.id()], str(folder))


def units_of(tree, build, cuda, tool_alone=False):
    """All units of what was built, or those that look at the tool."""
    tests = build / "tests"
    if cuda:
        units = [u for gpu in (False, True) for u in gtest_units(tests / CUDA_FAULTS, CUDA_FAULTS, gpu, True)]
        return units + [u for p in GPU_PROGRAMS for u in gtest_units(tests / f"gsort_test_{p}", f"test_{p}", True)]
    programs = {name: tests / name for name in [f"gsort_test_{p}" for p in PROGRAMS] + ["gsort_test_host_faults"]}
    programs.update({name: tests / folder / name for name, folder in UNITS.items()})
    programs["gsort_unit_plan"] = tests / "gsort_unit_plan"
    units = [u for name, program in programs.items() for u in gtest_units(program, name[len("gsort_"):], False)]
    if tool_alone:
        units = []
    fuzz = tests / "fuzz"
    for name, list_name in (("gsort_test_fuzz", "corpus.txt"), ("gsort_test_fuzz_tool", "corpus_tool.txt")):
        units.append(Unit(f"{name}: random", [str(fuzz / name), "4000"], str(fuzz)))
        units.append(Unit(f"{name}: corpus", [str(fuzz / name), "--corpus", str(tree / "tests/fuzz" / list_name)],
                          str(fuzz)))
    return units + list(python_units(tree / "tests" / "tool"))


def environment_of(build, **more):
    return dict(os.environ, GSORT_TOOL=str(build / "tools" / "gsort"), PYTHONPATH="",
                GSORT_TOOL_FAULTS=str(build / "tests" / "tool" / "libgsort_tool_faults.so"), **ENVIRONMENT, **more)


def measure(unit, build, count, longest):
    """Runs it once for its time and what it reaches; why it cannot be used, '' if it can."""
    with tempfile.NamedTemporaryFile() as seen:
        seen.write(bytes(count))
        seen.flush()
        begin = time.monotonic()
        status, unit.seconds = run(unit, environment_of(build, GSORT_MUTANT_SEEN=seen.name), longest, 900)
        unit.waited = time.monotonic() - begin
        unit.seen = pathlib.Path(seen.name).read_bytes()
    if unit.seconds > longest:
        return "takes too long"
    return {0: "", 77: "skipped"}.get(status, f"fails without a mutant (status {status})")


def measured(units, switched, count, cache, jobs, longest):
    """The units that can be used, measured, as many at once as there will be. What was measured of the same program and
    sources is kept in `cache`."""
    sources = "".join(s.text for s in switched.sources.values())
    known = pickle.loads(cache.read_bytes()) if cache.exists() else {}
    digests = {}

    def key_of(unit):
        program = unit.command[0] if os.sep in unit.command[0] else unit.folder
        if program not in digests:
            files = [pathlib.Path(program)] if program != unit.folder else sorted(pathlib.Path(program).glob("*.py"))
            digests[program] = hashlib.sha256(sources.encode() + b"".join(f.read_bytes() for f in files)).digest()
        return unit.name, digests[program]

    def one(unit):
        key = key_of(unit)
        if key not in known:
            known[key] = (measure(unit, switched.build, count, longest), unit.seconds, unit.waited, unit.seen)
            if known[key][0] not in ("", "skipped"):
                print(f"mutants: left out, for it {known[key][0]}: {unit.name}", flush=True)
        why, unit.seconds, unit.waited, unit.seen = known[key]
        return why == ""

    with pool_of(jobs) as pool:
        usable = list(pool.map(one, units))
    cache.write_bytes(pickle.dumps({key_of(u): known[key_of(u)] for u in units}))
    return [u for u, use in zip(units, usable) if use]


def still_of(unit):
    return STILL_SECONDS + 10 * unit.waited


def limit_of(unit):
    """A thread that waits for a GPU takes a processor, for as long as the GPU has other work."""
    return 10 * unit.seconds + 20 if unit.gpu else 3 * unit.seconds + 2
