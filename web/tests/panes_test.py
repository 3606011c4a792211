"""One pane, two linked panes, the difference, and the URL."""

from conftest import at_rest, wait_for_hash, pixels
from controls_test import control
from documents import DOCUMENTS, hologram
from fake_server import FakeServer
from gestures_test import zoom


def set_number(page, name, text, pane="a"):
    field = control(page, name, pane).get_by_role("spinbutton")
    field.fill(text)
    field.press("Enter")


def test_two_documents_open_side_by_side(open_page):
    with FakeServer([hologram("slm.png"), hologram("optimized slm.png")]) as server:
        page = open_page(server.url)
        assert page.locator(".pane").count() == 2
        assert [server.shows(pane)[-1]["document"] for pane in "ab"] == [0, 1]


def test_linked_controls_pan_and_zoom(server, open_page):
    page = open_page(server.url + "#layout=two")
    set_number(page, "distance", "18")
    at_rest(page)
    assert abs(server.shows("b")[-1]["state"]["distance"] - 0.18) < 1e-9
    assert control(page, "distance", "b").get_by_role("spinbutton").input_value() == "18.00"
    before = pixels(page, "b")
    for _ in range(3):
        page.locator("[data-pane=a] canvas").press("+")
    page.wait_for_timeout(200)
    assert pixels(page, "b") != before
    page.get_by_label("Linked").uncheck()
    set_number(page, "distance", "19", "b")
    at_rest(page)
    assert abs(server.shows("a")[-1]["state"]["distance"] - 0.18) < 1e-9
    old = zoom(page, "b")
    page.locator("[data-pane=a] canvas").press("1")
    assert zoom(page, "b") == old
    wait_for_hash(page, "linked=no")
    page.get_by_label("Linked").check()
    at_rest(page)
    assert abs(server.shows("b")[-1]["state"]["distance"] - 0.18) < 1e-9


def test_linked_windows_have_the_same_part(server, open_page):
    page = open_page(server.url + "#layout=two&a.document=2&b.document=2")
    for _ in range(3):
        page.locator("[data-pane=a] canvas").press("+")
    page.wait_for_timeout(500)
    at_rest(page)
    a, b = (server.shows(pane)[-1]["state"]["window"] for pane in "ab")
    assert a[2] < 768 and all(abs(x - y) < 1 for x, y in zip(a, b))


def test_url_restores_the_state(server, open_page):
    page = open_page(server.url + "#layout=two")
    page.get_by_label("Linked").uncheck()
    page.locator("[data-pane=a]").get_by_label("Document").select_option("1")
    set_number(page, "distance", "18")
    control(page, "show").get_by_role("radio", name="Phase").check()
    page.locator("[data-pane=a] canvas").press("+")
    control(page, "pupil").get_by_role("slider").press("ArrowUp")
    control(page, "band_limit").get_by_role("switch").click()
    page.locator("[data-pane=b]").get_by_role("radio", name="Spectrum").check()
    page.wait_for_timeout(800)
    at_rest(page)
    text = wait_for_hash(page, "b.view=spectrum")
    for part in ["linked=no", "a.document=1", "a.distance=0.18", "a.show=phase", "a.pupil=0,0.0004", "a.band_limit=no"]:
        assert part in text
    again = open_page(page.url)
    again.wait_for_timeout(400)
    assert again.evaluate("decodeURIComponent(location.hash)") == text
    assert server.shows("a")[-1]["state"] == [s for s in server.shows("a") if s["document"] == 1][-1]["state"]
    assert control(again, "distance").get_by_role("spinbutton").input_value() == "18.00"
    assert zoom(again) == zoom(page)
    assert not again.get_by_label("Linked").is_checked()


def test_url_edited_by_hand(server, open_page):
    page = open_page(server.url + "#layout=one")
    page.evaluate("location.hash = '#layout=one&a.document=3&a.view=nonsense&a.inks=cyan&a.distance=x'")
    page.get_by_label("cyan").wait_for()
    at_rest(page)
    assert page.get_by_label("cyan").is_checked() and not page.get_by_label("black").is_checked()
    page.evaluate("location.hash = '#layout=nonsense&a.document=99&zz=1&a.zoom=,,'")
    page.wait_for_timeout(300)
    at_rest(page)
    assert server.shows("a")[-1]["document"] == 3 or server.shows("a")[-1]["document"] == 0


def test_difference_shows_psnr(server, open_page):
    page = open_page(server.url + "#layout=one")
    page.get_by_role("radio", name="Difference").check()
    at_rest(page)
    assert server.shows("d")[-1]["document"] == [0, 1]
    assert "31.42 dB" in page.locator(".facts").first.inner_text()
    assert "PSNR 31.42 dB" in page.locator("[data-part=live]").inner_text()
    page.get_by_label("Document 1").select_option("1")
    page.get_by_label("Document 2").select_option("0")
    at_rest(page)
    assert server.shows("d")[-1]["document"] == [1, 0]
    wait_for_hash(page, "d.document=1,0")


def test_changed_file_keeps_the_state(server, open_page):
    page = open_page(server.url + "#layout=one&a.distance=0.19&a.zoom=4,100,100")
    asked = len(server.shows("a"))
    from documents import documents_message

    server.send_all(documents_message(DOCUMENTS[:1] + [{**DOCUMENTS[1], "version": 1}] + DOCUMENTS[2:]))
    page.wait_for_timeout(300)
    assert len(server.shows("a")) == asked  # another document changed
    server.send_all(documents_message([{**DOCUMENTS[0], "version": 1}, *DOCUMENTS[1:]]))
    server.send_all({"type": "notice", "message": "slm.png changed: loaded again"})
    page.get_by_text("slm.png changed: loaded again").wait_for()
    at_rest(page)
    assert len(server.shows("a")) > asked
    assert abs(server.shows("a")[-1]["state"]["distance"] - 0.19) < 1e-9
    assert zoom(page) == "400 %"
