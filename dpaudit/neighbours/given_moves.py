"""What does a user state of a value that is not read? By how much the value that a line assigns moves.

The statement is written ``release.py:7 moves by 1``: between neighbours the value that is assigned in line 7 of that
file differs by at most 1, and the line does nothing else. A proof goes on under it, and says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from dpaudit.errors import UsageError

_FORM = re.compile(r"\s*(?P<file>\S.*):(?P<line>[0-9]+)\s+moves\s+by\s+(?:at\s+most\s+)?(?P<by>\S+)\s*\Z")
_DIGITS, _LARGEST = 12, 100
_WRITTEN = "'release.py:7 moves by 1'"


@dataclass(frozen=True, slots=True)
class GivenMove:
    """How far the value that a line assigns moves between neighbours, at most, as it is stated."""

    file: str  # where the line is: the name of the file, with as many of its folders as tell it from others
    line: int  # its number
    by: Fraction  # how far the value moves

    @property
    def place(self) -> str:
        """File and line, as in every refusal."""
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def distance(self) -> str:
        """How far, as a decimal."""
        return f"{Decimal(self.by.numerator) / Decimal(self.by.denominator):f}"

    def __str__(self) -> str:
        return f"{self.place} moves by at most {self.distance}"


def parse_given(text: object) -> GivenMove:
    """Read a statement such as ``release.py:7 moves by 1``.

    Raises:
        UsageError: if it has another form, or states no distance that is finite and not negative.
    """
    if isinstance(text, GivenMove):
        return text
    found = _FORM.match(text) if isinstance(text, str) else None
    if found is None:
        raise UsageError(
            f"what is given is a file, a line and by how much the value that is assigned there moves, {_WRITTEN}; "
            f"{text!r:.80} is none of this form"
        )
    try:
        by = Decimal(found["by"])
    except InvalidOperation:
        by = Decimal("nan")
    if not by.is_finite() or by < 0:
        raise UsageError(f"a value moves by a finite number that is not negative, {_WRITTEN}, not by {found['by']:.40}")
    if len(by.normalize().as_tuple().digits) > _DIGITS or abs(by.adjusted()) > _LARGEST:
        raise UsageError(f"a distance has at most {_DIGITS} digits; {found['by']:.40} has more: round it up")
    return GivenMove(found["file"], int(found["line"]), Fraction(by))


def parse_all(given: str | GivenMove | Iterable[str | GivenMove] | None) -> tuple[GivenMove, ...]:
    """Read several statements, one for each line."""
    listed = () if given is None else (given,) if isinstance(given, str | GivenMove) else tuple(given)
    moves = tuple(map(parse_given, listed))
    places = [each.place for each in moves]
    for each in moves:
        if places.count(each.place) > 1:
            raise UsageError(f"{each.place} is given twice; say once by how much it moves")
    return moves


__all__ = ["GivenMove", "parse_all", "parse_given"]
