"""Of what does evidence speak, for whom, and how sure is it? What a reviewer asks before anything else."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.report.text.accounting import accounting_of, neighbours_words
from dpaudit.report.text.chain import chain
from dpaudit.report.text.headline import decisive
from dpaudit.report.text.numerals import confidence_text, error_text
from dpaudit.report.text.phrases import claim_words, full_text, visible
from dpaudit.report.text.trace import traced_pair

_LONGEST = 160  # characters of a pair in one line; a longer one is shown in its own section


def about(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield (name, text): the promise, whom it protects, the pair, parameters, and what made the evidence."""
    claim, accounting = evidence.claimed, accounting_of(evidence)
    yield "Claim", "none was given" if claim is None else f"{claim_words(claim)} ({claim.notion})"
    yield "Neighbours", _neighbours(evidence)
    upper, is_proved = evidence.upper, evidence.verdict is Verdict.PROVED
    # the verdict says what a proof holds for, but where columns are declared
    if evidence.proof is not None and upper is not None and not (is_proved and chain(evidence) is None):
        data = _proved_for(evidence)
        bound = full_text(upper, claim)
        yield ("Proved for", f"{data[:1].upper()}{data[1:]}") if is_proved else ("Proved", f"{bound}, for {data}")
    pair = "" if accounting is not None else pair_line(evidence)
    if pair:
        yield "Run on" if is_proved else "The pair", pair
    if accounting is None:
        values = ", ".join(f"{name} = {parameter_text(value)}" for name, value in evidence.target.parameters.items())
        yield "Parameters", values or "none"
    made = [f"{name} {evidence.versions[name]}" for name in ("dpaudit", "python") if name in evidence.versions]
    yield "Made with", ", ".join(made) or "not recorded"


def _neighbours(evidence: Evidence) -> str:
    words = neighbours_words(evidence.relation, accounting_of(evidence))
    step = f" Unit of privacy: {evidence.unit}." if evidence.unit else ""
    return f"{words[:1].upper()}{words[1:]}.{step}"


def _proved_for(evidence: Evidence) -> str:
    """The data that a proof is about, with what the columns may hold where they are declared."""
    links = chain(evidence)
    scope = "" if evidence.proof is None else evidence.proof.scope
    granted = "" if links is None or evidence.proof is None else evidence.proof.granted
    return f"{scope.rstrip('.') if links is None else '; '.join(links.data)}{', ' * bool(granted)}{granted}."


def parameter_text(value: object) -> str:
    """Return a parameter as it is shown."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def pair_line(evidence: Evidence) -> str:
    """Return the two datasets that the numbers are about, in one line; empty where nothing is about a pair.

    Values of the data stand in it only where the evidence has them.
    """
    found, bound = evidence.counterexample, decisive(evidence)
    traced = traced_pair(evidence, bound)
    if traced:
        return f"{traced[:1].upper()}{traced[1:]}."
    if found is not None and evidence.exact is not None:
        return _both(evidence, found.data0, found.data1)
    if evidence.target.asks in ("scores", "outputs") or not evidence.pairs:
        return ""
    pair = evidence.pairs[bound.pair if bound.pair is not None and bound.pair < len(evidence.pairs) else 0]
    if pair.change:
        return f"{pair.change[:1].upper()}{pair.change[1:]}."
    if pair.shown0 is not None and pair.shown1 is not None:
        return _both(evidence, pair.shown0, pair.shown1)
    if evidence.search is not None and evidence.search.found:
        return f"Found by a search: {evidence.search.found}. Its data are not part of the evidence."
    return "A pair whose data are not part of the evidence; their digests are."


def _both(evidence: Evidence, first: str, second: str) -> str:
    what = "answers" if evidence.relation.startswith("queries") else "datasets"
    text = f"The {what} {visible(first, one_line=True)} and {visible(second, one_line=True)}."
    return text if len(text) <= _LONGEST else f"Two {what}, shown under For engineers with what differs."


def sure(evidence: Evidence) -> str:
    """Say in a sentence how often statements like these are wrong; empty where that is not known."""
    alarm = evidence.false_alarm
    if evidence.training is not None:
        return "" if not alarm else f"A right loop is called wrong in at most {error_text(1 - alarm)} of such watches."
    if accounting_of(evidence) is not None:
        return "Both bounds are computed, with proof; chance had no part in them."
    if evidence.verdict is Verdict.INVALID:
        return ""
    bounds = (evidence.lower, evidence.floating_point, *(each.bound for each in evidence.attempts))
    if not any(each is not None and each.kind == "sampled" for each in bounds):
        return "Chance had no part in what is stated here: nothing of it was counted in runs."
    wrong = error_text(evidence.confidence)
    text = (
        f"A bound from runs, at {confidence_text(evidence.confidence)} confidence, is wrong in at most {wrong} of such "
        "audits"
    )
    if evidence.claim is not None:
        called = wrong if alarm is None else error_text(1 - alarm)
        text += f", and a mechanism that keeps its claim is called VIOLATED in at most {called} of them"
    return f"{text}.{' What is proved rests on no runs.' if evidence.upper is not None else ''}"
