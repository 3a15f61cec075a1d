"""Is noise the same in every process, as a module of the user's seeds it while it is imported?

What runs at import is read and not run again: the code of a module outside of its functions, and the functions and
classes that such code names, in the module itself and in all modules of the user's that it imports. For a proof it is
enough that a seeder is named there: what is not understood counts as seeded. Nobody is accused of what he only names: a
trace asks for what is `surely` seeded, by a call that runs whenever the module is imported.
"""

from __future__ import annotations

import ast
import collections
import functools
import linecache
import os
import pickle
import random
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.reading.draws import MAKERS, Kind, NoiseSource, is_seeder
from dpaudit.reading.source import is_of_user

_SEEDERS = frozenset(("seed", "set_state", "setstate", "set_bit_generator"))
_BITS = ("SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_KEPT = frozenset(("default_rng", "RandomState", "Random", *_BITS))
_BY_NAME = frozenset(("getattr", "attrgetter", "methodcaller", "__getattribute__"))
_UNKNOWN = object()
_set_bits = getattr(np.random, "set_bit_generator", None)
_OF_CALLABLES = (type(np.random.seed).__module__, "builtins")
_ENTROPY = 2**80
"""Less than this many values of a seed are told from fresh ones by the generator itself."""


@dataclass(frozen=True, slots=True)
class Seeded:
    """Where the modules of a function seed what it may draw from; "" for nowhere."""

    numpy: str = ""  # the state of the functions of `numpy.random`
    python: str = ""  # the state of the functions of `random`
    kept: str = ""  # a generator that is kept
    # of NumPy, with a fixed seed, in the names of a module; and where
    generators: tuple[tuple[np.random.Generator, str], ...] = ()

    def place(self, source: NoiseSource) -> str:
        """Return where the state is seeded that a source draws from; "" if nowhere, or if it is made fresh."""
        owner = source.owner
        if source.kind is Kind.SECRETS or type(owner) is random.SystemRandom:
            return ""
        if source.kind is Kind.SCIPY or owner is None or _is_shared(owner):
            return self.python if source.kind is Kind.PYTHON else self.numpy
        return next((place for each, place in self.generators if each is owner), self.kept)

    def why(self, source: NoiseSource) -> str:
        """Return why the noise of a source may be no noise; "" where its state is seeded nowhere."""
        place = self.place(source)
        if " at " in place:  # what it is that may do so
            return (
                f"noise that may be the same in every process: {place} may seed it, while the module is imported; "
                "what it does is not read"
            )
        why = f"noise that is the same in every process: it is seeded at {place}, while the module is imported"
        return why if place else ""

    def __bool__(self) -> bool:
        """Whether anything is seeded."""
        return bool(self.numpy or self.python or self.kept or self.generators)


def has_fixed_seed(generator: np.random.Generator) -> bool:
    """Whether a generator was made with a seed, as far as it tells."""
    entropy = getattr(generator.bit_generator.seed_seq, "entropy", None)
    return not isinstance(entropy, int) or entropy < _ENTROPY


def _is_shared(owner: Any) -> bool:
    return owner is np.random.mtrand._rand or owner is getattr(random, "_inst", None)


def look_up(functions: Iterable[types.FunctionType]) -> None:
    """Read the modules of functions, and what they import, once for all processes that fork from this one."""
    collections.deque(_modules(functions), maxlen=0)


def seeded_by(functions: Iterable[types.FunctionType], *, surely: bool = False) -> Seeded:
    """Return what the modules of some functions of the user's, and what they import, seed while they are imported."""
    reader = _Called if surely else _Importing
    modules = list(_modules(functions))
    key = reader, tuple((id(each.names), each.names.get("__name__"), each.text) for each in modules)
    known = _FOUND.get(key)
    if known is None or not known.holds():
        known = _FOUND[key] = _Found.of(reader, modules)
        while len(_FOUND) > _MOST_FOUND:
            _FOUND.pop(next(iter(_FOUND)))
    generators = tuple(
        (value, f"{name} in {os.path.basename(each.file)}")
        for each in modules
        for name, value in list(each.names.items())
        if type(value) is np.random.Generator and has_fixed_seed(value)
    )
    return Seeded(**known.places, generators=generators)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found in the text of modules, and every name that was looked up for it."""

    places: Mapping[str, str]
    looked_up: Mapping[tuple[int, str], tuple[Mapping[str, Any], Any]]  # a dotted name; its module's names; its value

    @classmethod
    def of(cls, reader: type[_Importing], modules: list[_Module]) -> _Found:
        named: dict[str, list[tuple[_Module, ast.AST]]] = {}
        for each in modules:
            for name, node in each.text.defined:
                named.setdefault(name, []).append((each, node))
        states = {"numpy": "", "python": "", "kept": ""}
        looked_up: dict[tuple[int, str], tuple[Mapping[str, Any], Any]] = {}
        seen: set[int] = set()
        pending: list[tuple[_Module, ast.AST]] = [(each, node) for each in modules for node in each.text.body]
        while pending:
            module, node = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            for name, owner in reader(module, states, looked_up).of(node):
                pending += [
                    (other, inner)
                    for other, whole in named.get(name, ())
                    if owner is None or owner == other.names.get("__name__")
                    for inner in _within(whole, reader.methods)
                ]
        return cls(states, looked_up)

    def holds(self) -> bool:
        """Whether every name is still what it was: then the same would be found again."""
        return all(_is_same(_looked_up(names, path), value) for (_, path), (names, value) in self.looked_up.items())


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are one, or a method of one object; no code of theirs is run."""
    return one is other or (type(one) is type(other) is types.BuiltinMethodType and one == other)


_MOST_FOUND = 32
_FOUND: dict[Any, _Found] = {}


def _looked_up(names: Mapping[str, Any], path: str) -> Any:
    """Return what a dotted name is now, without calling anything of the user's."""
    first, *rest = path.split(".")
    value = names.get(first, _UNKNOWN)
    for each in rest:
        if type(value) is not type and not _is(
            value, types.ModuleType, np.random.RandomState, np.random.Generator, random.Random
        ):
            return _UNKNOWN
        value = getattr(value, each, _UNKNOWN)
    return value


def _within(node: Any, methods: frozenset[str] | None) -> list[ast.AST]:
    """Return what runs when a function is called, or some methods of a class, or all of them."""
    if isinstance(node, ast.ClassDef):
        called = [each for each in node.body if methods is None or getattr(each, "name", "__init__") in methods]
        return [inner for each in called for inner in (_within(each, methods) if _is_function(each) else [each])]
    return node.body if isinstance(node.body, list) else [node.body]


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


class _Text:
    """What the text of a module says.

    Attributes:
        body: its statements.
        defined: the functions and classes, by name, wherever they stand.
        aliases: of what it imports from modules.
        imports: the statements that import.
        texts: constants that may name a module.
        calls: whether anything is called.
    """

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        self.body = tree.body
        self.defined: list[tuple[str, Any]] = []
        self.aliases: dict[str, str] = {}
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.texts: set[str] = set()
        self.calls = False
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.defined.append((node.name, node))
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.imports.append(node)
                if isinstance(node, ast.ImportFrom):
                    self.aliases |= {each.asname or each.name: each.name for each in node.names}
            elif isinstance(node, ast.Constant):
                if isinstance(node.value, str) and node.value != "__main__":
                    self.texts.add(node.value)
            elif isinstance(node, ast.Call):
                self.calls = True


_read = functools.lru_cache(maxsize=512)(_Text)


@dataclass(frozen=True, slots=True, eq=False)
class _Module:
    """A module: its file, its text, and its names."""

    file: str
    text: _Text
    names: Mapping[str, Any]


def _modules(functions: Iterable[types.FunctionType]) -> Iterator[_Module]:
    pending = [(each.__globals__, each.__code__.co_filename) for each in functions]
    seen: set[tuple[int, str]] = set()
    while pending:
        names, file = pending.pop()
        if (id(names), file) in seen or not is_of_user(file):
            continue
        seen.add((id(names), file))
        try:
            text = _read("".join(linecache.getlines(file, dict(names))))
        except (SyntaxError, ValueError, RecursionError):
            continue
        yield _Module(file, text, names)
        if not names.get("__file__"):  # the other cells of a notebook
            pending += [(names, each) for each in list(linecache.cache) if _is_cell(each)]
        for other in _imported(text, names):
            if getattr(other, "__file__", None):
                pending.append((vars(other), other.__file__ or ""))
        for value in list(names.values()):
            if not text.calls and _is(value, types.ModuleType):
                continue  # imported by its text, which was followed, or a part of a package that others imported
            made_in = value if _is(value, types.ModuleType) else sys.modules.get(_module_of(value))
            if made_in is not None and getattr(made_in, "__file__", None):
                pending.append((vars(made_in), made_in.__file__ or ""))


def _is(value: Any, *kinds: type) -> bool:
    """Whether a value is of some kinds; no code of the value is run, as `isinstance` may."""
    return issubclass(type(value), kinds)


def _module_of(value: Any) -> str:
    """Return the module that a class, a function, or the class of a value is of; no code of the value is run."""
    kind = type(value)
    if kind is types.FunctionType:
        name = value.__module__
    else:
        name = type.__getattribute__(value if issubclass(kind, type) else kind, "__module__")
    return name if type(name) is str else ""


def _is_cell(file: str) -> bool:
    return file.startswith("<ipython") or f"{os.sep}ipykernel_" in file


def _imported(text: _Text, names: Mapping[str, Any]) -> Iterator[types.ModuleType]:
    """Yield the modules that a module may import, as far as they are there."""
    wanted = set(text.texts)
    for node in text.imports:
        if isinstance(node, ast.Import):
            wanted |= {each.name for each in node.names}
        else:
            package = str(names.get("__package__") or "").split(".")
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            wanted |= {base, *(f"{base}.{each.name}" for each in node.names)}
    for name in sorted(wanted):
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            module = sys.modules.get(".".join(parts[:count]))
            if module is not None and _is(module, types.ModuleType):
                yield module


class _Importing(ast.NodeVisitor):
    """Goes through what runs at import, notes what seeds, and gathers what may be called: a name, and its module."""

    methods: ClassVar[frozenset[str] | None] = None
    """What runs of a class that is called; None for all of it."""

    def __init__(self, module: _Module, states: dict[str, str], looked_up: dict[Any, Any]) -> None:
        self.module, self.found, self.names = module, states, set[tuple[str, str | None]]()
        self.looked_up = looked_up
        self.aliases = module.text.aliases

    def of(self, node: ast.AST) -> set[tuple[str, str | None]]:
        """Return the names in a part of what runs, and the modules they are of."""
        self.visit(node)
        return self.names

    def note(self, node: Any, *kinds: str, by: str = "") -> None:
        """Keep the first line for each kind, and ``by`` what it may be seeded there where that is not known."""
        for kind in kinds:
            self.found[kind] = self.found[kind] or (
                f"{by and f'{by} at '}{os.path.basename(self.module.file)}:{node.lineno}"
            )

    def value(self, node: ast.AST) -> Any:
        """Return what a dotted name is now, without calling anything of the user's."""
        path, names = "", self.module.names
        while isinstance(node, ast.Attribute):
            path, node = f".{node.attr}{path}", node.value
        if not isinstance(node, ast.Name):
            return _UNKNOWN
        key = id(names), f"{node.id}{path}"
        if key not in self.looked_up:
            self.looked_up[key] = names, _looked_up(names, key[1])
        return self.looked_up[key][1]

    def visit_If(self, node: ast.If) -> None:
        """What stands under the name of a script does not run where it is imported."""
        test = node.test
        is_script = (
            isinstance(test, ast.Compare)
            and isinstance(test.left, ast.Name)
            and test.left.id == "__name__"
            and isinstance(test.ops[0], ast.Eq)
            and isinstance(test.comparators[0], ast.Constant)
            and test.comparators[0].value == "__main__"
        )
        if is_script and self.module.names.get("__name__") != "__main__":
            for each in node.orelse:
                self.visit(each)
        else:
            self.generic_visit(node)

    def visit_FunctionDef(self, node: Any) -> None:
        """Of a function only its decorators and defaults run."""
        for each in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if each is not None:
                self.visit(each)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 – named as the visitor asks

    def visit_Call(self, node: ast.Call) -> None:
        """A call seeds by the name of what is called, or of a text that names it."""
        given = [each for each in (*node.args, *(each.value for each in node.keywords)) if not _is_none(each)]
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        name = self.aliases.get(name, name)
        value = self.value(called)
        if value is exec or value is eval or (value is _UNKNOWN and name in ("exec", "eval")):
            self.note(node, "numpy", "python", "kept", by=f"{name}(…)")
        texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
        if name in _BY_NAME and any(each in _SEEDERS or each in _KEPT for each in texts):
            self.note(node, "numpy", "python", "kept", by=f"{name}(…)")
        seeds = _seeds(value) if value is not _UNKNOWN else name in _SEEDERS
        if seeds and not given and name == "seed":
            return  # it is made fresh
        if seeds and value is _UNKNOWN:
            self.note(node, "numpy", "python", "kept", by=f"{name}(…)")
        if (_is_kept(value) if value is not _UNKNOWN else name in _KEPT) and not all(
            self._is_told(each, name) for each in given
        ):
            self.note(node, "kept")
        self.generic_visit(node)

    def _is_told(self, node: ast.AST, maker: str) -> bool:
        """Whether a seed is seen in the generator itself, or judged by itself."""
        if isinstance(node, ast.Call):
            value = self.value(node.func)
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            return _is_kept(value) if value is not _UNKNOWN else name in _KEPT
        is_small = isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value < _ENTROPY
        return is_small and maker not in ("RandomState", "Random")

    def visit_Name(self, node: ast.Name) -> None:
        """A name seeds that is a seeder, whatever it is called."""
        self.names |= {(node.id, None), (self.aliases.get(node.id, node.id), None)}
        self._named(node)
        if self.value(node) is _UNKNOWN and self.aliases.get(node.id) in _SEEDERS:
            self.note(node, "numpy", "python")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """So does an attribute."""
        self.names.add((node.attr, None))
        self._named(node)
        if node.attr == "bit_generator":
            self.note(node, "kept", by="bit_generator")
        is_hidden = (
            node.attr in _SEEDERS and self.value(node) is _UNKNOWN and ast.unparse(node.value).endswith("random")
        )
        if is_hidden or node.attr == "_rand":
            self.note(node, "numpy", "python")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """So does what is looked up in the names of a module."""
        looked = isinstance(node.slice, ast.Constant) and node.slice.value in _SEEDERS
        if looked and not _is(self.value(node.value), dict):
            self.note(node, "numpy", "python", "kept")
        self.generic_visit(node)

    def _named(self, node: ast.Name | ast.Attribute) -> None:
        value = self.value(node)
        if value is _UNKNOWN:
            return
        if value is pickle:
            self.note(node, "kept", by="pickle")
        if _seeds(value) or value is _set_bits:
            self.note(node, _seeded_state(value))


class _Called(_Importing):
    """Goes through what surely runs at import: it notes known seeders that are called, and gathers what is called."""

    methods = frozenset(("__init__", "__new__", "__post_init__"))

    def visit_Call(self, node: ast.Call) -> None:
        """A call seeds that is given a seed, or runs what it calls."""
        value = self.value(node.func)
        given = [each for each in (*node.args, *(each.value for each in node.keywords)) if not _is_none(each)]
        if given and value is not _UNKNOWN and _seeds(value):
            self.note(node, _seeded_state(value))
        elif type(value) in (types.FunctionType, type):
            self.names.add((value.__name__, _module_of(value)))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A name runs nothing."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Nor does an attribute, as far as is known."""
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Nor an item."""
        self.generic_visit(node)

    def visit(self, node: ast.AST) -> None:
        """Go on in what runs whatever happens."""
        if not isinstance(node, ast.Lambda | ast.If | ast.IfExp | ast.Try | ast.While | ast.Match):
            super().visit(node)


def _seeded_state(seeder: Any) -> str:
    """Return which state of `Seeded` a seeder sets."""
    owner = getattr(seeder, "__self__", None)
    if owner is not None and not _is(owner, types.ModuleType) and not _is_shared(owner):
        return "kept"
    return "python" if _is(owner, random.Random) else "numpy"


def _seeds(value: Any) -> bool:
    return not _is(value, type) and _module_of(type(value)) in _OF_CALLABLES and is_seeder(value)


def _is_kept(value: Any) -> bool:
    kinds = (*MAKERS, *(getattr(np.random, name) for name in _BITS))
    return any(value is each for each in kinds if each is not np.random.Generator)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
