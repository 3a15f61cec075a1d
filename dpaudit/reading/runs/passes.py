"""How are all runs of a block made, by as few passes as they need?

One pass for all; where runs have to go apart, a pass for each part, with the draws that its runs made already. Runs
that cannot be read are made by the function itself, from their own draws on; so no run is drawn again because of what
it drew. Some runs of every pass are repeated by the function itself, those first that would most likely show a
difference: one difference, and nothing of the reading is used.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.program.outcome import Raised, raised, same
from dpaudit.reading import dispatch
from dpaudit.reading.agreement import Given, OtherDrawsError, made_by_python
from dpaudit.reading.draws import Source
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.runs.control import DeadError, GivenUpError, SplitError
from dpaudit.reading.runs.domain import Runs
from dpaudit.reading.runs.draw import Drawn, Recorded, Streams, one_draw
from dpaudit.reading.runs.values import Alternatives, Array, at
from dpaudit.reading.source import is_own

MOST_PASSES = 512
REPEATED, _LEAST_REPEATED = 24, 4
"""Runs that are repeated by the function itself, those most likely to differ and two others; a pass for some of the
runs repeats its share of them, and no fewer than the second."""


class UnreadError(Exception):
    """A function is not read in many runs at once; the text says why."""


@dataclass(frozen=True, slots=True)
class Part:
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

    parts: list[Part]  # of runs that were read
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
    waiting: list[tuple[Array, Recorded | None]] = [(np.arange(count), None)]
    parts: list[Part] = []
    single: dict[int, Any] = {}
    passes, checked = 0, dict[int, Any]()
    called: dict[str, None] = {}
    while waiting:
        runs, recorded = waiting.pop()
        passes += 1
        if passes > MOST_PASSES:
            raise UnreadError(f"its runs go more than {MOST_PASSES} ways that cannot be read at once")
        own, probing = seeds.spawn(2)
        domain = Runs(len(runs), Streams(np.random.SFC64(own)), Streams(np.random.SFC64(probing)), recorded)
        try:
            found = _pass(domain, function, args, keywords)
        except SplitError as split:
            for chosen in (split.chosen, ~split.chosen):
                lanes = np.flatnonzero(chosen)
                if len(lanes):
                    waiting.append((runs[lanes], Recorded(domain.events, lanes, len(runs))))
            continue
        mine = [Part(runs[places], value, places, domain.count) for places, value in found if len(places)]
        for run in np.flatnonzero(domain.ejected).tolist():
            single[int(runs[run])] = _finished(domain, run, function, args, keywords)
        share = (
            repeated if repeated >= count else min(repeated, max(_LEAST_REPEATED, -(-repeated * len(runs) // count)))
        )
        try:
            again = _checked(domain, found, function, args, keywords, share)
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
        found = [(domain.active.places, value)]
    except DeadError:
        found = []
    except (GivenUpError, UnreadableError) as error:
        raise UnreadError(str(error)) from None
    except SplitError:
        raise
    except RecursionError:
        raise UnreadError("it calls itself too deeply") from None
    except Exception as error:
        if not domain.closes and not _is_of_target(error):
            raise UnreadError(f"{type(error).__name__}: {error}") from error
        found = [(domain.active.places, raised(error))]
    for chosen, exception in domain.leaving[0]:
        if type(exception) is Alternatives:
            for code, each in enumerate(exception.values):
                found.append((np.flatnonzero(chosen & (exception.codes == code)), raised(each)))
        else:
            found.append((np.flatnonzero(chosen), raised(exception)))
    return found


def _is_of_target(error: BaseException) -> bool:
    """Whether an exception came from code of the function, rather than from here."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and "__dpaudit__" in trace.tb_frame.f_code.co_freevars


def tape_of(events: list[Drawn], run: int) -> list[tuple[str, Any]]:
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

    def beyond(source: Source, own: Any, more: Any) -> Any:
        return one_draw(source, own, more, domain.streams)

    try:
        return made_by_python(Given(tape_of(domain.events, run), beyond), function, args, keywords)
    except OtherDrawsError as error:
        raise UnreadError(f"called again, it {error}") from None


def _checked(
    domain: Runs,
    found: list[tuple[Array, Any]],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    repeated: int,
) -> dict[int, Any]:
    """Repeat some runs by the function itself; return what it returned, by the runs' numbers."""
    owner = np.full(domain.count, -1, dtype=np.int64)
    for number, (places, _) in enumerate(found):
        owner[places] = number
    firsts = [int(places[0]) for places, _ in found if len(places)]
    wanted = dict.fromkeys([*firsts[:repeated], *domain.witnesses, domain.count // 2, domain.count - 1])
    if repeated >= domain.count:
        wanted |= dict.fromkeys(range(domain.count))
    made: dict[int, Any] = {}
    for run in wanted:
        if len(made) >= repeated:
            break
        if owner[run] < 0:
            continue
        given = Given(tape_of(domain.events, run))
        value = found[owner[run]][1]
        expected = value if type(value) is Raised else at(value, run)
        try:
            returned = made_by_python(given, function, args, keywords)
        except OtherDrawsError as error:
            raise UnreadError(f"its reading differs from the function: given the same draws, it {error}") from None
        made[run] = returned
        if not given.is_done or not same(returned, expected):
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
