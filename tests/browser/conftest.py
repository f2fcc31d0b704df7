"""Pages in a real browser without a window: Debian's chromium, driven by playwright, with nothing downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the module."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with sync_playwright() as driver:
        # Root has no sandbox, and a container may have a small /dev/shm.
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        started = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield started
        started.close()


@dataclass(frozen=True)
class Opened:
    """A page, and all that it said or asked for on the way."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page's text as a file, in a window of some width and with a colour scheme."""
    contexts = []

    def opened(html: str, *, width: int = 1280, scheme: str = "light", at: str = "", script: bool = True) -> Opened:
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion="reduce",
            java_script_enabled=script,
        )
        contexts.append(context)
        found = Opened(context.new_page())
        found.page.on("console", lambda message: found.complaints.append(message.text))
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto(f"{file.as_uri()}{at}")
        return found

    yield opened
    for context in contexts:
        context.close()
