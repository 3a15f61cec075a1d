"""What is a number made of, and what is released of it? Expressions in which equal parts are one node, and noise.

A node is a word and what it is made of: ``("const", Fraction)``, ``("var", k)``, ``("add", i, j)`` of earlier nodes,
``("pow", i, exponent)``, ``("mod", i, modulus)``, ``("step", i)`` for 1 where i is above 0 and else 0. A certificate
has them as they stand here.
"""

from __future__ import annotations

import itertools
import math
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from dpaudit.checker.moves import settled
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.source import is_of_user

# --- What is a number made of? ---------------------------------------------------------------------------

MOST_NODES = 20_000  # as in dpaudit.checker.movement
_MOST_DIGITS = 50  # of a constant
_MOST_POWER = 64
_TWO_SIDES = ("add", "sub", "mul", "div", "max", "min")
_KEPT_WHOLE = ("add", "sub", "mul", "max", "min", "pow", "abs", "mod")
_HALF = Fraction(1, 2)
OPERANDS = {"const": 0, "var": 0, "count": 0, "place": 0, **dict.fromkeys(_TWO_SIDES, 2)}
"""Of how many earlier nodes a node is made: of one, where it is not said."""
REDUCTIONS = ("total", "largest", "smallest", "product", "quantile", "steps")
"""What any number of numbers come to (`dpaudit.checker.moves`)."""


class NotReadError(UnreadableError):
    """An operation that expressions do not have; the message says what to write instead."""


class Graph:
    """The nodes of the expressions of one reading."""

    def __init__(self, most: int = MOST_NODES, ways: float = math.inf) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.most, self.ways = most, ways  # how many nodes it may have, and calls that may still be read on both ways
        self._places: dict[tuple[Any, ...], int] = {}
        self._whole: list[bool] = []
        self._truths: set[int] = set()
        self._single: list[bool] = []
        self._public: list[bool] = []

    def copy(self) -> Graph:
        """Return a graph with the same nodes, to which ten times as many may be added."""
        graph = Graph(10 * self.most)
        graph.nodes, graph._places = self.nodes.copy(), self._places.copy()
        graph._whole, graph._truths = self._whole.copy(), self._truths.copy()
        graph._single, graph._public = self._single.copy(), self._public.copy()
        return graph

    def node(self, kind: str, *of: Any) -> Value:
        """Return the value of an operation, made once."""
        key = (kind, *of)
        place = self._places.get(key)
        if place is None:
            if len(self.nodes) == self.most:
                raise NotReadError(f"it takes more than {self.most:,} operations; give a smaller length")
            place = self._places[key] = len(self.nodes)
            self.nodes.append(key)
            self._whole.append(self._is_whole(kind, of))
            inner = of[: OPERANDS.get(kind, 1)]
            self._single.append(
                kind in ("var", "place") or (kind not in REDUCTIONS and any(self._single[i] for i in inner))
            )
            self._public.append(
                kind in ("const", "count")
                or (kind not in ("var", "place", *REDUCTIONS) and all(self._public[i] for i in inner))
            )
        return Value(self, place)

    def constant(self, value: Any) -> Value:
        """Return a public number; a float counts as its decimal notation."""
        if isinstance(value, bool | np.bool_):
            constant = self.node("const", Fraction(int(value)))
            self._truths.add(constant.place)
            return constant
        exact = value if isinstance(value, Fraction) else exactly(value)
        return self.node("const", exact)

    def _is_whole(self, kind: str, of: tuple[Any, ...]) -> bool:
        if kind == "const":
            return bool(of[0].denominator == 1)
        inner = of[:2] if kind in _TWO_SIDES else of[:1]
        return kind == "step" or (kind in _KEPT_WHOLE and all(self._whole[place] for place in inner))

    def is_whole(self, value: Value) -> bool:
        """Whether it is a whole number, whatever the data are."""
        return self._whole[value.place]

    def is_truth(self, value: Value) -> bool:
        """Whether it is True or False in the program."""
        return value.place in self._truths

    def is_single(self, value: Value) -> bool:
        """Whether it is of a single number of the data, or of each of them."""
        return self._single[value.place]

    def is_public(self, value: Value) -> bool:
        """Whether it hangs on no number of the data, but on how many there are."""
        return self._public[value.place]

    def settled(self, condition: Value) -> bool | None:
        """Return whether a public condition holds however many numbers there are; None where that decides it."""
        nodes = [[kind, str(of[0])] if kind == "const" else [kind, *of] for kind, *of in self.nodes]
        return settled(nodes, condition.place)

    def over(self, value: Value, unit: Value) -> Value:
        """Return value/unit for a public unit; of what both are divided by, nothing is left."""
        (first, *parts), (second, *others) = self.nodes[value.place], self.nodes[unit.place]
        if second != "div":
            return value / unit
        if first == "div" and parts[1] == others[1]:
            return Value(self, parts[0]) / Value(self, others[0])
        return value * Value(self, others[1]) / Value(self, others[0])

    def truth(self, value: Value) -> Value:
        """Say that a value is True or False in the program."""
        self._truths.add(value.place)
        return value

    def linear(self, value: Value) -> dict[int, Fraction]:
        """Return it as multiples of nodes; −1 stands for 1."""
        kind, *of = self.nodes[value.place]
        if kind == "const":
            return {-1: of[0]} if of[0] else {}
        if kind in ("add", "sub") and not self.is_truth(value):  # a condition stays whole
            multiples = self.linear(Value(self, of[0]))
            for place, many in self.linear(Value(self, of[1])).items():
                multiples[place] = multiples.get(place, Fraction(0)) + (many if kind == "add" else -many)
            return {place: many for place, many in multiples.items() if many}
        if kind == "mul" and self.nodes[of[0]][0] == "const":
            return {place: many * self.nodes[of[0]][1] for place, many in self.linear(Value(self, of[1])).items()}
        return {value.place: Fraction(1)}

    def difference(self, left: Value, right: Value) -> Value:
        """Return left − right, in which what both add is left out."""
        one, other = self.linear(left), self.linear(right)
        if not one.keys() & other.keys():
            return left - right
        rest = {place: one.get(place, 0) - other.get(place, 0) for place in {**one, **other}}
        difference = self.constant(rest.pop(-1, Fraction(0)))
        for place, many in rest.items():
            if many:
                difference = difference + Value(self, place) * many
        return difference

    def chosen(self, condition: Value, one: Value, other: Value) -> Value:
        """Return one where a condition holds, and else the other."""
        if one.place == other.place:
            return one
        extreme = self._extreme(condition, one, other)
        if extreme is not None:
            return extreme
        (first, *parts), (second, *others) = self.nodes[one.place], self.nodes[other.place]
        if first == second == "sub" and parts[1] == others[1]:
            return self.chosen(condition, Value(self, parts[0]), Value(self, others[0])) - Value(self, parts[1])
        if first == second == "sub" and parts[0] == others[0]:
            return Value(self, parts[0]) - self.chosen(condition, Value(self, parts[1]), Value(self, others[1]))
        for kind in ("min", "max", "add", "mul"):
            shared = self._shared(kind, one, other)
            if shared is not None:
                part, rest, left = shared
                apply = {"min": Value.minimum, "max": Value.maximum, "add": _add, "mul": _mul}[kind]
                return apply(part, self.chosen(condition, rest, left))
        chosen = other + condition * self.difference(one, other)
        if self.is_truth(one) and self.is_truth(other):
            self.truth(chosen)
        return chosen

    def _extreme(self, condition: Value, one: Value, other: Value) -> Value | None:
        """The larger or the smaller one, where the condition says so."""
        kind, *of = self.nodes[condition.place]
        if kind == "sub" and self.nodes[of[0]] == ("const", Fraction(1)):
            return self._extreme(Value(self, of[1]), other, one)
        if kind != "step" or self.nodes[of[0]][0] != "sub":
            return None
        sides = self.nodes[of[0]][1:]
        if sides == (one.place, other.place):
            return one.maximum(other)
        return one.minimum(other) if sides == (other.place, one.place) else None

    def _shared(self, kind: str, one: Value, other: Value) -> tuple[Value, Value, Value] | None:
        """What two operations of one kind have in common, and what each has besides."""
        (first, *parts), (second, *others) = self.nodes[one.place], self.nodes[other.place]
        common = set(parts) & set(others) if first == second == kind else set()
        if not common:
            return None
        part = min(common)
        rest, left = (each[1 - each.index(part)] for each in (parts, others))
        return Value(self, part), Value(self, rest), Value(self, left)


def exactly(value: Any) -> Fraction:
    """Return the number that is meant: a float counts as its decimal notation."""
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float | np.floating) and np.isfinite(value):
        return Fraction(repr(float(value)))
    raise NotReadError(f"a number with {value!r:.60}, which is no finite number")


class Value:
    """A number of the program that hangs on the data, or is made of one that does."""

    __slots__ = ("graph", "place")

    def __init__(self, graph: Graph, place: int) -> None:
        self.graph, self.place = graph, place

    @property
    def constant(self) -> Fraction | None:
        """What it is where it hangs on nothing; None where it may."""
        node = self.graph.nodes[self.place]
        return node[1] if node[0] == "const" else None

    def of(self, other: Any) -> Value:
        """Return a number beside this one, as a value."""
        value = self._with(other)
        if value is None:
            raise NotReadError(f"a number of the data together with {other!r:.40}")
        return value

    def _with(self, other: Any) -> Value | None:
        if isinstance(other, Value):
            return other
        return self.graph.constant(other) if isinstance(other, int | float | Fraction | np.number | np.bool_) else None

    def _both(self, other: Any, apply: Callable[[Value, Value], Value], reflected: bool = False) -> Value:
        value = self._with(other)
        if value is None:
            return NotImplemented  # type: ignore[no-any-return]
        return apply(value, self) if reflected else apply(self, value)

    def _folded(self, other: Value, apply: Callable[[Fraction, Fraction], Fraction]) -> Value | None:
        one, two = self.constant, other.constant
        if one is None or two is None:
            return None
        folded = apply(one, two)
        short = max(abs(folded.numerator), folded.denominator) < 10**_MOST_DIGITS
        return self.graph.constant(folded) if short else None

    def _made(self, other: Value, apply: Callable[..., Fraction], kind: str, *of: int) -> Value:
        """A constant of two short ones, or else a node."""
        folded = self._folded(other, apply)
        return self.graph.node(kind, *of) if folded is None else folded

    def __add__(self, other: Any) -> Value:
        return self._both(other, _add)

    def __radd__(self, other: Any) -> Value:
        return self._both(other, _add, reflected=True)

    def __sub__(self, other: Any) -> Value:
        return self._both(other, _sub)

    def __rsub__(self, other: Any) -> Value:
        return self._both(other, _sub, reflected=True)

    def __mul__(self, other: Any) -> Value:
        return self._both(other, _mul)

    def __rmul__(self, other: Any) -> Value:
        return self._both(other, _mul, reflected=True)

    def __truediv__(self, other: Any) -> Value:
        return self._both(other, _div)

    def __rtruediv__(self, other: Any) -> Value:
        return self._both(other, _div, reflected=True)

    def __neg__(self) -> Value:
        return _mul(self.graph.constant(-1), self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        if self.constant is not None or self.graph.nodes[self.place][0] == "exp":
            return self if self.constant is None else self.graph.constant(abs(self.constant))
        return self.called("abs")

    def __pow__(self, other: Any) -> Value:
        return self._both(other, _pow)

    def __rpow__(self, other: Any) -> Value:
        return self._both(other, _pow, reflected=True)

    def __mod__(self, other: Any) -> Value:
        return self._both(other, _mod)

    def _logical(self, other: Any, apply: Callable[[Value, Value], Value]) -> Value:
        value = self._with(other)
        if value is None or not (self.graph.is_truth(self) and self.graph.is_truth(value)):
            raise NotReadError("& and | of numbers; write them for conditions: (x > 0) & (x < 1)")
        return self.graph.truth(apply(self, value))

    def __and__(self, other: Any) -> Value:
        return self._logical(other, _mul)

    def __or__(self, other: Any) -> Value:
        return self._logical(other, Value.maximum)

    def __xor__(self, other: Any) -> Value:
        return self._logical(other, lambda a, b: abs(a - b))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Value:
        return self._logical(self, lambda a, _: 1 - a)

    def __bool__(self) -> bool:
        raise NotReadError("a branch on the data where none is read; write np.where(condition, a, b)")

    def _no(self, *_: Any) -> Any:
        raise NotReadError("a number of the data where a plain number is needed, such as a place or a text")

    # what is not here raises a TypeError, which a handler of the function might catch: the domain refuses it before
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __format__ = __hash__ = __index__ = __int__ = __float__ = _no

    # --- functions ----------------------------------------------------------------------------------------

    def called(self, kind: str) -> Value:
        """Return a function of it: sqrt, exp, log, atan, sin, cos, abs."""
        if self.constant is not None and (kind, self.constant) in _KNOWN:
            return self.graph.constant(_KNOWN[kind, self.constant])
        return self.graph.node(kind, self.place)

    def maximum(self, other: Any) -> Value:
        """Return the larger one."""
        return self._extreme(other, "max", max)

    def minimum(self, other: Any) -> Value:
        """Return the smaller one."""
        return self._extreme(other, "min", min)

    def _extreme(self, other: Any, kind: str, apply: Callable[..., Fraction]) -> Value:
        value = self.of(other)
        if value.place == self.place:
            return self
        return self._made(value, apply, kind, *sorted((self.place, value.place)))

    def above(self, other: Any) -> Value:
        """``self > other``, as 0 or 1."""
        gap = self - self.of(other)
        known = gap.constant
        return self.graph.truth(
            self.graph.node("const", Fraction(int(known > 0))) if known is not None else gap.called("step")
        )

    def below(self, other: Any) -> Value:
        """``self < other``, as 0 or 1."""
        return self.of(other).above(self)


_KNOWN: dict[tuple[str, Fraction | int], int] = {
    ("sqrt", 0): 0, ("sqrt", 1): 1, ("exp", 0): 1, ("log", 1): 0, ("atan", 0): 0, ("sin", 0): 0, ("cos", 0): 1,
}  # fmt: skip


def _add(a: Value, b: Value) -> Value:
    if a.constant == 0:
        return b
    if b.constant == 0:
        return a
    return a._made(b, Fraction.__add__, "add", *sorted((a.place, b.place)))


def _sub(a: Value, b: Value) -> Value:
    if a.place == b.place:
        return a.graph.constant(0)
    if b.constant == 0:
        return a
    return a._made(b, Fraction.__sub__, "sub", a.place, b.place)


def _mul(a: Value, b: Value) -> Value:
    if b.constant is not None:
        a, b = b, a
    if a.constant == 0:
        return a
    if a.constant == 1:
        return b
    folded = a._folded(b, Fraction.__mul__)
    if folded is not None:
        return folded
    if a.constant is not None:
        kind, *of = a.graph.nodes[b.place]  # a constant stands first, and there is one
        inner = Value(a.graph, of[0]) if kind == "mul" else b
        together = a._folded(inner, Fraction.__mul__) if inner.constant is not None else None
        if together is not None:
            return _mul(together, Value(a.graph, of[1]))
        return a.graph.node("mul", a.place, b.place)
    return a.graph.node("mul", *sorted((a.place, b.place)))


def _div(a: Value, b: Value) -> Value:
    if b.constant is not None:
        if not b.constant:
            raise NotReadError("a division by 0")
        return _mul(a, a.graph.constant(1 / b.constant))
    return a if a.constant == 0 else a.graph.node("div", a.place, b.place)


def _pow(a: Value, b: Value) -> Value:
    exponent = b.constant
    if exponent is None:
        return (b * a.called("log")).called("exp")
    if exponent == _HALF:
        return a.called("sqrt")
    if exponent < 0:
        return _div(a.graph.constant(1), _pow(a, a.graph.constant(-exponent)))
    if exponent.denominator == 2 and exponent < _MOST_POWER:
        return _mul(_pow(a, a.graph.constant(exponent - _HALF)), a.called("sqrt"))
    if exponent.denominator != 1 or exponent > _MOST_POWER:
        return (a.called("log") * exponent).called("exp")
    if exponent <= 1:
        return a if exponent else a.graph.constant(1)
    return a._made(b, lambda x, y: x ** int(y), "pow", a.place, int(exponent))


def _mod(a: Value, b: Value) -> Value:
    modulus = b.constant
    if modulus is None or modulus.denominator != 1 or not 0 < modulus <= 10**6 or not a.graph.is_whole(a):
        raise NotReadError("a remainder is read of whole numbers (counts), by a public whole number")
    return a._made(b, Fraction.__mod__, "mod", a.place, int(modulus))


# --- What is released of the data? -----------------------------------------------------------------------

TWO_SIDED = ("laplace", "gaussian")
ADDED, SELECTED, CHOSEN = "added", "selected", "chosen"
SCORES = "exponentials"


@dataclass(frozen=True, slots=True)
class PlaceRelease:
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
        expressions = []
        for one in scores:
            odds = graph.constant(1)
            for other in scores:
                if other is not one:
                    odds = odds + graph.difference(other, one).called("exp")
            expressions.append(odds.called("log") * self.scale)
        return tuple(expressions)

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


class ShownParts(list[Any]):
    """What a function returns in a container: its parts, and of which kind it is, with its keys or its shape."""

    def __init__(self, kind: Any, parts: Iterable[Any]) -> None:
        super().__init__(parts)
        self.kind = kind


class UnaddedNoise:
    """Noise that was drawn, and added to nothing yet."""

    __slots__ = ("is_used", "law", "scale", "shift", "step", "unit")

    def __init__(self, law: str, scale: Fraction, shift: Fraction = Fraction(0), unit: Value | None = None) -> None:
        self.law, self.scale, self.shift, self.unit, self.is_used = law, scale, shift, unit, False
        self.step = 0  # the item of a random order for which it was drawn

    def plus(self, number: Any) -> UnaddedNoise:
        """Return the noise and a public number."""
        self.use()
        return UnaddedNoise(self.law, self.scale, self.shift + exactly(number), self.unit)

    def times(self, factor: Any) -> UnaddedNoise:
        """Return a multiple."""
        exact = exactly(factor)
        if not exact or (exact < 0 and self.law not in TWO_SIDED):
            refuse(f"{self.law} noise times {factor!r:.40}")
        self.use()
        return UnaddedNoise(self.law, self.scale * abs(exact), self.shift * exact, self.unit)

    def use(self) -> None:
        """Use the draw, which must not have been used."""
        if self.is_used:
            refuse("one draw of noise that is used twice; draw it for each number: size=len(x)")
        self.is_used = True


class Noisy:
    """A number of the data with noise: released when it is seen, or only compared with others."""

    __slots__ = ("draw", "line", "place", "value")

    def __init__(self, value: Value, draw: UnaddedNoise) -> None:
        draw.use()
        self.value, self.draw, self.line, self.place = value + draw.shift, draw, line(), -1

    def seen(self, releases: list[PlaceRelease]) -> Seen:
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
            releases.append(PlaceRelease(ADDED, draw.law, draw.scale, (self.value,), self.line, draw.unit))
        return Seen("release", self.place)


COMPARED = -2
"""The place of a number with noise of which was seen whether it is the largest."""


def noise_of(law: str, scale: Any, location: Any = 0, size: Any = None) -> Any:
    """Return noise, of the shape of its scale and location, or of a size; added to its location."""
    if isinstance(scale, UnaddedNoise | Noisy | Seen) or is_private(scale) or isinstance(size, Value):
        refuse("noise whose scale or size hangs on the data: two scales of one noise have no bound; use a public one")
    shape = np.broadcast_shapes(np.shape(scale), np.shape(location)) if size is None else size
    shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    noise = np.empty(shape, dtype=object)
    scales, locations = np.broadcast_to(scale, shape), np.broadcast_to(np.asarray(location, dtype=object), shape)
    unit = scale if isinstance(scale, Value) else None
    if unit is not None and not unit.graph.settled(unit.above(0)):
        refuse("noise of a scale that is not above 0 for every number of numbers")
    for place in np.ndindex(shape):
        exact, where = Fraction(1) if unit is not None else exactly(scales[place]), locations[place]
        if exact <= 0:
            refuse(f"noise of the scale {scales[place]!r:.40}")
        draw = UnaddedNoise(law, exact, unit=unit)
        noise[place] = Noisy(where, draw) if isinstance(where, Value) else draw
    return noise[()] if not shape else noise


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
