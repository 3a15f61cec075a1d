"""The tests of this folder read what a page says; its drawings have tests of their own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _words_alone(undrawn: None) -> None:
    """No page is drawn."""
