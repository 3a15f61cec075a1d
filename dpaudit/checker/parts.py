"""What does a class cost whose queries and draws fall into parts? Each part has shifts of its own, and they add up.

A query belongs to one part; a draw may belong to several, whose shifts of it add up. Together the shifts keep a row of
the class, since each part keeps its share of it: shares that are ≥ 0 add up to what is ≥ 0, and shares that are 0 to 0.
So parts need not be independent, and nothing has to be shown of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

from dpaudit.checker.reading import ForgedError, Steps, fields, items, whole
from dpaudit.checker.shifts import Movement, Region, costs, ends, worst

MOST_PARTS = 2_000


def dearest_by_parts(region: Region, value: object, length: int, movement: Movement, steps: Steps) -> Fraction:
    """Return the largest cost of a class's shifts in nats, which are given by parts.

    Args:
        region: what the shifts must keep.
        value: the parts as JSON, each with its queries, its draws and their shifts.
        length: the number of queries.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Raises:
        ForgedError: if a shift fails, or a worst difference of a part has none.
    """
    if movement.summed and region.discrete and movement.group > 1:
        raise ForgedError(f"{region.name}: parts with integer noise share no sum of {movement.group}")
    given = items(value, f"{region.name}: the parts", MOST_PARTS, 1)
    given = [fields(each, {"queries", "draws", "shifts"}, f"{region.name}: a part") for each in given]
    queries = [_numbers(each["queries"], length, f"{region.name}: the queries of a part") for each in given]
    draws = [_numbers(each["draws"], len(region.draws), f"{region.name}: the draws of a part") for each in given]
    if sorted(number for own in queries for number in own) != list(range(length)):
        raise ForgedError(f"{region.name}: every query belongs to one part")
    if any(len(set(own)) < len(own) for own in draws):
        raise ForgedError(f"{region.name}: a part lists a draw twice")
    parts = _shares(region, queries, draws, steps)
    sums = [Fraction(0)] * (1 if movement.summed else len(movement.ranges))
    for part, each, own in zip(parts, given, queries, strict=True):
        known = costs(part, each["shifts"], len(own), steps)
        needed = list(worst(part, len(own), movement, steps))
        steps.spend(len(needed) * (len(own) + 1))
        if movement.summed:
            sums[0] = max([sums[0], *(_cost(part, known, at) for at in needed)])
            continue
        ways = part.way([f"q{number}" for number in range(len(own))])
        for number, box in enumerate(movement.ranges):
            options = product(*ends(ways, box, whole_numbers=part.discrete))
            sums[number] += max(_cost(part, known, at) for at in options)
    return max(sums)


def _numbers(value: object, count: int, where: str) -> list[int]:
    return [whole(number, where, 0, count - 1) for number in items(value, where, count)]


def _cost(part: Region, listed: Mapping[tuple[Fraction, ...], Fraction], needed: tuple[int, ...]) -> Fraction:
    found = listed.get(tuple(map(Fraction, needed)))
    if found is None:
        raise ForgedError(f"{part.name}: no shift is given for the difference ({', '.join(map(str, needed))})")
    return found


def _shares(
    region: Region, queries: Sequence[Sequence[int]], draws: Sequence[Sequence[int]], steps: Steps
) -> list[Region]:
    """Return what each part has of the rows and the equalities of a class, in the part's own numbers."""
    home: dict[str, list[tuple[int, str]]] = {}
    for letter, listed in (("q", queries), ("h", draws)):
        for place, numbers in enumerate(listed):
            for new, old in enumerate(numbers):
                home.setdefault(f"{letter}{old}", []).append((place, f"{letter}{new}"))
    shares = []
    for rows in (region.rows, region.equalities):
        found: list[dict[tuple[tuple[str, int], ...], dict[str, int]]] = [{} for _ in queries]
        for row in rows:
            own: dict[int, dict[str, int]] = {}
            for name, coefficient in row.items():
                steps.spend(1 + len(home.get(name, ())))
                for place, renamed in home.get(name, ()):  # a draw of no part is not shifted
                    own.setdefault(place, {})[renamed] = coefficient
            for place, terms in own.items():
                found[place][tuple(terms.items())] = terms
        shares.append([tuple(each.values()) for each in found])
    return [
        Region(f"{region.name}, part {place}", rows, equalities, tuple(region.draws[number] for number in numbers))
        for place, (rows, equalities, numbers) in enumerate(zip(*shares, draws, strict=True))
    ]
