"""Is this evidence the answer to what was asked? What another process handed over is held against its request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpaudit.documents import json_values, plain_value
from dpaudit.evidence import Evidence
from dpaudit.neighbours import parse_relation
from dpaudit.privacy import parse_claim


def other_question(
    evidence: Evidence,
    *,
    target: str,
    parameters: Mapping[str, Any],
    claim: str | None,
    relation: str | None,
    confidence: float,
    seed: int | None,
    runs: int | None,
    folder: str = ".",
    false_alarm: float | None = None,
    types: str = "count",
) -> str | None:
    """Say where evidence answers another question than this one; None where it answers this one.

    Args:
        evidence: what was handed over.
        target: as it was named, seen from ``folder``.
        parameters: those that were given.
        claim, relation: as they were given; None for the mechanism's own.
        confidence: of the whole.
        seed: None where one was to be drawn.
        runs: None where the time decided.
        folder: where the target was looked for.
        false_alarm: that of a violation; None for any.
        types: whether types count; of an audit alone.
    """
    wanted = dict(
        _wanted(
            evidence,
            parameters=parameters,
            claim=claim,
            relation=relation,
            confidence=confidence,
            seed=seed,
            runs=runs,
            false_alarm=false_alarm,
            types=types,
        )
    )
    if not _is_called(evidence.target.name, target, folder):
        return f"the target is {evidence.target.name!r}, and {target!r} was asked for"
    for what, (found, asked) in wanted.items():
        if found != asked:
            return f"{what} is {found!r:.80}, and {asked!r:.80} was asked for"
    return None


def _wanted(
    evidence: Evidence,
    *,
    parameters: Mapping[str, Any],
    claim: str | None,
    relation: str | None,
    confidence: float,
    seed: int | None,
    runs: int | None,
    false_alarm: float | None,
    types: str,
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield what is to be the same, as (what, (found, asked))."""
    own = evidence.target.parameters
    for name, value in parameters.items():
        yield f"the parameter {name}", (json_values(own.get(name)), json_values(plain_value(value)))
    if claim is not None:
        yield "the claim", (evidence.claim, str(parse_claim(claim)))
    if relation is not None:
        yield "the relation", (evidence.relation, str(parse_relation(relation)))
    yield "the confidence", (evidence.confidence, confidence)
    if false_alarm is not None and evidence.claim is not None and evidence.attempts:
        doubts = 1 - evidence.confidence > false_alarm * (1 + 1e-9)  # else one look is enough, and nothing is said
        yield "the false alarm", (evidence.false_alarm, false_alarm if doubts else None)
    if seed is not None:
        yield "the seed", (evidence.seed, seed)
    if evidence.proof is None:
        yield "whether types count", (evidence.types, types)
    if runs is not None and evidence.proof is None:
        yield "the number of runs", (evidence.budget, runs)


def _is_called(name: str, target: str, folder: str) -> bool:
    """Whether evidence that names this target is about the one that was asked for: same file, same function."""
    place, _, own = target.rpartition(":")
    found, _, function = name.rpartition(":")
    if function != own:
        return False
    return not place.endswith(".py") or Path(found).name == (Path(folder) / place).resolve().name
