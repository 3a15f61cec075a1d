"""How far has an audit come? A session counts runs, informs a listener, and keeps finished blocks.

Nothing here affects what is found: an audit without a listener, or one that was interrupted and continues from its
finished blocks, draws the same runs. The runner (`dpaudit.sampling.play`) counts each block as it comes back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dpaudit.sampling.blocks import Block, Phase
    from dpaudit.sampling.checkpoint import Checkpoint

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]
"""Called with (stage, runs done, runs in all) as an audit goes on."""

RESUMED = "resumed"
"""The stage that is reported while finished blocks are read, which is fast."""

_SECONDS = 0.1  # between two reports within a block
_STAGES = {"SEQUENTIAL": "measuring", "SEARCH": "searching", "SECOND_LOOK": "second look"}  # else the name of the phase


@dataclass(slots=True, eq=False)
class Session:
    """One process's share of an audit, from its start or from an interruption."""

    listen: Listener | None = None  # called with (stage, runs done, runs in all), or None
    total: int = 0  # runs in all, as far as known
    before: int = 0  # runs made before this session
    checkpoint: Checkpoint | None = None  # stores finished blocks, or None
    restored: bool = False  # whether the last block had been finished in an earlier session
    repeated: int = 0  # how many runs such blocks hold in all
    _blocks: dict[tuple[Phase, int, int], int] = field(default_factory=dict)  # runs of each that came back
    _done: int = 0

    def runs_for(self, *phases: Phase) -> int:
        """Return how many runs were made in these phases."""
        return sum(runs for (phase, _, _), runs in self._blocks.items() if phase in phases)

    def count(self, block: Block) -> None:
        """Count a block that came back (once, even if it is run again in another way), and report it."""
        key = block.phase, block.pair, block.index
        self._done += block.size - self._blocks.get(key, 0)
        self._blocks[key] = block.size
        self.tell(RESUMED if self.restored else _stage(block), self.before + self._done)

    def tell(self, stage: str, done: int | None = None, total: int | None = None) -> None:
        """Report how far the audit has come."""
        if self.listen is not None:
            done = self.before + self._done if done is None else done
            self.listen(stage, done, max(self.total, done) if total is None else total)

    def close(self) -> None:
        """Close the file of finished blocks."""
        if self.checkpoint is not None:
            self.checkpoint.close()

    def under_way(self, block: Block, runs: Iterable[Item], begun: int) -> Iterator[Item]:
        """Yield the runs of a block one after another, and report progress from time to time."""
        told = time.perf_counter()
        for made, run in enumerate(runs):
            yield run
            now = time.perf_counter()
            if now - told >= _SECONDS:
                told = now
                self.tell(_stage(block), self.before + self._done + begun + made + 1)


def _stage(block: Block) -> str:
    return _STAGES.get(block.phase.name, block.phase.name.lower())


def heard(session: Session | None, block: Block, runs: Iterable[Item], *, begun: int = 0) -> Iterable[Item]:
    """Return the runs of a block; if there is a listener, the session reports on them."""
    return runs if session is None or session.listen is None else session.under_way(block, runs, begun)
