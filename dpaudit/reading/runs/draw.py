"""How are draws made for many runs at once, by the law that the call asks for?

The numbers come from the library's own method with a size of (runs, …), or from a call for each run where a method has
no such form; always from generators that hang on the seed. What one run drew is kept as its tape: the function itself,
given the tape, has to return what was read.
"""

from __future__ import annotations

import copy
import functools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.callables import is_taken
from dpaudit.reading.draws import Failed, Kind, Source
from dpaudit.reading.runs import applied, control, joins
from dpaudit.reading.runs.values import Alternatives, Array, Container, Numbers, at, differs, raw

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active

_SIZED = ("multinomial", "dirichlet", "multivariate_normal", "multivariate_hypergeometric")
_MOST_NUMBERS = 2**26
"""In one draw of all runs (512 MB); more is said before it is made."""


@dataclass(slots=True)
class Drawn:
    """One draw of some runs."""

    places: Array  # (n,) their numbers
    title: str  # of what drew
    values: Any  # (n, ...) what each drew, or a list of n values; of draws that raised, all are `Failed`
    python: bool  # whether a number is Python's own


class Streams:
    """The generators of one pass, all on one stream of bits.

    Args:
        bits: where all randomness comes from.
    """

    def __init__(self, bits: np.random.BitGenerator) -> None:
        self.generator = np.random.Generator(bits)
        self.legacy = np.random.RandomState(bits)
        self._bits = bits

    @functools.cached_property
    def python(self) -> random.Random:
        """The generator of `random`."""
        return random.Random(int(self.generator.integers(2**63)))

    def of(self, kind: Kind) -> Any:
        """Return the generator whose methods have the names of a library."""
        return {Kind.GENERATOR: self.generator, Kind.LEGACY: self.legacy, Kind.SCIPY: self.legacy}.get(
            kind
        ) or self.python

    def fresh(self) -> np.random.Generator:
        """Return a generator of its own."""
        return np.random.Generator(np.random.SFC64(int(self.generator.integers(2**63))))


_RENAMED = {"random_sample": "random", "ranf": "random", "sample": "random", "random_integers": "integers"}
_OF_SECRETS = {"randbelow": "randrange", "randbits": "getrandbits", "choice": "choice", "token_bytes": "randbytes"}


def _method(source: Source, streams: Streams) -> Any:
    own = streams.of(source.kind)
    if source.kind is Kind.SCIPY:
        return functools.partial(source.owner.rvs, random_state=own)
    if source.kind is Kind.SECRETS:
        return getattr(own, _OF_SECRETS.get(source.name, source.name))
    if source.kind is Kind.GENERATOR or source.kind is Kind.LEGACY:
        name = source.name if hasattr(own, source.name) else _RENAMED.get(source.name, source.name)
        return getattr(own, name)
    return getattr(own, source.name)


def draw(domain: Active, source: Source, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return what a call of a source draws for each active run."""
    args = tuple(applied.opened(domain.present(each)) for each in args)
    keywords = {name: applied.opened(domain.present(each)) for name, each in keywords.items() if name != "random_state"}
    leaves = [leaf for each in (*args, *keywords.values()) for leaf in applied.alternatives_in(each)]
    if leaves:
        numbers = [joins.as_numbers(each, domain.active) if type(each) is Alternatives else each for each in args]
        more = {n: joins.as_numbers(e, domain.active) if type(e) is Alternatives else e for n, e in keywords.items()}
        if not any(True for each in (*numbers, *more.values()) for _ in applied.alternatives_in(each)):
            return _drawn(domain, source, tuple(numbers), more)
        groups = applied.groups_of(leaves, domain.active, max(64, domain.active.count // 64))
        if groups is None:
            return _singly(domain, source.title, _method(source, domain.streams), args, keywords)

        def one(run: int) -> Any:
            mine = tuple(applied.chosen_in(each, run) for each in args)
            return draw(domain, source, mine, {name: applied.chosen_in(each, run) for name, each in keywords.items()})

        return applied.each_group(domain, groups, one, fresh=True)
    return _drawn(domain, source, args, keywords)


def _drawn(domain: Active, source: Source, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    domain.alive()
    streams = domain.streams
    if not any(map(differs, (*args, *keywords.values()))):
        args, keywords = tuple(map(raw, args)), {name: raw(each) for name, each in keywords.items()}
        return _plain(domain, source, args, keywords, streams)
    bound = source.bound(args, keywords)
    if bound is None or source.kind is Kind.PYTHON or differs(bound[1]):
        if source.name == "choice" and source.kind in (Kind.GENERATOR, Kind.LEGACY):
            found = _choice_by_chances(domain, source, args, keywords)
            if found is not NotImplemented:
                return found
        return _singly(domain, source.title, _method(source, domain.streams), args, keywords)
    return _with_numbers(domain, source, bound[0], bound[1], streams)


def _probe(domain: Active, source: Source, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return one draw for its type and shape; an exception is that of every run."""
    try:
        return _method(source, domain.probes)(*args, **keywords)
    except Exception as error:
        places = domain.active.places
        domain.note(Drawn(places, source.title, [Failed(error)] * len(places), False))
        raise  # not reached: nobody is left


def _plain(domain: Active, source: Source, args: tuple[Any, ...], keywords: dict[str, Any], streams: Streams) -> Any:
    if source.name in ("shuffle", "permuted"):
        domain.give_up(f"{source.title}, which changes its argument")
    one = _probe(domain, source, args, keywords)
    count, places = domain.active.count, domain.active.places
    shape = np.shape(one)
    if count * int(np.prod(shape, dtype=np.int64)) > _MOST_NUMBERS:
        domain.too_large(source, shape)
    method = _method(source, streams)
    values = draws_of_python(source, args, keywords, streams.python, count) if source.kind is Kind.PYTHON else None
    if values is not None:
        return domain.note(Drawn(places, source.title, values, True), like=one)
    if source.kind in (Kind.PYTHON, Kind.SECRETS):
        return domain.note(Drawn(places, source.title, [method(*args, **keywords) for _ in range(count)], True))
    sized = _sized_call(source, args, keywords, count, shape)
    if sized is None:
        return domain.note(Drawn(places, source.title, [method(*args, **keywords) for _ in range(count)], False))
    values = method(*sized[0], **sized[1])
    python = type(one) in (int, float, bool)
    return domain.note(Drawn(places, source.title, values, python), like=one)


_OF_UNIFORM: dict[str, Callable[..., Array]] = {
    "random": lambda u: u,
    "uniform": lambda u, a, b: a + (b - a) * u,
    "expovariate": lambda u, lambd=1.0: -np.array(list(map(math.log, (1.0 - u).tolist()))) / lambd,
}
"""What methods of `random.Random` make of its uniform numbers (CPython, Lib/random.py)."""


def draws_of_python(
    source: Source, args: tuple[Any, ...], keywords: dict[str, Any], python: random.Random, count: int
) -> Array | None:
    """Return what so many calls of a method of ``python`` return, to the bit; None where each has to be made.

    Its uniform numbers are those of NumPy's own Mersenne Twister in the same state.
    """
    made = _OF_UNIFORM.get(source.name)
    if made is None or not all(type(each) in (int, float) for each in (*args, *keywords.values())):
        return None
    version, state, gauss = python.getstate()
    twister = np.random.RandomState()
    own = {"key": np.array(state[:-1], np.uint32), "pos": state[-1]}
    twister.set_state({"bit_generator": "MT19937", "state": own})
    with np.errstate(all="ignore"):  # as Python says nothing of what becomes infinite
        values = made(twister.random_sample(count), *args, **keywords)
    after: Any = twister.get_state(legacy=False)
    python.setstate((version, (*after["state"]["key"].tolist(), int(after["state"]["pos"])), gauss))
    return values


def _sized_call(
    source: Source, args: tuple[Any, ...], keywords: dict[str, Any], count: int, shape: tuple[int, ...]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Return the arguments by which one call draws for all runs; None if there are none."""
    bound = source.bound(args, keywords)
    if bound is not None:
        return (), {**bound[0], "size": (count, *shape)}
    if source.name in ("rand", "randn") and not keywords:
        return (count, *args), {}
    if source.name == "choice":
        rest = dict(zip(("a", "size", "replace", "p"), args, strict=False)) | keywords
        if (
            rest.get("replace", True) is not True
            or rest.keys() - {"a", "size", "replace", "p"}
            or np.ndim(rest["a"]) > 1
        ):
            return None
        return (), {**rest, "size": (count, *shape)}
    if source.name in ("integers", "randint", "random_integers"):
        rest = dict(zip(("low", "high", "size"), args, strict=False)) | keywords
        arrays = [each for each in (rest.get("low"), rest.get("high")) if each is not None and np.ndim(each)]
        return None if arrays else ((), {**rest, "size": (count, *shape)})
    if source.name in _SIZED:
        names = {"multinomial": ("n", "pvals"), "dirichlet": ("alpha",), "multivariate_normal": ("mean", "cov")}
        rest = dict(zip((*names.get(source.name, ()), "size"), args, strict=False)) | keywords
        if source.name == "multivariate_hypergeometric" or rest.get("size") is not None:
            return None
        return (), {**rest, "size": (count,)}
    if source.kind is Kind.SCIPY:
        rest = dict(keywords)
        if len(args) or not rest.keys() <= {"loc", "scale", "size"}:
            return None
        return (), {**rest, "size": (count, *shape)}
    return None


def _with_numbers(domain: Active, source: Source, given: dict[str, Any], size: Any, streams: Streams) -> Any:
    """Draw where arguments of the law differ by run."""
    places = domain.active.places
    own = () if size is None else tuple(size) if np.ndim(size) else (int(size),)
    shapes = [each.shape if type(each) is Numbers else np.shape(each) for each in given.values()]
    shape = own if size is not None else np.broadcast_shapes(*shapes)
    parts: dict[str, Any] = {}
    for name, each in given.items():
        if type(each) is Numbers:
            array = each.array[places]
            parts[name] = array.reshape(len(places), *[1] * (len(shape) - array.ndim + 1), *array.shape[1:])
        else:
            parts[name] = each
    first = {name: each[0] if type(given[name]) is Numbers else each for name, each in parts.items()}
    first = {
        name: each.item() if isinstance(each, np.ndarray) and each.size == 1 and not shape else each
        for name, each in first.items()
    }
    asked = {**given, **({} if size is None else {"size": size})}
    one = _probe_or_none(domain, source, first, size)
    if one is NotImplemented:
        return _singly(domain, source.title, _method(source, domain.streams), (), asked)
    try:
        values = _method(source, streams)(**parts, size=(len(places), *shape))
    except ValueError:  # of some run: which, is found run by run
        return _singly(domain, source.title, _method(source, domain.streams), (), asked)
    return domain.note(Drawn(places, source.title, values, type(one) in (int, float, bool)), like=one)


def _probe_or_none(domain: Active, source: Source, given: dict[str, Any], size: Any) -> Any:
    try:
        return _method(source, domain.probes)(**given, **({} if size is None else {"size": size}))
    except Exception:
        return NotImplemented


def _choice_by_chances(domain: Active, source: Source, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """``choice(a, p=p)`` with chances that differ by run: by the distribution function, as NumPy does."""
    given = dict(zip(("a", "size", "replace", "p"), args, strict=False)) | keywords
    chances, options = given.get("p"), given["a"]
    if given.keys() - {"a", "p", "size"} or given.get("size") is not None or differs(options):
        return NotImplemented
    if type(chances) is not Numbers or chances.array.ndim != 2:
        return NotImplemented
    options = raw(options)
    table = np.arange(options) if isinstance(options, int | np.integer) else np.asarray(options)
    places = domain.active.places
    own = chances.array[places]
    with np.errstate(all="ignore"):
        good = (np.abs(own.sum(axis=1) - 1) < 1e-9) & (own >= 0).all(axis=1)
    if table.ndim != 1 or own.shape[1] != len(table) or not good.all():
        return NotImplemented
    cumulated = np.cumsum(own, axis=1)
    cumulated /= cumulated[:, -1:]
    chosen = (cumulated <= domain.streams.generator.random((len(places), 1))).sum(axis=1)
    return domain.note(Drawn(places, source.title, table[chosen], False), like=table[0])


def called(domain: Active, title: str, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return what a library that draws by itself returns: it is called for each active run."""
    first = int(domain.active.places[0])
    args = tuple(domain.present(each) for each in args)
    keywords = {name: domain.present(each) for name, each in keywords.items()}
    if not all(is_taken(at(each, first)) for each in (*args, *keywords.values())):
        domain.give_up(f"{title}, which is given more than plain values")
    return _singly(domain, title, function, args, keywords)


def _singly(
    domain: Active, title: str, method: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Draw run by run."""
    places = domain.active.places
    columns = [applied.column(each, places) for each in args]
    more = [applied.column(each, places) for each in keywords.values()]
    values: list[Any] = []
    failed: list[Failed] = []
    good: list[int] = []
    bad: list[int] = []
    for run, *row in zip(places.tolist(), *columns, *more, strict=False):
        try:
            values.append(method(*row[: len(args)], **dict(zip(keywords, row[len(args) :], strict=True))))
            good.append(run)
        except Exception as error:
            bad.append(run)
            failed.append(Failed(error))
    value = domain.note(Drawn(np.array(good, dtype=np.int64), title, values, False)) if good else None
    if bad:
        domain.note(Drawn(np.array(bad, dtype=np.int64), title, failed, False))
    return value


def as_value(domain: Active, drawn: Drawn, like: Any = None) -> Any:
    """Return a draw as a value of the runs that made it; those of which it raised leave."""
    if isinstance(drawn.values, list):
        if type(drawn.values[0]) is Failed:
            domain.leave_each(
                [(run, each.error) for run, each in zip(drawn.places.tolist(), drawn.values, strict=True)]
            )
            return None
        return joins.packed(list(map(_own, drawn.values)), drawn.places, domain.count)
    values = drawn.values
    if values.dtype.kind not in "fiub":
        known, inverse = np.unique(values, return_inverse=True)
        if values.ndim > 1:
            return joins.packed(list(values), drawn.places, domain.count)
        codes = np.zeros(domain.count, dtype=np.int32)
        codes[drawn.places] = inverse
        options = list(known)
        return options[0] if len(options) == 1 else Alternatives(codes, options)
    array = values  # which nobody writes into
    if len(values) < domain.count:
        array = np.zeros((domain.count, *values.shape[1:]), values.dtype)
        array[drawn.places] = values
    if values.ndim == 1 and values.dtype.kind in "iu" and values.dtype != np.int64:
        return joins.packed(list(values), drawn.places, domain.count)
    found = Numbers(array, drawn.python)
    return found if array.ndim == 1 else Container(found)


def _own(value: Any) -> Any:
    """Return what was drawn as the function's own, who may change it: the tape keeps what it was."""
    return copy.deepcopy(value) if type(value) in (list, dict, set) else value


def one_draw(source: Source, args: tuple[Any, ...], keywords: dict[str, Any], streams: Streams) -> Any:
    """Return what a call of a source draws in one run."""
    more = {name: each for name, each in keywords.items() if name != "random_state"}
    return _method(source, streams)(*args, **more)


MIXED = object()
"""Of runs that drew different things next."""


class Recorded:
    """What runs drew in an earlier pass, each in its own order.

    Args:
        events: of that pass.
        lanes: (runs,) the numbers that the runs of the new pass had there.
        before: how many runs that pass had.
    """

    def __init__(self, events: list[Drawn], lanes: Array, before: int) -> None:
        place = np.full(before, -1, dtype=np.int64)
        place[lanes] = np.arange(len(lanes))
        self._position = np.zeros(len(lanes), dtype=np.int64)
        self._count = np.zeros(len(lanes), dtype=np.int64)
        self._segments: dict[int, list[Drawn]] = {}
        for each in events:
            mine = place[each.places]
            kept = np.flatnonzero(mine >= 0)
            if not len(kept):
                continue
            runs = mine[kept]
            for turn in np.unique(self._count[runs]):
                of_turn = kept[self._count[runs] == turn]
                values = [each.values[k] for k in of_turn] if isinstance(each.values, list) else each.values[of_turn]
                part = Drawn(mine[of_turn], each.title, values, each.python)
                self._segments.setdefault(int(turn), []).append(part)
            self._count[runs] += 1

    def drew(self, places: Array) -> None:
        """Runs made one more draw."""
        self._position[places] += 1

    def groups(self, places: Array) -> list[Array]:
        """Return runs by the draw that comes next, those that have none left last."""
        turn = np.where(self._position[places] < self._count[places], self._position[places], -1)
        out = []
        for each in np.unique(turn):
            mine = places[turn == each]
            if each < 0:
                out.append(mine)
                continue
            for segment in self._segments[int(each)]:
                own = mine[np.isin(mine, segment.places)]
                if len(own):
                    out.append(own)
        return out

    def take(self, domain: Active, title: str) -> Any:
        """Return what the active runs drew next; None if nothing is kept, `MIXED` if they differ in that."""
        places = domain.active.places
        left = self._position[places] < self._count[places]
        if not left.any():
            return None
        groups = self.groups(places)
        if len(groups) > 1:
            return MIXED
        turn = int(self._position[places[0]])
        segment = next(each for each in self._segments[turn] if np.isin(places[0], each.places))
        if segment.title != title:
            raise control.GivenUpError(f"it asked for {title} where it had asked for {segment.title} on the same draws")
        where = np.searchsorted(segment.places, places)
        if np.array_equal(segment.places, places):
            values = segment.values
        elif isinstance(segment.values, list):
            values = [segment.values[k] for k in where]
        else:
            values = segment.values[where]
        drawn = Drawn(places, title, values, segment.python)
        domain.events.append(drawn)
        self.drew(places)
        return as_value(domain, drawn)
