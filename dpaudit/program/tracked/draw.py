"""What may be done with noise that nobody has seen? It protects one private value, once."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.program.symbolic.value import line_of
from dpaudit.program.tracked.magnitude import ONE, Magnitude
from dpaudit.program.tracked.movement import Movement, units_of
from dpaudit.program.tracked.path import NUMBER, PATH, Release, Sample, refuse
from dpaudit.program.tracked.private import Array, Number, Private
from dpaudit.program.tracked.released import (
    ReleasedArray,
    ReleasedNumber,
    fresh,
    is_private,
    magnitude_of,
    shape_of,
    sureness,
)

if TYPE_CHECKING:
    from dpaudit.program.tracked.arrays import Numbers


class Draw(Private):
    """Noise that nobody has seen. It protects one private value, once."""

    inner = Private.inner | {"law", "scale", "shape", "details", "protect", "protect_all", "use"}

    def __init__(self, law: str, scale: Magnitude, shape: Any = (), details: Any = ()) -> None:
        self.law, self.scale, self.shape, self.details = law, scale, shape, details
        self._used, self._level = False, PATH.get().level

    def use(self) -> None:
        """Note that it is used, which it may be once, and where it was drawn."""
        if self._used:
            refuse("the same noise is used a second time; draw it anew for each private number")
        if self._level != PATH.get().level:
            refuse("noise that is drawn outside of a repeated step and used in it, every time the same; draw it inside")
        self._used = True

    def _with(self, other: Any) -> Any:
        if isinstance(other, Draw):
            refuse("a sum of two draws; only the law of each by itself is known")
        if isinstance(other, Number | Array):
            return self.protect(other)
        if is_private(other):
            return other + self
        if sureness(other) < NUMBER or not isinstance(self.shape, tuple):
            refuse("noise on what is no number, or of a size that depends on the data")
        self.use()  # randomness that everybody sees
        return fresh(np.broadcast_shapes(self.shape, shape_of(other)), NUMBER)

    __add__ = __radd__ = _with

    def __sub__(self, other: Any) -> Any:
        return refuse("noise minus a value; subtract the noise, or add it") if is_private(other) else self._with(other)

    def __rsub__(self, other: Any) -> Any:
        if self.law in ("gumbel", "exponential"):
            refuse(f"a value minus {self.law} noise, whose law is not symmetric")
        return self._with(other)

    def __mul__(self, factor: Any) -> Draw:
        given = magnitude_of(factor)
        if self.details:
            refuse("truncated noise, or coins, times a number; draw them as they shall be")
        if self.law.startswith("discrete") or given.coefficient <= 0 or not PATH.get().is_positive(given.unit):
            refuse(
                "noise times a number that may not be positive, or discrete noise that is stretched; draw at that scale"
            )
        self.use()
        return Draw(self.law, self.scale * given, self.shape, self.details)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Draw:
        given = magnitude_of(divisor)
        if given.is_zero:
            refuse("noise divided by 0")
        return self * ReleasedNumber(ONE.over(given))

    def protect(self, value: Number | Array) -> Any:
        """Release a private value with this noise."""
        self._refuse_coins()
        if isinstance(value, Array):
            if self.law != "gaussian":
                refuse(f"{self.law} noise on an array of which only the Euclidean length of the movement is known")
            if self.shape != value.shape:
                refuse(f"noise of the shape {self.shape} on an array of {value.shape}: one draw would protect several")
        elif self.shape:
            refuse(f"noise of the shape {self.shape} on one number; draw one number")
        elif self.law.startswith("discrete") and not value.whole:
            refuse(f"{self.law} noise on a number that need not be whole")
        if self.law == "gumbel":
            refuse("Gumbel noise on one number, which no bound is known for; add it to an array, and take np.argmax")
        self.use()
        self._note([value], value.sample)
        return fresh(self.shape)

    def protect_all(self, numbers: Numbers, keys: tuple[Any, ...] | None) -> Any:
        """Release an array of private numbers with as many draws."""
        self._refuse_coins()
        listed = numbers.ravel().tolist()
        if not listed:
            refuse("noise on no numbers")
        if self.shape != numbers.shape:
            refuse(f"noise of the shape {self.shape} on {numbers.shape} numbers: one draw would protect several")
        if self.law.startswith("discrete") and not all(each.whole for each in listed):
            refuse(f"{self.law} noise on numbers that need not be whole")
        if len({each.sample for each in listed}) > 1:
            refuse("numbers of several samples in one array; release each by itself")
        self.use()
        if self.law == "gumbel":
            return self._contest(listed)
        self._note(listed, listed[0].sample)
        found = fresh(self.shape)
        if isinstance(found, ReleasedArray):
            found.keys_ = keys
        return found

    def _refuse_coins(self) -> None:
        if self.law == "randomised_response":
            refuse("coins added to numbers; flip bits with them: mask ^ noise.bernoulli(p, size=len(frame))")

    def _contest(self, numbers: Any) -> Contest:
        """Add Gumbel noise to scores, of which only the place of the largest may be seen."""
        return Contest(self, tuple(each.moves for each in numbers), numbers[0].sample)

    def _note(self, values: Iterable[Any], sample: Sample | None) -> None:
        moves = tuple(each.moves for each in values)
        note(self.law, self.scale, moves, sample, self.details)


class Contest(Private):
    """Scores with Gumbel noise, of which only the place of the largest is seen: the exponential mechanism."""

    def __init__(self, draw: Draw, moves: tuple[Movement, ...], sample: Sample | None) -> None:
        self._draw, self._moves, self._sample = draw, moves, sample
        self._used, self._line, self._level = False, line_of(sys._getframe(1)), PATH.get().level
        self.shape = (len(moves),)

    def argmax(self) -> Any:
        """Return the place of the largest (exponential mechanism of rate 1/scale: McSherry & Talwar 2007)."""
        if self._used or self._level != PATH.get().level:
            refuse("a second look at the same noisy scores; only one place was chosen")
        self._used = True
        note("select", self._draw.scale, self._moves, self._sample, line=self._line)
        return fresh()

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return the place of the largest."""
        if function is np.argmax and len(args) == 1 and not kwargs:
            return self.argmax()
        return refuse(f"np.{function.__name__} of scores with Gumbel noise; only np.argmax of them may be seen")


def note(
    law: str,
    scale: Magnitude,
    moves: tuple[Movement, ...],
    sample: Sample | None,
    details: Any = (),
    line: str | None = None,
    keys: int = 1,
) -> None:
    """Note a release of the path that is being read.

    Args:
        law, scale: of the noise.
        moves: how far each value moves.
        sample: what they are made of.
        details: further numbers of the law.
        line: where it was made, by default here.
        keys: how many keys one unit of privacy has, each with a release of its own.
    """
    path = PATH.get()
    if scale.coefficient <= 0:
        refuse("a scale that is not positive; test that it is above 0 first")
    if sample is not None and path.levels[sample.number] != path.level[: len(path.levels[sample.number])]:
        refuse("a sample that is drawn anew in a repeated step, and used outside of it")
    if any(unit != scale.unit for unit in units_of(moves)):
        refuse(
            "a movement over a scale that is no constant, so that the cost has no bound; scale with the clipping bound"
        )
    line = line_of(sys._getframe(1)) if line is None else line
    path.released(Release(law, scale.coefficient, scale.unit, moves, sample, keys * path.times, line, tuple(details)))
