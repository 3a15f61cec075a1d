"""Which reported mistakes does dpaudit find, with the command that its README would choose?

    python benchmarks/museum/run.py [NAME or KIND]… [--workers 2] [--told]

Every side of every case (`case.py`) is given to the command line as a user would, with a fixed seed. The rows are kept
in results.json; results.md and a page of the site are drawn from it. Named cases alone are measured again among them.
The exit code is 1 where a right function is accused or a wrong one is proved, a bound lies above the known loss, or
less is found than `FOUND` and `NAMED`.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import io
import json
import multiprocessing
import os
import re
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case import KINDS, Case, cases
from page import table

HERE = Path(__file__).resolve().parent
ROWS = HERE / "results.json"
LIMIT = 120.0  # seconds of the processor, for one answer
FOUND, NAMED = 0.95, 0.85
KEPT = {"not violated", "proved"}


def answered(command: str, folder: Path) -> tuple[dict[str, Any] | None, str, float]:
    """Give a command to the command line; return evidence, what was told, and seconds of the processor."""
    from dpaudit.cli.main import cli

    words, out = shlex.split(command), folder / "evidence.json"
    out.unlink(missing_ok=True)
    told = io.StringIO()

    def late(*_: Any) -> None:
        raise KeyboardInterrupt

    before, where = time.process_time(), Path.cwd()
    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        os.chdir(folder)
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told), contextlib.suppress(SystemExit):
            cli.main([*words, "--json", str(out)])
    except KeyboardInterrupt:
        told.write(f" no answer within {LIMIT:.0f} s of the processor")
    except Exception as error:  # no answer, and never a pass
        told.write(f" {type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.chdir(where)
    evidence = json.loads(out.read_text(encoding="utf-8")) if out.exists() else None
    return evidence, " ".join(told.getvalue().split()), time.process_time() - before


def sources_named(told: str, case: Case) -> str:
    """The lines of the case that an answer names by their number."""
    source = case.path.read_text(encoding="utf-8").splitlines()
    numbers = sorted({int(number) for number in re.findall(rf"{case.name}\.py:(\d+)", told)})
    return "\n".join(source[number - 1].strip() for number in numbers if 0 < number <= len(source))


def word(side: str, verdict: str) -> str:
    """What is said of an answer."""
    if side == "wrong":
        return {"violated": "right", "proved": "falsely proved", "not violated": "missed"}.get(verdict, "no answer")
    return "right" if verdict in KEPT else "accused" if verdict == "violated" else "no answer"


def examined(case: Case, side: str) -> dict[str, Any]:
    """One row: what is answered about a side of a case."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, held in case.files.items():
            if held is not None:
                text = held if isinstance(held, str) else json.dumps(held)
                (folder / name).write_text(text, encoding="utf-8")
        command = case.command.format(shlex.quote(case.sides[side]) if ":" in case.sides[side] else case.sides[side])
        seed = "" if command.startswith("account") else " --seed 0 --in-process"
        evidence, told, seconds = answered(command + seed, folder)
    held = evidence["evidence"] if evidence else {}
    trace = held.get("trace") or {}
    read = " ".join([told, *(f"{finding['text']}, at {finding['where']}" for finding in trace.get("findings", ()))])
    verdict = held.get("verdict", "none")
    lower, upper = (float(held[end]["value"]) if held.get(end) else None for end in ("lower", "upper"))
    lines = sources_named(read, case)
    sentence = re.search(r"\b(VIOLATED|NOT VIOLATED|PROVED|INCONCLUSIVE|INVALID|dpaudit):.*", told)
    certain = bool(held) and (held.get("lower") or {}).get("kind") in ("exact", "certified")
    true = case.loss.get(side)
    return {
        "kind": case.kind,
        "name": case.name,
        "side": side,
        "word": word(side, verdict),
        "verdict": verdict,
        "lower": lower,
        "upper": upper,
        "certain": certain,
        "above": true is not None and lower is not None and lower > true * (1 + 1e-6) + 1e-9,
        "seconds": round(seconds, 1),
        "named": verdict == "violated" and _is_named(case, f"{read}\n{lines}") if side == "wrong" else None,
        "lines": lines,
        "event": seen[1].strip() if (seen := re.search(r" event (for side .*?%\))", told)) else "",
        "pair": trace.get("change") or trace.get("found") or "",
        "told": (sentence[0].partition(" target ")[0] if sentence else told)[:600],
        "id": evidence["id"] if evidence else None,
    }


def _is_named(case: Case, read: str) -> bool:
    return all(re.search(pattern, read) for pattern in case.named)


def measured(chosen: list[Case], workers: int, told: bool) -> Iterator[dict[str, Any]]:
    """Examine all sides of the cases, and say each as it comes."""
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        asked = {pool.submit(examined, case, side): (case, side) for case in chosen for side in case.sides}
        for done in concurrent.futures.as_completed(asked):
            row = done.result()
            cause = "" if row["side"] != "wrong" else "named" if row["named"] else "not named"
            flags = " ABOVE THE TRUTH" * row["above"]
            print(
                f"{row['word']:>14}  {row['kind']}/{row['name']}:{row['side']}  {row['verdict']}  "
                f"[{row['lower']}, {row['upper']}]  {row['seconds']} s  {cause}{flags}",
                flush=True,
            )
            if told:
                print(f"    {row['told']}\n    {row['lines']}", flush=True)
            yield row


def judged(rows: list[dict[str, Any]]) -> list[str]:
    """What is not as it must be."""
    wrong = [row for row in rows if row["side"] == "wrong"]
    right = [row for row in rows if row["word"] == "right"]
    faults = [f"{row['kind']}/{row['name']}:{row['side']} is {row['word']}" for row in rows
              if row["word"] in ("accused", "falsely proved")]  # fmt: skip
    faults += [f"{row['name']}:{row['side']}: a certain bound lies above the known loss" for row in rows
               if row["above"] and row["certain"]]  # fmt: skip
    if len(right) < FOUND * len(rows):
        faults.append(f"{len(right)} of {len(rows)} answers are right, less than {FOUND:.0%}")
    if wrong and sum(bool(row["named"]) for row in wrong) < NAMED * len(wrong):
        faults.append(f"less than {NAMED:.0%} of causes are named")
    return faults


def main() -> int:
    """Measure what is asked for, and draw what there is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="these cases or kinds alone")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--told", action="store_true", help="print what the user would read")
    parser.add_argument("--draw", action="store_true", help="draw the tables from the rows there are, and run nothing")
    asked = parser.parse_args()
    every = list(cases())
    chosen = list(cases(*asked.names))
    old = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
    if asked.names and not chosen:
        parser.error(f"no case and no kind is called {' or '.join(asked.names)}; the kinds are {', '.join(KINDS)}")
    began = time.perf_counter()
    new: list[dict[str, Any]] = []
    try:
        new.extend(() if asked.draw else measured(chosen, asked.workers, asked.told))
    finally:  # what was measured before an interruption is kept
        rows = kept(every, old, new)
    faults = judged(rows)
    seconds, took = sum(row["seconds"] for row in rows), time.perf_counter() - began
    print(f"{sum(row['word'] == 'right' for row in rows)} of {len(rows)} answers are right; {seconds:.0f} s of the "
          f"processor in all, {took:.0f} s now", *faults, sep="\n")  # fmt: skip
    return 1 if faults else 0


def kept(every: list[Case], old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the rows, the new ones among the old ones, and draw them."""
    known = {(row["kind"], row["name"], row["side"]): row for row in [*old, *new]}
    rows = [known[case.kind, case.name, side] for case in every for side in case.sides
            if (case.kind, case.name, side) in known]  # fmt: skip
    ROWS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "results.md").write_text(table(every, rows), encoding="utf-8")
    return rows


if __name__ == "__main__":
    sys.exit(main())
