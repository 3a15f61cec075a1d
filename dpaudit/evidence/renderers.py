"""Who renders evidence? Renderers register themselves, so that evidence does not depend on any of them."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES: dict[str, str] = {}


def register(kind: str, home: str) -> None:
    """Register the function ("module:function") that renders evidence as ``kind``; it is imported at its first use."""
    _HOMES[kind] = home


def draw(kind: str, evidence: Any) -> str:
    """Return evidence rendered as ``kind``.

    Raises:
        KeyError: if no renderer is registered for it.
    """
    module, _, function = _HOMES[kind].partition(":")
    drawn: str = getattr(importlib.import_module(module), function)(evidence)
    return drawn
