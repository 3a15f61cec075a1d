"""How likely is the event of a counterexample, according to the tree in the file?

The tree is read by the reader of certificates. Every leaf whose output has the form of the event adds the probability
of its conditions and the limits on its numbers, by exact integration
(`dpaudit.verify.counterexample.forest_probability`). If the conditions of the paths with one output form a cycle of
draws, their hull is tried.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.checker.reading import Steps, rational
from dpaudit.checker.tree import ALIGNED, Leaf, Tree
from dpaudit.enclosure import Enclosure
from dpaudit.evidence.canonical_json import plain_value
from dpaudit.evidence.event import Box, Event, Rule
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Counterexample
from dpaudit.neighbours import Relation
from dpaudit.neighbours.digest import digest
from dpaudit.program.symbolic.linear import Affine, Constraint
from dpaudit.program.symbolic.tree import NoiseDraw, Output, ProgramPath, ProgramTree
from dpaudit.targets.source_digest import PREFIX as REACHED
from dpaudit.verify.counterexample.forest_probability import probability
from dpaudit.verify.counterexample.shapes import read_output
from dpaudit.verify.merging import classes, merge
from dpaudit.verify.scope import VALUES, Scope, as_text

_EXTRA: tuple[set[str], frozenset[str]] = (set(), ALIGNED)


def scope_of(given: Mapping[str, Any]) -> Scope:
    """Read a scope in the form of certificates and counterexamples."""
    relation = Relation("queries", given["movement"], given["group"])
    return Scope(given["length"], given["values"], relation, given["parameters"])


def leaves_of(nodes: Sequence[Any], length: int) -> list[ProgramPath]:
    """Return the paths of a tree from its nodes, without those of probability 0.

    Raises:
        CertificateError: if the nodes do not form a complete tree.
    """
    read = Tree("", {"q": length}, Steps(), _EXTRA).read(list(nodes))
    return [_leaf(leaf) for leaf in read.leaves.values() if not leaf.null]


def _leaf(given: Leaf) -> ProgramPath:
    conditions = tuple(Constraint(Affine(each.terms, each.constant), each.kind) for each in given.conditions)  # type: ignore[arg-type]
    draws = tuple(NoiseDraw(each.method, each.scale, ()) for each in given.draws)
    return ProgramPath(given.number, conditions, draws, _output(given.output.form))


def _output(form: tuple[Any, ...]) -> Output:
    """Return an output of the checker as one of the prover: numbers become expressions again."""
    tag, *parts = form
    if tag in ("int", "float") and len(parts) == 2:
        return (tag, Affine(dict(parts[0]), parts[1]))
    if tag in ("list", "tuple"):
        return (tag, *map(_output, parts))
    if tag == "dict":
        return (tag, *((_output(key), _output(value)) for key, value in parts))
    return form


def misread(evidence: Evidence, found: Counterexample) -> str:
    """Say what differs between a counterexample and the record that it was computed from; empty if nothing does."""
    record, given = found.record, scope_of(found.record["scope"])
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
        return unlike(evidence, given, record["mechanism"])
    return another_program(evidence, record["mechanism"]) or _another_question(evidence, given)


def unlike(evidence: Evidence, scope: Scope, mechanism: Mapping[str, Any]) -> str:
    """Say what differs between what was proved or refuted and what the evidence is about; empty if nothing does.

    Args:
        evidence: the evidence.
        scope: that of the certificate or counterexample.
        mechanism: name and source digest in the certificate or counterexample.
    """
    proof = evidence.proof
    assert proof is not None
    if str(scope) != proof.scope:
        return f"it holds for {scope}, and {proof.scope} is stated"
    if proof.length != (None if scope.length == "any" else scope.length):
        return f"it is for length {scope.length}, not {proof.length}"
    return another_program(evidence, mechanism) or _another_question(evidence, scope)


def another_program(evidence: Evidence, mechanism: Mapping[str, Any]) -> str:
    """Say why a certificate or counterexample is about another program than the target; empty if nothing suggests it.

    Names are compared only if the target is in a catalogue: a function in a file may have been renamed.
    """
    target = evidence.target
    name, own = mechanism["name"], f"sha256:{target.digest}" if target.digest else ""
    if mechanism["source"] != own and not of_older_fold(evidence, mechanism):
        return "it is of another source than the target"
    if name != target.name and ":" not in target.name:
        return f"it is of {name!r:.80}, and the target is {target.name}"
    return ""


def of_older_fold(evidence: Evidence, mechanism: Mapping[str, Any]) -> bool:
    """Whether a proof for any length may be about a fold with its own source, which nothing links to the target.

    Older versions of dpaudit kept such folds next to the entries of a catalogue.
    """
    proof = evidence.proof
    digest = evidence.target.digest
    older = digest is not None and not digest.startswith(REACHED) and mechanism["source"] != f"sha256:{digest}"
    return older and proof is not None and proof.method == "induction"


def _another_question(evidence: Evidence, scope: Scope) -> str:
    """Say which relation or parameter of a scope differs from the evidence."""
    if str(scope.relation) != evidence.relation:
        return f"it holds under {scope.relation}, and {evidence.relation} is stated"
    for name, value in evidence.target.parameters.items():
        if name not in scope.parameters or not same_parameter(scope.parameters[name], value):
            return f"it is not for {name} = {value!r:.80}"
    more = scope.parameters.keys() - evidence.target.parameters.keys()
    return f"it is for a parameter {min(more)!r:.80} that is not stated" if more else ""


def same_parameter(text: str, value: Any) -> bool:
    """Whether a parameter of a scope equals the stated one.

    Older certificates write tuples as Python does, and older evidence does so for fractions.
    """
    if text == as_text(value):
        return True
    try:
        if isinstance(value, str) and value.startswith("Fraction("):
            return repr(Fraction(text)) == value
        return isinstance(value, list) and plain_value(ast.literal_eval(text)) == value
    except (ValueError, ZeroDivisionError, SyntaxError, MemoryError, RecursionError, TypeError):
        return False


def _event(given: Mapping[str, Any]) -> Event:
    low, high = (tuple(map(_limit, given[side])) for side in ("low", "high"))
    if low:
        return Event("witness", (Rule(given["form"], Box(low, high), (0.5,), (0, 1)),))
    return Event("witness", (Rule(given["form"], None, (), (1,)),))


def _limit(text: str | None) -> float | None:
    return None if text is None else float(rational(text, "a limit"))


def event_probabilities(found: Counterexample) -> tuple[Enclosure, Enclosure] | None:
    """Return the probabilities of the event on both sides; None if exact integration cannot compute them.

    Raises:
        CertificateError: if the record does not contain a complete tree.
    """
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
