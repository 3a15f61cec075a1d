"""How is a bound over a declared domain proved, checked, and held against its program? By all outputs, or by moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Comparison, Proof
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.digest import digest, kept_text
from dpaudit.privacy import PureDP
from dpaudit.program.enumerate import output_text, parse_exact
from dpaudit.program.symbolic.linear import now
from dpaudit.verify.certificate import as_text, notion_of, rounded
from dpaudit.verify.exact import (
    UNREAD,
    check_every,
    check_record,
    digest_of_laws,
    enumerated_privacy,
    laws_of,
    log_interval,
    read_name,
)
from dpaudit.verify.moves.derive import RUNS, Derived, NumberData, derive, exceeds_at
from dpaudit.verify.proofs.kind import (
    UNREADABLE,
    CheckedProof,
    Conclusion,
    Goal,
    NotShownError,
    ProofKind,
    certified,
    domain_of,
    refuse,
    unlike_target,
)

# --- How is the exact loss over a whole domain found, checked from its laws, and held against its program? ---

_RECORD = {"exp_epsilon", "pair", "output", "laws", "datasets", "pairs", "enumerated", "traces", "digest"}
_RECORD |= {"mechanism", "scope"}


def _prove(asked: Goal) -> Conclusion:
    from dpaudit.reading.alone import Alone

    mechanism, given, domain = asked.mechanism, asked.parameters, asked.domain
    named = asked.relation if asked.relation is not None else mechanism.relation_for(given)
    if named is None:
        raise UsageError("say which datasets of the domain are neighbours, such as relation='replace'")
    relation = named if isinstance(named, Relation) else parse_relation(named)
    now("following all ways through it")
    alone = Alone()
    loss = enumerated_privacy(alone.observed(mechanism.function), list(domain), relation, given)
    _, high = loss.epsilon
    first, second = loss.pair
    looks = tuple(alone.open)
    infinite = loss.exp_epsilon is None or bool(looks)
    return Conclusion(
        proof=Proof(
            method="enumeration",
            scope=_scope(len(loss.scope.datasets), str(relation)),
            length=None,
            paths=loss.scope.traces,
            certificate=None if looks else {**loss.record(), **_about(asked, relation)},
            domain=kept_text(list(domain)) if asked.keep else None,
            comparison=Comparison(0, 0, 0, loss.scope.traces, looks) if looks else None,
        ),
        kind="exact",
        relation=relation,
        upper=None if infinite else Fraction(high),
        upper_text=None if infinite else f"ln({loss.exp_epsilon})",
        pair=(domain[first], domain[second]),
        loss=None if looks else loss,
    )


def _about(asked: Goal, relation: Relation) -> dict[str, Any]:
    """Say which program the laws are those of."""
    digest = asked.mechanism.digest
    parameters = {name: as_text(value) for name, value in asked.parameters.items()}
    return {
        "mechanism": {"name": asked.mechanism.name, "source": f"sha256:{digest}" if digest else ""},
        "scope": {"relation": str(relation), "parameters": parameters},
    }


def _scope(datasets: Any, relation: str) -> str:
    return f"the {datasets} datasets of the domain that was given, under {relation}"


def _check(evidence: Evidence, proof: Proof) -> CheckedProof:
    record, upper, exact = proof.certificate or {}, evidence.upper, evidence.exact
    open_ends = () if proof.comparison is None else proof.comparison.open_ends
    if not record:
        if not open_ends or exact is not None:
            raise NotShownError("there is no record of the laws")
        return CheckedProof(("nothing is stated of what was not read whole",))
    if not _RECORD <= record.keys() <= _RECORD | {"every"}:
        raise NotShownError("its record has other members than that of an enumeration")
    _refuse_unlike(evidence, record)
    if (
        record["traces"] != proof.paths
        or record["enumerated"] is not True
        or proof.prices
        or (record["datasets"] == 2 and record["pairs"] != 1)
    ):
        raise NotShownError("its record is of another reading")
    try:
        check_record(record)
        ratio = str(record["exp_epsilon"])
        low, high = (0.0, 0.0) if ratio == "inf" else log_interval(parse_exact(ratio))
    except (UsageError, ValueError, ArithmeticError) as error:
        raise NotShownError(str(error)) from None
    text = "infinite" if ratio == "inf" else f"ln({ratio})"
    wanted = rounded(Fraction(low), "lower"), rounded(Fraction(high), "upper")
    if ratio == "inf":
        wanted = math.inf, math.inf
    stated = [(bound, value) for bound, value in zip((exact, upper), wanted, strict=True) if bound is not None]
    if any((bound.exact, bound.value) != (text, value) for bound, value in stated):
        raise NotShownError(f"the laws of the worst pair give {text}, and another number is stated")
    if (upper is None) != (ratio == "inf" or bool(open_ends)):
        raise NotShownError(f"the laws of the worst pair give {text}, which is {'not ' if upper is None else ''}stated")
    scope = _scope(record["datasets"], evidence.relation)
    if (proof.scope, proof.length) != (scope, None):
        raise NotShownError(f"the record is of {scope}, and {proof.scope:.200} is stated")
    _refuse_data(evidence, proof, record)
    said = "the laws of the worst pair have the stated ratio"
    if upper is None:
        return CheckedProof((said,))
    try:
        complete = check_every(record, evidence.relation, domain_of(proof))
    except (UsageError, *UNREADABLE) as error:
        raise NotShownError(str(error)) from None
    if not complete:
        return CheckedProof(
            (said,), "that no other pair of the domain is worse is not in the file: a second reading shows it"
        )
    all_of_them = f"the laws on all {record['datasets']} datasets are there, and no other pair of them is worse"
    return CheckedProof((said, all_of_them))


def _refuse_unlike(evidence: Evidence, record: dict[str, Any]) -> None:
    """Refuse laws of another program, or under another relation."""
    scope = record["scope"]
    if scope.keys() != {"relation", "parameters"} or record["mechanism"].keys() != {"name", "source"}:
        raise NotShownError("its record has other members than that of an enumeration")
    if scope["relation"] != evidence.relation:
        raise NotShownError(f"the record is under {scope['relation']!r:.80}, and {evidence.relation} is stated")
    refuse(unlike_target(evidence, record["mechanism"], scope["parameters"]))


def _refuse_data(evidence: Evidence, proof: Proof, record: dict[str, Any]) -> None:
    """Refuse a record whose worst pair is not the pair of the evidence, or whose datasets are not the kept ones."""
    for name, own in zip(record["pair"], (evidence.pairs[0].digest0, evidence.pairs[0].digest1), strict=True):
        data = read_name(name)
        if data is not UNREAD and digest(data) != own:
            raise NotShownError(f"the worst pair holds {name:.80}, and the pair of the evidence does not")
    kept = domain_of(proof)
    if kept is None:
        return
    owns = list(map(digest, kept))
    named = [read_name(name) for name, _ in record.get("every", ())]
    digests = [digest(data) if data is not UNREAD else own for data, own in zip(named, owns, strict=False)]
    pair = {evidence.pairs[0].digest0, evidence.pairs[0].digest1}
    if len(owns) != record["datasets"] or (named and digests != owns) or not pair <= set(owns):
        raise NotShownError("the domain that is kept is not that of the record")
    if not set(record["pair"]) <= {text for each in kept for text in (output_text(each), repr(each))}:
        raise NotShownError("the worst pair is called otherwise than the datasets that are kept")


def _read_again(evidence: Evidence, proof: Proof, asked: Goal) -> bool | None:
    record = proof.certificate
    if not record:
        return None
    names = [name for name, _ in record["every"]] if "every" in record else record["pair"]
    datasets = domain_of(proof) or list(map(read_name, names))
    if any(each is UNREAD for each in datasets) or len(datasets) != record["datasets"]:
        return None
    laws = laws_of(asked.mechanism.function, datasets, asked.parameters)
    orders = [laws, laws[::-1]] if len(laws) == 2 else [laws]
    return record["digest"] in map(digest_of_laws, orders)


ENUMERATION = ProofKind("enumeration", "enumeration", "laws", _prove, _check, _read_again, domain_of)

# --- How is a bound for lists of n numbers derived from how far one moves what is released? --------------


def _prove_moves(asked: Goal) -> Conclusion:
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
    numbers = NumberData.of(asked.domain, asked.length)
    derived = derive(mechanism, given, numbers, notion=notion, delta=delta, seed=asked.seed)
    is_read, exceeds = derived.read.reading is not None, None
    limit = None if claim is None else limit_of(claim.value, toward=0.0)
    if numbers.length is not None and limit is not None and derived.bound is not None and derived.bound <= limit:
        exceeds = exceeds_at(mechanism, given, derived, limit, notion=notion, delta=delta, seed=asked.seed)
    return Conclusion(
        proof=Proof(
            method="moves",
            scope=_scope_of_moves(
                derived.read.container, numbers, {name: as_text(value) for name, value in given.items()}
            ),
            length=numbers.length,
            paths=int(is_read),
            certificate=derived.certificate,
            domain=kept_text(tuple(asked.domain)),
            comparison=Comparison(RUNS if is_read else 0, 0, 0, int(is_read), derived.open_ends),
            exceeds_at=exceeds,
        ),
        kind="proof",
        relation=relation,
        upper=derived.bound,
        upper_text=None if derived.bound is None else str(derived.bound),
        pair=derived.pair,
        notion=PureDP(0.0) if claim is None else claim,
    )


def _scope_of_moves(container: str, numbers: NumberData, parameters: Mapping[str, str]) -> str:
    listed = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    told = f"{container}s of {numbers}, under replace"
    return f"{told}{f', with {listed}' if listed else ''}; scales are taken to one part in 10⁹"


def _check_moves(evidence: Evidence, proof: Proof) -> CheckedProof:
    if parse_relation(evidence.relation) != Relation("replace"):
        raise NotShownError(f"it holds under replace, and {evidence.relation} is stated")
    numbers = NumberData.of(domain_of(proof), proof.length)
    if proof.exceeds_at is not None and (proof.length is None or proof.exceeds_at <= proof.length):
        raise NotShownError(f"{proof.exceeds_at} numbers are stated to exceed what is proved of {proof.length}")
    if proof.certificate is None:
        parameters = {name: as_text(value) for name, value in evidence.target.parameters.items()}
        if (
            proof.scope not in {_scope_of_moves(each, numbers, parameters) for each in ("list", "array")}
            or proof.prices
        ):
            raise NotShownError(f"{proof.scope:.200} is stated, and another scope was asked")
        return CheckedProof(("no upper bound is stated",))
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
    stated = NumberData(length, Fraction(scope["low"]), Fraction(scope["high"]))
    if stated != numbers or proof.scope != _scope_of_moves(scope["container"], stated, scope["parameters"]):
        raise NotShownError(f"it holds for {_scope_of_moves(scope['container'], stated, scope['parameters'])}")
    said = [f"the certificate of {len(proof.certificate['releases'])} releases shows {checked.statement}"]
    return CheckedProof(tuple(said))


def _read_moves_again(evidence: Evidence, proof: Proof, asked: Goal) -> bool | None:
    if proof.certificate is None or proof.domain is None:
        return None
    again = _derived_again(proof, asked)
    if again.certificate is None:
        return False
    return _program(again.certificate) == _program(proof.certificate)


def _derived_again(proof: Proof, asked: Goal) -> Derived:
    assert proof.certificate is not None
    return derive(
        asked.mechanism,
        asked.parameters,
        NumberData.of(domain_of(proof), proof.length),
        notion=proof.certificate["notion"],
        delta=Fraction(proof.certificate["delta"]),
    )


def _program(certificate: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what of a certificate is the program."""
    return certificate["nodes"], [{**each, "line": None} for each in certificate["releases"]]


MOVES = ProofKind(
    "moves", "certificate", "releases", _prove_moves, _check_moves, _read_moves_again, domain_of, only_epsilon=False
)
