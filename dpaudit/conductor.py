"""Is the claim to be believed? The conductor of an audit, the only place that knows the order of things.

learning runs → event (frozen) → fresh measuring runs → counts → lower bound → verdict → evidence
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from dpaudit.attack import Choice, Partition, choose, count_event
from dpaudit.bounds.statement import detectable, detectable_gaussian, lower_bound
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.evidence import (
    Attempt,
    Bound,
    Counts,
    Evidence,
    Histogram,
    PairRecord,
    RunInfo,
    Target,
    Verdict,
    round_outward,
)
from dpaudit.function import Mechanism, Shape
from dpaudit.game.blocks import Block, Game, Purpose, Watch, blocks_of, play, ramp_of
from dpaudit.game.drift import drifted
from dpaudit.game.outputs import Outputs, concatenate
from dpaudit.game.trial import first_exception
from dpaudit.loading import load
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.digest import digest
from dpaudit.picture import histogram_cells
from dpaudit.privacy import Claim, PureDP
from dpaudit.privacy.claims import as_claim
from dpaudit.verdicts import judge

LEAST_RUNS = 100  # of each pair
_LEARNING_SHARE, _DEMANDING_SHARE = 0.25, 0.4
_LEARNING_CAP, _LEARNING_CAP_DELTA = 500_000, 2_000_000  # of both sides together
_PICTURE_RUNS = 400_000  # measuring runs, of both sides, that the histogram counts
_SHOWN_CHARACTERS = 400

Listener = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class _Question:
    """What is audited, checked and ready to run."""

    mechanism: Mechanism
    parameters: dict[str, Any]
    claim: Claim | None
    relation: Relation
    pairs: tuple[tuple[Any, Any], ...]
    records: tuple[PairRecord, ...]
    seed: int
    confidence: float
    workers: int
    given_pairs: bool

    @property
    def notion(self) -> Claim:
        """The notion that bounds are stated in: the claim's, or pure DP where there is none."""
        return self.claim if self.claim is not None else PureDP(0.0)

    @property
    def game(self) -> Game:
        digests = tuple((record.digest0, record.digest1) for record in self.records)
        mechanism = self.mechanism.reference if self._shareable else None
        return Game(mechanism or self.mechanism, self.parameters, self.pairs, digests, self.seed)

    @property
    def _shareable(self) -> bool:
        return self.workers > 1 and self.mechanism.shape is not Shape.OPAQUE


@dataclass(frozen=True, slots=True)
class _Learned:
    """What the learning runs of a pair left behind: frozen choices, and nothing of the runs themselves."""

    choices: tuple[Choice, ...]
    picture: Partition
    runs: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Counted:
    """What one measuring block is reduced to: counts for each choice, and cells for the picture."""

    events: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    cells: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None


def audit(
    target: str | Mechanism | Callable[..., Any],
    *,
    parameters: Mapping[str, Any] | None = None,
    claim: Claim | str | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | Relation | None = None,
    runs: int | float = 400_000,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    time_budget: float | None = None,
    sequential: bool = False,
    curve: bool = False,
    floating_point: str = "report",
    listen: Listener | None = None,
) -> Evidence:
    """Audit a mechanism: certify a lower bound of its loss and hold it against its claim.

    Args:
        target: a catalogue name, "package.module:function", "path/to/file.py:function", a Mechanism, or a
            function that asks for ``noise``, ``size`` and ``rng``, ``rng``, or none of these.
        parameters: parameters of the mechanism; the others keep their defaults.
        claim: a Claim or its text; by default the mechanism's own. Without any the verdict is NO CLAIM.
        pairs: neighbouring datasets [(data0, data1), …]; by default the mechanism's own.
        relation: which datasets are neighbours; by default the mechanism's own, else "declared".
        runs: executions in all: both sides, learning and measuring, every pair. At least 100 a pair.
        confidence: of the whole audit, whatever the number of pairs.
        seed: the root of every random draw of dpaudit; the same seed gives the same evidence.
        workers: processes; they do not change the evidence.
        time_budget: seconds; replaces ``runs`` by a number that is fixed after learning, before measuring.
        sequential, curve: not available in this version.
        floating_point: "report" or "ignore"; the low-order bits are not examined in this version.
        listen: called with (stage, runs done, runs in all) as the audit goes on.

    Returns:
        The evidence; its verdict is INVALID where the runs cannot be trusted.

    Raises:
        UsageError: if the request cannot be carried out as it stands.
    """
    _available(sequential=sequential, curve=curve, floating_point=floating_point)
    started, clock = datetime.now(UTC), time.perf_counter()
    question = _question(target, parameters, claim, pairs, relation, confidence, seed, workers)
    total = _whole("runs", runs, least=LEAST_RUNS * len(question.pairs))
    if time_budget is not None and not 0 < time_budget < math.inf:
        raise UsageError(f"time_budget is a positive number of seconds, not {time_budget!r}")
    spent = {"learning": 0, "measuring": 0}

    def tell(stage: str, done: int, of: int) -> None:
        spent[stage] = max(spent[stage], done - sum(spent.values()) + spent[stage])
        if listen is not None:
            listen(stage, done, of)

    try:
        evidence = _carry_out(question, total, time_budget, tell)
    except InvalidRunsError as error:
        evidence = _invalid(question, str(error), **spent)
    info = RunInfo(
        started=started.isoformat(timespec="seconds"),
        duration=round(time.perf_counter() - clock, 3),
        host=platform.node(),
        workers=workers,
    )
    return _with(evidence, run=info)


def _with(evidence: Evidence, **changes: Any) -> Evidence:
    import msgspec

    return msgspec.structs.replace(evidence, **changes)


# --- the question ----------------------------------------------------------------------------------------


def _available(*, sequential: bool, curve: bool, floating_point: str) -> None:
    if floating_point not in {"report", "ignore", "verdict"}:
        raise UsageError(f"floating_point is 'report', 'ignore' or 'verdict', not {floating_point!r}")
    for name, asked in (("sequential=True", sequential), ("curve=True", curve)):
        if asked:
            raise UsageError(f"{name} is not available in this version of dpaudit")
    if floating_point == "verdict":
        raise UsageError("floating_point='verdict' is not available in this version of dpaudit")


def _whole(name: str, value: Any, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer) or value != value // 1:
        raise UsageError(f"{name} is a whole number, not {value!r}")
    if value < least:
        raise UsageError(f"{name} must be at least {least}, not {value:g}")
    return int(value)


def _question(
    target: Any,
    parameters: Mapping[str, Any] | None,
    claim: Claim | str | None,
    pairs: Sequence[tuple[Any, Any]] | None,
    relation: str | Relation | None,
    confidence: float,
    seed: int,
    workers: int,
) -> _Question:
    mechanism = load(target)
    merged = mechanism.parameters_with(parameters)
    if not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise UsageError(f"confidence lies strictly between 0 and 1, such as 0.95, not {confidence!r}")
    own_relation = mechanism.relation_for(merged)
    chosen = parse_relation(relation if relation is not None else own_relation or "declared")
    stated = as_claim(claim)
    if stated is None:
        stated = _own_claim(mechanism, merged, own_relation, chosen)
    used = _pairs(mechanism, merged, pairs)
    for data0, data1 in used:
        chosen.check(data0, data1)
    return _Question(
        mechanism=mechanism,
        parameters=merged,
        claim=stated,
        relation=chosen,
        pairs=used,
        records=tuple(_pair_record(pair, public=pairs is None) for pair in used),
        seed=_whole("seed", seed, least=0),
        confidence=float(confidence),
        workers=_whole("workers", workers, least=1),
        given_pairs=pairs is not None,
    )


def _own_claim(
    mechanism: Mechanism, parameters: Mapping[str, Any], own: str | None, relation: Relation
) -> Claim | None:
    """The mechanism's claim; for a larger group than its relation names, what the claim implies there."""
    claim = mechanism.claim_for(parameters)
    if claim is None or own is None:
        return claim
    made_for = parse_relation(own)
    if (made_for.kind, made_for.movement) == (relation.kind, relation.movement):
        return claim.group(max(1, -(-relation.group // made_for.group)))
    return claim


def _pairs(
    mechanism: Mechanism, parameters: Mapping[str, Any], given: Sequence[tuple[Any, Any]] | None
) -> tuple[tuple[Any, Any], ...]:
    if given is None:
        own = mechanism.pairs_for(parameters)
        if not own:
            raise UsageError(
                f"{mechanism.name} names no pair of neighbouring datasets; give one: pairs=[(data0, data1)]"
            )
        return tuple(own)
    used = []
    for pair in given:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise UsageError(f"a pair is two datasets, (data0, data1), not {pair!r:.80}")
        used.append((pair[0], pair[1]))
    if not used:
        raise UsageError("pairs is empty; give at least one pair of neighbouring datasets: pairs=[(data0, data1)]")
    return tuple(used)


def _pair_record(pair: tuple[Any, Any], *, public: bool) -> PairRecord:
    shown = [_shown(data) if public else None for data in pair]
    return PairRecord(digest(pair[0]), digest(pair[1]), "mechanism" if public else "given", shown[0], shown[1])


def _shown(data: Any) -> str:
    text = repr(data)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    size = f" ({len(data)} records)" if hasattr(data, "__len__") else ""
    return text[:_SHOWN_CHARACTERS] + "…" + size


# --- the runs --------------------------------------------------------------------------------------------


def _carry_out(question: _Question, total: int, time_budget: float | None, listen: Listener) -> Evidence:
    pairs = len(question.pairs)
    error = (1 - question.confidence) / pairs
    attempts: list[Attempt] = []
    pictures: list[Histogram] = []
    learning = measuring = 0
    reading: str | None = None
    done = 0
    for pair in range(pairs):
        watch = Watch(question.game)
        share = total // pairs + (1 if pair < total % pairs else 0)
        budget = None if time_budget is None else time_budget / pairs
        learned, reason = _learn(
            question, pair, share, budget, error, watch, partial(_tell, listen, "learning", done, total)
        )
        ahead = share - learned.runs
        if budget is not None:
            speed = learned.runs / max(learned.seconds, 1e-9)
            ahead = max(LEAST_RUNS, int(0.9 * speed * max(budget - learned.seconds, 0.0)))
        tell = partial(_tell, listen, "measuring", done + learned.runs, total if budget is None else 0)
        found, picture, slow = _measure(question, pair, learned, ahead, error, watch, tell)
        attempts += found
        pictures.append(picture)
        learning, measuring = learning + learned.runs, measuring + ahead
        reading = reading or reason or slow
        done += learned.runs + ahead
    return _evidence(question, attempts, pictures, learning, measuring, reading, error)


def _tell(listen: Listener, stage: str, before: int, total: int, done: int, own: int) -> None:
    listen(stage, before + done, total or before + own)


def _pair_of_outputs(side0: Outputs, side1: Outputs) -> tuple[Outputs, Outputs]:
    return side0, side1


def _learn(
    question: _Question,
    pair: int,
    runs: int,
    budget: float | None,
    error: float,
    watch: Watch,
    tell: Callable[[int, int], None],
) -> tuple[_Learned, str | None]:
    """Run the learning runs of a pair and freeze what will be measured."""
    clock = time.perf_counter()
    cap = _LEARNING_CAP if question.notion.delta == 0 else _LEARNING_CAP_DELTA
    first = min(max(int(_LEARNING_SHARE * runs), LEAST_RUNS // 2), cap)
    shape = question.mechanism.shape
    blocks = ramp_of(shape, Purpose.LEARNING, pair, first if budget is None else cap)
    sides, reason = _gather(question, blocks, watch, tell, None if budget is None else 0.25 * budget)
    outputs = concatenate([side[0] for side in sides]), concatenate([side[1] for side in sides])
    if budget is None and _demanding(outputs):
        more = min(max(int(_DEMANDING_SHARE * runs), first), cap) - first
        rest = blocks_of(shape, Purpose.LEARNING, pair, more, len(blocks))
        extra, slow = _gather(question, rest, watch, lambda done, _: tell(first + done, first + more), None)
        outputs = tuple(concatenate([outputs[side], *(part[side] for part in extra)]) for side in (0, 1))  # type: ignore[assignment]
        reason = reason or slow
    _refuse_if_nothing_ran(question, pair, outputs)
    used = len(outputs[0]) + len(outputs[1])
    seconds = time.perf_counter() - clock
    ahead = max(runs - used, LEAST_RUNS) if budget is None else max(3 * used, LEAST_RUNS)
    choices, picture = choose(outputs[0], outputs[1], claim=question.notion, measuring=ahead, error=error)
    if shape is not Shape.PROGRAM:
        halves = [np.array_split(np.arange(len(side)), 2) for side in outputs]
        early, late = (
            [picture.counts(side.take(half[part])) for side, half in zip(outputs, halves, strict=True)]
            for part in (0, 1)
        )
        _refuse_drift(early, late)
    return _Learned(choices, picture, used, seconds), reason


def _gather(
    question: _Question,
    blocks: list[Block],
    watch: Watch,
    tell: Callable[[int, int], None],
    seconds: float | None,
) -> tuple[list[tuple[Outputs, Outputs]], str | None]:
    clock = time.perf_counter()
    gathered: list[tuple[Outputs, Outputs]] = []
    reason: str | None = None
    done, total = 0, sum(block.size for block in blocks)
    groups = [blocks] if seconds is None else [[block] for block in blocks]
    for group in groups:
        for played in play(question.game, group, _pair_of_outputs, workers=question.workers, watch=watch):
            gathered.append(played.result)
            reason = reason or played.fell_back
            done += played.block.size
            tell(done, total)
        if seconds is not None and time.perf_counter() - clock > seconds and done >= LEAST_RUNS // 2:
            break
    return gathered, reason


def _demanding(outputs: tuple[Outputs, Outputs]) -> bool:
    """Whether the outputs ask for more learning: vectors, or many categories."""
    if len(outputs[0].forms) > 256:
        return True
    wide = any(numbers.shape[1] > 1 for numbers in outputs[0].numbers)
    main = max(outputs[0].numbers, key=len, default=np.empty((0, 0)))
    return wide or (main.shape[1] == 1 and 256 < len(np.unique(main)) < 0.7 * len(main))


def _refuse_if_nothing_ran(question: _Question, pair: int, outputs: tuple[Outputs, Outputs]) -> None:
    forms = {side.forms for side in outputs}
    if len(forms) == 1 and len(outputs[0].forms) == 1 and outputs[0].forms[0].startswith("raises "):
        what = first_exception(question.mechanism, question.pairs[pair][0], question.parameters)
        raise UsageError(f"{question.mechanism.name} raises in every run, so nothing can be measured: {what}")


def _refuse_drift(early: Sequence[np.ndarray[Any, Any]], late: Sequence[np.ndarray[Any, Any]]) -> None:
    """Raise where the cells of either side are filled differently by early and by late runs."""
    if any(drifted(early[side], late[side]) for side in (0, 1)):
        raise InvalidRunsError(_DRIFT)


_DRIFT = (
    "the outputs drift with the order of the calls: the mechanism keeps a state between calls, so its runs "
    "are not independent draws of one law"
)


def _count(choices: tuple[Choice, ...], picture: Partition | None, side0: Outputs, side1: Outputs) -> _Counted:
    events = tuple((count_event(choice.event, side0), count_event(choice.event, side1)) for choice in choices)
    cells = None if picture is None else (picture.counts(side0), picture.counts(side1))
    return _Counted(events, cells)


def _measure(
    question: _Question,
    pair: int,
    learned: _Learned,
    runs: int,
    error: float,
    watch: Watch,
    tell: Callable[[int, int], None],
) -> tuple[list[Attempt], Histogram, str | None]:
    """Run fresh runs against the frozen choices, keeping counts only."""
    blocks = blocks_of(question.mechanism.shape, Purpose.MEASURING, pair, runs)
    drawn = -(-_PICTURE_RUNS // blocks[0].size)
    drawn_runs = sum(block.size for block in blocks[:drawn])
    totals = np.zeros((len(learned.choices), 2, 2), dtype=np.int64)
    cells = np.zeros((2, 2, learned.picture.size), dtype=np.int64)  # early and late, side, cell
    sizes, pictured = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    reason, done = None, 0
    for part, picture in ((blocks[:drawn], learned.picture), (blocks[drawn:], None)):
        reduce = partial(_count, learned.choices, picture)
        for played in play(question.game, part, reduce, workers=question.workers, watch=watch):
            counted = np.array(played.result.events)
            totals += counted
            sizes += played.sizes
            if played.result.cells is not None:
                cells[0 if 2 * done < drawn_runs else 1] += np.array(played.result.cells)
                pictured += played.sizes
            reason = reason or played.fell_back
            done += played.block.size
            tell(done, runs)
    if question.mechanism.shape is not Shape.PROGRAM:
        _refuse_drift(cells[0], cells[1])
    attempts = [
        _attempt(question, pair, choice, counted, sizes, error)
        for choice, counted in zip(learned.choices, totals, strict=True)
    ]
    return attempts, histogram_cells(learned.picture, pair, cells.sum(axis=0), pictured), reason


def _attempt(
    question: _Question,
    pair: int,
    choice: Choice,
    counted: np.ndarray[Any, Any],
    sizes: np.ndarray[Any, Any],
    error: float,
) -> Attempt:
    counts = Counts(
        runs=(int(sizes[0]), int(sizes[1])),
        toward0=(int(counted[0, 0]), int(counted[1, 0])),
        toward1=(int(counted[0, 1]), int(counted[1, 1])),
    )
    own = error * choice.share
    value = lower_bound(choice.method, counts, claim=question.notion, weight=choice.weight, error=own)
    bound = Bound(
        value=round_outward(value, "lower"),
        side="lower",
        kind="sampled",
        parameter=question.notion.parameter,
        notion=str(question.notion),
        confidence=1 - own,
        delta=question.notion.delta,
        method=choice.method,
        weight=choice.weight,
        counts=counts,
        event=choice.event,
        pair=pair,
        assumes=_assumptions(question),
    )
    return Attempt(pair, choice.name, bound, choice.considered)


# --- the evidence ----------------------------------------------------------------------------------------


def _assumptions(question: _Question) -> tuple[str, ...]:
    found = []
    if question.relation.kind == "declared":
        found.append("the pair is neighbouring: declared, not checked")
    if question.mechanism.shape is Shape.OPAQUE:
        found.append("runs are independent: the function's own randomness cannot be seeded or seen")
    else:
        found.append("runs are independent draws of the mechanism's law")
    return tuple(found)


def _target(question: _Question, reading: str | None) -> Target:
    mechanism = question.mechanism
    how = {
        Shape.PROGRAM: "batch" if reading is None else f"run by run: {reading}",
        Shape.SAMPLER: "sampler",
        Shape.SEEDED: "run by run",
        Shape.OPAQUE: "run by run",
    }[mechanism.shape]
    own_pairs = not question.given_pairs
    return Target(
        name=mechanism.name,
        digest=mechanism.digest,
        parameters={name: _plain(value) for name, value in question.parameters.items()},
        asks=str(mechanism.shape),
        reading=how,
        summary=mechanism.summary,
        source=mechanism.source,
        true_loss=mechanism.true_loss_for(question.parameters) if own_pairs else None,
    )


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON value, or its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return repr(value)


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("dpaudit", "numpy", "scipy")}
    return {**packages, "python": platform.python_version(), "platform": platform.machine()}


def _evidence(
    question: _Question,
    attempts: list[Attempt],
    pictures: list[Histogram],
    learning: int,
    measuring: int,
    reading: str | None,
    error: float,
) -> Evidence:
    best = max(attempts, key=lambda attempt: attempt.bound.value)
    lower = _headline(best.bound, question.confidence)
    violation = None if question.claim is None else min(_detectable(question.claim, item, error) for item in attempts)
    verdict, reason = judge(question.claim, lower, violation)
    return Evidence(
        target=_target(question, reading),
        claim=None if question.claim is None else str(question.claim),
        relation=str(question.relation),
        unit=question.mechanism.unit,
        pairs=question.records,
        seed=question.seed,
        confidence=question.confidence,
        learning=learning,
        measuring=measuring,
        verdict=verdict,
        reason=reason,
        lower=lower,
        attempts=tuple(attempts),
        histogram=pictures[best.pair],
        versions=_versions(),
        detectable=None if violation is None else round_outward(violation, "upper"),
        reproducible=question.mechanism.shape is not Shape.OPAQUE,
        assumptions=_assumptions(question),
    )


def _headline(bound: Bound, confidence: float) -> Bound:
    """The same bound, at the confidence of the whole audit, of which its own error level is a share."""
    import msgspec

    return msgspec.structs.replace(bound, confidence=confidence)


def _detectable(claim: Claim, attempt: Attempt, error: float) -> float:
    bound = attempt.bound
    assert bound.counts is not None
    own = 1 - bound.confidence
    found = detectable(bound.method, bound.counts, claim=claim, weight=bound.weight, error=own)
    if claim.delta > 0 and bound.value < claim.value / 2:
        # the event says little about the tails in which δ lives: ask the yardstick too
        found = max(found, detectable_gaussian(claim, sum(bound.counts.runs), own))
    return found


def _invalid(question: _Question, reason: str, learning: int, measuring: int) -> Evidence:
    notion = question.notion
    nothing = Bound(
        value=0.0,
        side="lower",
        kind="sampled",
        parameter=notion.parameter,
        notion=str(notion),
        confidence=question.confidence,
        delta=notion.delta,
        method="none",
    )
    return Evidence(
        target=_target(question, None),
        claim=None if question.claim is None else str(question.claim),
        relation=str(question.relation),
        unit=question.mechanism.unit,
        pairs=question.records,
        seed=question.seed,
        confidence=question.confidence,
        learning=learning,
        measuring=measuring,
        verdict=Verdict.INVALID,
        reason=f"The runs cannot be trusted: {reason}.",
        lower=nothing,
        attempts=(),
        histogram=None,
        versions=_versions(),
        reproducible=question.mechanism.shape is not Shape.OPAQUE,
        assumptions=_assumptions(question),
    )
