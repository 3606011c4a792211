#!/usr/bin/env python3
"""Merges rows of Google Benchmark's JSON into a results file by name and backend; each row keeps the
commit it was built from.

    ./build/cpu/bench/holotone_bench --device cpu --benchmark_out=/tmp/new.json
    bench/merge.py /tmp/new.json bench/results/cpu.json

A row that is there already is replaced; rows the new run does not have stay. Times are in milliseconds. With
--benchmark_repetitions=N the median row counts. Rows that failed their check, and rows of another device than the
file's, are refused with exit code 1 and the file is left alone.
"""
import argparse
import json
import os
import re
import secrets
import sys

CONTEXT_KEYS = ("commit", "device", "device_units", "driver", "backend", "clock", "date_utc")
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def natural_key(name):
    """hologram/direct/1024 before hologram/direct/30720."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def plain_name(name):
    """The registered name, without what Google Benchmark appends about how the row was timed."""
    return re.sub(r"/(iterations:\d+|repeats:\d+|min_time:[\d.]+s?|manual_time|real_time|process_time)(?=/|$)", "", name)


def row_key(row):
    """A file may hold a row by CUDA and by OpenCL."""
    return row["name"], row.get("backend", "unknown")


def read_rows(run):
    """The rows of one run: name, times in ms, counters, and what the run says of itself. Raises ValueError."""
    context = {key: run["context"].get(key, "unknown") for key in CONTEXT_KEYS}
    repeated = {row["run_name"] for row in run["benchmarks"] if row.get("aggregate_name") == "median"}
    rows = {}
    for row in run["benchmarks"]:
        if row.get("error_occurred"):
            raise ValueError(f"{row['name']}: {row.get('error_message', 'failed')}")
        if row["run_name"] in repeated and row.get("aggregate_name") != "median":
            continue
        scale = MILLISECONDS[row["time_unit"]]
        merged = {"name": plain_name(row["run_name"]), "real_time": row["real_time"] * scale, "cpu_time": row["cpu_time"] * scale,
                  "time_unit": "ms", "iterations": row["iterations"]}
        known = {"name", "run_name", "run_type", "family_index", "per_family_instance_index", "repetitions",
                 "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit", "aggregate_name",
                 "aggregate_unit"}
        merged.update({key: value for key, value in row.items() if key not in known})
        merged.update(context)
        rows[row_key(merged)] = merged
    return rows


def merge(run, results):
    """`results` with the rows of `run`; either may be a parsed Google Benchmark file. Raises ValueError."""
    rows = {row_key(row): row for row in results.get("benchmarks", [])}
    new = read_rows(run)
    devices = {row["device"] for row in rows.values()} | {row["device"] for row in new.values()}
    if len(devices) > 1:
        raise ValueError(f"rows of different devices: {', '.join(sorted(devices))}")
    rows.update(new)
    return {"context": {"device": next(iter(devices), "unknown"), "time_unit": "ms"},
            "benchmarks": [rows[key] for key in sorted(rows, key=lambda key: (natural_key(key[0]), key[1]))]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="JSON that holotone_bench wrote")
    parser.add_argument("results", help="results file to merge into; made if it is not there")
    arguments = parser.parse_args()
    try:
        with open(arguments.run, encoding="utf-8") as file:
            run = json.load(file)
        results = {}
        if os.path.exists(arguments.results):
            with open(arguments.results, encoding="utf-8") as file:
                results = json.load(file)
        merged = merge(run, results)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"merge.py: {error}")
    if run["context"].get("commit", "").endswith("-dirty"):
        print("merge.py: the run was built from a tree with uncommitted changes", file=sys.stderr)
    os.makedirs(os.path.dirname(os.path.abspath(arguments.results)), exist_ok=True)
    partial = f"{arguments.results}.{secrets.token_hex(8)}.partial"
    with open(partial, "x", encoding="utf-8") as file:  # "x": follows no link
        try:
            json.dump(merged, file, indent=1)
            file.write("\n")
            file.flush()
            os.replace(partial, arguments.results)
        except BaseException:
            os.unlink(partial)
            raise
    print(f"{arguments.results}: {len(merged['benchmarks'])} rows")


if __name__ == "__main__":
    main()
