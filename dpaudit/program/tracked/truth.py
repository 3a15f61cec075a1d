"""Does a comparison of released numbers hold? Asking for it is a fork of the reading."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NoReturn

from dpaudit.program.tracked.guarded import Guarded
from dpaudit.program.tracked.path import PATH, refuse


def leaves(what: str, how: str) -> Callable[..., NoReturn]:
    """Return a method that refuses to hand out the plain value behind a released one."""

    def method(self: Any, *_: Any) -> NoReturn:
        refuse(f"{what} of a released value, behind which nothing is read; write noise.post({how}, value)")

    return method


ANEW = "anew"


class Truth(Guarded):
    """Whether a comparison of released numbers holds; asking for it is a fork.

    What comes out of `Noise.post` may be anything, also an object that answers in another way each time: with a key
    that begins with `ANEW`, each time that somebody asks is a fork of its own.
    """

    __slots__ = ("_holds", "_key", "_negated")
    sort = "released"
    inner = Guarded.inner | {"is_private", "_holds", "_key", "_negated", "told"}
    is_private = False

    def __init__(self, key: Hashable, holds: bool | None, *, negated: bool) -> None:
        self._key, self._holds, self._negated = key, holds, negated

    def told(self) -> tuple[Hashable, bool | None, bool]:
        """Return what it is a comparison of."""
        return self._key, self._holds, self._negated

    def __bool__(self) -> bool:
        if self._holds is not None:
            return self._holds != self._negated
        path = PATH.get()
        key = (ANEW, path.fresh()) if isinstance(self._key, tuple) and self._key[0] == ANEW else self._key
        return bool(path.fork(key, [True, False])) != self._negated

    def __invert__(self) -> Truth:
        return Truth(self._key, self._holds, negated=not self._negated)

    def __and__(self, other: Any) -> bool:
        return bool(self) & bool(other)

    def __or__(self, other: Any) -> bool:
        return bool(self) | bool(other)

    __rand__, __ror__ = __and__, __or__
    __str__ = leaves("the text of a comparison", "str")
    __hash__ = leaves("hash()", "f")
    __reduce_ex__ = leaves("a copy", "f")

    def __eq__(self, other: object) -> bool:
        return bool(self) == other

    def __ne__(self, other: object) -> bool:
        return bool(self) != other

    def __int__(self) -> int:
        return int(bool(self))

    __index__ = __int__

    def __float__(self) -> float:
        return float(bool(self))
