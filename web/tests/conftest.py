"""A browser, a fake server and pages that fail the test on a console error. HOLOTONE_CHROMIUM names the browser."""

import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sync_api = pytest.importorskip("playwright.sync_api")

from fake_server import FakeServer  # noqa: E402

ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("HOLOTONE_CHROMIUM", "/usr/bin/chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def server():
    with FakeServer() as server:
        yield server


@pytest.fixture
def open_page(browser):
    """open_page(url, width, height, scheme): a page; at the end there must be no error on its console."""
    contexts, errors = [], []

    def open_(url: str, width: int = 1280, height: int = 800, scheme: str = "light", wait: bool = True, **context):
        contexts.append(
            browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **context)
        )
        page = contexts[-1].new_page()
        page.set_default_timeout(10000)
        page.on(
            "console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        if wait:
            at_rest(page)
        return page

    open_.errors = errors
    yield open_
    for context in contexts:
        context.close()
    assert errors == []


def wait_until(page, expression: str, argument=None, seconds: float = 10):
    """Polls a JavaScript expression; wait_for_function would need eval, which the page's policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression, argument):
        assert time.monotonic() < end, f"waited {seconds} s for {expression}"
        page.wait_for_timeout(30)


def at_rest(page):
    """Waits until every pane shows its picture at rest."""
    wait_until(
        page,
        "document.querySelector('.pane') !== null && "
        "[...document.querySelectorAll('.pane')].every(pane => pane.ariaBusy === 'false')",
    )
    page.wait_for_timeout(50)


def pixels(page, pane: str = "a") -> bytes:
    return page.locator(f"[data-pane={pane}] .stage").screenshot()


def wait_for_hash(page, text: str):
    """Waits until the URL's hash contains `text`."""
    wait_until(page, "text => decodeURIComponent(location.hash).includes(text)", text)
    return page.evaluate("decodeURIComponent(location.hash)")
