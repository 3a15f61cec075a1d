"""What is taken for granted of a line that is not read, and does the line do it? Real runs are watched.

The user states by how much; the reading goes on with a private number of that movement. Only what is refused in the
very line is dropped, and only where the line is known to do nothing else: no draw, no release, nothing that is changed
or shown. Real runs hold the statement against the data.

These runs are part of the second net: nothing of the reading is used. Between neighbours the values of the line are
compared in the order in which they are assigned, with the draws shifted so that all noisy numbers are the same.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import functools
import io
import linecache
import math
import os
import pickle
import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

from dpaudit.errors import UsageError
from dpaudit.neighbours.domain import GivenMove
from dpaudit.reading.draws import is_maker, is_seeder, source_of
from dpaudit.reading.rewrite import ask, at, constant, thunk
from dpaudit.reading.source import is_of_user, is_own
from dpaudit.reading.universe import base, calls, columns, groups, numbers, rewriting
from dpaudit.reading.universe.columns import Selection
from dpaudit.reading.universe.frames import Frame, Length
from dpaudit.reading.universe.state import LESSONS, Pass, Private, Refused, Unknown, line
from dpaudit.reading.universe.values import PRIVATE, Token, is_of_users_class, sort_of
from dpaudit.reading.universe.vectors import Vectors

# --- What is taken for granted of a line that is not read? -----------------------------------------------

_HOLDS_NO_NOISE = (
    Frame,
    columns.Column,
    columns.TableRows,
    numbers.Number,
    groups.Groups,
    groups.Keyed,
    Length,
    Vectors,
)
"""What a line may use of private values."""
_INERT = (int, float, complex, str, bytes, bool, type(None), range, slice, pd.Timestamp, pd.Timedelta)
_KINDS = frozenset(("int", "float", "np.int64", "np.float64"))
"""The types that a number has of which nothing more is known; real runs refuse any other."""
_READING = frozenset(
    ("len", "sum", "min", "max", "round", "abs", "int", "float", "bool", "str", "list", "tuple", "dict", "set",
     "frozenset", "sorted", "enumerate", "zip", "map", "filter", "any", "all", "isinstance", "range", "divmod", "pow",
     "reversed")
)  # fmt: skip
"""Builtins that only read what they are given."""
_READ_ONLY = (
    frozenset(name for name in LESSONS if not name.startswith("to_"))
    | calls.READS[pd.Series]
    | calls.READS[pd.DataFrame]
    | {"values", "shape", "size", "index", "columns", "array", "iloc", "loc", "iat", "at", "str", "dt", "apply", "pipe"}
) - {"info", "plot", "hist", "boxplot", "to_string", "to_records", "sort"}
"""Attributes and methods of frames and series that change, write and show nothing."""
_SHOWING = frozenset(("logging", "warnings", "random", "secrets", "time"))
_WRITING = frozenset(("put", "copyto", "place", "putmask", "fill_diagonal", "put_along_axis", "shuffle"))
_MOST_DECISIONS = 6
_NOTHING_ELSE = "one line that makes the number alone, and the rest in lines of its own"


@dataclass(frozen=True, slots=True)
class Assumed:
    """A statement, and the assignment that it is about."""

    move: GivenMove  # the statement
    file: str  # where the assignment is, with its folders
    # first, last: its lines
    first: int
    last: int
    name: str  # what is assigned to
    function: str  # in which it stands

    def is_at(self, file: str, number: int) -> bool:
        """Whether a line is one of the assignment."""
        return file == self.file and self.first <= number <= self.last


@dataclass
class Assuming:
    """A line while it is evaluated."""

    of: Assumed
    refused: list[Refused] = field(default_factory=list)  # in this line
    more: dict[str, None] = field(default_factory=dict)  # what else the line does
    ways: list[bool] = field(default_factory=list)  # how what is not read comes out where it decides
    decided: int = 0

    def is_here(self) -> bool:
        """Whether the function is in the line, and not in another one that is called there."""
        frame: Any = sys._getframe(1)
        while frame is not None and not is_of_user(frame.f_code.co_filename):
            frame = frame.f_back
        return frame is not None and self.of.is_at(frame.f_code.co_filename, frame.f_lineno)

    def guess(self) -> bool:
        """Return one way where what is not read decides; the line is evaluated for each."""
        if self.decided == len(self.ways):
            self.ways.append(False)
        self.decided += 1
        return self.ways[self.decided - 1]

    def turn(self) -> bool:
        """Go on to the next way through the line, if there is one."""
        self.decided = 0
        while self.ways and self.ways[-1]:
            self.ways.pop()
        if len(self.ways) > _MOST_DECISIONS:
            self.more[f"decides more than {_MOST_DECISIONS} times by what is not read"] = None
            return False
        if not self.ways:
            return False
        self.ways[-1] = True
        return True

    def unread(self, what: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Note an operation that is not read, if it may do more than give a value."""
        if not self.is_here():
            return
        if what == "attribute" and isinstance(args[0], Private):
            if type(args[0]) is not Unknown and args[1] not in _READ_ONLY:
                self.more[f"uses .{args[1]} of a {args[0].noun}"] = None
        elif what == "attribute" and not isinstance(args[0], Token) and not _is_library(args[0]):
            self.more[f"uses .{args[1]} of a {type(args[0]).__name__}"] = None
        if what == "call" and isinstance(args[0], base.UncalledMethod) and {"inplace", "out"} & keywords.keys():
            self.more[f"changes what .{args[0].name} is a method of"] = None
        if what == "call" and any(map(_is_users, (*args[1:], *keywords.values()))):
            self.more["hands a function to what is not read"] = None


# --- which assignment is it? ----------------------------------------------------------------------------------


def located(moves: Sequence[GivenMove], functions: Iterable[types.FunctionType]) -> tuple[Assumed, ...]:
    """Find the assignments that statements are about.

    Raises:
        UsageError: if there is no such file, line or assignment.
    """
    files: dict[str, Any] = {}
    for each in functions:
        files.setdefault(each.__code__.co_filename, each.__globals__)
        for value in each.__globals__.values():
            file = getattr(value, "__file__", None) if issubclass(type(value), types.ModuleType) else None
            if file and is_of_user(file):
                files.setdefault(file, vars(value))
    return tuple(_located(each, files) for each in moves)


def _located(move: GivenMove, files: dict[str, Any]) -> Assumed:
    named = os.path.normpath(move.file)
    matching = [file for file in files if file == named or os.path.normpath(file).endswith(os.sep + named)]
    if not matching:
        known = ", ".join(sorted(map(os.path.basename, files)))
        raise UsageError(f"{move.file!r:.80} is no file that the function is read from; these are: {known}")
    same = [file for file in files if os.path.basename(file) == os.path.basename(named)]
    if len(same) > 1:
        raise UsageError(f"the function is read from {len(same)} files that are called {os.path.basename(named)}: "
                         "give one of them another name, so that the statement is about one line")  # fmt: skip
    (file,) = matching
    lines = linecache.getlines(file, files[file])
    if not 1 <= move.line <= len(lines):
        raise UsageError(f"{move.place}: there is no such line; the file has {len(lines):,} lines")
    tree = ast.parse("".join(lines))
    standing = [
        (each, inside)
        for each, inside in _simple(tree, "")
        if each.lineno <= move.line <= (each.end_lineno or each.lineno)
    ]
    if not standing:
        raise UsageError(f"{move.place}: nothing is assigned in this line; name the one in which the value is assigned")
    first = standing[0][0].lineno
    if len(standing) > 1 or sum(isinstance(each, ast.stmt) and each.lineno == first for each in ast.walk(tree)) > 1:
        raise UsageError(f"{move.place}: several statements stand in this line; give the assignment one of its own")
    ((statement, inside),) = standing
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        raise UsageError(
            f"{move.place} is no assignment to one name; write the number that is not read as one: x = f(df)"
        )
    if not inside:
        raise UsageError(f"{move.place} stands outside of the functions that are read; move it into one")
    if any(map(_does_more, ast.walk(statement.value or statement))):  # type: ignore[attr-defined]
        raise UsageError(f"{move.place} does more than assign to {targets[0].id}; {_NOTHING_ELSE}")
    return Assumed(move, file, statement.lineno, statement.end_lineno or statement.lineno, targets[0].id, inside)


def _does_more(node: ast.AST) -> bool:
    """Whether a part of an expression does something that the expression does not give."""
    is_store = isinstance(getattr(node, "ctx", None), ast.Store) and not isinstance(
        node, ast.Name | ast.Tuple | ast.List
    )
    return is_store or isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)


def _simple(node: ast.AST, inside: str) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the statements that hold no others, with what they stand in."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        inside = node.name
    elif isinstance(node, ast.ClassDef):
        inside = ""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and not any(
            isinstance(each, ast.stmt) for each in ast.walk(child) if each is not child
        ):
            yield child, inside
        else:
            yield from _simple(child, inside)


def rewriter_for(assumed: Iterable[Assumed]) -> type[rewriting.Rewriter]:
    """Return a rewriter that asks the domain of the assignments that statements are about."""
    starts = frozenset(each.first for each in assumed)

    class AssumedRewriter(rewriting.Rewriter):
        """Rewrites for the universe, and tells these assignments."""

        def visit_Assign(self, node: ast.Assign) -> Any:  # noqa: N802
            """``a = v`` → ``a = domain.assumed(line, lambda: v)``."""
            if len(node.targets) != 1 or not self._is_one(node, node.targets[0]):
                return super().visit_Assign(node)
            return at(node, self.stored(node.targets[0], self._asked(node, node.value)))

        def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:  # noqa: N802
            """``a: T = v``: as ``a = v``."""
            if node.value is None or not self._is_one(node, node.target):
                return super().visit_AnnAssign(node)
            return at(node, self.stored(node.target, self._asked(node, node.value)))

        def _is_one(self, node: ast.stmt, target: ast.expr) -> bool:
            return node.lineno in starts and isinstance(target, ast.Name) and self._of_class is None

        def _asked(self, node: ast.stmt, value: ast.expr) -> ast.expr:
            return ask("assumed", constant(node.lineno), thunk(self.visit(value)))

    return AssumedRewriter


# --- what the line gives --------------------------------------------------------------------------------------


def evaluated(state: Pass, assumed: Assumed, value: Callable[[], Any], universe: Any) -> Any:
    """Return what the line assigns where it is read, and else a number that moves as it is stated."""
    outer, mine = state.assuming, Assuming(assumed)
    state.assuming = mine
    try:
        assigned = value()
        while mine.turn():
            assigned = value()
    except BaseException:  # also of the pass: nothing that was refused may be lost
        state.told.refused += [each for each in mine.refused if each not in state.told.refused]
        raise
    finally:
        state.assuming = outer
    if not mine.refused:
        state.told.granted.setdefault(str(assumed.move), False)
        return assigned
    for each in (*mine.more, *_unfit_in(value), *_elsewhere(state)):
        state.note(Refused(line(), f"a line of which it is given how far its value moves, and that {each}",
                           _NOTHING_ELSE))  # fmt: skip
        return Unknown()
    state.told.granted[str(assumed.move)] = True
    return _number(state, assumed, universe)


def _number(state: Pass, assumed: Assumed, universe: Any) -> numbers.Number:
    """Return a number that moves by so much, whichever record comes, goes or takes the place of another.

    Where one is replaced by another, half of it comes and half goes.
    """
    far = float(assumed.move.by) / (2 if state.replaced else 1)
    rows = universe.rows.selection if state.person is None else Selection("total")
    return numbers.Number(universe, (), np.array([-far]), np.array([far]), rows, None, kinds=_KINDS)


def _elsewhere(state: Pass) -> Iterator[str]:
    if state.record:
        yield "is done for each record"
    if state.samples:
        yield "comes after a sample is drawn"


def _unfit_in(value: Any) -> Iterator[str]:
    """Yield what a line uses that is noise, may make some, or is changed by being read."""
    names: set[str] = set()
    pending = [value.__code__]
    while pending:
        code = pending.pop()
        names |= set(code.co_names)
        pending += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    used = [value.__globals__[name] for name in sorted(names) if name in value.__globals__]
    for cell in value.__closure__ or ():
        try:
            used.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    for each in used:
        if isinstance(getattr(type(each), "assumed", None), types.FunctionType):  # the domain itself
            continue
        if (unfit := _unfit(each, set())) is not None:
            yield f"uses {unfit}"


def _unfit(value: Any, seen: set[int]) -> str | None:
    """Return what of a value may be noise, make some, or be changed by being read; None for nothing."""
    kind = type(value)
    if (
        id(value) in seen
        or kind in _INERT
        or issubclass(kind, Token | types.ModuleType | np.generic | type | enum.Enum)
    ):
        return None
    seen.add(id(value))
    if isinstance(value, Private):
        return None if kind in _HOLDS_NO_NOISE else f"what is a {value.noun}"
    if kind is base.UncalledMethod:
        return _unfit(value.owner, seen)
    if kind in (list, tuple, set, frozenset):
        return next(filter(None, (_unfit(each, seen) for each in value)), None)
    if kind is dict:
        return next(filter(None, (_unfit(each, seen) for pair in value.items() for each in pair)), None)
    if kind is functools.partial:
        return _unfit((value.func, value.args, value.keywords), seen)
    if kind is types.MethodType:
        return _unfit((value.__self__, value.__func__), seen)
    if is_of_users_class(kind) and hasattr(value, "__dict__"):
        return _unfit(vars(value), seen)
    is_table = kind is np.ndarray or isinstance(value, pd.Series | pd.DataFrame | pd.Index)
    if (is_table or callable(value)) and sort_of(value) != PRIVATE:
        return None
    return f"a {kind.__name__}, of which it is not known that reading it changes nothing"


def _is_users(function: Any) -> bool:
    """Whether calling a value may run code of the user's."""
    kind = function if isinstance(function, type) else type(function)
    is_partial = isinstance(function, functools.partial)
    return is_own(getattr(function, "__func__", function)) or is_partial or is_of_users_class(kind)


def _is_library(value: Any) -> bool:
    """Whether a value is a module of a library that only computes, as far as is known."""
    if not isinstance(value, types.ModuleType):
        return False
    top = value.__name__.partition(".")[0]
    return top not in sys.stdlib_module_names or (top in calls.MODULES and top not in _SHOWING)


def asked(mine: Assuming, function: Any, args: Sequence[Any], keywords: Iterable[str]) -> None:
    """Note what a call in the line does besides giving a value, or may do where it is not read."""
    if not mine.is_here() or isinstance(function, Private | Token | base.UncalledMethod):
        return
    if source_of(function) is not None or is_maker(function) or is_seeder(function):
        mine.more["draws"] = None
        return
    name = getattr(function, "__name__", type(function).__name__)
    if _is_users(function):
        if any(type(each) is Unknown for each in args):
            mine.more[f"calls {name} with what is not read"] = None
        return
    if {"out", "inplace"} & set(keywords):
        mine.more[f"changes what {name} is given"] = None
    owner = getattr(function, "__self__", None)
    if id(function) in calls.BUILTINS:
        if name not in _READING:
            mine.more[f"calls {name}"] = None
    elif owner is not None and not isinstance(owner, types.ModuleType | type):
        if name not in calls.READS.get(type(owner), ()):
            mine.more[f"calls .{name} of a {type(owner).__name__}"] = None
    else:
        top = (getattr(function, "__module__", None) or "builtins").partition(".")[0]
        is_pythons = top in sys.stdlib_module_names
        if (is_pythons and (top not in calls.MODULES or top in _SHOWING) and calls.pure(function) is None) or (
            top == "numpy" and name in _WRITING
        ):
            mine.more[f"calls {name}"] = None


# --- Does a line do what is given of it? -----------------------------------------------------------------

_NUMBERS = (int, float, np.int64, np.float64)
_CHANGING = (list, dict, set, bytearray, np.ndarray, pd.Series, pd.DataFrame)
_SLACK = 1e-9


class WatchedLine(Protocol):
    """What is watched: see `assumed.Assumed`."""

    move: Any
    file: str
    first: int
    last: int
    name: str
    function: str


@dataclass
class SeenLines:
    """What a run showed of the lines."""

    values: list[tuple[WatchedLine, Any]] = field(default_factory=list)  # in the order in which they were assigned
    wrong: str | None = None  # the first thing that a line does besides, or assigns in place of a number


class _Before:
    """What there is before a line is run."""

    def __init__(self, line: WatchedLine, frame: types.FrameType, rng: np.random.Generator) -> None:
        self.line, self._rng, self._out = line, rng, io.StringIO()
        self._streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self._out
        self._state = self._now(frame)

    def _now(self, frame: types.FrameType) -> list[bytes]:
        local = {name: value for name, value in frame.f_locals.items() if name != self.line.name}
        names = {name: value for name, value in frame.f_globals.items() if isinstance(value, _CHANGING)}
        parts = [
            self._rng.bit_generator.state,
            np.random.get_state(),  # noqa: NPY002 – what a line may have moved
            random.getstate(),
            *local.items(),
        ]
        return [*map(_text, parts), *map(_text, (pair for pair in names.items() if pair[0][:2] != "__"))]

    def restored(self) -> None:
        """Give the streams back."""
        sys.stdout, sys.stderr = self._streams

    def wrong(self, frame: types.FrameType) -> str | None:
        """Say what the line did besides, or assigned in place of a number; None where it did as it should."""
        value = frame.f_locals.get(self.line.name)
        if type(value) not in _NUMBERS:
            return f"it assigns a {type(value).__name__}, and no number"
        if not math.isfinite(value):  # type: ignore[arg-type]
            return f"it assigns {value}"
        if self._out.getvalue():
            return "it prints"
        return "it draws, or changes something else" if self._now(frame) != self._state else None


def _text(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:  # what cannot be written is not compared
        return b""


@contextlib.contextmanager
def watching(lines: Sequence[WatchedLine], rng: np.random.Generator) -> Iterator[SeenLines]:
    """Watch lines of functions within this."""
    seen, opened = SeenLines(), dict[int, _Before]()
    files = {each.file for each in lines}

    def entered(frame: types.FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if event != "call" or code.co_filename not in files:
            return None
        mine = [each for each in lines if (each.file, each.function) == (code.co_filename, code.co_name)]
        if not mine:
            return None

        def within(frame: types.FrameType, event: str, arg: Any) -> Any:
            before = opened.get(id(frame))
            if before is not None:
                is_inside = before.line.first <= frame.f_lineno <= before.line.last
                if event == "exception":
                    seen.wrong = seen.wrong or f"{before.line.move.place} raises {arg[0].__name__}"
                elif event == "return" or not is_inside:
                    before.restored()
                    del opened[id(frame)]
                    why = before.wrong(frame)
                    seen.wrong = seen.wrong or (why and f"{before.line.move.place}: {why}")
                    seen.values.append((before.line, frame.f_locals.get(before.line.name)))
                else:
                    return within
            if event == "line":
                for each in mine:
                    if frame.f_lineno == each.first:
                        opened[id(frame)] = _Before(each, frame, rng)
            return within

        return within

    if not lines:
        yield seen
        return
    outer = sys.gettrace()
    sys.settrace(entered)
    try:
        yield seen
    finally:
        sys.settrace(outer)
        for each in opened.values():
            each.restored()


def refuted(first: SeenLines, second: SeenLines) -> str | None:
    """Say what two runs on neighbours show against what is given; None where it holds."""
    for each in (first, second):
        if each.wrong:
            return each.wrong
    for (mark, one), (other, two) in zip(first.values, second.values, strict=False):
        if mark is not other:
            return f"{mark.move.place} is run on one side, and {other.move.place} on the other"
        apart, most = abs(float(one) - float(two)), float(mark.move.by)
        if not apart <= most * (1 + _SLACK) + _SLACK * max(1.0, abs(float(one))):  # of floats; a proof is of numbers
            return f"{mark.move.place} moves by {apart:.10g}, from {one:.10g} to {two:.10g}"
    return None


def differs(first: SeenLines, again: SeenLines) -> str | None:
    """Say whether a run that is made again, with the same draws, assigns something else; None where it does not."""
    for (mark, one), (_, two) in zip(first.values, again.values, strict=False):
        if type(one) is not type(two) or one != two:
            return f"{mark.move.place} assigns something else each time, from the same data"
    return None


__all__ = [
    "Assumed",
    "Assuming",
    "SeenLines",
    "asked",
    "differs",
    "evaluated",
    "located",
    "refuted",
    "rewriter_for",
    "watching",
]
