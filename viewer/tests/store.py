"""Write a stored page: page, style and modules in one file, with answers inside (as `holotone view -o` does)."""

import base64
import json
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "page"


def modules(index: str) -> list[str]:
    """Names of the modules in the order of their dependence."""
    return re.findall(r'<link rel="modulepreload" href="(.*?)">', index)


def inlined_script(index: str) -> str:
    """All modules as one: without their imports and without the word export."""
    text = "\n".join((PAGE / name).read_text() for name in modules(index))
    text = re.sub(r"^import .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)


def stored_page(documents: dict, answers: list[dict]) -> str:
    """The page with `documents` (a message) and `answers`: document, view, state, header, payload (bytes)."""
    index = (PAGE / "index.html").read_text()
    stored = {
        "documents": documents,
        "answers": [
            {
                **{k: v for k, v in answer.items() if k != "payload"},
                "data": base64.b64encode(answer["payload"]).decode(),
            }
            for answer in answers
        ],
    }
    data = json.dumps(stored).replace("<", "\\u003c")
    style = (PAGE / "style.css").read_text()
    script = inlined_script(index)
    index = re.sub(r'<link rel="modulepreload".*\n', "", index)
    index = index.replace('<link rel="stylesheet" href="style.css">', f"<style>\n{style}</style>")
    return index.replace(
        '<script type="module" src="main.js"></script>',
        f'<script id="stored" type="application/json">{data}</script>\n<script type="module">\n{script}</script>',
    )
