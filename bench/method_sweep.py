#!/usr/bin/env python3
"""Compares `auto` with the best method of each scene of a sweep; exits with 1 if it takes more than --ratio times as long.

    build/cuda/bench/holotone_bench --device cuda:0 --sweep --benchmark_filter=sweep --benchmark_out=out/sweep.json
    bench/method_sweep.py out/sweep.json

A row is hologram/sweep/SCENE/POINTS/METHOD. Differences below --least-ms do not count: some launches.
"""
import argparse
import json
import pathlib
import re
import sys

MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def find_scenes(results):
    """{scene: {method: (ms, label)}} of Google Benchmark's JSON; rows with errors are left out."""
    scenes = {}
    for row in results["benchmarks"]:
        match = re.match(r"hologram/sweep/(\S+/\d+)/(\w+)", row["name"])
        if match and not row.get("error_occurred"):
            milliseconds = row["real_time"] * MILLISECONDS[row["time_unit"]]
            scenes.setdefault(match[1], {})[match[2]] = (milliseconds, row.get("label", ""))
    return scenes


def compare(scenes):
    """[(ratio, scene, ms of auto, its label, best method, its ms)], largest ratio first."""
    found = []
    for scene, methods in scenes.items():
        if "auto" not in methods or len(methods) < 2:
            continue
        best, (least, _) = min(((name, one) for name, one in methods.items() if name != "auto"),
                               key=lambda pair: pair[1][0])
        time, label = methods["auto"]
        found.append((time / least, scene, time, label, best, least))
    return sorted(found, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="file of --benchmark_out")
    parser.add_argument("--ratio", type=float, default=2, help="largest allowed time of auto over the best")
    parser.add_argument("--least-ms", type=float, default=0.1, help="difference that does not count")
    options = parser.parse_args()
    rows = compare(find_scenes(json.loads(pathlib.Path(options.results).read_text())))
    if not rows:
        sys.exit(f"method_sweep.py: {options.results}: expected rows hologram/sweep/* (holotone_bench --sweep)")
    for ratio, scene, time, label, best, least in rows:
        print(f"{ratio:6.2f}  {scene:34} auto {time:9.3f} ms ({label}), {best} {least:9.3f} ms")
    slow = [row for row in rows if row[0] > options.ratio and row[2] - row[5] > options.least_ms]
    print(f"{len(rows)} scenes, {len(slow)} of them slower than {options.ratio:g} times the best")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
