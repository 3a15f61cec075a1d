"""Does every output fall into the cell that its score says, and is an event the same wherever it is read?"""

import bisect
import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.events import Partition, count_event
from dpaudit.events.partition import score_of
from dpaudit.evidence.event import Coordinate, Deviation, Event, Linear, Rows, Rule, Values
from dpaudit.sampling.outputs import from_array, from_list

laws = settings(derandomize=True, max_examples=150, deadline=None)
plain = st.floats(-5, 5).map(lambda x: round(x, 1))
rows = st.tuples(plain, plain, plain)
huge = st.one_of(plain, st.sampled_from([0.0, -0.0, 1e300, -1e300, 1.7e308, 5e-324, 2.0**53]))


def naive_row(row):
    """−0.0 counts as the largest number below 0.0."""
    return tuple(math.nextafter(0.0, -1.0) if x == 0 and math.copysign(1.0, x) < 0 else x for x in row)


def naive_score(score, row):
    if isinstance(score, Coordinate):
        return row[score.index]
    if isinstance(score, Rows):
        return float(score.rows.index(tuple(row))) if tuple(row) in score.rows else -1.0
    if isinstance(score, Values):
        return float(next((place for place, value in enumerate(score.values) if value in row), -1))
    if isinstance(score, Deviation):
        apart = [abs(x - c) / s for x, c, s in zip(row, score.center, score.scale, strict=True)]
        return sum(apart) / len(apart)
    total = 0.0
    for clip, weights in zip(score.clips, score.weights, strict=True):
        for x, center, scale, weight in zip(row, score.center, score.scale, weights, strict=True):
            total += weight * max(-clip, min(clip, (x - center) / scale))
    return total


def naive_cell(rule, row):
    return bisect.bisect_right(rule.edges, naive_score(rule.score, row)) if rule.score is not None else 0


def naive_label(event, form, row):
    for rule in event.rules:
        if rule.form == form:
            return rule.labels[naive_cell(rule, row)]
    return 0


scores = st.one_of(
    st.builds(Coordinate, st.integers(0, 2)),
    st.builds(lambda listed: Rows(tuple(dict.fromkeys(listed))), st.lists(rows, max_size=12)),
    st.builds(lambda listed: Values(tuple(dict.fromkeys(listed))), st.lists(plain, max_size=12)),
    st.builds(Deviation, rows, st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * 3)),
    st.builds(
        Linear,
        rows,
        st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * 3),
        st.just((2.0, 0.25)),
        # weights and scales are small powers of two, so that sums are exact in any order
        st.tuples(*[st.tuples(*[st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])] * 3)] * 2),
    ),
)


@st.composite
def partitions(draw):
    rules = []
    for form in ("[float, float, float]", "(float, float, float)"):
        score = draw(st.one_of(st.none(), scores))
        if score is None:
            edges = ()
        elif isinstance(score, Rows):
            edges = tuple(np.arange(len(score.rows)) - 0.5)
        else:
            beside = 1e-7 if isinstance(score, Deviation) else 0.0  # of a third of a sum, which is rounded
            edges = tuple(sorted(edge + beside for edge in draw(st.sets(plain, max_size=14))))
        rules.append(Rule(form, score, edges, ()))
    return Partition("drawn", tuple(rules))


@st.composite
def runs(draw):
    listed = draw(st.lists(st.tuples(st.integers(0, 2), rows), max_size=40))
    makers = (list, tuple, lambda row: {"x": row[0]})
    outputs = from_list([makers[kind](row) for kind, row in listed])
    return listed, outputs


def form_of(kind, outputs):
    return {0: "[", 1: "(", 2: "{"}[kind]


def with_forms(partition, outputs):
    """The same partition, for the forms that these outputs really have."""
    names = {}
    for form in outputs.forms:
        names[form[0]] = form
    rules = tuple(
        msgspec.structs.replace(rule, form=names.get(mark, rule.form))
        for rule, mark in zip(partition.rules, "[(", strict=True)
    )
    return Partition(partition.family, rules)


@laws
@given(partitions(), runs(), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_counts_are_those_of_every_run_by_itself(partition, drawn, random):
    listed, outputs = drawn
    listed = [(kind, naive_row(row)) for kind, row in listed]
    partition = with_forms(partition, outputs)
    names = {form[0]: form for form in outputs.forms}
    expected = np.zeros(partition.size, dtype=int)
    starts = np.concatenate([[0], np.cumsum([len(rule.edges) + 1 for rule in partition.rules])])
    cells = [
        int(starts[kind]) + naive_cell(partition.rules[kind], row) if kind < 2 else partition.size - 1
        for kind, row in listed
    ]
    np.add.at(expected, cells, 1)
    assert partition.counts(outputs).tolist() == expected.tolist()
    assert partition.places(outputs).tolist() == cells

    labels = np.array([random.choice([-1, 0, 0, 1]) for _ in range(partition.size)])
    event = partition.event(labels)
    own = [naive_label(event, names["[({"[kind]], row) for kind, row in listed]
    assert count_event(event, outputs) == (own.count(1), own.count(-1))
    # the event says of each cell what its label said, but for outputs of other forms
    assert count_event(event, outputs) == tuple(int(expected[:-1][labels[:-1] == side].sum()) for side in (1, -1))
    # few or many edges, with or without neighbouring cells of one label: the same counts
    again = msgspec.json.decode(msgspec.json.encode(event), type=Event)
    assert again == event
    assert count_event(again, outputs) == count_event(event, outputs)
    for rule in event.rules:
        if not isinstance(rule.score, Rows):
            assert all(a != b for a, b in zip(rule.labels, rule.labels[1:], strict=False))


@pytest.mark.slow
@laws
@given(st.lists(st.tuples(huge, huge), min_size=1, max_size=30), st.lists(st.tuples(huge, huge), max_size=30))
def test_rows_are_told_apart_exactly(listed, measured):
    score = Rows(tuple(dict.fromkeys((x + 0.0, y + 0.0) for x, y in listed)))
    numbers = np.array(measured + listed, dtype=float).reshape(-1, 2)
    expected = [score.rows.index((x, y)) if (x, y) in score.rows else -1 for x, y in numbers]
    assert score_of(score, numbers).tolist() == expected


@pytest.mark.slow
def test_many_rows():
    rng = np.random.default_rng(0)
    listed = np.unique(rng.integers(0, 9, (30_000, 20)), axis=0).astype(float)
    score = Rows(tuple(map(tuple, listed.tolist())))
    order = rng.permutation(len(listed))
    assert np.array_equal(score_of(score, listed[order]), order)
    assert np.all(score_of(score, listed[order] + 0.5) == -1)


def test_edges_belong_to_the_cell_above_them():
    for edges in ((0.0, 1.0), tuple(np.linspace(0, 1, 40))):
        partition = Partition("tails", (Rule("float", Coordinate(0), edges, ()),))
        counts = partition.counts(from_array(np.array([0.0, -0.0, 1.0, np.nextafter(1.0, 0)])))
        assert counts[0] == 1 and counts[-2] == 1 and counts[-1] == 0 and counts.sum() == 4


def test_unseen_forms_speak_for_neither_side():
    partition = Partition("tails", (Rule("float", Coordinate(0), (0.0,), ()),))
    event = partition.event(np.array([1, -1, 1]))
    strange = from_list([math.nan, math.inf, None, "x", 1, True, [1.0], (), ValueError, -1.0, 1.0])
    assert partition.counts(strange).tolist() == [1, 1, 9]
    assert count_event(event, strange) == (1, 1)
    assert count_event(event, from_list([])) == (0, 0)


def test_rows_that_are_not_listed_may_not_carry_a_label():
    partition = Partition(
        "categories", (Rule("int", Rows(((1.0,), (2.0,))), (-0.5, 0.5), ()), Rule("'a'", None, (), ()))
    )
    assert partition.telling.tolist() == [1, 2, 3]
    assert partition.size == 5


def test_labels_of_rows_survive_although_only_telling_rows_are_kept():
    partition = Partition("categories", (Rule("int", Rows(((1.0,), (2.0,), (3.0,))), (-0.5, 0.5, 1.5), ()),))
    outputs = from_list([1, 2, 2, 3, 3, 3, 9, 9, 9, 9])
    for labels, counts in (
        ([0, 1, 0, -1, 0], (1, 3)),
        ([1, 0, -1, 1, 0], (7, 2)),
        ([1, 1, 1, 1, 0], (10, 0)),
        ([-1, 0, 0, 0, 0], (0, 4)),
        ([0, 0, 0, 0, 1], (0, 0)),
    ):
        assert count_event(partition.event(np.array(labels)), outputs) == counts


def test_scores_of_extreme_numbers_are_no_error():
    score = Linear((1.7e308, 0.0), (1e-3, 5e-324), (2.0,), ((1.0, 1.0),))
    with np.errstate(all="raise", over="ignore"):
        found = score_of(score, np.array([[-1.7e308, 1e300], [1.7e308, 0.0]]))
    assert found.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("columns", [1, 7])
def test_scores_do_not_depend_on_the_block_they_are_computed_in(columns):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(500, columns))
    weights = tuple(tuple(row) for row in rng.normal(size=(2, columns)))
    score = Linear((0.1,) * columns, (1.3,) * columns, (2.0, 0.3), weights)
    whole = score_of(score, numbers)
    parts = np.concatenate([score_of(score, part) for part in np.array_split(numbers, 13)])
    assert np.array_equal(whole, parts)
