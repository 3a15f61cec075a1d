"""How likely is it that independent draws satisfy linear conditions? A rigorous enclosure.

Draws that share a condition are adjacent in a graph. If no condition has more than two draws and the graph has no
cycle (it is a *forest*; most often a star, where all draws are compared with one noisy threshold), the probability is
a nest of one-dimensional integrals: each draw is integrated out as a function of the next one. Laplace, exponential
and uniform densities consist of pieces c·t^k·e^(r·t), and so does every integral of them between straight lines. The
breakpoints and rates are exact fractions; only the factors c are balls (`dpaudit.verify.counterexample.balls`), which
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
from typing import Any

from dpaudit.enclosure import Enclosure
from dpaudit.errors import UsageError
from dpaudit.program.symbolic.linear import Constraint, spend
from dpaudit.program.symbolic.tree import NoiseDraw, draw_name
from dpaudit.verify.counterexample.balls import Balls, Interval

_BITS = 256  # of the balls, at first; doubled while the enclosure is too wide
_MOST_BITS = 1 << 14
_CLOSE = Fraction(1, 1 << 64)  # relative width of a good enclosure: narrower than a float

Terms = dict[tuple[int, Fraction], Any]
"""Σ c·t^k·e^(r·t): from (k, r) to the ball c."""


def flint() -> Any:
    """Return python-flint."""
    try:
        import flint as found
    except ImportError:
        raise UsageError(
            "exact probabilities of events need python-flint; install it with: pip install 'dpaudit[proof]'"
        ) from None
    return found


# --- which draws are connected ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Branch:
    """A draw, the conditions on it, and the branches below it."""

    draw: int  # its number
    # (number of a condition, coefficient of this draw, coefficient of the parent's draw or 0)
    ties: list[tuple[int, Fraction, Fraction]] = field(default_factory=list)
    children: list[Branch] = field(default_factory=list)  # the branches below this draw

    @property
    def depth(self) -> int:
        """How many integrals are nested: 1 for a single draw, 2 for a star."""
        return 1 + max((child.depth for child in self.children), default=0)


@dataclass(frozen=True, slots=True)
class Forest:
    """Conditions as trees of draws."""

    draws: tuple[NoiseDraw, ...]  # number k is the variable ``hk``
    roots: tuple[Branch, ...]  # independent of one another; draws without conditions are left out
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
        tree = _component(min(left), shared)
        if tree is None:
            return None
        root = _centre(tree, shared)
        roots.append(_branch(root, None, own, shared))
        left -= tree
    return Forest(tuple(draws), tuple(roots), tuple(free))


def _component(start: int, shared: Mapping[int, Mapping[int, Any]]) -> set[int] | None:
    """Return the draws that are connected with one; None if they form a cycle."""
    seen, pending, links = {start}, [start], 0
    while pending:
        here = pending.pop()
        for other in shared.get(here, ()):
            links += 1
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return seen if links == 2 * (len(seen) - 1) else None


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
) -> Branch:
    ties = [(place, value, Fraction(0)) for place, value in own.get(draw, ())]
    found = Branch(draw, ties)
    for other, links in shared.get(draw, {}).items():
        if other == above:
            found.ties += links
        else:
            found.children.append(_branch(other, draw, own, shared))
    return found


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
    found = dict(left)
    for key, value in right.items():
        found[key] = found[key] + sign * value if key in found else sign * value
    return found


def _times(left: Terms, right: Terms) -> Terms:
    found: Terms = {}
    for (k, r), c in left.items():
        for (m, s), d in right.items():
            key = k + m, r + s
            found[key] = found[key] + c * d if key in found else c * d
    return found


def _product(left: _Pieces, right: _Pieces) -> _Pieces:
    breaks = sorted({*left.breaks, *right.breaks})
    parts = []
    for middle in _middles(breaks):
        spend(10)
        a = left.parts[bisect_right(left.breaks, middle)]
        b = right.parts[bisect_right(right.breaks, middle)]
        parts.append(_times(a, b))
    return _Pieces(breaks, parts)


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
    found: Terms = {}
    for (k, r), c in terms.items():
        if not r:
            found = _add(found, {(k + 1, r): c / (k + 1)})
            continue
        factor = c
        for power in range(k, -1, -1):
            factor = factor / balls.ball(r)
            found = _add(found, {(power, r): factor})
            factor = -factor * power
    return found


def _along(terms: Terms, line: _Line, balls: Balls) -> Terms:
    """Return the function at x = slope·t + offset, as a function of t."""
    found: Terms = {}
    a, b = line.slope, line.offset
    for (k, r), c in terms.items():
        height = c * balls.exp(r * b) if r and b else c
        if not a:
            part: Terms = {(0, Fraction(0)): height * balls.ball(b**k)}
        else:
            part = {(j, r * a): height * balls.ball(math.comb(k, j) * a**j * b ** (k - j)) for j in range(k + 1)}
        found = _add(found, part)
    return found


def _cumulated(g: _Pieces, balls: Balls) -> tuple[list[Terms], Terms]:
    """Return ∫ g from −∞ up to a point of each piece, and over the whole line."""
    found: list[Terms] = []
    so_far: Terms = {}
    for place, part in enumerate(g.parts):
        whole = _antiderivative(part, balls)
        here = dict(so_far)
        if place:
            here = _add(here, _along(whole, _Line(Fraction(0), g.breaks[place - 1]), balls), -1)
        elif any(r <= 0 for _, r in part):
            raise AssertionError("a density does not vanish towards minus infinity")
        found.append(_add(here, whole))
        if place < len(g.breaks):
            so_far = _along(found[-1], _Line(Fraction(0), g.breaks[place]), balls)
        elif any(r >= 0 for _, r in part):
            raise AssertionError("a density does not vanish towards infinity")
        else:
            so_far = here
    return found, so_far


def _between(g: _Pieces, lowers: Sequence[_Line], uppers: Sequence[_Line], balls: Balls) -> _Pieces:
    """Return ∫ g from the highest of the lower lines to the lowest of the upper ones, as a function of t."""
    cumulated, total = _cumulated(g, balls)
    lines = list(dict.fromkeys([*lowers, *uppers]))
    found = {
        (other.offset - line.offset) / (line.slope - other.slope)
        for line, other in itertools.combinations(lines, 2)
        if line.slope != other.slope
    }
    found |= {(at - line.offset) / line.slope for line in lines if line.slope for at in g.breaks}
    breaks = sorted(found)
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


def _message(branch: Branch, draws: Sequence[NoiseDraw], constants: Sequence[Fraction], balls: Balls) -> _Pieces:
    """Return the probability of a branch, as a function of its parent's draw."""
    g = _density(draws[branch.draw], balls)
    for child in branch.children:
        g = _product(g, _message(child, draws, constants, balls))
    lowers: list[_Line] = []
    uppers: list[_Line] = []
    for place, own, parents in branch.ties:  # own·x + parents·t + constant ≥ 0
        (lowers if own > 0 else uppers).append(_Line(-parents / own, -constants[place] / own))
    return _between(g, lowers, uppers, balls)


def probability(
    draws: Sequence[NoiseDraw], conditions: Sequence[Constraint], point: Mapping[str, Fraction] | None = None
) -> Enclosure | None:
    """Return the probability that independent draws satisfy all conditions."""
    found = forest(draws, conditions)
    if found is None:
        return None
    return forest_probability(found, conditions, point or {})


def forest_probability(
    found: Forest, conditions: Sequence[Constraint], point: Mapping[str, Fraction]
) -> Enclosure | None:
    """Return the probability of conditions whose forest is already known.

    Args:
        found: the forest of the conditions; its densities must be known (`Forest.is_known`).
        conditions: on draws, and on variables of ``point``.
        point: the values of all variables that are not draws.

    Returns:
        An enclosure; see `probability`.
    """
    names = {draw_name(number) for number in range(len(found.draws))}
    constants = [
        condition.expression.constant
        + sum(
            (Fraction(value) * point[name] for name, value in condition.expression.terms.items() if name not in names),
            Fraction(0),
        )
        for condition in conditions
    ]
    for place in found.free:
        value, sign = constants[place], conditions[place].sign
        if value < 0 or (value > 0 and sign == "=") or (value == 0 and sign == ">"):
            return Enclosure(Fraction(0), Fraction(0))
    if not found.is_known:
        return None
    low = high = Fraction(1)
    for root in found.roots:
        ends = _root_probability(root, found.draws, [Fraction(each) for each in constants])
        low, high = low * ends.low, high * ends.high
    return Enclosure(low, high)


def _root_probability(root: Branch, draws: Sequence[NoiseDraw], constants: Sequence[Fraction]) -> Enclosure:
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
