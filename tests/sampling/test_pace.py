"""Is it said how long an audit takes, in time and not in vain?"""

import time

import pytest

import dpaudit as dp
from dpaudit.cli.files import Estimator, duration


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def heard(steps, total):
    """Tell a `Estimator` of (seconds, stage, runs done) and return what it says."""
    clock = Clock()
    estimator = Estimator(clock)
    said = []
    for seconds, stage, done in steps:
        clock.now = seconds
        said.append(estimator.update(stage, done, total))
    return [text for text in said if text is not None]


def test_a_slow_function_is_foreseen_from_a_second_span_of_a_few_runs():
    steps = [(second, "learning", second) for second in range(1, 8)]
    assert heard(steps, 400_007) == [
        "about 4.6 days to go, for 400,000 runs at 1 s each; --time-budget 60 looks with as many as fit into a minute"
    ]
    assert heard([(0.5, "learning", 500), (3, "learning", 3_000), (6, "learning", 6_000)], 406_000) == [
        "about 6.7 minutes to go, for 400,000 runs at 1 ms each"
    ]


def test_slow_first_runs_do_not_foretell_a_long_wait():
    """Ten runs a second at first, and a thousand afterwards: what is said is what comes."""
    slow = [(0.5, "learning", 5), (3, "learning", 30)]
    assert heard([*slow, (6, "learning", 3_030)], 8_030) == []
    assert heard([*slow, (6, "learning", 3_030)], 63_030) == ["about 60 seconds to go, for 60,000 runs at 1 ms each"]


def test_what_is_loaded_first_is_no_part_of_the_speed():
    assert heard([(2.5, "learning", 256), (2.6, "learning", 1_000), (4.6, "learning", 100_000)], 1_000_000) == []


def test_nothing_is_said_of_what_is_soon_over_or_not_yet_known():
    assert heard([(1, "learning", 1_000)], 400_000) == []
    assert heard([(5, "learning", 1)], 400_000) == []
    assert heard([(3, "learning", 200_000), (9, "measuring", 390_000)], 400_000) == []
    assert heard([(2, "learning", 10), (4, "learning", 10)], 10) == []


def test_finished_blocks_tell_nothing_of_the_speed():
    steps = [(1, "resumed", 50_000), (2, "resumed", 100_000), (6, "learning", 100_400), (10, "learning", 100_800)]
    assert heard(steps, 200_800) == [
        "about 17 minutes to go, for 100,000 runs at 10 ms each; "
        "--time-budget 60 looks with as many as fit into a minute"
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.01, "0.1 seconds"), (90, "90 seconds"), (252, "4.2 minutes"), (9_000, "2.5 hours"), (4e5, "4.6 days")],
)
def test_spans_of_time(seconds, text):
    assert duration(seconds) == text


@pytest.mark.slow
@pytest.mark.parametrize("asks", ["rng", "nothing"])
def test_a_listener_hears_within_the_first_block_of_a_slow_function(asks):
    def slow(data, rng):
        time.sleep(0.01)
        return len(data) + rng.random()

    told = []

    def listen(stage, done, total):
        told.append((stage, done, total))
        if len(told) > 3:
            raise KeyboardInterrupt

    function = slow if asks == "rng" else lambda data: slow(data, __import__("random"))
    with pytest.raises(KeyboardInterrupt):
        dp.audit(function, claim="epsilon=1", pairs=[([1], [])], relation="add-remove", runs=5_000, listen=listen,
                 reading="calls")  # fmt: skip
    runs = [done for _, done, _ in told]
    assert runs == sorted(set(runs))
    assert 0 < runs[-1] < 256
    assert {stage for stage, _, _ in told} <= {"starting", "learning"}


@pytest.mark.slow
def test_whoever_listens_changes_nothing():
    def seeded(data, rng):
        return len(data) + rng.laplace()

    asked = {"claim": "epsilon=1", "pairs": [([1], [])], "relation": "add-remove", "runs": 5_000}
    assert dp.audit(seeded, listen=lambda *_: None, **asked).id == dp.audit(seeded, **asked).id
