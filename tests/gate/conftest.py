"""The tests of this folder read what a page says, without drawings, and the processes of targets are forked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import forked


@pytest.fixture(autouse=True)
def _words_alone(undrawn: None) -> None:
    """No page is drawn."""


@pytest.fixture(autouse=True)
def _forked() -> Iterator[None]:
    """A process of a target is no start of Python; `test_command.py` has one gate that is."""
    with forked.children():
        yield
