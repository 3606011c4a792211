"""Windows, plots, dots, scenes and folders."""

import io

from PIL import Image

from conftest import at_rest, wait_for_hash, pixels, wait_until


def test_window_asks_for_the_visible_part(server, open_page):
    page = open_page(server.url + "#layout=one&a.document=2")
    first = server.shows("a")[-1]
    assert first["state"]["window"] == [0, 0, 768, 512]
    canvas = page.locator(".stage canvas")
    before = pixels(page)
    for _ in range(4):
        canvas.press("+")
    assert pixels(page) != before
    page.wait_for_timeout(400)
    at_rest(page)
    asked = server.shows("a")[-1]
    x, y, width, height = asked["state"]["window"]
    assert width < 768 and x > 0 and y > 0 and asked["moving"] is False
    assert abs(width / height - asked["size"][0] / asked["size"][1]) < 0.01
    text = wait_for_hash(page, "a.window=")
    again = open_page(page.url)
    restored = server.shows("a")[-1]["state"]["window"]
    assert all(abs(a - b) < 1e-3 for a, b in zip(restored, asked["state"]["window"]))
    assert again.evaluate("decodeURIComponent(location.hash)") == text
    again.locator(".stage canvas").press("0")
    again.wait_for_timeout(400)
    at_rest(again)
    assert server.shows("a")[-1]["state"]["window"] == [0, 0, 768, 512]


def test_window_shows_the_old_picture_moved_while_the_answer_is_on_its_way(server, open_page):
    page = open_page(server.url + "#layout=one&a.document=2")
    server.delay_s = 1.5
    before = pixels(page)
    page.locator(".stage canvas").press("+")
    page.wait_for_timeout(150)
    assert pixels(page) != before
    assert page.locator(".pane").get_attribute("aria-busy") == "true"


def test_plot_draws_every_series_and_reads_values(server, open_page):
    page = open_page(server.url + "#layout=one&a.view=spectrum")
    page.locator(".plot path.line").nth(1).wait_for(state="attached")
    assert page.locator(".legend li").all_inner_texts() == ["RAPS", "anisotropy"]
    ticks = page.locator(".plot .grid text").all_text_contents()
    assert {"0.001", "0.01", "0.1", "1", "frequency / principal", "power"} <= set(ticks)
    page.locator(".plot").press("ArrowRight")
    assert "RAPS" in page.locator(".readout").inner_text()
    assert "RAPS" in page.locator("[data-part=live]").inner_text()
    page.locator(".plot").press("Escape")
    assert page.locator(".readout").inner_text() == ""


def test_inks_are_switched_one_by_one(server, open_page):
    page = open_page(server.url + "#layout=one&a.document=3")
    page.wait_for_timeout(300)
    all_inks = pixels(page)
    for ink in ["cyan", "magenta", "yellow"]:
        page.get_by_label(ink).uncheck()
    page.wait_for_timeout(300)
    assert pixels(page) != all_inks
    wait_for_hash(page, "a.inks=black")
    again = open_page(page.url)
    assert [again.get_by_label(ink).is_checked() for ink in ["cyan", "black"]] == [False, True]
    page.get_by_label("black").uncheck()
    page.wait_for_timeout(300)
    middle = Image.open(io.BytesIO(pixels(page))).convert("RGB")
    assert middle.getpixel((middle.width // 2, middle.height // 2)) == (255, 255, 255)


def test_dots_without_webgl(server, open_page, browser):
    page = open_page(server.url + "#layout=one", wait=True)
    page.evaluate("""() => {
      const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind === 'webgl2' ? null : get.call(this, kind, ...rest);
      };
    }""")
    page.get_by_label("Document").select_option("3")
    at_rest(page)
    page.wait_for_timeout(500)
    assert len(set(pixels(page))) > 50
    page.get_by_label("Document").select_option("4")
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("alert").inner_text() == "scene: expected a browser with WebGL2, got one without"


def test_scene_turns_and_gives_the_options(server, open_page):
    page = open_page(server.url + "#layout=one&a.document=4")
    page.wait_for_timeout(300)
    before = pixels(page)
    canvas = page.locator(".stage canvas")
    canvas.press("ArrowRight")
    canvas.press("ArrowDown")
    page.wait_for_timeout(300)
    assert pixels(page) != before
    assert (
        page.locator(".command code").inner_text() == "holotone hologram knot.ply -o slm.png --turn 19deg --tilt 19deg"
    )
    wait_for_hash(page, "a.turn=19.2")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 150, box["y"] + 200, steps=3)
    page.mouse.up()
    assert "--turn -1deg" in page.locator(".command code").inner_text()
    canvas.press("0")
    assert page.locator(".command code").inner_text() == "holotone hologram knot.ply -o slm.png"


def test_rotation_is_the_one_of_the_command(open_page, server):
    """`holotone hologram --turn --tilt`: the front goes to the right, then the top tips toward the viewer."""
    page = open_page(server.url + "#layout=one")
    columns = "async ([turn, tilt]) => (await import('./scene_view.js')).rotation(turn, tilt)"
    round_ = lambda numbers: [round(number, 6) + 0.0 for number in numbers]  # noqa: E731
    assert round_(page.evaluate(columns, [90, 0])[6:9]) == [1, 0, 0]  # +z to +x
    assert round_(page.evaluate(columns, [0, 90])[3:6]) == [0, 0, 1]  # +y to +z
    assert round_(page.evaluate(columns, [90, 90])[0:3]) == [0, 1, 0]  # +x to -z by the turn, then to +y by the tilt


def test_folder_of_ten_thousand_entries(server, open_page):
    page = open_page(server.url + "#layout=one&a.document=6")
    assert "10,000 of 10,000" in page.locator(".count").inner_text()
    assert page.locator(".card").count() < 120
    wait_until(page, "document.querySelectorAll('.card img').length > 5")
    longest = page.evaluate("""async () => {
      const scroller = document.querySelector('.folder-scroller');
      let longest = 0;
      for (let i = 0; i < 60; ++i) {
        scroller.scrollTop += 3000;
        const start = performance.now();
        await new Promise(requestAnimationFrame);
        longest = Math.max(longest, performance.now() - start);
      }
      return longest;
    }""")
    assert longest < 2000  # no freeze, also on a busy machine without a GPU
    page.get_by_label("Name contains").fill("_0004")
    assert "10 of 10,000" in page.locator(".count").inner_text()
    page.get_by_label("Kind").select_option("dots")
    assert 1 <= page.locator(".card").count() <= 2
    wait_for_hash(page, "a.kind=dots")
    page.get_by_label("Name contains").fill("")
    page.get_by_label("Kind").select_option("")
    first = page.locator(".card").first
    first.focus()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.title").endswith("_09999.png")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.title") == "model_00001.png"


def test_folder_opens_an_entry(server, open_page):
    page = open_page(server.url + "#layout=one&a.document=6")
    page.locator(".card").first.click()
    page.get_by_role("radio", name="Light").wait_for()
    at_rest(page)
    assert page.get_by_label("Document").locator("option:checked").inner_text() == "hologram_00000.png"
    assert server.shows("a")[-1]["document"] == 7
    wait_for_hash(page, "a.document=7")
    page.go_back()
    page.locator(".card").first.wait_for()
    page.go_forward()
    page.get_by_role("radio", name="Light").wait_for()
