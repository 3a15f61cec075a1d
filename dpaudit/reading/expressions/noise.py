"""What is released of the data? Noise that was drawn, numbers that it was added to, and choices by chance."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from dpaudit.reading.expressions.graph import NotReadError, Value, exactly
from dpaudit.reading.source import is_of_user

TWO_SIDED = ("laplace", "gaussian")
ADDED, SELECTED, CHOSEN = "added", "selected", "chosen"
SCORES = "exponentials"


@dataclass(frozen=True, slots=True)
class Release:
    """What is seen of the data at one place."""

    how: str  # ADDED: a number with noise; SELECTED: which number with noise is largest; CHOSEN: by chances
    law: str  # of the noise; SCORES for chances that are exponentials of them, "" for other chances
    scale: Fraction  # of the noise; 1 for chances
    values: tuple[Value, ...]  # the number, the scores, or the chances
    line: str
    unit: Value | None = None  # public, and of how many numbers there are: the scale is so many of these

    def moving(self) -> tuple[Value, ...]:
        """Return the expressions whose movement it costs.

        Scores with noise cost by their differences, and so do the exponents of chances e^u/Σ e^v; other chances cost
        by their logarithms.
        """
        if self.how == ADDED:
            return tuple(map(self._in_units, self.values))
        if not self.law:
            return tuple(each.called("log") for each in self.values)
        difference = self.values[0].graph.difference
        return tuple(self._in_units(difference(*both)) for both in itertools.combinations(self.values, 2))

    def _in_units(self, value: Value) -> Value:
        return value if self.unit is None else value.graph.over(value, self.unit)

    def telling(self) -> tuple[Value, ...]:
        """Return expressions whose movement is about what is lost: of scores, the logarithms of softmax chances."""
        if self.how == ADDED or not self.law:
            return self.moving()
        graph = self.values[0].graph
        scores = [each * (1 / self.scale) for each in self.values]
        found = []
        for one in scores:
            odds = graph.constant(1)
            for other in scores:
                if other is not one:
                    odds = odds + graph.difference(other, one).called("exp")
            found.append(odds.called("log") * self.scale)
        return tuple(found)

    @property
    def form(self) -> tuple[Any, ...]:
        """What of it is the same, whichever way the data take."""
        return self.how, self.law, self.scale, self.unit and self.unit.place, len(self.values)


class Seen:
    """A value that anybody may see: an output with noise, or what was made of it.

    Its form says how it was made, so that two ways that the data decide make the same of what they release.
    """

    def __init__(self, *form: Any) -> None:
        self.form = form

    def __eq__(self, other: object) -> bool:
        self._no()

    def _no(self, *_: Any) -> NoReturn:
        raise NotReadError("a branch on an output with noise; return it, and decide outside of the function")

    __bool__ = __len__ = __iter__ = __index__ = __hash__ = _no


class Shown(list[Any]):
    """What a function returns in a container: its parts, and of which kind it is, with its keys or its shape."""

    def __init__(self, kind: Any, parts: Iterable[Any]) -> None:
        super().__init__(parts)
        self.kind = kind


class Draw:
    """Noise that was drawn, and added to nothing yet."""

    __slots__ = ("is_used", "law", "scale", "shift", "step", "unit")

    def __init__(self, law: str, scale: Fraction, shift: Fraction = Fraction(0), unit: Value | None = None) -> None:
        self.law, self.scale, self.shift, self.unit, self.is_used = law, scale, shift, unit, False
        self.step = 0  # the item of a random order for which it was drawn

    def plus(self, number: Any) -> Draw:
        """Return the noise and a public number."""
        self.use()
        return Draw(self.law, self.scale, self.shift + exactly(number), self.unit)

    def times(self, factor: Any) -> Draw:
        """Return a multiple."""
        exact = exactly(factor)
        if not exact or (exact < 0 and self.law not in TWO_SIDED):
            refuse(f"{self.law} noise times {factor!r:.40}")
        self.use()
        return Draw(self.law, self.scale * abs(exact), self.shift * exact, self.unit)

    def use(self) -> None:
        """Use the draw, which must not have been used."""
        if self.is_used:
            refuse("one draw of noise that is used twice; draw it for each number: size=len(x)")
        self.is_used = True


class Noisy:
    """A number of the data with noise: released when it is seen, or only compared with others."""

    __slots__ = ("draw", "line", "place", "value")

    def __init__(self, value: Value, draw: Draw) -> None:
        draw.use()
        self.value, self.draw, self.line, self.place = value + draw.shift, draw, line(), -1

    def seen(self, releases: list[Release]) -> Seen:
        """Release the number; what was released before may be seen again."""
        if self.place == COMPARED:
            raise NotReadError(f"{self.line}: a number with noise that is seen after it was compared with others")
        if self.place < 0:
            if self.draw.law not in TWO_SIDED:
                raise NotReadError(
                    f"{self.line}: a number with {self.draw.law} noise alone, by which some outputs are impossible or "
                    "too likely"
                )
            self.place = len(releases)
            draw = self.draw
            releases.append(Release(ADDED, draw.law, draw.scale, (self.value,), self.line, draw.unit))
        return Seen("release", self.place)


COMPARED = -2
"""The place of a number with noise of which was seen whether it is the largest."""


def noise_of(law: str, scale: Any, location: Any = 0, size: Any = None) -> Any:
    """Return noise, of the shape of its scale and location, or of a size; added to its location."""
    if isinstance(scale, Draw | Noisy | Seen) or is_private(scale) or isinstance(size, Value):
        refuse("noise whose scale or size hangs on the data: two scales of one noise have no bound; use a public one")
    shape = np.broadcast_shapes(np.shape(scale), np.shape(location)) if size is None else size
    shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    found = np.empty(shape, dtype=object)
    scales, locations = np.broadcast_to(scale, shape), np.broadcast_to(np.asarray(location, dtype=object), shape)
    unit = scale if isinstance(scale, Value) else None
    if unit is not None and not unit.graph.settled(unit.above(0)):
        refuse("noise of a scale that is not above 0 for every number of numbers")
    for place in np.ndindex(shape):
        exact, where = Fraction(1) if unit is not None else exactly(scales[place]), locations[place]
        if exact <= 0:
            refuse(f"noise of the scale {scales[place]!r:.40}")
        draw = Draw(law, exact, unit=unit)
        found[place] = Noisy(where, draw) if isinstance(where, Value) else draw
    return found[()] if not shape else found


def is_private(scale: Any) -> bool:
    """Whether a number hangs on numbers of the data."""
    return isinstance(scale, Value) and not scale.graph.is_public(scale)


def line() -> str:
    """Return where the function is: file and line."""
    frame: Any = sys._getframe(1)
    while frame is not None and not is_of_user(frame.f_code.co_filename):
        frame = frame.f_back
    return "?" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def refuse(what: str) -> NoReturn:
    """Say that something is not read, with its line."""
    raise NotReadError(f"{line()}: {what}")
