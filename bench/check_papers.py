#!/usr/bin/env python3
"""Runs a program of a paper's tables at small sizes and checks what its JSON says, all but the times.

    bench/check_papers.py build/cpu/bench/paper_mitani [--device cpu]

CTest runs it for each program on the CPU, and for those with a paper's OpenCL kernels on opencl:0
(bench/CMakeLists.txt). Without the device it exits with 77. PROGRAMS holds one line for each: its arguments and its checks.
Published numbers are copied from the papers, not from the programs.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

HEAD = ("program", "commit", "device", "backend", "device_units", "driver", "clock", "date_utc", "small")

SHIMOBABA_COLUMNS = ("points", "published_cpu_ms", "published_gtx260_ms", "published_hd5850_plain_ms", "published_hd5850_ms")
SHIMOBABA_TABLE_1 = [(512, 30e3, 33, 215, 19), (1024, 59e3, 59, 422, 31), (1536, 88e3, 85, 630, 44), (2048, 115e3, 112, 838, 56),
                     (2560, 146e3, 139, 1045, 68), (3072, 174e3, 165, 1252, 80), (3584, 204e3, 192, 1464, 93)]

SHIMOBABA_OPENCL = ("plain", "optimised", "vectors_of_4", "without_recurrence", "without_local_memory", "without_unrolling",
                    "without_vectors", "without_native_cosine")

GWOSDEK_COLUMNS = ("published_direct_cpu_ms", "published_fast_cpu_ms", "published_direct_gpu_ms", "published_fast_gpu_ms")
GWOSDEK_TABLE_1 = [(2120, 840, 30, 20), (33900, 3650, 430, 70), (542640, 14740, 6620, 280), (8853460, 57950, 103610, 1200)]
GWOSDEK_THEIRS = ("their_direct_ms", "their_fast_ms", "their_direct_over_ewald", "their_fast_over_ewald", "their_direct_error",
                  "their_fast_error", "their_fast_error_wide_map", "their_fast_error_by_plane", "their_neighbours",
                  "their_neighbours_missed", "their_dots_without_cell")
GWOSDEK_STAGES = {"cpu": ["sort", "spread", "transforms", "far field and image", "neighbours", "move"],
                  "gpu": ["spread", "transforms", "forces and move", "sort"]}  # in order of execution
GWOSDEK_SPEEDUPS = ("fast_over_direct_cpu", "fast_over_direct_gpu", "gpu_over_cpu_direct", "gpu_over_cpu_fast", "total")
GWOSDEK_TABLE_1_SPEEDUPS = [(2.54, 1.62, 70.67, 41.12, 104.38), (9.28, 6.69, 78.84, 56, 519.85), (36.81, 24.06, 81.97, 53.58, 1972.48),
                            (152.78, 86.17, 85.45, 48.2, 7363.5)]
GWOSDEK_FORCES = ([f"Taylor, m = p = {m}" for m in (3, 4, 5)], [f"Taylor, p / n, m = p = {m}" for m in (3, 4, 5)])

AVRAMELOS_MODES = ["fast, float32", "slow, float32", "fast, float64", "11 a pass, fast", "11 a pass, slow", "SmoeRenderer fast",
                   "SmoeRenderer robust"]
AVRAMELOS_LIBRARY = 2  # the last modes
AVRAMELOS_GROUPS = [f"11 a pass, {mode}{memory}" for memory in ("", ", no local memory") for mode in ("fast", "slow")]
AVRAMELOS_COLUMNS_2 = ("model", "published_serial_ms", "published_quasar_ms", "published_quasar_shared_ms", "published_opencl_ms")
AVRAMELOS_TABLE_2 = [("Lena 2D", 1200, 0.8, 0.3, 0.5), ("Car 2D", 3500, 2.1, 0.7, 1.3), ("Bikes 4D", 3500, 12, 3.6, 2.9),
                     ("Friends 4D", 3900, 13.1, 4.1, 4.3)]
AVRAMELOS_COLUMNS_3 = ("block", "published_quasar_up_us", "published_quasar_down_us", "published_opencl_up_us")
AVRAMELOS_TABLE_3 = [("16", 67, 92, 0.3), ("32", 65, 96, 1.1), ("64", 69, 113, 4.4), ("128", 83, 119, 17), ("256", 131, 172, 71)]
AVRAMELOS_FRAME = ("kernels", "ms", "error", "utilisation")
AVRAMELOS_COLUMNS_4 = ("block", "published_kernels", "published_titan_ms", "published_960m_ms")
AVRAMELOS_TABLE_4 = [(16, 100.9, 11.7, 51.7), (32, 177.95, 18.8, 69.1), (64, 398.59, 36.1, 151.3), (128, 1087.3, 92.7, 483.4),
                     (256, 3665.5, 309.6, 1750.1), (16, 100.9, 44.4, 155.1), (32, 177.95, 69.6, 269.6), (64, 398.59, 141.6, 816.7),
                     (128, 1087.3, 365.5, 1634.8), (256, 3665.5, 2229.6, 0)]

LAGRANGE_TABLE_3 = [("p = 1", 1, 0.164), ("p = 3", 3, 0.304), ("p = 6", 6, 0.507), ("CPU, p free", 0, 19.24)]


class Checks(unittest.TestCase):
    """Assertions on tables: lists of dictionaries with the same keys."""
    longMessage = True

    def published(self, rows, columns, expected):
        """The rows hold the paper's numbers, in its order."""
        self.assertEqual(len(rows), len(expected))
        for row, wanted in zip(rows, expected):
            for column, value in zip(columns, wanted):
                if isinstance(value, str):
                    self.assertEqual(row[column], value)
                else:
                    self.assertAlmostEqual(row[column], value, delta=1e-9 * abs(value), msg=f"{column} of {row}")

    def columns(self, rows, keys, optional=()):
        """Every row has every key, and no other."""
        for row in rows:
            self.assertEqual(set(row) - set(optional), set(keys), f"keys of {row}")

    def below(self, rows, key, most):
        """0 < row[key] <= most, with the remaining slack printed."""
        largest = max(row[key] for row in rows)
        print(f"  {key}: at most {largest:.2e}, {most:g} allowed")
        for row in rows:
            self.assertTrue(0 < row[key] <= most, f"{key} of {row} is above {most}")

    def numbers(self, value, path=""):
        """Numbers are finite, and times above 0. JSON has no NaN: the programs write null."""
        if isinstance(value, dict):
            for key, wanted in value.items():
                self.numbers(wanted, f"{path}.{key}")
        elif isinstance(value, list):
            for i, wanted in enumerate(value):
                self.numbers(wanted, f"{path}[{i}]")
        else:
            self.assertIsNotNone(value, path)
            if isinstance(value, float):
                self.assertTrue(math.isfinite(value), path)
            if path.endswith(("_ms", "_us", "seconds")) and ".published" not in path:
                self.assertGreater(value, 0, path)


def backend_name(table):
    """cpu, cuda or opencl"""
    return table["backend"].split(":")[0]


def point_clouds(check, table, columns, methods):
    """Rows with `columns` and, for each method, a time and an error within the papers' case's tolerance."""
    check.columns(table["rows"], columns + ("rel_error",) + tuple(f"{method}_{of}" for method in methods for of in ("ms", "error")))
    for method in methods:
        check.below(table["rows"], f"{method}_error", 1e-3)
    for row in table["rows"]:
        check.assertEqual(row["rel_error"], row[f"{methods[-1]}_error"])


def shimobaba(check, table):
    methods = {"cpu": ("loops",), "opencl": SHIMOBABA_OPENCL}.get(backend_name(table), ("plain", "optimised"))
    library = ("direct", "recurrence") if backend_name(table) == "opencl" else ("direct", "recurrence", "separable")
    point_clouds(check, table, SHIMOBABA_COLUMNS, methods + library)
    check.published(table["rows"], SHIMOBABA_COLUMNS, SHIMOBABA_TABLE_1)


def mitani(check, table):
    methods = ("loops",) if table["backend"] == "cpu" else ("old", "new")
    point_clouds(check, table, ("points", "published"), methods + ("direct", "separable"))
    check.assertEqual([row["points"] for row in table["rows"]], [1000, 2000, 5000, 10000])


def gwosdek(check, table):
    rows = table["table_1"]
    check.columns(rows, GWOSDEK_COLUMNS + GWOSDEK_THEIRS + ("dots", "direct_ms", "ewald_ms", "constructor_ms", "ink_ms", "force_error"),
                  ("taylor_ms",))
    check.published(rows, GWOSDEK_COLUMNS, GWOSDEK_TABLE_1)
    check.assertEqual([row["dots"] for row in rows], [2**n // 64 for n in (14, 16, 18, 20)])
    check.below(rows, "force_error", 5e-4)
    check.below(rows, "their_direct_error", 1e-3)
    check.below(rows, "their_fast_error", 0.4)  # a random start: the map misses neighbours
    check.below(rows, "their_fast_error_wide_map", 5e-3)
    for row in rows:
        check.assertEqual(row["their_dots_without_cell"], 0)
        check.assertGreater(row["their_fast_error_by_plane"], 20 * row["their_fast_error_wide_map"])
        check.assertLess(row["their_neighbours_missed"], 0.1 * row["their_neighbours"])
        for sum in ("direct", "fast"):
            check.assertAlmostEqual(row[f"their_{sum}_over_ewald"] * row["ewald_ms"], row[f"their_{sum}_ms"], delta=1e-9 * row[f"their_{sum}_ms"])
    forces = table["image_forces"]
    check.assertEqual([(row["image"], row["edge_correction"]) for row in forces], [("spots", 0.2), ("points", 0.2), ("points", 0)])
    check.assertGreater(forces[0]["psnr_db"], forces[2]["psnr_db"] + 1)
    check.assertGreater(forces[2]["psnr_db"], forces[1]["psnr_db"] + 1)
    check.columns(table["figure_6"], ("dots", "direct_ms", "fast_ms"))
    check.assertEqual([row["pixels"] for row in table["figure_7"]], [round(math.sqrt(row["dots"] / 0.6))**2 for row in rows])
    check.assertEqual([row["stage"] for row in table["figure_8"]], GWOSDEK_STAGES["cpu" if table["backend"] == "cpu" else "gpu"])
    gwosdek_times(check, table)
    gwosdek_halftones(check, table)


def gwosdek_times(check, table):
    """Speed-ups, pictures and what is done once."""
    here = [f"{sum}_{place}_ms" for sum in ("direct", "fast") for place in ("cpu", "gpu")] + list(GWOSDEK_SPEEDUPS)
    columns = tuple(f"published_{of}" for of in GWOSDEK_SPEEDUPS)
    check.columns(table["speedups"], columns + ("dots",), here)
    check.published(table["speedups"], columns, GWOSDEK_TABLE_1_SPEEDUPS)
    columns = ("published_fast_gpu_ms", "published_seconds", "dots", "pixels")
    check.columns(table["pictures"], columns + ("figure", "seconds"), here)
    check.published(table["pictures"], columns, [(33.6, 6.72, 30150 // 64, 32**2), (820, 164, 647770 // 64, 128**2)])
    for row in table["speedups"] + table["pictures"]:
        check.assertIn("fast_over_direct_cpu" if table["backend"] == "cpu" else "total", row)
    for key in ("figure_8_once", "figure_8_trui_once"):
        check.assertEqual([row["stage"] for row in table[key]][:3], ["shake", "tables and memory", "attraction of the image"])
    check.assertEqual([row["stage"] for row in table["figure_8_trui"]], [row["stage"] for row in table["figure_8"]])
    for row in table["figure_8"]:
        check.assertEqual(row["counts"], "each iteration")
        check.assertNotEqual(row["published_name"], "-", row["stage"])


def gwosdek_halftones(check, table):
    """Figures 4 and 5. The printed epsilon_I of p / n leaves its marks at m = p = 3, and Voronoi cells are less even."""
    radius, printed = GWOSDEK_FORCES
    psnr = {row["forces"]: row["psnr_db"] for row in table["figure_4"]}
    check.assertEqual(list(psnr), ["direct", *radius, *printed, "Ewald (default)", "capacity-constrained Voronoi"])
    for forces in [*radius, *printed[1:], "Ewald (default)"]:
        for by_method, direct in zip(psnr[forces][:4], psnr["direct"]):
            check.assertAlmostEqual(by_method, direct, delta=1, msg=forces)
    for forces in (printed[0], "capacity-constrained Voronoi"):
        check.assertLess(psnr[forces][1], psnr["direct"][1] - 2, forces)
    quality = {row["forces"]: row for row in table["quality"]}
    check.assertEqual(list(quality), ["direct, float64", *radius, *printed, "Ewald, 0.0005", "Ewald, 0.0001 (default)",
                                      "capacity-constrained Voronoi"])
    for forces in ["direct, float64", *radius, printed[2], "Ewald, 0.0001 (default)"]:
        check.assertLess(quality[forces]["largest_anisotropy_db"], 7, forces)
        check.assertAlmostEqual(quality[forces]["raps_peak_frequency"], math.sqrt(0.15 * 2 / math.sqrt(3)), delta=0.03, msg=forces)
    check.assertGreater(quality[printed[0]]["largest_anisotropy_db"], 12)
    check.assertGreater(quality[printed[0]]["mean_anisotropy_db"], 5)
    check.assertLess(quality["capacity-constrained Voronoi"]["raps_peak"], 0.6 * quality["direct, float64"]["raps_peak"])


def avramelos_columns(check, table, rows, keys, library, library_columns=()):
    """`library`: keys of SmoeRenderer, which may be absent on OpenCL; `own`: keys of OpenCL alone."""
    if backend_name(table) == "opencl":
        check.columns(rows, keys + library_columns, library)
    else:
        check.columns(rows, keys + library)


def avramelos_opencl(check, table, frames):
    """With and without local memory."""
    check.assertEqual([row["kernel"] for row in table["figure_9"]["groups"]], AVRAMELOS_GROUPS)
    for row in table["figure_9"]["groups"]:
        check.assertEqual(row["local_bytes"] >= 1024, "no local" not in row["kernel"], row)
        check.assertGreaterEqual(row["largest_group"], row["items"], row)
    check.assertEqual([(row["model"], row["local_memory"], row["mode"]) for row in table["differences"]],
                      [(row[0], local, mode) for row in AVRAMELOS_TABLE_2 for local in (True, False) for mode in ("fast", "slow")])
    check.below(table["differences"], "difference", 1e-4)
    for frame in frames:
        check.assertEqual("passes" in frame, "passes_global" in frame)
    passes = [frame["passes_global"] for frame in frames if "passes_global" in frame]
    check.columns(passes, AVRAMELOS_FRAME)
    check.below(passes, "error", 1e-4)


def avramelos(check, table):
    rows = table["table_1"]
    check.columns(rows, ("mode", "luminance_mse", "rmse", "largest", "pixels_beyond_rule", "pixels_beyond_error"))
    without = AVRAMELOS_LIBRARY if backend_name(table) == "opencl" else 0
    check.assertGreaterEqual(len(rows), len(AVRAMELOS_MODES) - without)
    check.assertEqual([row["mode"] for row in rows], AVRAMELOS_MODES[:len(rows)])
    check.below(rows, "largest", 4e-6)  # 14 bits by the largest error, as the paper has by its own rule
    check.below([rows[2]], "largest", 1e-12)  # the truth's other mode in the same arithmetic
    for row in rows:
        check.assertEqual(row["pixels_beyond_error"][:4], [0, 0, 0, 0], row["mode"])
        check.assertLessEqual(row["luminance_mse"], 3 * row["rmse"]**2, row["mode"])
        check.assertLessEqual(row["rmse"], row["largest"], row["mode"])
    check.published(table["table_2"], AVRAMELOS_COLUMNS_2, AVRAMELOS_TABLE_2)
    avramelos_columns(check, table, table["table_2"], AVRAMELOS_COLUMNS_2 + ("components", "serial_ms", "passes_ms", "passes_slow_ms"),
                      ("window_ms", "bounded_ms"), ("passes_global_ms",))
    check.assertIn("table_2_empty_list_ms", table)
    mapped = ("mapped_up_us", "mapped_down_us") if backend_name(table) == "opencl" else ()
    check.columns(table["table_3"], AVRAMELOS_COLUMNS_3 + mapped,
                  ("up_us", "down_us", "renderer_up_us", "renderer_down_us", "renderer_codes_us"))  # on a GPU
    check.published(table["table_3"], AVRAMELOS_COLUMNS_3, AVRAMELOS_TABLE_3)
    windows = [row for row in table["table_4"] if "block" in row]
    check.columns(windows, AVRAMELOS_COLUMNS_4 + ("model", "size", "at_16_px"), ("matching",))
    check.published(windows, AVRAMELOS_COLUMNS_4, AVRAMELOS_TABLE_4)
    frames = [row[key] for row in windows for key in ("matching", "at_16_px") if key in row]
    rendered = [frame for frame in frames if backend_name(table) != "opencl" or "ms" in frame]
    check.columns(rendered, AVRAMELOS_FRAME + ("window_px",), ("passes", "passes_global"))
    if rendered:
        check.below(rendered, "error", 1e-4)
    passes = [frame["passes"] for frame in frames if "passes" in frame]
    check.assertGreater(len(passes), 4)
    check.columns(passes, AVRAMELOS_FRAME)
    check.below(passes, "error", 1e-4)
    matching = [row for row in windows if "matching" in row]
    for row in matching:
        most = row["published_kernels"]
        for stage in (row["matching"], row["matching"].get("passes", {})):
            check.assertLessEqual(stage.get("kernels", 0), most + 0.01 * most, row["block"])
    for frame in rendered:  # lists of the same window, summed over blocks here and over tiles there
        if "passes" in frame:
            check.assertAlmostEqual(frame["kernels"], frame["passes"]["kernels"], delta=0.01 * frame["kernels"])
    bounded = [row["bounded"] for row in table["table_4"] if "bounded" in row]
    if bounded or backend_name(table) != "opencl":
        check.below(bounded, "error", 0.25 / 255)
    check.assertEqual(table["figure_9"]["published_occupancy"], 0.5)
    for kernel in table["figure_9"].get("kernels", []):  # on CUDA
        check.assertAlmostEqual(kernel["occupancy"], kernel["calculated"], delta=1e-9, msg=kernel["kernel"])
    avramelos_columns(check, table, table["figure_11"], ("model", "block", "components", "serial_ms", "passes_ms", "passes_utilisation"),
                      ("window_ms", "bounded_ms", "window_utilisation", "bounded_utilisation"),
                      ("passes_global_ms", "passes_global_utilisation"))
    check.assertEqual([(row["model"], row["block"]) for row in table["figure_11"]],
                      [(stage[0], side) for stage in AVRAMELOS_TABLE_2 for side in (16, 32, 64, 128)])
    if backend_name(table) == "opencl":
        avramelos_opencl(check, table, frames)


def lagrange(check, table):
    check.columns(table["table_3"], ("method", "p", "published_s", "size", "seconds"))
    check.published(table["table_3"], ("method", "p", "published_s"), LAGRANGE_TABLE_3)
    runs = table["end_to_end"]
    check.columns(runs, ("method", "p", "device", "codes_seconds", "first", "later", "same_plan"))
    check.assertEqual([row["p"] for row in runs], [1, 3, 6, 0] if table["backend"] == "cpu" else 2 * [1, 3, 6, 0])
    for row in runs:
        check.columns([row["first"], row["later"], row["same_plan"]],
                      ("weights_seconds", "plan_seconds", "scale_and_codes_seconds", "seconds"))
    selected = {(row["weights"], row["kept"]): row for row in table["selection"]}
    check.columns(selected.values(), ("weights", "kept", "eq1_snr_db", "least_squares_snr_db", "seconds"))
    check.assertEqual(list(selected), [(27, 27), (20, 20), (27, 20), (14, 14), (27, 14), (9, 9), (27, 9)])
    for row in selected.values():
        check.assertGreater(row["eq1_snr_db"], table["truncation_snr_db"], row)
        check.assertGreater(row["least_squares_snr_db"], row["eq1_snr_db"] + 8, row)
    check.assertGreater(selected[9, 9]["least_squares_snr_db"], selected[27, 27]["least_squares_snr_db"] + 1)
    pictures = {row["hologram"]: row for row in table["figure_8"]}
    check.assertEqual(list(pictures), ["complex reference", "no VDED", "VDED CPU, p free", "VDED p = 1", "VDED p = 3", "VDED p = 6"])
    plain = pictures["no VDED"]
    for name in list(pictures)[2:]:
        check.assertGreater(pictures[name]["psnr_db"], plain["psnr_db"] + 6, name)
        check.assertGreater(pictures[name]["contrast"], plain["contrast"], name)
        check.assertLess(pictures[name]["light_share"], plain["light_share"], name)


PROGRAMS = {
    "paper_shimobaba": ([], shimobaba),
    "paper_mitani": (["--max-points", "10000"], mitani),
    "paper_gwosdek": (["--quality-seeds", "2"], gwosdek),
    "paper_avramelos": ([], avramelos),
    "paper_lagrange": (["--figure", "figure_8.png"], lagrange),
}


def run(program, arguments, device):
    """Returns the table that a program writes, run in a folder of its own. Exits with 77 if the machine has no such device."""
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.abspath(program), "--small", "--device", device, "--json", "table.json", *arguments]
        done = subprocess.run(command, cwd=folder, check=False, stderr=subprocess.PIPE, text=True)
        sys.stderr.write(done.stderr)
        if done.returncode != 0 and "device: expected one of this machine's" in done.stderr:
            print("skipped: the device is missing")
            sys.exit(77)
        done.check_returncode()
        with open(os.path.join(folder, "table.json"), encoding="utf-8") as file:
            return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="path of the program")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    name = os.path.basename(options.program)
    if name not in PROGRAMS:
        sys.exit(f"check_papers.py: PROGRAMS has no line for {name}")
    arguments, checks = PROGRAMS[name]
    table = run(options.program, arguments, options.device)
    check = Checks()
    print(f"\n{name}:")
    check.assertEqual([key for key in HEAD if key not in table], [], "keys missing")
    check.assertEqual((table["program"], table["backend"], table["small"]), (name, options.device, True))
    check.numbers(table)
    checks(check, table)


if __name__ == "__main__":
    main()
