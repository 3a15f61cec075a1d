"""Where is a named mechanism, and may its code be run?

The catalogue is whatever installed packages offer: one entry point per package in the group ``dpaudit.mechanisms``
names a module whose ``__all__`` lists mechanisms. A file called ``mechanisms.py`` in the working directory or beside
the script does not shadow them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
import sysconfig
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from dpaudit.errors import UsageError, close, nearest
from dpaudit.settings import ReplacedError, importing
from dpaudit.targets.mechanism import Mechanism, adapted, how_to_install, library_of, mechanism
from dpaudit.targets.signature import FORMS as SHAPES

# --- Where is a named mechanism? -------------------------------------------------------------------------

# --- Which code does the import of a target run? What its source says, never what lies compiled beside it. ---
#
# Python takes compiled code from ``__pycache__`` wherever the second and the size of the source fit. After an edit
# within one second, or where somebody else wrote there, that is other code than the source, of which evidence has the
# digest. Installed packages, the standard library and dpaudit are imported as ever.


class SourceAlone(SourceFileLoader):
    """A loader that compiles the source each time, and keeps nothing."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of a module."""
        return self.source_to_code(self.get_data(self.path), self.path)


class _Finder:
    """Finds what the other finders find, and has the source of it compiled."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module, if it is found."""
        others = (finder for finder in sys.meta_path if finder is not cls)
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((each for each in specs if each is not None), None)
        if spec is not None and type(spec.loader) is SourceFileLoader and not _is_installed(spec.loader.path):
            spec.loader = SourceAlone(spec.loader.name, spec.loader.path)
        return spec


@contextmanager
def from_source() -> Iterator[None]:
    """Within this context, own modules are compiled from their sources when they are imported."""
    if _Finder in sys.meta_path:
        yield
        return
    sys.meta_path.insert(0, _Finder)
    try:
        yield
    finally:
        if _Finder in sys.meta_path:
            sys.meta_path.remove(_Finder)


def _is_installed(path: str) -> bool:
    file = Path(path)
    return not {"site-packages", "dist-packages"}.isdisjoint(file.parts) or any(map(file.is_relative_to, _folders()))


@cache
def _folders() -> tuple[Path, ...]:
    """The standard library, and dpaudit, which may be a checkout."""
    return Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1]


# --- Where is a named mechanism? Catalogue names, ``package.module:name`` and ``file.py:name``. ---

GROUP = "dpaudit.mechanisms"
_OWN, _OWN_FOLDER = "dpaudit_mechanisms", "mechanisms"
"""The catalogue of dpaudit itself, as wheels install it, and the folder that it is in a checkout."""
FORMS = "a name of the catalogue (dpaudit list), 'package.module:name' or 'path/to/file.py:name'"


@lru_cache(maxsize=1)
def _offers() -> tuple[tuple[str, Mechanism], ...]:
    """Every mechanism of every installed catalogue, with the name of the package that offers it."""
    offers = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            module = _installed_module(point)
            offered = [getattr(module, name) for name in getattr(module, "__all__", ())]
        except (Exception, SystemExit) as error:
            raise UsageError(
                f"cannot import the catalogue {point.name!r} (module {point.value!r}): {type(error).__name__}: "
                f"{error}; repair or uninstall the package that offers it"
            ) from error
        offers += [(point.name, item) for item in offered if isinstance(item, Mechanism)]
    return tuple(offers)


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Mechanism]:
    """Return every mechanism of every installed catalogue by name; ambiguous names become ``package:name``."""
    times = Counter(offered.name for _, offered in _offers())
    named = {}
    for package, offered in _offers():
        title = offered.name if times[offered.name] == 1 else f"{package}:{offered.name}"
        named[title] = replace(offered, name=title, reference=title)
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
    events = getattr(_installed_module(point), "EVENTS", {})
    return events if isinstance(events, Mapping) else {}


def _from_catalogue(target: str) -> Mechanism | None:
    """Return the mechanism of this name, or of this ``package:name`` even if the name alone is unambiguous."""
    known = catalogue()
    if target in known:
        return known[target]
    package, _, name = target.partition(":")
    return known.get(name) if any((package, name) == (where, offered.name) for where, offered in _offers()) else None


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
        return replace(_attribute_of(_from_file(place), place, name), reference=f"{Path(place).resolve()}:{name}")
    known = _from_catalogue(target)
    if known is not None:
        return known
    if colon:
        return replace(_attribute_of(_from_module(place, name), place, name), reference=target)
    if target.endswith(".py"):
        raise UsageError(f"{target!r} names a file; say which function in it: {target + ':name'!r}")
    raise UsageError(f"no mechanism is called {target!r}; {nearest(target, catalogue())} A target is {FORMS}")


def function_named(target: str) -> Callable[..., Any]:
    """Return the function of a name such as ``path/to/file.py:name`` or ``package.module:name``, as it stands there."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise UsageError(f"{target!r} names no function: write 'path/to/file.py:name' or 'package.module:name'")
    module = _from_file(place) if place.endswith(".py") else _from_module(place, name)
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"{place!r} has no function {name!r}; {nearest(name, _callables(vars(module)))}")
    return function  # type: ignore[no-any-return]


def _mechanism_of(target: Any) -> Mechanism:
    if isinstance(target, Mechanism):
        return target
    made = adapted(target) or mechanism(target)
    assert isinstance(made, Mechanism)
    return made


def _attribute_of(module: ModuleType, place: str, name: str) -> Mechanism:
    """Return what ``name`` (with dots, if it is in a class) refers to in a module."""
    target: Any = module
    for part in name.split("."):
        try:
            target = getattr(target, part)
        except Exception:
            offered = [known.name for package, known in _offers() if package == place]
            asked = _of_catalogue(name) or nearest(name, [*_callables(vars(module)), *offered])
            raise UsageError(f"{place!r} has no {name!r}; {asked}") from None
    if not callable(target) and library_of(target) is None:
        methods = _callables(vars(type(target))) if type(target).__module__ != "builtins" else []
        instead = f"name a method of it, as '{place}:{name}.{methods[0]}'" if methods else f"write {SHAPES}"
        raise UsageError(f"{name!r} in {place!r} is no function but {_object_text(target)}; {instead}")
    return _mechanism_of(target)


def _callables(members: Mapping[str, Any]) -> list[str]:
    """The public names of callables."""
    return [name for name, value in members.items() if callable(value) and not name.startswith("_")]


def _object_text(target: Any) -> str:
    """A value by its repr, or by its class if the repr only shows a memory address."""
    shown = repr(target)
    return f"an object of {type(target).__qualname__}" if " at 0x" in shown else shown[:60]


def _of_catalogue(name: str) -> str:
    """A question that suggests the catalogue's entry of this name; empty if there is none."""
    return f"did you mean {name!r}, of the catalogue?" if name in catalogue() else ""


_LOADING = threading.RLock()  # a module is in sys.modules before it is fully loaded


def _from_file(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        beside = [str(one) for one in file.parent.glob("*.py")] if file.parent.is_dir() else []
        raise UsageError(f"there is no file {path!r}; {_sentence_start(close(str(file), beside))} target is {FORMS}")
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
        start = _sentence_start(_meant(name, function) if isinstance(error, ModuleNotFoundError) else "")
        raise UsageError(
            f"cannot import the module {name!r}: {type(error).__name__}: {error}{how_to_install(error)}; "
            f"{start} target is {FORMS}"
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


def _sentence_start(asked: str) -> str:
    """A question before the sentence that begins with "a target"."""
    return f"{asked} A" if asked else "a"


def _reference(made: Mechanism) -> str | None:
    """Return the text by which another process finds the same function and runs it in the same way, or None."""
    function = made.function
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not module or not name or module == "__main__" or "<" in name or module not in sys.modules:
        return None
    target: Any = sys.modules[module]
    for part in name.split("."):
        target = getattr(target, part, None)
    file = getattr(sys.modules[module], "__file__", None)
    if file is None or (target.function if isinstance(target, Mechanism) else target) is not function:
        return None
    target = _mechanism_of(target)
    if (target.shape, target.asked) != (made.shape, made.asked):
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


# --- May code be run because a file names it? Only code under the working directory, and what a catalogue offers. ---
#
# Evidence may come from anyone, and a replay runs what it names. So a name leads only to a mechanism of an installed
# catalogue (an entry point of the group ``dpaudit.mechanisms``) or to code under the working directory. This applies to
# the module and to the function itself, which a module may merely have imported; links are followed first. For
# everything else somebody has to name the target, or say that the file is trusted.

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
    loaded_mechanism = load(name)
    if not _is_declared(loaded_mechanism) and not _is_own(_file_of(loaded_mechanism.function)):
        raise _refused(name, "the function that it leads to comes from elsewhere")
    return loaded_mechanism


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


def _is_declared(candidate: Mechanism) -> bool:
    """Whether it was declared as a mechanism in a module that may be run, with a claim, relation, pairs or versions."""
    return any(said is not None for said in (candidate.claim, candidate.relation, candidate.pairs)) or bool(
        candidate.versions
    )


def _file_of(function: Any) -> Path | None:
    """The file that defines a function."""
    while isinstance(function, functools.partial | Mechanism):
        function = function.func if isinstance(function, functools.partial) else function.function
    parts = getattr(function, "__functions__", None)
    if parts:
        return _file_of(parts[0])
    bound = getattr(function, "__func__", function)
    code = getattr(inspect.unwrap(bound), "__code__", None)
    try:
        if code is not None:
            return Path(code.co_filename)
        return Path(inspect.getfile(function if inspect.isclass(function) else type(function)))
    except (TypeError, OSError):
        return None
