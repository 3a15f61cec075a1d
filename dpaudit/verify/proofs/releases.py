"""How is a bound for records derived from what a program releases, checked, and held against its program?

A certificate of version 1 lists releases, with how far each kind of record moves what they are made of. The one of
version 2 beside it lists what the program computes of its records, and the checker derives what a record moves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpaudit.checker import VERSION, Checked, check_certificate
from dpaudit.checker.certificate import unlike
from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Comparison, Proof, computed_of
from dpaudit.neighbours import Relation, digest, parse_relation
from dpaudit.neighbours.domain import GivenMove, Range, allowed_of, by_columns, parse_all
from dpaudit.privacy import PureDP
from dpaudit.verify.certificate import as_text, notion_of, scope_of_records
from dpaudit.verify.proofs.kind import CheckedProof, Conclusion, Goal, NotShownError, ProofKind, certified, domain_of
from dpaudit.verify.releases.derive import in_order_of
from dpaudit.verify.releases.written import prices_alone

_COPY = re.compile(r"( of rows [0-9]+| of a row of rows [0-9]+ that goes)+\Z")
"""Of a column: that of some rows of each person, or of one that another takes the place of."""
_GOES = re.compile(r"a row of rows [0-9]+ goes")
"""Whether one does: either way, whatever the domain is."""
_MOST_LISTED = 10_000  # whole numbers of a range
_COMPUTED = "="  # how a column begins that the program computed
MOST_STATED = 1_000
"""Listed values of a column up to which a certificate names it although nothing hangs on it."""


def _prove(asked: Goal) -> Conclusion:
    from dpaudit.verify.releases.derive import SECONDS, derive

    if asked.length is not None:
        raise UsageError("a proof from records holds for any number of them; leave out the length")
    mechanism, given, domain = asked.mechanism, asked.parameters, asked.domain
    claim = asked.claim if asked.claim is not None else mechanism.claim_for(given)
    if asked.data is not None and by_columns(domain):
        domain = in_order_of(asked.data, domain)
    derived = derive(
        mechanism,
        given,
        domain=domain,
        relation=asked.relation,
        claim=claim,
        data=asked.data,
        seconds=asked.seconds or SECONDS,
        given=asked.given,
    )
    read = 0 if derived.releases is None else derived.releases.read
    texts = {name: as_text(value) for name, value in given.items()}
    return Conclusion(
        proof=Proof(
            method="releases",
            scope=scope_of_records(
                *(derived.relation, texts, derived.whole, derived.given, computed_of(derived.derived)),
                _unread(derived.columns, domain),
            ),
            length=None,
            paths=read,
            certificate=derived.certificate,
            domain=digest.kept_text(dict(domain)),
            comparison=Comparison(derived.runs, derived.passed_over, 0, read, derived.open_ends),
            prices=() if derived.certificate is None else prices_alone(derived.certificate),
            whole=derived.whole,
            given=derived.given,
            derived=derived.derived,
            columns=derived.columns,
        ),
        kind="proof",
        relation=derived.relation,
        upper=derived.bound,
        upper_text=None if derived.bound is None else str(derived.bound),
        pair=derived.pair,
        notion=PureDP(0.0) if claim is None else claim,
    )


# --- checked ------------------------------------------------------------------------------------------------


def _check(evidence: Evidence, proof: Proof) -> CheckedProof:
    certificate, relation = proof.certificate, parse_relation(evidence.relation)
    compared = proof.comparison
    if compared is not None and (compared.compared or compared.paths != proof.paths):
        raise NotShownError(f"{proof.paths} paths are said to be read, and runs compared with {compared.paths}")
    parameters = {name: as_text(value) for name, value in evidence.target.parameters.items()}
    domain = digest.read_kept(proof.domain or "null")
    unread = _unread(proof.columns, domain)
    if certificate is None:
        if (
            proof.length is not None
            or not proof.scope.startswith(scope_of_records(relation, {}, proof.whole, unread=unread))
            or not proof.scope.endswith(scope_of_records(relation, parameters, proof.whole, proof.given, unread=unread))
            or proof.prices
            or proof.derived is not None
        ):
            raise NotShownError(f"{proof.scope:.200} is stated, and {scope_of_records(relation, parameters)} was asked")
        return CheckedProof(("no upper bound is stated",))
    checked = certified(evidence, proof, ("releases",))
    if certificate["version"] != VERSION:
        raise NotShownError(f"the certificate is of version {certificate['version']}, which is another member")
    derived = _derived(checked, proof)
    if compared is not None and not compared.runs:
        raise NotShownError("a bound is stated, and no run was compared with what was read: prove it again")
    claim = evidence.claimed or PureDP(0.0)
    if (notion_of(claim), limit_of(claim.delta, toward=0.0)) != (checked.notion, checked.delta):
        raise NotShownError(f"the certificate is about {checked.statement}, and the claim is {claim}")
    scope = checked.scope
    proved = Relation(scope["relation"], group=scope["group"], person=scope["person"])
    if proved != relation:
        raise NotShownError(f"it holds under {proved}, and {evidence.relation} is stated")
    given = tuple(str(_move(**each)) for each in certificate.get("given", ()))
    if proof.given != given:
        raise NotShownError(f"the certificate takes for granted that {given or 'nothing'}, and {proof.given} is stated")
    text = scope_of_records(relation, scope["parameters"], proof.whole, given, proof.computed, unread)
    if (proof.scope, proof.length) != (text, None):
        raise NotShownError(f"it holds for {text}, and {proof.scope:.200} is stated")
    if proof.paths < len(certificate["paths"]):
        raise NotShownError(
            f"{proof.paths} paths are said to be read, and {len(certificate['paths'])} release something"
        )
    if proof.prices and proof.prices != prices_alone(certificate):
        raise NotShownError("its releases have other prices than are stated")
    _refuse_columns(certificate["columns"], domain, proof.whole)
    _refuse_missing(certificate["columns"], domain, proof.whole)
    _refuse_whole(proof.whole, certificate["columns"], domain)
    if derived is None:
        return CheckedProof((_said(checked),))
    _refuse_columns(derived.scope["columns"], domain, proof.whole)
    _refuse_missing(derived.scope["columns"], domain, proof.whole)
    return CheckedProof((_said(checked), f"What a record adds was computed again: {_said(derived)}"))


def _derived(checked: Checked, proof: Proof) -> Checked | None:
    """Check the certificate that begins with the columns, and that it is of the same program and bound."""
    if proof.derived is None or proof.certificate is None:
        return None
    checked_derivation = check_certificate(proof.derived)
    if why := unlike(proof.certificate, checked, proof.derived, checked_derivation):
        raise NotShownError(why)
    return checked_derivation


def _move(line: str, by: str) -> GivenMove:
    file, _, number = line.rpartition(":")
    return GivenMove(file, int(number), Fraction(by))


def _said(checked: Checked) -> str:
    return f"{checked.statement}: " + " ".join(checked.sentences)


def _refuse_columns(columns: list[dict[str, Any]], domain: Any, whole: tuple[str, ...]) -> None:
    """Refuse columns that hold something else than the declared domain says.

    What the program computes of columns is none of the domain's; its name says so, and that it holds rests on the
    reading, as the releases do.
    """
    if type(domain) is not dict:
        raise NotShownError("the certificate is about a declared domain, and none is stated")
    declared = {str(name): given for name, given in domain.items()}
    for column in columns:
        name = _COPY.sub("", column["name"])
        if name.startswith(_COMPUTED) or column.get("type") == "match":  # a row of a table is no column of the data
            continue
        if name not in declared and _GOES.fullmatch(name):
            declared[name] = [False, True]
        if name not in declared:
            raise NotShownError(f"the certificate is about a column {name!r:.80}, which the domain does not declare")
        wanted = _column(name, declared[name])
        if name in whole and column["values"] is not None:
            wanted = {**wanted, "low": None, "high": None, "values": _whole_numbers(allowed_of(declared[name]))}
        if {**{field: column[field] for field in wanted}, "name": name} != wanted:
            raise NotShownError(f"the certificate is about other values of {name!r:.80} than the domain declares")


def _refuse_missing(columns: list[dict[str, Any]], domain: Any, whole: tuple[str, ...]) -> None:
    """Refuse a certificate that does not name a declared column: it would hold of another domain as well.

    Columns of very many values are named where something hangs on them.
    """
    named = {_COPY.sub("", column["name"]) for column in columns}
    for name, given in domain.items():
        if str(name) not in named and not _is_long(allowed_of(given), str(name) in whole):
            raise NotShownError(f"the domain declares a column {str(name)!r:.80}, which the certificate does not name")


def _is_long(allowed: Any, whole: bool) -> bool:
    """Whether a column has more values than a certificate lists although nothing hangs on them."""
    if isinstance(allowed, Range):
        return whole and math.floor(_exact(allowed.high)) - math.ceil(_exact(allowed.low)) >= MOST_STATED
    return sum(value is not None for value in allowed.values) > MOST_STATED


def _refuse_whole(whole: tuple[str, ...], columns: list[dict[str, Any]], domain: Any) -> None:
    """Refuse whole numbers in what is no range, and a range that is listed where whole numbers are not said."""
    ranges = {str(name) for name, given in domain.items() if isinstance(allowed_of(given), Range)}
    if other := sorted(set(whole) - ranges):
        raise NotShownError(f"{other[0]!r:.80} is said to be a range of whole numbers, and is none")
    listed = {_COPY.sub("", column["name"]) for column in columns if column.get("values") is not None}
    if other := sorted((listed & ranges) - set(whole)):
        raise NotShownError(f"the certificate is about whole numbers in {other[0]!r:.80}, which is not said")


def _unread(columns: tuple[str, ...], domain: Any) -> tuple[str, ...]:
    """Return the columns of the data that the domain does not declare, of which a proof looks at nothing."""
    declared = set(map(str, domain)) if type(domain) is dict else set()
    if columns and not declared < set(columns):
        raise NotShownError(
            f"the columns of the data, {', '.join(columns):.200}, are not those of the domain and others"
        )
    return tuple(name for name in columns if name not in declared)


def typed_frame(proof: Proof) -> Any:
    """Return a frame without records in the types of the data that a proof was of; None where it needed none."""
    if not proof.whole and not proof.columns:
        return None
    import pandas

    from dpaudit.reading.universe.cells import declared

    types = {"text": str, "truth": bool, "int64": "int64", "float64": "float64", "time": "datetime64[ns]"}
    kinds = {name: declared(name, given).kind for name, given in domain_of(proof).items()}
    kinds |= dict.fromkeys(proof.whole, "int64")
    return pandas.DataFrame({n: pandas.Series([], dtype=types[kinds.get(n, "text")]) for n in proof.columns or kinds})


def _whole_numbers(allowed: Any) -> list[list[Any]]:
    """Return all whole numbers of a range, as a certificate has them."""
    low, high = math.ceil(_exact(allowed.low)), math.floor(_exact(allowed.high))
    if high - low >= _MOST_LISTED:
        raise NotShownError(f"{high - low + 1:,} whole numbers are too many to list")
    return [_point(value) for value in range(low, high + 1)]


def _column(name: str, given: Any) -> dict[str, Any]:
    """Return a column of a declared domain as a certificate has it."""
    allowed = allowed_of(given)
    if isinstance(allowed, Range):
        low, high = (str(_exact(end)) for end in (allowed.low, allowed.high))
        return {"name": name, "low": low, "high": high, "values": None, "missing": allowed.missing}
    present = [_point(value) for value in allowed.values if value is not None]
    missing = len(present) < len(allowed.values)
    return {"name": name, "low": None, "high": None, "values": present, "missing": missing}


def _point(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return ["truth", value]
    if hasattr(value, "isoformat"):
        return ["text", str(value.isoformat())]
    return ["text", value] if isinstance(value, str) else ["number", str(_exact(value))]


def _exact(value: float) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(Decimal(repr(value)))


# --- read again ---------------------------------------------------------------------------------------------


def _read_again(evidence: Evidence, proof: Proof, asked: Goal) -> bool | None:
    from dpaudit.verify.releases.derive import derive

    if proof.certificate is None or proof.domain is None:
        return None
    again = derive(
        asked.mechanism,
        asked.parameters,
        domain=domain_of(proof),
        relation=asked.relation,
        claim=evidence.claimed,
        data=typed_frame(proof),
        given=parse_all(proof.given),
    )
    if again.certificate is None or again.releases is None:
        return False
    if not _same_account(again.certificate.get("account"), proof.certificate.get("account")):
        return False
    if proof.derived is not None and _program(again.derived or {}) != _program(proof.derived):
        return False
    return (again.releases.read, _program(again.certificate)) == (proof.paths, _program(proof.certificate))


def _program(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a certificate is the program: what is released, of what, on which paths."""
    parts = ("columns", "expressions", "rows", "numbers", "samples", "paths", "given")
    program = {name: certificate[name] for name in parts if name in certificate}
    # of a table it counts what is in it, and a line moves where something is written above it
    program["expressions"] = [{**each, "by": None} for each in program.get("expressions", ())]
    return {**program, "releases": [{**each, "line": None} for each in certificate.get("releases", ())]}


def _same_account(again: Any, stated: Any) -> bool:
    """Whether two accounts are of the same events at the same δ, with one lower end where they end alike.

    Other versions may choose another grid, which the ends show; the bound is the upper end, which the evidence states.
    Where python-flint is not installed there is no account to compare.
    """
    if again is None or stated is None:
        return True
    alike = all(again[name] == stated[name] for name in ("events", "parameter", "at"))
    grid = all(again[name] == stated[name] for name in ("digits", "ends"))
    return alike and (not grid or again["low"] == stated["low"])


RELEASES = ProofKind("releases", "certificate", "releases", _prove, _check, _read_again, domain_of, only_epsilon=False)
