"""Does a path keep to the draws and decisions that it was given, and pass on the others?"""

import numpy as np
import pytest

from dpaudit.program.batch_reading import BatchPath, ImpureError, Prefix, UnbatchableError
from dpaudit.program.batch_value import entries


@pytest.fixture
def path():
    return BatchPath(np.random.default_rng(0), Prefix(np.arange(100, 200), [], []))


def test_the_larger_group_goes_on_and_the_others_are_left_with_their_draws(path):
    x = path.laplace(1)
    whole = entries(x).copy()
    y = path.gaussian(1)
    kept = bool(x > 1)
    assert not kept
    assert np.array_equal(entries(x), whole[whole <= 1])
    assert np.array_equal(path.runs, 100 + np.flatnonzero(whole <= 1))
    (other,) = path.pending
    assert np.array_equal(other.runs, 100 + np.flatnonzero(whole > 1))
    assert np.array_equal(other.draws[0].values, whole[whole > 1])
    assert other.decisions == [True] and [draw.asked for draw in other.draws] == [("laplace", 1.0), ("gaussian", 1.0)]
    assert len(entries(y)) == len(path.runs)


def test_all_groups_of_a_choice_are_left():
    path = BatchPath(np.random.default_rng(0), Prefix(np.arange(1000), [], []))
    path.choice("abcd", weights=[1, 5, 1, 1])
    assert len(path.pending) == 3
    runs = np.concatenate([path.runs, *(other.runs for other in path.pending)])
    assert np.array_equal(np.sort(runs), np.arange(1000))
    assert sorted(other.decisions[0] for other in path.pending) == [0, 2, 3]


def test_draws_made_before_and_after_several_splits_are_left_rightly(path):
    whole = np.full((4, 200), np.nan)
    for index in range(4):
        x = path.laplace(1)
        whole[index, path.runs] = entries(x)
        bool(x > 0.5)
    assert len(path.pending) == 4
    for number, other in enumerate(path.pending):
        for index, draw in enumerate(other.draws):
            assert np.array_equal(draw.values, whole[index, other.runs])
        assert len(other.draws) == number + 1
    for position, run in enumerate(path.runs):
        assert path.tape(position) == [(("laplace", 1.0), value) for value in whole[:, run].tolist()]


def test_a_replay_hands_out_the_draws_of_its_prefix(path):
    bool(path.laplace(1) > 0)
    (other,) = path.pending
    again = BatchPath(np.random.default_rng(1), other)
    x = again.laplace(1)
    assert np.array_equal(entries(x), other.draws[0].values)
    assert bool(x > 0) is other.decisions[0]
    again.close()


@pytest.mark.parametrize(
    ("replay", "sentence"),
    [
        (lambda p: p.laplace(2), r"asked for laplace\(2.0\) where it had asked for laplace\(1.0\)"),
        (lambda p: p.gaussian(1), "asked for gaussian"),
        (lambda p: bool(p.laplace(1) > 100) or bool(p.laplace(1) < -100), "took another branch|ended before"),
        (lambda p: p.laplace(1), "ended before"),
        (lambda p: None, "ended before"),
    ],
)
def test_a_replay_that_differs_is_refused(path, replay, sentence):
    bool(path.laplace(1) > 1)
    again = BatchPath(np.random.default_rng(1), path.pending[0])

    def call():
        replay(again)
        again.close()

    with pytest.raises(ImpureError, match=sentence):
        call()


def test_a_refusal_and_a_leave_that_were_swallowed_come_back(path):
    with pytest.raises(UnbatchableError):
        str(path.laplace(1))
    with pytest.raises(UnbatchableError, match="str"):
        path.close()


def test_after_leaving_the_call_goes_on_with_one_run(path):
    x = path.laplace(1)
    first = entries(x)[0]
    with pytest.raises(UnbatchableError):
        float(x)
    assert float(x) == first and str(x) == str(first) and len(path.runs) == 1


def test_noise_of_a_call_that_is_over_is_refused(path):
    x = path.laplace(1)
    path.close()
    for use in (lambda: x + 1, lambda: x > 1, lambda: -x, lambda: bool(x), lambda: float(x), lambda: path.laplace(1)):
        with pytest.raises(ImpureError, match="earlier call"):
            use()


def test_noise_of_two_calls_does_not_mix(path):
    other = BatchPath(np.random.default_rng(0), Prefix(np.arange(100), [], []))
    x, y = path.laplace(1), other.laplace(1)
    for use in (lambda: x + y, lambda: x > y, lambda: path.laplace(y + 10), lambda: path.argmax([x, y])):
        with pytest.raises(ImpureError, match="earlier call"):
            use()


def test_telling_runs_hold_the_extremes_of_every_draw(path):
    x, b = entries(path.laplace(1)), entries(path.bernoulli(0.05))
    runs = path.telling_runs()
    assert runs[0] == 0 and {int(x.argmax()), int(x.argmin())} <= set(runs)
    assert {bool(b[run]) for run in runs} == {True, False}
