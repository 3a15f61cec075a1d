"""How are the words of a page tested quickly? With empty frames as drawings, which take most of a page's time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def undrawn() -> Iterator[None]:
    def frame(_figure: Any, file: io.StringIO, **_options: Any) -> None:
        file.write('<svg viewBox="0 0 1 1"></svg>')

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.figure.Figure.savefig", frame)
        yield
