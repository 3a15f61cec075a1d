"""Which noise makes a run take a path that it would seldom take?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.tracing.laws import extreme
from dpaudit.tracing.recording import Recorder
from dpaudit.tracing.runs import Run

_FAR = 1e-6
_PATTERNS = (
    (_FAR, "but the first"), (_FAR, "but the ends"), (_FAR, "all"), (1 - _FAR, "all"), (_FAR, "in turn"),
    (1 - _FAR, "in turn"),
)  # fmt: skip


def noises(recorded: Sequence[Run]) -> Iterator[Floats | None]:
    """Yield the noise of each path: its own, or extreme noise, which forces what would seldom happen."""
    yield None
    yield None
    for quantile, pattern in _PATTERNS:
        longest = max((each.recorder for each in recorded), key=lambda recorder: recorder.columns)
        yield forced(longest, quantile, pattern)
    while True:
        yield None


def forced(recorder: Recorder, quantile: float, pattern: str) -> Floats | None:
    """Return noise at one quantile: "all" of it; with "in turn" every second draw at the other end; with "but the
    first" that one in the middle, as the noise of a threshold; with "but the ends" also the last at the other end.
    """
    parts = []
    turn = 0
    for block in recorder.blocks:
        if block.made is not None:
            continue
        levels = np.full(len(block.values), quantile)
        if pattern == "in turn":
            turns = (turn + np.arange(len(levels))) % 2 == 1
            levels[turns] = 1 - quantile
        turn += len(levels)
        made = extreme(block.law, block.scale, levels)
        if made is None:
            return None
        parts.append(made)
    if not parts:
        return None
    whole = np.concatenate(parts)
    if pattern in ("but the first", "but the ends"):
        middle = forced(recorder, 0.5, "all")
        whole[0] = 0.0 if middle is None else middle[0]
    if pattern == "but the ends" and len(whole) > 1:
        other = forced(recorder, 1 - quantile, "all")
        whole[-1] = whole[-1] if other is None else other[-1]
    return whole
