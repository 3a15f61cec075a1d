"""Which event is an entry of a catalogue? Whoever knows catalogues registers, so that accounts depend on none."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

_HOMES: list[str] = []


def register(home: str) -> None:
    """Register the function ("module:function") that returns the event of an entry; it is imported at its first use.

    It takes the name of the entry and its parameters, and returns None where there is no such entry.
    """
    _HOMES[:] = [home]


def entry(name: str, parameters: Mapping[str, Any]) -> Any:
    """Return the event of an entry with these parameters, or None if no catalogue has it.

    Raises:
        UsageError: for an entry that is no event, and for parameters that it does not have.
    """
    if not _HOMES:
        return None
    module, _, function = _HOMES[0].partition(":")
    return getattr(importlib.import_module(module), function)(name, parameters)
