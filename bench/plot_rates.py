#!/usr/bin/env python3
"""Draws rate-distortion curves as SVG: PSNR and SSIM over bits a pixel, a column for each scene, bits on a logarithmic axis.

    bench/plot_rates.py bench/results/smoe_rates.json bench/results/smoe_rates_chess.json -o docs/pictures/smoe_rates.svg --tables

Reads what smoe_rates --json wrote; several files become columns side by side. Needs nothing but Python. --tables prints, as
Markdown, every codec at the bits of the .smoe files, and where the others are ahead. Codecs are interpolated between their
nearest settings on a logarithmic axis of bits. Of light fields, which others store view by view, it prints the bits that
each takes for the same PSNR.
"""
import argparse
import json
import math
import sys
from html import escape

from plot import COLOURS

PANEL_WIDTH, PANEL_HEIGHT = 220, 230
LEFT, TOP, GAP_X, GAP_Y, BOTTOM, RIGHT = 62, 62, 46, 40, 78, 16
MEASURES = (("psnr_db", "PSNR, dB", "{:.0f}"), ("ssim", "SSIM", "{:.2f}"))
CODECS = ("smoe", "JPEG", "JPEG XL", "WebP", "AVIF")


def scenes_of(documents):
    """[(name, views, {codec: [point]})] of all documents, points by rising bits. Raises ValueError if there are none."""
    scenes = []
    for document in documents:
        for scene in document.get("scenes", []):
            curves = {codec: sorted(points, key=lambda point: point["bits_per_pixel"])
                      for codec, points in scene["curves"].items()}
            scenes.append((scene["name"], scene["views"], curves))
    if not scenes:
        raise ValueError("no scenes to draw")
    return scenes


def linear_ticks(low, high, most=6):
    """Round values within an interval, at most `most` + 1."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= most:
            step *= factor
            break
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def rate_ticks(low, high):
    """Values 1, 2, 5 of each decade within an interval, those of 1 alone where it has two decades."""
    steps = (1,) if high / low >= 100 else (1, 2, 5)
    values = [step * 10.0 ** exponent for exponent in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
              for step in steps]
    return [value for value in values if low * 0.999 <= value <= high * 1.001]


class Panel:
    """One measure of one scene."""

    def __init__(self, curves, key, x, y):
        points = [point for curve in curves.values() for point in curve]
        rates = [point["bits_per_pixel"] for point in points]
        values = [point[key] for point in points]
        self.x, self.y, self.key, self.curves = x, y, key, curves
        self.rates = min(rates) / 1.1, max(rates) * 1.1
        margin = 0.04 * (max(values) - min(values) or 1)
        self.values = min(values) - margin, max(values) + margin

    def x_at(self, rate):
        low, high = map(math.log, self.rates)
        return self.x + (math.log(rate) - low) / (high - low) * PANEL_WIDTH

    def y_at(self, value):
        low, high = self.values
        return self.y + PANEL_HEIGHT - (value - low) / (high - low) * PANEL_HEIGHT

    def draw(self, form):
        bottom = self.y + PANEL_HEIGHT
        out = []
        for rate in rate_ticks(*self.rates):
            x = self.x_at(rate)
            out.append(f'<line x1="{x:.1f}" y1="{self.y}" x2="{x:.1f}" y2="{bottom}" class="grid"/>')
            out.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{rate:g}</text>')
        for value in linear_ticks(*self.values):
            y = self.y_at(value)
            out.append(f'<line x1="{self.x}" y1="{y:.1f}" x2="{self.x + PANEL_WIDTH}" y2="{y:.1f}" class="grid"/>')
            out.append(f'<text x="{self.x - 6}" y="{y + 4:.1f}" text-anchor="end">{form.format(value)}</text>')
        for codec, points in self.curves.items():
            colour = COLOURS[CODECS.index(codec)]
            path = " ".join(f"{self.x_at(p['bits_per_pixel']):.1f},{self.y_at(p[self.key]):.1f}" for p in points)
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            out += [f'<circle cx="{self.x_at(p["bits_per_pixel"]):.1f}" cy="{self.y_at(p[self.key]):.1f}" r="2.6" fill="{colour}">'
                    f'<title>{escape(codec)}: {p["bytes"]} bytes, {p["bits_per_pixel"]:.4f} bits a pixel, {p[self.key]:.4g}</title></circle>'
                    for p in points]
        return out


def draw(scenes):
    width = LEFT + len(scenes) * PANEL_WIDTH + (len(scenes) - 1) * GAP_X + RIGHT
    height = TOP + len(MEASURES) * PANEL_HEIGHT + (len(MEASURES) - 1) * GAP_Y + BOTTOM
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
           "<style>text{font:12px sans-serif;fill:#222}.grid{stroke:#ddd}.title{font-size:15px;font-weight:bold}</style>",
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for column, (name, views, curves) in enumerate(scenes):
        x = LEFT + column * (PANEL_WIDTH + GAP_X)
        title = name if views == 1 else f"{name}, {views} views"
        out.append(f'<text x="{x}" y="{TOP - 12}" class="title">{escape(title)}</text>')
        for row, (key, label, form) in enumerate(MEASURES):
            y = TOP + row * (PANEL_HEIGHT + GAP_Y)
            out += Panel(curves, key, x, y).draw(form)
            if column == 0:
                middle = y + PANEL_HEIGHT / 2
                out.append(f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{label}</text>')
    out.append(f'<text x="{width / 2}" y="{height - BOTTOM + 40}" text-anchor="middle">bits a pixel (of all views)</text>')
    codecs = [codec for codec in CODECS if any(codec in curves for _, _, curves in scenes)]
    for i, codec in enumerate(codecs):
        x = width / 2 + (i - (len(codecs) - 1) / 2) * 110 - 40
        y = height - 16
        out.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 24}" y2="{y - 4}" stroke="{COLOURS[CODECS.index(codec)]}" stroke-width="3"/>')
        out.append(f'<text x="{x + 30}" y="{y}">{escape(codec)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def value_at(points, rate, key):
    """A curve at a rate; None outside it. Points by rising bits; of equal bits the last counts."""
    for low, high in zip(points, points[1:]):
        a, b = low["bits_per_pixel"], high["bits_per_pixel"]
        if a <= rate <= b:
            return high[key] if a == b else low[key] + (high[key] - low[key]) * math.log(rate / a) / math.log(b / a)
    return None


def text_at(points, rate):
    """"23.82, 0.656", or what is known where the curve does not reach."""
    values = [value_at(points, rate, key) for key, _, _ in MEASURES]
    if None not in values:
        return f"{values[0]:.2f}, {values[1]:.3f}"
    if rate < points[0]["bits_per_pixel"]:
        return "none so small"
    return f"above {points[-1]['psnr_db']:.1f}, {points[-1]['ssim']:.3f}"


def to_table(rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * len(rows[0])] + rows[1:])


def others_of(scenes):
    return [codec for codec in CODECS[1:] if any(codec in curves for _, _, curves in scenes)]


def comparison(scenes):
    """PSNR and SSIM of every codec at the bits of the .smoe files of single pictures."""
    others = others_of(scenes)
    rows = [["picture", "bytes", "bits a pixel", ".smoe: dB, SSIM"] + others]
    for name, views, curves in scenes:
        for curve in curves["smoe"] if views == 1 else []:
            rate = curve["bits_per_pixel"]
            rows.append([name, f"{curve['bytes']:,}".replace(",", " "), f"{rate:.3f}",
                         f"{curve['psnr_db']:.2f}, {curve['ssim']:.3f}"]
                        + [text_at(curves[codec], rate) if codec in curves else "-" for codec in others])
    return to_table(rows)


def short(rate):
    """A rate as asked for: 0.1 of 0.099."""
    one = float(f"{rate:.1g}")
    return f"{one:g}" if abs(one / rate - 1) < 0.03 else f"{rate:.2g}"


def ranges_of(flags, names):
    """"0.2, 0.5 to 1": the names of true flags, neighbours joined."""
    texts = []
    first = None
    for i, flag in enumerate(list(flags) + [False]):
        if flag and first is None:
            first = i
        if not flag and first is not None:
            texts.append(names[first] if i - first == 1 else f"{names[first]} to {names[i - 1]}")
            first = None
    return ", ".join(texts)


def ahead(scenes):
    """For each single picture and measure the codecs that are ahead of .smoe, and at which of its bits."""
    rows = [["picture"] + [f"ahead in {label.split(',')[0]}, at bits a pixel" for _, label, _ in MEASURES]]
    for name, views, curves in scenes:
        if views > 1:
            continue
        names = [short(point["bits_per_pixel"]) for point in curves["smoe"]]
        row = [name]
        for key, _, _ in MEASURES:
            texts = []
            for codec in CODECS[1:]:
                values = [(value_at(curves.get(codec, []), point["bits_per_pixel"], key), point[key]) for point in curves["smoe"]]
                where = ranges_of([value is not None and value > mine for value, mine in values], names)
                if where:
                    texts.append(f"{codec} {where}")
            row.append("; ".join(texts) or "none")
        rows.append(row)
    return to_table(rows)


def rate_for(points, psnr_db):
    """Bits a pixel at which a curve has this PSNR, on a logarithmic axis; None outside the curve."""
    for low, high in zip(points, points[1:]):
        a, b = low["psnr_db"], high["psnr_db"]
        if a < b and a <= psnr_db <= b:
            share = (psnr_db - a) / (b - a)
            return low["bits_per_pixel"]**(1 - share) * high["bits_per_pixel"]**share
    return None


def for_the_same_psnr(scenes):
    """Bits of other codecs, which store each view of a light field, for the PSNR of its .smoe file."""
    others = others_of(scenes)
    rows = [["light field", "bytes", "bits a pixel", "PSNR, dB", "SSIM"] + others]
    for name, views, curves in scenes:
        for curve in curves["smoe"] if views > 1 else []:
            row = [name, f"{curve['bytes']:,}".replace(",", " "), f"{curve['bits_per_pixel']:.4f}", f"{curve['psnr_db']:.2f}", f"{curve['ssim']:.3f}"]
            for codec in others:
                rate = rate_for(curves.get(codec, []), curve["psnr_db"])
                row.append("not measured" if rate is None else f"{rate:.2f}, {rate / curve['bits_per_pixel']:.0f} times")
            rows.append(row)
    return to_table(rows)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="tables that smoe_rates --json wrote")
    parser.add_argument("-o", "--output", required=True, help="SVG file to write")
    parser.add_argument("--tables", action="store_true", help="also print the tables of docs/smoe.md")
    arguments = parser.parse_args()
    try:
        scenes = scenes_of([read(path) for path in arguments.results])
        picture = draw(scenes)
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(picture)
        if arguments.tables:
            print(comparison(scenes), ahead(scenes), for_the_same_psnr(scenes), sep="\n\n")
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"plot_rates.py: {error}")


if __name__ == "__main__":
    main()
