"""Is a fold the loop that it stands for, called, enumerated, and read state by state?"""

import inspect
from fractions import Fraction

import numpy as np
import pytest
from support.agreement import agree

import mechanisms
from dpaudit.errors import UsageError
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.enumerate import exact_reading
from dpaudit.program.fold import Emit, Fold, Stop
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.outcome import entry
from dpaudit.program.symbolic.fold_machine import Unrolled, read_fold
from dpaudit.program.symbolic.linear import Affine
from dpaudit.program.symbolic.noise import queries, read
from dpaudit.targets.mechanism import mechanism
from dpaudit.targets.signature import Shape

FOLDS = {name: found for name in mechanisms.__all__ if isinstance((found := getattr(mechanisms, name)).function, Fold)}

ROWS = [
    pytest.param(name, given, id=f"{name}{given or ''}")
    for name, fold in FOLDS.items()
    for given in ([{"cutoff": 1}, {"cutoff": 3}] if "cutoff" in fold.defaults else [{}])
]


def any_above(level, answer, noise, *, epsilon=1):
    """What comes out is the state at the end."""
    return Stop((level[0], True)) if answer + noise.laplace(4 / epsilon) >= level[0] else level


ANY_ABOVE = Fold(
    any_above, init=lambda noise, *, epsilon=1: (noise.laplace(2 / epsilon), False), finish=lambda state: state[1]
)


def two_at_once(total, answer, noise):
    value = answer + noise.laplace(1)
    return Emit("seen", Emit(value, total + value)) if value > 0 else total


OTHERS = [
    (ANY_ABOVE, {"epsilon": 1}),
    (Fold(two_at_once, finish=None), {}),
    (Fold(two_at_once, init=lambda noise: Emit("begin", noise.exponential(1)), finish=None), {}),
    (Fold(lambda s, x, noise: s, init=lambda noise: Emit(1, Stop()), finish=None), {}),
    (Fold(lambda s, x, noise: {"level": x + noise.laplace(1), "last": "yes"}, init=None), {}),
    (Fold(lambda s, x, noise: 1 / 0 if x + noise.laplace(1) > 3 else Emit(0, s), init=[None, 2.5], finish=None), {}),
    (Fold(lambda s, x, noise: Emit(s if noise.bernoulli(0.5) else None, x), init=float("nan"), finish=None), {}),
]


def plain_loop(fold):
    return lambda data, noise, **parameters: fold(data, noise, **parameters)


# --- called ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "given"), ROWS)
@pytest.mark.slow
def test_the_catalogue_is_its_folds_step_by_step(name, given):
    """A call, and the steps that proofs read one by one, are one program."""
    found = FOLDS[name]
    parameters = found.parameters_with({**given, "epsilon": 2})
    rng = np.random.default_rng(0)
    lengths = set()
    for seed in range(150):
        data = (rng.normal(0, 6, seed % 12) + (seed % 3) * 6).tolist()
        called, stepped = (ScalarNoise(np.random.default_rng(seed)) for _ in range(2))
        output = found.function(data, called, **parameters)
        reached = found.function.start(stepped, **parameters)
        for answer in data:
            reached = reached if reached.is_over else found.function.after(reached, answer, stepped, **parameters)
        assert repr(output) == repr(found.function.output(reached))
        assert called.drawn == stepped.drawn
        lengths.add(len(output))
    assert len(lengths) > 5


def test_an_entry_is_its_fold():
    assert len(FOLDS) == 12 and all("svt" in name or name in ("above_threshold", "prefix_sum") for name in FOLDS)
    found = mechanisms.gap_svt
    assert found.name == found.function.__name__ == "gap_svt" and found.shape is Shape.PROGRAM
    assert list(found.defaults) == ["epsilon", "threshold", "cutoff"]
    assert found.description.startswith("Say of an answer above the noisy threshold by how much")


def test_a_fold_that_emits_runs_in_batches():
    fold = FOLDS["gap_svt"]
    result = run_batch(lambda noise: fold([0, 5, 9], noise, **fold.defaults), 500, np.random.default_rng(0))
    assert result.fallback_reason is None
    outputs = [entry(path.output, run) for path in result.paths for run in range(len(path.runs))]
    assert {len(output) for output in outputs} == {1, 2, 3}
    assert all(output[-1] is False or output[-1] >= 0 for output in outputs)


def test_stop_ends_the_loop_wherever_it_comes_from():
    noise = ScalarNoise(np.random.default_rng(0))
    assert Fold(lambda s, x, noise: Stop(x), 0)([5, 6], noise) == 5
    assert Fold(lambda s, x, noise: Emit(x, Stop()), 0, None)([5, 6], noise) == [5]
    assert Fold(lambda s, x, noise: x, lambda noise: Stop(7))([5, 6], noise) == 7
    assert Fold(lambda s, x, noise: Emit(s, Emit(x, s + 1)), 0, None)([5, 6], noise) == [0, 5, 1, 6]
    assert Fold(lambda s, x, noise: Emit(s, s), 0, None)([], noise) == []


def test_what_is_written_the_wrong_way_round_is_refused():
    noise = ScalarNoise(np.random.default_rng(0))
    with pytest.raises(UsageError, match=r"Emit\(output, Stop\(state\)\)"):
        Fold(lambda s, x, noise: Stop(Emit(1, 2)), finish=None)([1], noise)
    with pytest.raises(UsageError, match="finish=None"):
        Fold(lambda s, x, noise: Emit(1, s))([1], noise)


def test_a_fold_says_which_parameters_it_takes():
    def step(state, record, noise, *, scale, cutoff=2):
        return state

    def init(noise, scale, *, threshold=0):
        return 0

    found = mechanism(Fold(step, init))
    assert found.shape is Shape.PROGRAM
    assert found.defaults == {"scale": inspect.Parameter.empty, "cutoff": 2, "threshold": 0}
    assert not found.open_ended
    assert mechanism(Fold(lambda s, x, noise, **others: s)).open_ended
    assert not mechanism(Fold(lambda s, x, noise, **others: s, lambda noise: 0)).open_ended
    with pytest.raises(UsageError, match="threshold"):
        Fold(lambda s, x, noise, threshold=1: s, init)


# --- enumerated ------------------------------------------------------------------------------------------


def coins(state, record, noise, *, chance=0.25):
    answer = record ^ noise.bernoulli(chance)
    return Emit(answer, Stop() if answer and state else state or answer)


@pytest.mark.parametrize(
    ("fold", "data"),
    [
        (Fold(coins, False, None), [True, False, True, True]),
        (Fold(lambda s, x, noise: Emit(noise.choice([1, True]), x), None, None), [1, 2]),
        (Fold(lambda s, x, noise: Stop(x), lambda noise: Stop(noise.bernoulli(0.5))), [1, 2]),
    ],
)
def test_a_fold_that_emits_has_the_law_of_the_same_loop(fold, data):
    assert exact_reading(fold, data).weights == exact_reading(plain_loop(fold), data).weights


# --- read state by state ---------------------------------------------------------------------------------


def assert_same_runs(fold, parameters, length, *, integer=False, runs=40):
    """On the same data and draws, the unrolled machine takes the path of the tree of this length."""
    unrolled = Unrolled(read_fold(fold, parameters, integer=integer), length)
    tree = read(plain_loop(fold), queries(length, integer=integer), parameters)
    rng = np.random.default_rng(length)
    for _ in range(runs):
        point = {f"q{k}": Fraction(int(value)) for k, value in enumerate(rng.integers(-9, 9, length))}
        draws = [Fraction(int(value)) + (0 if integer else Fraction(1, 7)) for value in rng.integers(0, 9, 200)]
        (left, near), (right, close) = unrolled.follow(point, draws), tree.follow(point, draws)
        assert (left is None) == (right is None)
        if left is not None:
            assert (left.draws, left.output) == (right.draws, right.output)
            assert near == close


@pytest.mark.parametrize(("name", "given"), ROWS)
@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.slow
def test_the_machine_of_the_catalogue_is_the_tree(name, given, length):
    found = FOLDS[name]
    assert_same_runs(found.function, found.parameters_with(given), length)


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize(("fold", "parameters"), OTHERS)
def test_the_machine_of_other_folds_is_the_tree(fold, parameters, length):
    assert_same_runs(fold, parameters, length)


def test_whole_numbers_of_a_state_stay_whole():
    fold = Fold(lambda s, x, noise: Emit(s, x + noise.discrete_laplace(2)), init=0, finish=None)
    assert_same_runs(fold, {}, 3, integer=True)


def test_states_are_what_is_discrete():
    machine = read_fold(FOLDS["gap_svt"].function, FOLDS["gap_svt"].parameters_with({"cutoff": 3}))
    assert [state.name for state in machine.states] == ["(s0, 0)", "(s0, 1)", "(s0, 2)"]
    assert machine.reals == 1 and machine.emits
    assert [ending.next for ending in machine.states[1].step.endings] == [1, 2]
    assert [ending.next for ending in machine.states[2].step.endings] == [2, None]
    assert all(state.end is None for state in machine.states)
    (start,) = machine.start.endings
    assert start.reals == (Affine({"h0": 1}),) and start.leaf.output == ("none",)


def test_a_number_that_a_state_does_not_have_stays():
    def step(state, answer, noise):
        return (None, answer) if state[0] is not None else (noise.laplace(1), state[1])

    machine = read_fold(Fold(step, (None, 0), finish=lambda state: "over"), {})
    assert [state.name for state in machine.states] == ["(None, 0)", "(s0, 0)", "(None, s1)", "(s0, s1)"]
    reals = [state.step.endings[0].reals for state in machine.states]
    s0, s1, x, h0 = map(Affine.variable, ("s0", "s1", "x", "h0"))
    assert machine.start.endings[0].reals == (Affine(), Affine())
    assert reals == [(h0, s1), (s0, x), (h0, s1), (s0, x)]
    assert {state.end.endings[0].emitted for state in machine.states} == {(("str", "over"),)}


@pytest.mark.slow
def test_a_text_without_an_end_has_too_many_states():
    with pytest.raises(UsageError, match=r"more than 1,000 states.*Emit"):
        read_fold(Fold(lambda s, x, noise: s + "1", init=""), {})


def test_a_count_without_an_end_may_be_any_number():
    machine = read_fold(Fold(lambda s, x, noise: s + 1), {})
    assert [state.name for state in machine.states] == ["s0"]
    assert machine.states[0].step.endings[0].reals == (Affine({"s0": 1}, 1),)
    assert machine.start.endings[0].reals == (Affine(),)


@pytest.mark.slow
def test_a_count_that_a_branch_looks_at_keeps_its_values():
    """Were it any number, the fold would have other branches than its 150 states."""
    machine = read_fold(Fold(lambda s, x, noise: 0 if s == 149 else s + 1), {})
    assert len(machine.states) == 150 and not machine.reals


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda s, x, noise: float(x), "float"),
        (lambda s, x, noise: s.append(1) or s, "changes its data"),
        (lambda s, x, noise: {1, 2}, "set"),
    ],
)
def test_what_cannot_be_read_is_refused(step, message):
    with pytest.raises(UsageError, match=message):
        read_fold(Fold(step, init=[1]), {})


def test_a_fold_that_is_not_its_machine_does_not_agree():
    def step(state, answer, noise):
        return Emit("plain" if type(answer) is float else "read", state)

    fold = Fold(step, finish=None)
    found = agree(Unrolled(read_fold(fold, {}), 3), fold, {}, 3, runs=5)
    assert found.disagreement is not None and "plain" in found.disagreement


def test_a_digest_covers_what_a_fold_consists_of():
    assert len({each.digest for each in FOLDS.values()}) == len(FOLDS)  # many of them have the same step, closed over

    def step(state, answer, noise):
        return state + answer

    def other(state, answer, noise):
        return state - answer

    folds = [
        Fold(step),
        Fold(other),
        Fold(step, init=1),
        Fold(step, finish=None),
        Fold(step, init=lambda noise: 0),
        Fold(step, finish=lambda state: -state),
    ]
    digests = [mechanism(each).digest for each in folds]
    assert len(set(digests)) == len(folds)
    assert mechanism(Fold(step)).digest == digests[0]


def test_a_fold_is_described_by_its_step():
    assert mechanism(Fold(any_above)).summary == "What comes out is the state at the end."
    assert mechanism(Fold(lambda state, answer, noise: state)).description == ""
    assert Fold.__doc__.startswith("A program that is a loop")
