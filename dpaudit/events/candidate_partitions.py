"""Along which scores might the outputs differ? Candidate partitions, with the learning runs in each cell.

A family proposes one partition of all outputs. It is *ordered* if its cells have an order that the loss may be expected
to follow (a raw value, a fitted score); then every tail is a candidate event. Otherwise it is *ranked*: the counts
themselves decide which cells point to which side. The counts are unbiased: no run is counted along a score that it was
used to fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.events import predict, scores
from dpaudit.events.partition import Partition, counts_between, row_keys, score_of
from dpaudit.evidence.event import Coordinate, Deviation, Extreme, Linear, Rows, Rule, Score, Ties, Values
from dpaudit.sampling.outputs import Outputs

# --- Which learning runs have one form, and which of their outputs repeat? What all families of scores share ---
#
# Runs along a score are sorted once, and outputs that repeat are found once. A fit then sees each distinct output with
# the number of its runs, in place of every run.

Counts = tuple[Integers, Integers]

_MOST_ROWS = 50_000
_NEW = 0.95  # values count as repeating if fewer of the runs than this show a new value
_FIRST, _MOSTLY_NEW = 20_000, 0.97  # where this share of the first runs of each side is new, too many will be


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """The learning runs of one form along a score, ascending: two halves of each side, and all together."""

    first: tuple[Floats, Floats]
    second: tuple[Floats, Floats]
    pooled: Floats

    @classmethod
    def of(cls, values0: Floats, values1: Floats) -> ScoreLine:
        """Sort the scores of the runs of side 0 and side 1, (runs,) each."""
        half0, half1 = len(values0) // 2, len(values1) // 2
        first = np.sort(values0[:half0]), np.sort(values1[:half1])
        second = np.sort(values0[half0:]), np.sort(values1[half1:])
        return cls(first, second, np.sort(np.concatenate([values0, values1])))

    def apart(self, edges: tuple[float, ...]) -> Floats:
        """Return 1 for every edge that is farther from the run below it than most runs are from one another."""
        if not len(self.pooled):
            return np.zeros(len(edges))
        below = self.pooled[np.maximum(np.searchsorted(self.pooled, np.asarray(edges)) - 1, 0)]
        with np.errstate(over="ignore"):
            wide = np.asarray(edges) - below > most_width(self.pooled)
        return np.asarray(wide, dtype=np.float64)

    def counts(self, edges: tuple[float, ...]) -> tuple[Counts, Counts]:
        """Return how many runs of each half and side fall between the edges."""
        first, second = ([counts_between(side, edges) for side in half] for half in (self.first, self.second))
        return (first[0], first[1]), (second[0], second[1])


@dataclass(frozen=True, slots=True)
class Distinct:
    """Outputs of one form that repeat."""

    rows: Floats  # each distinct output once, in lexicographic order, (outputs, numbers)
    # for each run of side 0 and side 1, the place of its output among them, (runs,) each
    which: tuple[Integers, Integers]

    def halves(self) -> tuple[Counts, Counts]:
        """Return the runs of each half and side with each output, (outputs,) each."""
        halves: list[list[Integers]] = [[], []]
        for side in self.which:
            for own, half in zip(halves, (side[: len(side) // 2], side[len(side) // 2 :]), strict=True):
                own.append(np.bincount(half, minlength=len(self.rows)))
        return (halves[0][0], halves[0][1]), (halves[1][0], halves[1][1])


@dataclass(frozen=True, slots=True)
class FormRuns:
    """The learning runs of one form, out of ``of`` runs of each side of any form."""

    form: str
    rows: tuple[Floats, Floats]
    of: tuple[int, int]
    _lines: dict[Score, ScoreLine] = field(default_factory=dict, compare=False)
    _found: list[Distinct | None] = field(default_factory=list, compare=False)
    _standard: list[tuple[Floats, Floats]] = field(default_factory=list, compare=False)

    def __len__(self) -> int:
        return len(self.rows[0]) + len(self.rows[1])

    @property
    def columns(self) -> int:
        """The numbers of one output."""
        return int(self.rows[0].shape[1])

    @property
    def distinct(self) -> Distinct | None:
        """The distinct outputs if outputs repeat, else None; looked for only once."""
        if not self._found:
            self._found.append(_distinct(self))
        return self._found[0]

    @property
    def standard(self) -> tuple[Floats, Floats]:
        """The median and the standard deviation of every number; computed only once."""
        if not self._standard:
            self._standard.append(scores.center_and_scale(self.rows))
        return self._standard[0]

    def along(self, score: Score) -> ScoreLine:
        """Return all runs along a score that was not fitted; sorted only once, since several families use it."""
        if score not in self._lines:
            self._lines[score] = ScoreLine.of(*(score_of(score, side) for side in self.rows))
        return self._lines[score]

    def part(self, *, trial: bool) -> FormRuns:
        """Return the first quarter of the runs, or the rest."""
        quarters = [len(side) // 4 for side in self.rows]
        parts = [side[:n] if trial else side[n:] for side, n in zip(self.rows, quarters, strict=True)]
        of = [n // 4 if trial else n - n // 4 for n in self.of]
        return FormRuns(self.form, (parts[0], parts[1]), (max(of[0], len(parts[0])), max(of[1], len(parts[1]))))


def forms_of(outputs0: Outputs, outputs1: Outputs) -> list[FormRuns]:
    """Return the learning runs of side 0 and side 1 by form, the most frequent form first."""
    tables = [dict(zip(outputs.forms, outputs.numbers, strict=True)) for outputs in (outputs0, outputs1)]
    by_form = []
    for form in dict.fromkeys([*outputs0.forms, *outputs1.forms]):
        columns = next(table[form].shape[1] for table in tables if form in table)
        empty = np.empty((0, columns))
        rows = (tables[0].get(form, empty), tables[1].get(form, empty))
        by_form.append(FormRuns(form, rows, (len(outputs0), len(outputs1))))
    return sorted(by_form, key=lambda item: -len(item))


def most_width(ordered: Floats) -> float:
    """The range of the central 98 % of ascending runs; a wider gap counts as wide."""
    n = len(ordered)
    with np.errstate(over="ignore"):
        return float(ordered[n - 1 - n // 100] - ordered[n // 100])


def repeats(ordered: Floats) -> bool:
    """Whether any value of an ascending array occurs twice."""
    return bool(np.any(ordered[1:] == ordered[:-1]))


def distinct_values(ordered: Floats) -> tuple[Floats, Integers]:
    """Return the distinct values of an ascending array, and their multiplicities."""
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _distinct(item: FormRuns) -> Distinct | None:
    if not item.columns or len(item) < 2:
        return None
    most = min(_MOST_ROWS, _NEW * len(item))
    if item.columns == 1:
        pooled = item.along(Coordinate(0)).pooled
        if not repeats(pooled):
            return None
        values = distinct_values(pooled)[0]
        if len(values) > most:
            return None
        return Distinct(values[:, None], _places(values, [side[:, 0] for side in item.rows]))
    keys = [row_keys(side) for side in item.rows]
    seen = np.concatenate([side[:_FIRST] for side in keys])
    if len(seen) > _FIRST and len(np.unique(seen)) > _MOSTLY_NEW * len(seen):
        return None
    known = np.unique(np.concatenate(keys))
    if len(known) > most:
        return None
    which = _places(known, keys)
    rows = np.empty((len(known), item.columns))
    for own, side in zip(which, item.rows, strict=True):
        rows[own] = side + 0.0  # −0 becomes 0; runs of one key are equal
    order = np.lexsort(rows.T[::-1])
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return Distinct(rows[order], (places[which[0]], places[which[1]]))


def _places(ordered: Floats | Integers, sides: list[Floats] | list[Integers]) -> tuple[Integers, Integers]:
    """Where the values of both sides stand in an ascending array that has all of them."""
    positions = [np.searchsorted(ordered, side).astype(np.int64, copy=False) for side in sides]
    return positions[0], positions[1]


# numbers of cells and points are measured by benchmarks/goal_table.py (tuned on its seeds 0 to 99)
_BINS = (24, 64, 256)
_FEW_ROWS = 64
_TAIL_POINTS = 200
_OUTER = 300  # outermost runs of each end that get a cell of their own
_LEAST_BIN = 8  # runs in the outermost bins
_COLUMNS_TRIED = 3
_SCREENED, _SCREENED_NUMBERS = 20_000, 160_000  # of a side: runs, and numbers, in which rare leaks are looked for first
_CLEARLY = 3.5  # standard deviations by which one side has more of the outermost runs
_TIMES = 4  # that a value must occur to be listed
_WATCHED = 32
_FOLDS, _FEW_FOLDS, _MANY_NUMBERS = 5, 2, 500_000
_FITTED_NUMBERS, _FITTED_RUNS = 1_250_000, 30_000  # of each side, the larger: more runs fit nearly the same score
_FORMS_FITTED = 48  # of texts that nearly all differ, each has hardly a run
_SUM_CLIPS = (13 / 256, 77 / 256, 1.0)  # about 0.05 and 0.3, with few binary digits (see `scores._linear`)
_WIDEST_SOLVED = 300  # largest number of numbers for which linear systems are solved for weights


@dataclass(frozen=True, slots=True)
class FittedPartition:
    """A partition, its counts in two halves of the learning runs, and whether its cells are ordered.

    ``first`` and ``second`` are counts of side 0 and side 1, each of shape (cells,). ``apart`` is 1 for every edge in a
    wide gap without runs.
    """

    partition: Partition
    first: Counts
    second: Counts
    ordered: bool
    apart: Floats

    @property
    def counts(self) -> Counts:
        """Counts of all learning runs in the partition."""
        return self.first[0] + self.second[0], self.first[1] + self.second[1]

    @property
    def places(self) -> Floats:
        """The positions of the cells of an ordered partition along their score."""
        edges = np.asarray(self.partition.rules[0].edges)
        if not len(edges):
            return np.zeros(1)
        return np.concatenate([edges[:1], edges[1:] / 2 + edges[:-1] / 2, edges[-1:]])


@dataclass(frozen=True, slots=True)
class _Cut:
    """The cells of one form and the unbiased counts in them."""

    rule: Rule
    first: Counts
    second: Counts
    apart: Floats


def families(
    outputs0: Outputs,
    outputs1: Outputs,
    learn: str | None = None,
    *,
    quick: bool = False,
    leads: Sequence[predict.Lead] = (),
) -> Iterator[FittedPartition]:
    """Yield every candidate partition.

    Args:
        outputs0, outputs1: learning runs of side 0 and side 1.
        learn: a learner whose score is tried too (see `learned_fits`), or None.
        quick: whether to leave out scores of vectors that are slow to fit.
        leads: paths that runs made earlier point to.

    Yields:
        Partitions with their counts.
    """
    forms = forms_of(outputs0, outputs1)
    vector = any(item.columns > 1 for item in forms)
    repeating = any(item.distinct is not None for item in forms)
    if forms[0].columns == 1:
        yield from (_ordered("tails", item, Coordinate(0)) for item in forms[:3] if item.columns == 1 and len(item) > 1)
    if not vector and not (repeating and _all_few(forms)):
        for bins in _BINS:
            yield _ranked(f"histogram of {bins}", forms, partial(_bins, score=Coordinate(0), bins=bins))
    if repeating or not any(item.columns for item in forms):
        yield _ranked("categories", forms, _categories)
    if len(forms) > 1 and any(item.columns for item in forms):
        yield _ranked("forms", forms, _one)
    if vector:
        yield from _vector_families(forms, learn, quick)
    for lead in leads:
        for item in forms:
            if item.form == lead.form and len(item) > 1:
                yield from _led(item, lead)


def watched(outputs: Outputs) -> Partition:
    """Return cells, chosen without regard to the sides, that independent runs should fill alike at all times.

    For each form there are a few bins along its number, or along the sum of all its numbers if it has several. One
    further cell holds all forms without a run here; which forms appear later would reveal the order in which they do.
    For the same reason forms are ordered by their texts.
    """
    rules = []
    for form, rows in sorted(zip(outputs.forms, outputs.numbers, strict=True), key=lambda item: item[0]):
        if not len(rows):
            continue
        columns = rows.shape[1]
        score: Score = Coordinate(0)
        if columns > 1:
            center, scale = scores.center_and_scale((rows, rows[:0]))
            score = Linear(tuple(center.tolist()), tuple(scale.tolist()), (1.0,), ((1.0,) * columns,))
        edges = _bin_edges(np.sort(score_of(score, rows)), _WATCHED) if columns else ()
        rules.append(Rule(form, score if edges else None, edges, ()))
    return Partition("watched", tuple(rules))


def _all_few(forms: list[FormRuns]) -> bool:
    known = [item.distinct for item in forms if item.columns]
    return all(item is not None and len(item.rows) <= _FEW_ROWS for item in known)


def _vector_families(forms: list[FormRuns], learn: str | None, quick: bool) -> Iterator[FittedPartition]:
    single = len(forms) == 1
    frequent = {id(item) for item in sorted(forms, key=len)[-_FORMS_FITTED:]}
    fits = _quick_fits if quick else partial(_fits, learn=learn)
    for family in fits(max(item.columns for item in forms)):
        if single:
            yield _cross_fitted_tails(forms[0], family)
        else:
            yield _ranked(family.name, forms, partial(_fitted_if, family=family, fitted=frequent))
    main = max(forms, key=lambda item: (item.columns > 1) * len(item))
    yield _ordered("largest number", main, Extreme(largest=True))
    yield _ordered("smallest number", main, Extreme(largest=False))
    ties = main.along(Ties()).pooled
    if len(ties) and ties[-1] > ties[0]:
        yield _ranked("repeated numbers", [main], partial(_bins, score=Ties(), bins=64))
    if main.columns > 1:
        yield from _rare_families(main)
    yield from _telling_families(forms, main)


def _rare_families(main: FormRuns) -> Iterator[FittedPartition]:
    """A rare leak anywhere in a vector: numbers that deviate, and values that occur exactly."""
    center, scale = (tuple(own.tolist()) for own in main.standard)
    score = Deviation(center, scale)
    if _ends_differ(*(score_of(score, side[:_SCREENED]) for side in main.rows)):
        yield _ordered("mean deviation", main, score)
    values = occurring_values(main.rows)
    if values:
        edges = tuple((np.arange(len(values)) - 0.5).tolist())
        yield _ranked("exact values", [main], lambda item: _listed_values(item, Values(values), edges))


def _listed_values(item: FormRuns, score: Values, edges: tuple[float, ...]) -> _Cut:
    return _cut(item.form, score, item.along(score), edges)


def _ends_differ(values0: Floats, values1: Floats) -> bool:
    """Whether one side has clearly more of the outermost runs along a score, at either end."""
    n, share = len(values0) + len(values1), len(values0) / max(len(values0) + len(values1), 1)
    if not 0 < share < 1:
        return False
    at = _outer_positions(n // 2 + 1)
    order = np.argsort(np.concatenate([values0, values1]), kind="stable")
    for outermost in (order, order[::-1]):
        of0 = np.cumsum(outermost < len(values0))[at - 1]
        if np.any(np.abs(of0 - share * at) > _CLEARLY * np.sqrt(share * (1 - share) * at)):
            return True
    return False


def occurring_values(rows: tuple[Floats, Floats]) -> tuple[float, ...]:
    """Return values that repeat among numbers of which most do not, the rarest first; the sides are not looked at."""
    most = min(_SCREENED, _SCREENED_NUMBERS // max(rows[0].shape[1], 1))
    ordered = np.sort(np.concatenate([side[:most] for side in rows]), axis=None)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(again) or 2 * len(again) > len(ordered):
        return ()
    values, times = distinct_values(again)
    values, times = values[times >= _TIMES - 1], times[times >= _TIMES - 1]
    common = np.argsort(-times, kind="stable")[:_FEW_ROWS]
    return tuple((values[common[::-1]] + 0.0).tolist())


def _telling_families(forms: list[FormRuns], main: FormRuns) -> Iterator[FittedPartition]:
    """A quarter of the runs selects the numbers that differ most; the rest, independent of it, is counted."""
    trials = {item.form: item.part(trial=True) for item in forms}
    rests = [item.part(trial=False) for item in forms]
    if len(forms) > 1:
        yield _ranked("most telling numbers", rests, lambda item: _telling_bins(item, trials[item.form]))
    rest = next(item for item in rests if item.form == main.form)
    for index in scores.telling_columns(trials[main.form].rows, _COLUMNS_TRIED):
        yield _ordered(f"number {index}", rest, Coordinate(index))
        yield _ranked(f"histogram of number {index}", [rest], partial(_bins, score=Coordinate(index), bins=64))


# --- one form ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Family:
    """A name, how to make a fit from center and scale, and whether fits take distinct outputs with weights."""

    name: str
    make: Callable[[Floats, Floats], scores.Fit]
    weighted: bool = True


def _quick_fits(columns: int) -> Iterator[_Family]:
    yield _Family(f"sum clipped at {_SUM_CLIPS[1]:.1g}", partial(scores.sum_fit, clip=_SUM_CLIPS[1]))
    if columns <= _WIDEST_SOLVED:
        yield _Family("linear discriminant", scores.discriminant_fit)


def _fits(columns: int, learn: str | None) -> Iterator[_Family]:
    for clip in _SUM_CLIPS:
        yield _Family(f"sum clipped at {clip:.1g}", partial(scores.sum_fit, clip=clip))
    if columns <= _WIDEST_SOLVED:
        yield _Family("logistic score", scores.logistic_fit)
        yield _Family("linear discriminant", scores.discriminant_fit)
    for name, make in scores.learned_fits(learn, columns):
        yield _Family(name, make, weighted=False)


def _fitted(item: FormRuns, family: _Family) -> tuple[Score, ScoreLine]:
    """Fit a score to runs, and score all runs by fits that have not seen them."""
    fit = family.make(*item.standard)
    folds = _FEW_FOLDS if len(item) * item.columns > _MANY_NUMBERS else _FOLDS
    known = item.distinct
    with scores.on_one_thread():
        if known is not None and family.weighted:
            totals0, totals1 = (np.bincount(side, minlength=len(known.rows)) for side in known.which)
            score = fit(known.rows, known.rows, (totals0, totals1))
            return score, ScoreLine.of(*scores.cross_fitted_distinct(fit, known.rows, known.which, folds))
        most = max(_FITTED_NUMBERS // item.columns, _FITTED_RUNS)
        if max(map(len, item.rows)) <= 2 * most:
            return fit(*item.rows), ScoreLine.of(*scores.cross_fitted(fit, item.rows, folds))
        first = item.rows[0][:most], item.rows[1][:most]
        score = fit(*first)
        seen = scores.cross_fitted(fit, first, folds)
        unseen = (score_of(score, side[most:]) for side in item.rows)
        return score, ScoreLine.of(*(np.concatenate(values) for values in zip(seen, unseen, strict=True)))


def _cross_fitted_tails(item: FormRuns, family: _Family) -> FittedPartition:
    score, line = _fitted(item, family)
    cut = _cut(item.form, score, line, spread_points(line.pooled, _TAIL_POINTS))
    return _whole_partition(family.name, [item], [cut], ordered=True)


def _fitted_if(item: FormRuns, family: _Family, fitted: set[int]) -> _Cut:
    return _fitted_bins(item, family) if id(item) in fitted else _one(item)


def _fitted_bins(item: FormRuns, family: _Family) -> _Cut:
    if not item.columns or not len(item) or (item.distinct is not None and len(item.distinct.rows) == 1):
        return _one(item)
    score, line = _fitted(item, family)
    return _cut(item.form, score, line, _bin_edges(line.pooled, 64))


def _telling_bins(item: FormRuns, trial: FormRuns) -> _Cut:
    """A few bins along the number of a form that differs most between the sides."""
    telling = scores.telling_columns(trial.rows, 1) if item.columns > 1 else []
    return _bins(item, Coordinate(telling[0] if telling else 0), 8)


def _one(item: FormRuns) -> _Cut:
    halves = [np.array([len(side) // 2]) for side in item.rows]
    rest = [len(side) - half for side, half in zip(item.rows, halves, strict=True)]
    return _Cut(Rule(item.form, None, (), ()), (halves[0], halves[1]), (rest[0], rest[1]), np.empty(0))


def _cut(form: str, score: Score, line: ScoreLine, edges: tuple[float, ...]) -> _Cut:
    return _Cut(Rule(form, score, edges, ()), *line.counts(edges), line.apart(edges))


def _bins(item: FormRuns, score: Score, bins: int) -> _Cut:
    """Quantile bins of a score, with heavy atoms and the tails in bins of their own."""
    if not item.columns or not len(item):
        return _one(item)
    line = item.along(score)
    return _cut(item.form, score, line, _bin_edges(line.pooled, bins))


def _categories(item: FormRuns) -> _Cut:
    """Each distinct row of numbers as a cell of its own; a form whose rows never repeat in bins."""
    known = item.distinct
    if known is None:
        return _bins(item, Coordinate(0), 8) if item.columns == 1 else _one(item)
    score = Rows(tuple(map(tuple, known.rows.tolist())))
    edges = tuple(np.arange(len(known.rows)) - 0.5)
    (first0, first1), (second0, second1) = (tuple(np.append(0, side) for side in half) for half in known.halves())
    return _Cut(Rule(item.form, score, edges, ()), (first0, first1), (second0, second1), np.zeros(len(edges)))


def _ranked(family: str, forms: list[FormRuns], cut: Callable[[FormRuns], _Cut]) -> FittedPartition:
    return _whole_partition(family, forms, [cut(item) for item in forms], ordered=False)


def _ordered(family: str, item: FormRuns, score: Score) -> FittedPartition:
    line = item.along(score)
    cut = _cut(item.form, score, line, spread_points(line.pooled, _TAIL_POINTS))
    return _whole_partition(family, [item], [cut], ordered=True)


def _led(item: FormRuns, lead: predict.Lead) -> Iterator[FittedPartition]:
    """The outputs of a path that runs made earlier point to, beside all others."""
    for score, is_box in lead.scores(np.concatenate(item.rows)):
        if is_box:
            line = ScoreLine.of(*(score_of(score, side) for side in item.rows))
            yield _whole_partition(predict.LED, [item], [_cut(item.form, score, line, (0.5,))], ordered=False)
        else:
            yield _ordered(predict.LED, item, score)


def _whole_partition(family: str, forms: list[FormRuns], cuts: list[_Cut], *, ordered: bool) -> FittedPartition:
    """Combine the cells of all forms; the last cell holds the runs of every other form."""
    halves: list[list[Integers]] = [[], []]
    for side in (0, 1):
        others = max(forms[0].of[side] - sum(len(item.rows[side]) for item in forms), 0)
        for half, share in enumerate((others // 2, others - others // 2)):
            own = ((cut.first, cut.second)[half][side] for cut in cuts)
            halves[half].append(np.concatenate([*own, [share]]).astype(np.int64))
    (first0, first1), (second0, second1) = halves
    partition = Partition(family, tuple(cut.rule for cut in cuts))
    return FittedPartition(partition, (first0, first1), (second0, second1), ordered, cuts[0].apart)


# --- where to cut -----------------------------------------------------------------------------------------


def spread_points(ordered: Floats, points: int) -> tuple[float, ...]:
    """Return quantiles spread evenly over the middle and geometrically into both ends, as distinct values.

    The outermost runs each get a cell of their own, and so do the gaps between them and the widest gaps of all.
    """
    n = len(ordered)
    if n == 0:
        return ()
    ends = np.geomspace(1 / n, 1, points)
    fractions = np.unique(np.concatenate([np.linspace(0, 1, points), ends, 1 - ends]))
    positions = np.unique(np.minimum((fractions * n).astype(np.int64), n - 1))
    outer = np.r_[0 : min(_OUTER, n), max(n - _OUTER, 0) : n, _before_wide_gaps(ordered)]
    after = _after(ordered[outer])
    return tuple(np.unique(np.concatenate([ordered[positions], ordered[outer], after])).tolist())


def _before_wide_gaps(ordered: Floats) -> Integers:
    """Return the positions of the runs on both sides of wide gaps, the widest few."""
    with np.errstate(over="ignore"):
        gaps = np.diff(ordered)
    wide = np.flatnonzero(gaps > most_width(ordered))
    widest = wide[np.argsort(-gaps[wide], kind="stable")[:_OUTER]]
    return np.concatenate([widest, widest + 1])


def _bin_edges(ordered: Floats, bins: int) -> tuple[float, ...]:
    """Return edges at quantiles, denser towards the ends, and around values with large mass."""
    n = len(ordered)
    inner = (np.arange(1, bins) * n) // bins
    outer = _outer_positions(n // bins)
    quantiles = ordered[np.concatenate([inner, outer, n - outer]).clip(0, n - 1)]
    if not repeats(ordered):
        return tuple(np.unique(quantiles if n > bins else ordered).tolist())
    distinct, counts = distinct_values(ordered)
    if len(distinct) <= bins:
        return tuple(distinct.tolist())
    atoms = distinct[counts > max(20, n / (4 * bins))]
    return tuple(np.unique(np.concatenate([quantiles, atoms, _after(atoms)])).tolist())


def _after(values: Floats) -> Floats:
    """The next larger floats, except where there are none."""
    with np.errstate(over="ignore"):
        after = np.nextafter(values, np.inf)
    return after[np.isfinite(after)]


def _outer_positions(most: int) -> Integers:
    """Return 8, 16, 24, …, then growing by a quarter each, below ``most``: a rare leak can fill such a bin alone."""
    positions, position = [], _LEAST_BIN
    while position < most:
        positions.append(position)
        position += max(_LEAST_BIN, position // 4)
    return np.array(positions, dtype=np.int64)
