"""Which sentence states a verdict, what does it mean in plain words, and what do its terms mean?

All sentences that judge are here, by verdict and situation, so that they can be reviewed in one place. A verdict of
"not violated" is never worded as privacy, and nothing is worded as a legal conclusion.

In plain words there are five sentences: what was claimed, what was found, what that means for a person in the data,
what it does not show, and what to do next. They are written for readers who have never heard of ε, and can be reviewed
in two places: here, and with each notion in `dpaudit.privacy`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from dpaudit.evidence.evidence import LOWERED, Evidence, against, low_bits_show_more, qualified
from dpaudit.evidence.records import Bound, Verdict
from dpaudit.privacy.claims import Words
from dpaudit.report.text.findings import MEANINGS, pair_story, trace_story
from dpaudit.report.text.listed import accounting_of, training_verdict, verdict_words
from dpaudit.report.text.phrases import (
    NBSP,
    bound_text,
    certainty,
    claim_words,
    confidence_text,
    contradicting,
    count_text,
    counterexample_attempt,
    detectable_sentence,
    error_text,
    estimate_text,
    exact_lower,
    full_text,
    is_proof,
    proved_for,
    sampled_lower,
    symbol,
    value_text,
    with_numbers,
    without_bound,
)

# --- Which sentence states a verdict? --------------------------------------------------------------------

NO_PROOF = "This is not a proof of privacy."


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict in words: the word, its sentence, and what must not be concluded from it.

    ``brief`` is the caution for renderings with a separate row on what would have been found.
    """

    word: str
    tone: str
    sentence: str
    caution: str
    brief: str


def headline(evidence: Evidence) -> Headline:
    """Return the words for an audit, by verdict and situation."""
    verdict, claimed = evidence.verdict, evidence.claimed
    claim = "" if claimed is None else claim_words(claimed)
    word, tone = str(verdict).upper() + qualified(evidence).removeprefix(str(verdict)), str(verdict).replace(" ", "-")
    accounting = accounting_of(evidence)
    if evidence.training is not None:
        sentence, caution = training_verdict(evidence, evidence.training)
    elif accounting is not None:
        sentence, caution = verdict_words(evidence, accounting)
    elif verdict is Verdict.VIOLATED:
        sentence, caution = _violated(evidence, claim)
    elif verdict is Verdict.PROVED and evidence.upper is not None:
        sentence, caution = _proved(evidence, evidence.upper, claim)
    elif verdict is Verdict.NOT_VIOLATED and doubted(evidence) is not None:
        sentence = f"No violation of the claim {claim} was confirmed. {doubt_sentence(evidence)}"
        caution = f"{NO_PROOF} {detectable_sentence(evidence)}".strip()
    elif verdict is Verdict.NOT_VIOLATED:
        where = " in outputs read as real numbers" if low_bits_show_more(evidence) else ""
        sentence = f"No violation of the claim {claim} was found{where}. {_shown(evidence)} {proof_sentence(evidence)}"
        caution = f"{NO_PROOF} {detectable_sentence(evidence)}".strip()
    elif verdict is Verdict.INVALID:
        sentence = "Nothing was concluded from these runs."
        caution = "No number of this audit says anything about the mechanism's privacy."
        if is_proof(evidence):
            caution = "No number of these runs says anything. What is proved or exact does not rest on them."
    elif verdict is Verdict.NO_CLAIM:
        between = _between(evidence)
        known = f"{_shown(evidence)} {proof_sentence(evidence)}"
        if between and evidence.proof is not None:
            certain = certainty(evidence.lower)
            known = f"It is {between}: from below {certain}, from above proved {proved_for(evidence.proof)}."
        sentence = f"No claim was given, so there is nothing to judge. {known}"
        caution = "A lower bound says how much is lost at least. It does not say how much is lost at most."
        if evidence.upper is not None:
            caution = "A lower bound says how much is lost at least, and an upper bound how much at most, in its scope."
    elif evidence.proof is not None and evidence.proof.is_refuted and evidence.proof.comparison is not None:
        sentence = f"Nothing is proved: {evidence.proof.comparison.open_ends[0]}. {_shown(evidence)}"
        caution = f"Asked for was a proof {evidence.proof.granted}. That this is false does not refute the claim."
    elif against(evidence):
        shown = doubt_sentence(evidence) or _shown(evidence)
        sentence = f"A finding speaks against the claim {claim}: {against(evidence)}. {shown}"
        caution = "It refutes nothing by itself. Neither a violation nor the absence of one may be concluded."
    else:
        target = f"the claim {claim}" if claim else "the mechanism"
        sentence = f"The audit could not decide on {target}. {doubt_sentence(evidence) or _shown(evidence)}"
        caution = "Neither a violation nor the absence of one may be concluded."
    brief = NO_PROOF if verdict is Verdict.NOT_VIOLATED else caution
    return Headline(word, tone, sentence.strip(), caution, brief)


def reason_says_more(evidence: Evidence) -> bool:
    """Whether the recorded reason says more than the claim and the lower bound."""
    upper, sampled = evidence.upper, sampled_lower(evidence)
    disputed = upper is not None and sampled is not None and sampled.value > upper.value
    said_above = evidence.reason.startswith(LOWERED)
    return (evidence.verdict in {Verdict.INVALID, Verdict.INCONCLUSIVE} and not said_above) or disputed


def decisive(evidence: Evidence) -> Bound:
    """Return the bound that a violation rests on: a certain one, else the one that the evidence names."""
    claim, low_bits, exact = evidence.claimed, evidence.floating_point, exact_lower(evidence)
    if claim is None or evidence.verdict is not Verdict.VIOLATED:
        return evidence.lower
    if exact is not None and exact.value > claim.value:
        return exact
    by_low_bits = evidence.decided_in == "float" or evidence.lower.value <= claim.value
    return low_bits if by_low_bits and low_bits is not None else evidence.lower


def _shown(evidence: Evidence) -> str:
    lower = evidence.lower
    if lower.value <= 0:
        letter = symbol(evidence)
        return f"No lower bound of {letter} above 0 was shown."
    return f"The audit shows {bound_text(lower, evidence.claimed)} {certainty(lower)}."


def _violated(evidence: Evidence, claim: str) -> tuple[str, str]:
    against = contradicting(evidence)
    if against is not None and evidence.upper is not None:
        return _contradiction(evidence, against, claim)
    bound = decisive(evidence)
    text = bound_text(bound, evidence.claimed)
    reader = " for someone who reads the low-order bits of the output" if bound.arithmetic == "float" else ""
    if bound.kind == "sampled":
        second, alarm = evidence.second, evidence.false_alarm
        again = "" if second is None else f"; {count_text(sum(second.counts.runs))} fresh runs of its event confirm it"
        story = trace_story(evidence) or pair_story(evidence, bound)
        first = f"The runs contradict the claim {claim}{reader}: they show {text} {certainty(bound)}{again}."
        return (
            " ".join([first, *story]),
            "If the claim were true, an audit like this one would end so with a probability of at most "
            f"{error_text(bound.confidence if alarm is None else 1 - alarm)}.",
        )
    if evidence.trace is not None:
        first = f"The claim {claim} does not hold, {certainty(bound)}: {bound_text(bound, evidence.claimed)}."
        return (
            " ".join([first, *trace_story(evidence)]),
            "This is about the audited pair, in real arithmetic, as far as all that is done with the noise was "
            "followed; it rests on no sampling.",
        )
    return (
        f"The claim {claim} certainly does not hold{reader}: {text} {certainty(bound)}.{_confirmed(evidence)}",
        "This is certain for the audited pair and for the program as mathematics, in real arithmetic; it rests on no "
        "sampling.",
    )


def _confirmed(evidence: Evidence) -> str:
    """Say what runs of the counterexample's event show; empty if they show nothing."""
    attempt = counterexample_attempt(evidence)
    if attempt is None or attempt.bound.value <= 0:
        return ""
    return f" Runs of the same event show {bound_text(attempt.bound, evidence.claimed)} {certainty(attempt.bound)}."


def _contradiction(evidence: Evidence, against: Bound, claim: str) -> tuple[str, str]:
    upper, claimed = evidence.upper, evidence.claimed
    assert upper is not None
    both = "the proof" if claimed is None or against.value <= claimed.value else f"the proof and the claim {claim}"
    return (
        f"The runs contradict {both}: they show {bound_text(against, claimed)} {certainty(against)}, and "
        f"{bound_text(upper, claimed)} was proved {proved_for(evidence.proof)}.",
        "One of the two is wrong: the implementation, its arithmetic, or the prover. If the proof were right, runs "
        f"would show this with a probability of at most {error_text(against.confidence)}.",
    )


def _proved(evidence: Evidence, upper: Bound, claim: str) -> tuple[str, str]:
    claimed, proof = evidence.claimed, evidence.proof
    data, scope = proved_for(proof), "" if proof is None else f" The proof holds for {proof.scope.rstrip('.')}."
    if (
        proof is not None and proof.method == "releases" and not proof.given
    ):  # neighbours and parameters stand beside it
        data, scope = f"for {proof.scope.partition(', under ')[0]}", ""
    rounded = claimed is not None and upper.value > claimed.value
    note = " The bound is written rounded up; exactly, it does not exceed the claim." if rounded else ""
    length = None if proof is None else proof.length
    other = "" if length is None else f" It holds at n = {length} alone."
    return (
        f"The claim is {claim}, and {full_text(upper, claimed)} is proved {data}.{_at_least(evidence)}{note}{scope}",
        "A proof covers the mechanism as modelled, in real arithmetic and with perfect sampling, not the system in "
        f"which it is used.{other}",
    )


def _at_least(evidence: Evidence) -> str:
    """Return a sentence with both bounds beside a proof, where something is known from below."""
    between = _between(evidence)
    return f" So {between}, from below {certainty(evidence.lower)}." if between else ""


def _between(evidence: Evidence) -> str:
    """Return both bounds in one inequality; empty where nothing is known from below, or the two contradict."""
    lower, upper, claimed = evidence.lower, evidence.upper, evidence.claimed
    if upper is None or not 0 < lower.value <= upper.value:
        return ""
    return f"{value_text(lower, claimed)}{NBSP}≤{NBSP}{bound_text(upper, claimed)}"


def proof_sentence(evidence: Evidence) -> str:
    """Say what a proof shows if it does not decide the verdict; empty without a proof."""
    proof, upper = evidence.proof, evidence.upper
    if proof is None:
        return ""
    if upper is None:
        return f"No finite upper bound was found; {without_bound(evidence)}."
    text = f"Proved {proved_for(proof)} is {full_text(upper, evidence.claimed)}"
    claim = evidence.claimed
    above = claim is not None and upper.value > claim.value
    return f"{text}{', which is more than the claim and refutes nothing' if above else ''}."


# --- What did a second look show, and what does an unconfirmed bound above the claim mean? In words. ---


def doubted(evidence: Evidence) -> Bound | None:
    """Return the sampled bound that is above the claim without counting as a violation; None if there is none."""
    claim, second = evidence.claimed, evidence.second
    if claim is None or evidence.verdict not in (Verdict.NOT_VIOLATED, Verdict.INCONCLUSIVE):
        return None
    if second is not None and second.attempt < len(evidence.attempts):
        real = evidence.attempts[second.attempt].bound.arithmetic == "real" or evidence.floating_point is None
        return evidence.lower if real else evidence.floating_point
    above = evidence.lower.kind == "sampled" and evidence.lower.value > claim.value
    return evidence.lower if above and evidence.false_alarm is not None and evidence.proof is None else None


def doubt_sentence(evidence: Evidence) -> str:
    """Say what such a bound means; empty if there is none."""
    bound, second = doubted(evidence), evidence.second
    if bound is None:
        return ""
    reader = " for someone who reads the low-order bits" if bound.arithmetic == "float" else ""
    by_chance = estimate_text(1 / (1 - evidence.confidence))
    shown = f"{bound_text(bound, evidence.claimed)} {certainty(bound)}{reader}"
    claim = evidence.claimed
    if second is not None and claim is not None and bound.value <= claim.value:
        return (
            f"The audit shows {shown}. At {confidence_text(evidence.confidence)} confidence the runs show more than "
            f"is claimed, as they do by chance in up to one of {by_chance} audits of a mechanism that just keeps its "
            f"claim; {count_text(sum(second.counts.runs))} fresh runs of the same event did not confirm it."
        )
    text = (
        f"The bound that is shown, {shown}, is above the claim, as it is by chance in up to one of {by_chance} audits "
        "of a mechanism that just keeps its claim"
    )
    if second is None:
        return f"{text}; that is too often for a violation."
    return f"{text}; {count_text(sum(second.counts.runs))} fresh runs of the same event did not confirm it."


def second_text(evidence: Evidence) -> str | None:
    """Say in one line what the second look showed; None if there was none."""
    second = evidence.second
    if second is None:
        return None
    runs, sign = count_text(sum(second.counts.runs)), "≤" if second.confirmed else ">"
    how = "confirm the first look" if second.confirmed else "did not confirm the first look"
    return f"{runs} fresh runs of its event {how} (p₁ ≤ {second.p:.3g}, p₂ {sign} {second.level:.3g})"


# --- What does a verdict mean in plain words? ------------------------------------------------------------


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


# --- What do verdicts, findings and terms mean, apart from any evidence? ---------------------------------

_AT_WHICH_LINE = " With the same target and data, dpaudit trace says at which line."


def verdicts_and_findings() -> dict[str, tuple[str, ...]]:
    """Return each verdict and each finding of a trace, with paragraphs on it."""
    verdicts = {
        str(verdict).upper(): (
            FOUND[verdict],
            f"What it does not show: {NOT_SHOWN[verdict]}",
            f"Next: {NEXT[verdict]}{_AT_WHICH_LINE if verdict is Verdict.VIOLATED else ''}",
        )
        for verdict in Verdict
    }
    return verdicts | {
        f"{word} (trace)": (f"{meaning[0].upper()}{meaning[1:]}.",) for word, meaning in MEANINGS.items()
    }


def terms() -> dict[str, str]:
    """Return what terms mean, each under all names that it is looked up by, between commas."""
    return tomllib.loads(files("dpaudit.report").joinpath("terms.toml").read_text(encoding="utf-8"))
