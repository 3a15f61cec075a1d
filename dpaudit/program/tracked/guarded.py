"""What may a program learn of a tracked value besides what can be computed with it? Neither its type nor its insides.

A run has plain numbers, arrays and frames in its place. Whatever tells the two apart (the type, a text, an attribute of
the reading's own) would let a program be read in one way and run in another.
"""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpaudit.program.tracked.path import PATH, refuse

_OURS = str(Path(__file__).parents[2])


def is_asked_inside() -> bool:
    """Whether dpaudit itself asks, and not the program: looks at who called the caller."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename == "<frozen abc>":  # isinstance() of an abstract class
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_OURS)


def never(what: str, instead: str = "") -> Any:
    """Return a method that refuses the program."""

    def method(self: Any, *_: Any, **__: Any) -> Any:
        refuse(f"{what} of a {self.sort} value{'; ' if instead else ''}{instead}")

    return method


_OPNAMES = dict.fromkeys(("MATCH_CLASS", "LOAD_ATTR", "LOAD_METHOD"), True)


def _opcode(frame: types.FrameType) -> str:
    """Return what a frame is doing: NumPy too asks for the class of what it is given, within calls and operators."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def is_one_of(plain: Callable[..., bool], value: Any, kind: Any) -> bool:
    """Return what ``isinstance`` says in a run; refuse where that is not known."""
    if type(type(value)) is _Kinds and not is_asked_inside():
        return bool(issubclass(value.shown_class(), kind))
    return plain(value, kind)


class _Kinds(type):
    """The kind of all guarded classes, which is quickly asked for."""


class Guarded(metaclass=_Kinds):
    """A value that a program can compute with, and not look into.

    Attributes:
        sort: what it is called.
        inner: the names of attributes that only the reading has.
    """

    __slots__ = ()
    sort = "tracked"
    inner: frozenset[str] = frozenset({"sort", "inner"})

    def __getattribute__(self, name: str) -> Any:
        if name in type(self).inner and not is_asked_inside():
            refuse(f".{name} of a {type(self).sort} value; a column of this name is frame[{name!r}]")
        if name == "__class__" and not is_asked_inside() and _OPNAMES.get(_opcode(sys._getframe(1))):
            return self.shown_class()
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not is_asked_inside():
            refuse(f"an assignment to .{name} of a {self.sort} value; keep what you need in variables")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        refuse(f"a deletion of .{name} of a {self.sort} value")

    def shown_class(self) -> Any:
        """Return the type that a program may see: none."""
        refuse(f"the type of a {self.sort} value, which is another one in a run")

    def __repr__(self) -> str:
        if PATH.get(None) is not None:
            refuse(f"the text of a {self.sort} value; write noise.post(f, value) for one that was released")
        return f"<{self.sort}>"
