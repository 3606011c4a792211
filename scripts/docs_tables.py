#!/usr/bin/env python3
"""Writes the tables of docs and bench/notes that follow from data of the tree, between `<!-- table NAME -->` and `<!-- end -->`.

    scripts/docs_tables.py           # writes them
    scripts/docs_tables.py --check   # names the pages and pictures that are not current; exit code 1

Figures come from bench/results/*.json, names from the public headers. Needs nothing but Python.
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
for folder in ("bench", "python"):
    sys.path.insert(0, str(ROOT / folder))
sys.dont_write_bytecode = True

import headers  # noqa: E402
import plot  # noqa: E402
import plot_rates  # noqa: E402

MARKER = re.compile(r"(?ms)^<!-- table (\w+) -->\n(.*?)^<!-- end -->$")
RATES = ("smoe_rates.json", "smoe_rates_chess.json")


def results(name):
    return json.loads((ROOT / "bench/results" / name).read_text(encoding="utf-8"))


def digits(value, count=3):
    """A number with `count` significant digits, without an exponent."""
    text = f"{value:#.{count}g}"
    return f"{float(text):,.0f}" if abs(float(text)) >= 100 else text


def error(value):
    return f"{value:.1e}".replace("e-0", "e-").replace("e+00", "") if value else ""


def published(value):
    """A figure of a paper, with the digits that it has there."""
    return f"{value:,g}" if value < 1e6 else f"{value:,.0f}"


def ms(value):
    return digits(value) + " ms"


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "".join("|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|\n" for line in lines)


class Rows:
    """Rows of a results file by name; a missing one is an error that names it."""

    def __init__(self, name, backend=None):
        self.name = name
        self.rows = {row["name"]: row for row in results(name)["benchmarks"] if backend in (None, row.get("backend"))}

    def __getitem__(self, name):
        if name not in self.rows:
            raise KeyError(f"bench/results/{self.name}: no row {name}")
        return self.rows[name]

    def like(self, pattern):
        found = [row for name, row in self.rows.items() if re.fullmatch(pattern, name)]
        if not found:
            raise KeyError(f"bench/results/{self.name}: no row {pattern}")
        return found


def timed(rows):
    """A table of rows: name, time, time in a burst, error."""
    return table(["row", "time", "in a burst", "relative error"],
                 [[f"`{row['name']}`", ms(row["real_time"]), ms(row["sustained_ms"]) if row.get("sustained_ms") else "",
                   error(row.get("rel_error", 0))] for row in rows])


def points():
    rows = Rows("h200.json")
    order = ("direct", "direct_real", "recurrence", "recurrence_real", "separable", "separable_real", "separable_near",
             "fast", "fast_dragon", "fast_fine", "fast_near", "fast_replan", "video", "adjoint")
    found = [row for kind in order for row in sorted(rows.like(rf"hologram/{kind}/\d+"),
                                                    key=lambda row: int(row["name"].split("/")[2]))]
    return timed([row for row in found if int(row["name"].split("/")[2]) > 10240])


def waves():
    rows = Rows("h200.json")
    found = rows.like(r"propagate/angular_spectrum/(1080p|4096).*")
    return timed(found + [rows[name] for name in ("reconstruct/sweep8/1080p", "layers/8/1080p", "eye/look/1080p",
                                                  "stereogram/chess")])


def retrieval():
    rows = Rows("h200.json")
    return table(["row", "time", "steps", "PSNR, worst of four positions"],
                 [[f"`{row['name']}`", ms(row["real_time"]), f"{row['steps']:.0f}" if "steps" in row else "",
                   f"{row['psnr_worst']:.1f} dB" if "psnr_worst" in row else ""] for row in rows.like("optimize/.*")])


def error_diffusion():
    rows = Rows("h200.json")
    gpu = {row["p"]: row for row in results("paper_lagrange.json")["table_3"] if row["method"].startswith("p")}
    out = []
    for row in rows.like("vded/.*|error_diffusion/.*"):
        p = re.fullmatch(r"vded/24576/p(\d)", row["name"])
        paper = gpu.get(int(p[1])) if p else None
        out.append([f"`{row['name']}`", ms(row["real_time"]), published(paper["published_s"] * 1e3) + " ms" if paper else ""])
    return table(["row", "time", "published (GeForce RTX 2080 Ti)"], out)


def halftone():
    rows = Rows("h200.json")
    out = []
    for dots in (16384, 65536, 262144, 1048576):
        line = [f"{dots:,}"]
        for kind in ("", "_default"):
            step, full = rows[f"halftone/step{kind}/{dots}"], rows[f"halftone/full{kind}/{dots}"]
            line += [ms(step["real_time"]), error(step["force_error"]),
                     f"{ms(full['real_time'])}, {full['iterations']:.0f}"]
        out.append(line + [ms(rows[f"halftone/init/{dots}"]["real_time"])])
    return table(["dots", "`step`", "its error", "`full`, iterations", "`step_default`", "its error",
                  "`full_default`, iterations", "`init`"], out)


def mixtures():
    rows = Rows("h200.json")
    return table(["row", "time", "largest error of a colour"],
                 [[f"`{row['name']}`", ms(row["real_time"]), error(row.get("max_error", 0))]
                  for row in rows.like("smoe/.*")])


def avramelos_blocks():
    return table(["model", "components", "published: C++", "Quasar, shared memory", "OpenCL", "here: serial", "11 a pass",
                  "window", "bounded"],
                 [[row["model"], f"{row['components']}", published(row["published_serial_ms"]),
                   published(row["published_quasar_shared_ms"]), published(row["published_opencl_ms"])]
                  + [digits(row[key]) for key in ("serial_ms", "passes_ms", "window_ms", "bounded_ms")]
                  for row in results("paper_avramelos.json")["table_2"]])


def avramelos_frames():
    rows = [row for row in results("paper_avramelos.json")["table_4"] if row["model"] == "seeded" and "matching" in row]
    return table(["pixels", "block", "components a block", "published (Titan X)", "11 a pass", "window"],
                 [[" x ".join(map(str, row["size"])), f"{row['block']}", digits(row["matching"]["kernels"]),
                   published(row["published_titan_ms"]), digits(row["matching"]["passes"]["ms"]),
                   digits(row["matching"]["ms"])] for row in rows])


def opencl():
    cuda, other = Rows("h200_opencl.json", "cuda:0"), Rows("h200_opencl.json", "opencl:0")
    return table(["row", "CUDA", "OpenCL"],
                 [[f"`{name}`", ms(row["real_time"]), ms(other[name]["real_time"])] for name, row in cuda.rows.items()])


def papers_points():
    shimobaba = results("paper_shimobaba.json")["rows"][-1]
    mitani = next(row for row in results("paper_mitani.json")["rows"] if row["points"] == 30000)
    return table(["points, paper", "`separable`", "`direct`", "the paper's kernel", "its plain or older kernel"],
                 [[f"{row['points']:,}, {paper}", ms(row["separable_ms"]), ms(row["direct_ms"]), ms(row[best]),
                   ms(row[plain])] for row, paper, best, plain in
                  ((shimobaba, "Shimobaba et al.", "optimised_ms", "plain_ms"),
                   (mitani, "Mitani et al.", "new_ms", "old_ms"))])


def gwosdek():
    columns = (("ewald_ms", digits), ("their_fast_ms", digits), ("published_fast_gpu_ms", published),
               ("direct_ms", digits), ("their_direct_ms", digits), ("published_direct_gpu_ms", published))
    return table(["dots", "fast, ms: here", "the paper's here", "published", "direct, ms: here", "the paper's here",
                  "published"],
                 [[f"{row['dots']:,}"] + [write(row[key]) for key, write in columns]
                  for row in results("paper_gwosdek.json")["table_1"]])


def nufft():
    rows = Rows("h200.json")
    out = []
    for kind in ("type1", "type2", "type2_gradient", "type1_clustered", "type2_clustered", "set_points"):
        for tolerance in ("1e-3", "1e-5"):
            small, large = (rows[f"nufft/{kind}/2048/{count}/{tolerance}"] for count in (1000000, 10000000))
            out.append([f"`{kind}`, {tolerance}", ms(small["real_time"]), ms(large["real_time"]),
                        f"{1e7 / large['real_time'] / 1e6:.1f}e9", error(large["rel_error"])])
    return table(["row", "10^6 points", "10^7 points", "points a second", "relative error"], out)


def prints():
    def seconds(value):
        return f"{value:.2f} s"

    rows = [row for row in results("h200x2.json")["rows"] if "command_s" in row]
    return table(["print", "devices", "computing", "all bands", "writing", "whole command"],
                 [[f"`{row['name']}`", row["device"].replace("cuda:", "").replace(",", ", ")]
                  + [seconds(row[key]) for key in ("device_s", "bands_s", "write_s", "command_s")] for row in rows])


def ahead():
    return plot_rates.ahead(rates()) + "\n"


def rates():
    return plot_rates.scenes_of([results(name) for name in RATES])


def functions():
    modules, seen = {}, {}
    for one in headers.declarations(ROOT):
        if one.kind not in ("function", "class", "template") or "::" in one.name or one.name == "to_string":
            continue
        if seen.setdefault(one.name, one.header) != one.header:
            raise ValueError(f"{one.name}: declared in {seen[one.name]} and in {one.header}")
        modules.setdefault(one.header, {})[one.name] = None
    return table(["header", "declares"],
                 [[f"`{header.removeprefix('holotone/')}`", ", ".join(names)]
                  for header, names in modules.items()])


TABLES = {function.__name__: function for function in
          (points, waves, retrieval, error_diffusion, halftone, mixtures, avramelos_blocks, avramelos_frames, opencl,
           papers_points, gwosdek, nufft, prints, ahead, functions)}


def filled(text, page):
    """The page with current tables."""
    def one(match):
        if match[1] not in TABLES:
            raise KeyError(f"{page}: no table {match[1]}; expected one of {', '.join(TABLES)}")
        return f"<!-- table {match[1]} -->\n{TABLES[match[1]]()}<!-- end -->"
    return MARKER.sub(one, text)


def current():
    """{path: text} of every page and picture that follows from data."""
    pages = [page for folder in ("docs", "bench/notes") for page in sorted((ROOT / folder).glob("*.md"))]
    files = {page: filled(page.read_text(encoding="utf-8"), page.name) for page in pages}
    files[ROOT / "docs/pictures/smoe_rates.svg"] = plot_rates.draw(rates())
    return files


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is not current")
    check = parser.parse_args(words).check
    files = current()
    used = {name for text in files.values() for name, _ in MARKER.findall(text)}
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)}: not current; run scripts/docs_tables.py", file=sys.stderr)
        else:
            path.write_text(files[path], encoding="utf-8")
    for name in sorted(set(TABLES) - used):
        print(f"scripts/docs_tables.py: table {name} stands in no page", file=sys.stderr)
    return 1 if (check and stale) or used != set(TABLES) else 0


if __name__ == "__main__":
    sys.exit(main())
