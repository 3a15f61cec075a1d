"""Is noise found that is the same in every process, as a module seeds it while it is imported?"""

import importlib
import itertools
import secrets
import sys

import numpy as np
import pandas as pd
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.reading.runs.passes import UnreadError, make
from dpaudit.reading.seeded import seeded_by
from dpaudit.reading.universe.cells import declared
from dpaudit.reading.universe.drive import read

COLUMNS = {"age": declared("age", list(range(3)))}
DATA = pd.DataFrame({"age": [1, 2, 0]})
START = "import numpy as np, random, functools, importlib, pickle\nfrom scipy import stats\n"
NUMPY = "def f(df): return len(df) + np.random.laplace()\n"
PYTHON = "def f(df): return len(df) + random.expovariate(1.0) - random.expovariate(1.0)\n"
KEPT = "def f(df): return len(df) + rng.laplace()\n"
HELPERS = {
    "seeds_it": "import numpy as np\nnp.random.seed(0)\nX = 1\n",
    "seeds_when_called": "import numpy as np\ndef setup():\n    np.random.seed(0)\n",
    "imports_one": "from seeds_it import X\nY = 1\n",
}
SEEDS, PLAIN = HELPERS["seeds_it"], "X = 1\n"
PACKAGES = {
    "whole": {"__init__": "", "seeding": SEEDS, "plain": PLAIN},
    "calling": {
        "__init__": "from importlib import import_module\nimport_module(__name__ + '.seeding')\n",
        "seeding": SEEDS,
        "plain": PLAIN,
    },
}
SHARED = {
    "plain": "np.random.seed(0)\n",
    "by keyword": "np.random.seed(seed=0)\n",
    "under if": "if True:\n    np.random.seed(0)\n",
    "in a loop": "for each in range(3): np.random.seed(each)\n",
    "in a comprehension": "[np.random.seed(each) for each in range(3)]\n",
    "by map": "list(map(np.random.seed, [1]))\n",
    "by partial": "functools.partial(np.random.seed, 0)()\n",
    "alias": "s = np.random.seed\ns(0)\ndel s\n",
    "imported alias": "from numpy.random import seed as s\ns(0)\ndel s\n",
    "module alias": "r = np.random\nr.seed(0)\n",
    "by name": "getattr(np.random, 'seed')(0)\n",
    "by names of a module": "vars(np.random)['seed'](0)\n",
    "by exec": "exec('np.random.seed(0)')\n",
    "state": "np.random.set_state(np.random.RandomState(0).get_state())\n",
    "inner state": "np.random.mtrand._rand.seed(0)\n",
    "bits": "np.random.set_bit_generator(np.random.PCG64(0))\n",
    "function": "def setup():\n    r = np.random\n    r.seed(3)\ndef g(): setup()\ng()\n",
    "lambda": "go = lambda: np.random.seed(0)\ngo()\n",
    "constructor": "class A:\n    def __init__(self): np.random.seed(3)\nA()\n",
    "class body": "class A:\n    np.random.seed(3)\n",
    "decorator": "def d(f):\n    np.random.seed(3)\n    return f\n@d\n",
    "default": "def g(x=np.random.seed(0)): return x\n",
    "helper": "import seeds_it\n",
    "a helper's name": "from seeds_it import X\n",
    "a helper of a helper": "from imports_one import Y\n",
    "a helper's function": "from seeds_when_called import setup as go\ngo()\n",
    "a part that its package imports": "from calling.plain import X\n",
    "imported by name": "importlib.import_module('seeds_it')\n",
}
WRONG = {
    **{name: text + NUMPY for name, text in SHARED.items()},
    "random": "random.seed(1)\n" + PYTHON,
    "random's state": "random.setstate(random.Random(1).getstate())\n" + PYTHON,
    "scipy": "np.random.seed(0)\ndef f(df): return len(df) + stats.laplace.rvs()\n",
    "scipy's own state": "D = stats.laplace(0, 1)\nD.random_state = 3\ndef f(df): return len(df) + D.rvs()\n",
    "kept": "rng = np.random.default_rng(0)\n" + KEPT,
    "kept, of a long seed": "rng = np.random.default_rng(0x123456789abcdef0123456789abcdef)\n" + KEPT,
    "kept, of a named seed": "SEED = 2**127\nrng = np.random.default_rng(SEED)\n" + KEPT,
    "kept, of a sequence": "rng = np.random.default_rng(np.random.SeedSequence(2**127).spawn(2)[0])\n" + KEPT,
    "kept, of bits": "rng = np.random.Generator(np.random.PCG64(2**127))\n" + KEPT,
    "kept, state set": "rng = np.random.default_rng()\nrng.bit_generator.state = np.random.PCG64(0).state\n" + KEPT,
    "kept, from a file": "rng = pickle.loads(pickle.dumps(np.random.default_rng()))\n" + KEPT,
}
RIGHT = {
    "nothing": NUMPY,
    "the other library": "random.seed(0)\n" + NUMPY,
    "NumPy's, for random": "np.random.seed(0)\n" + PYTHON,
    "a script": "if __name__ == '__main__':\n    np.random.seed(0)\n" + NUMPY,
    "a function that nobody calls": "def other():\n    np.random.seed(0)\n" + NUMPY,
    "data": "data = np.random.default_rng(7).normal(size=3)\n" + NUMPY,
    "settings": "CONFIG = {'seed': 0}\nclass A: seed = 3\nX = A.seed\nY = CONFIG['seed']\n" + NUMPY,
    "fresh": "np.random.seed()\nrandom.seed(None)\n" + NUMPY,
    "another part of a package": "from whole.plain import X\n" + NUMPY,
    "a fresh generator": "np.random.seed(0)\nrng = np.random.default_rng()\n" + KEPT,
    "data beside a fresh one": "data = np.random.default_rng(7).normal(size=3)\nrng = np.random.default_rng()\n" + KEPT,
}
_NUMBER = itertools.count()


@pytest.fixture
def function_of(tmp_path, monkeypatch):
    """Imports a module of some text; states of generators are put back."""
    bits, state, own = np.random.get_bit_generator(), np.random.get_state(), importlib.import_module("random")  # noqa: NPY002
    before = own.getstate()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("numpy.random.bit_generator.randbits", secrets.randbits)  # a fresh seed is long
    for name, text in HELPERS.items():
        (tmp_path / f"{name}.py").write_text(text)
    made = list(HELPERS)
    for name, parts in PACKAGES.items():
        (tmp_path / name).mkdir()
        made += [name, *(f"{name}.{part}" for part in parts)]
        for part, text in parts.items():
            (tmp_path / name / f"{part}.py").write_text(text)
    importlib.import_module("whole.seeding")  # by somebody else

    def function(text):
        made.append(f"seeded_{next(_NUMBER)}")
        (tmp_path / f"{made[-1]}.py").write_text(START + text)
        return importlib.import_module(made[-1]).f

    yield function
    for name in made:
        sys.modules.pop(name, None)
    np.random.set_bit_generator(bits)
    np.random.set_state(state)  # noqa: NPY002
    own.setstate(before)


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_noise_that_is_the_same_in_every_process_is_not_proved(text, function_of):
    refused = read(function_of(text), COLUMNS).refused
    assert any("seed" in each.what for each in refused)


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_noise_that_is_fresh_is_read(text, function_of):
    function = function_of(text)
    assert not read(function, COLUMNS).refused
    assert make(function, (DATA,), {}, 8, np.random.SeedSequence(1)).parts


@pytest.mark.parametrize(("name", "told"), [("by exec", "may be the same"), ("plain", "is the same")])
def test_what_may_seed_and_what_does_are_told_apart(name, told, function_of):
    assert told in read(function_of(WRONG[name]), COLUMNS).refused[0].what


@pytest.mark.parametrize("name", ["plain", "helper", "function", "random", "scipy's own state", "kept"])
def test_the_runs_are_calls(name, function_of):
    with pytest.raises(UnreadError, match="same in every process"):
        make(function_of(WRONG[name]), (DATA,), {}, 8, np.random.SeedSequence(1))


NAMED = {
    "in a list": "def other():\n    np.random.seed(0)\nALL = [other]\n",
    "in an argument": "def other():\n    np.random.seed(0)\nKEPT = sorted([other], key=id)\n",
    "under a condition": "import sys\nif len(sys.argv) > 10**9:\n    np.random.seed(0)\n",
    "of another module": "import seeds_when_called\ndef setup(): pass\nsetup()\n",
    "in a method": "class A:\n    def other(self): np.random.seed(0)\nX = A()\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_at_night(NAMED))
def test_nobody_is_accused_of_what_he_only_names(name, function_of):
    found = dp.trace(
        function_of(NAMED[name] + NUMPY), data=DATA, claim="epsilon=1", relation="add-remove"
    ).trace.findings
    assert not any("process" in each.text for each in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "where"),
    mostly_at_night(
        [
            ("plain", ".py:3"),
            ("helper", "seeds_it.py:2"),
            ("kept", "rng in seeded_"),
            ("constructor", ".py:4"),
            ("random", ".py:3"),
        ]
    ),
)
def test_the_trace_tells_the_line(name, where, function_of):
    first = dp.trace(function_of(WRONG[name]), data=DATA, claim="epsilon=1", relation="add-remove").trace.findings[0]
    assert first.word == "not supported"
    assert "same in every process" in first.text
    assert where in first.where


@pytest.mark.slow
def test_the_trace_does_not_tell_it_of_fresh_noise(function_of):
    found = dp.trace(function_of(RIGHT["the other library"]), data=DATA, claim="epsilon=1", relation="add-remove")
    assert not any("process" in each.text for each in found.trace.findings)


@pytest.mark.slow
def test_what_stands_in_place_of_a_source_is_none(function_of, monkeypatch):
    text = "class Zero(stats.rv_continuous):\n    def _rvs(self, *args, size=None, random_state=None): return 0.0\n"
    own = "D = Zero(name='laplace')\ndef f(df): return len(df) + D.rvs()\n"
    assert read(function_of(text + own), COLUMNS).refused
    monkeypatch.setattr(np.random, "laplace", lambda *args, **more: 0.0)
    assert read(function_of(NUMPY), COLUMNS).refused


def test_what_a_name_is_now_is_asked_each_time(function_of):
    function = function_of("setup = abs\ndef g(): setup(0)\ng()\n" + NUMPY)
    assert not seeded_by([function])
    function.__globals__["setup"] = np.random.seed
    assert seeded_by([function]).numpy
    function.__globals__["setup"] = abs
    assert not seeded_by([function])
