"""Is every way that no run took named, and no way that parameters rule out or numbers contradict?"""

from __future__ import annotations

import pytest

from dpaudit.program.agreement import Compared
from dpaudit.program.regions import compare_regions
from dpaudit.program.symbolic import SymbolicError, queries, read
from dpaudit.program.watching import Watched

SEEN: list[int] = []


def read_whole(program, *, length=2, **parameters):
    watched = Watched(program, parameters)
    tree = read(program, queries(length), parameters, watched)
    return tree, watched


def by_type(data, noise):
    x = data[0] + noise.laplace(1)
    if isinstance(x, int):
        return x
    return x > 0


def by_parameter(data, noise, *, mode):
    if mode == "none":
        return None
    return bool(data[0] + noise.laplace(1) > 0)


def contradicted(data, noise):
    x = data[0] + noise.laplace(1)
    if x > 1 and x < 0:
        return "never"
    return x > 1


def never_caught(data, noise):
    try:
        return data[0] + noise.laplace(1)
    except OverflowError:
        return data[0]


def counting(data, noise):
    SEEN.append(1)
    return data[0] + noise.laplace(1)


def test_a_way_that_nothing_took_is_named_with_its_line():
    _, watched = read_whole(by_type)
    (said,) = watched.open()
    assert said.startswith("not covered: test_coverage.py:") and said.endswith("(return x)")
    _, watched = read_whole(never_caught)
    assert watched.open()[0].startswith("not covered: the exception that test_coverage.py:")


@pytest.mark.parametrize(("program", "parameters"), [(by_parameter, {"mode": "sign"}), (contradicted, {})])
def test_what_the_scope_rules_out_is_not(program, parameters):
    _, watched = read_whole(program, **parameters)
    assert watched.open() == ()


def test_what_a_run_comes_through_and_no_path_is_named():
    _tree, watched = read_whole(by_parameter, mode="sign")
    with watched.runs.following():
        by_parameter([0.0], None, mode="none")
    assert any(said.endswith("which a run came through") for said in watched.open())


def test_a_state_between_calls_is_refused_by_name():
    with pytest.raises(SymbolicError, match="changes SEEN between calls"):
        read_whole(counting)


def test_every_path_is_run_from_its_own_region():
    def steps(data, noise):
        x = data[0] + noise.laplace(1)
        return next((place for place, level in enumerate((50, 30, 20, 10)) if x > level), 4)

    tree, watched = read_whole(steps)
    compared = Compared(watched.runs)
    compare_regions(tree, steps, queries(2), {}, compared)
    assert len(compared.seen) == 5 and not compared.missed and compared.disagreement is None
    assert watched.open() == ()


def test_a_region_that_no_run_can_come_to_is_missed():
    def thinner(data, noise, *, width):
        x = data[0] + noise.laplace(1)
        if x > 1 and x < 1 + width:
            return 1
        return 0

    tree, _ = read_whole(thinner, width=1e-300)
    compared = Compared()
    compare_regions(tree, thinner, queries(2), {"width": 1e-300}, compared)
    assert len(compared.missed) == 1
