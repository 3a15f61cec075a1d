"""What does a verdict mean in plain words? A table of sentences by verdict, with the words of each kind of claim.

There are five sentences: what was claimed, what was found, what that means for a person in the data, what it does not
show, and what to do next. They are written for readers who have never heard of ε, and can be reviewed in two places:
here, and with each notion in `dpaudit.privacy`. A verdict of "not violated" is never worded as privacy, and nothing is
worded as a legal conclusion.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.privacy.claims import Words
from dpaudit.report.text.bound_kinds import contradicting
from dpaudit.report.text.headline import decisive, doubted
from dpaudit.report.text.phrases import with_numbers


@dataclass(frozen=True, slots=True)
class PlainWords:
    """Five sentences: what was claimed, found, what it means for a person in the data, is not shown, and comes next."""

    claimed: str
    found: str
    means: str
    not_shown: str
    next: str


WITHOUT_CLAIM = Words(
    kind="none",
    source="",
    meaning="",
    claimed="Nothing: no claim was given.",
    proved="How much can be learned about them has a limit, within the scope of the proof.",
    not_violated="An attacker learned no more about them than is shown here, in the ways that were tried.",
    violated="Whoever sees an output can learn something about them.",
)

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

MEANS = {
    Verdict.INCONCLUSIVE: "Nothing can be said to them yet: the promise may hold, or it may not.",
    Verdict.INVALID: "Nothing follows for them from these runs, neither good nor bad.",
    Verdict.NO_CLAIM: (
        "Whoever sees an output can learn at least as much about them as the table below says, and perhaps more."
    ),
}
"""The meaning of the verdicts for which claims have no words of their own."""

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

NEXT = {
    Verdict.PROVED: (
        "Check the certificate on a machine of your own with dpaudit check, and hold Scope, under For reviewers, "
        "against what you release."
    ),
    Verdict.NOT_VIOLATED: (
        "Judge whether what was tried, and what it would have found, is enough for you. A proof says more where one is "
        "possible: dpaudit prove."
    ),
    Verdict.VIOLATED: (
        "Do not release under this claim. Engineers find what tells the datasets apart under For engineers: fix the "
        "mechanism, or claim what it gives."
    ),
    Verdict.INCONCLUSIVE: "Decide nothing from it. Do what is named above, or more runs: dpaudit plan says how many.",
    Verdict.INVALID: "Fix what is named above, and run it again.",
    Verdict.NO_CLAIM: "Say what is claimed, so that it can be held against this.",
}

FOUND_ACCOUNTED = {
    Verdict.PROVED: "A proof that everything on the list together keeps the claim, for all data.",
    Verdict.VIOLATED: "A proof that what is on the list can give away more than the claim allows, on some data.",
    Verdict.INCONCLUSIVE: "Bounds from below and above, between which the claim lies.",
    Verdict.NO_CLAIM: "How much can be given away, from below and from above. There was no claim to hold it against.",
}
FOUND_TRAINING = {
    Verdict.VIOLATED: "A training loop that gives away more than the claim allows, as it was made, on some data.",
    Verdict.NOT_VIOLATED: "A training loop that was seen to do what the claim takes for granted.",
    Verdict.INCONCLUSIVE: "A training loop of which something was not seen, or for which nothing is proved.",
    Verdict.NO_CLAIM: "Which facts of a training loop are right and which are wrong. There was no claim.",
}
NEXT_ACCOUNTED = {
    Verdict.PROVED: (
        "Make sure that what runs is what is listed: audit or trace the releases, and watch a training loop."
    ),
    Verdict.VIOLATED: "Do not release under this claim: it needs more noise, smaller batches or fewer steps. "
    "dpaudit account --calibrate finds the least noise, or the most steps, that keeps it.",
    Verdict.INCONCLUSIVE: "Claim the bound from above, or add a little noise.",
}
NEXT_TRAINING = {
    Verdict.VIOLATED: (
        "Do not release the model under this claim. Fix what the checklist calls wrong, and train again."
    ),
    Verdict.NOT_VIOLATED: "Judge whether what was not seen, by the checklist, may be taken for granted.",
    Verdict.INCONCLUSIVE: "Look at the rows of the checklist that were not seen, and at what would let them be seen.",
}
MEANS_TRAINING = (
    "If the loop did what it was seen to do, and what was not seen is right, whoever sees the model learns no more "
    "about them than the claim allows."
)
NOT_SHOWN_TRAINING = "What was not seen, other runs of the same code, and whatever else is released beside the model."
MEANS_ACCOUNTED = "However much is known otherwise, an output tells no more about them than the upper bound allows."
NOT_SHOWN_ACCOUNTED = (
    "That what runs is what is on the list: nothing was run. Nor how much is given away of these data in particular, "
    "or what other releases from them add."
)


def plain_words(evidence: Evidence) -> PlainWords:
    """Return the five sentences for an audit, with the numbers of its claim."""
    claim, verdict = evidence.claimed, evidence.verdict
    words = WITHOUT_CLAIM if claim is None else claim.words
    own = {
        Verdict.PROVED: words.proved,
        Verdict.NOT_VIOLATED: words.not_violated,
        Verdict.VIOLATED: words.violated,
    }
    means = MEANS_ONCE if _once(evidence) else {**MEANS, **own}[verdict]
    claimed = words.claimed
    if claim is not None:
        claimed, means = with_numbers(claimed, claim), with_numbers(means, claim)
    if evidence.training is not None:
        means = MEANS_TRAINING if verdict is Verdict.NOT_VIOLATED else means
        found, then = FOUND_TRAINING.get(verdict, FOUND[verdict]), NEXT_TRAINING.get(verdict, NEXT[verdict])
        return PlainWords(claimed, found, means, NOT_SHOWN_TRAINING, then)
    if evidence.accounting is not None:
        means = MEANS_ACCOUNTED if verdict is Verdict.NO_CLAIM else means
        found, then = FOUND_ACCOUNTED.get(verdict, FOUND[verdict]), NEXT_ACCOUNTED.get(verdict, NEXT[verdict])
        return PlainWords(claimed, found, means, NOT_SHOWN_ACCOUNTED, then)
    return PlainWords(claimed, _found(evidence), means, NOT_SHOWN[verdict], NEXT[verdict])


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
