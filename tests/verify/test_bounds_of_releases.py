"""Are bounds of programs of data frames as large as they have to be, and what does each line of the reading refuse?"""

import math
from fractions import Fraction

import numpy as np
import pytest
from support.hostile_frames import bound, size, told, twice

pytest.importorskip("pandas")
PERSON = "add-remove(person=person)"


# --- bounds that are as large as they have to be --------------------------------------------------------------


def truth_is_one(people, noise):
    return len(people[people["smoker"] == 1]) + noise.laplace(1)


def one_is_truth(people, noise):
    return len(people[people["children"] == True]) + noise.laplace(1)  # noqa: E712


def key_of_truth(people, noise):
    return people["smoker"].value_counts().reindex([1], fill_value=0)[1] + noise.laplace(1)


def not_a_number(people, noise):
    released = noise.post(lambda value: math.nan, size(people, noise), shape=())
    return people["age"].clip(0, 1 + 98 * abs(1 - int(released > 0) - int(released <= 0))).sum() + noise.laplace(1)


def text_from_post(people, noise):
    label = noise.post(lambda value: "big", size(people, noise))
    return people["age"].clip(0, 1 + 98 * int(label == "big")).sum() + noise.laplace(1)


def infinity_from_post(people, noise):
    released = noise.post(lambda value: math.inf, size(people, noise), shape=())
    return people["age"].clip(0, 1 + 98 * int(released == math.inf)).sum() + noise.laplace(1)


def quotient_of_one(people, noise):
    released = size(people, noise)
    return people["age"].clip(0, 1 + 98 * int(released / released != 1)).sum() + noise.laplace(1)


def nothing_of_infinity(people, noise):
    released = size(people, noise)
    return people["age"].clip(0, 1 + 98 * int(released * 0 != 0)).sum() + noise.laplace(1)


def type_of_a_known_parameter(people, noise, *, epsilon=1.0):
    return people["age"].clip(0, (1, 99)[isinstance(epsilon, float)]).sum() + noise.laplace(1)


def two_lines(people, noise):
    one = len(people) + noise.laplace(1)
    other = len(people) + noise.laplace(1)
    return one, other


def places_by_paths(people, noise):
    places = people[["x", "y"]].to_numpy()
    if size(people, noise) > 0:
        return np.bincount(((places[:, :, None] * np.ones(3)).sum(axis=1)).argmin(axis=1), minlength=3)[
            2
        ] + noise.laplace(1)
    return np.bincount((places**2).argmin(axis=1), minlength=2)[0] + noise.laplace(100)


def sum_in_steps(people, noise):
    total = 0.0
    for low in (0, 40, 80):
        total += len(people[(people["age"] >= low) & (people["age"] < low + 40)]) + noise.laplace(1)
    return total


def two_joins(people, noise):
    """A record has one row of either rank."""
    import pandas

    one, other = people.merge(twice(pandas), on="city"), people.merge(twice(pandas), on="city")
    first, second = one[one["rank"] == 1], other[other["rank"] == 2]
    return len(first) + noise.laplace(1), len(second) + noise.laplace(1)


def answer_of_its_own(people, noise):
    """What comes out of post-processing answers in another way when it is asked again."""
    released = noise.post(lambda value: type("", (), {"__gt__": [0, 1, 0, 1].pop})(), size(people, noise))
    first = len(people) + noise.laplace(1) if released > 5 else 0
    second = 0 if released > 5 else len(people) + noise.laplace(1)
    return first, second


def truth_of_its_own(people, noise):
    """An empty list is not true, and is not 0."""
    released = noise.post(lambda value: [], size(people, noise))
    first = 0 if released else len(people) + noise.laplace(1)
    second = len(people) + noise.laplace(1) if released != 0 else 0
    return first, second


def column_with_the_name_of_a_number(people, noise):
    mine, others = people["age"] * people["2"] > 5, people["age"] * 2 <= 5
    return len(people[mine]) + noise.laplace(1), len(people[others]) + noise.laplace(1)


def quotient_and_product(people, noise):
    one, other = people["age"] / 3 > 5, people["age"] * (1 / 3) <= 5
    return len(people[one]) + noise.laplace(1), len(people[other]) + noise.laplace(1)


def threshold_that_floats_round(people, noise, *, epsilon=0.1):
    one, other = people["x"] <= epsilon * 3, people["x"] > 0.3
    return len(people[one]) + noise.laplace(1), len(people[other]) + noise.laplace(1)


def factor_that_floats_round(people, noise, *, epsilon=0.1):
    one, other = people["x"] * (epsilon * 3) > 0.9, people["x"] * 0.3 <= 0.9
    return len(people[one]) + noise.laplace(1), len(people[other]) + noise.laplace(1)


def edge_that_floats_round(people, noise, *, epsilon=0.1):
    counts = np.histogram(people["x"], bins=[0, epsilon * 3])[0]
    return counts + noise.laplace(1, size=1), len(people[people["x"] > 0.3]) + noise.laplace(1)


BOUNDED = {
    truth_of_its_own: 3, quotient_and_product: 2,
    threshold_that_floats_round: 2, factor_that_floats_round: 2, edge_that_floats_round: 2,
    two_joins: 2, truth_is_one: 1, one_is_truth: 1, text_from_post: 100, two_lines: 2, sum_in_steps: 1,
}  # fmt: skip


REFUSED = [
    answer_of_its_own, column_with_the_name_of_a_number, key_of_truth, not_a_number, infinity_from_post,
    quotient_of_one, nothing_of_infinity, places_by_paths,
]  # fmt: skip


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("program", REFUSED, ids=lambda each: each.__name__)
def test_what_is_not_known_has_no_bound(program):
    assert "test_bounds_of_releases.py:" in told(program)


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("program", BOUNDED, ids=lambda each: each.__name__)
def test_what_may_happen_is_paid_for(program):
    assert bound(program, **({"epsilon": 0.1} if "round" in program.__name__ else {})) == Fraction(BOUNDED[program])


@pytest.mark.slow
def test_a_parameter_has_the_type_that_it_has_in_a_run():
    assert bound(type_of_a_known_parameter, epsilon=1.0) == 99


def test_a_missing_value_may_be_what_comes_or_goes():
    assert bound(lambda people, noise: people["weight"].sum() + noise.laplace(1), "replace") == 60


def keys_that_differ_elsewhere(people, noise):
    some = people[["person", "city", "children"]].drop_duplicates().groupby("person").head(3)
    counts = some["city"].value_counts()
    noisy = counts + noise.laplace(3, len(counts))
    return noisy[noisy >= 61].sort_index()


def persons_of_a_table(people, noise):
    import pandas

    table = pandas.DataFrame({"city": ["bern", "oslo"], "person": [1, 2]})
    some = people[["age", "city"]].merge(table, on="city").groupby("person").head(1)
    return len(some) + noise.laplace(1)


def largest_of_persons(people, noise):
    return people["age"].to_numpy().max(initial=0) + noise.laplace(120)


@pytest.mark.parametrize("program", [persons_of_a_table, largest_of_persons], ids=lambda each: each.__name__)
def test_persons_are_those_of_the_data_and_have_many_rows(program):
    assert "a person may have any number of rows" in told(program, PERSON)


def test_rows_of_a_person_that_differ_elsewhere_may_have_one_key():
    assert "a person may be more than once" in told(keys_that_differ_elsewhere, PERSON)


# --- what single lines of the reading are there for ------------------------------------------------------------


def largest_of_first_rows(people, noise):
    return people.groupby("person").head(1)["age"].to_numpy().max(initial=0) + noise.laplace(120)


def test_the_largest_of_first_rows_moves_by_one_row():
    assert bound(largest_of_first_rows, "replace(person=person)") == 1


@pytest.mark.slow
def test_a_replaced_person_may_have_any_number_of_rows():
    def program(people, noise):
        return people.groupby("person").head(2)["age"].clip(10, 20).sum() + noise.laplace(1)

    assert bound(program, "replace(person=person)") == 40


def cut(counts, noise):
    noisy = counts + noise.laplace(1, len(counts))
    return noisy[noisy >= 20].sort_index()


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (
            lambda people, noise: cut(noise.poisson(people, 0.5)["city"].value_counts(), noise),
            "a threshold for counts of a sample",
        ),
        (lambda people, noise: cut(people.groupby("city")["weight"].count(), noise), "a threshold for other numbers"),
        (lambda people, noise: np.bincount(people["children"], minlength=7) + noise.laplace(1, size=7), "grows with"),
        (lambda people, noise: people["age"].where(people["age"] > 3).sum() + noise.laplace(120), "may be missing"),
    ],
)
def test_what_grows_or_goes_missing_is_refused(program, why):
    assert why in told(program)


@pytest.mark.slow
def test_the_last_bin_holds_its_upper_edge():
    def program(people, noise):
        counts = np.histogram(people["age"], bins=[0, 40, 120])[0]
        return counts + noise.laplace(1, size=2), len(people[people["age"] == 120]) + noise.laplace(1)

    assert bound(program) == 2


def sample_of_persons(people, noise):
    return len(noise.poisson(people.groupby("person").head(1), 0.5)) + noise.laplace(1)


def other_persons(people, noise):
    return len(people.assign(person=people["children"]).groupby("person").head(1)) + noise.laplace(1)


def join_on_what_is_missing(people, noise):
    import pandas

    return len(people.merge(pandas.DataFrame({"weight": [10.0, 60.0]}), on="weight")) + noise.laplace(1)


def left_join_with_a_mask_from_before(people, noise):
    import pandas

    joined = people.merge(pandas.DataFrame({"city": ["bern"], "rank": [1]}), on="city", how="left")
    return len(joined[people["age"] > 3]) + noise.laplace(1)


def keys_twice_after_a_join(people, noise):
    import pandas

    some = people[["person", "city"]].drop_duplicates().groupby("person").head(1)
    return cut(some.merge(twice(pandas), on="city")["city"].value_counts(), noise)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "why"),
    [
        (sample_of_persons, "a sample of rows of which a person has several"),
        (other_persons, "any number of rows"),
        (join_on_what_is_missing, "of which a person may have any"),
        (left_join_with_a_mask_from_before, "no mask of these rows"),
        (keys_twice_after_a_join, "may be more than once"),
    ],
)
def test_persons_and_joins_are_not_mixed_up(program, why):
    assert why in told(program, PERSON)


def scores_of_two_samples(people, noise):
    one, other = (len(noise.poisson(people, 0.5)) for _ in range(2))
    return noise.select(["a", "b"], [one, other], 1)


def noise_that_is_stretched_twice(people, noise):
    drawn = noise.laplace(1)
    return len(people) + drawn * 2, len(people) + drawn * 3


@pytest.mark.slow
def test_one_draw_and_one_sample_serve_once():
    assert "differently chosen rows" in told(scores_of_two_samples)
    assert "one draw of noise that is used twice" in told(noise_that_is_stretched_twice)


def missing_or_not(people, noise):
    some, none = people[people["weight"].notna()], people[people["weight"].isna()]
    return len(some) + noise.laplace(1), len(none) + noise.laplace(0.25)


def small_as_they_are(people, noise):
    return people["age"].apply(lambda value: value if value < 60 else 0).astype(float).sum() + noise.laplace(1)


def small_doubled(people, noise):
    return people["age"].apply(lambda value: value * 2 if value < 60 else 0).astype(float).sum() + noise.laplace(1)


def repeated_steps(people, noise):
    return noise.repeat(7, lambda state: state + len(people) + noise.laplace(1), 0.0)


def length_of_a_difference(people, noise):
    here, there = people[people["age"] < 40], people[people["age"] >= 40]
    return abs(len(here) - 5 * len(there)) + noise.laplace(1)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (missing_or_not, 4),
        (small_as_they_are, 60),
        (small_doubled, 120),
        (repeated_steps, 7),
        (length_of_a_difference, 5),
    ],
)
def test_every_kind_of_record_is_paid_for(program, expected):
    assert bound(program) == expected
