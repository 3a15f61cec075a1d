"""Which cells of the histogram are in the event, and in which order are they shown?"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

from dpaudit.evidence.event import Box, Coordinate, Event, Rows, Rule
from dpaudit.evidence.records import Cell, Histogram
from dpaudit.privacy.claims import number_text

_PLAIN = {"float", "int", "bool"}
_MOST_BARS = 24  # labels stay readable up to here
_FEW = 40  # an axis with at most this many intervals is drawn as one bar per interval


@dataclass(frozen=True, slots=True)
class EventInterval:
    """An interval [low, high) of the output that speaks for a side; None for an open end."""

    low: float | None
    high: float | None
    side: int


def _scalar_rules(event: Event | None) -> list[Rule]:
    if event is None:
        return []
    return [
        rule
        for rule in event.rules
        if rule.form in _PLAIN and (rule.score is None or (isinstance(rule.score, Coordinate) and rule.edges))
    ]


def regions(event: Event | None) -> list[EventInterval]:
    """Return the intervals of a plain number that speak for a side; adjacent ones are joined."""
    found: list[EventInterval] = []
    for rule in _scalar_rules(event)[:1]:
        bounds: list[float | None] = [None, *rule.edges, None]
        for cell, label in enumerate(rule.labels):
            low, high = bounds[cell], bounds[cell + 1] if cell + 1 < len(bounds) else None
            if label and found and found[-1].side == (label < 0) and found[-1].high == low and low is not None:
                found[-1] = EventInterval(found[-1].low, high, found[-1].side)
            elif label:
                found.append(EventInterval(low, high, int(label < 0)))
    return found


def speaks_for(event: Event | None, cell: Cell) -> int | None:
    """Return the side that a category speaks for, or None if it speaks for neither."""
    if event is None:
        return None
    label = 0
    for rule in event.rules:
        if rule.score is None:
            label = label or (rule.labels[0] if rule.form == cell.label else 0)
        elif isinstance(rule.score, Rows):
            label = label or _row_label(rule, rule.score, cell.label)
        elif isinstance(rule.score, Box):
            label = label or _box_label(rule, rule.score, cell.label)
    if not label and (value := _number(cell)) is not None:
        for rule in _scalar_rules(event):
            label = label or rule.labels[bisect_right(rule.edges, value)]
    return None if not label else int(label < 0)


def _row_label(rule: Rule, score: Rows, text: str) -> int:
    for index, row in enumerate(score.rows):
        numbers = " ".join(number_text(x) for x in row)
        if text == (numbers if rule.form in _PLAIN else f"{rule.form} = {numbers}"):
            return rule.labels[index + 1]
    return 0


def _box_label(rule: Rule, box: Box, text: str) -> int:
    """Return the label of a single output, by whether its numbers are within the box; 0 for other cells."""
    head = f"{rule.form} = "
    if not text.startswith(head):
        return 0
    try:
        numbers = [float(number) for number in text[len(head) :].split(" ")]
    except ValueError:
        return 0
    if len(numbers) != len(box.low):
        return 0
    inside = all(
        (low is None or number >= low) and (high is None or number <= high)
        for number, low, high in zip(numbers, box.low, box.high, strict=True)
    )
    return rule.labels[int(inside)]


def _number(cell: Cell) -> float | None:
    if cell.low is not None:
        return cell.low
    if cell.high is not None:
        return math.nextafter(cell.high, -math.inf)
    try:
        return float(cell.label)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class CellBar:
    """One bar for each side, for a category or for one of a few intervals."""

    label: str
    count0: int
    count1: int
    side: int | None


def is_drawn_as_bars(histogram: Histogram) -> bool:
    """Whether cells are drawn as bars: categories, few intervals, or single values among intervals."""
    if histogram.axis == "category":
        return True
    inner = [(cell.low, cell.high) for cell in histogram.cells if cell.low is not None and cell.high is not None]
    if len(inner) <= _FEW:
        return True
    span = max(high for _, high in inner) - min(low for low, _ in inner)
    return not math.isfinite(span) or any(high - low <= 1e-9 * span for low, high in inner)


def interval_text(low: float | None, high: float | None) -> str:
    """Return the text of an interval [low, high) of an output."""
    if low is None:
        return "anything" if high is None else f"below {high:.4g}"
    if high is None:
        return f"{low:.4g} and above"
    return f"{low:.4g}" if high == math.nextafter(low, math.inf) else f"{low:.4g} to below {high:.4g}"


def bars(histogram: Histogram, event: Event | None) -> list[CellBar]:
    """Return at most 25 bars: numbers in ascending order, categories by frequency, and all others as one bar."""
    drawn = []
    for cell in histogram.cells:
        interval = cell.low is not None or cell.high is not None
        label = interval_text(cell.low, cell.high) if interval and histogram.axis == "output" else cell.label
        side = None if histogram.axis == "score" and interval else speaks_for(event, cell)
        drawn.append((CellBar(label, cell.count0, cell.count1, side), _number(cell)))
    ranked = sorted(drawn, key=lambda item: -(item[0].count0 + item[0].count1))
    kept, rest = ranked[:_MOST_BARS], [bar for bar, _ in ranked[_MOST_BARS:]]
    if sum(number is not None for _, number in kept) > len(kept) / 2:
        kept.sort(key=lambda item: (item[1] is None, item[1] or 0.0))
    shown = [bar for bar, _ in kept]
    if rest:
        total0, total1 = sum(bar.count0 for bar in rest), sum(bar.count1 for bar in rest)
        shown.append(CellBar(f"{len(rest)} others together" if len(rest) > 1 else rest[0].label, total0, total1, None))
    return shown
