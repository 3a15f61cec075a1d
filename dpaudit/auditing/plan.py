"""How many runs, and how many seconds, does it take to find a violation of a given size, and which ε a wanted error?

This is asked before an audit, when nobody knows where a mechanism is wrong. A short audit of the mechanism as it is
chooses an event and estimates its probability. The answer is the number of runs at which an event that is as common,
and has the loss to be found, shows that loss with probability 0.9 (`dpaudit.stats.two_looks`). It therefore holds for
violations that show in such an event; this is an assumption, which `Plan.assumes` puts into words. The actual audit
chooses its event again from other runs, and sometimes a poorer one, so some runs are added.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.auditing.accuracy import LEVEL, ExactAnswer, accuracy_of, exact_answer
from dpaudit.auditing.pair import LearnedPair, gather, joined, learn, measure, with_call_style
from dpaudit.auditing.question import LEAST_RUNS, Question, given_or_fresh, validated, whole
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import SelectedEvent
from dpaudit.evidence.event import Event
from dpaudit.evidence.records import Accuracy, Counts, round_outward
from dpaudit.loading import load, public_name
from dpaudit.neighbours import Relation
from dpaudit.privacy import Claim, parse_claim
from dpaudit.privacy.claims import number_text
from dpaudit.request import AuditRequest, known_keywords
from dpaudit.sampling.checkpoint import Listener, Phase, Session, blocks_of
from dpaudit.sampling.outputs import Outputs
from dpaudit.sampling.play import RepeatDetector
from dpaudit.stats.joint_region import lower_bound
from dpaudit.stats.two_looks import FALSE_ALARM, runs_to_show, runs_to_show_gaussian
from dpaudit.targets.mechanism import Mechanism

# --- How many runs, and how many seconds, does it take to find a violation of a given size? ---

# a factor and a constant of additional runs, because the audit learns its event again; tests/validity/test_power.py
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
    value = _wanted_loss(detect, question.claim)
    count = len(question.pairs)
    short = whole("runs", runs, least=LEAST_RUNS * count) // count
    try:
        told = replace(question, session=Session(listen, total=count * short))
        looks = [_Look.at(told, question.claim, pair, short) for pair in range(count)]
        needed = [look.again(question, value) for look in looks]
    except InvalidRunsError as error:
        raise UsageError(f"nothing can be planned for {name}: its runs cannot be trusted: {error}") from None
    hardest = max(needed, key=lambda look: look.best(value)[0])
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
        seconds=sum(look.seconds(wanted / count) for look in needed) if feasible else None,
        event=event,
        where=where,
        shown=round_outward(max(look.shown for look in looks), "lower", 4),
        spent=sum(look.spent for look in needed),
    )


def _wanted_loss(detect: float | str | Claim, claim: Claim) -> float:
    """Return the loss to be found, in the unit of the claim's parameter."""
    if isinstance(detect, int | float) and not isinstance(detect, bool):
        value = float(detect)
    else:
        given = str(detect)
        named = {part.partition("=")[0].strip() for part in given.split(",")}
        rest = [part for part in str(claim).split(", ") if part.partition("=")[0] not in {claim.parameter, *named}]
        try:
            claim_read: Claim | None = parse_claim(", ".join([given, *rest]))
        except UsageError:
            claim_read = None
        if claim_read is None or type(claim_read) is not type(claim) or claim_read.with_value(claim.value) != claim:
            raise UsageError(
                f"what is to be found is a value of the claim's own parameter, such as "
                f"'{claim.parameter}={number_text(claim.gross())}' for the claim {claim}, not {given!r}"
            )
        value = claim_read.value
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
        options = (
            (*self._needed(choice, counts, value), choice.event)
            for choice, counts in zip(self.learned.choices, self.counts, strict=True)
        )
        return min(options, key=lambda one: one[0])

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


# --- Which ε does a wanted error need? ---
#
# People choose ε by what it costs. The mechanism is run at several values of its privacy parameter, and its outputs are
# compared with the exact answer (`dpaudit.auditing.accuracy`). The answer is the smallest value, to two digits, at
# which at least 90 % of the answers are within the wanted error; errors are taken to fall as the parameter grows. It is
# an estimate on one dataset: on others the error may be another.

_LEAST, _MOST = 1e-3, 1e3  # where a parameter of privacy is looked for; chosen
_STEPS = 12  # of a bisection of its logarithm: to 0.4 %


@dataclass(frozen=True, slots=True)
class ErrorAt:
    """What the error is at one value of the parameter: the share of answers within the wanted error, and the errors."""

    value: float
    within: float
    accuracy: Accuracy


@dataclass(frozen=True, slots=True)
class ErrorPlan:
    """What a wanted error needs.

    Attributes:
        target: what was run.
        error: the wanted error: of an amount, or the share of answers that are not the exact one.
        parameter: the parameter that was varied.
        value: its smallest value that is enough; None if none up to 1,000 is.
        places: what the error is at this value and around it, from small to large.
        spent: executions.
    """

    target: str
    error: float
    parameter: str
    value: float | None
    places: tuple[ErrorAt, ...]
    spent: int


@known_keywords
def plan_error(
    target: str | Mechanism | Callable[..., Any],
    error: float,
    *,
    vary: str = "epsilon",
    parameters: Mapping[str, Any] | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | Relation | None = None,
    runs: int | float = 40_000,
    seed: int | None = None,
) -> ErrorPlan:
    """Find the smallest ε at which 90 % of the answers are within a wanted error.

    Args:
        target, parameters, pairs, relation, seed: as for `audit`. The error is that on the first dataset of the first
            pair.
        error: above 0, in the unit of the answers; for answers that are no amounts, the share that may not be exact,
            below 1.
        vary: the parameter that decides on privacy; larger is less private.
        runs: executions at each value, of both datasets together.

    Returns:
        The value, and the errors around it.

    Raises:
        UsageError: if there is no such parameter, or no exact answer is known.
    """
    if isinstance(error, bool) or not isinstance(error, int | float) or not 0 < error < math.inf:
        raise UsageError(f"a wanted error is a number above 0, such as 5, not {error!r}")
    mechanism = load(target)
    if vary not in mechanism.defaults and not mechanism.open_ended:
        known = ", ".join(mechanism.defaults) or "none"
        raise UsageError(f"{public_name(mechanism)} has no parameter {vary!r} to vary; it has: {known}")
    root, each = given_or_fresh(seed), whole("runs", runs, least=LEAST_RUNS)
    spent = 0

    def at(value: float) -> ErrorAt:
        nonlocal spent
        spent += each
        request = AuditRequest(
            mechanism,
            parameters={**(parameters or {}), vary: value},
            pairs=pairs,
            relation=relation,
            seed=root,
            floating_point="ignore",
        )
        return _error_at(request, value, error, each)

    low, high = _LEAST, _MOST
    enough = at(high)
    if enough.within < LEVEL:
        return ErrorPlan(public_name(mechanism), float(error), vary, None, (enough,), spent)
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if at(middle).within >= LEVEL else (middle, high)
    value = _two_digits_up(high)
    places = tuple(at(value * factor) for factor in (0.25, 0.5, 1, 2, 4))
    return ErrorPlan(public_name(mechanism), float(error), vary, value, places, spent)


def _two_digits_up(value: float) -> float:
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.2g}")


def _error_at(request: AuditRequest, value: float, error: float, runs: int) -> ErrorAt:
    question = with_call_style(validated(request))
    if not question.pairs:
        raise UsageError(f"{question.mechanism.name} names no data to run on; give a pair")
    answer = exact_answer(question.mechanism, question.pairs[0][0], question.parameters)
    sides, _ = gather(question, blocks_of(question.runs_as, Phase.LEARNING, 0, runs))
    outputs = joined(sides)[0]
    errors = None if answer is None else accuracy_of(outputs, answer, 0, 0)
    if answer is None or errors is None:
        raise UsageError(
            f"no exact answer of {question.mechanism.name} is known: it draws no noise of dpaudit, or has no most "
            "likely draw; expose the query within: @mechanism(query=…)"
        )
    if not errors.errors and error >= 1:
        raise UsageError(
            f"answers of {question.mechanism.name} are no amounts: a wanted error is the share of them that may not be "
            f"exact, such as 0.05, not {error:g}"
        )
    return ErrorAt(value, _within(outputs, answer, errors, error), errors)


def _within(outputs: Outputs, answer: ExactAnswer, errors: Accuracy, error: float) -> float:
    """Return the share of runs within the wanted error; of answers without amounts, `LEVEL` if few enough are wrong."""
    if not errors.errors:
        return LEVEL if 1 - errors.same / errors.runs <= error else 0.0
    numbers = outputs.numbers[outputs.forms.index(answer.output.forms[0])]
    close = np.abs(numbers - answer.output.numbers[0]) <= error
    return float(close.mean() * errors.compared / errors.runs)
