"""Do the constructors of installed libraries of differential privacy keep their word today, and what changed?

    python benchmarks/court/run.py [LIBRARY]… [--seconds 2] [--venvs FOLDER [--reuse]]

Every library has an environment of its own and a file under libraries/ (`seat.py`), which goes through its registry.
A mechanism is audited at its own claim, by fresh seeds; an accountant is held against a certified interval. What was
not run is said with its reason, and is never a pass: a seat that ends its process has no answer, and the rest is asked
in a new one.

Where every claim is true, a night has a false red answer with a probability of at most `NIGHT`. Each seat is audited
once, at a false alarm of `NIGHT` / `SEATS`; there are at most `SEATS` of them, which is checked, and the sum of their
chances bounds that of any (Bonferroni). A red answer is asked once more by fresh seeds, and is red only where both say
so, which can take a red answer away and cannot add one. Certified intervals are no matter of chance.

The answers are kept in results.json, changed.md says what is new (`night.py`), and the exit code is 1 where a red
answer is new.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import faulthandler
import importlib.util
import itertools
import json
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

sys.path.append(str(Path(__file__).resolve().parents[1]))

from frame import ROOT, environment
from night import (
    ALL,
    KEPT,
    NONE,
    NOT_ASKED,
    NOT_RUN,
    RED,
    REST,
    changed,
    new_reds,
    package,
    repeated,
    since,
    summed,
)  # fmt: skip
from seat import Accounted, Audited, Left, Seat

HERE = Path(__file__).resolve().parent
ROWS = HERE / "results.json"
NIGHT, SEATS = 1e-3, 1_000  # chance of any false red in a night, and among how many it is shared
MOST = 200_000  # runs of an audit
ROUNDED = 1e7 * 2.0**-53  # relative error of a sum of up to 10^7 probabilities in doubles, as accountants add them up
LIMIT = 10.0  # seconds of the processor, for one answer
HANGS = 60  # times as long on the clock, as on a busy machine, after which a process that does not come back is ended
PINS = {
    "opendp": ["opendp==0.16.0"],
    "diffprivlib": ["diffprivlib==0.6.6", "scikit-learn==1.6.1"],
    "pydp": ["python-dp==1.1.5"],
    "pure_ldp": ["pure-ldp==1.1.2", "xxhash==3.6.0", "scikit-learn==1.6.1", "statsmodels==0.14.6"],
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
BEGUN = "its process ended before it answered"


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
    for rehearsed in (
        100 * len(seat.pairs),
        2_000,
        20_000,
    ):  # thrown away: they only say how many runs there is time for
        before = time.process_time()
        dp.audit(mechanism, runs=rehearsed, **asked)
        cost = (time.process_time() - before) / rehearsed
        if cost * rehearsed > seconds / 8:
            break
    runs = int(min(max(seconds / cost, 100 * len(seat.pairs)), MOST))
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
    """A row: an upper bound that lies below what is certainly lost, by more than it is rounded, is red.

    An ε whose sums are rounded is off by as much, relatively, at most: where δ falls with ε as that of a Gaussian does,
    a relative error of δ moves ε by less. NaN is no answer.
    """
    least = low * (1 - ROUNDED)
    word = RED if said < least else KEPT if said >= least else NONE
    beside = ""
    if word == KEPT:
        beside = f", {said / high:.3g} times what is certified" if said > 1.02 * high else ""
        beside = f", {1 - said / low:.1e} of it below by rounding" if said < low else beside
    elif word == RED and said > 0.999 * low:
        beside = f", {1 - said / low:.1e} of it below"
    return {
        "word": word,
        "claim": f"ε = {said:.5g}, δ = {delta:g}",
        "shown": f"{low:.5g} ≤ ε ≤ {high:.5g}{beside}",
        "why": "" if word != NONE else f"the accountant says {said}",
    }


def judged(seat: Seat, seconds: float) -> dict[str, Any]:
    """The row of a seat; each look within `LIMIT`."""
    row = _looked(seat, seconds)
    if row["word"] == RED and isinstance(seat, Audited):
        again = _looked(seat, seconds)
        row["seconds"] = round(row["seconds"] + again["seconds"], 1)
        if again["word"] != RED:
            why = (
                f"red at first ({row['shown']}), and {again['word']} by fresh seeds ({again['shown'] or again['why']})"
            )
            row |= {"word": NONE, "why": why}
    return row


def _looked(seat: Seat, seconds: float) -> dict[str, Any]:
    """One look at a seat, within `LIMIT`."""

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
    """Judge a library in its environment, from the first seat on that was not begun.

    Every seat writes a line when it begins and one with its answer, so that what ends the process is known.
    """
    done = len(written(out))
    with out.open("a", encoding="utf-8") as kept:
        for place, seat in enumerate(itertools.islice(seats(library), done, None), start=done):
            begun = {"name": seat.name, "word": NOT_RUN, "claim": "", "shown": "", "why": BEGUN, "seconds": 0.0}
            _write(kept, place, begun)
            faulthandler.dump_traceback_later(HANGS * LIMIT, exit=True)  # where no signal is heard
            row = judged(seat, seconds)
            faulthandler.cancel_dump_traceback_later()
            _write(kept, place, row)


def _write(kept: Any, place: int, row: dict[str, Any]) -> None:
    kept.write(json.dumps({"place": place, **row}, ensure_ascii=False) + "\n")
    kept.flush()


def written(out: Path) -> list[dict[str, Any]]:
    """The rows of all seats that were begun, in their order."""
    last = {}
    for line in out.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        last[row.pop("place")] = row
    return list(last.values())


def rows_of(library: str, folder: Path, reuse: bool, seconds: float) -> list[dict[str, Any]]:
    """The rows of a library, judged in processes of its own; what ended one of them is said in a row."""
    out, why = folder / f"{library}.jsonl", ""
    out.write_text("", encoding="utf-8")
    rows: list[dict[str, Any]] = []
    try:
        python = environment(library, [*PINS[library], *PROOF], folder, reuse)
        command = [str(python), __file__, library, "--seconds", str(seconds), "--within", str(out)]
        while True:
            done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            begun, rows = len(rows), written(out)
            if done.returncode == 0:
                break
            why = ended(done.returncode, done.stderr.decode(errors="replace"))
            if len(rows) == begun or rows[-1]["why"] != BEGUN:
                break  # no seat ended it: another process would end there too
            rows[-1]["why"], why = f"{BEGUN}: {why}", ""
            with out.open("a", encoding="utf-8") as kept:
                _write(kept, len(rows) - 1, rows[-1])
    except subprocess.CalledProcessError as error:
        why = f"its environment cannot be made: {' '.join(map(str, error.cmd[1:4]))} ended with {error.returncode}"
    except OSError as error:
        why = f"its environment cannot be made: {error}"[:300]
    if not why and (not rows or repeated(rows)):
        why = f"two seats are called {repeated(rows)[0]}" if rows else "its registry is empty"
    if why:
        rows.append({"name": REST, "word": NOT_RUN, "claim": "", "shown": "", "why": why, "seconds": 0.0})
    return [{"library": PINS[library][0], **row} for row in rows]


def ended(code: int, said: str) -> str:
    """How a process ended."""
    if said.startswith("Timeout"):
        return f"it did not come back within {HANGS * LIMIT:.0f} s"
    name = next((each.name for each in signal.Signals if each == -code), f"exit code {code}")
    return f"{name} {(said.strip().splitlines() or [''])[-1]}".strip()[:300]


def commit() -> str:
    """The commit that judges, and whether files were changed since."""
    try:
        git = ["git", "-C", str(ROOT)]
        head = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], check=True, capture_output=True, text=True)
        edited = subprocess.run(
            [*git, "diff", "--quiet", "HEAD", "--", "dpaudit", "benchmarks/court/*.py"], check=False
        )
    except (OSError, subprocess.CalledProcessError):
        return "an unknown commit"
    return head.stdout.strip() + ", edited" * (edited.returncode != 0)


def main() -> int:
    """Judge what is asked for, and say what changed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("libraries", nargs="*", help="these libraries alone; the answers about others stay as they are")
    parser.add_argument(
        "--seconds",
        type=float,
        default=2.0,
        help="of the processor for each audit, about; one that finds something takes more",
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
    chosen = asked.libraries or list(PINS)
    old = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
    made = {"night": datetime.date.today().isoformat(), "commit": commit()}
    rows = []
    with contextlib.ExitStack() as stack:
        folder = asked.venvs or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        for library in chosen:
            rows += [row | made for row in rows_of(library, folder, asked.reuse, asked.seconds)]
            print(summed([row for row in rows if row["library"] == PINS[library][0]], NIGHT), flush=True)
    known = {package(row) for row in old}
    unasked = {pins[0]: NOT_ASKED for name, pins in PINS.items() if name not in chosen}
    absent = ABSENT | {library: why for library, why in unasked.items() if library.partition("==")[0] not in known}
    rows += [{"library": library, "name": ALL, "word": NOT_RUN, "claim": "", "shown": "", "why": why, "seconds": 0.0}
             | made for library, why in absent.items()]  # fmt: skip
    if len(rows) > SEATS:
        sys.exit(f"{len(rows)} seats share what is meant for {SEATS}: raise SEATS in {__file__}")
    new = since(old, rows)
    ROWS.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "changed.md").write_text(changed(old, new, NIGHT), encoding="utf-8")
    faults = new_reds(old, new)
    print(summed(new, NIGHT), *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
