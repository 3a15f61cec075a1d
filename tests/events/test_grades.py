"""Are outputs put into bins of equally many runs, in the order in which they point to the sides?"""

import numpy as np
import pytest

from dpaudit.events import degree_of_each, graded_along
from dpaudit.evidence.event import Coordinate, Event, Rows, Rule
from dpaudit.sampling.outputs import Outputs

NUMBER = Event("x", (Rule("a number", Coordinate(0), (0.0,), (-1, 1)),))


def outputs(*parts):
    """Outputs of some forms, {form: values}, one after another."""
    codes = np.concatenate([np.full(len(values), code, dtype=np.int32) for code, (_, values) in enumerate(parts)])
    return Outputs(
        tuple(form for form, _ in parts), codes, tuple(np.asarray(v, dtype=float)[:, None] for _, v in parts)
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_bins_hold_equally_many_runs_and_follow_the_score(sign):
    rng = np.random.default_rng(0)
    sides = tuple(outputs(("a number", sign * (side == 0) + rng.normal(0, 1, 300))) for side in (0, 1))
    event = graded_along(NUMBER, sides)
    assert event.degrees[0] - event.degrees[1] == 12
    filled = [np.bincount(degree_of_each(event, side), minlength=12) for side in sides]
    assert sum(filled).tolist() == [50] * 12
    assert filled[0][0] > filled[0][-1] and filled[1][0] < filled[1][-1]
    (rule,) = event.rules
    assert list(rule.labels) == sorted(rule.labels, reverse=sign < 0)


def test_other_forms_and_listed_rows_have_bins_of_their_own():
    rows = Event("x", (Rule("a pair", Rows(((1.0,), (2.0,))), (-0.5, 0.5), (0, 1, -1)),))
    sides = (
        outputs(("a pair", [1.0] * 60 + [2.0] * 20), ("None", np.zeros(20))),
        outputs(("a pair", [1.0] * 20 + [2.0] * 30), ("None", np.zeros(50))),
    )
    event = graded_along(rows, sides)
    order = [[int(x) for x in dict.fromkeys(degree_of_each(event, side).tolist())] for side in sides]
    assert order == [[0, 1, 2], [0, 1, 2]]
    assert event.degrees == (1, -2)


def test_few_runs_and_outputs_that_never_vary_have_few_bins():
    few = tuple(outputs(("a number", np.arange(8.0) + side)) for side in (0, 1))
    assert len(set(degree_of_each(graded_along(NUMBER, few), few[0]).tolist())) <= 4
    constant = tuple(outputs(("a number", np.zeros(20))) for _ in (0, 1))
    event = graded_along(NUMBER, constant)
    assert set(degree_of_each(event, constant[0]).tolist()) == set(degree_of_each(event, constant[1]).tolist()) == {0}
    unseen = outputs(("another", np.zeros(3)))
    assert degree_of_each(event, unseen).tolist() == [1] * 3
