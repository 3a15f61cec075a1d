"""The tests of one page follow each other."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one page follow each other, so that it is loaded once."""

    def kind(item: pytest.Item) -> str:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        return parameters.get("kind", "~")  # what is of no kind comes last

    places = [place for place, item in enumerate(items) if item.path.parent == Path(__file__).parent]
    for place, item in zip(places, sorted((items[place] for place in places), key=kind), strict=True):
        items[place] = item
