"""How is a claim written as text, and read back?"""

from __future__ import annotations

import math
import re

from dpaudit.errors import UsageError
from dpaudit.privacy.claims import ApproxDP, Claim, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP

FORMS = "'epsilon=1', 'epsilon=1, delta=1e-6', 'rho=0.5', 'mu=1' or 'order=2, epsilon=0.5'"

_ALIASES = {"eps": "epsilon", "ε": "epsilon", "δ": "delta", "ρ": "rho", "μ": "mu", "α": "order"}
_KINDS: dict[frozenset[str], type[Claim]] = {
    frozenset({"epsilon"}): PureDP,
    frozenset({"epsilon", "delta"}): ApproxDP,
    frozenset({"rho"}): ZeroConcentratedDP,
    frozenset({"mu"}): GaussianDP,
    frozenset({"order", "epsilon"}): RenyiDP,
}


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
        if not equals or name not in {"epsilon", "delta", "rho", "mu", "order"}:
            raise UsageError(f"cannot read {part!r} in the claim {text!r}; write {FORMS}")
        if name in numbers:
            raise UsageError(f"the claim {text!r} gives {name} twice")
        numbers[name] = _number(value, text)
    kind = _KINDS.get(frozenset(numbers))
    if kind is None:
        raise UsageError(f"the claim {text!r} is none that is known; write {FORMS}")
    return kind(**numbers)
