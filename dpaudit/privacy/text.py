"""How is a claim written as text, and read back?"""

from __future__ import annotations

import math
import re

from dpaudit.errors import UsageError
from dpaudit.privacy.claims import Claim
from dpaudit.privacy.epsilon_delta import ApproxDP, PureDP
from dpaudit.privacy.gaussian import GaussianDP
from dpaudit.privacy.renyi import RenyiDP, ZeroConcentratedDP

NOTIONS: tuple[type[Claim], ...] = (PureDP, ApproxDP, ZeroConcentratedDP, GaussianDP, RenyiDP)
"""All notions that are known."""

_EXAMPLES = [repr(notion.example) for notion in NOTIONS]
FORMS = f"{', '.join(_EXAMPLES[:-1])} or {_EXAMPLES[-1]}"
SYMBOLS = {notion.parameter: notion.symbol for notion in NOTIONS}
"""The letter for each parameter that bounds are about."""

_ALIASES = {"eps": "epsilon", "δ": "delta", "α": "order"} | {symbol: name for name, symbol in SYMBOLS.items()}
_KINDS = {frozenset(notion.names()): notion for notion in NOTIONS}
_NAMES = frozenset().union(*_KINDS)


def _number(text: str, claim: str) -> float:
    logarithm = re.fullmatch(r"(?:ln|log)\((.+)\)", text)
    try:
        return math.log(float(logarithm[1])) if logarithm else float(text)
    except ValueError:
        raise UsageError(f"cannot read the number {text!r} in the claim {claim!r}; write {FORMS}") from None


def parse_claim(text: str) -> Claim:
    """Read a claim from its text; the inverse of ``str``.

    Numbers are decimal, or ``ln(3)``. Raises `UsageError` with the possible forms.
    """
    numbers: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        name = _ALIASES.get(name.lower(), name.lower())
        if not equals or name not in _NAMES:
            raise UsageError(f"cannot read {part!r} in the claim {text!r}; write {FORMS}")
        if name in numbers:
            raise UsageError(f"the claim {text!r} gives {name} twice")
        numbers[name] = _number(value, text)
    kind = _KINDS.get(frozenset(numbers))
    if kind is None:
        raise UsageError(f"the claim {text!r} is none that is known; write {FORMS}")
    return kind(**numbers)
