"""How much noise keeps every claim, certainly, and how much less does not?"""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.accounting import calibrate
from dpaudit.accounts.account import claims_in
from dpaudit.accounts.plan import AccountPlan, Run
from dpaudit.errors import UsageError
from dpaudit.request import AccountRequest

PRECISION = 1e-3
"""How much smaller the noise might be, relatively."""


def calibrated(with_noise: Callable[[str], Run], request: AccountRequest) -> tuple[str, str]:
    """Return the smallest noise that is certified to keep the claims, as a decimal, and the largest that is not.

    Args:
        with_noise: the release with so much noise; more must not lose more.
        request: with the claims.

    Raises:
        UsageError: without a claim, and where no noise keeps it.
    """
    claims = claims_in(request)
    if not claims:
        raise UsageError("calibration needs a claim, such as --claim 'epsilon=3, delta=1e-5'")

    def events(noise: object) -> object:
        return AccountPlan((with_noise(str(noise)),)).events

    found = [calibrate(events, claim, precision=PRECISION) for claim in claims]  # type: ignore[arg-type]
    best = max(found, key=lambda each: each.noise)
    return f"{best.noise:f}", f"{best.less:f}"
