"""Which sentence does a verdict deserve?

Every sentence that judges stands here, by verdict and situation, so that it can be read in one place. A
verdict of "not violated" is never worded as privacy, and nothing is worded as a legal conclusion.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

from dpaudit.errors import UsageError
from dpaudit.evidence import Bound, Evidence, Verdict
from dpaudit.privacy import ApproxDP, Claim, PureDP, RenyiDP, parse_claim
from dpaudit.report.numerals import (
    NBSP,
    claim_text,
    confidence_text,
    count_text,
    error_text,
    estimate_text,
    lower_text,
    upper_text,
)

NO_PROOF = "This is not a proof of privacy."
_SYMBOLS = {"epsilon": "ε", "mu": "μ", "rho": "ρ"}


def visible(text: str, *, one_line: bool = False) -> str:
    """Show what a terminal or browser would obey rather than print: control and direction characters.

    Zero-width joiners stay, since some scripts need them; line breaks stay unless ``one_line``.
    """
    kept = "\u200c\u200d" if one_line else "\u200c\u200d\n\t"
    return "".join(
        f"\\u{ord(mark):04x}"
        if unicodedata.category(mark) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and mark not in kept
        else mark
        for mark in text
    )


def shortened(text: str, length: int) -> str:
    """Return one line of at most ``length`` characters; an ellipsis stands for what was cut."""
    text = visible(" ".join(text.split()), one_line=True)
    return text if len(text) <= length else text[: max(length - 1, 0)].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict in words: the word, its sentence, and what must not be concluded from it."""

    word: str
    tone: str
    sentence: str
    caution: str


def notion_of(bound: Bound) -> Claim | None:
    """Return the notion that a bound is about, as a claim (its value means nothing), or None."""
    try:
        return parse_claim(bound.notion)
    except UsageError:
        return None


def symbol(evidence: Evidence) -> str:
    """Return the letter that the audit is about."""
    claim = evidence.claimed
    return claim.symbol if claim is not None else _SYMBOLS.get(evidence.lower.parameter, evidence.lower.parameter)


def at(bound: Bound) -> str:
    """Return " at δ = …" or " at order …" where a bound holds there only; else nothing."""
    if bound.delta > 0:
        return f" at δ{NBSP}={NBSP}{claim_text(bound.delta)}"
    notion = notion_of(bound)
    return f" at order {claim_text(notion.order)}" if isinstance(notion, RenyiDP) else ""


def bound_text(bound: Bound, claim: Claim | None) -> str:
    """Write a bound as an inequality, rounded so that it stays true."""
    letter = _SYMBOLS.get(bound.parameter, bound.parameter)
    limit = None if claim is None else claim.value
    if bound.side == "upper":
        return f"{letter}{NBSP}≤{NBSP}{upper_text(bound.value, claim=limit)}{at(bound)}"
    if math.isinf(bound.value):
        return f"{letter}{NBSP}={NBSP}∞{at(bound)}"
    return f"{letter}{NBSP}≥{NBSP}{lower_text(bound.value, claim=limit)}{at(bound)}"


def certainty(bound: Bound) -> str:
    """Say how sure a bound is."""
    if bound.kind == "proof":
        return "by proof"
    if bound.kind == "exact":
        return "by exact computation"
    return f"at {confidence_text(bound.confidence)} confidence"


def kind_words(bound: Bound) -> str:
    """Say where a bound comes from."""
    return {
        "sampled": "counted in runs",
        "exact": "computed exactly",
        "proof": "proved",
    }.get(bound.kind, bound.kind)


def claim_words(claim: Claim) -> str:
    """Write a claim with its symbols: ε = 1, δ = 1e-6."""
    own = f"{claim.symbol}{NBSP}={NBSP}{claim_text(claim.value)}"
    if isinstance(claim, ApproxDP):
        return f"{own}, δ{NBSP}={NBSP}{claim_text(claim.delta)}"
    if isinstance(claim, RenyiDP):
        return f"{own} at order {claim_text(claim.order)}"
    return own


def claim_meaning(claim: Claim) -> str:
    """Say in a sentence what a claim promises."""
    value = claim_text(claim.value)
    if isinstance(claim, PureDP) or (isinstance(claim, ApproxDP) and claim.delta == 0):
        factor = "" if claim.value > 50 else f" ≈ {estimate_text(math.exp(claim.value))}"
        return (
            f"For neighbouring datasets, no set of outputs is more than e^{value}{factor} times as likely for one "
            "as for the other."
        )
    if isinstance(claim, ApproxDP):
        return (
            f"For neighbouring datasets and every set S of outputs, P(S) ≤ e^{value} · Q(S) + "
            f"{claim_text(claim.delta)}, in both orders of the two."
        )
    if isinstance(claim, RenyiDP):
        return (
            f"For neighbouring datasets, the Rényi divergence of order {claim_text(claim.order)} between "
            f"the two output distributions is at most {value}, in both orders."
        )
    if claim.parameter == "rho":
        return (
            "For neighbouring datasets and every order α above 1, the Rényi divergence of order α between "
            f"the two output distributions is at most {value} · α, in both orders."
        )
    return (
        "Telling two neighbouring datasets apart from one output is at least as hard as telling one draw of "
        f"a normal distribution with mean 0 from one with mean {value}, both with variance 1."
    )


def decisive(evidence: Evidence) -> Bound:
    """Return the lower bound that exceeds the claim: the headline's, or else the one of the low-order bits."""
    claim, low_bits = evidence.claimed, evidence.floating_point
    if claim is None or low_bits is None or evidence.verdict is not Verdict.VIOLATED:
        return evidence.lower
    return evidence.lower if evidence.lower.value > claim.value else low_bits


def _shown(evidence: Evidence) -> str:
    lower = evidence.lower
    if lower.value <= 0:
        letter = symbol(evidence)
        return f"No lower bound of {letter} above 0 was shown."
    return f"The audit shows {bound_text(lower, evidence.claimed)} {certainty(lower)}."


def low_bits_sentence(evidence: Evidence) -> str | None:
    """Say what was found in the low-order bits of the outputs; None where they were not examined."""
    bound = evidence.floating_point
    if bound is None:
        return None
    if bound.method == "none":
        return "The outputs have no low-order bits to read: they lie on a coarse grid, or are no numbers."
    if bound.value <= 0:
        return f"Nothing was found in the low-order bits of the output ({certainty(bound)})."
    text = f"{bound_text(bound, evidence.claimed)} {certainty(bound)}"
    if bound.value <= evidence.lower.value:
        return f"The low-order bits of the output showed no more than the output itself: {text}."
    return (
        f"Someone who reads the low-order bits of the output learns more: {text}. This concerns the floating-point "
        f"implementation, not the mathematics{_policy(evidence)}."
    )


def _policy(evidence: Evidence) -> str:
    if evidence.claim is None:
        return ""
    return {
        "verdict": "; this audit was asked to let it decide the verdict too",
        "report": "; the verdict is about the mathematics",
    }.get(evidence.low_bits, "")


def _violated(evidence: Evidence, claim: str) -> tuple[str, str]:
    bound = decisive(evidence)
    text = bound_text(bound, evidence.claimed)
    reader = " for someone who reads the low-order bits of the output" if bound.arithmetic == "float" else ""
    if bound.kind == "sampled":
        return (
            f"The runs contradict the claim {claim}{reader}: they show {text} {certainty(bound)}.",
            "If the claim were true, an audit like this one would end so with a probability of at most "
            f"{error_text(bound.confidence)}.",
        )
    return (
        f"The claim {claim} does not hold{reader}: {text} {certainty(bound)}.",
        "This is certain for the audited pair and the mechanism as written; it rests on no sampling.",
    )


def headline(evidence: Evidence) -> Headline:
    """Return the words for an audit: one table of verdict and situation."""
    verdict, claimed = evidence.verdict, evidence.claimed
    claim = "" if claimed is None else claim_words(claimed)
    word, tone = str(verdict).upper(), str(verdict).replace(" ", "-")
    if verdict is Verdict.VIOLATED:
        sentence, caution = _violated(evidence, claim)
    elif verdict is Verdict.PROVED and evidence.upper is not None:
        sentence = (
            f"{bound_text(evidence.upper, claimed)} {certainty(evidence.upper)}, within the scope of the proof; "
            f"the claim is {claim}."
        )
        caution = "A proof covers the mechanism as modelled, not the system in which it is used."
    elif verdict is Verdict.NOT_VIOLATED:
        sentence = f"No violation of the claim {claim} was found. {_shown(evidence)}"
        caution = f"{NO_PROOF} {detectable_sentence(evidence)}".strip()
    elif verdict is Verdict.INVALID:
        sentence = "Nothing was concluded from these runs."
        caution = "No number of this audit says anything about the mechanism's privacy."
    elif verdict is Verdict.NO_CLAIM:
        sentence = f"No claim was given, so there is nothing to judge. {_shown(evidence)}"
        caution = "A lower bound says how much is lost at least. It does not say how much is lost at most."
    else:
        target = f"the claim {claim}" if claim else "the mechanism"
        sentence = f"The audit could not decide on {target}. {_shown(evidence)}"
        caution = "Neither a violation nor the absence of one may be concluded."
    return Headline(word, tone, sentence, caution)


def reason_says_more(evidence: Evidence) -> bool:
    """Whether the recorded reason tells what the claim and the lower bound do not."""
    return evidence.verdict in {Verdict.INVALID, Verdict.INCONCLUSIVE} or evidence.upper is not None


def detectable_text(evidence: Evidence) -> str | None:
    """Write the smallest violation that would have been found with probability 0.9, or None where unknown."""
    if evidence.detectable is None:
        return None
    if math.isinf(evidence.detectable):
        return "no violation of any size"
    return f"{symbol(evidence)}{NBSP}={NBSP}{upper_text(evidence.detectable)} or more"


def yardstick(evidence: Evidence) -> str:
    """Say where the detectable violation would have had to show."""
    return {"event": "through a measured event", "gaussian": "on a Gaussian mechanism"}[evidence.detectable_on]


def detectable_sentence(evidence: Evidence) -> str:
    """Say what this audit would have found; empty where that is unknown."""
    if evidence.detectable is None:
        return ""
    if math.isinf(evidence.detectable):
        return f"These runs could not have shown a violation of any size {yardstick(evidence)}."
    return (
        f"Had {symbol(evidence)} been {upper_text(evidence.detectable)} or more {yardstick(evidence)}, this "
        "audit would have found the violation with a probability of at least 0.9."
    )


_RELATIONS = {
    "add-remove": "the datasets differ by one record, which one of them has and the other has not",
    "replace": "the datasets have the same number of records, and one record differs",
    "queries": "the datasets are lists of answers to queries, as neighbouring datasets would give them",
    "declared": "whoever ran the audit declared the two to be neighbours; this was not checked",
}
_MOVEMENTS = {
    "one": "one answer differs, by at most 1",
    "monotone": "each answer differs by at most 1, all in the same direction",
    "norm=1": "the answers differ by at most 1 in all (norm 1)",
    "norm=2": "the answers differ by at most 1 in Euclidean length (norm 2)",
}


def relation_words(relation: str) -> str:
    """Say in words which datasets count as neighbours; empty for a relation that is not known here."""
    kind, _, inside = relation.partition("(")
    text = _RELATIONS.get(kind.strip())
    if text is None:
        return ""
    options = [option.strip() for option in inside.rstrip(")").split(",") if option.strip()]
    if kind.strip() == "queries":
        movement = next((words for name, words in _MOVEMENTS.items() if name in options), None)
        text += "; " + (movement or "each answer differs by at most 1")
    group = next((option.partition("=")[2] for option in options if option.startswith("group=")), None)
    return text + (f"; up to {group} such steps lie between the two" if group else "")


ASKS = {
    "program": "a program that draws all its randomness from dpaudit's noise; it stands for real arithmetic",
    "sampler": "a function that returns many outputs at once, from a seeded generator",
    "seeded": "a function that returns one output a call, from a seeded generator",
    "opaque": "a function with randomness of its own, which cannot be seeded",
}

METHODS = {
    "guess": (
        "A fair coin picks the side of every run. Outputs in the event for a side count as a guess of that "
        "side, others as no guess. Under a pure ε claim a guess is right with a probability of at most "
        "e^ε / (1 + e^ε); the bound is the smallest ε that the number of right guesses leaves possible "
        "(Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015), with the exact binomial limit of Clopper & "
        "Pearson (1934)."
    ),
    "joint": (
        "The counts of one event on both sides give a joint region for its two probabilities: exact binomial "
        "tests combined with weights that were fixed before measuring (Stouffer et al. 1949), cut as in Berger "
        "& Boos (1994). The bound is the smallest value that some point of the region allows."
    ),
    "two-sided joint": (
        "A fair coin picks the side of every run; right and wrong guesses give a joint region for their two "
        "probabilities: exact binomial tests combined with weights that were fixed before measuring (Stouffer "
        "et al. 1949), cut as in Berger & Boos (1994). The bound is the smallest value that some point of the "
        "region allows."
    ),
    "enumerated joint": (
        "The counts of one event on both sides give a joint region for its two probabilities. Runs are few, so "
        "all counts that were possible are enumerated: they were put in order before measuring, by how much "
        "they tell, and a pair of probabilities stands in the region unless counts at least as telling as these "
        "are too unlikely under it (Buehler 1957), cut as in Berger & Boos (1994). The bound is the smallest "
        "value that some point of the region allows."
    ),
    "two-sided enumerated joint": (
        "A fair coin picks the side of every run; right and wrong guesses give a joint region for their two "
        "probabilities. Runs are few, so all counts that were possible are enumerated: they were put in order "
        "before measuring, by how much they tell, and a pair of probabilities stands in the region unless counts "
        "at least as telling as these are too unlikely under it (Buehler 1957), cut as in Berger & Boos (1994). "
        "The bound is the smallest value that some point of the region allows."
    ),
}


def limits(evidence: Evidence) -> list[tuple[str, str]]:
    """Return what the audit cannot show, each as a short name and a sentence."""
    listed = []
    if evidence.learning > 0 and evidence.pairs:
        a_side = evidence.learning / len(evidence.pairs) / 2
        one_in = max(1, int(a_side / 10))
        one_in -= one_in % 10 ** max(0, len(str(one_in)) - 2)  # two digits, toward the more common leak
        listed.append(
            (
                "Rare events",
                "The event was chosen from outputs seen in the learning runs. A leak that occurs less often than "
                f"about once in {count_text(one_in)} runs is likely to be missed, however grave it is.",
            )
        )
    return [
        *listed,
        (
            "Other events",
            "Only the events listed under every attempt were measured. Another set of outputs may tell more.",
        ),
        (
            "Other pairs",
            "A promise of privacy is about all neighbouring datasets. Runs say something about the pairs that "
            "were run, and nothing about others.",
        ),
        (
            "Other parameters and versions",
            "The result holds for the parameters and the code named above. Another version, platform or "
            "setting needs an audit of its own.",
        ),
        (
            "Side channels",
            "The attacker sees the returned output. Running time, memory, logs and anything else that can be "
            "observed are outside.",
        ),
        _low_bits(evidence),
        (
            "The randomness",
            "A generator that can be predicted or is seeded twice breaks privacy and cannot be seen in the "
            "distribution of outputs.",
        ),
        ("Repeated use", "One release was audited. Several releases about the same people add up."),
        (
            "The system around it",
            "Trust model, data collection, access control, storage, how records map to people, and the choice "
            "of the parameters are not examined.",
        ),
    ]


def _low_bits(evidence: Evidence) -> tuple[str, str]:
    name = "Low-order bits"
    if evidence.floating_point is not None:
        return name, (
            "They were examined separately, by a few events: whether a number is a multiple of a power of two, or "
            "what a likely answer plus a double can give. Others may tell more."
        )
    if evidence.target.asks == "program":
        return name, (
            "The program was judged as mathematics in real arithmetic. An implementation with floating-point "
            "noise can leak through its last bits (Mironov 2012); that was not examined."
        )
    return name, (
        "Floating-point noise can leak through its last bits (Mironov 2012). This audit reports no finding "
        "there, which does not show that there is none."
    )
