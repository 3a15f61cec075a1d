"""Where is a named mechanism? Catalogue names, ``package.module:name`` and ``file.py:name``.

The catalogue is whatever installed packages offer: one entry point per package in the group ``dpaudit.mechanisms``
names a module whose ``__all__`` lists mechanisms. A file called ``mechanisms.py`` in the working directory or beside
the script does not shadow them.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import pkgutil
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.adapters import adapted, how_to_install, library_of
from dpaudit.errors import UsageError, close, nearest
from dpaudit.loading.from_source import SourceAlone, from_source
from dpaudit.settings import ReplacedError, importing
from dpaudit.targets.mechanism import Mechanism, mechanism
from dpaudit.targets.signature import FORMS as SHAPES

GROUP = "dpaudit.mechanisms"
_OWN, _OWN_FOLDER = "dpaudit_mechanisms", "mechanisms"
"""The catalogue of dpaudit itself, as wheels install it, and the folder that it is in a checkout."""
FORMS = "a name of `dpaudit list`, 'package.module:name' or 'path/to/file.py:name'"


@lru_cache(maxsize=1)
def _offers() -> tuple[tuple[str, Mechanism], ...]:
    """Every mechanism of every installed catalogue, with the name of the package that offers it."""
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            module = _installed_module(point)
            offered = [getattr(module, name) for name in getattr(module, "__all__", ())]
        except (Exception, SystemExit) as error:
            raise UsageError(
                f"cannot import the catalogue {point.name!r} (module {point.value!r}): {type(error).__name__}: "
                f"{error}; repair or uninstall the package that offers it"
            ) from error
        found += [(point.name, item) for item in offered if isinstance(item, Mechanism)]
    return tuple(found)


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Mechanism]:
    """Return every mechanism of every installed catalogue by name; ambiguous names become ``package:name``."""
    times = Counter(found.name for _, found in _offers())
    named = {}
    for package, found in _offers():
        title = found.name if times[found.name] == 1 else f"{package}:{found.name}"
        named[title] = replace(found, name=title, reference=title)
    return named


def event_of(name: str, given: Mapping[str, Any]) -> Any:
    """Return what accounting knows an entry of a catalogue as, or None if there is no such entry."""
    entry = _from_catalogue(name)
    if entry is None:
        return None
    parameters = entry.parameters_with(given)
    known = next((table[name] for table in map(_events, entry_points(group=GROUP)) if name in table), None)
    if known is None:
        claim = entry.claim_for(parameters) if entry.correct else None
        kept = "" if claim is None else f"; its claim is, as Block('{claim}')"
        raise UsageError(f"{name} is no release that is accounted for by its law{kept}")
    try:
        return known(**{own: parameters[own] for own in signature(known).parameters})
    except (TypeError, ArithmeticError) as error:
        raise UsageError(f"{name} has no such parameters {dict(given)!r:.200}: {error}") from None


def _events(point: EntryPoint) -> Mapping[str, Callable[..., Any]]:
    """What a catalogue says that its entries are for accounting: its `EVENTS`, callables of parameters by name."""
    found = getattr(_installed_module(point), "EVENTS", {})
    return found if isinstance(found, Mapping) else {}


def _from_catalogue(target: str) -> Mechanism | None:
    """Return the mechanism of this name, or of this ``package:name`` even if the name alone is unambiguous."""
    known = catalogue()
    if target in known:
        return known[target]
    package, _, name = target.partition(":")
    return known.get(name) if any((package, name) == (where, found.name) for where, found in _offers()) else None


def _installed_module(point: EntryPoint) -> ModuleType:
    """Import a module of an installed package, even if the user's own files include a module of the same name."""
    top, dot, rest = point.value.partition(".")
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    own = {Path.cwd().resolve(), Path(main or ".").resolve().parent}
    installed = [entry for entry in sys.path if Path(entry or ".").resolve() not in own]
    if point.dist is not None:
        installed.insert(0, str(point.dist.locate_file("")))
    spec = PathFinder.find_spec(top, installed)
    if spec is None and top == _OWN:
        top = _OWN_FOLDER
        spec = PathFinder.find_spec(top, installed)
    name = top + dot + rest
    if spec is None or spec.origin is None or _origin(top) == spec.origin:
        # it is not among the installed files: it is one of the user's, or has its own import hook
        return importlib.import_module(name)
    alias = f"_dpaudit_{top}"
    if alias not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            alias, spec.origin, submodule_search_locations=spec.submodule_search_locations
        )
        assert spec is not None and spec.loader is not None
        sys.modules[alias] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[alias])
        except BaseException:
            del sys.modules[alias]
            raise
    return importlib.import_module(alias + dot + rest)


def _origin(top: str) -> str | None:
    """The file that ``import top`` loads in this process."""
    if top in sys.modules:
        return getattr(sys.modules[top], "__file__", None)
    spec = PathFinder.find_spec(top, sys.path)
    return None if spec is None else spec.origin


def load(target: str | Mechanism | Callable[..., Any]) -> Mechanism:
    """Return the named mechanism, or make one from a function.

    Raises:
        UsageError: if the name is unknown (with the nearest names), or the code cannot be imported.
    """
    if not isinstance(target, str):
        made = _mechanism_of(target)
        return made if made.reference else replace(made, reference=_reference(made))
    place, colon, name = target.rpartition(":")
    if colon and place and not name:
        raise UsageError(f"{target!r} names no function; say which one: {target + 'name'!r}")
    if colon and place.endswith(".py"):
        return replace(_named(_from_file(place), place, name), reference=f"{Path(place).resolve()}:{name}")
    known = _from_catalogue(target)
    if known is not None:
        return known
    if colon:
        return replace(_named(_from_module(place, name), place, name), reference=target)
    if target.endswith(".py"):
        raise UsageError(f"{target!r} names a file; say which function in it: {target + ':name'!r}")
    raise UsageError(f"no mechanism is called {target!r}; {nearest(target, catalogue())} A target is {FORMS}")


def function_named(target: str) -> Callable[..., Any]:
    """Return the function of a name such as ``path/to/file.py:name`` or ``package.module:name``, as it stands there."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise UsageError(f"{target!r} names no function: write 'path/to/file.py:name' or 'package.module:name'")
    module = _from_file(place) if place.endswith(".py") else _from_module(place, name)
    found = getattr(module, name, None)
    if not callable(found):
        raise UsageError(f"{place!r} has no function {name!r}; {nearest(name, _callables(vars(module)))}")
    return found  # type: ignore[no-any-return]


def _mechanism_of(found: Any) -> Mechanism:
    if isinstance(found, Mechanism):
        return found
    made = adapted(found) or mechanism(found)
    assert isinstance(made, Mechanism)
    return made


def _named(module: ModuleType, place: str, name: str) -> Mechanism:
    """Return what ``name`` (with dots, if it is in a class) refers to in a module."""
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except Exception:
            offered = [known.name for package, known in _offers() if package == place]
            asked = _of_catalogue(name) or nearest(name, [*_callables(vars(module)), *offered])
            raise UsageError(f"{place!r} has no {name!r}; {asked}") from None
    if not callable(found) and library_of(found) is None:
        methods = _callables(vars(type(found))) if type(found).__module__ != "builtins" else []
        instead = f"name a method of it, as '{place}:{name}.{methods[0]}'" if methods else f"write {SHAPES}"
        raise UsageError(f"{name!r} in {place!r} is no function but {_told(found)}; {instead}")
    return _mechanism_of(found)


def _callables(found: Mapping[str, Any]) -> list[str]:
    """The public names of callables."""
    return [name for name, value in found.items() if callable(value) and not name.startswith("_")]


def _told(found: Any) -> str:
    """A value by its repr, or by its class if the repr only shows a memory address."""
    shown = repr(found)
    return f"an object of {type(found).__qualname__}" if " at 0x" in shown else shown[:60]


def _of_catalogue(name: str) -> str:
    """A question that suggests the catalogue's entry of this name; empty if there is none."""
    return f"did you mean {name!r}, of the catalogue?" if name in catalogue() else ""


_LOADING = threading.RLock()  # a module is in sys.modules before it is fully loaded


def _from_file(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        beside = [str(one) for one in file.parent.glob("*.py")] if file.parent.is_dir() else []
        raise UsageError(f"there is no file {path!r}; {_first(close(str(file), beside))} target is {FORMS}")
    file = file.resolve()
    try:
        code = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path!r}: {error.strerror or error}") from None
    # the name depends on the content too: an edited file is another module
    name = f"{file.stem}_{hashlib.sha256(str(file).encode() + bytes(1) + code).hexdigest()[:12]}"
    with _LOADING:
        return sys.modules[name] if name in sys.modules else _executed(path, file, name)


def _executed(path: str, file: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file, loader=SourceAlone(name, str(file)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with importing(), from_source(), _beside(file.parent):
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt | ReplacedError):
            raise
        why = f"{type(error).__name__}: {error}{how_to_install(error)}"
        frames = traceback.extract_tb(error.__traceback__)
        if isinstance(error, SystemExit) or any("argv" in (frame.line or "") for frame in frames[-1:]):
            why += "; a file that is a script too keeps what it does then under if __name__ == '__main__':"
        raise UsageError(f"cannot import {path!r}{_line(error, file)}: {why}") from error
    return module


_SIBLINGS: dict[str, Path] = {}  # modules that targets imported from their own folders


@contextlib.contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Let a file import its siblings, as when it is run as a script.

    The folder comes first in the path during the import, and last afterwards, where late imports find it without hiding
    installed packages. A sibling of an earlier target is replaced by one of the same name here.
    """
    names = {entry.stem for entry in folder.iterdir()}
    for name, home in list(_SIBLINGS.items()):
        if home != folder and name.partition(".")[0] in names:
            del _SIBLINGS[name]
            sys.modules.pop(name, None)
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        for name in set(sys.modules) - before:
            origin = getattr(sys.modules[name], "__file__", None)
            if origin is not None and Path(origin).is_relative_to(folder):
                _SIBLINGS[name] = folder


def _line(error: BaseException, file: Path) -> str:
    """The line of the file in which an exception was raised, if known."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f" (line {lines[-1]})" if lines else ""


def _from_module(name: str, function: str) -> ModuleType:
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    known = name in sys.modules
    try:
        with importing(), from_source():
            return importlib.import_module(name)
    except ReplacedError:
        if not known:
            sys.modules.pop(name, None)  # so that it is refused next time too
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"cannot import the module {name!r}: {type(error).__name__}: {error}{how_to_install(error)}; "
            f"{_first(_meant(name, function) if isinstance(error, ModuleNotFoundError) else '')} target is {FORMS}"
        ) from error


def _meant(name: str, function: str) -> str:
    """A question that suggests the catalogue entry, or the sibling module, that was probably meant; may be empty."""
    parent, dot, last = name.rpartition(".")
    folders = getattr(sys.modules.get(parent), "__path__", None) if dot else [os.getcwd(), *_homes()]
    modules = [] if folders is None else [module.name for module in pkgutil.iter_modules(list(folders))]
    return _of_catalogue(function) or close(name, [parent + dot + module for module in modules if module != last])


def _homes() -> list[str]:
    """The folders of the packages that offer a catalogue."""
    tops = {point.value.partition(".")[0] for point in entry_points(group=GROUP)} | {_OWN_FOLDER}
    return [str(Path(origin).parent.parent) for origin in map(_origin, tops) if origin is not None]


def _first(asked: str) -> str:
    """A question before the sentence that begins with "a target"."""
    return f"{asked} A" if asked else "a"


def _reference(made: Mechanism) -> str | None:
    """Return the text by which another process finds the same function and runs it in the same way, or None."""
    function = made.function
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not module or not name or module == "__main__" or "<" in name or module not in sys.modules:
        return None
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    file = getattr(sys.modules[module], "__file__", None)
    if file is None or (found.function if isinstance(found, Mechanism) else found) is not function:
        return None
    found = _mechanism_of(found)
    if (found.shape, found.asked) != (made.shape, made.asked):
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
    """Return the name to type to audit this mechanism again; a file is named relative to the working directory."""
    reference = mechanism.reference or _script_reference(mechanism.function)
    path, colon, name = (reference or mechanism.name).rpartition(":")
    if not colon or not path.endswith(".py"):
        return reference or mechanism.name
    file = Path(path).resolve()
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else Path(file.name)
    return f"{shown.as_posix()}:{name}"


def _script_reference(function: Callable[..., Any]) -> str | None:
    """The file and name of a function of the running script."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    name = getattr(function, "__qualname__", "<")
    if getattr(function, "__module__", None) != "__main__" or file is None or "<" in name:
        return None
    return f"{Path(file).resolve()}:{name}"
