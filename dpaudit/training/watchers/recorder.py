"""How does what a watcher sees become arrays? The same for all libraries; nothing here knows one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.training import clipping, updates
from dpaudit.training.seen import KEPT, MOST_KEPT, Delivery, GradientReplay, Parameter, TakenRows, TrainingRun, Update

_COORDINATES = 64  # of each parameter, in a replayed sum
_LEAST = 16  # of a small parameter beside large ones
_LOOKS = 0.1  # of the updates after the first ones: gradients are compared with the noisy sums


class TrainingRecorder:
    """Writes down what is seen.

    Args:
        seen: where to.
        sizes: the number of coordinates of each parameter that is trained, by name, in their order.
        seed: of the choice of what is replayed; no draw of the loop is used.
        often: the first so many sums are replayed, and later ones with probability ``later``.
        later: see there.
    """

    def __init__(self, seen: TrainingRun, sizes: Mapping[str, int], *, seed: int, often: int, later: float) -> None:
        self.seen, self.sizes = seen, dict(sizes)
        self.rng = np.random.default_rng((seed, 0x77A7C4))
        self.often, self.later = often, later
        ends = np.cumsum([0, *self.sizes.values()])
        self.seen.names = [(name, int(a), int(b)) for name, a, b in zip(self.sizes, ends, ends[1:], strict=False)]
        self.seen.squares = np.zeros(int(ends[-1]))
        self.seen.counts = np.zeros(int(ends[-1]), dtype=np.int64)
        self.where = updates.kept_coordinates(int(ends[-1]), KEPT)
        self.taken: list[TakenRows] | None = None
        self.plan: tuple[float, ...] = ()
        self.linking: list[list[int]] | None = None
        self.at_first: Callable[[], None] = lambda: None
        self.at_batch: Callable[[Integers], object] = lambda batch: None
        self.out: Integers = np.zeros(0, dtype=np.int64)
        self._kept, self._square = 0, 0.0

    # --- batches ---

    def batch(self, indices: Iterable[int], drawn: list[int] | None = None) -> list[Any]:
        """Write down a batch that a sampler drew; return it without the canaries that their coins leave out.

        Args:
            indices: what was drawn.
            drawn: the batches of the same pass, to which this one is added.
        """
        indices = list(indices)
        if self.seen.batches is None:
            return indices
        try:
            drawn_indices = np.asarray(indices, dtype=np.int64).reshape(-1)
        except (TypeError, ValueError, OverflowError):
            drawn_indices = np.array([-1])
        if len(drawn_indices) and not 0 <= drawn_indices.min() <= drawn_indices.max() < (self.seen.records or 0):
            self.seen.batches = None
            self.seen.silent["batches"] = "The sampler of this loader draws something else than numbers of records."
            return indices
        if drawn is not None:
            drawn.append(len(self.seen.batches))
        self.seen.batches.append(drawn_indices)
        self.at_batch(drawn_indices)
        if not len(self.out):
            return indices
        return [each for each, kept in zip(indices, ~np.isin(drawn_indices, self.out), strict=True) if kept]

    def begin(self) -> list[int]:
        """Begin a pass of the sampler; return the list of its batches."""
        self.seen.passes.append([])
        return self.seen.passes[-1]

    def deliver(self, rows: int, drawn: int | None = None) -> int:
        """Write down that a batch reached the loop; return its number."""
        self.seen.deliveries.append(Delivery(rows, drawn))
        return len(self.seen.deliveries) - 1

    # --- clipping ---

    def took(self, rows: int, delivery: int | None = None, first: int = 0) -> None:
        """Write down that rows were clipped: so many, of a delivery if it is known."""
        if self.taken is None:
            self.taken = []
        self.taken.append(TakenRows(delivery, rows, first))

    def unknown(self) -> None:
        """Write down that nobody saw what the next update holds."""
        self.taken = None

    def sigma(self, otherwise: float) -> float:
        """Return the noise multiplier of the next update: by the plan, if there is one."""
        return self.plan[min(len(self.seen.updates), len(self.plan) - 1)] if self.plan else otherwise

    def replays(self) -> bool:
        """Decide whether the next sum is replayed."""
        return len(self.seen.replays) < self.often or self.rng.random() < self.later

    def looks(self) -> bool:
        """Decide whether the gradients of this update are compared with the noisy sums."""
        return len(self.seen.updates) < self.often or self.rng.random() < _LOOKS

    def coordinates(self, size: int, most: int = _COORDINATES) -> Integers:
        """Return the coordinates of a parameter that a replay looks at."""
        return np.arange(size) if size <= most else np.sort(self.rng.integers(size, size=most))

    def of_all(self, most: int) -> Integers:
        """Return coordinates of all parameters together, ascending: about ``most``, and some of each."""
        whole = len(self.seen.squares)
        parts = [a + self.coordinates(b - a, max(_LEAST, most * (b - a) // whole)) for _, a, b in self.seen.names]
        return np.concatenate(parts)

    def replay(
        self,
        rows: Floats,
        norms: Floats,
        total: Floats,
        clip: float,
        *,
        whole: float | None = None,
        before: bool = True,
    ) -> GradientReplay:
        """Compare a sum with that of clipped records (`replayed`), and write it down."""
        replay_made = clipping.replayed(rows, norms, total, clip, whole=whole, before=before, cast=self.seen.cast)
        self.seen.replays.append(replay_made)
        return replay_made

    # --- updates ---

    def noise(self, parts: Mapping[str, np.ndarray[Any, Any]], unit: float) -> tuple[np.ndarray[Any, Any] | None, int]:
        """Write down the noise of an update; return what is kept of it, and how many values there were.

        Args:
            parts: noise by parameter; those that got none are missing.
            unit: the σ·C that is claimed.
        """
        squares, counts = self.seen.squares, self.seen.counts
        whole = len(parts) == len(self.sizes)
        flat = np.empty(len(squares), dtype=np.float32) if whole else np.full(len(squares), np.nan, dtype=np.float32)
        values = 0
        for name, a, b in self.seen.names:
            part = parts.get(name)
            if part is None:
                continue
            np.divide(part, unit, out=flat[a:b], casting="unsafe")
            self._square += inner(part, part) / unit**2
            counts[a:b] += 1
            values += b - a
            self.seen.parameters[name].noised += 1
        if whole:
            squares += np.square(flat)
        else:
            squares += np.nan_to_num(np.square(flat))
        if not whole or self._kept + len(self.where) > MOST_KEPT:
            return None, values
        self._kept += len(self.where)
        return flat[self.where], values

    def update(self, update: Update) -> None:
        """Write down an update, with the records that were clipped since the one before."""
        if not self.seen.updates:
            self.at_first()
        update.delivered, update.taken = len(self.seen.deliveries), None if self.taken is None else tuple(self.taken)
        update.square, self._square = self._square if update.values else None, 0.0
        self.taken = None if self.taken is None else []
        self.seen.updates.append(update)


def inner(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    """Return Σxᵢyᵢ of two vectors, without linear algebra, whose threads would wait for those of the loop."""
    return float(np.einsum("i,i->", x, y, dtype=np.float64))


def length(x: np.ndarray[Any, Any]) -> float:
    """Return the Euclidean norm of a vector, likewise."""
    return math.sqrt(inner(x, x))


def parameter(size: int, trained: bool, *, state: bool = False) -> Parameter:
    """Return the record of a parameter at the start."""
    return Parameter(size, trained, state=state)


Undo = list[Callable[[], None]]
