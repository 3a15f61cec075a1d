"""What was measured, and how often did it occur? The event of an audit, its counts, its drawing, and every attempt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from dpaudit.evidence.event import DATASETS, Event
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Candidate, Counts, Histogram, Scores, Sequential, Verdict
from dpaudit.privacy import Claim
from dpaudit.report.figures.canvas import INK, MUTED, both, canvas, svg
from dpaudit.report.figures.event import bars, event_figure, is_drawn_as_bars, regions
from dpaudit.report.figures.loss import frequency_interval
from dpaudit.report.html.templates import Section
from dpaudit.report.text.phrases import (
    bound_text,
    confidence_text,
    count_text,
    error_text,
    estimate_text,
    gaussian_text,
    guesses_text,
    is_proof,
    low_bits_sentence,
    rate_text,
    sampled_lower,
    share_text,
    shortened,
)
from dpaudit.report.text.reproduce import how_counted, how_fixed, is_by_rank
from dpaudit.report.view import View
from dpaudit.stats.methods import METHODS, method_of


def measured_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section on the event."""
    yield Section("event", "The event", {"event": event_part(shown.evidence)})


def low_bits_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section on the low-order bits, if they were examined."""
    text, bound = low_bits_sentence(shown.evidence), shown.evidence.floating_point
    if text is not None:
        event = None if bound is None or bound.event is None else _measured(shown.evidence, bound)
        yield Section("low-bits", "Low-order bits", {"low_bits": text, "low_event": event})


def event_part(evidence: Evidence) -> dict[str, Any]:
    """Return the event that showed most in the runs."""
    bound, histogram = sampled_lower(evidence), evidence.histogram
    if bound is None:
        return _measured(evidence, evidence.lower if not is_proof(evidence) else None)
    figure, drawn = None, ""
    if histogram is not None and histogram.cells:
        outputs = histogram
        figure = both(lambda narrow: event_figure(outputs, bound.event, narrow=narrow))
        first, second = map(count_text, histogram.runs)
        drawn = f"{first} runs on the first dataset and {second} on the second"
    drawing = "" if histogram is None else _drawing_note(histogram, bound.event)
    found = evidence.counterexample
    computed = found is not None and bound.event == found.event
    part = _measured(evidence, bound, computed=computed, figure=figure, drawing=drawing, drawn_runs=drawn)
    if evidence.sequential is not None:
        return _of_last_epoch(part, evidence.sequential)
    return part if evidence.scores is None else _with_scores(part, evidence, evidence.scores, bound)


def _of_last_epoch(part: dict[str, Any], sequential: Sequential) -> dict[str, Any]:
    """Return the part for the last of several events; a sequential audit has no exact intervals."""
    epochs = len(sequential.epochs)
    times = "once" if epochs == 1 else f"{count_text(epochs)} times"
    said = (
        f"Events were chosen {times}, each from all runs before it; this is the last one, with the runs that were bet "
        "on with it alone. The bound rests on all bets together."
    )
    return part | {"guesses": said}


def _with_scores(part: dict[str, Any], evidence: Evidence, scores: Scores, bound: Bound) -> dict[str, Any]:
    """Return the part with the ROC and other statistics of scores; guesses by rank have no event and no intervals."""
    said = [part["guesses"], *_scores_sentences(evidence)]
    note = part["drawing"]
    figure = part["figure"] or Markup()
    if scores.roc:
        figure += both(lambda narrow: roc_figure(scores, narrow=narrow))
        note += " " + roc_note(scores, evidence.confidence)
    if not method_of(bound.method).canaries or bound.counts is None:
        return part | {"guesses": " ".join(filter(None, said)), "figure": figure or None, "drawing": note.strip()}
    sentences = [
        (side, f"a score among the {count_text(sum(hits))} {end} of all {count_text(sum(bound.counts.runs))} canaries")
        for side, hits, end in ((0, bound.counts.toward0, "highest"), (1, bound.counts.toward1, "lowest"))
        if sum(hits)
    ]
    return part | {
        "sentences": sentences,
        "rows": _count_rows(bound.counts, [side for side, _ in sentences]),
        "guesses": " ".join([f"Guessed were the {guesses_text(bound)}.", *_scores_sentences(evidence)]),
        "figure": figure or None,
        "drawing": note.strip(),
        "drawn_runs": f"{count_text(scores.given[0])} scores of members and {count_text(scores.given[1])} of others",
    }


def _scores_sentences(evidence: Evidence) -> list[str]:
    """Say what scores show besides the bound; empty for other targets."""
    scores = evidence.scores
    if scores is None:
        return []
    found = "; ".join(rate_text(rate) for rate in scores.rates)
    how = f"exact limits at {confidence_text(evidence.confidence)} confidence, each by itself"
    if scores.design == "one-run":
        how = "estimates; scores of one model hang together, and have no exact limits"
    said = [f"The true positive rate is {found}: {how}."]
    estimate = gaussian_text(scores)
    if estimate:
        said.append(
            f"If, and only if, these were the scores of a Gaussian mechanism, it would have {estimate}: an estimate, "
            "on a condition that was not checked. It is no bound and decided nothing."
        )
    return said


def _measured(
    evidence: Evidence,
    bound: Bound | None,
    *,
    computed: bool = False,
    figure: Markup | None = None,
    drawing: str = "",
    drawn_runs: str = "",
) -> dict[str, Any]:
    event, counts = (None, None) if bound is None else (bound.event, bound.counts)
    intervals = evidence.sequential is None and not is_by_rank(evidence)
    sentences = [] if event is None else [(side, event.describe(side)) for side in (0, 1) if event.toward(side)]
    return {
        "sentences": sentences,
        "rows": [] if counts is None else _count_rows(counts, [side for side, _ in sentences]),
        "totals": ("", "") if counts is None else (count_text(counts.runs[0]), count_text(counts.runs[1])),
        "guesses": "" if bound is None or counts is None or not method_of(bound.method).guesses else _guesses(counts),
        "figure": figure,
        "drawing": drawing,
        "fixed": how_fixed(evidence, None if bound is None else bound.pair, computed=computed),
        "caption": how_counted(evidence, intervals=intervals),
        "intervals": intervals,
        "drawn_runs": drawn_runs,
    }


def _drawing_note(histogram: Histogram, event: Event | None) -> str:
    if is_drawn_as_bars(histogram):
        marked = any(bar.side is not None for bar in bars(histogram, event))
        return "An arrow names the dataset that the event takes an output to point to." if marked else ""
    if histogram.axis == "score":
        return "The figure shows one score of outputs that have several numbers; the event may use another."
    strips = "The strips above the axis mark the outputs that the event takes. " if regions(event) else ""
    return strips + "Rare outputs outside of the axis are not drawn."


def _count_rows(counts: Counts, sides: list[int]) -> list[dict[str, Any]]:
    rows = []
    rest = list(counts.runs)
    for side in sides:
        hits = counts.toward0 if side == 0 else counts.toward1
        rest = [rest[own] - hits[own] for own in (0, 1)]
        rows.append({"name": f"points to {DATASETS[side]}", "cells": _shares(hits, counts.runs)})
    if sides:
        rows.append({"name": "any other output", "cells": _shares((rest[0], rest[1]), counts.runs)})
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
        f"An attacker who guesses the dataset by this event, and passes otherwise, guessed {count_text(right + wrong)} "
        f"times and was right {count_text(right)} times ({share_text(right / (right + wrong))}); a coin would be "
        "right half of the time."
    )


# --- the ROC of scores ------------------------------------------------------------------------------------


def roc_figure(scores: Scores, *, narrow: bool = False) -> str:
    """Draw the ROC at its thresholds, and the region that certainly contains it, if there is one."""
    sizes = scores.measured
    points = sorted((b / sizes[1], a / sizes[0]) for a, b in (point.counts for point in scores.roc))
    with canvas("roc", 3.8, narrow=narrow) as figure:
        axes = figure.add_subplot()
        region = _roc_region(scores)
        if region:
            x, low, high = zip(*region, strict=True)
            axes.fill_between(x, low, high, step="post", color=INK, alpha=0.16, linewidth=0)
        axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=(0, (4, 2)))
        axes.plot(
            *zip((0.0, 0.0), *points, (1.0, 1.0), strict=True), color=INK, linewidth=1.2, marker="o", markersize=3
        )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.grid()
        axes.set_xlabel("false positive rate")
        axes.set_ylabel("true positive rate")
        label = "True positive rate against false positive rate" + ("" if not region else ", with its certain region")
        return svg(figure, "roc", label, narrow=narrow)


def _roc_region(scores: Scores) -> list[tuple[float, float, float]]:
    """Return corners (FPR, lowest TPR, highest TPR) of the region from left to right, each valid up to the next."""
    limits = [point.limits for point in scores.roc if point.limits is not None]
    if not limits:
        return []
    ends = sorted({0.0, 1.0, *(limit[2] for limit in limits), *(limit[3] for limit in limits)})
    return [
        (
            x,
            max((limit[0] for limit in limits if limit[3] <= x), default=0.0),
            min((limit[1] for limit in limits if limit[2] > x), default=1.0),
        )
        for x in ends
    ]


def roc_note(scores: Scores, confidence: float) -> str:
    """Say what the ROC shows."""
    if any(point.limits is None for point in scores.roc):
        return "The curve is that of these scores; scores of one model hang together, so no region is certain."
    return (
        f"The curve is that of the measuring scores; all of the true curve lies within the grey region, at "
        f"{confidence_text(confidence)} confidence. The region is a statement of its own and decides nothing."
    )


# --- Which events were measured, and with which result? --------------------------------------------------

_LONGEST = 200  # characters of an event in the table, about three lines
_MOST = 5  # candidates that are named; the others were predicted to show less


def attempts_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the section on all measured events."""
    claim, trusted = shown.evidence.claimed, shown.evidence.verdict is not Verdict.INVALID
    rows = [_row(attempt, claim, trusted=trusted) for attempt in shown.evidence.attempts]
    yield Section("attempts", "Every attempt", {"attempts": rows})


def _row(attempt: Attempt, claim: Claim | None, *, trusted: bool) -> dict[str, Any]:
    bound = attempt.bound
    value = bound_text(bound, claim) if bound.value > 0 else "none above 0"
    sampled = bound.kind == "sampled"
    return {
        "pair": attempt.pair,
        "name": attempt.name,
        "event": _event(bound),
        "method": bound.method,
        "counts": _counts(attempt),
        "bound": value if trusted or not sampled else "not used",
        "confidence": confidence_text(bound.confidence) if sampled else "certain",
        "error": error_text(bound.confidence) if sampled else "none",
        "considered": _candidates(attempt.considered),
    }


def _event(bound: Bound) -> str:
    if bound.event is not None:
        return shortened(bound.event.words, _LONGEST)
    return "nothing to measure" if bound.counts is None else "guesses by the order of the scores"


def _counts(attempt: Attempt) -> list[str]:
    bound, counts = attempt.bound, attempt.bound.counts
    if counts is None:
        return ["–"]
    texts = [
        f"pointing to {DATASETS[side]}: {count_text(hits[0])} | {count_text(hits[1])}"
        for side, hits in ((0, counts.toward0), (1, counts.toward1))
        if bound.event is None or bound.event.toward(side)
    ]
    return [*texts, f"of {count_text(counts.runs[0])} | {count_text(counts.runs[1])}"]


def _candidates(considered: Sequence[Candidate]) -> list[str]:
    texts = [f"{one.family}, {one.method}: {estimate_text(one.predicted)}" for one in considered[:_MOST]]
    rest = len(considered) - len(texts)
    return [*texts, f"and {rest} more in the record"] if rest else texts


def methods(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the methods of the bounds, with a description of each."""
    bounds = [evidence.lower, evidence.floating_point, *(attempt.bound for attempt in evidence.attempts)]
    used = dict.fromkeys(bound.method for bound in bounds if bound is not None)
    return [(name, METHODS[name].words) for name in used if name in METHODS]
