"""Does the certificate of a tree prove its bound? Merged classes must be their hulls, and every class needs shifts."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpaudit.checker.parts import dearest_by_parts
from dpaudit.checker.reading import CertificateError, ForgedError, Steps, expression, fields, items, whole
from dpaudit.checker.shifts import Movement, Region, dearest
from dpaudit.checker.tree import ALIGNED, MOST_NODES, Condition, Draw, Leaf, Tree, condition, contradict, supports

MOST_CONDITIONS = 10_000  # of a hull


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
    tree = Tree("", {"q": length}, steps, (set(), ALIGNED)).read(nodes)
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


def _same_supports(tree: Tree) -> None:
    """Raise unless each draw has the same support on all paths, since a merged class is compared with other paths."""
    for number, found in enumerate(tree.supports):
        if len(found) > 1:
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


def _hull(value: object, length: int, draws: tuple[Draw, ...], where: str, steps: Steps) -> list[Condition]:
    hull = []
    for given in items(value, where, MOST_CONDITIONS):
        terms, kind = items(given, where, 2, 2)
        if type(kind) is not str or kind not in (">", ">="):
            raise CertificateError(f"{where}: the kind of a condition is '>' or '>='")
        found = expression(terms, {"q": length, "h": len(draws)}, where, steps)
        hull.append(condition(found, kind, draws, where))
    return hull


def _by_leaf(value: object, name: str, leaves: dict[int, Leaf], where: str, steps: Steps) -> list[tuple[Leaf, Any]]:
    """Return one entry for each of these leaves; raise if any is missing, repeated or unknown."""
    found: dict[int, Any] = {}
    for entry in items(value, where, MOST_NODES):
        steps.spend(1)
        fields(entry, {"leaf", name}, where)
        number = whole(entry["leaf"], f"{where}: a leaf", 0, MOST_NODES)
        if number in found or number not in leaves:
            raise ForgedError(f"{where}: leaf {number} does not belong there, or is listed twice")
        found[number] = entry[name]
    missing = leaves.keys() - found.keys()
    if missing:
        raise ForgedError(f"{where}: leaf {min(missing)} is not listed")
    return [(leaves[number], reason) for number, reason in found.items()]
