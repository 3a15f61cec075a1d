"""How is an accounting said in words? Its releases, its bounds, its verdict, and what it does not show."""

from __future__ import annotations

import math
from fractions import Fraction

from dpaudit.accounting import meaning
from dpaudit.accounting.events import WORST
from dpaudit.accounts.plan import parse_events
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, OtherAccountant, Release, Statement
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import parse_claim
from dpaudit.privacy.claims import needs_delta, number_text
from dpaudit.report.text.numerals import NBSP, claim_text, count_text, lower_text, upper_text
from dpaudit.report.text.phrases import relation_words

DIGITS = 7
"""Of certified bounds, which lie close to each other."""

_LETTERS = {"epsilon": "ε", "delta": "δ", "mu": "μ", "rho": "ρ"}
AS_LISTED = (
    "This is about the releases as they are listed, in real arithmetic. That the program does what is listed was not "
    "checked."
)
ON_SOME_DATA = (
    "This is certain of what is listed, on some data and with some queries that the list allows; other data may lose "
    "less."
)


def on_some_data(accounting: Accounting) -> str:
    """Say what a bound from below is about."""
    claims = any("Block(" in each.event for each in accounting.releases)
    return f"{ON_SOME_DATA} {WORST}" if claims else ON_SOME_DATA


def accounting_of(evidence: Evidence) -> Accounting | None:
    """Return the accounting of evidence, or None where there is none that states anything."""
    found = evidence.accounting
    return found if found is not None and found.statements and found.releases else None


def decisive_statement(accounting: Accounting, verdict: Verdict) -> Statement:
    """Return the statement that the verdict rests on."""
    return next((each for each in accounting.statements if each.verdict is verdict), accounting.statements[0])


def release_words(release: Release) -> str:
    """Say what a release is; as it is written, where that cannot be read."""
    try:
        event = parse_events(release.event).times(release.steps)
        return meaning(event)[0].removesuffix(".")
    except (UsageError, ArithmeticError):
        return f"{release.event}, {count_text(release.steps)} times"


def neighbours_words(relation: str, accounting: Accounting | None = None) -> str:
    """Say which datasets are neighbours, and what that means for noise multipliers."""
    words = relation_words(relation) or relation
    if accounting is None:
        return words
    if not any("(noise_multiplier=" in each.event for each in accounting.releases):
        noisy = any(each.event.startswith(("Gaussian(", "Laplace(")) for each in accounting.releases)
        return f"{words}{_TWO_NORMS}" if noisy and relation == "replace-one" else words
    norms = "twice the norm" if relation == "replace-one" else "the norm"
    return f"{words}; so a record moves a sum by {norms} that its part is clipped to"


_TWO_NORMS = "; records that are clipped lie two norms apart then, which the sensitivity has to say"


def where(statement: Statement) -> str:
    """Say at which δ, or ε, a statement is, after a space; μ and ρ are at none."""
    letter = {"epsilon": "δ", "delta": "ε"}.get(statement.parameter)
    return "" if letter is None else f" at {letter}{NBSP}={NBSP}{_at(statement.at)}"


def _at(text: str) -> str:
    try:
        return claim_text(float(Fraction(text)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return text


def letter_of(statement: Statement) -> str:
    """Return the letter of what lies between the bounds."""
    return _LETTERS.get(statement.parameter, statement.parameter)


def _claimed(statement: Statement) -> float | None:
    try:
        return None if statement.claim is None else parse_claim(statement.claim).value
    except UsageError:
        return None


def low_text(statement: Statement) -> str:
    """Write the bound from below."""
    if math.isinf(statement.low):
        return "∞"
    return lower_text(statement.low, claim=_claimed(statement), digits=DIGITS)


def high_text(statement: Statement) -> str:
    """Write the bound from above."""
    return "∞" if math.isinf(statement.high) else upper_text(statement.high, claim=_claimed(statement), digits=DIGITS)


def interval_text(statement: Statement) -> str:
    """Write both bounds: 2.2102 ≤ ε ≤ 2.2105 at δ = 1e-5."""
    letter = letter_of(statement)
    if math.isinf(statement.low):
        return f"{letter} is infinite{where(statement)}"
    low, high = low_text(statement), high_text(statement)
    most = f"{NBSP}≤{NBSP}{high}" if math.isfinite(statement.high) else ", and nothing finite from above"
    return f"{low}{NBSP}≤{NBSP}{letter}{most}{where(statement)}"


def verdict_words(evidence: Evidence, accounting: Accounting) -> tuple[str, str]:
    """Return the sentence of the verdict, and what must not be concluded from it."""
    stated = decisive_statement(accounting, evidence.verdict)
    claim = "" if stated.claim is None else claim_of(stated)
    letter, at = letter_of(stated), where(stated)
    several = _several(accounting, evidence.verdict)
    if evidence.verdict is Verdict.PROVED:
        return (
            f"The claim is {claim}, and {letter}{NBSP}≤{NBSP}{high_text(stated)}{at} is certified for every pair of "
            f"neighbours.{several}",
            AS_LISTED,
        )
    if evidence.verdict is Verdict.VIOLATED:
        sign = "=" if math.isinf(stated.low) else "≥"
        return (
            f"The claim {claim} certainly does not hold of what is listed: {letter}{NBSP}{sign}{NBSP}"
            f"{low_text(stated)}{at}.{several}{_at_no_delta(stated, accounting)}",
            on_some_data(accounting),
        )
    if evidence.verdict is Verdict.INCONCLUSIVE:
        return (
            f"The claim {claim} lies within the certified interval: {interval_text(stated)}.{several}",
            "Neither that the claim holds nor that it fails may be concluded.",
        )
    text = f"No claim was given, so there is nothing to judge. Certified: {interval_text(stated)}."
    return text, f"{on_some_data(accounting)} {AS_LISTED}"


def _at_no_delta(statement: Statement, accounting: Accounting) -> str:
    """Say what to ask where no finite ε holds without a δ, as of all Gaussian noise; else empty."""
    if not math.isinf(statement.low) or statement.parameter != "epsilon" or Fraction(statement.at):
        return ""
    gaussian = any("aussian(" in each.event for each in accounting.releases)
    of = "Gaussian noise, however much there is," if gaussian else "What is listed"
    asked = needs_delta(of, claim_text(_claimed(statement) or 1.0))
    return f" {asked}, with a δ far below one in the number of people, or let --delta 1e-5 say which ε holds at it."


def _several(accounting: Accounting, verdict: Verdict) -> str:
    claims = [each for each in accounting.statements if each.claim is not None]
    if len(claims) < 2:
        return ""
    same = sum(each.verdict is verdict for each in claims)
    if same == len(claims):
        return f" {'Both' if same == 2 else f'All {same}'} claims are {verdict}."
    return f" Of {len(claims)} claims {same} {'is' if same == 1 else 'are'} {verdict}."


def claim_of(statement: Statement) -> str:
    """Write the claim of a statement with its symbols."""
    if statement.claim is None:
        return "none"
    try:
        claim = parse_claim(statement.claim)
    except UsageError:
        return statement.claim
    delta = f", δ{NBSP}={NBSP}{claim_text(claim.delta)}" if claim.delta else ""
    return f"{claim.symbol}{NBSP}={NBSP}{claim_text(claim.value)}{delta}"


def other_words(other: OtherAccountant, statement: Statement) -> str:
    """Say what another accountant states, and where that lies."""
    return f"{number_text(float(f'{other.value:.7g}'))}, {other_place(other, statement)}"


def other_place(other: OtherAccountant, statement: Statement) -> str:
    """Say where the number of another accountant lies beside the certified interval."""
    if other.value < statement.low:
        return f"outside the certified interval by {_gap(statement.low - other.value)}: certainly too little"
    if other.value > statement.high:
        what = "an upper bound that holds, and is wider" if other.side == "upper" else "certainly too much"
        return f"outside the certified interval by {_gap(other.value - statement.high)}: {what}"
    return "inside the certified interval"


def _gap(value: float) -> str:
    return number_text(float(f"{value:.2g}"))


LIMITS = (
    (
        "What really runs",
        "The list says what was run, or will be. No program, data loader or noise was looked at: dpaudit.audit and "
        "dpaudit.prove do that.",
    ),
    (
        "Your own data",
        "The lower bound is a loss on some data with some queries, such as a record that moves every answer as far as "
        "it may. A training on other data may lose less, and never more than the upper bound. Where only a claim is "
        "listed, it is a loss of the worst mechanism that keeps that claim.",
    ),
    (
        "Floating point",
        "Noise is taken as exact. An implementation with floating-point numbers can leak through their last bits.",
    ),
    (
        "Lists that change",
        "The list is fixed beforehand. To choose noise, sampling or the number of steps by what earlier steps returned "
        "is another mechanism.",
    ),
    (
        "Other releases",
        "Whatever else is released from the same data adds up with this list.",
    ),
    (
        "The system around it",
        "Trust model, data collection, access control, how records map to people, and the choice of the parameters are "
        "not examined.",
    ),
)
"""What an accounting cannot show."""

METHOD = (
    "Each release has a pair of distributions that dominates every pair of neighbours, and one that some data attain. "
    "From above, the privacy loss of the first is put on a grid by connecting the dots of its privacy curve; from "
    "below, that of the second by test events. The loss of all releases is their exact product, of polynomials with "
    "whole-number coefficients, each rounded outward. So both ends are theorems in real arithmetic; no number rests on "
    "runs, or on an asymptotic law."
)
METHOD_ADDED = (
    "Losses in terms of μ and ρ add up, those of μ as squares (Dong, Roth & Su 2022; Bun & Steinke 2016). So both ends "
    "are rational numbers, in real arithmetic; no number rests on runs, or on an asymptotic law."
)
SOURCES = (
    "Zhu, Dong & Wang (2022). Optimal accounting of differential privacy via characteristic function. AISTATS.",
    "Doroshenko, Ghazi, Kamath, Kumar & Manurangsi (2022). Connect the dots: tighter discrete approximations of "
    "privacy loss distributions. PoPETs 2022(4).",
    "Balle & Wang (2018). Improving the Gaussian mechanism for differential privacy: analytical calibration and "
    "optimal denoising. ICML.",
    "Johansson (2017). Arb: efficient arbitrary-precision midpoint-radius interval arithmetic. IEEE Transactions on "
    "Computers 66(8).",
)
