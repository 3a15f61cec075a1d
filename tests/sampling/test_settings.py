"""Does nothing that a target changes for all of Python reach dpaudit's arithmetic, its files, or whoever called?"""

import builtins
import datetime
import decimal
import fractions
import gc
import json
import math
import os
import subprocess
import sys
import threading
import time
import warnings
from unittest import mock

import msgspec
import numpy as np
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit import settings  # the first with all the filters of warnings that libraries add
from dpaudit.errors import Notice
from dpaudit.loading import load
from dpaudit.verify import answer as conductor

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_own_functions")]

ASKED = {"claim": "epsilon=1", "pairs": [(0, 1)], "relation": "declared", "runs": 500, "seed": 0}
RELEASE = """
def release(data, rng):
    return data + rng.laplace()
"""


@pytest.fixture(autouse=True)
def put_back():
    with settings.kept():
        yield


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a module before a release; all have one name."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        (tmp_path / "target.py").write_text(text + RELEASE, encoding="utf-8")
        return f"{tmp_path / 'target.py'}:release"

    return write


# --- settings of whoever asks


@pytest.mark.parametrize("asked", [dp.audit, dp.tools.privacy_curve])
def test_whoever_asks_has_settings_of_their_own(asked):
    """Every public function that runs something works under dpaudit's; its notices name the line of whoever asks."""
    draws = np.random.default_rng(0)

    def release(data):
        return data + draws.laplace()

    with np.errstate(all="raise"), pytest.warns(Notice, match="runs in one process") as noticed:
        asked(release, **ASKED, workers=2)
    assert {notice.filename for notice in noticed} == {__file__}


# --- settings that a target changes while it runs


def raises_on_errors():
    np.seterr(all="raise")


def traps():
    decimal.getcontext().traps[decimal.Inexact] = True
    decimal.getcontext().prec = 2


def warns_as_errors():
    warnings.simplefilter("error")


def is_shallow():
    sys.setrecursionlimit(sys.getrecursionlimit() + 100)


def hoards():
    gc.disable()


def is_silent():
    sys.stdout = None


def prints_short():
    np.set_printoptions(precision=1, suppress=True)


def moves_away():
    os.chdir("/")


def writes_short():
    sys.set_int_max_str_digits(700)


CHANGES = [raises_on_errors, traps, warns_as_errors, is_shallow, hoards, is_silent, prints_short, moves_away,
           writes_short]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("sampler", [False, True])
def test_what_a_target_changes_is_put_back(change, sampler):
    def seeded(data, rng):
        change()
        return data + rng.laplace()

    def many(data, size, rng):
        change()
        return data + rng.laplace(size=size)

    before = shown()
    found = dp.audit(many if sampler else seeded, **ASKED)
    assert found.verdict is not dp.Verdict.VIOLATED
    assert shown() == before


def shown():
    now = settings.Settings.now()
    assert conductor.audit is dp.audit
    values = {name: getattr(now, name) for name in settings.Settings.__slots__ if name != "decimals"}
    return {**values, "decimals": repr(now.decimals)}


# --- settings that it changes while it is loaded, or that whoever called has made

LOADED = """
import numpy as np; np.seterr(all="raise")
import numpy as np; np.seterrcall(print); np.seterr(all="call")
import numpy as np; np.setbufsize(160)
import numpy as np; np.set_printoptions(precision=0, threshold=1, suppress=True)
import numpy as np; np.set_printoptions(legacy="1.13")
import numpy as np; np.random.seed(0)
import random; random.seed(0)
import decimal; decimal.getcontext().prec = 1
import decimal; decimal.getcontext().traps[decimal.Inexact] = True
import decimal; decimal.setcontext(decimal.BasicContext)
import warnings; warnings.simplefilter("error")
import warnings; warnings.showwarning = None
import sys; sys.set_int_max_str_digits(640)
import sys; sys.setrecursionlimit(400)
import sys; sys.stdout = None
import sys; sys.stdout = sys.stderr = None
import gc; gc.disable()
import os; os.chdir("elsewhere")
import os; os.environ.clear()
import os; os.umask(0o777)
import sys; sys.path.insert(0, "elsewhere")
import sys; sys.path.reverse()
import locale; locale.setlocale(locale.LC_NUMERIC, "C.UTF-8")
import time, os; os.environ["TZ"] = "Asia/Tokyo"; time.tzset()
import numpy as np; np.int = int; np.float = float
import builtins; builtins.display = print
""".strip().split("\n")


def audited(target):
    """The evidence that a target leaves, as a text."""
    found = dp.audit(target, **ASKED)
    return msgspec.structs.replace(found, run=None).to_json()


KNOWN = []


def clean_evidence(written):
    """The evidence of a target that sets nothing; the same wherever it is written."""
    if not KNOWN:
        KNOWN.append(audited(written("")))
    return KNOWN[0]


@pytest.mark.parametrize("line", LOADED)
def test_what_a_target_sets_when_it_is_loaded_changes_no_evidence(line, written, monkeypatch):
    clean = clean_evidence(written)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.setattr(sys, "path", list(sys.path))
    umask = os.umask(0)
    os.umask(umask)
    try:
        assert audited(written(line)) == clean
    finally:
        os.umask(umask)


@pytest.mark.parametrize("change", [change for change in CHANGES if change is not moves_away])
def test_what_whoever_called_has_set_changes_no_evidence_and_stays(change, written):
    target, clean = written(""), clean_evidence(written)
    change()
    before = shown()
    assert audited(target) == clean
    assert shown() == before


def test_a_target_runs_under_the_settings_that_its_module_made(written):
    text = 'import numpy as np\nnp.seterr(all="raise")\n'
    body = "\ndef divided(data, rng):\n    np.float64(1) / np.float64(0)\n    return 0\n"
    target = written(text + body).replace(":release", ":divided")
    for _ in range(2):  # the second time the module is loaded already
        with pytest.raises(dp.UsageError, match=r"raises in every run.*FloatingPointError"):
            dp.audit(target, **ASKED)
    with pytest.raises(FloatingPointError):  # as after any import
        load(target).function(0, np.random.default_rng(0))


def test_a_folder_that_a_target_moves_to_is_not_where_results_go(written, tmp_path):
    target = written('import os; os.chdir("elsewhere")')
    dp.audit(target, **ASKED, resume="blocks")
    assert (tmp_path / "blocks").exists()


@pytest.mark.parametrize(
    "line", mostly_at_night(['import os; os.chdir("elsewhere")', "import sys; sys.stdout = sys.stderr = None"])
)
def test_in_process_results_are_written_where_they_were_asked_for(line, written, tmp_path):
    command = [sys.executable, "-m", "dpaudit", "audit", written(line), "--in-process", "--claim", "epsilon=1"]
    command += ["--pair", "pair.json", "--relation", "declared", "--runs", "500", "--seed", "0", "--json", "out.json"]
    (tmp_path / "pair.json").write_text("[0, 1]", encoding="utf-8")
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd=tmp_path)
    assert (tmp_path / "out.json").exists() and "ε = 1" in done.stdout, done.stderr


# --- functions that a target replaces

REPLACED = [
    ("json", "dumps"), ("json", "loads"), ("json.encoder", "JSONEncoder"),
    ("builtins", "round"), ("builtins", "sum"), ("builtins", "len"), ("builtins", "sorted"), ("builtins", "open"),
    ("builtins", "float"), ("builtins", "max"), ("builtins", "isinstance"),
    ("math", "log"), ("math", "exp"), ("math", "fsum"), ("math", "comb"),
    ("time", "perf_counter"), ("time", "perf_counter_ns"), ("time", "time"), ("time", "monotonic"),
    ("datetime", "datetime"), ("hashlib", "sha256"), ("hashlib", "blake2b"), ("struct", "pack"), ("os", "replace"),
    ("os", "fsync"), ("tempfile", "mkstemp"), ("fractions", "Fraction"), ("decimal", "Decimal"),
    ("numpy", "sum"), ("numpy", "cumsum"), ("numpy", "log"), ("numpy", "bincount"), ("numpy", "where"),
    ("numpy", "sort"), ("numpy", "unique"), ("numpy", "isfinite"), ("numpy", "float64"), ("numpy.linalg", "norm"),
    ("numpy.random", "SFC64"), ("numpy.random", "default_rng"),
    ("dpaudit.events", "choose"), ("dpaudit.auditing.verdict", "decide"), ("dpaudit.stats.joint_region", "lower_bound"),
    ("dpaudit.auditing.pair", "count_event"), ("dpaudit.sampling.runs", "outputs_of"),
]  # fmt: skip
METHODS = [("fractions", "Fraction", "__le__"), ("json.encoder", "JSONEncoder", "default"),
           ("dpaudit.evidence.event", "Event", "toward"), ("dpaudit.sampling.outputs", "Outputs", "first")]  # fmt: skip


def line_that_replaces(module, name):
    """A replacement that does what was there, so that nothing but the check can notice it."""
    return f"import {module} as m\nkept = m.{name}\nm.{name} = lambda *a, **k: kept(*a, **k)\n"


@pytest.mark.parametrize(("module", "name"), REPLACED)
def test_a_function_that_is_replaced_when_a_target_is_loaded_is_named(module, name, written):
    original = getattr(sys.modules[module], name)
    for _ in range(2):  # nor the second time, as what was loaded is forgotten
        with pytest.raises(dp.UsageError, match=rf"{name} was replaced when the target was loaded"):
            dp.audit(written(line_that_replaces(module, name)), **ASKED)
        assert getattr(sys.modules[module], name) is original


@pytest.mark.parametrize(("module", "name"), REPLACED[::3])
def test_a_function_that_is_replaced_while_a_target_runs_is_named(module, name):
    owner, calls = sys.modules[module], []
    original = getattr(owner, name)

    def release(data, rng):
        calls.append(data)
        if len(calls) == 300:
            setattr(owner, name, lambda *a, **k: original(*a, **k))
        return data + rng.laplace()

    found = dp.audit(release, **ASKED)
    assert found.verdict is dp.Verdict.INVALID and f"{name} was replaced while the target ran" in found.reason
    assert getattr(owner, name) is original


@pytest.mark.parametrize(("module", "kind", "name"), METHODS)
def test_a_method_that_is_replaced_is_named(module, kind, name, written):
    with pytest.raises(dp.UsageError, match=rf"{kind}.{name} was replaced"):
        dp.audit(written(line_that_replaces(module, f"{kind}.{name}")), **ASKED)


def test_a_function_that_is_replaced_in_a_call_alone_is_no_matter():
    def frozen(data, rng):
        with mock.patch("time.time", return_value=0.0), mock.patch("json.dumps"), mock.patch("builtins.round"):
            return round(data) and data + rng.laplace()

    assert dp.audit(frozen, **ASKED).verdict is not dp.Verdict.INVALID


@pytest.mark.parametrize("work", ["audit", "plan", "sensitivity", "prove"])
def test_nothing_is_computed_where_somebody_else_has_replaced_a_function(work):
    asked = {"audit": ASKED, "plan": {"detect": 2}, "sensitivity": {"pairs": [([1], [])]}, "prove": {"length": 1}}[work]
    target = (lambda data: len(data)) if work == "sensitivity" else "laplace"
    with mock.patch("math.exp"), pytest.raises(dp.UsageError, match=r"math\.exp was replaced before"):
        getattr(dp.tools if work == "sensitivity" else dp, work)(target, **asked)


def test_what_a_test_has_replaced_between_two_audits_is_kept_like_the_rest():
    from dpaudit.auditing import pair

    for _ in range(2):  # now all modules are loaded, and their functions are listed
        dp.audit("laplace", seed=1, runs=400)
    for name, function in (("measure", mock.Mock(wraps=pair.measure)), ("another", lambda: None)):
        with mock.patch.object(pair, name, function, create=True):
            assert dp.audit("laplace", seed=1, runs=400).verdict is not dp.Verdict.INVALID
            assert getattr(pair, name) is function


def test_a_clock_that_was_frozen_before_dpaudit_was_loaded_is_noticed():
    """As by a library of tests that freezes time for a whole test."""
    text = """
import threading
import time
class Frozen:
    __module__ = "freezer"
    def __call__(self): return 0.0
real, time.perf_counter = time.perf_counter, Frozen()
import dpaudit as dp
try: dp.audit("laplace", runs=500, seed=0)
except dp.UsageError as error: print(error)
time.perf_counter = real
print(dp.audit("laplace", runs=500, seed=0).verdict)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert "time.perf_counter was replaced before" in done.stdout and "NOT VIOLATED" in done.stdout.upper(), done


def test_a_program_that_replaces_functions_is_not_proved():
    def release(data, noise):
        math.exp = lambda x: 0.0
        return data[0] + noise.laplace(1)

    original = math.exp
    try:
        with pytest.raises((dp.UsageError, dp.InvalidRunsError)):
            dp.prove(release, length=1, domain="real", relation="replace", claim="epsilon=1", runs=0, seed=0)
    finally:
        math.exp = original


def test_what_is_watched_is_what_is_there():
    assert settings._WATCHED.holds() and settings._own_functions().holds()
    assert not settings._WATCHED.replaced() and not settings._STRANGE
    assert builtins.len is settings._PYTHON[builtins]["len"] and time.time is settings._PYTHON[time]["time"]
    known = {datetime: "datetime", json: "dumps", fractions.Fraction: "__add__", np: "sum", os: "replace"}
    assert all(name in settings._PYTHON[owner] for owner, name in known.items())


def test_audits_in_two_threads_leave_nothing_behind(monkeypatch):
    entered, left = threading.Event(), threading.Event()

    def later():
        with settings.own_settings():
            entered.set()
            left.wait()

    thread = threading.Thread(target=later)
    sys.set_int_max_str_digits(700)
    with settings.own_settings():
        thread.start()
        entered.wait()
    meanwhile = sys.get_int_max_str_digits()
    left.set()
    thread.join()
    assert meanwhile != 700 and sys.get_int_max_str_digits() == 700  # as long as one computes, and then
    monkeypatch.setattr("dpaudit.loading.entry_points", list)  # nobody computes now: it is nobody's business
    with settings.lent():
        pass
