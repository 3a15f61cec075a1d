"""How likely is it, approximately, that independent draws satisfy linear conditions, for many datasets at once?

The floating-point twin of `dpaudit.verify.counterexample.forest_probability`, for searches: Gauss–Legendre quadrature
between the breakpoints of the integrand, vectorised over all points. All terms are positive, so small probabilities
keep their relative accuracy: about four digits for stars, two for deeper trees. None of its results is a proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.program.noise import Density, Support
from dpaudit.program.symbolic.linear import Constraint
from dpaudit.program.symbolic.tree import NoiseDraw
from dpaudit.verify.counterexample.forest_probability import Branch, Forest

# Chosen for the accuracy stated above, at a speed that a search can afford.
_REACH = 300.0  # where a draw is cut off, in scales from 0
_FINE, _COARSE = (7, 3), (5, 2)  # (nodes of a piece, cuts towards each of its ends): alone, and for nested integrals
_FIRST_CUT, _LAST_CUT = 3.0, 16.0  # in units of the fastest decay, and of the draw's own
_MOST_CELLS = 1 << 21  # numbers in one array, 16 MiB


class Landscape:
    """The probability of one region, as a function of the variables that are not draws."""

    def __init__(self, found: Forest, conditions: Sequence[Constraint], variables: Sequence[str]) -> None:
        """Describe a region."""
        self._forest = found
        self._draws = found.draws
        rows = [[float(each.expression.terms.get(name, 0)) for name in variables] for each in conditions]
        self._of_variables = np.array(rows).reshape(len(conditions), len(variables))
        self._constants = np.array([float(each.expression.constant) for each in conditions])
        self._signs = [each.sign for each in conditions]
        depth = max((root.depth for root in found.roots), default=1)
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

    def _mass(self, branch: Branch, constants: Floats, parent: Floats | None) -> Floats:
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
        density = _density(draw)
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

    def _kinks(self, child: Branch, constants: Floats) -> tuple[float, list[Floats]]:
        """Return how fast a child's probability may change with the parent's draw, and where it has a kink."""
        draw = self._draws[child.draw]
        corners = [float(at * draw.scale) for at in _density(draw).breaks]
        lines = [(constants[..., place] / -float(own), -float(parents / own)) for place, own, parents in child.ties]
        found = [(corner - offset) / slope for offset, slope in lines if slope for corner in corners]
        found += [(b - a) / (s - t) for (a, s), (b, t) in itertools.combinations(lines, 2) if s != t]
        return max(abs(slope) for _, slope in lines) / float(draw.scale), found

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


def _density(draw: NoiseDraw) -> Density:
    density = draw.law.density
    assert density is not None, f"no density is known of {draw.method} noise"
    return density


def _share(draw: NoiseDraw, low: Floats | None, high: Floats | None) -> Floats:
    """Return the probability of a draw between two limits."""
    density, scale = _density(draw), float(draw.scale)
    if low is None:
        return np.ones(1) if high is None else density.cdf(high / scale)
    if high is None:
        return density.sf(low / scale)
    a, b = low / scale, high / scale
    inner = np.where(low > 0, density.sf(a) - density.sf(b), density.cdf(b) - density.cdf(a))
    return np.where(low < high, np.maximum(inner, 0.0), 0.0)
