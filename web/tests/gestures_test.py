"""Pan, zoom, keys, pinch, and the pupil and focus on the picture."""

from conftest import at_rest, wait_for_hash, pixels


def stage_centre(page, pane="a"):
    box = page.locator(f"[data-pane={pane}] .stage").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def zoom(page, pane="a"):
    return page.locator(f"[data-pane={pane}] .status-line .zoom").inner_text()


def test_keys_zoom_and_pan(server, open_page):
    page = open_page(server.url + "#layout=one")
    fitted = zoom(page)
    canvas = page.locator(".stage canvas")
    canvas.press("1")
    assert zoom(page) == "100 %"
    canvas.press("0")
    assert zoom(page) == fitted
    for _ in range(4):
        canvas.press("+")
    before = pixels(page)
    canvas.press("ArrowRight")
    page.wait_for_timeout(100)
    assert pixels(page) != before
    canvas.press("-")
    assert zoom(page) != fitted
    asked = len(server.shows())
    page.wait_for_timeout(300)
    assert len(server.shows()) == asked  # a picture's pan and zoom stay in the page
    wait_for_hash(page, "a.zoom=")


def test_wheel_zooms_at_the_pointer_and_drag_pans(server, open_page):
    page = open_page(server.url + "#layout=one")
    x, y = stage_centre(page)
    page.mouse.move(x + 100, y)
    page.mouse.wheel(0, -600)
    page.wait_for_timeout(100)
    first = wait_for_hash(page, "a.zoom=").split("a.zoom=")[1].split(",")
    page.mouse.down()
    page.mouse.move(x + 40, y + 20, steps=4)
    page.mouse.up()
    page.wait_for_timeout(400)
    second = wait_for_hash(page, "a.zoom=").split("a.zoom=")[1].split(",")
    assert first[0] == second[0] and first[1:] != second[1:]


def test_pixels_are_squares_above_one_to_one(server, open_page):
    page = open_page(server.url + "#layout=one&a.zoom=32,100,100")
    colours = page.evaluate("""() => {
      const canvas = document.querySelector('.stage canvas');
      const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, 1).data;
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join());
      return [seen.size, canvas.width];
    }""")
    assert colours[0] <= colours[1] / 32 + 2  # one colour for each pixel of the picture: nothing between


def test_readout_gives_the_pixel(server, open_page):
    page = open_page(server.url + "#layout=one")
    x, y = stage_centre(page)
    page.mouse.move(x, y)
    text = page.locator(".readout").inner_text()
    assert text.startswith("x 24") and ": " in text


def test_shift_drag_moves_the_pupil_and_alt_wheel_the_focus(server, open_page):
    page = open_page(server.url + "#layout=one")
    x, y = stage_centre(page)
    page.keyboard.down("Shift")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 40, steps=6)
    page.mouse.up()
    page.keyboard.up("Shift")
    at_rest(page)
    pupil = server.shows("a")[-1]["state"]["pupil"]
    assert pupil[0] > 0.0005 and pupil[1] > 0.0005
    page.keyboard.down("Alt")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Alt")
    page.wait_for_timeout(400)
    at_rest(page)
    assert server.shows("a")[-1]["state"]["distance"] > 0.2
    page.locator(".stage canvas").press("Alt+ArrowDown")
    page.locator(".stage canvas").press("Shift+ArrowLeft")
    page.wait_for_timeout(400)
    assert server.shows("a")[-1]["state"]["pupil"][0] < pupil[0]
    at_rest(page)


def test_mode_button_moves_the_pupil_without_shift(server, open_page):
    page = open_page(server.url + "#layout=one")
    button = page.get_by_role("button", name="Drag: pupil")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    x, y = stage_centre(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=6)
    page.mouse.up()
    at_rest(page)
    assert server.shows("a")[-1]["state"]["pupil"][0] < -0.0005


def test_pinch_zooms(server, open_page):
    page = open_page(server.url + "#layout=one")
    fitted = zoom(page)
    page.evaluate("""() => {
      const canvas = document.querySelector('.stage canvas');
      canvas.setPointerCapture = () => {};
      const box = canvas.getBoundingClientRect();
      const send = (type, id, x) => canvas.dispatchEvent(new PointerEvent(type, {pointerId: id, pointerType: 'touch',
        clientX: box.left + x, clientY: box.top + 200, button: type === 'pointermove' ? -1 : 0, bubbles: true}));
      send('pointerdown', 11, 300); send('pointerdown', 12, 400);
      for (let i = 1; i <= 10; ++i) { send('pointermove', 11, 300 - 10 * i); send('pointermove', 12, 400 + 10 * i); }
      send('pointerup', 11, 200); send('pointerup', 12, 500);
    }""")
    grown = float(zoom(page).split()[0]) / float(fitted.split()[0])
    assert 2.8 < grown < 3.2


def test_help_opens_by_key(server, open_page):
    page = open_page(server.url + "#layout=one")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.get_by_role("button", name="Close").click()
    assert page.get_by_role("dialog").count() == 0
