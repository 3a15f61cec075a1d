"""What is a draw in the second net? A pending number, which what it is added to makes a plain one.

In a run on a neighbour it is shifted so that the noisy number comes out as in the run before; the cost is added up.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import random
import sys
import time
import types
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.program.laws import LAWS
from dpaudit.program.noise import Noise, shape_of_size
from dpaudit.reading.draws import BOUND
from dpaudit.reading.source import is_of_user
from dpaudit.reading.universe.assumed import SeenLines, WatchedLine

__all__ = [
    "PendingNoise",
]

_SLACK = 1e-6


class DiffersError(Exception):
    """A run on the neighbour does something else; the text says what."""


class PassedOverError(Exception):
    """No run on the neighbour does the same, as a rule allows at a δ: nothing is seen of ε."""


class Run:
    """The draws of one run, and what each was added to in a run that it is held against."""

    def __init__(
        self, seed: int, *, new: list[int], size: int, before: Run | None = None, lines: Sequence[WatchedLine] = ()
    ) -> None:
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.seed, self.lines, self.seen = seed, lines, SeenLines()
        self.said: list[str] = []  # what is printed, logged and told by an exception
        self.ticks = 0  # of the clock, which goes on when somebody looks at it
        self.draws = 0
        self.new, self.size, self.before = new, size, before
        self.met: dict[Any, tuple[str, float, float]] = {}
        self.choices: list[tuple[Any, ...]] = []
        self.keys: list[tuple[Any, ...]] = []
        self.loops: list[frozenset[str]] = []  # the labels of series that are gone through
        self.label: tuple[int, str, list[int]] | None = None  # loop, label, and the draws made for it
        self.cost = self.squares = 0.0
        self.is_sampled = False

    def drawn(self, law: str) -> Any:
        """Return a draw of scale 1: the same for a label, in whatever order it comes."""
        rng = self.rng
        if self.label is not None:
            loop, label, drawn = self.label
            rng = np.random.Generator(np.random.PCG64([self.seed, loop, drawn[0], zlib.crc32(label.encode())]))
        made: dict[str, Callable[[], Any]] = {
            "laplace": rng.laplace, "gaussian": rng.standard_normal, "gumbel": rng.gumbel,
            "exponential": rng.standard_exponential,
        }  # fmt: skip
        return float(made[law]())

    def numbered(self) -> Any:
        """Return what tells a draw from others: its number; in a loop over labels its label, and its number there."""
        self.draws += 1
        if self.label is None:
            return self.draws
        loop, label, drawn = self.label
        drawn[0] += 1
        return loop, label, drawn[0]

    def repeated(self) -> tuple[Any, ...] | None:
        """Return the choice that the run before made here; None where there is no such run."""
        if self.before is None:
            return None
        if len(self.choices) >= len(self.before.choices):
            raise DiffersError("another number of choices")
        return self.before.choices[len(self.choices)]

    def labelled(self, keys: tuple[Any, ...]) -> None:
        """Note under which keys numbers meet noise: those of the run before, or no shift is known."""
        if self.before is not None and self.before.keys[len(self.keys) : len(self.keys) + 1] != [keys]:
            raise PassedOverError("noise under other keys of the data, or in another order of them")
        self.keys.append(keys)


_NOW: list[Run] = []


def begin(run: Run) -> None:
    """Make a run the one that is made."""
    _NOW[:] = [run]


def now() -> Run:
    """Return the run that is made."""
    return _NOW[-1]


WHOLE = ("discrete_laplace", "discrete_gaussian")
_SQUARED = ("gaussian", "discrete_gaussian")
_INTEGERS = ("discrete", *WHOLE)


class UnitDraw:
    """A draw: of scale 1, or a whole number.

    Attributes:
        unit: what a shift by 1 costs: in ε, or as the root of a μ² for Gaussian laws.
        most: beyond which there is no draw.
    """

    __slots__ = ("is_used", "law", "most", "number", "unit", "value")

    def __init__(self, law: str, *given: float) -> None:
        run = _NOW[-1]
        self.number, self.law, self.is_used, self.unit, self.most = run.numbered(), law, False, 1.0, math.inf
        if law == "geometric":
            self.value, self.unit = float(run.rng.geometric(given[0])), -math.log1p(-given[0])
        elif law in (*WHOLE, "truncated_laplace"):
            self.value = float(LAWS[law].draw(run.rng, 1, *map(float, given))[0])
            if law in WHOLE:
                self.unit = 1 / float(given[0])
            else:
                self.value, self.most = self.value / float(given[0]), float(given[1]) / float(given[0])
        else:
            self.value = run.drawn(law)


def _of_type(value: float, is_whole: bool, other: Any) -> float:
    """Return a noisy number as the type that it has: of whole noise on what is whole, a whole number."""
    return int(value) if is_whole and not isinstance(other, float | np.floating) else value


class Pending:
    """factor · draw + shift, perhaps rounded: a plain number as soon as it meets one."""

    __slots__ = ("draw", "factor", "is_rounded", "shift")
    __array_priority__ = 1e9

    def __init__(self, draw: UnitDraw, factor: float = 1.0, shift: float = 0.0, *, is_rounded: bool = False) -> None:
        self.draw, self.factor, self.shift, self.is_rounded = draw, factor, shift, is_rounded

    def _met(self, other: Any, sign: float = 1.0) -> Any:
        draw, run, factor = self.draw, _NOW[-1], sign * self.factor
        start = float(other) + sign * self.shift if sign < 0 else float(other) + self.shift
        is_whole = self.is_rounded or draw.law in _INTEGERS
        noise = float(round(factor * draw.value)) if self.is_rounded else factor * draw.value
        if draw.is_used or not factor:
            return _of_type(start + noise, is_whole, other)
        draw.is_used = True
        if run.before is None:
            value = start + noise
            run.met[draw.number] = (draw.law, factor, value)
            return _of_type(value, is_whole, other)
        known = run.before.met.get(draw.number)
        if known is None:
            raise DiffersError("another number of draws, or a number that was not noisy")
        law, scale, value = known
        if law != draw.law or not math.isclose(abs(scale), abs(factor), rel_tol=1e-9):
            raise DiffersError(f"noise of another law or scale ({law} {abs(scale):.4g}, {draw.law} {abs(factor):.4g})")
        if math.isnan(value) and math.isnan(start):  # both sides show that it is no number, and nothing else
            run.met[draw.number] = (law, factor, value)
            return value
        needed = (value - start) / factor
        if self.is_rounded:  # it has to come out as far apart after it is rounded
            needed = draw.value + (value - start - noise) / factor
            if round(factor * needed) + start != value:
                raise DiffersError("rounded noise that would have to shift by no whole number")
        if not math.isfinite(needed):
            raise DiffersError("a noisy number that is not finite on one side")
        apart = abs(needed - draw.value)
        if draw.law in _INTEGERS and abs(apart - round(apart)) > _SLACK * max(1.0, abs(needed)):
            raise DiffersError("whole noise that would have to shift by no whole number")
        if abs(needed) > draw.most * (1 + 1e-9):
            raise PassedOverError("noise that would have to be larger than it can be")
        if draw.law in _SQUARED:
            run.squares += (apart * draw.unit) ** 2
        elif draw.law != "gumbel":
            run.cost += apart * draw.unit
        run.met[draw.number] = (law, factor, value)
        draw.value = needed  # whatever else it is added to
        return _of_type(value, is_whole, other)

    def plain(self) -> Any:
        """The draw by itself, which is one that is added to 0: of ``laplace(len(df), 1)`` it may be."""
        return self._met(0)

    def _two(self, other: Pending, sign: float) -> Any:
        first, second = self.draw, other.draw
        fits = first.law == second.law and sign < 0 and self.factor == other.factor and first.unit == second.unit
        if (
            fits
            and first.law in ("exponential", "geometric")
            and not first.is_used
            and not second.is_used
            and first is not second
        ):
            first.law = "laplace" if first.law == "exponential" else "discrete"
            first.value, second.is_used = first.value - second.value, True
            return self
        return self.plain() + sign * other.plain()

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Pending):
            return self._two(other, 1.0)
        return self._met(other) if np.ndim(other) == 0 else _each(other, self._met)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._two(other, -1.0) if isinstance(other, Pending) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return self._met(other, -1.0) if np.ndim(other) == 0 else _each(other, lambda each: self._met(each, -1.0))

    def __mul__(self, other: Any) -> Any:
        if self.is_rounded:
            return self.plain() * other
        if np.ndim(other):
            return _each(other, lambda each: Pending(self.draw, self.factor * float(each), self.shift * float(each)))
        return Pending(self.draw, self.factor * float(other), self.shift * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / other)

    def __neg__(self) -> Any:
        return Pending(self.draw, -self.factor, -self.shift, is_rounded=self.is_rounded)

    def __float__(self) -> float:
        return float(self.plain())

    def __int__(self) -> int:
        return int(self.plain())

    def __abs__(self) -> Any:
        return abs(self.plain())

    def __round__(self, digits: Any = None) -> Any:
        if digits is not None or self.is_rounded or self.draw.is_used or self.shift:
            return round(self.plain(), digits)
        return Pending(self.draw, self.factor, is_rounded=True)

    def __format__(self, specification: str) -> str:
        return format(self.plain(), specification)

    def __repr__(self) -> str:
        return repr(self.plain())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.plain(), dtype)

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **keywords: Any) -> Any:
        known = {"add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__"}.get(
            function.__name__
        )
        if known and method == "__call__" and not keywords:
            if isinstance(args[0], Pending):
                return getattr(args[0], known)(args[1])
            if known != "__truediv__":
                return getattr(self, "__r" + known[2:])(args[0])
        return getattr(function, method)(
            *[each.plain() if isinstance(each, Pending) else each for each in args], **keywords
        )

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(name)
        return getattr(np.float64(self.plain()), name)


def _compared(name: str) -> Callable[[Any, Any], Any]:
    def compare(self: Pending, other: Any) -> Any:
        return getattr(float(self.plain()), name)(float(other))

    return compare


for _name in (
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__eq__",
    "__ne__",
    "__mod__",
    "__rmod__",
    "__pow__",
    "__rtruediv__",
    "__floordiv__",
):
    setattr(Pending, _name, _compared(_name))


def _each(values: Any, function: Callable[[Any], Any]) -> Any:
    array = np.asarray(values)
    made = array_of([function(each) for each in array.ravel()], array.shape)
    return type(values)(made, index=values.index) if isinstance(values, pd.Series) else made


class Pendings(np.ndarray[Any, Any]):
    """An array of pending numbers."""

    def __array_ufunc__(self, function: Any, method: Any, *args: Any, **keywords: Any) -> Any:  # type: ignore[override]
        args = tuple(each.view(np.ndarray) if isinstance(each, Pendings) else each for each in args)
        if method == "__call__" and function in (np.add, np.subtract, np.multiply, np.divide, np.negative):
            results = np.asarray(function(*[np.asarray(each, object) for each in args]), object)
            return array_of(list(results.ravel()), results.shape)
        return getattr(function, method)(*map(settled, args), **keywords)

    def __array_function__(self, function: Any, kinds: Any, args: Any, keywords: Any) -> Any:
        return function(*map(settled, args), **{name: settled(each) for name, each in keywords.items()})


for _name in ("sum", "mean", "max", "min", "round", "clip", "tolist", "astype", "std", "item", "argsort", "argmax"):
    setattr(Pendings, _name, lambda self, *args, _called=_name, **more: getattr(settled(self), _called)(*args, **more))


def settled(values: Any) -> Any:
    """Return values of which none is pending."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        return np.array(
            [each.plain() if isinstance(each, Pending) else each for each in values.view(np.ndarray).ravel()]
        ).reshape(values.shape)
    if isinstance(values, list):
        return [settled(each) for each in values]
    return values.plain() if isinstance(values, Pending) else values


def array_of(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Return an array of numbers, some of which are pending."""
    if not any(isinstance(each, Pending) for each in values):
        return np.array(values).reshape(shape)
    made = np.empty(len(values), object)
    for place, each in enumerate(values):
        made[place] = each
    return made.reshape(shape).view(Pendings)


def _noise(law: str, location: Any, scale: Any, size: Any) -> Any:
    if size is None:
        shape = np.broadcast_shapes(np.shape(location), np.shape(scale))
    else:
        shape = (int(size),) if np.ndim(size) == 0 else tuple(size)
    rate = (float(scale),) if law == "geometric" else ()
    if shape == ():
        made = Pending(UnitDraw(law, *rate)) * (1.0 if law == "geometric" else scale)
        return made + location if np.any(np.asarray(location) != 0) else made
    count = int(np.prod(shape))
    scales = np.broadcast_to(np.asarray(1.0 if law == "geometric" else scale, float), shape).ravel()
    starts = np.broadcast_to(np.asarray(location), shape).ravel()
    each = [Pending(UnitDraw(law, *rate)) * scales[place] for place in range(count)]
    if np.any(np.asarray(location) != 0):
        each = [one + start for one, start in zip(each, starts, strict=True)]
    return array_of(each, shape)


def uniform(size: Any = None) -> Any:
    """Return random numbers: of one for each record those of the same records in both runs."""
    run = _NOW[-1]
    if size is None:
        return float(run.rng.random())
    if np.ndim(size) == 0 and size == run.size and run.size:  # one for every record: the same for the same record
        run.is_sampled = True
        made = run.rng.random(run.size - len(run.new))
        return np.insert(made, [place - k for k, place in enumerate(run.new)], 1.0 - 1e-12)
    return run.rng.random(size)


_NUMPY = np.random.default_rng(0)


def choice(options: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
    """Return one of several by their chances: in a run on a neighbour the same as before, at its price."""
    run = _NOW[-1]
    if p is None or size is not None:
        return run.rng.choice(options, size, replace, p)
    listed = np.arange(options) if np.ndim(options) == 0 else options
    chances = np.asarray(p, float)
    _NUMPY.choice(len(listed), p=chances)  # which raises where chances are none
    place = min(int(np.searchsorted(np.cumsum(chances), run.rng.random())), len(chances) - 1)
    before = run.repeated()
    if before is not None:
        place, other = before
        if len(other) != len(chances) or np.any((other > 0) != (chances > 0)):
            raise DiffersError("a choice among others")
        inside = chances > 0
        run.cost += float(np.max(np.abs(np.log(chances[inside] / other[inside]))))
    run.choices.append((place, chances))
    return listed[place]


def _located(law: str) -> Callable[..., Any]:
    return lambda loc=0.0, scale=1.0, size=None: _noise(law, loc, scale, size)


_SOURCES: dict[str, Any] = {
    "laplace": _located("laplace"), "normal": _located("gaussian"), "gumbel": _located("gumbel"),
    "exponential": lambda scale=1.0, size=None: _noise("exponential", 0.0, scale, size),
    "geometric": lambda p, size=None: _noise("geometric", 0.0, p, size),
    "standard_normal": lambda size=None: _noise("gaussian", 0.0, 1.0, size),
    "standard_exponential": lambda size=None: _noise("exponential", 0.0, 1.0, size),
    "random": uniform, "random_sample": uniform, "choice": choice,
    "uniform": lambda low=0.0, high=1.0, size=None: low + (high - low) * uniform(size),
}  # fmt: skip


class Generator:
    """Stands for a generator."""

    def __init__(self, seed: Any = None) -> None:
        del seed

    def __getattr__(self, name: str) -> Any:
        return _SOURCES[name] if name in _SOURCES else getattr(_NOW[-1].rng, name)


class PythonGenerator:
    """Stands for a generator of Python."""

    def __init__(self, seed: Any = None) -> None:
        del seed

    def __getattr__(self, name: str) -> Any:
        return getattr(random, name)  # what stands there for the functions of the module


def _clock() -> float:
    run = _NOW[-1]
    run.ticks += 1
    return run.ticks / 1000


_CLOCKS = {"time": _clock, "perf_counter": _clock, "monotonic": _clock, "process_time": _clock}


@contextlib.contextmanager
def patched(function: Any) -> Iterator[Callable[[Any], Any]]:
    """Within this, every source of randomness gives pending numbers; what it yields says what stands for a value."""
    import scipy.stats as stats
    from scipy.stats._distn_infrastructure import rv_frozen

    made: list[tuple[Any, str, Any]] = [(np.random, name, each) for name, each in _SOURCES.items()]
    made += [(np.random, "default_rng", Generator), (np.random, "RandomState", Generator)]
    made += [
        (np.random, "rand", lambda *size: uniform(size[0] if len(size) == 1 else size or None)),
        (np.random, "randn", lambda *size: _noise("gaussian", 0.0, 1.0, size or None)),
    ]
    made += [
        (random, "expovariate", lambda lambd=1.0: _noise("exponential", 0.0, 1 / lambd, None)),
        (random, "gauss", lambda mu=0.0, sigma=1.0: _noise("gaussian", mu, sigma, None)),
        (random, "normalvariate", lambda mu=0.0, sigma=1.0: _noise("gaussian", mu, sigma, None)),
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
    made += [(owner, name, _instead(value, originals)) for owner, name, value in _sources_of(function, originals)]
    before = [owner[name] if isinstance(owner, dict) else getattr(owner, name) for owner, name, _ in made]
    try:
        for owner, name, new in made:
            owner.__setitem__(name, new) if isinstance(owner, dict) else setattr(owner, name, new)
        yield functools.partial(_instead, originals=originals)
    finally:
        for (owner, name, _), old in zip(made, before, strict=True):
            owner.__setitem__(name, old) if isinstance(owner, dict) else setattr(owner, name, old)


_GENERATORS = (np.random.Generator, np.random.RandomState)


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
    return lambda loc=0.0, scale=1.0, size=None, random_state=None: _noise(law, loc, scale, size)


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


# --- What does a program that is given its noise draw in a run of the second net? Pending numbers, and choices to
# repeat.
#
# A run on a neighbour draws the same coins for the same records, makes the choices of the run that it is held against,
# and pays for them by how much less likely they are on its data. Where a rule allows that no run of the neighbour does
# the same, at a δ, the pair shows nothing of ε and is passed over.


class PendingNoise(Noise):
    """Stands for the noise of a program."""

    def _draw(self, method: str, *arguments: Any) -> Any:
        run = now()
        if method == "uniform":
            low, high = arguments
            return low + (high - low) * float(run.rng.random())
        if method == "bernoulli":
            return bool(run.rng.random() < arguments[0])
        return Pending(UnitDraw(method, *arguments)) * (1 if method in WHOLE else arguments[0])

    def _as_array(self, draws: Any) -> Any:
        return array_of(list(draws), draws.shape)

    def _pick(self, weights: Sequence[float]) -> int:
        return int(choice(len(weights), p=np.asarray(weights, float) / sum(weights)))

    def bernoulli(self, probability: Any, size: Any = None) -> Any:
        """A coin; or one for each record, to turn over what it says."""
        if size is not None and shape_of_size(size) == (now().size,):
            return RecordCoins(float(probability), uniform(now().size) < probability)
        return super().bernoulli(probability, size)

    def poisson(self, data: Any, rate: Any) -> Any:
        """Each record, by the coin that is its own in both runs."""
        self._scale("poisson", "rate", rate, 1.0)
        coins = uniform(now().size) < rate
        mine = data.index if hasattr(data, "index") and not isinstance(data, list) else range(len(data))
        kept = [bool(coins[place]) for place in mine]
        return data[np.array(kept, bool)] if not isinstance(data, list) else [
            each for each, is_kept in zip(data, kept, strict=True) if is_kept
        ]  # fmt: skip

    def propose_test_release(self, options: Any, scores: Any, scale: Any, threshold: Any) -> Any:
        """The option of the largest score, or None: the same as before while its lead can make up for it."""
        run, listed, given = now(), list(options), [float(score) for score in scores]
        first = given.index(max(given))
        lead = given[first] - max(given[:first] + given[first + 1 :])
        noise = float(UnitDraw("laplace").value) * float(scale)
        is_told, before = lead + noise > threshold, run.repeated()
        if before is not None:
            known, was_told, far = before
            if known != first:
                raise PassedOverError("another option leads")
            is_told, run.cost = was_told, run.cost + abs(lead - far) / float(scale)
        run.choices.append((first, is_told, lead))
        return listed[first] if is_told else None


class RecordCoins:
    """A coin for each record, that turns over a bit which it tells of itself."""

    __pandas_priority__ = 5_000
    __array_ufunc__ = None

    def __init__(self, probability: float, coins: Any) -> None:
        self.probability, self.coins = probability, coins

    def __len__(self) -> int:
        return len(self.coins)

    def __xor__(self, bits: Any) -> Any:
        """The reports: those of the run before, at a price for each bit that has to be turned over otherwise."""
        run, plain = now(), np.asarray(bits, bool)
        reports = plain ^ self.coins
        before = run.repeated()
        if before is not None:
            (told,) = before
            if len(told) != len(reports):
                raise DiffersError("another number of reports")
            odds = self.probability / (1 - self.probability)
            run.cost += int(np.count_nonzero(told != reports)) * abs(math.log(odds))
            reports = told
        run.choices.append((reports,))
        return type(bits)(reports, index=bits.index) if hasattr(bits, "index") else reports

    __rxor__ = __xor__
