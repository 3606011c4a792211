"""`holotone view` itself: its pictures are those of the commands that it names, and behave as physics says."""

import io
import json
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import at_rest, pixels
from program import PROGRAM, Viewing, holotone

numpy = pytest.importorskip("numpy")
PIL = pytest.importorskip("PIL.Image")

pytestmark = pytest.mark.skipif(not PROGRAM, reason="HOLOTONE_PROGRAM names no program")

PANEL = "--resolution 480x270 --pitch 8um"
LIGHT = [
    {},
    {"distance": 0.0487},
    {"distance": -0.031, "show": "amplitude", "gamma": 1.7},
    {"distance": 0.05, "show": "phase"},
    {"distance": 0.052, "decades": 3.5},
    {"white": 0.75},
    {"pupil": [0.002, -0.0013], "pupil_diameter": 0.004},
    {"pupil": [-0.0031, 0], "pupil_diameter": 0.0021, "viewer_distance": 0.31, "distance": 0.047},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view")
    holotone(folder, "sample knot -o knot.ply --points 20000")
    holotone(folder, f"hologram knot.ply -o slm.png {PANEL} --distance 5cm --size 2mm")
    holotone(folder, f"hologram knot.ply -o field.h5 {PANEL} --distance 5cm --size 2mm --encode complex")
    holotone(folder, f"hologram knot.ply -o knot_%c.png {PANEL} --distance 5cm --size 2mm --rgb 638nm,520nm,450nm")
    holotone(folder, "reconstruct slm.png -o photo.png")
    holotone(folder, "halftone photo.png -o dots.svg --dots 4000")
    holotone(folder, "smoe fit photo.png -o photo.smoe --components 300")
    holotone(folder, f"hologram knot.ply -o near.h5 {PANEL} --distance 2cm --size 1mm --encode complex")
    holotone(folder, "quantize near.h5 -o near.png --bits 8 --viewer 20mm:1mm")
    # Two points, one behind the other.
    (folder / "pair.csv").write_text("x,y,z,amplitude\n-0.0005,0,-0.03,1\n0.0005,0,-0.06,1\n")
    holotone(folder, f"hologram pair.csv -o pair.png {PANEL} --keep-coordinates")
    return folder


def picture(data: bytes):
    return numpy.asarray(PIL.open(io.BytesIO(data)))


def same_as_command(folder, header, payload):
    """Runs the command that an answer names, and compares its pixels."""
    words = shlex.split(header["command"])
    assert words[0] == "holotone"
    holotone(folder, shlex.join(words[1:]))
    made = folder / words[words.index("-o") + 1]
    expected = numpy.asarray(PIL.open(made))
    got = picture(payload)
    assert got.shape == expected.shape
    assert (got == expected).all(), header["command"]
    made.unlink()


@pytest.mark.parametrize("name", ["slm.png", "field.h5", "knot_%c.png"])
def test_light_equals_reconstruct(folder, name):
    with Viewing(folder, f"{name} --device cpu") as viewing, viewing.client() as client:
        for state in LIGHT:
            if "%c" in name and state.get("show") == "phase":
                continue
            header, payload = client.show("light", state)
            assert header["type"] == "shown", header
            same_as_command(folder, header, payload)


def test_a_near_eyes_focus_equals_reconstruct(folder):
    with Viewing(folder, "near.png --device cpu") as viewing, viewing.client() as client:
        pictures = []
        for distance in (0.012, 0.02):
            state = {"distance": distance, "pupil": [0.0001, 0], "pupil_diameter": 0.002}
            header, payload = client.show("light", state)
            assert "--viewer" in header.get("command", ""), header
            same_as_command(folder, header, payload)
            pictures.append(payload)
        assert pictures[0] != pictures[1]


def test_a_refused_pupil_leaves_the_last_state(folder, tmp_path):
    for name in ("slm.png", "knot_r.png", "knot_g.png", "knot_b.png"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with Viewing(tmp_path, "slm.png knot_%c.png --device cpu") as viewing, viewing.client() as client:
        for path in tmp_path.iterdir():
            path.unlink()
        for document in (0, 1):
            before = client.show("light", {}, document=document)[1]
            # 18 mm from the axis at 50 cm: within the zone of 638 nm, beyond that of 450 nm.
            state = {"pupil": [0.018, 0], "pupil_diameter": 0.004}
            assert client.show("light", state, document=document)[0]["type"] == "error"
            assert client.show("light", {}, document=document)[1] == before


def test_spectrum_equals_reconstruct(folder):
    with Viewing(folder, "slm.png --device cpu") as viewing, viewing.client() as client:
        for state in ({}, {"spectrum_decades": 2.5}):
            same_as_command(folder, *client.show("spectrum", state))


def test_codes_equal_the_file(folder):
    with Viewing(folder, "slm.png") as viewing, viewing.client() as client:
        header, payload = client.show("codes")
        assert (picture(payload) == numpy.asarray(PIL.open(folder / "slm.png"))).all()
        counts = client.show("levels")[1]
        assert b"pixels" in counts


def test_model_equals_smoe_render(folder):
    with Viewing(folder, "photo.smoe --device cpu") as viewing, viewing.client() as client:
        for state in ({}, {"window": [100.25, 60, 55.5, 31.2]}, {"tolerance": 0.05}):
            same_as_command(folder, *client.show("light field", state, size=(320, 180)))


def test_inverted_dots_are_compared_inverted(folder):
    holotone(folder, "halftone photo.png -o light.svg --dots 2000 --invert --gamma 2")
    options = "--against photo.png --invert --gamma 2"
    with Viewing(folder, f"light.svg {options}") as viewing, viewing.client() as client:
        header, _ = client.show("similarity")
        assert header["command"].startswith(f"holotone measure light.svg {options}"), header
        alike = dict(header["facts"])
    with Viewing(folder, "light.svg --against photo.png") as viewing, viewing.client() as client:
        unlike = dict(client.show("similarity")[0]["facts"])
    for blur, text in alike.items():
        assert float(text.split()[0]) > float(unlike[blur].split()[0])


def test_dots_spectrum_equals_measure(folder):
    with Viewing(folder, "dots.svg --against photo.png") as viewing, viewing.client() as client:
        same_as_command(folder, *client.show("spectrum"))
        header, payload = client.show("dots")
        assert header["count"] == 4000
        assert len(payload) >= 4000 * 8
        for view in ("raps", "anisotropy", "pairs", "similarity"):
            assert client.show(view)[0]["type"] == "shown"


def test_a_moving_picture_is_coarse_and_jpeg(folder):
    with Viewing(folder, "slm.png") as viewing, viewing.client() as client:
        header, payload = client.show("light", {"distance": 0.05}, moving=True, size=(240, 135))
        assert header["media"] == "image/jpeg"
        assert picture(payload).shape == (135, 240)
        assert client.show("light", {"distance": 0.05})[0]["media"] == "image/png"


def test_points_are_sharp_at_their_distances(folder):
    with Viewing(folder, "pair.png") as viewing, viewing.client() as client:
        def brightest(distance, white):
            return int(picture(client.show("light", {"distance": distance, "white": white})[1]).max())

        # Where a point is sharp its light is on few pixels.
        white = 1.0
        while max(brightest(distance, white) for distance in (0.03, 0.06)) == 255:
            white *= 2
        light = {distance: brightest(distance, white) for distance in (0.02, 0.03, 0.045, 0.06, 0.075)}
        assert light[0.03] > light[0.02] and light[0.03] > light[0.045], light
        assert light[0.06] > light[0.045] and light[0.06] > light[0.075], light


def test_parallax(folder):
    """From the right, what is behind moves to the right against what is in front."""

    def columns(client, x, distance):
        state = {"distance": distance, "pupil": [x, 0], "pupil_diameter": 0.004}
        values = picture(client.show("light", state)[1]).astype(float)
        return values[:, : values.shape[1] // 2], values[:, values.shape[1] // 2 :]

    def centre(values):
        weight = values.sum(axis=0)
        weight = numpy.where(weight > 0.5 * weight.max(), weight, 0)
        return (weight * numpy.arange(weight.size)).sum() / weight.sum()

    with Viewing(folder, "pair.png") as viewing, viewing.client() as client:
        # Focused on the plane between: the near point is left, the far one right.
        shifts = []
        for x in (-0.006, 0.006):
            near, far = columns(client, x, 0.045)
            shifts.append((centre(near), centre(far)))
        near_shift = shifts[1][0] - shifts[0][0]
        far_shift = shifts[1][1] - shifts[0][1]
        assert far_shift > near_shift + 2


def test_difference(folder):
    with Viewing(folder, "field.h5 slm.png") as viewing, viewing.client() as client:
        assert client.documents["pair"] is not None
        header, payload = client.show("difference", {"distance": 0.05}, document=[0, 1])
        assert header["type"] == "shown"
        assert float(dict(header["facts"])["PSNR of the pictures"].split()[0]) > 5
        same, _ = client.show("difference", {"distance": 0.05}, document=[0, 0])
        assert dict(same["facts"])["PSNR of the pictures"] == "infinite"


def test_errors_are_one_line(folder):
    with Viewing(folder, "slm.png") as viewing, viewing.client() as client:
        for view, state, document in (
            ("light", {"distance": "far"}, 0),
            ("light", {"distance": 1e300}, 0),
            ("light", {"show": "nothing"}, 0),
            ("light", {"pupil": [9, 9], "pupil_diameter": 0.001}, 0),
            ("nothing", {}, 0),
            ("light", {}, 7),
            ("light", {}, -1),
        ):
            header, _ = client.show(view, state, document=document)
            assert header["type"] == "error" and "\n" not in header["message"], header
        assert client.show("light")[0]["type"] == "shown"


def test_a_changed_file_is_loaded_again_and_a_lost_one_kept(folder, tmp_path):
    path = tmp_path / "one.png"
    path.write_bytes((folder / "slm.png").read_bytes())
    with Viewing(tmp_path, "one.png") as viewing, viewing.client() as client:
        before = picture(client.show("codes")[1])
        time.sleep(0.01)
        path.write_bytes((folder / "pair.png").read_bytes())
        after = picture(client.show("codes")[1])
        assert (before != after).any()
        assert any("changed" in notice.get("message", "") for notice in client.notices)
        path.unlink()
        assert (picture(client.show("codes")[1]) == after).all()
        client.show("codes")
        assert any("gone" in notice.get("message", "") for notice in client.notices)


def test_a_change_is_told_without_a_question(folder, tmp_path):
    path = tmp_path / "one.png"
    path.write_bytes((folder / "slm.png").read_bytes())
    with Viewing(tmp_path, "one.png") as viewing, viewing.client() as client:
        assert client.documents["documents"][0]["version"] == 0
        path.write_bytes((folder / "pair.png").read_bytes())
        while (header := client.receive(10)[0])["type"] != "documents":
            pass
        assert header["documents"][0]["version"] == 1


def test_entries_beyond_those_held_are_opened_again(folder, tmp_path):
    for i in range(12):
        (tmp_path / f"{i:02}.png").write_bytes((folder / ("slm.png" if i % 2 else "photo.png")).read_bytes())
    with Viewing(tmp_path, ".") as viewing, viewing.client() as client:
        for i in range(12):
            assert client.show("entry", {"entry": f"{i:02}.png"})[0]["opened"] == i + 1
        kinds = [one["kind"] for one in client.documents["documents"][1:]]
        assert kinds == ["picture", "hologram"] * 6
        for i in range(12):
            view = "codes" if i % 2 else "picture"
            assert client.show(view, document=i + 1)[0]["type"] == "shown"


def test_the_cpu_goes_on_without_the_gpu(folder):
    layer = Path(PROGRAM).parent.parent / "tests" / "libfaulty_opencl.so"
    if not layer.is_file() or "opencl:0" not in holotone(folder, "devices"):
        pytest.skip("no device of OpenCL, or a build without tests")
    fault = {"OPENCL_LAYERS": str(layer), "HOLOTONE_TEST_FAULT": "lost later"}
    with Viewing(folder, "slm.png --device opencl:0", fault) as viewing, viewing.client() as client:
        for i in range(60):
            header, payload = client.show("light", {"distance": 0.04 + 1e-4 * i})
            assert header["type"] == "shown", header
            if any("the CPU continues" in notice.get("message", "") for notice in client.notices):
                break
        assert i > 0, "lost before the first picture"
        assert "--device cpu" in header["command"], header
        same_as_command(folder, header, payload)


def test_a_long_render_can_be_ended(folder):
    viewing = Viewing(folder, "photo.smoe --device cpu")
    with viewing.client() as client:
        state = {"window": [10, 10, 200, 100], "tolerance": 1e-7}
        client.socket.send(
            json.dumps(
                {"type": "show", "pane": "a", "id": 1, "document": 0, "view": "light field", "state": state}
                | {"moving": False, "size": [8192, 8192]}
            )
        )
        time.sleep(0.5)
        started = time.monotonic()
        viewing.process.terminate()
        assert viewing.process.wait(20) == 0
        assert time.monotonic() - started < 3


def test_folder(folder):
    with Viewing(folder, ".") as viewing, viewing.client() as client:
        header, payload = client.show("files")
        payload_of_files = payload
        assert b"slm.png" in payload and b"photo.smoe" in payload
        header, payload = client.show("thumbnail", {"entry": "slm.png"})
        assert header["media"] == "image/jpeg"
        assert max(picture(payload).shape) <= 480
        assert client.show("thumbnail", {"entry": "../slm.png"})[0]["type"] == "error"
        kinds = {entry["name"]: entry["kind"] for entry in json.loads(payload_of_files)["entries"]}
        assert kinds["slm.png"] == "hologram" and kinds["photo.png"] == "picture" and kinds["dots.svg"] == "dots"
        for entry in ("dots.svg", "knot.ply", "photo.smoe", "field.h5"):
            shown = picture(client.show("thumbnail", {"entry": entry})[1])
            assert shown.std() > 5, entry
        client.show("entry", {"entry": "slm.png"})
        assert len(client.documents["documents"]) == 2
        assert client.show("light", document=1)[0]["type"] == "shown"


def test_a_folder_lists_what_its_names_say(tmp_path):
    """.tsv, .asc and .mat too; .txt, .json and .npz more often hold something else, and open by name."""
    for name in ("notes.txt", "settings.json", "arrays.npz", "read.me", "light.mat"):
        (tmp_path / name).write_text("no light\n")
    for name in ("cloud.tsv", "cloud.asc", "cloud.xyz"):
        (tmp_path / name).write_text("0 0 0\n1 0 0\n0 1 1\n")
    (tmp_path / "dots.tsv").write_text("x\ty\n1\t2\n3\t4\n")
    with Viewing(tmp_path, ".") as viewing, viewing.client() as client:
        kinds = {entry["name"]: entry["kind"] for entry in json.loads(client.show("files")[1])["entries"]}
        assert kinds == {"cloud.asc": "points", "cloud.tsv": "points", "cloud.xyz": "points", "dots.tsv": "dots",
                         "light.mat": "field"}


def test_links_out_of_a_folder_are_left_out(folder, tmp_path):
    inside = tmp_path / "run"
    inside.mkdir()
    (inside / "own.png").write_bytes((folder / "photo.png").read_bytes())
    (inside / "alias.png").symlink_to("own.png")
    (inside / "away.png").symlink_to(folder / "photo.png")
    with Viewing(inside, ".") as viewing, viewing.client() as client:
        names = [entry["name"] for entry in json.loads(client.show("files")[1])["entries"]]
        assert names == ["alias.png", "own.png"]


def test_vertices_that_are_not_shown_are_counted(tmp_path):
    head = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
    (tmp_path / "hole.ply").write_text(head + "0 0 0\n1 1 1\nnan 0 0\n")
    with Viewing(tmp_path, "hole.ply") as viewing, viewing.client() as client:
        facts = dict(client.documents["documents"][0]["facts"])
        assert facts["vertices"] == "3" and facts["not finite"] == "1"


def test_ends_by_a_signal(folder):
    viewing = Viewing(folder, "slm.png")
    with viewing.client():
        viewing.process.send_signal(signal.SIGINT)
        started = time.monotonic()
        assert viewing.process.wait(5) == 0
        assert time.monotonic() - started < 2


def test_stored_page(folder, open_page):
    holotone(folder, "view slm.png -o slm.html --stops distance=4cm:6cm:5 --stops show=intensity,phase")
    assert (folder / "slm.html").stat().st_size < 20e6
    page = open_page((folder / "slm.html").as_uri())
    first = page.locator("[data-pane=a] .stage").screenshot()
    page.locator("[data-pane=a] input[type=range]").first.press("ArrowRight")
    page.wait_for_timeout(300)
    assert page.locator("[data-pane=a] .stage").screenshot() != first
    page.close()


def test_a_stored_page_of_large_pictures_holds_smaller_ones(folder):
    noise = numpy.random.default_rng(5).integers(0, 256, (6600, 6600), dtype=numpy.uint8)
    PIL.fromarray(noise).save(folder / "noise.png", compress_level=0)
    report = json.loads(holotone(folder, "view noise.png -o noise.html --json"))
    assert (report["jpeg_quality"], report["sides_divided_by"]) == (80, 2)
    page = (folder / "noise.html").read_text()
    assert len(page) < 20e6
    assert "JPEG of quality 80, sides divided by 2" in page


def test_a_stored_page_holds_pictures_longer_than_jpeg_may_be(folder):
    PIL.fromarray(numpy.zeros((3, 70000), dtype=numpy.uint8)).save(folder / "long.png")
    report = json.loads(holotone(folder, "view long.png -o long.html --json"))
    assert report["jpeg_quality"] is None


def test_a_stored_page_names_the_file_that_is_too_large(folder):
    holotone(folder, "sample teapot -o many.ply --points 2M")
    command = [PROGRAM, "view", "many.ply", "-o", "many.html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "many.ply: expected data that a page of 20 MB holds" in done.stderr, done.stderr


@pytest.mark.parametrize("files", ["slm.png", "field.h5 slm.png", "photo.smoe", "dots.svg --against photo.png", "knot.ply", "."])
def test_the_page_shows_every_kind(folder, open_page, files):
    with Viewing(folder, files) as viewing:
        page = open_page(viewing.url)
        assert page.locator(".pane").count() >= 1
        page.close()


def test_the_difference_has_the_controls_of_both(folder, open_page):
    with Viewing(folder, "field.h5 slm.png --device cpu") as viewing:
        page = open_page(viewing.url + "#layout=two&a.distance=0.045&b.distance=0.045")
        before = page.locator("[data-pane=a] .command code").inner_text()
        page.get_by_role("radio", name="Difference").check()
        at_rest(page)
        focus = page.locator("[data-pane=d] [data-control=distance]").get_by_role("spinbutton")
        assert abs(float(focus.input_value()) - 4.5) < 1e-6 or abs(float(focus.input_value()) - 45) < 1e-6
        shown = pixels(page, "d")
        focus.fill(str(float(focus.input_value()) * 1.1))
        focus.press("Enter")
        at_rest(page)
        assert pixels(page, "d") != shown
        page.get_by_role("radio", name="Two").check()
        at_rest(page)
        assert page.locator("[data-pane=a] .command code").inner_text() == before
        page.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("-o a.html --stops distance=4cm:6cm", "FROM:TO:COUNT"),
        ("-o a.html --stops distance=4cm --stops distance=5cm", "distance once"),
        ("-o a.html --invert", "--invert: expected --against"),
        ("-o a.html --gamma 2", "--gamma: expected --against"),
        ("--host -x", "--host"),
        ("--host a/b", "--host"),
    ],
)
def test_options_that_do_not_fit_are_refused(folder, options, words):
    command = [PROGRAM, "view", "slm.png", *shlex.split(options), "--no-browser"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (folder / "a.html").exists()
