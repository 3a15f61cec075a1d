"""Is what a search once missed among the first that it tries, and is what it leaves out said?"""

import itertools

import msgspec
import numpy as np
import pandas as pd
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.events import quick_predict
from dpaudit.neighbours.candidates.candidates import KINDS, candidates, chosen
from dpaudit.privacy import PureDP
from dpaudit.reading.callables import constants_of
from dpaudit.report import console_summary, html_page
from dpaudit.review.check import check, passes
from dpaudit.sampling.outputs import from_array

pytestmark = [pytest.mark.usefixtures("undrawn"), pytest.mark.slow]

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 100),
        "income": RNG.normal(50_000, 15_000, 100).clip(0, 200_000),
        "visits": RNG.poisson(3, 100),
        "score": RNG.uniform(0, 100, 100),
    }
)
DOMAIN = {"age": (18, 90), "income": (0.0, 200_000.0), "visits": (0, 20), "score": (0.0, 100.0)}
EVENTS = pd.DataFrame({"user": RNG.integers(0, 40, 120), "ts": RNG.integers(0, 24, 120), "x": RNG.uniform(0, 1, 120)})


@pytest.mark.parametrize("column", DOMAIN)
@pytest.mark.parametrize("limit", [100, 333])
def test_one_and_two_records_at_opposite_ends_of_one_column_are_tried(column, limit):
    others = [name for name in DOMAIN if name != column]
    found = []
    for one in candidates(FRAME, "add-remove", domain=DOMAIN, limit=limit):
        if one.kind in ("base", "tiny"):
            less, more = sorted(one.pair(), key=len)
            ends = (less[column].tolist(), sorted(more[column].tolist())) if len(less) == 1 else None
            if ends is not None and ends[1] == list(DOMAIN[column]) and (more[others].nunique() == 1).all():
                found.append(one.name)
    assert found


def mean_of_unknown_n(data, size, rng):
    """Noise for the number of records that there happen to be: one record beside two gives itself away in the tails."""
    n = max(len(data), 1)
    return data["income"].clip(0, 200_000).sum() / n + rng.laplace(0, 200_000 / n, size)


@pytest.mark.nightly
def test_a_mean_of_unknown_n_is_found_in_few_runs():
    evidence = dp.audit(
        mean_of_unknown_n, claim="epsilon=1", data=FRAME, domain=DOMAIN, runs=20_000, seed=7, floating_point="ignore"
    )
    assert evidence.verdict is dp.Verdict.VIOLATED and evidence.lower.value > 1.5
    # a replay of the noise leads there, and what it found is in the evidence
    assert evidence.search.led == "not supported" and 0 < evidence.search.replayed < 1_000
    assert passes(check(evidence, second=False))
    for change in ({"led": None}, {"led": "supported on this path"}, {"replayed": 0}, {"replayed": -4}):
        search = msgspec.structs.replace(evidence.search, **change)
        assert not passes(check(msgspec.structs.replace(evidence, search=search), second=False)), change


TELLING = {  # laws of two sides, each with a loss far beyond 1 that few runs show
    "one record and two at opposite ends": lambda rng, n: (rng.laplace(0, 100, n), rng.laplace(50, 50, n)),
    "Gaussian noise, a distance of 1.5": lambda rng, n: (rng.normal(0, 1, n), rng.normal(1.5, 1, n)),
    "rounded noise": lambda rng, n: (rng.laplace(0, 100, n).round(), rng.laplace(50, 50, n).round()),
}
DULL = {  # and of exactly 1, or none
    "exactly 1": lambda rng, n: (rng.laplace(0, 1, n), rng.laplace(1, 1, n)),
    "one law": lambda rng, n: (rng.laplace(0, 1, n), rng.laplace(0, 1, n)),
    "clipped noise": lambda rng, n: (rng.laplace(0, 1, n).clip(-1, 2), rng.laplace(1, 1, n).clip(-1, 2)),
    "randomised response": lambda rng, n: (1.0 * (rng.random(n) < 0.731), 1.0 * (rng.random(n) < 0.269)),
    "uniform noise": lambda rng, n: (rng.random(n), rng.random(n)),
}


@pytest.mark.nightly
def test_a_few_hundred_runs_promise_what_lies_in_the_tails():
    rng = np.random.default_rng(0)
    looks = {name: np.sort([glanced(law(rng, 350)) for _ in range(10)]) for name, law in {**TELLING, **DULL}.items()}
    for telling, dull in itertools.product(TELLING, DULL):
        assert looks[telling][1] > looks[dull][8], (telling, dull)  # nine in ten beyond nine in ten


def glanced(outputs):
    side0, side1 = map(from_array, outputs)
    return quick_predict(side0, side1, claim=PureDP(1), measuring=10_000, error=0.05)


@pytest.mark.parametrize("relation", ["add-remove(person=user)", "replace(person=user)"])
@pytest.mark.parametrize("domain", [None, {"ts": (0, 23), "x": (0.0, 1.0)}])
def test_a_person_with_many_different_records_is_tried(relation, domain):
    most = 0
    for one in candidates(EVENTS, relation, domain=domain, limit=60):
        if "different records" in one.name:
            for side in one.pair():
                once = side.drop_duplicates(["user", "ts"])
                most = max(most, int(once["user"].value_counts().max()))
            assert dp.neighbours.parse_relation(relation).accepts(*one.pair())
    assert most >= 20


def test_names_of_different_records_hold_no_value_of_the_data():
    secret = EVENTS.assign(ts=EVENTS["ts"] + 777_000)
    assert not [one.name for one in candidates(secret, "add-remove(person=user)") if "777" in one.name]


MAY_BE_MISSING = {"income": [(0.0, 1e6), None]}


@pytest.mark.parametrize("limit", [24, 40])
def test_where_few_can_be_tried_a_missing_value_is_among_them(limit):
    found, left = chosen(FRAME, "add-remove", limit=limit)
    assert len(found) == limit and left > 100
    assert {one.kind for one in found} == set(KINDS) - {"tiny", "code", "behind the code"}
    found, left = chosen(FRAME, "add-remove", limit=limit, domain=MAY_BE_MISSING)
    assert len(found) == limit and any("NaN" in one.name for one in found)


def test_no_sort_of_change_comes_twice_before_all_came_once():
    found, _ = chosen(FRAME, "add-remove", limit=60)
    everything, left = chosen(FRAME, "add-remove", limit=10_000)
    assert left == 0
    for kind in KINDS:
        few, all_of_it = ([one.sort for one in listed if one.kind == kind] for listed in (found, everything))
        assert len(set(few)) == min(len(few), len(set(all_of_it)))


def sum_of_all(data, size, rng):
    return float(data["income"].clip(0, 1e5).sum(skipna=False)) / 1e5 + rng.laplace(0, 1, size)


def test_few_runs_find_a_missing_value_and_say_what_was_left_out():
    evidence = dp.audit(sum_of_all, claim="epsilon=1", data=FRAME, domain=MAY_BE_MISSING, runs=20_000, seed=0,
                        floating_point="ignore")  # fmt: skip
    assert evidence.verdict is dp.Verdict.VIOLATED and "NaN" in evidence.search.found
    left = evidence.search.left_out
    assert left > 0
    assert f"({left} more were not tried)" in " ".join(console_summary(evidence, width=400).split())
    assert f"{left} further pairs were thought of and not tried" in html_page(evidence)


OPTIONS = [{}, {"sequential": True}, {"search": True}, {"time_budget": 60}, {"curve": True}, {"observe": "time"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_function_that_raises_in_every_run_is_refused_at_once(options):
    calls = 0

    def sampler(data, size, rng):
        nonlocal calls
        calls += size
        raise ValueError("never works")

    def seeded(data, rng):
        nonlocal calls
        calls += 1
        raise ValueError("never works")

    for function in (sampler, seeded):
        calls = 0
        with pytest.raises(dp.UsageError, match="raises in every run, so nothing can be measured: ValueError: never"):
            dp.audit(function, claim="epsilon=1", pairs=[([1], [])], relation="add-remove", seed=0, **options)
        assert calls < 5_000


def test_a_function_that_raises_in_nearly_every_run_is_audited():
    def rarely(data, rng):
        if rng.random() < 0.99:
            raise ValueError("nothing is released")
        return len(data)

    evidence = dp.audit(rarely, claim="epsilon=1", pairs=[([1], [])], relation="add-remove", runs=40_000, seed=3)
    assert evidence.verdict is dp.Verdict.VIOLATED


# --- what only some records show, with the numbers of the code --------------------------------------------

LOW, HIGH = 61, 64
BANDS = {"age": (61, 64), "income": (70_000, 75_000)}
PEOPLE = FRAME.assign(city=RNG.choice(["bern", "oslo", "rome"], len(FRAME)))
PEOPLE = PEOPLE[~(PEOPLE["age"].between(60, 65) & PEOPLE["income"].between(69_000, 76_000))].reset_index(drop=True)
DECLARED = {**DOMAIN, "city": ["bern", "oslo", "rome", None]}


def of_globals(people):
    return people["age"].between(LOW, HIGH) & people["income"].between(70_000, 75_000)


def of_a_query(people):
    return people.eval("61 <= age <= 64 and 70000 <= income <= 75000")


def of_a_table(people):
    found = np.ones(len(people), dtype=bool)
    for column, (low, high) in BANDS.items():
        found &= people[column].between(low, high).to_numpy()
    return found


def of_defaults(people, low=61, high=64, least=70_000, most=75_000):
    return people["age"].between(low, high) & people["income"].between(least, most)


def of_sums(people):
    return people["age"].between(60 + 1, 65 - 1) & people["income"].between(7 * 10**4, 75 * 10**3)


def of_cuts(people):
    ages = pd.cut(people["age"], [0, 61, 64, 200], labels=False)
    return (ages == 1) & (np.digitize(people["income"], [70_000, 75_000]) == 1)


def of_records(people):
    return np.array([61 <= one["age"] <= 64 and 70_000 <= one["income"] <= 75_000 for one in people.to_dict("records")])


def of_three_columns(people):
    return (people["age"] == 62) & people["income"].between(70_000, 75_000) & (people["city"] == "oslo")


def of_whole_parts(people):
    return people["age"].isin([61, 62, 63]) & (people["income"] // 5000 == 14)


def of_texts(people):
    return people["age"].astype(str).isin(["61", "62"]) & people["income"].between(70_000, 75_000)


def of_what_is_missing(people):
    return people["city"].isna() & people["age"].between(61, 64)


HIDDEN = [
    of_globals, of_a_query, of_a_table, of_defaults, of_sums, of_cuts, of_records, of_three_columns, of_whole_parts,
    of_texts, of_what_is_missing,
]  # fmt: skip


@pytest.mark.parametrize("hit", HIDDEN)
def test_records_in_all_bands_of_the_code_are_tried(hit):
    """However the code writes its numbers; no record of the data lies in all bands."""
    assert not np.any(hit(PEOPLE))
    tried, _ = chosen(PEOPLE, "add-remove", domain=DECLARED, limit=500, numbers=constants_of(hit))
    assert any(np.any(hit(side)) for one in tried if one.kind == "code" for side in one.pair())


@pytest.mark.nightly
def test_numbers_of_another_unit_are_multiplied():
    """``income / 1000 > 70`` is about 70,000."""
    numbers = constants_of(lambda people: (people["income"] / 1000).between(70, 75))
    tried, _ = chosen(PEOPLE, "add-remove", domain=DECLARED, limit=500, numbers=numbers)
    found = [
        side["income"].between(70_000, 75_000) & (side["income"] % 1000 == 0) for one in tried for side in one.pair()
    ]
    assert any(each.any() for each in found)


REGISTER = pd.DataFrame({"age": [20, 35, 59] * 4, "pay": [20_000, 33_000, 59_000] * 4, "name": ["anna", "bob"] * 6})
MADE_INTO = {
    "a tenth": lambda people: (people["age"] / 10 > 6.2) & (people["age"] / 10 < 6.4),
    "months": lambda people: np.array([750 < each * 12 < 760 for each in people["age"]]),
    "days, exactly": lambda people: people["age"] * 365 == 22995,
    "thousands, rounded": lambda people: (people["pay"] / 1000).round() == 172,
    "a part of a text": lambda people: people["name"].str.contains("smith"),
    "the end of a text": lambda people: people["name"].str.endswith("@x.org"),
    "in other letters": lambda people: people["name"].str.upper() == "BOND",
    "one of a list": lambda people: people["name"].isin(["eve", "mallory"]),
}


@pytest.mark.parametrize("what", MADE_INTO)
def test_values_that_the_code_makes_into_one_of_its_own_are_tried(what):
    hit = MADE_INTO[what]
    assert not np.any(hit(REGISTER))
    tried, _ = chosen(REGISTER, "add-remove", limit=700, numbers=constants_of(hit))
    assert any(np.any(hit(side)) for one in tried if one.kind == "behind the code" for side in one.pair())


FORMS = {
    "texts": lambda frame: frame,
    "objects": lambda frame: frame.astype({"city": object}),
    "categories": lambda frame: frame.astype({"city": "category"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_text_that_is_declared_is_tried_though_the_data_hold_none(form):
    data = FORMS[form](PEOPLE)
    tried, _ = chosen(data, "add-remove", domain=DECLARED, limit=200)
    assert any(side["city"].isna().any() for one in tried for side in one.pair())
    assert data["city"].dtype in {side["city"].dtype for one in tried for side in one.pair()}
    never, _ = chosen(data, "add-remove", domain={**DECLARED, "city": ["bern", "oslo", "rome"]}, limit=200)
    assert not any(side["city"].isna().any() for one in never for side in one.pair())


def missing_city(people, rng):
    return len(people) + 50 * people["city"].isna().any() + rng.laplace(0, 1)


def missing_city_of_dicts(people, rng):
    return len(people) + 50 * any(one["city"] is None for one in people) + rng.laplace(0, 1)


def no_city(people, rng):
    return len(people) + rng.laplace(0, 1)


@pytest.mark.parametrize(
    ("function", "as_dicts", "verdict"),
    mostly_at_night(
        [
            (missing_city_of_dicts, True, dp.Verdict.VIOLATED),
            (missing_city, False, dp.Verdict.VIOLATED),
            (no_city, True, dp.Verdict.NOT_VIOLATED),
        ],
        every=3,
    ),
)
def test_what_goes_wrong_with_a_missing_text_alone_is_violated(function, as_dicts, verdict):
    data = PEOPLE.head(20).to_dict("records") if as_dicts else PEOPLE.head(20)
    options = {"data": data, "domain": DECLARED, "relation": "add-remove", "runs": 2_000, "seed": 1}
    assert dp.audit(function, claim="epsilon=1", **options).verdict is verdict
