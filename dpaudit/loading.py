"""Where is the mechanism that somebody names? Catalogue names, ``package.module:name`` and ``file.py:name``.

The catalogue is whatever installed packages offer: one entry point per package in the group
``dpaudit.mechanisms`` names a module whose ``__all__`` lists mechanisms. A file called ``mechanisms.py`` in
the working directory does not shadow them.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.errors import UsageError, nearest
from dpaudit.function import Mechanism, mechanism

GROUP = "dpaudit.mechanisms"
FORMS = "a name of `dpaudit list`, 'package.module:name' or 'path/to/file.py:name'"


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Mechanism]:
    """Return every mechanism of every installed catalogue by name; names that clash are ``package:name``."""
    offers: dict[str, list[tuple[str, Mechanism]]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        module = _installed_module(point.value)
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if isinstance(found, Mechanism):
                offers.setdefault(found.name, []).append((point.name, found))
    named = {}
    for name, found_in in offers.items():
        for package, found in found_in:
            title = name if len(found_in) == 1 else f"{package}:{name}"
            named[title] = replace(found, name=title, reference=title)
    return named


def _installed_module(name: str) -> ModuleType:
    """Import an installed package even where the working directory holds a module of the same name."""
    here = Path.cwd().resolve()
    elsewhere = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    spec = PathFinder.find_spec(name, elsewhere) or PathFinder.find_spec(name, sys.path)
    if spec is None or spec.origin is None or spec.loader is None:
        return importlib.import_module(name)  # an editable install has an import hook of its own
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == spec.origin:
        return loaded
    alias = name if loaded is None and PathFinder.find_spec(name, sys.path) == spec else f"_dpaudit_{name}"
    if alias in sys.modules:
        return sys.modules[alias]
    spec = importlib.util.spec_from_file_location(
        alias, spec.origin, submodule_search_locations=spec.submodule_search_locations
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[alias]
        raise
    return module


def load(target: str | Mechanism | Callable[..., Any]) -> Mechanism:
    """Return the mechanism that is named, or make one of a function.

    Raises:
        UsageError: for a name that is unknown (with the nearest ones), or code that cannot be imported.
    """
    if isinstance(target, Mechanism):
        return target if target.reference else replace(target, reference=_reference(target.function))
    if not isinstance(target, str):
        made = mechanism(target)
        assert isinstance(made, Mechanism)
        return replace(made, reference=_reference(target))
    known = catalogue()
    if target in known:
        return known[target]
    module, colon, name = target.rpartition(":")
    if not colon:
        raise UsageError(f"no mechanism is called {target!r}; {nearest(target, known)} A target is {FORMS}")
    holder = _from_file(module) if module.endswith(".py") else _from_module(module)
    found: Any = holder
    for part in name.split("."):
        if not hasattr(found, part):
            public = [item for item in vars(holder) if not item.startswith("_") and callable(getattr(holder, item))]
            raise UsageError(f"{module} has no {name!r}; {nearest(name, public)}")
        found = getattr(found, part)
    reference = f"{Path(module).resolve()}:{name}" if module.endswith(".py") else target
    made = found if isinstance(found, Mechanism) else mechanism(found)
    assert isinstance(made, Mechanism)
    return replace(made, reference=reference)


def _from_file(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"there is no file {path!r}; a target is {FORMS}")
    file = file.resolve()
    name = f"{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))  # its own imports, as when it is run as a script
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UsageError(f"cannot import {path!r}: {type(error).__name__}: {error}") from error
    return module


def _from_module(name: str) -> ModuleType:
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"cannot import the module {name!r}: {type(error).__name__}: {error}; a target is {FORMS}"
        ) from error


def _reference(function: Callable[..., Any]) -> str | None:
    """Return the text by which another process finds the same function, or None."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not module or not name or module == "__main__" or "<" in name or module not in sys.modules:
        return None
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    same = found is function or (isinstance(found, Mechanism) and found.function is function)
    file = getattr(sys.modules[module], "__file__", None)
    if not same or file is None:
        return None
    importable = importlib.util.find_spec(module) if _top_level_known(module) else None
    if importable is not None and importable.origin == file:
        return f"{module}:{name}"
    return f"{Path(file).resolve()}:{name}" if str(file).endswith(".py") else None


def _top_level_known(module: str) -> bool:
    try:
        return PathFinder.find_spec(module.partition(".")[0], sys.path) is not None
    except (ImportError, ValueError):
        return False


def public_name(mechanism: Mechanism) -> str:
    """Return what to type to audit this mechanism again: a file as seen from here, or by its own name elsewhere."""
    reference = mechanism.reference or _script_reference(mechanism.function)
    path, colon, name = (reference or mechanism.name).rpartition(":")
    if not colon or not path.endswith(".py"):
        return reference or mechanism.name
    file = Path(path).resolve()
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else Path(file.name)
    return f"{shown.as_posix()}:{name}"


def _script_reference(function: Callable[..., Any]) -> str | None:
    """The file and name of a function of the script that is being run."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    name = getattr(function, "__qualname__", "<")
    if getattr(function, "__module__", None) != "__main__" or file is None or "<" in name:
        return None
    return f"{Path(file).resolve()}:{name}"
