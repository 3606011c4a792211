"""What golden.py compares: files and printed text as numbers and words."""
import base64
import io
import json
import re
import zlib

import h5py
import numpy as np
import png
import tifffile
from PIL import Image

VERSION = re.compile(r"holotone \d+\.\d+\.\d+[-.\w]*")
# What differs from run to run, or from version to version, and is no result.
NOISE = [
    (VERSION, "holotone VERSION"),
    (re.compile(r"\b[\d.]+(e[-+]?\d+)? ?(ns|us|µs|ms|s|min|h)\b"), "TIME"),
    (re.compile(r"\b[\d.]+ ?(bytes|B|kB|KiB|MB|MiB|GB|GiB|TB|TiB)\b(/s)?"), "MEMORY"),
    (re.compile(r"[\d.e+-]+( gigapixels| megapixels)? a second"), "RATE"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
]
NOISY_KEY = re.compile(r"(_s|seconds|free_bytes|memory_bytes|host_bytes|device_bytes|file_bytes)$")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class Decoded:
    """`values`: arrays by name, which must agree. `words`: text by name, whose numbers must agree."""

    def __init__(self):
        self.values = {}
        self.words = {}

    def add(self, name, value):
        if isinstance(value, dict):
            for key, item in value.items():
                if not NOISY_KEY.search(key):
                    self.add(f"{name}.{key}" if name else key, item)
        elif isinstance(value, (list, tuple)):
            if value and all(isinstance(item, (int, float)) for item in value):
                self.values[name] = np.array(value, np.float64)
            else:
                self.values[f"{name} length"] = np.array(len(value))
                for i, item in enumerate(value):
                    self.add(f"{name}[{i}]", item)
        elif isinstance(value, str):
            self.words[name] = without_noise(value)
        elif value is None:
            self.words[name] = "null"
        else:
            self.values[name] = np.asarray(value)


def without_noise(text):
    for pattern, name in NOISE:
        text = pattern.sub(name, text)
    return text


def find_numbers(text):
    return np.array([float(token) for token in NUMBER.findall(text)])


def strip_numbers(text):
    return NUMBER.sub("#", text)


def add_numbered(decoded, name, text):
    """Text that holds results: its numbers are values, the rest words."""
    text = VERSION.sub("holotone VERSION", text)
    decoded.values[f"{name} numbers"] = find_numbers(text)
    decoded.words[name] = strip_numbers(without_noise(text))


def decode_png(decoded, data):
    reader = png.Reader(bytes=data)
    width, height, rows, info = reader.read()
    decoded.add("size", [height, width, info["planes"], info["bitdepth"]])
    decoded.add("pixels", np.vstack([np.asarray(row) for row in rows]))
    for key in ("palette", "transparent", "gamma", "physical"):
        if info.get(key) is not None:
            decoded.add(key, [list(item) if isinstance(item, tuple) else item for item in info[key]]
                        if isinstance(info[key], (list, tuple)) else info[key])
    for kind, chunk in png.Reader(bytes=data).chunks():
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            key, text = chunk.split(b"\0", 1)
            if kind == b"zTXt":
                text = zlib.decompress(text[1:])
            if kind == b"iTXt":
                packed = text[0]
                text = text[2:].split(b"\0", 2)[2]
                text = zlib.decompress(text) if packed else text
            decoded.add(key.decode("latin-1"), text.decode("utf-8", "replace"))


def decode_tiff(decoded, data):
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        decoded.add("pages", len(file.pages))
        for i, page in enumerate(file.pages):
            decoded.add(f"pixels {i}", page.asarray())
            for name in ("XResolution", "YResolution", "ResolutionUnit", "ExtraSamples"):
                if name in page.tags:
                    decoded.add(f"{name} {i}", np.asarray(page.tags[name].value))
            for line in (page.description or "").splitlines():
                key, _, value = line.partition(": ")
                decoded.add(f"{key} {i}" if i else key, value)


def decode_picture(decoded, data):
    picture = Image.open(io.BytesIO(data))
    decoded.add("mode", picture.mode)
    decoded.add("pixels", np.asarray(picture))


def decode_hdf5(decoded, data):
    with h5py.File(io.BytesIO(data), "r") as file:
        def visit(name, item):
            for key, value in item.attrs.items():
                decoded.add(f"{name}@{key}", value.decode() if isinstance(value, bytes) else value)
            if isinstance(item, h5py.Dataset):
                decoded.add(name, item[()])
        visit("", file)
        file.visititems(visit)


def decode_numpy(decoded, data):
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        decoded.add("array", loaded)
    else:
        for name in loaded.files:
            decoded.add(name, loaded[name])


def decode_json(decoded, data):
    decoded.add("", json.loads(data))


def decode_text(decoded, data):
    add_numbered(decoded, "text", data.decode("utf-8", "replace"))


PLY_TYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
             "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4",
             "uint32": "u4", "float32": "f4", "float64": "f8"}


def decode_ply(decoded, data):
    head, end, body = data.partition(b"end_header\n")
    text = head.decode("latin-1")
    if not end or "format ascii" in text:
        return decode_text(decoded, data)
    decoded.words["header"] = without_noise(text)
    order = "<" if "little_endian" in text else ">"
    for element in re.finditer(r"element (\w+) (\d+)\n((?:property .*\n)*)", text):
        name, count, properties = element[1], int(element[2]), element[3].split("\n")[:-1]
        if any(line.startswith("property list") for line in properties):
            decoded.add(f"{name} bytes", np.frombuffer(body, np.uint8))  # lists of any length: the bytes are numbers
            return None
        kind = np.dtype([(line.split()[2], order + PLY_TYPES[line.split()[1]]) for line in properties])
        rows = np.frombuffer(body, kind, count)
        body = body[rows.nbytes:]
        for field in kind.names:
            decoded.add(f"{name}.{field}", rows[field])
    return None


def decode_pdf(decoded, data):
    text = ""
    for stream in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL):
        try:
            content = zlib.decompress(stream[1])
        except zlib.error:
            content = stream[1]
        text += content.decode("latin-1") + "\n"
    add_numbered(decoded, "content", text)
    boxes = re.findall(rb"/MediaBox ?\[[^\]]*\]", data)
    decoded.add("boxes", [box.decode() for box in boxes])


def decode_html(decoded, data):
    """The pictures are results; page and script are words."""
    text = data.decode("utf-8", "replace")
    pictures = re.findall(r"data:image/(?:png|jpeg);base64,([A-Za-z0-9+/=]+)", text)
    pictures += re.findall(r'(?<=")((?:/9j/|iVBORw0KGgo)[A-Za-z0-9+/=]+)(?=")', text)
    decoded.add("pictures", len(pictures))
    for i, picture in enumerate(pictures):
        decoded.add(f"picture {i}", np.asarray(Image.open(io.BytesIO(base64.b64decode(picture)))))
    decoded.words["~page"] = without_noise(re.sub(r"[A-Za-z0-9+/=]{200,}", "DATA", text))


DECODERS = {"png": decode_png, "tif": decode_tiff, "tiff": decode_tiff, "bmp": decode_picture, "jpg": decode_picture,
            "h5": decode_hdf5, "hdf5": decode_hdf5, "npy": decode_numpy, "npz": decode_numpy, "json": decode_json,
            "csv": decode_text, "txt": decode_text, "svg": decode_text, "obj": decode_text, "xyz": decode_text,
            "ply": decode_ply, "pdf": decode_pdf, "html": decode_html}


def decode_file(path):
    decoded = Decoded()
    data = path.read_bytes()
    decode = DECODERS.get(path.suffix[1:])
    if decode is None:
        decoded.add("bytes", np.frombuffer(data, np.uint8))
        return decoded
    try:
        decode(decoded, data)
    except Exception as error:  # a file that cannot be read is a result too
        decoded.words["unreadable"] = f"{type(error).__name__}: {error}"
        decoded.add("bytes", np.frombuffer(data, np.uint8))
    return decoded


def decode_output(text, strict):
    """Printed text: JSON, or lines. `strict`: its numbers are results."""
    decoded = Decoded()
    try:
        decoded.add("", json.loads(text))
        return decoded
    except ValueError:
        pass
    clean = without_noise(text)
    if strict:
        decoded.values["numbers"] = np.sort(find_numbers(clean))  # words may be put in another order
        decoded.words["text"] = strip_numbers(clean)
    else:
        decoded.words["~text"] = clean
    return decoded


def distance(old, new):
    """How far arrays are apart: None for other shapes or types, else largest difference and number of differences."""
    if old.shape != new.shape or old.dtype.kind != new.dtype.kind or old.dtype.itemsize != new.dtype.itemsize:
        return None
    if old.dtype.names:
        parts = [distance(old[name], new[name]) for name in old.dtype.names]
        return None if None in parts else (max(p[0] for p in parts), sum(p[1] for p in parts))
    if old.dtype.kind not in "biufc":
        return (0.0, 0) if np.array_equal(old, new) else None
    if old.dtype.kind == "b":
        old, new = old.astype(np.int8), new.astype(np.int8)
    numeric = old.dtype.kind in "fc"
    same = (old == new) | (np.isnan(old) & np.isnan(new)) if numeric else old == new
    if same.all():
        return (0.0, 0)
    wide = np.complex128 if old.dtype.kind == "c" else np.float64
    apart = np.abs(old[~same].astype(wide) - new[~same].astype(wide))
    return (float(np.nan_to_num(apart, nan=np.inf).max()), int((~same).sum()))


def shown(value):
    if not isinstance(value, np.ndarray):
        return repr(value)[:80]
    return " ".join(np.array2string(value.ravel()[:4], precision=6).split())


def described(old, new, apart):
    """The difference of two arrays, for a report."""
    if apart is None:
        return f"{old.dtype} of shape {old.shape} -> {new.dtype} of shape {new.shape}, {shown(old)} -> {shown(new)}"
    first = np.flatnonzero(old.ravel() != new.ravel())[0]
    return (f"{apart[1]} of {old.size} differ, by up to {apart[0]:.3g}; the first, number {first}: "
            f"{old.ravel()[first]} -> {new.ravel()[first]}")


def first_difference(old, new):
    for a, b in zip(old.splitlines() + [""], new.splitlines() + [""], strict=False):
        if a != b:
            return f"'{a[:110]}' -> '{b[:110]}'"
    return "more lines"



def compare(old, new):
    """Returns numbers that differ, as {name: (text, distance)}, and a list of words that differ."""
    failures = {}
    words = []
    # A key of another name with the same value is a word.
    for kind in ("values", "words"):
        mine, other = getattr(old, kind), dict(getattr(new, kind))
        for name in [name for name in mine if name not in other]:
            same = (lambda a, b: distance(a, b) == (0.0, 0)) if kind == "values" else (lambda a, b: a == b)
            renamed = next((key for key in other if key not in mine and same(mine[name], other[key])), None)
            if renamed is not None:
                words.append(f"{name} is named {renamed}")
                other[name] = other.pop(renamed)
        words += [f"{name} is new: {shown(other[name])}" for name in other if name not in mine]
        setattr(new, kind, other)
    for name, value in old.values.items():
        if name not in new.values:
            failures[name] = (f"{name} is missing, {shown(value)}", None)
        elif (apart := distance(value, new.values[name])) != (0.0, 0):
            failures[name] = (f"{name}: {described(value, new.values[name], apart)}", apart)
    for name, text in old.words.items():
        if name not in new.words:
            failures[name] = (f"{name} is missing, {shown(text)}", None)
        elif text != new.words[name]:
            line = f"{name.lstrip('~')}: {first_difference(text, new.words[name])}"
            # Where a text's numbers are results, those of its words are compared too.
            if name.startswith("~") or np.array_equal(find_numbers(text), find_numbers(new.words[name])):
                words.append(line)
            else:
                failures[name] = (line, None)
    return failures, words
