"""What stands on the page of an audit, and in which order?

Everything that the template shows is computed here; the template only lays it out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dpaudit.event import Event
from dpaudit.evidence import Attempt, Bound, Counts, Evidence, Histogram, PairRecord, Verdict
from dpaudit.privacy import ApproxDP, Claim, PureDP
from dpaudit.report.command import bibtex, reproduce_command
from dpaudit.report.difference import Piece, differences
from dpaudit.report.embed import BLOCK_ID, embedded_json
from dpaudit.report.figures import Mark, event_figure, line_figure, loss_figure
from dpaudit.report.losses import Losses, beyond, cell_losses, frequency_interval, loss_bins
from dpaudit.report.numerals import (
    claim_text,
    confidence_text,
    count_text,
    estimate_text,
    lower_text,
    share_text,
    upper_text,
)
from dpaudit.report.outcomes import bars, is_drawn_as_bars, regions
from dpaudit.report.templates import environment
from dpaudit.report.words import (
    ASKS,
    METHODS,
    bound_text,
    claim_meaning,
    claim_words,
    headline,
    kind_words,
    limits,
    low_bits_sentence,
    reason_says_more,
    relation_words,
    symbol,
    yardstick,
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
        "reason": evidence.reason if reason_says_more(evidence) else "",
        "symbol": symbol(evidence),
        "low_bits": low_bits_sentence(evidence),
        "low_event": _low_event(evidence),
        "line": _line(evidence, claim),
        "scope": _scope(evidence, claim),
        "limits": limits(evidence),
        "pairs": [_pair(number, pair) for number, pair in enumerate(evidence.pairs)],
        "event": _event(evidence),
        "loss": _loss(losses, claim),
        "of_score": evidence.histogram is not None and evidence.histogram.axis == "score",
        "attempts": [_attempt(attempt, claim) for attempt in evidence.attempts],
        "methods": _methods(evidence),
        "command": reproduce_command(evidence),
        "given_pairs": any(pair.origin != "mechanism" for pair in evidence.pairs),
        "bibtex": bibtex(evidence),
        "block_id": BLOCK_ID,
        "embedded": Markup(embedded_json(evidence)),
        "record": record if len(record) <= _LONGEST_SHOWN else None,
        "record_size": count_text(len(record.encode("utf-8")) // 1000),
        "count": count_text,
        "confidence": confidence_text,
    }


# --- the ε line ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    value: str
    how: str
    confidence: str
    meaning: str


@dataclass(frozen=True, slots=True)
class _Line:
    figure: Markup | None
    rows: list[_Row]


def _line(evidence: Evidence, claim: Claim | None) -> _Line:
    letter = symbol(evidence)
    limit = None if claim is None else claim.value
    marks: list[Mark] = []
    rows: list[_Row] = []
    if evidence.verdict is not Verdict.INVALID:
        lower = evidence.lower
        text = bound_text(lower, claim) if lower.value > 0 else f"none above 0 for {letter}"
        rows.append(_bound_row("lower bound", text, lower, f"{letter} is certainly or confidently at least this"))
        short = f"≥ {lower_text(lower.value, claim=limit)}" if lower.value > 0 else "none above 0"
        marks.append(Mark("lower", "lower bound", lower.value, short))
    if claim is not None:
        rows.append(_Row("claim", claim_words(claim), "stated", "–", "what somebody says of the mechanism"))
        marks.append(Mark("claim", "claim", claim.value, claim_text(claim.value)))
    if evidence.upper is not None:
        upper = evidence.upper
        rows.append(
            _bound_row("upper bound", bound_text(upper, claim), upper, f"{letter} is at most this, within its scope")
        )
        marks.append(Mark("upper", "upper bound", upper.value, f"≤ {upper_text(upper.value, claim=limit)}"))
    if evidence.detectable is not None and evidence.verdict is not Verdict.INVALID:
        rows.append(_detectable_row(evidence.detectable, letter, yardstick(evidence)))
        text = "none of any size" if math.isinf(evidence.detectable) else f"from {upper_text(evidence.detectable)}"
        marks.append(Mark("detectable", "detectable", evidence.detectable, text))
    true = evidence.target.true_loss
    if true is not None:
        rows.append(
            _Row(
                "known value",
                f"{letter} = {estimate_text(true, 6)}",
                "stated by the catalogue",
                "–",
                "from theory, for these pairs; not used by the audit",
            )
        )
        marks.append(Mark("true", "known value", true, estimate_text(true, 4)))
    drawn = [mark for mark in marks if mark.value == mark.value]
    return _Line(_both(lambda narrow: line_figure(drawn, letter, narrow=narrow)) if drawn else None, rows)


def _detectable_row(value: float, letter: str, where: str) -> _Row:
    how = "computed from the counts"
    if math.isinf(value):
        return _Row("detectable", "none", how, "–", "no violation of any size could have been found in these runs")
    meaning = f"a violation so large would have been found, had it shown {where}"
    return _Row("detectable", f"{letter} ≥ {upper_text(value)}", how, "probability 0.9", meaning)


def _bound_row(name: str, text: str, bound: Bound, meaning: str) -> _Row:
    sure = confidence_text(bound.confidence) if bound.kind == "sampled" else "certain"
    if name == "lower bound":
        meaning = meaning.replace("certainly or confidently ", "" if bound.kind == "sampled" else "certainly ")
    return _Row(name, text, kind_words(bound), sure, meaning)


def _both(draw: Callable[[bool], str]) -> Markup:
    """Return a drawing for wide pages and one for phones; the style sheet shows one of them.

    Matplotlib escapes text in a drawing, and `canvas` its label, so the page may take both as they are.
    """
    return Markup(draw(False) + draw(True))


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
}


def _pair(number: int, pair: PairRecord) -> _Pair:
    shown = None
    if pair.shown0 is not None and pair.shown1 is not None:
        shown = differences(pair.shown0, pair.shown1)
    return _Pair(number, (pair.digest0, pair.digest1), _ORIGINS.get(pair.origin, pair.origin), shown)


# --- the event -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CountRow:
    name: str
    cells: tuple[tuple[str, str, str], tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class _EventPart:
    sentences: list[tuple[int, str]]
    rows: list[_CountRow]
    totals: tuple[str, str]
    guesses: str
    figure: Markup | None
    drawing: str
    pair: int | None
    drawn_runs: str


def _event(evidence: Evidence) -> _EventPart:
    bound, histogram = evidence.lower, evidence.histogram
    figure, drawn = None, ""
    if histogram is not None and histogram.cells:
        outputs = histogram
        figure = _both(lambda narrow: event_figure(outputs, bound.event, narrow=narrow))
        drawn = f"{count_text(histogram.runs[0])} runs of side 0 and {count_text(histogram.runs[1])} of side 1"
    drawing = "" if histogram is None else _drawing_note(histogram, bound.event)
    return _measured(bound, figure=figure, drawing=drawing, drawn_runs=drawn)


def _low_event(evidence: Evidence) -> _EventPart | None:
    """The event in the low-order bits; None where none was measured."""
    bound = evidence.floating_point
    return None if bound is None or bound.event is None else _measured(bound)


def _measured(bound: Bound, *, figure: Markup | None = None, drawing: str = "", drawn_runs: str = "") -> _EventPart:
    event, counts = bound.event, bound.counts
    sentences = [] if event is None else [(side, event.describe(side)) for side in (0, 1) if event.toward(side)]
    return _EventPart(
        sentences=sentences,
        rows=[] if counts is None else _count_rows(counts, [side for side, _ in sentences]),
        totals=("", "") if counts is None else (count_text(counts.runs[0]), count_text(counts.runs[1])),
        guesses="" if counts is None or bound.method != "guess" else _guesses(counts),
        figure=figure,
        drawing=drawing,
        pair=bound.pair,
        drawn_runs=drawn_runs,
    )


def _drawing_note(histogram: Histogram, event: Event | None) -> str:
    if is_drawn_as_bars(histogram):
        marked = any(bar.side is not None for bar in bars(histogram, event))
        return "An arrow names the side that the event takes an output to speak for." if marked else ""
    if histogram.axis == "score":
        return "The figure shows one score of outputs that have several numbers; the event may use another."
    strips = "The strips above the axis mark the outputs that the event takes. " if regions(event) else ""
    return strips + "Rare outputs outside of the axis are not drawn."


def _count_rows(counts: Counts, sides: list[int]) -> list[_CountRow]:
    rows = []
    rest = list(counts.runs)
    for side in sides:
        hits = counts.toward0 if side == 0 else counts.toward1
        rest = [rest[own] - hits[own] for own in (0, 1)]
        rows.append(_CountRow(f"speaks for side {side}", _shares(hits, counts.runs)))
    if sides:
        rows.append(_CountRow("any other output", _shares((rest[0], rest[1]), counts.runs)))
    return rows


def _shares(hits: tuple[int, int], runs: tuple[int, int]) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    low, high = frequency_interval(hits, runs)

    def cell(own: int) -> tuple[str, str, str]:
        share = share_text(hits[own] / runs[own]) if runs[own] else "–"
        ends = f"{share_text(float(low[own]), rounding='lower')} to {share_text(float(high[own]), rounding='upper')}"
        return count_text(hits[own]), share, ends

    return cell(0), cell(1)


def _guesses(counts: Counts) -> str:
    right, wrong = counts.toward0[0] + counts.toward1[1], counts.toward0[1] + counts.toward1[0]
    if right + wrong == 0:
        return "No output fell into the event, so the attacker never guessed."
    return (
        f"An attacker who guesses the side by this event, and passes otherwise, guessed {count_text(right + wrong)} "
        f"times and was right {count_text(right)} times ({share_text(right / (right + wrong))}); a coin would be "
        "right half of the time."
    )


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
        figure=_both(lambda narrow: loss_figure(bins, limit, text, narrow=narrow)),
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
