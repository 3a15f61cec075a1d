"""How are blocks carried out by the workers of a Dask cluster?

``client.submit`` sends each block with its experiment: data that were scattered beforehand would die with the worker
that holds them. Dask itself runs a block again whose worker was lost (``distributed.scheduler.allowed-failures``).
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.sampling.engines.engine import LOST, Remote, first_line, gone, unreachable
from dpaudit.sampling.engines.task import Answer, answer

_SECONDS = 10.0  # until a scheduler that does not answer is given up
_ALONE = 60.0  # until a cluster without workers is given up; batch systems may take long to start some
_LOOK = 5.0  # between two looks whether there are workers


class Dask(Remote):
    """A Dask cluster."""

    name = "Dask"

    def __init__(self, scheduler: str | None) -> None:
        self._scheduler, self._client, self._own = scheduler, None, scheduler is not None

    def connect(self) -> None:
        """Connect to the scheduler, or take the client that this process has."""
        if self._client is None:
            self._client = self._connected()
        self.count = max(self._workers(), 1)

    def _connected(self) -> Any:
        from distributed import Client, get_client

        if self._scheduler is None:
            try:
                return get_client()
            except ValueError:
                raise UsageError(
                    "there is no Dask client in this process; name the address of a scheduler (--scheduler "
                    "tcp://HOST:8786), or make a distributed.Client first"
                ) from None
        try:
            return Client(self._scheduler, timeout=_SECONDS, set_as_default=False)
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            unreachable("Dask scheduler", self._scheduler, error)

    def _workers(self) -> int:
        """How many workers there are. Each runs one block at a time, however many threads it has."""
        return len(self._client.nthreads())  # type: ignore[attr-defined]

    def submit(self, expected: dict[str, str | None], task: bytes) -> Any:
        """Submit a task; two alike are two pieces of work."""
        try:
            # no retries: what a mechanism raises is never a reason to run a block again
            return self._client.submit(answer, expected, task, pure=False, retries=0)  # type: ignore[attr-defined]
        except Exception as error:
            gone("the Dask scheduler", error)

    def answer(self, submitted: Any) -> Answer:
        """Wait for an answer as long as there are workers."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        alone: float | None = None
        while True:
            try:
                found: Answer = submitted.result(timeout=_LOOK)
                return found
            except TimeoutError:
                if submitted.client.status not in ("running", "connecting"):
                    gone("the Dask scheduler", submitted.client.status)
                now = time.monotonic()
                alone = None if self._workers() else (alone or now)
                if alone is not None and now - alone > _ALONE:
                    gone("Dask", f"its scheduler has had no worker for {_ALONE:.0f} seconds")
            except KilledWorker as error:
                raise InvalidRunsError(LOST.format(count=error.allowed_failures + 1, why="KilledWorker")) from None
            except (CancelledError, OSError) as error:
                gone("the Dask scheduler", error)
            except (ImportError, AttributeError) as error:
                raise UsageError(
                    f"a Dask worker cannot take part: {first_line(str(error))}; install this dpaudit there"
                ) from None

    def cancel(self, submitted: list[Any]) -> None:
        """Cancel tasks."""
        with contextlib.suppress(Exception):
            self._client.cancel(submitted)  # type: ignore[attr-defined]

    def close(self) -> None:
        """Close a client that was made here."""
        if self._client is not None and self._own:
            with contextlib.suppress(Exception):
                self._client.close()
        self._client = None


def made(workers: int, scheduler: str | None) -> Dask:
    """Return the engine; Dask has workers of its own."""
    return Dask(scheduler)
