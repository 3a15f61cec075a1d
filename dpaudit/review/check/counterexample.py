"""How likely is the event of a counterexample, according to the tree in the file?

The tree is read by the reader of certificates. Every leaf whose output has the form of the event adds the probability
of its conditions and the limits on its numbers, by exact integration
(`dpaudit.verify.counterexample.forest_probability`). If the conditions of the paths with one output form a cycle of
draws, their hull is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.checker.reading import rational
from dpaudit.enclosure import Enclosure
from dpaudit.evidence.event import Box, Event, Rule
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Counterexample
from dpaudit.neighbours.digest import digest
from dpaudit.program.symbolic.linear import Affine, Constraint
from dpaudit.program.symbolic.tree import Output, ProgramPath, ProgramTree
from dpaudit.verify.counterexample.forest_probability import probability
from dpaudit.verify.counterexample.shapes import read_output
from dpaudit.verify.merging import classes, merge
from dpaudit.verify.proofs.answers import leaves_of, scope_of, unlike_relation, unlike_scope
from dpaudit.verify.proofs.kind import unlike_target
from dpaudit.verify.scope import VALUES, WITNESS, WITNESS_VERSION

_RECORD = {"format", "version", "mechanism", "scope", "nodes", "pair", "event", "probabilities", "epsilon"}


def misread(evidence: Evidence, found: Counterexample) -> str:
    """Say what differs between a counterexample and the record that it was computed from; empty if nothing does."""
    record, given = found.record, scope_of(found.record["scope"])
    if record.keys() != _RECORD or (record["format"], record["version"]) != (WITNESS, WITNESS_VERSION):
        return f"its record is none of the format {WITNESS!r}, version {WITNESS_VERSION}"
    pair = [[rational(value, "the pair") for value in data] for data in record["pair"]]
    answer = int if given.values == "integer" else float
    data = [[answer(value) for value in side] for side in pair]
    if [found.data0, found.data1] != list(map(repr, data)):
        return "its data are not those of its record"
    if found.event != _event(record["event"]):
        return "its event is not that of its record"
    if [digest(side) for side in data] != [evidence.pairs[0].digest0, evidence.pairs[0].digest1]:
        return "its data are not the pair of the evidence"
    if record["scope"]["data"] != "queries" or given.values not in VALUES or len(data[0]) != given.length:
        return "its scope is not that of its data"
    if evidence.proof is not None and evidence.proof.method == "alignment":
        wrong = unlike_scope(evidence, given)
    else:
        wrong = unlike_relation(evidence, given)
    return wrong or unlike_target(evidence, record["mechanism"], given.parameters)


def _event(given: Mapping[str, Any]) -> Event:
    low, high = (tuple(map(_limit, given[side])) for side in ("low", "high"))
    if low:
        return Event("witness", (Rule(given["form"], Box(low, high), (0.5,), (0, 1)),))
    return Event("witness", (Rule(given["form"], None, (), (1,)),))


def _limit(text: str | None) -> float | None:
    return None if text is None else float(rational(text, "a limit"))


def event_probabilities(found: Counterexample) -> tuple[Enclosure, Enclosure] | None:
    """Return the probabilities of the event on both sides; None if exact integration cannot compute them."""
    record = found.record
    leaves = leaves_of(record["nodes"], record["scope"]["length"])
    tree = ProgramTree((), tuple(leaves))
    first, second = (
        _probability(tree, record["event"], [rational(value, "the pair") for value in data]) for data in record["pair"]
    )
    return None if first is None or second is None else (first, second)


def _probability(tree: ProgramTree, event: Mapping[str, Any], data: Sequence[Fraction]) -> Enclosure | None:
    point = {f"q{place}": value for place, value in enumerate(data)}
    low = high = Fraction(0)
    for group in classes(tree):
        limits = _limits(group[0].output, event)
        if limits is None or not all(limit.holds({}) for limit in limits if limit.expression.is_constant):
            continue  # the event misses it whatever is drawn, so that its conditions need not be integrated
        found = _of_class(group, tree, limits, point)
        if found is None:
            return None
        low, high = low + found.low, high + found.high
    return Enclosure(low, min(high, Fraction(1)))


def _of_class(
    group: Sequence[ProgramPath], tree: ProgramTree, limits: Sequence[Constraint], point: Mapping[str, Fraction]
) -> Enclosure | None:
    alone = [probability(leaf.draws, [*leaf.conditions, *limits], point) for leaf in group]
    known = [each for each in alone if each is not None]
    if len(known) == len(alone):
        return Enclosure(
            sum((each.low for each in known), Fraction(0)), sum((each.high for each in known), Fraction(0))
        )
    merged = merge(group, tree) if len(group) > 1 else None
    return None if merged is None else probability(group[0].draws, [*merged.hull, *limits], point)


def _limits(output: Output, event: Mapping[str, Any]) -> list[Constraint] | None:
    """Return the conditions of the event on an output's numbers; None for an output of another form."""
    read = read_output(output)
    if read is None or read.form != event["form"]:
        return None
    return list(_within(read.numbers, event))


def _within(numbers: Sequence[Affine], event: Mapping[str, Any]) -> Iterator[Constraint]:
    for side, sign in (("low", 1), ("high", -1)):
        for number, text in zip(numbers, event[side], strict=bool(event[side])):
            if text is not None:
                yield Constraint((number - Affine({}, rational(text, "a limit"))).times(sign), ">=")
