"""What stands on the page of an audit, and in which order?

Everything that the template shows is computed here; the template only lays it out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dpaudit.evidence import Attempt, Counterexample, Evidence, PairRecord
from dpaudit.privacy import ApproxDP, Claim, PureDP
from dpaudit.report.canvas import both
from dpaudit.report.command import bibtex, reproduce_command
from dpaudit.report.difference import Piece, differences
from dpaudit.report.embed import BLOCK_ID, embedded_json
from dpaudit.report.figures import loss_figure
from dpaudit.report.headline import headline, reason_says_more
from dpaudit.report.kinds import is_proof
from dpaudit.report.line import line
from dpaudit.report.losses import Losses, beyond, cell_losses, loss_bins
from dpaudit.report.measured import event_part, low_bits_part
from dpaudit.report.numerals import (
    claim_text,
    confidence_text,
    count_text,
    estimate_text,
    share_text,
)
from dpaudit.report.proof import exact_part, proof_part
from dpaudit.report.templates import environment
from dpaudit.report.words import (
    ASKS,
    METHODS,
    bound_text,
    claim_meaning,
    claim_words,
    limits,
    low_bits_sentence,
    relation_words,
    symbol,
)

_LONGEST_SHOWN = 120_000  # characters of the record that the page also shows as text


def render(evidence: Evidence) -> str:
    """Return the page of an audit."""
    return environment().get_template("template.html.j2").render(**_context(evidence))


def _context(evidence: Evidence) -> dict[str, Any]:
    claim = evidence.claimed
    losses = cell_losses(evidence.histogram)
    record = evidence.to_json()
    return {
        "evidence": evidence,
        "identity": evidence.id,
        "head": headline(evidence),
        "reason": _reason(evidence),
        "symbol": symbol(evidence),
        "low_bits": low_bits_sentence(evidence),
        "low_event": low_bits_part(evidence),
        "line": line(evidence, claim),
        "apart": is_proof(evidence),
        "proof": proof_part(evidence, claim),
        "exact": exact_part(evidence, claim),
        "scope": _scope(evidence, claim),
        "limits": limits(evidence),
        "pairs": [_pair(number, pair, evidence.counterexample) for number, pair in enumerate(evidence.pairs)],
        "event": event_part(evidence),
        "loss": _loss(losses, claim),
        "of_score": evidence.histogram is not None and evidence.histogram.axis == "score",
        "attempts": [_attempt(attempt, claim) for attempt in evidence.attempts],
        "methods": _methods(evidence),
        "command": reproduce_command(evidence),
        "given_pairs": evidence.proof is None and any(pair.origin != "mechanism" for pair in evidence.pairs),
        "bibtex": bibtex(evidence),
        "block_id": BLOCK_ID,
        "embedded": Markup(embedded_json(evidence)),
        "record": record if len(record) <= _LONGEST_SHOWN else None,
        "record_size": count_text(len(record.encode("utf-8")) // 1000),
        "count": count_text,
        "confidence": confidence_text,
    }


def _reason(evidence: Evidence) -> str:
    """The recorded reason as a sentence of its own, where it says more than the headline does."""
    reason = evidence.reason if reason_says_more(evidence) else ""
    return reason[:1].upper() + reason[1:] if reason[:1].isascii() else reason  # not ε, which would become Ε


# --- scope and pairs -------------------------------------------------------------------------------------


def _scope(evidence: Evidence, claim: Claim | None) -> list[tuple[str, str, str]]:
    """Return name, value and explanation of what was audited; the value is shown as it was recorded."""
    target = evidence.target
    parameters = ", ".join(f"{name} = {_value(value)}" for name, value in target.parameters.items())
    rows = [
        ("Mechanism", target.name, target.summary),
        ("Parameters", parameters or "none", ""),
        ("Claim", "none" if claim is None else claim_words(claim), "" if claim is None else _claim_note(claim)),
        (
            "Unit of privacy",
            evidence.unit or "not stated",
            "" if evidence.unit else "What one record stands for was not recorded.",
        ),
        ("Neighbours", evidence.relation, relation_words(evidence.relation)),
        (
            "Attacker",
            "sees one output of the mechanism",
            "and knows the code, its parameters and both datasets of the pair, but not which of them was used.",
        ),
        ("Kind of function", target.asks, _asks(evidence)),
        ("Code digest", target.digest or "not available", "SHA-256 of the function's source" if target.digest else ""),
    ]
    if target.source:
        rows.append(("Source", target.source, ""))
    if not evidence.reproducible:
        rows.append(
            ("Reproducible", "no", "The function's randomness cannot be seeded; another run gives other counts.")
        )
    rows += [("Taken on trust", text, "") for text in evidence.assumptions]
    return rows


def _asks(evidence: Evidence) -> str:
    reading = evidence.target.reading
    words = ASKS.get(evidence.target.asks, "")
    return f"{words}; read as: {reading}" if reading and reading != evidence.target.asks else words


def _claim_note(claim: Claim) -> str:
    return f"{claim.notion} ({claim}). {claim_meaning(claim)}"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Pair:
    number: int
    digests: tuple[str, str]
    origin: str
    shown: tuple[list[Piece], list[Piece]] | None


_ORIGINS = {
    "mechanism": "named by the mechanism as its worst case",
    "given": "given by whoever ran the audit",
    "counterexample": "found together with the event whose probabilities are computed exactly",
}


def _pair(number: int, pair: PairRecord, counterexample: Counterexample | None) -> _Pair:
    shown, origin = None, pair.origin
    if counterexample is not None:  # whoever asks for a proof gives no pair
        shown, origin = differences(counterexample.data0, counterexample.data1), "counterexample"
    elif pair.shown0 is not None and pair.shown1 is not None:
        shown = differences(pair.shown0, pair.shown1)
    return _Pair(number, (pair.digest0, pair.digest1), _ORIGINS.get(origin, origin), shown)


# --- the privacy loss ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Loss:
    figure: Markup
    runs: tuple[str, str]
    limit: str | None
    beyond: list[tuple[str, ...]]
    with_excess: bool
    within: str
    infinite: list[str]
    rare: str
    note: str


def _limit(claim: Claim | None) -> float | None:
    """The ε that a claim sets for the loss: of pure and approximate DP only."""
    return claim.value if isinstance(claim, PureDP | ApproxDP) else None


def _loss(losses: Losses | None, claim: Claim | None) -> _Loss | None:
    if losses is None:
        return None
    limit = _limit(claim)
    text = "" if claim is None or limit is None else f"ε = {claim_text(limit)}"
    bins = loss_bins(losses, limit)
    infinite = []
    for side in (0, 1):
        alone = losses.infinite & ((losses.count0 if side == 0 else losses.count1) > 0)
        if alone.any():
            infinite.append(
                f"{share_text(losses.mass(side, alone))} of the runs of side {side} fell into cells that side "
                f"{1 - side} never reached ({'+' if side == 0 else '−'}∞ in the figure)."
            )
    return _Loss(
        figure=both(lambda narrow: loss_figure(bins, limit, text, narrow=narrow)),
        runs=(count_text(losses.runs[0]), count_text(losses.runs[1])),
        limit=text or None,
        beyond=[] if claim is None or limit is None else _beyond_rows(losses, limit, claim.delta),
        with_excess=claim is not None and claim.delta > 0,
        within="" if limit is None else _outside(losses, limit),
        infinite=infinite,
        rare=_rare(losses),
        note=_loss_note(claim),
    )


def _rare(losses: Losses) -> str:
    runs = int(losses.count0[losses.rare].sum() + losses.count1[losses.rare].sum())
    if runs == 0:
        return ""
    return (
        f"{count_text(runs)} runs lie in cells that only one side reached, too seldom to call the loss infinite; "
        "they are not drawn."
    )


def _outside(losses: Losses, limit: float) -> str:
    reach = float(abs(losses.loss[losses.finite]).max(initial=0.0))
    if limit <= 5 * max(reach, 1e-12) * 1.02:
        return ""
    return "The lines at ± the claimed ε lie outside the figure: every estimated loss is far smaller."


def _beyond_rows(losses: Losses, limit: float, delta: float) -> list[tuple[str, ...]]:
    found = beyond(losses, limit)
    rows = []
    for side, name in enumerate(("loss above +ε, under side 0", "loss below −ε, under side 1")):
        row: tuple[str, ...] = (name, share_text(found.clear[side]), share_text(found.unclear[side]))
        if delta > 0:
            row += (share_text(found.excess[side]), f"{estimate_text(100 * delta)}\N{NO-BREAK SPACE}%")
        rows.append(row)
    return rows


def _loss_note(claim: Claim | None) -> str:
    if claim is None:
        return "No claim was given, so there is nothing to compare the loss with."
    if isinstance(claim, PureDP) or (isinstance(claim, ApproxDP) and claim.delta == 0):
        return (
            "A pure ε claim allows no mass at all beyond ±ε. Frequencies fluctuate: where the true loss of a cell is "
            "exactly ε, as in mechanisms that use their budget fully, its estimate lies beyond in about half of all "
            "audits. Only a cell whose whole interval lies beyond is counted as clear, and even of those a few in a "
            "hundred may be chance."
        )
    if isinstance(claim, ApproxDP):
        return (
            "What δ limits is not the mass beyond ±ε itself but its excess, the sum of p − e^ε · q over the cells "
            "where that is positive. The mass may be larger than δ where the claim holds. The excess is an estimate, "
            "and noise alone makes it somewhat larger than 0."
        )
    return (
        f"A claim of {claim.notion} sets no limit to the loss of a single output, so no lines are drawn; it limits "
        "the distribution of the loss as a whole."
    )


# --- attempts and methods --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _AttemptRow:
    pair: int
    name: str
    event: str
    method: str
    counts: list[str]
    bound: str
    confidence: str
    considered: int


def _attempt(attempt: Attempt, claim: Claim | None) -> _AttemptRow:
    bound, counts = attempt.bound, attempt.bound.counts
    texts = []
    if counts is not None:
        for side, hits in ((0, counts.toward0), (1, counts.toward1)):
            if bound.event is None or bound.event.toward(side):
                texts.append(f"for side {side}: {count_text(hits[0])} | {count_text(hits[1])}")
        texts.append(f"of {count_text(counts.runs[0])} | {count_text(counts.runs[1])}")
    value = bound_text(bound, claim) if bound.value > 0 else "none above 0"
    family = "" if bound.event is None else bound.event.family
    sure = confidence_text(bound.confidence) if bound.kind == "sampled" else "certain"
    return _AttemptRow(attempt.pair, attempt.name, family, bound.method, texts, value, sure, len(attempt.considered))


def _methods(evidence: Evidence) -> list[tuple[str, str]]:
    used = dict.fromkeys([evidence.lower.method, *(attempt.bound.method for attempt in evidence.attempts)])
    return [(name, METHODS[name]) for name in used if name in METHODS]
