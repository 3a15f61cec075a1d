"""What is a program that reads one record after another? A fold: a state, and a step for every record.

A fold is called, and so sampled, like any other program. Because it keeps nothing but its state between two records, it
can be read in two more ways: when all traces are enumerated, equal states are merged (`dpaudit.program.enumerate`); and
what one step does in each state holds for data of every length (`dpaudit.program.symbolic.fold_machine`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.program.noise import Noise


@dataclass(frozen=True, slots=True)
class Stop:
    """What a step returns to end the loop in this state."""

    state: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.state, Emit):
            raise UsageError("the last step of a fold that emits returns Emit(output, Stop(state)), not Stop(Emit(…))")


@dataclass(frozen=True, slots=True)
class Emit:
    """What a step returns to release something: the output, and then the next state, or `Stop` (or another `Emit`)."""

    output: Any
    then: Any


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a run has come."""

    state: Any  # the argument of the next step
    emitted: tuple[Any, ...] = ()  # the outputs released so far
    is_over: bool = False  # whether the loop has ended, even if there are more data


def _as_it_is(state: Any) -> Any:
    return state


@dataclass(frozen=True)
class Fold:
    """A program that is a loop over records: ``fold(data, noise, **parameters)``."""

    # ``step(state, record, noise, **parameters)`` → the next state, or ``Stop(state)``. A step that releases
    # something wraps its result in ``Emit(output, …)``.
    step: Callable[..., Any]
    init: Any = 0  # the first state, or ``init(noise, **parameters)``, which returns it like a step does
    # ``finish(state)`` → output; None if the output is the list of everything emitted
    finish: Callable[[Any], Any] | None = _as_it_is

    def __post_init__(self) -> None:
        signature = _signature(self)
        if signature is not None:
            object.__setattr__(self, "__signature__", signature)
        object.__setattr__(self, "__doc__", _description(self.step))  # the description of this program, not of folds

    @property
    def __functions__(self) -> tuple[Any, ...]:
        """What the program consists of, for its digest."""
        return self.step, self.init, self.finish

    def __call__(self, data: Iterable[Any], noise: Noise, **parameters: Any) -> Any:
        """Run the loop."""
        emitted: list[Any] = []
        state, is_over = self._taken(self._first(noise, parameters), emitted)
        if not is_over:
            for record in data:
                state, is_over = self._taken(self.step(state, record, noise, **parameters), emitted)
                if is_over:
                    break
        return emitted if self.finish is None else self.finish(state)

    def start(self, noise: Noise, /, **parameters: Any) -> Reached:
        """Return where a run begins."""
        return self._reached(self._first(noise, parameters), ())

    def after(self, reached: Reached, record: Any, noise: Noise, /, **parameters: Any) -> Reached:
        """Return where a run is after one more record."""
        return self._reached(self.step(reached.state, record, noise, **parameters), reached.emitted)

    def output(self, reached: Reached) -> Any:
        """Return what a run that ends here releases."""
        return list(reached.emitted) if self.finish is None else self.finish(reached.state)

    def _first(self, noise: Noise, parameters: dict[str, Any]) -> Any:
        return self.init(noise, **parameters) if callable(self.init) else self.init

    def _reached(self, result: Any, before: tuple[Any, ...]) -> Reached:
        emitted = list(before)
        state, is_over = self._taken(result, emitted)
        return Reached(state, tuple(emitted), is_over)

    def _taken(self, result: Any, emitted: list[Any]) -> tuple[Any, bool]:
        """Append what a step released; return the next state, and whether the loop has ended."""
        while isinstance(result, Emit):
            if self.finish is not None:
                raise UsageError("a fold that emits has no other output: give it finish=None")
            emitted.append(result.output)
            result = result.then
        return (result.state, True) if isinstance(result, Stop) else (result, False)


def fold(*, init: Any = 0, finish: Callable[[Any], Any] | None = _as_it_is) -> Callable[[Callable[..., Any]], Fold]:
    """Return a decorator that turns a step into a `Fold` with the step's name."""

    def made(step: Callable[..., Any]) -> Fold:
        whole = Fold(step, init, finish)
        for attribute in ("__name__", "__qualname__", "__module__"):
            object.__setattr__(whole, attribute, getattr(step, attribute))
        return whole

    return made


def _description(step: Callable[..., Any]) -> str:
    while isinstance(step, functools.partial):
        step = step.func
    return inspect.getdoc(step) or ""


def _signature(fold: Fold) -> inspect.Signature | None:
    """Return the signature of a fold, with the parameters of its functions by name; None if they cannot be read."""
    data, noise, anything = list(inspect.signature(Fold.__call__).parameters.values())[1:]
    parameters: dict[str, inspect.Parameter] = {}
    open_ended = True
    for function, before in ((fold.step, 3), (fold.init, 1)):
        if not callable(function):
            continue
        try:
            listed = list(inspect.signature(function).parameters.values())[before:]
        except (TypeError, ValueError):
            return None
        open_ended &= any(each.kind is inspect.Parameter.VAR_KEYWORD for each in listed)
        for each in listed:
            if each.kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL):
                continue
            known = parameters.setdefault(each.name, each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            if known.default is not each.default and known.default != each.default:
                raise UsageError(f"the parameter {each.name} of a fold has other defaults in its step and in its init")
    return inspect.Signature([data, noise, *parameters.values(), *([anything] if open_ended else [])])
