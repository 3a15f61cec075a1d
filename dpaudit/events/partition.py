"""Into which cell does an output fall, and how many outputs fall into an event?

A partition divides the outputs of each form into cells along a score. Scores and partitions are frozen on learning
runs; an event is a partition with a label for each cell.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.evidence.event import (
    Box,
    Coordinate,
    Deviation,
    Event,
    Extreme,
    Linear,
    Reach,
    Rows,
    Rule,
    Score,
    Step,
    Ties,
    Tree,
    Trees,
    Values,
)
from dpaudit.sampling.outputs import Outputs


def trees_score(score: Trees, numbers: Floats) -> Floats:
    """Return the sum of all trees, in their order; (runs, numbers of the form) → (runs,)."""
    columns = np.ascontiguousarray(numbers.T)
    total = np.zeros(len(numbers))
    for tree in score.trees:
        total += _from_node(tree, 0, columns)
    return total


def _from_node(tree: Tree, node: int, columns: Floats) -> Floats | float:
    """The value of each run in the part of a tree below a node; every branch is evaluated, and one of them selected."""
    feature = tree.feature[node]
    if feature < 0:
        return tree.value[node]
    left, right = (_from_node(tree, child, columns) for child in (tree.left[node], tree.right[node]))
    return np.where(columns[feature] <= tree.threshold[node], left, right)


LARGEST_STEP = 1024.0  # of 0, which is a multiple of every power of two


def steps(numbers: Floats, center: float = 0.0) -> Floats:
    """Return the exponent of the largest power of two of which ``numbers`` − ``center`` is a multiple; (n,) → (n,).

    The difference is rounded as doubles are. If it is 0 or overflows, the answer is `LARGEST_STEP`.
    """
    with np.errstate(over="ignore"):
        rest = numbers - center if center else numbers
    plain = np.isfinite(rest) & (rest != 0)
    fraction, exponent = np.frexp(np.where(plain, rest, 1.0))
    significand = np.abs(fraction * 2.0**53).astype(np.int64)
    lowest = (significand & -significand).astype(np.float64)  # the lowest set bit, a power of two
    return np.where(plain, exponent - 54 + np.frexp(lowest)[1], LARGEST_STEP).astype(np.float64)


def are_sums(numbers: Floats, center: float) -> Floats:
    """Return 1 for numbers that are ``center`` plus a double in floating-point arithmetic, else 0; (n,) → (n,).

    Only the double nearest to number − center has to be tried, because it comes nearest.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        again = (numbers - center) + center
    return np.equal(again, numbers).astype(np.float64)


NUMBERS_AT_ONCE = 2**15  # that are worked on together, so that they stay in the cache of a processor
_FEW_ROWS = 16  # up to which comparing runs with each row is faster than looking up their keys
_FEW_EDGES = 8  # up to which counting edge by edge is faster than sorting the outputs

_FARTHEST = 1e290  # at which a deviation counts, so that sums are finite
_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd constant that spreads bits (Knuth's multiplicative hashing)


@lru_cache(maxsize=64)
def _row_table(score: Rows) -> tuple[Integers, Floats, Integers]:
    """Return the sorted keys of the listed rows, the rows in that order, and their indices."""
    rows = np.asarray(score.rows, dtype=np.float64).reshape(len(score.rows), -1)
    keys = row_keys(rows)
    order = np.argsort(keys, kind="stable")
    return keys[order], rows[order], order


def identities(outputs: Outputs) -> Integers:
    """One integer for each run, (runs,): equal for equal outputs, and practically never equal for others.

    The same in every block: it does not depend on which form came first in a block, and so on its code.
    """
    keys = np.zeros(len(outputs.forms), dtype=np.uint64)
    for code in np.flatnonzero(np.bincount(outputs.codes, minlength=1)).tolist():
        digest = hashlib.blake2b(outputs.forms[code].encode("utf-8", "surrogatepass"), digest_size=8).digest()
        keys[code] = int.from_bytes(digest, "little")
    ids = keys[outputs.codes]
    for code, numbers in enumerate(outputs.numbers):
        if numbers.size:
            ids[outputs.codes == code] ^= row_keys(numbers).view(np.uint64)
    seen: Integers = ids.view(np.int64)
    return seen


def row_keys(numbers: Floats) -> Integers:
    """One integer for each row: equal for equal rows, practically never for others."""
    keys = np.zeros(len(numbers), dtype=np.uint64)
    for column in range(numbers.shape[1]):
        bits = (numbers[:, column] + 0.0).view(np.uint64)  # −0 becomes 0
        keys = (keys ^ bits) * _MIX
        keys ^= keys >> np.uint64(32)
    return keys.view(np.int64)


def _row_index(score: Rows, numbers: Floats) -> Floats:
    if len(score.rows) <= _FEW_ROWS:
        indices = np.full(len(numbers), -1.0)
        for row, equal in _runs_of_rows(score, numbers).items():
            np.putmask(indices, equal, row)
        return indices
    keys, rows, order = _row_table(score)
    where = np.minimum(np.searchsorted(keys, row_keys(numbers)), len(keys) - 1)
    return np.where((rows[where] == numbers).all(axis=1), order[where], -1).astype(np.float64)


def _runs_of_rows(score: Rows, numbers: Floats) -> dict[int, Any]:
    """Return which runs are each of a few listed rows, by the place of the row in the list."""
    runs_of = {}
    for row in dict.fromkeys(score.rows):
        equal = np.ones(len(numbers), dtype=bool)
        for column, value in enumerate(row):
            equal &= numbers[:, column] == value
        runs_of[score.rows.index(row)] = equal
    return runs_of


def score_of(score: Score, numbers: Floats) -> Floats:
    """Return the score of every run of a form; (runs, numbers of the form) → (runs,)."""
    if isinstance(score, Coordinate):
        return numbers[:, score.index]
    if isinstance(score, Rows):
        return _row_index(score, numbers)
    if isinstance(score, Extreme):
        return np.asarray(numbers.max(axis=1) if score.largest else numbers.min(axis=1))
    if isinstance(score, Ties):
        ordered = np.sort(numbers, axis=1)
        return np.asarray(np.count_nonzero(ordered[:, 1:] == ordered[:, :-1], axis=1), dtype=np.float64)
    if isinstance(score, Deviation):
        return _deviations(score, numbers)
    if isinstance(score, Values):
        return _first_listed(score, numbers)
    if isinstance(score, Step):
        return steps(numbers[:, score.index], score.center)
    if isinstance(score, Reach):
        return are_sums(numbers[:, score.index], score.center)
    if isinstance(score, Trees):
        return trees_score(score, numbers)
    if isinstance(score, Box):
        return _is_inside(score, numbers)
    return linear_score(score, numbers)


def _deviations(score: Deviation, numbers: Floats) -> Floats:
    center, scale = np.asarray(score.center), np.asarray(score.scale)
    deviations, share = np.empty(len(numbers)), np.full(len(center), 1 / max(len(center), 1))
    some = max(64, NUMBERS_AT_ONCE // max(numbers.shape[1], 1))
    for start in range(0, len(numbers), some):
        with np.errstate(over="ignore"):
            apart = np.minimum(np.abs(numbers[start : start + some] - center) / scale, _FARTHEST)
        deviations[start : start + some] = np.einsum("ij,j->i", apart, share, optimize=False)  # as in `linear_score`
    return deviations


def _first_listed(score: Values, numbers: Floats) -> Floats:
    listed = np.asarray(score.values)
    if len(listed) <= _FEW_EDGES:
        indices = np.full(len(numbers), -1.0)
        for index in reversed(range(len(listed))):
            indices[(numbers == listed[index]).any(axis=1)] = index
        return indices
    order = np.argsort(listed, kind="stable")
    ordered = listed[order]
    where = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
    first = np.where(ordered[where] == numbers, order[where], len(listed)).min(axis=1)
    return np.where(first < len(listed), first, -1).astype(np.float64)


def _is_inside(box: Box, numbers: Floats) -> Floats:
    inside = np.ones(len(numbers), dtype=bool)
    for column, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
        if low is not None:
            inside &= numbers[:, column] >= low
        if high is not None:
            inside &= numbers[:, column] <= high
    return inside.astype(np.float64)


def linear_score(score: Linear, numbers: Floats) -> Floats:
    """Σ_t Σ_j weights[t][j]·clip((x_j − center_j)/scale_j, ±clips[t]), summed in a fixed order."""
    center, scale = np.asarray(score.center), np.asarray(score.scale)
    weights = [np.asarray(row) for row in score.weights]
    total = np.zeros(len(numbers))
    # each row is summed by itself, so its score does not depend on the others that are worked on together
    some = max(64, NUMBERS_AT_ONCE // max(numbers.shape[1], 1))
    buffers = np.empty((2, min(some, len(numbers)), numbers.shape[1]))
    for start in range(0, len(numbers), some):
        centred, clipped = buffers[:, : len(numbers) - start]
        with np.errstate(over="ignore"):
            np.subtract(numbers[start : start + some], center, out=centred)
            np.divide(centred, scale, out=centred)
        for clip, row in zip(score.clips, weights, strict=True):
            np.clip(centred, -clip, clip, out=clipped)
            # einsum without optimisation sums in the same order on every machine, unlike a BLAS product
            total[start : start + some] += np.einsum("ij,j->i", clipped, row, optimize=False)
    return total


def _count_rule(rule: Rule, numbers: Floats) -> Integers:
    """Return how many runs fall into each cell of a rule."""
    cells = len(rule.edges) + 1
    if rule.score is None or cells == 1:
        return np.array([len(numbers)])
    if len(numbers) > 1 and not numbers.strides[0]:  # one row for all runs
        return _count_rule(rule, numbers[:1]) * len(numbers)
    if isinstance(rule.score, Rows) and len(rule.score.rows) <= _FEW_ROWS:
        listed = {row: int(np.count_nonzero(equal)) for row, equal in _runs_of_rows(rule.score, numbers).items()}
        listed[-1] = len(numbers) - sum(listed.values())
        cells_of = np.searchsorted(np.asarray(rule.edges), list(listed), side="right")
        return np.bincount(cells_of, list(listed.values()), minlength=cells).astype(np.int64)
    values = score_of(rule.score, numbers)
    if len(rule.edges) > _FEW_EDGES:
        return counts_between(np.sort(values), rule.edges)
    below = [np.count_nonzero(values < edge) for edge in rule.edges]
    return np.diff(np.array([0, *below, len(values)]))


def counts_between(ordered: Floats, edges: tuple[float, ...]) -> Integers:
    """Return how many ascending values are below the first edge, between each two, and from the last one on."""
    below = np.searchsorted(ordered, np.asarray(edges), side="left")
    return np.diff(np.concatenate([[0], below, [len(ordered)]])).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Partition:
    """Cells for the outputs of some forms; one further cell, the last, holds every other form.

    The rules' labels are empty: cells have no meaning yet.
    """

    family: str
    rules: tuple[Rule, ...]

    @property
    def telling(self) -> Integers:
        """The cells that may carry a label: all except those of rows and forms that were never seen."""
        seen = [
            np.arange(len(rule.edges) + 1) > 0 if isinstance(rule.score, Rows) else np.ones(len(rule.edges) + 1)
            for rule in self.rules
        ]
        return np.flatnonzero(np.concatenate([*seen, [0]]))

    @property
    def size(self) -> int:
        """The number of cells, with the one for other forms."""
        return sum(len(rule.edges) + 1 for rule in self.rules) + 1

    def counts(self, outputs: Outputs) -> Integers:
        """Return how many runs fall into each cell, shape (size,)."""
        index = {form: code for code, form in enumerate(outputs.forms)}
        parts, known = [], 0
        for rule in self.rules:
            code = index.get(rule.form)
            numbers = outputs.numbers[code] if code is not None else np.empty((0, 1))
            empty = np.zeros(len(rule.edges) + 1, dtype=np.int64)
            parts.append(_count_rule(rule, numbers) if len(numbers) else empty)
            known += len(numbers)
        return np.concatenate([*parts, [len(outputs) - known]]).astype(np.int64)

    def places(self, outputs: Outputs) -> Integers:
        """Return the cell of every run, (runs,), in their order."""
        places = np.full(len(outputs), self.size - 1, dtype=np.int64)
        index = {form: code for code, form in enumerate(outputs.forms)}
        start = 0
        for rule in self.rules:
            code = index.get(rule.form)
            if code is not None and len(outputs.numbers[code]):
                cells: Integers | int = 0
                if rule.score is not None and rule.edges:
                    values = score_of(rule.score, outputs.numbers[code])
                    cells = np.searchsorted(np.asarray(rule.edges), values, side="right")
                places[outputs.codes == code] = start + cells
            start += len(rule.edges) + 1
        return places

    def event(self, labels: Integers) -> Event:
        """Return the event with these labels for the cells; the cell of other forms points to neither side."""
        rules, start = [], 0
        for rule in self.rules:
            own = labels[start : start + len(rule.edges) + 1]
            start += len(own)
            if np.any(own):
                rules.append(_merged(rule, own))
        return Event(self.family, tuple(rules))


def _merged(rule: Rule, labels: Integers) -> Rule:
    """Join neighbouring cells with the same label."""
    if isinstance(rule.score, Rows):
        # a listed row with the label of all unlisted ones need not be listed
        named = np.flatnonzero(labels[1:] != labels[0])
        if not len(named):
            return Rule(rule.form, None, (), (int(labels[0]),))
        rows = tuple(rule.score.rows[row] for row in named)
        edges = tuple(float(row) - 0.5 for row in range(len(rows)))
        return Rule(rule.form, Rows(rows), edges, (int(labels[0]), *(int(label) for label in labels[1:][named])))
    change = np.flatnonzero(labels[1:] != labels[:-1])
    kept = (int(labels[0]), *(int(labels[cell + 1]) for cell in change))
    edges = tuple(float(rule.edges[cell]) for cell in change)
    return Rule(rule.form, rule.score if edges else None, edges, kept)


def count_event(event: Event, outputs: Outputs) -> tuple[int, int]:
    """Return how many runs point to side 0 and how many to side 1."""
    index = {form: code for code, form in enumerate(outputs.forms)}
    toward0 = toward1 = 0
    for rule in event.rules:
        code = index.get(rule.form)
        if code is None or not len(outputs.numbers[code]):
            continue
        counts = _count_rule(rule, outputs.numbers[code])
        labels = np.asarray(rule.labels)
        toward0 += int(counts[labels > 0].sum())
        toward1 += int(counts[labels < 0].sum())
    return toward0, toward1


def counts_by_degree(event: Event, counts: Integers) -> tuple[int, ...]:
    """Return how many runs have each degree, from the largest label to −1 and on to the smallest.

    Runs that point to neither side count with the degree −1, so that every run is counted.

    Args:
        event: an event with degrees of both signs.
        counts: (cells,) as `Partition.counts` gives them for the event's own rules.
    """
    most, least = event.degrees
    return tuple(int(runs) for runs in np.bincount(_degrees_of(event), weights=counts, minlength=most - least))


def degree_of_each(event: Event, outputs: Outputs) -> Integers:
    """Return for every run the place of its degree, as `counts_by_degree` counts them, (runs,)."""
    return _degrees_of(event)[Partition(event.family, event.rules).places(outputs)]


def _degrees_of(event: Event) -> Integers:
    """The place of every cell's degree, with the cell of other forms, (cells,)."""
    labels = np.array([label for rule in event.rules for label in rule.labels] + [0])
    most = event.degrees[0]
    return np.asarray(np.where(labels > 0, most - labels, most - 1 - np.minimum(labels, -1)))
