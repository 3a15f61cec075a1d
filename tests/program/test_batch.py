"""Does a batch keep every run, in its order, with the right law, and refuse what it cannot read?"""

import random
import secrets
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpaudit.errors import UsageError
from dpaudit.program import batch_reading, noise
from dpaudit.program import batch_reading as batch
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.outcome import entry, run_once
from dpaudit.sampling.outputs import from_list, from_paths


def outputs_of(result, size):
    found = [None] * size
    for part in result.paths:
        for position, run in enumerate(part.runs):
            found[run] = entry(part.output, position)
    return found


def sparse_vector(noise):
    level, answers = noise.laplace(2), []
    for query in [0, 1, 0, 1, 0]:
        above = bool(query + noise.laplace(4) >= level)
        answers.append(above)
        if above:
            break
    return answers


# --- order and seeds -------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=60)
@given(size=st.integers(0, 400), thresholds=st.lists(st.floats(-2, 2), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_outputs_stand_in_the_order_of_their_runs(size, thresholds, seed):
    first = []

    def program(noise):
        x = noise.gaussian(1)
        if not first:
            first.append(x)
        return x, sum(1 for threshold in thresholds if x > threshold), "up" if x > 0 else "down"

    whole = outputs_of(run_batch(program, size, np.random.default_rng(seed)), size)
    assert all(
        branch == sum(x > t for t in thresholds) and word == ("up" if x > 0 else "down") for x, branch, word in whole
    )
    if size >= batch.SMALL_PATH:  # the first draw of a batch is made for all runs at once, in their order
        assert [x for x, _, _ in whole] == np.random.default_rng(seed).normal(0.0, 1.0, size).tolist()


def test_the_runs_of_every_form_stand_in_order():
    size = 5000
    outputs = from_paths(run_batch(sparse_vector, size, np.random.default_rng(0)).paths, size)
    again = from_list(outputs_of(run_batch(sparse_vector, size, np.random.default_rng(0)), size))
    assert outputs.forms == again.forms
    assert np.array_equal(outputs.codes, again.codes)
    assert all(map(np.array_equal, outputs.numbers, again.numbers))


def test_the_same_seed_gives_the_same_outputs_and_another_seed_others():
    one, two, three = (outputs_of(run_batch(sparse_vector, 999, np.random.default_rng(s)), 999) for s in (1, 1, 2))
    assert one == two != three


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9])
def test_small_batches(replay, size):
    replay(sparse_vector, size=size)


# --- laws ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "program",
    [
        sparse_vector,
        lambda noise: noise.argmax([noise.gumbel(2) + query for query in (0, 1, 2)]),
        lambda noise: [noise.choice("abc", weights=[1, 2, 3]), noise.bernoulli(0.3)],
        lambda noise: noise.bernoulli(noise.uniform()),
        lambda noise: round(noise.discrete_gaussian(1.5) / 2),
        lambda noise: sorted([("x", noise.bernoulli(0.5)), ("y", noise.bernoulli(0.2))], key=lambda item: item[1]),
    ],
)
@pytest.mark.slow
def test_batch_and_scalar_follow_one_law(program):
    size = 8_000
    many = [str(output) for output in outputs_of(run_batch(program, size, np.random.default_rng(5)), size)]
    rng = np.random.default_rng(6)
    single = [str(run_once(program, ScalarNoise(rng))) for _ in range(size)]
    outcomes = set(many) | set(single)
    assert 1 < len(outcomes) < 60
    # Hoeffding (1963): each frequency is off its probability by t with chance at most 2·exp(−2·size·t²)
    t = np.sqrt(np.log(4 * len(outcomes) / 1e-9) / (2 * size))
    for outcome in outcomes:
        assert abs(many.count(outcome) - single.count(outcome)) / size < 2 * t


def test_a_rappor_of_twenty_bits_stays_one_path(replay):
    result = replay(lambda noise: [noise.bernoulli(0.75 if bit else 0.25) for bit in [1] + 19 * [0]])
    assert len(result.paths) == 1


def test_a_branch_nobody_took_costs_no_path():
    result = run_batch(lambda noise: noise.laplace(1) > 1e6 or noise.laplace(1) > 1e6, 1000, np.random.default_rng(0))
    assert len(result.paths) == 1


# --- length ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_draws_of_a_path_are_halved_where_they_are_many(replay, monkeypatch):
    monkeypatch.setattr(batch_reading, "_MOST_BYTES", 4000)
    result = replay(lambda noise: [sum(noise.laplace(1) for _ in range(40)), noise.bernoulli(0.5)], size=200)
    assert result.fallback_reason is None
    assert len(result.paths) > 4
    replay(sparse_vector, size=500)
    result = replay(lambda noise: [noise.laplace(1 + abs(noise.laplace(1))) for _ in range(30)], size=200)
    assert result.fallback_reason is None and len(result.paths) > 4


@pytest.mark.slow
def test_a_long_loop(replay):
    def wait(noise):
        steps = 0
        while noise.bernoulli(0.98):
            steps += 1
        return steps

    result = replay(wait, size=2000)
    steps = [entry(part.output, 0) for part in result.paths]
    assert result.fallback_reason is None
    assert max(steps) > 200
    assert abs(np.mean(outputs_of(result, 2000)) - 49) < 8  # seven standard deviations


@pytest.mark.slow
def test_an_endless_loop_is_an_output(replay, monkeypatch):
    monkeypatch.setattr(batch_reading, "MOST_DRAWS", 300)
    monkeypatch.setattr("dpaudit.program.noise.MOST_DRAWS", 300)

    def sometimes(noise):
        endless = noise.bernoulli(0.3)
        while endless:
            noise.laplace(1)
        return "done"

    result = replay(sometimes, size=400)
    words = [str(output) for output in outputs_of(result, 400)]
    assert result.fallback_reason is None
    assert words.count("done") + words.count("raises EndlessLoopError: a run drew noise more than 300 times") == 400
    assert 60 < words.count("done") < 400


def test_the_limit_of_draws_is_the_same_in_both_readings(monkeypatch, replay):
    monkeypatch.setattr(batch_reading, "MOST_DRAWS", 50)
    monkeypatch.setattr("dpaudit.program.noise.MOST_DRAWS", 50)
    for count, ends in ((50, False), (51, True)):
        result = replay(lambda noise, count=count: sum(noise.laplace(1) for _ in range(count)), size=20)

        assert (type(result.paths[0].output).__name__ == "Raised") is ends


# --- programs that do not depend on their noise alone ----------------------------------------------------

_state = {"calls": 0, "noisy": None, "noise": None}


def counting(noise):
    _state["calls"] += 1
    return _state["calls"] + noise.laplace(1)


def counting_scale(noise):
    _state["calls"] += 1
    x = noise.laplace(_state["calls"])
    return "up" if x > 0 else "down"


def counting_draws(noise):
    _state["calls"] += 1
    for _ in range(_state["calls"]):
        noise.laplace(1)
    return "up" if noise.laplace(1) > 0 else "down"


def cached(noise):
    if _state["noisy"] is None:
        _state["noisy"] = noise.laplace(1)
    return _state["noisy"]


def cached_and_used(noise):
    return cached(noise) + 1


def cached_branch(noise):
    return "up" if cached(noise) > 0 else "down"


def cached_and_shown(noise):
    return f"{cached(noise)}"


def cached_noise(noise):
    _state["noise"] = _state["noise"] or noise
    return "up" if _state["noise"].laplace(1) > 0 else "down"


def shrinking(noise):
    _state["calls"] += 1
    if _state["calls"] > 1:
        return "early"
    return "up" if noise.laplace(1) > 0 else "down"


IMPURE = [
    counting,
    counting_scale,
    counting_draws,
    cached,
    cached_and_used,
    cached_branch,
    cached_and_shown,
    cached_noise,
    shrinking,
    lambda noise: noise.laplace(1) + random.random(),
    lambda noise: (noise.bernoulli(0.5), random.random() < 1e-9),
    lambda noise: (noise.bernoulli(0.5), np.random.random() < 1e-9),  # noqa: NPY002
    lambda noise: noise.laplace(1) + np.random.default_rng().random(),
    lambda noise: f"{noise.laplace(1)} {np.random.default_rng().random()}",
    lambda noise: f"{noise.laplace(1)} {random.random()}",
    lambda noise: (noise.bernoulli(0.5), secrets.token_hex()),
    lambda noise: noise.laplace(1) + time.perf_counter_ns(),
]


@pytest.mark.parametrize("program", IMPURE)
def test_randomness_or_state_of_its_own_is_refused(program):
    _state.update(calls=0, noisy=None, noise=None)
    with pytest.raises(UsageError, match="does not depend on its data, parameters and noise alone"):
        run_batch(program, 300, np.random.default_rng(0))


def test_a_refusal_that_the_program_swallows_is_seen():
    _state.update(calls=0)

    def program(noise):
        try:
            return counting_scale(noise)
        except:  # noqa: E722
            return "swallowed"

    with pytest.raises(UsageError, match="does not depend on its data, parameters and noise alone"):
        run_batch(program, 300, np.random.default_rng(0))


def test_interrupts_are_not_outputs():
    def program(noise):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_batch(program, 300, np.random.default_rng(0))


def test_noise_cannot_be_copied(replay):
    import copy

    result = replay(lambda noise: copy.deepcopy(noise).laplace(1))
    assert str(result.paths[0].output).startswith("raises TypeError: noise cannot be copied")
    assert issubclass(noise.EndlessLoopError, Exception)


# --- whole programs that Hypothesis writes ---------------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["laplace", "bernoulli", "discrete", "choice", "argmax"]),
        st.sampled_from(["keep", "branch", "add", "stop", "raise", "divide"]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=6,
)


@settings(
    derandomize=True, deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS, size=st.integers(1, 120))
@pytest.mark.slow
def test_random_programs(replay, steps, size):
    def program(noise):
        values, total = [0.5, 1], 0
        for draw, action, index in steps:
            if draw == "laplace":
                value = noise.laplace(1 + index)
            elif draw == "bernoulli":
                value = noise.bernoulli(0.3)
            elif draw == "discrete":
                value = noise.discrete_laplace(1 + index)
            elif draw == "choice":
                value = noise.choice([1, 2, "x"][: 1 + index])
            else:
                value = noise.argmax(values)
            if isinstance(value, str):
                return value, values
            values.append(value)
            if action == "branch" and value > values[-2]:
                values.append("taken")
                values.remove("taken")
                total += 1
            elif action == "add":
                total += value
            elif action == "stop" and value > 1:
                break
            elif action == "raise" and value < 0:
                raise ValueError(action)
            elif action == "divide":
                total = index / value
        return values, total

    assert replay(program, size=size).fallback_reason is None
