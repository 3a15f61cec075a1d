"""Do real runs on neighbouring data agree with what was read? The second net, which never saw the reading.

The function itself is run by Python on a frame of the domain, and on a neighbour of it with every draw shifted so that
each noisy number comes out the same. Then the outputs have to be the same, and the shifts may cost no more than the
bound that was read. A draw is a pending number: what it is added to becomes a plain one, and all that follows is plain
Python. It is evidence that the reading is right, and no proof of it.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import random
import select
import signal
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.program.noise import LAWS
from dpaudit.reading.constants import constants_of
from dpaudit.reading.forking import fork
from dpaudit.reading.universe.cells import Declared
from dpaudit.reading.universe.watched import Line, Seen, differs, refuted, watching

SIZES = (0, 1, 2, 3, 8, 40)
PAIRS = 24
MORE = 8  # pairs of each further size, at numbers that stand in the function
_LARGEST, _MOST_SIZES = 200, 6
MOST_DRAWS = 20_000  # after which no further pair is tried, beyond one of each size
SECONDS = 30.0
_MOST_ROWS = 20  # of data whose neighbours are tried
_SLACK = 1e-6


Given = Mapping[str, Callable[[], Any]]
Limits = tuple[float, float]
"""The ε that all noise but Gaussian costs at most, and the μ² of Gaussian noise."""


class DiffersError(Exception):
    """A run on the neighbour does something else; the text says what."""


class PassedOverError(Exception):
    """No run on the neighbour does the same, as a rule allows at a δ: nothing is seen of ε."""


class Run:
    """The draws of one run, and what each was added to in a run that it is held against."""

    def __init__(
        self, seed: int, *, new: list[int], size: int, before: Run | None = None, lines: Sequence[Line] = ()
    ) -> None:
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.seed, self.lines, self.seen = seed, lines, Seen()
        self.draws = 0
        self.new, self.size, self.before = new, size, before
        self.met: dict[int, tuple[str, float, float]] = {}
        self.choices: list[tuple[Any, ...]] = []
        self.keys: list[tuple[Any, ...]] = []
        self.cost = self.squares = 0.0
        self.is_sampled = False

    def drawn(self, law: str) -> Any:
        """Return a draw of scale 1."""
        rng = self.rng
        made: dict[str, Callable[[], Any]] = {
            "laplace": rng.laplace, "gaussian": rng.standard_normal, "gumbel": rng.gumbel,
            "exponential": rng.standard_exponential,
        }  # fmt: skip
        return float(made[law]())

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


def now() -> Run:
    """Return the run that is made."""
    return _NOW[-1]


WHOLE = ("discrete_laplace", "discrete_gaussian")
_SQUARED = ("gaussian", "discrete_gaussian")
_INTEGERS = ("discrete", *WHOLE)


class Drawn:
    """A draw: of scale 1, or a whole number.

    Attributes:
        unit: what a shift by 1 costs: in ε, or as the root of a μ² for Gaussian laws.
        most: beyond which there is no draw.
    """

    __slots__ = ("is_used", "law", "most", "number", "unit", "value")

    def __init__(self, law: str, *given: float) -> None:
        run = _NOW[-1]
        self.number, self.law, self.is_used, self.unit, self.most = run.draws, law, False, 1.0, math.inf
        if law == "geometric":
            self.value, self.unit = float(run.rng.geometric(given[0])), -math.log1p(-given[0])
        elif law in (*WHOLE, "truncated_laplace"):
            self.value = float(LAWS[law].sample(run.rng, 1, *map(float, given))[0])
            if law in WHOLE:
                self.unit = 1 / float(given[0])
            else:
                self.value, self.most = self.value / float(given[0]), float(given[1]) / float(given[0])
        else:
            self.value = run.drawn(law)
        run.draws += 1


class Pending:
    """factor · draw + shift: a plain number as soon as it meets one."""

    __slots__ = ("draw", "factor", "shift")
    __array_priority__ = 1e9

    def __init__(self, draw: Drawn, factor: float = 1.0, shift: float = 0.0) -> None:
        self.draw, self.factor, self.shift = draw, factor, shift

    def _met(self, other: Any, sign: float = 1.0) -> Any:
        draw, run, factor = self.draw, _NOW[-1], sign * self.factor
        start = float(other) + sign * self.shift if sign < 0 else float(other) + self.shift
        if draw.is_used or not factor:
            return start + factor * draw.value
        draw.is_used = True
        if run.before is None:
            value = start + factor * draw.value
            run.met[draw.number] = (draw.law, factor, value)
            return int(value) if draw.law in _INTEGERS else value
        known = run.before.met.get(draw.number)
        if known is None:
            raise DiffersError("another number of draws, or a number that was not noisy")
        law, scale, value = known
        if law != draw.law or not math.isclose(abs(scale), abs(factor), rel_tol=1e-9):
            raise DiffersError(f"noise of another law or scale ({law} {abs(scale):.4g}, {draw.law} {abs(factor):.4g})")
        needed = (value - start) / factor
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
        return int(value) if draw.law in _INTEGERS else value

    def plain(self) -> Any:
        """The draw by itself."""
        self.draw.is_used = True
        run = _NOW[-1]
        if run.before is None:
            run.met[self.draw.number] = (self.draw.law, self.factor, self.factor * self.draw.value)
        return self.factor * self.draw.value + self.shift

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
        if np.ndim(other):
            return _each(other, lambda each: Pending(self.draw, self.factor * float(each), self.shift * float(each)))
        return Pending(self.draw, self.factor * float(other), self.shift * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / other)

    def __neg__(self) -> Any:
        return Pending(self.draw, -self.factor, -self.shift)

    def __float__(self) -> float:
        return float(self.plain())

    def __int__(self) -> int:
        return int(self.plain())

    def __abs__(self) -> Any:
        return abs(self.plain())

    def __round__(self, digits: Any = None) -> Any:
        return round(self.plain(), digits)

    def __format__(self, specification: str) -> str:
        return format(self.plain(), specification)

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
            found = np.asarray(function(*[np.asarray(each, object) for each in args]), object)
            return array_of(list(found.ravel()), found.shape)
        return getattr(function, method)(*map(_settled, args), **keywords)

    def __array_function__(self, function: Any, kinds: Any, args: Any, keywords: Any) -> Any:
        return function(*map(_settled, args), **{name: _settled(each) for name, each in keywords.items()})


for _name in ("sum", "mean", "max", "min", "round", "clip", "tolist", "astype", "std", "item", "argsort", "argmax"):
    setattr(Pendings, _name, lambda self, *args, _called=_name, **more: getattr(_settled(self), _called)(*args, **more))


def _settled(values: Any) -> Any:
    if isinstance(values, np.ndarray) and values.dtype == object:
        return np.array(
            [each.plain() if isinstance(each, Pending) else each for each in values.view(np.ndarray).ravel()]
        ).reshape(values.shape)
    if isinstance(values, list):
        return [_settled(each) for each in values]
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
        made = Pending(Drawn(law, *rate)) * (1.0 if law == "geometric" else scale)
        return made + location if np.any(np.asarray(location) != 0) else made
    count = int(np.prod(shape))
    scales = np.broadcast_to(np.asarray(1.0 if law == "geometric" else scale, float), shape).ravel()
    starts = np.broadcast_to(np.asarray(location), shape).ravel()
    each = [Pending(Drawn(law, *rate)) * scales[place] for place in range(count)]
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


def choice(options: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
    """Return one of several by their chances: in a run on a neighbour the same as before, at its price."""
    run = _NOW[-1]
    if p is None or size is not None:
        return run.rng.choice(options, size, replace, p)
    listed = np.arange(options) if np.ndim(options) == 0 else options
    chances = np.asarray(p, float)
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


@contextlib.contextmanager
def _patched(function: Any) -> Iterator[None]:
    """Within this, every source of randomness gives pending numbers."""
    import scipy.stats as stats

    made: list[tuple[Any, str, Any]] = [(np.random, name, each) for name, each in _SOURCES.items()]
    made += [(np.random, "default_rng", Generator), (np.random, "RandomState", Generator)]
    made += [
        (np.random, "rand", lambda *size: uniform(size or None)),
        (np.random, "randn", lambda *size: _noise("gaussian", 0.0, 1.0, size or None)),
    ]
    made += [
        (random, "expovariate", lambda lambd=1.0: _noise("exponential", 0.0, 1 / lambd, None)),
        (random, "gauss", lambda mu=0.0, sigma=1.0: _noise("gaussian", mu, sigma, None)),
        (random, "normalvariate", lambda mu=0.0, sigma=1.0: _noise("gaussian", mu, sigma, None)),
        (random, "random", uniform),
    ]
    for name, law in {"laplace": "laplace", "norm": "gaussian", "gumbel_r": "gumbel", "expon": "exponential"}.items():
        made.append((getattr(stats, name), "rvs", _scipy(law)))
    made.append((pd.DataFrame, "sample", _same_order))
    made += [(pd.Series, name, _labelled(getattr(pd.Series, name))) for name in ("__add__", "__radd__")]
    names = getattr(function, "__globals__", {})
    originals = {id(getattr(owner, name)): new for owner, name, new in made}
    for name, value in list(names.items()):
        if isinstance(value, np.random.Generator | np.random.RandomState):
            made.append((names, name, Generator()))
        elif id(value) in originals and callable(value) and not isinstance(value, types.ModuleType):
            made.append((names, name, originals[id(value)]))
    before = [owner[name] if isinstance(owner, dict) else getattr(owner, name) for owner, name, _ in made]
    try:
        for owner, name, new in made:
            owner.__setitem__(name, new) if isinstance(owner, dict) else setattr(owner, name, new)
        yield
    finally:
        for (owner, name, _), old in zip(made, before, strict=True):
            owner.__setitem__(name, old) if isinstance(owner, dict) else setattr(owner, name, old)


def _labelled(function: Any) -> Any:
    def added(series: Any, other: Any) -> Any:
        if isinstance(other, Pendings) or (isinstance(other, np.ndarray) and not len(series) and not len(other)):
            now().labelled(tuple(series.index))
        return function(series, other)

    return added


def _scipy(law: str) -> Callable[..., Any]:
    return lambda loc=0.0, scale=1.0, size=None, random_state=None: _noise(law, loc, scale, size)


_SAMPLE = pd.DataFrame.sample


def _same_order(frame: Any, n: Any = None, frac: Any = None, **more: Any) -> Any:
    if frac != 1 or n is not None or more:
        return _SAMPLE(frame, n, frac, **more)
    return frame.iloc[np.argsort([hash(repr(row)) for row in frame.itertuples(index=False)], kind="stable")]


def _once(
    function: Callable[..., Any], frame: Any, run: Run, parameters: Mapping[str, Any], given: Given
) -> tuple[str, Any]:
    _NOW[:] = [run]
    before = frame.copy()
    with _patched(function), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            more = {name: make() for name, make in given.items()}
            with watching(run.lines, run.rng) as run.seen:
                found = function(frame, **parameters, **more)
            out = ("returns", _plain(found))
        except (DiffersError, PassedOverError):
            raise
        except Exception as error:
            out = ("raises", type(error).__name__)
    if not before.equals(frame) or list(before.columns) != list(frame.columns):
        raise DiffersError("it changes the data that it is given")
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, Pending | Pendings):
        return _settled(value) if isinstance(value, Pendings) else value.plain()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | types.GeneratorType | zip | map):
        return [_plain(each) for each in value]
    return value


def alike(first: Any, second: Any) -> bool:
    """Whether two outputs are the same, up to the rounding of shifted draws."""
    if isinstance(first, dict):
        return (
            isinstance(second, dict)
            and list(first) == list(second)
            and all(alike(first[key], second[key]) for key in first)
        )
    if isinstance(first, list | tuple):
        return isinstance(second, list | tuple) and len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, pd.DataFrame | pd.Series):
        return (
            type(first) is type(second)
            and first.shape == second.shape
            and list(map(str, first.index)) == list(map(str, second.index))
            and alike(_settled(first.to_numpy()).tolist(), _settled(second.to_numpy()).tolist())
        )
    if isinstance(first, np.ndarray):
        return isinstance(second, np.ndarray) and alike(first.tolist(), second.tolist())
    if type(first) is not type(second):
        return False
    if isinstance(first, float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9) or (first != first and second != second)
    if hasattr(first, "__dict__") and not isinstance(first, type):
        return alike(vars(first), vars(second))
    return bool(first == second)


class Frames:
    """Makes frames of a domain, and neighbours of them."""

    def __init__(
        self,
        columns: Mapping[str, Declared],
        cuts: Mapping[str, frozenset[float]],
        rng: np.random.Generator,
        sizes: Sequence[int] = SIZES,
    ) -> None:
        self.columns, self.cuts, self.rng, self.sizes = columns, cuts, rng, sizes

    def frame(self, size: int) -> Any:
        """Return a frame of so many records, in which edge values are frequent."""
        return pd.DataFrame({name: self._column(each, size) for name, each in self.columns.items()})

    def _column(self, column: Declared, size: int) -> Any:
        rng = self.rng
        dtype = {"int64": "int64", "float64": "float64", "text": "str", "truth": "bool", "time": "datetime64[us]"}[
            column.kind
        ]
        values: list[Any]
        if column.values is None:
            marks = [column.low, column.high, (column.low + column.high) / 2]
            for each in self.cuts.get(column.name, ()):
                marks += [math.nextafter(each, -math.inf), each, math.nextafter(each, math.inf)]
            marks += [each for each in (0.0, 1.0, 30.0) if column.low <= each <= column.high]
            values = [
                marks[rng.integers(len(marks))] if rng.random() < 0.7 else rng.uniform(column.low, column.high)
                for _ in range(size)
            ]
            if column.kind == "int64":
                values = [min(max(round(each), math.ceil(column.low)), math.floor(column.high)) for each in values]
        else:
            listed = column.values
            values = [
                listed[rng.integers(len(listed))] if rng.random() < 0.7 else listed[(0, -1)[rng.integers(2)]]
                for _ in range(size)
            ]
        if column.missing:
            values = [None if rng.random() < 0.2 else each for each in values]
        return pd.Series(values, dtype=dtype)

    def pair(self, number: int, person: str | None, replaced: bool) -> tuple[Any, Any, list[int], list[int]]:
        """Return two neighbours, and the places of the rows in which each differs from the other."""
        rng, size = self.rng, self.sizes[number % len(self.sizes)]
        small = self.frame(size)
        if person is None and size and number % 3 == 1:
            small = pd.concat([small.iloc[:1]] * size, ignore_index=True)
        rows = int(rng.integers(1, 9)) if person else 1
        more, other = self.frame(rows), self.frame(rows)
        if person:
            names = self._persons(person)
            small[person] = pd.Series(
                [names[1 + k // 3 % max(1, len(names) - 1)] for k in range(size)], dtype=small[person].dtype
            )
            more[person] = other[person] = pd.Series([names[0]] * rows, dtype=small[person].dtype)
        at = int(rng.integers(0, size + 1)) if number % 2 else size
        where = list(range(at, at + rows))

        def with_rows(added: Any) -> Any:
            if not size:
                return added
            return pd.concat([small.iloc[:at], added, small.iloc[at:]], ignore_index=True).astype(
                small.dtypes.to_dict()
            )

        if replaced:
            return with_rows(more), with_rows(other), where, where
        big = with_rows(more)
        return (small, big, [], where) if number % 4 < 2 else (big, small, where, [])

    def _persons(self, person: str) -> list[Any]:
        column = self.columns[person]
        if column.values is not None:
            return list(column.values)
        return [column.high, *(column.low + k for k in range(20))]


@dataclass(frozen=True)
class Compared:
    """What real runs showed."""

    runs: int  # how many
    disagreement: str | None  # the first thing that does not agree with what was read; None where all agrees
    pair: tuple[Any, Any]  # neighbours for which the noise has to shift most
    raised: int = 0  # how many runs raised an exception
    passed_over: int = 0  # how many runs were compared with none, as a rule allows at a δ
    spending: tuple[Any, Any] | None = None  # neighbours of such runs, of which δ alone speaks; None without any
    refuted: str | None = None  # what shows that a line does not do what is given of it; None where nothing does


def compared(function: Callable[..., Any], columns: Mapping[str, Declared], cuts: Any, **known: Any) -> Compared:
    """Hold a bound against real runs, in a process of their own; the arguments are those of `disagreement`."""
    try:
        found: Compared = in_a_process(lambda: disagreement(function, columns, cuts, **known), SECONDS)
        return found
    except (RuntimeError, TimeoutError) as error:
        frames = Frames(columns, cuts, np.random.default_rng(1))
        first, second, _, _ = frames.pair(2, known.get("person"), bool(known.get("replaced")))
        why = str(error) or f"real runs take more than {SECONDS:g} s"
        return Compared(0, f"the function could not be run on frames of the domain ({why})", (first, second))


def disagreement(
    function: Callable[..., Any],
    columns: Mapping[str, Declared],
    cuts: Mapping[str, frozenset[float]],
    *,
    limits: Limits,
    unsampled: Limits,
    parameters: Mapping[str, Any],
    given: Given | None = None,
    spends: bool = False,
    person: str | None = None,
    replaced: bool = False,
    pairs: int = PAIRS,
    seed: int = 1,
    lines: Sequence[Line] = (),
    data: Any = None,
) -> Compared:
    """Hold a bound against real runs on neighbouring frames, and what is given of lines also against data."""
    sizes, more = (*SIZES, *_sizes_of(function, parameters)), (parameters, given or {})
    frames = Frames(columns, cuts, np.random.default_rng(seed), sizes)
    pairs += MORE * (len(sizes) - len(SIZES))
    worst, most, raised, why, over, draws = None, -1.0, 0, None, 0, 0
    spending: tuple[Any, Any] | None = None
    against: str | None = None
    number = 0
    while number < pairs and (draws < MOST_DRAWS or number < len(SIZES)):
        first, second, of_first, of_second = frames.pair(number, person, replaced)
        worst = worst or (first, second)
        one = Run(number, new=of_first, size=len(first), lines=lines)
        two = Run(number, new=of_second, size=len(second), before=one, lines=lines)
        number += 1
        try:
            before = _once(function, first, one, *more)
            after = _once(function, second, two, *more)
            raised += (before[0] == "raises") + (after[0] == "raises")
            told = _differs(before, after, one, two, unsampled if two.is_sampled else limits)
        except DiffersError as error:
            told = str(error)
        except PassedOverError as error:
            over += 2
            spending = spending or (first, second)
            told = None if spends else str(error)
        draws += one.draws + two.draws
        if lines and against is None and (shown := refuted(one.seen, two.seen) or _again(function, first, one, more)):
            worst, most = (first, second), math.inf
            against = f"{shown}, on {_told(first)} and {_told(second)}"
        far = math.inf if told else two.cost + math.sqrt(two.squares)
        records, best = len(first) + len(second), sum(map(len, worst)) or math.inf
        is_more = far > most * (1 + _SLACK) or (far >= most * (1 - _SLACK) and records < best)
        if is_more and records:  # of pairs that lose as much, the smaller one hides less of it
            worst, most = (first, second), max(far, most)
        if told and why is None:
            why = f"pair {number} of {pairs} ({len(first)} and {len(second)} records): {told}"
    assert worst is not None
    if lines and data is not None and against is None:
        against = _refuted_on(function, data, lines, more, replaced=replaced, person=person)
    return Compared(2 * number - over, why, worst, raised, over, spending, against)


def _again(function: Any, frame: Any, run: Run, more: tuple[Any, Any]) -> str | None:
    """Say whether a line assigns something else from the same data, with the same draws."""
    again = Run(run.seed, new=run.new, size=run.size, lines=run.lines)
    with contextlib.suppress(DiffersError, PassedOverError):
        _once(function, frame, again, *more)
    return differs(run.seen, again.seen)


def _refuted_on(
    function: Any, data: Any, lines: Sequence[Line], more: tuple[Any, Any], *, replaced: bool, person: str | None
) -> str | None:
    """Hold what is given of lines against neighbours of the data: without some rows, or with others in their place.

    Rows are those that hold the least or the most of a column, and the first and last; no value of them is told.
    """
    numbers = data.select_dtypes("number")
    listed = [0, len(data) - 1, *(int(end) for name in numbers for end in _ends_of(numbers[name]))] if len(data) else []
    for place in list(dict.fromkeys(listed))[:_MOST_ROWS]:
        gone = [place] if person is None else np.flatnonzero(data[person] == data[person].iloc[place]).tolist()
        other = data.drop(index=data.index[gone]).reset_index(drop=True)
        if replaced and person is None:
            other = data.iloc[[*(k if k != place else len(data) - 1 - place for k in range(len(data)))]]
            other = other.reset_index(drop=True)
        one = Run(place, new=gone, size=len(data), lines=lines)
        two = Run(place, new=gone if len(other) == len(data) else [], size=len(other), before=one, lines=lines)
        with contextlib.suppress(DiffersError, PassedOverError):
            _once(function, data, one, *more)
            _once(function, other, two, *more)
        if shown := refuted(one.seen, two.seen):
            what = "and" if replaced else "and without"
            return f"{shown.partition(', from ')[0]}, on the data {what} {'another' if replaced else 'a'} row"
    return None


def _told(frame: Any) -> str:
    """Return a frame of the domain in words."""
    listed = frame.to_dict("records")
    return str(listed) if len(listed) <= 2 and len(str(listed)) < 120 else f"{len(frame)} records"


def _ends_of(column: Any) -> tuple[int, int]:
    values = column.fillna(column.mean()).to_numpy()
    return int(np.argmin(values)), int(np.argmax(values))


def _sizes_of(function: Callable[..., Any], parameters: Mapping[str, Any]) -> list[int]:
    """Return the numbers of records near which a function may decide something: those in it, and one less."""
    named = [*parameters.values(), *constants_of(function)]
    whole = [int(each) for each in named if isinstance(each, int | float) and each == each and each in range(_LARGEST)]
    found = dict.fromkeys(size for each in whole for size in (each, each - 1) if size > 0 and size not in SIZES)
    return list(found)[:_MOST_SIZES]


def _differs(before: Any, after: Any, one: Run, two: Run, limits: Limits) -> str | None:
    if len(one.met) > two.draws:
        return "another number of draws"
    if before[0] != after[0] or not alike(before[1], after[1]):
        return f"{str(before)[:80]} and {str(after)[:80]}, though all noisy numbers are the same"
    most, far = limits
    if two.cost > most * (1 + _SLACK) + 1e-7 or two.squares > far * (1 + _SLACK) + 1e-12:
        return (
            f"the noise has to shift by more than was read (ε {two.cost:.4g} of {most:.4g}, μ² {two.squares:.4g} of "
            f"{far:.4g})"
        )
    return None


def in_a_process(work: Callable[[], Any], seconds: float) -> Any:
    """Return what some work gives in a process that forks for it; an exception where it dies or takes too long."""
    reading, writing = os.pipe()
    child = fork()
    if child == 0:
        try:
            os.close(reading)
            os.setsid()
            try:
                data = pickle.dumps((True, work()))
            except BaseException as error:
                data = pickle.dumps((False, f"{type(error).__name__}: {error}"))
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(data)
        finally:
            os._exit(0)
    os.close(writing)

    deadline, data = time.monotonic() + seconds, b""
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([reading], [], [], left)[0]:
                os.killpg(child, signal.SIGKILL)
                raise TimeoutError
            more = os.read(reading, 1 << 20)
            if not more:
                break
            data += more
    finally:
        os.close(reading)
        os.waitpid(child, 0)
    is_fine, found = pickle.loads(data) if data else (False, "it ended without an answer")
    if not is_fine:
        raise RuntimeError(found)
    return found
