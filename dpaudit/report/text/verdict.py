"""Which sentence states a verdict, what does it mean in plain words, and what do its terms mean?

All sentences that judge are here, by verdict and situation, so that they can be reviewed in one place. A verdict of
"not violated" is never worded as privacy, and nothing is worded as a legal conclusion.

In plain words there are five sentences: what was claimed, what was found, what that means for a person in the data,
what it does not show, and what to do next. They are written for readers who have never heard of ε, and can be reviewed
in two places: in ``words.toml``, under "plain", and with each notion in `dpaudit.privacy`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from dpaudit.evidence.evidence import LOWERED, Evidence, against, low_bits_show_more, qualified
from dpaudit.evidence.records import Bound, Verdict
from dpaudit.privacy.claims import Words
from dpaudit.report.document import words
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


def plain_words(evidence: Evidence) -> PlainWords:
    """Return the five sentences for an audit, with the numbers of its claim."""
    claim, verdict, plain, word = evidence.claimed, evidence.verdict, words()["plain"], str(evidence.verdict)
    own = WITHOUT_CLAIM if claim is None else claim.words
    claims = {"proved": own.proved, "not violated": own.not_violated, "violated": own.violated}
    once = verdict is Verdict.NOT_VIOLATED and doubted(evidence) is not None  # a bound that was not confirmed
    claimed, means = own.claimed, plain["means"]["once"] if once else {**plain["means"], **claims}[word]
    if claim is not None:
        claimed, means = with_numbers(claimed, claim), with_numbers(means, claim)
    if evidence.training is None and evidence.accounting is None:
        in_words = plain["found"][_found(evidence)]
        return PlainWords(claimed, in_words, means, plain["not_shown"][word], plain["next"][word])
    watched = evidence.training is not None
    kind = words()["watched" if watched else "accounted"]
    if verdict is (Verdict.NOT_VIOLATED if watched else Verdict.NO_CLAIM):
        means = kind["means"]
    in_words, then = ({**plain[name], **kind[name]}[word] for name in ("found", "next"))
    return PlainWords(claimed, in_words, means, kind["not_shown"], then)


def _found(evidence: Evidence) -> str:
    if evidence.verdict is Verdict.VIOLATED:
        if contradicting(evidence) is not None:
            return "contradiction"
        if decisive(evidence).arithmetic == "float":
            return "low_bits"
    return str(evidence.verdict) if doubted(evidence) is None else "once"


# --- What do verdicts, findings and terms mean, apart from any evidence? ---------------------------------

_AT_WHICH_LINE = " With the same target and data, dpaudit trace says at which line."


def verdicts_and_findings() -> dict[str, tuple[str, ...]]:
    """Return each verdict and each finding of a trace, with paragraphs on it."""
    plain = words()["plain"]
    verdicts = {
        str(verdict).upper(): (
            plain["found"][str(verdict)],
            f"What it does not show: {plain['not_shown'][str(verdict)]}",
            f"Next: {plain['next'][str(verdict)]}{_AT_WHICH_LINE if verdict is Verdict.VIOLATED else ''}",
        )
        for verdict in Verdict
    }
    return verdicts | {
        f"{word} (trace)": (f"{meaning[0].upper()}{meaning[1:]}.",) for word, meaning in MEANINGS.items()
    }


def terms() -> dict[str, str]:
    """Return what terms mean, each under all names that it is looked up by, between commas."""
    return tomllib.loads(files("dpaudit.report").joinpath("terms.toml").read_text(encoding="utf-8"))
