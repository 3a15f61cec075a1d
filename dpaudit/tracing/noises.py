"""Which law has each noise of a run? That of its draw, or one that a sample of derived noise seems to follow."""

from __future__ import annotations

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.tracing.laws import NoiseLaw, extreme, recognised
from dpaudit.tracing.recording import Block, Recorder

_SAMPLE = 4000


class Noises:
    """The noises of a run by column: their laws, those of derived ones recognised when they are asked for."""

    def __init__(self, recorder: Recorder) -> None:
        self._starts = np.array([block.first for block in recorder.blocks], dtype=np.int64)
        self._blocks = recorder.blocks
        self._known: dict[int, tuple[NoiseLaw, float]] = {}
        self._samples: dict[int, Floats] = {}

    def block(self, column: int) -> Block:
        """Return the block that a column is in."""
        return self._blocks[int(np.searchsorted(self._starts, column, side="right")) - 1]

    def law(self, column: int) -> tuple[NoiseLaw, float]:
        """Return the law of a noise, and its scale."""
        block = self.block(column)
        if block.made is None:
            return block.law, float(block.scale[column - block.first])
        if column not in self._known:
            with np.errstate(all="ignore"):
                self._known[column] = recognised(self.sample(column))
        return self._known[column]

    def is_derived(self, column: int) -> bool:
        """Whether a noise is made of others."""
        return self.block(column).made is not None

    def has_no_price(self, column: int) -> bool:
        """Whether a noise has no price, nor has any that it is made of; a mere sign is a part of other noise."""
        if self.is_derived(column) and len(set(self.sample(column)[:100].tolist())) <= 2:
            return False
        every = [column, *(self.sources(column) if self.is_derived(column) else ())]
        return all(self.law(each)[0].cost in ("locked", "unknown") for each in every)

    def sources(self, column: int) -> set[int]:
        """Return the columns of all noise behind a derived one."""
        found: set[int] = set()
        todo = list(self.block(column).sources)
        while todo:
            each = todo.pop()
            if each not in found:
                found.add(each)
                todo += self.block(each).sources
        return found

    def sample(self, column: int) -> Floats:
        """Return a sample of a noise; noises that are independent have independent ones."""
        if column in self._samples:
            return self._samples[column]
        block = self.block(column)
        if block.made is not None:
            derived = np.asarray(block.made(self.sample), dtype=np.float64).reshape(-1)
            found = derived if len(derived) == _SAMPLE else np.full(_SAMPLE, np.nan)
        else:
            law, scale = block.law, float(block.scale[column - block.first])
            levels = np.random.Generator(np.random.PCG64(column)).permutation((np.arange(_SAMPLE) + 0.5) / _SAMPLE)
            made = extreme(law, np.full(_SAMPLE, scale), levels)
            found = np.full(_SAMPLE, np.nan) if made is None else made
        self._samples[column] = found
        return found
