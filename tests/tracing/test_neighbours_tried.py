# ruff: noqa: NPY002 – targets draw from what people draw from
"""Is the pair found on which a function goes wrong, is what is tried counted, and does an edge hide nothing?"""

import json
import math
import os
import re
import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.neighbours.candidates.candidates import chosen
from dpaudit.neighbours.candidates.exhaustive import on_fewer_records
from dpaudit.neighbours.relation import change_in_words, parse_relation
from dpaudit.program.laws import DISCRETE_LAPLACE, EXPONENTIAL, GAUSSIAN, LAPLACE
from dpaudit.report.text.findings import trace_line, trace_story
from dpaudit.report.text.verdict import headline
from dpaudit.review.check import check, passes
from dpaudit.targets.mechanism import mechanism
from dpaudit.tracing.certain import CertainStep, loss_of
from dpaudit.tracing.runs import FollowedTarget
from dpaudit.tracing.search import worst_pair

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(5)
PEOPLE = pd.DataFrame({
    "age": RNG.integers(18, 90, 60), "pay": np.round(RNG.normal(50, 9, 60), 1), "who": RNG.integers(0, 30, 60),
    "city": RNG.choice(list("abc"), 60),
})  # fmt: skip


def traced(function, data=PEOPLE, **more):
    return dp.trace(function, **{"data": data, "claim": "epsilon=1", "runs": 0, "seed": 1, "candidates": 100, **more})


def band(df):
    inside = df["age"].between(61, 64) & df["pay"].between(70, 75) & (df["city"] == "b")
    return inside.sum() + np.random.laplace(0, 0.5)


def first_of_each(df):
    return df.drop_duplicates("who")["pay"].clip(-100, 100).sum() + np.random.laplace(0, 100)


def first_row_counts_twice(df):
    pay = df["pay"].clip(0, 100).to_numpy()
    return pay.sum() + pay[len(pay) // 2] + np.random.laplace(0, 100)


def slopes_of_pairs(df):
    rows = df[["x", "y"]].to_numpy(dtype=float)
    rows = rows[np.random.permutation(len(rows))]
    rows = rows[: len(rows) // 2 * 2]
    run, rise = (rows[1::2] - rows[0::2]).T
    slope = np.clip(rise / np.where(run == 0, 1e9, run), -1, 1)
    return float(slope.sum() + np.random.laplace(0, 1.0))


def one_key(df):
    x, y = df[["x", "y"]].to_numpy(dtype=float).clip(0, 1).sum(axis=0)
    key = np.random.randint(2**31)
    return [float(x + np.random.default_rng(key).normal(0, 2.0)), float(y + np.random.default_rng(key).normal(0, 2.0))]


def half(df):
    return len(df) + np.random.laplace(0, 0.5)


def mean_of_some(df):
    return df["pay"].clip(0, 100).sum() / len(df) * 10 + np.random.laplace(0, 1000) if len(df) else "nobody"


def gaps(df):
    return df["pay"].clip(0, 100).sum(skipna=False) + np.random.laplace(0, 100)


@pytest.mark.parametrize(
    "function", mostly_at_night([first_row_counts_twice, band, first_of_each]), ids=lambda each: each.__name__
)
@pytest.mark.usefixtures("all_candidates")
def test_values_in_the_code_places_in_the_order_and_contrary_copies_are_candidates(function):
    trace = traced(function, candidates=200).trace
    assert trace.word in ("violated, given the stated laws", "leaks"), trace.findings
    assert function.__name__ in trace.findings[0].where


def test_an_edge_of_an_empty_table_is_said_and_is_no_alarm():
    trace = traced(mean_of_some).trace
    assert trace.word == "supported on this path"
    assert any("where no record is left" in each for each in trace.beside)


def test_an_edge_does_not_hide_what_else_there_is():
    def wrong(df):
        return df["pay"].clip(0, 100).sum() + np.random.laplace(0, 10) if len(df) else "nobody"

    trace = traced(wrong).trace
    assert trace.word == "violated, given the stated laws" and not trace.beside
    assert "an empty" not in trace.change


def weeks(df):
    return (df["pay"] // 7).astype(int).clip(0, 20).sum() + np.random.laplace(0, 20)


def priced(df):
    price = {"a": 1.0, "b": 2.0, "c": 3.0}
    return sum(price[city] for city in df["city"]) + np.random.laplace(0, 3)


def by_month(df):
    months = pd.to_datetime(df["day"]).dt.month
    return [(months == month).sum() + np.random.laplace() for month in (1, 2)]


DAYS = PEOPLE.assign(day=[f"2025-{1 + place % 2:02}-{1 + place % 28:02}" for place in range(60)])


@pytest.mark.parametrize(
    ("function", "raised"), mostly_at_night([(priced, "KeyError"), (weeks, "IntCastingNaNError"), (by_month, "")])
)
@pytest.mark.usefixtures("all_candidates")
def test_what_trips_over_a_value_that_nobody_declared_is_said_and_is_no_alarm(function, raised):
    trace = traced(function, data=DAYS, candidates=200).trace
    assert trace.word == "supported on this path", trace.findings
    assert [raised in each for each in trace.beside if "no record has" in each] == [True] * bool(raised)


@pytest.mark.nightly
def test_what_trips_over_a_value_that_is_declared_or_in_the_data_leaks():
    declared = {"city": ["a", "b", "c", "d"], "pay": (0.0, 100.0), "age": (18, 90), "who": (0, 30)}
    assert traced(priced, domain=declared).trace.word == "leaks"
    assert traced(priced, data=PEOPLE.assign(city=["d", *PEOPLE["city"][1:]])).trace.word != "supported on this path"
    assert traced(weeks, candidates=200, domain={"pay": (0.0, 100.0)}, beyond_domain=True).trace.word == "leaks"


def test_a_new_value_in_the_output_is_an_alarm():
    def by_city(df):
        counts = df.groupby("city").size()
        return dict(counts + np.random.laplace(0, 1, len(counts)))

    assert traced(by_city).trace.word != "supported on this path"


def test_a_missing_value_is_tried_where_there_is_one_or_on_request():
    names = {"kept": chosen(PEOPLE, "add-remove", limit=5000)[0]}
    names["missing"] = chosen(PEOPLE.assign(pay=PEOPLE["pay"].where(PEOPLE["age"] > 25)), "add-remove", limit=5000)[0]
    names["asked"] = chosen(PEOPLE, "add-remove", limit=5000, beyond_domain=True)[0]
    names["declared"] = chosen(PEOPLE, "add-remove", domain={"pay": [(0.0, 99.0), None]}, limit=5000)[0]
    odd = {key: any("NaN" in each.name or "missing" in each.name for each in found) for key, found in names.items()}
    assert odd == {"kept": False, "missing": True, "asked": True, "declared": True}
    assert traced(gaps).trace.word == "supported on this path"


@pytest.mark.usefixtures("all_candidates")
def test_the_same_seed_gives_the_same_answer_and_what_was_tried_is_said():
    one, two = (traced(half, candidates=40) for _ in range(2))
    assert (one.trace, one.id) == (two.trace, two.id)
    assert one.trace.tried == 40 and one.trace.left_out > 0
    assert f"40 of {40 + one.trace.left_out:,} neighbours tried" in trace_line(one)


def test_a_candidate_is_looked_at_by_one_run():
    target = FollowedTarget(mechanism(half), {})
    found, _ = chosen(PEOPLE, "add-remove", limit=60)
    worst = worst_pair(target, [each.pair for each in found], dp.parse_claim("epsilon=1"), seed=0)
    assert worst.tried == len(found) == 60
    assert worst.runs <= 2 * len(found)  # a run on the first dataset too, where it is not that of the pair before


def of_the_system(df):
    return len(df) + int.from_bytes(os.urandom(2), "big")


def test_randomness_that_is_not_followed_leads_to_no_pair():
    found, _ = chosen(PEOPLE, "add-remove", limit=20)
    pairs, claim = [each.pair for each in found], dp.parse_claim("epsilon=1")
    assert worst_pair(FollowedTarget(mechanism(of_the_system), {}), pairs, claim, seed=0) is None
    assert worst_pair(FollowedTarget(mechanism(len), {}), pairs, claim, seed=0) is not None


def test_records_outside_of_the_domain_are_named():
    trace = traced(half, domain={"age": (18, 60)}).trace
    outside = int((PEOPLE["age"] > 60).sum())
    assert any(f"{outside} records of the data lie outside" in each for each in trace.beside)
    assert not traced(half, domain={"age": (0, 120)}).trace.beside


def test_large_data_are_looked_at_in_a_part_that_holds_what_candidates_name():
    data = pd.DataFrame({"x": np.arange(10_000.0), "k": ["a"] * 9_999 + ["rare"]})
    found, _ = chosen(data, "add-remove", limit=200)
    small = on_fewer_records(found, 300)
    assert [each.name for each in small] == [each.name for each in found]
    sizes = [tuple(map(len, each.pair())) for each in small]
    assert max(map(max, sizes)) < 1_000
    relation = parse_relation("add-remove")
    for whole, part in zip(found, small, strict=True):
        one, two = part.pair()
        assert abs(len(one) - len(two)) == 1 and relation.accepts(one, two), part.name
        assert len(whole.pair()[0]) - len(whole.pair()[1]) == len(one) - len(two)
    shared = [each.pair()[0] for each in small if each.kind == "removal"]
    assert all(each is shared[0] for each in shared) and "rare" in set(shared[0]["k"])

    def rarest(df):
        return (df["k"] == "rare").sum() + np.random.laplace(0, 0.4)

    trace = traced(rarest, data, candidates=100).trace
    assert trace.word == "violated, given the stated laws"
    assert trace.change.startswith("the same table of 10,000 records")


# --- the first lines ------------------------------------------------------------------------------------------------


def report(df):
    n = len(df) + np.random.laplace(0, 1)
    total = df["pay"].clip(0, 200).sum() + np.random.laplace(0, 200)
    return {"n": n, "total": total}


def test_a_red_answer_says_first_what_differs_what_moves_at_which_price_and_what_to_write():
    domain = {"age": (0, 120), "pay": (0.0, 500.0), "who": (0, 99), "city": list("abc")}
    evidence = traced(report, domain=domain, keep_data=True)
    first, moves, advice = trace_story(evidence)
    assert "the same table of" in first and "one more record {" in first and "pay: " in first
    assert "'n' moves by 1, hidden by Laplace noise of scale 1: ε = 1" in moves
    assert "'total' moves by 200, hidden by Laplace noise of scale 200: ε = 1" in moves
    assert "together ε = 2 for a claim of ε = 1" in moves
    assert "2 times as wide" in advice
    assert passes([each for each in check(evidence, second=False) if not each.what.startswith("runs of")])


def test_without_leave_no_value_of_the_data_is_written_out():
    secret = PEOPLE.assign(pay=PEOPLE["pay"] + 0.123456)
    evidence = traced(half, secret)
    assert ".123456" not in evidence.to_json() and evidence.trace.change
    assert ".123456" in traced(half, secret, keep_data=True, candidates=20).trace.kept


CHANGES = [
    ([1, 2], [1, 2, 3], "add-remove", "the same data, and one more record 3"),
    ([1, 2, 3], [1, 2], "add-remove", "the same data, and without record 3"),
    ([1, 2, 3], [1, 9, 3], "replace", "the same data, and with record 2 replaced by record 9"),
    ([2], [9], "replace", "record 2 alone, and record 9 in its place"),
    ([{"a": 9}], [], "add-remove", "record {a: 9} alone, and no records"),
    ([], [{"a": 1}], "add-remove", "no records, and one more record {a: 1}"),
    ([{"p": 1, "x": 2}], [{"p": 1, "x": 2}, {"p": 2, "x": 3}, {"p": 2, "x": 4}], "add-remove(person=p)",
     "the same data, and one more person with 2 records {p: 2, x: 3}, {p: 2, x: 4}"),
    ([1, 2], [2, 1], "add-remove", "the same data in another order"),
    (3, 4, "replace", ""),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two", "relation", "words"), CHANGES, ids=lambda each: str(each)[:20])
def test_two_datasets_in_one_line(one, two, relation, words):
    assert change_in_words((one, two), parse_relation(relation), valued=True) == words
    assert "9" not in change_in_words((one, two), parse_relation(relation), valued=False)


def test_two_datasets_in_one_line_without_a_value():
    people, fewer = PEOPLE, PEOPLE.iloc[1:]
    other = pd.concat([fewer, PEOPLE.iloc[[1]]])
    one, another, none = people.iloc[:1], people.iloc[1:2], people.iloc[:0]
    pairs = (people, fewer), (people, other), (one, another), (one, none)
    told = [change_in_words(pair, parse_relation("replace"), valued=False) for pair in pairs]
    assert told == [
        f"the same table of {len(people):,} records, and without one record",
        f"the same table of {len(people):,} records, and with one record replaced by another",
        "one record alone, and another record in its place",
        "one record alone, and an empty table",
    ]


def test_a_usual_change_that_breaks_the_claim_is_told_before_a_far_fetched_one():
    def total(df):
        return df["pay"].sum() + np.random.laplace(0, 1)

    evidence = traced(total, relation="replace")
    assert "largest of its type" not in evidence.trace.found and evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.lower.value < 1e6


# --- two scales of one noise ----------------------------------------------------------------------------------------


def scaled(df):
    return df["pay"].clip(0, 100).sum() + np.random.laplace(0, df["pay"].max())


def spread(df):
    return df["pay"].clip(0, 100).sum() + np.random.laplace(0, 1) * len(df)


@pytest.mark.parametrize("function", [scaled, spread], ids=lambda each: each.__name__)
def test_a_scale_that_depends_on_the_data_is_certain_and_names_its_line(function):
    evidence = traced(function)
    assert evidence.verdict is dp.Verdict.VIOLATED and evidence.exact.value == math.inf
    assert function.__name__ in evidence.trace.loss.where
    assert "scale" in evidence.trace.findings[0].text
    answers = {each.what: each.fails for each in check(evidence, second=False)}
    assert not any(answers.values())


LAWS = [(LAPLACE, stats.laplace), (GAUSSIAN, stats.norm)]


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize(("law", "known"), LAWS, ids=["Laplace", "Gaussian"])
def test_the_loss_of_two_scales_is_that_of_a_numerical_integral(law, known, number):
    rng = np.random.default_rng([number, 7])
    p, q = np.exp(rng.normal(0, 0.7, 2))
    by, delta = rng.normal() * 2, float(10 ** rng.uniform(-6, -1))
    found = loss_of((CertainStep(law, p, by, "here", q),), dp.parse_claim(f"epsilon=1, delta={delta!r}"))
    for claim in ("mu=3", "rho=20"):
        assert loss_of((CertainStep(law, p, by, "here", q),), dp.parse_claim(claim)).epsilon == math.inf
    x = np.linspace(-60, 60, 400_001) * max(p, q)

    def divergence(epsilon):
        one, two = known.pdf(x, 0, p), known.pdf(x, by, q)
        return max(np.trapezoid(np.maximum(a - math.exp(epsilon) * b, 0), x) for a, b in ((one, two), (two, one)))

    if found is None:
        assert divergence(0.0) <= delta * (1 + 1e-4)
        return
    assert divergence(found.epsilon) == pytest.approx(delta, rel=2e-3)
    assert divergence(found.epsilon) >= delta * (1 - 2e-3)


def test_at_delta_0_two_scales_have_no_limit_and_one_scale_has():
    for law in (LAPLACE, GAUSSIAN, EXPONENTIAL, DISCRETE_LAPLACE):
        assert loss_of((CertainStep(law, 1.0, 1.0, "here", 1.5),), dp.parse_claim("epsilon=1")).epsilon == math.inf
    assert loss_of((CertainStep(LAPLACE, 1.0, 1.0, "here", 1.0 + 1e-12),), dp.parse_claim("epsilon=1")) is None
    assert loss_of((CertainStep(LAPLACE, 1.0, 1.0, "here"),), dp.parse_claim("epsilon=1")).epsilon == pytest.approx(1.0)


def test_a_fixed_seed_is_named_with_its_line():
    def seeded(df):
        rng = np.random.default_rng(7)
        return {"n": len(df) + rng.laplace(0, 1)}

    evidence = traced(seeded)
    assert evidence.verdict is dp.Verdict.VIOLATED
    first = evidence.trace.findings[0]
    assert "seeded with 7" in first.text and "(seeded)" in first.where
    assert "no seed" in evidence.trace.instead


def test_without_runs_nobody_is_told_to_use_more_of_them():
    evidence = traced(lambda df: round(len(df) + np.random.laplace(0, 2)))
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE
    assert "use more runs" not in evidence.reason and "dpaudit audit" in evidence.reason


@pytest.mark.parametrize(("seconds", "few"), [(1e-6, True), (None, False)])
@pytest.mark.usefixtures("all_candidates")
def test_of_a_slow_function_fewer_neighbours_are_tried_and_their_number_is_said(seconds, few, monkeypatch):
    monkeypatch.setattr("dpaudit.tracing.search._SLOW", 0.0)
    data = pd.DataFrame({"age": range(40)})
    found = dp.trace(lambda df: len(df) + np.random.laplace(), data=data, claim="epsilon=1", runs=0, seed=1,
                     relation="add-remove", time_budget=seconds)  # fmt: skip
    assert (found.trace.tried == 20) == few


def test_how_slow_a_function_is_does_not_hang_on_how_long_a_busy_machine_lets_it_wait():
    target = FollowedTarget(mechanism(lambda data: time.sleep(0.15)), {})
    target.run([1], 1)
    assert target.seconds < 0.1


def test_a_column_that_the_data_do_not_have_is_told_with_those_that_they_have():
    data = pd.DataFrame({"age": [1, 2], "city": ["a", "b"]})
    with pytest.raises(dp.UsageError, match="'salary'; the data have the columns 'age', 'city'"):
        dp.audit(
            lambda df: df["salary"].sum() + np.random.laplace(), data=data, claim="epsilon=1", relation="add-remove"
        )


def of_a_frame(df):
    return df["age"].clip(0, 100).sum() + np.random.laplace(0, 100)


def of_records(records):
    return sum(min(each["age"], 100) for each in records) + np.random.laplace(0, 100)


def of_both(data):
    return len(data) + np.random.laplace()


KINDS = {"frame": of_a_frame, "list": of_records, "a list, where both are taken": of_both}


@pytest.mark.parametrize("sequential", mostly_at_night([False, True]))
@pytest.mark.parametrize("function", mostly_at_night(KINDS.values(), every=2), ids=KINDS)
def test_a_domain_alone_gives_the_data_that_a_function_takes(function, sequential):
    asked = {"domain": {"age": (0.0, 120.0)}, "claim": "epsilon=1", "relation": "add-remove", "seed": 1}
    if sequential:
        found = dp.audit(function, runs=4_000, sequential=True, keep_data=True, **asked)
    else:
        found = dp.trace(function, runs=0, keep_data=True, **asked)
    assert found.verdict is not dp.Verdict.VIOLATED
    assert ("DataFrame" in found.pairs[0].data0 or "frame" in found.pairs[0].data0) == (function is of_a_frame)


def test_what_takes_neither_says_what_it_raised():
    with pytest.raises(dp.UsageError, match="no such luck"):
        dp.audit(fails, domain={"age": (0, 120)}, claim="epsilon=1", runs=2_000)


def fails(data):
    raise ValueError("no such luck")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("function", "claim", "high", "word"),
    mostly_at_night([(slopes_of_pairs, "epsilon=1", 20, "not priced"), (one_key, "mu=0.75", 1, "not supported")]),
)
def test_runs_choose_the_pair_where_no_price_tells_which_shows_most(function, claim, high, word):
    line = pd.DataFrame({"x": np.arange(20.0) / 20 * high, "y": np.arange(20.0) / 20 * high})
    asked = {"data": line, "claim": claim, "relation": "add-remove", "domain": {"x": (0.0, high), "y": (0.0, high)}}
    found = traced(function, **asked, runs=12_000)
    assert (str(found.verdict), found.trace.word) == ("violated", word)
    assert any("further runs chose this one" in each for each in found.trace.beside)
    assert passes(check(found))
    if function is slopes_of_pairs:  # the other one makes a generator of every key, and is not reproducible
        assert traced(function, **asked, runs=12_000).id == found.id


def means_of_cities_that_there_are(df):
    noisy = {}
    for city, part in df.groupby("city"):
        noisy[city] = (part["age"].clip(0, 1).sum() + np.random.laplace(0, 1)) / max(
            len(part) + np.random.laplace(0, 1), 1
        )
    return noisy


@pytest.mark.usefixtures("all_candidates")
def test_a_price_does_not_hide_a_pair_that_runs_tell_apart():
    alone = PEOPLE.assign(city=["c", *"ab" * 29, "b"])
    found = traced(means_of_cities_that_there_are, data=alone, runs=12_000)
    assert str(found.verdict) == "violated"
    assert found.lower.value > 3
    assert any("further runs chose this one; on another, Laplace noise" in each for each in found.trace.beside)


@pytest.mark.nightly
def test_no_runs_choose_the_pair_where_a_price_tells_or_none_are_made():
    for found in (traced(half, runs=12_000), traced(slopes_of_pairs, data=pd.DataFrame({"x": [1.0], "y": [2.0]}))):
        assert not any("further runs" in each for each in found.trace.beside)


def test_noise_whose_scale_the_data_make_0_is_not_taken_for_a_fixed_seed():
    def share(rows):
        return sum(rows) / max(len(rows), 1) + np.random.laplace(0, max(rows, default=0) / max(len(rows), 1))

    found = dp.trace(share, pairs=[([0.0], [0.0, 5.0])], claim="epsilon=1", relation="add-remove", runs=0)
    assert "the same in every run" not in str(found.trace.findings)
    assert "not read from the data" in found.trace.instead


def test_texts_that_differ_are_shown_from_where_they_do():
    def report(rows):
        noisy = [round(sum(rows) + np.random.laplace(0, 5), 1) for _ in range(20)]
        return json.dumps({"sums": noisy, "rows": len(rows)})

    found = dp.trace(report, pairs=[([0.0], [0.0, 5.0])], claim="epsilon=1", relation="add-remove", runs=2_000, seed=1)
    assert str(found.verdict) == "violated"
    assert re.search(r"The pair: .*the output differs: ….{20}1}' and ….{20}2}', at", headline(found).sentence)


def test_gaussian_noise_under_a_pure_claim_is_told_to_claim_a_delta_too():
    found = dp.trace(lambda rows: sum(rows) + np.random.normal(0, 5), pairs=[([0.0], [0.0, 1.0])], claim="epsilon=3")
    assert found.verdict is dp.Verdict.VIOLATED
    assert "'epsilon=3, delta=1e-5'" in found.trace.instead
