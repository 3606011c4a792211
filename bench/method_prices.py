#!/usr/bin/env python3
"""Fits the prices of the methods of a sum over points to measured rows, and compares them with those that the library uses.

    build/cuda/bench/holotone_bench --device cuda:0 --prices --benchmark_filter=price --benchmark_out=out/prices.json
    bench/merge.py out/prices.json bench/results/h200.json
    bench/method_prices.py bench/results/h200.json

A row is hologram/price/METHOD/TOLERANCE/POINTS. Prices, in picoseconds: time = pixels (fixed + points * pair), the line with the
least sum of squared relative differences. The library's are read from holotone/hologram/point_cloud/choice/method.cpp.
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "holotone/hologram/point_cloud/choice/method.cpp"
PIXELS = 1920 * 1080
TIERS = {"1e-3": "cuda_prices", "1e-4": "cuda_fine_prices", "1e-5": "cuda_finest_prices"}


def times_of(results):
    """{(method, tolerance): [(points, ms)]} of a results file."""
    times = {}
    for row in results["benchmarks"]:
        match = re.fullmatch(r"hologram/price/(\w+)/([\de-]+)/(\d+)", row["name"])
        if match:
            method, tolerance, points = match.groups()
            times.setdefault((method, tolerance), []).append((int(points), row["real_time"]))
    return {key: sorted(line) for key, line in times.items()}


def fit(line):
    """(fixed, pair) in picoseconds of [(points, ms)]: both at least 0."""
    samples = [(points, 1e9 * ms / PIXELS) for points, ms in line]
    one = sum(1 / p**2 for _, p in samples)
    x = sum(n / p**2 for n, p in samples)
    xx = sum(n * n / p**2 for n, p in samples)
    y = sum(1 / p for _, p in samples)
    xy = sum(n / p for n, p in samples)
    determinant = one * xx - x * x
    if determinant > 0:
        fixed, pair = (y * xx - xy * x) / determinant, (one * xy - x * y) / determinant
        if fixed >= 0 and pair >= 0:
            return fixed, pair
    # On an edge of the allowed prices one of them is 0.
    through_zero, constant = (0.0, xy / xx), (y / one, 0.0)
    return min(through_zero, constant, key=lambda price: worst(price, line, sum))


def predicted_ms(price, points):
    return 1e-9 * PIXELS * (price[0] + points * price[1])


def worst(price, line, of=max):
    """The largest relative difference between predicted and measured times."""
    return of(abs(predicted_ms(price, points) / ms - 1) for points, ms in line)


def prices_in(source):
    """{name of an array: {method: (fixed, pair)}} of method.cpp."""
    found = {}
    for name, body in re.findall(r"std::array<MethodPrice, 3> (\w+) = \{\s*(.*?)\};", source, re.S):
        found[name] = {method: (float(fixed), float(pair))
                       for method, fixed, pair in re.findall(r"PointMethod::(\w+), ([\d.]+), ([\d.]+)\}", body)}
    return found


def table(results, source):
    times = times_of(results)
    if not times:
        raise ValueError("no rows hologram/price/* (holotone_bench --prices)")
    used = prices_in(source)
    cpu = any(row.get("backend") == "cpu" for row in results["benchmarks"] if "/price/" in row["name"])
    lines = ["| method | tolerance | fixed, ps | pair, ps | off by | the library's | off by |", "|" + " --- |" * 7]
    for (method, tolerance), line in sorted(times.items(), key=lambda entry: (-float(entry[0][1]), entry[0][0])):
        price = fit(line)
        place = used["cpu_prices" if cpu else TIERS[tolerance]][method]
        lines.append(f"| {method} | {tolerance} | {price[0]:.3g} | {price[1]:.3g} | {worst(price, line):.0%} | "
                     f"{place[0]:g}, {place[1]:g} | {worst(place, line):.0%} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="file of bench/results with rows of --prices")
    arguments = parser.parse_args()
    try:
        results = json.loads(pathlib.Path(arguments.results).read_text(encoding="utf-8"))
        print(table(results, SOURCE.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"method_prices.py: {error}")


if __name__ == "__main__":
    main()
