"""How many runs, and how many seconds, does it take to find a violation of a given size?

This is asked before an audit, when nobody knows where a mechanism is wrong. A short audit of the mechanism as it is
chooses an event and estimates its probability. The answer is the number of runs at which an event that is as common,
and has the loss to be found, shows that loss with probability 0.9 (`dpaudit.stats.power`). It therefore holds for
violations that show in such an event; this is an assumption, which `Plan.assumes` puts into words. The actual audit
chooses its event again from other runs, and sometimes a poorer one, so some runs are added.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.auditing.pair import LearnedPair, learn, measure
from dpaudit.auditing.question import LEAST_RUNS, Question, validated, whole
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import SelectedEvent
from dpaudit.evidence.event import Event
from dpaudit.evidence.records import Counts, round_outward
from dpaudit.loading.named import public_name
from dpaudit.neighbours import Relation
from dpaudit.privacy import Claim, parse_claim
from dpaudit.privacy.claims import number_text
from dpaudit.request import AuditRequest, known_keywords
from dpaudit.sampling.blocks import Listener, Session
from dpaudit.sampling.play import RepeatDetector
from dpaudit.settings import own_settings
from dpaudit.stats.joint_region import lower_bound
from dpaudit.stats.power import runs_to_show, runs_to_show_gaussian
from dpaudit.stats.two_looks import FALSE_ALARM
from dpaudit.targets.mechanism import Mechanism

# a factor and a constant of additional runs, because the audit learns its event again; measured by benchmarks/power.py
_ANEW, _SPARE = 1.15, 100
_MOST_RUNS = 1e15  # beyond which no number of runs is named


@dataclass(frozen=True, slots=True)
class Plan:
    """What it takes to find a violation.

    Attributes:
        target, claim: what is to be audited, and the claim it is compared with.
        value: the loss to be found, in the unit of the claim's parameter.
        confidence: of the planned audit.
        runs: executions of the whole audit, as ``--runs`` takes them; None if no number of runs is enough.
        measuring: how many of them measure the event chosen here.
        seconds: the approximate duration of the audit with one worker; None if ``runs`` is None.
        event: the event that would show the violation, on the pair that needs most runs.
        where: "event", or "gaussian" if the violation has to show as on a Gaussian mechanism, the yardstick for δ > 0.
        shown: the lower bound from the short audit, at the same confidence.
        spent: executions of the short audit.
    """

    target: str
    claim: Claim
    value: float
    confidence: float
    runs: int | None
    measuring: int | None
    seconds: float | None
    event: Event
    where: str
    shown: float
    spent: int

    @property
    def assumes(self) -> str:
        """What is assumed about the violation, as a sentence."""
        if self.where == "gaussian":
            return "This assumes that the violation shows as on a Gaussian mechanism of that loss."
        symbol = self.claim.symbol
        sentence = (
            f"This assumes that a loss of {symbol} = {number_text(self.value)} shows through an event as common as the "
            "one that a short audit of the mechanism as it is has chosen. A violation that shows elsewhere, or only in "
            "rare outputs, may take more runs, or fewer."
        )
        if self.shown < self.claim.value / 2:
            sentence += (
                " It may well show elsewhere: of the mechanism as it is, the short audit shows no more than "
                f"{symbol} ≥ {number_text(self.shown)}."
            )
        return sentence


@known_keywords
@own_settings()
def plan(
    target: str | Mechanism | Callable[..., Any],
    detect: float | str | Claim,
    *,
    parameters: Mapping[str, Any] | None = None,
    claim: Claim | str | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | Relation | None = None,
    runs: int | float = 40_000,
    confidence: float = 0.95,
    seed: int | None = None,
    listen: Listener | None = None,
    false_alarm: float = FALSE_ALARM,
) -> Plan:
    """Plan an audit: how many runs find a violation of a given size with probability 0.9?

    Args:
        target, parameters, claim, pairs, relation, confidence, seed: as for `audit`; there must be a claim.
        detect: the loss to be found: a value of the claim's parameter above the claimed one, such as 1.1, "epsilon=1.1"
            or "mu=0.6".
        runs: executions of the short audit, for all pairs together.
        listen: called with (stage, runs done, runs in all).
        false_alarm: of the planned audit. If that has a second look, its runs come on top of the planned ones.

    Returns:
        The runs and seconds that the audit needs, and what this assumes.

    Raises:
        UsageError: if the request cannot be carried out as it stands, or the runs cannot be trusted.
    """
    question = validated(
        AuditRequest(
            target,
            parameters=parameters,
            claim=claim,
            pairs=pairs,
            relation=relation,
            confidence=confidence,
            seed=seed,
            floating_point="ignore",
            false_alarm=false_alarm,
        )
    )
    name = public_name(question.mechanism)
    if question.claim is None:
        raise UsageError(f"{name} makes no claim that could be violated; give one, such as claim='epsilon=1'")
    value = _value(detect, question.claim)
    count = len(question.pairs)
    short = whole("runs", runs, least=LEAST_RUNS * count) // count
    try:
        told = replace(question, session=Session(listen, total=count * short))
        looks = [_Look.at(told, question.claim, pair, short) for pair in range(count)]
        found = [look.again(question, value) for look in looks]
    except InvalidRunsError as error:
        raise UsageError(f"nothing can be planned for {name}: its runs cannot be trusted: {error}") from None
    hardest = max(found, key=lambda look: look.best(value)[0])
    measuring, where, event = hardest.best(value)
    wanted = count * hardest.whole(measuring)
    feasible = wanted < _MOST_RUNS
    return Plan(
        target=name,
        claim=question.claim,
        value=value,
        confidence=question.confidence,
        runs=int(round_outward(max(wanted, LEAST_RUNS * count), "upper", 2)) if feasible else None,
        measuring=math.ceil(measuring) if feasible else None,
        seconds=sum(look.seconds(wanted / count) for look in found) if feasible else None,
        event=event,
        where=where,
        shown=round_outward(max(look.shown for look in looks), "lower", 4),
        spent=sum(look.spent for look in found),
    )


def _value(detect: float | str | Claim, claim: Claim) -> float:
    """Return the loss to be found, in the unit of the claim's parameter."""
    if isinstance(detect, int | float) and not isinstance(detect, bool):
        value = float(detect)
    else:
        given = str(detect)
        named = {part.partition("=")[0].strip() for part in given.split(",")}
        rest = [part for part in str(claim).split(", ") if part.partition("=")[0] not in {claim.parameter, *named}]
        try:
            found: Claim | None = parse_claim(", ".join([given, *rest]))
        except UsageError:
            found = None
        if found is None or type(found) is not type(claim) or found.with_value(claim.value) != claim:
            raise UsageError(
                f"what is to be found is a value of the claim's own parameter, such as "
                f"'{claim.parameter}={number_text(claim.gross())}' for the claim {claim}, not {given!r}"
            )
        value = found.value
    if not claim.value < value < math.inf:
        raise UsageError(
            f"a violation of {claim} is a {claim.parameter} of more than {number_text(claim.value)}, not {value:g}"
        )
    return value


@dataclass(frozen=True, slots=True)
class _Look:
    """What a short audit of one pair has shown."""

    claim: Claim
    error: float
    pair: int
    learned: LearnedPair
    counts: tuple[Counts, ...]
    runs: int  # for learning and measuring
    speed: float  # measuring runs per second
    spent: int  # executions, including those of earlier short audits
    planned: float  # the share of the error level at which one look finds as much as the two-look rule

    @classmethod
    def at(cls, question: Question, claim: Claim, pair: int, runs: int) -> _Look:
        error = (1 - question.confidence) / len(question.pairs)
        question = replace(question, watch=RepeatDetector())  # a smaller audit draws the same runs again
        learned = learn(question, pair, runs, error)
        clock = time.perf_counter()
        ahead = max(runs - learned.runs, LEAST_RUNS)
        measured = measure(question, pair, learned, ahead)
        speed = ahead / max(time.perf_counter() - clock, 1e-9)
        made = learned.runs + ahead
        planned = question.rule.planned / question.rule.error
        return cls(claim, error, pair, learned, measured.counts, made, speed, made, planned)

    def again(self, question: Question, value: float) -> _Look:
        """Repeat the short audit with fewer runs if fewer suffice, because events chosen from fewer runs are poorer."""
        look = self
        for _ in range(2):
            wanted = look.whole(look.best(value)[0])
            if not wanted < 0.8 * look.runs:
                break
            more = _Look.at(question, self.claim, self.pair, max(math.ceil(wanted), LEAST_RUNS))
            look = replace(more, speed=self.speed, spent=look.spent + more.spent)
        return look

    def best(self, value: float) -> tuple[float, str, Event]:
        """The choice that needs the fewest measuring runs: their number, where the loss has to show, and the event."""
        found = (
            (*self._needed(choice, counts, value), choice.event)
            for choice, counts in zip(self.learned.choices, self.counts, strict=True)
        )
        return min(found, key=lambda one: one[0])

    def _needed(self, choice: SelectedEvent, counts: Counts, value: float) -> tuple[float, str]:
        error = self.error * choice.share * self.planned
        runs = runs_to_show(choice.method, counts, claim=self.claim, weight=choice.weight, error=error, value=value)
        if self.claim.delta > 0:
            # an event may say little about the tails that δ depends on, and this one was chosen for another loss
            gaussian = runs_to_show_gaussian(self.claim, sum(counts.runs), error, value)
            return max((runs, "event"), (gaussian, "gaussian"))
        return runs, "event"

    def _bound(self, choice: SelectedEvent, counts: Counts) -> float:
        error = self.error * choice.share
        return lower_bound(choice.method, counts, claim=self.claim, weight=choice.weight, error=error)

    @property
    def shown(self) -> float:
        """The lower bound of the short audit."""
        return max(map(self._bound, self.learned.choices, self.counts))

    def whole(self, measuring: float) -> float:
        """Runs of an audit of this pair, including new learning runs, in which so many runs measure."""
        return _ANEW * measuring * self.runs / (self.runs - self.learned.runs) + _SPARE

    def seconds(self, runs: float) -> float:
        """The duration of an audit of this pair: the learning time seen here, and other runs at the speed seen here."""
        return self.learned.seconds + max(runs - self.learned.runs, 0.0) / self.speed
