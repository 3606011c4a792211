"""Every kind of control, by pointer and keys."""

from conftest import at_rest, wait_for_hash
from documents import hologram
from fake_server import FakeServer


def control(page, name, pane="a"):
    return page.locator(f"[data-pane={pane}] [data-control={name}]")


def last(server, pane="a"):
    return server.shows(pane)[-1]


def test_slider_by_keys_asks_moving_then_at_rest(server, open_page):
    page = open_page(server.url + "#layout=one")
    control(page, "distance").get_by_role("slider").press("ArrowRight")
    page.wait_for_timeout(500)
    at_rest(page)
    asked = server.shows("a")
    assert [show["moving"] for show in asked][-2:] == [True, False] or asked[-1]["moving"] is False
    assert abs(asked[-1]["state"]["distance"] - 0.2001) < 1e-9
    assert control(page, "distance").get_by_role("slider").get_attribute("aria-valuetext") == "20.01 cm"
    assert control(page, "distance").get_by_role("spinbutton").input_value() == "20.01"
    wait_for_hash(page, "a.distance=0.2001")


def test_number_field_takes_the_shown_unit_and_clamps(server, open_page):
    page = open_page(server.url + "#layout=one")
    field = control(page, "distance").get_by_label("Focus, number in cm")
    for text, value, shown in [
        ("17.5", 0.175, "17.50"),
        ("99", 0.25, "25.00"),
        ("", 0.25, "25.00"),
        ("18", 0.18, "18.00"),
    ]:
        field.fill(text)
        field.press("Enter")
        page.wait_for_timeout(100)
        assert field.input_value() == shown
        assert abs(last(server)["state"]["distance"] - value) < 1e-9
    at_rest(page)


def test_logarithmic_slider(server, open_page):
    page = open_page(server.url + "#layout=one")
    slider = control(page, "pupil_diameter").get_by_role("slider")
    slider.press("Home")
    at_rest(page)
    assert last(server)["state"]["pupil_diameter"] == 0.001
    slider.press("End")
    at_rest(page)
    assert last(server)["state"]["pupil_diameter"] == 0.016


def test_choice_switch_and_when(server, open_page):
    page = open_page(server.url + "#layout=one")
    assert control(page, "white").is_visible()
    control(page, "show").get_by_role("radio", name="Phase").check()
    at_rest(page)
    assert last(server)["state"]["show"] == "phase" and last(server)["moving"] is False
    assert control(page, "white").is_hidden() and control(page, "tone").is_hidden()
    control(page, "show").get_by_role("radio", name="Intensity").check()
    control(page, "tone").get_by_label("Tone curve").select_option("srgb")
    control(page, "band_limit").get_by_role("switch").press("Space")
    at_rest(page)
    state = last(server)["state"]
    assert (state["show"], state["tone"], state["band_limit"]) == ("intensity", "srgb", False)
    page.get_by_role("button", name="Reset to defaults").click()
    at_rest(page)
    state = last(server)["state"]
    assert (state["show"], state["tone"], state["band_limit"]) == ("intensity", "linear", True)


def test_pad_by_keys_pointer_and_fields(server, open_page):
    page = open_page(server.url + "#layout=one")
    pad = control(page, "pupil")
    handle = pad.get_by_role("slider")
    handle.press("ArrowUp")
    handle.press("ArrowRight")
    handle.press("Shift+ArrowRight")
    page.wait_for_timeout(400)
    at_rest(page)
    assert [round(part, 6) for part in last(server)["state"]["pupil"]] == [0.00048, 0.0004]
    box = pad.locator(".pad").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 50, box["y"] - 50, steps=5)
    page.mouse.up()
    at_rest(page)
    assert last(server)["state"]["pupil"] == [0.01, 0.01]
    pad.get_by_label("Pupil y, mm").fill("-2")
    pad.get_by_label("Pupil y, mm").press("Enter")
    at_rest(page)
    assert last(server)["state"]["pupil"] == [0.01, -0.002]
    handle.press("Home")
    page.wait_for_timeout(400)
    assert last(server)["state"]["pupil"] == [0, 0]
    assert handle.get_attribute("aria-valuetext") == "0, 0 mm"
    at_rest(page)


def test_error_of_the_server_is_shown_and_goes(server, open_page):
    page = open_page(server.url + "#layout=one")
    field = control(page, "distance").get_by_role("spinbutton")
    field.fill("25")
    field.press("Enter")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert alert.inner_text() == "--distance: expected less than 24.99cm, got 25cm"
    field.fill("20")
    field.press("Enter")
    at_rest(page)
    assert alert.is_hidden()


def test_command_is_shown_and_copied(server, open_page):
    page = open_page(server.url + "#layout=one", permissions=["clipboard-read", "clipboard-write"])
    command = page.locator(".command code").inner_text()
    assert command == "holotone reconstruct 'slm.png' -o focus.png --distance 20.00cm"
    page.get_by_role("button", name="Copy command").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == command


def test_facts_and_announcement(server, open_page):
    page = open_page(server.url + "#layout=one")
    rows = page.locator(".facts tr").all_inner_texts()
    assert any("wavelength" in row and "532 nm" in row for row in rows)
    assert any("white" in row for row in rows)
    assert page.locator("[data-part=live]").inner_text() == "Light, slm.png: picture at rest"


def test_pupil_opens_when_it_moves(open_page):
    """A diameter of 0 is no pupil; moving the pupil gives it the usual diameter."""
    document = hologram("slm.png")
    diameter = {**document["controls"]["pupil_diameter"], "value": 0, "min": 0, "logarithmic": False, "usual": 0.003}
    document["controls"] = {**document["controls"], "pupil_diameter": diameter}
    with FakeServer([document]) as server:
        page = open_page(server.url)
        control(page, "pupil").get_by_role("slider").press("ArrowUp")
        page.wait_for_timeout(400)
        at_rest(page)
        assert last(server)["state"]["pupil_diameter"] == 0.003
        assert control(page, "pupil_diameter").get_by_role("spinbutton").input_value() == "3.0"


def test_default_and_typed_numbers_need_not_lie_on_a_step(open_page):
    document = hologram("slm.png")
    distance = {**document["controls"]["distance"], "value": 0.2003217, "step": 0.0137}
    flat = {**document["controls"]["pupil"], "min": [-0.01, 0], "max": [0.01, 0]}
    document["controls"] = {**document["controls"], "distance": distance, "pupil": flat}
    with FakeServer([document]) as server:
        page = open_page(server.url)
        assert last(server)["state"]["distance"] == 0.2003217
        assert "distance" not in page.url
        field = control(page, "distance").get_by_role("spinbutton")
        field.fill("19.3")
        field.press("Enter")
        control(page, "pupil").get_by_role("slider").press("ArrowUp")
        page.wait_for_timeout(400)
        at_rest(page)
        assert abs(last(server)["state"]["distance"] - 0.193) < 1e-12
        assert last(server)["state"]["pupil"] == [0, 0]
