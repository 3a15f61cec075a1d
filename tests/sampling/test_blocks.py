"""Do blocks give the same outputs wherever they are run, with equally many runs of both sides?"""

import dataclasses

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing.independence import drifted
from dpaudit.neighbours.digest import digest
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock, blocks_of, ramp_of
from dpaudit.sampling.play import RepeatDetector, play
from dpaudit.sampling.runs import RaisedTogetherError, outputs_of
from dpaudit.targets.mechanism import mechanism
from dpaudit.targets.signature import Shape

PAIRS = (([1], [0]),)


def experiment(function, **parameters):
    digests = tuple((digest(a), digest(b)) for a, b in PAIRS)
    return Experiment(mechanism(function), parameters, PAIRS, digests, 5)


def sampler(data, size, rng):
    return data[0] + rng.normal(size=size)


def both(side0, side1):
    return side0, side1


@pytest.mark.parametrize("shape", list(Shape))
@pytest.mark.parametrize("runs", [1, 99, 5_000, 300_000])
def test_blocks_add_up(shape, runs):
    for blocks in (
        blocks_of(shape, Phase.MEASURING, 0, runs, first=3),
        ramp_of(shape, Phase.LEARNING, 0, runs),
    ):
        assert sum(block.size for block in blocks) == runs
        assert len({block.index for block in blocks}) == len(blocks)
        assert min(block.size for block in blocks) >= 1


@pytest.mark.slow
def test_both_sides_have_equally_many_runs_in_every_block():
    assert set(_sizes(60)) == {(500, 500)}
    odd = [RunBlock(Phase.MEASURING, 0, index, 7) for index in range(20)]
    sizes = {played.sizes for played in play(experiment(sampler), odd, both)}
    assert sizes == {(3, 4), (4, 3)}


def test_a_search_may_want_other_shares():
    blocks = [RunBlock(Phase.SEARCH, 0, index, 1000, 0.2) for index in range(20)]
    found = sum(played.sizes[1] for played in play(experiment(sampler), blocks, both))
    assert abs(found - 4000) < 5 * np.sqrt(20_000 * 0.16)


def _sizes(count):
    blocks = [RunBlock(Phase.MEASURING, 0, index, 1000) for index in range(count)]
    return [played.sizes for played in play(experiment(sampler), blocks, both)]


def test_purposes_pairs_sides_and_blocks_have_streams_of_their_own():
    first = {}
    for phase in Phase:
        for index in range(3):
            (side0, side1), _ = outputs_of(experiment(sampler), RunBlock(phase, 0, index, 400))
            for side, outputs in enumerate((side0, side1)):
                centred = outputs.numbers[0][:50, 0] - PAIRS[0][side][0]
                first[phase, index, side] = tuple(np.round(centred, 9))
    assert len(set(first.values())) == len(first)


def test_a_block_is_the_same_however_often_it_is_run():
    block = RunBlock(Phase.MEASURING, 0, 4, 500)
    (a, _), _ = outputs_of(experiment(sampler), block)
    (b, _), _ = outputs_of(experiment(sampler), block)
    assert np.array_equal(a.numbers[0], b.numbers[0])


def test_a_sampler_that_returns_the_wrong_number_is_refused():
    def short(data, size, rng):
        return rng.normal(size=size - 1)

    with pytest.raises(dp.UsageError, match="was asked for size="):
        outputs_of(experiment(short), RunBlock(Phase.LEARNING, 0, 0, 100))


@pytest.mark.slow
def test_a_sampler_that_raises_is_asked_run_by_run_or_not_at_all():
    def touchy(data, size, rng):
        draws = rng.random(size)
        if np.any(draws < 0.3):
            raise ArithmeticError("too small")
        return draws

    singly = dataclasses.replace(experiment(touchy), made_as=Shape.SEEDED)
    (side0, _), reason = outputs_of(singly, RunBlock(Phase.LEARNING, 0, 0, 4_000))
    raised = side0.forms.index("raises ArithmeticError: too small")
    share = np.mean(side0.codes == raised)
    assert abs(share - 0.3) < 0.06 and reason.startswith("a sampler that raises")
    with pytest.raises(RaisedTogetherError, match="nobody can say which of them it belongs to"):
        outputs_of(experiment(touchy), RunBlock(Phase.LEARNING, 0, 0, 4_000))
    (side0, _), _ = outputs_of(experiment(touchy), RunBlock(Phase.SEARCH, 0, 0, 4_000))  # which only looks for a pair
    assert abs(np.mean(side0.codes == side0.forms.index("raises ArithmeticError: too small")) - 0.3) < 0.06


def test_opaque_sides_are_interleaved():
    order = []

    def opaque(data):
        order.append(data[0])
        return 0.0

    outputs_of(experiment(opaque), RunBlock(Phase.MEASURING, 0, 0, 1_000))
    changes = np.count_nonzero(np.diff(order))
    assert 650 < changes < 850  # in twos, each in an order of its own
    assert all(order[i] != order[i + 1] for i in range(0, 1000, 2))


def test_system_exit_is_an_output_and_an_interrupt_is_not():
    def leaves(data, rng):
        raise SystemExit(1)

    def interrupted(data, rng):
        raise KeyboardInterrupt

    (side0, _), _ = outputs_of(experiment(leaves), RunBlock(Phase.LEARNING, 0, 0, 50))
    assert side0.forms == ("raises SystemExit: #",)
    with pytest.raises(KeyboardInterrupt):
        outputs_of(experiment(interrupted), RunBlock(Phase.LEARNING, 0, 0, 50))


def test_the_watch_notices_repetition_and_lets_constants_pass():
    def constant(data, size, rng):
        return np.full(size, 3.0)

    def repeating(data, size, rng):
        return np.random.default_rng(1).normal(size=size)

    blocks = [RunBlock(Phase.MEASURING, 0, index, 600) for index in range(4)]
    assert len(list(play(experiment(constant), blocks, both, watch=RepeatDetector()))) == 4
    with pytest.raises(dp.InvalidRunsError, match="same varying sequence"):
        list(play(experiment(repeating), blocks, both, watch=RepeatDetector()))


def test_drift_is_told_from_chance():
    rng = np.random.default_rng(0)
    for _ in range(300):
        early, late = (rng.multinomial(5_000, [0.7, 0.2, 0.09, 0.01]) for _ in range(2))
        assert not drifted(early, late)
    assert drifted(np.array([3_000, 2_000]), np.array([2_000, 3_000]))
    assert not drifted(np.array([0, 0]), np.array([10, 3]))
