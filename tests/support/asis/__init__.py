"""Functions as people write them, and wrong ones: tables of tests and benchmarks, with domain and claim.

`p…` is right, with the ε of theory as its claim in ``CLAIM`` (1 where it is not there); `w…` is wrong at its claim.
"""

from __future__ import annotations

import importlib
import multiprocessing
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.neighbours import parse_relation
from dpaudit.reading.universe import calls
from dpaudit.reading.universe.drive import Reading
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify.releases.derive import columns_of, priced, read_function
from dpaudit.verify.releases.read import NoBoundError

DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "person": (0.0, 1e9)}
DELTA = Fraction(1, 10**5)
RIGHT = ("forty", "forty_more", "realistic", "realistic_own", "written_last", "teams")
WRONG = ("attacks", "attacks_more", "attacks_loops", "attacks_released", "attacks_objects", "attacks_hooks",
         "attacks_sparse", "attacks_compared", "attacks_kept", "attacks_tables", "attacks_python",
         "attacks_errors", "attacks_around", "attacks_written", "attacks_taken", "attacks_forms",
         "attacks_by_key", "attacks_rows", "attacks_columns", "adaptive", "pipelines")  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A function with what is said of it."""

    table: str
    name: str
    function: Any
    domain: dict[str, Any]
    claim: float
    person: str | None
    replaced: bool = False

    @property
    def relation(self) -> str:
        """Which datasets are neighbours."""
        return "replace" if self.replaced else f"add-remove(person={self.person})" if self.person else "add-remove"

    @property
    def is_right(self) -> bool:
        """Whether its claim holds."""
        return self.name[0] == "p"


def cases(table: str) -> Iterator[Case]:
    """Yield the functions of a table."""
    calls.build()
    module: types.ModuleType = importlib.import_module(f"support.asis.{table}")
    for name, function in list(vars(module).items()):
        if name[:1] in "pw" and name[1:3].isdigit() and callable(function):
            number = name[1:].split("_")[0]
            yield Case(
                table,
                name,
                function,
                getattr(module, "DOMAIN", DOMAIN),
                getattr(module, "CLAIM", {}).get(number, 1.0),
                "person" if number in getattr(module, "PERSON", ()) else None,
                number in getattr(module, "REPLACE", ()),
            )


def read(case: Case, seconds: float = 60.0) -> tuple[Reading, Fraction | None]:
    """Read a function; return what was read and its ε, at δ = 1e-5 where noise is Gaussian."""
    relation = parse_relation(case.relation)
    made = mechanism(case.function)
    reading = read_function(made, {}, relation, columns_of(case.domain, None), seconds=seconds)
    if reading.refused:
        return reading, None
    try:
        _, bound, _ = priced(reading, replaced=case.replaced, group=1, notion="epsilon", delta=Fraction(0))
        if bound is None:
            _, bound, _ = priced(reading, replaced=case.replaced, group=1, notion="epsilon", delta=DELTA)
    except NoBoundError:
        return reading, None
    return reading, bound


@contextmanager
def small_process() -> Iterator[Callable[..., list[tuple[Case, str, float]]]]:
    """Give `bounds` from a process that has imported nothing else.

    A reading forks, and a process of pytest that has collected all tests takes four times as long for it.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_answer, args=(theirs,), daemon=True)
    process.start()
    theirs.close()

    def bounds(table: str, *, right: bool, part: int = 0, parts: int = 1) -> list[tuple[Case, str, float]]:
        """Return functions of a table with why they are not read, or "", and their ε, inf without one."""
        ours.send((table, right, part, parts))
        return [(case, *found) for case, found in zip(_some(table, right, part, parts), ours.recv(), strict=True)]

    with ours:
        yield bounds
    process.join()


def _some(table: str, right: bool, part: int, parts: int) -> list[Case]:
    return [case for case in cases(table) if case.is_right is right][part::parts]


def _answer(pipe: Any) -> None:
    while True:
        try:
            asked = pipe.recv()
        except EOFError:
            return
        found = [read(case) for case in _some(*asked)]
        pipe.send([
            (", ".join(map(str, reading.refused)), float("inf" if bound is None else bound)) for reading, bound in found
        ])  # fmt: skip


def second(case: Case, epsilon: float, squares: float = 0.0) -> str | None:
    """Return what real runs on neighbouring frames show against a bound; None if they agree."""
    from dpaudit.reading.universe.second import compared

    return compared(
        case.function, columns_of(case.domain, None), {}, limits=(epsilon, squares),
        unsampled=(epsilon, squares), parameters={},
        person=case.person, pairs=40,
    ).disagreement  # fmt: skip
