"""How do a target's draws come to be followed? Functions are replaced while it runs, and every one is put back.

Nothing of a library is imported: what is not there when a run begins is not replaced. Names that a module imported by
``from numpy.random import laplace`` are replaced in that module, and generators that it keeps in its namespace are
handed out again as followed ones with the same state.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import math
import os
import random
import subprocess
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from operator import is_
from types import ModuleType
from typing import Any

import numpy as np

from dpaudit.targets.mechanism import LIBRARIES
from dpaudit.tracing import primitives, recording
from dpaudit.tracing.values import array_of, closed, extreme, is_followed, operate, plain

_MISSING = object()
# these names stand for the followed ones while a run is made
_Generator, _RandomState = np.random.Generator, np.random.RandomState
_CONTAINERS = (dict, list, deque)
_HANDED_OUT = frozenset((_Generator, _RandomState))
# packages whose noise is followed, each by a module of `dpaudit.adapters`
_FOLLOWED = {"torch": "torch", "jax": "jax"}
_FOLLOWED |= {each.package: each.adapter for each in LIBRARIES.values() if each.followed}
_OWN = ("dpaudit", "_dpaudit")  # whose names stay what they are
_LIBRARIES = ("numpy", "scipy", "pandas", "polars", "hypothesis", "pytest", "_pytest", "matplotlib", "mypy")
_NAMES = tuple(dict.fromkeys((*primitives.OF_NUMPY, *primitives.CHOICES_OF_NUMPY)))
_MATH = {
    "exp": np.exp, "expm1": np.expm1, "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "fabs": np.fabs, "isnan": np.isnan, "isinf": np.isinf,
    "isfinite": np.isfinite, "atan": np.arctan, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
}  # fmt: skip
_MATH_OF_TWO = {"pow": np.power, "copysign": np.copysign, "fmod": np.fmod, "atan2": np.arctan2, "hypot": np.hypot}
_OF_LISTS = (
    "array", "asarray", "asanyarray", "sum", "mean", "argmax", "argmin", "max", "min", "amax", "amin", "cumsum", "dot",
    "concatenate", "stack", "hstack", "vstack", "where", "clip", "round", "sort", "argsort", "median", "average",
    "inner",
)  # fmt: skip


@cache
def _followed_generator() -> type[np.random.Generator]:
    base = np.random.Generator
    own = {name: primitives.of_numpy(name, getattr(base, name), bound=True) for name in _NAMES if hasattr(base, name)}
    own["shuffle"] = _shuffling(base.shuffle, base.permutation)
    made: type[np.random.Generator] = _Family(base)("Generator", (base,), {**own, "__module__": "numpy.random"})
    return made


@cache
def _followed_state() -> type[np.random.RandomState]:
    base = np.random.RandomState
    own: dict[str, Any] = {
        name: primitives.of_numpy(name, getattr(base, name), bound=True) for name in _NAMES if hasattr(base, name)
    }
    own["shuffle"] = _shuffling(base.shuffle, base.permutation)

    def seeded(self: Any, seed: Any = None) -> None:
        _note_seed(seed)
        with _unwatched():
            base.__init__(self, seed)

    members = {**own, "__init__": seeded, "__module__": "numpy.random"}
    made: type[np.random.RandomState] = _Family(base)("RandomState", (base,), members)
    return made


def _Family(base: type) -> type:  # noqa: N802 – a class
    """Return a metaclass by which objects of the class that was replaced are objects of its followed version."""
    return type("_Followed", (type,), {"__instancecheck__": lambda self, one: isinstance(one, base)})


def _shuffling(original: Callable[..., Any], permutation: Callable[..., Any]) -> Callable[..., Any]:
    def shuffle(self: Any, x: Any, *args: Any, **keywords: Any) -> None:
        recorder = recording.active()
        if recorder is None or args or keywords:
            original(self, x, *args, **keywords)
            return
        with recorder.own_work():
            drawn = np.asarray(permutation(self, len(x)))
        order = recorder.choose("shuffle", drawn, primitives.told(len(x)))
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[place] for place in order]

    return shuffle


def _unwatched() -> AbstractContextManager[None]:
    recorder = recording.active()
    return nullcontext() if recorder is None else recorder.own_work()


def _note_seed(seed: Any) -> None:
    recorder = recording.active()
    if recorder is not None and isinstance(seed, int | np.integer):
        recorder.seeds.append((recording.site(), repr(int(seed))))


def _noting_seed(original: Callable[..., Any]) -> Callable[..., Any]:
    def seed(*args: Any, **keywords: Any) -> Any:
        _note_seed(args[0] if args else keywords.get("seed", keywords.get("a")))
        return original(*args, **keywords)

    return seed


def _noting(original: Callable[..., Any], what: str) -> Callable[..., Any]:
    """Return a function that says, beside what it does, that something is not followed from there."""

    def unseen(*args: Any, **keywords: Any) -> Any:
        recorder = recording.active()
        if recorder is not None:
            recorder.unseen[f"{what}, at {recording.site()}"] = None
        return original(*args, **keywords)

    return unseen


def _of_math(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = _MATH.get(name)

    def function(*args: Any, **keywords: Any) -> Any:
        if recording.active() is None or not any(map(is_followed, args)):
            return original(*args, **keywords)
        original(*map(plain, args), **keywords)  # it raises where NumPy returns NaN
        if ufunc is not None and len(args) == 1:
            return operate(ufunc, args)
        if name == "log" and len(args) == 1:
            return operate(np.log, args)
        if name in _MATH_OF_TWO and len(args) == 2:
            return operate(_MATH_OF_TWO[name], args)
        return original(*map(closed, args), **keywords)

    return function


def _of_lists(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy that also follows lists of followed floats."""

    def function(*args: Any, **keywords: Any) -> Any:
        if recording.active() is None:
            return original(*args, **keywords)
        if original in (np.concatenate, np.stack, np.hstack, np.vstack):
            args = (
                ([array_of(each) for each in args[0]], *args[1:])
                if args and isinstance(args[0], list | tuple)
                else args
            )
        else:
            args = tuple(map(array_of, args))
        if original in _COPIES and args and is_followed(args[0]):
            return args[0] if not keywords and len(args) == 1 else original(closed(args[0]), *args[1:], **keywords)
        return original(*args, **keywords)

    function.__name__ = getattr(original, "__name__", "")
    return function


_COPIES = (np.array, np.asarray, np.asanyarray)


def _extreme_of(original: Callable[..., Any], sign: int) -> Callable[..., Any]:
    """Return Python's ``max`` or ``min``; among followed numbers it is one decision."""

    def function(*args: Any, **keywords: Any) -> Any:
        if recording.active() is None:
            return original(*args, **keywords)
        key = keywords.get("key")
        items = list(args[0]) if len(args) == 1 else list(args)
        if not items:
            return original(items, **keywords)
        keys = items if key is None else [key(each) for each in items]
        if not any(map(is_followed, keys)):
            return items[original(range(len(items)), key=keys.__getitem__)]
        if not all(isinstance(each, int | float) for each in keys):
            return original(items, **keywords)
        return items[extreme(array_of(keys), sign)]

    _ORIGINALS[function] = original
    return function


_ORIGINALS: dict[Callable[..., Any], Callable[..., Any]] = {}


def original_of(value: Any) -> Any:
    """Return what Python has in the place of a ``max`` or ``min`` of ours; anything else as it is."""
    return _ORIGINALS.get(value, value) if type(value) is types.FunctionType else value


@cache
def _rows(package: str) -> tuple[primitives.DrawingMethod, ...]:
    """Return the methods of a library that are followed, as wholes or as noise of a known law.

    Parameters are read when a method is called; where they depend on the data, so does the noise.
    """
    rows: tuple[primitives.DrawingMethod, ...] = importlib.import_module(f"dpaudit.adapters.{_FOLLOWED[package]}").ROWS
    return rows


def _present() -> tuple[str, ...]:
    """Return the modules of libraries that were imported, by whomever."""
    imported = [row.module for package in _FOLLOWED if package in sys.modules for row in _rows(package)]
    return tuple(name for name in dict.fromkeys(imported) if name in sys.modules)


def _replacements(
    rows: Iterable[primitives.DrawingMethod], made: dict[tuple[int, str], Any]
) -> Iterator[tuple[Any, str, Any]]:
    """Yield owner, name and followed version of every method that is there; ``made`` before, it is used again."""
    for row in rows:
        module = sys.modules.get(row.module)
        owner: Any = module if not row.owner else getattr(module, row.owner, None)
        if owner is None:
            continue
        for each in (owner, *(_below(owner) if row.below else ())):
            if row.method not in vars(each) and not row.inherited:
                continue
            key = (id(each), row.method)
            if key not in made:
                original = getattr(each, row.method)
                name = f"{row.module.partition('.')[0]} {each.__name__}"
                followed = row.followed(original) if row.followed else None
                made[key] = followed or primitives.as_unit(original, name, row.made, site=recording.site)  # type: ignore[arg-type]
            yield each, row.method, made[key]


def _below(owner: type) -> Iterator[type]:
    subclasses: list[type] = owner.__subclasses__()
    for each in subclasses:
        yield each
        yield from _below(each)


class Hooks:
    """All replacements, made and undone as often as is needed; ``generator`` makes a followed generator."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, Any, Any]] = []
        self._modules: list[Any] = []
        self._searched: dict[str, dict[str, Any]] = {}
        self._sizes: list[int] = []
        self._scanned: dict[str, int] = {}
        self._places: list[tuple[dict[str, Any], str, Any]] = []
        self._units: dict[tuple[int, str], Any] = {}
        self._methods: dict[tuple[Any, str], tuple[Any, Any]] = {}
        self._present: tuple[str, ...] = ()
        self._made: tuple[Any, dict[int, tuple[Any, Any]]] | None = None

    @staticmethod
    def generator(bits: np.random.BitGenerator) -> np.random.Generator:
        """Return a followed generator."""
        return _followed_generator()(bits)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Let draws be followed meanwhile; afterwards everything is what it was, whatever happens."""
        try:
            self._replace()
            yield
        finally:
            self._put_back()

    @property
    def came_late(self) -> bool:
        """Whether a library was imported after what it holds could be replaced."""
        return self._present != _present()

    def _replace(self) -> None:
        rows = [row for package in _FOLLOWED if package in sys.modules for row in _rows(package)]
        state = np.random.mtrand._rand
        if self._made is None or self._made[0] is not state:  # else what was made for the last run serves again
            self._made = (state, self._new())
        new = self._made[1]
        for space in (vars(random), vars(np.random), vars(math)):
            for key, value in list(space.items()):
                if id(value) in new:
                    self._set(space, key, new[id(value)][1])
        for space, names in ((vars(builtins), ("max", "min")), (vars(np), _OF_LISTS)):
            for key in names:
                if id(space.get(key)) in new:
                    self._set(space, key, new[id(space[key])][1])
        self._classes()
        self._present = _present()
        for owner, name, value in list(_replacements(rows, self._units)):
            self._set(owner, name, value)
        self._scan(new)

    def _new(self) -> dict[int, tuple[Any, Any]]:
        """Return what takes the place of each function, by its id."""
        replaced: list[tuple[Any, Any]] = []
        replaced += [(np.random.Generator, _followed_generator()), (np.random.RandomState, _followed_state())]
        replaced += [(np.random.default_rng, self._default_rng(np.random.default_rng))]
        replaced += [(np.random.seed, _noting_seed(np.random.seed)), (random.seed, _noting_seed(random.seed))]
        state = np.random.mtrand._rand
        own = _followed_state()(state._bit_generator)
        names = [*_NAMES, "shuffle"]
        replaced += [
            (getattr(np.random, name), getattr(own, name))
            for name in names
            if hasattr(np.random, name) and hasattr(own, name)
        ]
        for name in (*primitives.OF_RANDOM, *primitives.CHOICES_OF_RANDOM):
            original = getattr(random, name)
            replaced.append((original, primitives.of_random(name, original, bound=False)))
        replaced += [
            (value, _of_math(name, value)) for name, value in vars(math).items() if callable(value) and name[0] != "_"
        ]
        lists = {getattr(np, name) for name in _OF_LISTS if hasattr(np, name)}
        replaced += [(original, _of_lists(original)) for original in lists]
        replaced += [(builtins.max, _extreme_of(builtins.max, 1)), (builtins.min, _extreme_of(builtins.min, -1))]
        return {id(original): (original, replacement) for original, replacement in replaced}

    @staticmethod
    def _default_rng(original: Callable[..., Any]) -> Callable[..., Any]:
        def default_rng(seed: Any = None) -> Any:
            _note_seed(seed)
            if type(seed) is _followed_generator():
                return seed
            with _unwatched():  # fresh entropy is the generator's own affair
                return _followed_generator()(original(seed).bit_generator)

        return default_rng

    def _classes(self) -> None:
        """Replace methods of classes of Python, and what begins threads and processes."""
        for name in (*primitives.OF_RANDOM, *primitives.CHOICES_OF_RANDOM):
            for owner in (random.Random, random.SystemRandom):
                if name in vars(owner) or owner is random.Random:
                    self._set_made(owner, name, partial(primitives.of_random, name, bound=True))
        self._set_made(random.Random, "seed", _noting_seed_of)
        self._set(np.random.mtrand, "_rand", _followed_state()(np.random.mtrand._rand._bit_generator))
        starting: list[tuple[Any, str, str]] = [
            (threading.Thread, "start", "a thread is started"),
            (subprocess.Popen, "__init__", "a process is started"),
            (os, "fork", "a process is started"),
            (os, "urandom", "randomness of the system is read"),
        ]
        for place, name, what in starting:
            if hasattr(place, name):
                self._set_made(place, name, partial(_noting, what=what))
        known = sys.modules.get("scipy.stats._distn_infrastructure")
        if known is not None:
            original = known.rv_generic.rvs
            for kind in (known.rv_generic, known.rv_continuous, known.rv_discrete):
                if "rvs" in vars(kind):
                    self._set(
                        kind, "rvs", primitives.scipy_rvs(original if kind is known.rv_generic else vars(kind)["rvs"])
                    )

    def _scan(self, new: dict[int, tuple[Any, Any]]) -> None:
        """Replace what other modules imported by name, and the generators that they keep."""
        searched = self._names_of_others()
        if "__main__" in searched:
            self._scanned.pop("__main__", None)
            self._scan_names("__main__", searched["__main__"], new)
        sizes = [*map(len, searched.values())]
        if sizes != self._sizes:  # as hardly ever: thousands of modules are looked through
            self._sizes = sizes
            for name, space in searched.items():
                self._scan_names(name, space, new)
        for space, key, known in self._places:
            value = space.get(key)
            if value is not known:
                continue
            if id(value) in new:
                self._set(space, key, new[id(value)][1])
            else:
                self._set(space, key, followed_generator(value))

    def _scan_names(self, name: str, space: dict[str, Any], new: dict[int, tuple[Any, Any]]) -> None:
        """Find the places of a module whose names are not as many as they were."""
        if self._scanned.get(name) == len(space):
            return
        self._scanned[name] = len(space)
        self._places = [each for each in self._places if each[0] is not space]
        values = list(space.values())
        if new.keys().isdisjoint(map(id, values)) and _HANDED_OUT.isdisjoint(map(type, values)):
            return  # as nearly all
        self._places += [
            (space, key, value) for key, value in list(space.items()) if id(value) in new or type(value) in _HANDED_OUT
        ]

    def _names_of_others(self) -> dict[str, dict[str, Any]]:
        """The names in all modules but those of dpaudit and of large libraries; gone through again if one came."""
        modules = list(sys.modules.values())
        if len(modules) != len(self._modules) or not all(map(is_, modules, self._modules)):
            self._modules, self._sizes = modules, []
            self._searched = {
                name: vars(module)
                for name, module in list(sys.modules.items())
                if isinstance(module, ModuleType)
                and name.partition(".")[0] not in (*_OWN, *_LIBRARIES)
                and module not in (random, math, builtins)
            }
        return self._searched

    def _set_made(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Set what is made of that which is there; where that is the same as before, what was made serves again."""
        original = getattr(owner, name)
        known, made = self._methods.get((owner, name), (_MISSING, None))
        if known is not original:
            made = make(original)
            self._methods[owner, name] = original, made
        self._set(owner, name, made)

    def _set(self, owner: Any, name: Any, value: Any) -> None:
        if isinstance(owner, _CONTAINERS):
            self._undo.append((owner, name, owner[name]))
            owner[name] = value
            return
        own = vars(owner).get(name, _MISSING) if hasattr(owner, "__dict__") else _MISSING
        # a slot, the defaults of a function, the contents of a cell; to find that out takes longer than all the rest
        if own is _MISSING and not isinstance(owner, type) and _is_described(owner, name):
            own = getattr(owner, name)
        try:
            setattr(owner, name, value)
        except Exception:  # an object that refuses: one that is frozen
            object.__setattr__(owner, name, value)
        self._undo.append((owner, name, own))

    def _put_back(self) -> None:
        while self._undo:
            owner, name, value = self._undo.pop()
            if isinstance(owner, _CONTAINERS):
                owner[name] = value
            elif value is _MISSING:
                delattr(owner, name)
            else:
                try:
                    setattr(owner, name, value)
                except Exception:
                    object.__setattr__(owner, name, value)


def _is_described(owner: Any, name: str) -> bool:
    return inspect.isdatadescriptor(inspect.getattr_static(type(owner), name, None))


def followed_generator(value: Any) -> Any:
    """Return a followed generator in place of one of NumPy, with the same state; anything else as it is."""
    if type(value) is _Generator:
        return _followed_generator()(value.bit_generator)
    return _followed_state()(value._bit_generator) if type(value) is _RandomState else value


def followed_method(owner: Any, function: Any) -> Callable[..., Any] | None:
    """Return the followed version of a generator's method, which gets the generator first; None for anything else."""
    name = getattr(function, "__name__", "")
    for base, followed in ((_Generator, _followed_generator), (_RandomState, _followed_state)):
        if isinstance(owner, base) and followed() not in type(owner).__mro__:
            own = getattr(type(owner), name, None) is getattr(base, name, _MISSING)
            return getattr(followed(), name) if own and (name in _NAMES or name == "shuffle") else None
    if type(owner) is random.Random and name in (*primitives.OF_RANDOM, *primitives.CHOICES_OF_RANDOM):
        return getattr(random.Random, name)  # type: ignore[no-any-return]
    return None


def _noting_seed_of(original: Callable[..., Any]) -> Callable[..., Any]:
    def seed(self: Any, a: Any = None, *args: Any, **keywords: Any) -> Any:
        _note_seed(a)
        return original(self, a, *args, **keywords)

    return seed
