"""Is what is read of many runs in one pass what the function itself returns in each of them?

Every run of each trap is repeated by the function itself with the same draws. A trap may be refused; what is read must
be right in all runs, or be stopped by the few runs that are repeated in any audit.
"""

import functools
import importlib.util
import logging
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpaudit.reading.runs.domain import Runs
from dpaudit.reading.runs.passes import UnreadError, make
from dpaudit.reading.runs.values import Container
from dpaudit.sampling.outputs import agree, from_reading

TRAPS = Path(__file__).parent / "traps"


def _loaded(name):
    spec = importlib.util.spec_from_file_location(f"traps_{name}", TRAPS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _functions(module):
    return {name: each for name, each in vars(module).items() if name[1:3].isdigit() and callable(each)}


def _data():
    rng, rows = np.random.default_rng(3), 200
    return pd.DataFrame({
        "age": rng.integers(0, 100, rows),
        "income": rng.lognormal(10, 1, rows).round(),
        "city": rng.choice([f"c{k}" for k in range(20)], rows),
        "sex": rng.choice(["f", "m"], rows),
    })  # fmt: skip


def _ends(function, runs, repeated, data, seed=5):
    """How the reading of a function ends: "" or why it is not read."""
    try:
        made = make(function, (data,), {}, runs, np.random.SeedSequence(seed), repeated)
    except UnreadError as error:
        return str(error)
    assert agree(from_reading(made, runs), made.repeated), "what it returns is kept as something else"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "refused", "runs"),
    [
        ("arithmetic", 4, 50),
        ("control", 0, 50),
        ("state_and_draws", 37, 50),
        pytest.param("rare_branches", 13, 500, marks=pytest.mark.nightly),
        pytest.param("lists_and_texts", 2, 40, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_every_run_is_right_or_the_function_is_not_read(name, refused, runs):
    data, unread = _data(), {}
    for title, function in _functions(_loaded(name)).items():
        why = _ends(function, runs, runs, data)
        if "differs from the function" in why:
            assert _ends(function, runs, 24, data), f"{title}: {why}, which the repeated runs do not show"
        if why:
            unread[title] = why
    assert len(unread) <= refused, unread


OUTLASTING = ("a08", "a09", "a10", "a11", "a12", "a13", "a14", "a15", "a16", "h01", "h02", "h03")


@pytest.mark.parametrize("name", OUTLASTING)
def test_what_outlasts_a_call_is_refused_and_not_changed(name):
    module = _loaded("state_and_draws")
    function = next(each for title, each in _functions(module).items() if title == name)
    why = _ends(function, 64, 8, _data())
    assert why
    assert "differs" not in why
    assert (module.CACHE, module.TOTAL, module.ARR.tolist(), module.K.count, module.K.seen) == ({}, [0], [0] * 3, 0, [])
    assert name == "h03" or not (function.__defaults__ or [[]])[0]
    assert (next(module.COUNTING), next(module.KEPT)) == (0, 0)


def noisy(data):
    warnings.warn("heard", stacklevel=1)
    logging.getLogger("traps").warning("heard")
    print("heard")
    return len(data) + np.random.laplace() + _ours()  # noqa: NPY002


def _ours():
    return np.random.default_rng().laplace()


def _process():
    return np.random.get_state()[1].tolist(), list(warnings.filters), logging.root.manager.disable  # noqa: NPY002


def test_a_pass_leaves_the_process_as_it_was(capsys, caplog):
    np.random.seed(3)  # noqa: NPY002
    before = _process()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(noisy, ([1, 2],), {}, 200, np.random.SeedSequence(1), 8)
    assert _process() == before
    assert capsys.readouterr().out == ""
    assert not caplog.records


def test_the_same_seed_makes_the_same_runs():
    one, two = (make(noisy, ([1],), {}, 300, np.random.SeedSequence(4), 2).parts[0] for _ in range(2))
    assert [one.of(k) for k in range(300)] == [two.of(k) for k in range(300)]


def test_what_is_not_the_users_is_not_read():
    for function in (len, np.mean, np.random.default_rng(0).laplace):
        with pytest.raises(UnreadError, match="not written in modules of yours"):
            make(function, (1.0,), {}, 10, np.random.SeedSequence(0))


# --- mistakes of the domain: each has to be stopped by the runs that are repeated ------------------------


def _everywhere(data):
    x, y = round(np.random.laplace(0, 2)), np.random.laplace()  # noqa: NPY002
    out, k = {"x": x}, 0
    if y > 0.3:
        out["y"] = round(y, 1)
    while k < 5 and np.random.laplace() > 0:  # noqa: NPY002
        k += 1
    try:
        out["q"] = 10 // x
    except ZeroDivisionError as error:
        out["q"] = str(error)
    held = [x, k]
    same = held
    same.append(k)
    out["has"] = "yes" if "y" in out else "no"
    return out, held, (x or "none"), max(x, k), [v for v in held if v > 0], -x, f"{x}", not x


def _other(method, change):
    """A method of the domain, in whose place stands a wrong one."""
    old = getattr(Runs, method)
    return method, lambda self, *args, **keywords: change(functools.partial(old, self), *args, **keywords)


def _floored(old, name, left, right):
    return old("sub" if name == "floordiv" else name, left, right)


@pytest.mark.slow
def test_a_large_array_for_each_run_is_left_to_the_function_itself():
    def nearest(rows):
        centres = np.random.default_rng().random((2, 3))
        apart = ((rows[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        return np.bincount(apart.argmin(axis=1), minlength=2)

    small, large = np.ones((100, 3)), np.ones((5_000, 3))
    assert make(nearest, (small,), {}, 20, np.random.SeedSequence(0)).parts
    with pytest.raises(UnreadError, match="arrays of 30,000 numbers that differ by run"):
        make(nearest, (large,), {}, 2_000, np.random.SeedSequence(0))


def _at_least(old, name, left, right):
    return old("lt" if name == "gt" else name, left, right)


def _elsewhere(old, owner, name):
    return old(owner if name != "append" else Container([]), name)


MISTAKES = {
    "every run takes the first arm": _other("branch", lambda old, value: old(True)),
    "an assignment reaches all runs": _other("put", lambda old, new, before: new),
    "not is left out": _other("not_", lambda old, value: value),
    "minus is left out": _other("unary", lambda old, name, value: value),
    "quotients are differences": _other("binary", _floored),
    "comparisons are turned round": _other("compare", _at_least),
    "texts are empty": _other("join", lambda old, parts: ""),
    "or is and": _other("bool_op", lambda old, is_and, *parts: old(True, *parts)),
    "a list is appended to that nobody holds": _other("attribute", _elsewhere),
    "every run has the key": _other("compare", lambda old, name, *parts: name == "in_" or old(name, *parts)),
    "the second arm is for all": _other("if_exp", lambda old, test, yes, no: no()),
}


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_repeated_runs_stop_every_planted_mistake(mistake, monkeypatch):
    assert not _ends(_everywhere, 2_000, 24, [1])
    monkeypatch.setattr(Runs, *MISTAKES[mistake])
    assert "differs from the function" in _ends(_everywhere, 2_000, 24, [1])
