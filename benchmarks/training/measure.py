"""What does the watch of a training loop find, how often is a right loop called wrong, and what does it cost?

    python benchmarks/training/measure.py [--only mistakes written alarms cost step]

Needs torch, opacus and scikit-learn beside dpaudit; `make test-training` makes an environment for it. Each part writes
its rows into results.json, from which the tables of results.md are drawn.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import as_written
import loops
import torch
import written_schedules  # noqa: F401
import written_since  # noqa: F401
from frame import in_parts, section

import dpaudit as dp
from dpaudit.training.updates import checklist
from dpaudit.training.watchers.torch_watch import TorchWatch

HERE = Path(__file__).resolve().parent
KINDS: dict[str, Callable[..., loops.Loop]] = {
    "hooks": loops.opacus,
    "ghost": lambda *args, **more: loops.opacus(*args, ghost=True, **more),
    "plain": loops.plain,
}
CLAIM = "epsilon=8, delta=1e-5"
CLAIM_OF_FOUR = 1.226
"""The noise multiplier at which 300 updates at a rate of 1/20 keep ε = 4 at δ = 1e-5."""


def seen(loop: loops.Loop, seed: int = 0) -> Any:
    """Train within the watch, and return what was seen."""
    options = {"sigma": None, "clip": None, "rate": None, "gradient": None, "accountant": None, **loop.options}
    watch = TorchWatch(loop.model, loop.optimizer, loop.loader, sampling="poisson", seed=seed, **options)
    with watch:
        loop.train()
    return watch.seen


def mistakes(seeds: int = 3) -> list[dict[str, Any]]:
    """Plant every mistake in every kind of loop, and train one epoch."""
    rows = []
    for mistake, (fact, names) in loops.MISTAKES.items():
        for kind, make in KINDS.items():
            if (kind, mistake) in loops.NOT_MADE:
                continue
            named, also = 0, set()
            for seed in range(seeds):
                found = [
                    each for each in checklist(seen(make(mistake, seed)), 1e-3)[0] if each.status in ("wrong", "note")
                ]
                named += any(each.fact == fact and each.name in names for each in found)
                also |= {f"{each.fact}: {each.name}" for each in found}
            rows.append({"mistake": mistake, "loop": kind, "named": named, "of": seeds, "found": sorted(also)})
            print(rows[-1], flush=True)
    return rows


def written(seed: int = 3) -> list[dict[str, Any]]:
    """Watch loops as people write them, each once, against a claim; of wrong ones, whether their mistake is named."""
    rows = []
    for each in (*as_written.RIGHT, *as_written.WRONG):
        loop, ended = each.make(seed), ""
        with dp.watch_training(
            loop.model, loop.optimizer, loop.loader, claim=CLAIM, seed=seed, **loop.options
        ) as watch:
            try:
                loop.train()
            except Exception as error:
                ended = type(error).__name__
        found = watch.evidence
        wrong = [(fact.fact, fact.name) for fact in watch.findings if fact.status == "wrong"]
        unseen = [(fact.fact, fact.name) for fact in watch.findings if fact.status == "not seen"]
        kept, named = str(found.verdict) == "not violated", {*each.named}
        rows.append(
            {
                "loop": each.what,
                "right": each.right,
                "good": not ended and (
                    not wrong and str(found.verdict) != "violated" if each.right
                    else bool({*wrong} & named) or (bool({*unseen} & named) and not kept)
                ),
                "verdict": str(found.verdict),
                "wrong": [name for _, name in wrong],
                "noted": [fact.name for fact in watch.findings if fact.status == "note"],
                "not looked at": [fact.fact for fact in watch.findings if fact.status == "not seen"],
                "ended": ended,
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def alarms(runs: int = 200) -> list[dict[str, Any]]:
    """Train right loops for an epoch, and count those in which anything is called wrong, at 1 % and at the default."""
    kinds = [("hooks", "right"), ("hooks", "adam"), ("hooks", "memory manager"), ("ghost", "right"), ("ghost", "adam"),
             ("ghost", "memory manager"), ("plain", "right"), ("plain", "adam")]  # fmt: skip
    rows = {kind: {"loop": " ".join(kind), "runs": 0, "at 1 %": 0, "at 0.1 %": 0, "what": []} for kind in kinds}
    for number in range(runs):
        kind = kinds[number % len(kinds)]
        found = seen(KINDS[kind[0]](kind[1], 1000 + number), number)
        row = rows[kind]
        row["runs"] += 1
        for name, error in (("at 1 %", 0.01), ("at 0.1 %", 0.001)):
            wrong = [each for each in checklist(found, error, number)[0] if each.status in ("wrong", "note")]
            row[name] += bool(wrong)
            row["what"] += [f"{each.name}: {each.detail}" for each in wrong if name == "at 1 %"]
    return list(rows.values())


def cost(updates: int = 300, times: int = 7) -> list[dict[str, Any]]:
    """CPU and wall time of the same training with and without the watch, in turns: the medians of their ratios."""
    rows = []
    for kind, make in KINDS.items():
        for size in ("small", "larger"):
            bare, more = [], []
            seen(make("right", 0, 5))  # imports, and what is made once
            for number in range(times):
                for watched in (False, True) if number % 2 else (True, False):
                    loop = make("right", number, updates, **({"wide": 1024} if size == "larger" else {}))
                    (more if watched else bare).append(_seconds(loop, watched))
            row = {"loop": kind, "network": size, "updates": updates, "times": times}
            for name, at in (("cpu", 0), ("wall", 1)):
                ratios = sorted(b[at] / a[at] for a, b in zip(bare, more, strict=True))
                row |= {name: statistics.median(each[at] for each in bare)}
                row |= {f"ratio of {name}": statistics.median(ratios), f"range of {name}": [ratios[0], ratios[-1]]}
            rows.append(row)
            print(row, flush=True)
    return rows


def _seconds(loop: loops.Loop, watched: bool) -> tuple[float, float]:
    """CPU and wall time of a training."""
    used, clock = time.process_time(), time.perf_counter()
    if watched:
        seen(loop)
    else:
        loop.train()
    return time.process_time() - used, time.perf_counter() - clock


def step(updates: int = 300) -> list[dict[str, Any]]:
    """The audit of a step on digits, composed, and the loss of the whole run."""
    rows = []
    for sigma in (1.0, CLAIM_OF_FOUR, 2.0):
        for seed in range(3):
            loop = loops.opacus("right", seed, updates, sigma=sigma)
            with dp.watch_training(loop.model, loop.optimizer, loop.loader, claim=CLAIM, seed=seed) as watch:
                loop.train()
            found = watch.evidence.training
            assert found is not None and found.step is not None
            rows.append(
                {
                    "sigma": sigma,
                    "seed": seed,
                    "values": found.step.values,
                    "mu": found.step.mu * sigma,
                    "epsilon": found.step.epsilon,
                    "gaussian": found.gaussian,
                    "low": found.low.value,
                    "high": found.high.value,
                    "verdict": str(watch.evidence.verdict),
                }
            )
            print(rows[-1], flush=True)
    return rows


def alarms_of(rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of alarms."""
    total = {key: sum(row[key] for row in rows) for key in ("runs", "at 1 %", "at 0.1 %")}
    columns = ("loop", "runs", "at 1 %", "at 0.1 %")
    shown = ([row[key] for key in columns] for row in [*rows, {"loop": "all", **total}])
    return section("Right loops, one epoch: alarms at a chance of 1 %, and of 0.1 % (the default)", columns, shown)


def mistakes_of(rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of planted mistakes."""
    shown = ([r["mistake"], r["loop"], f"{r['named']} of {r['of']}", "; ".join(r["found"])] for r in rows)
    titles = ("mistake", "loop", "named", "all that was found")
    return section("Planted mistakes, one epoch (20 updates)", titles, shown)


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """Draw all rows there are."""
    lines = [
        "# What the watch of a training loop finds",
        "",
        "Made part by part with `measure.py --only …`, on scikit-learn's digits; `make test-training` makes all.",
        *(mistakes_of(found["mistakes"]) if "mistakes" in found else ()),
    ]
    for right in (True, False) if "written" in found else ():
        rows = [row for row in found["written"] if row["right"] == right]
        good = f"{sum(row['good'] for row in rows)} of {len(rows)}"
        named = sum(row["good"] and bool(row["wrong"]) for row in rows)
        said = (
            f"Right loops as people write them: not accused, and not ended: {good}"
            if right
            else f"Wrong loops as people write them: mistake named as wrong: {named} of {len(rows)}, or as not looked "
            f"at, without a green word: {good}"
        )
        lists = ("wrong", "noted", "not looked at")
        shown = ([row["loop"], row["verdict"], *(", ".join(row[name]) for name in lists)] for row in rows)
        lines += section(said, ("loop", "verdict", "seen wrong", "to note", "not looked at"), shown)
    if "alarms" in found:
        lines += alarms_of(found["alarms"])
    if "cost" in found:
        rows = found["cost"]

        def both(row: dict[str, Any], name: str) -> list[str]:
            low, high = row[f"range of {name}"]
            return [f"{row[name]:.2f}", f"{row[f'ratio of {name}']:.2f} ({low:.2f} to {high:.2f})"]

        lines += section(
            f"Time of the training, {rows[0]['updates']} updates, beside the same without a watch",
            ("loop", "network", "bare, CPU s", "CPU time with the watch", "bare, s", "wall time with the watch"),
            ([row["loop"], row["network"], *both(row, "cpu"), *both(row, "wall")] for row in rows),
            f"Medians, and in brackets the least and the largest, of {rows[0]['times']} pairs of runs in turns, on two "
            "shared cores, PyTorch with one thread.",
        )
    if "step" in found:
        lines += section(
            "The audit of a step: digits, T = 300, q = 0.05, δ = 1e-5",
            ("σ", "seed", "values", "μ of the truth", "ε composed, conditional", "ε if Gaussian", "certified as seen"),
            (
                [f"{r['sigma']:g}", r["seed"], f"{r['values']:,}", f"{r['mu']:.4f}", f"{r['epsilon']:.3f}",
                 f"{r['gaussian']:.3f}", f"{r['low']:.4f} to {r['high']:.4f}"]
                for r in found["step"]
            ),
        )  # fmt: skip
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    torch.set_num_threads(1)
    parts = {"mistakes": mistakes, "written": written, "alarms": alarms, "cost": cost, "step": step}
    in_parts(__doc__, HERE / "results.json", parts, table)
