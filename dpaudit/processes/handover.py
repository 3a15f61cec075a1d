"""Is this evidence the answer to what was asked? What another process handed over is held against its request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.evidence.canonical_json import json_values, plain_value
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.neighbours import parse_relation
from dpaudit.privacy import parse_claim

Digests = Sequence[tuple[str, str]]
_NOISE_ALONE = "program"  # what stands for mathematics, and has no low-order bits


@dataclass(frozen=True, slots=True)
class Asked:
    """All that a request says of what its evidence has to say too; every member is compared, by `_wanted` alone.

    Attributes:
        target: as it was named, seen from ``folder``.
        parameters: those that were given.
        claim, relation: as they were given; None for the mechanism's own.
        confidence: of the whole.
        seed: None where one was to be drawn.
        runs: None where the time decided.
        folder: where the target was looked for.
        false_alarm: that of a violation; None for any.
        pairs: digests of the pairs that were given; None for the mechanism's own, and those that are found.
        types, floating_point, learn, observe, sequential, curve: as for an audit.
        prove: whether a proof is an answer.
        length, domain: as for a proof.
    """

    target: str
    parameters: Mapping[str, Any]
    claim: str | None
    relation: str | None
    confidence: float
    seed: int | None
    runs: int | None
    folder: str = "."
    false_alarm: float | None = None
    pairs: Digests | None = None
    types: str = "count"
    floating_point: str = "report"
    learn: str | None = None
    observe: Sequence[str] = ()
    sequential: bool = False
    curve: bool = False
    prove: bool = False
    length: int | None = None
    domain: str | Sequence[Any] | None = None


def other_question(evidence: Evidence, asked: Asked) -> str | None:
    """Say where evidence answers another question than this one; None where it answers this one."""
    if not _is_called(evidence.target.name, asked.target, asked.folder):
        return f"the target is {evidence.target.name!r}, and {asked.target!r} was asked for"
    for what, found, wanted in _wanted(evidence, asked):
        if found != wanted:
            return f"{what} is {found!r:.80}, and {wanted!r:.80} was asked for"
    return None


def _wanted(evidence: Evidence, asked: Asked) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is to be the same, as (what, found, asked)."""
    own = evidence.target.parameters
    for name, value in asked.parameters.items():
        yield f"the parameter {name}", json_values(own.get(name)), json_values(plain_value(value))
    if asked.claim is not None:
        yield "the claim", evidence.claim, str(parse_claim(asked.claim))
    if asked.relation is not None:
        yield "the relation", evidence.relation, str(parse_relation(asked.relation))
    yield "the confidence", evidence.confidence, asked.confidence
    if asked.false_alarm is not None and evidence.claim is not None and evidence.attempts:
        doubts = 1 - evidence.confidence > asked.false_alarm * (1 + 1e-9)  # else one look is enough, nothing is said
        yield "the false alarm", evidence.false_alarm, asked.false_alarm if doubts else None
    if asked.seed is not None:
        yield "the seed", evidence.seed, asked.seed
    if evidence.proof is None and evidence.counterexample is None:
        yield from _of_an_audit(evidence, asked)
    else:
        yield from _of_a_proof(evidence, asked)


def _of_an_audit(evidence: Evidence, asked: Asked) -> Iterator[tuple[str, Any, Any]]:
    if asked.pairs is not None:
        yield (
            "the pairs",
            [(pair.digest0, pair.digest1) for pair in evidence.pairs],
            [tuple(own) for own in asked.pairs],
        )
    if asked.runs is not None:
        yield "the number of runs", evidence.budget, asked.runs
    yield "whether types count", evidence.types, asked.types
    yield "what is observed", tuple(evidence.observed), tuple(dict.fromkeys(asked.observe))
    low_bits = asked.floating_point
    if evidence.target.asks == _NOISE_ALONE or asked.observe or asked.sequential:
        low_bits = "ignore"
    yield "what low-order bits count for", evidence.low_bits, low_bits
    if evidence.verdict is Verdict.INVALID:
        return  # it says what was wrong with the runs, before anything else came of them
    yield "what learns", evidence.learn, asked.learn
    yield "whether it is sequential", evidence.sequential is not None, asked.sequential
    yield "whether a whole curve is measured", evidence.curve is not None, asked.curve


def _of_a_proof(evidence: Evidence, asked: Asked) -> Iterator[tuple[str, Any, Any]]:
    yield "whether it is a proof", True, asked.prove
    if evidence.proof is None:
        return
    listed = asked.domain is not None and not isinstance(asked.domain, str)
    yield "whether it is proved by enumeration", evidence.proof.method == "enumeration", listed
    yield "the length", evidence.proof.length, asked.length
    if isinstance(asked.domain, str):
        word = {"integer": "whole-number", "real": "real"}.get(asked.domain, asked.domain)
        yield f"whether it holds for {word} answers", f" {word} answer" in evidence.proof.scope, True
    elif asked.domain is not None:
        told = f"the {len(asked.domain)} datasets of the domain that was given"
        yield "what it holds for", evidence.proof.scope.partition(", under ")[0], told


def _is_called(name: str, target: str, folder: str) -> bool:
    """Whether evidence that names this target is about the one that was asked for: same file, same function."""
    place, _, own = target.rpartition(":")
    found, _, function = name.rpartition(":")
    if function != own:
        return False
    return not place.endswith(".py") or Path(found).name == (Path(folder) / place).resolve().name
