"""The programs of README.md and docs/python.md run as they stand there."""

from __future__ import annotations

import pathlib
import re
import textwrap

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def test_first_hologram_of_the_page(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    program = re.search(r"## First hologram\n((?:    .*\n|\n)+)", page).group(1)
    monkeypatch.chdir(tmp_path)
    exec(textwrap.dedent(program), {})
    assert (tmp_path / "hologram.png").stat().st_size > 100_000


def test_program_of_the_readme():
    pytest.importorskip("torch")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.search(r"## Python\n```python\n(.*?)```", text, re.S).group(1)
    import numpy as np

    names = {"position_m": np.float32([[0, 0, -0.2], [1e-3, 0, -0.21]]), "amplitude": np.ones(2, "float32")}
    exec(program, names)
    assert names["codes"].shape == names["seen"].shape == (1080, 1920)
