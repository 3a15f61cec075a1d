"""What do other auditors say of the cases of the museum?

    python benchmarks/museum/others.py [--venvs FOLDER [--reuse]]

JAX Privacy's auditing runs as its documentation says, in an environment of its own; of StatDP and DP-Sniper the idea
alone is written here, in a few lines. None of them looks for neighbours or reads source: each
is handed the same runs of the function on the pair of the case, or on its data and its data without the last record.
Numbers that are NaN have a column of their own, which is kinder than a user would be. The rows are kept in
others.json, and `run.py --draw` draws the table.
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

sys.path.insert(0, str(Path(__file__).resolve().parent))

from case import Case, cases
from released import environment

ROWS = Path(__file__).resolve().parent / "others.json"
PINS = ["jax-privacy==2.0.0"]
RUNS, LIMIT, ERROR = 2_000, 4.0, 0.05  # of each side; seconds of the processor for a function; of a bound
NOT_RUN = {
    "DP-Auditorium": "the registry has no package of this name",
    "PrivacyGuard": "the registry's `privacy-guard` is another project, which masks personal data",
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
    """ε and δ of the claim."""
    import shlex

    words = shlex.split(case.command)
    parts = dict(part.strip().split("=") for part in words[words.index("--claim") + 1].split(","))
    if "epsilon" not in parts:
        raise ValueError(f"a claim about {', '.join(parts)}, which has no ε")
    return float(parts["epsilon"]), float(parts.get("delta", 0))


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
        best = max(best, bound(int((told[2 + one] >= t).sum()), int((told[2 + other] >= t).sum()), len(told[2]), delta, ERROR / len(ways)))  # fmt: skip  # noqa: E501
    return best


def asked(function: Callable[[Any], Any], pair: tuple[Any, Any], delta: float) -> dict[str, float]:
    """What every auditor shows of a function."""
    import jax_privacy.auditing as jax_auditing
    import numpy as np

    sides = [drawn(function, data) for data in pair]
    if sides[0].shape[1] != sides[1].shape[1]:
        raise ValueError("outputs of several shapes")
    half = RUNS // 2
    learn, measure = [side[:half] for side in sides], [side[half:] for side in sides]
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


def examined(case: Case, side: str) -> dict[str, Any]:
    """A row: what others show of a side, or why they were not run."""
    row: dict[str, Any] = {"kind": case.kind, "name": case.name, "side": side, "claim": None, "shown": {}, "why": ""}

    def late(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with warnings.catch_warnings(action="ignore"):
            epsilon, delta = claimed(case)
            spec = importlib.util.spec_from_file_location(case.name, case.path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            row |= {"claim": epsilon, "shown": asked(getattr(module, side), pair_of(case), delta)}
    except KeyboardInterrupt:
        row["why"] = f"{RUNS:,} runs of each side take more than {LIMIT:.0f} s"
    except Exception as error:
        row["why"] = f"{type(error).__name__}: {error}"[:120]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return row


def main() -> int:
    """Run others on every case that is a function, and keep what they say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--venvs", type=Path, help="where the environment is made, and left; else in a folder that goes"
    )
    parser.add_argument("--reuse", action="store_true", help="use the environment of --venvs as it is")
    parser.add_argument("--within", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.within:
        functions = [(case, side) for case in cases() for side in case.sides if str(case.path) in case.sides[side]]
        rows = [examined(case, side) for case, side in functions]
        ROWS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        python = environment("jax_privacy", PINS, given.venvs or Path(temporary), given.reuse)
        return subprocess.run([str(python), __file__, "--within"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
