"""How is a part of evidence said in words? Bounds, claims, relations, methods, and what an audit cannot show.

The sentences that judge stand in `dpaudit.report.text.headline`.
"""

from __future__ import annotations

import math
import unicodedata

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Rate, Scores
from dpaudit.privacy import ApproxDP, Claim, PureDP, RenyiDP, parse_claim
from dpaudit.report.text.bound_kinds import exact_value
from dpaudit.report.text.numerals import (
    NBSP,
    claim_text,
    confidence_text,
    count_text,
    estimate_text,
    lower_text,
    share_text,
    upper_text,
)

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


def one_line(text: str) -> str:
    """Return text as one line for a terminal or for JSON: its spaces plain, and nothing in it that is obeyed."""
    return visible(text.replace(NBSP, " "), one_line=True)


def shortened(text: str, length: int) -> str:
    """Return one line of at most ``length`` characters; an ellipsis stands for what was cut."""
    text = visible(" ".join(text.split()), one_line=True)
    return text if len(text) <= length else text[: max(length - 1, 0)].rstrip() + "…"


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


def value_text(bound: Bound, claim: Claim | None) -> str:
    """Write the value of a bound, rounded so that it stays true, and never across the claim."""
    limit = None if claim is None else claim.value
    return upper_text(bound.value, claim=limit) if bound.side == "upper" else lower_text(bound.value, claim=limit)


def bound_text(bound: Bound, claim: Claim | None) -> str:
    """Write a bound as an inequality, rounded so that it stays true."""
    return f"{_inequality(bound, value_text(bound, claim))}{at(bound)}"


def full_text(bound: Bound, claim: Claim | None) -> str:
    """Write a bound as an inequality, with its exact value beside the decimals where it has a short one."""
    text = value_text(bound, claim)
    return f"{_inequality(bound, text)}{exact_value(bound, text)}{at(bound)}"


def _inequality(bound: Bound, text: str) -> str:
    letter = _SYMBOLS.get(bound.parameter, bound.parameter)
    sign = "≤" if bound.side == "upper" else "=" if math.isinf(bound.value) else "≥"
    return f"{letter}{NBSP}{sign}{NBSP}{text}"


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
        return f"These runs could not be counted on to show a violation of any size {yardstick(evidence)}."
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
    "scores": "scores of an attack on a model, of members (side 0) and of others (side 1), recorded elsewhere",
    "outputs": "outputs of a mechanism that were recorded elsewhere",
}

_BINS = (
    "Outputs are put into a few bins, by how much they speak for a side; one event would show little of a divergence "
    "that is spread over all of them. The counts of all bins give a joint region for their probabilities: an exact "
    "binomial test for each bin among what the earlier ones left, combined with weights that were fixed before "
    "measuring (Stouffer et al. 1949), cut as in Berger & Boos (1994). The bound is the smallest Rényi divergence of "
    "side {first} from side {second} that the region allows, by its variational form (Donsker & Varadhan 1983; Birrell "
    "et al. 2021), at the order that shows most; computed on a grid that is rounded against it."
)

METHODS = {
    "guess": (
        "A fair coin picks the side of every run. Outputs in the event for a side count as a guess of that "
        "side, others as no guess. Under a pure ε claim a guess is right with a probability of at most "
        "e^ε / (1 + e^ε); the bound is the smallest ε that the number of right guesses leaves possible "
        "(Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015), with the exact binomial limit of Clopper & "
        "Pearson (1934)."
    ),
    "guess given sides": (
        "The runs of both sides are equally many, and outputs in the event for a side count as a guess of that side, "
        "others as no guess. Given how many guesses each side made, a pure ε claim bounds the mean of the right ones, "
        "and a sum of unequal coins is seldom further above that than a binomial number (Hoeffding 1956, Theorem 5). "
        "The bound is the smallest ε that the number of right guesses leaves possible."
    ),
    "odds given sides": (
        "Given how often the event occurred on both sides together, its count on one side follows Fisher's noncentral "
        "hypergeometric law, whatever the numbers of runs: an exact limit of its odds ratio (Cornfield 1956), and one "
        "of its probability on the side that it speaks for, give the smallest ε that the counts leave possible."
    ),
    "two-sided joint given sides": (
        "Right and wrong guesses are counted on each side, and give a joint region for their probabilities, averaged "
        "over the sides: exact binomial tests of the counts, given how many runs each side has, combined with weights "
        "that were fixed before measuring (Stouffer et al. 1949), cut as in Berger & Boos (1994); where wrong guesses "
        "are few, those of both sides together (Hoeffding 1956). The bound is the smallest value that some point of "
        "the region allows."
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
    "one-run": (
        "Each canary was put into the training data of one model, or left out, by a fair coin of its own. The highest "
        "scores are guessed in and the lowest out, in numbers that the number of canaries alone fixes; the plans share "
        "the error. The guesses hang together, so no binomial interval holds for them; but under (ε, δ)-DP the number "
        "of right ones is at most as large as a binomial number with the probability e^ε / (1 + e^ε), but for a term "
        "in δ (Steinke, Nasr & Jagielski 2023, Theorem 5.2). The bound is the smallest ε that this leaves possible. "
        "There are no learning runs, and each canary counts as one measuring run."
    ),
    "sequential": (
        "Runs come in twos, one of each side (in the first audits by a fair coin for every run), and are bet on as "
        "they come, by events that only earlier runs have chosen: a bet wins where the event guesses the side, and "
        "loses so much where it errs that no bet "
        "gains on average if the claim is true. Then the wealth of all bettors, who start with 1, ever reaches "
        "1 / (1 − confidence) with a probability of at most 1 − confidence, however often one looks and whenever one "
        "stops (Ville 1939). The bound is the largest value of the claim that is rejected in this way, with all "
        "smaller ones."
    ),
    "two-sided enumerated joint": (
        "A fair coin picks the side of every run; right and wrong guesses give a joint region for their two "
        "probabilities. Runs are few, so all counts that were possible are enumerated: they were put in order "
        "before measuring, by how much they tell, and a pair of probabilities stands in the region unless counts "
        "at least as telling as these are too unlikely under it (Buehler 1957), cut as in Berger & Boos (1994). "
        "The bound is the smallest value that some point of the region allows."
    ),
    "multinomial": _BINS.format(first=0, second=1),
    "swapped multinomial": _BINS.format(first=1, second=0),
}


def rate_text(rate: Rate) -> str:
    """Write the true positive rate at a false positive rate, with its exact limits where there are any."""
    text = f"{share_text(rate.estimate)} at {share_text(rate.at)} false positives"
    if rate.limits is None:
        return text
    low, high = rate.limits
    return f"{text} ({share_text(low, rounding='lower')} to {share_text(high, rounding='upper')})"


def gaussian_text(scores: Scores) -> str:
    """Write what a Gaussian mechanism with such scores would lose; empty where that cannot be estimated."""
    if scores.mu is None or scores.epsilon_if_gaussian is None:
        return ""
    return (
        f"ε{NBSP}≈{NBSP}{estimate_text(scores.epsilon_if_gaussian)} at δ{NBSP}={NBSP}{claim_text(scores.delta)} "
        f"(μ{NBSP}≈{NBSP}{estimate_text(abs(scores.mu))})"
    )


def guesses_text(bound: Bound) -> str:
    """Say which canaries of one model were guessed, and how many of the guesses were right."""
    counts = bound.counts
    assert counts is not None
    high, low = sum(counts.toward0), sum(counts.toward1)
    right = counts.toward0[0] + counts.toward1[1]
    ends = f"{count_text(high)} highest in" + (f", {count_text(low)} lowest out" if low else "")
    return f"{ends}; {count_text(right)} of {count_text(high + low)} right, of {count_text(sum(counts.runs))} canaries"


_SIDE_CHANNELS = {
    False: "The attacker sees the returned output. Running time, memory, logs and anything else that can be observed "
    "are outside.",
    True: "The attacker sees the returned output and the run time, by a clock in the same process of this machine. "
    "Whether so small a difference can be seen from farther away, and on another machine, is not said. Memory, logs "
    "and anything else that can be observed are outside.",
}


def limits(evidence: Evidence) -> list[tuple[str, str]]:
    """Return what the audit cannot show, each as a short name and a sentence."""
    listed = []
    learning = evidence.learning if evidence.sequential is None else evidence.runs // 2  # all earlier runs teach
    if learning > 0 and evidence.pairs:
        a_side = learning / len(evidence.pairs) / 2
        one_in = max(1, int(a_side / 10))
        one_in -= one_in % 10 ** max(0, len(str(one_in)) - 2)  # two digits, toward the more common leak
        listed.append(
            (
                "Rare events",
                "The event was chosen from outputs seen in the learning runs. A leak that occurs less often than "
                f"about once in {count_text(one_in)} runs is likely to be missed, however grave it is.",
            )
        )
    if evidence.scores is not None:
        return [*listed, *_LIMITS_OF_SCORES]
    if evidence.measuring > 0 or evidence.proof is None:
        listed.append(
            (
                "Other events",
                "Only the events listed under every attempt were measured. Another set of outputs may tell more.",
            )
        )
    own = "" if evidence.upper is None else " Beyond the data of its scope, the proof says nothing either."
    return [
        *listed,
        (
            "Other pairs",
            "A promise of privacy is about all neighbouring datasets. Runs say something about the pairs that "
            f"were run, and nothing about others.{own}",
        ),
        (
            "Other parameters and versions",
            "The result holds for the parameters and the code named above. Another version, platform or "
            "setting needs an audit of its own.",
        ),
        ("Side channels", _SIDE_CHANNELS["time" in evidence.observed]),
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


_LIMITS_OF_SCORES = (
    (
        "Other attacks",
        "Only the scores of one attack were judged. Another attack on the same model may tell members from others "
        "better.",
    ),
    (
        "Other records",
        "A promise of privacy is about every record that anyone could add. Scores say something about the records "
        "that were scored, and nothing about others.",
    ),
    (
        "Other trainings",
        "The result holds for the training that gave these scores. Another setting, version or amount of data needs "
        "scores of its own.",
    ),
    (
        "How the scores were made",
        "They were made elsewhere, and dpaudit saw nothing else: not the training, not the coins that decided who was "
        "in it, not its random generator.",
    ),
    (
        "The system around it",
        "Trust model, data collection, access control, storage, how records map to people, and the choice of the "
        "parameters are not examined.",
    ),
)


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
