"""How is a proof written down, so that anyone can check it? See ``docs/certificate.md`` for the format.

Nothing is proved here: the proof that was found is written as JSON with exact fractions. `dpaudit.checker` trusts none
of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import Any, Literal

from dpaudit.checker.certificate import notion_at
from dpaudit.decimals import short_decimal
from dpaudit.evidence.canonical_json import plain_value
from dpaudit.neighbours.relation import Relation
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.program.symbolic.linear import Affine, Constraint, Farkas, Rational, contradiction
from dpaudit.program.symbolic.tree import ArgmaxNode, CompareNode, DeadNode, DrawNode, Node, ProgramTree
from dpaudit.verify.alignment import AlignedClass, Alignment, Branches, Shift, branch_conditions
from dpaudit.verify.values import AnswerTree, AnswerValue

FORMAT = "dpaudit-certificate"
VERSION = 1


def tree_certificate(
    tree: ProgramTree,
    alignment: Alignment,
    values: AnswerTree | None = None,
    *,
    name: str,
    source: str,
    length: int,
    answers: str,
    relation: Relation,
    parameters: Mapping[str, str],
) -> dict[str, Any]:
    """Return the certificate of a finite bound, as plain data for JSON."""
    if values is not None:
        tree, alignment = values.tree, values.alignment
    assert alignment.bound is not None, "there is no certificate without a bound"
    merged = [each for each in alignment.classes if each.merged is not None]
    said: dict[int, dict[str, Any]] = {}
    for each in alignment.classes:
        for leaf in each.leaves:
            own = _aligned(each) if each.merged is None else {"class": merged.index(each)}
            said[leaf.node] = own
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "tree",
        "mechanism": {"name": name, "source": source},
        "scope": {
            "data": "queries",
            "length": length,
            "values": answers,
            "movement": relation.movement,
            "group": relation.group,
            "parameters": dict(parameters),
        },
        "bound": rational(alignment.bound),
        "nodes": nodes_as_data(tree, said),
        "classes": [_class(each) for each in merged],
        **({} if values is None else {"values": values_as_data(values)}),
    }


def values_as_data(values: AnswerTree) -> list[dict[str, Any]]:
    """Return the values that a tree reads, each with its branches and the reasons why it moves by no more than 1."""
    return [_value_data(each) for each in values.found]


def _value_data(value: AnswerValue) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []

    def add(tree: Branches, above: tuple[Constraint, ...]) -> int:
        number = len(nodes)
        nodes.append({})
        if tree.asked is None:
            if tree.leaf is None:
                reason = contradiction(above)
                assert reason is not None, "nothing shows that a way is dead"
                nodes[number] = {"dead": farkas(reason)}
            else:
                nodes[number] = {"leaf": ["float", linear(tree.leaf)]}
            return number
        then = {way: add(each, (*above, *branch_conditions(tree.asked, way))) for way, each in tree.ways}
        if isinstance(tree.asked, CompareNode):
            nodes[number] = {"compare": linear(tree.asked.expression), **then}
        else:
            nodes[number] = {"argmax": list(map(linear, tree.asked.expressions)), "then": list(then.values())}
        return number

    add(value.tree, ())
    if not value.slopes:
        return {"nodes": nodes, "pairs": list(map(farkas, value.pairs))}
    slopes = [
        {
            "query": each.query,
            "slope": rational(each.slope),
            "up": list(map(farkas, each.up)),
            "down": list(map(farkas, each.down)),
        }
        for each in value.slopes
    ]
    return {"nodes": nodes, "slopes": slopes}


def nodes_as_data(tree: ProgramTree, said: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a tree's nodes; ``said`` holds what a leaf states besides its output, by the number of its node."""
    return [_node(node, said.get(number, {})) for number, node in enumerate(tree.nodes)]


def _node(node: Node, said: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(node, DrawNode):
        return {"draw": node.draw.method, "scale": rational(node.draw.scale), "then": node.then}
    if isinstance(node, CompareNode):
        return {"compare": linear(node.expression), **{str(way): then for way, then in node.ways.items()}}
    if isinstance(node, ArgmaxNode):
        return {"argmax": list(map(linear, node.expressions)), "then": node.then}
    if isinstance(node, DeadNode):
        return {"dead": farkas(node.reason)}
    return {"leaf": output(node.leaf.output), **said}


def shifts_as_data(shifts: Iterable[Shift]) -> list[dict[str, Any]]:
    """Return the shifts of a class as plain data."""
    return [
        {"difference": list(map(rational, each.difference)), "shift": list(map(rational, each.shift))}
        for each in shifts
    ]


def _class(each: AlignedClass) -> dict[str, Any]:
    assert each.merged is not None
    return {
        "hull": list(map(condition, each.merged.hull)),
        "inside": [{"leaf": leaf.node, "reasons": list(map(farkas, reasons))} for leaf, reasons in each.merged.inside],
        "apart": [{"leaf": leaf.node, "reason": farkas(reason)} for leaf, reason in each.merged.apart],
        **_aligned(each),
    }


def _aligned(each: AlignedClass) -> dict[str, Any]:
    """Return the shifts of a class, or those of its parts."""
    if not each.parts:
        return {"shifts": shifts_as_data(each.shifts)}
    return {
        "parts": [
            {
                "queries": list(aligned.part.queries),
                "draws": list(aligned.part.draws),
                "shifts": shifts_as_data(aligned.shifts),
            }
            for aligned in each.parts
        ]
    }


def rational(number: Rational) -> str:
    """Return the text of a fraction in lowest terms."""
    return str(Fraction(number))


def linear(expression: Affine) -> dict[str, str]:
    """Return the coefficients of a linear expression that are not 0; the constant's key is "1"."""
    coefficients = {name: rational(number) for name, number in expression.terms.items()}
    return {**coefficients, "1": rational(expression.constant)} if expression.constant else coefficients


def condition(given: Constraint) -> list[Any]:
    """Return a condition as its expression and its sign."""
    return [linear(given.expression), given.sign]


def farkas(vector: Farkas) -> list[list[Any]]:
    """Return a Farkas vector as pairs of a condition's number and its multiplier."""
    return [[number, rational(multiplier)] for number, multiplier in vector]


def output(given: Any) -> Any:
    """Return an output as plain data: tuples become lists, and expressions become objects."""
    if isinstance(given, Affine):
        return linear(given)
    return list(map(output, given)) if isinstance(given, tuple) else given


# --- What does a proof hold for, and how are its numbers written? The same where it is made and checked. ---

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
class BoundScope:
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
    unread: Sequence[str] = (),
) -> str:
    """Say what a bound for records holds for.

    Args:
        relation: which data are neighbours.
        parameters: of the function, as texts.
        whole: columns whose range is read as whole numbers.
        given: what is taken for granted of lines that are not read.
        computed: what is taken for granted of libraries.
        unread: columns that frames have beside the declared ones, and of which nothing is read.
    """
    listed = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    told = "data frames of any length over the declared domain"
    if whole:
        told += f" with whole numbers in {', '.join(map(repr, whole))}"
    if unread:
        told += f" and whatever stands in {', '.join(map(repr, unread))}, of which nothing is read"
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
