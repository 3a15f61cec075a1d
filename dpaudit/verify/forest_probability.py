"""How likely is it that independent draws satisfy linear conditions? A rigorous enclosure.

Draws that share a condition are adjacent in a graph. If no condition has more than two draws and the graph has no
cycle (it is a *forest*; most often a star, where all draws are compared with one noisy threshold), the probability is
a nest of one-dimensional integrals: each draw is integrated out as a function of the next one. Laplace, exponential
and uniform densities consist of pieces c·t^k·e^(r·t), and so does every integral of them between straight lines. The
breakpoints and rates are exact fractions; only the factors c are balls, which
contain the true number whatever the rounding. If all pieces are empty, the probability is exactly 0.

Gumbel densities have no such pieces, and discrete draws would need sums instead of integrals; for both the answer is
None.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.decimals import Enclosure
from dpaudit.errors import UsageError
from dpaudit.program.laws import Density, Support
from dpaudit.program.symbolic.linear import Constraint, spend
from dpaudit.program.symbolic.tree import NoiseDraw, draw_name

# --- How are real numbers computed with rigorous error bounds? As balls: intervals that contain the true number. ---
#
# Where python-flint is installed these are Arb's balls (Johansson 2017). Otherwise they are intervals of dyadic
# fractions, rounded outward after every step (Moore 1966), in pure Python: slower, but just as rigorous.

_GUARD = 64  # extra bits while an exponential is computed


@dataclass(frozen=True, slots=True)
class Interval:
    """A real number between two fractions, which are rounded outward to ``bits`` significant bits."""

    low: Fraction
    high: Fraction
    bits: int

    def __add__(self, other: Interval | int) -> Interval:
        if isinstance(other, int):
            return self._rounded(self.low + other, self.high + other)
        return self._rounded(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low, self.bits)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval | int) -> Interval:
        if isinstance(other, int):
            ends = [self.low * other, self.high * other]
        else:
            ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return self._rounded(min(ends), max(ends))

    __rmul__ = __mul__

    def __truediv__(self, other: Interval | int) -> Interval:
        bottom = (Fraction(other), Fraction(other)) if isinstance(other, int) else (other.low, other.high)
        if bottom[0] <= 0 <= bottom[1]:
            raise ZeroDivisionError("an interval around 0 is no divisor")
        ends = [a / b for a in (self.low, self.high) for b in bottom]
        return self._rounded(min(ends), max(ends))

    def _rounded(self, low: Fraction, high: Fraction) -> Interval:
        return Interval(_cut(low, self.bits, up=False), _cut(high, self.bits, up=True), self.bits)


def _cut(value: Fraction, bits: int, *, up: bool) -> Fraction:
    """Round to ``bits`` significant bits, up or down."""
    if not value:
        return value
    shift = bits - value.numerator.bit_length() + value.denominator.bit_length()
    top, bottom = (
        (value.numerator << shift, value.denominator) if shift >= 0 else (value.numerator, value.denominator << -shift)
    )
    whole = -(-top // bottom) if up else top // bottom
    return Fraction(whole, 1 << shift) if shift >= 0 else Fraction(whole << -shift)


def exponential(value: Fraction, bits: int) -> Interval:
    """Return e^value: the Taylor series of value/2^k, squared k times.

    For |t| ≤ 1/2, the remainder of the series after t^n/n! is at most twice the next term.
    """
    precise = bits + _GUARD + max(0, value.numerator.bit_length() - value.denominator.bit_length())
    if value < 0:
        inverse = exponential(-value, bits + 2)
        return Interval(Fraction(1), Fraction(1), bits) / inverse
    halvings = max(0, value.numerator.bit_length() - value.denominator.bit_length() + 8)
    small = value / (1 << halvings)
    t = Interval(_cut(small, precise, up=False), _cut(small, precise, up=True), precise)
    total = term = Interval(Fraction(1), Fraction(1), precise)
    number, least = 0, Fraction(1, 1 << precise)
    while term.high > least:
        number += 1
        term = term * t / number
        total = total + term
    total = Interval(total.low, total.high + 2 * term.high, precise)
    for _ in range(halvings):
        total = total * total
    return Interval(_cut(total.low, bits, up=False), _cut(total.high, bits, up=True), bits)


def _flint() -> Any:
    try:
        import flint
    except ImportError:
        return None
    return flint


class Balls:
    """A context (``with``) that makes balls of one precision, and remembers exponentials."""

    def __init__(self, bits: int) -> None:
        self._flint = _flint()
        self._bits = bits
        self._powers: dict[Fraction, Any] = {}

    def __enter__(self) -> Balls:
        if self._flint is not None:
            self._before = self._flint.ctx.prec
            self._flint.ctx.prec = self._bits
        return self

    def __exit__(self, *_: object) -> None:
        if self._flint is not None:
            self._flint.ctx.prec = self._before

    def ball(self, value: Fraction) -> Any:
        """Return a fraction as a ball."""
        if self._flint is not None:
            return self._flint.arb(self._flint.fmpq(value.numerator, value.denominator))
        return Interval(_cut(value, self._bits, up=False), _cut(value, self._bits, up=True), self._bits)

    def exp(self, value: Fraction) -> Any:
        """Return e^value as a ball."""
        if value not in self._powers:
            own = self.ball(value).exp() if self._flint is not None else exponential(value, self._bits)
            self._powers[value] = own
        return self._powers[value]


# --- How likely is it that independent draws satisfy linear conditions? A rigorous enclosure. ---

_BITS = 256  # of the balls, at first; doubled while the enclosure is too wide
_MOST_BITS = 1 << 14
_CLOSE = Fraction(1, 1 << 64)  # relative width of a good enclosure: narrower than a float

Terms = dict[tuple[int, Fraction], Any]
"""Σ c·t^k·e^(r·t): from (k, r) to the ball c."""


def flint() -> Any:
    """Return python-flint."""
    try:
        import flint as library
    except ImportError:
        raise UsageError(
            "exact probabilities of events need python-flint; install it with: pip install 'dpaudit[proof]'"
        ) from None
    return library


# --- which draws are connected ---------------------------------------------------------------------------------


@dataclass(slots=True)
class DrawBranch:
    """A draw, the conditions on it, and the branches below it."""

    draw: int  # its number
    # (number of a condition, coefficient of this draw, coefficient of the parent's draw or 0)
    ties: list[tuple[int, Fraction, Fraction]] = field(default_factory=list)
    children: list[DrawBranch] = field(default_factory=list)  # the branches below this draw

    @property
    def depth(self) -> int:
        """How many integrals are nested: 1 for a single draw, 2 for a star."""
        return 1 + max((child.depth for child in self.children), default=0)


@dataclass(frozen=True, slots=True)
class Forest:
    """Conditions as trees of draws."""

    draws: tuple[NoiseDraw, ...]  # number k is the variable ``hk``
    roots: tuple[DrawBranch, ...]  # independent of one another; draws without conditions are left out
    free: tuple[int, ...]  # the numbers of the conditions that contain no draw

    @property
    def is_known(self) -> bool:
        """Whether its probability can be computed: the densities of all its draws are known."""
        pending = list(self.roots)
        while pending:
            branch = pending.pop()
            if self.draws[branch.draw].law.density is None:
                return False
            pending += branch.children
        return True


def forest(draws: Sequence[NoiseDraw], conditions: Sequence[Constraint]) -> Forest | None:
    """Return how conditions connect draws, or None if they form no forest.

    A variable that is not a draw counts as a constant. The answer is None for equalities that contain draws, too.
    """
    names = {draw_name(number): number for number in range(len(draws))}
    own: dict[int, list[tuple[int, Fraction]]] = {}
    shared: dict[int, dict[int, list[tuple[int, Fraction, Fraction]]]] = {}
    free = []
    for place, condition in enumerate(conditions):
        mentioned = [
            (names[name], Fraction(value)) for name, value in condition.expression.terms.items() if name in names
        ]
        if not mentioned:
            free.append(place)
        elif condition.sign == "=" or len(mentioned) > 2:
            return None
        elif len(mentioned) == 1:
            own.setdefault(mentioned[0][0], []).append((place, mentioned[0][1]))
        else:
            (a, x), (b, y) = mentioned
            shared.setdefault(a, {}).setdefault(b, []).append((place, x, y))
            shared.setdefault(b, {}).setdefault(a, []).append((place, y, x))
    left = set(own) | set(shared)
    roots = []
    while left:
        # the draws that are connected with one; None if they form a cycle
        start = min(left)
        seen, pending, links = {start}, [start], 0
        while pending:
            here = pending.pop()
            for other in shared.get(here, ()):
                links += 1
                if other not in seen:
                    seen.add(other)
                    pending.append(other)
        tree = seen if links == 2 * (len(seen) - 1) else None
        if tree is None:
            return None
        root = _centre(tree, shared)
        roots.append(_branch(root, None, own, shared))
        left -= tree
    return Forest(tuple(draws), tuple(roots), tuple(free))


def _centre(tree: Iterable[int], shared: Mapping[int, Mapping[int, Any]]) -> int:
    """Return the draw that makes the flattest root of a tree; among equals the one with the most neighbours."""

    def depth(here: int, above: int | None) -> int:
        return 1 + max((depth(other, here) for other in shared.get(here, ()) if other != above), default=0)

    return min(sorted(tree), key=lambda draw: (depth(draw, None), -len(shared.get(draw, ()))))


def _branch(
    draw: int,
    above: int | None,
    own: Mapping[int, Sequence[tuple[int, Fraction]]],
    shared: Mapping[int, Mapping[int, Sequence[tuple[int, Fraction, Fraction]]]],
) -> DrawBranch:
    ties = [(place, value, Fraction(0)) for place, value in own.get(draw, ())]
    branch = DrawBranch(draw, ties)
    for other, links in shared.get(draw, {}).items():
        if other == above:
            branch.ties += links
        else:
            branch.children.append(_branch(other, draw, own, shared))
    return branch


# --- pieces of c·t^k·e^(r·t) -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A function of t: ``parts[i]`` between ``breaks[i − 1]`` and ``breaks[i]``; an empty part is exactly 0."""

    breaks: list[Fraction]
    parts: list[Terms]


@dataclass(frozen=True, slots=True)
class _Line:
    """A limit slope·t + offset."""

    slope: Fraction
    offset: Fraction

    def at(self, t: Fraction) -> Fraction:
        return self.slope * t + self.offset


def _add(left: Terms, right: Terms, sign: int = 1) -> Terms:
    total = dict(left)
    for key, value in right.items():
        total[key] = total[key] + sign * value if key in total else sign * value
    return total


def _times(left: Terms, right: Terms) -> Terms:
    product: Terms = {}
    for (k, r), c in left.items():
        for (m, s), d in right.items():
            key = k + m, r + s
            product[key] = product[key] + c * d if key in product else c * d
    return product


def _middles(breaks: Sequence[Fraction]) -> list[Fraction]:
    """Return a point inside each of the intervals between breaks."""
    if not breaks:
        return [Fraction(0)]
    return [breaks[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(breaks)), breaks[-1] + 1]


def _density(draw: NoiseDraw, balls: Balls) -> _Pieces:
    density, rate = draw.law.density, 1 / draw.scale
    assert density is not None, f"no density is known of {draw.method} noise"
    parts = [{(0, r * rate): balls.ball(c * rate) for r, c in piece.items()} for piece in density.pieces]
    return _Pieces([at * draw.scale for at in density.breaks], parts)


def _antiderivative(terms: Terms, balls: Balls) -> Terms:
    """Return an antiderivative; that of a term with r > 0 vanishes at −∞, with r < 0 at ∞."""
    antiderivative: Terms = {}
    for (k, r), c in terms.items():
        if not r:
            antiderivative = _add(antiderivative, {(k + 1, r): c / (k + 1)})
            continue
        factor = c
        for power in range(k, -1, -1):
            factor = factor / balls.ball(r)
            antiderivative = _add(antiderivative, {(power, r): factor})
            factor = -factor * power
    return antiderivative


def _along(terms: Terms, line: _Line, balls: Balls) -> Terms:
    """Return the function at x = slope·t + offset, as a function of t."""
    composed: Terms = {}
    a, b = line.slope, line.offset
    for (k, r), c in terms.items():
        height = c * balls.exp(r * b) if r and b else c
        if not a:
            part: Terms = {(0, Fraction(0)): height * balls.ball(b**k)}
        else:
            part = {(j, r * a): height * balls.ball(math.comb(k, j) * a**j * b ** (k - j)) for j in range(k + 1)}
        composed = _add(composed, part)
    return composed


def _cumulated(g: _Pieces, balls: Balls) -> tuple[list[Terms], Terms]:
    """Return ∫ g from −∞ up to a point of each piece, and over the whole line."""
    cumulated: list[Terms] = []
    so_far: Terms = {}
    for place, part in enumerate(g.parts):
        whole = _antiderivative(part, balls)
        here = dict(so_far)
        if place:
            here = _add(here, _along(whole, _Line(Fraction(0), g.breaks[place - 1]), balls), -1)
        elif any(r <= 0 for _, r in part):
            raise AssertionError("a density does not vanish towards minus infinity")
        cumulated.append(_add(here, whole))
        if place < len(g.breaks):
            so_far = _along(cumulated[-1], _Line(Fraction(0), g.breaks[place]), balls)
        elif any(r >= 0 for _, r in part):
            raise AssertionError("a density does not vanish towards infinity")
        else:
            so_far = here
    return cumulated, so_far


def _between(g: _Pieces, lowers: Sequence[_Line], uppers: Sequence[_Line], balls: Balls) -> _Pieces:
    """Return ∫ g from the highest of the lower lines to the lowest of the upper ones, as a function of t."""
    cumulated, total = _cumulated(g, balls)
    lines = list(dict.fromkeys([*lowers, *uppers]))
    points = {
        (other.offset - line.offset) / (line.slope - other.slope)
        for line, other in itertools.combinations(lines, 2)
        if line.slope != other.slope
    }
    points |= {(at - line.offset) / line.slope for line in lines if line.slope for at in g.breaks}
    breaks = sorted(points)
    parts: list[Terms] = []
    for middle in _middles(breaks):
        low = max(lowers, key=lambda line: line.at(middle), default=None)
        high = min(uppers, key=lambda line: line.at(middle), default=None)
        first = 0 if low is None else bisect_right(g.breaks, low.at(middle))
        last = len(g.breaks) if high is None else bisect_left(g.breaks, high.at(middle))
        crossed = low is not None and high is not None and low.at(middle) >= high.at(middle)
        if crossed or not any(g.parts[first : last + 1]):
            parts.append({})
            continue
        upper = total if high is None else _along(cumulated[last], high, balls)
        lower = {} if low is None else _along(cumulated[first], low, balls)
        parts.append(_add(upper, lower, -1))
    return _Pieces(breaks, parts)


def _message(branch: DrawBranch, draws: Sequence[NoiseDraw], constants: Sequence[Fraction], balls: Balls) -> _Pieces:
    """Return the probability of a branch, as a function of its parent's draw."""
    g = _density(draws[branch.draw], balls)
    for child in branch.children:
        right = _message(child, draws, constants, balls)
        breaks = sorted({*g.breaks, *right.breaks})
        parts = []
        for middle in _middles(breaks):
            spend(10)
            a = g.parts[bisect_right(g.breaks, middle)]
            b = right.parts[bisect_right(right.breaks, middle)]
            parts.append(_times(a, b))
        g = _Pieces(breaks, parts)
    lowers: list[_Line] = []
    uppers: list[_Line] = []
    for place, own, parents in branch.ties:  # own·x + parents·t + constant ≥ 0
        (lowers if own > 0 else uppers).append(_Line(-parents / own, -constants[place] / own))
    return _between(g, lowers, uppers, balls)


def probability(
    draws: Sequence[NoiseDraw], conditions: Sequence[Constraint], point: Mapping[str, Fraction] | None = None
) -> Enclosure | None:
    """Return the probability that independent draws satisfy all conditions."""
    trees = forest(draws, conditions)
    if trees is None:
        return None
    return forest_probability(trees, conditions, point or {})


def forest_probability(
    trees: Forest, conditions: Sequence[Constraint], point: Mapping[str, Fraction]
) -> Enclosure | None:
    """Return the probability of conditions whose forest is already known.

    Args:
        trees: the forest of the conditions; its densities must be known (`Forest.is_known`).
        conditions: on draws, and on variables of ``point``.
        point: the values of all variables that are not draws.

    Returns:
        An enclosure; see `probability`.
    """
    names = {draw_name(number) for number in range(len(trees.draws))}
    constants = [
        condition.expression.constant
        + sum(
            (Fraction(value) * point[name] for name, value in condition.expression.terms.items() if name not in names),
            Fraction(0),
        )
        for condition in conditions
    ]
    for place in trees.free:
        value, sign = constants[place], conditions[place].sign
        if value < 0 or (value > 0 and sign == "=") or (value == 0 and sign == ">"):
            return Enclosure(Fraction(0), Fraction(0))
    if not trees.is_known:
        return None
    low = high = Fraction(1)
    for root in trees.roots:
        ends = _root_probability(root, trees.draws, [Fraction(each) for each in constants])
        low, high = low * ends.low, high * ends.high
    return Enclosure(low, high)


def _root_probability(root: DrawBranch, draws: Sequence[NoiseDraw], constants: Sequence[Fraction]) -> Enclosure:
    bits = _BITS
    while True:
        with Balls(bits) as balls:
            (terms,) = _message(root, draws, constants, balls).parts  # constant, since a root has no parent
            if not terms:
                return Enclosure(Fraction(0), Fraction(0))
            ends = enclosure(sum(terms.values()))
        low, high = max(ends.low, Fraction(0)), min(ends.high, Fraction(1))
        if high - low <= high * _CLOSE and (low > 0 or high == 0):
            return Enclosure(low, high)
        if bits > _MOST_BITS:
            raise UsageError("the probability of an event is too small to enclose")
        bits *= 2


def enclosure(ball: Any) -> Enclosure:
    """Return both ends of a ball, exactly."""
    if isinstance(ball, Interval):
        return Enclosure(ball.low, ball.high)
    low, high = (_dyadic(end.man_exp()) for end in (ball.lower(), ball.upper()))
    return Enclosure(low, high)


def _dyadic(parts: tuple[Any, Any]) -> Fraction:
    mantissa, exponent = map(int, parts)
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def log_ratio(top: Fraction, bottom: Fraction) -> Enclosure:
    """Return ln(top/bottom) of two positive fractions, enclosed; `UsageError` without python-flint."""
    flint()
    with Balls(_BITS) as balls:
        return enclosure(balls.ball(top / bottom).log())


# --- How likely is it, approximately, that independent draws satisfy linear conditions, for many datasets at once?
#
# The floating-point twin of `dpaudit.verify.forest_probability`, for searches: Gauss–Legendre quadrature
# between the breakpoints of the integrand, vectorised over all points. All terms are positive, so small probabilities
# keep their relative accuracy: about four digits for stars, two for deeper trees. None of its results is a proof.

# Chosen for the accuracy stated above, at a speed that a search can afford.
_REACH = 300.0  # where a draw is cut off, in scales from 0
_FINE, _COARSE = (7, 3), (5, 2)  # (nodes of a piece, cuts towards each of its ends): alone, and for nested integrals
_FIRST_CUT, _LAST_CUT = 3.0, 16.0  # in units of the fastest decay, and of the draw's own
_MOST_CELLS = 1 << 21  # numbers in one array, 16 MiB


class Landscape:
    """The probability of one region, as a function of the variables that are not draws."""

    def __init__(self, trees: Forest, conditions: Sequence[Constraint], variables: Sequence[str]) -> None:
        """Describe a region."""
        self._forest = trees
        self._draws = trees.draws
        rows = [[float(each.expression.terms.get(name, 0)) for name in variables] for each in conditions]
        self._of_variables = np.array(rows).reshape(len(conditions), len(variables))
        self._constants = np.array([float(each.expression.constant) for each in conditions])
        self._signs = [each.sign for each in conditions]
        depth = max((root.depth for root in trees.roots), default=1)
        self._nodes, self._cuts = _FINE if depth <= 2 else _COARSE
        self._at_once = max(1, int(_MOST_CELLS // 600 ** min(depth - 1, 1) // 200 ** max(depth - 2, 0)))

    def masses(self, points: Floats) -> Floats:
        """Return the probability at each point; (points, variables) → (points,)."""
        parts = [self._masses(points[start : start + self._at_once]) for start in range(0, len(points), self._at_once)]
        return np.concatenate(parts)

    def _masses(self, points: Floats) -> Floats:
        constants = points @ self._of_variables.T + self._constants
        total = np.ones(len(points))
        for place in self._forest.free:
            value = constants[:, place]
            total *= {">": value > 0, ">=": value >= 0, "=": value == 0}[self._signs[place]]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for root in self._forest.roots:
                total *= self._mass(root, constants, None)
        return total

    def _mass(self, branch: DrawBranch, constants: Floats, parent: Floats | None) -> Floats:
        """Return the probability of a branch; ``constants`` has the shape of ``parent`` and an axis for conditions."""
        draw = self._draws[branch.draw]
        low: Floats | None = None
        high: Floats | None = None
        for place, own, parents in branch.ties:
            limit = constants[..., place] / -float(own)
            if parents and parent is not None:
                limit = limit - parent * (float(parents) / float(own))
            if own > 0:
                low = limit if low is None else np.maximum(low, limit)
            else:
                high = limit if high is None else np.minimum(high, limit)
        if not branch.children:
            return _share(draw, low, high)
        scale = float(draw.scale)
        shape = constants.shape[:-1] if parent is None else np.broadcast_shapes(constants.shape[:-1], parent.shape)
        support = draw.law.support
        bottom = -_REACH * scale if support is Support.LINE else 0.0
        top = scale if support is Support.INTERVAL else _REACH * scale
        low = np.broadcast_to(np.maximum(bottom, bottom if low is None else low), shape)
        high = np.broadcast_to(np.maximum(low, np.minimum(top, top if high is None else high)), shape)
        density = _density_in_floats(draw)
        corners = [float(at) * scale for at in density.breaks if at * draw.scale < top]
        breaks = [low, high, *(np.broadcast_to(np.clip(at, low, high), shape) for at in corners)]
        rate = 1 / scale
        for child in branch.children:
            steepest, kinks = self._kinks(child, constants)
            rate += steepest
            breaks += [np.broadcast_to(np.clip(kink, low, high), shape) for kink in kinks]
        nodes, weights = self._quadrature(
            np.sort(np.stack(breaks, axis=-1), axis=-1), _FIRST_CUT / rate, _LAST_CUT * scale
        )
        value = weights * (density.pdf(nodes / scale) / scale)
        for child in branch.children:
            value = value * self._mass(child, constants[..., None, :], nodes)
        return np.asarray(value.sum(axis=-1))

    def _kinks(self, child: DrawBranch, constants: Floats) -> tuple[float, list[Floats]]:
        """Return how fast a child's probability may change with the parent's draw, and where it has a kink."""
        draw = self._draws[child.draw]
        corners = [float(at * draw.scale) for at in _density_in_floats(draw).breaks]
        lines = [(constants[..., place] / -float(own), -float(parents / own)) for place, own, parents in child.ties]
        kinks = [(corner - offset) / slope for offset, slope in lines if slope for corner in corners]
        kinks += [(b - a) / (s - t) for (a, s), (b, t) in itertools.combinations(lines, 2) if s != t]
        return max(abs(slope) for _, slope in lines) / float(draw.scale), kinks

    def _quadrature(self, breaks: Floats, first: float, last: float) -> tuple[Floats, Floats]:
        """Return nodes and weights on the pieces between breaks (the last axis, ascending)."""
        left, right = breaks[..., :-1, None], breaks[..., 1:, None]
        steps = np.geomspace(first, last, self._cuts)
        half = (right - left) / 2
        inward = np.minimum(steps, half)
        ends = np.concatenate([left, left + inward, left + half, (right - inward)[..., ::-1], right], axis=-1)
        ends = ends.reshape(*breaks.shape[:-1], -1)
        nodes, weights = _gauss(self._nodes)
        start, width = ends[..., :-1, None], np.diff(ends)[..., None]
        shape = (*breaks.shape[:-1], -1)
        return (start + width * (nodes + 1) / 2).reshape(shape), (width * weights / 2).reshape(shape)


@lru_cache
def _gauss(count: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights


def _density_in_floats(draw: NoiseDraw) -> Density:
    density = draw.law.density
    assert density is not None, f"no density is known of {draw.method} noise"
    return density


def _share(draw: NoiseDraw, low: Floats | None, high: Floats | None) -> Floats:
    """Return the probability of a draw between two limits."""
    density, scale = _density_in_floats(draw), float(draw.scale)
    if low is None:
        return np.ones(1) if high is None else density.cdf(high / scale)
    if high is None:
        return density.sf(low / scale)
    a, b = low / scale, high / scale
    inner = np.where(low > 0, density.sf(a) - density.sf(b), density.cdf(b) - density.cdf(a))
    return np.where(low < high, np.maximum(inner, 0.0), 0.0)
