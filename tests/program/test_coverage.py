"""Is every way that no run took named, and no way that parameters rule out or numbers contradict?"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

from dpaudit.program.coverage.agreement import ComparedRuns, compare_regions
from dpaudit.program.coverage.outside import WatchedProgram
from dpaudit.program.noise import ScalarNoise
from dpaudit.program.symbolic.noise import SymbolicError, queries, read

SEEN: list[int] = []


def read_whole(program, *, length=2, **parameters):
    watched = WatchedProgram(program, parameters)
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


def plain(x):
    return x


def peculiar(x):
    return 0.0 if isinstance(x, int) else -x


def by_a_table(data, noise, *, other):
    x = data[0] + noise.laplace(1)
    return {True: plain, False: other}[bool(x > 0)](x)


def test_a_function_that_only_the_last_path_calls_is_followed():
    """Where the first path leaves no way open, the next one may still come through code of its own."""
    _, watched = read_whole(by_a_table, other=plain)
    assert watched.open() == ()
    _, watched = read_whole(by_a_table, other=peculiar)
    assert any("isinstance(x, int)" in said for said in watched.open())


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
    compared = ComparedRuns(watched.runs)
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
    compared = ComparedRuns()
    compare_regions(tree, thinner, queries(2), {"width": 1e-300}, compared)
    assert len(compared.missed) == 1


# --- what need not be followed any more ------------------------------------------------------------------------


def level(data, noise):
    x = data[0] + noise.laplace(1)
    return "high" if x > 1 else "low"


def noise():
    return ScalarNoise(np.random.default_rng(1))


def test_a_run_of_code_that_was_read_whole_is_not_followed():
    _, watched = read_whole(level)
    made = noise()
    with watched.runs.following():
        assert level([50.0], made) == "high"
    assert [ran.steps for ran in watched.runs.ran.values()] == [set()]


def late_in_a_loop(data, noise, *, mode):
    for each in data:
        if mode == each:
            return "another"
    return bool(data[0] + noise.laplace(1) > 0)


def in_a_handler(data, noise, *, mode):
    try:
        if (1.0 if mode else 0.5) > 0.75:
            float("none")
    except ValueError:
        return "another"
    return bool(data[0] + noise.laplace(1) > 0)


def in_a_generator(data, noise, *, mode):
    def each():
        yield 1
        yield 2
        if mode:
            yield 3

    return sum(each()), bool(data[0] + noise.laplace(1) > 0)


def in_a_recursion(data, noise, *, mode):
    def down(depth):
        if depth == 0:
            return 0
        below = down(depth - 1)
        if mode and depth == 2:
            return 10
        return below + 1

    return down(3), bool(data[0] + noise.laplace(1) > 0)


def in_a_function_that_was_never_called(data, noise, *, mode):
    def other():
        return "another"

    return other() if mode else bool(data[0] + noise.laplace(1) > 0)


def after_a_context(data, noise, *, mode):
    with suppress(ZeroDivisionError):
        1 / (0 if mode else 1)
        return bool(data[0] + noise.laplace(1) > 0)
    return "another"


def by_a_second_way(data, noise, *, mode):
    kind = "a" if mode == 0 else "b" if mode == 1 else "c"
    return kind == "a" or bool(data[0] + noise.laplace(1) > 0)


HIDDEN = [
    (late_in_a_loop, None, 5.0),
    (in_a_handler, False, True),
    (in_a_generator, False, True),
    (in_a_recursion, False, True),
    (in_a_function_that_was_never_called, False, True),
    (after_a_context, False, True),
    (by_a_second_way, 1, 2),
    (by_a_second_way, 0, 1),
]


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize(("program", "read_as", "run_as"), HIDDEN)
def test_a_run_that_leaves_what_was_read_is_named_however_late(program, read_as, run_as, stops, monkeypatch):
    if not stops:
        monkeypatch.setattr("dpaudit.program.coverage.instructions._MAY_STOP", False)
    _, watched = read_whole(program, mode=read_as)
    made = noise()
    for _ in range(3):  # runs as they were read
        with watched.runs.following():
            program([5.0, 5.0], made, mode=read_as)
    assert not any(said.endswith("which a run came through") for said in watched.open())
    with watched.runs.following():
        program([5.0, 5.0], made, mode=run_as)
    assert any(said.endswith("which a run came through") for said in watched.open())


@pytest.mark.parametrize("program", sorted({each[0] for each in HIDDEN}, key=lambda each: each.__name__))
def test_gaps_are_the_same_where_every_call_is_followed_to_its_end(program, monkeypatch):
    _, some = read_whole(program, mode=0)
    monkeypatch.setattr("dpaudit.program.coverage.instructions._MAY_STOP", False)
    monkeypatch.setattr("dpaudit.program.coverage.instructions._open", lambda code, steps: frozenset({-1}))
    _, whole = read_whole(program, mode=0)
    assert some.coverage.gaps(every=True) == whole.coverage.gaps(every=True)
    assert some.coverage.gaps() == whole.coverage.gaps()
    assert some.open() == whole.open()


def test_the_first_program_of_a_process_is_followed():
    """Python 3.12 tells instructions only if a frame asked for them before tracing began."""
    body = (
        "from dpaudit.program.coverage.instructions import Coverage\n"
        "def half(x):\n    return x / 2\n"
        "coverage = Coverage(half)\n"
        "with coverage.following():\n    half(1)\n"
        "assert coverage.ran[half.__code__].steps\n"
    )
    subprocess.run([sys.executable, "-c", body], check=True)


def test_what_was_entered_and_told_nothing_is_no_proof():
    _, watched = read_whole(by_parameter, mode="other")
    for ran in watched.coverage.ran.values():
        ran.steps.clear()
    assert any("no instruction was told" in said for said in watched.open())
