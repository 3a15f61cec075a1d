"""Does Python, given the draws of one run, return what was read?

The function is run by Python on plain values, with the draws of a run in their order handed out in place of fresh ones.
So a reading of many runs is held against the function itself; and a run that could not be read is made.
"""

from __future__ import annotations

import contextlib
import io
import logging
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpaudit.program.outcome import raised
from dpaudit.reading import callables
from dpaudit.reading.definite import PlainLoops
from dpaudit.reading.draws import Failed, Source, is_maker, source_of
from dpaudit.reading.python import Python
from dpaudit.reading.rewrite import UnreadableError


class OtherDrawsError(BaseException):
    """The function asked for another draw than the reading did."""


class Given(PlainLoops, Python):
    """Python's own domain, in which draws are those of a tape.

    Args:
        tape: what was drawn, in its order: the title of the source, and the value.
        beyond: makes a draw after the end of the tape; None where there may be none.
    """

    control = (OtherDrawsError, UnreadableError)

    def __init__(self, tape: list[tuple[str, Any]], beyond: Callable[[Source, Any, Any], Any] | None = None) -> None:
        super().__init__()
        self._tape, self._place, self._beyond = tape, 0, beyond
        self._fixed: dict[int, Any] = {}

    @property
    def is_done(self) -> bool:
        """Whether every draw of the tape was asked for."""
        return self._place == len(self._tape)

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a library; a source hands out what is on the tape."""
        source = source_of(function)
        if source is not None and (source.owner is None or id(source.owner) not in self._fixed):
            return self._next(source, args, keywords)
        if self._place < len(self._tape) and self._tape[self._place][0] == callables.title_of(function):
            return self._taken()
        if function is print:
            return None
        made = super().foreign(function, self._called_back(args), keywords)
        given = next((each for each in (*args, *keywords.values()) if each is not None), None)
        if is_maker(function) and given is not None and not isinstance(given, np.random.Generator):
            self._fixed[id(made)] = made
        return made

    def _called_back(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments whose functions ask this domain when a library calls them."""
        if not any(type(each) is types.FunctionType for each in args):
            return args
        return tuple(
            (lambda *own, _function=each, **more: self.call(_function, *own, **more))
            if type(each) is types.FunctionType and each.__module__ not in _LIBRARIES
            else each
            for each in args
        )

    def _next(self, source: Source, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if self._place < len(self._tape):
            title = self._tape[self._place][0]
            if title != source.title:
                raise OtherDrawsError(f"asks for {source.title} where the reading asked for {title}")
            return self._taken()
        if self._beyond is None:
            raise OtherDrawsError(f"asks for {source.title} after the last draw of the reading")
        return self._beyond(source, args, keywords)

    def _taken(self) -> Any:
        value = self._tape[self._place][1]
        self._place += 1
        if type(value) is Failed:
            raise value.error
        return value


_LIBRARIES = frozenset(("numpy", "pandas", "builtins", "functools"))


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Let nothing be heard of what a function says while it is run again."""
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def made_by_python(domain: Given, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return what a function returns in one run; an exception as an output."""
    with quietly():
        try:
            return domain.call(function, *args, **keywords)
        except OtherDrawsError:
            raise
        except (Exception, SystemExit) as error:
            return raised(error)
