"""Do the constructors of installed libraries of differential privacy keep their word today, and what changed?

    python benchmarks/court/run.py [LIBRARY]… [--seconds 2] [--venvs FOLDER [--reuse]]

Every library has an environment of its own and a file under libraries/ (`seat.py`), which goes through its registry.
A mechanism is audited at its own claim, by fresh seeds; an accountant is held against a certified interval. All
audits of a night together call a library that keeps its claims red in at most one night of 1,000: each of at most
`SEATS` has an equal share (Bonferroni). The answers are kept in results.json, changed.md says what is new, and the
exit code is 1 where a red answer is new. What was not run is said with its reason, and is never a pass.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib.util
import json
import math
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "museum")]

from released import environment  # noqa: E402
from seat import Accounted, Audited, Left, Seat  # noqa: E402

HERE = Path(__file__).resolve().parent
ROWS = HERE / "results.json"
NIGHT, SEATS = 1e-3, 1_000  # chance of any false red in a night, and among how many it is shared
MOST = 200_000  # runs of an audit
ROUNDED = 1e-6  # what an accountant may lose by rounding
LIMIT = 10.0  # seconds of the processor, for one answer
KEPT, RED, NONE, NOT_RUN = "kept", "red", "no answer", "not run"
PINS = {
    "opendp": ["opendp==0.16.0"],
    "diffprivlib": ["diffprivlib==0.6.6", "scikit-learn==1.6.1"],
    "pydp": ["python-dp==1.1.5"],
    "pure_ldp": ["pure-ldp==1.1.2", "xxhash==3.6.0", "scikit-learn==1.6.1"],
    "pipeline_dp": ["pipeline-dp==0.3.1", "python-dp==1.1.5"],
    "dp_accounting": ["dp-accounting==0.6.0"],
    "jax_privacy": ["jax-privacy==2.0.0"],
    "snsql": ["smartnoise-sql==1.0.10", "opendp==0.14.2", "SQLAlchemy==2.1.9", "pandas==2.3.3"],
    "opacus": ["opacus==1.6.0", "torch==2.13.0"],
}

PROOF = ["python-flint>=0.8"]  # accounts need it
ABSENT = {  # what was looked for, and is not judged
    "mbi==2.0.0": "it exports no mechanism and no accountant: noise is added by its users",
    "tmlt.core==0.20.0": "it asks for NumPy 1 on Python 3.11, and dpaudit for NumPy 2; benchmarks/adapters audits it",
}


def seats(library: str) -> Iterator[Seat]:
    """What a library's registry holds."""
    path = HERE / "libraries" / f"{library}.py"
    spec = importlib.util.spec_from_file_location(f"court_{library}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield from module.found()


def audited(seat: Audited, seconds: float) -> dict[str, Any]:
    """Whether a mechanism keeps its own claim."""
    import dpaudit as dp

    mechanism, asked = dp.load(seat.make()), {"pairs": list(seat.pairs), "floating_point": "ignore", **seat.options}
    cost = 0.0
    for rehearsed in (200, 2_000):  # thrown away: they only say how many runs there is time for
        before = time.process_time()
        dp.audit(mechanism, runs=rehearsed, **asked)
        cost = (time.process_time() - before) / rehearsed
        if cost * rehearsed > seconds / 8:
            break
    runs = int(min(max(seconds / cost, 200), MOST))
    evidence = dp.audit(mechanism, runs=runs, confidence=0.999, false_alarm=NIGHT / SEATS, **asked)
    words = {"violated": RED, "not violated": KEPT, "proved": KEPT}
    return {
        "word": words.get(evidence.verdict.value, NONE),
        "claim": str(evidence.claim),
        "shown": f"{evidence.lower.parameter} ≥ {evidence.lower.value:.4g}" if evidence.lower else "",
        "why": "" if evidence.verdict.value in words else str(evidence.reason)[:300],
    }


def accounted(seat: Accounted) -> dict[str, Any]:
    """Whether an accountant's ε is at least what the releases certainly lose."""
    import dpaudit as dp

    said, releases = float(seat.said()), seat.releases()
    key = str(releases), seat.delta
    if key not in _CERTIFIED:
        _CERTIFIED[key] = dp.account(releases, delta=seat.delta, alone=True).accounting.statements[0]
    return held_against(said, _CERTIFIED[key].low, _CERTIFIED[key].high, seat.delta)


_CERTIFIED: dict[tuple[str, float], Any] = {}


def held_against(said: float, low: float, high: float, delta: float) -> dict[str, Any]:
    """A row: an upper bound that lies below what is certainly lost is red; NaN is no answer."""
    word = RED if said < low * (1 - ROUNDED) else KEPT if said >= low * (1 - ROUNDED) else NONE
    loose = f", {said / high:.3g} times what is certified" if word == KEPT and said > 1.02 * high else ""
    return {
        "word": word,
        "claim": f"ε = {said:.5g}, δ = {delta:g}",
        "shown": f"{low:.5g} ≤ ε ≤ {high:.5g}{loose}",
        "why": "" if word != NONE else f"the accountant says {said}",
    }


def judged(seat: Seat, seconds: float) -> dict[str, Any]:
    """The row of a seat, within `LIMIT`."""

    def late(*_: Any) -> None:
        raise KeyboardInterrupt  # nothing takes it for an answer of the library

    row: dict[str, Any] = {"name": seat.name, "claim": "", "shown": "", "why": ""}
    before = time.process_time()
    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with warnings.catch_warnings(action="ignore"):
            if isinstance(seat, Left):
                row |= {"word": NOT_RUN, "why": seat.why}
            else:
                row |= accounted(seat) if isinstance(seat, Accounted) else audited(seat, seconds)
    except KeyboardInterrupt:
        row |= {"word": NOT_RUN, "why": f"no answer within {LIMIT:.0f} s of the processor"}
    except Exception as error:
        row |= {"word": NOT_RUN, "why": re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:300]}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return row | {"seconds": round(time.process_time() - before, 1)}


def within(library: str, out: Path, seconds: float) -> None:
    """Judge a library in its environment; every answer is written as it comes."""
    with out.open("a", encoding="utf-8") as kept:
        for seat in seats(library):
            kept.write(json.dumps(judged(seat, seconds), ensure_ascii=False) + "\n")
            kept.flush()


def rows_of(library: str, folder: Path, reuse: bool, seconds: float) -> list[dict[str, Any]]:
    """The rows of a library, judged in a process of its own; what ended it before its end is a row too."""
    out, why = folder / f"{library}.jsonl", ""
    out.write_text("", encoding="utf-8")
    try:
        python = environment(library, [*PINS[library], *PROOF], folder, reuse)
        command = [str(python), __file__, library, "--seconds", str(seconds), "--within", str(out)]
        subprocess.run(command, check=True, timeout=2 * SEATS, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or b"").decode(errors="replace").strip().splitlines()[-1:]
        why = f"{Path(error.cmd[1]).name} ended with {error.returncode}: {' '.join(last)}"[:300]
    except (OSError, subprocess.TimeoutExpired) as error:
        why = f"{type(error).__name__}: {error}"[:300]
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    repeated = [name for name, count in collections.Counter(row["name"] for row in rows).items() if count > 1]
    if why or not rows or repeated:
        why = why or (f"two seats are called {repeated[0]}" if repeated else "its registry is empty")
        rows.append({"name": "(the rest)", "word": NOT_RUN, "claim": "", "shown": "", "why": why, "seconds": 0.0})
    return [{"library": PINS[library][0], **row} for row in rows]


def changed(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> str:
    """The page of a night: what is red, what changed since the last one, and what was not run."""

    def place(row: dict[str, Any]) -> tuple[str, str]:
        return row["library"].partition("==")[0], row["name"]

    before, now = ({place(row): row for row in rows} for rows in (old, new))
    red = [row for row in new if row["word"] == RED]
    lines = ["# The court: what changed", "", "Made by `python benchmarks/court/run.py`.", "", summed(new), ""]
    lines += ["## Changed since the night before", "", "| library | constructor | before | now | what is shown |", "|---|---|---|---|---|"]  # fmt: skip  # noqa: E501
    for key in sorted(before.keys() | now.keys()):
        was, row = before.get(key), now.get(key)
        if was is None or row is None or any(was[what] != row[what] for what in ("word", "claim", "library")):
            held = row or was or {}
            said = [f"{each['word']} {each['claim']}".strip() if each else "—" for each in (was, row)]
            lines.append(_line(held["library"], held["name"], *said, held["shown"] or held["why"]))
    lines += ["", "## Red", "", "| library | constructor | says | is shown | new |", "|---|---|---|---|---|"]
    lines += [_line(row["library"], row["name"], row["claim"], row["shown"], "" if _was_red(before.get(place(row))) else "new")  # noqa: E501
              for row in red]  # fmt: skip
    lines += ["", "## Not run, or without an answer", "", "| library | constructor | why |", "|---|---|---|"]
    lines += [_line(row["library"], row["name"], f"{row['word']}: {row['why']}")
              for row in new if row["word"] in (NONE, NOT_RUN)]  # fmt: skip
    lines += ["", "## By library", "", "| library | kept | red | no answer | not run | seconds |", "|---|---|---|---|---|---|"]  # fmt: skip  # noqa: E501
    for library in dict.fromkeys(row["library"] for row in new):
        its = [row for row in new if row["library"] == library]
        counts = collections.Counter(row["word"] for row in its)
        numbers = [str(counts[word]) for word in (KEPT, RED, NONE, NOT_RUN)]
        lines.append(_line(library, *numbers, f"{math.fsum(row['seconds'] for row in its):.0f}"))
    return "\n".join(lines) + "\n"


def new_reds(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[str]:
    """The red answers that were not red before."""
    known = {(row["library"].partition("==")[0], row["name"]) for row in old if _was_red(row)}
    return [f"{row['library']} {row['name']}: says {row['claim']}, and {row['shown']}"
            for row in new if row["word"] == RED and (row["library"].partition("==")[0], row["name"]) not in known]  # fmt: skip  # noqa: E501


def summed(rows: list[dict[str, Any]]) -> str:
    """The night in a sentence."""
    words = collections.Counter(row["word"] for row in rows)
    looked = words[KEPT] + words[RED]
    return (
        f"{looked} constructors and accounts of {len({row['library'] for row in rows if row['word'] != NOT_RUN})} libraries were judged: "  # noqa: E501
        f"{words[RED]} are red, {words[KEPT]} showed nothing against their word, which is no proof of it; {words[NONE]} "  # noqa: E501
        f"have no answer, and {words[NOT_RUN]} were not run. Where every word is kept, a night has a false red with a "
        f"probability of at most {NIGHT:g}."
    )


def _was_red(row: dict[str, Any] | None) -> bool:
    return row is not None and row["word"] == RED


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "¦").replace("\n", " ") for cell in cells) + " |"


def main() -> int:
    """Judge what is asked for, and say what changed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("libraries", nargs="*", help="these libraries alone; the answers about others stay as they are")
    parser.add_argument(
        "--seconds",
        type=float,
        default=2.0,
        help="of the processor for each audit, about; a second look takes as long again",
    )
    parser.add_argument("--venvs", type=Path, help="where environments are made, and left; else in a folder that goes")
    parser.add_argument("--reuse", action="store_true", help="use the environments of --venvs as they are")
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if unknown := set(asked.libraries) - PINS.keys():
        parser.error(f"no library is called {' or '.join(sorted(unknown))}; there are {', '.join(PINS)}")
    if not 0 < asked.seconds < LIMIT:
        parser.error(f"--seconds is {asked.seconds:g}; give more than 0 and less than {LIMIT:g}")
    if asked.within:
        within(asked.libraries[0], asked.within, asked.seconds)
        return 0
    old = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
    chosen = asked.libraries or list(PINS)
    new = []
    with contextlib.ExitStack() as stack:
        folder = asked.venvs or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        for library in PINS:
            package = PINS[library][0].partition("==")[0]
            held = [row for row in old if row["library"].partition("==")[0] == package]
            new += rows_of(library, folder, asked.reuse, asked.seconds) if library in chosen else held
    new += [{"library": library, "name": "(all)", "word": NOT_RUN, "claim": "", "shown": "", "why": why, "seconds": 0.0}
            for library, why in ABSENT.items()]  # fmt: skip
    if len(new) > SEATS:
        sys.exit(f"{len(new)} seats share what is meant for {SEATS}: raise SEATS in {__file__}")
    ROWS.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "changed.md").write_text(changed(old, new), encoding="utf-8")
    faults = new_reds(old, new)
    print(summed(new), *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
