"""Which outputs count as evidence for which side? An event: plain data, fixed before the runs that measure it."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Iterable, Iterator

import msgspec

TYPES = ("count", "ignore")  # whether an int differs from a float, a list from a tuple, and so on


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An immutable part of evidence."""


class Coordinate(Record, frozen=True, tag="coordinate"):
    """The score of a run is its number ``index``."""

    index: int


class Extreme(Record, frozen=True, tag="extreme"):
    """The score is the largest of the run's numbers, or the smallest, as ``largest`` says."""

    largest: bool


class Ties(Record, frozen=True, tag="ties"):
    """The score is how many of the run's numbers repeat another of them."""


class Deviation(Record, frozen=True, tag="deviation"):
    """The score is the mean of |x_j − center_j|/scale_j over the run's numbers x_j, each counted as at most 1e290."""

    center: tuple[float, ...]
    scale: tuple[float, ...]


class Values(Record, frozen=True, tag="values"):
    """The score is the index of the first of these values that is among the run's numbers, or −1 if none is."""

    values: tuple[float, ...]


class Linear(Record, frozen=True, tag="linear"):
    """The score is Σ_t Σ_j weights[t][j] · clip((x_j − center_j)/scale_j, −clips[t], clips[t])."""

    center: tuple[float, ...]
    scale: tuple[float, ...]
    clips: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]


class Tree(Record, frozen=True):
    """A decision tree as parallel tuples with one entry per node, parents before children; node 0 is the root.

    A run at node i goes to ``left[i]`` if its number ``feature[i]`` is at most ``threshold[i]``, else to
    ``right[i]``. At a leaf ``feature[i]`` is −1, and ``value[i]`` is the result.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def __post_init__(self) -> None:
        nodes = len(self.feature)
        if not nodes or {len(self.threshold), len(self.left), len(self.right), len(self.value)} != {nodes}:
            raise ValueError("a tree needs the same number of entries, at least one, in all of its tuples")
        for node, feature in enumerate(self.feature):
            if feature >= 0 and not (node < self.left[node] < nodes and node < self.right[node] < nodes):
                raise ValueError(f"the children of node {node} must come after it")


class Trees(Record, frozen=True, tag="trees"):
    """The score is the sum of the results of all trees."""

    trees: tuple[Tree, ...]


class Rows(Record, frozen=True, tag="rows"):
    """The score is the index of the run's numbers in this list of rows, or −1 if they are not listed."""

    rows: tuple[tuple[float, ...], ...]


class Step(Record, frozen=True, tag="step"):
    """The score is the exponent of the largest power of two that divides x − center; 1024 if the difference is 0.

    x is the run's number ``index``; the difference is computed in doubles.
    """

    index: int
    center: float = 0.0


class Reach(Record, frozen=True, tag="reach"):
    """The score is 1 if the number ``index`` equals ``center`` plus some double, in floating-point addition, else 0."""

    index: int
    center: float


class Box(Record, frozen=True, tag="box"):
    """The score is 1 if low_j <= x_j <= high_j for every number x_j, else 0; None means no limit."""

    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


Score = Coordinate | Extreme | Ties | Deviation | Values | Linear | Trees | Rows | Step | Reach | Box

DATASETS = ("the first dataset", "the second dataset")
"""What side 0 and side 1 of a pair are called wherever somebody reads of them."""


class Rule(Record, frozen=True):
    """How an event treats the outputs of one form.

    Attributes:
        form: the form of outputs, such as "float", "[bool × 3]", "raises ValueError".
        score: the number that an output is judged by; None: by its form alone, in one cell.
        edges: cell i of the score is ``edges[i-1] <= score < edges[i]``.
        labels: of each cell, 1 if its outputs speak for side 0, −1 for side 1, and 0 for neither; an event with
            degrees also has 2, 3, … and −2, −3, … for stronger outputs.
    """

    form: str
    score: Score | None
    edges: tuple[float, ...]
    labels: tuple[int, ...]


class Event(Record, frozen=True):
    """A set of outputs that speaks for side 0 and one that speaks for side 1, fixed before measuring.

    Attributes:
        family: the kind of score that it was made of.
        rules: one for each form of outputs; outputs of other forms speak for neither side.
    """

    family: str
    rules: tuple[Rule, ...]

    def toward(self, side: int) -> bool:
        """Whether any output speaks for ``side``."""
        return any(label > 0 if side == 0 else label < 0 for rule in self.rules for label in rule.labels)

    @property
    def degrees(self) -> tuple[int, int]:
        """The largest and the smallest label; (1, −1) if outputs speak for both sides without degrees."""
        labels = [label for rule in self.rules for label in rule.labels]
        return max(labels, default=0), min(labels, default=0)

    def __str__(self) -> str:
        parts = [f"{self._outputs(side)} speaks for side {side}" for side in (0, 1) if self.toward(side)]
        return "; ".join(parts) or "no output speaks for either side"

    @property
    def words(self) -> str:
        """The same for people; evidence of sequential audits holds the text above."""
        return "; ".join(f"{self._outputs(side)} points to {DATASETS[side]}" for side in (0, 1) if self.toward(side))

    def describe(self, side: int) -> str:
        """Say in words which outputs speak for ``side``, and whether only types distinguish some of them."""
        return self._outputs(side) + _by_type(self, side)

    def _outputs(self, side: int) -> str:
        label = 1 if side == 0 else -1
        sets = [text for rule in self.rules for text in _describe_rule(_without_degrees(rule), label)]
        if len(sets) > 6:
            sets = [*sets[:5], f"{len(sets) - 5} more"]
        return ("an output that is " + ", or ".join(sets)) if sets else "no output"


def _without_degrees(rule: Rule) -> Rule:
    return msgspec.structs.replace(rule, labels=tuple((label > 0) - (label < 0) for label in rule.labels))


def _short(value: float) -> str:
    return "−0.0" if value == -5e-324 else f"{value:.4g}"  # the number that stands for −0.0


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
    if isinstance(rule.score, Box):
        return [f"{rule.form} {_box(rule.score, inside=cell > 0)}" for cell in (0, 1) if rule.labels[cell] == label]
    if isinstance(rule.score, Values):
        return [f"{rule.form} {_values_in_cell(rule, cell)}" for cell, own in enumerate(rule.labels) if own == label]
    what = ""
    if isinstance(rule.score, Linear | Trees):
        what = "with a fitted score "
    elif isinstance(rule.score, Extreme):
        what = f"whose {'largest' if rule.score.largest else 'smallest'} number is "
    elif isinstance(rule.score, Deviation):
        what = "whose mean deviation is "
    elif isinstance(rule.score, Ties):
        what = "whose count of repeated numbers is "
    elif isinstance(rule.score, Step | Reach) and rule.form not in {"float", "int", "bool"}:
        what = f"whose number {rule.score.index} is "
    elif rule.form not in {"float", "int", "bool"}:
        what = f"with number {rule.score.index} "
    fitted = isinstance(rule.score, Linear | Trees)
    kind = f"{rule.form} " if rule.form not in {"float", "int", "bool"} else "a number " if fitted else ""
    return [kind + what + text for text in _intervals(rule, label)]


def _values_in_cell(rule: Rule, cell: int) -> str:
    """Say which values the runs of a cell hold, the first listed of which decides."""
    values = rule.score.values if isinstance(rule.score, Values) else ()
    first = math.ceil(rule.edges[cell - 1]) if cell else -1
    last = math.ceil(rule.edges[cell]) if cell < len(rule.edges) else len(values)
    within = [_short(value) for value in values[max(first, 0) : last]]
    texts = ["without any listed value"] if first < 0 else []
    if within:
        more = f" or {len(within) - 4} more" if len(within) > 4 else ""
        texts.append(f"with a number exactly {' or '.join(within[:4])}{more}")
    text = " or ".join(texts)
    return f"{text} (none of those listed before)" if first > 0 else text


def _box(box: Box, *, inside: bool) -> str:
    """Describe the numbers inside (or outside) a box; equal adjacent limits are grouped."""
    limits = itertools.groupby(enumerate(zip(box.low, box.high, strict=True)), key=lambda item: item[1])
    parts = []
    for (low, high), numbered in limits:
        if low is None and high is None:
            continue
        places = [place for place, _ in numbered]
        where = f"number {places[0]}" if len(places) == 1 else f"numbers {places[0]} to {places[-1]}"
        parts.append(f"{where} {_limits(low, high)}")
    return ("with " if inside else "other than with ") + " and ".join(parts)


def _limits(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"at most {_short(high)}" if high is not None else f"at least {_short(low or 0.0)}"
    return f"= {_short(low)}" if low == high else f"from {_short(low)} to {_short(high)}"


def _intervals(rule: Rule, label: int) -> list[str]:
    """Return the maximal runs of cells with ``label``, as text."""
    texts: list[str] = []
    start: int | None = None
    for cell in range(len(rule.labels) + 1):
        own = cell < len(rule.labels) and rule.labels[cell] == label
        if own and start is None:
            start = cell
        elif not own and start is not None:
            low = rule.edges[start - 1] if start > 0 else None
            high = rule.edges[cell - 1] if cell <= len(rule.edges) else None
            texts.append(_cell(rule.score, low, high))
            start = None
    return texts


def _cell(score: Score | None, low: float | None, high: float | None) -> str:
    """Say in words what low <= score < high means."""
    if isinstance(score, Reach):
        return f"{'no' if low is None else 'a'} sum of {_short(score.center)} and a double"
    if isinstance(score, Step):
        what = f"{_short(score.center)} plus or minus " if score.center else ""
        parts = [] if low is None else [f"{what}a multiple of 2^{_short(low)}"]
        parts += [] if high is None else [f"not {what}a multiple of 2^{_short(high)}"]
        return " but ".join(parts)
    if low is None:
        return f"below {_short(high)}" if high is not None else "anything"
    if high is None:
        return f"at least {_short(low)}"
    if high == math.nextafter(low, math.inf):
        return f"exactly {_short(low)}"
    return f"from {_short(low)} to below {_short(high)}"


# --- where only types distinguish the sides ----------------------------------------------------------------

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_KIND = re.compile(r"bool|u?int\d*|float\d*|longdouble|number|array|of")
_ALIKE = 64  # how many forms that differ by type alone each form is compared with, to bound the time
_TYPE = re.compile(r"\b(?:bool|u?int\d*|float\d*|longdouble|Fraction float|Decimal float)\b|frozenset|^masked \S+ ")


def _by_type(event: Event, side: int) -> str:
    """Say that outputs of equal value speak for both sides, depending on their type; empty if none do."""
    sign = 1 if side == 0 else -1
    untyped = [_untyped(rule.form) for rule in event.rules]
    alike: dict[str, list[Rule]] = {}  # an event may have a rule for each of many texts, so not all pairs are tried
    for rule, form in zip(event.rules, untyped, strict=True):
        alike.setdefault(form, []).append(rule)
    for own, form in zip(event.rules, untyped, strict=True):
        for other in alike[form][:_ALIKE]:
            if own.form == other.form:
                continue
            if any(_label(own, row) * sign > 0 > _label(other, row) * sign for row in _rows_at_edges(own, other)):
                return f" (by type alone: {_a(own.form)} on this side, {_a(other.form)} on the other)"
    return ""


def kinds_in(form: str) -> list[str]:
    """Return the types of a form that consists of numbers only; "number" if types do not count."""
    words = re.findall(r"[a-z]\w*", form)
    if not re.fullmatch(r"[][(), ×\w]*", form) or not all(_KIND.fullmatch(word) for word in words):
        return []
    return [word for word in words if word not in ("array", "of")]


def types_agree(events: Iterable[Event], types: str) -> bool:
    """Whether events name types if and only if types count; a form without numbers names none."""
    kinds = {kind for event in events for rule in event.rules for kind in kinds_in(rule.form)}
    return not kinds or kinds == {"number"} if types == "ignore" else "number" not in kinds


def _untyped(form: str) -> str:
    plain = _TYPE.sub("number", _QUOTED.sub(lambda text: text[0].encode().hex(), form))
    return plain.translate(str.maketrans("()", "[]"))


def _a(form: str) -> str:
    return form if not form[:1].isalpha() else f"an {form}" if form[0] in "aeiou" else f"a {form}"


def _rows_at_edges(*rules: Rule) -> Iterator[tuple[float, ...]]:
    """Yield rows of numbers on both sides of every change of label."""
    yield ()
    for rule in rules:
        if isinstance(rule.score, Rows):
            yield from rule.score.rows
        elif isinstance(rule.score, Coordinate | Extreme):
            before = (0.0,) * (rule.score.index if isinstance(rule.score, Coordinate) else 0)
            for edge in rule.edges:
                yield (*before, math.nextafter(edge, -math.inf))
                yield (*before, edge)


def _label(rule: Rule, row: tuple[float, ...]) -> int:
    """Return the label of an output of a rule's form with these numbers; 0 if it cannot be told."""
    score = rule.score
    if score is None:
        return rule.labels[0]
    if isinstance(score, Rows):
        return rule.labels[bisect.bisect_right(rule.edges, score.rows.index(row) if row in score.rows else -1)]
    if isinstance(score, Coordinate) and score.index < len(row):
        return rule.labels[bisect.bisect_right(rule.edges, row[score.index])]
    if isinstance(score, Extreme) and row:
        return rule.labels[bisect.bisect_right(rule.edges, max(row) if score.largest else min(row))]
    return 0
