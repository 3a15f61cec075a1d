"""May code be run because a file names it? Only code under the working directory, and what a catalogue offers.

Evidence may come from anyone, and a replay runs what it names. So a name leads only to a mechanism of an installed
catalogue (an entry point of the group ``dpaudit.mechanisms``) or to code under the working directory. This applies to
the module and to the function itself, which a module may merely have imported; links are followed first. For everything
else somebody has to name the target, or say that the file is trusted.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.loading.named import catalogue, load
from dpaudit.targets.mechanism import Mechanism

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_SOURCES = (".py", ".pyi", ".pyc")


def load_trusted(name: str) -> Mechanism:
    """Return the mechanism that a file names, if it may be run."""
    place, colon, _ = name.rpartition(":")
    if not colon or name in catalogue():
        return load(name)
    if place.endswith(".py"):
        if not _is_own(Path(place)):
            raise _refused(name, f"the file {place!r} is not under the working directory")
    else:
        origin = _origin_of_module(place)
        if origin is None or not _is_own(origin):
            raise _refused(name, f"the module {place!r} is not under the working directory")
    found = load(name)
    if not _is_declared(found) and not _is_own(_file_of(found.function)):
        raise _refused(name, "the function that it leads to comes from elsewhere")
    return found


def _refused(name: str, why: str) -> UsageError:
    return UsageError(
        f"the evidence names {name!r:.200}, and it is not run: {why}, and no installed catalogue offers it. If you "
        "know what it is, name it (--target) or trust the file (--trust); in Python target=… or trust=True"
    )


def _is_own(file: Path | None) -> bool:
    """Whether a file is under the working directory, with all links followed, and not installed there."""
    if file is None:
        return False
    try:
        place, here = file.resolve(), Path.cwd().resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return place.is_file() and place.is_relative_to(here) and _INSTALLED.isdisjoint(place.relative_to(here).parts)


def _origin_of_module(name: str) -> Path | None:
    """The file of a module, found without importing it or its packages."""
    top, *rest = name.split(".")
    loaded = sys.modules.get(top)
    spec = getattr(loaded, "__spec__", None) if loaded is not None else None
    if loaded is not None and spec is None:
        return None
    if spec is None:
        if top in sys.builtin_module_names or top in sys.stdlib_module_names:
            return None
        spec = PathFinder.find_spec(top, [str(Path.cwd()), *sys.path])
    for place in range(1, len(rest) + 1):
        if spec is None or spec.submodule_search_locations is None:
            return None
        spec = PathFinder.find_spec(".".join([top, *rest[:place]]), list(spec.submodule_search_locations))
    if spec is None or not spec.has_location or spec.origin is None or not spec.origin.endswith(_SOURCES):
        return None
    return Path(spec.origin)


def _is_declared(found: Mechanism) -> bool:
    """Whether it was declared as a mechanism in a module that may be run, with a claim, relation, pairs or versions."""
    return any(said is not None for said in (found.claim, found.relation, found.pairs)) or bool(found.versions)


def _file_of(function: Any) -> Path | None:
    """The file that defines a function."""
    while isinstance(function, functools.partial | Mechanism):
        function = function.func if isinstance(function, functools.partial) else function.function
    parts = getattr(function, "__functions__", None)
    if parts:
        return _file_of(parts[0])
    code = _code_of(function)
    try:
        if code is not None:
            return Path(code.co_filename)
        return Path(inspect.getfile(function if inspect.isclass(function) else type(function)))
    except (TypeError, OSError):
        return None


def _code_of(function: Callable[..., Any]) -> Any:
    bound = getattr(function, "__func__", function)
    return getattr(inspect.unwrap(bound), "__code__", None)
