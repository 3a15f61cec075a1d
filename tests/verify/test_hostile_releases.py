"""Is a program refused, or bounded as it deserves, by its reading alone? Runs would rarely show what these do.

Each program does on rare data, or with a rare released value, what would make its bound false.
"""

import functools
import itertools
import operator
from fractions import Fraction

import numpy as np
import pytest
from support.hostile_frames import bound, size, told, twice
from support.nightly import mostly_at_night

pytestmark = pytest.mark.slow

pytest.importorskip("pandas")


EDGES = [0, 40, 121]


def rare(people):
    return people[people["age"] == 33.125]


# --- what a private value shows besides its number --------------------------------------------------------


def text_of_a_number(people, noise):
    return repr(len(people)) == "77"


def text_of_a_list(people, noise):
    return "77" in str([len(people)])


def text_of_an_array(people, noise):
    return "77" in repr(np.histogram(people["age"], bins=EDGES)[0])


def bytes_of_an_array(people, noise):
    return np.histogram(people["age"], bins=EDGES)[0].tobytes()[:1] == b"M"


def kind_of_an_array(people, noise):
    return {"O": 1}.get(np.histogram(people["age"], bins=EDGES)[0].dtype.kind, 2)


def array_by_another_name(people, noise, make=np.array):
    return make([len(people), 1]).tobytes()[:1] == b"M"


def is_an_int(people, noise):
    return [operator.is_, operator.eq][isinstance(len(people), int)](len(people), 77)


def is_a_small_int_by_a_function(people, noise):
    return operator.is_(len(people), 77)


def divided_by_divmod(people, noise):
    return divmod(len(people), 2)


def attribute_of_the_reading(people, noise):
    return (1, 2)[people.person is not None]


def column_by_a_name_of_frames(people, noise):
    return people.size.sum() + noise.laplace(1)


def attribute_that_is_kept(people, noise):
    people.kept = 1
    return size(people, noise)


def exception_with_data(people, noise):
    raise ValueError((people["age"] == 33.125).sum())


def exception_with_an_attribute(people, noise):
    error = ValueError("no")
    error.seen = (people["age"] == 33.125).sum()  # type: ignore[attr-defined]
    raise error


def exception_with_a_cause(people, noise):
    raise ValueError("no") from ZeroDivisionError(len(people))


class Held(list):
    pass


def list_with_attributes(people, noise):
    found = Held([size(people, noise)])
    found.__dict__["seen"] = people
    return found


# --- what a released value may be ---------------------------------------------------------------------------


def text_of_a_token(people, noise):
    return "9" in repr(size(people, noise))


def type_of_a_token(people, noise):
    return isinstance(size(people, noise), np.floating)


def bytes_of_tokens(people, noise):
    return np.array([size(people, noise)]).tobytes()[0] > 100


def one_object(people, noise):
    return int((size(people, noise) > 1000) is True)


def type_of_a_parameter(people, noise, *, epsilon=1.0):
    return people["age"].clip(0, {float: 100}.get(type(epsilon), 1)).sum() + noise.laplace(1)


def written_into(people, noise):
    out = np.zeros(2)
    np.cumsum(np.histogram(people["age"], bins=EDGES)[0] + noise.laplace(1, 2), out=out)
    return rare(people)["age"].clip(0, 1 if out[0] < 500 else 100).sum() + noise.laplace(1)


def changed_in_place(people, noise):
    released = np.histogram(people["age"], bins=EDGES)[0] + noise.laplace(1, 2)
    released += 1
    return released


def python_in_a_ufunc(people, noise):
    return np.frompyfunc(operator.methodcaller("real"), 1, 1)(size(people, noise))


def undone_product(people, noise):
    factor = size(people, noise)
    return len(people) * factor / factor + noise.laplace(1) if factor > 0 else 0


def result_of_anything(people, noise):
    factor = noise.post(lambda value: [value], size(people, noise))
    return len(people) + factor + noise.laplace(1)


def edges_that_were_released(people, noise):
    edge = size(people, noise)
    return np.histogram(people["age"], bins=[0, edge, 120])[0] + noise.laplace(1, 2) if edge > 0 else 0


# --- post-processing -----------------------------------------------------------------------------------------


def generator_in_post(people, noise):
    def told():
        yield int((people["age"] == 33.125).sum())

    return noise.post(next, told()), size(people, noise)


def iterator_in_post(people, noise):
    return noise.post(lambda value, rows: len(next(rows)), size(people, noise), iter([people]))


def getter_in_post(people, noise):
    return noise.post(operator.attrgetter("__globals__"), size)


class Liar:
    __module__ = "numpy"

    def __init__(self, people):
        self.people = people

    def told(self, value):
        return len(self.people)


def lying_class_in_post(people, noise):
    return noise.post(Liar(people).told, size(people, noise))


def frames_in_post(people, noise):
    return noise.post(lambda value: np.testing._private.utils.sys._getframe(2), size(people, noise))


COUNT = 0


def post_that_sets_a_global(people, noise):
    def told(value):
        global COUNT
        COUNT = value

    noise.post(told, size(people, noise))
    return rare(people)["age"].clip(0, 1 + int(COUNT > 0)).sum() + noise.laplace(1)


def post_that_sets_a_name_outside(people, noise):
    top = 1

    def told(value):
        nonlocal top
        top = 100

    noise.post(told, size(people, noise))
    return rare(people)["age"].clip(0, top).sum() + noise.laplace(1)


def post_that_fills_an_array(people, noise):
    box = np.ones(1)
    noise.post(functools.partial(np.add, 99, 1, box), size(people, noise))
    return rare(people)["age"].clip(0, box[0]).sum() + noise.laplace(1)


def post_and_more(people, noise):
    def told(value):
        return 1 if type(value) is not int else 100

    if size(people, noise) > noise.post(told, 1):
        return 0
    return rare(people)["age"].clip(0, told(len(people))).sum() + noise.laplace(1)


# --- repeated steps ------------------------------------------------------------------------------------------


def noise_from_outside(people, noise):
    drawn = noise.laplace(1)
    return noise.repeat(2, lambda state: len(people) + drawn, 0.0)


def sample_that_leaves(people, noise):
    kept = []

    def step(state):
        kept.append(noise.poisson(people, 0.1))
        return state + len(kept[-1]) + noise.laplace(1)

    noise.repeat(5, step, 0.0)
    return len(kept[0]) + noise.laplace(1)


def step_that_counts(people, noise):
    count = itertools.count()

    def step(state):
        return state + rare(people)["age"].clip(0, 1 + next(count) // 5).sum() + noise.laplace(1)

    return noise.repeat(10, step, 0.0)


def step_that_swaps(people, noise):
    box = [people, rare(people)]

    def step(state):
        box.reverse()
        return state + len(box[0]) + noise.laplace(1)

    return noise.repeat(2, step, 0.0)


def state_of_anything(people, noise):
    def step(state):
        return noise.post(lambda value: "a", state + len(people) + noise.laplace(1))

    return noise.repeat(2, step, 0.0)


# --- arithmetic ----------------------------------------------------------------------------------------------


def array_changed_in_place(people, noise):
    values = rare(people)["age"].to_numpy()
    kept = values
    values *= 1000
    return kept.sum() + noise.laplace(120)


def vectors_changed_in_place(people, noise):
    values = rare(people)[["x", "y"]].to_numpy()
    kept = values
    values += 1000
    return kept.sum(axis=0) + noise.laplace(8, 2)


def whole_numbers_cut(people, noise):
    counts = np.histogram(people["age"], bins=EDGES)[0]
    counts[0] = counts[1] / 1000
    return counts[0] + noise.laplace(0.001)


def whole_numbers_cut_in_a_new_array(people, noise):
    values = np.array([len(people), len(people)])
    values[0] = len(people) / 1000
    return values[0] + noise.laplace(0.001)


def too_large_for_floats(people, noise):
    return (rare(people)["x"] * 1e200 * 1e200 / 1e200 / 1e200).sum() + noise.laplace(5)


def too_large_for_64_bits(people, noise):
    return (rare(people)["children"] * 2**61).sum() + noise.laplace(2.0**64)


def inverted_numbers(people, noise):
    return (~(rare(people)["x"] > 0).astype(int)).sum() + noise.laplace(1)


def numbered_anew(people, noise):
    return len(people.reset_index(drop=True)[people["age"] == 33.125]) + noise.laplace(1)


def order_of_texts(people, noise):
    return len(people[people["city"] < "oslo"]) + noise.laplace(1)


def order_of_truth(people, noise):
    return len(rare(people)[rare(people)["smoker"] < 1]) + noise.laplace(1)


def histogram_of_truth(people, noise):
    return np.histogram(rare(people)["smoker"], bins=[0, 1, 2])[0] + noise.laplace(1, 2)


def python_for_rows(people, noise):
    total = np.frompyfunc(functools.partial(operator.add, 1), 1, 1)
    return np.nan_to_num(total(people[["x", "y"]].to_numpy())).sum(axis=0) + noise.laplace(1, 2)


def rounding_decides(people, noise, *, epsilon=0.1):
    return rare(people)["age"].clip(0, 1 + 99 * int(epsilon + 0.2 != 0.3)).sum() + noise.laplace(1)


def negative_unit(people, noise):
    released = size(people, noise)
    return people["age"].clip(0, released).sum() + noise.laplace(-released) if released > 0 else 0


def scale_in_another_unit(people, noise):
    released = size(people, noise)
    return people["age"].clip(0, released).sum() + noise.laplace(1) if released > 0 else 0


def bound_that_may_be_negative(people, noise):
    released = size(people, noise)
    return people["age"].clip(0, released).sum() + noise.laplace(released) if released < 9 else 0


def key_twice(people, noise):
    return people["city"].value_counts().reindex(["bern", "bern"], fill_value=0)["bern"] + noise.laplace(1)


def other_method(people, noise):
    import pandas

    pandas.Series.count = pandas.Series.sum  # type: ignore[method-assign]
    return rare(people)["age"].count() + noise.laplace(1)


# --- functions of rows, joins, extremes, and further laws ----------------------------------------------------


def one_object_in_apply(people, noise):
    five = 5
    return rare(people)["children"].apply(lambda value: 100 if value is five else 0).sum() + noise.laplace(1)


def type_in_apply(people, noise):
    return rare(people)["children"].apply(lambda value: {int: 100}.get(type(value), 1)).sum() + noise.laplace(1)


def rows_that_are_counted(people, noise):
    def told(value, seen=[0]):  # noqa: B006
        seen[0] += 1
        return seen[0]

    return people["age"].apply(told).sum() + noise.laplace(1)


def rows_that_are_counted_outside(people, noise):
    count = 0

    def told(value):
        nonlocal count
        count += 1
        return count

    return people["age"].apply(told).sum() + noise.laplace(1)


def other_rows_in_apply(people, noise):
    total = people["age"].sum()
    return people["age"].apply(lambda value: value - total).sum() + noise.laplace(1)


def rows_that_raise(people, noise):
    def told(value):
        if value == 33.125:
            raise ValueError
        return 1

    try:
        return people["age"].apply(told).sum() + noise.laplace(1)
    except ValueError:
        return 0


def rows_drawn_at_random(people, noise):
    rng = np.random.default_rng(0)
    return people["age"].apply(lambda value: rng.random()).sum() + noise.laplace(1)


def nothing_in_apply(people, noise):
    return people["weight"].apply(lambda value: 100 if value is None else 0).sum() + noise.laplace(1)


def numbers_of_texts(people, noise):
    """Of no rows pandas makes a text."""
    return rare(people)["city"].map({"bern": 1, "oslo": 1}).sum() + noise.laplace(1)


class Else(dict):
    def __missing__(self, key):
        return 1000


def dict_with_a_method(people, noise):
    return rare(people)["children"].map(Else({1: 1})).sum() + noise.laplace(1)


def numbers_of_truth(people, noise):
    """Of no rows they are truth values, which cannot be subtracted."""
    made = rare(people)["smoker"].apply(lambda value: 1 if value == 1 else 0)
    return (made - made).sum() + noise.laplace(1)


def whole_numbers_of_none(people, noise):
    """Of no rows they are floats, which cannot be counted by place."""
    return np.bincount(rare(people)["age"].apply(lambda value: 1 if value > 3 else 0), minlength=2) + noise.laplace(
        1, 2
    )


def initial_value_that_is_cut(people, noise):
    """Of whole numbers NumPy makes 7.5 a 7, however much the largest number could be."""
    return (rare(people)["children"].to_numpy().max(initial=7.5) - 7.5) + noise.laplace(0.01)


def endless_function(people, noise):
    def told(value):
        while value < 1000:
            value = value + 1
        return value

    return people["age"].apply(told).sum() + noise.laplace(1)


def clip_of_texts(people, noise):
    return rare(people)["city"].clip(0, 5).sum() + noise.laplace(5)


def sample_of_a_join(people, noise):
    import pandas

    return len(noise.poisson(people.merge(twice(pandas), on="city"), 0.1)) + noise.laplace(1)


def largest_of_a_join(people, noise):
    import pandas

    return people.merge(twice(pandas), on="city")["rank"].to_numpy().max(initial=0) + noise.laplace(2)


def keys_of_a_join(people, noise):
    import pandas

    counts = people.merge(twice(pandas), on="city")["rank"].value_counts()
    noisy = counts + noise.laplace(1, len(counts))
    return noisy[noisy >= 30].sort_index()


def mask_from_before_a_join(people, noise):
    import pandas

    return len(people.merge(twice(pandas), on="city")[people["age"] == 33.125]) + noise.laplace(1)


def which_is_largest(people, noise):
    young, none = len(rare(people)), 0
    return [0, 1][max(young, none) is young]


def text_of_a_replaced_name(people, noise):
    return rare(people)["age"].clip(0, [100, 1]["partial" in repr(max)]).sum() + noise.laplace(1)


def replaced_name_in_a_comprehension(people, noise):
    bounds = [1 for max in [0]]  # noqa: A001
    bounds.append([100, 1][hasattr(max, "func")])
    return rare(people)["age"].clip(0, bounds[1]).sum() + noise.laplace(1)


def largest_of_two_samples(people, noise):
    return max(len(people), len(noise.poisson(people, 0.5))) + noise.laplace(1)


def stretched_truncated_noise(people, noise):
    return len(people) + 0.01 * noise.truncated_laplace(100, 5)


def truncated_at_the_data(people, noise):
    return len(people) + noise.truncated_laplace(1, len(people))


def coins_of_others(people, noise):
    return ((people["age"] > 5) ^ noise.bernoulli(0.25, size=len(rare(people)))).sum()


def reports_of_some(people, noise):
    some = rare(people)
    return ((some["x"] > 0) ^ noise.bernoulli(0.25, size=len(some))).sum()


def coins_twice(people, noise):
    coins = noise.bernoulli(0.25, size=len(people))
    return ((people["age"] > 5) ^ coins).sum(), ((people["x"] > 0) ^ coins).sum()


def coins_that_hide_nothing(people, noise):
    return ((people["age"] > 5) ^ noise.bernoulli(0, size=len(people))).sum()


def threshold_from_the_data(people, noise):
    return noise.propose_test_release(["a", "b"], [len(people), 3], 1, len(people))


def options_from_the_data(people, noise):
    return noise.propose_test_release([len(people), 3], [len(people), 3], 1, 9)


# --- one value under two names, one name for two values -----------------------------------------------------


def either(people, noise, released, change):
    """Release once, unless a change of one name changes another: then twice."""
    before = released if released > 5 else None
    first = len(people) + noise.laplace(1) if before is not None else 0
    changed = change()
    second = 0 if released > 5 else len(people) + noise.laplace(1)
    return first, second, changed


def array_in_place(people, noise, make=None):
    released = make(size(people, noise))

    def change(other=released):
        other -= 1_000
        return other

    return either(people, noise, released, change)


def boxed_by(make):
    def program(people, noise):
        return array_in_place(people, noise, make)

    program.__name__ = f"boxed_{ARRAYS.index(make)}"
    return program


ARRAYS = [
    lambda value: np.array(value), lambda value: np.where(True, value, 1), np.copy,
    lambda value: np.squeeze(np.array([value])), lambda value: np.array([value])[0, ...],
    lambda value: np.array([value]).reshape(()), lambda value: np.array(value).astype(float),
]  # fmt: skip


def list_in_place(people, noise):
    released = noise.post(lambda value: [value], size(people, noise))
    released += [1]
    return released


def fraction_that_is_no_float(people, noise):
    return len(people[people["x"] > Fraction(1, 10)]) + noise.laplace(1)


def whole_numbers_that_floats_mix_up(people, noise):
    return len(people[people["x"] <= 2**53 + 1]) + noise.laplace(1)


def number_of_a_text(people, noise):
    return len(people) + noise.laplace([1, 9][hash("a") % 64 == 3])


def number_of_a_text_by_its_method(people, noise):
    return len(people) + noise.laplace([1, 9][operator.methodcaller("__hash__")("a") % 64 == 3])


def clock_of_numpy(people, noise):
    return len(people) + noise.laplace([1, 9][int(np.datetime64("now") > np.datetime64("2040-01-01"))])


def file_of_numpy(people, noise):
    return len(people) + noise.laplace([1, 9][int(len(np.genfromtxt([b"1", b"2"])) > 2)])


def settings_of_numpy(people, noise):
    return len(people) + noise.laplace([1, 9][int(getattr(np, "geterr")()["divide"] == "none")])  # noqa: B009


REFUSED = [
    text_of_a_number, text_of_a_list, text_of_an_array, bytes_of_an_array, kind_of_an_array,
    array_by_another_name, is_an_int, is_a_small_int_by_a_function, divided_by_divmod, column_by_a_name_of_frames,
    attribute_that_is_kept, exception_with_data, exception_with_an_attribute, exception_with_a_cause,
    list_with_attributes, written_into, python_in_a_ufunc, undone_product, result_of_anything,
    edges_that_were_released, generator_in_post, iterator_in_post, getter_in_post, lying_class_in_post,
    frames_in_post, post_that_sets_a_global, post_that_fills_an_array, post_and_more, noise_from_outside,
    sample_that_leaves, step_that_counts, step_that_swaps, state_of_anything, array_changed_in_place,
    vectors_changed_in_place, whole_numbers_cut, whole_numbers_cut_in_a_new_array, too_large_for_floats,
    too_large_for_64_bits, inverted_numbers, numbered_anew, python_for_rows, negative_unit, key_twice,
    scale_in_another_unit, bound_that_may_be_negative, rows_that_are_counted, rows_that_are_counted_outside,
    other_rows_in_apply, rows_that_raise, rows_drawn_at_random, nothing_in_apply, numbers_of_texts,
    numbers_of_truth, whole_numbers_of_none, initial_value_that_is_cut, endless_function, dict_with_a_method,
    clip_of_texts, sample_of_a_join, keys_of_a_join, mask_from_before_a_join, which_is_largest,
    largest_of_two_samples, stretched_truncated_noise, truncated_at_the_data, coins_of_others, reports_of_some,
    coins_twice, coins_that_hide_nothing, threshold_from_the_data, options_from_the_data,
    fraction_that_is_no_float, number_of_a_text, number_of_a_text_by_its_method, clock_of_numpy, file_of_numpy,
    settings_of_numpy,
]  # fmt: skip
PARAMETERS = {type_of_a_parameter: {"epsilon": 1.0}, rounding_decides: {"epsilon": 0.1}}


@pytest.mark.slow
@pytest.mark.parametrize("program", mostly_at_night(REFUSED, every=2), ids=lambda each: each.__name__)
def test_what_runs_would_rarely_show_is_seen_in_the_reading(program):
    with np.errstate(all="ignore"):
        assert ".py:" in told(program, **PARAMETERS.get(program, {}))


PAID = {
    attribute_of_the_reading: 0,
    text_of_a_token: 1,
    type_of_a_token: 1,
    bytes_of_tokens: 1,
    one_object: 1,
    type_of_a_parameter: 100,
    changed_in_place: 1,
    post_that_sets_a_name_outside: Fraction(273, 8),
    order_of_texts: 1,
    order_of_truth: 1,
    histogram_of_truth: 1,
    rounding_decides: Fraction(265, 8),
    one_object_in_apply: 100,
    type_in_apply: 100,
    largest_of_a_join: Fraction(3, 2),
    text_of_a_replaced_name: Fraction(265, 8),
    replaced_name_in_a_comprehension: Fraction(265, 8),
    list_in_place: 1,
    whole_numbers_that_floats_mix_up: 1,
}
"""Programs that may do what they do: each costs no less than this."""


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("program", PAID, ids=lambda each: each.__name__)
def test_what_is_read_is_paid_for(program):
    with np.errstate(all="ignore"):
        assert bound(program, **PARAMETERS.get(program, {})) == PAID[program]


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("program", list(map(boxed_by, ARRAYS)), ids=lambda each: each.__name__)
def test_an_array_that_is_changed_in_place_is_refused_or_every_way_is_paid_for(program):
    with np.errstate(all="ignore"):
        assert told(program) or bound(program) == 3


def test_methods_of_a_library_must_not_be_replaced():
    import pandas

    count = pandas.Series.count
    try:
        assert "test_hostile_releases.py:" in told(other_method)
    finally:
        pandas.Series.count = count
