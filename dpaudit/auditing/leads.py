"""Which outputs would show what a trace points to? Paths that cost more than is claimed, and how their outputs move.

They are fixed before any other run is made, and are candidates among others: learning runs choose, and fresh runs
measure, so that no bound rests on them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.events import Lead
from dpaudit.sampling.outputs import OutputSnapshot
from dpaudit.tracing.findings import Path, Traced, Word
from dpaudit.tracing.forms import close
from dpaudit.tracing.laws import DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, GAUSSIAN, LAPLACE
from dpaudit.tracing.noises import Noises

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
    output, noises = path.runs[0].output, Noises(path.runs[0].recorder)
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
