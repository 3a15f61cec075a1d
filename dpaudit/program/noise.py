"""How does a program draw its noise? The interface that every reading offers, and the readings of one run.

`Noise` has the drawing methods, with their checks; their laws are in `dpaudit.program.laws`. A reading only defines how
one draw is made (`_draw`) and how one of several options is picked (`_pick`). The kinds of noise that are added to
answers draw an array where ``size`` is given.
A drawn value behaves like the number that it stands for: arithmetic, comparisons, ``min``, ``max``, ``sorted``,
``abs``, ``sum`` and ``round`` work; conversions (``float``, ``str``, ``hash``, …) raise where a reading cannot do them.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpaudit.program.laws import LAWS, Support, pick

MOST_DRAWS = 100_000  # of one run; a program that draws more is taken to be in an endless loop
WIDEST = 1e12  # the largest scale of integer noise: values stay far below 2^53, where floats hold every integer


class EndlessLoopError(Exception):
    """Raised in a run that drew noise `MOST_DRAWS` times; an output like any other exception."""


def endless() -> EndlessLoopError:
    """Return the exception of a run that draws without end."""
    return EndlessLoopError(f"a run drew noise more than {MOST_DRAWS:,} times")


# --- The interface of a program ---

_ORDER = "to flip coins in a random order, as permute-and-flip does, has the law of noise.argmax([score + "
_ORDER += (
    "noise.exponential(2 / epsilon) for score in scores])"  # Ding et al. (2021), for scores that move by at most 1
)
INSTEAD = {
    **dict.fromkeys(("permutation", "permuted", "shuffle"), _ORDER),
    **dict.fromkeys(("normal", "standard_normal", "gauss", "normalvariate"), "noise.gaussian(sigma) is normal noise"),
    **dict.fromkeys(("random", "rand"), "noise.uniform() is a number from 0 to 1"),
    **dict.fromkeys(("integers", "randint", "randrange"), "noise.choice(range(n)) is a whole number below n"),
    **dict.fromkeys(("max", "min", "argmin"), "noise.argmax(values) is the place of the largest"),
    "geometric": "noise.discrete_laplace(scale) is two-sided geometric noise",
}
"""What a program may write in place of a name that `Noise` does not have."""


class Noise(ABC):
    """The source of a program's randomness; every call draws independently.

    Scales are positive finite numbers, those of integer noise at most `WIDEST`. Other numbers raise ValueError, and
    values that are no numbers raise TypeError, in every reading.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = f"it draws {', '.join(law.name for law in LAWS.values() if law.sample)}"
        raise AttributeError(f"noise has no {name!r}: {INSTEAD.get(name, known)}")

    @abstractmethod
    def _draw(self, method: str, *arguments: Any) -> Any:
        """Draw once by the named method."""

    @abstractmethod
    def _pick(self, weights: Sequence[float]) -> int:
        """Draw an index with probability proportional to its weight, as a plain int."""

    def _argument(self, method: str, what: str, value: Any) -> Any:
        """Return an argument as this reading computes with it, before it is checked."""
        return value

    def _scale(self, method: str, name: str, value: Any, most: float = math.inf) -> Any:
        value = self._argument(method, "a scale", value)
        _refuse_no_number(method, name, value)
        if not 0 < value < math.inf:
            raise ValueError(f"noise.{method}: {name} must be positive and finite, not {value!r}")
        if value > most:
            raise ValueError(f"noise.{method}: {name} must be at most {most:g}, not {value!r}")
        return value

    def _sized(self, method: str, size: Any, *arguments: Any) -> Any:
        return self._draw(method, *arguments) if size is None else self._draw_many(method, size, *arguments)

    def _draw_many(self, method: str, size: Any, *arguments: Any) -> Any:
        """Draw an array of the given shape, each entry by itself."""
        shape = shape_of_size(size)
        draws = np.empty(math.prod(shape), dtype=object)
        for place in range(len(draws)):
            draws[place] = self._draw(method, *arguments)
        return self._as_array(draws).reshape(shape)

    def _as_array(self, draws: Any) -> Any:
        """Return an array of draws as this reading computes with it."""
        return draws

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value (the first among equals), as one branch."""
        values = list(values)
        if not values:
            raise ValueError("noise.argmax: there must be at least one value")
        best = 0
        for index, value in enumerate(values):
            if value > values[best]:
                best = index
        return best

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse copies: two copies would draw the same noise."""
        raise TypeError("noise cannot be copied or pickled: hand on the one that the program was given")

    def laplace(self, scale: Any, size: Any = None) -> Any:
        """Laplace noise: density exp(−|x|/scale)/(2·scale), variance 2·scale²."""
        return self._sized("laplace", size, self._scale("laplace", "scale", scale))

    def exponential(self, scale: Any, size: Any = None) -> Any:
        """Exponential noise on [0, ∞): density exp(−x/scale)/scale."""
        return self._sized("exponential", size, self._scale("exponential", "scale", scale))

    def gaussian(self, sigma: Any, size: Any = None) -> Any:
        """Gaussian noise of standard deviation ``sigma``."""
        return self._sized("gaussian", size, self._scale("gaussian", "sigma", sigma))

    def gumbel(self, scale: Any, size: Any = None) -> Any:
        """Gumbel noise: distribution function exp(−exp(−x/scale))."""
        return self._sized("gumbel", size, self._scale("gumbel", "scale", scale))

    def discrete_laplace(self, scale: Any, size: Any = None) -> Any:
        """Integer noise with P(x) ∝ exp(−|x|/scale): the two-sided geometric distribution."""
        return self._sized("discrete_laplace", size, self._scale("discrete_laplace", "scale", scale, WIDEST))

    def discrete_gaussian(self, sigma: Any, size: Any = None) -> Any:
        """Integer noise with P(x) ∝ exp(−x²/(2·sigma²)) (Canonne, Kamath & Steinke 2020, Definition 1)."""
        return self._sized("discrete_gaussian", size, self._scale("discrete_gaussian", "sigma", sigma, WIDEST))

    def truncated_laplace(self, scale: Any, bound: Any, size: Any = None) -> Any:
        """Laplace noise that is redrawn until it is at most bound, up or down (Geng, Ding, Guo & Kumar 2020)."""
        scale = self._scale("truncated_laplace", "scale", scale)
        return self._sized("truncated_laplace", size, scale, self._scale("truncated_laplace", "bound", bound))

    def bernoulli(self, probability: Any, size: Any = None) -> Any:
        """True with the given probability."""
        probability = self._argument("bernoulli", "a probability", probability)
        _refuse_no_number("bernoulli", "the probability", probability)
        if not 0 <= probability <= 1:
            raise ValueError(f"noise.bernoulli: the probability must lie in [0, 1], not {probability!r}")
        return self._sized("bernoulli", size, probability)

    def uniform(self, low: Any = 0.0, high: Any = 1.0) -> Any:
        """A real number, uniform on [low, high)."""
        low, high = (self._argument("uniform", "a bound", bound) for bound in (low, high))
        _refuse_no_number("uniform", "low", low)
        _refuse_no_number("uniform", "high", high)
        if not 0 < high - low < math.inf:
            raise ValueError(f"noise.uniform: need finite low < high, not {low!r} and {high!r}")
        return self._draw("uniform", low, high)

    def choice(self, options: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
        """One of the options, uniformly or with probability proportional to its weight (≥ 0)."""
        options = list(options)
        if not options:
            raise ValueError("noise.choice: there must be at least one option")
        weights = [1.0] * len(options) if weights is None else [float(weight) for weight in weights]
        if len(weights) != len(options):
            raise ValueError(f"noise.choice: {len(options)} options, but {len(weights)} weights")
        if not all(0 <= weight < math.inf for weight in weights) or not 0 < sum(weights) < math.inf:
            raise ValueError("noise.choice: weights must be finite, not negative, and not all zero")
        return self._choose(options, weights)

    def _choose(self, options: list[Any], weights: list[float]) -> Any:
        return options[self._pick(weights)]

    def select(self, options: Iterable[Any], scores: Iterable[Any], rate: Any) -> Any:
        """One of the options with probability proportional to exp(rate·score): the exponential mechanism."""
        listed, given = list(options), [float(score) for score in scores]
        if not listed or len(given) != len(listed):
            raise ValueError(f"noise.select: {len(listed)} options, but {len(given)} scores")
        if not all(map(math.isfinite, given)):
            raise ValueError("noise.select: scores must be finite")
        rate = float(self._scale("select", "rate", rate))
        weights = [math.exp(max(rate * (score - max(given)), -700.0)) for score in given]
        return listed[self._selected(weights, given, rate)]

    def _selected(self, weights: list[float], scores: list[float], rate: float) -> int:
        return self._pick(weights)

    def propose_test_release(self, options: Iterable[Any], scores: Iterable[Any], scale: Any, threshold: Any) -> Any:
        """The option of the largest score, if its lead over the second with Laplace noise is above a threshold.

        Else None (Dwork & Lei 2009; for the largest of several counts: Vadhan 2017, Section 3.2).
        """
        listed, given = list(options), [float(score) for score in scores]
        if len(listed) < 2 or len(given) != len(listed):
            raise ValueError(f"noise.propose_test_release: {len(listed)} options, and {len(given)} scores; two or more")
        first = given.index(max(given))
        lead = given[first] - max(given[:first] + given[first + 1 :])
        return listed[first] if lead + self.laplace(scale) > threshold else None

    def poisson(self, data: Any, rate: Any) -> Any:
        """Each record of a frame, an array or a list with the given probability, by itself."""
        kept = [bool(self.bernoulli(rate)) for _ in range(len(data))]
        if hasattr(data, "columns") or isinstance(data, np.ndarray):
            return data[np.array(kept, dtype=bool)]
        return [record for record, is_kept in zip(data, kept, strict=True) if is_kept]

    def post(self, function: Callable[..., Any], *values: Any, shape: tuple[int, ...] | None = None) -> Any:
        """What a function gives of values that were released already: plain values, in every reading."""
        return numbers_of(function(*copy.deepcopy(values)), shape)

    def repeat(self, times: int, step: Callable[[Any], Any], state: Any) -> Any:
        """Return the state after a step was done so often, each from the state that the one before returned."""
        if isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise ValueError(f"noise.repeat: times is a whole number from 0 on, not {times!r}")
        for _ in range(times):
            state = step(state)
        return state


def numbers_of(value: Any, shape: tuple[int, ...] | None) -> Any:
    """Return what a function gave as the numbers that were asked for: a float, or an array of floats."""
    if shape is None:
        return value
    numbers = np.array(value, dtype=np.float64)
    if numbers.shape != shape_of_size(shape):
        raise ValueError(f"noise.post: numbers of the shape {numbers.shape}, where {shape} was said")
    return numbers if numbers.shape else float(numbers)


def shape_of_size(size: Any) -> tuple[int, ...]:
    """Return the shape that ``size=`` asks for: a whole number, or a tuple of them."""
    shape = size if isinstance(size, tuple) else (size,)
    for length in shape:
        if isinstance(length, bool) or not isinstance(length, int | np.integer) or not 0 <= length <= MOST_DRAWS:
            raise ValueError(f"size is a whole number from 0 to {MOST_DRAWS:,}, or a tuple of them, not {size!r}")
    return tuple(map(int, shape))


def _refuse_no_number(method: str, name: str, value: Any) -> None:
    if not isinstance(value, int | float) and (not hasattr(value, "__float__") or getattr(value, "ndim", None)):
        raise TypeError(f"noise.{method}: {name} must be a number, not {type(value).__name__}")


# --- What does a program do in one run? The scalar reading: slow and obvious, to check every other reading against ---

Asked = tuple[Any, ...]
"""A request: the kind of noise ("pick" for one of several options), and its arguments."""
Tape = list[tuple[Asked, Any]]
"""The draws of one run, in order: each request with the value drawn."""


def alike(one: Asked, other: Asked) -> bool:
    """Whether two requests ask for the same law, up to rounding of computed arguments."""
    if one == other:
        return True
    return len(one) == len(other) and one[0] == other[0] and all(map(_close, one[1:], other[1:]))


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300)


class ScalarNoise(Noise):
    """Noise for one run, or for several runs in sequence, from a seeded generator.

    ``before`` holds draws that were made earlier (by a batch that this run was part of): they are returned first, in
    order, and then the generator continues.

    Attributes:
        drawn: how many draws were requested.
        tape: the draws that were returned.
        diverged: whether a request differed from the one in ``before``; from there on ``before`` is not used.
    """

    __slots__ = ("_before", "_rng", "diverged", "drawn", "tape")

    def __init__(self, rng: np.random.Generator, before: Sequence[tuple[Asked, Any]] = ()) -> None:
        self._rng = rng
        self._before = before
        self.drawn = 0
        self.tape: Tape = []
        self.diverged = False

    def _next(self, asked: Asked, make: Callable[[], Any]) -> Any:
        position = self.drawn
        self.drawn += 1
        if position >= MOST_DRAWS:
            raise endless()
        if position < len(self._before) and not self.diverged:
            known, value = self._before[position]
            self.diverged = not alike(known, asked)
        if position >= len(self._before) or self.diverged:
            value = make()
        self.tape.append((asked, value))
        return value

    def _draw(self, method: str, *arguments: Any) -> Any:
        asked = (method, *map(float, arguments))
        return self._next(asked, lambda: LAWS[method].draw(self._rng, 1, *asked[1:])[0].item())

    def _as_array(self, draws: Any) -> Any:
        return np.array(draws.tolist())

    def _pick(self, weights: Sequence[float]) -> int:
        return int(self._next(("pick", *weights), lambda: int(pick(self._rng, 1, weights)[0])))


# --- What does a program return without noise? Every draw at its most likely value ---
#
# This is what people call the exact answer of a release, with whatever the program does to its data before the noise
# (clipping, rounding). It is run once, beside the audit, and decides nothing.


class UncentredError(Exception):
    """Raised where a draw has no most likely value: a uniform number, a fair coin, a tie."""


class Choice(int):
    """The index of an option that was chosen: a name, and no amount."""


class SilentNoise(Noise):
    """Noise that is not there: additive noise is 0, and the likeliest of several options is picked."""

    __slots__ = ("_drawn",)

    def __init__(self) -> None:
        self._drawn = 0

    def _draw(self, method: str, *arguments: Any) -> Any:
        self._count()
        law = LAWS[method]
        if law.outcomes is not None:
            outcomes = law.outcomes(*map(float, arguments))
            values = list(outcomes)
            return values[_likeliest([outcomes[value] for value in values])]
        if law.location_and_scale is not None:  # uniform
            raise UncentredError(method)
        return 0 if law.support is Support.INTEGERS else 0.0

    def _as_array(self, draws: Any) -> Any:
        return np.array(draws.tolist())

    def _pick(self, weights: Sequence[float]) -> int:
        self._count()
        return Choice(_likeliest(weights))

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value, as a choice."""
        return Choice(super().argmax(values))

    def _count(self) -> None:
        self._drawn += 1
        if self._drawn > MOST_DRAWS:
            raise endless()


def _likeliest(weights: Sequence[float]) -> int:
    most = max(weights)
    if sum(weight == most for weight in weights) > 1:
        raise UncentredError("a tie")
    return list(weights).index(most)
