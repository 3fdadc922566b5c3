"""Two pictures for the README, of the pages that `make demo` left: `make screenshots`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from groupreplay.page.drawing.document import slug
from tests.support.browser import CHROMIUM, OPTIONS

CLUSTER, GROUP = "demo", "upgrade-slow"
WIDTH, HEIGHT = 1280, 900


def main(report: Path, pictures: Path) -> None:
    """report: folder of the cluster's pages. pictures: where they go."""
    from playwright.sync_api import sync_playwright

    newest = max(each for each in report.iterdir() if each.is_dir())
    pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        _open(page, newest / "index.html")
        page.screenshot(path=pictures / "page-overview.png")
        _open(page, newest / "g" / f"{slug(CLUSTER, GROUP)}.html")
        page.screenshot(path=pictures / "page-timeline.png")
        browser.close()


def _open(page: Any, path: Path) -> None:
    page.goto(path.absolute().as_uri())
    page.wait_for_selector("html.ready")


if __name__ == "__main__":
    if CHROMIUM is None:
        sys.exit("There is no chromium: apt-get install chromium fonts-inter.")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
