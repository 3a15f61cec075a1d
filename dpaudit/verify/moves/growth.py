"""For how many numbers would a bound be more than the claim? The proof's own price, of movements that are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpaudit.checker import CertificateError
from dpaudit.checker.moves import MOST_NUMBERS, check_nodes, price
from dpaudit.reading.expressions.ways import read
from dpaudit.targets.mechanism import Mechanism
from dpaudit.verify.moves.derive import Derived, Numbers, given_of, nodes_of, releases_of
from dpaudit.verify.moves.movement import farthest

_ROUNDS = 2  # of the search for a large movement: corners and a grid, and points close to the best
_NEAR = Fraction(1, 10**6)
_WAYS = 200  # that the data may decide in calls: a look, which is not to take longer than the proof


def exceeds_at(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    found: Derived,
    limit: Fraction,
    *,
    notion: str,
    delta: Fraction,
    seed: int,
) -> int | None:
    """Return the first length at which the bound of a proof for n numbers would be above a limit.

    A bound is at least the price of movements that are found. Looked at are 2n + 1 numbers, and those between only
    where it is above there.

    Args:
        mechanism, parameters: what was read.
        found: the proof, for a length that is given.
        limit: what is claimed.
        notion, delta: what is bounded.
        seed: of points that are tried.

    Returns:
        The length; None where 2n + 1 numbers, or as many as are read, keep it, or are not read.
    """
    length = found.read.numbers.length
    assert length is not None
    last = min(2 * length + 1, MOST_NUMBERS)

    def above(many: int) -> bool:
        numbers = replace(found.read.numbers, length=many)
        least = _least(mechanism, parameters, found.read.container, numbers, notion, delta, seed)
        return least is not None and least > limit * (1 + _NEAR)

    if last == length or not above(last):
        return None
    return next((many for many in range(length + 1, last) if above(many)), last)


def _least(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    container: str,
    numbers: Numbers,
    notion: str,
    delta: Fraction,
    seed: int,
) -> Fraction | None:
    """Return a bound from below of what a proof for so many numbers would show; None where they are not read."""
    length = numbers.length
    assert length is not None
    try:
        reading = read(mechanism.function, length, container, parameters, given_of(mechanism), _WAYS)
    except Exception:  # as for the length that was asked for, where it would be told
        return None
    box = [(numbers.low, numbers.high)] * length
    moves = []
    for release in reading.releases:
        for value in release.moving():
            most = [Fraction(0)] * length
            for replaced in {0, length // 2, length - 1}:
                most[replaced] = Fraction(farthest(value, box, replaced, seed, _ROUNDS)[0])
            moves.append({"node": value.place, "most": most})
    nodes = nodes_of(reading)
    releases = releases_of(reading)
    try:
        expressions = check_nodes(nodes, numbers.scope, numbers.within)
        return price({"moves": moves, "releases": releases, "notion": notion, "delta": str(delta)}, expressions)
    except CertificateError:
        return None


__all__ = ["exceeds_at"]
