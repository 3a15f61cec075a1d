"""What happens if a program does something that the exact reading does not support? It is refused, naming the line."""

from __future__ import annotations

import linecache
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NoReturn, Protocol

from dpaudit.errors import UsageError

_HERE = str(Path(__file__).parent.parent)


class Refusing(Protocol):
    """A run that can be refused; ``refused`` is the first reason."""

    refused: str | None


class NotExactError(BaseException):
    """The exact reading does not support what the program does; no ``except Exception`` may swallow it."""


READING: ContextVar[Refusing | None] = ContextVar("reading", default=None)


def refuse(reason: str) -> NoReturn:
    """Refuse the program for a reason, naming its line."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    name, line = frame.f_code.co_filename, frame.f_lineno
    text = f"{Path(name).name}, line {line} ({linecache.getline(name, line).strip()}): {reason}"
    trace = READING.get()
    if trace is None:
        raise UsageError(text)
    trace.refused = trace.refused or text
    raise NotExactError(text)
