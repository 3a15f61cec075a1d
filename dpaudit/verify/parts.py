"""Which draws answer for which queries, one part at a time? Long outputs are aligned coordinate by coordinate.

Where the queries and the draws of a class fall into parts that no condition and no released number ties together, a
shift is found for each part alone. Then the worst differences of all parts add up, in place of all their combinations:
a vector of n answers has 2^n vertices, and 2·n differences of parts. Running sums come apart too, since the differences
of what is released are released. Where a part has too many differences still, its queries are taken one by one, and
what each needs of the same draws adds up: for a sum of n answers that is the bound, elsewhere it may be more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.linear import Affine
from dpaudit.program.symbolic.tree import NoiseDraw, draw_name
from dpaudit.verify.differences import MOST_DIFFERENCES, Difference, Direction, boxes_of, is_summed, worst_differences
from dpaudit.verify.shifts import Shift, Shifter

_FEW = 64  # worst differences of a class that are listed as they are
_MOST_TERMS = 200_000  # of released numbers that are solved for their draws


@dataclass(frozen=True, slots=True)
class Part:
    """Queries and draws that belong together, by their numbers; a draw may belong to several parts."""

    queries: tuple[int, ...]
    draws: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AlignedPart:
    """A part with its shifts: of its own queries and draws, in their order."""

    part: Part
    shifts: tuple[Shift, ...]


def parts_of(
    rows: Sequence[Affine],
    equalities: Sequence[Affine],
    draws: Sequence[NoiseDraw],
    directions: Sequence[Direction],
    relation: Relation,
) -> list[Part]:
    """Return the parts of a class; none if it has but one, or few worst differences."""
    whole = any(draw.is_discrete for draw in draws)
    if is_summed(relation):
        many = 2 * len(directions)
        if whole and relation.group > 1:
            return []  # one part cannot tell how much another has left
    else:
        many = sum(math.prod(map(len, box)) for box in boxes_of(directions, relation, whole=whole))
    if many <= _FEW or sum(len(each.terms) for each in equalities) > _MOST_TERMS:
        return []
    together: dict[str, str] = {}

    def root(name: str) -> str:
        while together.setdefault(name, name) != name:
            together[name] = together[together[name]]
            name = together[name]
        return name

    for terms in [row.terms for row in rows] + _solved(equalities):
        names = list(terms)
        for name in names[1:]:
            together[root(name)] = root(names[0])
    queries: dict[str, list[int]] = {}
    own: dict[str, list[int]] = {}
    for number in range(len(directions)):
        queries.setdefault(root(f"q{number}"), []).append(number)
    for number in range(len(draws)):
        own.setdefault(root(draw_name(number)), []).append(number)
    roots = dict.fromkeys([*queries, *own])
    found: list[Part] = []
    for at in roots:
        part = Part(tuple(queries.get(at, ())), tuple(own.get(at, ())))
        ways = [directions[number] for number in part.queries]
        discrete = any(draws[number].is_discrete for number in part.draws)
        sizes = [math.prod(map(len, box)) for box in boxes_of(ways, relation, whole=discrete)]
        if sum(sizes) > MOST_DIFFERENCES:
            found += [Part((number,), part.draws) for number in part.queries]
        else:
            found.append(part)
    return found if len(found) > 1 else []


def _solved(equalities: Iterable[Affine]) -> list[dict[str, Fraction]]:
    """Return equalities with the same solutions, each solved for a variable that is in no other one.

    Of all variables a draw is solved for, where there is one: so do running sums come apart.
    """
    solved: dict[str, dict[str, Fraction]] = {}
    uses: dict[str, set[str]] = {}
    for equality in equalities:
        terms = {name: Fraction(number) for name, number in equality.terms.items()}
        for name in [name for name in terms if name in solved]:
            _add(terms, solved[name], -terms[name])
        if not terms:
            continue
        pivot = next((name for name in terms if name[0] == "h"), next(iter(terms)))
        factor = 1 / terms[pivot]
        terms = {name: factor * number for name, number in terms.items()}
        for other in list(uses.get(pivot, ())):
            _add(solved[other], terms, -solved[other][pivot])
            for name in terms:
                uses.setdefault(name, set())
                (uses[name].add if name in solved[other] else uses[name].discard)(other)
        solved[pivot] = terms
        for name in terms:
            uses.setdefault(name, set()).add(pivot)
    return list(solved.values())


def _add(terms: dict[str, Fraction], more: Mapping[str, Fraction], factor: Fraction) -> None:
    for name, number in more.items():
        total = terms.get(name, Fraction(0)) + factor * number
        if total:
            terms[name] = total
        else:
            terms.pop(name, None)


def align_parts(
    parts: Sequence[Part],
    rows: Sequence[Affine],
    equalities: Sequence[Affine],
    draws: Sequence[NoiseDraw],
    directions: Sequence[Direction],
    relation: Relation,
) -> tuple[tuple[AlignedPart, ...], Fraction | None, Difference]:
    """Align each part by itself."""
    kept = _shares(rows, parts), _shares(equalities, parts)
    found: list[AlignedPart] = []
    for place, part in enumerate(parts):
        own = [draws[number] for number in part.draws]
        names = [f"q{number}" for number in range(len(part.queries))]
        shifter = Shifter(kept[0][place], kept[1][place], own, names)
        ways = [directions[number] for number in part.queries]
        shifts = []
        for difference in worst_differences(ways, relation, whole=any(draw.is_discrete for draw in own)):
            shift = shifter.cheapest(difference)
            if shift is None:
                return (), None, _placed([(part, difference)], directions, relation)
            shifts.append(shift)
        found.append(AlignedPart(part, tuple(shifts)))
    return (tuple(found), *_dearest(found, draws, directions, relation))


def _shares(rows: Sequence[Affine], parts: Sequence[Part]) -> list[list[Affine]]:
    """Return what each part has of each row, in the part's own numbers."""
    home: dict[str, list[tuple[int, str]]] = {}
    for place, part in enumerate(parts):
        for new, old in enumerate(part.queries):
            home.setdefault(f"q{old}", []).append((place, f"q{new}"))
        for new, old in enumerate(part.draws):
            home.setdefault(draw_name(old), []).append((place, draw_name(new)))
    found: list[dict[Affine, None]] = [{} for _ in parts]
    for row in rows:
        own: dict[int, dict[str, Fraction | int]] = {}
        for name, number in row.terms.items():
            for place, renamed in home[name]:
                own.setdefault(place, {})[renamed] = number
        for place, terms in own.items():
            found[place][Affine(terms)] = None
    return [list(each) for each in found]


def _dearest(
    aligned: Sequence[AlignedPart], draws: Sequence[NoiseDraw], directions: Sequence[Direction], relation: Relation
) -> tuple[Fraction, Difference]:
    """Return the largest cost of a difference, and this difference."""
    if is_summed(relation):  # one query moves, and the draws of all other parts stay
        shift, part = max(
            ((shift, each.part) for each in aligned for shift in each.shifts), key=lambda pair: pair[0].cost
        )
        return shift.cost, _placed([(part, _whole(shift))], directions, relation)
    best: tuple[Fraction, list[tuple[Part, Difference]]] | None = None
    for number in range(relation.group + 1 if relation.movement == "monotone" else 1):
        total, worst = Fraction(0), []
        for each in aligned:
            ways = [directions[query] for query in each.part.queries]
            box = boxes_of(ways, relation, whole=any(draws[draw].is_discrete for draw in each.part.draws))[number]
            dearest = max(
                (
                    shift
                    for shift in each.shifts
                    if all(moved in ends for moved, ends in zip(shift.difference, box, strict=True))
                ),
                key=lambda shift: shift.cost,
            )
            total += dearest.cost
            worst.append((each.part, _whole(dearest)))
        if best is None or total > best[0]:
            best = total, worst
    assert best is not None
    return best[0], _placed(best[1], directions, relation)


def _whole(shift: Shift) -> Difference:
    return tuple(map(int, shift.difference))


def _placed(
    moved: Sequence[tuple[Part, Difference]], directions: Sequence[Direction], relation: Relation
) -> Difference:
    """Return a difference of all queries, of which those of some parts are given."""
    found = [0] * len(directions)
    for part, difference in moved:
        for query, step in zip(part.queries, difference, strict=True):
            found[query] = step
    return tuple(found)
