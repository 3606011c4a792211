"""The notebooks of examples/notebooks run from top to bottom, and are stored without outputs."""

import pathlib
import re

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path):
    nbformat = pytest.importorskip("nbformat")
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def test_all_are_found():
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{i + 1}_" for i in range(8)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_valid_and_stored_without_outputs(path):
    book = read(path)
    import nbformat

    nbformat.validate(book)
    assert book.nbformat == 4
    assert len({cell.id for cell in book.cells}) == len(book.cells)
    assert "widgets" not in book.metadata
    for cell in book.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None, cell.id


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_needs_no_files_and_explains_every_cell(path):
    cells = read(path).cells
    assert cells[0].cell_type == "markdown" and cells[0].source.startswith("# ")
    for before, cell in zip(cells, cells[1:]):
        if cell.cell_type == "code":
            assert before.cell_type == "markdown" or cell is cells[1], cell.id
            assert not re.search(r"urlopen|requests|/tmp|/home|download", cell.source), cell.id


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    for module in ("ipykernel", "matplotlib"):
        pytest.importorskip(module)
    book = read(path)
    if any("import torch" in cell.source for cell in book.cells):
        pytest.importorskip("torch")
    # On a machine with other work, threads of OpenMP that wait by spinning take ten times as long.
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [one for cell in book.cells if cell.cell_type == "code" for one in cell.outputs]
    assert any("image/png" in one.get("data", {}) for one in shown)
    assert not [one.text for one in shown if one.get("name") == "stderr"]
