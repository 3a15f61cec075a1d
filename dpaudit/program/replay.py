"""What does a program release of its data, and what would it release of a neighbour's? Record one run, and replay it.

Noise here is what the program adds to a value: the value is written down, and what is released is either drawn, or
what another run released at the same place. Two runs that release the same are comparable value by value: neither can
have gone another way because of its noise.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.program.coverage.instructions import Unfollowed
from dpaudit.program.laws import LAWS
from dpaudit.program.noise import Noise, endless, shape_of_size
from dpaudit.program.symbolic.value import line_of

ADDED = ("laplace", "discrete_laplace", "gaussian", "discrete_gaussian", "truncated_laplace")
"""The kinds of noise that are added to a value."""
FLIPPED = "randomised_response"
"""What it is called when bits are flipped."""
_MOST_RELEASES = 5_000  # of one run
_MOST_STEPS = 5  # of a repeated step: a reading knows it from any state


@dataclass(frozen=True, slots=True)
class Recorded:
    """One release of a run.

    Attributes:
        law: the kind of noise, or "select".
        scale: of it; 1/rate for "select".
        values: what the noise was added to, or the scores, flat: (values,).
        released: what came out.
        line: of the program.
        keys: of the values, where they are those of a pandas object; else None.
    """

    law: str
    scale: float
    values: Floats
    released: Any
    line: str
    keys: tuple[Any, ...] | None = None

    def is_like(self, other: Recorded) -> bool:
        """Whether another run released the same kind of thing at the same place."""
        same = (self.law, self.line, self.values.shape) == (other.law, other.line, other.values.shape)
        return same and math.isclose(self.scale, other.scale, rel_tol=1e-9)


class RecordedDraw:
    """Noise that waits for the value that it is added to."""

    __array_ufunc__: Any = None
    __pandas_priority__ = 10_000

    def __init__(
        self, noise: RecordedNoise, law: str, scale: float, shape: tuple[int, ...] | None, more: tuple[float, ...] = ()
    ) -> None:
        self._noise, self._law, self._scale, self._shape, self._more = noise, law, scale, shape, more

    def __add__(self, value: Any) -> Any:
        if self._law == "gumbel":
            return RecordedContest(self._noise, self._scale, value)
        return self._noise.release(self._law, self._scale, self._shape, value, self._more)

    __radd__ = __rsub__ = __sub__ = __add__  # the law is symmetric, and what is released may be anything

    def __mul__(self, factor: Any) -> RecordedDraw:
        return RecordedDraw(self._noise, self._law, self._scale * abs(float(factor)), self._shape, self._more)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> RecordedDraw:
        return self * (1 / float(divisor))

    def __xor__(self, bits: Any) -> Any:
        return self._noise.release(self._law, self._scale, self._shape, bits, self._more)

    __rxor__ = __xor__


class RecordedContest:
    """Scores with Gumbel noise, of which only the place of the largest is seen."""

    def __init__(self, noise: RecordedNoise, scale: float, scores: Any) -> None:
        self._noise, self._scale, self._scores = noise, scale, scores
        self._line = line_of(sys._getframe(1))

    def argmax(self) -> int:
        """Choose a place at random, whatever the scores."""
        count = np.size(self._scores)
        return int(self._noise.choose(self._scale, self._scores, count, self._line))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return the place of the largest; nothing else is known of them."""
        return self.argmax() if function is np.argmax else NotImplemented


class RecordedNoise(Noise):
    """The noise of a run that is recorded.

    Args:
        rng: draws what is not replayed.
        before: what another run released, in order, to be released again.
        spread: the noise is drawn so many times wider, to see further branches; 0 for none.

    Attributes:
        made: what was released.
    """

    __slots__ = ("_before", "_drawn", "_kept", "_rng", "_samples", "_spread", "made")

    def __init__(
        self, rng: np.random.Generator, before: Sequence[Recorded] = (), *, spread: float = 1.0, kept: Any = None
    ) -> None:
        self._rng, self._before, self._spread = rng, before, spread
        self._kept: dict[Any, Any] = {} if kept is None else kept
        self._samples = self._drawn = 0
        self.made: list[Recorded] = []

    @property
    def kept(self) -> dict[Any, Any]:
        """Which records were sampled, by sample and label, and what everybody saw; for the run that replays this."""
        return self._kept

    def _sized(self, method: str, size: Any, *arguments: Any) -> Any:
        shape = None if size is None else shape_of_size(size)
        if method == "bernoulli" and shape is not None:
            chance = float(arguments[0])
            cost = abs(math.log(max(1 - chance, 1e-300) / max(chance, 1e-300)))
            return RecordedDraw(self, FLIPPED, 1 / cost if cost else math.inf, shape, (chance,))
        if method not in (*ADDED, "gumbel"):
            return super()._sized(method, size, *arguments)
        scale, *more = map(float, arguments)
        return RecordedDraw(self, method, scale, shape, tuple(more))

    def _draw(self, method: str, *arguments: Any) -> Any:
        values = tuple(map(float, arguments))
        return self._seen((method, *values), lambda: LAWS[method].sample(self._rng, 1, *values)[0].item())

    def _pick(self, weights: Sequence[float]) -> int:
        chances = np.asarray(weights) / np.sum(weights)
        return int(self._seen(("pick", *weights), lambda: self._rng.choice(len(weights), p=chances)))

    def _seen(self, asked: Any, make: Callable[[], Any]) -> Any:
        """Draw what everybody sees: the same in a run that replays this one."""
        self._drawn += 1
        return self._kept.setdefault(("seen", self._drawn, asked), make())

    def choose(self, scale: float, scores: Any, count: int, line: str | None = None, law: str = "select") -> int:
        """Choose a place by scores: at random, whatever they are."""
        return int(self._note(law, scale, scores, lambda: int(self._rng.integers(count)), line))

    def _note(
        self, law: str, scale: float, values: Any, make: Callable[[], Any], line: str | None = None, keys: Any = None
    ) -> Any:
        number = len(self.made)
        if number >= _MOST_RELEASES:
            raise endless()
        flat = np.asarray(values, dtype=np.float64).ravel()
        known = self._before[number] if number < len(self._before) else None
        released = make() if known is None or (known.keys, known.values.shape) != (keys, flat.shape) else known.released
        self.made.append(Recorded(law, scale, flat, released, line or line_of(sys._getframe(2)), keys))
        return released

    def release(
        self, law: str, scale: float, shape: tuple[int, ...] | None, value: Any, more: tuple[float, ...] = ()
    ) -> Any:
        """Release a value with noise, or bits that are flipped; ``more``: further arguments of the law."""
        with Unfollowed():
            plain = np.asarray(value, dtype=np.float64)

            def make() -> Any:
                count = 1 if shape is None else int(np.prod(shape))
                if law == FLIPPED:
                    return (plain != 0) ^ (self._rng.random(count) < more[0]).reshape(shape or ())
                drawn = self._spread * LAWS[law].sample(self._rng, count, scale, *more)
                return plain + (drawn[0] if shape is None else drawn.reshape(shape))

            keys = tuple(value.index) if hasattr(value, "index") and hasattr(value, "to_numpy") else None
            released = self._note(law, scale, plain, make, keys=keys)
            if np.shape(released) == ():
                return float(released)
            if hasattr(value, "index") and hasattr(value, "to_numpy") and np.shape(released) == np.shape(value):
                import pandas

                return pandas.Series(released, index=value.index)
            return np.array(released)

    def select(self, options: Iterable[Any], scores: Iterable[Any], rate: Any) -> Any:
        """Choose an option at random, whatever the scores: each can be chosen."""
        listed, given = list(options), [float(score) for score in scores]
        if not listed or len(given) != len(listed):
            raise ValueError(f"noise.select: {len(listed)} options, but {len(given)} scores")
        rate = float(self._scale("select", "rate", rate))
        return listed[self.choose(1 / rate, given, len(listed))]

    def propose_test_release(self, options: Iterable[Any], scores: Iterable[Any], scale: Any, threshold: Any) -> Any:
        """Choose an option, or none, at random."""
        listed, given = list(options), [float(score) for score in scores]
        if len(listed) < 2 or len(given) != len(listed):
            raise ValueError(f"noise.propose_test_release: {len(listed)} options, and {len(given)} scores; two or more")
        scale = float(self._scale("propose_test_release", "scale", scale))
        return [*listed, None][self.choose(scale, given, len(listed) + 1, law="propose_test_release")]

    def poisson(self, data: Any, rate: Any) -> Any:
        """Sample records by their labels: one that is in both runs is sampled in both, or in neither."""
        self._samples += 1
        labels = data.index.tolist() if hasattr(data, "index") and hasattr(data, "columns") else list(range(len(data)))
        for label in labels:
            if (self._samples, label) not in self._kept:
                self._kept[self._samples, label] = bool(self._rng.random() < float(rate))
        mask = np.array([self._kept[self._samples, label] for label in labels], dtype=bool)
        if hasattr(data, "columns") or isinstance(data, np.ndarray):
            return data[mask]
        return [record for record, is_kept in zip(data, mask, strict=True) if is_kept]

    def post(self, function: Callable[..., Any], *values: Any, shape: tuple[int, ...] | None = None) -> Any:
        """Hand released values to a function, which may do anything with them, unfollowed."""
        with Unfollowed():
            return super().post(function, *values, shape=shape)

    def repeat(self, times: int, step: Callable[[Any], Any], state: Any) -> Any:
        """Do a step several times, as often as one can see what it does."""
        return super().repeat(min(times, _MOST_STEPS) if type(times) is int else times, step, state)
