"""Which runs are active, where do they go apart, and with what does each of them end?

Runs that branch differently stay in one pass under masks (`control`); where a value has no form for that, they are
split, or the function itself makes them.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from dpaudit.reading import definite, dispatch, draws, rewrite
from dpaudit.reading.python import Python, is_rewritten
from dpaudit.reading.runs import applied, arrays, containers, draw, joins
from dpaudit.reading.runs.control import Branch, DeadError, Frame, GivenUpError, Loop, SplitError, Trying
from dpaudit.reading.runs.values import UNBOUND, Alternatives, Array, Container, Mask, Numbers, differs

MOST_EJECTED = 0.02
"""Of the runs of a pass, which the function itself may make where the reading goes no further."""


class Active(Python):
    """Which runs are active, what is kept of them, and what control does with them.

    Args:
        count: how many runs.
        streams: the generators that draw.
        probes: generators of draws that nobody uses, by which the type of a draw is known.
        recorded: what the runs drew already, in an earlier pass.

    Attributes:
        active: the runs that are where the pass is now.
        leaving: for each block that handles exceptions, which runs raised what; the first is the whole function.
        events: all draws, in their order.
        witnesses: runs that are most likely to show that the reading differs from the function.
        ejected: runs that the function itself has to make.
        libraries: the calls of libraries that draw by themselves.
    """

    control = (DeadError, SplitError, GivenUpError, rewrite.UnreadableError)

    length: Callable[[Any], Any]  # these are of `domain.Runs`
    member: Callable[[Any, int], Any]
    members: Callable[[Any], Iterable[Any]]
    sequence: Callable[[Any], Iterable[Any]]
    distinct: Callable[[Numbers], Any]
    new_dict: Callable[[list[tuple[Any, ...]]], Any]
    new_set: Callable[[Any], Any]
    array_method: Callable[[Any, str, tuple[Any, ...], dict[str, Any]], Any]

    def __init__(
        self, count: int, streams: draw.Streams, probes: draw.Streams, recorded: draw.Recorded | None = None
    ) -> None:
        super().__init__()
        self.count, self.streams, self.probes, self.recorded = count, streams, probes, recorded
        self.all = self.active = Mask(np.ones(count, dtype=bool))
        self.none = Mask(np.zeros(count, dtype=bool))
        self.leaving: list[list[tuple[Array, Any]]] = [[]]
        self.handled: Any = None
        self.events: list[draw.Drawn] = []
        self.witnesses: dict[int, None] = {}
        self.ejected = np.zeros(count, dtype=bool)
        self.ejected_because = ""
        self.libraries: dict[str, None] = {}
        self.closes = False  # whether Python's own control runs, so that exceptions are Python's
        self._made: dict[int, Any] = {}
        self._fixed: dict[int, Any] = {}
        self._born: dict[int, Any] = {}  # iterators
        self._advanced: dict[int, tuple[Any, Array]] = {}

    # --- which runs are active ----------------------------------------------------------------------------

    def let(self, mask: Mask) -> None:
        """Let these runs be active."""
        self.active = mask

    def nobody(self) -> None:
        """Let no run be active."""
        self.active = self.none

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
        self.let(self.none if whole else Mask(self.active.chosen & ~mine))
        self.alive()
        return None

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
                self.let(mask)
                with contextlib.suppress(DeadError):
                    self.throw(each, *cause)
            self.nobody()
            raise DeadError
        if isinstance(value, type) and issubclass(value, BaseException):
            value = self.call(value)
            return self.throw(value, *cause)
        if not isinstance(value, BaseException):
            value = TypeError("exceptions must derive from BaseException")
        if cause:
            value.__cause__ = self.present(cause[0])
        if type(self.handled) is not Alternatives and self.handled is not value and self.handled is not None:
            value.__context__ = self.handled
        self.leave(value)
        return None

    def advance(self, iterator: Any) -> None:
        """The active runs take something of an iterator: those that are not where it is now cannot."""
        ours = type(iterator) is Generating or (
            type(iterator) is types.GeneratorType and iterator.gi_frame is not None and is_rewritten(iterator.gi_frame)
        )
        if not ours and id(iterator) not in self._born:
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

    def each_alternative(self, value: Alternatives, one: Callable[[Any], Any]) -> Any:
        """Return what is made of each alternative, under a mask of its runs."""
        groups = applied.groups_of([value], self.active, self.count)
        assert groups is not None
        return applied.each_group(self, groups, lambda run: one(value.values[value.codes[run]]))

    def give_up(self, why: str) -> NoReturn:
        """The active runs cannot be read further: the function itself makes them, if they are few."""
        mine = self.active.chosen
        ejected = int(np.count_nonzero(self.ejected | mine))
        if ejected > max(MOST_EJECTED * self.count, 1) or self.active.whole:
            raise GivenUpError(f"{why}{self.where()}")
        self.ejected |= mine
        self.ejected_because = self.ejected_because or f"{why}{self.where()}"
        self.nobody()
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

    def split_here(self) -> NoReturn:
        """The active runs go apart from the others."""
        raise SplitError(self.active.chosen)

    def split_by_values(self, value: Numbers) -> NoReturn:
        """What would differ in nearly every run cannot be split."""
        self.give_up("a change by a number that differs by run")

    # --- what is kept of a pass -----------------------------------------------------------------------------

    def note(self, drawn: draw.Drawn, like: Any = None) -> Any:
        """Keep a draw, and return it as a value."""
        if not len(drawn.places):
            raise DeadError
        self.events.append(drawn)
        if self.recorded is not None:
            self.recorded.drew(drawn.places)
        values = drawn.values
        if isinstance(values, np.ndarray) and values.dtype.kind in "fiu" and values.size:
            flat = values.reshape(len(values), -1)
            self._witness(drawn.places[flat.max(axis=1).argmax()], drawn.places[flat.min(axis=1).argmin()])
        return draw.as_value(self, drawn, like)

    def too_large(self, source: draws.Source, shape: tuple[int, ...]) -> NoReturn:
        """A draw of so many numbers does not fit: the runs go apart in halves."""
        if self.active.count <= 64:
            raise GivenUpError(f"{source.title} of {np.prod(shape):,} numbers{self.where()}")
        half = self.active.places[: self.active.count // 2]
        raise SplitError(self.mask_of(half).chosen)

    def notice(self, name: str, operands: Any) -> None:
        """Keep the runs for which a comparison is nearest."""
        if name not in arrays.COMPARISONS or len(self.witnesses) > 256 or not operands.scalar:
            return
        left, right = operands.arrays
        with np.errstate(all="ignore"):
            far = np.abs(np.subtract(left, right, dtype=np.float64))
        if not isinstance(far, np.ndarray) or far.ndim != 1 or not far.size:
            return
        far = np.where(operands.active & np.isfinite(far), far, np.inf)
        nearest = int(far.argmin())
        self._witness(nearest if operands.few is None else int(operands.few.places[nearest]))

    def _witness(self, *runs: Any) -> None:
        if len(self.witnesses) < 256:
            for run in runs:
                self.witnesses[int(run)] = None

    # --- names --------------------------------------------------------------------------------------------

    def unbound(self) -> Any:
        """The value of a name that has none."""
        return UNBOUND

    def put(self, new: Any, old: Any) -> Any:
        """The value of a name: new for the active runs, the others keep what they had."""
        if self.active.whole or new is old:
            return new
        return joins.joined(self.active.chosen, new, old)

    def bind(self, new: Any, old: Any) -> Any:
        """The same of a name that every run binds before it reads it."""
        return new if old is UNBOUND else self.put(new, old)

    def got(self, value: Any, name: str, free: bool = False) -> Any:
        """The value of a name that some runs may not have bound."""
        value = self.present(value)
        if value is UNBOUND:
            self.leave(unbound_error(name, free))
        if type(value) is Alternatives:
            for code, each in enumerate(value.values):
                if each is UNBOUND:
                    chosen = self.active.chosen & (value.codes == code)
                    if chosen.any():
                        self.leave(unbound_error(name, free), chosen)
                    return self.present(value)
        return value

    def received(self, value: Any) -> Any:
        """``*args`` and ``**keywords`` of a call."""
        return Container(value) if type(value) is dict else value

    def named(self, function: Any, name: str) -> Any:
        """A function within a function, by its name in the source."""
        if isinstance(function, types.FunctionType):
            function.__name__ = name
            function.__qualname__ = f"{function.__qualname__.rpartition('.')[0]}.{name}".removeprefix(".")
        return function

    # --- control ------------------------------------------------------------------------------------------

    def frame(self) -> Frame:
        """A call of a function begins."""
        return Frame(self)

    def branch(self, value: Any) -> Branch:
        """``if a``."""
        return Branch(self, self.decided(value))

    def loop(self, *through: Any) -> Loop:
        """``for x in a``, or ``while``."""
        return Loop(self, *through)

    def in_one_order(self, value: Any) -> containers.InOneOrder | None:
        """Lists that differ by run as parts of one, if they are."""
        return containers.in_one_order(self, value)

    def left_to_python(
        self, plan: tuple[Any, ...], function: Callable[..., Any], values: Callable[[], Any]
    ) -> definite.Looped | None:
        """``for x in y: …``, if it is left to Python as it stands."""
        try:
            return containers.looped(self, definite.Plan(*plan), function, values())
        except NameError:  # of a name that has no value yet
            return None

    def left(self, error: Exception | None) -> None:
        """Such a loop is over."""
        if error is not None:
            self.leave(error)

    def left_value(self, done: definite.Looped) -> Any:
        """The value of such a comprehension."""
        return definite.PlainLoops.left_value(self, done)  # type: ignore[arg-type]

    def trying(self) -> Trying:
        """``try``."""
        return Trying(self)

    def present(self, value: Any) -> Any:
        """The value that all active runs have, where they have one in common."""
        return joins.present(value, self.active) if type(value) is Alternatives else value

    def decided(self, value: Any) -> bool | Array:
        """Whether a value is true: for all active runs alike, or for each."""
        value = self.present(value)
        if type(value) is bool:
            return value
        if type(value) is Container and not value.plain:
            value = (
                containers.length(self, value)
                if containers.base_of(value.content) or type(value.content) is Alternatives
                else value.content
            )
        if type(value) is Numbers:
            if value.array.ndim > 1:
                value = applied.apply(self, bool, (value,))
                return self.decided(value)
            truth = value.array.astype(bool)
            count = int(np.count_nonzero(truth & self.active.chosen))
            return True if count == self.active.count else False if count == 0 else truth
        if type(value) is Alternatives:
            value = self.each_alternative(value, self._one_truth)
            return self.decided(joins.as_numbers(value, self.active) if type(value) is Alternatives else value)
        found = self._one_truth(value)
        return self.decided(found) if differs(found) else bool(found)

    def _one_truth(self, value: Any) -> Any:
        if type(value) in (Container, Numbers) and differs(value):
            truth = self.decided(value)
            return truth if isinstance(truth, bool) else Numbers(truth, True)
        for name in ("__bool__", "__len__"):
            method = dispatch.method(value, name)
            if method is not None:
                return self.call(bool, self.call(method))
        if type(value) is tuple or type(value) is list:
            return bool(value)
        return applied.apply(self, bool, (value,))

    def truth(self, value: Any) -> bool:
        """Whether a value is true, for Python's own control: runs that differ go apart."""
        truth = self.decided(value)
        if not isinstance(truth, bool):
            raise SplitError(self.active.chosen & truth)
        return truth

    def not_(self, value: Any) -> Any:
        """``not a``."""
        truth = self.decided(value)
        return (not truth) if isinstance(truth, bool) else Numbers(~truth, True)

    def if_exp(self, test: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """``a if c else b``."""
        truth = self.decided(test)
        if isinstance(truth, bool):
            return yes() if truth else no()
        out: Any = UNBOUND
        entry, left = self.active, np.zeros(self.count, dtype=bool)
        for chosen, arm in ((entry.chosen & truth, yes), (entry.chosen & ~truth, no)):
            self.let(Mask(chosen))
            try:
                value = arm()
            except DeadError:
                continue
            out = value if out is UNBOUND else joins.joined(self.active.chosen, value, out)
            left |= self.active.chosen
        self.let(entry if np.array_equal(left, entry.chosen) else Mask(left))
        self.alive()
        return out

    def bool_op(self, is_and: bool, *parts: Callable[[], Any]) -> Any:
        """``a and b``, ``a or b``."""
        value = parts[0]()
        if len(parts) == 1:
            return value
        rest = functools.partial(self.bool_op, is_and, *parts[1:])
        return self.if_exp(value, rest, lambda: value) if is_and else self.if_exp(value, lambda: value, rest)

    def chain(self, left: Any, name: str, right: Callable[[], Any], *more: Any) -> Any:
        """``a < b < c``."""
        middle = right()
        value = self.compare(name, left, middle)
        return self.if_exp(value, lambda: self.chain(middle, *more), lambda: value) if more else value

    def comprehension(
        self, kind: str, width: int, through: Any, keep: Callable[..., Any], element: Callable[..., Any], last: bool
    ) -> Any:
        """``[e for x in y if c]``; ``any`` and ``all`` of one stop for the runs that are decided."""
        loop, out = Loop(self, through), Container([])
        decides = kind in ("any", "all")
        truth: Any = kind == "all"
        while loop.go():
            with loop.body():
                item = loop.item()
                names = list(self.unpack(item, width, None)) if width else [item]
                branch = Branch(self, self.decided(keep(*names)))
                with branch.arm(True) as goes:
                    if goes:
                        value = element(*names)
                        if decides:
                            inner = Branch(self, self.decided(value))
                            with inner.arm(kind == "any") as hit:
                                if hit:
                                    truth = self.put(kind == "any", truth)
                                    loop.leave(True)
                            inner.join()
                        else:
                            containers.method(self, out, "append" if last else "extend", (value,), {})
                branch.join()
        loop.end()
        if decides:
            return truth
        if kind == "dict":
            return containers.each_content(self, out, lambda pairs: self.new_dict([(False, *pair) for pair in pairs]))
        return self.new_set(out) if kind == "set" else out


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
