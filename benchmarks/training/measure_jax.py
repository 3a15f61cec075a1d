"""What does the watch find in loops of JAX, how often is a right one called wrong, and what does it cost?

    python benchmarks/training/measure_jax.py [--only mistakes alarms cost step]

Needs jax, optax, jax-privacy and scikit-learn beside dpaudit; `make test-training` makes an environment for it. Each
part writes its rows into results_jax.json, from which the tables of results_jax.md are drawn.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import jax
import jax_loops as loops
from frame import in_parts, section

import dpaudit as dp
from dpaudit.training.updates import checklist

HERE = Path(__file__).resolve().parent
KINDS: dict[str, Callable[..., loops.Loop]] = {"private": loops.private, "optax": loops.optax_alone}
NAMES = {"private": "JAX Privacy", "optax": "Optax alone"}


def watched(loop: loops.Loop, seed: int = 0, claim: str | None = None) -> Any:
    """Train within the watch, and return it."""
    options = {"claim": claim, "seed": seed, **loop.options}
    with dp.watch_training(loop.model, loop.optimizer, loop.loader, **options) as watch:
        loop.train(watch)
    return watch


def mistakes(seeds: int = 3) -> list[dict[str, Any]]:
    """Plant every mistake in every kind of loop, and train one epoch."""
    rows = []
    for mistake, (fact, names) in loops.MISTAKES.items():
        for kind, make in KINDS.items():
            if (kind, mistake) in loops.NOT_MADE:
                continue
            named, also = 0, set()
            for seed in range(seeds):
                found = [f for f in watched(make(mistake, seed)).findings if f.status in ("wrong", "note")]
                named += any(each.fact == fact and each.name in names for each in found)
                also |= {f"{each.fact}: {each.name}" for each in found}
            rows.append({"mistake": mistake, "loop": NAMES[kind], "named": named, "of": seeds, "found": sorted(also)})
            print(rows[-1], flush=True)
    return rows


def alarms(runs: int = 200) -> list[dict[str, Any]]:
    """Train right loops for an epoch, and count those in which anything is called wrong, at 1 % and at the default.

    One loop in twenty is compiled, which takes most of its time; the others run operation by operation.
    """
    kinds = [("optax", "right"), ("private", "right"), ("optax", "adam"), ("private", "adam"), ("optax", "right"),
             ("private", "alone"), ("optax", "adam")]  # fmt: skip
    rows: dict[str, dict[str, Any]] = {}
    for number in range(runs):
        kind, own = kinds[number % len(kinds)]
        compiled = number % 20 == 0
        seen = watched(KINDS[kind](own, 1000 + number, wide=32, compiled=compiled), number)._seen
        name = f"{NAMES[kind]}, {own}{', compiled' if compiled else ''}"
        row = rows.setdefault(name, {"loop": name, "runs": 0, "at 1 %": 0, "at 0.1 %": 0, "what": []})
        row["runs"] += 1
        for column, error in (("at 1 %", 0.01), ("at 0.1 %", 0.001)):
            wrong = [each for each in checklist(seen, error, number)[0] if each.status in ("wrong", "note")]
            row[column] += bool(wrong)
            row["what"] += [f"{each.name}: {each.detail}" for each in wrong if column == "at 1 %"]
        if number % 10 == 9:
            print(number + 1, sum(each["at 1 %"] for each in rows.values()), "alarms at 1 %", flush=True)
    return [rows[name] for name in sorted(rows)]


def cost(updates: int = 300, times: int = 3) -> list[dict[str, Any]]:
    """CPU time of the same compiled training with and without the watch, in turns: of all of it, and of its updates.

    All of it has tracing, compiling and replays; the updates are those after the second, of the loop alone.
    """
    rows = []
    for kind, make in KINDS.items():
        for size, wide in (("small", 128), ("larger", 1024)):
            found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
            for number in range(times):
                for with_watch in (False, True):
                    found[with_watch].append(_seconds(make("right", number, updates, wide=wide), with_watch))
            bare, more = found[False], found[True]
            ratios = [statistics.median(b[n] / a[n] for a, b in zip(bare, more, strict=True)) for n in (0, 1)]
            row = {"loop": NAMES[kind], "network": size, "updates": updates, "times": times}
            row |= {"seconds": statistics.median(all_of_it for all_of_it, _ in bare), "ratio": ratios[0]}
            row |= {"updating": statistics.median(part for _, part in bare), "ratio of updates": ratios[1]}
            rows.append(row)
            print(rows[-1], flush=True)
    return rows


def _seconds(loop: loops.Loop, with_watch: bool) -> tuple[float, float]:
    """CPU time of a training, and of its updates after the second."""
    marks = []

    def at(number: int) -> None:
        if number == 2:
            marks.append(time.process_time())

    def train(calls: Any) -> None:
        jax.block_until_ready(loop.train(calls, at))
        jax.effects_barrier()
        marks.append(time.process_time())

    begun = time.process_time()
    if with_watch:
        with dp.watch_training(loop.model, loop.optimizer, loop.loader, seed=0, **loop.options) as watch:
            train(watch)
    else:
        gradient = loop.options.get("gradient")
        train(SimpleNamespace(gradient=gradient, optimizer=loop.optimizer, loader=loop.loader))
    return time.process_time() - begun, marks[1] - marks[0]


def step(updates: int = 300) -> list[dict[str, Any]]:
    """The audit of a step on digits, composed, and the loss of the whole run."""
    rows = []
    for seed in range(2):
        found = watched(loops.private("right", seed, updates), seed, "epsilon=8, delta=1e-5").evidence.training
        assert found is not None and found.step is not None
        rows.append(
            {
                "seed": seed,
                "values": found.step.values,
                "mu": found.step.mu,
                "epsilon": found.step.epsilon,
                "low": found.low.value,
                "high": found.high.value,
            }
        )
        print(rows[-1], flush=True)
    return rows


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """Draw all rows there are."""
    lines = [
        "# What the watch finds in loops of JAX",
        "",
        "Made part by part with `measure_jax.py --only …`, on scikit-learn's digits; `make test-training` makes all.",
    ]
    if "mistakes" in found:
        shown = (
            [r["mistake"], r["loop"], f"{r['named']} of {r['of']}", "; ".join(r["found"])] for r in found["mistakes"]
        )
        titles = ("mistake", "loop", "named", "all that was found")
        lines += section("Planted mistakes, one epoch (20 updates)", titles, shown)
    if "alarms" in found:
        rows, columns = found["alarms"], ("loop", "runs", "at 1 %", "at 0.1 %")
        total = {"loop": "all"} | {key: sum(row[key] for row in rows) for key in columns[1:]}
        shown = ([row[key] for key in columns] for row in [*rows, total])
        title = "Right loops, one epoch: alarms at a chance of 1 %, and of 0.1 % (the default)"
        lines += section(title, columns, shown)
    if "cost" in found:
        numbers = ("seconds", "ratio", "updating", "ratio of updates")
        lines += section(
            "CPU time with a watch, beside the same training without it",
            ("loop", "network", "updates", "runs", "bare, s", "all of it", "bare updates, s", "updates alone"),
            (
                [*(r[key] for key in ("loop", "network", "updates", "times")), *(f"{r[key]:.2f}" for key in numbers)]
                for r in found["cost"]
            ),
        )
    if "step" in found:
        lines += section(
            "The audit of a step: digits, JAX Privacy, σ = 1, T = 300, q = 0.05, δ = 1e-5",
            ("seed", "values", "μ", "ε composed, conditional", "certified as seen"),
            (
                [r["seed"], f"{r['values']:,}", f"{r['mu']:.4f}", f"{r['epsilon']:.3f}",
                 f"{r['low']:.4f} to {r['high']:.4f}"]
                for r in found["step"]
            ),
        )  # fmt: skip
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    in_parts(
        __doc__,
        HERE / "results_jax.json",
        {"mistakes": mistakes, "alarms": alarms, "cost": cost, "step": step},
        table,
    )
