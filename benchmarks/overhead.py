"""How much longer does a whole audit take than sampling alone?

Five shapes of mechanisms, up to 1e7 runs a side: the CPU time of the audit divided by that of drawing as many outputs
with NumPy in blocks, measured alternately, as the median of the ratios. All programs are drawn by the best NumPy code
that draws the same law. Also the time of a small audit, peak memory, what a second worker gains where one takes some
seconds, and what a run costs where every run is a call of its own.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from frame import Page, options

import dpaudit as dp

Array = np.ndarray[Any, Any]
BLOCK = 2**15


def laplace(data: float, size: int, rng: np.random.Generator) -> Array:
    """One answer with Laplace noise of scale 1, for ε = 1."""
    return data + rng.laplace(0.0, 1.0, size)


def laplace_program(data: float, noise: dp.Noise) -> Any:
    """The same as a program."""
    return data + noise.laplace(1.0)


def categorical(data: int, size: int, rng: np.random.Generator) -> Array:
    """One of three outcomes."""
    return rng.choice(3, size=size, p=[0.5, 0.3, 0.2] if data == 0 else [0.3, 0.5, 0.2])


def gaussian_vector(data: float, size: int, rng: np.random.Generator) -> Array:
    """Twenty answers with Gaussian noise."""
    return data + rng.normal(0.0, 1.0, (size, 20))


def sparse_vector(data: list[int], noise: dp.Noise) -> list[bool]:
    """The sparse vector technique with a halt after the first answer above (Lyu, Su & Li 2017, Algorithm 1)."""
    level = 1 + noise.laplace(2.0)
    answers = []
    for value in data:
        answers.append(value + noise.laplace(4.0) >= level)
        if answers[-1]:
            break
    return answers


def sparse_vector_bare(data: list[int], size: int, rng: np.random.Generator) -> Array:
    """The place of the first answer above, drawn at once."""
    level = 1 + rng.laplace(0.0, 2.0, (size, 1))
    above = np.asarray(data) + rng.laplace(0.0, 4.0, (size, len(data))) >= level
    return np.where(above.any(axis=1), above.argmax(axis=1), len(data))


@dataclass(frozen=True)
class Shape:
    """What is audited on which pair, and what draws the same outputs by NumPy alone."""

    name: str
    target: Callable[..., Any]
    pair: tuple[Any, Any]
    sampler: Callable[..., Any]

    def bare(self, runs: int) -> float:
        """Return the seconds to draw ``runs`` outputs of each side, in blocks that fit the cache."""
        clock = time.process_time()
        rng = np.random.default_rng(0)
        for data in self.pair:
            for _ in range(0, runs, BLOCK):
                self.sampler(data, BLOCK, rng)
        return time.process_time() - clock

    def whole(self, runs: int, seed: int) -> float:
        """Return the CPU seconds for an audit of 2·runs runs in all."""
        clock = time.process_time()
        self._audit(runs, seed, 1)
        return time.process_time() - clock

    def wall(self, runs: int, seed: int, workers: int) -> float:
        """Return the seconds that pass during the same audit."""
        clock = time.perf_counter()
        self._audit(runs, seed, workers)
        return time.perf_counter() - clock

    def _audit(self, runs: int, seed: int, workers: int) -> None:
        evidence = dp.audit(
            self.target,
            claim="epsilon=1",
            pairs=[self.pair],
            relation="declared",
            runs=2 * runs,
            seed=seed,
            workers=workers,
        )
        assert evidence.verdict is not dp.Verdict.INVALID


SHAPES = (
    Shape("Laplace, a sampler", laplace, (0.0, 1.0), laplace),
    Shape("Laplace, a program", laplace_program, (0.0, 1.0), laplace),
    Shape("three categories", categorical, (0, 1), categorical),
    Shape("sparse vector, a program", sparse_vector, ([1] * 5 + [0] * 5, [0] * 5 + [1] * 5), sparse_vector_bare),
    Shape("Gaussian, 20 numbers", gaussian_vector, (0.0, 0.25), gaussian_vector),
)


def peak(shape: int, runs: int) -> float:
    """Return the peak memory in MB of a process that audits ``runs`` runs a side."""
    code = (
        f"import overhead, re; overhead.SHAPES[{shape}].whole({runs}, 0); "
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"  # without the parent's peak
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024


MANY = (3 * 10**8, 2 * 10**8, 3 * 10**8, 4 * 10**7, 2 * 10**7)  # runs a side that take one worker about ten seconds


def side_by_side(shape: int, runs: int) -> float:
    """Return the seconds of the slower of two processes that audit at the same time, with one worker each."""
    code = f"import overhead; s = overhead.SHAPES[{shape}]; s.whole(10_000, 0); print(s.wall({runs}, 0, 1))"
    here = Path(__file__).parent
    two = [subprocess.Popen([sys.executable, "-c", code], cwd=here, stdout=subprocess.PIPE, text=True) for _ in (1, 2)]
    return max(float(each.communicate()[0]) for each in two)


def of_two_workers(repeat: int) -> Iterator[list[str]]:
    """Yield the rows of wall times with one worker and with two, and what two processes of their own reach."""
    for number, (shape, runs) in enumerate(zip(SHAPES, MANY, strict=True)):
        pairs = [(shape.wall(runs, seed, 1), shape.wall(runs, seed, 2)) for seed in range(repeat)]
        one, two = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(b / a for a, b in pairs)
        limit = side_by_side(number, runs) / 2 / one
        yield [shape.name, f"{runs:.0e}", f"{one:.1f}", f"{two:.1f}", f"{ratio:.2f}", f"{limit:.2f}"]


def own_randomness(data: float) -> float:
    """One answer, with a generator of its own: both sides are run in the order of coins, and echoes are searched."""
    return data + random.expovariate(1.0) - random.expovariate(1.0)


def generator_given(data: float, rng: np.random.Generator) -> float:
    """One answer, with the generator that it is given."""
    return data + rng.laplace(0.0, 1.0)


SINGLE = 1_000_000  # runs a side


def of_single_calls(repeat: int) -> Iterator[list[str]]:
    """Yield the rows of functions that make one run a call."""
    for name, function, given in (
        ("its own randomness", own_randomness, ()),
        ("the generator that it is given", generator_given, (np.random.default_rng(0),)),
    ):
        shape = Shape(name, function, (0.0, 1.0), function)
        shape.whole(10_000, 0)
        pairs = []
        for seed in range(repeat):
            clock = time.process_time()
            for data in shape.pair:
                for _ in range(SINGLE):
                    function(data, *given)
            pairs.append((time.process_time() - clock, shape.whole(SINGLE, seed)))
        bare, whole = (statistics.median(side) / (2 * SINGLE) * 1e6 for side in zip(*pairs, strict=True))
        yield [name, f"{bare:.2f}", f"{whole:.2f}", f"{statistics.median(b / a for a, b in pairs):.2f}"]


def of_whole_audits(repeat: int) -> Iterator[list[str]]:
    """Yield the rows of whole audits beside bare sampling."""
    for number, shape in enumerate(SHAPES):
        shape.whole(10_000, 0)
        for runs in (10**5, 10**6, 10**7):
            pairs = [(shape.bare(runs), shape.whole(runs, seed)) for seed in range(repeat)]
            bare, whole = (statistics.median(side) for side in zip(*pairs, strict=True))
            ratio = statistics.median(b / a for a, b in pairs)
            yield [
                shape.name,
                f"{runs:.0e}",
                f"{bare:.3f}",
                f"{whole:.3f}",
                f"{ratio:.2f}",
                f"{peak(number, runs):.0f}",
            ]


def main() -> None:
    """Measure, and write the tables."""
    repeat = options(__doc__, repeat=5).repeat
    page = Page("overhead.md", "Whole audits beside sampling alone", "overhead.py")
    titles = ("bare sampling (s)", "whole audit (s)", "ratio, median of pairs", "peak memory (MB)")
    page.table(("outputs", "runs a side", *titles), of_whole_audits(repeat))
    small = [SHAPES[0].whole(5_000, seed) for seed in range(5)]
    page.say(
        f"An audit of 10,000 runs in all, after imports: {statistics.median(small):.3f} s. Peak memory is that of a "
        "process that does one audit. Times of the ratio are CPU seconds of one process.",
        "",
    )
    page.table(
        ("one run a call", "bare (µs a run)", "audit (µs a run)", "ratio, median of pairs"), of_single_calls(repeat)
    )
    titles = ("one worker (s)", "two workers (s)", "two over one", "two processes, half of the slower over one")
    page.table(("outputs", "runs a side", *titles), of_two_workers(2))
    page.say("Seconds that pass, medians of two. The last column is what the machine's two cores allow.")
    page.save()


if __name__ == "__main__":
    main()
