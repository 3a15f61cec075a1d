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
from typing import Any

import numpy as np

from dpaudit.reading import seeded
from dpaudit.reading.callables import is_taken
from dpaudit.reading.draws import Failed, Kind, NoiseSource
from dpaudit.reading.runs import applied, joins
from dpaudit.reading.runs.active import Active, DeadError, GivenUpError, SplitError
from dpaudit.reading.runs.values import Alternatives, Array, Numbers, at, by_name, differs, held, raw, raws

_NAMES = {
    "choice": ("a", "size", "replace", "p"), "integers": ("low", "high", "size", "dtype", "endpoint"),
    "randint": ("low", "high", "size", "dtype"), "random_integers": ("low", "high", "size"),
    "multinomial": ("n", "pvals", "size"), "dirichlet": ("alpha", "size"),
    "multivariate_normal": ("mean", "cov", "size", "check_valid", "tol"),
}  # fmt: skip
"""Arguments of laws of NumPy that the table of laws does not have, by their places."""
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

    def method(self, source: NoiseSource) -> Any:
        """Return what draws by the law of a source."""
        if source.kind is Kind.SCIPY:
            return functools.partial(source.owner.rvs, random_state=self.legacy)
        if source.kind is Kind.SECRETS:
            return getattr(self.python, _OF_SECRETS.get(source.name, source.name))
        own: Any = {Kind.GENERATOR: self.generator, Kind.LEGACY: self.legacy}.get(source.kind) or self.python
        renamed = source.kind in (Kind.GENERATOR, Kind.LEGACY) and not hasattr(own, source.name)
        return getattr(own, _RENAMED.get(source.name, source.name) if renamed else source.name)

    def fresh(self, kind: Any) -> Any:
        """Return a generator of its own, as a call of ``kind`` would make."""
        seed = int(self.generator.integers(2**63))
        if isinstance(kind, type) and issubclass(kind, random.Random):
            return random.Random(seed)
        bits = np.random.SFC64(seed)
        return np.random.RandomState(bits) if kind is np.random.RandomState else np.random.Generator(bits)


_RENAMED = {"random_sample": "random", "ranf": "random", "sample": "random", "random_integers": "integers"}
_OF_SECRETS = {"randbelow": "randrange", "randbits": "getrandbits", "choice": "choice", "token_bytes": "randbytes"}


_OF_UNIFORM: dict[str, Callable[..., Array]] = {
    "random": lambda u: u,
    "uniform": lambda u, a, b: a + (b - a) * u,
    "expovariate": lambda u, lambd=1.0: -np.array(list(map(math.log, (1.0 - u).tolist()))) / lambd,
}
"""What methods of `random.Random` make of its uniform numbers (CPython, Lib/random.py)."""


def draws_of_python(
    source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any], python: random.Random, count: int
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
    source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any], count: int, shape: tuple[int, ...]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Return the arguments by which one call draws for all runs; None if there are none."""
    bound = source.bound(args, keywords)
    if bound is not None:
        return (), {**bound[0], "size": (count, *shape)}
    if source.name in ("rand", "randn") and not keywords:
        return (count, *args), {}
    names = _NAMES.get(source.name)
    rest = None if names is None else by_name(names, args, keywords)
    if rest is not None and source.name == "choice":
        is_known = rest.get("replace", True) is True and not rest.keys() - set(_NAMES["choice"])
        return ((), {**rest, "size": (count, *shape)}) if is_known and np.ndim(rest["a"]) <= 1 else None
    if rest is not None and source.name in ("integers", "randint", "random_integers"):
        arrays = [each for each in (rest.get("low"), rest.get("high")) if each is not None and np.ndim(each)]
        return None if arrays else ((), {**rest, "size": (count, *shape)})
    if rest is not None:
        return None if rest.get("size") is not None else ((), {**rest, "size": (count,)})
    if source.kind is Kind.SCIPY:
        rest = dict(keywords)
        if len(args) or not rest.keys() <= {"loc", "scale", "size"}:
            return None
        return (), {**rest, "size": (count, *shape)}
    return None


def as_value(domain: Active, drawn: Drawn) -> Any:
    """Return a draw as a value of the runs that made it; those of which it raised leave."""
    if isinstance(drawn.values, list):
        if type(drawn.values[0]) is Failed:
            domain.leave_each(
                [(run, each.error) for run, each in zip(drawn.places.tolist(), drawn.values, strict=True)]
            )
            return None
        # the function may change what it drew: the tape keeps what it was
        own = [copy.deepcopy(each) if type(each) in (list, dict, set) else each for each in drawn.values]
        return joins.packed(own, drawn.places, domain.count)
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
    return held(Numbers(array, drawn.python))


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

    def take(self, domain: Drawing, title: str) -> Any:
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
            raise GivenUpError(f"it asked for {title} where it had asked for {segment.title} on the same draws")
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


class Drawing(Active):
    """What draws in many runs.

    Args:
        count: how many runs.
        streams: the generators that draw.
        probes: generators of draws that nobody uses, by which the type of a draw is known.
        recorded: what the runs drew already, in an earlier pass.

    Attributes:
        events: all draws, in their order.
        libraries: the calls of libraries that draw by themselves.
    """

    def __init__(self, count: int, streams: Streams, probes: Streams, recorded: Recorded | None = None) -> None:
        super().__init__(count)
        self.streams, self._probes, self._recorded = streams, probes, recorded
        self.events: list[Drawn] = []
        self.libraries: dict[str, None] = {}
        self._fixed: dict[int, Any] = {}  # generators with a fixed seed

    @functools.cached_property
    def _seeded(self) -> seeded.Seeded:
        return seeded.seeded_by(self._twins)

    def drawn(self, source: NoiseSource, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return what a call of a source draws for the active runs, or what they drew in an earlier pass."""
        if source.owner is not None and id(source.owner) in self._fixed:
            if not self.active.whole or differs((args, tuple(keywords.values()))):
                self.give_up("a draw of a generator with a fixed seed, which some runs make")
            return applied.plainly(self, function, args, keywords)
        place = "its random_state" if source.has_own_state else self._seeded.place(source)
        if place:
            self.give_up(f"noise that is the same in every process: seeded by {place}, before it is called")
        return self._next(source.title, lambda: self._by_law(source, args, keywords))

    def of_library(self, function: Any, title: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a library that draws by itself, for each run."""
        self.libraries[title] = None

        def make() -> Any:
            first = int(self.active.places[0])
            own = tuple(self.present(each) for each in args)
            more = {name: self.present(each) for name, each in keywords.items()}
            if not all(is_taken(at(each, first)) for each in (*own, *more.values())):
                self.give_up(f"{title}, which is given more than plain values")
            return self._singly(title, function, own, more)

        return self._next(title, make)

    def generator(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Make a generator: fresh ones draw for each run, those with a fixed seed draw the same in every run."""
        given = [*args, *keywords.values()]
        if any(map(differs, given)):
            self.give_up("a generator that is seeded by what differs by run")
        if not given or given == [None]:
            return self.streams.fresh(function)
        if len(given) == 1 and isinstance(given[0], np.random.Generator):
            return given[0]
        if not self.active.whole:
            self.give_up("a generator with a fixed seed, which some runs make")
        made = applied.plainly(self, function, args, keywords)
        self._fixed[id(made)] = made
        return made

    def _next(self, title: str, make: Callable[[], Any]) -> Any:
        self.alive()
        recorded = None if self._recorded is None else self._recorded.take(self, title)
        if recorded is None:
            return make()
        if recorded is not MIXED:
            return recorded
        assert self._recorded is not None
        groups = self._recorded.groups(self.active.places)
        return applied.each_group(self, groups, lambda run: self._next(title, make), fresh=True)

    def _note(self, drawn: Drawn, like: Any = None) -> Any:
        """Keep a draw, and return it as a value."""
        if not len(drawn.places):
            raise DeadError
        self.events.append(drawn)
        if self._recorded is not None:
            self._recorded.drew(drawn.places)
        values = drawn.values
        if isinstance(values, np.ndarray) and values.dtype.kind in "fiu" and values.size:
            flat = values.reshape(len(values), -1)
            self.witness(drawn.places[flat.max(axis=1).argmax()], drawn.places[flat.min(axis=1).argmin()])
        return as_value(self, drawn)

    # --- laws ---------------------------------------------------------------------------------------------

    def _by_law(self, source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        args = tuple(applied.opened(self.present(each)) for each in args)
        keywords = {n: applied.opened(self.present(each)) for n, each in keywords.items() if n != "random_state"}
        if not any(True for each in (*args, *keywords.values()) for _ in applied.alternatives_in(each)):
            return self._of_numbers(source, args, keywords)
        numbers = tuple(joins.as_numbers(each, self.active) for each in args)
        more = {name: joins.as_numbers(each, self.active) for name, each in keywords.items()}
        if not any(True for each in (*numbers, *more.values()) for _ in applied.alternatives_in(each)):
            return self._of_numbers(source, numbers, more)

        def one(run: int) -> Any:
            mine = tuple(applied.chosen_in(each, run) for each in args)
            return self._by_law(source, mine, {name: applied.chosen_in(each, run) for name, each in keywords.items()})

        most = max(64, self.active.count // 64)
        made = applied.by_alternatives(self, (*args, *keywords.values()), one, most, fresh=True)
        if made is not NotImplemented:
            return made
        return self._singly(source.title, self.streams.method(source), args, keywords)

    def _of_numbers(self, source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        self.alive()
        if not any(map(differs, (*args, *keywords.values()))):
            return self._plain(source, *raws(args, keywords))
        bound = source.bound(args, keywords)
        if bound is not None and source.kind is not Kind.PYTHON and not differs(bound[1]):
            return self._with_numbers(source, *bound)
        if source.name == "choice" and source.kind in (Kind.GENERATOR, Kind.LEGACY):
            choice = self._choice_by_chances(source, args, keywords)
            if choice is not NotImplemented:
                return choice
        return self._singly(source.title, self.streams.method(source), args, keywords)

    def _plain(self, source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Draw where the law is the same in every run; one draw that nobody uses tells its type and shape."""
        if source.name in ("shuffle", "permuted"):
            self.give_up(f"{source.title}, which changes its argument")
        count, places = self.active.count, self.active.places
        try:
            one = self._probes.method(source)(*args, **keywords)
        except Exception as error:  # that of every run
            return self._note(Drawn(places, source.title, [Failed(error)] * len(places), False))
        shape = np.shape(one)
        if count * int(np.prod(shape, dtype=np.int64)) > _MOST_NUMBERS:
            if count <= 64:
                raise GivenUpError(f"{source.title} of {np.prod(shape):,} numbers{self.where()}")
            raise SplitError(self.mask_of(places[: count // 2]).chosen)  # in halves
        method = self.streams.method(source)
        of_python = source.kind in (Kind.PYTHON, Kind.SECRETS)
        if source.kind is Kind.PYTHON:
            values = draws_of_python(source, args, keywords, self.streams.python, count)
            if values is not None:
                return self._note(Drawn(places, source.title, values, True))
        sized = None if of_python else _sized_call(source, args, keywords, count, shape)
        if sized is None:
            each = [method(*args, **keywords) for _ in range(count)]
            return self._note(Drawn(places, source.title, each, of_python))
        values = method(*sized[0], **sized[1])
        return self._note(Drawn(places, source.title, values, type(one) in (int, float, bool)))

    def _with_numbers(self, source: NoiseSource, given: dict[str, Any], size: Any) -> Any:
        """Draw where arguments of the law differ by run."""
        places = self.active.places
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
        for name, each in first.items():
            if isinstance(each, np.ndarray) and each.size == 1 and not shape:
                first[name] = each.item()
        asked = {**given, **({} if size is None else {"size": size})}
        method = self.streams.method(source)
        try:
            one = self._probes.method(source)(**first, **({} if size is None else {"size": size}))
        except Exception:  # of some run: which, is found run by run
            return self._singly(source.title, method, (), asked)
        try:
            values = method(**parts, size=(len(places), *shape))
        except ValueError:
            return self._singly(source.title, method, (), asked)
        return self._note(Drawn(places, source.title, values, type(one) in (int, float, bool)))

    def _choice_by_chances(self, source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """``choice(a, p=p)`` with chances that differ by run: by the distribution function, as NumPy does."""
        given = by_name(_NAMES["choice"], args, keywords)
        if given is None or given.keys() - {"a", "p", "size"} or given.get("size") is not None or differs(given["a"]):
            return NotImplemented
        chances, options = given.get("p"), given["a"]
        if type(chances) is not Numbers or chances.array.ndim != 2:
            return NotImplemented
        options = raw(options)
        table = np.arange(options) if isinstance(options, int | np.integer) else np.asarray(options)
        places = self.active.places
        own = chances.array[places]
        with np.errstate(all="ignore"):
            good = (np.abs(own.sum(axis=1) - 1) < 1e-9) & (own >= 0).all(axis=1)
        if table.ndim != 1 or own.shape[1] != len(table) or not good.all():
            return NotImplemented
        cumulated = np.cumsum(own, axis=1)
        cumulated /= cumulated[:, -1:]
        chosen = (cumulated <= self.streams.generator.random((len(places), 1))).sum(axis=1)
        return self._note(Drawn(places, source.title, table[chosen], False))

    def _singly(self, title: str, method: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Draw run by run."""
        good, values, errors = applied.one_by_one(self, method, args, keywords)
        value = self._note(Drawn(good, title, values, False)) if len(good) else None
        if errors:
            bad, failed = np.array([run for run, _ in errors], dtype=np.int64), [Failed(error) for _, error in errors]
            self._note(Drawn(bad, title, failed, False))
        return value
