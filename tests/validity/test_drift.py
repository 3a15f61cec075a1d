"""Are runs whose law changes on the way noticed, and runs of one law left in peace?"""

import itertools

import msgspec
import numpy as np
import pytest
from scipy.stats import hypergeom

import dpaudit as dp
from dpaudit.auditing.dependence import hanging_together, order_of_runs, together
from dpaudit.auditing.independence import drifted
from dpaudit.auditing.pair import measure_event
from dpaudit.auditing.question import validated
from dpaudit.events import identities
from dpaudit.evidence.event import Coordinate, Event, Rule
from dpaudit.report.view import view
from dpaudit.request import AuditRequest
from dpaudit.review.check import check, passes
from dpaudit.sampling.checkpoint import Phase
from dpaudit.sampling.outputs import from_list

pytestmark = pytest.mark.slow


def question_about(release, seed=0):
    return validated(AuditRequest(release, claim="epsilon=1", pairs=[(1, 0)], relation="declared", seed=seed))


@pytest.mark.parametrize(("early", "late"), [(30, 30), (10, 50)])
@pytest.mark.parametrize("hits", [1, 7, 30, 50])
def test_the_chance_of_a_false_alarm_over_all_orders(early, late, hits):
    # a cell with so many of the runs: how many are early is hypergeometric where the order does not matter
    error = 0.2
    k = np.arange(max(0, hits - late), min(hits, early) + 1)
    alarm = [drifted(np.array([x, early - x]), np.array([hits - x, late - hits + x]), error) for x in k]
    assert np.sum(hypergeom.pmf(k, early + late, early, hits) * alarm) <= error


def test_runs_of_one_law_with_many_cells_raise_no_alarm():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(200):
        weights = rng.dirichlet(np.full(60, 0.3))
        alarms += drifted(rng.multinomial(5000, weights), rng.multinomial(9000, weights), 0.05)
    assert alarms <= 20


def test_a_change_is_noticed_in_one_cell_and_spread_over_many():
    assert drifted(np.array([500, 500]), np.array([800, 200]))
    many = np.full(100, 200)
    shifted = many + np.where(np.arange(100) < 50, 25, -25)
    assert drifted(many, shifted)
    assert not drifted(many, many)


def test_without_runs_nothing_has_drifted():
    assert not drifted(np.array([0, 0]), np.array([5, 5]))
    assert not drifted(np.array([5, 5]), np.array([0, 0]))
    assert not drifted(np.array([0, 0]), np.array([0, 0]))


def unique(data, rng):
    """A category that no other run shows."""
    return f"{rng.integers(2**60):x} of {data}"


def test_categories_that_never_come_again_are_no_drift():
    evidence = dp.audit(unique, claim="epsilon=1", pairs=[(0, 0)], relation="declared", runs=4_000, seed=0)
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE


def test_categories_that_begin_to_change_are_a_drift():
    calls = []

    def changing(data):
        calls.append(None)
        return "the same" if len(calls) < 700 else str(len(calls))

    evidence = dp.audit(changing, claim="epsilon=1", pairs=[(0, 0)], relation="declared", runs=4_000, seed=0)
    assert evidence.verdict is dp.Verdict.INVALID and "drift" in evidence.reason


@pytest.mark.parametrize("size", [300, 3_000, 10_000])
def test_a_store_of_noise_that_is_used_again_is_invalid(size):
    """Each output alone is exactly ε = 1; there are but ``size`` draws, however many runs are made."""
    store, calls = np.random.default_rng(size).laplace(0, 1, size), itertools.count()
    evidence = dp.audit(
        lambda data: float(data[0] + store[next(calls) % size]),
        claim="epsilon=1",
        pairs=[([1.0], [0.0])],
        relation="declared",
        runs=40_000,
        seed=0,
        floating_point="ignore",
    )
    assert evidence.verdict is dp.Verdict.INVALID and "hang together" in evidence.reason


def texts(data, size, rng):
    """One of ten thousand texts, as likely as any other."""
    return [f"c{i}" for i in rng.integers(10**4, size=size)]


@pytest.mark.nightly
def test_many_texts_are_no_drift():
    evidence = dp.audit(texts, claim="epsilon=1", pairs=[(0, 0)], relation="declared", runs=20_000, seed=0)
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED


class Flips:
    """Randomised response, ε = 1 in every output, whose flip is drawn anew every eighth call."""

    def __init__(self):
        self.calls = 0
        self.rng = np.random.default_rng(5)

    def flip(self, rng):
        if self.calls % 8 == 0:
            self.held = rng.random() < 1 / (1 + np.e)
        self.calls += 1
        return self.held


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("shape", "sequential"),
    [("seeded", False), ("opaque", False), ("sampler", False), ("seeded", True), ("opaque", True)],
)
def test_runs_that_share_their_noise_are_invalid(shape, seed, sequential):
    flips = Flips()
    functions = {
        "seeded": lambda data, rng: data ^ int(flips.flip(rng)),
        "opaque": lambda data: data ^ int(flips.flip(flips.rng)),
        "sampler": lambda data, size, rng: data ^ np.array([int(flips.flip(rng)) for _ in range(size)]),
    }
    evidence = dp.audit(
        functions[shape],
        claim="epsilon=1",
        pairs=[(1, 0)],
        relation="declared",
        runs=2_000,
        seed=seed,
        sequential=sequential,
        floating_point="ignore",
    )
    assert evidence.verdict is dp.Verdict.INVALID
    assert "hang together" in evidence.reason and "from one call to the next" in evidence.reason


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_recorded_outputs_that_share_their_noise_are_invalid(seed):
    rng = np.random.default_rng(seed)
    flips = [np.repeat(rng.random(100) < 1 / (1 + np.e), 8) for _ in range(2)]
    evidence = dp.tools.audit_outputs((1 ^ flips[0]).tolist(), (0 ^ flips[1]).tolist(), claim="epsilon=1", seed=seed)
    assert evidence.verdict is dp.Verdict.INVALID and "hang together" in evidence.reason
    assert evidence.lower.value == 0 and not evidence.attempts


def test_recorded_outputs_that_were_sorted_say_that_their_order_is_lost():
    rng = np.random.default_rng(0)
    scores = np.sort(rng.normal(size=400)), np.sort(rng.normal(size=400))
    evidence = dp.tools.audit_scores(*scores, claim="epsilon=1, delta=1e-5", seed=0, design="independent")
    assert evidence.verdict is not dp.Verdict.INVALID
    assert any("sorted" in assumption for assumption in evidence.assumptions)
    assert passes(list(check(evidence)))
    alone = tuple(each for each in evidence.assumptions if "sorted" not in each)
    assert not passes(list(check(msgspec.structs.replace(evidence, assumptions=alone))))


@pytest.mark.parametrize("sequential", [False, True])
def test_a_release_that_remembers_its_draw_is_named(sequential):
    rng, known = np.random.default_rng(0), {}

    def remembered(data):
        return known.setdefault(data, data + rng.laplace())

    evidence = dp.audit(
        remembered,
        claim="epsilon=1",
        pairs=[(0, 1)],
        relation="declared",
        runs=2_000,
        seed=0,
        sequential=sequential,
        floating_point="ignore",
    )
    assert evidence.constant == (0,)
    found = next(found for found in view(evidence).beside if found.label == "same output")
    assert found.is_urgent == (evidence.verdict is dp.Verdict.VIOLATED)


def test_recorded_outputs_that_never_vary_are_named():
    assert dp.tools.audit_outputs([1] * 50, [2] * 50, claim="epsilon=1", seed=0).constant == (0,)
    assert dp.tools.audit_outputs([1] * 50, [1] * 49 + [2], claim="epsilon=1", seed=0).constant == ()


class Shares:
    """Randomised response, ε = 1 in every output and independent within each side, whose flip serves two calls."""

    def __init__(self):
        self.flips, self.rng = Flips(), np.random.default_rng(7)

    def __call__(self, data):
        if self.flips.calls % 2 == 0:
            self.flip = self.rng.random() < 1 / (1 + np.e)
        self.flips.calls += 1
        return data ^ int(self.flip)


def chain(keep):
    """A flip that is kept with this chance from one call to the next."""
    rng, held = np.random.default_rng(11), [False]

    def release(data):
        if rng.random() > keep:
            held[0] = rng.random() < 1 / (1 + np.e)
        return data ^ int(held[0])

    return release


ASKED = {"claim": "epsilon=1", "pairs": [(1, 0)], "relation": "declared", "floating_point": "ignore"}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("sequential", [False, True])
def test_sides_that_share_their_noise_are_invalid(seed, sequential):
    shares = Shares()
    evidence = dp.audit(lambda data: shares(data), **ASKED, runs=4_000, seed=seed, sequential=sequential)
    assert evidence.verdict is dp.Verdict.INVALID and "of the two sides hang together" in evidence.reason


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_recorded_sides_that_share_their_noise_are_invalid(seed):
    noise = np.random.default_rng(seed).normal(size=400)
    evidence = dp.tools.audit_scores(noise, 1 + noise, claim="mu=1", seed=seed, design="independent")
    assert evidence.verdict is dp.Verdict.INVALID and "they share noise" in evidence.reason


@pytest.mark.parametrize("release", [Shares(), chain(0.5), chain(0.9)], ids=["shared", "kept half", "kept 9 of 10"])
def test_a_second_look_at_runs_that_share_their_noise_is_refused(release):
    """An event that was known before, as of a second look or of a replay, counted on an opaque function."""
    question = question_about(lambda data: release(data))
    event = Event("likelihood", (Rule("int", Coordinate(0), (0.5,), (1, -1)),))
    with pytest.raises(dp.InvalidRunsError, match="hang together"):
        measure_event(question, 0, event, 4_000, Phase.SECOND_LOOK)


@pytest.mark.parametrize("seed", range(3))
def test_a_second_look_at_independent_runs_is_not_refused(seed):
    rng = np.random.default_rng(seed)
    question = question_about(lambda data: data + rng.laplace(), seed)
    event = Event("likelihood", (Rule("float", Coordinate(0), (0.0, 0.5, 1.0), (1, 0, 0, -1)),))
    assert sum(measure_event(question, 0, event, 4_000, Phase.SECOND_LOOK).runs) == 4_000


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "kind", [Flips, lambda: chain(0.5), lambda: chain(0.95)], ids=["held 8", "kept half", "kept .95"]
)
def test_a_sequential_audit_looks_at_enough_runs(kind, seed):
    """VIOLATED of 12 seeds each (sequential, 3,000 runs), by how many runs of a pair are looked at before that is said.

    ============================  ===  =====  =====
    randomised response, ε = 1    512  1,024  2,048
    ============================  ===  =====  =====
    flip serves 2, 4, 8, 16 calls   0      0      0
    flip serves 64 calls            4      0      0
    flip kept with chance .5        1      0      0
    flip kept with chance .8        0      0      0
    flip kept with chance .95       2      0      0
    ============================  ===  =====  =====
    """
    made = kind()
    release = made if not isinstance(made, Flips) else lambda data: data ^ int(made.flip(made.rng))
    evidence = dp.audit(lambda data: release(data), **ASKED, runs=3_000, seed=20 + seed, sequential=True)
    assert evidence.verdict is dp.Verdict.INVALID


EVENT = Event("likelihood", (Rule("float", Coordinate(0), (0.0, 1.0), (1, 0, -1)),))


def stored(store):
    """Laplace noise from a store that was drawn beforehand and can be begun anew; each output is exactly ε = 1."""
    calls = itertools.count()

    def release(data):
        return float(data + store[next(release.calls) % len(store)])

    release.calls = calls
    return release


@pytest.mark.parametrize("begins", ["anew", "somewhere"])
@pytest.mark.parametrize("earlier", [Phase.LEARNING, Phase.MEASURING])
def test_a_look_that_repeats_the_noise_of_an_earlier_one_is_invalid(earlier, begins):
    """Within each look nothing comes back; the second one repeats the luck of the first."""
    release = stored(np.random.default_rng(5).laplace(0, 1, 100_000))
    question = question_about(release)
    measure_event(question, 0, EVENT, 6_000, earlier)
    release.calls = itertools.count(0 if begins == "anew" else 1_234)
    with pytest.raises(dp.InvalidRunsError, match="come back, to the last bit"):
        measure_event(question, 0, EVENT, 12_000, Phase.SECOND_LOOK)


def test_measuring_runs_that_repeat_the_learning_runs_are_invalid():
    """As where an audit is resumed in a process whose own generator begins as it did before."""
    store = np.random.default_rng(3).laplace(0, 1, 40_000)
    release = stored(store)
    learning = 2_000

    def begins_again(data):
        place = next(release.calls)
        return float(data + store[place if place < learning else place - learning])

    asked = {"claim": "epsilon=1", "pairs": [(1, 0)], "relation": "declared", "floating_point": "ignore"}
    evidence = dp.audit(begins_again, **asked, runs=5 * learning, seed=1)
    assert evidence.verdict is dp.Verdict.INVALID and "come back" in evidence.reason
    release.calls = itertools.count()
    assert dp.audit(release, **asked, runs=5 * learning, seed=1).verdict is not dp.Verdict.INVALID


def test_a_block_of_a_second_look_that_repeats_one_of_the_first_is_invalid():
    """A sampler that draws from one of two streams: each block alone is well, and no stream may come twice."""

    def two_streams(data, size, rng):
        return data + np.random.default_rng([rng.integers(2), data]).laplace(size=size)

    question = question_about(two_streams)
    looks = (measure_event(question, 0, EVENT, 2_000, Phase(phase)) for phase in (0, 1, 7))
    with pytest.raises(dp.InvalidRunsError, match="same varying sequence"):
        list(looks)


def test_many_texts_in_many_blocks_do_not_hang_together():
    """Outputs were known by the order in which their forms came in a block, so that other texts passed for the same."""
    rng = np.random.default_rng(0)
    blocks = [from_list([f"c{i}" for i in rng.integers(3_000, size=1_024)]) for _ in range(64)]
    known = [identities(block) for block in blocks]
    orders = [order_of_runs(np.zeros(1_024, dtype=np.int64), each) for each in known]
    assert hanging_together(together(orders)) is None
    forms = {}
    for block, each in zip(blocks, known, strict=True):
        for code, number in zip(block.codes, each, strict=True):
            assert forms.setdefault(block.forms[code], number) == number
    assert len(set(forms.values())) == len(forms)


@pytest.mark.parametrize(("size", "runs"), [(300, 4_000), (3_000, 6_000), (5_000, 10_000)])
def test_a_store_of_flips_that_is_used_again_is_invalid(size, runs):
    """Outputs of two values come back all the time; that they do so in the order of a store is seen."""
    flips, calls = np.random.default_rng(size).random(size) < 1 / (1 + np.e), itertools.count()
    asked = {"claim": "epsilon=1", "pairs": [(1, 0)], "relation": "declared", "seed": 0}
    evidence = dp.audit(lambda data: data ^ int(flips[next(calls) % size]), **asked, runs=runs)
    assert evidence.verdict is dp.Verdict.INVALID and "hang together" in evidence.reason


@pytest.mark.parametrize("size", [9_500, 6_000])
def test_a_second_look_at_a_store_of_flips_that_begins_again_is_invalid(size):
    """Of 900 audits of 6,000 runs with a store of 6,000 flips, 7 were VIOLATED, where 1 in 1,000 is promised."""
    flips, calls = np.random.default_rng(size).random(size) < 1 / (1 + np.e), itertools.count()
    release = lambda data: data ^ int(flips[next(calls) % size])  # noqa: E731
    question = question_about(release)
    event = Event("likelihood", (Rule("int", Coordinate(0), (0.5,), (1, -1)),))
    measure_event(question, 0, event, 6_000, Phase.MEASURING)
    with pytest.raises(dp.InvalidRunsError, match=f"agree with those {size:,} calls before them"):
        measure_event(question, 0, event, 9_000, Phase.SECOND_LOOK)
