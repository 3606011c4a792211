#!/usr/bin/env python3
"""Writes the tables of docs and bench/notes that follow from data of the tree, between `<!-- table NAME -->` and `<!-- end -->`.

    scripts/docs_tables.py --program build/cpu/cli/holotone   # writes them
    scripts/docs_tables.py                                    # all but the tables of options
    scripts/docs_tables.py --check                            # names what is not current; exit code 1

Figures come from bench/results/*.json, names from the public headers, options from `PROGRAM --options`:

    <!-- table options COMMAND: GROUP -->   the options of `holotone COMMAND` under a heading of its --help-all
    <!-- table options COMMAND -->          those of all groups that no other table has; with subcommands, theirs
    <!-- table commands -->                 the commands, with links to their sections `## holotone COMMAND`
    <!-- table formats -->                  the formats of files, of `PROGRAM formats --json`

Needs nothing but Python.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
for folder in ("bench", "python"):
    sys.path.insert(0, str(ROOT / folder))
sys.dont_write_bytecode = True

import headers  # noqa: E402
import plot  # noqa: E402
import plot_rates  # noqa: E402

MARKER = re.compile(r"(?ms)^<!-- table (\w+)(?: ([^\n]+))? -->\n(.*?)^<!-- end -->$")
SHARED = "Messages"  # a group of every command, for one table
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


def defaults():
    rows = Rows("h200.json")
    scenes = ("1080p_20cm", "1080p_50cm", "4k_5cm")
    return table(["points", "8 um, 20 cm", "8 um, 50 cm", "4K, 3.74 um, 5 cm"],
                 [[f"{count:,}"] + [", ".join(ms(rows[f"hologram/{wave}/{scene}/{count}"]["real_time"])
                                              for wave in ("exact", "fresnel")) for scene in scenes]
                  for count in (30000, 300000, 1000000)])


def points():
    rows = Rows("h200.json")
    order = ("direct", "recurrence", "separable", "separable_real", "fast", "fast_dragon",
             "fast_fine", "fast_near", "fast_replan", "video", "adjoint")
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
    def focus(row):
        return f"{row['strehl']:.3f}" if "strehl" in row else ""

    return table(["print", "devices", "Strehl ratio", "computing", "all bands", "writing", "whole command"],
                 [[f"`{row['name']}`", row["device"].replace("cuda:", "").replace(",", ", "), focus(row)]
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
          (defaults, points, waves, retrieval, error_diffusion, halftone, mixtures, avramelos_blocks, avramelos_frames, opencl,
           papers_points, gwosdek, nufft, prints, ahead, functions)}


def code(text):
    return f"`{text}`".replace("|", "\\|")


def words(text):
    """Help as Markdown of a table's cell: names of options as code."""
    text = text.replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")
    return re.sub(r"`[^`]*`|(?<![\w-])--[a-z][a-z0-9-]*", lambda name: "`" + name[0].strip("`") + "`", text)


def formats(listing):
    """The table of the rows of `formats --json`; rows are in order, libraries whether built or not."""
    return table(["format", "holds", "read", "written", "honoured", "refused, or ignored and named"],
                 [[f"{row['name']}" + (f" ({row['library']})" if row["library"] else ""), row["content"]]
                  + [words(row[key]) for key in ("read", "written", "honoured", "not_honoured")]
                  for row in listing["formats"]])


def either(names):
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


class Options:
    """Tables of a program's options. Over all pages each option of a command stands in one table."""

    def __init__(self, listing, listed_formats, pages):
        self.formats = listed_formats
        self.commands = {command["command"]: {group["heading"] or "Options": group["rows"] for group in command["groups"]}
                         for command in listing["commands"]}
        self.purposes = {command["command"]: command["purpose"] for command in listing["commands"]}
        self.sections = [(page, heading) for page, text in pages.items()
                         for heading in re.findall(r"(?m)^## (holotone .*)$", text)]
        self.tables = {}   # (page, argument): groups, each by command and heading
        self.printed = {}  # (page, cells of a row): the command in whose table it stands
        where = {}         # (command, heading): the page with its table
        wanted = [(page, argument, *self.target(argument, page)) for page, text in pages.items()
                  for name, argument, _ in MARKER.findall(text) if name == "options"]
        for page, argument, command, heading in sorted(wanted, key=lambda one: not one[3]):
            below = [one for one in self.commands if one == command or one.startswith(command + " ")]
            groups = [(command, heading)] if heading else [(one, rest) for one in below for rest in self.commands[one]
                                                           if rest != SHARED and (one, rest) not in where]
            if not groups:
                raise KeyError(f"{page}: all options of `{argument}` stand in other tables")
            for group in groups:
                if group in where:
                    raise KeyError(f"{page}: options of `{': '.join(group)}` stand in {where[group]} too")
                where[group] = page
            self.tables[page, argument] = groups
        missing = [(command, heading) for command, groups in self.commands.items() for heading in groups
                   if heading != SHARED and (command, heading) not in where]
        if missing:
            raise KeyError(f"docs: no table with options of `{missing[0][0]}: {missing[0][1]}`")
        if not any(heading == SHARED for _, heading in where):
            raise KeyError(f"docs: no table with {SHARED}, the options of every command")

    def target(self, argument, page):
        command, _, heading = argument.partition(": ")
        if command not in self.commands or heading and heading not in self.commands[command]:
            raise KeyError(f"{page}: the program has no options `{argument}`")
        return command, heading

    @staticmethod
    def line(row, heading):
        *short, last = row["names"]
        option = ", ".join([code(name) for name in short] + [code(f"{last} {row['value']}" if "value" in row else last)])
        default = "required" if row["required"] else words(row.get("default") or row.get("default_words", ""))
        text = words(row["help"]) + (f" ({row['range']})" if "range" in row else "")
        for word, names in (("with", [row.get("needs")]), ("not with", row.get("excludes", []))):
            names = [code(name) for name in names if name and name not in heading]
            text += f" ({word} {either(names)})" if names else ""
        return [option, default, text]

    def links(self, page):
        """The table of commands."""
        rows = []
        for command in (name for name in self.purposes if " " not in name):
            places = [(place, heading) for place, heading in self.sections if f"holotone {command}" in heading.split(", ")]
            if len(places) != 1:
                raise KeyError(f"docs: {len(places)} sections `## holotone {command}`, expected 1")
            place, heading = places[0]
            anchor = re.sub(r"[^a-z -]", "", heading).replace(" ", "-")
            rows.append([f"[{code('holotone ' + command)}]({'' if place == page else place}#{anchor})",
                         words(self.purposes[command])])
        return table(["command", "what it does"], rows)

    def write(self, page, argument):
        groups = self.tables[page, argument]
        commands = list(dict.fromkeys(command for command, _ in groups))
        head = ["option", "default", "what it does"]
        return table(head, self.common(commands, groups)) if len(commands) > 1 else self.own(page, head, groups)

    def own(self, page, head, groups):
        """The table of one command. Options of an earlier table of the page, if it has several or is that of a
        neighbouring subcommand, are named below it."""
        lines = [(heading, row, tuple(self.line(row, heading))) for command, heading in groups
                 for row in self.commands[command][heading]]
        command = groups[0][0] if groups else ""
        places = [self.printed.get((page, *line), command) for _, _, line in lines]
        known, cells, before = {}, [], "Options"
        for (heading, row, line), place in zip(lines, places):
            several = places.count(place) >= 3 or place.split()[0] == command.split()[0]
            if place != command and several and row["names"][0].startswith("-"):
                known.setdefault(place, []).extend(code(name) for name in row["names"] if name.startswith("--"))
                continue
            if heading != before and len(groups) > 1:
                cells.append([f"**{heading}**", "", ""])
            before = heading
            cells.append(line)
            self.printed[(page, *line)] = command
        return (table(head, cells) if cells else "") + "".join(
            f"\nAs for `{place}`: {', '.join(names)}.\n" for place, names in known.items())

    def common(self, commands, groups):
        """Rows of several subcommands, under the names of those that have them."""
        users, sections = {}, {}
        for command, heading in groups:
            for row in self.commands[command][heading]:
                users.setdefault(tuple(self.line(row, heading)), []).append(command)
        for line, having in users.items():
            sections.setdefault(tuple(having), []).append(list(line))
        lines = []
        for having in sorted(sections, key=len):
            others = [one.split()[-1] for one in commands if one not in having]
            names = ", ".join(one.split()[-1] for one in having)
            if len(having) > len(others):
                names = "all" + (" but " + ", ".join(others) if others else "")
            lines += [[f"**{names}**", "", ""]] + sections[having]
        return lines


def filled(text, page, options=None):
    """The page with current tables; those of options stay as they are without `options`."""
    def one(match):
        name, argument, old = match.groups()
        if name == "options" and argument:
            content = options.write(page, argument) if options else old
        elif name == "commands" and not argument:
            content = options.links(page) if options else old
        elif name == "formats" and not argument:
            content = formats(options.formats) if options else old
        elif name in TABLES and not argument:
            content = TABLES[name]()
        else:
            raise KeyError(f"{page}: no table {name}; expected options COMMAND, commands, formats or one of {', '.join(TABLES)}")
        return f"{match[0].splitlines()[0]}\n{content}<!-- end -->"
    return MARKER.sub(one, text)


def current(program=None):
    """{path: text} of every page and picture that follows from data."""
    pages = {page: page.read_text(encoding="utf-8") for folder in ("docs", "bench/notes")
             for page in sorted((ROOT / folder).glob("*.md"))}
    options = None
    if program:
        listed = [json.loads(subprocess.run([program, *words], check=True, capture_output=True).stdout)
                  for words in (["--options"], ["formats", "--json"])]
        options = Options(*listed, {page.name: text for page, text in pages.items()})
    files = {page: filled(text, page.name, options) for page, text in pages.items()}
    files[ROOT / "docs/pictures/smoe_rates.svg"] = plot_rates.draw(rates())
    return files


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file is not current")
    parser.add_argument("--program", help="the built program, for the tables of options; without it they stay as they are")
    arguments = parser.parse_args(words)
    files = current(arguments.program)
    if not arguments.program:
        print("scripts/docs_tables.py: tables of options stay as they are without --program", file=sys.stderr)
    used = [name for text in files.values() for name, argument, _ in MARKER.findall(text) if not argument]
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if arguments.check:
            print(f"{path.relative_to(ROOT)}: not current; run scripts/docs_tables.py --program PROGRAM", file=sys.stderr)
        else:
            path.write_text(files[path], encoding="utf-8")
    if not arguments.check:
        print(f"scripts/docs_tables.py: wrote {len(stale)} of {len(files)} pages")
    wrong = [name for name in (*TABLES, "commands", "formats") if used.count(name) != 1]
    for name in wrong:
        print(f"scripts/docs_tables.py: table {name} stands in {used.count(name)} pages, expected 1", file=sys.stderr)
    return 1 if (arguments.check and stale) or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
