"""What does a program release of its records, on every path? The tracked reading.

The function is run on tracked data as often as released values can decide something, each path once and the first
one twice. The reading says what is released on each path, from what, by how much each kind of record moves it.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from dpaudit.program.coverage.watching import WatchedProgram
from dpaudit.program.symbolic.budget import count_path
from dpaudit.program.symbolic.reading import global_state
from dpaudit.program.symbolic.value import line_of
from dpaudit.program.tracked.arrays import array_of
from dpaudit.program.tracked.columns import Column
from dpaudit.program.tracked.frame import Frame
from dpaudit.program.tracked.groups import Groups
from dpaudit.program.tracked.guarded import is_one_of
from dpaudit.program.tracked.magnitude import exact, of
from dpaudit.program.tracked.noise import TrackedNoise
from dpaudit.program.tracked.path import PATH, Path, RefusedReading, Release, UnknownColumnError, refuse
from dpaudit.program.tracked.private import Number, among
from dpaudit.program.tracked.released import ReleasedArray, ReleasedNumber, is_private
from dpaudit.program.tracked.rows import ColumnDomain
from dpaudit.program.tracked.series import Series
from dpaudit.program.tracked.truth import Truth

MOST_PATHS = 20_000
_PATIENCE = 600.0  # seconds: no reading takes so long
_READING = threading.Lock()  # names of Python and NumPy are replaced while a program is read
_OURS = str(FilePath(__file__).parents[2])
_OUTPUTS = (type(None), bool, int, float, complex, str, bytes, Fraction, range)


@dataclass(frozen=True, slots=True)
class Releases:
    """What a program releases.

    Attributes:
        paths: the releases of each path, without repetitions.
        lines: of each release, all that make it.
        read: how many paths were read.
        columns: the columns that conditions name, with what they may hold.
    """

    paths: tuple[tuple[Release, ...], ...]
    lines: Mapping[Release, frozenset[str]]
    read: int
    columns: Mapping[str, ColumnDomain]


def read_releases(
    function: Callable[..., Any],
    domain: Mapping[str, ColumnDomain],
    parameters: Mapping[str, Any],
    *,
    person: str | None = None,
    replaced: bool = False,
    watched: WatchedProgram | None = None,
) -> Releases:
    """Read all paths of a program on records; one program at a time, whatever the threads.

    Args:
        function: the program, called as ``function(frame, noise, **parameters)``.
        domain: what each column of the frame may hold.
        parameters: floats count as the decimals that are written.
        person: the column that names persons, where neighbours differ in one.
        replaced: whether neighbours replace the records of a person, who comes or goes else.
        watched: what is told which code the reading comes through.

    Raises:
        RefusedReading: where the program does what the reading does not know, naming the line.
    """
    if PATH.get(None) is not None:
        refuse("a proof from records within another one")
    if not _READING.acquire(timeout=_PATIENCE):
        raise RefusedReading("another thread has been reading a program for ten minutes; wait for it, or use processes")
    try:
        return _read(function, partial(Frame.of_domain, dict(domain), person, replaced=replaced), parameters, watched)
    finally:
        _READING.release()


def _read(
    function: Callable[..., Any],
    data: Callable[[], Frame],
    parameters: Mapping[str, Any],
    watched: WatchedProgram | None,
) -> Releases:
    state = global_state()
    pending: list[list[Any]] = [[]]
    found: dict[tuple[Release, ...], None] = {}
    lines: dict[Release, frozenset[str]] = {}
    columns: dict[str, ColumnDomain] = {}
    read, again = 0, False
    while pending:
        count_path()
        path, used = _follow(function, data(), parameters, pending.pop(), watched)
        columns.update(used)
        if watched is not None:
            watched.coverage.closed |= path.posted
            watched.runs.closed |= path.posted
        if not again:
            repeated, _ = _follow(function, data(), parameters, path.tape, None)
            if repeated.releases != path.releases or repeated.tape != path.tape or repeated.left:
                raise RefusedReading("the program asks for other releases on the same path; it must keep no state")
            again = True
        pending += path.left
        found.setdefault(tuple(path.releases))
        for release in path.releases:
            lines[release] = lines.get(release, frozenset()) | {release.line}
        read += 1
        if read > MOST_PATHS:
            raise RefusedReading(
                f"the program has more than {MOST_PATHS:,} paths; decide in noise.post, or repeat a step by "
                "noise.repeat"
            )
    if global_state() != state:
        raise RefusedReading("the program draws from Python's or NumPy's global generator; draw from noise instead")
    changed = None if watched is None else watched.changed()
    if changed is not None:
        raise RefusedReading(f"the program changes {changed} between calls; it must not keep a state")
    return Releases(tuple(found), lines, read, columns)


def _follow(
    function: Callable[..., Any],
    data: Frame,
    parameters: Mapping[str, Any],
    tape: list[Any],
    watched: WatchedProgram | None,
) -> tuple[Path, dict[str, ColumnDomain]]:
    """Read one path; return it, and the columns that it names."""
    path = Path(tape)
    token = PATH.set(path)
    try:
        given = {name: _exact(value) for name, value in parameters.items()}
        try:
            with _own_names(), _followed(watched, path):
                output = function(data, TrackedNoise(), **given)
            if path.refused is None:
                _refuse_private(output, function)
        except (ValueError, ZeroDivisionError) as error:
            _refuse_told(error, function)  # its text is public: neither a private number nor a released one has one
        except (Exception, SystemExit) as error:
            raise RefusedReading(f"{_raised_at(error)}raises {type(error).__name__}: {error}") from None
        if path.refused is not None:
            raise RefusedReading(path.refused)
        return path, data.rows.known
    except RefusedReading as why:
        if path.asks_for_more:
            raise UnknownColumnError(str(why)) from None
        raise
    finally:
        PATH.reset(token)
        if watched is not None:
            watched.ended()


@contextmanager
def _followed(watched: WatchedProgram | None, path: Path) -> Iterator[None]:
    if watched is None:
        yield
    else:
        with watched.following(partial(_decided, path)):
            yield


def _decided(path: Path) -> int:
    return path.taken


def _raised_at(error: BaseException) -> str:
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return "" if frames is None else f"{line_of(frames.tb_frame)}: "


def _exact(value: Any) -> Any:
    """Return a parameter as the program is given it: floats as exact numbers."""
    if isinstance(value, float | Fraction | np.floating):
        return ReleasedNumber(of(exact(value)), float(value))
    return value


@contextmanager
def _own_names() -> Iterator[None]:
    """Let some names return what tracked data answer: Python and NumPy demand plain values, or a branch, of others."""
    plain, extremes = builtins.len, {name: getattr(builtins, name) for name in ("max", "min")}
    makers = {name: getattr(np, name) for name in ("array", "asarray")}

    def tracked_len(value: Any, /) -> Any:
        if isinstance(value, Frame | Column | Groups | Series):
            return value.tracked_len()
        return plain(value)

    builtins.len = tracked_len
    is_plainly = builtins.isinstance
    builtins.isinstance = partial(is_one_of, is_plainly)
    for name, extreme in extremes.items():
        setattr(builtins, name, partial(_extreme_by, extreme))
    for name, make in makers.items():
        setattr(np, name, partial(_made_by, make))
    try:
        yield
    finally:
        builtins.len, builtins.isinstance = plain, is_plainly
        for name, extreme in extremes.items():
            setattr(builtins, name, extreme)
        for name, make in makers.items():
            setattr(np, name, make)


def _extreme_by(extreme: Callable[..., Any], *given: Any, **options: Any) -> Any:
    if sys._getframe(1).f_code.co_filename.startswith(_OURS) or not given:
        return extreme(*given, **options)
    listed = list(given[0]) if len(given) == 1 else list(given)
    if not any(isinstance(each, Number) for each in listed):
        return extreme(listed, **options) if len(given) == 1 else extreme(*given, **options)
    if options:
        refuse(f"{extreme.__name__}() of private numbers with a key or a default; leave it out")
    return among(listed)


def _made_by(make: Callable[..., Any], value: Any, *given: Any, **options: Any) -> Any:
    if sys._getframe(1).f_code.co_filename.startswith(_OURS):
        return make(value, *given, **options)
    return array_of(make, value, given, options)


def _refuse_told(error: BaseException, function: Any) -> None:
    """Refuse an exception that holds anything but plain values."""
    seen: list[BaseException] = []
    while error not in seen:
        seen.append(error)
        if type(error) not in (ValueError, ZeroDivisionError, KeyError, TypeError, IndexError, AttributeError):
            raise RefusedReading(f"{_raised_at(error)}raises {type(error).__name__}: {error}")
        _refuse_private([list(error.args), dict(vars(error))], function)
        error = error.__cause__ or error.__context__ or error


def _refuse_private(output: Any, function: Any) -> None:
    """Refuse an output that holds anything but public and released values."""
    from dpaudit.program.symbolic.value import end_of

    pending, seen = [output], 0
    while pending:
        value = pending.pop()
        seen += 1
        if is_private(value):
            raise RefusedReading(
                f"{end_of(function)}: returns a private {type(value).__name__.lower()}; add noise to it"
            )
        if type(value) in (ReleasedNumber, ReleasedArray, Truth, *_OUTPUTS) or isinstance(value, np.generic):
            continue
        if type(value) is dict:
            pending += [each for pair in value.items() for each in pair]
        elif type(value) in (list, tuple, set, frozenset):
            pending += list(value)
        elif type(value) is np.ndarray:
            pending += value.ravel().tolist() if value.dtype == object else []
        else:
            raise RefusedReading(
                f"{end_of(function)}: returns a {type(value).__name__}, which cannot be looked through; return "
                "numbers, text, None, lists, tuples, dicts or arrays of what was released"
            )
