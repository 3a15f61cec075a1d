"""Which runs are active, and where do they go at a branch, a loop, a return or an exception?

Every block of a rewritten function is entered with the runs that go through it, and says at its end which are left.
Runs that branch differently stay in one pass under masks; where a value has no form for that, they are split, or the
function itself makes them.
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from dpaudit.reading.python import Python, is_rewritten
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.runs import joins
from dpaudit.reading.runs.values import UNBOUND, Alternatives, Array, Container, Mask, Numbers

MOST_EJECTED = 0.02
"""Of the runs of a pass, which the function itself may make where the reading goes no further."""


class DeadError(BaseException):
    """No run is active here any more; raised past the function, whose blocks catch it."""


class SplitError(BaseException):
    """Runs have to go apart: some of them in a pass of their own.

    Attributes:
        chosen: (runs,) which of them.
    """

    def __init__(self, chosen: Array) -> None:
        self.chosen = chosen


class GivenUpError(BaseException):
    """The function does something that is not read in many runs at once; the text says what, and in which line."""


class Active(Python):
    """Which runs are active, where they go apart, and with which exceptions they leave.

    Args:
        count: how many runs.

    Attributes:
        active: the runs that are where the pass is now.
        leaving: for each block that handles exceptions, which runs raised what; the first is the whole function.
        as_python: a block, ``with domain.as_python:``; what Python raises in it the active runs leave with.
        witnesses: runs that are most likely to show that the reading differs from the function.
        ejected: runs that the function itself has to make.
    """

    control = (DeadError, SplitError, GivenUpError, UnreadableError)

    decided: Callable[[Any], bool | Array]  # these are of `domain.Runs` and `calls.Calls`
    not_: Callable[[Any], Any]
    length: Callable[[Any], Any]
    member: Callable[[Any, int], Any]
    members: Callable[[Any], Iterable[Any]]
    sequence: Callable[[Any], Iterable[Any]]
    in_one_order: Callable[[Any], InOneOrder | None]
    distinct: Callable[[Numbers], Any]
    new_dict: Callable[[list[tuple[Any, ...]]], Any]
    new_set: Callable[[Any], Any]
    comprehension: Callable[[str, int, Any, Callable[..., Any], Callable[..., Any], bool], Any]
    callbacks: Callable[[tuple[Any, ...], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]]
    array_method: Callable[[Any, str, tuple[Any, ...], dict[str, Any]], Any]

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.all = self.active = Mask(np.ones(count, dtype=bool))
        self.none = Mask(np.zeros(count, dtype=bool))
        self.leaving: list[list[tuple[Array, Any]]] = [[]]
        self.as_python = _AsPython(self)
        self.handled: Any = None
        self.witnesses: dict[int, None] = {}
        self.ejected = np.zeros(count, dtype=bool)
        self.closes = False  # whether Python's own control runs, so that exceptions are Python's
        self.own_objects: dict[int, Any] = {}  # that were made in this call
        self.own_iterators: dict[int, Any] = {}
        self._advanced: dict[int, tuple[Any, Array]] = {}

    def go_on(self, entry: Mask, left: Array) -> None:
        """Go on with those that are left of the runs that entered a block.

        Raises:
            DeadError: if there are none.
        """
        self.active = entry if np.array_equal(left, entry.chosen) else Mask(left)
        self.alive()

    def alive(self) -> None:
        """Raise `DeadError` if no run is active."""
        if not self.active.count:
            raise DeadError

    def mask_of(self, places: Array) -> Mask:
        """Return the mask of runs by their numbers."""
        chosen = np.zeros(self.count, dtype=bool)
        chosen[places] = True
        return Mask(chosen)

    def leave(self, error: BaseException, chosen: Array | None = None) -> None:
        """Some runs, or all that are active, leave with an exception."""
        mine = self.active.chosen if chosen is None else chosen & self.active.chosen
        whole = chosen is None or np.array_equal(mine, self.active.chosen)
        if self.closes:
            if whole:
                raise error
            raise SplitError(mine)
        error.__traceback__ = None
        self.leaving[-1].append((mine.copy(), error))
        self.active = self.none if whole else Mask(self.active.chosen & ~mine)
        self.alive()

    def leave_each(self, errors: list[tuple[int, Exception]]) -> None:
        """Runs leave, each with its own exception; those that are alike together."""
        groups: dict[Any, tuple[Exception, list[int]]] = {}
        for run, error in errors:
            key = (type(error), str(error), len(error.args))
            groups.setdefault(key, (error, []))[1].append(run)
        if self.closes and (len(groups) > 1 or len(errors) < self.active.count):
            raise SplitError(self.mask_of(np.array(next(iter(groups.values()))[1])).chosen)
        gone = None
        for error, runs in groups.values():
            try:
                self.leave(error, self.mask_of(np.array(runs)).chosen)
            except DeadError as dead:
                gone = dead
        if gone is not None:
            raise gone

    def throw(self, value: Any, *cause: Any) -> None:
        """``raise a``, ``raise a from b``."""
        value = self.handled if value is None else self.present(value)
        if value is None:
            value = RuntimeError("No active exception to reraise")
        if type(value) is Alternatives:
            for mask, each in self.parted(value):
                self.active = mask
                with contextlib.suppress(DeadError):
                    self.throw(each, *cause)
            self.active = self.none
            raise DeadError
        if isinstance(value, type) and issubclass(value, BaseException):
            return self.throw(self.call(value), *cause)
        if not isinstance(value, BaseException):
            value = TypeError("exceptions must derive from BaseException")
        if cause:
            value.__cause__ = self.present(cause[0])
        if type(self.handled) is not Alternatives and self.handled is not value and self.handled is not None:
            value.__context__ = self.handled
        self.leave(value)

    def advance(self, iterator: Any) -> None:
        """The active runs take something of an iterator: those that are not where it is now cannot."""
        ours = type(iterator) is Generating or (
            type(iterator) is types.GeneratorType and iterator.gi_frame is not None and is_rewritten(iterator.gi_frame)
        )
        if not ours and id(iterator) not in self.own_iterators:
            self.give_up("an iterator that was not made in this call")
        known = self._advanced.get(id(iterator))
        if known is not None and bool((self.active.chosen & ~known[1]).any()):
            self.give_up("an iterator that only some runs advanced")
        self._advanced[id(iterator)] = iterator, self.active.chosen

    def parted(self, value: Alternatives) -> list[tuple[Mask, Any]]:
        """Return the alternatives that active runs have, each with its runs."""
        codes = np.unique(value.codes[self.active.places])
        return [(Mask(self.active.chosen & (value.codes == code)), value.values[code]) for code in codes]

    def differs_nearly_everywhere(self, value: Any) -> bool:
        """Whether a value has so many alternatives that it is looked at run by run."""
        if type(value) is not Alternatives or len(value.values) <= 64:
            return False
        return len(np.unique(value.codes[self.active.places])) > max(64, self.active.count // 4)

    def give_up(self, why: str) -> NoReturn:
        """The active runs cannot be read further: the function itself makes them, if they are few."""
        mine = self.active.chosen
        ejected = int(np.count_nonzero(self.ejected | mine))
        if ejected > max(MOST_EJECTED * self.count, 1) or self.active.whole:
            raise GivenUpError(f"{why}{self.where()}")
        self.ejected |= mine
        self.active = self.none
        raise DeadError

    def where(self) -> str:
        """Return the line of the function that is being run."""
        frame: Any = sys._getframe(1)
        while frame is not None and "__dpaudit__" not in frame.f_code.co_freevars:
            frame = frame.f_back
        return "" if frame is None else f", line {frame.f_lineno}"

    def split_by(self, value: Alternatives) -> NoReturn:
        """Runs go apart by which alternative they have."""
        codes = value.codes[self.active.places]
        raise SplitError(self.active.chosen & (value.codes == codes[0]))

    def witness(self, *runs: Any) -> None:
        """Keep runs that are most likely to show a difference."""
        if len(self.witnesses) < 256:
            for run in runs:
                self.witnesses[int(run)] = None

    def put(self, new: Any, old: Any) -> Any:
        """The value of a name: new for the active runs, the others keep what they had."""
        if self.active.whole or new is old:
            return new
        return joins.joined(self.active.chosen, new, old)

    def present(self, value: Any) -> Any:
        """The value that all active runs have, where they have one in common."""
        return joins.present(value, self.active) if type(value) is Alternatives else value


class _AsPython:
    """What Python raises in such a block the active runs leave with."""

    def __init__(self, domain: Active) -> None:
        self._domain = domain

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, UnreadableError):
            self._domain.leave(error)


def unbound_error(name: str, free: bool = False) -> NameError:
    """Return what Python raises of a name that has no value."""
    if free:
        return NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        )
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


class Generating:
    """A generator, whose body runs under Python's own control whoever asks it for more.

    Args:
        domain: that its body asks.
        generator: of a rewritten function.
    """

    def __init__(self, domain: Active, generator: Any) -> None:
        self._domain, self._generator = domain, generator

    def __iter__(self) -> Generating:
        return self

    def __next__(self) -> Any:
        return self._asked(self._generator.__next__)

    def send(self, value: Any) -> Any:
        """Go on with a value."""
        return self._asked(self._generator.send, value)

    def throw(self, *error: Any) -> Any:
        """Go on with an exception."""
        return self._asked(self._generator.throw, *error)

    def close(self) -> Any:
        """Leave it."""
        return self._asked(self._generator.close)

    def _asked(self, method: Callable[..., Any], *args: Any) -> Any:
        domain = self._domain
        domain.advance(self)
        before, domain.closes = domain.closes, True
        try:
            return method(*args)
        finally:
            domain.closes = before


# --- blocks -----------------------------------------------------------------------------------------------


class CallFrame:
    """One call of a function: what each run returned."""

    def __init__(self, domain: Active) -> None:
        self._domain, self._entry = domain, domain.active
        self._value: Any = UNBOUND
        self._left = np.zeros(domain.count, dtype=bool)

    def __enter__(self) -> None:
        pass

    def back(self, value: Any) -> None:
        """The active runs return a value."""
        domain = self._domain
        chosen = domain.active.chosen
        self._value = joins.joined(chosen, value, self._value) if self._left.any() else value
        self._left = self._left | chosen
        domain.active = domain.none
        raise DeadError

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is None:
            if self._domain.active.count:
                with contextlib.suppress(DeadError):
                    self.back(None)
            return True
        return kind is DeadError

    def end(self) -> Any:
        """Return what the runs returned; those that raised are gone."""
        self._domain.go_on(self._entry, self._left)
        return self._domain.present(self._value)


class Arm:
    """A block that some runs enter and may leave; who made it is told which are left."""

    def __init__(self, domain: Active, mask: Mask | None, told: Callable[[Mask], None]) -> None:
        self._domain, self._mask, self._told = domain, mask, told

    def __enter__(self) -> bool:
        if self._mask is None or not self._mask.count:
            return False
        self._domain.active = self._mask
        return True

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is not None and kind is not DeadError:
            return False
        if self._mask is not None:
            entered = self._mask.count > 0
            self._told(self._domain.active if kind is None and entered else self._domain.none)
        return True


class Branch:
    """``if``: two arms, and the runs that are left of both."""

    def __init__(self, domain: Active, truth: Any) -> None:
        self._domain, self._entry = domain, domain.active
        self._left: list[Mask] = []
        yes: Mask | None
        no: Mask | None
        if isinstance(truth, bool):
            yes, no = (self._entry, None) if truth else (None, self._entry)
        else:
            yes, no = Mask(self._entry.chosen & truth), Mask(self._entry.chosen & ~truth)
        self._waiting = {True: yes, False: no}

    def arm(self, side: bool) -> Arm:
        """Return the arm of the runs for which the test is ``side``."""
        mask, self._waiting[side] = self._waiting[side], None
        return Arm(self._domain, mask, self._left.append)

    def join(self) -> None:
        """Go on with all that are left, also of an arm that the function does not have."""
        parts = [each for each in (*self._left, *self._waiting.values()) if each is not None and each.count]
        domain = self._domain
        if len(parts) == 1:
            domain.active = parts[0]
        elif sum(each.count for each in parts) == self._entry.count:
            domain.active = self._entry
        else:
            chosen = np.zeros(domain.count, dtype=bool)
            for each in parts:
                chosen |= each.chosen
            domain.active = Mask(chosen)
        domain.alive()


class Loop:
    """``for`` and ``while``: the runs that are in it, those that left it at its end, and those that broke off."""

    def __init__(self, domain: Active, *through: Any) -> None:
        self._domain, self._live = domain, domain.active
        self._done = np.zeros(domain.count, dtype=bool)
        self._broken = np.zeros(domain.count, dtype=bool)
        self._waiting: Array | None = None
        self._items: Iterator[Any] | None = None
        self._of: Any = None
        self._place: Any = 0
        self._gone = np.zeros(domain.count, dtype=np.int64)  # items that each run went through, in one order
        self._now: Any = None
        self._resting: Array | None = None  # runs whose list lacks the item of this round
        self._in_order: InOneOrder | None = None
        if through:
            value = domain.present(through[0])
            if type(value) is Alternatives or (
                type(value) is Container and type(value.content) in (list, Alternatives)
            ):
                self._of = value
                self._in_order = domain.in_one_order(value)
            else:
                items = domain.iterate(value)
                with domain.as_python:
                    self._items = iter(items)

    def go(self, test: Callable[[], Any] | None = None) -> bool:
        """Whether some run goes through the body once more."""
        domain = self._domain
        if not self._live.count:
            return False
        domain.active = self._live
        if self._in_order is not None and self._in_order.is_changed():  # then it goes on by places
            self._in_order, self._place = None, Numbers(self._gone, True)
        if self._in_order is not None:
            return self._go_in_order(self._in_order)
        if self._items is not None:
            try:
                self._now = next(self._items)
                return True
            except StopIteration:
                goes: Any = False
            except Exception as error:
                try:
                    domain.leave(error)
                except DeadError:
                    self._live = domain.none
                    return False
                raise
        else:
            try:
                if self._of is not None:
                    goes = domain.truth(domain.compare("lt", self._place, domain.length(self._of)))
                else:
                    assert test is not None
                    goes = domain.truth(test())
            except DeadError:
                self._live = domain.none
                return False
        if goes is True:
            self._live = domain.active
            return True
        chosen = domain.active.chosen
        if goes is False:
            self._done = self._done | chosen
            self._live = domain.none
            return False
        self._done = self._done | (chosen & ~goes)
        self._live = Mask(chosen & goes)
        domain.active = self._live
        return self._live.count > 0

    def _go_in_order(self, order: InOneOrder) -> bool:
        domain = self._domain
        live = self._live.chosen
        for item, having in order.rest:
            now = live & having
            if now.any():
                self._gone = self._gone + now
                self._now, self._resting, self._live = item, live & ~having, Mask(now)
                domain.active = self._live
                return True
        self._done = self._done | live
        self._live = domain.none
        return False

    def item(self) -> Any:
        """Return the item of this round."""
        if self._items is not None or self._in_order is not None:
            return self._now
        place = self._place
        self._place = place + 1 if type(place) is int else Numbers(place.array + 1, True)
        return self._domain.member(self._of, place) if type(place) is int else self._domain.item(self._of, place)

    def body(self) -> Arm:
        """Return the block of one round."""
        self._waiting = None
        return Arm(self._domain, self._live, self._after)

    def _after(self, left: Mask) -> None:
        others = [each for each in (self._waiting, self._resting) if each is not None]
        self._live = Mask(np.logical_or.reduce([left.chosen, *others])) if others else left
        self._resting = None

    def leave(self, breaks: bool) -> None:
        """The active runs break off, or go on with the next round."""
        domain = self._domain
        chosen = domain.active.chosen
        if breaks:
            self._broken = self._broken | chosen
        else:
            self._waiting = chosen if self._waiting is None else self._waiting | chosen
        domain.active = domain.none
        raise DeadError

    def orelse(self) -> Arm:
        """Return the block of the runs that came to the end."""

        def left(mask: Mask) -> None:
            self._done = mask.chosen

        return Arm(self._domain, Mask(self._done), left)

    def end(self) -> None:
        """Go on with all that left the loop."""
        self._domain.active = Mask(self._done | self._broken)
        self._domain.alive()


class InOneOrder:
    """Lists that differ by run, all of them parts of one list in one order: a loop goes through that one.

    Attributes:
        rest: the items that are still to come, each with the runs whose list has it.
    """

    def __init__(self, value: Any, groups: list[Array], lists: list[Any], items: list[Any], count: int) -> None:
        self._value, self._held = value, _held_by(value)
        codes = np.zeros(count, dtype=np.int32)
        for number, runs in enumerate(groups):
            codes[runs] = number
        members = [frozenset(each) for each in lists]
        self.rest = ((item, np.array([item in each for each in members])[codes]) for item in items)

    def is_changed(self) -> bool:
        """Whether somebody changed such a list meanwhile."""
        now = _held_by(self._value)
        return len(now) != len(self._held) or any(a is not b for a, b in zip(now, self._held, strict=True))


def _held_by(value: Any) -> list[Any]:
    """What a list that differs by run consists of: it is changed where one of these is another object."""
    if type(value) is Container:
        return _held_by(value.content)
    if type(value) is Alternatives:
        return [value, *(part for each in value.values for part in _held_by(each))]
    return list(value)


class Trying:
    """``try``: what runs raised in it, and those that are left."""

    def __init__(self, domain: Active) -> None:
        self._domain, self._entry = domain, domain.active
        self._left = np.zeros(domain.count, dtype=bool)
        self._raised: list[tuple[Array, Any]] = []
        self._now: Any = None

    def _add(self, mask: Mask) -> None:
        self._left = self._left | mask.chosen

    def body(self) -> Arm:
        """Return the block whose exceptions are kept."""
        self._domain.leaving.append(self._raised)
        return _Watched(self._domain, self._entry, self._add)

    def orelse(self) -> Arm:
        """Return the block of the runs that raised nothing."""
        mask, self._left = Mask(self._left), np.zeros(self._domain.count, dtype=bool)
        return Arm(self._domain, mask, self._add)

    def handler(self, kinds: Callable[[], Any]) -> Arm:
        """Return the block of the runs that raised one of some kinds and were not handled yet."""
        domain = self._domain
        if not self._raised:
            return Arm(domain, None, self._add)
        raised = np.logical_or.reduce([runs for runs, _ in self._raised])
        domain.active = Mask(raised)
        wanted = kinds()
        if domain.active.count < np.count_nonzero(raised):
            domain.give_up("the kinds of exceptions that are handled raise in some runs")
        hit = [each for each in self._raised if isinstance(each[1], wanted)]
        self._raised[:] = [each for each in self._raised if not any(each is one for one in hit)]
        if not hit:
            return Arm(domain, None, self._add)
        chosen, codes = np.zeros(domain.count, dtype=bool), np.zeros(domain.count, dtype=np.int32)
        for code, (runs, _) in enumerate(hit):
            chosen |= runs
            codes[runs] = code
        errors = [error for _, error in hit]
        self._now = errors[0] if len(errors) == 1 else Alternatives(codes, errors)
        domain.handled = self._now
        return Arm(domain, Mask(chosen), self._add)

    def raised(self) -> Any:
        """Return the exception that is handled."""
        return self._domain.present(self._now)

    def final(self) -> Arm:
        """Return the block of all runs, whatever became of them."""
        return Arm(self._domain, self._entry, self._ended)

    def _ended(self, left: Mask) -> None:
        """What a ``finally`` raised takes the place of what was raised before it."""
        gone = self._entry.chosen & ~left.chosen
        if not gone.any():
            return
        waiting = np.logical_or.reduce([self._left, *(runs for runs, _ in self._raised)])
        if (gone & ~waiting).any():
            raise GivenUpError(f"a finally that raises after a return{self._domain.where()}")
        self._left &= ~gone
        self._raised = [(runs & ~gone, error) for runs, error in self._raised]

    def end(self) -> None:
        """Go on with what is left; what nobody handled goes further up."""
        domain = self._domain
        domain.leaving[-1].extend(self._raised)
        domain.active = Mask(self._left)
        domain.alive()


class _Watched(Arm):
    """The block of a ``try``."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self._domain.leaving.pop()
        return super().__exit__(kind, error, trace)
