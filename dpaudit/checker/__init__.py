"""Does a certificate prove what it claims? An independent check of proofs, in exact fractions.

The checker imports nothing but itself and the standard library, so trusting a proof means trusting this package and
the theorem in ``docs/certificate.md``, which also specifies the format.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpaudit.checker.accounting import check_account
from dpaudit.checker.derived import BODY, CheckedDerivation
from dpaudit.checker.fold import check_fold, check_selection
from dpaudit.checker.moves import BODY as MOVES
from dpaudit.checker.moves import GIVEN, MOST, check_moves, read_scope
from dpaudit.checker.prices import ACCOUNT
from dpaudit.checker.reading import (
    FORMAT,
    VERSION,
    CertificateError,
    ForgedError,
    Steps,
    fields,
    items,
    rational,
    read_json,
    shown,
    text,
    whole,
)
from dpaudit.checker.records import RELATIONS, check_releases
from dpaudit.checker.shifts import MOST_GROUP, MOST_LENGTH, MOVEMENTS, Movement, check_tree, check_values

__all__ = [
    "DERIVED_VERSION",
    "FORMAT",
    "VERSION",
    "CertificateError",
    "Checked",
    "ForgedError",
    "bounds",
    "check_certificate",
    "check_text",
    "derived",
    "moves",
    "prices",
    "reading",
    "records",
    "tree",
]

DERIVED_VERSION = 2
"""Of releases that are derived from the records."""
_HEAD = {"format", "version", "kind", "mechanism", "scope", "bound"}
_BODY = {
    "tree": {"nodes", "classes"},
    "fold": {"init", "states", "cases"},
    "selection": {"init", "states", "cases", "winner", "place"},
    "releases": {"notion", "delta", "columns", "samples", "releases", "paths"},
    "moves": MOVES,
}
_SCOPE = {"data", "length", "values", "movement", "group", "parameters"}
_SCOPE_OF_RECORDS = {"data", "relation", "group", "person", "parameters"}
_SYMBOLS = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}
_ROUNDED = Fraction(1, 10**9)  # by how much a bound that is no fraction may be rounded up, relatively
_MOST_PARAMETERS = 1_000
_MOST_GIVEN = 100  # lines of which it is given how far their values move
_MOST_STEPS_OF_MOVES = 200_000_000


@dataclass(frozen=True, slots=True)
class Checked:
    """What an accepted certificate proves."""

    # ε in nats; no event is more than e^bound times as likely on one side as on the other. For releases, the number of
    # ``notion``.
    bound: Fraction | float
    kind: str  # "tree" (one length), "fold" or "selection" (any length) or "releases" (records of any number)
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


def check_text(content: str | bytes) -> Checked:
    """Check a certificate in JSON; see `check_certificate`."""
    return check_certificate(read_json(content))


def check_certificate(certificate: object) -> Checked:
    """Check a certificate, a JSON object as `json.loads` returns it, and return what it proves.

    Raises:
        ForgedError: if it can be read but does not prove its bound.
        CertificateError: if it is not in this format, or too large.
    """
    if type(certificate) is not dict:
        raise CertificateError(f"a certificate is a JSON object, not {shown(certificate)}")
    if certificate.get("format") != FORMAT:
        raise CertificateError(f"the format must be {FORMAT!r}")
    kind, version = certificate.get("kind"), certificate.get("version")
    versions = (VERSION, DERIVED_VERSION) if kind == "releases" and type(kind) is str else (VERSION,)
    if type(version) is not int or version not in versions:
        raise CertificateError(f"this checker reads version {' and '.join(map(str, versions))}, not {shown(version)}")
    if kind == "account" and type(kind) is str:
        return _account(certificate)
    if type(kind) is not str or kind not in _BODY:
        raise CertificateError(
            f"the kind must be 'tree', 'fold', 'selection', 'releases', 'moves' or 'account', not {shown(kind)}"
        )
    told = {"releases": {"account", "given"}, "tree": {"values"}}.get(kind, set()) & certificate.keys()
    body = BODY if version == DERIVED_VERSION else _BODY[kind]
    told -= {"given"} if version == DERIVED_VERSION else set()  # which has numbers of that kind
    given = fields(certificate, _HEAD | body | told, "the certificate")
    mechanism = fields(given["mechanism"], {"name", "source"}, "mechanism")
    mechanism = {name: text(mechanism[name], f"mechanism: {name}") for name in ("name", "source")}
    bound = rational(given["bound"], "bound")
    if kind == "releases":
        return _check_releases(given, mechanism, bound)
    if kind == "moves":
        return _check_moves(given, mechanism, bound)
    scope = _scope(given["scope"], kind)
    movement = Movement(scope["movement"], scope["group"], scope["values"] == "integer")
    steps = Steps()
    if kind == "tree":
        count, moved, derived = scope["length"], movement, []
        if "values" in given:
            count, moved = check_values(given["values"], count, movement, steps)
            derived = [
                f"The tree reads {count:,} values of the queries, each computed on branches of its own; for every pair "
                "of branches neighbours move them no farther than the proof takes them to."
            ]
        shown_bound, sentences = check_tree(given, count, moved, steps)
        sentences = [*derived, *sentences]
    elif kind == "fold":
        shown_bound, sentences = check_fold(given, movement, steps)
    else:
        shown_bound, sentences = check_selection(given, movement, steps)
    if shown_bound != bound:
        raise ForgedError(f"the shifts show the bound {shown_bound}, not {bound}")
    return Checked(bound, kind, mechanism, scope, (*_about_answers(bound, mechanism, scope), *sentences, _UNTOLD))


def _account(certificate: dict[str, Any]) -> Checked:
    account = check_account(fields(certificate, ACCOUNT, "the certificate"))
    scope = {
        "parameter": account.parameter,
        "at": str(account.at),
        "low": str(account.low),
        "high": str(account.high),
        "relations": list(account.relations),
        "events": list(account.events),
    }
    return Checked(
        account.high, "account", {"name": " + ".join(account.events), "source": ""}, scope, account.sentences
    )


def _check_releases(given: dict[str, Any], mechanism: dict[str, str], bound: Fraction) -> Checked:
    scope = fields(given["scope"], _SCOPE_OF_RECORDS, "scope")
    if scope["data"] != "records" or type(scope["data"]) is not str:
        raise CertificateError("scope: the data must be 'records'")
    if type(scope["relation"]) is not str or scope["relation"] not in RELATIONS:
        raise CertificateError(f"scope: the relation is one of {', '.join(RELATIONS)}")
    group = whole(scope["group"], "scope: the group", 1, MOST_GROUP)
    person = None if scope["person"] is None else text(scope["person"], "scope: the person")
    scope = {**scope, "parameters": _parameters(scope["parameters"])}
    granted: tuple[str, ...] = ()
    if given["version"] == DERIVED_VERSION:
        derivation = CheckedDerivation(given)
        shown_bound, granted, untold = derivation.bound(given, group), tuple(derivation.given), _UNTOLD_OF_DERIVED
        sentences, scope = derivation.sentences(), {**scope, "columns": derivation.domain()}
    else:
        shown_bound, sentences = check_releases(given, scope["relation"], group, Steps())
        granted, untold = _granted(given), _UNTOLD_OF_RELEASES
    if not shown_bound <= bound <= shown_bound * (1 + _ROUNDED):
        raise ForgedError(f"the releases show the bound {shown_bound}, not {bound}")
    notion, delta = given["notion"], rational(given["delta"], "delta")
    checked = Checked(bound, "releases", mechanism, scope, (), notion, delta, granted)
    parameters = ", ".join(f"{name}={value}" for name, value in scope["parameters"].items()) or "none"
    unit = "one record" if person is None else f"all records of one person, named by {person!r},"
    times = "" if group == 1 else f", {group} times"
    how = (
        "comes or goes"
        if scope["relation"] == "add-remove"
        else "is replaced by another"
        if person is None
        else ("are replaced by others")
    )
    told = (
        f"{checked.statement} for {mechanism['name']} (source {mechanism['source']}; parameters: {parameters}).",
        f"It holds for any number of records, where {unit} {how}{times}.",
    )
    return replace(checked, sentences=(*told, *sentences, untold))


def _granted(given: dict[str, Any]) -> tuple[str, ...]:
    """Return what is taken for granted of lines of the program that are not read."""
    granted: dict[str, str] = {}
    for number, each in enumerate(items(given["given"], "given", _MOST_GIVEN, 1) if "given" in given else ()):
        each = fields(each, {"line", "by"}, f"given {number}")
        by, line = rational(each["by"], f"given {number}: by"), text(each["line"], f"given {number}: line")
        if by < 0 or line in granted:
            raise CertificateError(f"given {number}: a line moves once, by a number that is not negative")
        granted[line] = f"{line} moves by at most {by} and does nothing else"
    return tuple(granted.values())


def _check_moves(given: dict[str, Any], mechanism: dict[str, str], bound: Fraction) -> Checked:
    scope, within = read_scope(given["scope"])
    scope = {**scope, "parameters": _parameters(scope["parameters"])}
    shown_bound, sentences = check_moves(given, scope["length"], within, Steps(_MOST_STEPS_OF_MOVES))
    if not shown_bound <= bound <= shown_bound * (1 + 4 * _ROUNDED):
        raise ForgedError(f"the releases show the bound {shown_bound}, not {bound}")
    delta = rational(given["delta"], "delta")
    checked = Checked(bound, "moves", mechanism, scope, (), given["notion"], delta, (GIVEN,))
    parameters = ", ".join(f"{name}={value}" for name, value in scope["parameters"].items()) or "none"
    told = (
        f"{checked.statement} for {mechanism['name']} (source {mechanism['source']}; parameters: {parameters}).",
        f"It holds for {scope['container']}s of {_count_of(scope['length'])} from {scope['low']} to {scope['high']}, "
        "of which one is replaced by another.",
    )
    return replace(checked, sentences=(*told, *sentences, _UNTOLD_OF_MOVES))


def _count_of(length: int | str) -> str:
    return f"any number of numbers, up to {MOST:,}," if length == "any" else f"{length} numbers"


_UNTOLD_OF_MOVES = (
    "That the program computes these expressions and makes these releases and no others is not checked here: it rests "
    "on the reading of the program."
)
_UNTOLD_OF_DERIVED = (
    "That the program computes these expressions, rows and numbers and makes these releases and no others is not "
    "checked here: it rests on the reading of the program."
)
_UNTOLD_OF_RELEASES = (
    "That the program makes these releases and no others, and that a record moves them no farther, is not checked "
    "here: it rests on the reading of the program."
)
_UNTOLD = "That the tree is the program is not checked here: only a run of the program can show it."


def _scope(value: object, kind: str) -> dict[str, Any]:
    scope = fields(value, _SCOPE, "scope")
    if scope["data"] != "queries" or type(scope["data"]) is not str:
        raise CertificateError("scope: the data must be 'queries'")
    if kind == "tree":
        whole(scope["length"], "scope: the length", 1, MOST_LENGTH)
    elif scope["length"] != "any":
        raise CertificateError(f"scope: the length of a {kind} is 'any'")
    for name, known in (("values", ("real", "integer")), ("movement", MOVEMENTS)):
        if type(scope[name]) is not str or scope[name] not in known:
            raise CertificateError(f"scope: {name} is one of {', '.join(known)}, not {shown(scope[name])}")
    whole(scope["group"], "scope: the group", 1, MOST_GROUP)
    return {**scope, "parameters": _parameters(scope["parameters"])}


def _parameters(parameters: object) -> dict[str, str]:
    if type(parameters) is not dict or len(parameters) > _MOST_PARAMETERS:
        raise CertificateError(f"scope: parameters are a JSON object of at most {_MOST_PARAMETERS:,} texts")
    for name, given in parameters.items():
        text(name, "scope: the name of a parameter")
        text(given, "scope: a parameter")
    return dict(parameters)


def _about_answers(bound: Fraction, mechanism: dict[str, str], scope: dict[str, Any]) -> list[str]:
    length = "any number of" if scope["length"] == "any" else scope["length"]
    parameters = ", ".join(f"{name}={value}" for name, value in scope["parameters"].items()) or "none"
    moved = {
        "all": "each query moves by at most {k}",
        "one": "one query moves by at most 1, {k} times",
        "monotone": "all queries move in one direction by at most 1, {k} times",
        "norm=1": "the queries move by at most {k} in sum",
    }[scope["movement"]]
    return [
        f"ε ≤ {bound} for {mechanism['name']} (source {mechanism['source']}; parameters: {parameters}).",
        f"It holds for {length} queries, {scope['values']} numbers, where {moved.format(k=scope['group'])}.",
    ]
