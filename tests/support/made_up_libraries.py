"""How are adapters tested without their libraries? With modules and distributions under the libraries' names."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dpaudit.targets.mechanism import LIBRARIES


def pretend(monkeypatch: pytest.MonkeyPatch, adapter: str, *, release: str | None = None, **names: Any) -> ModuleType:
    """Install a stand-in for a library; by default the last supported release."""
    library = LIBRARIES[adapter]
    stand_in = ModuleType(library.package)
    for name, value in names.items():
        setattr(stand_in, name, value)
    parts = library.package.split(".")
    for end in range(1, len(parts)):
        monkeypatch.setitem(sys.modules, ".".join(parts[:end]), ModuleType(".".join(parts[:end])))
    monkeypatch.setitem(sys.modules, library.package, stand_in)
    found = release or ".".join(map(str, (*library.last, 3)))
    known = {library.distribution: found}
    monkeypatch.setattr("dpaudit.targets.mechanism.version", lambda name: known.get(name, "0"))
    return stand_in


def of_module(module: str, name: str = "Made", **attributes: Any) -> Any:
    """Return an object whose type claims to come from a module."""
    return type(name, (SimpleNamespace,), {"__module__": module})(**attributes)
