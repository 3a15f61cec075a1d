"""Do the parts of a search do what each is there for? Against scouts whose predictions are known."""

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing.race import RacedPair, _climbed, shrink
from dpaudit.neighbours.candidates.candidates import candidates
from dpaudit.neighbours.digest import digest

pytestmark = pytest.mark.slow


class Known:
    """A race whose looks at a pair are told beforehand, one after the other; the last one stays."""

    def __init__(self, looks):
        self.looks, self.runs = {name: list(told) for name, told in looks.items()}, 0

    def shown_by(self, number, pair, runs):
        self.runs += 2 * runs
        told = self.looks[pair]
        return told.pop(0) if len(told) > 1 else told[0]


def shrunk(looks, simpler, runs=60_000):
    found = RacedPair(0, "", lambda: "large", predicted=2.0)
    return shrink(Known(looks), found, lambda pair: simpler.get(pair, []), 1.0, runs)


def test_a_simpler_pair_that_shows_as_much_takes_its_place():
    looks = {"large": [2.0], "small": [1.9], "smaller": [1.8], "least": [1.1]}
    simpler = {"large": ["least", "small"], "small": ["least", "smaller"], "smaller": ["least"]}
    assert shrunk(looks, simpler) == ("smaller", 2)


def test_a_simpler_pair_that_was_only_lucky_does_not():
    """At the last look it shows little, and the pair that was found stays."""
    assert shrunk({"large": [2.0], "small": [2.5, 1.1]}, {"large": ["small"]}) == ("large", 0)


def test_what_no_longer_shows_more_than_the_claim_is_left_as_it_is():
    """Found by luck: the first look of its own says so."""
    assert shrunk({"large": [0.9], "small": [2.0]}, {"large": ["small"]}) == ("large", 0)


@pytest.mark.parametrize("runs", [500, 1_500])
def test_no_more_is_spent_than_is_allowed(runs):
    race = Known({"large": [2.0], "small": [1.9]})
    shrink(race, RacedPair(0, "", lambda: "large", predicted=2.0), lambda pair: ["small"], 1.0, runs)
    assert race.runs <= runs


def test_climbing_goes_on_from_what_shows_most():
    """Higher and higher: by chance alone, 150 small datasets do not come near."""
    weights = np.arange(1, 7)

    def look(pair):
        held = sorted(pair[1])[:6]
        return -float(
            sum(abs(value - 700 * weight) for value, weight in zip(held, weights, strict=False))
            + 5_000 * (6 - len(held))
        )

    pair, tried = _climbed(look, None, (0, 5_000), dp.tools.Relation("add-remove"), 400)
    assert tried <= 400
    assert look(pair) > -200


def test_what_moves_the_query_farthest_is_among_few_candidates():
    data = [float(value) for value in range(40)]
    last = candidates(data, "add-remove", limit=500)[-1]
    moved = digest(last.pair()[1])

    def query(data):
        return 50.0 if digest(data) == moved else 0.0

    def release(data, size, rng):
        return query(data) + rng.laplace(0, 1.0, size)

    made = dp.mechanism(release, query=query, sensitivity=1, relation="add-remove", claim="epsilon=1")
    evidence = dp.audit(made, data=data, runs=1_500)
    assert evidence.search.candidates == 5
    assert evidence.search.tried[0].name == last.name


def test_a_search_among_the_mechanisms_own_pairs_is_replayed():
    pairs = [([0.0], [far]) for far in (0.5, 2.0, 0.25)]
    made = dp.mechanism(
        lambda data, size, rng: rng.laplace(data[0], 1.0, size), pairs=pairs, relation="replace", claim="epsilon=1"
    )
    evidence = dp.audit(made, search=True, runs=4_000)
    assert evidence.search.source == "mechanism"
    assert dp.replay(evidence, target=made).identical


def test_climbing_leaves_nothing_in_the_working_directory(tmp_path, monkeypatch):
    """Hypothesis keeps tables in a folder of the working directory, unless it is told where else."""
    from hypothesis import configuration

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(configuration, "__hypothesis_home_directory", None)
    monkeypatch.setattr(configuration, "__hypothesis_home_directory_default", tmp_path / ".hypothesis")
    _climbed(lambda pair: float(len(pair[0])), None, ["a", "b"], dp.tools.Relation("add-remove"), 20)
    _climbed(lambda pair: float(len(pair[0])), None, (0, 9), dp.tools.Relation("add-remove"), 20)
    assert list(tmp_path.iterdir()) == []
    assert getattr(configuration, "__hypothesis_home_directory") is None
