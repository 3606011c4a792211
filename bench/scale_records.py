#!/usr/bin/env python3
"""Times whole commands on prints of up to ten gigapixels, against published results.

    bench/scale_records.py build/cuda/cli/holotone --json bench/results/h200x2.json --only 'points|views'

Each row is a command in a new process that reads its input and writes its file; columns, in seconds:

  command  the whole command
  bands    computing and writing all bands (bands_s of --json)
  device   of it, computing: the device that computed longest (device_s)
  write    of it, and of flushing the file, the time in which this process wrote (write_s)

Points are random on a sphere or a relief (--seed); views are those of --views. Needs NumPy, and 60 GB in --folder for
all rows.
"""
import argparse
import datetime
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy

RGB = ["--rgb", "638nm,520nm,450nm"]
#: Gigapixels, pixels a side, enlargement of the paper's print, devices. A GPU named twice has two bands under way.
VIEWS = [("2.4", 49_152, 2, "cuda:0"), ("2.4", 49_152, 2, "all"), ("9.7", 98_304, 4, "all"),
         ("9.7", 98_304, 4, "cuda:0,cuda:0,cuda:1,cuda:1")]


def write_points(path, count, radius_m, front_m, seed):
    """Coloured points, binary PLY: on a sphere whose front is `front_m` behind the panel, or (0) of a relief 5 to 15 mm
    behind it."""
    random = numpy.random.default_rng(seed)
    points = numpy.zeros(count, [("p", "<f4", 3), ("c", "u1", 3)])
    if front_m == 0:
        place = random.uniform(-1, 1, (count, 2)).astype(numpy.float32)
        points["p"][:, :2] = radius_m * place
        points["p"][:, 2] = -0.01 + 0.005 * numpy.sin(7 * place[:, 0]) * numpy.cos(5 * place[:, 1])
    else:
        normal = random.normal(size=(count, 3)).astype(numpy.float32)
        normal /= numpy.linalg.norm(normal, axis=1, keepdims=True)
        points["p"] = normal * radius_m + numpy.float32([0, 0, -radius_m - front_m])
    points["c"] = random.integers(1, 256, (count, 3))
    names = [f"property float {axis}\n" for axis in "xyz"] + [f"property uchar {c}\n" for c in ("red", "green", "blue")]
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {count}\n{''.join(names)}end_header\n"
    path.write_bytes(head.encode() + points.tobytes())


@functools.cache
def measure_strehl(program, folder, pitch_m, distance_m, given_wave, seed):
    """Strehl ratio |sum U conj E|^2 / (sum |U|)^2 of one point, at 1,000,000 random pixels within 0.9 of its light; E is
    its spherical wave in float64."""
    wavelength_m = 532e-9
    reach = wavelength_m * distance_m / (2 * pitch_m**2)
    side = max(9000, 2 * int(reach) + 2)
    cloud, field = folder / "point.csv", folder / "point.npy"
    cloud.write_text(f"x,y,z\n0,0,{-distance_m}\n")
    subprocess.run([program, "hologram", str(cloud), "-o", str(field), "--encode", "complex", "--resolution",
                    f"{side}x{side}", "--pitch", f"{pitch_m}m", "--wavelength", f"{wavelength_m}m", "--keep-coordinates",
                    "--wave", given_wave, "--method", "fast", "--device", "cuda:0"], check=True, capture_output=True)
    at = numpy.random.default_rng(seed).integers(-int(0.9 * reach), int(0.9 * reach), (2, 1_000_000))
    values = numpy.load(field, mmap_mode="r")[at[0] + side // 2, at[1] + side // 2].astype(complex)
    field.unlink()
    place = (at + side // 2 - (side - 1) / 2) * pitch_m
    square = (place**2).sum(0)
    turns = square / (numpy.sqrt(distance_m**2 + square) + distance_m) / wavelength_m
    return float(abs((values * numpy.exp(-2j * numpy.pi * turns)).sum())**2 / abs(values).sum()**2)


def list_rows(folder, views, shrink):
    """Rows: name, devices, pixels a side, points (millions), colours, words of the command after `hologram`."""

    def points(name, millions, side, radius_m, front_m, pitch, devices, more=()):
        side, millions, radius_m = side // shrink, millions / shrink**2, radius_m / shrink
        cloud = folder / f"points_{millions:g}_{radius_m:g}_{front_m:g}.ply"
        words = [str(cloud), "-o", str(folder / "out.tif"), "--resolution", f"{side}x{side}", "--pitch", pitch,
                 "--keep-coordinates", *more]
        one = {"devices": devices, "side": side, "points": max(1, int(millions * 1e6)), "radius_m": radius_m,
               "front_m": front_m, "cloud": cloud, "colours": 3 if "--rgb" in more else 1,
               "pitch_m": float(pitch.removesuffix("um")) * 1e-6, "distance_m": front_m + radius_m if front_m else 0.01}
        return [one | {"name": name, "wave": "spherical", "words": words},
                one | {"name": f"{name}/fresnel", "wave": "fresnel", "words": [*words, "--wave", "fresnel"]}]

    rows = sum([
        # A sphere of 80 mm behind panels of 109 and 339 mm, with the pitch of modulators.
        points("points/186_megapixels/rgb", 1.02, 13_640, 40e-3, 0.3, "8um", "cuda:0", RGB),
        points("points/186_megapixels/rgb", 1.02, 13_640, 40e-3, 0.3, "8um", "all", RGB),
        points("points/1.8_gigapixels/rgb", 2, 42_427, 40e-3, 0.3, "8um", "cuda:0", RGB),
        points("points/1.8_gigapixels/rgb", 2, 42_427, 40e-3, 0.3, "8um", "all", RGB),
        # Prints of 50 and 100 mm: a sphere, whose points light much of the print, and a relief.
        points("points/2.5_gigapixels", 10, 50_000, 15e-3, 0.05, "1um", "cuda:0"),
        points("points/2.5_gigapixels", 10, 50_000, 15e-3, 0.05, "1um", "all"),
        points("points/10_gigapixels/relief", 10, 100_000, 45e-3, 0, "1um", "cuda:0"),
        points("points/10_gigapixels/relief", 10, 100_000, 45e-3, 0, "1um", "all"),
        points("points/10_gigapixels", 10, 100_000, 30e-3, 0.05, "1um", "all"),
    ], [])
    # Lagrange et al. 2024, Table 1, enlarged twice and four times with the viewer: the same rays a hogel.
    for name, side, times, devices in VIEWS:
        side //= shrink
        words = ["--views", views, "-o", str(folder / "out.tif"), "--resolution", f"{side}x{side}", "--pitch", "0.75um",
                 "--wavelength", "635nm", "--hogel", "2048", "--scale", "1", "--bits", "8",
                 "--viewer", f"{36 * times}mm:{9.2 * times}mm", "--camera-span", f"{9.2 * times}mm",
                 "--distance", f"{91 * times}mm", "--size", f"{65 * times}mm"]
        rows.append({"name": f"views/{name}_gigapixels", "devices": devices, "side": side, "points": 0, "colours": 1,
                     "words": words})
    if not views:
        rows = [row for row in rows if row["points"]]
    return rows


def measure(program, row, seed):
    if "cloud" in row and not row["cloud"].exists():
        write_points(row["cloud"], row["points"], row["radius_m"], row["front_m"], seed)
    command = [program, "hologram", *row["words"], "--device", row["devices"], "--json"]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        print(f"{row['name']} on {row['devices']}: {done.stderr.strip()}", file=sys.stderr)
        return None
    said = json.loads(done.stdout)
    holograms = said["holograms"]
    wave = {}
    if row["points"]:
        if said["wave"] != row["wave"]:
            raise ValueError(f"{row['name']}: {said['wave']} waves")
        wave = {"wave": row["wave"], "strehl": round(measure_strehl(
            program, row["cloud"].parent, row["pitch_m"], row["distance_m"], row["wave"], seed), 4),
                "deviation_rad": max(one["fresnel_deviation_rad"] for one in holograms)}
    for name in said["outputs"]:
        os.remove(name)
    return {
        "name": row["name"], "device": said["device"], "pixels": row["side"] ** 2 * row["colours"],
        "points": row["points"], "method": holograms[0].get("method", said.get("method")),
        "bands": holograms[0].get("bands"), "command_s": round(seconds, 3),
        "bands_s": round(sum(one["bands_s"] for one in holograms), 3),
        "device_s": round(sum(one["device_s"] for one in holograms), 3),
        "write_s": round(sum(one["write_s"] for one in holograms), 3),
        "command": " ".join(["holotone", *command[1:]]), **wave,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--json", metavar="FILE", help="add the rows to this file, in place of those of the same name")
    parser.add_argument("--views", help="pattern of views, such as 'chess/view_%%v_%%u.png'")
    parser.add_argument("--only", default="", help="rows whose name holds this pattern")
    parser.add_argument("--folder", help="folder for the clouds and the files (a temporary one)")
    parser.add_argument("--shrink", type=int, default=1, help="divisor of all sides, to try the script")
    parser.add_argument("--commit", default="", help="of the program, for --json")
    parser.add_argument("--add", action="append", default=[], metavar="FILE",
                        help="rows of holotone_bench's --benchmark_out, with seconds, to add to --json")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    devices = json.loads(subprocess.run([program, "devices", "--json"], capture_output=True, check=True).stdout)
    gpus = [f"{one['name']} ({one['detail']})" for one in devices["devices"] if one["device"].startswith("cuda")]
    results = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for row in list_rows(pathlib.Path(folder), options.views, options.shrink):
            if not re.search(options.only, row["name"]):
                continue
            result = measure(program, row, options.seed)
            if result:
                results.append(result)
                print("{name:28} {device:16} {pixels:.3g} pixels: command {command_s:.2f} s, bands {bands_s:.2f}, "
                      "devices {device_s:.2f}, writing {write_s:.2f}".format(**result), flush=True)
    for file in options.add:
        bench = json.loads(pathlib.Path(file).read_text())
        for row in bench["benchmarks"]:
            name = row["name"].partition("/iterations")[0] + row["name"].partition("/manual_time")[2]
            unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[row["time_unit"]]
            results.append({"name": name, "device": bench["context"]["backend"],
                            "pixels": int(re.search(r"/(\d+)", name)[1]) ** 2,
                            "bands_s": round(row["real_time"] * unit, 3),
                            **{key: row[key] for key in ("device_bytes", "moved_bytes", "rel_error") if key in row}})
    if options.json:
        target = pathlib.Path(options.json)
        kept = json.loads(target.read_text())["rows"] if target.exists() else []
        known = {(row["name"], row["device"]) for row in results}
        kept = [row for row in kept if (row["name"], row["device"]) not in known]
        date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        results = [{**row, "commit": options.commit, "date": date} for row in results]
        context = {"software": version, "gpus": gpus, "processors": os.cpu_count()}
        target.write_text(json.dumps({"context": context, "rows": kept + results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
