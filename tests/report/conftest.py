"""Pages whose words are tested have frames for drawings; pages whose drawings are, have drawings."""

from __future__ import annotations

import pytest

WORDS = {"test_about", "test_accounting", "test_drawn", "test_side_by_side"}


@pytest.fixture(autouse=True)
def _words_alone(request: pytest.FixtureRequest) -> None:
    if request.module.__name__.rpartition(".")[2] in WORDS:
        request.getfixturevalue("undrawn")
