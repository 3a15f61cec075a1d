"""Does a rare branch come as often as its law says, whatever happens in it, in functions of every shape?

Blocks are small and many, so that a run that is drawn again because of what it drew, or an output that is read after
it was overwritten, shows in the counts: a branch comes 0.2 to 10 times in each block. A hundred of the rarest are due,
of which half would be too unlikely, and 1,400 of the others, of which seven eighths would be.
"""

from __future__ import annotations

import functools
import math
import warnings

import msgspec
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.program.enumerate import TraceBudget, all_traces
from dpaudit.review.check import check, passes
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock
from dpaudit.sampling.outputs import Outputs
from dpaudit.sampling.runs import outputs_of
from dpaudit.targets.mechanism import mechanism
from dpaudit.targets.signature import Shape

pytestmark = pytest.mark.slow

SIZE = 80
UNLIKELY = 1e-6  # of a count, were every law right
OWN = np.random.default_rng(0)
KEEP = 1 / (1 + math.exp(-1))


def blocks_for(rate):
    """So many that a hundred are due, and a thousand where a branch is not rare."""
    return 250 if rate < 1 else 100


def played(function, blocks, size=SIZE, made_as=None):
    experiment = Experiment(mechanism(function), {}, ((0, 0),), (), 5, made_as=made_as)
    for index in range(blocks):
        (side0, side1), _ = outputs_of(experiment, RunBlock(Phase.MEASURING, 0, index, size))
        yield side0, side1


def refuse_unlikely(hits, runs, chance):
    assert binomtest(hits, runs, chance).pvalue > UNLIKELY, f"{hits} of {runs}, where {chance * runs:.0f} are due"


def count(side: Outputs, words: tuple[str, ...]) -> int:
    forms = [code for code, form in enumerate(side.forms) if any(word in form for word in words)]
    return int(np.isin(side.codes, forms).sum())


# --- programs: what the batch reading cannot read, or reads wrongly


def tail(chance):
    """The level that Laplace noise of scale 1 exceeds with this chance."""
    return -math.log(2 * chance)


def unreadable(chance, data, noise):
    x = noise.laplace(1)
    return "rare" + str(int(x))[:0] if x > tail(chance) else "common"


def unreadable_swallowed(chance, data, noise):
    x = noise.laplace(1)
    if x > tail(chance):
        try:
            return "rare" + f"{x}"[:0]
        except BaseException:  # the reading is left by one
            return "common"
    return "common"


def unreadable_later(chance, data, noise):
    """What is drawn after the reading was left counts too: half of the rare runs."""
    if noise.laplace(1) > tail(2 * chance):
        first = noise.laplace(1)
        float(first)
        return "rare" if noise.laplace(1) > 0 else "common"
    return "common"


def unreadable_in_parts(chance, data, noise):
    """Several small paths, each of which cannot be read."""
    part, x = noise.choice("abcd"), noise.laplace(1)
    return "rare" + str(int(x))[:0] + part if x > tail(chance) else "common"


def misread(chance, data, noise):
    x = noise.laplace(1)
    if x > tail(chance):
        return "rare" if type(x) is float else "misread"
    return "common"


def misread_first(chance, data, noise):
    """The batch asks for another draw than a run does, and puts out the same word for the same number."""
    x = noise.laplace(1)
    y = noise.laplace(1) if type(x) is float else noise.gaussian(9)
    return "rare" if y > tail(chance) else "common"


def misread_scale(chance, data, noise):
    """The batch asks for the same kind of noise with another, noisy scale."""
    x = 0.5 + noise.uniform()
    y = noise.laplace(x if type(x) is float else 3 * x) / x
    return "rare" if y > tail(chance) else "common"


def raising(chance, data, noise):
    x = noise.laplace(1)
    if x > tail(chance):
        raise ValueError("rare " + str(int(x))[:0])
    return "common"


BUFFER = [None, "common"]


def reused(chance, data, noise):
    """Returns one list each time, which later runs fill anew."""
    x = noise.laplace(1)
    BUFFER[0], BUFFER[1] = x, "rare" if x > tail(chance) else "common"
    return BUFFER


PROGRAMS = (
    [(unreadable, rate) for rate in (0.2, 7, 10)]
    + [(unreadable_in_parts, 10)]
    + [(program, 7) for program in (unreadable_swallowed, unreadable_later, raising, reused)]
    + [(program, rate) for program in (misread, misread_first, misread_scale) for rate in (7,)]
)


@pytest.mark.parametrize(
    ("program", "rate"), mostly_at_night(PROGRAMS), ids=lambda item: getattr(item, "__name__", str(item))
)
def test_a_rare_branch_of_a_program_keeps_its_law(program, rate):
    chance = 2 * rate / SIZE
    hits = runs = 0
    for sides in played(functools.partial(program, chance), blocks_for(rate)):
        for side in sides:
            hits, runs = hits + count(side, ("rare",)), runs + len(side)
            assert "misread" not in "".join(side.forms)
    refuse_unlikely(hits, runs, chance)


def test_every_output_of_a_reused_container_is_its_own():
    for sides in played(functools.partial(reused, 0.1), 20):
        for side in sides:
            for form, numbers in zip(side.forms, side.numbers, strict=True):
                assert len(set(numbers[:, 0])) == len(numbers)
                assert np.all((numbers[:, 0] > tail(0.1)) == ("rare" in form))


# --- the other shapes, of which runs raise now and then


def raising_sampler(chance, data, size, rng):
    if np.any(rng.random(size) < chance):
        raise ValueError("rare")
    return rng.random(size)


def raising_seeded(chance, data, rng):
    if rng.random() < chance:
        raise ValueError("rare")
    return [rng.random()]


def raising_opaque(chance, data):
    return raising_seeded(chance, data, OWN)


@pytest.mark.parametrize("function", [raising_sampler, raising_seeded, raising_opaque])
@pytest.mark.parametrize("rate", [0.2, 10])
def test_rare_exceptions_keep_their_law(function, rate):
    chance = 2 * rate / SIZE
    shape = Shape.SEEDED if function is raising_sampler else None  # as it is settled before measuring
    hits = runs = 0
    for sides in played(functools.partial(function, chance), blocks_for(rate), made_as=shape):
        for side in sides:
            hits, runs = hits + count(side, ("rare",)), runs + len(side)
    refuse_unlikely(hits, runs, chance)


def answering(share, data, size, rng):
    """Raises with chance ``share`` times that of an answer of randomised response: exactly ε = 1."""
    if np.any(rng.random(size) < share * (KEEP if data else 1 - KEEP)):
        raise ValueError("rare")
    return rng.random(size)


@pytest.mark.parametrize("share", [0.2, 2e-3])
def test_a_sampler_that_raises_at_a_rate_of_its_claim_is_never_violated(share):
    found = set(verdicts(functools.partial(answering, share), 3, 3_000))
    assert dp.Verdict.VIOLATED not in found
    assert found - {dp.Verdict.INVALID} or share < 0.01


def test_a_sampler_that_first_raises_while_it_is_measured_is_invalid():
    calls = []

    def late(data, size, rng):
        calls.append(size)
        if sum(calls) > 4_000:
            raise ValueError("rare")
        return rng.random(size)

    found = dp.audit(late, claim="epsilon=1", pairs=[(0, 1)], relation="declared", runs=10_000, seed=0)
    assert found.verdict is dp.Verdict.INVALID
    assert "raised ValueError in a call for" in found.reason and "ask for rng alone" in found.reason


def test_a_sampler_that_raises_for_one_side_is_violated_and_says_how_it_ran():
    def leaks(data, size, rng):
        if data:
            raise ValueError("out of range")
        return rng.random(size)

    asked = {"claim": "epsilon=1", "pairs": [(0, 1)], "relation": "declared", "runs": 2_000, "seed": 0}
    found = dp.audit(leaks, **asked)
    assert found.verdict is dp.Verdict.VIOLATED and found.target.reading.startswith("run by run: a sampler that raises")
    assert passes(check(found))
    assert dp.audit(leaks, **asked, sequential=True).verdict is dp.Verdict.VIOLATED


# --- randomness of its own


def bare_sampler(data, size):
    return data + OWN.laplace(size=size)


def pretending(data, rng):
    return data + OWN.laplace()


def pretending_sampler(data, size, rng):
    return data + OWN.laplace(size=size)


def stateful(data, rng, *, state=[0]):  # noqa: B006
    state[0] += 1
    return data + rng.laplace() + 1e-9 * state[0]


@pytest.mark.parametrize("function", [bare_sampler, pretending, pretending_sampler, stateful])
def test_what_the_seed_does_not_decide_is_not_called_reproducible(function):
    asked = {"claim": "epsilon=1", "pairs": [(0, 1)], "relation": "declared", "runs": 1_000, "seed": 0}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = dp.audit(function, **asked, workers=2)
    assert not found.reproducible and found.target.reading.startswith("run by run")
    assert "randomness of its own" in str(said[0].message)
    assert any("own randomness" in assumed for assumed in found.assumptions)
    assert passes(check(found))
    lie = msgspec.structs.replace(found, reproducible=True)
    assert not passes(check(lie))


def test_what_has_randomness_of_its_own_runs_in_the_order_of_the_coins():
    order = []

    def sampler(data, size):
        order.append((data, size))
        return [0.0] * size

    experiment = Experiment(mechanism(sampler), {}, ((0, 1),), (), 5)
    (side0, side1), _ = outputs_of(experiment, RunBlock(Phase.MEASURING, 0, 0, 1_000))
    assert {size for _, size in order} == {1} and len(order) == len(side0) + len(side1) == 1_000
    twos = np.array([data for data, _ in order]).reshape(500, 2)  # one of each side, in an order that a coin picks
    assert (twos.sum(axis=1) == 1).all() and 200 < np.count_nonzero(twos[:, 0]) < 300


# --- containers that are used again

OUT = np.zeros(2**12)
ROW, PAIR = np.zeros(1), [0.0, ""]


def leaking_array(data, size, rng):
    rng.standard_normal(out=OUT[:size])
    OUT[:size] += 1_000 * data
    return OUT[:size]


def leaking_list_of_views(data, size, rng):
    rng.standard_normal(out=OUT[:size])
    OUT[:size] += 1_000 * data
    return [OUT[i : i + 1] for i in range(size)]


def leaking_list(data, size, rng):
    return [leaking_row(data, rng) for _ in range(size)]


def leaking_row(data, rng):
    ROW[0] = rng.normal() + 1_000 * data
    return ROW


def leaking_opaque(data):
    PAIR[0] = OWN.normal() + 1_000 * data
    return PAIR


def honest_array(data, size, rng):
    np.not_equal(rng.random(size) >= KEEP, data, out=OUT[:size], casting="unsafe")
    return OUT[:size]


def honest_list(data, size, rng):
    """One array for all runs of a call."""
    return [honest_row(data, rng) for _ in range(size)]


def honest_row(data, rng):
    ROW[0] = (rng.random() >= KEEP) != data
    return ROW


def honest_opaque(data):
    PAIR[0] = float((OWN.random() >= KEEP) != data)
    return PAIR


def honest_program(data, noise):
    PAIR[0] = noise.bernoulli(KEEP) != bool(data)
    PAIR[1] = "yes" if PAIR[0] else "no"
    return PAIR


def verdicts(function, seeds, runs):
    for seed in range(seeds):
        asked = {"claim": "epsilon=1", "pairs": [(0, 1)], "relation": "declared", "floating_point": "ignore"}
        yield dp.audit(function, **asked, runs=runs, confidence=0.999, seed=seed).verdict


@pytest.mark.parametrize("function", [leaking_array, leaking_list, leaking_list_of_views, leaking_row, leaking_opaque])
def test_a_leak_through_a_reused_array_is_seen(function):
    assert set(verdicts(function, 3, 400)) == {dp.Verdict.VIOLATED}


@pytest.mark.parametrize("function", [honest_array, honest_list, honest_row, honest_opaque, honest_program])
def test_honest_outputs_in_a_reused_container_are_not_violated(function):
    assert dp.Verdict.VIOLATED not in set(verdicts(function, 3, 1_500))


@pytest.mark.parametrize("make", [np.asarray, np.ma.masked_array, pd.Series, pd.DataFrame, list, tuple])
def test_what_a_sampler_returns_is_its_own_whatever_holds_it(make):
    held = None

    def function(data, size, rng):
        nonlocal held
        values = 10.0 * data + rng.random(size)
        if held is None:
            held = np.zeros(500)
        held[:size] = values
        return make(held[:size])

    experiment = Experiment(mechanism(function), {}, ((0, 1),), (), 5)
    side0, side1 = outputs_of(experiment, RunBlock(Phase.MEASURING, 0, 0, 300))[0]
    assert side0.numbers[0].min() >= 0 and side0.numbers[0].max() < 1
    assert side1.numbers[0].min() >= 10 and side1.numbers[0].max() < 11
    assert len(np.unique(side0.numbers[0])) == len(side0)


def fresh(data, rng):
    return [float((rng.random() >= KEEP) != data), "yes"]


def held(data, rng):
    PAIR[:] = fresh(data, rng)
    return PAIR


def fresh_array(data, size, rng):
    return ((rng.random(size) >= KEEP) != data).astype(float)


def held_array(data, size, rng):
    OUT[:size] = fresh_array(data, size, rng)
    return OUT[:size]


def fresh_program(data, noise):
    return [noise.bernoulli(KEEP) != bool(data), noise.laplace(1)]


def held_program(data, noise):
    PAIR[:] = fresh_program(data, noise)
    return PAIR


@pytest.mark.parametrize(("own", "reused"), [(fresh, held), (fresh_array, held_array), (fresh_program, held_program)])
def test_reused_containers_leave_the_evidence_that_copies_leave_seed_by_seed(own, reused):
    """So that the error rates of the two are one, whatever it is: to the last bit, at every seed."""
    for seed in range(60 if own is fresh_program else 300):
        block = RunBlock(Phase.MEASURING, 0, 0, 16)
        sides, others = (
            outputs_of(Experiment(mechanism(each), {}, ((0, 1),), (), seed), block)[0] for each in (own, reused)
        )
        assert all(one.equals(other) for one, other in zip(sides, others, strict=True))
    asked = {"claim": "epsilon=1", "pairs": [(0, 1)], "relation": "declared", "runs": 300, "floating_point": "ignore"}
    if own is fresh:  # what keeps a list from call to call is not read
        asked["reading"] = "calls"
    found, again = (dp.audit(function, **asked, seed=0) for function in (own, reused))
    assert msgspec.structs.replace(found, target=again.target).id == again.id


def test_one_object_for_many_runs_is_asked_for_run_by_run_and_is_invalid_where_it_comes_late():
    asked = {"claim": "epsilon=1", "pairs": [(0, 1)], "relation": "declared", "seed": 0, "floating_point": "ignore"}
    found = dp.audit(honest_list, **asked, runs=2_000)
    assert found.target.reading.startswith("run by run: a sampler that raises, or returns one object")
    assert dp.audit(lambda data, size: [[0]] * size, **asked, runs=500).lower.value == 0
    calls = []

    def late(data, size, rng):
        calls.append(size)
        return (
            honest_list(data, size, rng) if sum(calls) > 4_000 else [honest_row(data, rng).copy() for _ in range(size)]
        )

    found = dp.audit(late, **asked, runs=10_000)
    assert found.verdict is dp.Verdict.INVALID and "one and the same ndarray" in found.reason


@pytest.mark.parametrize("make", [np.asarray, list, lambda row: {"a": row}, pd.Series, lambda row: [row], pd.DataFrame])
def test_an_answer_that_is_filled_anew_is_the_answer_that_it_was(make):
    row = np.zeros(2)
    kept = make(row)

    def query(data):
        if isinstance(kept, list) and kept and not isinstance(kept[0], np.ndarray):
            kept[:] = [len(data), 2.0 * len(data)]
        elif hasattr(kept, "iloc"):
            kept.iloc[:] = np.reshape([len(data), 2.0 * len(data)], kept.shape)
        else:
            row[:] = len(data), 2.0 * len(data)
        return kept

    found = dp.tools.sensitivity(query, pairs=[([1, 2, 3], [1, 2]), ([1], [])], claimed=2, seed=0)
    assert found.largest == 3 and found.exceeded


@pytest.mark.parametrize("fold", [False, True])
def test_an_exact_reading_keeps_a_list_that_is_filled_anew(fold):
    kept = [None, None]

    def program(data, noise):
        kept[0] = noise.bernoulli(0.75) == bool(data[0])
        kept[1] = 0
        return (kept, 1) if fold else kept

    laws = [all_outputs(program, [value]) for value in (0, 1)]
    assert [sorted(law.values()) for law in laws] == [[0.25, 0.75]] * 2 and laws[0] != laws[1]


def all_outputs(program, data):
    """The law of a program's outputs by its exact reading, as texts."""
    law = {}
    plainly = functools.partial(program, data)
    for output, weight in all_traces(plainly, plainly, TraceBudget(100)):
        law[repr(output)] = law.get(repr(output), 0) + float(weight)
    return law
