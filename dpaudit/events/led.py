"""How many runs would show what a replayed path points to? A forecast from learning runs, which proves nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dpaudit.events.leads import Lead
from dpaudit.events.partition import Partition
from dpaudit.events.predict import predicted_bound
from dpaudit.evidence.event import Box, Event, Rule
from dpaudit.evidence.records import Led
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import Outputs

LED = "a replayed path"
_DOUBT = 1.0  # standard deviations by which frequencies are lowered
_EVER = 1e12  # runs
_AHEAD = [digit * 10.0**decade for decade in range(2, 10) for digit in (1, 2, 5)]  # measuring runs of a side


def led(sides: tuple[Outputs, Outputs], leads: Sequence[Lead], *, claim: Claim, error: float, pair: int) -> Led | None:
    """Return which outputs of the paths would show most in very many runs; None without a path.

    Args:
        sides: learning runs.
        leads: the paths.
        claim: what is claimed.
        error: the error level of a bound.
        pair: whose paths these are.
    """
    rules = list(dict.fromkeys(_rules(sides, leads)))
    if not rules:
        return None
    cells = [Partition(LED, (Rule(rule.form, rule.score, rule.edges, ()),)) for rule in rules]
    met = np.array([[each.counts(side)[len(each.rules[0].edges)] for side in sides] for each in cells])
    runs = np.array([max(len(side), 1) for side in sides])

    def predicted(place: int, toward: int, ahead: float, penalty: float) -> float:
        rates = met[place] / runs
        p, q = rates[[toward]], rates[[1 - toward]]
        n, m = float(runs[toward]), float(runs[1 - toward])
        return float(
            predicted_bound(p, q, n, m, ahead=ahead, claim=claim, error=error, penalty=penalty, two_sided=False)[0]
        )

    best = max(
        ((predicted(place, toward, _EVER, _DOUBT), int(met[place].sum()), -place, toward)
         for place in range(len(rules)) for toward in (0, 1)),
    )  # fmt: skip
    place, toward = -best[2], best[3]
    needs = next((2 * int(ahead) for ahead in _AHEAD if predicted(place, toward, ahead, _DOUBT) > claim.value), None)
    rule, label = rules[place], 1 if toward == 0 else -1
    labels = (0, label) if rule.edges else (label,)
    return Led(
        pair=pair,
        event=Event(LED, (Rule(rule.form, rule.score, rule.edges, labels),)),
        runs=(len(sides[0]), len(sides[1])),
        met=(int(met[place, 0]), int(met[place, 1])),
        needs=needs,
    )


def _rules(sides: tuple[Outputs, Outputs], leads: Sequence[Lead]) -> Iterator[Rule]:
    """Yield all outputs of each path, and parts of them."""
    for lead in leads:
        decided = any(value is not None for value in lead.fixed)
        yield Rule(lead.form, Box(lead.fixed, lead.fixed) if decided else None, (0.5,) if decided else (), ())
        rows = [
            numbers
            for side in sides
            for form, numbers in zip(side.forms, side.numbers, strict=True)
            if form == lead.form
        ]
        if rows:
            found = lead.scores(np.concatenate(rows))
            yield from (Rule(lead.form, score, (0.5,), ()) for score, is_box in found if is_box)
