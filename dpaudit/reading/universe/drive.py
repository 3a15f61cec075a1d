"""How is a function read on every path? Each pass in processes of its own, which fork where a released value decides.

A pass that meets a constant inside a cell starts again with cells that end there. What a process released and refused
is told through a pipe; the paths are put together from what each process tells since it forked.
"""

from __future__ import annotations

import contextlib
import dis
import gc
import os
import pickle
import select
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.domain import GivenMove
from dpaudit.reading import seeded, source
from dpaudit.reading.source import is_of_user, is_own, is_rewritten
from dpaudit.reading.universe import base, calls, cells, decisions, frames
from dpaudit.reading.universe.assumed import Assumed, located, rewriter_for
from dpaudit.reading.universe.called import QUIET
from dpaudit.reading.universe.columns import Selection
from dpaudit.reading.universe.domain import Universe as Domain
from dpaudit.reading.universe.state import AGAIN, Left, Pass, RefusalError, Refused, Released, Told, begin
from dpaudit.reading.universe.values import PRIVATE, check_output, sort_of
from dpaudit.settings import PATIENCE, fork

MOST_PATHS = 2_000
MOST_ROUNDS = 60


@dataclass(frozen=True)
class Reading:
    """What a function releases."""

    columns: Mapping[str, cells.Declared]  # what each column holds
    cuts: Mapping[str, frozenset[float]]  # where the cells of a column end, beside the ends of its range
    paths: tuple[tuple[Released, ...], ...]  # what is released on each path
    refused: tuple[Refused, ...]  # what is not read; nothing is known of the function where there is anything
    not_run: tuple[str, ...] = ()  # lines at which a part begins that no pass ran
    seconds: float = 0.0  # that it took
    unknown_column: str = ""
    plain: tuple[tuple[Released, ...], ...] = ()  # the same, where comparisons are releases of the numbers compared
    replaced: bool = False  # whether one record is replaced by another
    granted: tuple[GivenMove, ...] = ()  # statements on lines that are not read, under which all this holds


def read(
    function: Callable[..., Any],
    columns: Mapping[str, cells.Declared],
    parameters: Mapping[str, Any] | None = None,
    *,
    person: str | None = None,
    replaced: bool = False,
    seconds: float = 10.0,
    given: Mapping[str, Any] | None = None,
    moves: Sequence[GivenMove] = (),
) -> Reading:
    """Read a function on every path, for as many seconds of the CPU at most, on which load has little influence.

    Args:
        function: of a data frame.
        columns: what each column holds.
        parameters: of the function.
        person: the column that tells persons apart, where all of a person's records come and go.
        replaced: whether one is replaced by another.
        seconds: of the CPU.
        given: further arguments, by name.
        moves: how far the values move that some lines assign, where those are not read.

    Raises:
        UsageError: if a statement is about no assignment, or about one that is read without it, or that is never run.
    """
    if not hasattr(os, "fork"):
        raise UsageError("functions as they are can be proved only where processes fork: on Linux and macOS")
    if not set(np.geterr().values()) <= QUIET:
        why = Refused("?", "np.seterr makes NumPy raise what it warns of elsewhere, for values that records may have")
        return Reading(columns, {}, (), (why,))
    calls.build()
    if changed := calls.replaced(getattr(function, "__module__", None) or ""):
        return Reading(columns, {}, (), (Refused("?", f"{changed} of pandas is replaced by another function"),))
    for module in (source, seeded):
        module.look_up(functions_of(function))
    started = time.monotonic()
    cuts: dict[str, frozenset[float]] = {}
    left = seconds
    used = frozenset(texts_in(function))
    assumed = located(moves, functions_of(function))
    for _ in range(MOST_ROUNDS):
        told = _one_round(
            function,
            columns,
            {**(parameters or {}), **(given or {})},
            cuts,
            used,
            person,
            replaced,
            (seconds, left),
            assumed,
        )
        left -= sum(each.seconds for each in told)
        asked = {name: values for each in told for name, values in each.cuts.items()}
        if isinstance(told, str) or not asked:
            break
        for each in told:
            for name, values in each.cuts.items():
                cuts[name] = cuts.get(name, frozenset()) | values
    taken = time.monotonic() - started
    if asked:
        why = Refused(
            "?",
            f"a column is compared with more than {MOST_ROUNDS} values that are met one after another",
            "a list of edges: pd.cut(x, EDGES)",
        )
        return Reading(columns, cuts, (), (why,), seconds=taken)
    refused = list(dict.fromkeys(why for each in told for why in each.refused))
    unknown = next((each.unknown_column for each in told if each.unknown_column), "")
    granted = _granted(told, moves, is_whole=not refused)
    if refused:
        return Reading(columns, cuts, (), tuple(refused), seconds=taken, unknown_column=unknown, granted=granted)
    ran = set().union(*(each.ran for each in told))
    blocks = set().union(*(each.blocks for each in told))
    not_run = tuple(f"{os.path.basename(file)}:{line}" for file, line in sorted(blocks - ran))
    plain, paths = zip(*_paths(told), strict=True)
    return Reading(columns, cuts, paths, (), not_run, taken, granted=granted, plain=plain, replaced=replaced)


def _granted(told: list[Told], moves: Sequence[GivenMove], *, is_whole: bool) -> tuple[GivenMove, ...]:
    """Return the statements that the reading rests on; refuse those that it does not need, once it is whole."""
    needed = {place for each in told for place, is_needed in each.granted.items() if is_needed}
    for each in moves:
        if is_whole and str(each) not in needed:
            met = any(str(each) in one.granted for one in told)
            why = "is read, and how far its value moves is derived" if met else "is run on no path that was read"
            raise UsageError(f"{each.place} {why}; leave out what is given of it")
    return tuple(each for each in moves if str(each) in needed)


def _paths(told: list[Told]) -> Iterator[tuple[tuple[Released, ...], tuple[Released, ...]]]:
    """Yield what each path releases, number by number, and with comparisons with a threshold as one release."""
    by_node = {each.node: each for each in told}
    for each in told:
        if each.ended == "forked":
            continue
        chain, node = [each], each
        while node.parent:
            node = by_node[node.parent]
            chain.append(node)
        path = tuple(release for one in reversed(chain) for release in one.releases)
        gone = frozenset().union(*(numbers for _, numbers in each.sparse))
        yield (
            path,
            (
                *(release for release in path if release.number not in gone),
                *(joined_release for joined_release, _ in each.sparse),
            ),
        )


def _one_round(
    function: Any,
    columns: Mapping[str, cells.Declared],
    arguments: Mapping[str, Any],
    cuts: Mapping[str, frozenset[float]],
    used: frozenset[str],
    person: str | None,
    replaced: bool,
    seconds: tuple[float, float],
    assumed: Sequence[Assumed],
) -> list[Told]:
    """Run one pass of so many seconds in all, and so many that are left; return what its processes tell."""
    most, left = seconds
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = fork()
    if child == 0:
        code = 1
        try:
            gc.freeze()  # a collection would touch every object, which every process would then copy
            gc.disable()
            os.setsid()
            os.close(reading)
            code = _pass(function, columns, arguments, cuts, used, person, replaced, assumed, writing)
        finally:
            os._exit(code)
    os.close(writing)
    told: list[Told] = []
    why, spent = None, 0.0
    try:
        for each in _messages(reading, time.monotonic() + PATIENCE * max(left, 0.1)):
            told.append(each)
            spent += each.seconds
            if spent > left:
                raise TimeoutError
            if len(told) > 2 * MOST_PATHS:
                why = Refused(
                    _forked_at(told),
                    f"more than {MOST_PATHS:,} paths",
                    "fewer decisions on released values: a loop with a bound",
                )
                break
    except TimeoutError:
        paths = sum(each.ended != "forked" for each in told)
        why = Refused(
            _forked_at(told),
            f"reading takes longer than {most:.3g} s; {paths:,} paths were read",
            "fewer decisions on released values, coarser columns, or --time-budget 60",
        )
    finally:
        os.close(reading)
        if why is not None:
            os.killpg(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    asks = any(each.cuts for each in told)
    if why is None and not asks and os.waitstatus_to_exitcode(status) not in (0, AGAIN):
        why = Refused("?", "the process that reads the function ended without an answer", "")
    if why is not None:
        told.append(Told("", "", refused=[why], ended="left"))
        for each in told:
            each.cuts = {}
    return told


def _forked_at(told: list[Told]) -> str:
    """Return the line of the last decision."""
    return next((each.at for each in reversed(told) if each.ended == "forked"), "?")


def _messages(pipe: int, deadline: float) -> Iterator[Told]:
    buffer = b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            raise TimeoutError
        data = os.read(pipe, 1 << 20)
        if not data:
            return
        buffer += data
        while len(buffer) >= 8 and len(buffer) >= 8 + (size := int.from_bytes(buffer[:8], "big")):
            yield pickle.loads(buffer[8 : 8 + size])
            buffer = buffer[8 + size :]


def _pass(
    function: Any,
    columns: Mapping[str, cells.Declared],
    arguments: Mapping[str, Any],
    cuts: Mapping[str, frozenset[float]],
    used: frozenset[str],
    person: str | None,
    replaced: bool,
    assumed: Sequence[Assumed],
    pipe: int,
) -> int:
    """Read one pass, in a process of its own; return its exit code."""
    state = Pass(pipe, person=person, persons=person is not None, replaced=replaced)
    begin(state)
    domain = Domain(state, used)
    try:
        universe = cells.CellAxes(columns, cuts)
        if assumed:
            domain.rewriter, domain.universe = rewriter_for(assumed), universe
            domain.assumptions = {(each.file, each.first): each for each in assumed}
        selection = Selection("record" if person is None else "unbounded", 1, 0)
        frame = frames.given_frame(universe, selection)
        with _unread_refused(state):
            ended = _called(domain, function, frame, arguments)
    except Left:
        ended = "left"
    except RefusalError as why:
        state.note(Refused("?", *why.args))
        ended = "left"
    except RecursionError:
        state.told.refused.append(Refused("?", "the function calls itself without end", ""))
        ended = "left"
    except BaseException as error:  # a mistake of the reader is no exception of the function
        state.told.refused.append(
            Refused(_place(error), f"the reading fails here ({type(error).__name__}: {error})", "")
        )
        if os.environ.get("DPAUDIT_TRACE_READING"):
            traceback.print_exc()
        ended = "left"
    state.told.ended = ended
    state.told.blocks = set(_blocks(domain))
    state.tell()
    return AGAIN if state.told.cuts else 0


@contextlib.contextmanager
def _unread_refused(state: Pass) -> Iterator[None]:
    """Refuse functions of the user's that Python or a library calls past the domain, which sees nothing of them."""
    known: dict[int, tuple[types.CodeType, bool]] = {}

    def called(frame: types.FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        known_code = known.get(id(code))
        if known_code is None:
            is_unread = is_of_user(code.co_filename) and not is_rewritten(frame) and code.co_name != "<module>"
            known[id(code)] = known_code = code, is_unread
        if known_code[1] and not state.is_over and not _is_imported(frame):
            state.note(
                Refused(f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}",
                        f"{code.co_name} is called by Python or a library, and nothing is known of what it does there",
                        "a call of it by its name")
            )  # fmt: skip

    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)


def _is_imported(frame: types.FrameType | None) -> bool:
    """Whether a module is being imported here."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and "importlib" in str(getattr(frame.f_back, "f_code", "")):
            return True
        frame = frame.f_back
    return False


def _called(domain: Domain, function: Any, frame: Any, arguments: Mapping[str, Any]) -> str:
    state = domain.state
    try:
        output = domain.call(function, frame, **arguments)
    except Left:
        raise
    except (Exception, SystemExit) as error:
        if not base.is_natural(error):
            raise
        if sort_of(error) == PRIVATE:
            state.note(
                Refused(_place(error), f"raises {type(error).__name__} with a private value", "a text without it")
            )
        return "raised"
    if state.is_over or state.told.refused:
        return "left"
    try:
        check_output(domain.seen(output))
    except RefusalError as why:
        state.note(Refused(_end_of(function), *why.args))
    decisions.settle(state)
    return "returned"


def _place(error: BaseException) -> str:
    place, at = "?", error.__traceback__
    while at is not None:
        if is_of_user(at.tb_frame.f_code.co_filename):
            place = f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}"
        at = at.tb_next
    return place


def _end_of(function: Any) -> str:
    code = getattr(function, "__code__", None)
    if code is None:
        return "?"
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    return f"{os.path.basename(code.co_filename)}:{last}"


def _blocks(domain: Domain) -> Iterator[tuple[str, int]]:
    """Yield where the parts of the functions begin that were read."""
    pending = [twin.__code__ for twin in domain._twins.values()]
    while pending:
        code = pending.pop()
        told = False
        for each in dis.get_instructions(code):
            if each.argval == "ran":
                told = True
            elif told and each.opname == "LOAD_CONST" and isinstance(each.argval, int):
                yield code.co_filename, each.argval
                told = False
        pending += [each for each in code.co_consts if isinstance(each, types.CodeType)]


def functions_of(function: Any) -> Iterator[types.FunctionType]:
    """Yield a function, and the functions of the user's that it names."""
    seen: set[types.CodeType] = set()
    pending = [function]
    while pending:
        one = pending.pop()
        one = getattr(one, "__wrapped__", getattr(one, "func", one))
        one = getattr(one, "__func__", one)
        if not is_own(one) or one.__code__ in seen:
            continue
        seen.add(one.__code__)
        yield one
        for code in _codes_of(one.__code__):
            for value in map(one.__globals__.get, code.co_names):
                if is_own(value):
                    pending.append(value)
                elif isinstance(value, type):
                    pending += [each for each in vars(value).values() if is_own(each)]


def _codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes_of(each)


def texts_in(function: Any) -> Iterator[str]:
    """Yield the texts in a function and in functions of the user's that it names."""
    for one in functions_of(function):
        for code in _codes_of(one.__code__):
            yield from code.co_names
            constants = list(code.co_consts)
            while constants:
                each = constants.pop()
                if isinstance(each, str):
                    yield each
                elif isinstance(each, tuple | frozenset):
                    constants += list(each)
            for value in map(one.__globals__.get, code.co_names):
                if isinstance(value, str):
                    yield value
                elif isinstance(value, list | tuple | set | dict):
                    yield from (each for each in value if isinstance(each, str))
