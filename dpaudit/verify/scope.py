"""What does a proof hold for, and how are its numbers written? The same where it is made and where it is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import Any, Literal

from dpaudit.checker.prices import notion_at
from dpaudit.decimals import short_decimal
from dpaudit.evidence.canonical_json import plain_value
from dpaudit.neighbours.relation import Relation
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP

VALUES = ("real", "integer")
WITNESS, WITNESS_VERSION = "dpaudit-witness", 1
"""The form in which a counterexample is recorded."""

NOTIONS: dict[type[Claim], str] = {PureDP: "epsilon", ApproxDP: "epsilon", ZeroConcentratedDP: "rho", GaussianDP: "mu"}
"""What a proof from records bounds, by the claim."""


def notion_of(claim: Claim) -> str | None:
    """Return what a proof from records bounds of a claim, as its certificate has it; None where it bounds nothing."""
    return notion_at("epsilon", claim.order) if isinstance(claim, RenyiDP) else NOTIONS.get(type(claim))


_DIGITS = 10  # of a rounded bound, as in `dpaudit.evidence.records.round_outward`


@dataclass(frozen=True, slots=True)
class Scope:
    """What a bound holds for."""

    length: int | Literal["any"]  # how many queries are asked, or "any" for any number of them
    values: str  # "real" or "integer" answers
    relation: Relation  # of kind "queries"
    parameters: Mapping[str, str]  # their exact values, as texts

    def __str__(self) -> str:
        many = "any number of" if self.length == "any" else str(self.length)
        values = "whole-number" if self.values == "integer" else "real"
        noun = "answer" if self.length == 1 else "answers"
        parameters = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"all data of {many} {values} {noun}, under {self.relation}" + (
            f", with {parameters}" if parameters else ""
        )


def scope_of_records(
    relation: Relation,
    parameters: Mapping[str, str],
    whole: Sequence[str] = (),
    given: Sequence[str] = (),
    computed: Sequence[str] = (),
) -> str:
    """Say what a bound for records holds for.

    Args:
        relation: which data are neighbours.
        parameters: of the function, as texts.
        whole: columns whose range is read as whole numbers.
        given: what is taken for granted of lines that are not read.
        computed: what is taken for granted of libraries.
    """
    listed = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    told = "data frames of any length over the declared domain"
    if whole:
        told += f" with whole numbers in {', '.join(map(repr, whole))}"
    told = f"{told}, under {relation}" + (f", with {listed}" if listed else "")
    told += "".join(f", given that {each} and does nothing else" for each in given)
    return told + (f", given that {' and '.join(computed)}" if computed else "")


def as_text(value: Any) -> str:
    """Write a parameter as evidence does; a float becomes the fraction of the decimal that Python writes."""
    value = plain_value(value)
    exact = short_decimal(value) if isinstance(value, float) else None
    return str(value if exact is None else exact)


def rounded(value: Fraction, side: Literal["lower", "upper"]) -> float:
    """Round a bound outward to 10 digits, as `round_outward` does, but directly from the exact fraction."""
    rounding = {"lower": ROUND_FLOOR, "upper": ROUND_CEILING}[side]
    return float(Context(prec=_DIGITS, rounding=rounding).divide(value.numerator, value.denominator))
