#!/usr/bin/env python3
"""Times the CPU's non-uniform FFT against FINUFFT in one run: 2-D, complex float32, 2048 x 2048 modes, random points.

    bench/nufft_finufft.py build/cpu/bench/holotone_bench [--points 1000000 10000000] [--rounds 3] [--processor-time]

Needs Python with numpy and finufft. The benchmark program and FINUFFT run in turn, case by case, so that both see the same
load; each takes its best round. Both get OMP_NUM_THREADS, or every thread; with --processor-time one thread each, timed by
the processor's clock, for a machine that does other work meanwhile. Neither side's sums are compared with the
other's: the benchmark checks its own against the float64 sum, and the script FINUFFT's, at 16 modes.
"""
import argparse
import json
import subprocess
import sys
import time

MODES = 2048
TOLERANCES = ("1e-3", "1e-5")


def own_row(program, stage, points, tolerance, rounds, processor_time):
    """{milliseconds, rel_error} of the benchmark's row: its best repetition."""
    name = f"nufft/{stage}/{MODES}/{points}/{tolerance}"
    command = [program, "--device", "cpu", f"--benchmark_filter=^{name}(/manual_time|$)",
               f"--benchmark_repetitions={rounds}", "--benchmark_min_time=0.01", "--benchmark_format=json"]
    if processor_time:
        command.append("--processor-time")
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["benchmarks"]
    rows = [row for row in rows if row["run_type"] == "iteration"]
    if not rows or any(row.get("error_occurred") for row in rows):
        raise RuntimeError(f"{name}: {rows[0]['error_message'] if rows else 'no such row'}")
    return {"ms": min(row["real_time"] for row in rows), "rel_error": rows[0]["rel_error"]}


def finufft_rows(points, tolerance, rounds, processor_time):
    """{stage: {milliseconds, rel_error}} of FINUFFT for the same sizes."""
    import finufft
    import numpy

    clock = time.process_time if processor_time else time.perf_counter
    options = {"nthreads": 1} if processor_time else {}
    random = numpy.random.default_rng(1)
    x, y = ((2 * numpy.pi * random.random(points) - numpy.pi).astype(numpy.float32) for _ in range(2))
    strengths = (random.random(points) - 0.5 + 1j * (random.random(points) - 0.5)).astype(numpy.complex64)
    best = {}
    modes = None
    for kind in (1, 2):
        plan = finufft.Plan(kind, (MODES, MODES), 1, float(tolerance), -1 if kind == 1 else 1, dtype="complex64",
                            **options)
        for _ in range(rounds):
            start = clock()
            plan.setpts(y, x)
            sorted_at = clock()
            result = plan.execute(strengths if kind == 1 else modes)
            end = clock()
            for stage, seconds in (("set_points", sorted_at - start), (f"type{kind}", end - sorted_at)):
                best[stage] = min(best.get(stage, float("inf")), 1e3 * seconds)
        if kind == 1:
            modes = result
    picks = random.integers(-MODES // 2, MODES // 2, (16, 2))
    expected = numpy.array([numpy.sum(strengths * numpy.exp(-1j * (ky * y.astype(float) + kx * x.astype(float))))
                            for ky, kx in picks])
    got = numpy.array([modes[ky + MODES // 2, kx + MODES // 2] for ky, kx in picks])
    error = float(numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected))
    return {stage: {"ms": ms, "rel_error": error if stage == "type1" else None} for stage, ms in best.items()}


def table(rows):
    """Lines of a table from (stage, points, tolerance, own, other) rows."""
    lines = [f"{'stage':<12}{'points':>10}{'tolerance':>11}{'holotone ms':>13}{'finufft ms':>12}{'ratio':>7}"
             f"{'holotone error':>16}{'finufft error':>15}"]
    for stage, points, tolerance, ours, other in rows:
        errors = [f"{side['rel_error']:.1e}" if side["rel_error"] is not None else "-" for side in (ours, other)]
        lines.append(f"{stage:<12}{points:>10}{tolerance:>11}{ours['ms']:>13.1f}{other['ms']:>12.1f}"
                     f"{other['ms'] / ours['ms']:>7.2f}{errors[0]:>16}{errors[1]:>15}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="holotone_bench of an optimised build")
    parser.add_argument("--points", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processor-time", action="store_true")
    arguments = parser.parse_args()
    try:
        import finufft
    except ImportError:
        sys.exit("nufft_finufft.py: needs Python with numpy and finufft: install them in a virtual environment")
    print(f"finufft {finufft.__version__}, 2-D, complex float32, {MODES} x {MODES} modes"
          f"{', one thread, processor time' if arguments.processor_time else ''}; ratio above 1: holotone is faster")
    rows = []
    for points in arguments.points:
        for tolerance in TOLERANCES:
            other = finufft_rows(points, tolerance, arguments.rounds, arguments.processor_time)
            for stage in ("type1", "type2", "set_points"):
                ours = own_row(arguments.program, stage, points, tolerance, arguments.rounds,
                              arguments.processor_time)
                rows.append((stage, points, tolerance, ours, other[stage]))
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
