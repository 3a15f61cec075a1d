"""How does a loop that is left to Python meet containers of ours? They are opened before it, and closed after it."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading import definite
from dpaudit.reading.definite import Looped, Plan
from dpaudit.reading.runs.joins import is_of_pandas
from dpaudit.reading.runs.values import CONTENTS, Container, differs

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

_AS_THEY_ARE = (int, float, bool, str, bytes, types.NoneType, range)


def looped(domain: Active, plan: Plan, function: Callable[..., Any], values: tuple[Any, ...]) -> Looped | None:
    """Run a loop for all active runs at once; None if what it reads differs by run, or is not plain."""
    if plan.changed and not domain.active.whole:
        return None
    values = tuple(map(domain.present, values))
    if any(map(differs, values)):
        return None
    for name, value in zip(plan.names, values, strict=True):
        if type(value) in CONTENTS and (name in plan.changed or not definite.is_flat(value)):
            return None  # it is not of this call, or holds what is not
    known: dict[int, Any] = {id(value): value for value in values if type(value) is not Container}
    found = definite.looped(plan, function, tuple(_opened(value, known) for value in values))
    for value in values:
        if type(value) is Container:
            _closed(domain, value.content, known, set())
    if found is not None:
        found.names = {name: _closed(domain, value, known, set()) for name, value in found.names.items()}
    return found


def _opened(value: Any, known: dict[int, Any]) -> Any:
    """Return what a container holds, and note whose it is; those within it are opened in their places."""
    if type(value) is not Container:
        return value
    content = value.content
    if id(content) not in known:
        known[id(content)] = value
        if not value.bare:
            if type(content) is list:
                content[:] = [_opened(each, known) for each in content]
            elif isinstance(content, dict):
                for key, each in content.items():
                    content[key] = _opened(each, known)
    return content


def _closed(domain: Active, value: Any, known: dict[int, Any], seen: set[int]) -> Any:
    """Return the container of a value: the one that it had, or a new one."""
    kind = type(value)
    if (
        kind is Container
        or kind is Counter
        or kind in _AS_THEY_ARE
        or isinstance(value, np.generic)
        or known.get(id(value)) is value
    ):
        return value
    if isinstance(value, tuple):
        parts = [_closed(domain, each, known, seen) for each in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return tuple(parts) if kind is tuple else domain.give_up("a row of tables that a loop keeps")
    if is_of_pandas(kind) or kind is np.ndarray:
        return known.setdefault(id(value), Container(value, plain=True))
    if kind not in CONTENTS:
        if kind.__module__.startswith("pandas") and kind.__name__ in ("Timestamp", "Timedelta", "NaTType"):
            return value
        domain.give_up(f"a {kind.__name__} that a loop keeps")
    owner = known.setdefault(id(value), Container(value))
    if id(value) not in seen:
        seen.add(id(value))
        if kind is list:
            value[:] = [_closed(domain, each, known, seen) for each in value]
        elif kind is not set:
            for key, each in value.items():
                value[key] = _closed(domain, each, known, seen)
        owner.change(value)
    return owner
