"""What do numbers that were recorded elsewhere show? Scores of an attack on a model, or outputs of a mechanism.

order of the data → a share chooses events → the others measure them → counts → bounds → verdict → evidence
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from dpaudit.arrays import Floats
from dpaudit.auditing import independence, pair, question
from dpaudit.auditing.accuracy import (
    FALSE_POSITIVE_RATES,
    LEAST,
    gaussian_epsilon,
    gaussian_mu,
    rate_at,
    roc,
    thresholds,
)
from dpaudit.auditing.canaries import foresee_guesses, guessed, refuse_no_coin, refuse_other_notions
from dpaudit.auditing.verdict import ASSUMED, LOST, SHARE, SOME_CANARIES, TwoLooks, decide
from dpaudit.decimals import refuse_confidence, refuse_false_alarm
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import Partition, SelectedEvent, choose, count_event, counts_by_degree
from dpaudit.evidence import build, canonical_json
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Counts, Histogram, PairRecord, Scores, Target
from dpaudit.neighbours.digest import digest
from dpaudit.privacy import ApproxDP, Claim, PureDP, parse_claim
from dpaudit.request import known_keywords
from dpaudit.sampling.forms import reading_types, refuse_types
from dpaudit.sampling.outputs import Outputs, from_array, from_list
from dpaudit.stats.two_looks import FALSE_ALARM, Detectable, LooksRule, first_look, foresee

# --- Which scores and outputs were given? Reads files and values, and refuses what cannot be used with a reason ---
#
# A file of scores is a ``.npy`` array, a ``.csv`` file with one column (a first line that is not a number names it),
# JSON lines (``.jsonl``, one number per line) or JSON (a list of numbers). NaN is a score like any other: a model that
# diverged produces one, and members may be what makes it diverge.

FORMS = ".npy, .csv with one column, .jsonl with one number a line, or .json with a list of numbers"


def read_scores(name: str | Path) -> Floats:
    """Return the scores in a file, shape (n,); raises `UsageError` if it cannot be read."""
    kind = Path(name).suffix.lower()
    try:
        if kind == ".npy":
            with open(name, "rb") as file:
                return as_scores(np.lib.format.read_array(file, allow_pickle=False), str(name))
        if kind not in _READERS:
            raise UsageError(f"'{name}' is no file of scores that dpaudit reads; it reads {FORMS}")
        text = canonical_json.read_text(name, "the scores", f"; dpaudit reads {FORMS}")
        return as_scores(_READERS[kind](text, str(name)), str(name))
    except UsageError:
        raise
    except OSError as error:
        raise UsageError(f"cannot read the scores '{name}': {error.strerror or error}") from None
    except (ValueError, EOFError, RecursionError, csv.Error) as error:
        raise UsageError(f"cannot read the scores '{name}': {error}; dpaudit reads {FORMS}") from None


def _json(text: str, name: str) -> Any:
    return json.loads(text)


def _lines(text: str, name: str) -> list[Any]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError:
                raise UsageError(f"line {number} of '{name}' is no JSON: {line.strip()[:40]!r}") from None
    return rows


def _column(text: str, name: str) -> list[float]:
    rows = [(number, row) for number, row in enumerate(csv.reader(text.splitlines()), start=1) if "".join(row).strip()]
    wide = next((number for number, row in rows if len(row) > 1), None)
    if wide is not None:
        raise UsageError(f"line {wide} of '{name}' has several columns; write the scores as one column")
    if rows and _float_or_none(rows[0][1][0]) is None:
        rows = rows[1:]  # the name of the column
    column = []
    for number, row in rows:
        value = _float_or_none(row[0])
        if value is None:
            raise UsageError(f"line {number} of '{name}' is no number: {row[0].strip()[:40]!r}; a missing score is nan")
        column.append(value)
    return column


def _float_or_none(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


_READERS = {".json": _json, ".jsonl": _lines, ".csv": _column}


def as_scores(values: Any, name: str) -> Floats:
    """Return scores as floats, shape (n,); raises `UsageError` for anything but a long enough list of numbers."""
    scores = values if isinstance(values, np.ndarray) else _as_array(values, name)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1:
        raise UsageError(f"{name}: scores are a list of numbers, one a record, not an array of shape {scores.shape}")
    if scores.size and (scores.dtype.kind not in "biuf"):
        raise UsageError(f"{name}: scores are numbers, not {scores.dtype}; a missing score is NaN")
    refuse_few(scores, name, "scores")
    return scores.astype(np.float64)


def _as_array(values: Any, name: str) -> np.ndarray[Any, Any]:
    if hasattr(values, "to_numpy") or hasattr(values, "__array__"):
        return np.asarray(values)
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__iter__"):
        raise UsageError(f"{name}: scores are a list of numbers, one a record, not {values!r:.60}")
    listed = list(values)
    for number, value in enumerate(listed):
        if not isinstance(value, bool | int | float | np.number | np.bool_):
            raise UsageError(
                f"{name}: scores are numbers, one a record; entry {number} is {value!r:.60} (a missing score is NaN)"
            )
    return np.asarray([float(value) for value in listed])


def as_outputs(values: Any, name: str) -> Outputs:
    """Return recorded outputs; the runs are the first axis of an array, or the entries of a list."""
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__len__"):
        raise UsageError(f"{name}: outputs are a list or an array, one entry a run, not {values!r:.60}")
    if hasattr(values, "iloc"):
        values = values.to_numpy()
    array = isinstance(values, np.ndarray) and values.ndim > 0
    refuse_few(values, name, "outputs")
    return from_array(values) if array else from_list(list(values))


def refuse_few(values: Any, name: str, what: str) -> None:
    """Raise `UsageError` for fewer than `LEAST` values."""
    if len(values) < LEAST:
        holds = f"only {len(values)}" if len(values) else "none"
        raise UsageError(f"{name}: at least {LEAST} {what} of each side are needed to show anything; there are {holds}")


def refuse_only_nan(members: Floats, others: Floats) -> None:
    """Raise `UsageError` if every score is NaN."""
    if np.isnan(members).all() and np.isnan(others).all():
        raise UsageError("every score is NaN, of members and of others; there is nothing to tell them apart by")


# --- Which recorded outputs choose the event, and which measure it? ---
#
# A share of each side chooses the event, and all others measure it. The sizes depend only on how many outputs there
# are; a random order that depends on the seed says which outputs they are. Bounds are valid given the sides, however
# many outputs each has. An event that points to both sides is measured on equally many outputs of each: the first in
# that order.

Positions = np.ndarray[Any, np.dtype[np.int64]]

_SPLIT = 4  # the first entry of the spawn key


@dataclass(frozen=True, slots=True)
class IndexSplit:
    """Positions of the outputs of each side that choose the event, and of those that measure it."""

    learning: tuple[Positions, Positions]
    measuring: tuple[Positions, Positions]

    @property
    def balanced(self) -> IndexSplit:
        """The same split with equally many measuring outputs of both sides."""
        fewer = min(map(len, self.measuring))
        return IndexSplit(self.learning, (self.measuring[0][:fewer], self.measuring[1][:fewer]))


def split(sizes: tuple[int, int], seed: int) -> IndexSplit:
    """Return the split that the seed determines."""
    rng = generator(seed, _SPLIT)
    orders = [rng.permutation(size) for size in sizes]
    first, second = ((order[: round(SHARE * len(order))], order[round(SHARE * len(order)) :]) for order in orders)
    return IndexSplit((first[0], second[0]), (first[1], second[1]))


def generator(seed: int, phase: int) -> np.random.Generator:
    """Return the random generator of one phase."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(phase,))))


def at(outputs: Outputs, positions: Positions) -> Outputs:
    """Return the outputs at these positions, in this order, because recorded outputs may have been sorted."""
    codes = outputs.codes[positions]
    rows = []
    for code, numbers in enumerate(outputs.numbers):
        row = np.cumsum(outputs.codes == code) - 1  # of each output, among those of its form
        rows.append(numbers[row[positions[codes == code]]])
    return Outputs(outputs.forms, codes, tuple(rows))


# --- What is the order of an audit of recorded data? No other module knows it ---

DESIGNS = {
    "independent": "every score comes from a training run of its own",
    "one-run": "all scores come from one model, in whose training data a fair coin of its own put each canary, or not",
}


class ScoresRequest(msgspec.Struct, frozen=True):
    """What is asked about recorded data.

    ``notion`` is the claim, or the notion to bound if there is none; ``sides`` are the outputs of side 0 and side 1.
    """

    target: Target
    claim: Claim | None
    notion: Claim
    confidence: float
    seed: int
    sides: tuple[Outputs, Outputs]
    records: tuple[PairRecord]
    assumptions: tuple[str, ...]
    false_alarm: float
    types: str = "count"

    @property
    def rule(self) -> LooksRule:
        """The rule that decides when a bound above the claim is a violation: recorded data are looked at once."""
        return LooksRule(1 - self.confidence, self.false_alarm, repeatable=False)

    @property
    def subject(self) -> build.Subject:
        """What the evidence says about it."""
        return build.Subject(
            target=self.target,
            claim=self.claim,
            notion=self.notion,
            relation="declared",
            unit="",
            pairs=self.records,
            seed=self.seed,
            confidence=self.confidence,
            versions=build.installed_versions(),
            assumptions=self.assumptions,
            types=self.types,
        )


@known_keywords
def audit_scores(
    in_scores: Any,
    out_scores: Any,
    *,
    claim: Claim | str | None = None,
    delta: float = 1e-5,
    confidence: float = 0.95,
    design: str | None = None,
    seed: int | None = None,
    name: str = "scores",
    false_alarm: float = FALSE_ALARM,
    canaries: int | None = None,
) -> Evidence:
    """Audit a model by the scores of an attack on it: membership inference, or canaries.

    Args:
        in_scores: (n,) scores of records in the training data; side 0 of the evidence. NaN is a score of its own kind.
            Higher means "in"; for independent scores the bound finds other events too.
        out_scores: (m,) scores of records outside the training data; side 1.
        claim: a Claim or its text. Without one the verdict is NO CLAIM, and ε is bounded at ``delta``.
        delta: the δ of the bound if no claim is given, and of the estimate for a Gaussian mechanism if the claim has
            none of its own.
        confidence: of the bound, and of every other exact statement by itself.
        design: decides which bound holds, and has no default. "independent": each score comes from a training run of
            its own. A random order that depends on the seed decides which scores choose the event; the others measure
            it. "one-run": all scores come from one model, in whose training data each canary was included by a fair
            coin; the bound is of ε at a δ, or of μ (docs/one-run.md). At a large δ even correct guesses may never be
            sure enough for VIOLATED; then the reason says so, and what would help.
        seed: determines that order; by default a fresh one. Canaries of one model need none: equal scores among them
            are guessed in the least favourable way, so a score with few values shows less than a finer one.
        name: what was scored, for the report.
        false_alarm: the chance that a model that keeps its claim is called VIOLATED. Recorded data cannot be run again,
            so there is one look: a bound above the claim that is not sure enough is INCONCLUSIVE.
        canaries: of the one model, how many had a coin, where not all of them have a score here. Those without one are
            in the middle of the order, and are guessed wrong where they are guessed. None if all are handed in.

    Returns:
        The evidence; ``evidence.scores`` holds the ROC, true positive rates and an estimate, none of which decides.

    Raises:
        UsageError: if the scores or the design cannot be used.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    refuse_design(design)
    assert design is not None
    members, others = as_scores(in_scores, "the scores in"), as_scores(out_scores, "the scores out")
    target = Target(name, None, {"design": design}, "scores", "recorded")
    case = _case(
        target,
        (members, others),
        (from_array(members), from_array(others)),
        claim,
        delta,
        confidence,
        seed,
        false_alarm,
    )
    missing = _missing(canaries, design, len(members) + len(others))
    case = msgspec.structs.replace(case, assumptions=ASSUMED[SOME_CANARIES if missing else design])
    refuse_only_nan(members, others)
    at_delta = case.notion.delta or delta
    if design == "one-run":
        evidence = _one_run(case, members, others, missing)
        scores = _beside(design, members, others, None, at_delta, None)
        scores = msgspec.structs.replace(scores, canaries=canaries if missing else None)
    else:
        cut = _split(case)
        evidence, cut = _independent_in_order(case, cut)
        scores = _beside(design, members, others, cut, at_delta, 1 - case.confidence)
    return msgspec.structs.replace(evidence, scores=scores, run=build.run_info(started, clock, 1))


def refuse_design(design: Any) -> None:
    """Raise `UsageError` unless a design is named; the error says which there are."""
    if design not in DESIGNS:
        given = "say how the scores came about" if design is None else f"{design!r:.60} is no design of scores"
        listed = "; ".join(f"'{name}': {meaning}" for name, meaning in DESIGNS.items())
        raise UsageError(f"{given}, because it decides which bound holds. The designs are {listed}")


def _missing(canaries: int | None, design: str, scores: int) -> int:
    """Return how many canaries have no score here."""
    if canaries is None:
        return 0
    if design != "one-run":
        raise UsageError("canaries= counts those of one model, and belongs to the design 'one-run'")
    if question.whole("canaries", canaries, least=1) < scores:
        raise UsageError(f"canaries={canaries} is how many had a coin, and {scores} scores are given: it is no fewer")
    return canaries - scores


@known_keywords
def audit_outputs(
    outputs0: Any,
    outputs1: Any,
    *,
    claim: Claim | str | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    seed: int | None = None,
    name: str = "outputs",
    types: str = "count",
    false_alarm: float = FALSE_ALARM,
) -> Evidence:
    """Audit a mechanism by outputs that were recorded elsewhere, in any language.

    Args:
        outputs0: outputs on the first dataset, one entry per run: numbers, vectors, texts, None, or lists and dicts of
            these; the first axis of an array is the runs.
        outputs1: outputs on the second dataset. The two may differ in length.
        claim: a Claim or its text. Without one the verdict is NO CLAIM, and ε is bounded at ``delta``.
        delta: the δ of the bound if no claim is given.
        confidence: of the bound.
        seed: determines the random order that decides which outputs choose the event; by default a fresh one.
        name: what was recorded, for the report.
        types: as for `dpaudit.audit`: whether outputs of different types are different outputs, "count" or "ignore".
        false_alarm: as for `audit_scores`.

    Returns:
        The evidence.

    Raises:
        UsageError: if the outputs cannot be compared, or are too few.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    refuse_types(types)
    with reading_types(types):
        sides = as_outputs(outputs0, "outputs0"), as_outputs(outputs1, "outputs1")
    target = Target(name, None, {}, "outputs", "recorded")
    case = _case(target, (outputs0, outputs1), sides, claim, delta, confidence, seed, false_alarm)
    case = msgspec.structs.replace(case, types=types)
    return msgspec.structs.replace(_independent_in_order(case, _split(case))[0], run=build.run_info(started, clock, 1))


def _case(
    target: Target,
    data: tuple[Any, Any],
    sides: tuple[Outputs, Outputs],
    claim: Claim | str | None,
    delta: float,
    confidence: float,
    seed: int | None,
    false_alarm: float,
) -> ScoresRequest:
    refuse_confidence(confidence)
    if claim is not None and not isinstance(claim, Claim | str):
        raise UsageError(f"a claim is a Claim or its text, such as 'epsilon=1, delta=1e-5', not {claim!r:.60}")
    refuse_false_alarm(false_alarm)
    stated = parse_claim(claim) if isinstance(claim, str) else claim
    bare = ApproxDP(0.0, delta)
    return ScoresRequest(
        target=target,
        claim=stated,
        notion=stated or (bare if bare.delta > 0 else PureDP(0.0)),
        confidence=float(confidence),
        seed=question.whole("seed", question.given_or_fresh(seed), least=0),
        sides=sides,
        records=(PairRecord(digest(data[0]), digest(data[1]), "given"),),
        assumptions=ASSUMED["outputs"],
        false_alarm=float(false_alarm),
    )


def _split(case: ScoresRequest) -> IndexSplit:
    return split((len(case.sides[0]), len(case.sides[1])), case.seed)


# --- a training run for every score, or outputs -----------------------------------------------------------


def _independent_in_order(case: ScoresRequest, cut: IndexSplit) -> tuple[Evidence, IndexSplit]:
    """Audit independent outputs; INVALID if the order in which they were recorded shows that they are not."""
    try:
        case = _refuse_unsteady(case)
    except InvalidRunsError as error:
        return case.subject.invalid(str(error)), cut
    choices, histogram_partition, cut = _chosen(case, cut)
    return _independent(case, cut, choices, histogram_partition), cut


def _refuse_unsteady(case: ScoresRequest) -> ScoresRequest:
    """Raise if recorded outputs were copied, drift or depend on one another; sorted ones cannot show the last two."""
    independence.refuse_copies(case.sides)
    if any(map(_sorted, case.sides)):
        return msgspec.structs.replace(case, assumptions=(*case.assumptions, LOST))
    independence.homogeneity_cells(case.sides)
    return case


def _constant(case: ScoresRequest) -> tuple[int, ...]:
    return (0,) if independence.are_constant(case.sides) else ()


def _sorted(outputs: Outputs) -> bool:
    """Whether numbers ascend or descend, which n independent draws do with probability 1/n! each."""
    if len(outputs.forms) != 1 or outputs.numbers[0].shape[1] != 1:
        return False
    steps = np.diff(outputs.numbers[0][:, 0])
    return bool(np.any(steps != 0) and (np.all(steps >= 0) or np.all(steps <= 0)))


def _chosen(case: ScoresRequest, cut: IndexSplit) -> tuple[tuple[SelectedEvent, ...], Partition, IndexSplit]:
    """Choose events from learning outputs alone, and thereby which of the other outputs measure."""
    learning = [at(side, positions) for side, positions in zip(case.sides, cut.learning, strict=True)]
    ahead = len(cut.measuring[0]), len(cut.measuring[1])
    choices, histogram_partition = choose(*learning, claim=case.notion, measuring=ahead, error=1 - case.confidence)
    event = choices[0].event
    return choices, histogram_partition, cut.balanced if event.toward(0) and event.toward(1) else cut


def _independent(
    case: ScoresRequest, cut: IndexSplit, choices: tuple[SelectedEvent, ...], histogram_partition: Partition
) -> Evidence:
    learning, measuring = (
        tuple(at(side, positions) for side, positions in zip(case.sides, part, strict=True))
        for part in (cut.learning, cut.measuring)
    )
    runs, error = len(measuring[0]) + len(measuring[1]), 1 - case.confidence
    attempts = [_attempt(case, choice, measuring, error) for choice in choices]
    learned = len(learning[0]) + len(learning[1])
    share = case.rule.planned / case.rule.error
    foreseen = None if case.claim is None else foresee(case.claim, attempts, learned, share)
    sizes = np.array([len(side) for side in measuring])
    drawn = pair.histogram_cells(
        histogram_partition, 0, np.array([histogram_partition.counts(side) for side in measuring]), sizes
    )
    evidence = _evidence(case, attempts, drawn, learned, runs, foreseen)
    return msgspec.structs.replace(evidence, constant=_constant(case))


def _attempt(case: ScoresRequest, choice: SelectedEvent, measuring: Sequence[Outputs], error: float) -> Attempt:
    hits = [count_event(choice.event, side) for side in measuring]
    bins = None
    if choice.graded:
        cells = Partition(choice.event.family, choice.event.rules)
        filled = [counts_by_degree(choice.event, cells.counts(side)) for side in measuring]
        bins = filled[0], filled[1]
    counts = Counts(
        runs=(len(measuring[0]), len(measuring[1])),
        toward0=(hits[0][0], hits[1][0]),
        toward1=(hits[0][1], hits[1][1]),
        bins=bins,
    )
    return question.attempt_of(choice, counts, case.notion, error=error, pair=0, assumes=case.assumptions)


# --- one model --------------------------------------------------------------------------------------------


def _one_run(case: ScoresRequest, members: Floats, others: Floats, missing: int) -> Evidence:
    refuse_other_notions(case.notion)
    refuse_no_coin(len(members), len(others), missing)
    try:
        independence.refuse_copies(case.sides)
    except InvalidRunsError as error:
        return case.subject.invalid(str(error))
    canaries = len(members) + len(others) + missing
    attempts = guessed(members, others, case.notion, case.confidence, case.assumptions, missing)
    foreseen = None
    if case.claim is not None:
        share = case.rule.planned / case.rule.error
        foreseen = Detectable(foresee_guesses(case.claim, attempts, share), "event", ())
    return _evidence(case, attempts, None, 0, canaries, foreseen)


# --- the evidence -----------------------------------------------------------------------------------------


def _evidence(
    case: ScoresRequest,
    attempts: list[Attempt],
    drawn: Histogram | None,
    learning: int,
    measuring: int,
    foreseen: Detectable | None,
) -> Evidence:
    best = max(attempts, key=lambda attempt: attempt.bound.value)
    lower = build.at_whole(best.bound, case.confidence)
    looks = None
    if case.claim is not None:
        numbered = list(enumerate(attempt.bound for attempt in attempts))
        looks = TwoLooks(case.rule, first_look(case.rule, numbered, case.claim))
    verdict, reason = decide(case.claim, lower, None if foreseen is None else foreseen.value, looks=looks)
    return case.subject.evidence(
        verdict,
        reason,
        lower,
        attempts=tuple(attempts),
        histogram=drawn,
        learning=learning,
        measuring=measuring,
        **({} if foreseen is None else foreseen.members),
        **({} if looks is None else looks.members),
    )


def _beside(
    design: str, members: Floats, others: Floats, cut: IndexSplit | None, delta: float, error: float | None
) -> Scores:
    """What scores show besides the bound. The ROC is measured on other scores than those that chose its thresholds."""
    learning, measuring = ((members, others), (members, others))
    if cut is not None:
        learning = members[cut.learning[0]], others[cut.learning[1]]
        measuring = members[cut.measuring[0]], others[cut.measuring[1]]
    mu = gaussian_mu(members, others)
    return Scores(
        design=design,
        given=(len(members), len(others)),
        measured=(len(measuring[0]), len(measuring[1])),
        delta=delta,
        roc=roc(*measuring, thresholds(*learning), error),
        rates=tuple(rate_at(members, others, rate, error) for rate in FALSE_POSITIVE_RATES),
        mu=mu,
        epsilon_if_gaussian=None if mu is None else gaussian_epsilon(mu, delta),
    )
