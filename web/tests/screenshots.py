"""Pictures of the page for README and docs: screenshots.py PROGRAM FOLDER OUTPUT, with the README's files in FOLDER."""

import os
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import program
from conftest import ARGUMENTS, at_rest

SHOTS = {
    "view": ("teapot.png", "light"),
    "view_two": ("teapot.png focus.png", "dark"),
    "view_dots": ("stipple.svg", "light"),
    "view_model": ("knot.smoe", "dark"),
}


def main(path: str, folder: str, output: str):
    program.PROGRAM = str(Path(path).resolve())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("HOLOTONE_CHROMIUM", "/usr/bin/chromium"), args=ARGUMENTS
        )
        for name, (files, scheme) in SHOTS.items():
            if not all(Path(folder, file).exists() for file in files.split()):
                print(f"{name}: no {files}")
                continue
            with program.Viewing(Path(folder), files) as viewing:
                context = browser.new_context(viewport={"width": 1200, "height": 720}, color_scheme=scheme)
                page = context.new_page()
                page.goto(viewing.url)
                at_rest(page)
                time.sleep(1)
                page.screenshot(path=str(Path(output, f"{name}.png")))
                context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
