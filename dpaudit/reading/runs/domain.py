"""What does a function do in many runs at once, in one pass?

Data are what they are; a draw is a number for each run; runs that branch differently stay in one pass under masks
(`control`). What reads plain values alone is done once, by Python.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from dpaudit.reading import dispatch, libraries
from dpaudit.reading.callables import Effect, effect_of
from dpaudit.reading.draws import Source, is_maker, is_seeder, source_of
from dpaudit.reading.loops import Looped, Looping, PlainLoops, Plan
from dpaudit.reading.python import CONVERSIONS, OF_CONTEXTLIB, Python, is_rewritten
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.runs import arrays, containers, draw, joins, loops, table_items, table_methods, tables
from dpaudit.reading.runs.applied import apply, each_group, groups_of, plainly
from dpaudit.reading.runs.builtin_calls import BUILTINS
from dpaudit.reading.runs.control import Branch, DeadError, Frame, GivenUpError, Loop, SplitError, Trying
from dpaudit.reading.runs.masked import Masked
from dpaudit.reading.runs.values import (
    CONTENTS,
    UNBOUND,
    Alternatives,
    Array,
    Container,
    Mask,
    Member,
    Numbers,
    Table,
    at,
    differs,
    raw,
)
from dpaudit.reading.seeded import Seeded, seeded_by
from dpaudit.reading.source import is_own, rewritten

MOST_KEYS = 256
"""Values of a number that is a key, or a length."""
MOST_EJECTED = 0.02
"""Of the runs of a pass, which the function itself may make where the reading goes no further."""


class Runs(Python):
    """The domain of many runs.

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

    control = (DeadError, SplitError, GivenUpError, UnreadableError)

    def __init__(
        self, count: int, streams: draw.Streams, probes: draw.Streams, recorded: Recorded | None = None
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

    @functools.cached_property
    def _seeded(self) -> Seeded:
        return seeded_by(self._twins)

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
        groups = groups_of([value], self.active, self.count)
        assert groups is not None
        return each_group(self, groups, lambda run: one(value.values[value.codes[run]]))

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
        import sys

        frame: Any = sys._getframe(1)
        while frame is not None and "__dpaudit__" not in frame.f_code.co_freevars:
            frame = frame.f_back
        if frame is None or (frame.f_code.co_filename.endswith(("domain.py",)) and not is_own(frame)):
            return "" if frame is None else f", line {frame.f_lineno}"
        return f", line {frame.f_lineno}"

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
            self.leave(_unbound(name, free))
        if type(value) is Alternatives:
            for code, each in enumerate(value.values):
                if each is UNBOUND:
                    chosen = self.active.chosen & (value.codes == code)
                    if chosen.any():
                        self.leave(_unbound(name, free), chosen)
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

    def left_to_python(
        self, plan: tuple[Any, ...], function: Callable[..., Any], values: Callable[[], Any]
    ) -> Looped | None:
        """``for x in y: …``, if it is left to Python as it stands."""
        try:
            return loops.looped(self, Plan(*plan), function, values())
        except NameError:  # of a name that has no value yet
            return None

    def left(self, error: Exception | None) -> None:
        """Such a loop is over."""
        if error is not None:
            self.leave(error)

    def left_value(self, done: Looped) -> Any:
        """The value of such a comprehension."""
        return PlainLoops.left_value(self, done)  # type: ignore[arg-type]

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
                value = apply(self, bool, (value,))
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
        return apply(self, bool, (value,))

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

    # --- calls --------------------------------------------------------------------------------------------

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Return a user's function rewritten with control under masks; where that has no form, with Python's own."""
        found = self._twins.get(function)
        if found is None:
            try:
                found = rewritten(function, Masked, self)
            except UnreadableError:
                try:
                    found = rewritten(function, Looping, self)
                except UnreadableError as error:
                    self.give_up(str(error))
                found.__dict__["closes"] = True
            self._twins[function] = found
        return found

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """``f(x)``."""
        function = self.present(function)
        kind = type(function)
        if kind is types.FunctionType:
            if is_own(function):
                new = function if is_rewritten(function) else self.twin(function)
                return self._entered(new, args, keywords)
        elif kind is Member:
            return self._bearing(self._method(function.owner, function.name, args, keywords))
        elif kind is Alternatives:
            title = self._title_of_all(function)
            if title is not None:
                return self._of_library(_calling, title, (function, *args), keywords)
            return self.each_alternative(function, lambda each: self.call(each, *args, **keywords))
        elif function is UNBOUND:
            self.leave(_unbound("a function"))
        return self._bearing(super().call(function, *args, **keywords))

    def _bearing(self, made: Any) -> Any:
        """Return what a call made; an iterator is of this call."""
        if hasattr(type(made), "__next__"):
            self._born[id(made)] = made
        return made

    def _entered(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a rewritten function: exceptions cross from Python's control to that under masks, and back."""
        closes = bool(function.__dict__.get("closes")) or (
            self.closes and "__dpaudit_frame__" not in function.__code__.co_varnames
        )
        if function.__code__.co_flags & inspect.CO_GENERATOR:
            return Generating(self, function(*args, **keywords))
        if closes == self.closes:
            return function(*args, **keywords)
        before, self.closes = self.closes, closes
        try:
            if closes:
                try:
                    return function(*args, **keywords)
                except self.control:
                    raise
                except Exception as error:
                    self.closes = before
                    self.leave(error)
            return self._within(function, args, keywords, before)
        finally:
            self.closes = before

    def _within(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any], before: bool) -> Any:
        """Call a function under masks from Python's own control: what its runs raised is raised there."""
        entry = self.active
        mine: list[tuple[Array, Any]] = []
        self.leaving.append(mine)
        try:
            value = function(*args, **keywords)
        except DeadError:
            if not mine:
                raise
            value = None
        finally:
            self.leaving.pop()
        if mine:
            self.closes = before
            self.let(entry)
            chosen, error = mine[0]
            if np.array_equal(chosen, entry.chosen):
                raise error
            raise SplitError(chosen)
        return value

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's."""
        own = BUILTINS.get(function) if type(function) in _HASHED else None
        if own is not None:
            return own(self, *args, **keywords)
        if is_seeder(function):
            self.give_up(f"{getattr(function, '__qualname__', 'seed')}: what is seeded is no noise")
        source = source_of(function)
        if source is not None:
            if source.owner is not None and id(source.owner) in self._fixed:
                return self._of_fixed(function, args, keywords)
            place = "its random_state" if source.has_own_state else self._seeded.place(source)
            if place:
                self.give_up(f"noise that is the same in every process: seeded by {place}, before it is called")
            return self.drawn(source, args, keywords)
        if is_maker(function):
            return self._maker(function, args, keywords)
        if type(function) is types.FunctionType and function.__code__ is OF_CONTEXTLIB:
            return self._managed(function, args, keywords)
        if not differs((args, tuple(keywords.values()))) and libraries.makes(function, args, keywords):
            return plainly(self, function, args, keywords)
        title = libraries.title_of(function)
        if title is not None:
            return self._of_library(function, title, args, keywords)
        bound = getattr(function, "__self__", None)
        if type(bound) is Generating:
            return self._made_really(function, args, keywords)
        if bound is not None and type(bound) is not types.ModuleType and not isinstance(bound, type):
            return self._method(bound, function.__name__, args, keywords, function)
        return self._function(function, args, keywords)

    def _gone_through(self, function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments with a list in place of an iterator, whose members may differ by run."""
        if not any(hasattr(type(each), "__next__") for each in args):
            return args
        if getattr(function, "__module__", "") == "itertools" and any(type(each) is Generating for each in args):
            self.give_up(f"{_title(function)} of a generator")
        return tuple(Container(list(self.iterate(each))) if hasattr(type(each), "__next__") else each for each in args)

    def _managed(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A manager that ``contextlib.contextmanager`` makes of a user's generator."""
        wrapped = getattr(function, "__wrapped__", None)
        if not self.closes or not is_own(wrapped):
            self.give_up(f"{_title(function)}, a manager")
        return contextlib.contextmanager(functools.partial(self.call, wrapped))(*args, **keywords)

    def _function(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        effect = effect_of(function)
        if effect is Effect.SILENT:
            return None
        if is_bare(function) or is_plain_dataclass(function):
            made = self._made_really(function, args, keywords)
            self._made[id(made)] = made
            return made
        args, keywords = self._callbacks(function, args, keywords)
        args = self._gone_through(function, args)
        if effect is Effect.PURE and not self._draws_within((args, keywords)):
            if keywords.get("out") is not None or (type(function) is np.ufunc and len(args) > function.nin):
                self.give_up(f"{_title(function)} with out=")
            made = tables.made(self, function, args, keywords)
            if made is NotImplemented:
                made = apply(self, function, args, keywords, arrays.function_of_arrays(self, function, keywords))
            return self.shown(getattr(function, "__name__", ""), args, made)
        if effect is Effect.ONCE and not differs((args, tuple(keywords.values()))):
            return plainly(self, function, args, keywords)
        if effect is Effect.CHANGES:
            self.give_up(f"{getattr(function, '__name__', function)}(), which changes its argument")
        self.give_up(f"{_title(function)}, which may draw, or remember something, by itself")

    def _draws_within(self, value: Any) -> bool:
        """Whether a generator is handed on."""
        args, keywords = value
        return any(
            isinstance(each, np.random.Generator | np.random.RandomState) for each in (*args, *keywords.values())
        )

    def _callbacks(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return arguments whose functions a library may call: only what draws nothing, in one run at a time."""
        if not any(map(_is_function, (*args, *keywords.values()))):
            return args, keywords
        made = tuple(self._callback(each) for each in args)
        return made, {name: self._callback(each) for name, each in keywords.items()}

    def _callback(self, function: Any) -> Any:
        if not _is_function(function) or not is_own(getattr(function, "__func__", function)):
            return function
        return _Callback(self, function)

    def _title_of_all(self, owner: Alternatives, name: str = "") -> str | None:
        """Return the name of a call that is made in each run, if it is that of every object of a library."""
        values = owner.values
        if not libraries.is_of_library(values[0]) or len(set(map(type, values))) > 1:
            return None
        found = {libraries.title_of(getattr(each, name) if name else each) for each in values}
        return found.pop() if len(found) == 1 else None

    def _method(self, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any], bound: Any = None) -> Any:
        owner = self.present(owner)
        if type(owner) is Alternatives:
            title = self._title_of_all(owner, name)
            if title is not None:
                return self._of_library(functools.partial(_calling_method, name), title, (owner, *args), keywords)
        if self.differs_nearly_everywhere(owner) and not any(
            type(each) is Container and containers.base_of(each.content) for each in owner.values
        ):
            return apply(self, lambda own, *rest, **more: getattr(own, name)(*rest, **more), (owner, *args), keywords)
        if type(owner) is Alternatives:
            return self.each_alternative(owner, lambda each: self._method(each, name, args, keywords))
        if (
            type(owner) is Container
            and not isinstance(owner.content, np.ndarray | Numbers | Table)
            and not joins.is_of_pandas(type(owner.content))
        ):
            return containers.method(self, owner, name, args, keywords)
        if type(owner) in (Container, Numbers, Table):
            return self.array_method(owner, name, args, keywords)
        effect = effect_of(bound if bound is not None else getattr(type(owner), name, None), owner, name)
        if effect is Effect.SILENT:
            return None
        if effect is Effect.CHANGES:
            if type(owner) in (list, dict, set, np.ndarray):
                self.give_up(f".{name}() of something that was not made in this call")
            self.give_up(f".{name}() of a {type(owner).__name__}")
        args, keywords = self._callbacks(bound, args, keywords)
        args = self._gone_through(bound, args)
        if effect is Effect.PURE and not self._draws_within((args, keywords)):
            return apply(self, lambda own, *rest, **more: getattr(own, name)(*rest, **more), (owner, *args), keywords)
        if not differs((owner, args, tuple(keywords.values()))) and self.active.whole and effect is Effect.ONCE:
            return plainly(self, getattr(raw(owner), name), args, keywords)
        if effect is Effect.ONCE:
            self.give_up(f".{name}() of a {type(owner).__name__}")
        self.give_up(f".{name}() of a {type(owner).__name__}, which may draw, or remember something, by itself")

    def array_method(self, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a method of an array, a series or a frame."""
        return self.shown(name, (owner,), table_methods.method(self, owner, name, args, keywords))

    def shown(self, name: str, args: tuple[Any, ...], made: Any) -> Any:
        """Return what was made of arrays; it may show a part of them."""
        if name in _SHOWING and type(made) is Container:
            for each in args:
                if type(each) is Container and each is not made and containers.base_of(each.content) is None:
                    each.view(made)
        return made

    def construct(self, kind: type, /, *args: Any, **keywords: Any) -> Any:
        """Make an object of a user's class."""
        init = dispatch.in_class(kind, "__init__")
        if type(dispatch.in_class(kind, "__new__")) is staticmethod and is_own(
            dispatch.in_class(kind, "__new__").__func__
        ):
            self.give_up(f"{_title(kind)}, which has a __new__ of its own")
        if dispatch.in_class(kind, "__new__") is not object.__dict__["__new__"] or not is_own(init):
            if init is object.__init__ or is_plain_dataclass(kind):
                made = self._made_really(kind, args, keywords)
            elif is_own(init):
                self.give_up(f"{_title(kind)}, whose __init__ Python calls")
            else:
                return self._function(kind, args, keywords)
        else:
            made = object.__new__(kind)
            self._made[id(made)] = made
            self.call(init, made, *args, **keywords)
        self._made[id(made)] = made
        return made

    def _made_really(self, kind: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what keeps what it is given, whatever it is: a dataclass, or a generator."""
        try:
            return kind(*args, **keywords)
        except self.control:
            raise
        except Exception as error:
            self.leave(error)
            raise

    def _by_name(self, function: Any, owner: Any, name: Any, *rest: Any) -> Any:
        if function not in (getattr, hasattr) or (function is getattr and not rest):
            return super()._by_name(function, owner, name, *rest)
        asked = any(dispatch.method(owner, each) is not None for each in ("__getattr__", "__getattribute__"))
        if asked or dispatch.getter(owner, name) is not None or dispatch.computed(owner, name) is not None:
            self.give_up(f"{function.__name__}() of what is computed")
        value = getattr(owner, raw(name), UNBOUND)
        if type(value) is Alternatives and any(each is UNBOUND for each in value.values):
            self.give_up(f"{function.__name__}() of what some runs have")
        return value is not UNBOUND if function is hasattr else rest[0] if value is UNBOUND else value

    # --- draws --------------------------------------------------------------------------------------------

    def drawn(self, source: Source, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return what a source draws for the active runs, or what they drew in an earlier pass."""
        return self._next(source.title, lambda: draw.draw(self, source, args, keywords))

    def _next(self, title: str, make: Callable[[], Any]) -> Any:
        self.alive()
        found = None if self.recorded is None else self.recorded.take(self, title)
        if found is None:
            return make()
        if found is not _MIXED:
            return found
        assert self.recorded is not None
        groups = self.recorded.groups(self.active.places)
        return each_group(self, groups, lambda run: self._next(title, make), fresh=True)

    def _of_library(self, function: Any, title: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a library that draws by itself, for each run."""
        self.libraries[title] = None
        return self._next(title, lambda: draw.called(self, title, function, args, keywords))

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

    def too_large(self, source: Source, shape: tuple[int, ...]) -> NoReturn:
        """A draw of so many numbers does not fit: the runs go apart in halves."""
        if self.active.count <= 64:
            raise GivenUpError(f"{source.title} of {np.prod(shape):,} numbers{self.where()}")
        half = self.active.places[: self.active.count // 2]
        raise SplitError(self.mask_of(half).chosen)

    def _maker(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A generator: fresh ones draw for each run, those with a fixed seed draw the same in every run."""
        given = [*args, *keywords.values()]
        if any(map(differs, given)):
            self.give_up("a generator that is seeded by what differs by run")
        if not given or given == [None]:
            return _generator_like(function, self.streams)
        if len(given) == 1 and isinstance(given[0], np.random.Generator):
            return given[0]
        if self.active.whole:
            made = plainly(self, function, args, keywords)
            self._fixed[id(made)] = made
            return made
        self.give_up("a generator with a fixed seed, which some runs make")

    def _of_fixed(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if not self.active.whole or differs((args, tuple(keywords.values()))):
            self.give_up("a draw of a generator with a fixed seed, which some runs make")
        return plainly(self, function, args, keywords)

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

    # --- values -------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        owner = self.present(owner)
        kind = type(owner)
        if kind is Alternatives:
            if self.differs_nearly_everywhere(owner):
                if callable(getattr(type(at(owner, int(self.active.places[0]))), name, None)):
                    return Member(owner, name)
                return apply(self, lambda own: getattr(own, name), (owner,))
            return self.each_alternative(owner, lambda each: self.attribute(each, name))
        if kind in (Container, Numbers, Table):
            return table_items.attribute(self, owner, name)
        if owner is UNBOUND:
            self.leave(_unbound("a name"))
        if dispatch.computed(owner, name) is not None:
            self.give_up(f".{name}, a cached property")
        try:
            found = super().attribute(owner, name)
        except self.control:
            raise
        except Exception as error:
            self.leave(error)
            raise
        if not joins.is_of_pandas(kind):
            return found
        if isinstance(found, CONTENTS):
            self.give_up(f".{name} of a frame")
        return joins.wrapped(found)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v`` of an object that was made in this call."""
        owner = self.present(owner)
        if type(owner) is Alternatives:
            self.each_alternative(owner, lambda each: self.set_attribute(each, name, value))
            return
        if type(owner) in (Container, Table):
            table_items.set_attribute(self, owner, name, value)
            return
        method, setter = dispatch.method(owner, "__setattr__"), dispatch.setter(owner, name)
        if method is not None or setter is not None:
            self.call(method, name, value) if method is not None else self.call(setter, owner, value)
            return
        if id(owner) not in self._made or has_setter(type(owner), name):
            self.give_up(f"an assignment to .{name} of something that was not made in this call")
        old = owner.__dict__.get(name, UNBOUND) if hasattr(owner, "__dict__") else getattr(owner, name, UNBOUND)
        try:
            setattr(owner, name, self.put(value, old))
        except Exception as error:
            self.leave(error)

    def delete_attribute(self, owner: Any, name: str) -> None:
        """``del o.a``."""
        self.give_up("del of an attribute")

    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        owner = self.present(owner)
        method = dispatch.method(owner, "__getitem__")
        if method is not None:
            return self.call(method, key)
        return containers.member(self, owner, key)

    def member(self, owner: Any, place: int) -> Any:
        """The item of a loop."""
        if type(owner) is Alternatives:
            return self.each_alternative(owner, lambda each: self.member(each, place))
        if type(owner) is Container:
            content = owner.content
            if type(content) is Alternatives:
                return containers.each_content(self, owner, lambda each: list(self._members(each))[place])
            if containers.base_of(content) is list:
                return content[place]
            return list(self._shown_members(owner, content))[place]
        if type(owner) is Numbers and owner.labels is None:
            return tables.row(owner, place)
        members = list(self.sequence(owner))
        return members[place]

    def _shown_members(self, owner: Container, content: Any) -> Iterable[Any]:
        """The members of what a container holds; the rows of an array show parts of it."""
        for each in self._members(content):
            if type(each) is Container and containers.base_of(content) is None:
                owner.view(each)
            yield each

    def _members(self, content: Any) -> Iterable[Any]:
        if type(content) in (Numbers, Table) or joins.is_of_pandas(type(content)):
            return tables.members(self, content)
        return content  # type: ignore[no-any-return]

    def array_item(self, owner: Any, key: Any) -> Any:
        """``a[k]`` of an array, a series, a frame, a text."""
        return table_items.item(self, owner, key)

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v`` of what was made in this call."""
        owner = self.present(owner)
        method = dispatch.method(owner, "__setitem__")
        if method is not None:
            self.call(method, key, value)
        elif type(owner) is Alternatives:
            self.each_alternative(owner, lambda each: self.set_item(each, key, value))
        elif type(owner) is Container:
            if containers.base_within(owner) is not None:
                containers.set_item(self, owner, key, value)
            else:
                table_items.set_item(self, owner, key, value)
        elif type(owner) is table_items.Located:
            owner.assign(key, value)
        else:
            self.give_up(f"an assignment into a {type(owner).__name__} that was not made in this call")

    def delete_item(self, owner: Any, key: Any) -> None:
        """``del o[k]``."""
        owner = self.present(owner)
        if type(owner) is not Container or containers.base_of(owner.content) is None:
            self.give_up("del of an item")
        containers.delete_item(self, owner, key)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        left, right = self.present(left), self.present(right)
        for method, other in dispatch.operators(name, left, right):
            value = self.call(method, other)
            if value is not NotImplemented:
                return value
        if type(left) is Container or type(right) is Container:
            found = self._lists(name, left, right)
            if found is not NotImplemented:
                return found
            found = table_items.binary(self, name, left, right)
            if found is not NotImplemented:
                return found
        return arrays.binary(self, name, left, right)

    def _lists(self, name: str, left: Any, right: Any) -> Any:
        """Lists that are added, or repeated."""
        parts = [each.content if type(each) is Container else each for each in (left, right)]
        if name == "add" and all(type(each) is list for each in parts):
            return Container(parts[0] + parts[1])
        if name == "mul" and type(parts[0]) is list and type(parts[1]) is int:
            return Container(parts[0] * parts[1])
        return NotImplemented

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``, ``a is b``, ``a in b``."""
        if name in ("in_", "not_in"):
            right = self.present(right)
            method = dispatch.method(right, "__contains__")
            found = (
                self.call(bool, self.call(method, left))
                if method is not None
                else containers.is_in(self, self.present(left), right)
            )
            return found if name == "in_" else self.not_(found)
        if name in ("is_", "is_not"):
            return self._is(name == "is_", self.present(left), self.present(right))
        return self.binary(name, left, right)

    def _is(self, yes: bool, left: Any, right: Any) -> Any:
        if type(left) is Alternatives:
            return self.each_alternative(left, lambda each: self._is(yes, each, right))
        if type(right) is Alternatives:
            return self.each_alternative(right, lambda each: self._is(yes, left, each))
        if type(left) is Numbers or type(right) is Numbers:
            for one, other in ((left, right), (right, left)):
                if one in (True, False) and type(other) is Numbers and other.python and other.array.dtype == bool:
                    return Numbers((other.array == one) == yes, True)
            if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
                return not yes
            self.give_up("'is' of numbers")
        return (left is right) == yes

    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        value = self.present(value)
        method = dispatch.method(value, f"__{name}__")
        return arrays.unary(self, name, value) if method is None else self.call(method)

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``: a list, set, array or series that was made in this call changes for all who hold it."""
        target = self.present(target)
        if dispatch.has_own_methods(type(target)):
            return super().inplace(name, target, value)
        if type(target) is Alternatives and any(type(each) is Container for each in target.values):
            return self.each_alternative(target, lambda each: self.inplace(name, each, value))
        if type(target) is Container:
            base = containers.base_within(target)
            if base is list and name == "add":
                containers.method(self, target, "extend", (value,), {})
                return target
            if base is set or base is dict:
                if name != "or_":
                    self.give_up("an operator in place")
                containers.method(self, target, "update", (value,), {})
                return target
            if base is None:
                table_items.replace(self, target, self.binary(name, target, value))
                return target
        elif type(target) in (list, dict, set, np.ndarray) or joins.is_of_pandas(type(target)):
            self.give_up("an operator in place on something that was not made in this call")
        return self.binary(name, target, value)

    def length(self, value: Any) -> Any:
        """``len(a)``."""
        method = dispatch.method(value, "__len__")
        return containers.length(self, value) if method is None else self.call(method)

    def table_length(self, content: Any) -> Any:
        """``len`` of an array, series or frame."""
        return tables.length(content)

    def distinct(self, key: Numbers) -> Any:
        """Return numbers as alternatives, where they have few values."""
        places = self.active.places
        own = key.array[places]
        known, inverse = np.unique(own, return_inverse=True)
        if key.array.ndim != 1 or len(known) > MOST_KEYS:
            self.give_up("a key that differs in nearly every run")
        codes = np.zeros(self.count, dtype=np.int32)
        codes[places] = inverse
        return Alternatives(codes, [each.item() if key.python else each for each in known])

    def sequence(self, value: Any) -> Sequence[Any] | Iterable[Any]:
        """Return the members of a value, of which every active run has equally many."""
        value = self.present(value)
        if type(value) is Container:
            content = joins.by_keys(self.present(value.content), self.active, self.count)
            if type(content) is Alternatives:
                self.split_by(content)
            return list(self._shown_members(value, content))
        if type(value) is Numbers:
            return list(tables.members(self, value))
        if type(value) is Alternatives:
            self.split_by(value)
        return value  # type: ignore[no-any-return]

    def iterate(self, value: Any) -> Iterable[Any]:
        """``for x in a``, by Python."""
        value = self.present(value)
        method = dispatch.method(value, "__iter__")
        if method is not None:
            return self.call(method)  # type: ignore[no-any-return]
        if type(value) in (Container, Numbers, Alternatives):
            return self.sequence(value)
        if hasattr(type(value), "__next__") and hasattr(type(value), "__iter__"):
            return _Watched(self, value)
        return value  # type: ignore[no-any-return]

    def unpack(self, value: Any, count: int, star: int | None) -> Sequence[Any]:
        """``a, b = v``."""
        value = self.present(value)
        whole = type(value) is Alternatives and star is None
        if whole and all(type(each) is tuple and len(each) == count for each in value.values):
            return [self.item(value, place) for place in range(count)]
        try:
            return super().unpack(value, count, star)
        except self.control:
            raise
        except (ValueError, TypeError) as error:
            self.leave(error)
            raise

    def checked(self, function: Any, owner: Any, name: str, value: Any, *rest: Any) -> Any:
        """What a builtin makes of the answer of a user's method: what differs by run is not checked."""
        return value if differs(value) else super().checked(function, owner, name, value, *rest)

    def slice(self, *parts: Any) -> Any:
        """``a:b:c``."""
        return slice(*map(self.present, parts))

    def mapping(self, value: Any) -> Any:
        """``**a``."""
        value = self.present(value)
        if type(value) is Container and type(value.content) is dict:
            return joins.by_keys(value.content, self.active, self.count)
        return value

    def new(self, value: Any) -> Any:
        """A list that was written down."""
        return Container(value)

    def new_dict(self, pairs: list[tuple[Any, ...]]) -> Any:
        """A dict that was written down; a key may differ by run."""
        if not any(differs(key) for is_rest, key, _ in pairs if not is_rest):
            out: dict[Any, Any] = {}
            for is_rest, key, value in pairs:
                if is_rest:
                    out.update(value)
                    continue
                try:
                    out[raw(key)] = value
                except TypeError as error:
                    self.leave(error)
            return Container(out)
        made = Container({})
        for is_rest, key, value in pairs:
            if is_rest:
                containers.method(self, made, "update", (Container(dict(value)),), {})
            else:
                containers.set_item(self, made, key, value)
        return made

    def new_set(self, members: Any) -> Any:
        """A set that was written down."""
        return apply(self, set, (members if type(members) is Container else Container(list(members)),))

    def format(self, value: Any, conversion: int, specification: Any) -> Any:
        """``{a!r:>5}`` in a text."""
        value = self.present(value)
        if dispatch.has_own_methods(type(value)):
            return super().format(value, conversion, specification)

        def text(own: Any, spec: Any) -> str:
            return format(own if conversion == -1 else CONVERSIONS[conversion](own), spec)

        return apply(self, text, (value, specification))

    def join(self, parts: list[Any]) -> Any:
        """The parts of a text, put together."""
        return apply(self, lambda *own: "".join(own), tuple(parts)) if any(map(differs, parts)) else "".join(parts)

    def enter(self, manager: Any) -> Any:
        """``with a``."""
        manager = self.present(manager)
        if type(manager) is Alternatives:
            self.split_by(manager)
        if type(manager) is np.errstate and _raises(manager):
            self.give_up("a block where NumPy raises what it warns of elsewhere")
        return super().enter(manager)

    # --- patterns -----------------------------------------------------------------------------------------

    def match_sequence(self, value: Any, count: int, star: int | None, unpacked: bool) -> Any:
        """``case [a, *b]``."""
        value = self._matched(value)
        return super().match_sequence(value, count, star, unpacked)

    def match_mapping(self, value: Any, keys: tuple[Any, ...], rest: bool) -> Any:
        """``case {k: a}``."""
        return super().match_mapping(self._matched(value), keys, rest)

    def match_class(self, value: Any, kind: Any, places: int, names: tuple[str, ...]) -> Any:
        """``case C(a)``."""
        value = self.present(value)
        if type(value) is Alternatives:
            self.split_by(value)
        if type(value) not in (Numbers, Container, Table):
            return super().match_class(value, kind, places, names)
        return [value] if self.call(isinstance, value, kind) and places == 1 and not names else None

    def _matched(self, value: Any) -> Any:
        value = self.present(value)
        if type(value) is Container:
            value = joins.by_keys(self.present(value.content), self.active, self.count)
        if type(value) is Alternatives:
            self.split_by(value)
        return value


_MIXED = object()


def _calling(function: Any, *args: Any, **keywords: Any) -> Any:
    return function(*args, **keywords)


def _calling_method(name: str, owner: Any, *args: Any, **keywords: Any) -> Any:
    return getattr(owner, name)(*args, **keywords)


class Recorded:
    """What runs drew in an earlier pass, each in its own order.

    Args:
        events: of that pass.
        lanes: (runs,) the numbers that the runs of the new pass had there.
        before: how many runs that pass had.
    """

    def __init__(self, events: list[draw.Drawn], lanes: Array, before: int) -> None:
        place = np.full(before, -1, dtype=np.int64)
        place[lanes] = np.arange(len(lanes))
        self._position = np.zeros(len(lanes), dtype=np.int64)
        self._count = np.zeros(len(lanes), dtype=np.int64)
        self._segments: dict[int, list[draw.Drawn]] = {}
        for each in events:
            mine = place[each.places]
            kept = np.flatnonzero(mine >= 0)
            if not len(kept):
                continue
            runs = mine[kept]
            for turn in np.unique(self._count[runs]):
                of_turn = kept[self._count[runs] == turn]
                values = [each.values[k] for k in of_turn] if isinstance(each.values, list) else each.values[of_turn]
                part = draw.Drawn(mine[of_turn], each.title, values, each.python)
                self._segments.setdefault(int(turn), []).append(part)
            self._count[runs] += 1

    def drew(self, places: Array) -> None:
        """Runs made one more draw."""
        self._position[places] += 1

    def groups(self, places: Array) -> list[Array]:
        """Return runs by the draw that comes next, those that have none left last."""
        turn = np.where(self._position[places] < self._count[places], self._position[places], -1)
        out = []
        for each in np.unique(turn):
            mine = places[turn == each]
            if each < 0:
                out.append(mine)
                continue
            for segment in self._segments[int(each)]:
                own = mine[np.isin(mine, segment.places)]
                if len(own):
                    out.append(own)
        return out

    def take(self, domain: Runs, title: str) -> Any:
        """Return what the active runs drew next; None if nothing is kept, `_MIXED` if they differ in that."""
        places = domain.active.places
        left = self._position[places] < self._count[places]
        if not left.any():
            return None
        groups = self.groups(places)
        if len(groups) > 1:
            return _MIXED
        turn = int(self._position[places[0]])
        segment = next(each for each in self._segments[turn] if np.isin(places[0], each.places))
        if segment.title != title:
            raise GivenUpError(f"it asked for {title} where it had asked for {segment.title} on the same draws")
        where = np.searchsorted(segment.places, places)
        if np.array_equal(segment.places, places):
            values = segment.values
        elif isinstance(segment.values, list):
            values = [segment.values[k] for k in where]
        else:
            values = segment.values[where]
        drawn = draw.Drawn(places, title, values, segment.python)
        domain.events.append(drawn)
        self.drew(places)
        return draw.as_value(domain, drawn)


class _Watched:
    """An iterator, of which it is known which runs advanced it."""

    def __init__(self, domain: Runs, iterator: Any) -> None:
        self._domain, self.iterator = domain, iterator

    def __iter__(self) -> _Watched:
        return self

    def __next__(self) -> Any:
        self._domain.advance(self.iterator)
        return next(self.iterator)


class Generating:
    """A generator, whose body runs under Python's own control whoever asks it for more.

    Args:
        domain: that its body asks.
        generator: of a rewritten function.
    """

    def __init__(self, domain: Runs, generator: Any) -> None:
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


class _Callback:
    """A user's function that a library calls: with plain values, and it may not draw.

    Args:
        domain: that the function asks.
        function: the user's.
    """

    def __init__(self, domain: Runs, function: Any) -> None:
        self._domain, self._function = domain, function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        domain = self._domain
        before, events = domain.active, len(domain.events)
        closes, domain.closes = domain.closes, True
        try:
            value = domain.call(self._function, *args, **keywords)
        finally:
            domain.closes = closes
        if len(domain.events) > events or differs(value) or domain.active is not before:
            raise GivenUpError(f"a function that draws, called by a library{domain.where()}")
        return raw(value)


def is_bare(kind: Any) -> bool:
    """Whether a class is made as any object is, by nothing of its own."""
    plain = type(kind) is type and kind.__flags__ & _IN_PYTHON
    return bool(plain) and kind.__new__ is object.__new__ and kind.__init__ is object.__init__


def is_plain_dataclass(kind: Any) -> bool:
    """Whether a class keeps what it is given, by a constructor that `dataclasses` wrote and nothing else."""
    if not isinstance(kind, type) or "__dataclass_fields__" not in vars(kind):
        return False
    fields = vars(kind)["__dataclass_fields__"].values()
    init = dispatch.in_class(kind, "__init__")
    return not (
        is_own(init)
        or any(is_own(dispatch.in_class(kind, name)) for name in ("__post_init__", "__setattr__"))
        or any(is_own(each.default_factory) for each in fields)
    )


_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def has_setter(kind: type, name: str) -> bool:
    """Whether something other than the object keeps an attribute."""
    found = dispatch.in_class(kind, name)
    return hasattr(type(found), "__set__") and type(found) is not types.MemberDescriptorType


def _raises(state: Any) -> bool:
    """Whether a state of NumPy does anything but warn."""
    names = ("_all", "_divide", "_over", "_under", "_invalid")
    return any(getattr(state, name, None) in ("raise", "call", "print", "log") for name in names)


def _is_function(value: Any) -> bool:
    return isinstance(value, types.FunctionType | types.MethodType)


def _title(function: Any) -> str:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return f"{name or type(function).__name__}()" if module in (None, "builtins") else f"{module}.{name}()"


def _unbound(name: str, free: bool = False) -> NameError:
    if free:
        return NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        )
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def _generator_like(function: Any, streams: draw.Streams) -> Any:
    import random

    if function is np.random.RandomState:
        return np.random.RandomState(np.random.SFC64(int(streams.generator.integers(2**63))))
    if isinstance(function, type) and issubclass(function, random.Random):
        return random.Random(int(streams.generator.integers(2**63)))
    return streams.fresh()


_SHOWING = frozenset((
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "squeeze", "diagonal", "view", "asarray", "asanyarray",
    "atleast_1d", "atleast_2d", "expand_dims", "broadcast_to", "flip", "fliplr", "flipud", "rot90", "rollaxis", "diag",
    "ascontiguousarray", "matrix_transpose", "real", "imag", "require", "to_numpy",
))  # fmt: skip
"""Functions and methods of NumPy whose result may be a part of what they are given."""
_HASHED = (types.BuiltinFunctionType, type, types.FunctionType)
