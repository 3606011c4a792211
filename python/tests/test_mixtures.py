"""Models of pictures and light fields in files: what eight lines do, and what is refused."""

import numpy as np
import pytest

import holotone as ht

SIDE = 40


def picture(u, v):
    """A pattern that moves by 2 pixels for 1 in u and v, as codes of 8 bits."""
    row, column = np.mgrid[:SIDE, :SIDE]
    wave = 0.25 * np.sin(0.5 * (column - 2 * u)) * np.cos(0.4 * (row - 2 * v))
    return np.round(255 * (0.5 + wave)).astype("uint8")[:, :, None]


@pytest.fixture
def pattern(tmp_path):
    """Three rows of three views on disk."""
    for v in range(3):
        for u in range(3):
            ht.write_image(tmp_path / f"view_{v}_{u}.png", picture(u - 1, v - 1))
    return str(tmp_path / "view_%v_%u.png")


def test_a_light_field_becomes_a_file_of_its_psnr(pattern, tmp_path):
    views = ht.read_views(pattern)
    fit = ht.fit_mixture(views, psnr_db=34, iterations=150)
    ht.write_mixture(tmp_path / "field.smoe", fit)
    file = ht.read_mixture(tmp_path / "field.smoe")
    compared = ht.compare_mixture(file.model, views)
    between = ht.SmoeRenderer(file.model).render(ht.SmoeView(size=(SIDE, SIDE), at=(0.5, -0.5)))
    assert fit.psnr_db >= 34 and compared.psnr_db == pytest.approx(fit.psnr_db, abs=1e-6)
    assert file.bytes == len(fit.bytes) == (tmp_path / "field.smoe").stat().st_size
    assert not file.info.lossless and file.info.count == fit.model.count()
    error = between - picture(0.5, -0.5) / 255
    assert -10 * np.log10(np.mean(error**2)) > 25
    assert len(compared.each) == 9 and compared.mean_psnr_db() == pytest.approx(np.mean(compared.each))


def test_views_state_their_files_and_positions(pattern, tmp_path):
    views = ht.read_views(pattern, rows="down")
    assert (views.rows, views.columns, views.bits, views.up) == (3, 3, 8, False)
    assert [tuple(at) for at in views.at[:3]] == [(-1, -1), (0, -1), (1, -1)]
    assert views.paths[5] == str(tmp_path / "view_1_2.png")
    assert np.allclose(views.images[5], picture(1, 0) / 255)
    held_out = ht.hold_out(views, [ht.ViewNumbers(u=2, v=1)])
    assert held_out.paths == [str(tmp_path / "view_1_2.png")] and len(views.images) == 8
    (tmp_path / "view_0_0.png").unlink()
    with pytest.raises(ht.MissingFileError, match="view_%v_%u"):  # a gap in the grid
        ht.read_views(pattern)
    with pytest.raises(ht.ArgumentError, match="%u"):
        ht.read_views("view_%v.png")


def test_numbered_views_stand_in_a_grid(tmp_path):
    for i in range(9):
        ht.write_image(tmp_path / f"n{i}.png", picture(i % 3 - 1, i // 3 - 1))
    views = ht.read_views(tmp_path / "n%u.png", grid=ht.ViewsGrid(columns=3, rows=3))
    assert (views.rows, views.columns) == (3, 3) and tuple(views.at[5]) == (1, 0)
    with pytest.raises(ht.ArgumentError, match="3x3 for 9 views"):
        ht.read_views(tmp_path / "n%u.png")


@pytest.mark.parametrize("name", ["a.smoe", "a.json", "a.npz"])
def test_models_keep_every_float(tmp_path, name):
    model = ht.fit_smoe(picture(0, 0) / np.float32(255), components=5, iterations=3)
    ht.write_mixture(tmp_path / name, model)
    kept = ht.read_mixture(tmp_path / name).model
    for member in ("log_weight", "centre", "covariance", "colour", "slope"):
        assert np.array_equal(getattr(kept, member), getattr(model, member))


def test_dots_are_measured():
    y, x = np.mgrid[2:64:4, 2:64:4]
    dots = ht.Dots(width=64, height=64, position=np.stack([x, y], axis=-1).reshape(-1, 2))
    measured = ht.measure_dots(dots, np.full((64, 64), 1 / 16, "float32"), sigma=[6], margin=24)
    assert measured.nearest.mean == pytest.approx(4) and measured.inside == 256
    assert measured.blurred[0].psnr_db > 70
