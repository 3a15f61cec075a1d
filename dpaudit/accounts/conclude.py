"""What follows from certified bounds? Verdicts, their reason, and the evidence around them.

Everything that the evidence says beside the releases, the certificates and the names that people gave follows from
these, so that a check concludes once more and compares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpaudit.accounting import Event, Events
from dpaudit.accounting.balls import outward
from dpaudit.accounting.decide import judged, number
from dpaudit.accounts.expression import is_plain, parse_events
from dpaudit.decimals import number_of
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Accounting, Bound, Release, Statement, Target, Verdict, round_outward
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, ZeroConcentratedDP, parse_claim
from dpaudit.privacy.claims import number_text

METHOD = "accounting"
ASKS = "events"
_LETTERS = {"epsilon": "ε", "delta": "δ", "mu": "μ", "rho": "ρ"}
SENSITIVITY = "sensitivity"
"""The relation of neighbours for which sensitivities and claims hold, whatever it is."""

_LONGEST = 120  # characters of a name
_WORST = (Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.PROVED, Verdict.NO_CLAIM)

REAL = "real arithmetic: noise is drawn exactly, and nothing is rounded"
NOT_CHECKED = "that what runs is what is listed: no program was looked at"
FIXED = "the list was fixed beforehand; what is asked of the data may hang on earlier answers"
POISSON = "{} records its steps without saying how records come in; its accountants assume Poisson sampling"


def about(claim: Claim) -> tuple[str, Fraction]:
    """Return what a claim is about: "epsilon" and its δ as it is written; or "mu" or "rho", and 0.

    Raises:
        UsageError: for a claim of another notion.
    """
    if isinstance(claim, GaussianDP | ZeroConcentratedDP):
        return ("mu" if isinstance(claim, GaussianDP) else "rho"), Fraction(0)
    if not isinstance(claim, PureDP | ApproxDP):
        raise UsageError(
            f"a list of releases is accounted for in ε and δ, μ or ρ, and the claim {claim} is {claim.notion}; claim "
            "for example 'epsilon=3, delta=1e-5'"
        )
    return "epsilon", number_of(claim.delta)


def at_of(claim: Claim) -> Fraction:
    """Return the δ of a claim about ε, as it is written.

    Raises:
        UsageError: for a claim that is not about ε.
    """
    parameter, at = about(claim)
    if parameter != "epsilon":
        raise UsageError(
            f"the claim {claim} is {claim.notion}, and here ε is accounted for at a δ; claim for example "
            "'epsilon=3, delta=1e-5'"
        )
    return at


def verdict_of(claim: Claim, low: Fraction | None, high: Fraction | None) -> Verdict:
    """Return the verdict on a claim: PROVED needs the bound from above, VIOLATED the one from below."""
    return Verdict[judged(claim, low, high)]


def statement(claim: Claim | None, certificate: dict[str, object], place: int) -> Statement:
    """Return what a certificate says of a claim, or of the number that was asked for.

    Args:
        claim: about ε at the certificate's δ, or about μ or ρ; None where a number was asked for.
        certificate: with its interval.
        place: of the certificate in the evidence.
    """
    low, high = number(str(certificate["low"])), number(str(certificate["high"]))
    return Statement(
        claim=None if claim is None else str(claim),
        parameter=str(certificate["parameter"]),
        at=str(certificate["at"]),
        low=outward(low, up=False),
        high=outward(high, up=True),
        verdict=Verdict.NO_CLAIM if claim is None else verdict_of(claim, low, high),
        certificate=place,
    )


def headline(statements: Sequence[Statement]) -> Statement:
    """Return the statement that the verdict rests on: the first of the gravest."""
    return min(statements, key=lambda each: _WORST.index(each.verdict))


def events_of(releases: Sequence[Release], relation: str) -> Events:
    """Return what was run, as it is between these neighbours.

    Raises:
        UsageError: where a release cannot be read, or says nothing under this relation.
    """
    events = Events(tuple(zip(events_in(releases), [each.steps for each in releases], strict=True)))
    return events.under(None if relation == SENSITIVITY else relation)


def events_in(releases: Sequence[Release]) -> list[Event]:
    """Return the event of each release.

    Raises:
        UsageError: where one cannot be read.
    """
    return [_event(each.event) for each in releases]


def _event(text: str) -> Event:
    event, count = parse_events(text).parts[0]
    if f"{event}" != text:  # earlier evidence writes what floats store as they are written
        if not is_plain(text):
            raise UsageError(f"a release is one event, as it is written, not {text!r:.80}")
        event, count = parse_events(text, stored=True).parts[0]
    if count != 1:
        raise UsageError(f"a release is one event, and how often it is run stands beside it, not {text!r:.80}")
    return event


def name_of(releases: Sequence[Release]) -> str:
    """Return what a list of releases is called where nobody gave it a name."""
    text = " + ".join(each.event if each.steps == 1 else f"{each.event}.times({each.steps})" for each in releases)
    return (
        text if len(text) <= _LONGEST else f"{len(releases)} releases, {sum(each.steps for each in releases):,} steps"
    )


def concluded(
    accounting: Accounting, *, name: str = "", unit: str, relation: str, versions: dict[str, str]
) -> Evidence:
    """Return the evidence of an accounting.

    Args:
        accounting: what was run, and what was certified of it.
        name: what people call it; empty for its releases.
        unit: what one record stands for.
        relation: which datasets are neighbours.
        versions: of what the numbers depend on.
    """
    decisive = headline(accounting.statements)
    return Evidence(
        target=Target(name or name_of(accounting.releases), None, {}, ASKS, METHOD),
        claim=decisive.claim,
        relation=relation,
        unit=unit,
        pairs=(),
        seed=0,
        confidence=1.0,
        learning=0,
        measuring=0,
        verdict=decisive.verdict,
        reason=_reason(accounting.statements, decisive),
        lower=_bound(decisive, "lower"),
        attempts=(),
        histogram=None,
        versions=versions,
        upper=_bound(decisive, "upper") if math.isfinite(decisive.high) else None,
        assumptions=assumptions(accounting),
        accounting=accounting,
    )


def assumptions(accounting: Accounting) -> tuple[str, ...]:
    """Return what an accounting takes on trust."""
    said = (REAL, NOT_CHECKED, FIXED)
    return (*said, POISSON.format(accounting.recorded_by)) if accounting.recorded_by == "Opacus" else said


def _bound(stated: Statement, side: str) -> Bound:
    value = stated.high if side == "upper" else stated.low
    at = float(Fraction(stated.at))
    about_epsilon = stated.parameter == "epsilon"
    notion = stated.claim or str(ApproxDP(0.0, at) if about_epsilon and at else PureDP(0.0 if about_epsilon else at))
    return Bound(
        value=round_outward(value, "upper" if side == "upper" else "lower"),
        side=side,
        kind="proof",
        parameter=stated.parameter,
        notion=notion,
        confidence=1.0,
        delta=at if about_epsilon else 0.0,
        method=METHOD,
        exact="infinite" if math.isinf(value) else None,
    )


def _reason(statements: Sequence[Statement], decisive: Statement) -> str:
    text = _sentence(decisive)
    others = [each for each in statements if each is not decisive and each.claim is not None]
    if not others or decisive.claim is None:
        return text
    same = sum(each.verdict is decisive.verdict for each in others)
    if same == len(others):
        return f"{text} All {len(others) + 1} claims are {decisive.verdict}."
    return f"{text} Of {len(others) + 1} claims {same + 1} {'is' if not same else 'are'} {decisive.verdict}."


def _sentence(stated: Statement) -> str:
    low, high = number_text(round_outward(stated.low, "lower", 7)), number_text(round_outward(stated.high, "upper", 7))
    at = number_text(float(Fraction(stated.at)))
    where = {"epsilon": f" at δ = {at}", "delta": f" at ε = {at}"}.get(stated.parameter, "")
    letter = _LETTERS[stated.parameter]
    if stated.claim is None:
        most = f"at most {high}" if math.isfinite(stated.high) else "not bounded by anything finite"
        return f"{letter} is certainly at least {low} and {most},{where}."
    claimed = number_text(parse_claim(stated.claim).value)
    if stated.verdict is Verdict.PROVED:
        return f"{letter} is certainly at most {high}{where}, and {claimed} is claimed."
    if stated.verdict is Verdict.VIOLATED:
        least = f"at least {low}" if math.isfinite(stated.low) else "infinite"
        more = "" if math.isfinite(stated.low) or Fraction(stated.at) else "; a claim with a δ above 0 could hold"
        return f"{letter} is certainly {least}{where} on some data, and {claimed} is claimed{more}."
    more = ": a smaller tolerance may decide" if where else ""
    return f"{letter} lies between {low} and {high}{where}, and {claimed} is claimed{more}."
