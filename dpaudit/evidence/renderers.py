"""Who draws evidence? Renderers are named from outside, so that evidence depends on none of them."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES: dict[str, str] = {}


def register(kind: str, home: str) -> None:
    """Name the function ("module:function") that draws evidence as ``kind``; it is imported when it is first used."""
    _HOMES[kind] = home


def draw(kind: str, evidence: Any) -> str:
    """Return evidence as ``kind``.

    Raises:
        KeyError: if nobody draws this kind.
    """
    module, _, function = _HOMES[kind].partition(":")
    drawn: str = getattr(importlib.import_module(module), function)(evidence)
    return drawn
