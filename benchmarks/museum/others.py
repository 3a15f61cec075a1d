"""What do other auditors say of the cases of the museum?

    python benchmarks/museum/others.py [AUDITOR]… [--venvs FOLDER [--reuse]]

JAX Privacy, PrivacyGuard and PyStatDP run as released, each in an environment of its own; of StatDP and DP-Sniper the
idea alone is written here, in a few lines, as well. None of them looks for neighbours or reads source: each is handed
runs of the function on the pair of the case, or on its data and its data without the last record. A claim of μ or of ρ
is asked about at the (ε, δ) that it implies. Numbers that are NaN have a column of their own, which is kinder than a
user would be. The rows are kept in others.json, and `run.py --draw` draws the table.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from case import Case, cases
from frame import environment

HERE = Path(__file__).resolve().parent
ROWS = HERE / "others.json"
RUNS, LIMIT, ERROR = 2_000, 6.0, 0.05  # of each side; seconds of the processor for a function; of a bound
IMPLIED = 0.01  # δ at which a claim of μ or of ρ is asked about
PINS = {
    "jax_privacy": ["jax-privacy==2.0.0"],
    "privacy_guard": ["privacyguard-platform==0.0.2", "torch==2.13.0"],
    "pystatdp": ["pystatdp==0.1.3.1"],
}
NOT_RUN = {
    "DP-Auditorium": "not tried; no package of this name was found, and its source was not looked at",
    "DP-Sniper": "not tried; no package of this name was found; its idea is above",
    "Re:cord-play": "not tried; its idea, replaying the noise of a run, is what `dpaudit trace` does",
}


def pair_of(case: Case) -> tuple[Any, Any]:
    """The neighbours that an analyst would write down."""
    if case.files["pair.json"] is not None:
        held = case.files["pair.json"]
        first, second = held[0] if len(held) == 1 else held
        return first, second
    import io

    import pandas as pd

    if not case.files["people.csv"]:
        raise ValueError("no data and no pair")
    frame = pd.read_csv(io.StringIO(case.files["people.csv"]))
    if "--relation replace" not in case.command:
        return frame, frame.iloc[:-1]
    return frame, pd.concat([frame.iloc[:-1], frame.iloc[:1]], ignore_index=True)


def claimed(case: Case) -> tuple[float, float]:
    """ε and δ of the claim, or what a claim of μ or of ρ implies at `IMPLIED`."""
    import shlex

    words = shlex.split(case.command)
    parts = dict(part.strip().split("=") for part in words[words.index("--claim") + 1].split(","))
    if "epsilon" in parts:
        return float(parts["epsilon"]), float(parts.get("delta", 0))
    if "mu" in parts:
        return of_gaussian(float(parts["mu"]), IMPLIED), IMPLIED
    if "rho" in parts:  # Bun & Steinke 2016, Proposition 1.3
        rho = float(parts["rho"])
        return rho + 2 * math.sqrt(rho * math.log(1 / IMPLIED)), IMPLIED
    raise ValueError(f"a claim about {', '.join(parts)}, which is asked of nobody")


def of_gaussian(mu: float, delta: float) -> float:
    """The ε of μ-GDP at a δ (Balle & Wang 2018, Theorem 5)."""
    from scipy import optimize, special

    def excess(epsilon: float) -> float:
        beyond = math.exp(epsilon + special.log_ndtr(-epsilon / mu - mu / 2))
        return float(special.ndtr(-epsilon / mu + mu / 2) - beyond - delta)

    return float(optimize.brentq(excess, 0, 50 * mu + mu**2)) if excess(0) > 0 else 0.0


def drawn(function: Callable[[Any], Any], data: Any) -> Any:
    """Outputs of a function as an array, a row each: numbers, and where they are NaN."""
    import copy

    import numpy as np

    outputs = []
    for _ in range(RUNS):
        told = function(copy.deepcopy(data))
        outputs.append(np.atleast_1d(np.asarray(told, dtype=float)).ravel())
    array = np.array(outputs)  # of one shape, or refused
    return np.hstack([np.nan_to_num(array, nan=0, posinf=1e300, neginf=-1e300), np.isnan(array)])


def discriminant(first: Any, second: Any) -> Callable[[Any], Any]:
    """A score that is high on the first side: a logistic regression on numbers and their squares."""
    import numpy as np
    from scipy import optimize, special

    both = np.vstack([first, second])
    middle, spread = np.median(both, axis=0), np.std(np.clip(both, -1e9, 1e9), axis=0) + 1e-12

    def features(rows: Any) -> Any:
        z = np.clip((rows - middle) / spread, -20, 20)
        return np.hstack([np.ones((len(z), 1)), z, z**2])

    x, sign = features(both), np.repeat([1.0, -1.0], [len(first), len(second)])

    def loss(w: Any) -> tuple[float, Any]:
        margin = sign * (x @ w)
        slope = -(sign * special.expit(-margin)) @ x / len(x)
        return float(-special.log_expit(margin).mean() + 1e-4 * w @ w), slope + 2e-4 * w

    weights = optimize.minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
    return lambda rows: features(rows) @ weights


def bound(hits: int, others: int, runs: int, delta: float, error: float) -> float:
    """A lower bound of ε from an event, by two Clopper–Pearson limits."""
    from scipy import stats

    low = stats.beta.ppf(error / 2, hits, runs - hits + 1) if hits else 0.0
    high = stats.beta.ppf(1 - error / 2, others + 1, runs - others) if others < runs else 1.0
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


_LEARNT = ((0, 1, 1), (1, 0, -1))  # the side that hits, the other one, and the sign of its score
_ALL = (*_LEARNT, (0, 1, -1), (1, 0, 1))


def of_events(
    score: Callable[[Any], Any], ways: Any, shares: list[float], learn: Any, measure: Any, delta: float
) -> float:
    """The bound of the best event "the score is at least t", of all ways; t is chosen on other runs."""
    import numpy as np

    best = 0.0
    for one, other, turned in ways:
        told = [turned * score(each) for each in (*learn, *measure)]
        n = len(told[0])
        cuts = np.quantile(told[one], [1 - share for share in shares])
        gains = [bound(int((told[one] >= t).sum()), int((told[other] >= t).sum()), n, delta, ERROR) for t in cuts]
        t = cuts[int(np.argmax(gains))]
        hits, others = (int((told[2 + side] >= t).sum()) for side in (one, other))
        best = max(best, bound(hits, others, len(told[2]), delta, ERROR / len(ways)))
    return best


def halves(function: Callable[[Any], Any], pair: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Runs of both sides to learn from, and as many to measure."""
    sides = [drawn(function, data) for data in pair]
    if sides[0].shape[1] != sides[1].shape[1]:
        raise ValueError("outputs of several shapes")
    half = RUNS // 2
    return [side[:half] for side in sides], [side[half:] for side in sides]


def jax_privacy(function: Callable[[Any], Any], pair: tuple[Any, Any], claim: float, delta: float) -> dict[str, float]:
    """JAX Privacy on scores of a logistic regression, and two ideas on the same runs."""
    import jax_privacy.auditing as jax_auditing
    import numpy as np

    learn, measure = halves(function, pair)
    learnt, first = discriminant(*learn), lambda rows: rows[:, 0]
    scores = [learnt(side) for side in measure]
    shares = [float(share) for share in np.linspace(0.01, 0.99, 50)]
    return {
        "JAX Privacy": max(
            float(jax_auditing.CanaryScoreAuditor(one, other).epsilon_clopper_pearson(ERROR / 2, delta))
            for one, other in ((scores[0], scores[1]), (-scores[1], -scores[0]))
        ),
        "idea of DP-Sniper": of_events(learnt, _LEARNT, [0.05], learn, measure, delta),
        "idea of StatDP": of_events(first, _ALL, shares, learn, measure, delta),
    }


def privacy_guard(
    function: Callable[[Any], Any], pair: tuple[Any, Any], claim: float, delta: float
) -> dict[str, float]:
    """PrivacyGuard's ε with intervals of 95 % at every threshold, on the same scores."""
    import torch
    from privacy_guard.analysis.mia.mia_results import MIAResults

    learn, measure = halves(function, pair)
    learnt = discriminant(*learn)
    scores = [torch.tensor(learnt(side)) for side in measure]
    return {"PrivacyGuard": float(MIAResults(*scores).compute_acc_auc_ci_epsilon(delta)[2])}


def pystatdp(function: Callable[[Any], Any], pair: tuple[Any, Any], claim: float, delta: float) -> dict[str, float]:
    """The largest ε that PyStatDP refutes with p < 5 %, of the event that it selects at the claim."""
    import copy
    from multiprocessing.pool import ThreadPool

    import numpy as np
    from pystatdp.core import run_algorithm
    from pystatdp.hypotest import test_statistics
    from pystatdp.selectors import select_event

    if delta:
        raise ValueError("PyStatDP knows no δ")

    def once(data: Any) -> Any:
        told = function(copy.deepcopy(data))
        return tuple(told.tolist()) if isinstance(told, np.ndarray) and told.ndim else told

    if isinstance(told := once(pair[0]), tuple | list) and len(told) > 3:
        raise ValueError(f"PyStatDP would try 10^{len(told)} events")
    half = RUNS // 2
    with ThreadPool(1) as pool:
        event = select_event(once, [(*pair, {})], claim, half, pool, quiet=True)[3]
    ((one, other), *_), _ = run_algorithm(once, *pair, {}, event, half)
    tried = [float(epsilon) for epsilon in np.linspace(0, 8, 161)]
    kept = [epsilon for epsilon in tried if test_statistics(one, other, epsilon, half) >= ERROR]
    return {"PyStatDP": max(0.0, min(kept, default=8.05) - 0.05)}


SHOWN = {
    "jax_privacy": ("JAX Privacy", "idea of DP-Sniper", "idea of StatDP"),
    "privacy_guard": ("PrivacyGuard",),
    "pystatdp": ("PyStatDP",),
}
ASKED = {"jax_privacy": jax_privacy, "privacy_guard": privacy_guard, "pystatdp": pystatdp}


def functions() -> list[tuple[Case, str]]:
    """Every side that is a function."""
    return [(case, side) for case in cases() for side in case.sides if str(case.path) in case.sides[side]]


def blank(case: Case, side: str) -> dict[str, Any]:
    """A row of nothing."""
    return {"kind": case.kind, "name": case.name, "side": side, "claim": None, "shown": {}, "why": {}}


def examined(case: Case, side: str, auditor: str) -> dict[str, Any]:
    """A row: what an auditor shows of a side, or why it was not run."""
    row = blank(case, side)

    def late(*_: Any) -> None:
        raise KeyboardInterrupt

    why = ""
    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with warnings.catch_warnings(action="ignore"):
            row["claim"], delta = claimed(case)
            spec = importlib.util.spec_from_file_location(case.name, case.path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            row["shown"] = ASKED[auditor](getattr(module, side), pair_of(case), row["claim"], delta)
    except KeyboardInterrupt:
        why = f"it takes more than {LIMIT:.0f} s"
    except Exception as error:
        why = f"{'' if type(error) is ValueError else type(error).__name__ + ': '}{error}"[:120]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return row | ({"why": {auditor: why}} if why else {})


def joined(known: list[dict[str, Any]], new: list[dict[str, Any]], auditor: str) -> list[dict[str, Any]]:
    """Rows of all auditors, of which those of one are new."""
    before = {(row["kind"], row["name"], row["side"]): row for row in known}
    rows = []
    for row in new:
        old = before.get((row["kind"], row["name"], row["side"]), {"shown": {}, "why": {}})
        shown = {name: value for name, value in old["shown"].items() if name not in SHOWN[auditor]} | row["shown"]
        why = {name: value for name, value in old["why"].items() if name != auditor} | row["why"]
        rows.append(row | {"shown": shown, "why": why})
    return rows


def main() -> int:
    """Run others on every case that is a function, and keep what they say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("auditors", nargs="*", help="these alone")
    parser.add_argument("--venvs", type=Path, help="where environments are made, and left; else in a folder that goes")
    parser.add_argument("--reuse", action="store_true", help="use the environments of --venvs as they are")
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.auditors) - PINS.keys():
        parser.error(f"no auditor is called {' or '.join(sorted(unknown))}; there are {', '.join(PINS)}")
    if given.within:
        found = [examined(case, side, given.auditors[0]) for case, side in functions()]
        given.within.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        return 0
    rows = json.loads(ROWS.read_text(encoding="utf-8")) if given.auditors and ROWS.exists() else []
    with tempfile.TemporaryDirectory() as temporary:
        for auditor in given.auditors or PINS:
            out = Path(temporary) / f"{auditor}.json"
            try:
                python = environment(auditor, PINS[auditor], given.venvs or Path(temporary), given.reuse)
                subprocess.run([str(python), __file__, auditor, "--within", str(out)], check=True)
                new = json.loads(out.read_text(encoding="utf-8"))
            except subprocess.CalledProcessError as error:
                why = f"{' '.join(map(str, error.cmd[1:4]))} ended with {error.returncode}"
                new = [blank(case, side) | {"why": {auditor: why}} for case, side in functions()]
            rows = joined(rows, new, auditor)
    ROWS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
