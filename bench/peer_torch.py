#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times PyTorch's sort, top-k and sum on the GPU, in rows named like those of gsort_bench.

usage: peer_torch.py [--quick] [--max-log2 N] [--runs N] [--csv FILE]

Every time is the median of device-event times. Without PyTorch, or without a GPU that it can use, it says so and
succeeds: this peer is optional. torch.topk breaks ties arbitrarily and torch.sum rounds at every step; gsort does not.
"""
import argparse
import csv
import datetime
import sys

FIELDS = ["suite", "work", "type", "n", "distribution", "torch_ms", "torch_least_ms", "runs", "gkey_s", "gb_s"]


def median_time(torch, work, runs):
    """(median, least) in milliseconds, after two runs to warm up."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for run in range(runs + 2):
        begin.record()
        work()
        end.record()
        end.synchronize()
        if run >= 2:
            times.append(begin.elapsed_time(end))
    times.sort()
    return times[len(times) // 2], times[0]


def keys(torch, type_name, n, distribution):
    """Data of the same kind as gsort_bench's, though not the same numbers."""
    torch.manual_seed(1)
    if type_name in ("i32", "i64"):
        dtype = {"i32": torch.int32, "i64": torch.int64}[type_name]
        bounds = torch.iinfo(dtype)
        return torch.randint(bounds.min, bounds.max, (n,), dtype=dtype, device="cuda")
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}[type_name]
    if distribution == "normal":
        return torch.randn(n, dtype=dtype, device="cuda")
    if distribution == "constant":
        return torch.full((n,), 0.5, dtype=dtype, device="cuda")
    uniform = torch.rand(n, dtype=dtype, device="cuda")
    return uniform.sort().values if distribution == "sorted" else uniform


def sort_rows(quick):
    yield from (("f32", log2, "uniform") for log2 in ((20, 26) if quick else range(10, 29, 2)))
    if not quick:
        yield from (("i32", 28, "uniform"), ("i64", 28, "uniform"), ("f64", 28, "uniform"))
        yield from (("f32", 28, "constant"), ("f32", 28, "sorted"), ("f32", 28, "normal"))


def topk_rows(quick):
    yield from ((1, 2**24, 256),) if quick else ((1, 2**28, 10), (1, 2**28, 256), (1, 2**28, 4096))
    yield from ((1, 2**16, 256), (1, 2**20, 256), (1, 2**24, 256)) if not quick else ()
    shapes = ((64, 32000), (1024, 32000), (8192, 1024), (100, 2**20))
    for rows, columns in shapes[:2] if quick else shapes:
        for k in (256,) if quick else (1, 10, 256, 2048):
            if k <= columns:
                yield rows, columns, k


def sum_rows(quick):
    yield from (("f32", 2**24), ("f32", 2**28)) if quick else (
        ("f32", 2**16), ("f32", 2**20), ("f32", 2**24), ("f32", 1536 * 20480), ("f32", 2**28), ("f32", 2**30),
        ("f64", 2**28), ("f16", 2**28), ("bf16", 2**28), ("i32", 2**28))


class Runner:
    """Times one row at a time, prints it and keeps it."""

    def __init__(self, torch, runs):
        self.torch, self.runs, self.rows = torch, runs, []

    def row(self, suite, work_name, type_name, n, distribution, bytes_moved, work):
        try:
            median, least = median_time(self.torch, work, self.runs)
        except self.torch.cuda.OutOfMemoryError:
            print(f"{work_name:32} {n:12} {distribution:15} skipped: not enough device memory")
            return
        gkey_s, gb_s = n / median * 1e-6, bytes_moved / median * 1e-6
        values = (suite, work_name, type_name, n, distribution, f"{median:.6g}", f"{least:.6g}", self.runs,
                  f"{gkey_s:.6g}", f"{gb_s:.6g}")
        self.rows.append(dict(zip(FIELDS, values)))
        print(f"{work_name:32} {n:12} {distribution:15} {median:10.4f} {gkey_s:8.2f} {gb_s:8.0f}", flush=True)

    def sort(self, type_name, log2, distribution):
        data = keys(self.torch, type_name, 2**log2, distribution)
        size = data.numel() * data.element_size()
        self.row("sort", f"sort {type_name}", type_name, 2**log2, distribution, 2 * size, lambda: self.torch.sort(data))

    def topk(self, rows, columns, k):
        data = keys(self.torch, "f32", rows * columns, "uniform").view(rows, columns)
        name = f"topk f32 k={k}" if rows == 1 else f"topk rows f32 {rows}x{columns} k={k}"
        self.row("select", name, "f32", rows * columns, "uniform", 4 * rows * columns,
                 lambda: self.torch.topk(data, k, dim=1, largest=True, sorted=True))

    def sum(self, type_name, n):
        data = keys(self.torch, type_name, n, "uniform")
        size = n * data.element_size()
        self.row("sum", f"sum {type_name}", type_name, n, "uniform", size, lambda: self.torch.sum(data))


def write_csv(path, facts, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"# {facts}\n")
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--max-log2", type=int, default=33)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("peer_torch: PyTorch is not installed for this Python, nothing was timed")
        return 0
    if not torch.cuda.is_available():
        print("peer_torch: PyTorch finds no GPU, nothing was timed")
        return 0
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    facts = f"{now} | {torch.cuda.get_device_name()} | PyTorch {torch.__version__} | CUDA {torch.version.cuda}"
    print(facts)
    print(f"{'work':32} {'n':>12} {'distribution':15} {'torch ms':>10} {'Gkey/s':>8} {'GB/s':>8}")
    runner = Runner(torch, arguments.runs)
    largest = 2**arguments.max_log2
    for type_name, log2, distribution in sort_rows(arguments.quick):
        if 2**log2 <= largest:
            runner.sort(type_name, log2, distribution)
    for rows, columns, k in topk_rows(arguments.quick):
        if rows * columns <= largest:
            runner.topk(rows, columns, k)
    for type_name, n in sum_rows(arguments.quick):
        if n <= largest:
            runner.sum(type_name, n)
    if arguments.csv:
        write_csv(arguments.csv, facts, runner.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
