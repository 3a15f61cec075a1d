"""Is the worst neighbour of somebody's one dataset found, made simple, and told without a value of the data?"""

import functools
import importlib
import json

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing import race
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import Evidence
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.candidates.candidates import candidates
from dpaudit.report import console_summary, html_page
from dpaudit.review.check import check, passes

pytestmark = [pytest.mark.usefixtures("undrawn"), pytest.mark.slow]

CLAIM = "epsilon=1"
AGES = [31.0, 42.515625, 57.0, 29.0, 63.25, 48.0, 36.0, 51.0]
PLACES = ["Zanzibar", "Ouagadougou"]


def unclipped(data, size, rng):
    return sum(data) + rng.laplace(0, 100.0, size)


def clipped(data, size, rng):
    return np.nansum(np.clip(np.asarray(data, dtype=float), 0, 100)) + rng.laplace(0, 100.0, size)


def audited(function, data=AGES, **asked):
    asked = {"claim": CLAIM, "runs": 10_000, "floating_point": "ignore", **asked}
    return dp.audit(function, data=data, **asked)


@functools.cache
def found(function):
    """What an audit of AGES finds, found once."""
    return audited(function)


def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"age": AGES, "place": PLACES * 4})


@pytest.mark.nightly
def test_what_is_wrong_with_one_dataset_is_found_and_its_twin_is_let_alone():
    wrong, right = found(unclipped), found(clipped)

    assert wrong.verdict is dp.Verdict.VIOLATED and right.verdict is dp.Verdict.NOT_VIOLATED
    assert wrong.relation == "add-remove"
    assert wrong.search.source == "data" and wrong.search.candidates > 10
    assert all(passes(check(evidence)) for evidence in (wrong, right))


def test_the_mechanisms_own_relation_comes_first():
    made = dp.mechanism(clipped, relation="replace")

    assert audited(made, runs=2_000).relation == "replace"
    assert audited(made, runs=2_000, relation="add-remove").relation == "add-remove"


@pytest.mark.nightly
def test_a_declared_domain_is_kept_to_unless_asked():
    inside = audited(unclipped, domain=(0.0, 100.0), seed=1, runs=10_000)
    beyond = audited(unclipped, domain=(0.0, 100.0), beyond_domain=True)

    assert inside.verdict is dp.Verdict.NOT_VIOLATED
    assert beyond.verdict is dp.Verdict.VIOLATED
    assert inside.search.domain == '{"$tuple":[0.0,100.0]}' and not inside.search.beyond


@pytest.mark.nightly
def test_a_weak_spot_far_from_the_data_is_climbed_to():
    """No record of the data, and no extreme of the domain, is anywhere near 37."""

    def bump(data, size, rng):
        spot = np.sqrt(1369)  # 37, which stands nowhere in the code
        return np.sum(3 * np.exp(-(((np.asarray(data) - spot) / 4) ** 2))) + rng.laplace(0, 1, size)

    data = [float(value) for value in range(10)]
    evidence = audited(bump, data, domain=(0.0, 100.0), runs=40_000)

    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.search.climbed > 50
    assert evidence.search.found == "a pair of small datasets over the domain"
    assert "hypothesis" in evidence.versions
    assert passes(check(evidence))


@pytest.mark.nightly
def test_the_pair_is_made_simple_while_it_tells_as_much():
    sizes = []

    def half(data, size, rng):
        sizes.append(len(data))
        return len(data) + rng.laplace(0, 0.5, size)

    evidence = audited(half, [1.0] * 64, runs=30_000)

    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.search.shrunk > 0
    assert max(sizes[-2:]) <= 16 < max(sizes)  # what runs last is what was measured
    few, more = sorted(evidence.search.records)
    assert more == few + 1 <= 16
    assert f"{evidence.search.records[0]} against {evidence.search.records[1]} record" in console_summary(evidence)


@pytest.mark.nightly
def test_what_shows_only_on_many_records_keeps_many():
    sizes = []

    def crowded(data, size, rng):
        sizes.append(len(data))
        return max(len(data) - 20, 0) + rng.laplace(0, 0.5, size)

    evidence = audited(crowded, [1.0] * 64, runs=40_000)

    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.search.shrunk > 0
    assert 20 <= max(sizes[-2:]) < 64


def test_nothing_is_made_simpler_where_nothing_is_wrong():
    assert found(clipped).search.shrunk == 0


def test_evidence_and_page_hold_no_value_of_the_data():
    def count(data, size, rng):
        return len(data) + rng.laplace(0, 0.4, size)

    evidence = audited(count, frame())
    texts = (evidence.to_json(), html_page(evidence), console_summary(evidence))

    assert evidence.verdict is dp.Verdict.VIOLATED
    assert not [word for word in (*PLACES, "42.515625") for text in texts if word in text]
    assert (evidence.pairs[0].shown0, evidence.pairs[0].data0, evidence.search.kept) == (None, None, None)


def test_pages_say_how_the_pair_was_found():
    evidence = found(unclipped)
    page, text = html_page(evidence), console_summary(evidence)

    assert "How the pair was found" in page and "never shows" in page
    assert "neighbours of the data" in page and "neighbours of the data" in " ".join(text.split())
    assert f"{evidence.search.runs:,} searching" in text
    assert "--data data.json" in text


def test_a_function_that_changes_its_data_is_refused():
    def sorts(data, size, rng):
        data.sort()
        return data[0] + rng.laplace(size=size)

    with pytest.raises(dp.UsageError, match="changes its data"):
        audited(sorts, list(AGES))


def test_a_function_that_changes_frames_now_and_then_is_refused():
    def fills(data, size, rng):
        if len(data) >= len(AGES):
            data["age"] = data["age"] * 2
        return data["age"].clip(0, 100).sum() + rng.laplace(0, 100, size)

    with pytest.raises(dp.UsageError, match="changes its data"):
        audited(fills, frame())


def test_a_function_that_raises_on_the_data_is_refused():
    def fails(data, size, rng):
        raise KeyError("body_mass")

    with pytest.raises(dp.UsageError, match=r"raises in every run.*body_mass"):
        audited(fails)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"pairs": [([1.0], [])]}, "give one of them"),
        ({"relation": "declared"}, "declared"),
        ({"beyond_domain": True}, "declare one"),
        ({"runs": 500}, "at least 1,000 runs"),
        ({"domain": {"weight": (0, 1)}}, "columns"),
    ],
)
def test_what_cannot_be_searched_is_refused(asked, said):
    with pytest.raises(dp.UsageError, match=said):
        audited(clipped, **asked)


def test_what_lies_beyond_a_domain_needs_data():
    with pytest.raises(dp.UsageError, match="give data too"):
        dp.audit("laplace", domain=(0, 1), beyond_domain=True)


def test_a_domain_is_not_for_pairs_that_are_given():
    with pytest.raises(dp.UsageError, match="give one of them"):
        dp.audit("laplace", domain=(0, 1), pairs=[([0], [1])])


def test_few_pairs_of_a_long_list_cannot_be_searched_with_few_runs():
    with pytest.raises(dp.UsageError, match="a search among 40 pairs takes at least"):
        dp.audit(clipped, pairs=[([1.0], [2.0])] * 40, search=True, relation="replace", runs=2_000)


# --- evidence ---------------------------------------------------------------------------------------------


def _replayed(evidence, **given):
    return dp.replay(evidence, target=clipped, **given)


def test_a_search_is_replayed_from_the_data_given_or_kept():
    evidence, kept = audited(clipped, runs=2_000), audited(clipped, runs=2_000, keep_data=True, domain=(0.0, 100.0))

    assert _replayed(evidence, data=AGES).identical
    assert _replayed(kept).identical
    with pytest.raises(dp.UsageError, match=r"--data FILE, or dp.replay\(evidence, data=…\)"):
        _replayed(evidence)
    with pytest.raises(dp.UsageError, match="its digest differs"):
        _replayed(evidence, data=AGES[1:])


def test_a_search_within_a_time_budget_is_replayed():
    evidence = audited(clipped, time_budget=0.15)

    assert evidence.budget >= 1_000
    assert audited(clipped, runs=evidence.budget, seed=evidence.seed).id == evidence.id
    assert _replayed(evidence, data=AGES).identical


def test_a_search_among_given_pairs_is_replayed():
    pairs = [([0.0], [float(far)]) for far in (10, 90, 30)]
    asked = {"search": True, "claim": CLAIM, "relation": "replace", "runs": 4_000}
    evidence, kept = dp.audit(clipped, pairs=pairs, **asked), dp.audit(clipped, pairs=pairs, keep_data=True, **asked)

    assert _replayed(evidence, pairs=pairs).identical
    assert _replayed(kept).identical
    with pytest.raises(dp.UsageError, match="--pair FILE"):
        _replayed(evidence)


@functools.cache
def searched_ages():
    return audited(clipped, runs=4_000).to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"source": "elsewhere"},
        {"source": "mechanism"},
        {"candidates": 1},
        {"raised": 10_000},
        {"runs": 3},
        {"found": "another"},
        {"tried": []},
        {"shrunk": -1},
        {"records": [1, 2]},
        {"data": None},
        {"beyond": True},
        {"domain": "nothing"},
        {"kept": "[1.0]"},
    ],
)
def test_a_search_that_cannot_have_been_is_noticed(change):
    document = json.loads(searched_ages())
    document["evidence"]["search"].update(change)
    document["id"] = content_id(document["evidence"])
    evidence = Evidence.from_json(json.dumps(document))

    assert not passes(check(evidence))


def test_a_pair_that_nobody_found_is_noticed():
    document = json.loads(searched_ages())
    del document["evidence"]["search"]
    document["id"] = content_id(document["evidence"])

    assert not passes(check(Evidence.from_json(json.dumps(document))))


# --- a domain alone ---------------------------------------------------------------------------------------


def first_alone(data, size, rng):
    """Publish a sum, and say so where the only record is a 3."""
    return np.where(data == [3], 1_000, sum(data)) + rng.laplace(0, 3.0, size)


def summed(data, size, rng):
    return sum(data) + rng.laplace(0, 3.0, size)


@pytest.mark.nightly
def test_all_tiny_datasets_over_a_domain_are_searched():
    wrong, right = (dp.audit(each, claim=CLAIM, domain=[0, 1, 2, 3], runs=6_000) for each in (first_alone, summed))

    assert wrong.verdict is dp.Verdict.VIOLATED and right.verdict is dp.Verdict.NOT_VIOLATED
    assert wrong.relation == "add-remove" and wrong.search.source == "domain" and wrong.search.data is None
    assert any("[3]" in (pair.shown0, pair.shown1) for pair in wrong.pairs)  # made over the domain: nobody's data
    assert all(passes(check(evidence)) for evidence in (wrong, right))
    assert "pairs of datasets over the domain" in console_summary(wrong, width=400)
    assert "--data" not in console_summary(wrong, width=400)


def test_a_search_over_a_domain_is_replayed_without_data():
    evidence = dp.audit(summed, claim=CLAIM, domain={"values": [0, 1]}, runs=4_000)

    assert dp.replay(evidence, target=summed).identical


def test_answers_over_a_domain_are_moved():
    evidence = dp.audit(summed, claim=CLAIM, relation="queries", domain=(0, 3), runs=4_000)

    assert evidence.search.source == "domain" and evidence.relation.startswith("queries")


def test_a_function_that_changes_datasets_over_a_domain_is_refused():
    def sorts(data, size, rng):
        data.append(0)
        return rng.laplace(0, 1.0, size)

    with pytest.raises(dp.UsageError, match="changes its data"):
        dp.audit(sorts, claim=CLAIM, domain=(0, 1), runs=4_000)


def test_data_with_a_domain_are_searched_with_all_tiny_datasets_too():
    evidence = audited(first_alone, data=[7, 7, 7, 7], domain={"values": [3, 7]}, runs=15_000)

    assert evidence.verdict is dp.Verdict.VIOLATED


def test_tiny_datasets_beside_data_are_named_by_declared_columns_alone():
    data = frame().astype({"place": "category"})
    names = [one.name for one in candidates(data, "add-remove", domain={"age": (0.0, 100.0)}) if one.kind == "tiny"]

    assert names and all("age=" in name for name in names)
    assert not any(word in name for name in names for word in (*PLACES, "place"))


@functools.cache
def searched_domain():
    return dp.audit(summed, claim=CLAIM, domain=(0, 3), runs=4_000).to_json()


@pytest.mark.parametrize("change", [{"domain": None}, {"data": "0" * 64}])
def test_a_search_over_a_domain_that_cannot_have_been_is_noticed(change):
    document = json.loads(searched_domain())
    document["evidence"]["search"].update(change)
    document["id"] = content_id(document["evidence"])

    assert not passes(check(Evidence.from_json(json.dumps(document))))


def test_the_same_pairs_are_drawn_whatever_modules_are_loaded(tmp_path, monkeypatch):
    drawn = []

    def look(pair):
        drawn[-1].append(repr(pair))
        return 0.0

    for name in ("", "odd_constants"):
        if name:
            (tmp_path / f"{name}.py").write_text(f"NUMBERS = {[777_000 + number for number in range(300)]}")
            monkeypatch.syspath_prepend(tmp_path)
            importlib.import_module(name)
        drawn.append([])
        race._climbed(look, [1, 2, 3], (0, 10**6), parse_relation("add-remove"), 60)
    assert drawn[0] == drawn[1] and "777" not in str(drawn)
