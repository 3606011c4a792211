"""holotone.show: a figure in a script, the page of `holotone view` in a notebook."""

import numpy
import pytest

import holotone

matplotlib = pytest.importorskip("matplotlib")
GRID = {"pitch_m": 8e-6, "wavelength_m": 532e-9}


@pytest.fixture(autouse=True)
def agg():
    import matplotlib.pyplot

    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")


@pytest.fixture
def point():
    """The field of one point, 15 mm behind the panel, 0.1 mm to the right and 0.05 mm up."""
    return holotone.point_cloud_field(
        numpy.float32([[1e-4, 5e-5, -0.015]]), numpy.float32([1]), shape=(96, 128), **GRID
    )


def picture(figure):
    """The third picture, with the x and y in millimetres of the middle of its white."""
    image = figure.axes[2].get_images()[0]
    codes = image.get_array()
    row, col = (where.mean() for where in numpy.nonzero(codes == 255))
    left, right, bottom, top = image.get_extent()
    ny, nx = codes.shape
    return codes, left + (col + 0.5) / nx * (right - left), top - (row + 0.5) / ny * (top - bottom)


def title(figure):
    return figure.axes[2].get_title()


def test_figure_shows_amplitude_phase_and_light_in_millimetres(point, tmp_path):
    figure = holotone.show(point, distances_m=(0.01, 0.02))
    assert isinstance(figure, matplotlib.figure.Figure)
    amplitude, phase = (axis.get_images()[0].get_array() for axis in figure.axes[:2])
    numpy.testing.assert_array_equal(amplitude, numpy.abs(point.values))
    numpy.testing.assert_array_equal(phase, numpy.angle(point.values))
    codes, x, y = picture(figure)
    plan = holotone.ReconstructionPlan(shape=point.shape, **GRID)
    plan.set_field(point)
    numpy.testing.assert_array_equal(codes, holotone.tone_map(plan.execute(distance_m=0.015)))
    assert abs(x - 0.1) <= 0.008 and abs(y - 0.05) <= 0.008
    assert title(figure) == "in focus at 1.5 cm"
    figure.savefig(tmp_path / "field.png")
    assert (tmp_path / "field.png").stat().st_size > 10000


def test_the_default_range_is_twice_the_fresnel_distance(point):
    reach = 2 * holotone.fresnel_distance_m(shape=point.shape, **GRID)
    expected = picture(holotone.show(point, distances_m=(0, reach)))[0]
    numpy.testing.assert_array_equal(picture(holotone.show(point))[0], expected)


@pytest.mark.parametrize(
    ("metadata", "middle"),
    [
        ({"distance_m": "0.015"}, "1.5 cm"),
        ({"distance_m": "-0.015"}, "-1.5 cm"),
        ({"distance_m": "0.015", "distance_min_m": "0.012", "distance_max_m": "0.02"}, "1.6 cm"),
    ],
)
def test_the_range_is_about_the_distances_that_the_metadata_state(point, metadata, middle):
    point.metadata.update(metadata)
    assert title(holotone.show(point)) == "in focus at " + middle


def test_arrays_need_wavelength_and_pitch_and_any_layout_will_do(point):
    expected = picture(holotone.show(point))[0]
    for values in (point.values.astype(numpy.complex128), numpy.asfortranarray(point.values)):
        numpy.testing.assert_array_equal(picture(holotone.show(values, **GRID))[0], expected)
    with pytest.raises(TypeError, match="wavelength_m and pitch_m"):
        holotone.show(point.values)


def test_tensors_of_pytorch_with_gradient_and_conjugation(point):
    torch = pytest.importorskip("torch")
    expected = picture(holotone.show(point))[0]
    tensor = torch.from_numpy(point.values).requires_grad_()
    for values in (tensor, tensor.detach().conj().resolve_conj().conj(), tensor.detach().to(torch.complex128)):
        numpy.testing.assert_array_equal(picture(holotone.show(values, **GRID))[0], expected)
    field = holotone.Field(tensor, **GRID)
    numpy.testing.assert_array_equal(picture(holotone.show(field))[0], expected)


def test_arrays_of_holotone(point):
    array = holotone.copy_of(point.values)
    numpy.testing.assert_array_equal(picture(holotone.show(array, **GRID))[0], picture(holotone.show(point))[0])


def test_an_empty_range_is_refused(point):
    for distances in ((0.1, 0.1), (0.2, 0.1)):
        with pytest.raises(ValueError, match="nearest < farthest"):
            holotone.show(point, distances_m=distances)


NOTEBOOK = """
import numpy, sys
{before}
import holotone, matplotlib.pyplot as plt
field = holotone.point_cloud_field(
    numpy.float32([[1e-4, 5e-5, -0.015]]), numpy.float32([1]), shape=(96, 128), pitch_m=8e-6, wavelength_m=532e-9
)
shown = holotone.show(field, distances_m=(0.01, 0.03))
"""


def run(folder, *cells):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return [cell.outputs for cell in book.cells]


def test_a_notebook_gets_the_page(tmp_path):
    outputs = run(
        tmp_path,
        NOTEBOOK.format(before=""),
        "shown",
        "import json, re\nshown.save('page.html')\n"
        "stored = json.loads(re.search('<script id=\"stored\".*?>(.*?)</script>', shown.text, re.S)[1])\n"
        "print([answer['view'] for answer in stored['answers']].count('light'), plt.get_fignums())\n"
        "print(stored['documents']['documents'][0]['controls']['distance']['stops'][8])",
    )
    assert outputs[0] == []  # nothing is drawn before the page is displayed
    assert outputs[1][0].data["text/html"].startswith("<iframe srcdoc=")
    assert outputs[2][0].text == "17 []\n0.02\n"
    page = (tmp_path / "page.html").read_text()
    assert "<style>" in page and 'src="main.js"' not in page and "\nimport " not in page


def test_pictures_of_the_page_are_those_of_the_library(point):
    import io

    pil = pytest.importorskip("PIL.Image")
    from holotone._page import png

    codes = holotone.tone_map(numpy.abs(point.values) ** 2)
    numpy.testing.assert_array_equal(numpy.asarray(pil.open(io.BytesIO(png(codes)))), codes)


def test_codes_are_no_field(point):
    with pytest.raises(holotone.ArgumentError, match="expected a complex field, got codes of uint16: modulation_of"):
        holotone.show(holotone.encode(point), **GRID)


@pytest.mark.parametrize("distances_m", [0.1, (0.1,), "far"])
def test_a_range_is_two_distances(point, distances_m):
    with pytest.raises(holotone.ArgumentError, match=r"distances_m: expected \(nearest, farthest\), got"):
        holotone.show(point, distances_m=distances_m)
