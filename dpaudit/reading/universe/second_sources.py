"""What stands for the sources of randomness while a function runs in the second net? All of them give pending numbers.

Sources are those of NumPy, SciPy and Python, wherever the user's modules keep them. ``float`` and ``int`` leave a
pending number what it is, as a number that is only converted has met nothing yet.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import random
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.draws import BOUND
from dpaudit.reading.source import is_of_user
from dpaudit.reading.universe.second_draws import (
    INTEGERS,
    SOURCES,
    PassedOverError,
    Pending,
    Pendings,
    noise_of,
    now,
    uniform,
)

__all__ = ["Generator", "patched", "users_modules"]


class Generator:
    """Stands for a generator."""

    def __init__(self, seed: Any = None) -> None:
        del seed

    def __getattr__(self, name: str) -> Any:
        return SOURCES[name] if name in SOURCES else getattr(now().rng, name)


class PythonGenerator:
    """Stands for a generator of Python."""

    def __init__(self, seed: Any = None) -> None:
        del seed

    def __getattr__(self, name: str) -> Any:
        return getattr(random, name)  # what stands there for the functions of the module


def _clock() -> float:
    run = now()
    run.ticks += 1
    return run.ticks / 1000


_CLOCKS = {"time": _clock, "perf_counter": _clock, "monotonic": _clock, "process_time": _clock}


@contextlib.contextmanager
def patched(function: Any) -> Iterator[Callable[[Any], Any]]:
    """Within this, every source of randomness gives pending numbers; what it yields says what stands for a value."""
    import scipy.stats as stats
    from scipy.stats._distn_infrastructure import rv_frozen

    made: list[tuple[Any, str, Any]] = [(np.random, name, each) for name, each in SOURCES.items()]
    made += [(np.random, "default_rng", Generator), (np.random, "RandomState", Generator)]
    made += [
        (np.random, "rand", lambda *size: uniform(size[0] if len(size) == 1 else size or None)),
        (np.random, "randn", lambda *size: noise_of("gaussian", 0.0, 1.0, size or None)),
    ]
    made += [
        (random, "expovariate", lambda lambd=1.0: noise_of("exponential", 0.0, 1 / lambd, None)),
        (random, "gauss", lambda mu=0.0, sigma=1.0: noise_of("gaussian", mu, sigma, None)),
        (random, "normalvariate", lambda mu=0.0, sigma=1.0: noise_of("gaussian", mu, sigma, None)),
        (random, "random", uniform),
        (random, "Random", PythonGenerator),
        (random, "SystemRandom", PythonGenerator),
    ]
    made += [(getattr(stats, name), "rvs", _scipy(law)) for name, law in _OF_SCIPY.items()]
    made.append((rv_frozen, "rvs", _frozen(rv_frozen.rvs)))
    made += [(pd.DataFrame, "sample", _same_order), (pd.Series, "items", _by_label)]
    made += [(pd.Series, name, _labelled(getattr(pd.Series, name))) for name in ("__add__", "__radd__")]
    made += [(time, name, clock) for name, clock in _CLOCKS.items()]
    originals = {id(getattr(owner, name)): new for owner, name, new in made}
    originals |= {id(kind): new for kind, new in _KINDS.values()}
    made += [(owner, name, _instead(value, originals)) for owner, name, value in _sources_of(function, originals)]
    before = [owner.get(name, _ABSENT) if isinstance(owner, dict) else getattr(owner, name) for owner, name, _ in made]
    try:
        for owner, name, new in made:
            owner.__setitem__(name, new) if isinstance(owner, dict) else setattr(owner, name, new)
        yield functools.partial(_instead, originals=originals)
    finally:
        for (owner, name, _), old in zip(made, before, strict=True):
            if old is _ABSENT:
                del owner[name]
            else:
                owner.__setitem__(name, old) if isinstance(owner, dict) else setattr(owner, name, old)


_GENERATORS = (np.random.Generator, np.random.RandomState)


class _Kind(type):
    """Says of the type that it stands for what that would say."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.__mro__[1])

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.__mro__[1])


class _Float(float, metaclass=_Kind):
    """Stands for ``float``, which of a pending number would be a plain one."""

    dtype = np.dtype(float)

    def __new__(cls, value: Any = 0.0) -> Any:
        return value if type(value) is Pending else float(value)


class _Int(int, metaclass=_Kind):
    """Stands for ``int``, which keeps whole noise."""

    dtype = np.dtype(int)

    def __new__(cls, *values: Any) -> Any:
        is_noise = len(values) == 1 and type(values[0]) is Pending
        is_whole = is_noise and (values[0].is_rounded or values[0].draw.law in INTEGERS)
        return values[0] if is_whole else int(*values)


_KINDS = {"float": (float, _Float), "int": (int, _Int)}
_ABSENT = object()


def _instead(value: Any, originals: dict[int, Any]) -> Any:
    """Return what stands for a source of randomness, or a value that is none as it is."""
    kind = type(value)  # isinstance would ask the object
    if kind is tuple:
        return tuple(_instead(each, originals) for each in value)
    if issubclass(kind, _GENERATORS):
        return Generator()
    if issubclass(kind, random.Random):
        return PythonGenerator()
    if id(value) in originals and kind is not types.ModuleType and callable(value):
        return originals[id(value)]
    of = value.__self__ if kind in BOUND else None
    if issubclass(type(of), (*_GENERATORS, random.Random)):
        stand_in = getattr(_instead(of, originals), value.__name__)
        return originals.get(id(stand_in), stand_in)
    return value


_LAST: list[Any] = []
"""The function whose sources were looked for last, and those: it is run a hundred times, one run after the other."""


def _sources_of(function: Any, originals: dict[int, Any]) -> list[tuple[Any, str, Any]]:
    """Return what a function may draw from, and where it is kept."""
    if not _LAST or _LAST[0] is not function:
        kept = [(each, _instead(each[2], originals)) for each in _kept(function)]
        changed = [
            each
            for each, new in kept
            if new is not each[2] and (type(new) is not tuple or any(map(operator.is_not, new, each[2])))
        ]
        _LAST[:] = [function, changed]
    sources: list[tuple[Any, str, Any]] = _LAST[1]
    return sources


def _kept(function: Any) -> Iterator[tuple[Any, str, Any]]:
    """Yield what the user's modules, their functions' defaults, and objects of their classes keep, and where."""
    users = users_modules()
    own = getattr(function, "__globals__", {})
    users.setdefault(str(own.get("__name__")), own)
    spaces = {id(each): each for each in (*users.values(), own)}
    functions = {id(function): getattr(function, "__func__", function)}
    for space in spaces.values():
        yield from ((space, name, kind) for name, (kind, _) in _KINDS.items() if name not in space)
        for name, value in list(space.items()):
            yield space, name, value
            if type(value) is types.FunctionType:
                functions[id(value)] = value
            elif str(type.__getattribute__(type(value), "__module__")) in users:
                with contextlib.suppress(AttributeError):
                    held = object.__getattribute__(value, "__dict__")  # as it is, whatever the class says
                    yield from ((held, of, each) for of, each in list(held.items()))
    for each in functions.values():
        if getattr(each, "__defaults__", None):
            yield each, "__defaults__", each.__defaults__


def users_modules() -> dict[str, dict[str, Any]]:
    """Return what is in each of the user's modules, by their names."""
    modules = {name: vars(each) for name, each in list(sys.modules.items()) if type(each) is types.ModuleType}
    return {name: space for name, space in modules.items() if is_of_user(str(space.get("__file__") or "<"))}


def _labelled(function: Any) -> Any:
    def added(series: Any, other: Any) -> Any:
        if isinstance(other, Pendings) or (isinstance(other, np.ndarray) and not len(series) and not len(other)):
            now().labelled(tuple(series.index))
        return function(series, other)

    return added


_OF_SCIPY = {"laplace": "laplace", "norm": "gaussian", "gumbel_r": "gumbel", "expon": "exponential"}


def _scipy(law: str) -> Callable[..., Any]:
    return lambda loc=0.0, scale=1.0, size=None, random_state=None: noise_of(law, loc, scale, size)


def _frozen(function: Any) -> Callable[..., Any]:
    """``stats.laplace(scale=2).rvs()``: the arguments of the law are those that it was made with."""

    def rvs(frozen: Any, size: Any = None, random_state: Any = None) -> Any:
        law = _OF_SCIPY.get(frozen.dist.name)
        if law is None:
            return function(frozen, size, now().rng)
        return _scipy(law)(*frozen.args, **frozen.kwds, size=size)

    return rvs


_ITEMS = pd.Series.items


def _by_label(series: Any) -> Iterator[tuple[Any, Any]]:
    """Go through a series; the same labels as in the run before draw the same noise, in whatever order they stand."""
    if isinstance(series.index, pd.RangeIndex):
        yield from _ITEMS(series)
        return
    run = now()
    labels, place = frozenset(map(repr, series.index)), len(run.loops)
    if run.before is not None and run.before.loops[place : place + 1] != [labels]:
        raise PassedOverError("a loop over other keys of the data")
    run.loops.append(labels)
    try:
        for label, value in _ITEMS(series):
            run.label = (place, repr(label), [0])
            yield label, value
    finally:
        run.label = None


_SAMPLE = pd.DataFrame.sample


def _same_order(frame: Any, n: Any = None, frac: Any = None, **more: Any) -> Any:
    if frac != 1 or n is not None or more:
        return _SAMPLE(frame, n, frac, **more)
    return frame.iloc[np.argsort([hash(repr(row)) for row in frame.itertuples(index=False)], kind="stable")]
