"""What is released of the data? Noise that was drawn, numbers that it was added to, and choices by chance."""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from dpaudit.reading.draws import Kind, Source
from dpaudit.reading.expressions.graph import NotReadError, Value, exactly
from dpaudit.reading.source import is_of_user

_TWO_SIDED = ("laplace", "gaussian")
_SELECTING = ("laplace", "gumbel", "exponential")
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


class Draw:
    """Noise that was drawn, and added to nothing yet."""

    __slots__ = ("is_used", "law", "scale", "shift", "unit")

    def __init__(self, law: str, scale: Fraction, shift: Fraction = Fraction(0), unit: Value | None = None) -> None:
        self.law, self.scale, self.shift, self.unit, self.is_used = law, scale, shift, unit, False

    def plus(self, number: Any) -> Draw:
        """Return the noise and a public number."""
        self.use()
        return Draw(self.law, self.scale, self.shift + exactly(number), self.unit)

    def times(self, factor: Any) -> Draw:
        """Return a multiple."""
        exact = exactly(factor)
        if not exact or (exact < 0 and self.law not in _TWO_SIDED):
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
            if self.draw.law not in _TWO_SIDED:
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


def selected(scores: list[Any], releases: list[Release]) -> Seen:
    """Release which of some numbers with noise is largest."""
    graph = next(each.value.graph for each in scores if isinstance(each, Noisy))
    scores = [Noisy(graph.constant(0), each) if isinstance(each, Draw) else each for each in scores]
    if not all(isinstance(each, Noisy) and each.place == -1 for each in scores):
        return refuse("the largest of numbers of which some have no noise, or were seen before")
    laws = {(each.draw.law, each.draw.scale, each.draw.unit and each.draw.unit.place) for each in scores}
    if len(laws) != 1 or next(iter(laws))[0] not in _SELECTING:
        refuse(f"the largest of numbers, unless all have one noise of these: {', '.join(_SELECTING)}")
    ((law, scale, _),) = laws
    for each in scores:
        each.place = COMPARED
    releases.append(Release(SELECTED, law, scale, tuple(each.value for each in scores), line(), scores[0].draw.unit))
    return Seen("release", len(releases) - 1)


def chosen(chances: list[Any], releases: list[Release]) -> Seen:
    """Release what was chosen by chances that hang on the data."""
    first = next(each for each in chances if isinstance(each, Value))
    values = tuple(map(first.of, chances))
    if not _are_chances(values):
        refuse("chances of which it is not seen that they add up to 1; write p = e / e.sum()")
    exponents = [_exponent(each) for each in values]
    known = tuple(each for each in exponents if each is not None)
    law, shown = (SCORES, known) if len(known) == len(values) else ("", values)
    releases.append(Release(CHOSEN, law, Fraction(1), shown, line()))
    return Seen("release", len(releases) - 1)


def _exponent(chance: Value) -> Value | None:
    """Return u where a chance is written as e^u over a sum."""
    graph = chance.graph
    kind, *of = graph.nodes[chance.place]
    top: tuple[Any, ...] = graph.nodes[of[0]] if kind == "div" else ("",)
    if top[0] == "const" and top[1] == 1:
        return graph.constant(0)
    return Value(graph, top[1]) if top[0] == "exp" else None


def _are_chances(values: tuple[Value, ...]) -> bool:
    """Whether values add up to 1, whatever the data are: as they stand, or as parts of their own sum."""
    graph = values[0].graph
    total = values[0]
    for each in values[1:]:
        total = total + each
    if graph.linear(total) == {-1: 1}:
        return True
    nodes = [graph.nodes[each.place] for each in values]
    if any(node[0] != "div" for node in nodes) or len({node[2] for node in nodes}) != 1:
        return False
    parts = Value(graph, nodes[0][1])
    for node in nodes[1:]:
        parts = parts + Value(graph, node[1])
    return graph.linear(parts) == graph.linear(Value(graph, nodes[0][2]))


def drawn(source: Source, args: tuple[Any, ...], keywords: dict[str, Any], releases: list[Release]) -> Any:
    """Return what a call of a source of randomness gives."""
    if source.name == "choice" and source.kind in (Kind.GENERATOR, Kind.LEGACY):
        return _choice(args, keywords, releases)
    bound = source.bound(args, keywords)
    if bound is None or source.law is None or source.law.name not in (*_TWO_SIDED, *_SELECTING):
        return refuse(f"{source.title}; known is the noise of laplace, normal, gumbel and exponential, and choice(p=…)")
    given, size = bound
    law = source.law
    location = given.get(law.location, 0) if law.location else 0
    if any(_is_private(each) for name, each in given.items() if name != law.location):
        refuse("noise whose scale hangs on the data: two scales of one noise have no bound; use a public one")
    assert law.scale is not None
    return noise_of(law.name, law.scale(**given), location, size)


def noise_of(law: str, scale: Any, location: Any = 0, size: Any = None) -> Any:
    """Return noise, of the shape of its scale and location, or of a size; added to its location."""
    if isinstance(scale, Draw | Noisy | Seen) or _is_private(scale) or isinstance(size, Value):
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


def _is_private(scale: Any) -> bool:
    return isinstance(scale, Value) and not scale.graph.is_public(scale)


def _choice(args: tuple[Any, ...], keywords: dict[str, Any], releases: list[Release]) -> Any:
    names = ("a", "size", "replace", "p")
    given = {**dict(zip(names, args, strict=False)), **keywords}
    if given.keys() - set(names) or len(args) > len(names) or given.get("size") is not None or "a" not in given:
        refuse("a choice other than choice(options, p=chances), of one option")
    options = given["a"]
    many = int(options) if isinstance(options, int | np.integer) else len(options)
    chances = given.get("p")
    if isinstance(options, Value) or (not isinstance(options, int) and any(isinstance(e, Value) for e in options)):
        refuse("a choice among numbers of the data; choose a place, by chances of scores")
    if chances is None or not any(isinstance(each, Value) for each in chances):
        return Seen(object())
    if len(chances) != many:
        raise ValueError("'a' and 'p' must have same size")
    return chosen(list(chances), releases)


def line() -> str:
    """Return where the function is: file and line."""
    frame: Any = sys._getframe(1)
    while frame is not None and not is_of_user(frame.f_code.co_filename):
        frame = frame.f_back
    return "?" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def refuse(what: str) -> NoReturn:
    """Say that something is not read, with its line."""
    raise NotReadError(f"{line()}: {what}")
