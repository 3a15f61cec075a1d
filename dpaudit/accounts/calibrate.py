"""How much noise keeps every claim, certainly, or how many steps? And how little, or how many, does not?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpaudit.accounting import Calibrated, Events, calibrate, decide
from dpaudit.accounting.decide import PROVED
from dpaudit.accounts.account import claims_in, memory_of, resolved
from dpaudit.accounts.plan import NOISE, AccountPlan, Run
from dpaudit.errors import UsageError
from dpaudit.request import AccountRequest

STEPS = "steps"
_MULTIPLIER = "noise-multiplier"
WHAT = ("gaussian", _MULTIPLIER, "laplace", "discrete-gaussian", "discrete-laplace", STEPS)
"""What can be found: the noise of a mechanism, or how often it may be run."""


def calibrated(what: str, run: Callable[[str], Run], request: AccountRequest) -> tuple[AccountRequest, str]:
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

    memory, steps = memory_of(request), what == STEPS
    found: Calibrated | None = None
    tolerances = [request.tolerance]
    for claim in claims:
        own = None if found is None else decide(events(found.enough), claim, tolerance=tolerances[-1], memory=memory)
        if own is None or own.verdict != PROVED:
            found = calibrate(events, claim, steps=steps, memory=memory)
            own = found.decision
        if own.certified is not None:
            tolerances.append(own.certified.tolerance)
    assert found is not None
    plan = AccountPlan((run(f"{found.enough:f}"),))
    return replace(request, events=plan, tolerance=min(tolerances)), _told(found, what)


def _told(found: Calibrated, what: str) -> str:
    least = found.too_little
    if what == STEPS:
        count = int(found.enough)
        told = f"{count:,} {'step keeps' if count == 1 else 'steps keep'} the claim, certified"
        beyond = "" if least is None else f"{int(least):,} break it on some data"
    else:
        name = "noise multiplier" if what == _MULTIPLIER else "σ" if NOISE[what][1] == "sigma" else "scale"
        told = f"{name} = {found.enough:f} keeps the claim, certified"
        beyond = "" if least is None else f"{name} = {least:f} breaks it on some data"
    return f"{told}; {beyond or 'where it breaks is not known'}."
