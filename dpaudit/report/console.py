"""What does a person need to read in a terminal? Eight to fifteen lines, the verdict first."""

from __future__ import annotations

import math
import textwrap

from dpaudit.event import Event
from dpaudit.evidence import Bound, Evidence, Proof, Verdict
from dpaudit.privacy.claims import number_text
from dpaudit.report.command import reproduce_command
from dpaudit.report.headline import NO_PROOF, headline, reason_says_more
from dpaudit.report.kinds import (
    contradicting,
    counterexample_attempt,
    exact_lower,
    is_proof,
    proved_for,
    sampled_lower,
    without_bound,
)
from dpaudit.report.numerals import NBSP, count_text, share_text
from dpaudit.report.words import (
    bound_text,
    certainty,
    claim_words,
    detectable_text,
    full_text,
    shortened,
    symbol,
    visible,
    yardstick,
)

_WIDTH, _LABEL = 100, 13


def summary(evidence: Evidence, *, width: int | None = None) -> str:
    """Return the summary as text without control codes, ending in a line break."""
    columns = max(_WIDTH if width is None else width, 40)
    head = headline(evidence)
    verdict = f"{head.word}: {head.sentence}"
    caution = NO_PROOF if evidence.verdict is Verdict.NOT_VIOLATED else head.caution
    lines = textwrap.wrap(_plain(verdict), columns) + textwrap.wrap(_plain(caution), columns)
    for label, text, most in _rows(evidence, columns):
        lines += _row(label, _plain(text), columns, most)
    lines.append("  " + "id".ljust(_LABEL) + evidence.id)
    command = reproduce_command(evidence)
    if command is not None:
        lines.append("  " + "reproduce".ljust(_LABEL) + command)
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return visible(text.replace(NBSP, " "), one_line=True)


def _row(label: str, text: str, columns: int, most: int) -> list[str]:
    room = columns - _LABEL - 2
    wrapped = textwrap.wrap(text, room, break_on_hyphens=False, max_lines=most, placeholder=" …") or [""]
    return ["  " + (label if number == 0 else "").ljust(_LABEL) + line for number, line in enumerate(wrapped)]


def _rows(evidence: Evidence, columns: int) -> list[tuple[str, str, int]]:
    """Return label, text and the most lines of every row that applies."""
    rows: list[tuple[str, str, int]] = []
    if evidence.reason and reason_says_more(evidence):
        rows.append(("reason", evidence.reason, 2))
    rows.append(("target", _target(evidence), 2))
    rows.append(("claim", _claim(evidence), 1 if columns >= _WIDTH else 2))
    rows += _kinds(evidence, columns) if is_proof(evidence) else _bounds(evidence)
    if evidence.floating_point is not None:
        rows.append(("low bits", _low_bits(evidence.floating_point, evidence), 1))
    found = detectable_text(evidence)
    if found is not None and evidence.verdict is not Verdict.INVALID:
        how = "" if math.isinf(evidence.detectable or 0.0) else f", with probability 0.9 {yardstick(evidence)}"
        rows.append(("detectable", found + how, 1))
    rows.append(("runs", _runs(evidence), 1))
    return rows


def _bounds(evidence: Evidence) -> list[tuple[str, str, int]]:
    """The bounds of an audit by runs."""
    rows: list[tuple[str, str, int]] = []
    if evidence.verdict is not Verdict.INVALID:
        rows.append(("lower bound", _bound(evidence.lower, evidence), 1))
    if evidence.upper is not None:
        rows.append(("upper bound", _bound(evidence.upper, evidence), 1))
    return rows + _event(evidence.lower)


def _kinds(evidence: Evidence, columns: int) -> list[tuple[str, str, int]]:
    """What is proved, what is exact, and what was sampled, each on its own; and the event of the counterexample."""
    rows: list[tuple[str, str, int]] = []
    most = 1 if columns >= _WIDTH else 2
    proof, upper, claim = evidence.proof, evidence.upper, evidence.claimed
    exact, sampled = exact_lower(evidence), sampled_lower(evidence)
    if upper is not None:
        doubt = "" if contradicting(evidence) is None else ", contradicted by the runs"
        rows.append(("proved", f"{full_text(upper, claim)}, {proved_for(proof)}{doubt}{_read(proof)}", most))
    elif proof is not None:
        rows.append(("proved", f"no finite bound{_read(proof)}; {without_bound(evidence)}", most))
    if exact is not None:
        rows.append(("exact", f"{full_text(exact, claim)}, certain, on one pair", 1))
    if evidence.verdict is Verdict.INVALID:
        return rows
    if sampled is None:
        rows.append(("sampled", "nothing was run", 1))
    else:
        shown = bound_text(sampled, claim) if sampled.value > 0 else f"none above 0 was shown for {symbol(evidence)}"
        rows.append(("sampled", f"{shown} ({certainty(sampled)})", 1))
    found, attempt = evidence.counterexample, counterexample_attempt(evidence)
    if attempt is not None:
        return rows + _event(attempt.bound)
    return rows if found is None else [*rows, ("event", _says(found.event, 0), 1)]


def _read(proof: Proof | None) -> str:
    if proof is None:
        return ""
    return f" ({proof.method}, {count_text(proof.paths)} path{'' if proof.paths == 1 else 's'})"


def _target(evidence: Evidence) -> str:
    parameters = ", ".join(
        f"{name}={number_text(value) if isinstance(value, float) else value}"
        for name, value in evidence.target.parameters.items()
    )
    name = shortened(evidence.target.name, 80)
    return f"{name} ({parameters})" if parameters else name


def _claim(evidence: Evidence) -> str:
    claim = evidence.claimed
    text = "none" if claim is None else f"{claim_words(claim)} ({claim.notion})"
    return f"{text}; neighbours: {evidence.relation}"


def _bound(bound: Bound, evidence: Evidence) -> str:
    if bound.side == "lower" and bound.value <= 0:
        return f"none above 0 was shown for {symbol(evidence)} ({_how(bound)})"
    return f"{bound_text(bound, evidence.claimed)} ({_how(bound)})"


def _low_bits(bound: Bound, evidence: Evidence) -> str:
    if bound.method == "none":
        return "the outputs have none to read"
    return f"{_bound(bound, evidence)}, reading the low-order bits"


def _how(bound: Bound) -> str:
    return f"sampled, {certainty(bound)}" if bound.kind == "sampled" else certainty(bound)


def _event(bound: Bound) -> list[tuple[str, str, int]]:
    event, counts = bound.event, bound.counts
    if event is None:
        return []
    rows: list[tuple[str, str, int]] = []
    for side in (0, 1):
        if not event.toward(side):
            continue
        rows.append(("event" if not rows else "", _says(event, side), 1))
        if counts is not None:
            hits = counts.toward0 if side == 0 else counts.toward1
            shares = [
                f"side {own}: {count_text(hits[own])} of {count_text(counts.runs[own])}"
                + (f" ({share_text(hits[own] / counts.runs[own])})" if counts.runs[own] else "")
                for own in (0, 1)
            ]
            rows.append(("", "seen on " + ", on ".join(shares), 1))
    return rows


def _says(event: Event, side: int) -> str:
    return f"for side {side}: {shortened(event.describe(side), 400)}"


def _runs(evidence: Evidence) -> str:
    if is_proof(evidence) and not evidence.runs:
        return "none"
    pairs = len(evidence.pairs)
    text = (
        f"{count_text(evidence.runs)} ({count_text(evidence.learning)} learning, "
        f"{count_text(evidence.measuring)} measuring; {pairs} pair{'' if pairs == 1 else 's'})"
    )
    return text if evidence.reproducible else text + "; not reproducible"
