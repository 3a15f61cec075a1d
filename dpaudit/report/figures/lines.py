"""Which numbers are on the ε line of an audit, of several mechanisms, and of one over time?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from markupsafe import Markup
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Training
from dpaudit.evidence.records import Bound, Verdict
from dpaudit.privacy import Claim
from dpaudit.privacy.claims import number_text
from dpaudit.report.figures.canvas import CLAIM, INK, MUTED, PROOF, alone, canvas, svg
from dpaudit.report.figures.event import Mark, line_figure
from dpaudit.report.text.phrases import (
    NBSP,
    claim_text,
    claim_words,
    confidence_text,
    contradicting,
    detectable_sentence,
    estimate_text,
    exact_lower,
    exact_value,
    full_text,
    is_proof,
    kind_words,
    sampled_lower,
    shortened,
    symbol,
    upper_text,
    value_text,
    without_bound,
    yardstick,
)

# --- Which numbers are on the ε line? --------------------------------------------------------------------


Numbers: TypeAlias = tuple[str, str, str, str, str]
"""Name, value, where it comes from, confidence and meaning of a number."""


def line(evidence: Evidence) -> list[Numbers]:
    """Return the numbers of an audit: sampled and exact lower bounds, claim, upper bound and yardsticks."""
    return [row for row, _ in _entries(evidence, evidence.claimed)]


def line_drawing(evidence: Evidence, *, narrow: bool = False) -> Markup | None:
    """Return the drawing, wide or for half of a page; None if there are no numbers."""
    marks = _marks(_entries(evidence, evidence.claimed))
    if not marks:
        return None
    drawing = line_figure(marks, symbol(evidence), narrow=narrow)
    return alone(drawing) if narrow else Markup(drawing)


def line_reading(evidence: Evidence) -> str:
    """Say how to read the drawing, for those of its marks that are there; empty without a bound."""
    letter, marks = symbol(evidence), _marks(_entries(evidence, evidence.claimed))
    kinds = {mark.kind for mark in marks if mark.value > 0}
    said = []
    if kinds & {"lower", "exact"}:
        said.append(f"{letter} is at least what a bar reaches")
    if kinds & {"upper", "proved"}:
        said.append(f"{'at most' if said else f'{letter} is at most'} where the hatching begins")
    if not said:
        return ""
    if "claim" in kinds:
        said.append("the dashed line is the claim")
    if "true" in kinds:
        said.append("the circle is the true loss, known from theory")
    by_verdict = evidence.verdict is Verdict.NOT_VIOLATED  # the box of the verdict says it
    rest = detectable_sentence(evidence) if "detectable" in kinds and not by_verdict else ""
    return f"How to read this: {'; '.join(said)}. {rest}".strip()


def _marks(entries: list[tuple[Numbers, Mark | None]]) -> list[Mark]:
    return [mark for _, mark in entries if mark is not None and not math.isnan(mark.value)]


def _entries(evidence: Evidence, claim: Claim | None) -> list[tuple[Numbers, Mark | None]]:
    if evidence.training is not None:
        return _watched(evidence, evidence.training, claim)
    if evidence.accounting is not None:
        return _certified(evidence, claim)
    entries: list[tuple[Numbers, Mark | None]] = []
    entries += _lower(evidence, claim)
    if claim is not None:
        row = ("claim", claim_words(claim), "stated", "–", "what somebody says of the mechanism")
        entries.append((row, Mark("claim", "claim", claim.value, claim_text(claim.value))))
    entries += _upper(evidence, claim)
    return entries + _price(evidence) + _yardsticks(evidence)


def _certified(evidence: Evidence, claim: Claim | None) -> list[tuple[Numbers, Mark | None]]:
    """Return both bounds of an accounting, and the claim between, below or above them."""
    letter, lower, upper = symbol(evidence), evidence.lower, evidence.upper
    meaning = f"{letter} is certainly at least this, on some data"
    row = _row("certified from below", lower, claim, meaning, letter)
    entries: list[tuple[Numbers, Mark | None]] = [
        (row, Mark("exact", "from below", lower.value, _short(lower, claim))),
    ]
    if claim is not None:
        row = ("claim", claim_words(claim), "stated", "–", "what somebody says of what is listed")
        entries.append((row, Mark("claim", "claim", claim.value, claim_text(claim.value))))
    if upper is None:
        return entries
    row = _row("certified from above", upper, claim, f"{letter} is certainly at most this, for every pair", letter)
    kind = "proved" if evidence.verdict is Verdict.PROVED else "upper"
    return [*entries, (row, Mark(kind, "from above", upper.value, _short(upper, claim)))]


def _watched(evidence: Evidence, training: Training, claim: Claim | None) -> list[tuple[Numbers, Mark | None]]:
    """Return what a watched loop loses from below and above, and its claim."""
    lower, entries = evidence.lower, list[tuple[Numbers, Mark | None]]()
    row = _row("as seen, from below", lower, claim, "what was seen loses at least this, on some data", "ε")
    row = (*row[:2], "certified for what was seen", *row[3:])
    entries.append((row, Mark("lower", "as seen, from below", lower.value, _short(lower, claim))))
    if claim is not None:
        row = ("claim", claim_words(claim), "stated", "–", "what somebody says of the loop")
        entries.append((row, Mark("claim", "claim", claim.value, claim_text(claim.value))))
    high = training.high.value
    if math.isfinite(high):
        text = upper_text(high, claim=None if claim is None else claim.value, digits=7)
        meaning = "what was seen loses at most this"
        row = (
            "as seen, from above",
            f"ε ≤ {text}",
            "certified for what was seen",
            confidence_text(lower.confidence),
            meaning,
        )
        entries.append((row, Mark("upper", "as seen, from above", high, text)))
    return entries


def _lower(evidence: Evidence, claim: Claim | None) -> list[tuple[Numbers, Mark | None]]:
    letter, apart = symbol(evidence), is_proof(evidence)
    entries: list[tuple[Numbers, Mark | None]] = []
    sampled, exact = sampled_lower(evidence), exact_lower(evidence)
    if evidence.verdict is Verdict.INVALID:
        pass  # numbers from invalid runs are not shown
    elif sampled is not None:
        name = "sampled lower bound" if apart else "lower bound"
        row = _row(name, sampled, claim, f"{letter} is at least this", letter)
        entries.append((row, Mark("lower", "sampled" if apart else name, sampled.value, _short(sampled, claim))))
    elif evidence.proof is not None:
        meaning = "nothing was run"
        entries.append((("sampled lower bound", "none", "no runs", "–", meaning), None))
    if exact is not None:
        name = "exact lower bound" if apart else "lower bound"
        meaning = f"{letter} is certainly at least this, on one pair of datasets"
        if math.isinf(exact.value):
            meaning = f"no {letter} is enough: the event is impossible on one side, and possible on the other"
        row = _row(name, exact, claim, meaning, letter)
        entries.append((row, Mark("exact", "exact" if apart else name, exact.value, _short(exact, claim))))
    return entries


def _upper(evidence: Evidence, claim: Claim | None) -> list[tuple[Numbers, Mark | None]]:
    letter, upper, proof = symbol(evidence), evidence.upper, evidence.proof
    name = "proved upper bound" if is_proof(evidence) else "upper bound"
    if upper is None:
        if proof is None:
            return []
        how = f"{proof.method} gave no {'bound that is accepted' if proof.is_refused else 'finite bound'}"
        return [((name, "none found", how, "–", without_bound(evidence)), None)]
    row = _row(name, upper, claim, f"{letter} is certainly at most this, within the scope of the proof", letter)
    if proof is not None and proof.given:
        row = (*row[:4], f"{row[4]}, {proof.granted}")
    if proof is not None:
        by = "every output enumerated" if proof.method == "enumeration" else f"proved by {proof.method}"
        row = (*row[:2], by, *row[3:])
    if contradicting(evidence) is not None:
        row = (*row[:3], "contradicted", "runs show more: this or the implementation is wrong")
    # only the verdict PROVED has the colour of a proof
    kind = "proved" if evidence.verdict is Verdict.PROVED else "upper"
    return [(row, Mark(kind, "proved" if is_proof(evidence) else name, upper.value, _short(upper, claim)))]


def _row(name: str, bound: Bound, claim: Claim | None, meaning: str, letter: str) -> Numbers:
    nothing = bound.side == "lower" and bound.value <= 0
    text = f"none above 0 for {letter}" if nothing else full_text(bound, claim)
    sure = confidence_text(bound.confidence) if bound.kind == "sampled" else "certain"
    return (name, text, kind_words(bound), sure, meaning)


def _short(bound: Bound, claim: Claim | None) -> str:
    """Return the short text next to a marker."""
    if bound.side == "lower" and bound.value <= 0:
        return "none above 0"
    if math.isinf(bound.value):
        return "infinite"
    text = value_text(bound, claim)
    return f"{'≥' if bound.side == 'lower' else '≤'} {text}{exact_value(bound, text)}".replace(NBSP, " ")


def _price(evidence: Evidence) -> list[tuple[Numbers, Mark | None]]:
    """Return what the shift costs that a trace found: an upper bound of one way, on one path and pair."""
    trace, claim = evidence.trace, evidence.claimed
    if trace is None or trace.epsilon is None or claim is None or (trace.mu and claim.parameter == "epsilon"):
        return []
    value = trace.mu if claim.parameter == "mu" else trace.epsilon
    if not value or claim.parameter not in ("epsilon", "mu"):
        return []
    text = f"{symbol(evidence)} = {number_text(value)}"
    meaning = "what hiding the change costs on the path that shows most, one way; more than the claim refutes nothing"
    return [(("price of the shift", text, "traced", "–", meaning), None)]


def _yardsticks(evidence: Evidence) -> list[tuple[Numbers, Mark | None]]:
    letter = symbol(evidence)
    entries: list[tuple[Numbers, Mark | None]] = []
    found = evidence.detectable
    if found is not None and evidence.verdict is not Verdict.INVALID:
        text = "none of any size" if math.isinf(found) else f"from {upper_text(found)}"
        entries.append(
            (_detectable_row(found, letter, yardstick(evidence)), Mark("detectable", "detectable", found, text))
        )
    true = evidence.target.true_loss
    if true is not None:
        meaning = "from theory, for these pairs; not used by the audit"
        row = ("true loss", f"{letter} = {estimate_text(true, 6)}", "stated by the catalogue", "–", meaning)
        entries.append((row, Mark("true", "true loss", true, estimate_text(true, 4))))
    return entries


def _detectable_row(value: float, letter: str, where: str) -> Numbers:
    how = "computed from the counts"
    if math.isinf(value):
        return ("detectable", "none", how, "–", "no violation of any size could be counted on to be found")
    meaning = f"a violation so large would have been found, had it shown {where}"
    return ("detectable", f"{letter} ≥ {upper_text(value)}", how, "probability 0.9", meaning)


# --- How do several mechanisms compare? ------------------------------------------------------------------

_LETTERS, _NARROW_LETTERS = 26, 16  # of a name; the table beside the drawing has all of it
_FAR = 20.0  # how many times as large the largest error may be until the axis is logarithmic


@dataclass(frozen=True, slots=True)
class Lane:
    """What one mechanism shows, in one unit; NaN where there is no number."""

    name: str
    lower: float
    upper: float
    claim: float
    error: float


def side_by_side_figure(lanes: Sequence[Lane], symbol: str, *, narrow: bool = False) -> str:
    """Draw an interval in each lane, its claim as a stroke, and beside it the error."""
    heights = [len(lanes) - place for place in range(len(lanes))]
    errors = [lane.error for lane in lanes]
    is_known = any(math.isfinite(error) for error in errors)
    with canvas("side by side", 1.5 + 0.34 * len(lanes), narrow=narrow) as figure:
        if is_known:
            axes, beside = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        else:
            axes, beside = figure.add_subplot(), None
        finite = [x for lane in lanes for x in (lane.lower, lane.upper, lane.claim) if math.isfinite(x)]
        edge = 1.08 * max(finite, default=1.0) or 1.0
        for height, lane in zip(heights, lanes, strict=True):
            if not math.isnan(lane.lower):
                low, high = min(lane.lower, edge), lane.upper if math.isfinite(lane.upper) else edge
                style = "-" if math.isfinite(lane.upper) else (0, (1, 2))
                axes.plot([low, high], [height] * 2, color=MUTED, linewidth=1.6, linestyle=style)
                axes.plot([low], [height], color=INK, marker=">", markersize=7)
            if math.isfinite(lane.upper):
                axes.plot([lane.upper], [height], color=PROOF, marker="<", markersize=7)
            if math.isfinite(lane.claim):
                axes.plot([lane.claim] * 2, [height - 0.34, height + 0.34], color=CLAIM, linewidth=1.6)
        axes.set_xlim(0, edge)
        axes.set_ylim(0.4, len(lanes) + 0.6)
        letters = _NARROW_LETTERS if narrow else _LETTERS
        axes.set_yticks(heights, [shortened(lane.name, letters) for lane in lanes])
        axes.set_xlabel(symbol)
        axes.grid(axis="x")
        if beside is not None:
            beside.plot(errors, heights, color=INK, marker="o", linestyle="", markersize=5)
            positive = [error for error in errors if math.isfinite(error) and error > 0]
            if positive and max(positive) > _FAR * min(positive):
                beside.set_xscale("log")
            else:
                beside.set_xlim(left=0)
            beside.set_xlabel("error (RMSE)")
            beside.tick_params(axis="y", length=0)
            beside.grid(axis="x")
        handles = [
            Line2D([], [], color=INK, marker=">", linestyle="", label="from below"),
            Line2D([], [], color=PROOF, marker="<", linestyle="", label="from above"),
            Line2D([], [], color=CLAIM, linewidth=1.6, label="claim"),
            Line2D([], [], color=MUTED, linestyle=(0, (1, 2)), label="nothing from above"),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2 if narrow else 4)
        label = f"{symbol} from below and above, claim and error of {len(lanes)} mechanisms; the table has the numbers"
        return svg(figure, "side by side", label, narrow=narrow)


# --- How did bounds and claim of one target move over time? ----------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """What one piece of evidence shows: bounds and claim in one unit, NaN where there is none."""

    lower: float
    upper: float
    claim: float
    violated: bool


def history_figure(places: Sequence[Place], symbol: str, *, narrow: bool = False) -> str:
    """Draw lower and upper bounds as points, and the claim as a line."""
    numbers = range(1, len(places) + 1)
    with canvas("history", 3.4, narrow=narrow) as figure:
        axes = figure.add_subplot()
        claims = [place.claim for place in places]
        axes.step(numbers, claims, where="mid", color=CLAIM, linewidth=1.4, linestyle=(0, (4, 2)))
        if len(places) == 1:
            axes.plot(numbers, claims, color=CLAIM, marker="D", linestyle="")
        for values, marker, ink in (
            ([place.lower for place in places], "^", INK),
            ([place.upper for place in places], "v", PROOF),
        ):
            shown = [value if math.isfinite(value) else math.nan for value in values]
            axes.plot(numbers, shown, color=ink, marker=marker, linewidth=0.8, markersize=6)
        broken = [(number, place.lower) for number, place in zip(numbers, places, strict=True) if place.violated]
        style: Any = {"marker": "x", "color": INK, "linestyle": "", "markersize": 11, "markeredgewidth": 1.6}
        axes.plot([x for x, y in broken if math.isfinite(y)], [y for _, y in broken if math.isfinite(y)], **style)
        axes.set_xlim(0.5, len(places) + 0.5)
        axes.margins(y=0.08)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.set_xlabel("evidence, from the oldest to the newest")
        axes.set_ylabel(symbol)
        axes.grid(axis="y")
        handles = [
            Line2D([], [], color=INK, marker="^", label="lower bound"),
            Line2D([], [], color=PROOF, marker="v", label="upper bound"),
            Line2D([], [], color=CLAIM, linestyle=(0, (4, 2)), label="claim"),
            Line2D([], [], label="violated", **style),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2 if narrow else 4)
        label = f"Lower bounds, upper bounds and claims of {symbol} over {len(places)} pieces of evidence"
        return svg(figure, "history", label, narrow=narrow)
