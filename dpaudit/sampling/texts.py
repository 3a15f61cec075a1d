"""Which numbers does a text hold? Its form, with # in their place, and the numbers; together they restore the text."""

from __future__ import annotations

import hashlib
import math
import re

_NUMERAL = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)", re.ASCII)
_MOST_LETTERS = 2_000  # read for numbers; the rest counts as one digest
_MOST_DECIMALS = 9
_LARGEST = 2**53  # an integer that a float holds


def read_text(text: str) -> tuple[str, list[float]]:
    """Return a text with # in place of its numbers, and the numbers.

    A numeral is a number only if that number is always written so: an integer, with as many decimals as there are #
    after the point, or as Python writes a float (#float). Every other numeral stays in the form.
    """
    start, rest = text[:_MOST_LETTERS], text[_MOST_LETTERS:]
    pieces, numbers, done = [], [], 0
    for match in _NUMERAL.finditer(start):
        found = _numeral(match[0])
        if found is not None:
            pieces += [_escaped(start[done : match.start()]), found[0]]
            numbers.append(found[1])
            done = match.end()
    pieces.append(_escaped(start[done:]))
    if rest:
        digest = hashlib.blake2b(rest.encode(errors="surrogatepass"), digest_size=8).hexdigest()
        pieces.append(f" … and {len(rest):,} letters more with the digest {digest}")
    return "".join(pieces), numbers


def is_minus_zero(value: float) -> bool:
    """Whether a number is −0.0."""
    return value == 0 and math.copysign(1, value) < 0


def _escaped(text: str) -> str:
    return re.sub(r"[\\#]", r"\\\g<0>", text)


def _numeral(text: str) -> tuple[str, float] | None:
    """Return the form of a numeral, and its number; None if these two do not restore the numeral."""
    if len(text) < 20 and re.fullmatch(r"0|-?[1-9]\d*", text) and abs(int(text)) <= _LARGEST:
        return "#", float(text)
    value = float(text)
    decimals = len(text.partition(".")[2])
    if not math.isfinite(value) or value == -5e-324:  # the latter stands for −0.0 among numbers
        return None
    if 1 <= decimals <= _MOST_DECIMALS and "e" not in text.lower() and f"{value:.{decimals}f}" == text:
        return "#." + "#" * decimals, value
    return ("#float", value) if repr(value) == text else None
