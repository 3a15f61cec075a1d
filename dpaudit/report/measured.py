"""What was measured, and how often did it come? The event of an audit, its counts, and its drawing."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from dpaudit.event import Event
from dpaudit.evidence import Bound, Counts, Evidence, Histogram
from dpaudit.report.canvas import both
from dpaudit.report.figures import event_figure
from dpaudit.report.kinds import is_proof, sampled_lower
from dpaudit.report.losses import frequency_interval
from dpaudit.report.numerals import count_text, share_text
from dpaudit.report.outcomes import bars, is_drawn_as_bars, regions


@dataclass(frozen=True, slots=True)
class CountRow:
    """A set of outputs, and count, share and interval on each side."""

    name: str
    cells: tuple[tuple[str, str, str], tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class EventPart:
    """The event in words, its counts, and its drawing over the outputs of both sides."""

    sentences: list[tuple[int, str]]
    rows: list[CountRow]
    totals: tuple[str, str]
    guesses: str
    figure: Markup | None
    drawing: str
    pair: int | None
    computed: bool
    drawn_runs: str


def event_part(evidence: Evidence) -> EventPart:
    """Return the event that showed most in the runs."""
    bound, histogram = sampled_lower(evidence), evidence.histogram
    if bound is None:
        return _measured(evidence.lower if not is_proof(evidence) else None)
    figure, drawn = None, ""
    if histogram is not None and histogram.cells:
        outputs = histogram
        figure = both(lambda narrow: event_figure(outputs, bound.event, narrow=narrow))
        drawn = f"{count_text(histogram.runs[0])} runs of side 0 and {count_text(histogram.runs[1])} of side 1"
    drawing = "" if histogram is None else _drawing_note(histogram, bound.event)
    found = evidence.counterexample
    computed = found is not None and bound.event == found.event
    return _measured(bound, computed=computed, figure=figure, drawing=drawing, drawn_runs=drawn)


def low_bits_part(evidence: Evidence) -> EventPart | None:
    """The event in the low-order bits; None where none was measured."""
    bound = evidence.floating_point
    return None if bound is None or bound.event is None else _measured(bound)


def _measured(
    bound: Bound | None,
    *,
    computed: bool = False,
    figure: Markup | None = None,
    drawing: str = "",
    drawn_runs: str = "",
) -> EventPart:
    event, counts = (None, None) if bound is None else (bound.event, bound.counts)
    sentences = [] if event is None else [(side, event.describe(side)) for side in (0, 1) if event.toward(side)]
    return EventPart(
        sentences=sentences,
        rows=[] if counts is None else _count_rows(counts, [side for side, _ in sentences]),
        totals=("", "") if counts is None else (count_text(counts.runs[0]), count_text(counts.runs[1])),
        guesses="" if bound is None or counts is None or bound.method != "guess" else _guesses(counts),
        figure=figure,
        drawing=drawing,
        pair=None if bound is None else bound.pair,
        computed=computed,
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


def _count_rows(counts: Counts, sides: list[int]) -> list[CountRow]:
    rows = []
    rest = list(counts.runs)
    for side in sides:
        hits = counts.toward0 if side == 0 else counts.toward1
        rest = [rest[own] - hits[own] for own in (0, 1)]
        rows.append(CountRow(f"speaks for side {side}", _shares(hits, counts.runs)))
    if sides:
        rows.append(CountRow("any other output", _shares((rest[0], rest[1]), counts.runs)))
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
