"""How is a bound for lists of n numbers derived from how far one moves what is released, checked, and read again?"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Comparison, Proof
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.digest import kept_text
from dpaudit.privacy import PureDP
from dpaudit.verify.certificate import as_text, notion_of
from dpaudit.verify.moves.derive import RUNS, Derived, Numbers, derive, exceeds_at
from dpaudit.verify.proofs.kind import Asked, Found, NotShownError, ProofKind, Shown, certified, domain_of


def _prove(asked: Asked) -> Found:
    mechanism, given = asked.mechanism, asked.parameters
    relation = parse_relation(asked.relation or mechanism.relation_for(given) or "replace")
    if relation != Relation("replace"):
        raise UsageError(
            f"a proof for lists of so many numbers holds under 'replace', not under {str(relation)!r}: the number of "
            "records is public (--relation replace)"
        )
    claim = asked.claim if asked.claim is not None else mechanism.claim_for(given)
    notion = "epsilon" if claim is None else notion_of(claim)
    if notion is None:
        raise UsageError(f"releases bound ε, (ε, δ), ρ, μ or ε at an order, not {claim}; claim one of these")
    delta = Fraction(0) if claim is None else limit_of(claim.delta, toward=0.0)
    numbers = Numbers.of(asked.domain, asked.length)
    found = derive(mechanism, given, numbers, notion=notion, delta=delta, seed=asked.seed)
    is_read, exceeds = found.read.reading is not None, None
    limit = None if claim is None else limit_of(claim.value, toward=0.0)
    if numbers.length is not None and limit is not None and found.bound is not None and found.bound <= limit:
        exceeds = exceeds_at(mechanism, given, found, limit, notion=notion, delta=delta, seed=asked.seed)
    return Found(
        proof=Proof(
            method="moves",
            scope=_scope(found.read.container, numbers, {name: as_text(value) for name, value in given.items()}),
            length=numbers.length,
            paths=int(is_read),
            certificate=found.certificate,
            domain=kept_text(tuple(asked.domain)),
            comparison=Comparison(RUNS if is_read else 0, 0, 0, int(is_read), found.open_ends),
            exceeds_at=exceeds,
        ),
        kind="proof",
        relation=relation,
        upper=found.bound,
        upper_text=None if found.bound is None else str(found.bound),
        pair=found.pair,
        notion=PureDP(0.0) if claim is None else claim,
    )


def _scope(container: str, numbers: Numbers, parameters: Mapping[str, str]) -> str:
    listed = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    told = f"{container}s of {numbers}, under replace"
    return f"{told}{f', with {listed}' if listed else ''}; scales are taken to one part in 10⁹"


def _check(evidence: Evidence, proof: Proof) -> Shown:
    if parse_relation(evidence.relation) != Relation("replace"):
        raise NotShownError(f"it holds under replace, and {evidence.relation} is stated")
    numbers = Numbers.of(domain_of(proof), proof.length)
    if proof.exceeds_at is not None and (proof.length is None or proof.exceeds_at <= proof.length):
        raise NotShownError(f"{proof.exceeds_at} numbers are stated to exceed what is proved of {proof.length}")
    if proof.certificate is None:
        parameters = {name: as_text(value) for name, value in evidence.target.parameters.items()}
        if proof.scope not in {_scope(each, numbers, parameters) for each in ("list", "array")} or proof.prices:
            raise NotShownError(f"{proof.scope:.200} is stated, and another scope was asked")
        return Shown(("no upper bound is stated",))
    checked = certified(evidence, proof, ("moves",))
    compared = proof.comparison
    if compared is None or not compared.runs:
        raise NotShownError("a bound is stated, and no run was compared with what was read: prove it again")
    if (compared.paths, compared.compared, proof.paths) != (1, 0, 1):
        raise NotShownError(f"{proof.paths} readings are stated, of which there is one")
    claim = evidence.claimed or PureDP(0.0)
    if (notion_of(claim), limit_of(claim.delta, toward=0.0)) != (checked.notion, checked.delta):
        raise NotShownError(f"the certificate is about {checked.statement}, and the claim is {claim}")
    scope = checked.scope
    length = None if scope["length"] == "any" else scope["length"]
    stated = Numbers(length, Fraction(scope["low"]), Fraction(scope["high"]))
    if stated != numbers or proof.scope != _scope(scope["container"], stated, scope["parameters"]):
        raise NotShownError(f"it holds for {_scope(scope['container'], stated, scope['parameters'])}")
    said = [f"the certificate of {len(proof.certificate['releases'])} releases shows {checked.statement}"]
    return Shown(tuple(said))


def _read_again(evidence: Evidence, proof: Proof, asked: Asked) -> bool | None:
    if proof.certificate is None or proof.domain is None:
        return None
    again = _again(proof, asked)
    if again.certificate is None:
        return False
    return _program(again.certificate) == _program(proof.certificate)


def _again(proof: Proof, asked: Asked) -> Derived:
    assert proof.certificate is not None
    return derive(
        asked.mechanism,
        asked.parameters,
        Numbers.of(domain_of(proof), proof.length),
        notion=proof.certificate["notion"],
        delta=Fraction(proof.certificate["delta"]),
    )


def _program(certificate: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what of a certificate is the program."""
    return certificate["nodes"], [{**each, "line": None} for each in certificate["releases"]]


MOVES = ProofKind("moves", "certificate", "releases", _prove, _check, _read_again, domain_of, only_epsilon=False)
