"""How are numbers and parts of evidence put into words, so that each statement stays true?

A lower bound is rounded down and an upper bound up. A number is never rounded across the claim that it is compared
with: ``ε ≥ 1.098`` next to a claim of 1.0986 would say the opposite of what was found. The headline of evidence is the
larger of the sampled and the exact lower bound; a report shows both separately. The sentences that judge are in
`dpaudit.report.text.verdict`.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction

import msgspec

from dpaudit.errors import UsageError
from dpaudit.evidence import build, records
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim, claims, parse_claim
from dpaudit.report.document import words

# --- How is a number written so that the statement stays true? -------------------------------------------

NBSP = "\N{NO-BREAK SPACE}"
DIGITS = 4  # of a bound, enough to compare it with a claim
_ENCLOSED = 6  # digits of a probability between two exact limits
_FULL = 10  # digits of bounds in evidence


def _written(value: float) -> str:
    """Write a float that already has few digits: positional in the middle range, else like 1.2e-6."""
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if math.isnan(value):
        return "not a number"
    if 1e-3 <= abs(value) < 1e7:
        text = format(Decimal(repr(value)), "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = claims.number_text(value)
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _rounded(value: float, rounding: str, digits: int) -> float:
    """Round the decimal that Python writes for a float: 0.3 is 3/10, not slightly less."""
    if not math.isfinite(value):
        return value
    return float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(float(value)))))


def lower_text(value: float, *, claim: float | None = None, digits: int = DIGITS) -> str:
    """Write a lower bound, rounded down."""
    for many in range(digits, _FULL):
        rounded = _rounded(value, ROUND_FLOOR, many)
        if claim is None or not value > claim or rounded > claim:
            return _written(rounded)
    return _written(value)


def upper_text(value: float, *, claim: float | None = None, digits: int = DIGITS) -> str:
    """Write an upper bound, rounded up."""
    for many in range(digits, _FULL):
        rounded = _rounded(value, ROUND_CEILING, many)
        if claim is None or not value <= claim or rounded <= claim:
            return _written(rounded)
    return _written(value)


def claim_text(value: float) -> str:
    """Write a claimed number as it was given; if it has many digits, the first six and an ellipsis."""
    exact = claims.number_text(value)
    if len(exact) <= 8 or not math.isfinite(value):
        return exact
    cut = _rounded(value, ROUND_FLOOR, 6)
    return exact if cut == value else _written(cut) + "…"


def enclosure_text(low: str, high: str) -> str:
    """Write a probability between two decimals in percent: one number if they agree, else both, rounded outward."""
    ends = []
    for text, rounding in ((low, ROUND_FLOOR), (high, ROUND_CEILING)):
        try:
            ends.append(Context(prec=_ENCLOSED, rounding=rounding).multiply(Decimal(100), Decimal(text)))
        except InvalidOperation:
            return f"{low} to {high}"  # not written by dpaudit, so shown literally
    written = [_written(float(end)) if float(end) or not end else str(end.normalize()).lower() for end in ends]
    if ends[1] == 0:
        return f"0{NBSP}%, impossible"
    return f"{written[0]}{NBSP}%" if ends[0] == ends[1] else f"{written[0]} to {written[1]}{NBSP}%"


def estimate_text(value: float, digits: int = 3) -> str:
    """Write an estimate, rounded to the nearest number."""
    if not math.isfinite(value) or value == 0:
        return _written(value)
    return _written(_rounded(value, ROUND_HALF_EVEN, digits))


def confidence_text(confidence: float) -> str:
    """Write a confidence in percent: exactly if that is short, else rounded down."""
    percent = Decimal(repr(confidence)) * 100
    short = Context(prec=8, rounding=ROUND_FLOOR).plus(percent)
    return _written(float(short)) + NBSP + "%"


def error_text(confidence: float) -> str:
    """Write 1 − confidence in percent, rounded up."""
    percent = (1 - Decimal(repr(confidence))) * 100
    return _written(float(Context(prec=4, rounding=ROUND_CEILING).plus(percent))) + NBSP + "%"


def share_text(value: float, *, rounding: str = "nearest") -> str:
    """Write a share in percent with 3 digits; ``rounding`` is "nearest", "lower" or "upper"."""
    percent = 100 * value
    if percent == 0 or not math.isfinite(percent):
        return _written(percent) + NBSP + "%"
    how = {"nearest": ROUND_HALF_EVEN, "lower": ROUND_FLOOR, "upper": ROUND_CEILING}[rounding]
    short = Context(prec=3, rounding=how).plus(Decimal(percent))
    if short < Decimal("0.001"):
        return _written(float(short)) + NBSP + "%"
    places = max(0, 2 - short.adjusted())  # trailing zeros count as digits: 18.0 % next to 49.2 %
    return f"{short:.{places}f}{NBSP}%"


def count_text(count: int) -> str:
    """Write a whole number in groups of three."""
    return f"{count:,}"


# --- Is a bound sampled, exact or proved? ----------------------------------------------------------------

COUNTEREXAMPLE = "counterexample"  # the name of the attempt that measures the event of the counterexample
_LONGEST = 24  # characters of an exact value that is shown next to its decimals; longer ones are hard to read


def is_proof(evidence: Evidence) -> bool:
    """Whether the evidence rests on more than runs, so that each kind of number needs its own name."""
    return evidence.proof is not None or evidence.exact is not None


def exact_lower(evidence: Evidence) -> records.Bound | None:
    """Return the certain lower bound, or None."""
    return evidence.exact or (evidence.lower if evidence.lower.kind == "exact" else None)


def sampled_attempt(evidence: Evidence) -> records.Attempt | None:
    """Return the attempt that showed most, among those in real arithmetic."""
    return max(
        (attempt for attempt in evidence.attempts if attempt.bound.arithmetic == "real"),
        key=lambda attempt: attempt.bound.value,
        default=None,
    )


def sampled_lower(evidence: Evidence) -> records.Bound | None:
    """Return the sampled lower bound, at the confidence of the whole audit; None if nothing was run."""
    if evidence.lower.kind == "sampled":
        return evidence.lower if evidence.measuring > 0 or evidence.lower.value > 0 else None
    best = sampled_attempt(evidence)
    if best is None:
        return None
    bound = build.at_whole(best.bound, evidence.confidence)
    return msgspec.structs.replace(bound, value=0.0) if unconfirmed(evidence) else bound


def unconfirmed(evidence: Evidence) -> bool:
    """Whether runs showed more than is certain or claimed, and fresh runs did not confirm it: then it is not shown."""
    claim, best = evidence.claimed, sampled_attempt(evidence)
    if claim is None or best is None or evidence.lower.kind != "exact" or evidence.verdict is records.Verdict.VIOLATED:
        return False
    return best.bound.value > claim.value


def counterexample_attempt(evidence: Evidence) -> records.Attempt | None:
    """Return the attempt that measured the counterexample's event; if there are two, the one of higher confidence."""
    named = [attempt for attempt in evidence.attempts if attempt.name == COUNTEREXAMPLE]
    return max(named, key=lambda attempt: attempt.bound.confidence, default=None)


def contradicting(evidence: Evidence) -> records.Bound | None:
    """Return the sampled bound that contradicts the proof with the highest confidence; None if none decided."""
    upper, lower = evidence.upper, evidence.lower
    # a sampled headline exceeds a proved bound only if it was confirmed (`dpaudit.verify.answer`)
    decided = evidence.verdict is records.Verdict.VIOLATED and lower.kind == "sampled"
    if upper is None or not decided or lower.value <= upper.value:
        return None
    above = [
        attempt.bound
        for attempt in evidence.attempts
        if attempt.bound.arithmetic == "real" and attempt.bound.value > upper.value
    ]
    return max(above, key=lambda bound: bound.confidence, default=evidence.lower)


@dataclass(frozen=True, slots=True)
class Proved:
    """A proved upper bound of ε for drawings; it has the colour of a proof only if it keeps the claim."""

    value: float
    text: str
    keeps_claim: bool


def proved_limit(evidence: Evidence) -> Proved | None:
    """Return the upper bound of ε at δ = 0, with which curves can be drawn; None if there is none."""
    upper = evidence.upper
    if upper is None or upper.parameter != "epsilon" or upper.delta > 0 or not math.isfinite(upper.value):
        return None
    if contradicting(evidence) is not None:
        return None
    limit = evidence.claimed.value if evidence.claimed is not None else None
    text = f"ε ≤ {upper_text(upper.value, claim=limit)}"
    return Proved(upper.value, text, evidence.verdict is records.Verdict.PROVED)


def without_bound(evidence: Evidence) -> str:
    """Say what it means that no finite upper bound was found."""
    exact = exact_lower(evidence)
    if exact is not None and math.isinf(exact.value):
        return "the exact lower bound is infinite"
    return "this by itself refutes nothing"


def proved_for(proof: records.Proof | None) -> str:
    """Say for which data a proof holds, short enough for a headline."""
    if proof is None:
        return "within the scope of the proof"
    if proof.method == "enumeration":
        return "for every dataset of the domain"
    if proof.method == "releases":
        stated = f", given that {' and '.join(proof.given)}" if proof.given else ""
        return f"for data frames of any length{stated}"
    if proof.method == "moves":
        grows = "" if proof.exceeds_at is None else f" (it exceeds the claim at n = {proof.exceeds_at})"
        return "for any n" if proof.length is None else f"for n = {proof.length}{grows}"
    if proof.length is None:
        return "for any number of answers" if proof.method == "induction" else "within the scope of the proof"
    return f"for {answers(proof.length)}"


def answers(length: int) -> str:
    """Return the number of answers as text."""
    return f"{count_text(length)}{NBSP}answer{'' if length == 1 else 's'}"


def exact_value(bound: records.Bound, written: str) -> str:
    """Return the text after the decimals ``written`` of a bound: " = 5/8", " (exact: 1/3)", or nothing."""
    text = bound.exact
    if text is None or text == written or text == "infinite" or len(text) > _LONGEST:
        return ""
    try:
        if Fraction(text) == Fraction(written):
            return f"{NBSP}={NBSP}{text}"
    except (ValueError, ZeroDivisionError):
        pass  # ln(3), or a number in our own notation, like 1.2e-7
    return f" (exact: {text})"


def visible(text: str, *, one_line: bool = False) -> str:
    """Make characters visible that a terminal or browser would interpret: control and direction characters.

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
    """Return text as one line for a terminal or for JSON, with plain spaces and no active control characters."""
    return visible(text.replace(NBSP, " "), one_line=True)


def shortened(text: str, length: int) -> str:
    """Return one line of at most ``length`` characters, with an ellipsis if something was cut."""
    text = visible(" ".join(text.split()), one_line=True)
    return text if len(text) <= length else text[: max(length - 1, 0)].rstrip() + "…"


def notion_of(bound: records.Bound) -> Claim | None:
    """Return the privacy notion of a bound as a claim (its value has no meaning), or None."""
    try:
        return parse_claim(bound.notion)
    except UsageError:
        return None


_LETTERS = {**claims.SYMBOLS, "delta": "δ"}


def symbol(evidence: Evidence) -> str:
    """Return the symbol of the parameter that the audit is about."""
    claim = evidence.claimed
    return claim.symbol if claim is not None else _LETTERS.get(evidence.lower.parameter, evidence.lower.parameter)


def at(bound: records.Bound) -> str:
    """Return " at δ = …" or " at order …" if a bound only holds there, else nothing."""
    if bound.delta > 0:
        return f" at δ{NBSP}={NBSP}{claim_text(bound.delta)}"
    notion = notion_of(bound)
    if bound.parameter == "delta" and notion is not None:
        return f" at {notion.symbol}{NBSP}={NBSP}{claim_text(notion.value)}"
    return "" if notion is None else with_numbers(notion.words.at, notion)


_DIGITS = {"accounting": 7}  # of methods whose bounds lie close to each other


def value_text(bound: records.Bound, claim: Claim | None) -> str:
    """Write the value of a bound, rounded so that it stays true, and never across the claim."""
    limit = None if claim is None else claim.value
    written = upper_text if bound.side == "upper" else lower_text
    return written(bound.value, claim=limit, digits=_DIGITS.get(bound.method, DIGITS))


def bound_text(bound: records.Bound, claim: Claim | None) -> str:
    """Write a bound as an inequality, rounded so that it stays true."""
    return f"{_inequality(bound, value_text(bound, claim))}{at(bound)}"


def full_text(bound: records.Bound, claim: Claim | None) -> str:
    """Write a bound as an inequality, with its exact value after the decimals if that is short."""
    text = value_text(bound, claim)
    return f"{_inequality(bound, text)}{exact_value(bound, text)}{at(bound)}"


def _inequality(bound: records.Bound, text: str) -> str:
    letter = _LETTERS.get(bound.parameter, bound.parameter)
    sign = "≤" if bound.side == "upper" else "=" if math.isinf(bound.value) else "≥"
    return f"{letter}{NBSP}{sign}{NBSP}{text}"


TRACED = {"trace": "given the stated laws of its noise", "leak": "whatever its noise is"}
"""How certain a bound is that a trace found, by its method."""


def certainty(bound: records.Bound) -> str:
    """Say how certain a bound is."""
    if bound.kind == "proof":
        return "by proof"
    if bound.kind == "exact":
        return TRACED.get(bound.method, "by exact computation")
    return f"at {confidence_text(bound.confidence)} confidence"


def kind_words(bound: records.Bound) -> str:
    """Say where a bound comes from."""
    return {
        "sampled": "counted in runs",
        "exact": "follows from the laws of the noise" if bound.method in TRACED else "computed exactly",
        "proof": "proved",
    }.get(bound.kind, bound.kind)


def claim_words(claim: Claim) -> str:
    """Write a claim with its symbols: ε = 1, δ = 1e-6."""
    return f"{claim.symbol}{NBSP}={NBSP}{claim_text(claim.value)}{with_numbers(claim.words.more, claim)}"


def claim_meaning(claim: Claim) -> str:
    """Say in a sentence what a claim means."""
    return with_numbers(claim.words.meaning, claim)


def with_numbers(text: str, claim: Claim) -> str:
    """Insert a claim's numbers into words about it (`dpaudit.privacy.claims.Words`)."""
    value = claim.value
    about = "" if value > 50 else f" ≈ {estimate_text(math.exp(value))}"
    factor = f"e^{claim_text(value)}" if value > 12 else estimate_text(math.exp(value))
    numbers = {name: claim_text(number) for name, number in claim.numbers.items()}
    return text.format(
        **{"delta": claim_text(claim.delta), **numbers}, value=claim_text(value), about=about, factor=factor
    )


def low_bits_sentence(evidence: Evidence) -> str | None:
    """Say what was found in the low-order bits of the outputs; None if they were not examined."""
    bound = evidence.floating_point
    if bound is None:
        return None
    if bound.method == build.NOTHING:
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


def lacks_line(evidence: Evidence) -> bool:
    """Whether runs alone show a violation, and a trace, which would name the line at fault, was not made."""
    told = evidence.trace is not None or evidence.proof is not None or evidence.accounting is not None
    run = evidence.target.asks in ("program", "sampler", "seeded", "opaque") and evidence.decided_in == "real"
    return evidence.verdict is records.Verdict.VIOLATED and run and not told and evidence.training is None


def detectable_text(evidence: Evidence) -> str | None:
    """Write the smallest violation that would have been found with probability 0.9, or None if unknown."""
    if evidence.detectable is None:
        return None
    if math.isinf(evidence.detectable):
        return "no violation of any size"
    return f"{symbol(evidence)}{NBSP}={NBSP}{upper_text(evidence.detectable)} or more"


def yardstick(evidence: Evidence) -> str:
    """Say where a detectable violation would have had to show."""
    return {"event": "in what was measured", "gaussian": "on a Gaussian mechanism"}[evidence.detectable_on]


def detectable_sentence(evidence: Evidence) -> str:
    """Say what this audit would have found; empty if that is unknown."""
    if evidence.detectable is None:
        return ""
    if math.isinf(evidence.detectable):
        return f"These runs could not be counted on to show a violation of any size {yardstick(evidence)}."
    return (
        f"Had {symbol(evidence)} been {upper_text(evidence.detectable)} or more {yardstick(evidence)}, this "
        "audit would have found the violation with a probability of at least 0.9."
    )


_RELATIONS = {
    "add-remove": "one dataset has a record that the other has not (add-remove)",
    "replace": "one record is replaced by another (replace)",
    "queries": "lists of answers to the same queries",
    "replace-one": "one record is replaced by another (replace-one)",
    "zero-out": "one record is replaced by one that contributes nothing (zero-out)",
    "sensitivity": "the answers of neighbouring datasets differ by no more than the sensitivities that are stated",
    "declared": "whoever ran the audit declared the two to be neighbours; this was not checked",
}
_OF_A_PERSON = {
    "add-remove": "one dataset has a person, with all their records (by the column {}), whom the other has not "
    "(add-remove)",
    "replace": "one person, with all their records (by the column {}), is replaced by another (replace)",
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
    options = [option.strip() for option in inside.removesuffix(")").split(",") if option.strip()]
    person = next((option.partition("=")[2] for option in options if option.startswith("person=")), None)
    if person is not None:
        text = _OF_A_PERSON.get(kind.strip(), text).format(shortened(person, 80))
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
    "scores": "scores of an attack on a model, of members (the first dataset) and others (the second), from elsewhere",
    "outputs": "outputs of a mechanism that were recorded elsewhere",
}


def rate_text(rate: records.Rate) -> str:
    """Write the true positive rate at a false positive rate, with its exact limits if there are any."""
    text = f"{share_text(rate.estimate)} at {share_text(rate.at)} false positives"
    if rate.limits is None:
        return text
    low, high = rate.limits
    return f"{text} ({share_text(low, rounding='lower')} to {share_text(high, rounding='upper')})"


def gaussian_text(scores: records.Scores) -> str:
    """Write the loss of a Gaussian mechanism with such scores; empty if it cannot be estimated."""
    if scores.mu is None or scores.epsilon_if_gaussian is None:
        return ""
    return (
        f"ε{NBSP}≈{NBSP}{estimate_text(scores.epsilon_if_gaussian)} at δ{NBSP}={NBSP}{claim_text(scores.delta)} "
        f"(μ{NBSP}≈{NBSP}{estimate_text(abs(scores.mu))})"
    )


def guesses_text(bound: records.Bound) -> str:
    """Say which canaries of one model were guessed, and how many guesses were correct."""
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
        one_in -= one_in % 10 ** max(0, len(str(one_in)) - 2)  # two digits, rounded towards the more frequent leak
        listed.append(
            (
                "Rare events",
                "The event was chosen from outputs seen in the learning runs. A leak that occurs less often than "
                f"about once in {count_text(one_in)} runs is likely to be missed, however grave it is.",
            )
        )
    if evidence.scores is not None:
        return [*listed, *words()["limits"]["scores"].items()]
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
