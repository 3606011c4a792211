"""The programs of README.md and docs/python.md run as they stand there."""

from __future__ import annotations

import pathlib
import re
import textwrap

import pytest

ROOT = pathlib.Path(__file__).parents[2]


SECTIONS = ["First hologram", "Reconstruction", "Phase retrieval with a camera", "On a panel", "Halftones",
            "Mixtures of experts", "Non-uniform Fourier transforms"]


def read_program(page, section):
    """All programs of a section, one after the other."""
    text = re.search(rf"## {section}\n(.*?)(?=\n## |\Z)", page, re.DOTALL).group(1)
    return textwrap.dedent("\n".join(line for line in text.split("\n") if line.startswith("    ")))


def draws_in_memory():
    import holotone as ht

    try:
        ht.PanelWindow(offscreen=(8, 8)).close()
    except ht.UnsupportedError as error:
        print(error)
        return False
    return True


def test_programs_of_the_page(tmp_path, monkeypatch):
    """One after the other, as each continues the first. The first draws the page's picture."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    import holotone as ht
    import numpy as np

    for name, wavelength_m in {"r": 638e-9, "g": 520e-9, "b": 450e-9}.items():  # the holograms of the colour picture
        grid = {"pitch_m": 8e-6, "wavelength_m": wavelength_m}
        light = ht.point_cloud_field(np.float32([[0, 0, -0.2]]), np.ones(1, "float32"), shape=(65, 96), **grid)
        ht.write_field(f"{name}.ohc", ht.Field(light, **grid))
    names = {}
    for section in SECTIONS:
        if section == "On a panel" and not draws_in_memory():
            continue
        exec(read_program(page, section), names)
    sizes = {name: (tmp_path / name).stat().st_size for name in ("hologram.png", "field.png", "seen.png", "large.png")}
    assert min(sizes.values()) > 20_000 and (tmp_path / "dots.svg").exists(), sizes
    assert ht.read_image("colours.png").pixels.shape == (65, 96, 3) and len(names["psnr_db"]) == 3
    drawn, kept = (pyplot.imread(path)[..., :3] for path in (tmp_path / "field.png", ROOT / "docs/pictures/python.png"))
    assert drawn.shape == kept.shape and np.abs(drawn - kept).mean() < 0.05  # fonts and versions differ
    # What is seen is bright where the retrieved phase sends light, and each part has worked.
    picture, light = names["picture"], names["bench"].light(names["phase"])[0, 0]
    assert np.corrcoef(picture.ravel(), light.ravel())[0, 1] > 0.8
    assert names["halftone"].dots.count() == 4000 and names["spectrum"].periodograms > 0
    assert names["large"].shape == (540, 960, 1) and names["slope"].shape == (1000, 2)


def test_program_of_the_readme():
    pytest.importorskip("torch")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.search(r"## Python\n```python\n(.*?)```", text, re.S).group(1)
    import numpy as np

    names = {"position_m": np.float32([[0, 0, -0.2], [1e-3, 0, -0.21]]), "amplitude": np.ones(2, "float32")}
    exec(program, names)
    assert names["codes"].shape == names["seen"].shape == (1080, 1920)
