"""Do the bounds of an accounting follow from its certificates, and everything else from the bounds?

Certificates go through `dpaudit.checker`, which composes all masses again by another way. Verdicts, headline and reason
are concluded once more and compared. Where python-flint is installed the accounting is carried out again, for the
curve; and other accountants are asked again, where the same versions are installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dpaudit.accounting import ADDED, Certified, Events, certify, certify_added
from dpaudit.accounting.beyond import loses_no_more
from dpaudit.accounting.certificate import written
from dpaudit.accounts.account import (
    POINTS,
    SENSITIVITY,
    about,
    concluded,
    events_of,
    headline,
    name_of,
    statement,
)
from dpaudit.accounts.plan import parse_events
from dpaudit.accounts.recorded import others_say
from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_version
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, AccountingCurve
from dpaudit.privacy import parse_claim
from dpaudit.review.check.against import numbered
from dpaudit.review.check.finding import Finding, agrees, answered, failing, unchecked

_UNREADABLE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, UsageError)


def accounted(evidence: Evidence, *, again: bool = True) -> Iterator[Finding]:
    """Yield a finding for everything that an accounting states.

    Args:
        evidence: with an accounting.
        again: whether to carry it out again, and ask other accountants again.
    """
    accounting = evidence.accounting
    assert accounting is not None
    try:
        events = events_of(accounting.releases, evidence.relation)
        wrong = _listed(evidence, accounting, events)
    except _UNREADABLE as error:
        yield failing("releases", f"what was run cannot be read: {error}")
        return
    yield answered("releases", not wrong, wrong or f"{events.steps:,} steps, which every certificate is about")
    for number, each in enumerate(accounting.certificates):
        yield numbered(each, number)
    try:
        yield from _stated(accounting)
        yield from _concluded(evidence, accounting)
        if again:
            yield from _again(accounting, events)
            yield from _others(accounting, events)
    except _UNREADABLE as error:
        yield failing("accounting", f"what it says cannot be read: {error}")


def _listed(evidence: Evidence, accounting: Accounting, events: Events) -> str:
    """What is wrong with the releases, beside the certificates; empty where nothing is."""
    known = [written(event, count) for event, count in events.parts]
    used = {each.certificate for each in accounting.statements}
    if used != set(range(len(accounting.certificates))):
        return "there is a certificate that no statement rests on, or the other way round"
    if any(not _is_about(each, known) for each in accounting.certificates):
        return "a certificate is about other releases"
    sampled = any(
        ".poisson(" in each.event or ".fixed" in each.event or ".shuff" in each.event for each in accounting.releases
    )
    relations = events.relations if sampled else (*events.relations, SENSITIVITY)
    if evidence.relation not in relations:
        return f"these releases are not accounted for under the relation {evidence.relation!r:.40}"
    name = evidence.target.name
    if name != name_of(accounting.releases):
        try:
            parse_events(name)
        except UsageError:
            return ""
        return f"it is called {name:.80}, and is another list"
    return ""


def _is_about(certificate: dict[str, Any], own: list[dict[str, Any]]) -> bool:
    """Whether a certificate is about these events; or about more noise, from below, or about less, from above."""
    events = certificate.get("events")
    if events == own:
        return True
    open_above = certificate["high"] == "infinity" or (
        certificate["parameter"] == "delta" and certificate["high"] == "1"
    )
    return (open_above and loses_no_more(events, own)) or (
        certificate["low"] == "0" and isinstance(events, list) and loses_no_more(own, events)
    )


def _stated(accounting: Accounting) -> Iterator[Finding]:
    """Whether every statement is what its certificate says, and stands there once."""
    if len(set(accounting.statements)) < len(accounting.statements):
        yield failing("statement", "a statement stands there twice")
    for number, each in enumerate(accounting.statements):
        claim = None if each.claim is None else parse_claim(each.claim)
        certificate = accounting.certificates[each.certificate]
        own = statement(claim, certificate, each.certificate)
        holds = own == each and (claim is None or (own.parameter, Fraction(own.at)) == about(claim))
        which = f"statement {number}" if each.claim is None else f"the claim {each.claim}"
        said = f"{which} is {each.verdict} by its certificate" if holds else f"{which} does not follow"
        yield answered("statement", holds, said)


def _concluded(evidence: Evidence, accounting: Accounting) -> Iterator[Finding]:
    """Whether all that stands around the accounting follows from it."""
    own = concluded(
        accounting,
        name=evidence.target.name,
        unit=evidence.unit,
        relation=evidence.relation,
        versions=evidence.versions,
    )
    before, after = evidence.record(), own.record()
    other = [name for name in {**after, **before} if before.get(name) != after.get(name)]
    same = evidence.versions.get("dpaudit") == installed_version("dpaudit")
    if other == ["reason"] and not same:
        yield unchecked("reason", f"another dpaudit wrote its words; today they are: {own.reason}", decides=False)
        other = []
    said = f"{evidence.verdict} follows from the bounds" if not other else f"other values follow for {', '.join(other)}"
    yield answered("verdict", not other, said)


# --- carried out again ------------------------------------------------------------------------------------


def _again(accounting: Accounting, events: Events) -> Iterator[Finding]:
    """Whether the first accounting with a curve, carried out again, gives the same curve and the same note.

    Where largest losses or variances are added up, as for ε at δ = 0, there is no curve.
    """
    curves = [each for each in accounting.certificates if each["parameter"] not in ADDED]
    curves = [each for each in curves if each["digits"]] or curves
    curve = accounting.curve
    if not curves:
        notes = [certify_added(events, str(each["parameter"])).note for each in accounting.certificates]
        holds = curve is None and (len(notes) > 1 or accounting.note == notes[0])
        yield answered("curve", holds, "μ and ρ add up, without a curve")
        return
    first = curves[0]
    if curve is not None and not (len(curve.epsilons) == len(curve.lows) == len(curve.highs) <= 10 * POINTS):
        yield failing("curve", "the points of the curve do not belong together")
        return
    at = Fraction(str(first["at"]))
    delta, epsilon = (at, None) if first["parameter"] == "epsilon" else (None, at)
    try:
        own = certify(events, delta=delta, epsilon=epsilon, tolerance=accounting.tolerance, points=POINTS)
    except UsageError as error:
        yield unchecked("curve", f"it was not computed again: {error}", decides=False)
        return
    if _contradicts(own, curve):
        yield failing("curve", "the curve lies elsewhere")
    elif own.certificate != first:
        said = "this machine, or these versions, choose another grid; the curve of now does not contradict it"
        yield unchecked("curve", said, decides=False)
    else:
        noted = len(accounting.certificates) > 1 or accounting.note == own.note
        same = _is_curve(own, curve) and noted
        yield answered("curve", same, f"carried out again, the curve is {'the same' if same else 'another'}")


def _is_curve(own: Certified, curve: AccountingCurve | None) -> bool:
    if curve is None:
        return not own.curve
    stated = list(zip(curve.epsilons, curve.lows, curve.highs, strict=True))
    return stated == list(own.curve)


def _contradicts(own: Certified, curve: AccountingCurve | None) -> bool:
    """Whether two intervals of δ at one ε have nothing in common: one of them is wrong."""
    if curve is None:
        return False
    known = {epsilon: (low, high) for epsilon, low, high in own.curve}
    for epsilon, low, high in zip(curve.epsilons, curve.lows, curve.highs, strict=True):
        if not 0 <= low <= high <= 1 or not epsilon >= 0:
            return True
        if epsilon in known and (low > known[epsilon][1] or high < known[epsilon][0]):
            return True
    return False


def _others(accounting: Accounting, events: Events) -> Iterator[Finding]:
    """Whether other accountants say what is stated; only the same versions can tell."""
    if not accounting.others:
        return
    now = {(each.name, each.version): each for each in others_say(events, headline(accounting.statements))}
    for each in accounting.others:
        own = now.get((each.name, each.version))
        if own is None:
            yield unchecked("others", f"{each.name} {each.version} is not installed", decides=False)
            continue
        holds = own.side == each.side and agrees(own.value, each.value)
        yield answered("others", holds, f"{each.name} says {own.value:.10g}, and {each.value:.10g} is stated")
