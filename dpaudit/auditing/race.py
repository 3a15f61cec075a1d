"""What do search runs predict for each pair, and what do traces add? Which shows most, and what to look at.

Most pairs of a search share one side, the data themselves. Its runs count for all of these pairs, so it needs to be
run only occasionally, and a pair costs little more than the runs of its other side.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpaudit.auditing.pair import both_sides, numbers_a_run
from dpaudit.auditing.question import LEAST_RUNS, Question
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import Lead, quick_predict
from dpaudit.neighbours import Relation
from dpaudit.privacy import Claim
from dpaudit.program.laws import DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, GAUSSIAN, LAPLACE
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock, block_size
from dpaudit.sampling.outputs import Outputs, OutputSnapshot, concatenate
from dpaudit.sampling.play import play_each
from dpaudit.tracing.alignment import Noises
from dpaudit.tracing.pair import Path, Traced, Word, trace_pair
from dpaudit.tracing.recording import close
from dpaudit.tracing.runs import FollowedTarget
from dpaudit.tracing.search import Worst, is_edge

# --- What do search runs predict for each pair, which shows most, and is there a simpler one that shows as much? ---

Pair = tuple[Any, Any]

# measured by benchmarks/search.py
_COMMON = 6  # a side that many pairs share is run so many times as often as any other
_AGAINST, _ENOUGH = 8, 5_000  # a pair is compared with so many times its own runs of that side, up to so many runs
_OWN_DATA = "data"
_MOST_NUMBERS = 20_000_000  # in the outputs of all pairs together; bounds memory


@dataclass(eq=False)
class RacedPair:
    """A pair and its search runs."""

    number: int  # selects its random streams; unique within a search
    name: str  # what changes in it
    # makes the pair; it is made anew for every round, so that a long list of pairs takes no memory
    make: Callable[[], Pair]
    # for each side, a key of what it shares with the same side of other pairs, or None
    common: tuple[Hashable | None, Hashable | None] = (None, None)
    sides: tuple[list[Outputs], list[Outputs]] = field(default_factory=lambda: ([], []))  # the outputs of each side
    # runs, blocks: executions spent on it, and the blocks that they came in
    runs: int = 0
    blocks: int = 0
    predicted: float = -np.inf  # the bound predicted for it
    made_up: bool = False  # whether it holds a value that is neither declared nor among those of the data
    # whether every run of both sides raises the same; or every run of one, over a value that is made up
    silent: bool = False


class Race:
    """Runs pairs for a search, and predicts what measuring them would show.

    Attributes:
        measuring: runs that will measure the winner, for which predictions are made.
        runs: executions so far, of all pairs.
        width: numbers in one output.
    """

    def __init__(self, question: Question, data: Any = None) -> None:
        """Take what is audited, and the data that most pairs have as one of their sides."""
        self.question, self.data = question, data
        self.measuring, self.runs, self.width = LEAST_RUNS, 0, 1
        self._pool: dict[Hashable, list[Outputs]] = {}

    def meet(self, pairs: Sequence[RacedPair]) -> None:
        """Find out which sides pairs share. If both sides of a pair are shared, only the more common one counts as
        such.

        This treats similar pairs alike: a side that is known from more runs would look worse than it does alone.
        """
        for one in pairs:
            if self.data is not None:
                pair = one.make()
                one.common = (_OWN_DATA if pair[0] is self.data else None, _OWN_DATA if pair[1] is self.data else None)
        shared = Counter(key for one in pairs for key in set(one.common) - {None})
        for one in pairs:
            often = [0 if key is None else shared[key] for key in one.common]
            side = int(often[1] > often[0])
            key = one.common[side] if often[side] > 1 else None
            one.common = (key, None) if side == 0 else (None, key)

    def cost(self, pairs: Sequence[RacedPair]) -> float:
        """Return the runs needed to run each unshared side of these pairs once, and shared sides less often."""
        shared = Counter(key for one in pairs for key in one.common)
        return sum(sum(_weights(one, shared)) for one in pairs)

    def run(self, pairs: Sequence[RacedPair], each: int) -> None:
        """Run each side of each pair ``each`` more times, a shared side less often."""
        numbered = {one.number: one for one in pairs}
        shared = Counter(key for one in pairs for key in one.common)

        def parts() -> Iterator[tuple[Experiment, RunBlock]]:
            for one in pairs:
                # no digests: the search itself checks whether the data have changed
                experiment = dataclasses.replace(self.question.experiment, pairs={one.number: one.make()}, digests=())
                for block in self._blocks(one, each, _weights(one, shared)):
                    yield experiment, block

        for played in play_each(parts(), both_sides, workers=self.question.engine):
            one, block = numbered[played.block.pair], played.block
            for outputs, side, key in zip(played.result, one.sides, one.common, strict=True):
                side.append(outputs)
                if key is not None:
                    self._pool.setdefault(key, []).append(outputs)
            one.runs += block.size
            one.blocks += 1
            self.runs += block.size
            self.width = max(self.width, numbers_a_run(played.result))

    def look(self, pairs: Iterable[RacedPair]) -> None:
        """Update the predictions of pairs; all pairs that share a side are compared with the same runs of it."""
        joined = {key: concatenate(parts) for key, parts in self._pool.items()}
        for one in pairs:
            own = [concatenate(side) for side in one.sides]
            counts = [len(side) for side in own]
            for side, key in enumerate(one.common):
                if key is not None:
                    against = max(min(_AGAINST * counts[1 - side], _ENOUGH), counts[0], counts[1])
                    own[side] = joined[key].first(against)
            one.silent = _silent(own[0], own[1]) or (one.made_up and any(map(_raises, own)))
            one.predicted = -np.inf if one.silent else self.predicted_bound(own[0], own[1])

    def shown_by(self, number: int, pair: Pair, runs: int) -> float:
        """Return the predicted bound of a pair that is not a candidate."""
        tried = RacedPair(number, "", lambda: pair)
        self.run([tried], runs)
        self.look([tried])
        return tried.predicted

    def predicted_bound(self, side0: Outputs, side1: Outputs) -> float:
        """Return the bound predicted from these outputs, with a large penalty for luck."""
        error = 1 - self.question.confidence
        return quick_predict(side0, side1, claim=self.question.notion, measuring=self.measuring, error=error)

    def affordable(self, pairs: int) -> int:
        """Return how many more runs a side so many pairs can have while all outputs stay in memory."""
        return max(_MOST_NUMBERS // (2 * pairs * self.width), 1)

    def _blocks(self, one: RacedPair, each: int, weights: tuple[float, float]) -> list[RunBlock]:
        size = block_size(self.question.runs_as, self.width, self.question.block_size)
        runs, chance = round(each * sum(weights)), weights[1] / sum(weights)
        sizes = [size] * (runs // size) + [runs % size] * (runs % size > 0)
        return [RunBlock(Phase.SEARCH, one.number, one.blocks + i, own, chance) for i, own in enumerate(sizes)]


def _weights(one: RacedPair, shared: Counter[Hashable | None]) -> tuple[float, float]:
    """How often each side of a pair is run, relative to an unshared side."""
    side0, side1 = (1.0 if key is None else min(_COMMON / shared[key], 1.0) for key in one.common)
    return side0, side1


def _raises(side: Outputs) -> bool:
    """Whether every run of a side raised."""
    return len(side) > 0 and all(form.startswith("raises ") for form in side.forms)


def _silent(side0: Outputs, side1: Outputs) -> bool:
    """Whether every run of both sides raised the same exception, so that nothing can be compared."""
    forms = {side.forms for side in (side0, side1) if len(side)}
    return len(forms) == 1 and len(only := next(iter(forms))) == 1 and only[0].startswith("raises ")


# --- Is there a simpler pair that reveals as much? The smaller the data, the clearer the reason ---
#
# Simpler pairs of the same relation are tried on search runs, the boldest simplification first, and each one that shows
# about as much replaces the pair before it. What "about as much" means is fixed beforehand, by runs of the pair that
# the search chose. Finally that pair and the simplest one are run afresh, and the simpler one is kept only if it still
# shows as much: the luckiest of many trials must not decide.

# chosen for a few dozen trials; no benchmark measures shrinking alone
_TRIALS = 30  # planned, approximately
_LEAST_RUNS, _MOST_RUNS = 512, 4_000  # runs of a trial
_FINAL = 2  # the final comparison makes so many times the runs of a trial
_KEPT = 0.6  # share of what the pair shows beyond the claim that a simpler one must show; allows for noise
_FIRST = 1_000_000  # number of the first pair tried, above those of all candidates


def shrink(
    race: Race,
    pair_found: RacedPair,
    simpler: Callable[[Pair], Iterable[Pair]],
    claimed: float,
    runs: int,
) -> tuple[Pair, int]:
    """Return the simplest pair found, and how many steps led to it.

    Nothing is tried unless the pair clearly shows more than is claimed: otherwise there is nothing to explain.
    """
    start = race.runs
    each = min(max(runs // _TRIALS, _LEAST_RUNS), _MOST_RUNS)
    numbers = itertools.count(_FIRST)

    def look(pair: Pair, times: int = 1) -> float:
        return race.shown_by(next(numbers), pair, times * each // 2)

    pair, steps = pair_found.make(), 0
    if not each <= runs or (pair_found.runs and not pair_found.predicted > claimed):
        return pair, 0
    shown = look(pair)
    if not shown > claimed:
        return pair, 0
    least = claimed + _KEPT * (shown - claimed)
    original = pair

    def affordable() -> bool:
        return race.runs - start + (1 + 2 * _FINAL) * each <= runs

    going = True
    while going:
        going = False
        for other in simpler(pair):
            if not affordable():
                break
            if look(other) >= least:
                pair, steps, going = other, steps + 1, True
                break
    if steps and look(pair, _FINAL) < claimed + _KEPT * (look(original, _FINAL) - claimed):
        return original, 0
    return pair, steps


# --- Which of many pairs shows most? Successive halving (Karnin, Koren & Somekh 2013) ---
#
# In every round each remaining pair gets the same number of runs, and the less promising half is dropped. A pair is
# judged by all of its runs together, and most runs go to pairs that are hard to tell apart.

LEAST = 32  # smallest number of runs of a side in a round; fewer say nothing
_LARGEST_ROUND = 10_000  # largest one; more improve a prediction little (measured by benchmarks/search.py)


def rounds_of(pairs: int) -> list[int]:
    """Return how many pairs are left in each round, down to two."""
    left = [pairs]
    while left[-1] > 2:
        left.append(-(-left[-1] // 2))
    return left if pairs > 1 else []


def halve(race: Race, pairs: Sequence[RacedPair], runs: int, after: Callable[[], None]) -> list[RacedPair]:
    """Return the pairs that were left longest, best first.

    Pairs of which every run of both sides raises the same are dropped; if all are, none is returned.
    """
    left, last = list(pairs), list(pairs)
    rounds, start = rounds_of(len(left)), race.runs
    for number in range(len(rounds)):
        to_come = sum(rounds[number:]) * race.cost(left) / len(left)
        each = min(int((runs - race.runs + start) / to_come), _LARGEST_ROUND, race.affordable(len(left)))
        race.run(left, max(each, LEAST))
        after()
        race.look(left)
        last = sorted((one for one in left if not one.silent), key=lambda one: (-one.predicted, one.number))
        left = last[: -(-len(left) // 2)]
        if len(left) < 2:
            break
    return last


# --- What do traces add to a search and to an audit? -----------------------------------------------------

# --- Is there a worse pair in a declared domain, beyond the neighbours of these data? ---
#
# Hypothesis draws small datasets over the domain and their neighbours, and its `target` continues from those that show
# most: hill climbing over whole datasets, with the predicted bound from a few hundred runs as the height. The data may
# be far from where a release goes wrong, and a domain says where data may be. The same datasets are drawn every time;
# only the runs are random, and they have streams of their own. Where noise is followed, the cost of the alignment that
# a replay finds is the height, for a few runs a pair.

# chosen for small datasets; no benchmark measures climbing alone
_TRIALS_OF_REPLAYS = 160
_LEAST, _MOST = 128, 2_000  # runs of a trial
_FINAL_OF_REPLAYS = 4  # the final comparison makes so many times the runs of a trial
_MOST_RECORDS = 6
_HIGHEST = 1e9  # cost of an alignment, which may be infinite
_FIRST_OF_REPLAYS = 3_000_000  # number of the first pair tried, above those of all other pairs


def climb(
    race: Race,
    best_known: RacedPair,
    data: Any,
    domain: Any,
    relation: Relation,
    runs: int,
) -> tuple[Callable[[], Pair] | None, int]:
    """Look for a pair over the domain that shows more than the best one so far.

    The best of many trials is mostly the luckiest one, so it has to beat the other pair on fresh runs of both.
    """
    each = min(max(runs // (_TRIALS_OF_REPLAYS + 2 * _FINAL_OF_REPLAYS), _LEAST), _MOST)
    trials = runs // each - 2 * _FINAL_OF_REPLAYS
    if trials < 1:
        return None, 0
    numbers = itertools.count(_FIRST_OF_REPLAYS)

    def look(pair: Pair, times: int = 1) -> float:
        return race.shown_by(next(numbers), pair, times * each // 2)

    best, tried = _climbed(look, data, domain, relation, trials)
    if best is None or look(best, _FINAL_OF_REPLAYS) <= look(best_known.make(), _FINAL_OF_REPLAYS):
        return None, tried
    higher = best
    return (lambda: higher), tried


def climb_by_replay(
    target: FollowedTarget,
    claim: Claim | None,
    data: Any,
    domain: Any,
    relation: Relation,
    *,
    seed: int,
    above: tuple[int, float],
    trials: int,
) -> tuple[Pair | None, Worst, int]:
    """Look for a pair over the domain on which noise has to move farther than on the best one so far."""
    best: Pair | None = None
    farthest = Worst(0, Word.NOT_SEEN, 0, 0, above)
    before = target.runs

    def look(pair: Pair) -> float:
        nonlocal best, farthest
        worst = trace_pair(target, pair, claim, seed=seed, quick=True).worst
        if worst.rank > farthest.rank and not is_edge(pair, worst):
            best, farthest = pair, Worst(0, worst.word, 0, 0, worst.rank)
        priced = worst.price is not None or worst.stretch > 0
        return min(worst.rank[1], _HIGHEST) if priced and worst.word is not Word.NOT_PRICED else -math.inf

    tried = 0 if trials < 1 else _climbed(look, data, domain, relation, trials)[1]
    return best, replace(farthest, tried=tried, runs=target.runs - before), tried


def _climbed(
    look: Callable[[Pair], float], data: Any, domain: Any, relation: Relation, trials: int
) -> tuple[Pair | None, int]:
    """Return the highest pair that Hypothesis finds, and how many it drew."""
    from hypothesis import HealthCheck, Phase, given, settings, target

    from dpaudit.strategies import pairs

    best: Pair | None = None
    height, tried = -math.inf, 0
    stopped: list[Exception] = []

    @settings(
        max_examples=trials,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(pairs(relation, domain=domain, like=data, max_size=_MOST_RECORDS))
    def search(pair: Pair) -> None:
        nonlocal best, height, tried
        if stopped or tried >= trials:
            return
        tried += 1
        try:
            seen = look(pair)
        except (UsageError, InvalidRunsError) as error:  # Hypothesis would run a failing example again
            stopped.append(error)
            return
        if seen > height:
            best, height = pair, seen
        if math.isfinite(seen):
            target(seen)

    with _nothing_kept(), _no_constants_of_modules():
        search()
    if stopped:
        raise stopped[0]
    return best, tried


@contextlib.contextmanager
def _nothing_kept() -> Iterator[None]:
    """Let Hypothesis keep its tables of characters and constants in a folder that is gone afterwards.

    Otherwise it makes a folder ``.hypothesis`` in the user's working directory, which nobody asked for.
    """
    from hypothesis import configuration

    before = getattr(configuration, "__hypothesis_home_directory", None)
    with tempfile.TemporaryDirectory(prefix="dpaudit-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)


@contextlib.contextmanager
def _no_constants_of_modules() -> Iterator[None]:
    """Let Hypothesis draw no constants of the modules of the user's that are loaded: others may be tomorrow.

    It has done so since 6.131, and reads the sources of all of them first. What stands in the function itself is tried
    among the first neighbours.
    """
    try:
        from hypothesis.internal.conjecture import providers
        from hypothesis.internal.constants_ast import Constants

        drawn, nothing, known = providers._get_local_constants, Constants(), providers.CONSTANTS_CACHE.cache
    except (ImportError, AttributeError):
        yield
        return
    known.clear()
    providers._get_local_constants = lambda: nothing
    try:
        yield
    finally:
        providers._get_local_constants = drawn
        known.clear()


# --- Which outputs would show what a trace points to? Paths that cost more than is claimed ---
#
# They are fixed before any other run is made, and are candidates among others: learning runs choose, and fresh runs
# measure, so that no bound rests on them.

_PATHS = 4  # of a pair, those that cost most
_WIDEST = 200  # numbers of an output
_KINDS = {LAPLACE: True, DISCRETE_LAPLACE: True, GAUSSIAN: False, DISCRETE_GAUSSIAN: False}  # whether it is clipped


def leads_of(traced: Traced) -> tuple[Lead, ...]:
    """Return what the paths of a traced pair point to that are not supported, those that cost most first."""
    leads: dict[Any, Lead] = {}
    for path in traced.paths:
        lead = _lead(path) if path.word >= Word.NOT_SUPPORTED and len(leads) < _PATHS else None
        if lead is not None:
            leads.setdefault((lead.form, lead.fixed), lead)
    return tuple(leads.values())


def _lead(path: Path) -> Lead | None:
    """Return what a path points to; None where its outputs have no numbers, or other ones on the other side."""
    if path.runs is None:
        return None
    run, frozen = path.runs
    one, two = run.output, frozen.output
    if not isinstance(run.kept, OutputSnapshot) or one is None or two is None or len(one.form) != len(two.form):
        return None
    numbers, noise = run.kept.numbers, run.recorder.noise()
    if not 0 < len(numbers) <= _WIDEST:
        return None
    # numbers are found again by their values, which noise makes distinct
    rows = {one.values[row]: row for row in np.flatnonzero(one.form.noisy_rows()).tolist()}
    places = [rows.get(number) for number in numbers]
    apart = two.form.at(noise) - one.form.at(noise)
    still = close(one.form.at(noise), two.form.at(noise), np.maximum(abs(one.form.offset), abs(two.form.offset)))
    apart = np.where(still | ~np.isfinite(apart), 0.0, apart)
    moves = tuple(0.0 if row is None else float(apart[row]) for row in places)
    fixed = tuple(float(number) if row is None else None for number, row in zip(numbers, places, strict=True))
    losses, clipped = _losses(path, places, moves)
    return Lead(run.kept.form, fixed, moves, losses, clipped)


def _losses(path: Path, places: list[int | None], moves: tuple[float, ...]) -> tuple[tuple[float, ...], bool]:
    """Return what each number loses, where each that moves has one noise of its own, and all are of one kind."""
    assert path.runs is not None
    output, noises = path.runs[0].output, Noises.of(path.runs[0].recorder)
    assert output is not None
    losses, kinds, columns = [0.0] * len(moves), set(), set()
    for place, (row, move) in enumerate(zip(places, moves, strict=True)):
        if row is None or not move:
            continue
        terms = np.flatnonzero(output.form.row == row)
        column = int(output.form.column[terms[0]])
        law, scale = noises.law(column)
        far = abs(move / (scale * float(output.form.coefficient[terms[0]]))) if scale else math.inf
        kinds.add(_KINDS.get(law))
        columns.add(column)
        losses[place] = far if law.cost == "pure" else far**2
        if len(terms) != 1 or not math.isfinite(losses[place]):
            return (), True
    moved = sum(move != 0 for move in moves)
    if len(kinds) != 1 or None in kinds or len(columns) != moved:
        return (), True
    return tuple(losses), True in kinds
