"""Where do two displayed datasets differ?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_MOST_TOKENS = 2000  # the comparison is quadratic in them
_CONTEXT = 12  # equal tokens shown on either side of a difference, about a line


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of one side's text; ``kind`` is "same", "differs" or "left out"."""

    kind: str
    text: str


def differences(text0: str, text1: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces, with differences marked and long equal pieces left out."""
    tokens0, tokens1 = _tokens(text0), _tokens(text1)
    if max(len(tokens0), len(tokens1)) > _MOST_TOKENS:
        return [Piece("same", text0)], [Piece("same", text1)]
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    steps = SequenceMatcher(None, tokens0, tokens1, autojunk=False).get_opcodes()
    for number, (kind, start0, end0, start1, end1) in enumerate(steps):
        for own, part in ((pieces[0], tokens0[start0:end0]), (pieces[1], tokens1[start1:end1])):
            if kind == "equal":
                own += _same(part, first=number == 0, last=number == len(steps) - 1)
            elif part:
                own.append(Piece("differs", "".join(part)))
    return pieces


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\s,;\[\](){}]+|\s+|.", text)


def _same(tokens: list[str], *, first: bool, last: bool) -> list[Piece]:
    before, after = (0 if first else _CONTEXT), (0 if last else _CONTEXT)
    before, after = max(before, 4), max(after, 4)
    if len(tokens) <= before + after + 10:
        return [Piece("same", "".join(tokens))]
    out = sum(1 for token in tokens[before:-after] if re.match(r"[^\s,;\[\](){}]", token))
    return [
        Piece("same", "".join(tokens[:before])),
        Piece("left out", f" … {out} equal … "),
        Piece("same", "".join(tokens[-after:])),
    ]
