"""Are functions as people write them read with the bound of theory, and none of the wrong ones?"""
# ruff: noqa: NPY002 – people draw from np.random

import functools
import warnings

import numpy as np
import pandas as pd
import pytest
from support.asis import RIGHT, WRONG, Case, cases, read, second, small_process
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.reading.universe import (
    base,
    calls,
    column_methods,
    columns,
    decisions,
    frames,
    library_calls,
    noise,
    numbers,
    sizes,
)
from dpaudit.reading.universe.cells import declared
from dpaudit.reading.universe.drive import read as read_function

PROVED = ("forty", "forty_more", "realistic", "categories", "aggregates")
BESIDE = ("attacks_forms", "attacks_by_key", "attacks_rows", "attacks_columns", "pipelines")  # right beside wrong
REFUSED_RIGHTLY = {"p38_map"}  # of an empty table the sum of a column of texts is a text


@pytest.fixture(scope="module")
def bounds():
    with small_process() as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("part", mostly_at_night(range(3)))
@pytest.mark.parametrize("table", [*PROVED, *BESIDE])
def test_a_right_function_has_the_bound_of_theory(table, part, bounds):
    right = bounds(table, right=True, part=part, parts=3)
    right = [found for found in right if found[0].name not in REFUSED_RIGHTLY]
    assert right
    assert not [(case.name, why, bound) for case, why, bound in right if why or not bound <= case.claim * (1 + 1e-9)]


@pytest.mark.slow
@pytest.mark.parametrize("part", mostly_at_night(range(6), every=6))
@pytest.mark.parametrize("table", ["forty", "categories", "aggregates", *WRONG])
def test_a_wrong_function_is_not_proved(table, part, bounds):
    wrong = bounds(table, right=False, part=part, parts=6)
    assert wrong
    assert not [(case.name, bound) for case, why, bound in wrong if not why and not bound > case.claim * (1 + 1e-9)]


ON_EVERY_PUSH = {"p15_head", "p01_histogram", "p51_frozen_at_a_place"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[] if case.name in ON_EVERY_PUSH else pytest.mark.nightly)
        for case in (*cases("forty"), *cases("categories"))
        if case.is_right and case.name not in {*REFUSED_RIGHTLY, "p14_gauss"}
    ],
)
def test_what_is_read_is_proved_with_a_certificate_about_the_declared_domain(case):
    claim = f"epsilon={case.claim * (1 + 1e-9)}"  # bounds have ten digits
    claim += ", delta=1e-5" * (case.name == "p97_gauss")
    found = dp.prove(case.function, domain=case.domain, relation=case.relation, claim=claim, runs=0, seed=0)
    assert found.verdict is dp.Verdict.PROVED


@pytest.mark.slow
def test_a_right_function_agrees_with_real_runs_and_a_wrong_one_does_not():
    by_name = {case.name: case for table in RIGHT[:1] for case in cases(table)}
    assert second(by_name["p06_mean"], 1.0) is None
    assert "shift" in second(by_name["w01_mask"], 1.0)
    assert second(by_name["p38_map"], 1.0) is not None
    by_name = {case.name: case for case in cases("attacks_taken")}
    assert "prints" in second(by_name["w91_printed"], 1.0) and "prints" in second(by_name["w92_logged"], 1.0)
    assert "int" in second(by_name["w85_holes"], 1.0)


@pytest.mark.slow
def test_noise_in_units_of_the_number_of_records_says_so():
    by_name = {case.name: read(case)[0].paths[0][0] for case in cases("aggregates") if case.name in MEANS}
    assert {name: each.line.partition(" ")[2] for name, each in by_name.items()} == MEANS


MEANS = {
    "p01_root": "", "p09_mean": "(in units of 1/n, of n records)",
    "p12_deviation": "(in units of 1/√n, of n records)",
}  # fmt: skip


def of_many_columns(df):
    return {c: df[c].value_counts().reindex(range(12), fill_value=0) + np.random.laplace(0, 6, 12) for c in df.columns}


def of_two_record_by_record(df):
    total = 0
    for age, visits in zip(df["a0"], df["a1"], strict=True):
        total += min(0.1 * age + 0.5 * visits, 20)
    return total + np.random.laplace(0, 20)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "sizes"), [(of_many_columns, [12] * 6), (of_two_record_by_record, [121, 51])])
def test_records_of_more_than_5000_kinds_are_told_apart_where_that_matters_alone(function, sizes):
    domain = {f"a{number}": list(range(size)) for number, size in enumerate(sizes)}
    found = dp.prove(function, domain=domain, relation="add-remove", claim="epsilon=1", runs=0, seed=0)
    assert (found.verdict, found.upper.exact) == (dp.Verdict.PROVED, "1")


def filled_by_column(df):
    d = df.fillna({"few": 3.0})
    return d["few"].sum() + np.random.laplace(0, 6), len(df.index) + np.random.laplace(0, 2)


@pytest.mark.slow
def test_missing_values_of_a_column_that_is_named_become_what_is_said():
    (path,) = read_function(filled_by_column, {"few": declared("few", [1.0, None])}).paths
    assert path[0].high.max() == 3 and path[1].high.max() == 1


def of_a_range_with_holes(df):
    return df["tips"].clip(0, 50).sum() + np.random.laplace(0, 50)


@pytest.mark.slow
def test_what_may_be_missing_adds_nothing_to_a_sum_of_pandas_and_is_not_summed_by_numpy():
    columns = {"tips": declared("tips", [(0.0, 100.0), None])}
    ((found,),) = read_function(of_a_range_with_holes, columns).paths
    assert found.high.max() == 50 and found.low.min() == 0
    (why,) = read_function(lambda df: np.sum(df["tips"].to_numpy()) + np.random.laplace(), columns).refused
    assert "missing" in why.what


def multiplied(df):
    return df["age"].mul(0).sum() + np.random.laplace()


def test_a_method_of_pandas_that_was_replaced_is_named(monkeypatch):
    monkeypatch.setattr(pd.Series, "mul", pd.Series.add)
    calls.replaced.cache_clear()
    (why,) = read_function(multiplied, {"age": declared("age", [0, 1])}).refused
    calls.replaced.cache_clear()
    assert "Series.mul of pandas is replaced" in why.what


# --- refusals --------------------------------------------------------------------------------------------


def two_mistakes(df):
    mean = df["age"].mean()
    top = df["age"].max()
    return mean, top


def test_all_that_is_not_read_is_told_at_once_with_line_and_what_to_write_instead():
    found = read_function(two_mistakes, {"age": declared("age", list(range(3)))})
    lines = [str(each) for each in found.refused]
    assert len(lines) >= 2
    assert all("test_universe.py:" in each for each in lines)
    assert "write instead" in lines[0]


def unknown_column(df):
    return len(df[df["size"] > 3]) + np.random.laplace()


@pytest.mark.slow
def test_a_column_that_the_domain_does_not_declare_is_named():
    with pytest.raises(dp.UsageError, match=r"no column 'size'.*declares every column"):
        dp.prove(unknown_column, domain={"age": (0, 3)}, claim="epsilon=1", relation="add-remove", runs=0)


def many_decisions(df):
    return [1 if len(df) + np.random.laplace(0, 30) > k else 0 for k in range(30)]


@pytest.mark.slow
def test_more_paths_than_the_time_are_told_with_the_line_that_decides():
    (why,) = read_function(many_decisions, {"age": declared("age", list(range(3)))}, seconds=0.3).refused
    assert why.line == f"test_universe.py:{many_decisions.__code__.co_firstlineno + 1}"
    assert "paths were read" in why.what and "--time-budget" in why.instead


def of_a_part(df):
    table = pd.DataFrame({"x": [0.0]})
    part = table["x"]
    table.loc[0, "x"] = float(len(df) + np.random.laplace())
    return part.sum()


def of_a_column(df):
    df = df.copy()
    ages = df["age"]
    df.loc[df["age"] > 1, "age"] = 99
    return ages.sum() + np.random.laplace(0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("function", [of_a_part, of_a_column])
@pytest.mark.parametrize("copies", [True, False])
def test_where_parts_of_tables_are_no_copies_a_table_is_not_changed(function, copies, monkeypatch):
    for module in (base, frames):
        monkeypatch.setattr(module, "parts_are_copies", functools.partial(bool, copies))
    assert bool(read_function(function, {"age": declared("age", list(range(4)))}).paths) is copies


def quiet(df):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.log(len(df) + np.random.laplace())


@pytest.mark.slow
@pytest.mark.parametrize(("says", "is_read"), [("warn", True), ("raise", False)])
def test_a_module_that_makes_numpy_raise_is_not_read(says, is_read):
    with np.errstate(divide=says):
        assert bool(read_function(quiet, {"age": declared("age", [0, 1])}).paths) is is_read


def of_logarithms(df):
    return np.log(df["age"]).replace(-np.inf, 0).sum() + np.random.laplace()


@pytest.mark.slow
@pytest.mark.parametrize(("says", "is_read"), [("always", True), ("error", False)])
def test_what_warns_of_some_record_is_not_read_where_warnings_are_errors(says, is_read):
    with warnings.catch_warnings(action=says):
        assert bool(read_function(of_logarithms, {"age": declared("age", [0, 1])}).paths) is is_read


# --- prove -----------------------------------------------------------------------------------------------


def report(people, epsilon=1.0):
    total = people["age"].clip(0, 100).sum() + np.random.laplace(0, 200 / epsilon)
    size = len(people) + np.random.laplace(0, 2 / epsilon)
    return total / max(size, 1)


@pytest.mark.slow
def test_prove_reads_a_function_as_it_is():
    found = dp.prove(report, domain={"age": (0, 150)}, claim="epsilon=1", relation="add-remove", runs=0)
    assert found.verdict.value == "proved"
    assert found.upper.exact == "1"


def test_data_of_another_type_than_the_proof_are_refused():
    data = pd.DataFrame({"age": np.array([1, 2], "int32")})
    with pytest.raises(dp.UsageError, match="int32"):
        dp.prove(report, domain={"age": (0, 150)}, data=data, claim="epsilon=1", relation="add-remove", runs=0)


def of_the_first_column(df):
    return float(df[df.columns[0]].sum() + np.random.laplace(0, 120))


@pytest.mark.slow
def test_a_proof_is_of_the_order_in_which_the_data_have_their_columns():
    domain, data = {"age": (0, 120), "pay": (0, 1e6)}, pd.DataFrame({"pay": [1e3, 2e3], "age": [3, 4]})
    options = {"domain": domain, "relation": "add-remove", "claim": "epsilon=1", "runs": 0}
    found = [dp.prove(of_the_first_column, data=each, **options) for each in (None, data, data[["age", "pay"]])]
    assert [each.upper.exact for each in found] == ["1", "25000/3", "1"]
    assert dp.replay(found[1], target=of_the_first_column).identical


@pytest.mark.slow
def test_without_a_claim_the_bound_is_told():
    found = dp.prove(report, domain={"age": (0, 150)}, relation="add-remove", runs=0)
    assert found.upper.exact == "1"


# --- mistakes that are planted in the tables: real runs stop each of them ------------------------------------


def of_the_table(function):
    """A function of the user's that a library calls would be refused; this one is as if it stood in the table."""
    function.__code__ = function.__code__.replace(co_filename=frames.__file__)
    return function


def halved(original):
    def found(*args, **more):
        number = original(*args, **more)
        return number.like(number.low / 2, number.high / 2)

    return of_the_table(found)


@of_the_table
def forgotten_axis(x, axis=None):
    zeros = 0.0 * columns.plain(x.low)
    return numbers.summed_of(x.rows, x.space, zeros, zeros, whole=False, labels=None, columns=None, kinds=None)


@of_the_table
def a_histogram_of_zeros(a, bins):
    zeros = np.zeros((len(a.space), len(bins) - 1))
    found = numbers.summed_of(a.rows, a.space, zeros, zeros, whole=True, labels=None, columns=None, kinds=None)
    return found, bins


def column_row(name, row):
    return column_methods, "COLUMN", {**column_methods.COLUMN, name: of_the_table(row)}


def numpy_row(name, row):
    return library_calls, "NUMPY", {**library_calls.NUMPY, name: of_the_table(row)}


SELECT, AMONG = noise.select, decisions.among
PLANTED = {
    "a sum moves by half": (sizes, "column_sum", halved(sizes.column_sum), "p39_std_clip"),
    "a length moves by half": (numbers, "length_of", halved(numbers.length_of), "p02_len"),
    "a column's sum does not move": (*column_row("sum", forgotten_axis), "p01_mask"),
    "clip is 0": (*column_row("clip", lambda x, lower=None, upper=None: x.constant(0)), "p21_columns"),
    "fillna is 0": (*column_row("fillna", lambda x, value: x.constant(0)), "p37_fillna"),
    "isin is never true": (*column_row("isin", lambda x, values: x.constant(False)), "p08_isin"),
    "where is always the other": (*numpy_row("where", lambda c, x, y: c.constant(0)), "p27_where"),
    "a histogram does not move": (*numpy_row("histogram", a_histogram_of_zeros), "p10_np_histogram"),
    "a choice costs half": (
        noise,
        "select",
        of_the_table(lambda x, factor: SELECT(x, factor / 2)),
        "p13_expmech_by_hand",
    ),
    "a choice is the first": (decisions, "among", of_the_table(lambda x, ways: AMONG(x, ways[:1])), "w20_scale"),
    "a factor is forgotten": (numbers.Number, "times", of_the_table(lambda self, other: self), "p_three_times"),
}


def three_times(df):
    return len(df) * 3 + np.random.laplace(0, 3)


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("planted", PLANTED)
def test_a_mistake_in_a_table_is_stopped_by_real_runs(planted, monkeypatch):
    owner, name, wrong, program = PLANTED[planted]
    monkeypatch.setattr(owner, name, wrong)
    if name == "column_sum":
        monkeypatch.setattr(column_methods, "column_sum", wrong)
    known = {case.name: case for table in ("forty", "adaptive") for case in cases(table)}
    case = known.get(program) or Case("", program, three_times, {"age": (0, 3)}, 1.0, None)
    reading, bound = read(case)
    assert not reading.refused and bound is not None
    assert second(case, float(bound)) is not None
