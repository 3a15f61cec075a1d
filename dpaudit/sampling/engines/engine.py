"""What does an engine do? It takes tasks, a few ahead, and hands back their answers in order.

A task is one block, with the experiment that it belongs to: nothing is left with a worker that would be lost with it.
An engine may carry out a task again if the worker was lost that had it; every draw of a block depends on its number, so
its runs are the same. What a mechanism *returns*, or raises, is never a reason to carry out a task again.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, TypeVar

from dpaudit.errors import UsageError
from dpaudit.sampling.blocks import Block, Experiment
from dpaudit.sampling.engines.task import Answer, expected_of

Done = TypeVar("Done")
Work = Callable[[Experiment, Block], Done]
Parts = Iterable[tuple[Experiment, Block]]

LOST = (
    "{count} workers in a row were lost while they ran the same block, the last with: {why}. A mechanism that ends its "
    "process does that, and one that needs more memory than a worker has; --workers 1 shows which"
)
"""What is said of runs whose worker was lost again and again."""

ATTEMPTS = 3  # of a task whose worker was lost, by engines that leave it to us
_AHEAD = 2  # tasks for each worker, beside the one that it has


class Engine(ABC):
    """What carries out blocks.

    Attributes:
        count: how many it carries out at once, as far as known.
    """

    count: int = 1

    @property
    def apart(self) -> bool:
        """Whether blocks are carried out in other processes."""
        return True

    def connect(self) -> None:  # noqa: B027 – most have nothing to connect to
        """Connect, once; afterwards ``count`` is known. Raises `UsageError` if that is not possible."""

    @abstractmethod
    def run(self, work: Work[Done], parts: Parts) -> Iterator[Done]:
        """Carry out blocks, each of its own experiment.

        Args:
            work: what is done with each.
            parts: experiments and blocks; may be made as they are needed.

        Yields:
            What ``work`` returns, in the order of the parts.

        Raises:
            InvalidRunsError: if the mechanism ends workers.
            UsageError: if the engine cannot be used, with the reason.
        """

    def close(self) -> None:  # noqa: B027 – most have nothing to close
        """Leave the engine; one that this process started is ended."""


class Remote(Engine):
    """An engine of another library: tasks are submitted, and their answers awaited in order."""

    name: str

    @abstractmethod
    def submit(self, expected: dict[str, str | None], task: bytes) -> Any:
        """Submit a task (`dpaudit.sampling.engines.task.answer`), and return what stands for its answer."""

    @abstractmethod
    def answer(self, submitted: Any) -> Answer:
        """Wait for an answer. Raises as `run` does if there will be none."""

    @abstractmethod
    def cancel(self, submitted: list[Any]) -> None:
        """Cancel tasks whose answers nobody needs."""

    def run(self, work: Work[Done], parts: Parts) -> Iterator[Done]:
        """Carry out blocks, a few ahead."""
        self.connect()
        waiting: deque[Any] = deque()
        try:
            for experiment, block in parts:
                waiting.append(self.submit(expected_of(experiment), packed(work, experiment, block)))
                if len(waiting) > (1 + _AHEAD) * self.count:
                    yield opened(self.answer(waiting.popleft()))
            while waiting:
                yield opened(self.answer(waiting.popleft()))
        finally:
            if waiting:
                self.cancel(list(waiting))


def packed(work: Work[Any], experiment: Experiment, block: Block) -> bytes:
    """Return a task as bytes."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps((work, experiment, block)))
    except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError, NotImplementedError) as error:
        raise UsageError(
            f"the mechanism with its data and parameters cannot be sent to workers ({type(error).__name__}: {error}); "
            "define it in a file, as a function with a name, and give it plain data"
        ) from None


def opened(answer: Answer) -> Any:
    """Return what a worker found; raise what it raised."""
    if answer.error is not None:
        raise answer.error
    if answer.refused is not None:
        raise UsageError(f"the worker on {answer.host} cannot take part: {answer.refused}")
    return answer.found


def unreachable(name: str, where: str | None, error: BaseException | str) -> NoReturn:
    """Raise `UsageError`: an engine does not answer."""
    place = "" if where is None else f" at {where!r}"
    why = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
    raise UsageError(f"no {name}{place} can be reached ({first_line(why)}); start it, or name another --scheduler")


def gone(name: str, error: BaseException | str) -> NoReturn:
    """Raise `UsageError`: an engine was lost on the way."""
    why = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
    raise UsageError(
        f"the connection to {name} was lost ({first_line(why)}); with --resume FILE, finished blocks are kept, and the "
        "same command goes on from there"
    )


def first_line(text: str) -> str:
    """The beginning of a text that may be long."""
    return text.strip().partition("\n")[0][:200]
