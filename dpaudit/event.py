"""Which outputs speak for which side? An event: data that is fixed before the runs that measure it."""

from __future__ import annotations

import math

import msgspec


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A frozen part of evidence."""


class Coordinate(Record, frozen=True, tag="coordinate"):
    """The score of a run is one of its numbers."""

    index: int


class Linear(Record, frozen=True, tag="linear"):
    """The score is Σ_t Σ_j weights[t][j] · clip((x_j − center_j)/scale_j, −clips[t], clips[t])."""

    center: tuple[float, ...]
    scale: tuple[float, ...]
    clips: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]


class Rows(Record, frozen=True, tag="rows"):
    """The score is the index of the run's numbers in this list of rows; −1 for a row that is not listed."""

    rows: tuple[tuple[float, ...], ...]


Score = Coordinate | Linear | Rows


class Rule(Record, frozen=True):
    """How an event treats the outputs of one form.

    Cell i of the score is ``edges[i-1] <= score < edges[i]``; ``labels[i]`` is 1 where an output in the
    cell speaks for side 0, −1 for side 1, 0 for neither. Without a score there is one cell.
    """

    form: str
    score: Score | None
    edges: tuple[float, ...]
    labels: tuple[int, ...]


class Event(Record, frozen=True):
    """A set of outputs that speaks for side 0 and one that speaks for side 1, fixed before measuring.

    Outputs of a form that no rule names speak for neither side.
    """

    family: str
    rules: tuple[Rule, ...]

    def toward(self, side: int) -> bool:
        """Whether any output speaks for ``side``."""
        return any((1 if side == 0 else -1) in rule.labels for rule in self.rules)

    def __str__(self) -> str:
        parts = [f"{self.describe(side)} speaks for side {side}" for side in (0, 1) if self.toward(side)]
        return "; ".join(parts) or "no output speaks for either side"

    def describe(self, side: int) -> str:
        """Say in words which outputs speak for ``side``."""
        label = 1 if side == 0 else -1
        sets = [text for rule in self.rules for text in _describe_rule(rule, label)]
        if len(sets) > 6:
            sets = [*sets[:5], f"{len(sets) - 5} more"]
        return ("an output that is " + ", or ".join(sets)) if sets else "no output"


def _short(value: float) -> str:
    return f"{value:.4g}"


def _describe_rule(rule: Rule, label: int) -> list[str]:
    if label not in rule.labels:
        return []
    if rule.score is None:
        return [rule.form]
    if isinstance(rule.score, Rows):
        listed = rule.score.rows
        return [
            f"{rule.form} = {' '.join(_short(x) for x in listed[cell - 1])}" if cell else f"another {rule.form}"
            for cell, own in enumerate(rule.labels)
            if own == label
        ]
    if all(own == label for own in rule.labels):
        return [rule.form]
    what = ""
    if isinstance(rule.score, Linear):
        what = "with a fitted score "
    elif rule.form not in {"float", "int", "bool"}:
        what = f"with number {rule.score.index} "
    kind = "" if rule.form in {"float", "int", "bool"} else f"{rule.form} "
    return [kind + what + text for text in _intervals(rule, label)]


def _intervals(rule: Rule, label: int) -> list[str]:
    """The maximal runs of cells with ``label``, as text."""
    texts: list[str] = []
    start: int | None = None
    for cell in range(len(rule.labels) + 1):
        own = cell < len(rule.labels) and rule.labels[cell] == label
        if own and start is None:
            start = cell
        elif not own and start is not None:
            low = rule.edges[start - 1] if start > 0 else None
            high = rule.edges[cell - 1] if cell <= len(rule.edges) else None
            texts.append(_interval(low, high))
            start = None
    return texts


def _interval(low: float | None, high: float | None) -> str:
    if low is None:
        return f"below {_short(high)}" if high is not None else "anything"
    if high is None:
        return f"at least {_short(low)}"
    if high == math.nextafter(low, math.inf):
        return f"exactly {_short(low)}"
    return f"from {_short(low)} to below {_short(high)}"
