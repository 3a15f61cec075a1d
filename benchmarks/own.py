"""What does an audit say of functions as people write them, and what do 400,000 runs of each cost?

    .venv/bin/python benchmarks/own.py        writes benchmarks/results/own/TABLE.md; `--table forty` measures one table

Every function of `tests/support/asis` that is right is audited at its claim on 50,000 rows with its domain, and so is
every wrong twin of `forty`. Red is VIOLATED; amber is INCONCLUSIVE with the line of a finding; green are PROVED and NOT
VIOLATED. Seconds are of the CPU: of the audit, and of 400,000 runs that are made by reading (beside it, of how many
single calls, where a function is not read).
"""

from __future__ import annotations

import signal
import sys
import time
import types
import warnings
from typing import Any

import numpy as np
import pandas as pd
from frame import Page, options
from support.asis import RIGHT, Case, cases

import dpaudit as dp
from dpaudit.evidence.evidence import against
from dpaudit.reading.runs.passes import UnreadError, make

ROWS, RUNS, BLOCK = 50_000, 400_000, 2**17
SECONDS = 60
TABLES = (*RIGHT, "rows", "analysts")
GAUSSIAN = {"normal", "standard_normal", "gauss", "normalvariate", "norm"}


def frame(domain: dict[str, Any]) -> pd.DataFrame:
    """Return 50,000 rows over a domain, the same in each call."""
    rng = np.random.default_rng(1)
    columns = {}
    for name, given in domain.items():
        if isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], str):
            persons = rng.integers(0, ROWS // 3, ROWS).astype(float)
            columns[name] = persons if name == "person" else rng.uniform(*given, ROWS).round(2)
        else:
            columns[name] = rng.choice(list(given), ROWS)
    return pd.DataFrame(columns)


def names_of(code: types.CodeType) -> set[str]:
    """Return the names in some code, and in all code within."""
    return set(code.co_names).union(*(names_of(each) for each in code.co_consts if isinstance(each, types.CodeType)))


class LateError(BaseException):
    """Too long; no function, and nothing that calls one, catches it."""


def alarm(seconds: float) -> None:
    """Call `late` after so many seconds of the CPU, whatever else the machine does; 0 for never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def late(*_: Any) -> None:
    """End what takes too long; again in a second, where a callback of Python's swallowed it."""
    alarm(1)
    raise LateError


def runs(case: Case, data: pd.DataFrame) -> str:
    """Return the CPU seconds of all runs by reading, or why there are none."""
    began = time.process_time()
    try:
        for number, start in enumerate(range(0, RUNS, BLOCK)):
            make(case.function, (data,), {}, min(BLOCK, RUNS - start), np.random.SeedSequence(number))
    except UnreadError as error:
        return f"run by run: {str(error)[:60]}"
    except LateError:
        alarm(0)
        return f"more than {SECONDS}"
    return f"{time.process_time() - began:.2f}"


def audited(case: Case, data: pd.DataFrame) -> tuple[str, str, float]:
    """Return a colour, a verdict in a few words, and CPU seconds."""
    began = time.process_time()
    code = getattr(case.function, "__code__", None)
    is_gaussian = code is not None and not GAUSSIAN.isdisjoint(names_of(code))
    claim = f"epsilon={case.claim}" + (", delta=1e-5" if is_gaussian else "")
    try:
        found = dp.audit(case.function, data=data, domain=case.domain, claim=claim, relation=case.relation, seed=1)
    except LateError:
        alarm(0)
        return "late", f"no answer in {SECONDS} s", time.process_time() - began
    except dp.UsageError as error:
        return "none", f"{type(error).__name__}: {str(error)[:60]}", time.process_time() - began
    colours = {"violated": "red", "proved": "green", "not violated": "green"}
    colour = colours.get(str(found.verdict), "amber" if against(found) or found.upper is not None else "grey")
    bounds = f"{found.lower.value:.3g} ≤ ε" + ("" if found.upper is None else f" ≤ {found.upper.value:.4g}")
    return colour, f"{found.verdict}, {bounds}", time.process_time() - began


def row(case: Case, data: pd.DataFrame, *, timed: bool) -> tuple[str, str, str, str, float, str]:
    """Return name, claim, colour, verdict, seconds of the audit, and those of runs."""
    alarm(SECONDS)
    made = runs(case, data) if timed else ""
    alarm(SECONDS)
    colour, said, took = audited(case, data)
    alarm(0)
    sys.stderr.write(f"{case.name}: {colour}, {said}, {took:.1f}, {made}\n")
    return case.name, f"{case.claim:.4g}", colour, said, round(took, 1), made


def main() -> None:
    """Measure, and write the tables."""
    chosen = options(__doc__, table="").table
    if chosen and chosen not in TABLES:
        raise SystemExit(f"no table is called {chosen}: {', '.join(TABLES)}")
    signal.signal(signal.SIGPROF, late)
    warnings.simplefilter("ignore")
    for table in (chosen,) if chosen else TABLES:
        measured(table)


def measured(table: str) -> None:
    """Measure one table, and write its page."""
    page, shown = Page(f"own/{table}.md", f"Audits of functions as they are: `{table}`", "own.py"), {}
    for right in (True, False) if table == "forty" else (True,):
        found = [row(case, frame(case.domain), timed=right) for case in cases(table) if case.is_right is right]
        colours = [each[2] for each in found]
        counted = ", ".join(f"{colours.count(each)} {each}" for each in dict.fromkeys(colours))
        proved = sum(each[3].startswith("proved,") for each in found)
        seconds, took = [float(each[5]) for each in found if each[5][:1].isdigit()], sorted(each[4] for each in found)
        title = "right" if right else "wrong"
        shown[title] = found
        page.say(
            f"- {len(found)} {title} functions: {counted} ({proved} PROVED); {len(seconds)} read in time, "
            f"{sum(each <= 5 for each in seconds)} of them within 5 s; audits take {took[len(took) // 2]:.1f} s in the "
            f"median, {sum(each <= 15 for each in took)} at most 15 s."
        )
    for title, found in shown.items():
        page.say("", f"## {title.capitalize()}", "")
        page.table(("function", "claim", "colour", "verdict", "audit, CPU s", "400,000 runs, CPU s"), found)
    page.save()


if __name__ == "__main__":
    main()
