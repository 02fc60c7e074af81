#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times the Python package beside NumPy on host arrays, and beside CuPy and PyTorch on GPU arrays, in one run.

usage: python_compare.py [--quick] [--log2 10,16,...] [--types float32,...] [--gpu-only] [--runs N] [--csv FILE]

Every time is the median of wall-clock times, after one run to warm up, with the GPU waited for before and after. Both
sides of a row get the same data, and their results are compared. What is not installed, or finds no GPU, is named and
left out. The package must be found (PYTHONPATH=bindings/python GSORT_LIBRARY=build/libgsort.so.1).

np.argsort is called with kind="stable" and torch.sort with stable=True where indices are compared, because gsort's are
stable; np.partition gives the k greatest without order, gsort in order with their indices.
"""

import argparse
import csv
import datetime
import os
import platform
import statistics
import sys
import time

try:
    import gsort
    import numpy as np
except ImportError as error:
    sys.exit(f"python_compare: {error}")

FIELDS = ["work", "type", "n", "where", "peer", "gsort_ms", "peer_ms", "ratio", "equal"]


def optional(name, has_gpu):
    """The package if it is there and finds a GPU; otherwise a line that says why not, and None."""
    try:
        package = __import__(name)
    except ImportError:
        print(f"{name} is not installed for this Python: left out")
        return None
    try:
        if has_gpu(package):
            return package
        print(f"{name} finds no GPU: left out")
    except Exception as error:  # Of CuPy's own class, when there is no driver.
        print(f"{name} finds no GPU ({error}): left out")
    return None


def host_keys(dtype, n):
    random = np.random.default_rng(1)
    if np.dtype(dtype).kind in "ui":
        bounds = np.iinfo(dtype)
        return random.integers(bounds.min, bounds.max, n, dtype=dtype, endpoint=True)
    return random.random(n, dtype=dtype) - np.dtype(dtype).type(0.5)


class Compare:
    """Times one row at a time, prints it and keeps it."""

    def __init__(self, runs):
        self.runs, self.rows = runs, []

    def time(self, work, wait):
        """(median in milliseconds, result of the last run)."""
        result, times = None, []
        for run in range(self.runs + 1):
            result = None  # Its memory goes back before the clock runs.
            wait()
            begin = time.perf_counter()
            result = work()
            wait()
            if run:
                times.append(time.perf_counter() - begin)
        return statistics.median(times) * 1e3, result

    def row(self, name, keys, where, peer_name, ours, peer, equal, wait=lambda: None):
        try:
            our_ms, our_result = self.time(ours, wait)
            peer_ms, peer_result = self.time(peer, wait)
        except (MemoryError, RuntimeError) as error:
            print(f"{name:10} {len(keys):>11} {where:4} {peer_name:24} left out: {type(error).__name__}")
            return
        dtype = str(keys.dtype).rpartition(".")[2]
        row = dict(work=name, type=dtype, n=len(keys), where=where, peer=peer_name, gsort_ms=f"{our_ms:.4g}",
                   peer_ms=f"{peer_ms:.4g}", ratio=f"{peer_ms / our_ms:.2f}",
                   equal=bool(equal(our_result, peer_result)))  # fmt: skip
        self.rows.append(row)
        print(f"{name:10} {dtype:8} {row['n']:>11} {where:4} {peer_name:24} {our_ms:11.4f} {peer_ms:11.4f} "
              f"{row['ratio']:>8} {'equal' if row['equal'] else 'DIFFERENT'}", flush=True)  # fmt: skip

    def numpy(self, dtype, n, k):
        keys = host_keys(dtype, n)
        # As the functions of the module do where there is a GPU: host arrays go there.
        where = gsort.Sorter().info.backend
        self.row("sort", keys, where, "np.sort", lambda: gsort.sort(keys), lambda: np.sort(keys), np.array_equal)
        self.row("argsort", keys, where, "np.argsort stable", lambda: gsort.argsort(keys),
                 lambda: np.argsort(keys, kind="stable"), np.array_equal)  # fmt: skip
        self.row("topk", keys, where, "np.partition", lambda: gsort.topk(keys, k),
                 lambda: np.partition(keys, n - k)[n - k :],
                 lambda ours, theirs: np.array_equal(ours.values[::-1], np.sort(theirs)))  # fmt: skip
        self.row("sum", keys, where, "np.sum", lambda: gsort.sum(keys), lambda: np.sum(keys, dtype=sum_type(dtype)),
                 lambda ours, theirs: np.isclose(float(ours), float(theirs), rtol=1e-9, atol=1e-6 * n))  # fmt: skip

    def cupy(self, cupy, dtype, n):
        keys = cupy.asarray(host_keys(dtype, n))
        wait = cupy.cuda.runtime.deviceSynchronize
        self.row("sort", keys, "gpu", "cupy.sort", lambda: gsort.sort(keys), lambda: cupy.sort(keys),
                 lambda a, b: bool((a == b).all()), wait)  # fmt: skip
        self.row("argsort", keys, "gpu", "cupy.argsort", lambda: gsort.argsort(keys), lambda: cupy.argsort(keys),
                 lambda a, b: bool((keys[a] == keys[b]).all()), wait)  # fmt: skip

    def torch(self, torch, dtype, n, k):
        keys = torch.from_numpy(host_keys(dtype, n)).cuda()
        wait = torch.cuda.synchronize
        self.row("sort", keys, "gpu", "torch.sort", lambda: gsort.sort(keys), lambda: torch.sort(keys).values,
                 torch.equal, wait)  # fmt: skip
        self.row("argsort", keys, "gpu", "torch.argsort stable", lambda: gsort.argsort(keys),
                 lambda: torch.argsort(keys, stable=True), torch.equal, wait)  # fmt: skip
        self.row("topk", keys, "gpu", "torch.topk", lambda: gsort.topk(keys, k), lambda: torch.topk(keys, k),
                 lambda a, b: torch.equal(a.values, b.values), wait)  # fmt: skip
        self.row("sum", keys, "gpu", "torch.sum", lambda: gsort.sum(keys), lambda: torch.sum(keys),
                 lambda a, b: abs(float(a) - float(b)) <= 1e-6 * n, wait)  # fmt: skip


def sum_type(dtype):
    return "uint64" if np.dtype(dtype).kind == "u" else None


def facts_of(packages):
    info = gsort.Sorter().info
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    versions = ", ".join(f"{package.__name__} {package.__version__}" for package in packages if package)
    return (f"{now} | {info.backend}: {info.device_name} | {len(os.sched_getaffinity(0))} processors | Python "
            f"{platform.python_version()}, {versions}, gsort {gsort.version()}")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one length and one type")
    parser.add_argument("--log2", default="10,16,20,24,28", help="lengths")
    parser.add_argument("--types", default="float32,float64,int32,int64")
    parser.add_argument("--gpu-only", action="store_true", help="leave NumPy out, which takes long")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    cupy = optional("cupy", lambda package: package.cuda.runtime.getDeviceCount() > 0)
    torch = optional("torch", lambda package: package.cuda.is_available())
    facts = facts_of((np, cupy, torch))
    print(facts)
    print(f"{'work':10} {'type':8} {'n':>11} {'':4} {'peer':24} {'gsort ms':>11} {'peer ms':>11} {'ratio':>8}")
    compare = Compare(arguments.runs)
    lengths = (20,) if arguments.quick else [int(log2) for log2 in arguments.log2.split(",")]
    types = ("float32",) if arguments.quick else arguments.types.split(",")
    for log2 in lengths:
        for dtype in types:
            k = min(256, 2**log2)
            if not arguments.gpu_only:
                compare.numpy(dtype, 2**log2, k)
            if cupy:
                compare.cupy(cupy, dtype, 2**log2)
            if torch:
                compare.torch(torch, dtype, 2**log2, k)
    if arguments.csv:
        with open(arguments.csv, "w", encoding="utf-8", newline="") as file:
            file.write(f"# {facts}\n")
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(compare.rows)
    different = [row for row in compare.rows if not row["equal"]]
    if different:
        print(f"{len(different)} rows differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
