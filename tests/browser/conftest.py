"""One browser for all tests of this folder; they are skipped, with the reason, where there is none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def _chromium() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install '.[test]'")
    path = _chromium()
    if path is None:
        pytest.skip("no Chromium was found: install one (on Debian: apt install chromium), or name it in CHROMIUM")
    with playwright.sync_playwright() as running:
        # without a sandbox, so that it starts for root too; the pages are our own
        started = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one page follow each other, so that it is loaded once."""

    def kind(item: pytest.Item) -> str:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        return parameters.get("kind", "~")  # what is of no kind comes last

    places = [place for place, item in enumerate(items) if item.path.parent == Path(__file__).parent]
    for place, item in zip(places, sorted((items[place] for place in places), key=kind), strict=True):
        items[place] = item
