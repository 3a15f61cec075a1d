"""What do certificates of all kinds say, and what does an accepted one prove? And do two say the same of a program?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import Any

from dpaudit.checker.reading import CertificateError, ForgedError, fields, rational, shown, text

DERIVED_VERSION = 2
"""Of releases that are derived from the records."""
ROUNDED = Fraction(1, 10**9)
"""By how much a bound that is no fraction may be rounded up, or those of two certificates may differ, relatively."""
MOST_GROUP = 1_000
_HEAD = {"format", "version", "kind", "mechanism", "scope", "bound"}
_SYMBOLS = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}
_MOST_PARAMETERS = 1_000
_ORDER = "order "


@dataclass(frozen=True, slots=True)
class Checked:
    """What an accepted certificate proves."""

    # ε in nats; no event is more than e^bound times as likely on one side as on the other. For releases, the number of
    # ``notion``.
    bound: Fraction | float
    # "tree" (one length), "fold" or "selection" (any length), "moves" (numbers), "releases" (records of any number), or
    # "account" (steps)
    kind: str
    mechanism: dict[str, str]  # its name and the digest of its source, as given
    scope: dict[str, Any]  # what the bound holds for, as plain data
    sentences: tuple[str, ...]  # what was checked and what was not, for people to read
    notion: str = "epsilon"
    delta: Fraction = Fraction(0)
    given: tuple[str, ...] = ()  # what the bound takes for granted, such as what a library computes

    @property
    def statement(self) -> str:
        """What is bounded, and by how much."""
        at = f" at δ = {self.delta}" if self.delta else ""
        granted = f", given that {'; '.join(self.given)}" if self.given else ""
        at = at if self.notion in _SYMBOLS else f" at {self.notion}"
        return f"{_SYMBOLS.get(self.notion, 'ε')} ≤ {self.bound}{at}{granted}"


@dataclass(frozen=True, slots=True)
class CertificateHead:
    """What certificates of all kinds but accounts say besides their proof."""

    kind: str
    mechanism: dict[str, str]
    scope: dict[str, Any]
    bound: Fraction

    @classmethod
    def read(
        cls, given: dict[str, Any], body: set[str], scope: set[str], optional: frozenset[str] = frozenset()
    ) -> CertificateHead:
        """Return the head of a certificate that has these fields besides; of its scope only the parameters are read."""
        fields(given, _HEAD | body, "the certificate", optional)
        mechanism = fields(given["mechanism"], {"name", "source"}, "mechanism")
        mechanism = {name: text(mechanism[name], f"mechanism: {name}") for name in ("name", "source")}
        bound = rational(given["bound"], "bound")
        scope_given = fields(given["scope"], scope, "scope")
        parameters = scope_given["parameters"]
        if type(parameters) is not dict or len(parameters) > _MOST_PARAMETERS:
            raise CertificateError(f"scope: parameters are a JSON object of at most {_MOST_PARAMETERS:,} texts")
        for name, value in parameters.items():
            text(name, "scope: the name of a parameter")
            text(value, "scope: a parameter")
        return cls(given["kind"], mechanism, {**scope_given, "parameters": dict(parameters)}, bound)

    def one_of(self, name: str, known: tuple[str, ...]) -> None:
        """Raise unless a member of the scope is one of these words."""
        value = self.scope[name]
        if type(value) is not str or value not in known:
            raise CertificateError(f"scope: {name} is one of {', '.join(known)}, not {shown(value)}")

    def proved(
        self,
        by: str,
        bound: Fraction,
        sentences: list[str],
        *,
        room: Fraction = Fraction(0),
        notion: str = "epsilon",
        delta: Fraction = Fraction(0),
        given: tuple[str, ...] = (),
    ) -> Checked:
        """Return what is proved, where the bound that was shown is the one that is stated.

        Args:
            by: what showed it.
            bound: that was shown.
            sentences: about what was checked and what was not.
            room: by how much the stated bound may be larger, relatively.
            notion, delta: what is bounded.
            given: what is taken for granted.

        Raises:
            ForgedError: for another bound.
        """
        if not bound <= self.bound <= bound * (1 + room):
            raise ForgedError(f"the {by} show the bound {bound}, not {self.bound}")
        checked = Checked(self.bound, self.kind, self.mechanism, self.scope, (), notion, delta, given)
        parameters = ", ".join(f"{name}={value}" for name, value in self.scope["parameters"].items()) or "none"
        name, source = self.mechanism["name"], self.mechanism["source"]
        told = f"{checked.statement} for {name} (source {source}; parameters: {parameters})."
        return replace(checked, sentences=(told, *sentences))


def order_of(notion: object) -> Fraction | None:
    """Return α of the notion "order α", the ε of Rényi divergence at that order (Mironov 2017); None of any other."""
    if type(notion) is not str or not notion.startswith(_ORDER):
        return None
    return rational(notion.removeprefix(_ORDER), "the order")


def notion_at(parameter: str, order: float | None) -> str:
    """Return the notion of a certificate by its parameter, and by its order where it has one."""
    return parameter if order is None or not isfinite(order) else f"{_ORDER}{Fraction(repr(float(order)))}"


def unlike(one: Mapping[str, Any], shown: Checked, other: Mapping[str, Any], derived: Checked) -> str:
    """Say what a certificate of releases and the one that derives them say differently; empty if nothing.

    Args:
        one, other: the certificates, of version 1 and 2.
        shown, derived: what the checker says that they prove.
    """
    if other.get("kind") != "releases" or other.get("version") != DERIVED_VERSION:
        return "what a record adds is derived by a certificate of version 2 of releases"
    if any(one[name] != other[name] for name in ("mechanism", "scope", "notion", "delta")):
        return "what a record adds is derived for another program, scope or claim"
    if abs(Fraction(derived.bound) - Fraction(shown.bound)) > Fraction(shown.bound) * ROUNDED:
        return f"what a record adds shows {derived.statement}, and the releases show {shown.statement}"
    first, second = map(_laws_of_paths, (one, other))
    if first != second or len({*map(tuple, other["paths"])}) < len(other["paths"]):
        return "what a record adds is derived for other releases, or other paths"
    lines = [{each["line"] for each in given["releases"]} for given in (one, other)]
    return "" if lines[0] <= lines[1] else "what a record adds is derived for releases on other lines"


def _laws_of_paths(given: Mapping[str, Any]) -> set[tuple[str, ...]]:
    """Return the laws of noise on each path."""
    laws = [f"{each['law']} {each['scale']} {each['times']} {each['details']}" for each in given["releases"]]
    return {tuple(sorted({laws[place] for place in path})) for path in given["paths"]}
