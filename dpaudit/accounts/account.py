"""Is the claim about a list of releases to be believed? From what was run to evidence, without running anything.

what was given → plan → certified bounds, one interval for each δ or ε → verdicts → evidence
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Unpack

import msgspec

from dpaudit.accounting import ADDED, Certified, Events, Gaussian, as_events, certify, certify_added
from dpaudit.accounting.events import Event, Sampled
from dpaudit.accounts.conclude import SENSITIVITY, about, concluded, headline, statement
from dpaudit.accounts.expression import parse_events
from dpaudit.accounts.others import others_say
from dpaudit.accounts.plan import AccountPlan, Run, plan_of
from dpaudit.accounts.plan_file import is_plan_file, read_plan
from dpaudit.accounts.recorded import recorded_plan
from dpaudit.decimals import read_number
from dpaudit.errors import UsageError
from dpaudit.evidence.build import run_info
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.installed import installed_versions
from dpaudit.evidence.records import Accounting, AccountingCurve, Release
from dpaudit.privacy import ApproxDP, Claim, PureDP
from dpaudit.privacy.claims import as_claim, number_text
from dpaudit.request import AccountOptions, AccountRequest, default_of, taking

POINTS = 25
"""Of the curve."""

_GIB = 2**30


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
    found: dict[tuple[str, Fraction], Certified] = {}
    asked, memory = asked_of(plan), memory_of(request)
    for parameter, at, _ in asked:
        if (parameter, at) in found:
            continue
        if parameter in ADDED:
            found[parameter, at] = certify_added(events, parameter)
            continue
        drawn = any(each.curve for each in found.values())
        found[parameter, at] = certify(
            events,
            **{"delta" if parameter == "epsilon" else "epsilon": at},
            tolerance=tolerance,
            points=0 if drawn else POINTS,
            memory=memory,
        )
    places = {key: place for place, key in enumerate(found)}
    certificates = tuple(each.certificate for each in found.values())
    statements = tuple(
        statement(claim, certificates[places[parameter, at]], places[parameter, at]) for parameter, at, claim in asked
    )
    first = next((each for each in found.values() if each.curve), None)
    accounting = Accounting(
        releases=tuple(Release(str(run.event), run.steps, run.name) for run in plan.runs),
        statements=statements,
        certificates=certificates,
        tolerance=float(tolerance),
        curve=None if first is None else _curve(first),
        others=() if request.alone else others_say(events, headline(statements)),
        recorded_by=plan.recorded_by,
        note=" ".join(_noted(each, several=len(found) > 1) for each in found.values() if each.note),
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
    plan = _read(request.events)
    claims = _texts(request.claim)
    changed: dict[str, Any] = {"claims": claims} if claims else {}
    for name in ("delta", "epsilon", "relation"):
        if getattr(request, name) is not None:
            changed[name] = getattr(request, name)
    if request.tolerance != default_of(AccountRequest, "tolerance"):
        changed["tolerance"] = request.tolerance
    return replace(plan, **changed)


def _read(given: Any) -> AccountPlan:
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
    if isinstance(given, Event | list | tuple):
        return plan_of(as_events(given))
    raise UsageError(
        "events are values such as dp.Gaussian('1.1').poisson('0.004').times(14000), the name of a plan file (.toml), "
        f"an accountant of Opacus or an event of dp-accounting, not {given!r:.80}"
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


_ANY = (Run(Gaussian(1), 1),)


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


def memory_of(request: AccountRequest) -> int:
    """Return the bytes that a request allows.

    Raises:
        UsageError: for what is no amount of memory.
    """
    gib = request.memory
    if isinstance(gib, bool) or not isinstance(gib, int | float) or not 0 < gib < math.inf:
        raise UsageError(f"memory is a number of GiB above 0, not {gib!r}")
    return int(gib * _GIB)


def _noted(certified: Certified, *, several: bool) -> str:
    """Say why an interval is wide, and which one, where there are several."""
    at = number_text(float(certified.at))
    which = {"epsilon": f"ε at δ = {at}", "delta": f"δ at ε = {at}"}.get(certified.parameter, certified.parameter)
    return f"{which}: {certified.note}" if several else certified.note


def _curve(certified: Certified) -> AccountingCurve:
    epsilons, lows, highs = zip(*certified.curve, strict=True)
    return AccountingCurve(epsilons, lows, highs)
