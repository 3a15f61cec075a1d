"""Is any program PROVED that looks at numbers, or keeps a state, where the rewriting of its source is not asked?"""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import functools
import heapq
import itertools
import operator
from typing import Any

import numpy as np
import pytest
from support.hostile_programs import NAMED, assert_not_proved, listed, verdict_of

import dpaudit as dp
from dpaudit.decimals import short_decimal

HOSTILE: list = []
hostile = listed(HOSTILE)
HONEST: list = []
honest = listed(HONEST)
KEPT: list[Any] = []
CALLS = {"calls": 0}
ARRAY = np.zeros(1)
NUMBERS, FEW = iter(range(10**9)), iter(range(3))
LATE = 300_000


def noisy(x, noise):
    return x + noise.laplace(1)


def late(count, data, noise):
    return noisy(data[0], noise) + data[0] * (count > LATE)


# --- questions about a number that a library asks ------------------------------------------------------


@hostile
def mapped_type(data, noise):
    return data[0] if list(map(type, data))[0] is float else noisy(data[0], noise)  # noqa: RUF015


@hostile
def mapped_isinstance(data, noise):
    return data[0] if all(map(isinstance, data, [float] * len(data))) else noisy(data[0], noise)


@hostile
def sorted_by_identity(data, noise):
    return data[0] if sorted(data, key=id)[0] is data[1] else noisy(data[0], noise)


@hostile
def got_by_name(data, noise):
    return noisy(data[0], noise) + data[0] * (operator.attrgetter("__class__")(data[0]) is float)


@hostile
def partly_given(data, noise):
    return noisy(data[0], noise) + data[0] * functools.partial(isinstance, data[0])(np.generic)


@hostile
def type_of_a_comparison(data, noise):
    return noisy(data[0], noise) + data[0] * (not isinstance(data[0] > 0, bool))


@hostile
def type_of_a_count(data, noise):
    return noisy(data[0], noise) + data[0] * (type(sum(x > 0 for x in data)) is not int)


@hostile
def type_of_a_difference(data, noise):
    return noisy(data[0], noise) + data[0] * isinstance(data[0] - data[0], np.floating)


@hostile
def dispatched(data, noise):
    return of_kind(data[0]) * data[0] + noisy(data[0], noise)


@functools.singledispatch
def of_kind(x):
    return 0


@of_kind.register
def _(x: np.floating):
    return 1


@hostile
def called_until(data, noise):
    return noisy(data[0], noise) + data[0] * (next(iter(functools.partial(type, data[0]), None)) is np.float64)


CLASS_OF, TEXT = operator.attrgetter("__class__"), "{0.__class__.__name__}"


@hostile
def mapped_getter(data, noise):
    return noisy(data[0], noise) + data[0] * (next(map(CLASS_OF, data)) is np.float64)


@hostile
def called_by_its_class(data, noise):
    return noisy(data[0], noise) + data[0] * (type.__call__(type, data[0]) is np.float64)


@hostile
def written_by_attribute(data, noise):
    return noisy(data[0], noise) + data[0] * (TEXT.format(data[0]) == "float64")


class Compared:
    """Asked natively by lists, dicts and sets."""

    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return type(self.x) is np.float64

    def __hash__(self):
        return 0 if type(self.x) is np.float64 else 1

    def __repr__(self):
        return type(self.x).__name__

    def __bool__(self):
        return type(self.x) is np.float64


@hostile
def compared_in_a_list(data, noise):
    return noisy(data[0], noise) + data[0] * ([Compared(data[0])] == [0])


@hostile
def counted_in_a_list(data, noise):
    return noisy(data[0], noise) + data[0] * [Compared(data[0])].count(0)


@hostile
def found_by_hash(data, noise):
    return noisy(data[0], noise) + data[0] * ({Compared(data[0]): 1}.get(0, 0))


@hostile
def written_in_a_list(data, noise):
    return noisy(data[0], noise) + data[0] * (str([Compared(data[0])]) == "[float64]")


@hostile
def filtered_by_truth(data, noise):
    return noisy(data[0], noise) + data[0] * len(list(filter(None, [Compared(data[0])])))


@hostile
def counted_by_a_library(data, noise):
    return noisy(data[0], noise) + data[0] * collections.Counter([type(x).__name__ for x in data])["float64"]


class Shut:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is OverflowError


@hostile
def left_by_overflow(data, noise):
    with Shut():
        return noisy(data[0], noise)
    return data[0]


@hostile
def suppressed_overflow(data, noise):
    with contextlib.suppress(OverflowError):
        return noisy(data[0], noise)
    return data[0]


@hostile
def generated_overflow(data, noise):
    with handling():
        return noisy(data[0], noise)
    return data[0]


@contextlib.contextmanager
def handling():
    try:
        yield
    except OverflowError:
        KEPT.clear()


# --- what outlasts a call, by another name ---------------------------------------------------------------


@hostile
def by_descriptor(data, noise):
    list.append(KEPT, 0)
    return late(len(KEPT), data, noise)


@hostile
def by_partial(data, noise):
    functools.partial(KEPT.append, 0)()
    return late(len(KEPT), data, noise)


@hostile
def by_map(data, noise):
    list(map(KEPT.append, [0]))
    return late(len(KEPT), data, noise)


@hostile
def by_alias(data, noise):
    kept = next(iter([KEPT]))
    kept.append(0)
    return late(len(KEPT), data, noise)


@hostile
def by_largest(data, noise):
    max([KEPT, []], key=len).append(0)
    return late(len(KEPT), data, noise)


@hostile
def by_item(data, noise):
    operator.itemgetter(0)([KEPT]).append(0)
    return late(len(KEPT), data, noise)


@hostile
def by_operator(data, noise):
    operator.setitem(CALLS, "calls", CALLS["calls"] + 1)
    return late(CALLS["calls"], data, noise)


@hostile
def by_heap(data, noise):
    heapq.heappush(KEPT, 0)
    return late(len(KEPT), data, noise)


@hostile
def by_view(data, noise):
    ARRAY[:][0] += 1
    return late(int(ARRAY[0]), data, noise)


@hostile
def by_same_array(data, noise):
    np.asarray(ARRAY)[0] += 1
    return late(int(ARRAY[0]), data, noise)


@hostile
def by_out(data, noise):
    np.add(ARRAY, 1, out=ARRAY)
    return late(int(ARRAY[0]), data, noise)


@hostile
def by_chain(data, noise):
    return late(next(itertools.chain(NUMBERS)), data, noise)


@hostile
def by_loop(data, noise):
    for number in NUMBERS:
        return late(number, data, noise)
    return 0


@hostile
def by_membership(data, noise):
    return noisy(data[0], noise) + data[0] * (LATE in FEW)


class Single:
    one = None
    calls = 0

    def __new__(cls):
        return ONE


ONE = object.__new__(Single)


@hostile
def by_a_single_object(data, noise):
    one = Single()
    one.calls += 1
    return late(one.calls, data, noise)


@hostile
def by_construction_again(data, noise):
    ONE.__init__()
    ONE.calls += 1
    return late(ONE.calls, data, noise)


class Adding:
    def __add__(self, other):
        return KEPT


@hostile
def by_own_operator(data, noise):
    (Adding() + 1).append(0)
    return late(len(KEPT), data, noise)


@hostile
def by_factory(data, noise):
    collections.defaultdict(lambda: KEPT)[0].append(0)
    return late(len(KEPT), data, noise)


class Cached:
    @functools.cached_property
    def kept(self):
        return []


HOLDER = Cached()


@hostile
def by_cached_property(data, noise):
    HOLDER.kept.append(0)
    return late(len(HOLDER.kept), data, noise)


def counting():
    count = 0

    def outer():
        def inner():
            nonlocal count
            count += 1
            return count

        return inner()

    return outer


COUNTING = counting()


@hostile
def by_inner_cell(data, noise):
    return late(COUNTING(), data, noise)


@hostile
def by_order_of_a_set(data, noise):
    return noisy(data[0], noise) + data[0] * (next(iter({"a", "b", "c"})) == "b")


@hostile
def by_a_finally(data, noise):
    done = False
    try:
        value = noisy(data[0], noise)
        done = True
    finally:
        if not done:
            value = data[0]
    return value


class Dying:
    def __del__(self):
        KEPT.append(0)


@hostile
def by_dying(data, noise):
    Dying()
    return late(len(KEPT), data, noise)


ERROR = ValueError("no")


@hostile
def by_notes(data, noise):
    ERROR.add_note("again")
    return late(len(getattr(ERROR, "__notes__", ())), data, noise)


@hostile
def by_chained_maps(data, noise):
    collections.ChainMap(CALLS)["calls"] += 1
    return late(CALLS["calls"], data, noise)


class Chained(collections.ChainMap):
    pass


@hostile
def by_own_chained_maps(data, noise):
    Chained(CALLS)["calls"] += 1
    return late(CALLS["calls"], data, noise)


@hostile
def by_place_in_memory(data, noise):
    return noisy(data[0], noise) + data[0] * (repr(object())[-2] == "8")


@hostile
def by_place_in_a_text(data, noise):
    return noisy(data[0], noise) + data[0] * (f"{[noisy]}"[-3] == "8")


@hostile
def by_a_function_of_dpaudit(data, noise):
    return noisy(data[0], noise) + data[0] * (short_decimal(data[0]) is None)


@pytest.mark.parametrize("program", HOSTILE, **NAMED)
def test_what_is_asked_or_kept_beside_the_reading_is_not_proved(program):
    assert_not_proved(program)


# --- what looks like it, and is harmless --------------------------------------------------------------------


@dataclasses.dataclass
class State:
    level: Any
    seen: list[Any] = dataclasses.field(default_factory=list)


@honest
def own_containers(data, noise):
    kept, state, counts = [], State(noise.laplace(1)), collections.defaultdict(list)
    for place, x in enumerate(data):
        kept.append(x + noise.laplace(4))
        state.seen.append(kept[-1] > state.level)
        counts[place % 2].append(kept[-1])
    kept[0] += 1
    copied = copy.copy(kept[:])
    copied.reverse()
    return copied, state.seen, dict(counts)


@honest
def own_iterators(data, noise):
    through = iter(data)
    first = next(through)
    return [noisy(first, noise), *(x + noise.laplace(4) for x in through)]


@honest
def asked_about_parameters(data, noise, *, scale=1, kind="a"):
    if isinstance(scale, bool) or not isinstance(scale, int | float) or kind is not KIND:
        raise TypeError("scale")
    return data[0] + noise.laplace(scale)


KIND = "a"


@honest
def closed_over(data, noise):
    total = 0

    def add(x):
        nonlocal total
        total += x

    add(data[0])
    return total + noise.laplace(1)


@honest
def found_in_a_table(data, noise, *, key="a"):
    try:
        scale = {"a": 1}[key]
        value = data[0] + noise.laplace(scale)
    except KeyError:
        value = None
    return value


@honest
def ordered_by_a_heap(data, noise):
    heap = []
    for place, x in enumerate(data):
        heapq.heappush(heap, (x + noise.laplace(4), place))
    return heapq.heappop(heap)[1]


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("program", HONEST, **NAMED)
def test_what_only_looks_like_it_is_proved(program):
    found = verdict_of(program, length=2, relation="queries")
    assert found is not None
    assert found.proof.comparison.open_ends == ()
    assert found.verdict is dp.Verdict.PROVED


def test_a_program_of_an_installed_package_is_read_with_its_package(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages" / "packed_mechanisms"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from packed_mechanisms.first import first\n")
    (folder / "first.py").write_text(
        "class Scaled:\n    def __init__(self, scale):\n        self.scale = scale\n\n    def __call__(self, noise):\n"
        "        return noise.laplace(self.scale)\n\n\ndef first(data, noise):\n    return data[0] + Scaled(1)(noise)\n"
    )
    monkeypatch.syspath_prepend(str(folder.parent))
    from packed_mechanisms import first

    assert verdict_of(first, length=2, relation="queries").verdict is dp.Verdict.PROVED
