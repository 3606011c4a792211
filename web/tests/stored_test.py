"""The stored page: one file, opened from disk, without a network."""

import re

from conftest import at_rest, wait_for_hash, pixels
from documents import answer, documents_message, hologram
from store import PAGE, inlined_script, modules, stored_page

STOPS = [0.19, 0.2001, 0.21]  # the default, 0.2, is none of them


def write_page(path):
    document = hologram("slm.png")
    document["controls"] = {name: dict(document["controls"][name]) for name in ("distance", "show", "pupil", "white")}
    document["controls"]["distance"]["stops"] = STOPS
    document["controls"]["show"]["stops"] = ["intensity", "phase"]
    document["controls"]["pupil"]["stops"] = [[0, 0], [0.004, 0]]
    document["controls"]["white"]["stops"] = [1.0]
    document["views"] = [
        {**document["views"][0], "controls": ["distance", "show", "pupil", "white"]},
        {"name": "spectrum", "title": "Spectrum", "kind": "plot", "controls": []},
    ]
    answers = []
    for distance in STOPS:
        for show in ("intensity", "phase"):
            state = {"distance": distance, "show": show, "pupil": [0, 0], "white": 1.0}
            message = {"document": 0, "view": "light", "state": state, "moving": False, "size": [1, 1]}
            header, payload = answer([document], message)
            answers.append({"document": 0, "view": "light", "state": state, "header": header, "payload": payload})
    header, payload = answer(
        [document], {"document": 0, "view": "spectrum", "state": {}, "moving": False, "size": [1, 1]}
    )
    answers.append({"document": 0, "view": "spectrum", "state": {}, "header": header, "payload": payload})
    path.write_text(stored_page(documents_message([document]), answers))


def test_stored_page_from_disk(tmp_path, open_page):
    write_page(tmp_path / "slm.html")
    asked = []
    page = open_page((tmp_path / "slm.html").as_uri(), wait=False)
    page.context.set_offline(True)
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    at_rest(page)
    assert asked == [(tmp_path / "slm.html").as_uri()]
    assert page.locator(".command code").inner_text().endswith("--distance 20.01cm")
    before = pixels(page)
    slider = page.locator("[data-control=distance]").get_by_role("slider")
    assert slider.get_attribute("max") == "2"
    slider.press("ArrowRight")
    page.wait_for_timeout(400)
    at_rest(page)
    assert page.locator(".command code").inner_text().endswith("--distance 21.00cm")
    assert pixels(page) != before
    page.locator("[data-control=show]").get_by_role("radio", name="Phase").check()
    at_rest(page)
    assert page.locator("[data-control=show] input").count() == 2
    wait_for_hash(page, "a.distance=0.21")
    field = page.locator("[data-control=distance]").get_by_role("spinbutton")
    field.fill("19.2")
    field.press("Enter")
    at_rest(page)
    assert field.input_value() == "19.00"
    page.get_by_role("radio", name="Spectrum").check()
    at_rest(page)
    page.locator(".plot path.line").nth(1).wait_for(state="attached")


def test_missing_answer_is_said(tmp_path, open_page):
    write_page(tmp_path / "slm.html")
    page = open_page((tmp_path / "slm.html").as_uri())
    page.locator("[data-control=pupil]").get_by_role("slider").press("ArrowRight")
    page.get_by_text("This page has no stored picture for these values.").wait_for()


def test_modules_can_be_inlined():
    index = (PAGE / "index.html").read_text()
    names = modules(index)
    assert sorted(names) == sorted(path.name for path in PAGE.glob("*.js"))
    seen, top_level = set(), []
    for name in names:
        text = (PAGE / name).read_text()
        for line in text.splitlines():
            assert len(line) <= 120, f"{name}: {line}"
            if line.startswith("import "):
                found = re.fullmatch(r'import \{[\w, ]+\} from "\./(\w+\.js)";', line)
                assert found, f"{name}: an import that cannot be inlined: {line}"
                assert found[1] in seen, f"{name}: {found[1]} must stand before it in index.html"
        assert len(text.splitlines()) <= 400
        assert not re.search(r"export (default|\{|\*)|</script|import\(|https?://(?!www\.w3\.org/2000/svg)", text), name
        top_level += re.findall(r"^(?:export )?(?:async )?(?:const|let|function|class) (\w+)", text, re.MULTILINE)
        seen.add(name)
    assert len(top_level) == len(set(top_level)), sorted(name for name in top_level if top_level.count(name) > 1)
    assert "import " not in re.sub(r"//.*", "", inlined_script(index))


def test_no_outside_address_in_the_page():
    for path in PAGE.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text and "https:" not in text.replace('"https:"', ""), path.name
