"""The commands that golden.py runs, and the files they read."""
import base64
import json
import struct

import numpy as np
from PIL import Image

PANEL = "--resolution 96x65 --pitch 8um"
CPU = "--device cpu"
SCENE = f"--image in/grey.png --depth in/depth.png --depth-range 18cm,22cm --layers 4 {PANEL}"
VIEWS = f"--views in/view_%v_%u.png --resolution 64x64 --pitch 4um --viewer 36mm:2mm --hogel 32 {CPU}"
DOTS = f"--dots 150 --iterations 30 {CPU}"
STEPS = f"--iterations 4 {CPU}"
PART = f"hologram in/cloud.csv --method direct --rows-at-once 20 {PANEL} {CPU}"

# Files that the old program makes for the cases to read.
PREPARED = [
    f"hologram in/cloud.csv -o in/phase.png {PANEL} --method direct {CPU}",
    f"hologram in/cloud.csv -o in/amplitude.tif --encode amplitude {PANEL} --method direct {CPU}",
    f"hologram in/cloud.csv -o in/field.h5 --encode complex {PANEL} --method direct {CPU}",
    f"hologram in/cloud.csv -o in/field.npy --encode complex {PANEL} --method direct {CPU}",
    f"hologram in/cloud.csv -o in/field.ohc --encode complex {PANEL} --method direct {CPU}",
    f"hologram in/colour.csv -o in/rgb_%c.png --rgb 638nm,520nm,450nm {PANEL} --method direct {CPU}",
    f"hologram {VIEWS} -o in/stereo.h5",
    f"optimize in/grey.png -o in/slm.png {PANEL} {STEPS}",
    f"smoe fit in/photo.png -o in/model.smoe --components 40 --iterations 20 {CPU}",
    f"smoe fit in/view_%v_%u.png -o in/views.smoe --components 40 --iterations 10 {CPU}",
    f"halftone in/grey.png -o in/dots.svg {DOTS}",
    f"halftone in/grey.png -o in/dots.csv {DOTS}",
    "halftone in/grey.png -o in/bitmap.png --method floyd-steinberg",
]


def points(name, text):
    return (name, f"hologram {text} {PANEL}")


REFUSED = {
    "opencl": f"hologram in/cloud.csv -o a.png --method fast --device opencl:0 {PANEL}",
    "opencl-halftone": "halftone in/grey.png -o a.svg --device opencl:0",
    "command": "frobnicate",
    "option": "hologram in/cloud.csv -o a.png --frobnicate",
    "missing": f"hologram in/none.csv -o a.png {PANEL}",
    "output": f"hologram in/cloud.csv -o none/a.png {PANEL}",
    "extension": f"hologram in/cloud.csv -o a.xyz {PANEL}",
    "tolerance": f"hologram in/cloud.csv -o a.png --tolerance 5 {PANEL}",
    "number": f"hologram in/cloud.csv -o a.png --points many {PANEL}",
    "nan": f"hologram in/nan.csv -o a.png {PANEL}",
    "length": "hologram in/cloud.csv -o a.png --resolution 96x65 --pitch 8kg",
    "pitch": "hologram in/cloud.csv -o a.png --resolution 96x65",
    "device": f"hologram in/cloud.csv -o a.png --device tpu {PANEL}",
    "cuda": f"hologram in/cloud.csv -o a.png --device cuda:9 {PANEL}",
    "block": f"hologram in/cloud.csv -o a.h5 --block 5/2 {PANEL}",
    "broken": "info in/broken.png",
    "broken-h5": "reconstruct in/broken.h5 -o a.png",
    "gltf": f"hologram in/outside.gltf -o a.png {PANEL}",
    "bits": f"optimize in/grey.png -o a.png --bits 99 {PANEL}",
    "solver": f"optimize in/grey.png -o a.png --solver best {PANEL}",
    "sum": "quantize in/stereo.h5 -o a.png --most-sum 50",
    "codes": "quantize in/phase.png -o a.png",
    "sweep": "reconstruct in/phase.png -o a.png --sweep 22cm",
    "dots": "halftone in/grey.png -o a.svg --dots -5",
    "gamma": "halftone in/grey.png -o a.svg --gamma nan",
    "sigma": "measure in/dots.svg --sigma 0 --against in/grey.png",
    "components": "smoe fit in/photo.png -o a.smoe --components 0",
    "crop": "smoe render in/model.smoe -o a.png --crop 1,2",
    "model": "smoe info in/photo.png",
    "period": f"panel grating --period 1 -o a.png {PANEL}",
    "term": f"panel zernike --term x -o a.png {PANEL}",
    "sample": "sample cow -o a.ply",
    "scene": "scene dice -o a --views 0x4",
    "rows": [f"{PART} -o 1.tif --block 1/3", "join 1.tif -o a.tif"],
    "parts": "join in/field.h5 -o a.h5",
    "distance": "propagate in/field.h5 -o a.h5 --distance far",
    "monitor": "display in/phase.png --monitor 7",
    "view": "view in/none.png -o a.html",
    "stops": "view in/field.h5 -o a.html --stops colour=3",
    "nothing": "hologram",
}

# Name and command, or commands that follow each other. Paths are relative to the case's own folder; in/ holds the
# inputs.
CASES = [
    # points
    points("points-png", f"in/cloud.csv -o a.png {CPU}"),
    points("points-direct", f"in/cloud.csv -o a.h5 --encode complex --method direct {CPU} --json"),
    points("points-recurrence", f"in/cloud.ply -o a.npy --encode complex --method recurrence {CPU}"),
    points("points-separable", f"in/cloud_binary.ply -o a.h5 --encode complex --method separable {CPU} --json"),
    points("points-fast", f"in/cloud.npy -o a.h5 --encode complex --method fast --deterministic {CPU} --json"),
    points("points-spherical", f"in/cloud.csv -o a.npy --encode complex --wave spherical --no-band-limit {CPU}"),
    points("points-ohc", f"in/cloud.xyz -o a.ohc --encode complex --method direct {CPU}"),
    points("points-bmp", f"in/cloud.csv -o a.bmp --bits 6 --phase-range 1.8pi {CPU}"),
    points("points-tif-16", f"in/cloud.csv -o a.tif --bits 12 --compression 5 {CPU}"),
    points("points-packed", f"in/cloud.csv -o a.png --bits 16 --packed16 {CPU}"),
    points("points-amplitude", f"in/cloud.csv -o a.png --encode amplitude --reference-angle 0.5deg {CPU} --json"),
    points("points-double-phase", f"in/cloud.csv -o a.png --encode double-phase --lut in/lut.txt {CPU}"),
    points("points-single-sideband", f"in/cloud.csv -o a.png --encode single-sideband {CPU}"),
    points("points-burckhardt", f"in/cloud.csv -o a.tif --encode burckhardt {CPU}"),
    points("points-carrier", f"in/cloud.csv -o a.png --carrier 64um {CPU}"),
    points("points-rgb", f"in/colour.csv -o a_%c.png --rgb 638nm,520nm,450nm {CPU} --json"),
    points("points-random-phase", f"in/cloud.csv -o a.png --random-phase --seed 7 {CPU}"),
    points("points-correction", f"in/cloud.csv -o a.png --correction in/correction.npy --distance 10cm {CPU}"),
    points("points-range", f"in/cloud.csv -o a.tif --encode amplitude --amplitude-range=-5,5 --bits 16 {CPU}"),
    points("points-in-front", f"in/cloud.csv -o a.h5 --encode complex --distance -3cm --size 1mm {CPU} --json"),
    points("points-obj", f"in/mesh.obj -o a.png --points 300 --turn 30deg --tilt 10deg --hide --light 1,1,1 {CPU}"),
    points("points-gltf", f"in/mesh.gltf -o a.h5 --encode complex --points 200 {CPU} --json"),
    points("points-stl", f"in/mesh.stl -o a.png --points 200 {CPU}"),
    points("points-frames", f"in/frame_%d.ply -o a_%d.png {CPU}"),
    points("points-spin", f"in/cloud.csv -o a_%02d.png --spin 90deg:3 {CPU}"),
    points("points-bands", f"in/cloud.csv -o a.tif --rows-at-once 20 --method direct {CPU} --json"),
    points("points-two-devices", "in/cloud.csv -o a.h5 --encode complex --rows-at-once 20 --method direct"
           " --device cpu,cpu"),
    points("points-opencl", "in/cloud.csv -o a.h5 --encode complex --method direct --device opencl:0 --json"),
    points("points-opencl-recurrence", "in/cloud.csv -o a.npy --encode complex --method recurrence --device opencl:0"),
    points("points-opencl-amplitude", "in/cloud.csv -o a.png --encode amplitude --device opencl:0"),
    points("points-opencl-double-phase", "in/cloud.csv -o a.tif --encode double-phase --device opencl:0"),
    # pictures with depth
    ("layers-depth", f"hologram {SCENE} -o a.png {CPU} --json"),
    ("layers-smooth", f"hologram {SCENE} -o a.h5 --encode complex --phase smooth {CPU}"),
    ("layers-metres", f"hologram --image in/grey.png --depth in/depth.npy --layers 3 {PANEL} -o a.tif {CPU}"),
    ("layers-flat", f"hologram --image in/photo.jpg {PANEL} -o a.bmp --distance 15cm {CPU}"),
    ("layers-stack", f"hologram --stack in/grey.png@18cm in/photo.png@22cm {PANEL} -o a.png {CPU}"),
    ("layers-hogels", f"hologram {SCENE} --hogel 32 -o a.h5 {CPU} --json"),
    ("layers-opencl", f"hologram {SCENE} -o a.h5 --encode complex --device opencl:0"),
    # stereograms
    ("stereogram-field", f"hologram {VIEWS} -o a.h5 --json"),
    ("stereogram-codes", f"hologram {VIEWS} --scale 1 -o a.tif"),
    ("stereogram-model", f"hologram {VIEWS.replace('view_%v_%u.png', 'views.smoe')} -o a.npy"),
    ("stereogram-fringe", f"hologram {SCENE} --fringe 40um -o a.h5 {CPU} --json"),
    ("stereogram-opencl", f"hologram {VIEWS.replace('cpu', 'opencl:0')} -o a.h5"),
    # optimize
    ("optimize", f"optimize in/grey.png -o a.png {PANEL} {STEPS} --json"),
    ("optimize-fourier", f"optimize in/grey.png -o a.tif --focal-length 20cm --signal-region 60% {PANEL} {STEPS}"),
    ("optimize-gs", f"optimize in/photo.png -o a.bmp --solver gs --phase random --seed 3 {PANEL} {STEPS}"),
    ("optimize-wgs", f"optimize in/grey.png -o a.png --solver wgs {PANEL} {STEPS} --difference b.png"),
    ("optimize-rgb", f"optimize in/photo.png -o a_%c.png --rgb 638nm,520nm,450nm {PANEL} {STEPS}"),
    ("optimize-depth", f"optimize {SCENE} -o a.png {STEPS} --json"),
    ("optimize-subframes", f"optimize in/grey.png -o a_%t.png --subframes 2 --bits 4 --phase random {PANEL} {STEPS}"),
    ("optimize-beam", f"optimize in/grey.png -o a.png --source gaussian:0.5mm --fill-factor 0.9 --zero-order 0.1"
     f" {PANEL} {STEPS} --json"),
    ("optimize-adam", f"optimize in/grey.png -o a.png --solver adam --loss intensity {PANEL} {STEPS} --json"),
    # quantize
    ("quantize-floyd", f"quantize in/field.h5 -o a.png --method floyd-steinberg {CPU} --json"),
    ("quantize-truncate", f"quantize in/field.npy -o a.tif --method truncate --bits 4 --wavelength 532nm --pitch 8um"
     f" {CPU}"),
    ("quantize-vded", f"quantize in/stereo.h5 -o a.npy --weights 6 {CPU} --json"),
    ("quantize-swed", f"quantize in/stereo.h5 -o a.png --method swed --weights 6 --bits 2 {CPU}"),
    ("quantize-eq1", f"quantize in/stereo.h5 -o a.bmp --rule eq1 --weights 4 --borders carry {CPU}"),
    ("quantize-serpentine", f"quantize in/field.h5 -o a.png --order serpentine {CPU}"),
    ("quantize-amplitude", f"quantize in/field.h5 -o a.png --encode amplitude --bits 1 {CPU}"),
    ("quantize-bands", "quantize in/stereo.h5 -o a.tif --method truncate --device cpu,cpu --json"),
    # reconstruct
    ("reconstruct-phase", f"reconstruct in/phase.png -o a.png {CPU} --json"),
    ("reconstruct-linear", f"reconstruct in/amplitude.tif -o a.npy --linear {CPU}"),
    ("reconstruct-field", f"reconstruct in/field.h5 -o a.tif --linear --show phase {CPU}"),
    ("reconstruct-ohc", f"reconstruct in/field.ohc -o a.png --distance 20cm {CPU}"),
    ("reconstruct-sweep", f"reconstruct in/phase.png -o a.png --sweep 18cm:22cm:3 {CPU}"),
    ("reconstruct-rgb", f"reconstruct in/rgb_%c.png -o a.png {CPU}"),
    ("reconstruct-eye", f"reconstruct in/stereo.h5 -o a.png --viewer 36mm:1mm --picture-size 1mm {CPU} --json"),
    ("reconstruct-aperture", f"reconstruct in/phase.png -o a.bmp --aperture 1mm,0mm:3mm --gamma 2 {CPU}"),
    ("reconstruct-against", f"reconstruct in/slm.png -o a.png --against in/grey.png --difference b.png {CPU} --json"),
    ("reconstruct-spectrum", f"reconstruct in/phase.png -o a.png --show spectrum {CPU}"),
    ("reconstruct-decades", f"reconstruct in/amplitude.tif -o a.png --decades 3 --zero-order {CPU}"),
    ("reconstruct-eye-sweep", f"reconstruct in/stereo.h5 -o a_%d.png --sweep-viewer=-1,0mm:1,0mm:2 --viewer 36mm:1mm"
     f" {CPU}"),
    ("reconstruct-opencl", "reconstruct in/phase.png -o a.npy --linear --device opencl:0"),
    ("reconstruct-opencl-field", "reconstruct in/field.h5 -o a.png --device opencl:0 --json"),
    # propagate and join
    ("propagate", f"propagate in/field.h5 -o a.h5 --distance 5cm {CPU} --json"),
    ("propagate-opencl", "propagate in/field.h5 -o a.npy --distance -5mm --device opencl:0"),
    ("join-fields", [*(f"{PART} -o {k}.h5 --encode complex --block {k}/2" for k in (1, 2)),
                     "join 1.h5 2.h5 -o a.h5 --json", "join 2.h5 1.h5 -o a.npy"]),
    ("join-codes", [*(f"{PART} -o {k}.tif --block {k}/3" for k in (1, 2, 3)), "join 3.tif 1.tif 2.tif -o a.tif"]),
    # halftone
    ("halftone-svg", f"halftone in/grey.png -o a.svg {DOTS} --json"),
    ("halftone-pdf", f"halftone in/photo.jpg -o a.pdf --size 100mm {DOTS}"),
    ("halftone-png", f"halftone in/grey.png -o a.png --dpi 150 --size 20mm {DOTS} --order tour"),
    ("halftone-csv", f"halftone in/photo.bmp -o a.csv --mask in/mask.png --gamma 1.5 {DOTS}"),
    ("halftone-txt", f"halftone in/grey.png -o a.txt --radius 0.3:0.9 {DOTS}"),
    ("halftone-npy", f"halftone in/grey.png -o a.npy --method lloyd --dots 80 --iterations 10 {CPU}"),
    ("halftone-ccvt", f"halftone in/grey.png -o a.csv --method ccvt --dots 40 --iterations 10 {CPU}"),
    ("halftone-direct", f"halftone in/grey.png -o a.npy --method direct {DOTS}"),
    ("halftone-taylor", f"halftone in/grey.png -o a.npy --split taylor --near map {DOTS}"),
    ("halftone-frames", f"halftone in/grey.png -o a.csv --frames f_%04d.png {DOTS}"),
    ("halftone-floyd", "halftone in/photo.png -o a.png --method floyd-steinberg --one-bit"),
    ("halftone-cmyk", f"halftone in/photo.png -o a.svg --colour cmyk {DOTS}"),
    # measure
    ("measure-text", "measure in/dots.svg"),
    ("measure-json", "measure in/dots.svg --against in/grey.png --json"),
    ("measure-html", "measure in/dots.csv --page 64x48 -o a.html"),
    ("measure-table", "measure in/dots.svg -o a.csv --frequency 3"),
    ("measure-spectrum", "measure in/bitmap.png --against in/grey.png -o a.png"),
    # models
    ("smoe-fit", [f"smoe fit in/photo.png -o a.smoe --components 40 --iterations 20 {CPU} --json",
                  "smoe convert a.smoe -o a.json", "smoe convert a.smoe -o a.npz"]),
    ("smoe-fit-views", f"smoe fit in/view_%v_%u.png -o a.npz --components 30 --iterations 10 {CPU}"),
    ("smoe-fit-bytes", f"smoe fit in/grey.png -o a.smoe --bytes 900 --iterations 10 {CPU}"),
    ("smoe-fit-grey", f"smoe fit in/grey.png -o a.json --components 20 --iterations 10 {CPU}"),
    ("smoe-convert", ["smoe convert in/model.smoe -o a.smoe --quality 40", "smoe convert a.smoe -o a.json",
                      "smoe convert in/model.smoe -o b.smoe --lossless"]),
    ("smoe-render", f"smoe render in/model.smoe -o a.png --size 100x70 --crop 4,4,30,20 {CPU}"),
    ("smoe-render-float", f"smoe render in/model.smoe -o a.tif --float {CPU} --json"),
    ("smoe-render-sweep", f"smoe render in/views.smoe -o a_%02d.png --sweep 3 --bits 12 {CPU}"),
    ("smoe-render-opencl", "smoe render in/views.smoe -o a.npy --float --view 0.3,-0.5 --device opencl:0"),
    ("smoe-info", "smoe info in/model.smoe --against in/photo.png"),
    ("smoe-info-views", "smoe info in/views.smoe --against in/view_%v_%u.png --json"),
    # patterns
    ("panel-grating", f"panel grating --period 8 --angle 30deg -o a.png {PANEL} --json"),
    ("panel-lens", "panel lens --focal-length 250mm --add in/phase.png -o a.png"),
    ("panel-zernike", f"panel zernike --term 2,2:0.5 --term 11:0.1 --norm peak -o a.tif {PANEL}"),
    ("panel-axicon", f"panel axicon --period 12 -o a.bmp {PANEL}"),
    ("panel-vortex", f"panel vortex --charge 3 --centre 10,5 -o a.png {PANEL}"),
    ("panel-checkerboard", f"panel checkerboard --cell 5 -o a.png {PANEL}"),
    ("panel-steps", f"panel steps -o a --levels 4 --layout halves {PANEL}"),
    ("panel-chart", "panel chart -o a.png --resolution 320x200 --pitch 8um"),
    # built-in objects and scenes
    ("sample-teapot", "sample teapot -o a.ply --points 500 --seed 2"),
    ("sample-knot", "sample knot -o a.ply --points 300 --json"),
    ("scene", "scene dice -o a --resolution 32 --views 2x2 --points 200"),
    # reports
    *[(f"info-{name.replace('.', '-')}", f"info in/{name} --json") for name in
      ("phase.png", "amplitude.tif", "field.h5", "field.npy", "field.ohc", "cloud.csv", "mesh.obj", "mesh.gltf",
       "model.smoe", "dots.svg", "photo.jpg")],
    ("info-text", "info in/phase.png"),
    ("info-dots", "info in/bitmap.png --dots"),
    ("devices", "devices"),
    ("devices-json", "devices --json"),
    ("formats", "formats"),
    ("panels", "panels"),
    ("panels-json", "panels --json"),
    ("view-field", f"view in/field.h5 -o a.html --stops distance=18cm:22cm:2 {CPU}"),
    ("view-model", f"view in/views.smoe -o a.html --stops view=2x1 {CPU}"),
    ("view-phase", f"view in/phase.png -o a.html --stops show=intensity,phase {CPU}"),
    ("view-dots", f"view in/dots.svg -o a.html {CPU}"),
    # help
    *[(f"help-{name.replace(' ', '-')}", f"{name} --help-all") for name in
      ("hologram", "optimize", "quantize", "reconstruct", "halftone", "measure", "smoe fit", "smoe render", "smoe info",
       "smoe convert", "info", "devices", "formats", "panels", "panel lens", "sample", "scene", "display", "view", "join",
       "propagate")],
    ("help", "--help"),
    ("help-display-short", "display --help"),
    ("help-view-short", "view --help"),
    ("version", "--version"),
    # refused
    *[(f"refused-{name}", command) for name, command in REFUSED.items()],
]


def write_cloud(folder, random):
    xyz = (random.random((60, 3)) - 0.5) * [2, 1.4, 0.5]
    rgb = random.random((60, 3))
    rows = ["{:.6f},{:.6f},{:.6f}".format(*p) for p in xyz]
    (folder / "cloud.csv").write_text("x,y,z\n" + "\n".join(rows) + "\n")
    coloured = [f"{row},{c[0]:.4f},{c[1]:.4f},{c[2]:.4f}" for row, c in zip(rows, rgb, strict=True)]
    (folder / "colour.csv").write_text("x,y,z,r,g,b\n" + "\n".join(coloured) + "\n")
    (folder / "nan.csv").write_text("x,y,z\n0,0,0\nnan,1,2\n")
    (folder / "cloud.xyz").write_text("\n".join(row.replace(",", " ") for row in rows) + "\n")
    np.save(folder / "cloud.npy", xyz.astype(np.float32))
    head = "ply\nformat {} 1.0\nelement vertex 60\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
    (folder / "cloud.ply").write_text(head.format("ascii") + "\n".join(row.replace(",", " ") for row in rows) + "\n")
    head = head.format("binary_little_endian").encode()
    (folder / "cloud_binary.ply").write_bytes(head + xyz.astype("<f4").tobytes())
    for k in range(3):
        moved = xyz + [0.1 * k, 0, 0]
        (folder / f"frame_{k}.ply").write_bytes(head + moved.astype("<f4").tobytes())


def write_meshes(folder):
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6),
             (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    (folder / "mesh.obj").write_text("".join("v {} {} {}\n".format(*c) for c in corners) +
                                     "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces))
    data = corners.astype("<f4").tobytes() + np.array(faces, "<u2").tobytes()
    gltf = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "buffers": [{"uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode(),
                         "byteLength": len(data)}],
            "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 96},
                            {"buffer": 0, "byteOffset": 96, "byteLength": 72}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3", "min": [-1, -1, -1],
                           "max": [1, 1, 1]}, {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"}]}
    (folder / "mesh.gltf").write_text(json.dumps(gltf))
    gltf["buffers"][0]["uri"] = "none.bin"
    (folder / "outside.gltf").write_text(json.dumps(gltf))
    triangles = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[list(f)].ravel(), 0) for f in faces)
    (folder / "mesh.stl").write_bytes(bytes(80) + struct.pack("<I", len(faces)) + triangles)


def write_pictures(folder, random):
    y, x = np.mgrid[0:48, 0:64]
    disc = ((x - 40) ** 2 + (y - 20) ** 2 < 150)
    grey = np.clip(3.5 * x + 60 * disc + 8 * random.random((48, 64)), 0, 255).astype(np.uint8)
    photo = np.stack([grey, 255 - grey, np.where(disc, 230, 5 * y)], -1).astype(np.uint8)
    Image.fromarray(grey).save(folder / "grey.png")
    for name in ("photo.png", "photo.bmp", "photo.jpg"):
        Image.fromarray(photo).save(folder / name)
    Image.fromarray(np.where(disc, 200, 40 + x).astype(np.uint8)).save(folder / "depth.png")
    np.save(folder / "depth.npy", np.where(disc, 0.19, 0.21).astype(np.float32))
    Image.fromarray(np.where((x > 8) & (x < 56), 255, 0).astype(np.uint8)).save(folder / "mask.png")
    for v in range(3):
        for u in range(3):
            Image.fromarray(np.roll(photo[8:40, 16:48], (v - 1, u - 1), (0, 1))).save(folder / f"view_{v}_{u}.png")
    np.save(folder / "correction.npy", (0.01 * np.hypot(*np.mgrid[0:65, 0:96])).astype(np.float32))
    (folder / "lut.txt").write_text("".join(f"{6.2 * (k / 255) ** 1.1:.6f}\n" for k in range(256)))
    (folder / "broken.png").write_bytes((folder / "photo.png").read_bytes()[:200])
    (folder / "broken.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))


def write_inputs(folder):
    random = np.random.Generator(np.random.PCG64(39))
    write_cloud(folder, random)
    write_meshes(folder)
    write_pictures(folder, random)
