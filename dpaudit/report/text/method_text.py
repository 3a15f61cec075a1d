"""How was the audit done, in words? What was counted, what was fixed in advance, and what the bound rests on.

Runs of a mechanism, recorded outputs, scores of a model and sequential bets each have their own sentences, so that none
of them claims precautions that only another has taken.
"""

from __future__ import annotations

from dpaudit.accounting import ADDED
from dpaudit.evidence.evidence import Evidence
from dpaudit.report.text import training
from dpaudit.report.text.accounting import METHOD, METHOD_ADDED
from dpaudit.report.text.headline import second_text
from dpaudit.report.text.numerals import count_text


def counted(evidence: Evidence) -> str:
    """Name what the sides consist of: runs, or recorded values."""
    return evidence.target.asks if evidence.target.asks in ("scores", "outputs") else "runs"


def is_by_rank(evidence: Evidence) -> bool:
    """Whether canaries of one model were guessed by the rank of their scores."""
    return evidence.scores is not None and evidence.scores.design == "one-run"


def how_fixed(evidence: Evidence, pair: int | None, *, computed: bool = False) -> str:
    """Say when the event was fixed, and what measured it."""
    where = "" if pair is None else f" of pair {pair}"
    if computed:
        return (
            "The event was computed with the exact numbers above, before any run of it, and measured on fresh "
            f"runs{where}."
        )
    if is_by_rank(evidence):
        return (
            "How many canaries are guessed was fixed by their number, before any look at the scores; which ones, the "
            "order of the scores says."
        )
    if counted(evidence) != "runs":
        what = counted(evidence)
        return f"The event was fixed on {what} that had been set apart for learning, and measured on the other {what}."
    if evidence.sequential is not None:
        return f"The event was fixed before the runs that were bet on with it{where}."
    return f"The event was fixed after the learning runs and measured on fresh runs{where}."


def how_counted(evidence: Evidence, *, intervals: bool) -> str:
    """Say what the table of counts shows."""
    what = counted(evidence)
    text = f"How many of the measuring {what} on each dataset fell into the event"
    if is_by_rank(evidence):
        text = "How many canaries of each kind were guessed"
    elif what == "runs":
        text = "How often the measuring runs on each dataset fell into the event"
    if intervals:
        return f"{text}; intervals are exact, at 95\N{NO-BREAK SPACE}% each by itself."
    return f"{text}. These counts have no exact intervals of their own; the bound does not need them."


def method_sentence(evidence: Evidence) -> str:
    """Say how counts became a bound, for this kind of audit."""
    if evidence.training is not None:
        return training.METHOD
    if evidence.accounting is not None:
        added = all(each.parameter in ADDED for each in evidence.accounting.statements)
        return METHOD_ADDED if added else METHOD
    learning, measuring = count_text(evidence.learning), count_text(evidence.measuring)
    valid = "From the counts follows a lower bound that is valid at every number of"
    if is_by_rank(evidence):
        return (
            f"Of {measuring} canaries, each in the training data of one model or not by a coin of its own, those with "
            "the highest and the lowest scores were guessed, in numbers that were fixed before. From the number of "
            "right guesses follows a lower bound that is valid at every number of canaries, without approximation."
        )
    if counted(evidence) != "runs":
        what = counted(evidence)
        return (
            f"{learning} {what}, picked by the seed, chose what to look for; that choice was frozen, and counted in "
            f"{measuring} others; the two never mix. {valid} {what}, without approximation."
        )
    if evidence.sequential is not None:
        return (
            f"All {count_text(evidence.runs)} runs were bet on as they came, by events that only earlier runs had "
            "chosen. What was won gives a lower bound that is valid whenever one looks or stops."
        )
    if not evidence.measuring and evidence.trace is not None:
        return "No runs were measured: what is concluded follows from how the noise of a few runs was used."
    return (
        f"The audit used {learning} learning runs to choose what to look for, froze that choice, and counted it in "
        f"{measuring} fresh measuring runs; the two never mix. {valid} runs, without approximation.{_again(evidence)}"
    )


def _again(evidence: Evidence) -> str:
    """Say how a bound above the claim was treated."""
    text = second_text(evidence)
    if text is None:
        return ""
    return f" Its bound is above the claim, and before that is called a violation it is looked at once more: {text}."
