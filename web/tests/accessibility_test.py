"""axe-core on every view in both themes, names, focus, and layout from a phone to a wide screen."""

from pathlib import Path

import pytest

from conftest import at_rest

axe = pytest.importorskip("axe_playwright_python")
AXE = (Path(axe.__file__).parent / "axe.min.js").read_text()
STATES = [
    "layout=one",
    "layout=one&a.view=spectrum",
    "layout=one&a.document=2",
    "layout=one&a.document=3",
    "layout=one&a.document=4",
    "layout=one&a.document=6",
    "layout=two",
    "layout=difference",
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing(server, open_page, state, scheme):
    page = open_page(f"{server.url}#{state}", scheme=scheme)
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in found] == []


def test_axe_on_error_notice_and_help(server, open_page):
    page = open_page(server.url + "#layout=one&a.distance=0.25", wait=False)
    page.get_by_role("alert").wait_for()
    server.send_all({"type": "notice", "message": "slm.png changed: loaded again"})
    page.get_by_role("button", name="Help").click()
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in found] == []


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("width", [360, 768, 1024, 1920])
def test_no_horizontal_scroll(server, open_page, state, width):
    page = open_page(f"{server.url}#{state}", width=width, height=740)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("""() => [...document.querySelectorAll('button, select, input, .stage')].every(element => {
      const box = element.getBoundingClientRect();
      return box.width === 0 || (box.left >= -1 && box.right <= innerWidth + 1);
    })""")


def test_every_element_that_tab_reaches_has_a_name_and_visible_focus(server, open_page):
    page = open_page(server.url + "#layout=two")
    reached = []
    for _ in range(80):
        page.keyboard.press("Tab")
        one = page.evaluate("""() => {
          const element = document.activeElement;
          if (!element || element === document.body) return null;
          const shown = [element, element.nextElementSibling].filter(Boolean)
            .some(each => getComputedStyle(each).outlineStyle !== 'none');
          const name = element.ariaLabel || element.labels?.[0]?.textContent || element.textContent ||
            document.getElementById(element.getAttribute('aria-labelledby'))?.textContent;
          return [element.tagName, name?.trim(), shown];
        }""")
        if one is None:
            break
        reached.append(one)
    assert len(reached) > 25
    assert all(name and shown for _, name, shown in reached), [one for one in reached if not (one[1] and one[2])]


def test_theme_switch(server, open_page):
    page = open_page(server.url + "#layout=one", scheme="light")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_label("Theme").select_option("dark")
    dark = page.evaluate(colour)
    assert light != dark
    page.reload()
    at_rest(page)
    assert page.evaluate(colour) == dark
    page.get_by_label("Theme").select_option("system")
    assert page.evaluate(colour) == light
