# ruff: noqa: NPY002 – targets draw from what people draw from
"""Is everything put back after a run, whatever a target does, and is what cannot be followed said?"""

from __future__ import annotations

import builtins
import contextlib
import copy
import functools
import math
import os
import pickle
import random
import secrets
import subprocess
import sys
import threading
import time
import types
from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.stats

import dpaudit as dp
from dpaudit.errors import InvalidRunsError
from dpaudit.sampling.outputs import OutputSnapshot
from dpaudit.targets.mechanism import mechanism
from dpaudit.tracing.pair import Word, trace_pair
from dpaudit.tracing.runs import FollowedTarget, telling_place

PAIR = ([1.0], [1.0, 1.0])
KEPT: list = []


def everything():
    rv = sys.modules["scipy.stats._distn_infrastructure"].rv_generic
    owners = (np, np.random, np.random.mtrand, random, math, builtins, os, random.Random, random.SystemRandom,
              threading.Thread, subprocess.Popen, rv)  # fmt: skip
    return {(id(owner), name): value for owner in owners for name, value in vars(owner).items()}


def traced(function, pair=PAIR, claim="epsilon=1"):
    own = mechanism(function)
    return trace_pair(FollowedTarget(own, {}), pair, dp.parse_claim(claim), seed=0, paths=3)


def draws_everything(data, rng):
    return [
        rng.laplace(), np.random.normal(), np.random.default_rng().gumbel(), np.random.RandomState().exponential(),
        random.gauss(0, 1), random.random(), scipy.stats.laplace.rvs(), rng.geometric(0.5), rng.integers(3),
        random.choice([1, 2]), rng.permutation(3), rng.binomial(3, 0.5), max(rng.laplace(), 0), math.exp(rng.laplace()),
    ]  # fmt: skip


def raises(data, rng):
    raise RuntimeError(rng.laplace())


def exits(data, rng):
    sys.exit(1)


def catches_everything(data, rng):
    try:
        return [rng.laplace() for _ in data]
    except BaseException:
        return "caught"


def own_base_exception(data, rng):
    raise type("Own", (BaseException,), {})(rng.laplace())


def stores_noise(data, rng):
    KEPT.append(rng.laplace())
    return sum(KEPT[-2:]) + len(data)


def patches_numpy(data, rng):
    np.random.laplace = lambda *_: 0.0
    return len(data) + rng.laplace()


def threads(data, rng):
    found = []
    one = threading.Thread(target=lambda: found.append(np.random.laplace()))
    one.start()
    one.join()
    return len(data) + found[0]


def forks(data, rng):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return len(data) + rng.laplace()


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    "target",
    [draws_everything, raises, exits, catches_everything, own_base_exception, stores_noise, threads, forks],
    ids=lambda target: target.__name__,
)
def test_everything_is_put_back(target):
    before, state = everything(), random.getstate()
    traced(target)
    after = everything()
    assert {key for key in before if after.get(key) is not before[key]} == set()
    assert before.keys() == after.keys()
    assert random.getstate() == state


def test_a_target_that_replaces_what_is_watched_is_refused_or_put_back():
    before = everything()
    with contextlib.suppress(InvalidRunsError):
        traced(patches_numpy)
    after = everything()
    assert {key for key in before if after.get(key) is not before[key]} == set()


@pytest.mark.slow
def test_a_target_that_catches_everything_is_not_taken_for_a_whole_run():
    assert traced(catches_everything).worst.word in (Word.LEAKS, Word.NOT_SUPPORTED)  # its length is that of the data


@pytest.mark.slow
@pytest.mark.parametrize(("target", "what"), [(threads, "thread"), (forks, "process")])
def test_threads_and_processes_are_named_and_nothing_is_certain(target, what):
    found = traced(target)
    assert any(what in text for text in found.unseen)
    assert found.certain is None


def test_values_that_outlive_their_run_are_plain_numbers():
    traced(stores_noise)
    assert all(isinstance(each + 1.0, float) and each > each - 1 for each in KEPT)


@pytest.mark.slow
def test_nothing_is_imported_for_a_trace():
    code = (
        "import sys, dpaudit as dp\n"
        "def f(data, rng):\n return len(data) + rng.laplace()\n"
        "dp.trace(f, pairs=[([1],[1,1])], claim='epsilon=1', runs=0)\n"
        "print([m for m in ('torch', 'jax', 'pandas', 'opendp', 'diffprivlib', 'scipy.stats') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "[]"


MODULE_GENERATOR = np.random.default_rng()
SUBCLASSED = type("Own", (np.random.Generator,), {})(np.random.PCG64(3))
HELD = {np.random.default_rng(2)}
CACHED = iter(np.random.default_rng(1).laplace(size=10_000).tolist())


def of_the_module(data):
    return len(data) + MODULE_GENERATOR.laplace()


def of_a_subclass(data):
    return len(data) + SUBCLASSED.laplace()


def held_elsewhere(data):
    return len(data) + next(iter(HELD)).laplace()


def drawn_before(data):
    return len(data) + next(CACHED)


def of_the_system(data):
    uniform = (int.from_bytes(os.urandom(7), "big") + 0.5) / 2**56 - 0.5
    return len(data) - math.copysign(1, uniform) * math.log(1 - 2 * abs(uniform))


def of_a_secret(data):
    uniform = (secrets.randbits(53) + 0.5) / 2**53 - 0.5
    return len(data) - math.copysign(1, uniform) * math.log(1 - 2 * abs(uniform))


def copied(data, rng):
    other = copy.deepcopy(rng)
    return [len(data) + rng.laplace(), len(data) - other.laplace()]


def pickled(data, rng):
    other = pickle.loads(pickle.dumps(rng))
    return [len(data) + rng.laplace(), len(data) - other.laplace()]


def numbers_of_draws(data, rng):
    return len(data) + sum(rng.laplace() for _ in data) / len(data)


def through_a_buffer(data, rng):
    return len(data) + np.frombuffer(rng.laplace(size=3).tobytes())[0]


def through_c(data, rng):
    return len(data) + memoryview(rng.laplace(size=3))[0]


def through_text(data, rng):
    return len(data) + float(str(rng.laplace()))


def into_an_array_of_the_caller(data, rng):
    out = np.empty(1)
    rng.standard_normal(out=out)
    return len(data) + out[0]


@functools.cache
def remembered(size):
    return np.random.laplace(size=size)


def of_an_earlier_run(data, rng):
    return len(data) + rng.laplace(0, 0.5) + remembered(len(data))[0]


def put_into_an_earlier_run(data, rng):
    kept = remembered(3)
    kept[0] = len(data) + rng.laplace()
    return kept @ [1.0, 0.0, 0.0] + kept.sum() + np.argmax(kept)


HIDDEN = [drawn_before, of_the_system, of_a_secret, numbers_of_draws, through_a_buffer, through_c, through_text,
          into_an_array_of_the_caller]  # fmt: skip


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("target", HIDDEN, ids=lambda target: target.__name__)
def test_noise_that_is_not_followed_is_never_called_supported_or_certain(target):
    found = trace_pair(FollowedTarget(mechanism(target), {}), PAIR, dp.parse_claim("epsilon=1"), seed=0, paths=2)
    assert found.certain is None
    assert found.worst.word in (Word.NOT_SEEN, Word.NOT_PRICED)


@pytest.mark.slow
@pytest.mark.parametrize("target", [copied, pickled], ids=lambda target: target.__name__)
def test_noise_of_a_copied_generator_is_drawn_twice_and_counts_once(target):
    found = traced(target).worst
    assert found.word is Word.NOT_SUPPORTED
    assert any("drawn twice" in each.text for each in found.found)


@pytest.mark.slow
@pytest.mark.parametrize("target", [of_an_earlier_run, put_into_an_earlier_run])
def test_noise_of_an_earlier_run_is_a_number_like_any_and_is_named(target):
    found = traced(target)
    assert found.certain is None and "noise of an earlier run is used again" in found.unseen


def test_nothing_is_certain_where_shifted_noise_gives_another_output(monkeypatch):
    """What an address is may agree in two runs, and not in the third."""
    monkeypatch.setattr("dpaudit.tracing.pair._reached", lambda *args: False)
    assert traced(lambda data, rng: len(data) + rng.laplace(0, 0.5)).certain is None


def beside_its_text(data, rng):
    noise = rng.laplace()
    return [len(data) + noise, f"{noise:.3f}"]  # together they tell how many records there are


def kind_of_number(data, rng):
    if type(noise := rng.laplace()) is not float:
        raise TypeError("a float is wanted")
    return len(data) + noise


def of_a_clock(data, rng):
    return len(data) + rng.laplace() + time.perf_counter_ns() % 1000


@pytest.mark.parametrize(
    ("target", "word", "why"),
    [
        (beside_its_text, Word.NOT_PRICED, "no shift of the noise hides the change"),
        (kind_of_number, Word.SUPPORTED, "the shift costs ε = 1"),
        (of_a_clock, Word.NOT_SEEN, "randomness that was not followed"),
    ],
)
def test_what_following_changes_or_leaves_out_is_said(target, word, why):
    worst = traced(target).worst
    assert worst.word is word
    assert why in worst.found[0].text


def test_names_that_come_after_the_first_run_are_followed(monkeypatch):
    kept = types.ModuleType("kept")

    def release(data):
        return len(data) + (kept.draw() if hasattr(kept, "draw") else 0)

    target = FollowedTarget(mechanism(release), {})

    def draws():
        return target.run(PAIR[0], 1).recorder.columns

    assert draws() == 0
    monkeypatch.setitem(sys.modules, "kept", kept)
    kept.draw = np.random.laplace
    assert draws() == 1
    kept.spread, kept.draw = kept.draw, float  # no followed one
    assert draws() == 0
    kept.other, kept.draw = None, np.random.laplace  # one name more
    assert draws() == 1
    assert kept.draw is np.random.laplace


def test_a_name_in_main_may_change(monkeypatch):
    """A notebook defines the same name again and again."""
    main = types.ModuleType("__main__")
    main.draw = float
    monkeypatch.setitem(sys.modules, "__main__", main)
    target = FollowedTarget(mechanism(lambda data: len(data) + main.draw()), {})
    assert not target.run(PAIR[0], 1).recorder.columns
    main.draw = np.random.laplace
    assert target.run(PAIR[0], 1).recorder.columns


@pytest.mark.slow
def test_a_value_above_which_one_side_lies_tells_the_sides_apart():
    def release(data, rng):
        return 100 * len(data) + rng.laplace()

    def noise_alone(data, rng):
        return rng.laplace()

    apart, alike = (
        telling_place(FollowedTarget(mechanism(each), {}), PAIR, None, 0, 64) for each in (release, noise_alone)
    )
    assert (apart, alike) == ("the output", None)


def test_of_several_places_that_tell_the_sides_apart_the_first_is_named():
    """Not that which Python happens to have first in a set, in an order of its own in every process."""

    def release(data):
        return {each: np.random.laplace() for each in data}

    pair = list("abcdefghijkl"), ["a"]
    assert telling_place(FollowedTarget(mechanism(release), {}), pair, None, 0, 64) == "the output"


class Keeper:
    of_all = np.random.default_rng(1)
    __slots__ = ("_others", "_own")

    def __init__(self):
        self._own, self._others = np.random.default_rng(2), {"noise": [np.random.RandomState(3)]}

    def own(self, data):
        return len(data) + self._own.laplace()

    def others(self, data):
        return len(data) + self._others["noise"][0].laplace()

    @classmethod
    def shared(cls, data):
        return len(data) + cls.of_all.laplace()

    def generators(self):
        return self._own, self._others["noise"][0], type(self).of_all


KEEPER = Keeper()


def of_an_object(data):
    return KEEPER.own(data)


def of_a_closure(rng):
    return lambda data: len(data) + rng.laplace()


@dataclass(frozen=True, slots=True)
class Frozen:
    rng: np.random.Generator

    def release(self, data):
        return len(data) + self.rng.laplace()


@dataclass
class OfItsOwn:
    rng: np.random.Generator = field(default_factory=np.random.default_rng)


NESTED = {"deep": (1, (np.random.default_rng(6),))}
METHOD = np.random.default_rng(7).laplace


def of_a_tuple(data):
    return len(data) + NESTED["deep"][1][0].laplace()


def of_a_method(data):
    return len(data) + METHOD()


def of_a_default(data, rng=np.random.default_rng(8), draw=np.random.laplace):  # noqa: B008
    return len(data) + (rng.laplace() if len(data) > 1 else draw())


def of_a_factory(data):
    return len(data) + OfItsOwn().rng.laplace()


class Rude:
    def __getattribute__(self, name):
        raise RuntimeError(name)


RUDE = Rude()


def beside_the_rude(data):
    return [RUDE for _ in ()] or KEEPER.own(data)


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("target", [KEEPER.own, KEEPER.others, Keeper.shared, of_an_object, beside_the_rude,
                                    of_a_closure(np.random.default_rng(4)), Frozen(np.random.default_rng(9)).release,
                                    of_a_tuple, of_a_method, of_a_default, of_a_factory, of_a_subclass,
                                    held_elsewhere])  # fmt: skip
def test_generators_that_a_target_keeps_are_followed_and_put_back(target):
    before = (*KEEPER.generators(), NESTED["deep"], METHOD, of_a_default.__defaults__)
    assert traced(target).worst.word is Word.SUPPORTED
    assert traced(target, claim="epsilon=0.5").worst.word is Word.VIOLATED
    after = (*KEEPER.generators(), NESTED["deep"], METHOD, of_a_default.__defaults__)
    assert all(one is other for one, other in zip(after, before, strict=True))


@pytest.mark.slow
def test_a_generator_of_the_module_is_followed_and_keeps_its_state():
    assert traced(of_the_module).worst.word is Word.SUPPORTED
    assert traced(of_the_module, claim="epsilon=0.5").worst.word is Word.VIOLATED
    assert type(MODULE_GENERATOR) is np.random.Generator


class Attribute:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return "Attribute"


UNLIKE = {
    "last bits": lambda n: 5.0 + 1e-12 * n,
    "sign of zero": lambda n: -0.0 if n > 1 else 0.0,
    "type": lambda n: 1 if n > 1 else 1.0,
    "bits of NaN": lambda n: math.nan if n > 1 else -math.nan,
    "end of a text": lambda n: "a" * 300 + str(n),
    "end of a key": lambda n: {"a" * 300 + str(n): 1},
    "end of bytes": lambda n: bytes(500) + bytes([n]),
    "text in an array": lambda n: np.array(["z" * 300 + str(n)]),
    "an attribute": Attribute,
}


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("part", UNLIKE.values(), ids=UNLIKE)
def test_nothing_is_supported_where_the_output_differs_in_any_way(part):
    own = mechanism(lambda data, rng: [len(data) + rng.laplace(), part(len(data))])
    found = trace_pair(FollowedTarget(own, {}, OutputSnapshot), PAIR, dp.parse_claim("epsilon=1"), seed=0, paths=3)
    assert found.worst.word is Word.NOT_PRICED
    own = mechanism(lambda data, rng: [len(data) + rng.laplace(), part(1)])
    found = trace_pair(FollowedTarget(own, {}, OutputSnapshot), PAIR, dp.parse_claim("epsilon=1"), seed=0, paths=3)
    assert found.worst.word is Word.SUPPORTED


@pytest.mark.slow
def test_choices_of_what_cannot_be_read_are_not_supported():
    own = mechanism(lambda data, rng: [rng.choice([True, False]), (len(data) for _ in data)])
    found = trace_pair(FollowedTarget(own, {}, OutputSnapshot), PAIR, dp.parse_claim("epsilon=1"), seed=0, paths=3)
    assert found.certain is None and found.worst.word is Word.NOT_PRICED


def test_choices_are_told_apart_by_the_end_of_a_text():
    def release(data, rng):
        return "a" * 300 + str(len(data) if rng.choice([True, False], p=[0.9, 0.1]) else 3 - len(data))

    own = mechanism(release)
    found = trace_pair(FollowedTarget(own, {}, OutputSnapshot), PAIR, dp.parse_claim("epsilon=1"), seed=0, paths=3)
    assert found.worst.word is Word.VIOLATED and found.certain.epsilon == pytest.approx(math.log(9))
