"""What is a draw in the second net? A pending number, which what it is added to makes a plain one.

In a run on a neighbour it is shifted so that the noisy number comes out as in the run before; the cost is added up.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.program.laws import LAWS
from dpaudit.program.noise import Noise, shape_of_size
from dpaudit.reading.universe.assumed import SeenLines, WatchedLine

__all__ = ["PendingNoise"]

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
INTEGERS = ("discrete", *WHOLE)


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
        is_whole = self.is_rounded or draw.law in INTEGERS
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
        if draw.law in INTEGERS and abs(apart - round(apart)) > _SLACK * max(1.0, abs(needed)):
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


def noise_of(law: str, location: Any, scale: Any, size: Any) -> Any:
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
    return lambda loc=0.0, scale=1.0, size=None: noise_of(law, loc, scale, size)


SOURCES: dict[str, Any] = {
    "laplace": _located("laplace"), "normal": _located("gaussian"), "gumbel": _located("gumbel"),
    "exponential": lambda scale=1.0, size=None: noise_of("exponential", 0.0, scale, size),
    "geometric": lambda p, size=None: noise_of("geometric", 0.0, p, size),
    "standard_normal": lambda size=None: noise_of("gaussian", 0.0, 1.0, size),
    "standard_exponential": lambda size=None: noise_of("exponential", 0.0, 1.0, size),
    "random": uniform, "random_sample": uniform, "choice": choice,
    "uniform": lambda low=0.0, high=1.0, size=None: low + (high - low) * uniform(size),
}  # fmt: skip


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
