"""Do the mechanisms of one library keep their claims? Run inside an environment that holds the library.

    python benchmarks/adapters/audits.py LIBRARY ROWS.json FOLDER [CASE]…

There are some hundred audits, so that each is made at the confidence 0.999. What comes out violated is looked at a
second time, with another seed and four times the runs, before it counts as found; its evidence goes into the folder.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import dpaudit as dp
from dpaudit.targets.mechanism import LIBRARIES

HERE = Path(__file__).parent
CONFIDENCE = 0.999
_SHORT = 30.0  # seconds; a longer first look is followed by one of no more runs


def cases_of(library: str) -> list[Any]:
    """Return the cases of a library."""
    sys.path.insert(0, str(HERE))  # for `case`
    spec = importlib.util.spec_from_file_location(f"cases_of_{library}", HERE / "cases" / f"{library}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.CASES)


def row_of(case: Any, folder: Path, library: str) -> dict[str, Any]:
    """Audit a case and return what came out, as a row."""
    clock = time.perf_counter()
    row = {"name": case.name, "note": case.note, "documented": case.documented, "grid": case.grid}
    try:
        mechanism = dp.load(case.make())
        asked = {
            "pairs": case.pairs,
            "relation": case.relation,
            "runs": case.runs,
            "confidence": CONFIDENCE,
            "seed": 0,
            **case.options,
        }
        evidence = dp.audit(mechanism, **asked)
        again = None
        if evidence.verdict is dp.Verdict.VIOLATED:
            more = case.runs * (4 if time.perf_counter() - clock < _SHORT else 1)
            again = dp.audit(mechanism, **{**asked, "seed": 1, "runs": more, "keep_data": True})
    except Exception as error:
        return {
            **row,
            "refused": f"{type(error).__name__}: {error!s:.300}",
            "seconds": round(time.perf_counter() - clock, 1),
        }
    if again is not None and again.verdict is dp.Verdict.VIOLATED:
        again.save(folder / f"{library}-{re.sub('[^A-Za-z0-9]+', '-', case.name)}.json")
    low_bits = evidence.floating_point
    return {
        **row,
        "version": evidence.target.source,
        "claim": evidence.claim,
        "relation": evidence.relation,
        "runs": evidence.runs,
        "lower": evidence.lower.value,
        "parameter": evidence.lower.parameter,
        "counts": _counts(evidence),
        "low bits": None if low_bits is None else low_bits.value,
        "verdict": str(evidence.verdict),
        "second": None if again is None else str(again.verdict),
        "second lower": None if again is None else again.lower.value,
        "pair": _pair(case, mechanism),
        "id": evidence.id,
        "seconds": round(time.perf_counter() - clock, 1),
    }


def _pair(case: Any, mechanism: Any) -> str:
    pairs = case.pairs or mechanism.pairs_for({})
    return " / ".join(_shown(data) for data in pairs[0])


def _shown(data: Any) -> str:
    if hasattr(data, "to_csv"):
        data = data.to_dict("records")
    text = " ".join(repr(data.tolist() if hasattr(data, "tolist") else data).split())
    return text if len(text) <= 48 else f"{text[:24]} … {text[-20:]}"


def _counts(evidence: Any) -> str:
    counts = evidence.lower.counts
    if counts is None:
        return ""
    (n0, n1), (p0, p1), (q0, q1) = counts.runs, counts.toward0, counts.toward1
    said = [f"{p0}/{n0} against {p1}/{n1}"] if p0 + p1 else []
    return "; ".join([*said, *([f"{q1}/{n1} against {q0}/{n0}"] if q0 + q1 else [])])


def main(library: str, rows: str, folder: str, *names: str) -> None:
    """Audit the cases of a library and write the rows."""
    warnings.simplefilter("ignore")
    LIBRARIES[library].release()
    found = []
    for case in cases_of(library):
        if names and case.name not in names:
            continue
        found.append(row_of(case, Path(folder), library))
        last = found[-1]
        print(
            f"{library:12s} {case.name:44s} {last.get('verdict', 'refused'):14s} "
            f"{last.get('lower', float('nan')):8.4f} of "
            f"{last.get('claim', last.get('refused', ''))!s:.90} second: {last.get('second')} {last['seconds']} s "
            f"fp {last.get('low bits')} {last.get('counts', '')}",
            flush=True,
        )
    Path(rows).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
