"""What do traces add to a search and to an audit? Worse pairs of a domain, and the outputs to look at."""

from __future__ import annotations

import contextlib
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.auditing.race import Pair, Race, RacedPair
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import Lead
from dpaudit.neighbours import Relation
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import OutputSnapshot
from dpaudit.tracing.alignment import Noises
from dpaudit.tracing.laws import DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, GAUSSIAN, LAPLACE
from dpaudit.tracing.pair import Path, Traced, Word, trace_pair
from dpaudit.tracing.recording import close
from dpaudit.tracing.runs import Target
from dpaudit.tracing.search import Worst, is_edge

# --- Is there a worse pair in a declared domain, beyond the neighbours of these data? ---
#
# Hypothesis draws small datasets over the domain and their neighbours, and its `target` continues from those that show
# most: hill climbing over whole datasets, with the predicted bound from a few hundred runs as the height. The data may
# be far from where a release goes wrong, and a domain says where data may be. The same datasets are drawn every time;
# only the runs are random, and they have streams of their own. Where noise is followed, the cost of the alignment that
# a replay finds is the height, for a few runs a pair.

# chosen for small datasets; no benchmark measures climbing alone
_TRIALS = 160
_LEAST, _MOST = 128, 2_000  # runs of a trial
_FINAL = 4  # the final comparison makes so many times the runs of a trial
_MOST_RECORDS = 6
_HIGHEST = 1e9  # cost of an alignment, which may be infinite
_FIRST = 3_000_000  # number of the first pair tried, above those of all other pairs


def climb(
    race: Race,
    found: RacedPair,
    data: Any,
    domain: Any,
    relation: Relation,
    runs: int,
) -> tuple[Callable[[], Pair] | None, int]:
    """Look for a pair over the domain that shows more than the best one so far.

    The best of many trials is mostly the luckiest one, so it has to beat the other pair on fresh runs of both.
    """
    each = min(max(runs // (_TRIALS + 2 * _FINAL), _LEAST), _MOST)
    trials = runs // each - 2 * _FINAL
    if trials < 1:
        return None, 0
    numbers = itertools.count(_FIRST)

    def look(pair: Pair, times: int = 1) -> float:
        return race.shown_by(next(numbers), pair, times * each // 2)

    best, tried = _climbed(look, data, domain, relation, trials)
    if best is None or look(best, _FINAL) <= look(found.make(), _FINAL):
        return None, tried
    higher = best
    return (lambda: higher), tried


def climb_by_replay(
    target: Target,
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
    found = Worst(0, Word.NOT_SEEN, 0, 0, above)
    before = target.runs

    def look(pair: Pair) -> float:
        nonlocal best, found
        worst = trace_pair(target, pair, claim, seed=seed, quick=True).worst
        if worst.rank > found.rank and not is_edge(pair, worst):
            best, found = pair, Worst(0, worst.word, 0, 0, worst.rank)
        priced = worst.price is not None or worst.stretch > 0
        return min(worst.rank[1], _HIGHEST) if priced and worst.word is not Word.NOT_PRICED else -math.inf

    tried = 0 if trials < 1 else _climbed(look, data, domain, relation, trials)[1]
    return best, replace(found, tried=tried, runs=target.runs - before), tried


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
    found: dict[Any, Lead] = {}
    for path in traced.paths:
        lead = _lead(path) if path.word >= Word.NOT_SUPPORTED and len(found) < _PATHS else None
        if lead is not None:
            found.setdefault((lead.form, lead.fixed), lead)
    return tuple(found.values())


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
    found, kinds, columns = [0.0] * len(moves), set(), set()
    for place, (row, move) in enumerate(zip(places, moves, strict=True)):
        if row is None or not move:
            continue
        terms = np.flatnonzero(output.form.row == row)
        column = int(output.form.column[terms[0]])
        law, scale = noises.law(column)
        far = abs(move / (scale * float(output.form.coefficient[terms[0]]))) if scale else math.inf
        kinds.add(_KINDS.get(law))
        columns.add(column)
        found[place] = far if law.cost == "pure" else far**2
        if len(terms) != 1 or not math.isfinite(found[place]):
            return (), True
    moved = sum(move != 0 for move in moves)
    if len(kinds) != 1 or None in kinds or len(columns) != moved:
        return (), True
    return tuple(found), True in kinds
