"""What does it cost to align a class with that on a neighbouring dataset? Rows, worst differences and costs.

A class has one shift of its draws for each difference of the data. The differences of a relation form a polytope and
the cheapest cost is convex, so the worst differences are vertices. If a query can make the rows harder in one direction
only, the other direction is left out. For discrete draws shifts cannot be mixed, so every integer difference counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from dpaudit.checker.certificate import Checked
from dpaudit.checker.queries import MOST_LENGTH, Movement, QueryCertificate
from dpaudit.checker.reading import (
    CertificateError,
    ForgedError,
    LinearExpression,
    Steps,
    expression,
    fields,
    items,
    rational,
    text,
    whole,
)
from dpaudit.checker.tree import (
    ALIGNED,
    DIGITS_OF_VECTOR,
    MOST_NODES,
    CheckedTree,
    Condition,
    Leaf,
    TreeDraw,
    condition,
    contradict,
    supports,
    to_integers,
)

MOST_DIFFERENCES = 20_000


@dataclass(frozen=True, slots=True)
class Region:
    """What a shift must keep: the rows stay ≥ 0 and the equalities 0, both without their constants."""

    name: str  # what messages call it
    rows: tuple[Mapping[str, int], ...]  # inequalities over data, states and draws
    equalities: tuple[Mapping[str, int], ...]  # conditions with "=" and released expressions
    draws: tuple[TreeDraw, ...]  # the draws that are shifted

    @classmethod
    def of(
        cls, name: str, conditions: Sequence[Condition], kept: Iterable[LinearExpression], draws: Sequence[TreeDraw]
    ) -> Region:
        """Return the region of some conditions.

        Args:
            name: what messages call it.
            conditions: those of the region.
            kept: further expressions that must keep their value.
            draws: the draws that are shifted.
        """
        equal = [row for row in conditions if row.kind == "="]
        equal += [condition(expression, "=", draws, name) for expression in kept]
        rows = tuple(row.terms for row in conditions if row.kind != "=")
        return cls(name, rows, tuple(row.terms for row in equal), tuple(draws))

    @property
    def discrete(self) -> bool:
        """Whether one of the draws is discrete."""
        return any(not draw.continuous for draw in self.draws)

    def way(self, names: Sequence[str]) -> list[str]:
        """Return for each variable whether its worst differences are "low", "high" or "both"."""
        rises: set[str] = set()
        falls: set[str] = set()
        for row in self.rows:
            for name, coefficient in row.items():
                (rises if coefficient > 0 else falls).add(name)
        for row in self.equalities:
            rises.update(row)
            falls.update(row)
        return ["low" if name not in falls else "high" if name not in rises else "both" for name in names]

    def shift(self, value: object, where: str) -> list[Fraction]:
        """Return a shift of the draws that their laws allow."""
        given = items(value, where, len(self.draws), len(self.draws))
        shifts = [rational(number, where) for number in given]
        for number, (shift, draw) in enumerate(zip(shifts, self.draws, strict=True)):
            law = draw.law
            if shift and not (law.up or law.down):
                raise ForgedError(f"{where}: h{number} is {draw.method} noise and must not be shifted, as by {shift}")
            if shift < 0 and not law.down:
                raise ForgedError(f"{where}: h{number} is {draw.method} noise and must not be shifted down by {-shift}")
            if shift > 0 and not law.up:
                raise ForgedError(f"{where}: h{number} is {draw.method} noise and must not be shifted up by {shift}")
            if law.support == "integers" and shift.denominator != 1:
                raise ForgedError(f"{where}: h{number} is integer noise and must not be shifted by {shift}")
        return shifts

    def cost(self, values: Mapping[str, Fraction], shift: Sequence[Fraction], where: str, steps: Steps) -> Fraction:
        """Return the cost of a shift in nats.

        Args:
            values: the differences of the other variables ("1" has the value 1, for equalities to a constant).
            shift: of each draw.
            where: what to call it in messages.
            steps: the counter of the work.

        Raises:
            ForgedError: unless the shift keeps the region.
        """
        moved = dict(values)
        moved.update((f"h{number}", value) for number, value in enumerate(shift))
        integers, common = to_integers(list(moved.values()), DIGITS_OF_VECTOR, where)
        by_draw = dict(zip(moved, integers, strict=True))
        weight = 1 + common.bit_length() // 512
        for what, rows in (("condition", self.rows), ("released expression or equality", self.equalities)):
            for row in rows:
                steps.spend((len(row) + 1) * weight)
                total = sum([coefficient * by_draw[name] for name, coefficient in row.items()])
                if total < 0 or (total and rows is self.equalities):
                    text = " + ".join(f"{coefficient}·{name}" for name, coefficient in row.items())
                    raise ForgedError(f"{where}: the shift does not keep the {what} {text:.200}")
        sizes = [abs(s) / d.scale for s, d in zip(shift, self.draws, strict=True) if d.law.up or d.law.down]
        integers, common = to_integers(sizes, DIGITS_OF_VECTOR, where)
        return Fraction(sum(integers), common)


def worst(region: Region, length: int, movement: Movement, steps: Steps) -> Iterator[tuple[int, ...]]:
    """Yield the worst differences of a class over the queries q0, q1, …; some may come more than once.

    Args:
        region: what shifts must keep.
        length: the number of queries.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Raises:
        CertificateError: if there are too many.
    """
    ways = region.way([f"q{number}" for number in range(length)])
    whole_numbers = region.discrete
    if not movement.summed:
        for box in movement.ranges:
            options = ends(ways, box, whole_numbers=whole_numbers)
            if prod(map(len, options)) > MOST_DIFFERENCES:
                raise CertificateError(f"{region.name}: more than {MOST_DIFFERENCES:,} worst differences")
            yield from product(*options)
    elif whole_numbers:
        yield from _points(ways, movement.group, region.name, steps)
    else:
        for number, way in enumerate(ways):
            for size in {"low": [-1], "high": [1], "both": [-1, 1]}[way]:
                yield tuple(size * movement.group * (j == number) for j in range(length))


def ends(ways: Iterable[str], box: tuple[int, int], *, whole_numbers: bool) -> list[list[int]]:
    """Return the worst differences of each query within a box, by the way in which it is worse."""
    low, high = box
    between = list(range(low, high + 1)) if whole_numbers else sorted({low, high})
    return [[low] if way == "low" else [high] if way == "high" else between for way in ways]


def _points(ways: list[str], most: int, where: str, steps: Steps) -> list[tuple[int, ...]]:
    """Return the integer points with Σ|δ| ≤ ``most``, each coordinate with the signs that ``ways`` allows."""
    points: list[tuple[tuple[int, ...], int]] = [((), most)]
    for way in ways:
        longer = []
        for point, left in points:
            low, high = (0 if way == "high" else -left), (0 if way == "low" else left)
            steps.spend((high - low + 1) * (len(point) + 1))
            longer += [((*point, here), left - abs(here)) for here in range(low, high + 1)]
            if len(longer) > MOST_DIFFERENCES:
                raise CertificateError(f"{where}: more than {MOST_DIFFERENCES:,} worst differences")
        points = longer
    return [point for point, _ in points]


def dearest(region: Region, value: object, length: int, movement: Movement, steps: Steps) -> Fraction:
    """Return the largest cost of a class's shifts in nats.

    Args:
        region: what the shifts must keep.
        value: the shifts as JSON.
        length: the number of queries.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Raises:
        ForgedError: if a shift fails, or a worst difference has none.
    """
    listed = costs(region, value, length, steps)
    for needed in worst(region, length, movement, steps):
        steps.spend(length + 1)
        if needed not in listed:
            raise ForgedError(f"{region.name}: no shift is given for the difference ({', '.join(map(str, needed))})")
    return max(listed.values(), default=Fraction(0))


def costs(region: Region, value: object, length: int, steps: Steps) -> dict[tuple[Fraction, ...], Fraction]:
    """Return the cost of the shift for each difference that is listed; raise if a shift fails.

    Args:
        region: what the shifts must keep.
        value: the shifts as JSON.
        length: the number of queries.
        steps: the counter of the work.
    """
    listed: dict[tuple[Fraction, ...], Fraction] = {}
    for entry in items(value, f"{region.name}: the shifts", MOST_DIFFERENCES * 2):
        where = f"{region.name}: shift {len(listed)}"
        steps.spend(length + len(region.draws) + 1)
        fields(entry, {"difference", "shift"}, where)
        given = items(entry["difference"], f"{where}: the difference", length, length)
        difference = tuple(rational(number, f"{where}: the difference") for number in given)
        shift = region.shift(entry["shift"], where)
        if difference in listed:
            raise CertificateError(f"{where}: its difference is listed twice")
        values = {f"q{number}": moved for number, moved in enumerate(difference)}
        listed[difference] = region.cost(values, shift, where, steps)
    return listed


# --- What does a class cost whose queries and draws fall into parts? Each part has shifts of its own, and they add
# up.
#
# A query belongs to one part; a draw may belong to several, whose shifts of it add up. Together the shifts keep a row
# of the class, since each part keeps its share of it: shares that are ≥ 0 add up to what is ≥ 0, and shares that are 0
# to 0. So parts need not be independent, and nothing has to be shown of that.

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
    queries = [_wholes(each["queries"], length, f"{region.name}: the queries of a part") for each in given]
    draws = [_wholes(each["draws"], len(region.draws), f"{region.name}: the draws of a part") for each in given]
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
            sums[0] = max([sums[0], *(_cost_of_parts(part, known, at) for at in needed)])
            continue
        ways = part.way([f"q{number}" for number in range(len(own))])
        for number, box in enumerate(movement.ranges):
            options = product(*ends(ways, box, whole_numbers=part.discrete))
            sums[number] += max(_cost_of_parts(part, known, at) for at in options)
    return max(sums)


def _wholes(value: object, count: int, where: str) -> list[int]:
    return [whole(number, where, 0, count - 1) for number in items(value, where, count)]


def _cost_of_parts(part: Region, listed: Mapping[tuple[Fraction, ...], Fraction], needed: tuple[int, ...]) -> Fraction:
    aligned = listed.get(tuple(map(Fraction, needed)))
    if aligned is None:
        raise ForgedError(f"{part.name}: no shift is given for the difference ({', '.join(map(str, needed))})")
    return aligned


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
        terms_of_parts: list[dict[tuple[tuple[str, int], ...], dict[str, int]]] = [{} for _ in queries]
        for row in rows:
            own: dict[int, dict[str, int]] = {}
            for name, coefficient in row.items():
                steps.spend(1 + len(home.get(name, ())))
                for place, renamed in home.get(name, ()):  # a draw of no part is not shifted
                    own.setdefault(place, {})[renamed] = coefficient
            for place, terms in own.items():
                terms_of_parts[place][tuple(terms.items())] = terms
        shares.append([tuple(each.values()) for each in terms_of_parts])
    return [
        Region(f"{region.name}, part {place}", rows, equalities, tuple(region.draws[number] for number in numbers))
        for place, (rows, equalities, numbers) in enumerate(zip(*shares, draws, strict=True))
    ]


# --- Does the certificate of a tree prove its bound? Merged classes must be their hulls, and every class needs
# shifts.

MOST_CONDITIONS = 10_000  # of a hull


def check(given: dict[str, Any]) -> Checked:
    """Check a certificate of a tree, perhaps of values of the queries."""
    certificate = QueryCertificate.read(given, {"nodes", "classes"}, frozenset({"values"}))
    steps, told = Steps(), list[str]()
    count, moved = certificate.head.scope["length"], certificate.movement
    if "values" in given:
        count, moved = check_values(given["values"], count, moved, steps)
        told = [
            f"The tree reads {count:,} values of the queries, each computed on branches of its own; for every pair "
            "of branches neighbours move them no farther than the proof takes them to."
        ]
    bound, sentences = check_tree(given, count, moved, steps)
    return certificate.proved(bound, [*told, *sentences])


def check_tree(given: dict[str, Any], length: int, movement: Movement, steps: Steps) -> tuple[Fraction, list[str]]:
    """Return the bound that the shifts prove, and what was checked.

    Args:
        given: the certificate.
        length: the number of queries.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Returns:
        ε in nats, and sentences for people.

    Raises:
        ForgedError: if a shift fails, or a worst difference has none.
        CertificateError: if it is not in this format, or too large.
    """
    nodes = items(given["nodes"], "nodes", MOST_NODES, 1)
    merged = items(given["classes"], "classes", MOST_NODES)
    tree = CheckedTree("", {"q": length}, steps, (set(), ALIGNED)).read(nodes)
    members: dict[int, list[Leaf]] = {}
    alone: list[Leaf] = []
    live: list[Leaf] = []
    for leaf in tree.leaves.values():
        if not movement.integer and leaf.discrete:
            raise ForgedError(f"{leaf.name}: integer noise proves nothing of data that are real")
        if leaf.null:
            if leaf.given:
                raise CertificateError(f"{leaf.name}: it is null (its equality has probability 0), so it has no shifts")
            continue
        live.append(leaf)
        if leaf.given.keys() in ({"shifts"}, {"parts"}):
            alone.append(leaf)
        elif leaf.given.keys() == {"class"}:
            number = whole(leaf.given["class"], f"{leaf.name}: the class", 0, len(merged) - 1)
            members.setdefault(number, []).append(leaf)
        else:
            raise ForgedError(f"{leaf.name}: it has shifts of its own or a class or parts, one of the three")
    bound = Fraction(0)
    for leaf in alone:
        region = Region.of(leaf.name, leaf.conditions, leaf.output.released, leaf.draws)
        bound = max(bound, _cost(region, leaf.given, length, movement, steps))
    if merged:
        _same_supports(tree)
    for number, entry in enumerate(merged):
        region, aligned = _merged(f"class {number}", entry, members.get(number, []), live, length, steps)
        bound = max(bound, _cost(region, aligned, length, movement, steps))
    return bound, [
        f"The tree has {len(nodes):,} nodes, {len(tree.leaves):,} leaves ({len(tree.leaves) - len(live):,} of "
        f"probability 0) and {tree.dead:,} dead ends; it is complete.",
        f"Its leaves form {len(alone) + len(merged):,} classes ({len(merged):,} of them merged), and the shifts of "
        "each keep it and what it releases.",
    ]


def _cost(region: Region, given: Mapping[str, Any], length: int, movement: Movement, steps: Steps) -> Fraction:
    """Return the cost of a class, by its shifts or by those of its parts."""
    if "parts" in given:
        return dearest_by_parts(region, given["parts"], length, movement, steps)
    return dearest(region, given["shifts"], length, movement, steps)


def _same_supports(tree: CheckedTree) -> None:
    """Raise unless each draw has the same support on all paths, since a merged class is compared with other paths."""
    for number, supports_seen in enumerate(tree.supports):
        if len(supports_seen) > 1:
            raise ForgedError(f"classes are merged, but h{number} does not have the same support on all paths")


def _merged(
    where: str, entry: object, leaves: list[Leaf], live: list[Leaf], length: int, steps: Steps
) -> tuple[Region, dict[str, Any]]:
    """Check that a merged class equals its hull; return the region, and the shifts that are still to be checked."""
    by_parts = type(entry) is dict and "parts" in entry
    entry = fields(entry, {"hull", "inside", "apart", "parts" if by_parts else "shifts"}, where)
    if not leaves:
        raise CertificateError(f"{where}: no leaf belongs to it")
    first = leaves[0]
    for leaf in leaves:
        if leaf.output.form != first.output.form:
            raise ForgedError(f"{where}: {first.name} and {leaf.name} have different outputs")
        if leaf.draws != first.draws:
            raise ForgedError(f"{where}: {first.name} and {leaf.name} have different draws")
    hull = _hull(entry["hull"], length, first.draws, f"{where}: the hull", steps)
    reasons = _by_leaf(entry["inside"], "reasons", {leaf.number: leaf for leaf in leaves}, f"{where}: inside", steps)
    for leaf, vectors in reasons:
        text = f"{where}: inside, {leaf.name}"
        for outside, vector in zip(hull, items(vectors, text, len(hull), len(hull)), strict=True):
            steps.spend(len(leaf.conditions) + len(leaf.draws))
            contradict([*leaf.conditions, outside.negation(), *supports(leaf.draws)], vector, text, steps)
    own = {leaf.number for leaf in leaves}
    others = {leaf.number: leaf for leaf in live if leaf.number not in own}
    for leaf, vector in _by_leaf(entry["apart"], "reason", others, f"{where}: apart", steps):
        steps.spend(len(hull) + len(leaf.conditions) + len(leaf.draws))
        draws = (*first.draws, *leaf.draws[len(first.draws) :])
        contradict([*hull, *leaf.conditions, *supports(draws)], vector, f"{where}: apart, {leaf.name}", steps)
    return Region.of(where, hull, first.output.released, first.draws), entry


def _hull(value: object, length: int, draws: tuple[TreeDraw, ...], where: str, steps: Steps) -> list[Condition]:
    hull = []
    for given in items(value, where, MOST_CONDITIONS):
        terms, kind = items(given, where, 2, 2)
        if type(kind) is not str or kind not in (">", ">="):
            raise CertificateError(f"{where}: the kind of a condition is '>' or '>='")
        side = expression(terms, {"q": length, "h": len(draws)}, where, steps)
        hull.append(condition(side, kind, draws, where))
    return hull


def _by_leaf(value: object, name: str, leaves: dict[int, Leaf], where: str, steps: Steps) -> list[tuple[Leaf, Any]]:
    """Return one entry for each of these leaves; raise if any is missing, repeated or unknown."""
    reasons: dict[int, Any] = {}
    for entry in items(value, where, MOST_NODES):
        steps.spend(1)
        fields(entry, {"leaf", name}, where)
        number = whole(entry["leaf"], f"{where}: a leaf", 0, MOST_NODES)
        if number in reasons or number not in leaves:
            raise ForgedError(f"{where}: leaf {number} does not belong there, or is listed twice")
        reasons[number] = entry[name]
    missing = leaves.keys() - reasons.keys()
    if missing:
        raise ForgedError(f"{where}: leaf {min(missing)} is not listed")
    return [(leaves[number], reason) for number, reason in reasons.items()]


# --- How far do neighbours move numbers that are computed of the queries by branches? Compared for every pair of
# branches.
#
# A tree may read values in place of queries, as of |q0| or of the largest query. Each value is a tree of its own, of
# branches on queries alone. On neighbours it may be computed on two different leaves, so that its movement is bounded
# for every pair of them.

MOST_LEAVES = 200  # of a value; their pairs are compared


@dataclass(frozen=True, slots=True)
class _Value:
    """One value: what it is on each leaf."""

    name: str
    leaves: tuple[tuple[Leaf, LinearExpression], ...]

    @property
    def integer(self) -> bool:
        """Whether it is a whole number where all queries are."""
        return all(number.denominator == 1 for _, one in self.leaves for number in (one.constant, *one.terms.values()))

    @property
    def queries(self) -> set[str]:
        """The queries that it depends on."""
        named = {name for _, one in self.leaves for name in one.terms}
        return named | {name for leaf, _ in self.leaves for each in leaf.conditions for name in each.terms}


def check_values(value: object, length: int, movement: Movement, steps: Steps) -> tuple[int, Movement]:
    """Return how many values there are, and how neighbours move them.

    Args:
        value: the values as JSON.
        length: the number of queries.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Raises:
        ForgedError: if neighbours may move a value farther.
        CertificateError: if it is not in this format, or too large.
    """
    given = items(value, "values", MOST_LENGTH, 1)
    integer = movement.integer
    sloped = movement.summed and type(given[0]) is dict and "slopes" in given[0]
    total = {f"q{number}": Fraction(0) for number in range(length)}
    for number, entry in enumerate(given):
        fields(entry, {"nodes", "slopes" if sloped else "pairs"}, f"value {number}")
        read_value = _read_value(f"value {number}", entry["nodes"], length, steps)
        integer = integer and read_value.integer
        if sloped:
            for name, slope in _slopes(read_value, entry["slopes"], length, steps).items():
                total[name] += slope
        else:
            _moves(read_value, entry["pairs"], length, movement, steps)
    if any(slope > 1 for slope in total.values()):
        raise ForgedError("a query that moves by 1 moves the values by more than 1 in sum")
    if sloped:
        return len(given), Movement("norm=1", movement.group, integer)
    return len(given), Movement("all", 1, integer)


def _read_value(name: str, value: object, length: int, steps: Steps) -> _Value:
    tree = CheckedTree(f"{name}: ", {"q": length}, steps, (set(), frozenset())).read(items(value, name, MOST_NODES, 1))
    if not 1 <= len(tree.leaves) <= MOST_LEAVES:
        raise CertificateError(f"{name}: {len(tree.leaves):,} leaves, between 1 and {MOST_LEAVES:,} are possible")
    leaves: list[tuple[Leaf, LinearExpression]] = []
    for leaf in tree.leaves.values():
        if leaf.draws or leaf.output.form[0] != "float" or len(leaf.output.form) != 3:
            raise ForgedError(f"{leaf.name}: a value is a number, and no noise is drawn for it")
        leaves.append((leaf, LinearExpression(dict(leaf.output.form[1]), leaf.output.form[2])))
    return _Value(name, tuple(leaves))


def _moves(read_value: _Value, value: object, length: int, movement: Movement, steps: Steps) -> None:
    """Check that no neighbours move a value by more than 1: the box is symmetric, so that upwards is enough."""
    box: list[Condition] = []
    for number in range(length):
        box.append(Condition({f"s{number}": 1}, movement.group, ">=", smooth=False))
        box.append(Condition({f"s{number}": -1}, movement.group, ">=", smooth=False))
    moved = {f"q{number}": f"s{number}" for number in range(length)}
    pairs = [(one, other) for one in read_value.leaves for other in read_value.leaves]
    vectors = items(value, f"{read_value.name}: the pairs", len(pairs), len(pairs))
    for (one, other), vector in zip(pairs, vectors, strict=True):
        _contradict(read_value.name, one, other, moved, box, LinearExpression({}, Fraction(1)), 1, vector, steps)


def _slopes(read_value: _Value, value: object, length: int, steps: Steps) -> dict[str, Fraction]:
    """Return by how much a query that moves by 1 moves a value at most, for each query that it depends on."""
    slopes: dict[str, Fraction] = {}
    pairs = [(one, other) for one in read_value.leaves for other in read_value.leaves]
    for entry in items(value, f"{read_value.name}: the slopes", length):
        where = f"{read_value.name}: a slope"
        fields(entry, {"query", "slope", "up", "down"}, where)
        query = text(entry["query"], where)
        slope = rational(entry["slope"], where)
        if query not in read_value.queries or query in slopes or slope < 0:
            raise ForgedError(f"{where}: {query} is no query of it, or is listed twice, or its slope is negative")
        slopes[query] = slope
        # the query moves by s0 ≥ 0, and the other direction is the pair turned round
        ahead = [Condition({"s0": 1}, 0, ">=", smooth=False)]
        for name, sign in (("up", 1), ("down", -1)):
            vectors = items(entry[name], where, len(pairs), len(pairs))
            for (one, other), vector in zip(pairs, vectors, strict=True):
                limit = LinearExpression({"s0": slope} if slope else {}, Fraction(0))
                _contradict(read_value.name, one, other, {query: "s0"}, ahead, limit, sign, vector, steps)
    missing = read_value.queries - slopes.keys()
    if missing:
        raise ForgedError(f"{read_value.name}: no slope is given for {min(missing)}")
    return slopes


def _contradict(
    name: str,
    one: tuple[Leaf, LinearExpression],
    other: tuple[Leaf, LinearExpression],
    moved: Mapping[str, str],
    ranges: Sequence[Condition],
    limit: LinearExpression,
    sign: int,
    vector: Any,
    steps: Steps,
) -> None:
    """Raise unless a value that is computed on two leaves moves by no more than a limit."""
    known = list(one[0].conditions)
    for each in other[0].conditions:
        steps.spend(len(each.terms) + 1)
        known.append(condition(_at(each.written, moved), each.kind, (), name))
    known += ranges
    apart = _at(other[1], moved).minus(one[1])
    if sign < 0:
        apart = LinearExpression({}, Fraction(0)).minus(apart)
    contrary = condition(apart.minus(limit), ">", (), name)
    steps.spend(len(known) + 1)
    where = f"{name}: the pair of leaves {one[0].number} and {other[0].number}"
    contradict([*known, contrary], vector, where, steps)


def _at(given: LinearExpression, moved: Mapping[str, str]) -> LinearExpression:
    """Return an expression at the neighbour, in the queries and in how far each moves."""
    terms = dict(given.terms)
    for query, name in moved.items():
        if query in given.terms:
            terms[name] = given.terms[query]
    return LinearExpression(terms, given.constant)
