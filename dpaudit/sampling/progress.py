"""What goes on beside the runs of an audit: who is told of them, and where are finished blocks kept?

Nothing here has a say in what is found: an audit that nobody watches, or that is interrupted and goes on from its
finished blocks, draws the same runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dpaudit.sampling.checkpoint import Journal

Item = TypeVar("Item")

RESUMED = "resumed"
"""The stage that is told of while finished blocks are read, which takes no time to speak of."""

_SECONDS = 0.1  # between two times that somebody is told within a block
_STAGES = ("learning", "measuring")


@dataclass(slots=True, eq=False)
class Sitting:
    """One process's share of an audit, from its start or from where another one was interrupted.

    Attributes:
        listen: called with (stage, runs done, runs in all), or None.
        journal: where finished blocks are kept, or None.
        restored: whether the block that was handed out last had been finished in an earlier sitting.
        repeated: how many runs such blocks hold in all.
    """

    listen: Callable[[str, int, int], None] | None = None
    journal: Journal | None = None
    restored: bool = False
    repeated: int = 0
    _latest: tuple[str, int, int] = field(default=("starting", 0, 0))

    def tell(self, stage: str, done: int, total: int) -> None:
        """Say how far the audit has come, after a block."""
        self._latest = stage, done, total
        if self.listen is not None:
            self.listen(RESUMED if self.restored else stage, done, total)

    def close(self) -> None:
        """Let go of the file of finished blocks."""
        if self.journal is not None:
            self.journal.close()

    def under_way(self, block: Any, runs: Iterable[Item], begun: int) -> Iterator[Item]:
        """Yield the runs of a block one after another, and say now and then how far it has come."""
        assert self.listen is not None
        (stage, done, total), own = self._latest, block.purpose.name.lower()
        stage = own if own in _STAGES else stage
        told = time.perf_counter()
        for made, run in enumerate(runs):
            yield run
            now = time.perf_counter()
            if now - told >= _SECONDS:
                told = now
                self.listen(stage, done + begun + made + 1, total)


def told(sitting: Sitting | None, block: Any, runs: Iterable[Item], *, begun: int = 0) -> Iterable[Item]:
    """Return the runs of a block after the first ``begun``, which a sitting tells of where somebody listens."""
    return runs if sitting is None or sitting.listen is None else sitting.under_way(block, runs, begun)
