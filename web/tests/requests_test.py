"""Newest state wins, late answers, stress, reconnection."""

import json

from PIL import Image

from conftest import at_rest, pixels, wait_until
from documents import picture, png
from fake_server import binary

DRAG = """async steps => {
  const slider = document.querySelector('[data-control=distance] input[type=range]');
  for (let i = 0; i < steps; ++i) {
    slider.value = 300 + (i % 400);
    slider.dispatchEvent(new Event('input', {bubbles: true}));
    await new Promise(next => setTimeout(next, 5));
  }
  slider.dispatchEvent(new Event('change', {bubbles: true}));
}"""


def test_one_request_under_way_while_moving_and_the_newest_at_the_end(server, open_page):
    server.delay_s = 0.05
    page = open_page(server.url + "#layout=one")
    server.log.clear()
    page.evaluate(DRAG, 150)
    at_rest(page)
    asked = server.shows("a")
    assert 3 <= len(asked) <= 100  # fewer than the 150 steps: the others were never sent
    assert asked[0]["moving"] is True and asked[-1]["moving"] is False
    assert abs(asked[-1]["state"]["distance"] - (0.15 + 449e-4)) < 1e-9
    gaps = [b["at"] - a["at"] for a, b in zip(asked, asked[1:]) if a["moving"]]
    assert min(gaps) > 0.045  # each waits for the answer before
    ids = [show["id"] for show in asked]
    assert ids == sorted(set(ids))


def test_frames_a_second_are_shown_while_moving(server, open_page):
    page = open_page(server.url + "#layout=one&a.document=2")
    page.evaluate("""() => {
      window.rates = [];
      new MutationObserver(() => rates.push(document.querySelector('.rate').textContent))
        .observe(document.querySelector('.rate'), {childList: true, characterData: true, subtree: true});
    }""")
    page.evaluate(DRAG.replace("distance", "tolerance"), 300)
    at_rest(page)
    rates = [text for text in page.evaluate("window.rates") if text]
    assert rates and all(text.endswith("frames a second") for text in rates)
    assert page.locator(".rate").inner_text() == ""


def test_late_answers_are_dropped(server, open_page):
    page = open_page(server.url + "#layout=one")
    before = pixels(page)
    white = png(Image.new("RGB", (492, 304), "white"))
    newest = server.shows("a")[-1]["id"]
    for late in [newest, newest - 1, 0, newest + 1000]:
        header = {
            "type": "shown",
            "pane": "a",
            "id": late,
            "moving": False,
            "media": "image/png",
            "width": 492,
            "height": 304,
            "command": "late",
            "facts": [],
            "compute_ms": 1,
        }
        server.send_all(binary(header, white))
        server.send_all({"type": "error", "pane": "a", "id": late, "message": "late"})
    server.send_all(binary({"type": "shown", "pane": "gone", "id": 1, "media": "image/png"}, white))
    page.wait_for_timeout(300)
    assert pixels(page) == before
    assert page.get_by_role("alert").count() == 0
    assert "late" not in page.locator(".command code").inner_text()


def test_a_new_view_does_not_wait_and_drops_the_old_answer(server, open_page):
    server.delay_s = 1.0
    page = open_page(server.url + "#layout=one", wait=False)
    page.get_by_role("radio", name="Spectrum").check()
    page.get_by_role("radio", name="Pixels").check()
    at_rest(page)
    assert page.locator(".size").inner_text() == "{} × {}".format(*picture("hologram.png").size)
    page.wait_for_timeout(1200)
    assert page.locator(".size").inner_text() == "{} × {}".format(*picture("hologram.png").size)


def test_thousand_messages(server, open_page):
    page = open_page(server.url + "#layout=two")
    page.evaluate(DRAG.replace("await new Promise(next => setTimeout(next, 5))", "await Promise.resolve()"), 1000)
    small = png(Image.new("RGB", (8, 8)))

    async def flood():
        for socket in list(server.sockets):
            for i in range(1000):
                header = {"type": "shown", "pane": "ab"[i % 2], "id": 10**6 + i, "moving": True, "media": "image/png"}
                await socket.send_bytes(binary(header, small))
                await socket.send_str(json.dumps({"type": "error", "pane": "a", "id": 10**6 + i, "message": "no"}))

    server.call(flood())
    at_rest(page)
    assert server.shows("a")[-1]["state"]["distance"] == server.shows("b")[-1]["state"]["distance"]
    assert server.shows("b")[-1]["moving"] is False


def test_malformed_messages_do_not_stop_the_page(server, open_page):
    page = open_page(server.url + "#layout=one")
    for data in [b"", b"\x01", b"\xff\xff\xff\xff{}", b"\x02\x00\x00\x00{x", b"\x02\x00\x00\x00{}"]:
        server.send_all(data)
    page.get_by_text("answer: expected 4 bytes or more, got 0").wait_for()
    newest = server.shows("a")[-1]["id"]
    page.locator("[data-control=distance]").get_by_role("slider").press("ArrowRight")
    page.wait_for_timeout(400)
    at_rest(page)
    assert server.shows("a")[-1]["id"] > newest


def test_reconnects_and_shows_the_newest_state(server, open_page):
    page = open_page(server.url + "#layout=one&a.distance=0.19")
    server.accepts = False
    server.drop_connections()
    page.get_by_text("No connection").wait_for()
    page.locator("[data-control=distance]").get_by_role("slider").press("ArrowRight")
    server.log.clear()
    server.accepts = True
    wait_until(page, "document.querySelector('[data-part=offline]').hidden", seconds=15)
    at_rest(page)
    assert abs(server.shows("a")[-1]["state"]["distance"] - 0.1901) < 1e-9
    open_page.errors[:] = [text for text in open_page.errors if "WebSocket" not in text]  # the browser's own report
