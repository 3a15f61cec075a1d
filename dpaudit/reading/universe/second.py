"""Do real runs on neighbouring data agree with what was read? The second net, which never saw the reading.

The function itself is run by Python on a frame of the domain, and on a neighbour of it with every draw shifted so that
each noisy number comes out the same. Then the outputs have to be the same, and the shifts may cost no more than the
bound that was read. A draw is a pending number: what it is added to becomes a plain one, and all that follows is plain
Python. It is evidence that the reading is right, and no proof of it.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
import os
import pickle
import select
import signal
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.callables import constants_of
from dpaudit.reading.universe import cells, second_draws, second_sources
from dpaudit.reading.universe.assumed import WatchedLine, differs, refuted, watching
from dpaudit.settings import PATIENCE, fork

SIZES = (0, 1, 2, 3, 8, 40)
PAIRS = 24
MORE = 8  # pairs of each further size, at numbers that stand in the function
_LARGEST, _MOST_SIZES = 200, 6
MOST_DRAWS = 20_000  # after which no further pair is tried, beyond one of each size
SECONDS = 30.0  # of the CPU
_MOST_ROWS = 20  # of data whose neighbours are tried
_SLACK = 1e-6

Given = Mapping[str, Callable[[], Any]]
Limits = tuple[float, float]
"""The ε that all noise but Gaussian costs at most, and the μ² of Gaussian noise."""


def _once(
    function: Callable[..., Any], frame: Any, run: second_draws.Run, parameters: Mapping[str, Any], given: Given
) -> tuple[str, Any]:
    second_draws.begin(run)
    before = frame.copy()
    with second_sources.patched(function) as instead, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            more = {name: make() for name, make in given.items()}
            with watching(run.lines, run.rng) as run.seen, _listening(run.said):
                output = function(frame, **{name: instead(each) for name, each in parameters.items()}, **more)
            out = ("returns", _plain(output))
        except (second_draws.DiffersError, second_draws.PassedOverError):
            raise
        except Exception as error:
            out = ("raises", type(error).__name__)
            run.said.append(str(error))
    if not before.equals(frame) or list(before.columns) != list(frame.columns):
        raise second_draws.DiffersError("it changes the data that it is given")
    return out


class _Listener(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.said.append(record.getMessage())


@contextlib.contextmanager
def _listening(said: list[str]) -> Iterator[None]:
    """Keep what is printed and logged within this, at any level: it is seen like what is returned."""
    root, printed = logging.getLogger(), io.StringIO()
    level, handlers = root.level, root.handlers[:]
    root.handlers[:] = [_Listener(said)]
    root.setLevel(1)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        said.append(printed.getvalue())


def _plain(value: Any) -> Any:
    if isinstance(value, second_draws.Pending | second_draws.Pendings):
        return second_draws.settled(value) if isinstance(value, second_draws.Pendings) else value.plain()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | types.GeneratorType | zip | map):
        return [_plain(each) for each in value]
    return value


def alike(first: Any, second: Any) -> bool:
    """Whether two outputs are the same, up to the rounding of shifted draws."""
    if isinstance(first, dict):
        return (
            isinstance(second, dict)
            and list(first) == list(second)
            and all(alike(first[key], second[key]) for key in first)
        )
    if isinstance(first, list | tuple):
        return isinstance(second, list | tuple) and len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, pd.DataFrame | pd.Series):
        return (
            type(first) is type(second)
            and first.shape == second.shape
            and list(map(_labels, first.axes)) == list(map(_labels, second.axes))
            and alike(second_draws.settled(first.to_numpy()).tolist(), second_draws.settled(second.to_numpy()).tolist())
        )
    if isinstance(first, pd.Index):
        return isinstance(second, pd.Index) and _labels(first) == _labels(second)
    if isinstance(first, np.ndarray):
        return isinstance(second, np.ndarray) and alike(first.tolist(), second.tolist())
    if type(first) is not type(second):
        return False
    if isinstance(first, float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9) or (first != first and second != second)
    if hasattr(first, "__dict__") and not isinstance(first, type):
        return alike(vars(first), vars(second))
    return bool(first == second)


def _labels(index: pd.Index) -> tuple[Any, ...]:
    """All that an index shows: its labels and names, and the levels and categories that no row has too."""
    beside = [list(map(str, values)) for values in (*getattr(index, "levels", ()), getattr(index, "categories", ()))]
    return type(index), list(map(str, index)), list(map(str, index.names)), str(index.dtype), beside


Records = dict[str, list[Any]]
_DTYPES = {"text": "str", "time": "datetime64[us]", cells.UNREAD: "str"}


def _of_kind(kind: str, values: list[Any]) -> Any:
    """Return the values of a column as pandas keeps them."""
    if kind in _DTYPES:
        return pd.Series(values, dtype=_DTYPES[kind]).array
    return np.array(values, dtype="bool" if kind == "truth" else kind)


class Frames:
    """Makes frames of a domain, and neighbours of them."""

    def __init__(
        self,
        columns: Mapping[str, cells.Declared],
        cuts: Mapping[str, frozenset[float]],
        rng: np.random.Generator,
        sizes: Sequence[int] = SIZES,
    ) -> None:
        self.columns, self.cuts, self.rng, self.sizes = columns, cuts, rng, sizes

    def frame(self, size: int) -> Any:
        """Return a frame of so many records, in which edge values are frequent."""
        return self._made(self._records(size))

    def _made(self, records: Records) -> Any:
        return pd.DataFrame({name: _of_kind(self.columns[name].kind, values) for name, values in records.items()})

    def _records(self, size: int) -> Records:
        return {name: self._column(each, size) for name, each in self.columns.items()}

    def _column(self, column: cells.Declared, size: int) -> list[Any]:
        rng = self.rng
        values: list[Any]
        if column.kind == cells.UNREAD:
            return [("", "a", "b")[rng.integers(3)] for _ in range(size)]
        if column.values is None:
            marks = [column.low, column.high, (column.low + column.high) / 2]
            for each in self.cuts.get(column.name, ()):
                marks += [math.nextafter(each, -math.inf), each, math.nextafter(each, math.inf)]
            marks += [each for each in (0.0, 1.0, 30.0) if column.low <= each <= column.high]
            values = [
                marks[rng.integers(len(marks))] if rng.random() < 0.7 else rng.uniform(column.low, column.high)
                for _ in range(size)
            ]
            if column.kind == "int64":
                values = [min(max(round(each), math.ceil(column.low)), math.floor(column.high)) for each in values]
        else:
            listed = column.values
            values = [
                listed[rng.integers(len(listed))] if rng.random() < 0.7 else listed[(0, -1)[rng.integers(2)]]
                for _ in range(size)
            ]
        if column.missing:
            values = [None if rng.random() < 0.2 else each for each in values]
        return values

    def pair(self, number: int, person: str | None, replaced: bool) -> tuple[Any, Any, list[int], list[int]]:
        """Return two neighbours, and the places of the rows in which each differs from the other."""
        rng, size = self.rng, self.sizes[number % len(self.sizes)]
        small = self._records(size)
        if person is None and size and number % 3 == 1:
            small = {name: values[:1] * size for name, values in small.items()}
        rows = int(rng.integers(1, 9)) if person else 1
        more, other = self._records(rows), self._records(rows)
        if person:
            names = self._persons(person)
            small[person] = [names[1 + k // 3 % max(1, len(names) - 1)] for k in range(size)]
            more[person] = other[person] = [names[0]] * rows
        at = int(rng.integers(0, size + 1)) if number % 2 else size
        where = list(range(at, at + rows))

        def with_rows(added: Records) -> Any:
            return self._made({name: [*values[:at], *added[name], *values[at:]] for name, values in small.items()})

        if replaced:
            return with_rows(more), with_rows(other), where, where
        without, big = self._made(small), with_rows(more)
        return (without, big, [], where) if number % 4 < 2 else (big, without, where, [])

    def _persons(self, person: str) -> list[Any]:
        column = self.columns[person]
        if column.values is not None:
            return list(column.values)
        return [column.high, *(column.low + k for k in range(20))]


@dataclass(frozen=True)
class Compared:
    """What real runs showed."""

    runs: int  # how many
    disagreement: str | None  # the first thing that does not agree with what was read; None where all agrees
    pair: tuple[Any, Any]  # neighbours for which the noise has to shift most
    raised: int = 0  # how many runs raised an exception
    passed_over: int = 0  # how many runs were compared with none, as a rule allows at a δ
    spending: tuple[Any, Any] | None = None  # neighbours of such runs, of which δ alone speaks; None without any
    refuted: str | None = None  # what shows that a line does not do what is given of it; None where nothing does


def compared(function: Callable[..., Any], columns: Mapping[str, cells.Declared], cuts: Any, **known: Any) -> Compared:
    """Hold a bound against real runs, in a process of their own; the arguments are those of `disagreement`."""
    second_sources.users_modules()  # thousands of files are looked up once, and not in every process
    try:
        compared_runs: Compared = in_a_process(lambda: disagreement(function, columns, cuts, **known), SECONDS)
        return compared_runs
    except (RuntimeError, TimeoutError) as error:
        frames = Frames(columns, cuts, np.random.default_rng(1))
        first, second, _, _ = frames.pair(2, known.get("person"), bool(known.get("replaced")))
        why = str(error) or f"real runs take more than {SECONDS:g} s"
        return Compared(0, f"the function could not be run on frames of the domain ({why})", (first, second))


def disagreement(
    function: Callable[..., Any],
    columns: Mapping[str, cells.Declared],
    cuts: Mapping[str, frozenset[float]],
    *,
    limits: Limits,
    unsampled: Limits,
    parameters: Mapping[str, Any],
    given: Given | None = None,
    spends: bool = False,
    person: str | None = None,
    replaced: bool = False,
    pairs: int = PAIRS,
    seed: int = 1,
    lines: Sequence[WatchedLine] = (),
    data: Any = None,
) -> Compared:
    """Hold a bound against real runs on neighbouring frames, and what is given of lines also against data."""
    sizes, more = (*SIZES, *_sizes_of(function, parameters)), (parameters, given or {})
    frames = Frames(columns, cuts, np.random.default_rng(seed), sizes)
    pairs += MORE * (len(sizes) - len(SIZES))
    worst, most, raised, why, over, draws = None, -1.0, 0, None, 0, 0
    spending: tuple[Any, Any] | None = None
    against: str | None = None
    number = 0
    while number < pairs and (draws < MOST_DRAWS or number < len(SIZES)):
        first, second, of_first, of_second = frames.pair(number, person, replaced)
        worst = worst or (first, second)
        one = second_draws.Run(number, new=of_first, size=len(first), lines=lines)
        two = second_draws.Run(number, new=of_second, size=len(second), before=one, lines=lines)
        number += 1
        try:
            before = _once(function, first, one, *more)
            after = _once(function, second, two, *more)
            raised += (before[0] == "raises") + (after[0] == "raises")
            told = _differs(before, after, one, two, unsampled if two.is_sampled else limits)
            is_said_again = one.said != two.said and all(  # and is no clock, or the like
                _repeated(function, frame, run, more).said == run.said for frame, run in ((first, one), (second, two))
            )
            if told is None and is_said_again:
                told = "it prints, logs or raises other texts, though all noisy numbers are the same"
        except second_draws.DiffersError as error:
            told = str(error)
        except second_draws.PassedOverError as error:
            over += 2
            spending = spending or (first, second)
            told = None if spends else str(error)
        draws += one.draws + two.draws
        if lines and against is None and (shown := refuted(one.seen, two.seen) or _again(function, first, one, more)):
            worst, most = (first, second), math.inf
            against = f"{shown}, on {_told(first)} and {_told(second)}"
        far = math.inf if told else two.cost + math.sqrt(two.squares)
        records, best = len(first) + len(second), sum(map(len, worst)) or math.inf
        is_more = far > most * (1 + _SLACK) or (far >= most * (1 - _SLACK) and records < best)
        if is_more and records:  # of pairs that lose as much, the smaller one hides less of it
            worst, most = (first, second), max(far, most)
        if told and why is None:
            why = f"pair {number} of {pairs} ({len(first)} and {len(second)} records): {told}"
    assert worst is not None
    if lines and data is not None and against is None:
        against = _refuted_on(function, data, lines, more, replaced=replaced, person=person)
    return Compared(2 * number - over, why, worst, raised, over, spending, against)


def _again(function: Any, frame: Any, run: second_draws.Run, more: tuple[Any, Any]) -> str | None:
    """Say whether a line assigns something else from the same data, with the same draws."""
    return differs(run.seen, _repeated(function, frame, run, more).seen)


def _repeated(function: Any, frame: Any, run: second_draws.Run, more: tuple[Any, Any]) -> second_draws.Run:
    """Return another run on the same data, with the same draws."""
    again = second_draws.Run(run.seed, new=run.new, size=run.size, before=run.before, lines=run.lines)
    with contextlib.suppress(second_draws.DiffersError, second_draws.PassedOverError):
        _once(function, frame, again, *more)
    return again


def _refuted_on(
    function: Any, data: Any, lines: Sequence[WatchedLine], more: tuple[Any, Any], *, replaced: bool, person: str | None
) -> str | None:
    """Hold what is given of lines against neighbours of the data: without some rows, or with others in their place.

    Rows are those that hold the least or the most of a column, and the first and last; no value of them is told.
    """
    numbers = data.select_dtypes("number")
    listed = [0, len(data) - 1, *(int(end) for name in numbers for end in _ends_of(numbers[name]))] if len(data) else []
    for place in list(dict.fromkeys(listed))[:_MOST_ROWS]:
        gone = [place] if person is None else np.flatnonzero(data[person] == data[person].iloc[place]).tolist()
        other = data.drop(index=data.index[gone]).reset_index(drop=True)
        if replaced and person is None:
            other = data.iloc[[*(k if k != place else len(data) - 1 - place for k in range(len(data)))]]
            other = other.reset_index(drop=True)
        one = second_draws.Run(place, new=gone, size=len(data), lines=lines)
        two = second_draws.Run(
            place, new=gone if len(other) == len(data) else [], size=len(other), before=one, lines=lines
        )
        with contextlib.suppress(second_draws.DiffersError, second_draws.PassedOverError):
            _once(function, data, one, *more)
            _once(function, other, two, *more)
        if shown := refuted(one.seen, two.seen):
            what = "and" if replaced else "and without"
            return f"{shown.partition(', from ')[0]}, on the data {what} {'another' if replaced else 'a'} row"
    return None


def _told(frame: Any) -> str:
    """Return a frame of the domain in words."""
    listed = frame.to_dict("records")
    return str(listed) if len(listed) <= 2 and len(str(listed)) < 120 else f"{len(frame)} records"


def _ends_of(column: Any) -> tuple[int, int]:
    values = column.fillna(column.mean()).to_numpy()
    return int(np.argmin(values)), int(np.argmax(values))


def _sizes_of(function: Callable[..., Any], parameters: Mapping[str, Any]) -> list[int]:
    """Return the numbers of records near which a function may decide something: those in it, and one less."""
    named = [*parameters.values(), *constants_of(function)]
    whole = [int(each) for each in named if isinstance(each, int | float) and each == each and each in range(_LARGEST)]
    sizes_near = dict.fromkeys(size for each in whole for size in (each, each - 1) if size > 0 and size not in SIZES)
    return list(sizes_near)[:_MOST_SIZES]


def _differs(before: Any, after: Any, one: second_draws.Run, two: second_draws.Run, limits: Limits) -> str | None:
    if len(one.met) > two.draws:
        return "another number of draws"
    if before[0] != after[0] or not alike(before[1], after[1]):
        return f"{str(before)[:80]} and {str(after)[:80]}, though all noisy numbers are the same"
    most, far = limits
    if two.cost > most * (1 + _SLACK) + 1e-7 or two.squares > far * (1 + _SLACK) + 1e-12:
        return (
            f"the noise has to shift by more than was read (ε {two.cost:.4g} of {most:.4g}, μ² {two.squares:.4g} of "
            f"{far:.4g})"
        )
    return None


def in_a_process(work: Callable[[], Any], seconds: float) -> Any:
    """Return what some work gives in a process that forks for it, within so many seconds of the CPU.

    Raises:
        TimeoutError: if it takes longer, or `PATIENCE` times as long on the clock.
        RuntimeError: if it fails, or its process dies.
    """
    reading, writing = os.pipe()
    child = fork()
    if child == 0:
        try:
            os.close(reading)
            os.setsid()
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            try:
                data = pickle.dumps((True, work()))
            except BaseException as error:
                data = pickle.dumps((False, f"{type(error).__name__}: {error}"))
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(data)
        finally:
            os._exit(0)
    os.close(writing)

    deadline, data = time.monotonic() + PATIENCE * seconds, b""
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([reading], [], [], left)[0]:
                os.killpg(child, signal.SIGKILL)
                raise TimeoutError
            more = os.read(reading, 1 << 20)
            if not more:
                break
            data += more
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) == -signal.SIGPROF:
        raise TimeoutError
    is_fine, answer = pickle.loads(data) if data else (False, "it ended without an answer")
    if not is_fine:
        raise RuntimeError(answer)
    return answer
