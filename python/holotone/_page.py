"""The page of `holotone view`, with its pictures inside, for notebooks and files."""

from __future__ import annotations

import base64
import html
import json
import re
import struct
import zlib
from importlib import resources
from pathlib import Path
from typing import Any


class Page:
    """A page of HTML that needs no server. A notebook shows it; `save` writes it."""

    def __init__(self, text: str, height: int = 640):
        self.text = text
        self.height = height

    def save(self, path: Any) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.text, encoding="utf-8")

    def _repr_html_(self) -> str:
        page = html.escape(self.text, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{self.height}px;border:0"></iframe>'


def png(codes: Any) -> bytes:
    """A PNG file of 8-bit grey codes of shape {ny, nx} (NumPy)."""
    ny, nx = codes.shape
    rows = b"".join(b"\0" + row.tobytes() for row in codes)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", nx, ny, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


def answer(document: int, view: str, state: dict[str, Any], codes: Any, command: str) -> dict[str, Any]:
    """A picture that the page shows for these values of the view's controls."""
    ny, nx = codes.shape
    header = {"media": "image/png", "width": nx, "height": ny, "command": command, "facts": []}
    data = base64.b64encode(png(codes)).decode()
    return {"document": document, "view": view, "state": state, "header": header, "data": data}


def stored_page(documents: list[dict[str, Any]], answers: list[dict[str, Any]], software: str) -> str:
    """The page with descriptions of documents and their pictures, as `holotone view -o` writes it."""
    message = {"type": "documents", "software": software, "documents": documents, "pair": None}
    return bundled(resources.files("holotone") / "page", {"documents": message, "answers": answers})


def modules(index: str) -> list[str]:
    """Names of the page's modules in the order of their dependence."""
    return re.findall(r'<link rel="modulepreload" href="(.*?)">', index)


def inlined(folder: Any, index: str) -> str:
    """All modules as one: without their imports and without the word export."""
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in modules(index))
    return re.sub(r"^(import .*\n|export )", "", text, flags=re.MULTILINE)


def bundled(folder: Any, stored: dict[str, Any]) -> str:
    """The files of the page in `folder` as one: style, modules without imports and exports, and what is stored."""

    def read_text(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    index = read_text("index.html")
    data = json.dumps(stored).replace("<", "\\u003c")
    page = re.sub(r'<link rel="modulepreload".*\n', "", index)
    page = page.replace('<link rel="stylesheet" href="style.css">', f"<style>\n{read_text('style.css')}</style>")
    return page.replace(
        '<script type="module" src="main.js"></script>',
        f'<script id="stored" type="application/json">{data}</script>\n<script type="module">\n{inlined(folder, index)}</script>',
    )
