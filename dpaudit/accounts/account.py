"""Is the claim about a list of releases to be believed? From what was run to evidence, without running anything.

what was given → plan → certified bounds, one interval for each δ or ε → verdicts → evidence
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Unpack

import msgspec

from dpaudit.accounting import (
    ADDED,
    Calibrated,
    Certified,
    Events,
    Gaussian,
    PrivacyEvent,
    as_events,
    calibrate,
    certify,
    certify_added,
    decide,
)
from dpaudit.accounting.decide import PROVED, judged, number
from dpaudit.accounting.events import Sampled
from dpaudit.accounting.losses import outward
from dpaudit.accounts.plan import NOISE, AccountPlan, PlannedRun, is_plan_file, parse_events, plan_of, read_plan
from dpaudit.accounts.recorded import others_say, recorded_plan
from dpaudit.decimals import number_of, read_number
from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_versions, run_info
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, AccountingCurve, Release, Statement
from dpaudit.evidence.records import Bound, Target, Verdict, round_outward
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, ZeroConcentratedDP, parse_claim
from dpaudit.privacy.claims import as_claim, number_text
from dpaudit.request import AccountOptions, AccountRequest, default_of, taking

# --- What follows from certified bounds? Verdicts, their reason, and the evidence around them ---
#
# Everything that the evidence says beside the releases, the certificates and the names that people gave follows from
# these, so that a check concludes once more and compares.

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


def events_in(releases: Sequence[Release]) -> list[PrivacyEvent]:
    """Return the event of each release.

    Raises:
        UsageError: where one cannot be read.
    """
    return [_event(each.event) for each in releases]


def _event(text: str) -> PrivacyEvent:
    event, count = parse_events(text).parts[0]
    if f"{event}" != text:
        raise UsageError(f"a release is one event, as it is written, not {text!r:.80}")
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


POINTS = 25
"""Of the curve."""


@taking(AccountRequest)
def account(events: Any, **options: Unpack[AccountOptions]) -> Evidence:
    """Bound ε or δ of a list of releases from both sides, with a proof in real arithmetic, and judge claims by it.

    Args:
        {options}

    Returns:
        Evidence, with the verdict PROVED where the bound from above keeps every claim, VIOLATED where a bound from
        below exceeds one, INCONCLUSIVE where a claim lies between, and NO CLAIM without any.

    Raises:
        UsageError: for what cannot be run or accounted for, and without python-flint.
    """
    return carry_out(AccountRequest(events, **options))


def carry_out(request: AccountRequest) -> Evidence:
    """Return the evidence of a request."""
    clock, started = time.perf_counter(), datetime.now(UTC)
    plan = plan_for(request)
    tolerance = plan.tolerance if plan.tolerance is not None else default_of(AccountRequest, "tolerance")
    events, relation = resolved(plan)
    certified: dict[tuple[str, Fraction], Certified] = {}
    asked = asked_of(plan)
    for parameter, at, _ in asked:
        if (parameter, at) in certified:
            continue
        if parameter in ADDED:
            certified[parameter, at] = certify_added(events, parameter)
            continue
        drawn = any(each.curve for each in certified.values())
        certified[parameter, at] = certify(
            events,
            **{"delta" if parameter == "epsilon" else "epsilon": at},
            tolerance=tolerance,
            points=0 if drawn else POINTS,
        )
    places = {key: place for place, key in enumerate(certified)}
    certificates = tuple(each.certificate for each in certified.values())
    statements = tuple(
        statement(claim, certificates[places[parameter, at]], places[parameter, at]) for parameter, at, claim in asked
    )
    first = next((each for each in certified.values() if each.curve), None)
    accounting = Accounting(
        releases=tuple(Release(str(run.event), run.steps, run.name) for run in plan.runs),
        statements=statements,
        certificates=certificates,
        tolerance=float(tolerance),
        curve=None if first is None else _curve(first),
        others=() if request.alone else others_say(events, headline(statements)),
        recorded_by=plan.recorded_by,
        note=" ".join(_noted(each, several=len(certified) > 1) for each in certified.values() if each.note),
    )
    evidence = concluded(
        accounting,
        name=plan.name,
        unit=plan.unit,
        relation=relation,
        versions=installed_versions("python-flint"),
    )
    return msgspec.structs.replace(evidence, run=run_info(started, clock, 1))


# --- what was given ---------------------------------------------------------------------------------------


def plan_for(request: AccountRequest) -> AccountPlan:
    """Return the plan of a request: what was given, with what the request says anew.

    Raises:
        UsageError: for what is no list of releases.
    """
    plan = _plan_of(request.events)
    claims = _texts(request.claim)
    changed: dict[str, Any] = {"claims": claims} if claims else {}
    for name in ("delta", "epsilon", "relation"):
        if getattr(request, name) is not None:
            changed[name] = getattr(request, name)
    if request.tolerance != default_of(AccountRequest, "tolerance"):
        changed["tolerance"] = request.tolerance
    return replace(plan, **changed)


def _plan_of(given: Any) -> AccountPlan:
    if isinstance(given, AccountPlan):
        return given
    if isinstance(given, Path) or (isinstance(given, str) and is_plan_file(given)):
        return read_plan(given)
    if isinstance(given, str):
        return plan_of(parse_events(given))
    if isinstance(given, Events):
        return plan_of(given)
    recorded = recorded_plan(given)
    if recorded is not None:
        return recorded
    if isinstance(given, PrivacyEvent | list | tuple):
        return plan_of(as_events(given))
    raise UsageError(
        "events are values such as dp.accounting.Gaussian('1.1').poisson('0.004').times(14000), the name of a plan "
        f"file (.toml), an accountant of Opacus or an event of dp-accounting, not {given!r:.80}"
    )


def _texts(claim: Claim | str | Sequence[Claim | str] | None) -> tuple[str, ...]:
    if claim is None:
        return ()
    listed = [claim] if isinstance(claim, Claim | str) else list(claim)
    return tuple(str(as_claim(each)) for each in listed)


def asked_of(plan: AccountPlan) -> list[tuple[str, Fraction, Claim | None]]:
    """Return what is to be certified: ("epsilon", δ, claim), ("mu", 0, claim), …; a claim is None where a number is.

    Raises:
        UsageError: for claims of other notions, and where nothing is asked.
    """
    delta = None if plan.delta is None else read_number("delta", plan.delta)
    asked: list[tuple[str, Fraction, Claim | None]] = []
    for text in plan.claims:
        claim = as_claim(text)
        assert claim is not None
        if isinstance(claim, PureDP) and delta:
            if not 0 <= delta < 1:
                raise UsageError(f"delta is at least 0 and below 1, not {plan.delta!r}")
            claim = ApproxDP(claim.epsilon, float(delta))
            if about(claim)[1] != delta:
                raise UsageError(f"a claim has a δ of at most 15 digits, not {plan.delta!r}")
        asked.append((*about(claim), claim))
    if delta is not None and not any((name, at) == ("epsilon", delta) for name, at, _ in asked):
        asked.append(("epsilon", delta, None))
    if plan.epsilon is not None:
        asked.append(("delta", read_number("epsilon", plan.epsilon), None))
    if not asked:
        raise UsageError(
            "say what is asked: a claim such as 'epsilon=3, delta=1e-5', the δ at which ε is asked for, or the ε at "
            "which δ is"
        )
    return asked


def claims_in(request: AccountRequest) -> list[Claim]:
    """Return the claims that a request names itself, each with its δ."""
    texts = _texts(request.claim)
    asked = asked_of(AccountPlan(_ANY, texts, delta=request.delta)) if texts else []
    return [claim for _, _, claim in asked if claim is not None]


_ANY = (PlannedRun(Gaussian(1), 1),)


def resolved(plan: AccountPlan) -> tuple[Events, str]:
    """Return the events of a plan as they are between its neighbours, and which these are.

    Raises:
        UsageError: for neighbours for which they are not accounted for.
    """
    events = plan.events
    relation = _relation(events, plan.relation)
    return (events if relation == SENSITIVITY else events.under(relation)), relation


def _relation(events: Events, asked: str | None) -> str:
    """Which datasets are neighbours: those asked for, else the first for which everything is known."""
    asked = {"replace": "replace-one"}.get(asked or "", asked)  # audits and proofs call it so
    if asked is None:
        needed = any(isinstance(event, Sampled) or event.clipped for event, _ in events.parts)
        return events.relations[0] if needed else SENSITIVITY
    if asked not in events.relations:
        raise UsageError(
            f"the neighbours do not fit: {asked!r} was asked for, and these events are accounted for "
            f"{' or '.join(map(repr, events.relations))}"
        )
    return asked


def _noted(certified: Certified, *, several: bool) -> str:
    """Say why an interval is wide, and which one, where there are several."""
    at = number_text(float(certified.at))
    which = {"epsilon": f"ε at δ = {at}", "delta": f"δ at ε = {at}"}.get(certified.parameter, certified.parameter)
    return f"{which}: {certified.note}" if several else certified.note


def _curve(certified: Certified) -> AccountingCurve:
    epsilons, lows, highs = zip(*certified.curve, strict=True)
    return AccountingCurve(epsilons, lows, highs)


# --- How much noise keeps every claim, certainly, or how many steps? And how little, or how many, does not? ---

STEPS = "steps"
_MULTIPLIER = "noise-multiplier"
WHAT = ("gaussian", _MULTIPLIER, "laplace", "discrete-gaussian", "discrete-laplace", STEPS)
"""What can be found: the noise of a mechanism, or how often it may be run."""


def calibrated(what: str, run: Callable[[str], PlannedRun], request: AccountRequest) -> tuple[AccountRequest, str]:
    """Return the request with the smallest noise, or the most steps, that keep the claims; and a sentence about it.

    Args:
        what: one of `WHAT`.
        run: the release with so much noise, or so often.
        request: with the claims.

    Raises:
        UsageError: without a claim, and where nothing keeps it.
    """
    claims = claims_in(request)
    if not claims:
        raise UsageError("calibration needs a claim, such as --claim 'epsilon=3, delta=1e-5'")

    def events(value: object) -> Events:
        return resolved(AccountPlan((run(str(value)),), relation=request.relation))[0]

    steps = what == STEPS
    smallest: Calibrated | None = None
    tolerances = [request.tolerance]
    for claim in claims:
        own = None if smallest is None else decide(events(smallest.enough), claim, tolerance=tolerances[-1])
        if own is None or own.verdict != PROVED:
            smallest = calibrate(events, claim, steps=steps)
            own = smallest.decision
        if own.certified is not None:
            tolerances.append(own.certified.tolerance)
    assert smallest is not None
    plan = AccountPlan((run(f"{smallest.enough:f}"),))
    return replace(request, events=plan, tolerance=min(tolerances)), _calibration_text(smallest, what)


def _calibration_text(smallest: Calibrated, what: str) -> str:
    least = smallest.too_little
    if what == STEPS:
        count = int(smallest.enough)
        told = f"{count:,} {'step keeps' if count == 1 else 'steps keep'} the claim, certified"
        beyond = "" if least is None else f"{int(least):,} break it on some data"
    else:
        name = "noise multiplier" if what == _MULTIPLIER else "σ" if NOISE[what][1] == "sigma" else "scale"
        told = f"{name} = {smallest.enough:f} keeps the claim, certified"
        beyond = "" if least is None else f"{name} = {least:f} breaks it on some data"
    return f"{told}; {beyond or 'where it breaks is not known'}."
