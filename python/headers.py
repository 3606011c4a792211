"""Reads the public headers of Holotone: what they declare, and the comments on it.

A public header has no "Not for users." in its first lines. Comments of documentation begin with /// (before a
declaration) or ///< (behind it). The parser knows the style of this tree, no other C++.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import sys


@dataclasses.dataclass
class Declaration:
    name: str  # "PointCloudPlan", "PointCloudPlan::execute", "PointCloudOptions::pitch_m"
    kind: str  # "class", "struct", "enum", "enumerator", "function", "member", "constant", "alias"
    text: str  # the declaration itself, in one line
    comment: str
    header: str


def public_headers(root: pathlib.Path) -> list[pathlib.Path]:
    headers = sorted((root / "holotone").glob("*/**/*.hpp"))  # without holotone.hpp, which includes them
    return [header for header in headers if "Not for users." not in header.read_text(encoding="utf-8")[:400]]


_SCOPE = re.compile(r"^(class|struct|enum class|enum|union)\s+(?:\[\[\w+\]\]\s+)?(\w+)\b(?!.*\)\s*;)")


class _Scope:
    def __init__(self, name: str, kind: str, depth: int, public: bool):
        self.name, self.kind, self.depth, self.public = name, kind, depth, public


def _without_strings(line: str) -> str:
    return re.sub(r"'(\\.|[^'\\])'|\"(\\.|[^\"\\])*\"", '""', line)


def outside_brackets(text: str, characters: str) -> int | None:
    """Place of the first of these characters outside of < >."""
    depth = 0
    for i, c in enumerate(text):
        if c in characters and depth == 0:
            return i
        depth += (c == "<") - (c == ">" and text[i - 1 : i] != "-")
    return None


def _joined(lines: list[str]) -> str:
    """A comment as paragraphs: lines that begin further right than the text stay lines."""
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def parse(header: pathlib.Path, root: pathlib.Path) -> list[Declaration]:
    found: list[Declaration] = []
    scopes: list[_Scope] = []  # named ones, innermost last
    depth = 0
    skip_below: int | None = None  # depth of a body that declares nothing for users
    comment: list[str] = []
    statement = ""
    where = header.relative_to(root).as_posix()

    def path(name: str) -> str:
        return "::".join([scope.name for scope in scopes if scope.kind != "namespace"] + [name])

    def add(name: str, kind: str, text: str, doc: list[str]) -> None:
        if all(scope.public for scope in scopes):
            found.append(Declaration(path(name), kind, " ".join(text.split()), _joined(doc), where))

    for raw in header.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.startswith("///") and not line.startswith("///<"):
            comment.append(line[3:].removeprefix(" "))
            continue
        if not line or line.startswith(("#", "//")):
            if not line:
                comment = []
            continue
        behind = ""
        if "///<" in line:
            line, behind = (part.strip() for part in line.split("///<", 1))
        line = re.sub(r"\s*//(?!/).*$", "", line)
        bare = _without_strings(line)
        opened, closed = bare.count("{"), bare.count("}")

        if skip_below is not None:
            depth += opened - closed
            if depth <= skip_below:
                skip_below, statement, comment = None, "", []
            continue

        inside = scopes[-1] if scopes else None
        if re.match(r"^(public|private|protected):$", line):
            if inside:
                inside.public = line == "public:"
            continue
        namespace = re.match(r"^namespace\s+([\w:]+)?\s*\{$", line)
        if namespace:
            scopes.append(_Scope(namespace.group(1) or "", "namespace", depth, namespace.group(1) is not None))
            depth += 1
            continue
        if line.startswith("}") and not statement:
            depth += opened - closed
            while scopes and depth <= scopes[-1].depth:
                scopes.pop()
            comment = []
            continue
        if inside and inside.kind == "enum":
            for piece in re.split(r",\s*", line.rstrip(",")):
                name = re.match(r"^(\w+)", piece)
                if name:
                    add(name.group(1), "enumerator", piece, comment or ([behind] if behind else []))
            comment = []
            continue
        scope = _SCOPE.match(line) if not statement else None
        if scope and "{" in bare:
            kind = "enum" if scope.group(1).startswith("enum") else scope.group(1)
            add(scope.group(2), kind, line.split("{")[0], comment)
            comment = []
            if opened == closed:
                if kind == "enum":
                    body = bare[bare.index("{") + 1 : bare.rindex("}")]
                    outer = _Scope(scope.group(2), "enum", depth, True)
                    scopes.append(outer)
                    for piece in body.split(","):
                        if piece.strip():
                            add(piece.split("=")[0].strip(), "enumerator", piece.strip(), [])
                    scopes.pop()
                continue
            scopes.append(_Scope(scope.group(2), kind, depth, kind != "class"))
            depth += opened - closed
            continue
        statement = f"{statement} {line}".strip()
        balanced = statement.count("(") == statement.count(")")
        text = _without_strings(statement)
        if text.count("{") > text.count("}") and balanced and line.endswith("{"):
            # A function's body.
            _add_statement(add, statement[: statement.rindex("{")], inside, comment, behind)
            skip_below = depth
            depth += opened - closed
            statement, comment = "", []
            continue
        depth += opened - closed
        if line.endswith((";", "}")) and balanced and text.count("{") == text.count("}"):
            _add_statement(add, statement, inside, comment, behind)
            statement, comment = "", []
    return found


def _add_statement(add, statement: str, inside: _Scope | None, comment: list[str], behind: str) -> None:
    text = statement.rstrip(";").strip()
    doc = comment or ([behind] if behind else [])
    if text.startswith("template <>"):  # bounds of a member, names of an enum
        return
    if re.search(r"\b(\w+)\(.*\) -> \1<.*>$", text):  # a deduction guide
        return
    template = re.match(r"^template\s*<.*?>\s*(?:requires.*?\)\s*)?(?:class (\w+)|[^(]*?(\w+)\s*\()", text)
    if template:
        add(template.group(1) or template.group(2), "template", text, doc)
        return
    if "operator" in text or text.startswith(("friend", "static_assert", "extern")) or re.match(r"^(class|struct)\s+\w+$", text):
        return
    if text.startswith("using"):
        name = re.match(r"^using (\w+) =", text)
        if name:
            add(name.group(1), "alias", text, doc)
        return
    if "constexpr" in text and "(" not in text.split("=")[0]:
        name = re.match(r"^[^={]*?(\w+)\s*[={]", text)
        if name:
            add(name.group(1), "constant", text, doc)
        return
    begin = outside_brackets(text, "(")
    if begin is not None and outside_brackets(text[:begin], "={") is None:
        add(re.search(r"(~?\w+|operator\S+)\s*$", text[:begin]).group(1), "function", text, doc)
        return
    member = re.match(r"^.*?(\w+)\s*(?:=.*|\{.*\})?$", text)
    if member and inside and inside.kind == "struct":
        add(member.group(1), "member", text, doc)


def declarations(root: pathlib.Path) -> list[Declaration]:
    return [one for header in public_headers(root) for one in parse(header, root)]


if __name__ == "__main__":
    for one in declarations(pathlib.Path(sys.argv[1])):
        print(f"{one.header}: {one.kind} {one.name}: {one.text}")
