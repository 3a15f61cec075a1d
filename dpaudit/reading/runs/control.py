"""Which runs are active, and where do they go at a branch, a loop, a return or an exception?

Every block of a rewritten function is entered with the runs that go through it, and says at its end which are left.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.reading.runs import joins
from dpaudit.reading.runs.values import UNBOUND, Alternatives, Array, Container, Mask, Numbers

if TYPE_CHECKING:
    from dpaudit.reading.runs.active import Active
    from dpaudit.reading.runs.containers import InOneOrder


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


class Frame:
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
        domain.nobody()
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
        domain = self._domain
        domain.let(self._entry if np.array_equal(self._left, self._entry.chosen) else Mask(self._left))
        domain.alive()
        return domain.present(self._value)


class Arm:
    """A block that some runs enter and may leave; who made it is told which are left."""

    def __init__(self, domain: Active, mask: Mask | None, told: Callable[[Mask], None]) -> None:
        self._domain, self._mask, self._told = domain, mask, told

    def __enter__(self) -> bool:
        if self._mask is None or not self._mask.count:
            return False
        self._domain.let(self._mask)
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
            domain.let(parts[0])
        elif sum(each.count for each in parts) == self._entry.count:
            domain.let(self._entry)
        else:
            chosen = np.zeros(domain.count, dtype=bool)
            for each in parts:
                chosen |= each.chosen
            domain.let(Mask(chosen))
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
                try:
                    self._items = iter(items)
                except TypeError as error:
                    domain.leave(error)

    def go(self, test: Callable[[], Any] | None = None) -> bool:
        """Whether some run goes through the body once more."""
        domain = self._domain
        if not self._live.count:
            return False
        domain.let(self._live)
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
        domain.let(self._live)
        return self._live.count > 0

    def _go_in_order(self, order: InOneOrder) -> bool:
        domain = self._domain
        live = self._live.chosen
        for item, having in order.rest:
            now = live & having
            if now.any():
                self._gone = self._gone + now
                self._now, self._resting, self._live = item, live & ~having, Mask(now)
                domain.let(self._live)
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
        domain.nobody()
        raise DeadError

    def orelse(self) -> Arm:
        """Return the block of the runs that came to the end."""

        def left(mask: Mask) -> None:
            self._done = mask.chosen

        return Arm(self._domain, Mask(self._done), left)

    def end(self) -> None:
        """Go on with all that left the loop."""
        self._domain.let(Mask(self._done | self._broken))
        self._domain.alive()


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
        domain.let(Mask(raised))
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
        domain.let(Mask(self._left))
        domain.alive()


class _Watched(Arm):
    """The block of a ``try``."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self._domain.leaving.pop()
        return super().__exit__(kind, error, trace)
