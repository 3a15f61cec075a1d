"""How is the exact loss over a whole domain found, checked from its laws, and held against its program?"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Comparison, Proof
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.digest import digest, kept_text
from dpaudit.program.enumerate import output_text, parse_exact
from dpaudit.program.symbolic.linear import now
from dpaudit.verify.certificate import as_text, rounded
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
from dpaudit.verify.proofs.kind import (
    UNREADABLE,
    Asked,
    Found,
    NotShownError,
    ProofKind,
    Shown,
    domain_of,
    refuse,
    unlike_target,
)

_RECORD = {"exp_epsilon", "pair", "output", "laws", "datasets", "pairs", "enumerated", "traces", "digest"}
_RECORD |= {"mechanism", "scope"}


def _prove(asked: Asked) -> Found:
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
    return Found(
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


def _about(asked: Asked, relation: Relation) -> dict[str, Any]:
    """Say which program the laws are those of."""
    digest = asked.mechanism.digest
    parameters = {name: as_text(value) for name, value in asked.parameters.items()}
    return {
        "mechanism": {"name": asked.mechanism.name, "source": f"sha256:{digest}" if digest else ""},
        "scope": {"relation": str(relation), "parameters": parameters},
    }


def _scope(datasets: Any, relation: str) -> str:
    return f"the {datasets} datasets of the domain that was given, under {relation}"


def _check(evidence: Evidence, proof: Proof) -> Shown:
    record, upper, exact = proof.certificate or {}, evidence.upper, evidence.exact
    open_ends = () if proof.comparison is None else proof.comparison.open_ends
    if not record:
        if not open_ends or exact is not None:
            raise NotShownError("there is no record of the laws")
        return Shown(("nothing is stated of what was not read whole",))
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
        return Shown((said,))
    try:
        complete = check_every(record, evidence.relation, domain_of(proof))
    except (UsageError, *UNREADABLE) as error:
        raise NotShownError(str(error)) from None
    if not complete:
        return Shown((said,), "that no other pair of the domain is worse is not in the file: a second reading shows it")
    all_of_them = f"the laws on all {record['datasets']} datasets are there, and no other pair of them is worse"
    return Shown((said, all_of_them))


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
    found = [digest(data) if data is not UNREAD else own for data, own in zip(named, owns, strict=False)]
    pair = {evidence.pairs[0].digest0, evidence.pairs[0].digest1}
    if len(owns) != record["datasets"] or (named and found != owns) or not pair <= set(owns):
        raise NotShownError("the domain that is kept is not that of the record")
    if not set(record["pair"]) <= {text for each in kept for text in (output_text(each), repr(each))}:
        raise NotShownError("the worst pair is called otherwise than the datasets that are kept")


def _read_again(evidence: Evidence, proof: Proof, asked: Asked) -> bool | None:
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
