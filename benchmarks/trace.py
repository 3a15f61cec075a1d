"""What do a few recorded and replayed runs find? The catalogue, and mistakes that searches by sampling missed.

    python benchmarks/trace.py

writes results/trace.md; the tables of packages are drawn from the rows of benchmarks/traced/run.py. An entry of the
catalogue is flagged where the word is "leaks", "violated, given the stated laws" or "not supported"; one of these for a
correct entry is an alarm.
"""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from frame import RESULTS, Page

import dpaudit as dp
from dpaudit.auditing.audit import audited
from dpaudit.auditing.race import leads_of
from dpaudit.request import AuditRequest
from dpaudit.sampling.outputs import OutputSnapshot
from dpaudit.tracing.pair import trace_pair
from dpaudit.tracing.runs import FollowedTarget

PACKAGES = RESULTS / "trace_packages.json"
FLAGS = ("leaks", "violated, given the stated laws", "not supported")
SEED = 0
MEASURED = (1_000, 100_000)


def catalogue(page: Page) -> None:
    """Trace every entry on its own pairs."""
    rows, flagged, alarms, whole = [], [0, 0], [0, 0], 0.0
    for name, entry in sorted(dp.catalogue().items(), key=lambda each: (each[1].correct, each[0])):
        began = time.process_time()  # one core does it, whatever else the machine does
        trace = dp.trace(entry, seed=SEED, runs=0).trace
        seconds = time.process_time() - began
        whole += seconds
        counts = alarms if entry.correct else flagged
        assert trace is not None
        counts[0] += trace.word in FLAGS
        counts[1] += 1
        first = trace.findings[0]
        where = f"`{first.where}`" if ":" in first.where else first.where
        shown = f"{name}{'' if entry.correct else ' (broken)'}"
        rows.append([shown, trace.word, first.text, where, trace.runs, f"{seconds:.2f}"])
    told = f"{flagged[0]} of {flagged[1]} broken entries flagged, {alarms[0]} alarms on {alarms[1]} correct ones, "
    page.say("## The catalogue", "", f"{told}{whole:.0f} seconds.", "")
    page.table(("", "word", "what was found first", "where", "runs", "seconds"), rows)


# --- what runs confirm ----------------------------------------------------------------------------------------------


def confirmed(page: Page) -> None:
    """Measure what is flagged in the catalogue, with what the trace points to among the candidates and without."""
    rows, shown, cells = [], Counter[tuple[int, bool]](), [(runs, led) for runs in MEASURED for led in (False, True)]
    flagged = 0
    for name, entry in sorted(dp.catalogue().items()):
        if entry.correct:
            continue
        pairs = entry.pairs_for(entry.parameters_with({}))
        target = FollowedTarget(entry, entry.parameters_with({}), OutputSnapshot)
        traced = [trace_pair(target, pair, entry.claim_for(entry.parameters_with({})), seed=SEED) for pair in pairs]
        word = max(each.worst.word for each in traced)
        if str(word) not in FLAGS:
            continue
        flagged += 1
        leads, told = tuple(leads_of(each) for each in traced), []
        for runs, led in cells:
            evidence = audited(AuditRequest(entry, seed=SEED, runs=runs), leads if led else ())
            shown[runs, led] += evidence.verdict is dp.Verdict.VIOLATED
            told.append(f"{evidence.lower.value:.3g}{' (violated)' if evidence.verdict is dp.Verdict.VIOLATED else ''}")
        rows.append([name, word, *told])
    counts = "; ".join(
        f"{runs:,} runs: {shown[runs, False]} without, {shown[runs, True]} with what the trace points to"
        for runs in MEASURED
    )
    page.say(
        "## What runs confirm",
        "",
        f"Of the {flagged} flagged entries, by runs alone, also where the trace is certain and needs none, {counts}. "
        "Each cell is the lower bound in the claim's parameter, at 0.95 confidence.",
        "",
    )
    page.table(("entry", "word", *(f"{runs:,} runs, {'with' if led else 'without'}" for runs, led in cells)), rows)


# --- mistakes that searches by sampling missed --------------------------------------------------------------------


def mean_of_unknown_n(data: pd.DataFrame, rng: np.random.Generator) -> float:
    """A mean whose noise is made for the number of records that is there."""
    values = data["income"].clip(0, 100)
    return float(values.mean()) + rng.laplace(0, 100 / len(values)) if len(values) else float(rng.laplace(0, 100))


def distinct_visits(data: pd.DataFrame, rng: np.random.Generator) -> float:
    """The number of distinct visits, as if a person had one."""
    return len(data.drop_duplicates(["user", "ts"])) + rng.laplace(0, 1.0)


def sum_with_nan(data: pd.DataFrame, rng: np.random.Generator) -> float:
    """A sum that no NaN is kept from."""
    return float(np.clip(data["income"].to_numpy(), 0, 100).sum()) + rng.laplace(0, 100.0)


def one_noise(data: pd.DataFrame, rng: np.random.Generator) -> Any:
    """Means of two columns with one noise."""
    values = data[["age", "income"]].clip(0, 100).to_numpy()
    return values.sum(axis=0) + rng.laplace(0, 200.0)


def frame() -> pd.DataFrame:
    """Return 200 records of four columns."""
    rng = np.random.default_rng(SEED)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, 200).astype(float),
            "income": rng.uniform(0, 100, 200).round(1),
            "height": rng.normal(170, 10, 200).round(),
            "user": np.arange(200) // 2,
            "ts": rng.integers(0, 24, 200),
        }
    )


DOMAIN = {"age": (0.0, 100.0), "income": (0.0, 100.0), "height": (100.0, 220.0), "user": (0, 99), "ts": (0, 23)}
PLANTED: list[tuple[str, Callable[..., Any], str]] = [
    ("noise (hi − lo)/n under add-remove", mean_of_unknown_n, "add-remove"),
    ("a person with many different records", distinct_visits, "add-remove(person=user)"),
    ("a NaN that clipping lets through", sum_with_nan, "add-remove"),
    ("one noise for two columns", one_noise, "add-remove"),
]


def planted() -> Iterator[list[Any]]:
    """Search the neighbours of a frame by replay."""
    for name, release, relation in PLANTED:
        domain = None if release is sum_with_nan else DOMAIN
        asked: dict[str, Any] = {"domain": domain, "relation": relation, "claim": "epsilon=1", "seed": SEED}
        began = time.perf_counter()
        evidence = dp.trace(release, data=frame(), runs=10_000, time_budget=20, **asked)
        trace, seconds = evidence.trace, time.perf_counter() - began
        assert trace is not None
        lower = "∞" if evidence.lower.value == np.inf else f"{evidence.lower.value:.3g}"
        verdict, first = f"{evidence.verdict} (ε ≥ {lower})", trace.findings[0]
        yield [name, trace.word, first.text, trace.found, trace.tried, verdict, f"{seconds:.1f}"]


# --- packages as they are -----------------------------------------------------------------------------------------


def packages(page: Page) -> None:
    """Draw what was found in packages, from the rows that `benchmarks/traced/run.py` left."""
    rows = [row for each in json.loads(PACKAGES.read_text(encoding="utf-8")).values() for row in each]
    wrong, right = [row for row in rows if row["mistake"]], [row for row in rows if not row["mistake"]]
    page.say(
        "## Packages as they are",
        "",
        "Made by `python benchmarks/traced/run.py`: every package in an environment of its own, unmodified. A flag is "
        "then measured for ten seconds. healthpipe 0.1.0 imports under no version of pydantic 2; its budget, in which "
        "there is no noise, has a stand-in. The last rows are small programs with NumPy, PyTorch and JAX.",
        "",
        f"{sum(row['flagged'] for row in wrong)} of {len(wrong)} mistakes flagged, "
        f"{sum(row['flagged'] for row in right)} alarms on {len(right)} uses without a known mistake.",
        "",
    )
    titles = ("package", "use", "known mistake", "word", "what was found first", "line", "runs", "seconds", "measured")
    page.table(
        titles,
        (
            [*(row[key] for key in ("package", "case")), row["mistake"] or "—", row["word"], row["text"][:160],
             f"`{row['where']}`" if ":" in row["where"] else row["where"], row["runs"], f"{row['seconds']:.2f}",
             row["confirmed"] or "—"]
            for row in [*wrong, *right]
        ),
    )  # fmt: skip


def main() -> None:
    """Trace, and write the tables."""
    warnings.simplefilter("ignore")
    page = Page("trace.md", "A few runs", "trace.py")
    catalogue(page)
    confirmed(page)
    page.say("## Mistakes in a frame of 200 records", "")
    page.say("Claim ε = 1; neighbours by replay, then 10,000 runs.", "")
    page.table(("mistake", "word", "what was found first", "pair", "tried", "verdict", "seconds"), planted())
    packages(page)
    page.save()


if __name__ == "__main__":
    main()
