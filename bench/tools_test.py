"""Tests of merge.py, plot.py, plot_rates.py, command_times.py, method_prices.py, method_sweep.py and scripts/docs_tables.py: python3 -m unittest discover -s bench -p '*_test.py'."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../scripts"))
import command_times  # noqa: E402
import docs_tables  # noqa: E402
import merge  # noqa: E402
import method_prices  # noqa: E402
import method_sweep  # noqa: E402
import nufft_finufft  # noqa: E402
import plot  # noqa: E402
import plot_rates  # noqa: E402


def run(commit, rows, device="H200"):
    return {"context": {"commit": commit, "device": device, "driver": "d", "backend": "cuda:0", "date_utc": "now"},
            "benchmarks": rows}


def row(name, time, unit="ms", **more):
    return {"name": name, "run_name": name, "run_type": "iteration", "iterations": 3, "real_time": time, "cpu_time": time,
            "time_unit": unit, "rel_error": 1e-4, **more}


class Merge(unittest.TestCase):
    def test_new_rows_replace_old_ones_by_name_and_the_rest_stays(self):
        first = merge.merge(run("aaa", [row("h/x/1024", 1.0), row("h/x/30720", 2.0)]), {})
        both = merge.merge(run("bbb", [row("h/x/30720", 3000.0, "us")]), first)
        self.assertEqual([(r["name"], r["real_time"], r["commit"]) for r in both["benchmarks"]],
                         [("h/x/1024", 1.0, "aaa"), ("h/x/30720", 3.0, "bbb")])
        self.assertEqual(both["benchmarks"][0]["rel_error"], 1e-4)
        self.assertEqual(both["benchmarks"][0]["time_unit"], "ms")

    def test_the_file_is_replaced_through_no_link(self):
        with tempfile.TemporaryDirectory() as folder:
            new, results, victim = (pathlib.Path(folder) / name for name in ("new.json", "results.json", "victim"))
            victim.write_text("mine")
            results.with_name("results.json.partial").symlink_to(victim)
            new.write_text(json.dumps(run("a", [row("h/x/1", 1.0)])))
            script = pathlib.Path(merge.__file__)
            subprocess.run([sys.executable, str(script), str(new), str(results)], check=True, capture_output=True)
            self.assertEqual(victim.read_text(), "mine")
            self.assertEqual(len(json.loads(results.read_text())["benchmarks"]), 1)
            self.assertEqual(len(list(results.parent.glob("*.partial"))), 1)  # that of this test

    def test_a_row_of_another_backend_is_another_row(self):
        opencl = run("b", [row("h/x/1", 2.0)])
        opencl["context"]["backend"] = "opencl:0"
        merged = merge.merge(opencl, merge.merge(run("a", [row("h/x/1", 1.0)]), {}))
        self.assertEqual([(r["backend"], r["real_time"]) for r in merged["benchmarks"]],
                         [("cuda:0", 1.0), ("opencl:0", 2.0)])

    def test_rows_are_ordered_by_number(self):
        merged = merge.merge(run("a", [row(f"h/x/{n}", 1.0) for n in (102400, 1024, 30720)]), {})
        self.assertEqual([r["name"] for r in merged["benchmarks"]], ["h/x/1024", "h/x/30720", "h/x/102400"])

    def test_the_median_of_repetitions_counts(self):
        rows = [row("h/x/1", 1.0), row("h/x/1", 9.0)]
        rows += [dict(row("h/x/1", 5.0), name="h/x/1_median", aggregate_name="median")]
        merged = merge.merge(run("a", rows), {})
        self.assertEqual([(r["name"], r["real_time"]) for r in merged["benchmarks"]], [("h/x/1", 5.0)])

    def test_names_lose_what_was_appended_about_the_timing(self):
        merged = merge.merge(run("a", [row("h/x/1024/iterations:1/manual_time", 1.0), row("h/real_time_x/1", 1.0)]), {})
        self.assertEqual([r["name"] for r in merged["benchmarks"]], ["h/real_time_x/1", "h/x/1024"])

    def test_failed_rows_and_other_devices_are_refused(self):
        with self.assertRaisesRegex(ValueError, "h/x/1: relative error"):
            merge.merge(run("a", [row("h/x/1", 1.0, error_occurred=True, error_message="relative error 1")]), {})
        with self.assertRaisesRegex(ValueError, "different devices: CPU, H200"):
            merge.merge(run("b", [row("h/x/2", 1.0)], "CPU"), merge.merge(run("a", [row("h/x/1", 1.0)]), {}))


class Plot(unittest.TestCase):
    def test_results_become_one_line_for_each_method(self):
        results = merge.merge(run("a", [row("hologram/direct/1024", 10.0), row("hologram/direct/30720", 300.0),
                                        row("hologram/separable/1024", 1.0), row("cpu/sincos", 7.0)]), {})
        series, title = plot.series_of(results, "hologram")
        self.assertEqual(series, {"direct": [(1024, 10.0), (30720, 300.0)], "separable": [(1024, 1.0)]})
        self.assertIn("H200", title)
        svg = xml.etree.ElementTree.fromstring(plot.draw(series, title))
        self.assertEqual(len(svg.findall("{http://www.w3.org/2000/svg}polyline")), 2)
        self.assertEqual(len(svg.findall("{http://www.w3.org/2000/svg}circle")), 3)

    def test_a_papers_table_becomes_its_columns(self):
        table = {"program": "paper", "device": "CPU", "rows": [{"points": 512, "direct_ms": 3.0, "published_cpu_ms": 9.0},
                                                               {"points": 1024, "direct_ms": 6.0, "published_cpu_ms": 18.0}]}
        series, _ = plot.series_of(table, "hologram")
        self.assertEqual(series, {"direct": [(512, 3.0), (1024, 6.0)], "published cpu": [(512, 9.0), (1024, 18.0)]})

    def test_labels_do_not_overlap_or_leave_the_plot(self):
        placed = plot.spread([100, 101, 102, 430, 434, 435], 17)
        ordered = sorted(placed)
        self.assertTrue(all(b - a >= 17 - 1e-9 for a, b in zip(ordered, ordered[1:])))
        self.assertLessEqual(max(placed), plot.HEIGHT - plot.BOTTOM)

    def test_nothing_to_draw_is_said(self):
        with self.assertRaisesRegex(ValueError, "no rows"):
            plot.series_of({"context": {}, "benchmarks": []}, "hologram")


class PlotRates(unittest.TestCase):
    @staticmethod
    def table(name, views=1):
        def points(shift):
            return [{"setting": 1, "bytes": 1000 * n, "bits_per_pixel": 0.1 * n, "psnr_db": 30 + n + shift, "ssim": 0.8 + 0.01 * n}
                    for n in (3, 1, 2)]
        return {"scenes": [{"name": name, "views": views, "curves": {"smoe": points(1), "JPEG": points(0)}}]}

    def test_a_line_for_each_codec_scene_and_measure(self):
        scenes = plot_rates.scenes_of([self.table("a"), self.table("b", 49)])
        svg = xml.etree.ElementTree.fromstring(plot_rates.draw(scenes))
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual(len(svg.findall(space + "polyline")), 8)
        self.assertEqual(len(svg.findall(space + "circle")), 24)
        texts = [text.text for text in svg.findall(space + "text")]
        self.assertIn("b, 49 views", texts)
        self.assertNotIn("JPEG XL", texts)

    def test_more_bits_stand_to_the_right_and_more_decibels_higher(self):
        (_, _, curves), = plot_rates.scenes_of([self.table("a")])
        self.assertEqual([point["bytes"] for point in curves["JPEG"]], [1000, 2000, 3000])
        panel = plot_rates.Panel(curves, "psnr_db", 100, 50)
        self.assertLess(panel.x_at(0.1), panel.x_at(0.3))
        self.assertGreater(panel.y_at(31), panel.y_at(33))
        for point in curves["smoe"]:
            self.assertTrue(100 <= panel.x_at(point["bits_per_pixel"]) <= 100 + plot_rates.PANEL_WIDTH)
            self.assertTrue(50 <= panel.y_at(point["psnr_db"]) <= 50 + plot_rates.PANEL_HEIGHT)

    def test_ticks_are_round_and_few(self):
        self.assertEqual(plot_rates.linear_ticks(19.2, 41.9), [20, 25, 30, 35, 40])
        self.assertEqual([round(v, 2) for v in plot_rates.linear_ticks(0.41, 0.97)], [0.5, 0.6, 0.7, 0.8, 0.9])
        self.assertEqual([round(v, 3) for v in plot_rates.rate_ticks(0.045, 1.2)], [0.05, 0.1, 0.2, 0.5, 1])
        self.assertEqual([round(v, 3) for v in plot_rates.rate_ticks(0.004, 1.2)], [0.01, 0.1, 1])

    def test_codecs_are_compared_at_the_bits_of_smoe(self):
        scenes = plot_rates.scenes_of([self.table("a")])
        lines = plot_rates.comparison(scenes).splitlines()
        self.assertEqual(lines[2].split(" | ")[2:], ["0.100", "32.00, 0.810", "31.00, 0.810 |"])
        self.assertEqual(plot_rates.ahead(scenes).splitlines()[2], "| a | none | none |")
        (_, _, curves), = scenes
        self.assertAlmostEqual(plot_rates.value_at(curves["JPEG"], 0.1 * 2**0.5, "psnr_db"), 31.5)
        self.assertIsNone(plot_rates.value_at(curves["JPEG"], 0.31, "psnr_db"))
        self.assertEqual(plot_rates.text_at(curves["JPEG"], 0.09), "none so small")
        self.assertEqual(plot_rates.text_at(curves["JPEG"], 0.31), "above 33.0, 0.830")
        self.assertAlmostEqual(plot_rates.rate_for(curves["JPEG"], 31.5), 0.1 * 2**0.5)
        views = plot_rates.scenes_of([self.table("b", 49)])
        self.assertEqual(plot_rates.for_the_same_psnr(views).splitlines()[2:4],
                         ["| b | 1 000 | 0.1000 | 32.00 | 0.810 | 0.20, 2 times |", "| b | 2 000 | 0.2000 | 33.00 | 0.820 | 0.30, 2 times |"])
        self.assertEqual(len(plot_rates.comparison(views).splitlines()), 2)
        curves["JPEG"][1]["ssim"] = 0.9
        self.assertEqual(plot_rates.ahead(scenes).splitlines()[2], "| a | none | JPEG 0.2 |")
        curves["JPEG"][2]["psnr_db"] = 40
        curves["JPEG"][1]["psnr_db"] = 40
        self.assertEqual(plot_rates.ahead(scenes).splitlines()[2], "| a | JPEG 0.2 to 0.3 | JPEG 0.2 |")

    def test_nothing_to_draw_is_said(self):
        with self.assertRaisesRegex(ValueError, "no scenes"):
            plot_rates.scenes_of([{}])


class MethodSweep(unittest.TestCase):
    def test_auto_is_compared_with_the_best_right_method_of_each_scene(self):
        wrong = row("hologram/sweep/8um_50mm_deep/100/fresnel_fast/iterations:1", 0.1)
        wrong["error_occurred"] = True
        rows = [wrong, row("hologram/sweep/8um_50mm_deep/100/auto/iterations:1", 3.0),
                row("hologram/sweep/8um_50mm_deep/100/exact_fast", 1.0), row("hologram/sweep/8um_50mm_deep/100/exact_direct", 2.0),
                row("hologram/sweep/1um_2mm_shallow/1000/auto", 1.0), row("hologram/sweep/1um_2mm_shallow/1000/exact_fast", 1.0)]
        compared = method_sweep.compare(method_sweep.find_scenes({"benchmarks": rows}))
        self.assertEqual([(one[0], one[1], one[4]) for one in compared],
                         [(3.0, "8um_50mm_deep/100", "exact_fast"), (1.0, "1um_2mm_shallow/1000", "exact_fast")])


class MethodPrices(unittest.TestCase):
    @staticmethod
    def rows(fixed, pair, tolerance="1e-3"):
        return [row(f"hologram/price/separable/{tolerance}/{n}", method_prices.PIXELS * 1e-9 * (fixed + n * pair))
                for n in (16, 1024, 30720)]

    def test_the_fit_finds_the_prices_of_exact_rows(self):
        (line,) = method_prices.times_of({"benchmarks": self.rows(10, 0.02)}).values()
        fixed, pair = method_prices.fit(line)
        self.assertAlmostEqual(fixed, 10)
        self.assertAlmostEqual(pair, 0.02)
        self.assertLess(method_prices.worst((fixed, pair), line), 1e-9)
        self.assertAlmostEqual(method_prices.worst((fixed, 2 * pair), line), 0.984, 3)

    def test_prices_are_not_negative(self):
        fixed, pair = method_prices.fit([(1000, 0.1), (2000, 1.0)])
        self.assertEqual(fixed, 0)
        self.assertGreater(pair, 0)

    def test_the_library_s_prices_are_read_from_its_source(self):
        source = method_prices.SOURCE.read_text(encoding="utf-8")
        prices = method_prices.prices_in(source)
        self.assertEqual(set(prices), {"cpu_prices", *method_prices.TIERS.values()})
        for methods in prices.values():
            self.assertEqual(set(methods), {"direct", "recurrence", "separable"})
        fixed, pair = prices["cuda_fine_prices"]["separable"]
        lines = method_prices.table({"benchmarks": self.rows(fixed, pair, "1e-4")}, source).splitlines()
        self.assertEqual(lines[2], f"| separable | 1e-4 | {fixed:.3g} | {pair:.3g} | 0% | {fixed:g}, {pair:g} | 0% |")

    def test_rows_of_other_runs_are_refused(self):
        with self.assertRaisesRegex(ValueError, "no rows hologram/price"):
            method_prices.table({"benchmarks": [row("hologram/separable/1024", 1.0)]}, "")


class NufftTable(unittest.TestCase):
    def test_the_ratio_is_the_other_s_time_over_ours(self):
        lines = nufft_finufft.table([("type1", 1000000, "1e-3", {"ms": 200.0, "rel_error": 7e-4}, {"ms": 300.0, "rel_error": None})])
        self.assertEqual(len(lines), 2)
        self.assertEqual(lines[1].split(), ["type1", "1000000", "1e-3", "200.0", "300.0", "1.50", "7.0e-04", "-"])


PAGE = """
    holotone make 12 -o a.bin    # words
    make all
    holotone use a.bin -o \\
      b_%d.bin

<!-- own files -->

    holotone use photo.jpg -o c.bin

More:

```sh
mkdir -p spin
```
    holotone make 3 -o d.bin
"""

# A program that writes the number of bytes given, and reports what it computed.
PROGRAM = """#!{python}
import json, pathlib, sys
words = sys.argv[1:]
if words == ["--version"]:
    print("holotone 0")
elif words[0] == "devices":
    print(json.dumps({{"devices": []}}))
elif "--help-all" in words:
    print("--device NAME" if words[0] == "use" else "")
elif words[0] == "make":
    pathlib.Path(words[words.index("-o") + 1]).write_bytes(bytes(int(words[1])))
    print(json.dumps({{"compute_s": 0.25}}))
else:
    pathlib.Path(words[words.index("-o") + 1] % 7).write_bytes(pathlib.Path(words[1]).read_bytes())
    device = words[words.index("--device") + 1] if "--device" in words else "auto"
    print(json.dumps({{"device": device, "holograms": [{{"compute_s": 1}}, {{"compute_s": 2}}]}}))
"""


class CommandTimes(unittest.TestCase):
    def test_commands_of_a_page(self):
        self.assertEqual(command_times.read_commands(PAGE),
                         ["holotone make 12 -o a.bin    # words", "holotone use a.bin -o b_%d.bin", "mkdir -p spin",
                          "holotone make 3 -o d.bin"])

    def test_what_a_command_reports(self):
        self.assertEqual(command_times.compute_seconds({"compute_s": 3, "time_s": 9}), 3)
        self.assertEqual(command_times.compute_seconds({"compute_s": 3, "holograms": [{"compute_s": 1}, {"compute_s": 4}]}), 5)
        self.assertEqual(command_times.compute_seconds({"render_s": 2}), 2)
        self.assertIsNone(command_times.compute_seconds({"time_s": 9}))

    def test_inputs_are_named_by_patterns(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {name: pathlib.Path(folder) / name for name in ("a_0.png", "a_1.png", "near.png", "out.png")}
            for path in files.values():
                path.touch()
            words = ["holotone", "x", "a_%d.png", "near.png@18cm", "/tmp", "-o", "out.png"]
            self.assertEqual(command_times.find_inputs(words, folder, {files["out.png"]}),
                             {files["a_0.png"], files["a_1.png"], files["near.png"]})

    def run_page(self, folder, *words):
        program = pathlib.Path(folder) / "holotone"
        program.write_text(PROGRAM.format(python=sys.executable))
        program.chmod(0o755)
        page = pathlib.Path(folder) / "page.md"
        page.write_text(PAGE)
        result = pathlib.Path(folder) / "times.json"
        command_times.main([str(program), "--page", str(page), "--json", str(result), *words])
        return json.loads(result.read_text())

    def test_a_page_is_timed(self):
        with tempfile.TemporaryDirectory() as folder:
            document = self.run_page(folder, "--runs", "3", "--device", "cpu", "--context", sys.executable)
            rows = document["rows"]
            self.assertEqual([row["command"].split()[1] for row in rows], ["make", "use", "make"])
            self.assertEqual([row["compute"] for row in rows], [0.25, 3, 0.25])
            self.assertEqual([row["device"] for row in rows], [None, "cpu", None])
            for row in rows:
                self.assertEqual(len(row["runs_s"]), 3)
                self.assertGreater(row["context"], 0)
                self.assertAlmostEqual(row["rest"], row["command_s"] - row["files"] - row["context"] - row["compute"])
            self.assertEqual(command_times.table(rows).splitlines()[2].count("|"), 8)

    def test_some_commands_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = self.run_page(folder, "--only", "use", "--runs", "2")["rows"]
            self.assertEqual([(row["command"].split()[1], len(row["runs_s"]), row["context"]) for row in rows],
                             [("use", 2, None)])

    def test_failures_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(RuntimeError, "--runs: expected 1 or more"):
                self.run_page(folder, "--runs", "0")
            with self.assertRaisesRegex(RuntimeError, "holotone use nowhere.bin"):
                self.run_page(folder, "--add", "holotone use nowhere.bin -o e_%d.bin")


class DocsTables(unittest.TestCase):
    def test_numbers_keep_three_digits(self):
        self.assertEqual([docs_tables.digits(value) for value in (0.0618, 0.41, 9.5, 24.05, 452.96, 1284.3)],
                         ["0.0618", "0.410", "9.50", "24.1", "453", "1,280"])
        self.assertEqual([docs_tables.published(value) for value in (0.3, 3500, 141.6)], ["0.3", "3,500", "141.6"])

    def test_a_table_between_markers_is_replaced_and_the_page_around_it_stays(self):
        page = "before\n<!-- table error_diffusion -->\nold\n<!-- end -->\nafter\n"
        filled = docs_tables.filled(page, "page.md")
        self.assertTrue(filled.startswith("before\n<!-- table error_diffusion -->\n| row | time |"))
        self.assertTrue(filled.endswith("|\n<!-- end -->\nafter\n"))
        self.assertNotIn("old", filled)
        self.assertEqual(docs_tables.filled(filled, "page.md"), filled)

    def test_a_missing_row_and_an_unknown_table_are_named(self):
        with self.assertRaisesRegex(KeyError, "h200.json: no row hologram/absent"):
            docs_tables.Rows("h200.json")["hologram/absent"]
        with self.assertRaisesRegex(KeyError, "page.md: no table absent"):
            docs_tables.filled("<!-- table absent -->\n<!-- end -->\n", "page.md")

    def test_tables_of_options_hold_every_row_once(self):
        size = {"names": ["--size"], "value": "LENGTH", "help": "Size of --mask, |a|", "default": "8mm", "required": False}
        mask = {"names": ["-m", "--mask"], "value": "FILE", "help": "Mask", "required": False, "range": "1 to 2",
                "default_words": "by --size", "excludes": ["--a", "--b", "--c"], "needs": "--size"}
        quiet = {"names": ["-q", "--quiet"], "help": "Print errors only", "required": False}
        rows = [size, {"names": ["IN"], "help": "Input", "required": True}]
        listing = {"commands": [
            {"command": "make", "purpose": "Make --all", "groups": [{"heading": "", "rows": rows}, {"heading": "Mask (--a)", "rows": [mask]},
                                           {"heading": "Messages", "rows": [quiet]}]},
            {"command": "two", "purpose": "Twice", "groups": []},
            {"command": "two one", "purpose": "", "groups": [{"heading": "", "rows": [size, quiet]}]},
            {"command": "two other", "purpose": "", "groups": [{"heading": "", "rows": [size]}]}]}

        def page(*arguments):
            return "".join(f"<!-- table options {argument} -->\n<!-- end -->\n" for argument in arguments)

        def filled(text):
            return docs_tables.filled(text, "page.md", docs_tables.Options(listing, [], {"page.md": text}))

        text = filled(page("make", "make: Messages", "two"))
        for line in ("| `--size LENGTH` | 8mm | Size of `--mask`, \\|a\\| |", "| `IN` | required | Input |",
                     "| **Mask (--a)** | | |", "| `-m`, `--mask FILE` | by `--size` | Mask (1 to 2) (with `--size`) "
                     "(not with `--b` or `--c`) |", "| **one** | | |\n| `-q`, `--quiet` | | Print errors only |",
                     "| **all** | | |\n| `--size LENGTH`"):
            self.assertIn(line + "\n" if line.endswith("|") else line, text)
        self.assertEqual(filled(text), text)
        text = filled(page("make", "make: Messages", "two one", "two other"))
        self.assertIn("<!-- table options two other -->\n\nAs for `two one`: `--size`.\n<!-- end -->", text)
        self.assertEqual(text.count("| `--size LENGTH`"), 2)
        self.assertEqual(docs_tables.filled(text, "page.md"), text)
        commands = "<!-- table commands -->\n<!-- end -->\n"
        text = filled(page("make", "make: Messages", "two") + commands + "## holotone two, holotone make\n")
        self.assertIn("| [`holotone make`](#holotone-two-holotone-make) | Make `--all` |\n| [`holotone two`](", text)
        self.assertNotIn("two one`]", text)
        with self.assertRaisesRegex(KeyError, "0 sections `## holotone make`, expected 1"):
            filled(page("make", "make: Messages", "two") + commands)
        for arguments, error in ((("make", "make: Messages"), "no table with options of `two one: Options`"),
                                 (("make", "two"), "no table with Messages"),
                                 (("make", "make: Messages", "two", "two one"), "all options of `two one` stand in other tables"),
                                 (("make", "make: Mask (--a)", "make: Mask (--a)"), "stand in page.md too"),
                                 (("make: Absent",), "page.md: the program has no options `make: Absent`")):
            with self.assertRaisesRegex(KeyError, error.replace("(", r"\(")):
                filled(page(*arguments))

    def test_every_public_function_is_listed_once(self):
        listed = [name for line in docs_tables.functions().splitlines()[2:] for name in line.split("|")[2].strip().split(", ")]
        self.assertEqual(len(listed), len(set(listed)))
        for name in ("point_cloud_field", "PointCloudPlan", "propagate", "make_halftone", "NufftPlan"):
            self.assertIn(name, listed)


if __name__ == "__main__":
    unittest.main()
