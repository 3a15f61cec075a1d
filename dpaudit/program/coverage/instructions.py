"""Which instructions and branches of a program did its reading execute, and which not?

Runs are traced instruction by instruction, in the code of the program's own module and package; library code is left
out. A *gap* is an exit of an executed instruction that no run took: a side of a branch, an ``except`` that never caught
anything, the code after a line that always raised. A branch on data or noise is no gap, since the reading takes every
side that some numbers take. Nor is a branch on parameters alone (`conditions.py`).
"""

from __future__ import annotations

import dis
import itertools
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

_OURS = str(Path(__file__).parents[2])
STANDARD, _NUMPY = sysconfig.get_path("stdlib"), str(Path(np.__file__).parent)
_SITE = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
_SILENT = {"EXTENDED_ARG", "NOP", "CACHE", "RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "PUSH_NULL"}
_SILENT |= {"END_FOR"}  # since Python 3.12 FOR_ITER names it as its target, and goes on behind it
_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "YIELD_VALUE", "SEND", "INTERPRETER_EXIT"}
_LEAVES = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}  # nothing follows these
_MAY_STOP = sys.version_info < (3, 12)  # later versions trace by function, so stopping one call may stop others
_COMPARED = {"COMPARE_OP", "TO_BOOL"}


@dataclass(slots=True)
class ExecutedCode:
    """What ran of one code object."""

    names: Mapping[str, Any]  # the module's names that its code looks up
    # each instruction with the one before it; −1 at the start and after an exception
    steps: set[tuple[int, int]] = field(default_factory=set)
    # the branches that something other than a comparison of unknown numbers decided at least once
    concrete: set[int] = field(default_factory=set)
    # the calling code, and its offset; None for dpaudit itself and for libraries
    callers: set[tuple[types.CodeType | None, int]] = field(default_factory=set)
    is_known: bool = False  # whether it ran on known numbers, so that all branches are concrete

    @property
    def offsets(self) -> set[int]:
        """The offsets of the instructions that ran."""
        return {here for _, here in self.steps}

    @property
    def arcs(self) -> set[tuple[int, int]]:
        """The pairs of instructions that ran one after the other."""
        return {step for step in self.steps if step[0] >= 0}


@dataclass(frozen=True, slots=True)
class Gap:
    """An exit that no run took: from the instruction at ``offset`` to ``target`` (None for an ``except`` clause)."""

    code: types.CodeType
    offset: int
    target: int | None


class Coverage:
    """What ran of a program's own code.

    Attributes:
        ran: what ran, by code object.
        counter: returns the number of comparisons of unknown numbers so far; None if all numbers are known.
    """

    def __init__(self, function: Callable[..., Any], read: Coverage | None = None) -> None:
        """Trace a program, and what it calls in its own module and package.

        ``read``: what was read already, if only the code beyond it is of interest. Where nothing new can follow, a call
        is not traced any further.
        """
        self._read = self if read is None else read
        self._open: dict[types.CodeType, tuple[int, frozenset[int]]] = {}
        self.ran: dict[types.CodeType, ExecutedCode] = {}
        self.counter: Callable[[], int] | None = None
        inner = _innermost(function)
        self._home = None if inner is None else _home_of(inner)
        self._module = None if inner is None else inner.__globals__
        self._own: dict[str, bool] = {}
        self.closed: set[types.CodeType] = set()  # functions of post-processing, which a reading never calls
        self._foreign: set[str] = set()  # files whose code is not traced, whatever module runs it
        self._calls = 0

    @property
    def decided(self) -> int:
        """The number of comparisons of unknown numbers so far."""
        return 0 if self.counter is None else self.counter()

    def is_own(self, name: str) -> bool:
        """Whether a file belongs to the program, not to a library."""
        known = self._own.get(name)
        if known is None:
            library = name.startswith((_OURS, _NUMPY, *_SITE, STANDARD, "<frozen"))
            library |= "site-packages" in name or "dist-packages" in name  # another environment, through a link
            known = self._own[name] = (self._home is not None and name.startswith(self._home)) or not library
        return known

    @contextmanager
    def following(self) -> Iterator[None]:
        """Trace what runs inside."""
        before, foreign = sys.gettrace(), self._foreign
        sys._getframe().f_trace_opcodes = True  # Python 3.12 tells instructions only if a frame asked before `settrace`

        def entered(frame: types.FrameType, event: str, value: Any) -> Any:
            return None if frame.f_code.co_filename in foreign else self._entered(frame, event, value)

        sys.settrace(entered)
        try:
            yield
        finally:
            sys.settrace(before)

    def _entered(self, frame: types.FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        name = code.co_filename
        if name[:1] == "<":  # generated by a library (the __init__ of a dataclass), or typed in
            name = frame.f_globals.get("__file__") or (name if frame.f_globals is self._module else _OURS)
        if not self.is_own(name):
            if name is code.co_filename:
                self._foreign.add(name)
            return None
        self._calls += 1
        ran = self.ran.get(code)
        if ran is None:
            ran = self.ran[code] = ExecutedCode(frame.f_globals)
        back = frame.f_back
        if back is None or back.f_code.co_filename.startswith(_OURS):
            ran.callers.add((None, -1))
        elif self.is_own(back.f_code.co_filename):
            ran.callers.add((back.f_code, back.f_lasti))
        else:
            ran.callers.add((None, -2))
        still_open = self._open_from(code)
        if not still_open:
            return None
        make = self._known_follower if self.counter is None else self._follower
        follower = make(code, ran, still_open)
        frame.f_trace, frame.f_trace_lines = follower, False
        frame.f_trace_opcodes = True  # after f_trace: since Python 3.13 it only applies to frames that have one
        return follower

    def _open_from(self, code: types.CodeType) -> frozenset[int]:
        """Return the instructions from which new code can still be reached; none if all of it ran."""
        ran = self._read.ran.get(code)
        size = 0 if ran is None else len(ran.steps)  # steps only grow, so that their number tells whether they changed
        known = self._open.get(code)
        if known is None or known[0] != size:
            known = self._open[code] = size, _open(code, set() if ran is None else ran.steps)
        return known[1]

    def _known_follower(self, code: types.CodeType, ran: ExecutedCode, still_open: frozenset[int]) -> Any:
        """Return the tracer of a call on known numbers: as `_follower`, with less to record."""
        ran.is_known = True
        note, last = ran.steps.add, -1

        def follow(frame: types.FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "opcode":
                here = frame.f_lasti
                note((last, here))
                last = here
                if _MAY_STOP and here not in still_open:
                    frame.f_trace_opcodes = False
            elif event == "exception":
                last = -1
            return follow

        return follow

    def _follower(self, code: types.CodeType, ran: ExecutedCode, still_open: frozenset[int]) -> Any:
        note, concrete = ran.steps.add, ran.concrete
        branches, compared = _shape(code).branches, _shape(code).compared
        last, decided, calls, pending = -1, self.decided, self._calls, -1

        def follow(frame: types.FrameType, event: str, _: Any) -> Any:
            nonlocal last, decided, calls, pending
            if event == "opcode":
                here = frame.f_lasti
                note((last, here))
                once = self.decided == decided + 1 and self._calls == calls
                if pending >= 0 and not once:  # the branch itself did not compare either
                    concrete.add(pending)
                pending = -1
                if here in branches and not (once and last in compared):
                    pending = here
                last, decided, calls = here, self.decided, self._calls
                if _MAY_STOP and here not in still_open:
                    frame.f_trace_opcodes = False
            elif event == "exception":
                last = pending = -1
            return follow

        return follow

    def beyond(self, other: Coverage) -> Iterator[tuple[types.CodeType, int]]:
        """Return where a run left the code that another coverage contains."""
        for code, ran in self.ran.items():
            known = other.ran.get(code)
            shape, before = _shape(code), set() if known is None else known.offsets
            for offset in sorted(ran.offsets):
                if known is None or offset not in before:
                    yield code, offset
                    break
            if known is not None:
                yield from ((code, at) for at, to in sorted(ran.arcs - known.arcs) if at in shape.branches)

    def gaps(self, *, every: bool = False) -> list[Gap]:
        """Return the gaps, without those at branches that only comparisons of unknown numbers decided.

        ``every``: include those too.
        """
        found = []
        for code, ran in self.ran.items():
            shape, offsets, followed = _shape(code), ran.offsets, _followed(ran.steps)
            for offset in sorted(offsets):
                targets = shape.ways.get(offset, ())
                if offset in shape.branches:
                    taken = followed.get(offset, set())
                    if every or ran.is_known or offset in ran.concrete or not taken:
                        found += [Gap(code, offset, to) for to in targets if shape.heard(to) not in taken]
                else:
                    found += [Gap(code, offset, to) for to in targets if shape.heard(to) not in offsets]
            for start, end, handler in shape.handlers:
                if handler not in offsets and any(start <= offset < end for offset in offsets):
                    found.append(Gap(code, start, None))
        return found

    def uncalled(self) -> list[types.CodeType]:
        """Return functions that were defined during the runs, can be called by a name that ran, and never were."""
        found = []
        for code, ran in self.ran.items():
            listed, offsets = _instructions(code), ran.offsets
            for place, each in enumerate(listed):
                made = each.argval if each.opname in ("LOAD_CONST", "RETURN_CONST") else None
                if not isinstance(made, types.CodeType) or each.offset not in offsets or made in self.ran:
                    continue
                if made in self.closed:
                    continue
                if made.co_name.startswith("<") and made.co_name != "<lambda>":
                    continue
                kept = next((one for one in listed[place + 1 : place + 6] if one.opname.startswith("STORE_")), None)
                if made.co_name == "<lambda>" or kept is None or self._is_loaded(kept.argval, code):
                    found.append(made)
        return found

    def _is_loaded(self, name: str, by: types.CodeType) -> bool:
        for code, ran in self.ran.items():
            if code.co_filename == by.co_filename:
                offsets = ran.offsets
                for each in _instructions(code):
                    if each.opname.startswith("LOAD_") and each.argval == name and each.offset in offsets:
                        return True
        return name.startswith("__")


def _innermost(function: Any) -> types.FunctionType | None:
    """Return the plain function inside a fold, a partial, a wrapper or a callable object."""
    while not isinstance(function, types.FunctionType):
        inner = next(filter(None, (getattr(function, name, None) for name in ("step", "func", "__wrapped__"))), None)
        inner = inner or getattr(type(function), "__call__")  # noqa: B004, B009 - the way Python calls an object
        inner = getattr(inner, "__func__", inner)
        if inner is function or isinstance(inner, types.WrapperDescriptorType | types.MethodWrapperType):
            return None
        function = inner
    return function


def _home_of(function: types.FunctionType) -> str:
    """Return the folder of the package that contains a function, or its file if that is no package."""
    file = getattr(sys.modules.get(function.__module__.partition(".")[0]), "__file__", None)
    if file is not None and Path(file).name == "__init__.py":
        return str(Path(file).parent)
    return str(function.__code__.co_filename)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The control flow of a code object: the exits of each instruction, the branches, and the handlers."""

    ways: dict[int, tuple[int, ...]]
    branches: frozenset[int]
    compared: frozenset[int]
    handlers: tuple[tuple[int, int, int], ...]
    silent: dict[int, int]

    def heard(self, offset: int) -> int:
        """Return the first instruction from here on that the tracer reports."""
        while offset in self.silent:
            offset = self.silent[offset]
        return offset


@lru_cache(maxsize=4096)
def _instructions(code: types.CodeType) -> tuple[dis.Instruction, ...]:
    return tuple(dis.get_instructions(code))


@lru_cache(maxsize=4096)
def _shape(code: types.CodeType) -> _Shape:
    listed = _instructions(code)
    after = {here.offset: then.offset for here, then in itertools.pairwise(listed)}
    silent = {each.offset: after[each.offset] for each in listed if each.opname in _SILENT and each.offset in after}
    ways: dict[int, tuple[int, ...]] = {}
    branches = set()
    for each in listed:
        if each.opname in _SILENT or each.opname in _ENDS:
            continue
        jumps = each.opcode in dis.hasjrel or each.opcode in dis.hasjabs
        target = [each.argval] if jumps else []
        if jumps and each.opname.startswith(("JUMP", "SEND")) and "IF" not in each.opname:
            ways[each.offset] = tuple(target)
        elif each.offset in after:
            ways[each.offset] = (after[each.offset], *target)
            if jumps:
                branches.add(each.offset)
    table = _handlers(code)
    names = {each.offset: each.opname for each in listed}
    caught = [each.offset for each in listed if each.opname == "CHECK_EXC_MATCH"]
    handlers = []
    for entry in table:
        if names.get(entry.target) != "PUSH_EXC_INFO" or names.get(entry.start) == "PUSH_EXC_INFO":
            continue
        end = min((other.target for other in table if other.target > entry.target), default=len(code.co_code))
        bare = names.get(after.get(entry.target, -1)) == "POP_TOP"
        if bare or any(entry.target < offset < end for offset in caught):
            handlers.append((entry.start, entry.end, entry.target))
    compared = frozenset(each.offset for each in listed if each.opname in _COMPARED)
    return _Shape(ways, frozenset(branches), compared, tuple(handlers), silent)


def _followed(steps: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Return the successors of each instruction."""
    found: dict[int, set[int]] = {}
    for at, to in steps:
        if at >= 0:
            found.setdefault(at, set()).add(to)
    return found


def _open(code: types.CodeType, steps: set[tuple[int, int]]) -> frozenset[int]:
    """Return the instructions from which a run can reach an instruction, or a side of a branch, that never ran.

    An exception leads from any instruction that a handler covers to that handler; a generator resumes where it yielded.
    """
    shape, before = _shape(code), _before(code)
    taken, offsets = _followed(steps), {here for _, here in steps}
    found = {each.offset for each in _instructions(code) if each.opname not in _SILENT} - offsets
    for branch in shape.branches & offsets:
        if not taken.get(branch, set()).issuperset(map(shape.heard, shape.ways[branch])):
            found.add(branch)
    pending = list(found)
    while pending:
        new = before.get(pending.pop(), frozenset()) - found
        found |= new
        pending += new
    return frozenset(found)


@lru_cache(maxsize=4096)
def _before(code: types.CodeType) -> Mapping[int, frozenset[int]]:
    """Return the possible predecessors of each instruction."""
    listed, handlers = _instructions(code), _handlers(code)
    found: dict[int, set[int]] = {}
    for here, then in itertools.zip_longest(listed, listed[1:]):
        ends = here.opname in _LEAVES or (here.opname.startswith("JUMP") and "IF" not in here.opname)
        ways = [] if ends or then is None else [then.offset]
        if here.opcode in dis.hasjrel or here.opcode in dis.hasjabs:
            ways.append(here.argval)
        ways += [entry.target for entry in handlers if entry.start <= here.offset < entry.end]
        for to in ways:
            found.setdefault(to, set()).add(here.offset)
    return {to: frozenset(froms) for to, froms in found.items()}


def _handlers(code: types.CodeType) -> Any:
    return dis._parse_exception_table(code)  # type: ignore[attr-defined]


class Unfollowed:
    """A context in which nothing is traced, to save time."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        if self._before is not None:
            sys.settrace(None)

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            sys.settrace(self._before)
