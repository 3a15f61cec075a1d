"""What does a verdict mean, in plain words? One table of sentences, by verdict and kind of claim.

Four sentences for each: what was claimed, what was found, what that means for a person in the data, and what it does
not show. They are written to be read by somebody who has never heard of ε, and to be reviewed here, in one place. A
verdict of "not violated" is never worded as privacy, and nothing is worded as a legal conclusion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, RenyiDP, ZeroConcentratedDP
from dpaudit.report.text.bound_kinds import contradicting
from dpaudit.report.text.headline import decisive
from dpaudit.report.text.numerals import claim_text, estimate_text
from dpaudit.report.text.second_look import doubted

KINDS = ("pure", "approximate", "gaussian", "concentrated", "renyi", "none")


@dataclass(frozen=True, slots=True)
class Meaning:
    """Four sentences: claimed, found, for a person in the data, not shown."""

    claimed: str
    found: str
    means: str
    not_shown: str


# Braces are filled in from the claim: {factor} is e^ε, {value} its own parameter, {delta} δ, {order} Rényi's α.
CLAIMED = {
    "pure": ("That one record, whatever it says, makes no output more than {factor} times as likely, or as unlikely."),
    "approximate": (
        "That one record, whatever it says, makes no set of outputs more than {factor} times as likely, but for a "
        "probability of {delta} that is left out of the promise."
    ),
    "gaussian": (
        "That telling whether one record is in the data is at least as hard as telling which of two bell curves a "
        "number was drawn from, when their centres lie {value} standard deviations apart."
    ),
    "concentrated": (
        "That one record changes the law of the output little, measured by averages in which rare outputs count for "
        "more and more (zero-concentrated privacy, ρ = {value})."
    ),
    "renyi": (
        "That one record changes the law of the output little, measured by one average in which rare outputs count "
        "for more (a Rényi divergence of order {order} of at most {value})."
    ),
    "none": "Nothing: no claim was given.",
}

FOUND = {
    Verdict.PROVED: "A proof that the claim holds for all data in the scope of the proof.",
    Verdict.NOT_VIOLATED: "Nothing that the claim rules out, in the outputs and on the datasets that were tried.",
    Verdict.VIOLATED: "Outputs that tell two neighbouring datasets apart better than the claim allows.",
    Verdict.INCONCLUSIVE: "Too little to decide, one way or the other.",
    Verdict.INVALID: "Runs that cannot be relied on, so that nothing was concluded from them.",
    Verdict.NO_CLAIM: "How much is given away at least. There was no claim to hold it against.",
}
FOUND_LOW_BITS = (
    "The last bits of the outputs tell two neighbouring datasets apart better than the claim allows; this comes from "
    "how computers hold numbers, not from the mathematics."
)
FOUND_CONTRADICTION = (
    "Runs that show more than what was proved to be possible: the code, its arithmetic, or the prover is wrong."
)

FOUND_ONCE = (
    "A first look found outputs that tell two neighbouring datasets apart better than the claim allows; that was not "
    "sure enough to be called a violation."
)
MEANS_ONCE = (
    "What was seen once and not again counts as chance, and as nothing more: another attacker, or more runs, may still "
    "learn more about them than was promised."
)

_UNDECIDED = "Nothing can be said to them yet: the promise may hold, or it may not."
_NOTHING = "Nothing follows for them from these runs, neither good nor bad."

MEANS: dict[Verdict, dict[str, str]] = {
    Verdict.PROVED: {
        "pure": (
            "Whoever sees an output cannot become much surer of what it says about them: the table says how sure at "
            "most. This is about the mechanism as mathematics."
        ),
        "approximate": (
            "Whoever sees an output hardly becomes surer of what it says about them, but for a chance of {delta} in "
            "which anything may come out. This is about the mechanism as mathematics."
        ),
        "gaussian": (
            "Whoever sees an output can guess what it says about them no better than the curve of the claim allows. "
            "This is about the mechanism as mathematics."
        ),
        "concentrated": (
            "On average over outputs, little is learned about them; single rare outputs may still say more. This is "
            "about the mechanism as mathematics."
        ),
        "renyi": (
            "On average over outputs, little is learned about them; single rare outputs may still say more. This is "
            "about the mechanism as mathematics."
        ),
        "none": "How much can be learned about them has a limit, within the scope of the proof.",
    },
    Verdict.NOT_VIOLATED: {
        "pure": (
            "An attacker who tried these ways of telling from an output whether their record was used did no better "
            "than the claim allows. Another attacker may do better."
        ),
        "approximate": (
            "An attacker who tried these ways of telling from an output whether their record was used did no better "
            "than the claim allows. Another attacker may do better, and what happens as seldom as δ was hardly seen."
        ),
        "gaussian": (
            "An attacker who tried these ways of telling from an output whether their record was used stayed within "
            "the curve of the claim. Another attacker may not."
        ),
        "concentrated": (
            "An attacker who tried these ways of telling from an output whether their record was used stayed within "
            "what the claim allows. Another attacker may not, and rare outputs were hardly seen."
        ),
        "renyi": (
            "An attacker who tried these ways of telling from an output whether their record was used stayed within "
            "what the claim allows. Another attacker may not, and rare outputs were hardly seen."
        ),
        "none": "An attacker learned no more about them than is shown here, in the ways that were tried.",
    },
    Verdict.VIOLATED: {
        "pure": (
            "Whoever sees an output can become surer of what it says about them than was promised: the table says how "
            "sure at least, when the event occurs."
        ),
        "approximate": (
            "Whoever sees an output can become surer of what it says about them than was promised, and more often than "
            "the {delta} that the promise leaves out."
        ),
        "gaussian": (
            "Whoever sees an output can guess what it says about them better than was promised: with fewer mistakes "
            "than the curve of the claim allows."
        ),
        "concentrated": "Whoever sees outputs learns more about them than the average that was promised.",
        "renyi": "Whoever sees outputs learns more about them than the average that was promised.",
        "none": "Whoever sees an output can learn something about them.",
    },
    Verdict.INCONCLUSIVE: dict.fromkeys(KINDS, _UNDECIDED),
    Verdict.INVALID: dict.fromkeys(KINDS, _NOTHING),
    Verdict.NO_CLAIM: dict.fromkeys(
        KINDS, "Whoever sees an output can learn at least as much about them as the table says, and perhaps more."
    ),
}

NOT_SHOWN = {
    Verdict.PROVED: (
        "That the program as it runs, with its generator and its floating-point numbers, does what the proof takes "
        "for granted; nor what other releases from the same data add."
    ),
    Verdict.NOT_VIOLATED: (
        "That the claim holds. Nobody can try every dataset and every set of outputs; this audit tried a few."
    ),
    Verdict.VIOLATED: (
        "How much is given away in all: it may be more than was shown. Nor whether anyone was harmed, or whose fault "
        "it is."
    ),
    Verdict.INCONCLUSIVE: "That the claim holds, nor that it fails.",
    Verdict.INVALID: "Anything about the mechanism: these runs speak neither for nor against it.",
    Verdict.NO_CLAIM: "How much is given away at most, unless an upper bound stands above.",
}


def kind_of(claim: Claim | None) -> str:
    """Return the row of the table that a claim belongs to, one of `KINDS`."""
    if claim is None:
        return "none"
    if isinstance(claim, ApproxDP) and claim.delta > 0:
        return "approximate"
    others = {GaussianDP: "gaussian", ZeroConcentratedDP: "concentrated", RenyiDP: "renyi"}
    return next((name for notion, name in others.items() if isinstance(claim, notion)), "pure")


def meaning(evidence: Evidence) -> Meaning:
    """Return the four sentences for an audit, with the numbers of its claim."""
    claim, verdict = evidence.claimed, evidence.verdict
    kind = kind_of(claim)
    numbers = {"factor": "", "value": "", "delta": "", "order": ""}
    if claim is not None:
        numbers["value"], numbers["delta"] = claim_text(claim.value), claim_text(claim.delta)
        numbers["factor"] = _factor(claim.value)
    if isinstance(claim, RenyiDP):
        numbers["order"] = claim_text(claim.order)
    return Meaning(
        CLAIMED[kind].format(**numbers),
        _found(evidence),
        MEANS_ONCE if _once(evidence) else MEANS[verdict][kind].format(**numbers),
        NOT_SHOWN[verdict],
    )


def _found(evidence: Evidence) -> str:
    if evidence.verdict is Verdict.VIOLATED:
        if contradicting(evidence) is not None:
            return FOUND_CONTRADICTION
        if decisive(evidence).arithmetic == "float":
            return FOUND_LOW_BITS
    return FOUND[evidence.verdict] if doubted(evidence) is None else FOUND_ONCE


def _once(evidence: Evidence) -> bool:
    """Whether a bound above the claim was not confirmed."""
    return evidence.verdict is Verdict.NOT_VIOLATED and doubted(evidence) is not None


def _factor(epsilon: float) -> str:
    """Write e^ε for people."""
    return f"e^{claim_text(epsilon)}" if epsilon > 12 else estimate_text(math.exp(epsilon))
