"""How are the words of a page tested quickly? With empty frames as drawings, which take most of a page's time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def undrawn() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.report.figures.canvas._printed", lambda _figure: '<svg viewBox="0 0 1 1"></svg>')
        yield
