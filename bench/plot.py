#!/usr/bin/env python3
"""Draws benchmark results as SVG: time against the number of points, both on logarithmic axes.

    bench/plot.py bench/results/h200.json -o docs/images/hologram_h200.svg
    bench/plot.py mitani.json -o mitani.svg          # what paper_mitani --json and paper_shimobaba --json wrote

Reads results files (rows named family/method/points) and the papers' tables. Needs nothing but Python.
"""
import argparse
import json
import math
import re
import sys
from html import escape

WIDTH, HEIGHT = 860, 500
LEFT, RIGHT, TOP, BOTTOM = 84, 190, 56, 64
# Okabe and Ito's palette, which colour-blind eyes distinguish as well
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
PUBLISHED = "published"


def series_of(document, family):
    """{label: [(points, ms)]}, title. Raises ValueError if there is nothing to draw."""
    series = {}
    if "benchmarks" in document:
        pattern = re.compile(re.escape(family) + r"/([^/]+)/(\d+)$")
        for row in document["benchmarks"]:
            found = pattern.match(row["name"])
            if found and not row.get("error_occurred"):
                series.setdefault(found[1].replace("_", " "), []).append((int(found[2]), row["real_time"]))
        title = f"{family}: {document['context'].get('device', '')}"
    else:
        for row in document.get("rows", []):
            for key, value in row.items():
                if key.endswith("_ms"):
                    label = key[:-3].replace("_", " ")
                    series.setdefault(label, []).append((row["points"], value))
        title = f"{document.get('program', '')}: {document.get('device', '')}"
    if not series:
        raise ValueError("no rows to draw")
    return {label: sorted(points) for label, points in series.items()}, title


def extent(values, whole):
    """Ends of an axis as exponents of ten: whole decades, or just outside the values."""
    low, high = math.log10(min(values)), math.log10(max(values))
    if whole:
        return math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    margin = max(0.04 * (high - low), 0.02)
    return low - margin, high + margin


def ticks(low, high):
    """Powers of ten, and twice and five times them where fewer than two decades are shown."""
    steps = (1,) if high - low >= 2 else (1, 2, 5)
    values = [step * 10.0 ** exponent for exponent in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    return [value for value in values if low - 1e-9 <= math.log10(value) <= high + 1e-9]


def spread(positions, gap):
    """Moves label positions down just enough to be `gap` apart, then up again if they leave the plot."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = list(positions)
    for before, here in zip(order, order[1:]):
        placed[here] = max(placed[here], placed[before] + gap)
    for here, after in zip(reversed(order[:-1]), reversed(order[1:])):
        limit = HEIGHT - BOTTOM if after == order[-1] else placed[after]
        placed[after] = min(placed[after], limit)
        placed[here] = min(placed[here], placed[after] - gap)
    return placed


def number(value):
    text = f"{value:,.0f}" if value >= 1 else f"{value:.{math.ceil(-math.log10(value) - 1e-9)}f}"
    return text.replace(",", " ")


def grid(x_range, y_range, x_at, y_at):
    lines = []
    for value in ticks(*x_range):
        x = x_at(value)
        lines.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" class="grid"/>')
        lines.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{number(value)}</text>')
    for value in ticks(*y_range):
        y = y_at(value)
        lines.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="grid"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>')
    return lines


def draw(series, title):
    x_range = extent([x for points in series.values() for x, _ in points], whole=False)
    y_range = extent([y for points in series.values() for _, y in points], whole=True)

    def x_at(value):
        return LEFT + (math.log10(value) - x_range[0]) / (x_range[1] - x_range[0]) * (WIDTH - LEFT - RIGHT)

    def y_at(value):
        return HEIGHT - BOTTOM - (math.log10(value) - y_range[0]) / (y_range[1] - y_range[0]) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
           "<style>text{font:13px sans-serif;fill:#222}.grid{stroke:#ddd}.title{font-size:16px;font-weight:bold}</style>",
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="30" class="title">{escape(title)}</text>']
    out += grid(x_range, y_range, x_at, y_at)
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 16}" text-anchor="middle">points</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f'<text x="20" y="{middle}" text-anchor="middle" transform="rotate(-90 20 {middle})">milliseconds</text>')
    labels = spread([y_at(points[-1][1]) for points in series.values()], 17)
    for i, (label, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        dashes = ' stroke-dasharray="5 4"' if label.startswith(PUBLISHED) else ""
        path = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        out += [f'<circle cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="3.5" fill="{colour}"><title>{escape(label)}: {x} points, '
                f"{y:.4g} ms</title></circle>" for x, y in points]
        x_end, y_end = x_at(points[-1][0]), y_at(points[-1][1])
        x_text = WIDTH - RIGHT + 14
        out.append(f'<line x1="{x_end + 5:.1f}" y1="{y_end:.1f}" x2="{x_text - 4}" y2="{labels[i]:.1f}" stroke="{colour}" '
                   'stroke-opacity="0.35"/>')
        out.append(f'<text x="{x_text}" y="{labels[i] + 4:.1f}" style="fill:{colour}">{escape(label)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="results file, or a paper's table")
    parser.add_argument("-o", "--output", required=True, help="SVG file to write")
    parser.add_argument("--family", default="hologram", help="first part of the rows' names (default: hologram)")
    arguments = parser.parse_args()
    try:
        with open(arguments.results, encoding="utf-8") as file:
            series, title = series_of(json.load(file), arguments.family)
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(draw(series, title))
    except (OSError, ValueError) as error:
        sys.exit(f"plot.py: {error}")


if __name__ == "__main__":
    main()
