"""How fast are compiled programs, from when on is that worth it, and do they draw the same law?

For every program of the catalogue: runs a second of one core by both readings, from draws to outputs, measured
alternately; seconds until the loop is there; and the p-value that outputs of both readings have one law. Then whole
audits by both readings; with --billion also 1e9 runs with two workers. Times are CPU seconds, except where it says so.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from scipy import stats

import dpaudit as dp
from dpaudit.program import compiled_reading
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.compiled_reading import UncompiledError
from dpaudit.sampling.compiled import compiled_outputs
from dpaudit.sampling.outputs import Outputs, from_paths, taken_path

SHOWN = ("laplace", "above_threshold", "svt_unscaled_noise", "report_noisy_max")
RUNS, AT_ONCE, TIMES = 2**18, 2**15, 5
AUDITS = (1e6, 1e7)


def fresh(*key: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(11, spawn_key=key)))


def seconds(work: Callable[[], Any]) -> float:
    clock = time.process_time()
    work()
    return time.process_time() - clock


def one_law(one: Outputs, other: Outputs) -> float:
    """Return the smallest p-value over forms and numbers, times how many there are (Bonferroni)."""
    forms = sorted({*one.forms, *other.forms})
    sides = [
        {form: each.numbers[each.forms.index(form)] for form in forms if form in each.forms} for each in (one, other)
    ]
    counts = np.array([[len(side.get(form, ())) for form in forms] for side in sides])
    values = [] if len(forms) == 1 else [stats.chi2_contingency(counts[:, counts.sum(0) > 20]).pvalue]
    for form in forms:
        if all(len(side.get(form, ())) > 100 for side in sides):
            for mine, theirs in zip(sides[0][form].T, sides[1][form].T, strict=True):
                kinds, places = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
                if len(kinds) < 100:  # a test of many values would take them for a density
                    table = np.array(
                        [np.bincount(part, minlength=len(kinds)) for part in np.split(places, [len(mine)])]
                    )
                    table = table[:, table.sum(0) > 20]
                    values.append(stats.chi2_contingency(table).pvalue if table.shape[1] > 1 else 1.0)
                else:
                    values.append(stats.ks_2samp(mine, theirs, method="asymp").pvalue)
    return min(1.0, min(values, default=1.0) * len(values))


def row(name: str) -> tuple[str, str | None]:
    """Return a row of the table; or why the program is not compiled."""
    target = dp.load(name)
    parameters = target.parameters_with({})
    data = target.pairs_for(parameters)[0][0]
    started = time.process_time()
    try:
        program = compiled_reading.compiled(target.function, data, parameters)
    except UncompiledError as error:
        return name, str(error)
    compiled_reading._loop(program.text)
    started = time.process_time() - started

    def compiled(index: int, runs: int = RUNS) -> Outputs:
        return compiled_outputs(target.function, data, parameters, runs, fresh(0, index), fresh(1, index))

    def batch(index: int, runs: int = AT_ONCE) -> Outputs:
        called = run_batch(
            lambda noise: target.function(data, noise=noise, **parameters), runs, fresh(2, index), taken_path
        )
        return from_paths(called.paths, runs)

    loop, whole, arrays = [], [], []
    for index in range(TIMES):
        loop.append(RUNS / seconds(lambda index=index: program.run(RUNS, fresh(0, index))))
        whole.append(RUNS / seconds(lambda index=index: compiled(index)))
        arrays.append(4 * AT_ONCE / seconds(lambda index=index: [batch(index) for _ in range(4)]))
    ratio = statistics.median(one / other for one, other in zip(whole, arrays, strict=True))
    p_value = one_law(compiled(100, 10**5), batch(100, 10**5))
    fast = [statistics.median(each) / 1e6 for each in (loop, whole, arrays)]
    return (
        f"| {name} | {len(program.tree.leaves)} | {fast[0]:.1f} | {fast[1]:.1f} | {fast[2]:.1f} | {ratio:.1f} | "
        f"{started:.2f} | {p_value:.2g} |"
    ), None


def audits() -> list[str]:
    for reading_asked in (None, "compiled"):  # what is loaded once in a process
        dp.audit(SHOWN[0], runs=1e4, seed=1, reading=reading_asked)
    lines = ["| audit | runs | batch (s) | compiled (s) | ratio |", "|---|---|---|---|---|"]
    for name in SHOWN:
        for runs in AUDITS:
            batch = seconds(lambda name=name, runs=runs: dp.audit(name, runs=runs, seed=1))
            loop = seconds(lambda name=name, runs=runs: dp.audit(name, runs=runs, seed=1, reading="compiled"))
            lines.append(f"| {name} | {runs:.0e} | {batch:.2f} | {loop:.2f} | {batch / loop:.1f} |")
            print(lines[-1], flush=True)
    return lines


def billion() -> list[str]:
    clock = time.perf_counter()
    evidence = dp.audit("above_threshold", runs=1e9, seed=1, workers=2, reading="compiled")
    wall = time.perf_counter() - clock
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)  # children count when they have ended
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = sum(each.ru_utime + each.ru_stime for each in (own, others))
    peak = max(own.ru_maxrss, others.ru_maxrss) / 1024
    return [
        f"`above_threshold`, 1e9 runs, two workers: ε ≥ {evidence.lower.value:.4f} (claimed 1), {used:.0f} CPU s, "
        f"{used / 2:.0f} on each of two cores; wall time here {wall:.0f} s; peak memory of a process {peak:.0f} MB."
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--billion", action="store_true", help="an audit of 1e9 runs, too")
    parser.add_argument("--only", nargs="*", help="some programs; by default all of the catalogue")
    parser.add_argument("--table", type=Path, default=Path(__file__).parent / "results" / "compiled.md")
    chosen = parser.parse_args()
    row(SHOWN[0])  # what is compiled once in a process
    lines = [
        "| program | paths | loop alone (M/s) | compiled, with checks (M/s) | batch (M/s) | ratio, median of pairs | "
        "until there is a loop (s) | p of one law |",
        "|---|---|---|---|---|---|---|---|",
    ]
    refused = []
    for name in chosen.only or sorted(dp.catalogue()):
        if str(dp.load(name).shape) == "program":
            found, why = row(name)
            print(found, why or "", flush=True)
            if why is None:
                lines.append(found)
            else:
                refused.append(f"- `{name}`: {why}")
    tables = ["\n".join(lines), "Not compiled, and read in batches:\n\n" + "\n".join(refused), "\n".join(audits())]
    if chosen.billion:
        tables += billion()
    tables.append(f"CPU seconds of one core. NumPy {np.__version__}, Numba {numba.__version__}.")
    chosen.table.write_text("\n\n".join(tables) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
