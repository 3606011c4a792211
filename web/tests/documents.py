"""Documents of each kind for the fake server: descriptions and answers from real pictures of the repository."""

import functools
import io
import json

import numpy as np
from PIL import Image, ImageChops, ImageFilter

from store import PAGE

PICTURES = PAGE.parent.parent / "docs" / "pictures"


@functools.cache
def picture(name: str) -> Image.Image:
    return Image.open(PICTURES / name).convert("RGB")


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()


def number(label, value, low, high, step, unit="", factor=1.0, **more) -> dict:
    return {
        "kind": "number",
        "label": label,
        "value": value,
        "min": low,
        "max": high,
        "step": step,
        "unit": unit,
        "factor": factor,
        "logarithmic": False,
        **more,
    }


HOLOGRAM_CONTROLS = {
    "distance": number("Focus", 0.2, 0.15, 0.25, 0.0001, "cm", 100),
    "show": {
        "kind": "choice",
        "label": "Show",
        "value": "intensity",
        "choices": [["intensity", "Intensity"], ["amplitude", "Amplitude"], ["phase", "Phase"]],
    },
    "pupil": {
        "kind": "place",
        "label": "Pupil",
        "value": [0, 0],
        "min": [-0.01, -0.01],
        "max": [0.01, 0.01],
        "unit": "mm",
        "factor": 1000,
    },
    "pupil_diameter": number("Pupil diameter", 0.004, 0.001, 0.016, 0.0001, "mm", 1000, logarithmic=True),
    "white": number("White", 1.0, 0.05, 4.0, 0.01, when={"show": ["intensity", "amplitude"]}),
    "tone": {
        "kind": "choice",
        "label": "Tone curve",
        "value": "linear",
        "when": {"show": ["intensity"]},
        "choices": [
            ["linear", "Linear"],
            ["srgb", "sRGB"],
            ["logarithm", "Logarithm"],
            ["filmic", "Filmic"],
            ["power", "Power law"],
        ],
    },
    "band_limit": {"kind": "switch", "label": "Band limit", "value": True},
}
HOLOGRAM_VIEWS = [
    {"name": "light", "title": "Light", "kind": "picture", "controls": list(HOLOGRAM_CONTROLS)},
    {"name": "pixels", "title": "Pixels", "kind": "picture", "controls": []},
    {"name": "spectrum", "title": "Spectrum", "kind": "plot", "controls": ["band_limit"]},
]


def hologram(name: str) -> dict:
    facts = [
        ["wavelength", "532 nm"],
        ["pitch", "8 um"],
        ["size", "1920 x 1080"],
        ["encoding", "phase, 8 bits"],
        ["distance", "20 cm"],
        ["software", "holotone 0.9"],
    ]
    return {"name": name, "kind": "hologram", "facts": facts, "views": HOLOGRAM_VIEWS, "controls": HOLOGRAM_CONTROLS}


WHOLE = [0, 0, 768, 512]
MODEL = {
    "name": "kodim.smoe",
    "kind": "model",
    "facts": [["experts", "2 048"], ["size", "768 x 512"], ["bits", "1.2 a pixel"]],
    "views": [
        {"name": "rendered", "title": "Rendered", "kind": "window", "controls": ["window", "tolerance"]},
        {"name": "experts", "title": "Experts", "kind": "plot", "controls": []},
    ],
    "controls": {
        "window": {"kind": "window", "label": "Window", "value": WHOLE},
        "tolerance": number("Tolerance", 1e-3, 1e-6, 1e-1, 1e-6, logarithmic=True),
    },
}
INKS = [["cyan", "#00a0e0"], ["magenta", "#e0007a"], ["yellow", "#ffe000"], ["black", "#1a1a1a"]]
DOTS = {
    "name": "dots.svg",
    "kind": "dots",
    "facts": [["dots", "40 000"], ["page", "600 x 400"]],
    "views": [{"name": "dots", "title": "Dots", "kind": "dots", "controls": []}],
    "controls": {},
}
POINTS = {
    "name": "knot.ply",
    "kind": "points",
    "facts": [["points", "60 000"]],
    "views": [{"name": "scene", "title": "Points", "kind": "scene", "controls": []}],
    "controls": {},
}
MESH = {
    "name": "torus.obj",
    "kind": "mesh",
    "facts": [["triangles", "19 200"]],
    "views": [{"name": "scene", "title": "Surface", "kind": "scene", "controls": []}],
    "controls": {},
}
FOLDER = {
    "name": "results",
    "kind": "folder",
    "facts": [["entries", "10 000"]],
    "views": [{"name": "folder", "title": "Entries", "kind": "folder", "controls": []}],
    "controls": {},
}
PAIR = {
    "views": [{"name": "difference", "title": "Difference", "kind": "picture", "controls": ["gain"]}],
    "controls": {"gain": number("Gain", 4.0, 1.0, 64.0, 0.1, logarithmic=True)},
}
DOCUMENTS = [hologram("slm.png"), hologram("optimized slm.png"), MODEL, DOTS, POINTS, MESH, FOLDER]
KINDS = ["hologram", "model", "picture", "dots", "points", "mesh", "field"]
ENTRIES = [
    {"name": f"{KINDS[i % 7]}_{i:05}.png", "kind": KINDS[i % 7], "bytes": 1000 + 7919 * i, "thumbnail": i % 7 != 6}
    for i in range(10000)
]


def documents_message(documents: list[dict]) -> dict:
    return {
        "type": "documents",
        "software": "holotone 0.9",
        "documents": documents,
        "pair": PAIR if len(documents) > 1 else None,
    }


def raster(image: Image.Image, command: str, facts: list) -> tuple[dict, bytes]:
    header = {"media": "image/png", "width": image.width, "height": image.height, "command": command, "facts": facts}
    return header, png(image)


def light(document: dict, state: dict, moving: bool) -> tuple[dict, bytes]:
    image = picture("focus.png" if document["name"] == "slm.png" else "optimized.png")
    if moving:
        image = image.resize((image.width // 2, image.height // 2))
    across = image.width / 0.08
    image = image.filter(ImageFilter.GaussianBlur(abs(state["distance"] - 0.2) * 150))
    image = ImageChops.offset(image, round(state["pupil"][0] * across), round(-state["pupil"][1] * across))
    if state["show"] == "phase":
        image = ImageChops.invert(image)
    image = image.point(lambda code: min(255, code / state["white"]))
    command = f"holotone reconstruct '{document['name']}' -o focus.png --distance {state['distance'] * 100:.2f}cm"
    return raster(image, command, [["white", f"{state['white']:.3g}"], ["speckle contrast", "0.43"]])


def spectrum() -> tuple[dict, bytes]:
    x = np.linspace(0.01, 2, 240)
    series = [
        {"name": name, "x": x.tolist(), "y": y.tolist()}
        for name, y in [("RAPS", x**3 / (1 + x**4) + 1e-3), ("anisotropy", 0.05 + 0.02 * np.sin(9 * x) ** 2)]
    ]
    plot = {"x": "frequency / principal", "y": "power", "logarithmic": True, "series": series}
    return {"media": "application/json", "command": "holotone measure slm.png", "facts": []}, json.dumps(plot).encode()


def model(state: dict, size: list[int], moving: bool) -> tuple[dict, bytes]:
    x, y, width, height = state["window"]
    size = [max(1, part // 2) for part in size] if moving else size
    whole = picture("mixture.png").resize((WHOLE[2], WHOLE[3]))
    image = whole.resize(size, Image.Resampling.BILINEAR, (x, y, x + width, y + height))
    levels = max(4, int(8 - 40 * state["tolerance"]) * 32)
    image = image.point(lambda code: round(code * levels / 256) * 256 / levels)
    return raster(
        image,
        f"holotone render kodim.smoe -o view.png --tolerance {state['tolerance']:g}",
        [["experts a pixel", "12.4"]],
    )


@functools.cache
def dots(count: int = 40000) -> tuple[dict, bytes]:
    random = np.random.default_rng(1)
    page = [600, 400]
    places = random.random((count, 2)).astype(np.float32) * np.float32(page)
    ink = random.integers(0, 4, count).astype(np.uint8)
    radius = (0.4 + places[:, 0] / page[0]).astype(np.float32)
    header = {
        "media": "application/octet-stream",
        "count": count,
        "page": page,
        "inks": INKS,
        "has_radius": True,
        "has_class": True,
        "command": "holotone halftone photo.png -o dots.svg --inks cmyk",
        "facts": [],
    }
    return header, places.tobytes() + radius.tobytes() + ink.tobytes()


@functools.cache
def points(count: int = 60000) -> tuple[dict, bytes]:
    random = np.random.default_rng(2)
    t = random.random(count) * 2 * np.pi
    ring = 2 + np.cos(3 * t)
    place = np.stack([ring * np.cos(2 * t), ring * np.sin(2 * t), np.sin(3 * t)], 1) + 0.12 * random.normal(
        size=(count, 3)
    )
    colour = (255 * np.stack([0.6 + 0.4 * np.cos(t), 0.6 + 0.4 * np.sin(t), np.full(count, 0.7)], 1)).astype(np.uint8)
    place = place.astype(np.float32)
    data = place.tobytes() + colour.tobytes()
    header = {
        "media": "application/octet-stream",
        "points": count,
        "triangles": 0,
        "has_colour": True,
        "low": place.min(0).tolist(),
        "high": place.max(0).tolist(),
        "command": "holotone hologram knot.ply -o slm.png",
        "facts": [],
    }
    return header, data + bytes(-len(data) % 4)


@functools.cache
def mesh(around: int = 120, across: int = 80) -> tuple[dict, bytes]:
    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    place = np.stack([(2 + 0.8 * np.cos(v)) * np.cos(u), (2 + 0.8 * np.cos(v)) * np.sin(u), 0.8 * np.sin(v)], -1)
    place = place.reshape(-1, 3).astype(np.float32)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    at = lambda a, b: ((a % around) * across + b % across).ravel()  # noqa: E731
    corners = np.concatenate(
        [
            np.stack([at(i, j), at(i + 1, j), at(i, j + 1)], 1),
            np.stack([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)], 1),
        ]
    ).astype(np.uint32)
    header = {
        "media": "application/octet-stream",
        "points": len(place),
        "triangles": len(corners),
        "has_colour": False,
        "low": place.min(0).tolist(),
        "high": place.max(0).tolist(),
        "command": "holotone hologram torus.obj -o slm.png",
        "facts": [],
    }
    return header, place.tobytes() + corners.tobytes()


def thumbnail(entry: str, size: list[int]) -> tuple[dict, bytes]:
    names = sorted(path.name for path in PICTURES.glob("panel_*.png"))
    image = picture(names[hash(entry) % len(names)]).copy()
    image.thumbnail(size)
    return raster(image, "", [])


def difference(state: dict) -> tuple[dict, bytes]:
    a, b = picture("focus.png"), picture("optimized.png")
    image = ImageChops.difference(a, b.resize(a.size)).point(lambda code: min(255, code * state["gain"]))
    return raster(
        image, "holotone measure slm.png 'optimized slm.png'", [["PSNR", "31.42 dB"], ["largest difference", "87"]]
    )


def answer(documents: list[dict], message: dict) -> tuple[dict, bytes]:
    """Header and payload for a "show" message; ValueError with one line if it cannot be shown."""
    state, view = message["state"], message["view"]
    if isinstance(message["document"], list):
        return difference(state)
    document = documents[message["document"]]
    if document["kind"] == "hologram" and view == "light":
        if state["distance"] > 0.2499:
            raise ValueError("--distance: expected less than 24.99cm, got 25cm")
        return light(document, state, message["moving"])
    if view == "pixels":
        return raster(picture("hologram.png"), "", [])
    if view in ("spectrum", "experts"):
        return spectrum()
    if view == "rendered":
        return model(state, message["size"], message["moving"])
    if view == "dots":
        return dots()
    if view == "scene":
        return points() if document["kind"] == "points" else mesh()
    if view == "folder":
        return {"media": "application/json", "facts": []}, json.dumps({"entries": ENTRIES, "more": 2500}).encode()
    if view == "thumbnail":
        return thumbnail(state["entry"], message["size"])
    raise ValueError(f"view: expected one of the document's, got {view}")
