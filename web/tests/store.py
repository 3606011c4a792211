"""Writes a stored page (page, style and modules in one file, with answers inside) as holotone.show does."""

import base64
import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "web" / "page"

spec = importlib.util.spec_from_file_location("page", ROOT / "python" / "holotone" / "_page.py")
page = importlib.util.module_from_spec(spec)  # by its path: the package needs its compiled module
spec.loader.exec_module(page)


modules = page.modules


def inlined_script(index: str) -> str:
    return page.inlined(PAGE, index)


def stored_page(documents: dict, answers: list[dict]) -> str:
    """The page with `documents` (a message) and `answers`: document, view, state, header, payload (bytes)."""
    return page.bundled(PAGE, {"documents": documents, "answers": [
        {**{k: v for k, v in answer.items() if k != "payload"}, "data": base64.b64encode(answer["payload"]).decode()}
        for answer in answers
    ]})
