"""How are the words of a page tested quickly? With empty frames as drawings, which take most of a page's time.

What would be drawn is made for wide pages alone, neither laid out nor put into SVG. No function of dpaudit is replaced:
it would notice, and look through its own again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def undrawn() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.report.figures.canvas._NARROW", (False,))
        patch.setattr("matplotlib.layout_engine.ConstrainedLayoutEngine.execute", lambda _self, _figure: None)
        patch.setattr("matplotlib.figure.Figure.draw", lambda _self, _renderer: None)
        yield
