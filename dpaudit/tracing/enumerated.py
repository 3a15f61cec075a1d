"""What does a program lose that only chooses? Every outcome of every choice is tried, with its probability."""

from __future__ import annotations

import math
from typing import Any

from dpaudit.privacy import ApproxDP, Claim, PureDP
from dpaudit.tracing.certain import Certain
from dpaudit.tracing.runs import Run, Target

MOST_WAYS = 2048
"""Ways through a program that are tried on each side."""
_ROUNDING = 1e-9


def enumerated(target: Target, pair: tuple[Any, Any], claim: Claim | None, seed: int) -> Certain | None:
    """Return the exact loss of a program that draws nothing but choices of known chances, or None."""
    if claim is not None and not isinstance(claim, PureDP | ApproxDP):
        return None
    laws = []
    for data in pair:
        law = _law(target, data, seed)
        if law is None:
            return None
        laws.append(law)
    delta = 0.0 if claim is None else claim.delta
    losses = [_loss(laws[side], laws[1 - side], delta) for side in (0, 1)]
    epsilon, output = max(losses, key=lambda each: each[0])
    if math.isinf(epsilon):
        why = f"{output} is possible on one side alone"
        return Certain(why, "the output", math.inf, (), leaks=True)
    why = f"all ways through its choices were tried: {output} tells most"
    least = max(epsilon * (1 - _ROUNDING) - _ROUNDING, 0.0)
    return Certain(why, "the output", least, (), leaks=False, whole=True)


def _law(target: Target, data: Any, seed: int) -> dict[str, float] | None:
    """Return the probability of every output, or None where not all of them can be tried."""
    law: dict[str, float] = {}
    todo: list[list[int]] = [[]]
    ways = 0
    while todo:
        start = todo.pop()
        ways += 1
        if ways > MOST_WAYS:
            return None
        run = target.run(data, seed, forced=start)
        if run.output is None or run.recorder.unseen:
            return None
        chance = 1.0
        for number, event in enumerate(run.recorder.events):
            if event.kind != "choice" or event.options is None:
                return None
            place = start[number] if number < len(start) else 0
            chance *= event.options[place][1]
            if number >= len(start):
                taken = [*start, *([0] * (number - len(start)))]
                todo += [[*taken, other] for other in range(1, len(event.options)) if event.options[other][1] > 0]
        if chance > 0:
            key = _key(run)
            law[key] = law.get(key, 0.0) + chance
    return law


def _key(run: Run) -> str:
    assert run.output is not None
    if run.kept is not None:
        return str((run.kept.form, run.kept.numbers))
    return str((run.output.structure, run.output.values.tolist()))


def _loss(one: dict[str, float], two: dict[str, float], delta: float) -> tuple[float, str]:
    """Return ε at δ, from below, and the output that tells most."""
    ratios = {key: math.inf if two.get(key, 0.0) == 0 else math.log(p / two[key]) for key, p in one.items()}
    worst = max(ratios, key=ratios.__getitem__)
    if delta == 0:
        return ratios[worst], _shown(worst)
    # Σ (p − e^ε·q)₊ = δ over the outputs above each ratio in turn: the likelihood-ratio sets are the best events
    best = 0.0
    p = q = 0.0
    for key in sorted(ratios, key=ratios.__getitem__, reverse=True):
        p, q = p + one[key], q + two.get(key, 0.0)
        if p > delta * (1 + _ROUNDING):
            best = max(best, math.inf if q == 0 else math.log((p - delta) / q))
    return best, _shown(worst)


def _shown(key: str) -> str:
    return f"the output {key[:80]}"
