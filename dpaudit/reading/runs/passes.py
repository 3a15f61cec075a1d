"""How are all runs of a block made, what do they return, and does Python return the same?

One pass for all; where runs have to go apart, a pass for each part, with the draws that its runs made already. Runs
that cannot be read are made by the function itself, from their own draws on; so no run is drawn again because of what
it drew. Some runs of every pass are repeated by the function itself, those first that would most likely show a
difference: one difference, and nothing of the reading is used.

What is returned is parted by its alternatives, until each part has one shape for all of its runs: plain values, and
arrays with one row a run.

To repeat a run, Python runs the function on plain values, with the draws of the run in their order handed out in place
of fresh ones. So a reading of many runs is held against the function itself; and a run that could not be read is made.
"""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import types
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.program import outcome
from dpaudit.reading import callables, definite, dispatch, python, rewrite
from dpaudit.reading.draws import Failed, NoiseSource, is_maker, source_of
from dpaudit.reading.runs import applied, draws, joins, tables
from dpaudit.reading.runs.active import DeadError, GivenUpError, SplitError
from dpaudit.reading.runs.domain import Runs
from dpaudit.reading.runs.values import (
    Alternatives,
    Array,
    Coded,
    Container,
    Mask,
    Numbers,
    Table,
    at,
    differs,
    held_in,
    holds_members,
    raw,
    rebuilt,
    the_pandas,
)
from dpaudit.reading.source import is_own

# --- What do runs that were read return, as values that hold one array for all of them? ------------------

MOST_PARTS = 4096
"""Of the runs of a block; what differs in more ways is read run by run."""


class _Texts:
    """Texts that differ by run, where their form is that of the text alone."""

    def __init__(self, value: Alternatives) -> None:
        self.value = value


def parts_of(value: Any, places: Array, count: int) -> Iterator[tuple[Array, Any]] | None:
    """Yield runs and the value that they share."""
    chosen = np.zeros(count, dtype=bool)
    chosen[places] = True
    mask = Mask(chosen)
    value = _with_texts(_settled(value, mask, count))
    leaves = list(applied.alternatives_in(value))
    if not leaves:
        return None if _has_coded(value) else iter([(places, of_runs(value, places))])
    groups = applied.groups_of(leaves, mask, min(MOST_PARTS, max(64, len(places) // 4)))
    if groups is None:
        return None
    return _each(value, groups, count)


def _each(value: Any, groups: list[Array], count: int) -> Iterator[tuple[Array, Any]]:
    for runs in groups:
        own = applied.chosen_in(value, int(runs[0]))
        if next(applied.alternatives_in(own), None) is None and not _has_coded(own):
            yield runs, of_runs(own, runs)
            continue
        inner = parts_of(own, runs, count)
        yield from [(runs[k : k + 1], at(own, run)) for k, run in enumerate(runs.tolist())] if inner is None else inner


def _has_coded(value: Any) -> bool:
    """Whether a series or frame within stands in an order that differs by run."""
    if type(value) is Container:
        return not value.plain and _has_coded(value.content)
    if type(value) in (Numbers, Table):
        return tables.is_coded(value) and not _is_of_texts(value)
    return differs(value) and any(map(_has_coded, held_in(value)))


def _is_of_texts(content: Any) -> bool:
    """Whether all that stands in an order that differs by run are texts whose form is that of each alone."""
    parts = [content.labels] if type(content) is Numbers else [content.index, *content.columns.values()]
    for each in parts:
        if type(each) is Coded:
            alone = (each.codes[:, 1:] != each.codes[:, :-1]).all()  # equal neighbours are counted
            if not alone or len(set(each.values)) < len(each.values) or set(map(type, each.values)) != {str}:
                return False
    return True


def _texts(coded: Coded, runs: Array) -> list[outcome.ManyTexts]:
    values = list(coded.values)
    return [outcome.ManyTexts(codes, values) for codes in coded.codes[runs].T]


def _labels(labels: Any, runs: Array) -> Any:
    return outcome.ManyLabels(labels.of(int(runs[0])), _texts(labels, runs)) if type(labels) is Coded else labels


def _settled(value: Any, mask: Mask, count: int) -> Any:
    """Return a value with labels and keys that differ by run as alternatives."""
    kind = type(value)
    if kind is Container:
        content = value.content
        if tables.is_coded(content) and not _is_of_texts(content):
            return Container(tables.regrouped(content, mask))
        if not value.plain and type(content) in (dict, Alternatives):
            content = joins.by_keys(content, mask, count)
        if type(content) is dict:
            return Container({key: _settled(each, mask, count) for key, each in content.items()})
        if type(content) is list and not value.plain:
            return Container([_settled(each, mask, count) for each in content])
        return value if content is value.content else Container(content)
    if kind is Alternatives:
        return Alternatives(value.codes, [_settled(each, mask, count) for each in value.values])
    if kind is tuple and differs(value):
        return tuple(_settled(each, mask, count) for each in value)
    return value


def _with_texts(value: Any) -> Any:
    """Mark texts that differ by run: a whole output, or members of dicts, whose form no neighbour changes."""
    if type(value) is Alternatives and all(type(each) is str for each in value.values):
        return _Texts(value)
    if type(value) is Container and type(value.content) is dict and not value.plain:
        return Container({key: _with_texts(each) for key, each in value.content.items()}, False)
    return value


def of_runs(value: Any, runs: Array) -> Any:
    """Return a value without alternatives as one whose leaves hold one row for each of some runs."""
    kind: Any = type(value)
    if kind is _Texts:
        return outcome.ManyTexts(value.value.codes[runs], value.value.values)
    if not differs(value):
        return raw(value)
    if kind is Container:
        return of_runs(value.content, runs)
    if kind is Numbers:
        array = value.array[runs]
        if value.labels is not None:
            return outcome.ManyFrames(
                "Series", _labels(value.labels, runs), None, value.name, outcome.columns_of(array), [array.dtype]
            )
        return outcome.ManyNumbers(array) if array.ndim == 1 else outcome.ManyArrays(array)
    if kind is Table:
        return _frame(value, runs)
    if kind in (dict, OrderedDict, defaultdict):
        return {key: of_runs(each, runs) for key, each in value.items()}
    if kind is list or issubclass(kind, tuple) or holds_members(kind):
        return rebuilt(value, lambda each: of_runs(each, runs))
    raise TypeError(f"a {kind.__name__} that differs by run")


def _frame(table: Table, runs: Array) -> Any:
    cells, dtypes = [], []
    for column in table.columns.values():
        if type(column) is Numbers:
            cells.append(outcome.columns_of(column.array[runs]))
            dtypes.append(column.array.dtype)
        elif type(column) is Coded:
            cells.append(_texts(column, runs))
            dtypes.append(the_pandas().Series(column.of(int(runs[0]))).dtype)
        else:
            series = the_pandas().Series(column)
            cells.append(series.tolist())
            dtypes.append(series.dtype)
    return outcome.ManyFrames("DataFrame", _labels(table.index, runs), table.labels, None, cells, dtypes)


# --- Does Python, given the draws of one run, return what was read? --------------------------------------


class OtherDrawsError(BaseException):
    """The function asked for another draw than the reading did."""


class GivenDraws(definite.PlainLoops, python.Python):
    """Python's own domain, in which draws are those of a tape.

    Args:
        tape: what was drawn, in its order: the title of the source, and the value.
        beyond: makes a draw after the end of the tape; None where there may be none.
    """

    control = (OtherDrawsError, rewrite.UnreadableError)

    def __init__(
        self, tape: list[tuple[str, Any]], beyond: Callable[[NoiseSource, Any, Any], Any] | None = None
    ) -> None:
        super().__init__()
        self._tape, self._place, self._beyond = tape, 0, beyond
        self._fixed: dict[int, Any] = {}

    @property
    def is_done(self) -> bool:
        """Whether every draw of the tape was asked for."""
        return self._place == len(self._tape)

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a library; a source hands out what is on the tape."""
        source = source_of(function)
        if source is not None and (source.owner is None or id(source.owner) not in self._fixed):
            return self._next(source, args, keywords)
        if self._place < len(self._tape) and self._tape[self._place][0] == callables.title_of(function):
            return self._taken()
        if function is print:
            return None
        made = super().foreign(function, self._called_back(args), keywords)
        given = next((each for each in (*args, *keywords.values()) if each is not None), None)
        if is_maker(function) and given is not None and not isinstance(given, np.random.Generator):
            self._fixed[id(made)] = made
        return made

    def _called_back(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments whose functions ask this domain when a library calls them."""
        if not any(type(each) is types.FunctionType for each in args):
            return args
        return tuple(
            (lambda *own, _function=each, **more: self.call(_function, *own, **more))
            if type(each) is types.FunctionType and each.__module__ not in _LIBRARIES
            else each
            for each in args
        )

    def _next(self, source: NoiseSource, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if self._place < len(self._tape):
            title = self._tape[self._place][0]
            if title != source.title:
                raise OtherDrawsError(f"asks for {source.title} where the reading asked for {title}")
            return self._taken()
        if self._beyond is None:
            raise OtherDrawsError(f"asks for {source.title} after the last draw of the reading")
        return self._beyond(source, args, keywords)

    def _taken(self) -> Any:
        value = self._tape[self._place][1]
        self._place += 1
        if type(value) is Failed:
            raise value.error
        return value


_LIBRARIES = frozenset(("numpy", "pandas", "builtins", "functools"))


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Let nothing be heard of what a function says while it is run again."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def made_by_python(
    domain: GivenDraws, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Return what a function returns in one run; an exception as an output."""
    with quietly():
        try:
            return domain.call(function, *args, **keywords)
        except OtherDrawsError:
            raise
        except (Exception, SystemExit) as error:
            return outcome.raised(error)


# --- How are all runs of a block made, by as few passes as they need? ------------------------------------

MOST_PASSES = 512
REPEATED, _LEAST_REPEATED = 24, 4
"""Runs that are repeated by the function itself, those most likely to differ and two others; a pass for some of the
runs repeats its share of them, and no fewer than the second."""


class UnreadError(Exception):
    """A function is not read in many runs at once; the text says why."""


@dataclass(frozen=True, slots=True)
class ReturnedPart:
    """What some runs of a block returned."""

    runs: Array  # (n,) their numbers in the block
    value: Any  # what they returned, a value that may differ by run
    places: Array  # (n,) their numbers in that value
    count: int  # of all runs of that value

    def of(self, place: int) -> Any:
        """Return the output of one run, by its place among these."""
        return at(self.value, int(self.places[place]))


@dataclass(frozen=True, slots=True)
class ReadBlock:
    """All runs of a block."""

    parts: list[ReturnedPart]  # of runs that were read
    single: dict[int, Any]  # outputs of runs that the function itself made, by their numbers
    # what the function itself returned in runs that it repeated, which agreed, by their numbers
    repeated: dict[int, Any]
    libraries: tuple[str, ...] = ()  # calls of libraries that draw by themselves, each made for each run


def make(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    count: int,
    seeds: np.random.SeedSequence,
    repeated: int = REPEATED,
) -> ReadBlock:
    """Make many runs of a function by reading it."""
    if not is_of_user(function):
        raise UnreadError("it is not written in modules of yours")
    waiting: list[tuple[Array, draws.Recorded | None]] = [(np.arange(count), None)]
    parts: list[ReturnedPart] = []
    single: dict[int, Any] = {}
    passes, checked = 0, dict[int, Any]()
    called: dict[str, None] = {}
    while waiting:
        runs, recorded = waiting.pop()
        passes += 1
        if passes > MOST_PASSES:
            raise UnreadError(f"its runs go more than {MOST_PASSES} ways that cannot be read at once")
        own, probing = seeds.spawn(2)
        domain = Runs(len(runs), draws.Streams(np.random.SFC64(own)), draws.Streams(np.random.SFC64(probing)), recorded)
        try:
            pieces = _pass(domain, function, args, keywords)
        except SplitError as split:
            for chosen in (split.chosen, ~split.chosen):
                lanes = np.flatnonzero(chosen)
                if len(lanes):
                    waiting.append((runs[lanes], draws.Recorded(domain.events, lanes, len(runs))))
            continue
        mine = [ReturnedPart(runs[places], value, places, domain.count) for places, value in pieces if len(places)]
        for run in np.flatnonzero(domain.ejected).tolist():
            single[int(runs[run])] = _finished(domain, run, function, args, keywords)
        share = (
            repeated if repeated >= count else min(repeated, max(_LEAST_REPEATED, -(-repeated * len(runs) // count)))
        )
        try:
            again = _checked(domain, pieces, function, args, keywords, share)
            checked |= {int(runs[place]): returned for place, returned in again.items()}
        except RecursionError:
            raise UnreadError("it calls itself too deeply, or returns something that holds itself") from None
        parts += mine
        called |= domain.libraries
    return ReadBlock(parts, single, checked, tuple(called))


def is_of_user(function: Any) -> bool:
    """Whether what is called is written in the user's modules, so that it can be read."""
    while type(function) is functools.partial:
        function = function.func
    if type(function) is types.MethodType:
        function = function.__func__
    if type(function) is types.FunctionType:
        return is_own(function)
    return dispatch.has_own_methods(function if isinstance(function, type) else type(function))


def _pass(
    domain: Runs, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> list[tuple[Array, Any]]:
    """Return what the runs of one pass returned or raised, each with their numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = domain.call(function, *args, **keywords)
        returned = [(domain.active.places, value)]
    except DeadError:
        returned = []
    except (GivenUpError, rewrite.UnreadableError) as error:
        raise UnreadError(str(error)) from None
    except SplitError:
        raise
    except RecursionError:
        raise UnreadError("it calls itself too deeply") from None
    except Exception as error:
        if not domain.closes and not _is_of_target(error):
            raise UnreadError(f"{type(error).__name__}: {error}") from error
        returned = [(domain.active.places, outcome.raised(error))]
    for chosen, exception in domain.leaving[0]:
        if type(exception) is Alternatives:
            for code, each in enumerate(exception.values):
                returned.append((np.flatnonzero(chosen & (exception.codes == code)), outcome.raised(each)))
        else:
            returned.append((np.flatnonzero(chosen), outcome.raised(exception)))
    return returned


def _is_of_target(error: BaseException) -> bool:
    """Whether an exception came from code of the function, rather than from here."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and "__dpaudit__" in trace.tb_frame.f_code.co_freevars


def tape_of(events: list[draws.Drawn], run: int) -> list[tuple[str, Any]]:
    """Return what one run drew, in its order."""
    out = []
    for each in events:
        place = int(np.searchsorted(each.places, run))
        if place < len(each.places) and each.places[place] == run:
            value = each.values[place]
            if isinstance(each.values, np.ndarray):
                value = value.item() if each.python else value.copy() if isinstance(value, np.ndarray) else value
            out.append((each.title, value))
    return out


def _finished(
    domain: Runs, run: int, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Let the function itself make a run, from the draws that it made already."""

    def beyond(source: NoiseSource, own: Any, more: dict[str, Any]) -> Any:
        more = {name: each for name, each in more.items() if name != "random_state"}
        return domain.streams.method(source)(*own, **more)

    try:
        return made_by_python(GivenDraws(tape_of(domain.events, run), beyond), function, args, keywords)
    except OtherDrawsError as error:
        raise UnreadError(f"called again, it {error}") from None


def _checked(
    domain: Runs,
    pieces: list[tuple[Array, Any]],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    repeated: int,
) -> dict[int, Any]:
    """Repeat some runs by the function itself; return what it returned, by the runs' numbers."""
    owner = np.full(domain.count, -1, dtype=np.int64)
    for number, (places, _) in enumerate(pieces):
        owner[places] = number
    firsts = [int(places[0]) for places, _ in pieces if len(places)]
    wanted = dict.fromkeys([*firsts[:repeated], *domain.witnesses, domain.count // 2, domain.count - 1])
    if repeated >= domain.count:
        wanted |= dict.fromkeys(range(domain.count))
    made: dict[int, Any] = {}
    for run in wanted:
        if len(made) >= repeated:
            break
        if owner[run] < 0:
            continue
        given = GivenDraws(tape_of(domain.events, run))
        value = pieces[owner[run]][1]
        expected = value if type(value) is outcome.Raised else at(value, run)
        try:
            returned = made_by_python(given, function, args, keywords)
        except OtherDrawsError as error:
            raise UnreadError(f"its reading differs from the function: given the same draws, it {error}") from None
        made[run] = returned
        if not given.is_done or not outcome.same(returned, expected):
            raise UnreadError(
                f"its reading differs from the function: given the same draws, it returns {_short(returned)} and not "
                f"{_short(expected)}"
            )
    return made


def _short(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of an object of the user's
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "…"
