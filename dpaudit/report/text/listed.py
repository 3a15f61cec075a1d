"""How are an accounting and a watched training loop said in words? Bounds, verdicts, and what they do not show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from dpaudit.accounting import events, meaning
from dpaudit.accounts.plan import parse_events
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import (
    Accounting,
    OtherAccountant,
    Release,
    Statement,
    Training,
    TrainingCanaries,
    TrainingFact,
)
from dpaudit.evidence.records import Verdict, round_outward
from dpaudit.privacy import parse_claim
from dpaudit.privacy.claims import needs_delta, number_text
from dpaudit.report.document import Importance, Row, words
from dpaudit.report.text.phrases import (
    NBSP,
    claim_text,
    count_text,
    lower_text,
    one_line,
    relation_words,
    shortened,
    upper_text,
)

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
    return f"{ON_SOME_DATA} {events.WORST}" if claims else ON_SOME_DATA


def accounting_of(evidence: Evidence) -> Accounting | None:
    """Return the accounting of evidence, or None where there is none that states anything."""
    accounting = evidence.accounting
    return accounting if accounting is not None and accounting.statements and accounting.releases else None


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


FACTS = {
    "batches": "How records come in",
    "clipping": "Clipping",
    "noise": "Scale and law of the noise",
    "repetition": "Noise drawn afresh",
    "independence": "Independent noise",
    "divisor": "Divisor",
    "steps": "Steps and rate",
    "parameters": "Parameters",
    "records": "Records apart from each other",
    "numbers": "Numbers and empty batches",
    "adaptive": "One clip norm",
    "precision": "Digits of sums and noise",
    "generator": "Generator of the noise",
    "machines": "Machines",
    "altered": "After the noise",
}
"""What each fact is called."""

_WORST = ("wrong", "not seen", "note", "right")


def updates_of(training: Training) -> int:
    """Return the number of steps with noise."""
    return sum(count for _, _, count in training.steps)


def status_words(status: str) -> str:
    """Say what was seen of a fact."""
    return {"right": "seen right", "wrong": "seen wrong", "note": "to note"}.get(status, "not seen")


def fact_name(fact: TrainingFact) -> str:
    """Return what a fact is called."""
    return FACTS.get(fact.fact, fact.fact)


def pitfalls(training: Training) -> list[tuple[str, str, str]]:
    """Return (name, status, text) of every pitfall: wrong where one of its facts is, right only where all are."""
    by_name = {each.fact: each for each in training.facts}
    return [
        _pitfall(name, [by_name[fact] for fact in each["facts"] if fact in by_name], each["rest"])
        for name, each in words()["pitfalls"]["twelve"].items()
    ]


def _pitfall(name: str, facts: list[TrainingFact], rest: str) -> tuple[str, str, str]:
    if not facts:
        return name, status_words("not seen"), f"{rest[:1].upper()}{rest[1:]}."
    worst = min(facts, key=lambda each: _WORST.index(each.status) if each.status in _WORST else 0)
    unlike = [each for each in facts if each.status == worst.status]
    text = " ".join(each.text for each in unlike)
    more = f" {rest[:1].upper()}{rest[1:]}." if rest else ""
    return name, status_words("right" if worst.status == "note" and not rest else worst.status), text + more


def loss_text(training: Training) -> str:
    """Write what all steps lose together: 5.795 ≤ ε ≤ 5.796."""
    low, high = training.low.value, training.high.value
    if math.isinf(low):
        return "no ε is large enough"
    least = number_text(round_outward(low, "lower", 5))
    if math.isinf(high):
        return f"ε{NBSP}≥{NBSP}{least}, and nothing from above" if low > 0 else "nothing is certified"
    return f"{least}{NBSP}≤{NBSP}ε{NBSP}≤{NBSP}{number_text(round_outward(high, 'upper', 5))}"


FIXES = {
    "batches": "draw every batch by coins of its own, as the claim assumes",
    "clipping": "clip the gradient of each record to the norm C before they are added up",
    "noise": "add Gaussian noise of one scale, σ·C, to every coordinate of each sum",
    "repetition": "draw new noise for every update, from a generator that is seeded once",
    "independence": "draw the noise of every update and coordinate by itself",
    "divisor": "divide the noisy sums by a constant, such as the expected size of a batch",
    "steps": "account for every update, each with a batch of its own",
    "parameters": "add noise to the gradient of every parameter that moves, or freeze it",
    "records": "keep records apart: no layer that computes across a batch, such as GroupNorm in place of BatchNorm",
    "numbers": "set gradients that are no numbers to 0 before they are clipped",
    "adaptive": "clip to a norm that is fixed beforehand, or add noise to what it follows",
    "precision": "add up, and add noise, in float32 or wider",
    "generator": "install the generator that the secure mode asks for",
    "machines": "add noise to what every machine adds",
    "altered": "let nothing that is done after the noise follow losses or batches",
}
"""What to write in place of what was seen wrong."""
_OF_BATCHES = ("batches", "steps")


def instead(training: Training) -> str:
    """Say what to write in place of what was seen wrong, and how much noise keeps the claim where that is certified."""
    wrong = [each.fact for each in training.facts if each.status == "wrong" and each.fact in FIXES]
    fixes = [FIXES[fact] for fact in wrong if fact != "noise" or training.enough is None]
    if training.enough is not None:
        sigmas = {sigma for sigma, _, _ in training.steps}
        if len(sigmas) == 1:
            multiplier = number_text(round_outward(sigmas.pop() * training.times, "upper", 4))
            noise = f"a noise multiplier of {multiplier} (noise of standard deviation {multiplier}·C on each sum)"
        else:
            noise = f"noise {number_text(training.times)} times as large as is claimed, at every step,"
        most = number_text(round_outward(training.enough.value, "upper", 4))
        or_else = "or, " if fixes and all(fact in (*_OF_BATCHES, "noise") for fact in wrong) else ""
        fixes.append(
            f"{or_else}{noise} keeps the claim with the batches and steps that were seen, certified: "
            f"ε{NBSP}≤{NBSP}{most}"
        )
    return f" Write instead: {'; '.join(fixes)}." if fixes else ""


def training_verdict(evidence: Evidence, training: Training) -> tuple[str, str]:
    """Return the sentence of the verdict, and what must not be concluded from it."""
    claim = evidence.claimed
    claimed = (
        "" if claim is None else f"ε{NBSP}={NBSP}{claim_text(claim.value)}, δ{NBSP}={NBSP}{claim_text(claim.delta)}"
    )
    many = f"{count_text(updates_of(training))} updates"
    unseen = [fact_name(each) for each in training.facts if each.status == "not seen"]
    rest = f"; not looked at: {', '.join(f'{each[:1].lower()}{each[1:]}' for each in unseen)}" if unseen else ""
    if evidence.verdict is Verdict.VIOLATED and claim is not None and not training.low.value > claim.value:
        assert training.canaries is not None
        return (
            f"The claim {claimed} does not hold of the loop that was watched: its canaries are told apart as only "
            f"ε{NBSP}≥{NBSP}{number_text(round_outward(training.canaries.sure, 'lower', 5))} allows.",
            "This rests on fair coins alone. By which mistake they are told apart is not seen from it.",
        )
    if evidence.verdict is Verdict.VIOLATED:
        return (
            f"The claim {claimed} does not hold of the loop that was watched: {loss_text(training)}, for {many}{rest}."
            f"{instead(training)}",
            "This is the loss of what was seen, on some data; these data may lose less.",
        )
    if evidence.verdict is Verdict.NOT_VIOLATED:
        return (
            f"No violation of the claim {claimed} was seen: {loss_text(training)}, for {many} as they were made{rest}.",
            "This does not prove the claim: facts were tested, not proved, and what was not seen is listed below.",
        )
    if evidence.verdict is Verdict.INCONCLUSIVE:
        return (
            f"The claim {claimed} does not follow from what was seen: {loss_text(training)}, for {many}{rest}."
            f"{instead(training)}",
            "Neither that the claim holds nor that it fails may be concluded.",
        )
    wrong = sum(each.status == "wrong" for each in training.facts)
    seen = f"{wrong} of {len(training.facts)} facts {'was' if wrong == 1 else 'were'} seen wrong{rest}."
    seen += instead(training)
    if training.high.certificate is None and training.low.certificate is None and not training.low.value > 0:
        return f"No claim was given, and no loss is certified: {seen}", "Facts were tested, not proved."
    at = f"at δ{NBSP}={NBSP}{claim_text(evidence.lower.delta)}"
    return (
        f"No claim was given. Of the loop as it was seen: {loss_text(training)} {at}, for {many}; {seen}",
        "The loss is certified for the steps that were seen; facts were tested, not proved.",
    )


def _least(canaries: TrainingCanaries, evidence: Evidence) -> tuple[float, str]:
    """Return the ε that canaries show, and how surely: above a claim that stands, only as surely as decides."""
    claim = evidence.claimed
    if claim is None or evidence.verdict is Verdict.VIOLATED or not canaries.epsilon > claim.value:
        return canaries.epsilon, f"at a confidence of {number_text(evidence.confidence)}"
    return canaries.sure, "as surely as a violation has to be shown (more at a lower confidence, as by chance)"


def canaries_text(canaries: TrainingCanaries, evidence: Evidence) -> str:
    """Say what canaries show, by numbers."""
    least = number_text(round_outward(_least(canaries, evidence)[0], "lower", 5))
    return f"ε{NBSP}≥{NBSP}{least} by {count_text(sum(canaries.given))} canaries of this run"


def canaries_words(canaries: TrainingCanaries, evidence: Evidence) -> tuple[str, str]:
    """Return what canaries show in sentences, and what they cannot show."""
    least, sure = _least(canaries, evidence)
    all_of = count_text(sum(canaries.given))
    kind = (
        f"{all_of} records gave their place to gradients that are easiest to tell, half of them by fair coins"
        if canaries.kind == "gradients"
        else f"{all_of} records of the training set were left in or out of every batch by fair coins"
    )
    scored = "the noisy sums of all updates" if canaries.kind == "gradients" else "scores after the training"
    shown = (
        f"{kind}: {count_text(canaries.given[0])} were in. Guessing coins by {scored} shows, "
        f"{sure}, that the run loses at least "
        f"ε = {number_text(round_outward(least, 'lower', 5))} at the claim's δ; and if it keeps μ-GDP, μ is "
        f"at least {number_text(round_outward(canaries.mu, 'lower', 4))}."
    )
    seen = (
        "the loop's sampler, clipping, sum and noise together, but not its gradients, and nothing beside the optimizer"
        if canaries.kind == "gradients"
        else "everything that the loop does with a record, as far as its score shows it"
    )
    return shown, (
        f"It rests on the coins alone, on no independence of steps and on nothing else that was seen. It goes through "
        f"{seen}. No such bound can reach what a loop really loses: a small one says nothing for the loop."
    )


# --- What was certified of a list of releases, what was listed, and what do others say? Rows. ---

_MOST_SHOWN = 3  # releases, claims or accountants in a summary


def accounted(evidence: Evidence) -> Iterator[Row]:
    """Yield all rows of an accounting, in the order in which they are read; none of other evidence."""
    accounting = accounting_of(evidence)
    if accounting is not None:
        for rows in (_certified, _statements, _listed, _neighbours, _others):
            yield from rows(evidence, accounting)
        yield from _assumed(evidence, 2)
        yield from _not_shown("accounting")


def _listed(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    name, releases = evidence.target.name, accounting.releases
    steps = sum(each.steps for each in releases)
    yield Row("target", "", "Releases", name, importance=Importance.OWN, section="scope")
    for number, each in enumerate(releases):
        words = release_words(each)
        words = f"{each.name}: {words}" if each.name else words
        label, shown = ("releases" if not number else ""), number < _MOST_SHOWN
        importance = Importance.BRIEF if shown else Importance.FULL
        yield Row("release", label, "Release", each.event, shortened(words, 300), importance=importance)
    if len(releases) > _MOST_SHOWN:
        more = f"{count_text(len(releases))} in all, {count_text(steps)} steps"
        yield Row("release", "", "Releases", more, importance=Importance.SUMMARY)
    yield Row("runs", "", "Steps", count_text(steps), importance=Importance.OWN, order=steps)


def _neighbours(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    words = neighbours_words(evidence.relation, accounting)
    importance, section = Importance.SUMMARY, "scope"
    yield Row("relation", "neighbours", "Neighbours", words, importance=importance, section=section)
    unit = evidence.unit or "not stated"
    yield Row("unit", "", "Unit of privacy", unit, importance=Importance.FULL, section=section)


def _certified(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    stated = decisive_statement(accounting, evidence.verdict)
    letter, at = letter_of(stated), where(stated)
    claim = evidence.claimed
    value = math.nan if claim is None else claim.value
    own, bounds = Importance.OWN, "bounds"
    yield Row("claim", "", "Claim", claim_of(stated), importance=own, section="scope", order=value)
    interval = interval_text(stated)
    yield Row("interval", "certified", "Certified interval", interval, importance=Importance.BRIEF, section=bounds)
    low = f"{letter}{NBSP}{'=' if math.isinf(stated.low) else '≥'}{NBSP}{low_text(stated)}"
    yield Row("lower", "", "Lower bound", f"{low}{at}", note="by proof", importance=own, order=stated.low)
    if math.isfinite(stated.high):
        high = f"{letter}{NBSP}≤{NBSP}{high_text(stated)}"
        yield Row("upper", "", "Upper bound", f"{high}{at}", note="by proof", importance=own, order=stated.high)
    if accounting.note:
        yield Row("width", "", "Width", accounting.note, importance=Importance.SUMMARY, section="beside")


def _statements(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    """Yield every claim and number beside the one that the verdict rests on."""
    decisive = decisive_statement(accounting, evidence.verdict)
    for number, each in enumerate(each for each in accounting.statements if each is not decisive):
        held = interval_text(each) if each.claim is None else f"{claim_of(each)}: {each.verdict}; {interval_text(each)}"
        label = "also" if not number else ""
        importance = Importance.SUMMARY if number < _MOST_SHOWN else Importance.FULL
        yield Row("statement", label, "Also", held, importance=importance, section="beside")


def _others(evidence: Evidence, accounting: Accounting) -> Iterator[Row]:
    stated = decisive_statement(accounting, evidence.verdict)
    for number, each in enumerate(accounting.others):
        text = f"{shortened(each.name, 60)} {shortened(each.version, 20)}: {other_words(each, stated)}"
        label = "others say" if not number else ""
        yield Row("other", label, "Another accountant says", text, importance=Importance.SUMMARY)


def _assumed(evidence: Evidence, shown: int) -> Iterator[Row]:
    """Yield what was taken on trust; a summary shows so many of it."""
    for place, text in enumerate(evidence.assumptions):
        importance = Importance.SUMMARY if place < shown else Importance.FULL
        yield Row("trust", "" if place else "assumed", "Taken on trust", text, importance=importance, section="scope")


def _not_shown(kind: str) -> Iterator[Row]:
    for name, text in words()["limits"][kind].items():
        yield Row("limit", "", name, text, importance=Importance.OWN, section="limits")


# --- What was seen of a training loop, and what does it lose? Rows. ---


def trained(evidence: Evidence) -> Iterator[Row]:
    """Yield all rows of a watched loop, in the order in which they are read; none of other evidence."""
    training = evidence.training
    if training is not None:
        for rows in (_bounds, _facts, _noise, _scope):
            yield from rows(evidence, training)
        yield from _assumed(evidence, 1)
        yield from _not_shown("training")


def _bounds(evidence: Evidence, training: Training) -> Iterator[Row]:
    claim, own, bounds = evidence.claimed, Importance.OWN, "bounds"
    value = math.nan if claim is None else claim.value
    told = (
        "none" if claim is None else f"ε{NBSP}={NBSP}{claim_text(claim.value)}, δ{NBSP}={NBSP}{claim_text(claim.delta)}"
    )
    yield Row("claim", "", "Claim", told, importance=own, section="scope", order=value)
    yield Row("reason", "", "Reason", evidence.reason, importance=own)
    yield Row("interval", "as seen", "As it was seen", loss_text(training), importance=Importance.BRIEF, section=bounds)
    low = "ε is not bounded" if math.isinf(training.low.value) else f"ε{NBSP}≥{NBSP}{number_text(evidence.lower.value)}"
    yield Row("lower", "", "Lower bound", low, note="as seen", importance=own, order=evidence.lower.value)
    if math.isfinite(training.high.value):
        high = f"ε{NBSP}≤{NBSP}{number_text(training.high.value)}"
        yield Row("upper", "", "Upper bound", high, note="as seen", importance=own, order=training.high.value)


def _facts(evidence: Evidence, training: Training) -> Iterator[Row]:
    for place, each in enumerate(sorted(training.facts, key=lambda fact: _ORDER.get(fact.status, 1))):
        importance = Importance.BRIEF if each.status == "wrong" else Importance.SUMMARY
        section = "beside" if each.status == "wrong" else ""
        label = "facts" if not place else ""
        text = f"{status_words(each.status)}: {each.text}"
        line = f"{fact_name(each)}, {one_line(text)}"
        yield Row("fact", label, fact_name(each), each.name, line, text, importance=importance, section=section)


def _noise(evidence: Evidence, training: Training) -> Iterator[Row]:
    if training.scale is not None:
        low, high = training.scale
        text = f"{number_text(float(f'{low:.5g}'))} to {number_text(float(f'{high:.5g}'))} of σ·C"
        note = f"from {count_text(training.values)} values"
        yield Row("scale", "noise", "Scale of the noise", f"{text}, {note}", importance=Importance.SUMMARY)
    step = training.step
    if step is not None:
        text = f"μ{NBSP}≥{NBSP}{number_text(float(f'{step.mu:.4g}'))} a step"
        if step.epsilon is not None:
            text += f"; if steps are independent, ε{NBSP}≥{NBSP}{number_text(float(f'{step.epsilon:.4g}'))} in all"
        yield Row("step", "a step", "The audit of a step", text, importance=Importance.SUMMARY)
    if training.canaries is not None:
        text = canaries_text(training.canaries, evidence)
        yield Row("canaries", "canaries", "Canaries of one run", text, importance=Importance.SUMMARY)
    if training.stated is not None:
        text = f"ε{NBSP}={NBSP}{number_text(float(f'{training.stated:.5g}'))}"
        yield Row("stated", "its own", "The loop's own accountant", text, importance=Importance.SUMMARY)


def _scope(evidence: Evidence, training: Training) -> Iterator[Row]:
    own, section = Importance.OWN, "scope"
    updates = updates_of(training)
    yield Row("target", "", "Loop", f"{evidence.target.name} ({training.how})", importance=own, section=section)
    yield Row("runs", "", "Updates", count_text(updates), importance=own, order=updates)
    near = neighbours_words(evidence.relation)
    yield Row("relation", "neighbours", "Neighbours", near, importance=Importance.SUMMARY, section=section)
    yield Row("unit", "", "Unit of privacy", evidence.unit or "not stated", section=section)
    if training.partial:
        text = f"only a part of the loop was seen: {one_line(training.partial)}"
        yield Row("partial", "partial", "Partial", text, importance=Importance.EVERYWHERE, section="beside")


_ORDER = {"wrong": 0, "not seen": 1, "note": 2, "right": 3}
