"""Which bound would fresh runs of an event probably give? Predictions are only used for choices, and prove nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri

from dpaudit.arrays import Booleans, Floats
from dpaudit.events.partition import Partition
from dpaudit.evidence.event import Box, Event, Linear, Rule, Score
from dpaudit.evidence.records import Led
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats.event_bound import Rates
from dpaudit.stats.joint_region import joint_weight, two_sided_weight
from dpaudit.stats.methods import METHODS, BoundMethod, method_for

_LEAST_COUNT = 5  # runs below which nothing is predicted of an event; measured by benchmarks/goal_table.py
_AT_ONCE = 1000  # events whose Rényi divergences, at many orders each, fit into the cache of a processor
_MANY = 30  # runs from which the approximation has four correct digits


def predicted_bound(
    p: Floats,
    q: Floats,
    n: float | Floats,
    m: float | Floats,
    *,
    ahead: float | tuple[Floats, Floats],
    claim: Claim,
    error: float,
    penalty: float | Floats,
    two_sided: bool,
    rivals: bool | Booleans = False,
) -> Floats:
    """Predict the bound of events from their frequencies in learning runs.

    p and q are moved against the event in the direction in which the joint bound moves them, first for their
    uncertainty, then by what the bound itself costs.
    """
    a, b = p * n + 0.5, q * m + 0.5
    p, q = a / (n + 1), b / (m + 1)
    able = (p > claim.delta) & (a >= _LEAST_COUNT)
    shown = np.full(p.shape, -np.inf)
    if not np.any(able):
        return shown
    ahead_p, ahead_q = (
        np.broadcast_to(x, p.shape)[able] if isinstance(x, np.ndarray) else x
        for x in (ahead if isinstance(ahead, tuple) else (ahead, ahead))
    )
    p, q, a, b = p[able], q[able], a[able], b[able]
    doubt = penalty[able] if isinstance(penalty, np.ndarray) else penalty
    if np.any(rivals):
        alike = rivals[able] if isinstance(rivals, np.ndarray) else rivals
        doubt = doubt + np.where(alike, np.sqrt(-2 * np.log(np.minimum(p, 1.0))), 0.0)
    chance = ndtr(-doubt)
    shrink_p = 1.0 if two_sided else np.sqrt(np.maximum(1 - p, 1e-9))
    shrink_q = 1.0 if two_sided else np.sqrt(np.maximum(1 - q, 1e-9))
    with np.errstate(all="ignore"):
        slope_p, slope_q = sensitivity(claim, p, q)
        low, high = p, q
        for noise_p, noise_q in (
            (shrink_p * _below(a, chance), shrink_q * _above(b, chance)),
            (shrink_p * _below(p * ahead_p + 0.5, error), shrink_q * _above(q * ahead_q + 0.5, error)),
        ):
            along_p, along_q = slope_p * noise_p, slope_q * noise_q
            length = np.maximum(np.hypot(along_p, along_q), 1e-300)
            low, high = low * np.exp(-noise_p * along_p / length), high * np.exp(noise_q * along_q / length)
        value = _shown(claim, low, np.minimum(high, 1.0))
        shown[able] = _given_sides(value, p + q, ahead_p) if two_sided and claim.pure else value
    return shown


def _given_sides(value: Floats, guessing: Floats, runs: float | Floats) -> Floats:
    """What guesses that are bounded given the sides show, if one side happens to guess more often than the other.

    With G guesses in all, of which the sides differ by d, t = tanh(ε/2) becomes t', where t = t' + (d/G)²/(4t') (see
    `dpaudit.stats.guessing`); d² is its mean. That matters where ε is small, and not at all where every run guesses.
    """
    apart = np.maximum(1 - guessing, 0.0) / (runs * np.maximum(guessing, 1e-300))
    t = np.tanh(np.maximum(value, 0.0) / 2)
    inside = t * t - apart
    # ε is lowered by the share by which t falls; where it is large it would fall by more, but other methods cost less
    left = value * (t + np.sqrt(np.maximum(inside, 0.0))) / np.maximum(2 * t, 1e-300)
    return np.where(inside >= 0, np.where(apart > 0, left, value), np.minimum(value, 0.0) - np.sqrt(apart) + t)


def _shown(claim: Claim, p: Floats, q: Floats) -> Floats:
    """The loss; if nothing would be shown, a negative number that says how far from it."""
    ratio = np.log(np.maximum(p - claim.delta, 1e-300)) - np.log(q)
    value = ratio if claim.is_point else np.where((loss := _least(claim, p, q)) > 0, loss, np.minimum(ratio, 0.0))
    return np.where(np.isfinite(value), value, -np.inf)


def sensitivity(claim: Claim, p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return how fast the loss falls as log p falls and as log q rises; where it is 0, that of log((p − δ)/q).

    Args:
        claim: the notion, with its δ or order.
        p, q: probabilities of the event, arrays of one shape.

    Returns:
        Two arrays of that shape.
    """
    with np.errstate(all="ignore"):
        ratio_p, ratio_q = p / np.maximum(p - claim.delta, 1e-12), np.ones_like(q)
        if claim.is_point:
            return ratio_p, ratio_q
        step = 1e-4
        here = _least(claim, p, q)
        down_p = (here - _least(claim, p * np.exp(-step), q)) / step
        down_q = (here - _least(claim, p, np.minimum(q * np.exp(step), 1.0))) / step
        usable = (here > 0) & np.isfinite(down_p) & np.isfinite(down_q) & (down_p + down_q > 0)
        return np.where(usable, down_p, ratio_p), np.where(usable, down_q, ratio_q)


def _least(claim: Claim, p: Floats, q: Floats) -> Floats:
    """The claim's `least`, computed only where p > q: elsewhere it is 0."""
    found, more = np.zeros(p.shape), np.flatnonzero(p > q)
    for first in range(0, len(more), _AT_ONCE):
        part = more[first : first + _AT_ONCE]
        found.flat[part] = claim.least(p.flat[part], q.flat[part])
    return found


def event_weight(p: float, q: float, runs: tuple[float, float], claim: Claim) -> float:
    """Return w₁ of the joint bound for a one-sided event.

    Args:
        p, q: its probabilities on the side that it points to and on the other.
        runs: of that side and of the other.
        claim: the notion to bound.

    Returns:
        w₁, strictly between 0 and 1.
    """
    slope_p, slope_q = (float(x) for x in sensitivity(claim, np.array(p), np.array(q)))
    return joint_weight(p, q, *runs, slope_p, slope_q)


def _below(counts: Floats, chance: float | Floats) -> Floats:
    """How far below its estimate (in log) a rate may be, given its count."""
    return -np.log(np.maximum(_quantile(counts, chance), 1e-12))


def _above(counts: Floats, chance: float | Floats) -> Floats:
    """How far above its estimate (in log) a rate may be, given its count."""
    return np.log(_quantile(counts, 1 - chance))


def _quantile(counts: Floats, chance: float | Floats) -> Floats:
    """A quantile of the gamma distribution of shape ``counts`` over its mean (large: Wilson & Hilferty 1931)."""
    root = 1 - 1 / (9 * counts) + ndtri(chance) / (3 * np.sqrt(counts))
    found = np.maximum(root, 0.0) ** 3
    few = counts < _MANY
    if np.any(few):
        # small counts occur many times, and each quantile is slow
        at: float | Floats = chance
        if isinstance(at, np.ndarray):
            pairs, again = np.unique(counts[few] + 1j * at[few], return_inverse=True)
            asked, at = pairs.real, pairs.imag
        else:
            asked, again = np.unique(counts[few], return_inverse=True)
        found[few] = (gammaincinv(asked, at) / asked)[again]
    return np.asarray(found)


# --- Which method will probably give the best bound for an event? Chosen from learning runs, like the event itself ---
#
# The methods are valid given the sides, and differ in their cost. For a two-sided event, guesses cost least if both
# sides guess about equally often, and a joint region if they do not; for a one-sided event the odds ratio costs least
# if the event is rare. Each bound is computed from the expected counts, and the best method is chosen.

Chosen = tuple[str, float | None]


def same_everywhere(value: float) -> float:
    """Keep 6 digits: the last bits of logarithms differ between processors, and evidence should not."""
    return float(f"{value:.6g}")


def method_for_one_side(p: float, q: float, runs: tuple[float, float], claim: Claim, error: float) -> Chosen:
    """Return the method, and its weight, for an event that points to one side."""
    weight = same_everywhere(event_weight(p, q, runs, claim))
    return _best("one", (p, 0.0, 0.0, q), runs, claim, weight, error)


def method_for_both_sides(rates: Rates, runs: tuple[float, float], claim: Claim, error: float) -> Chosen:
    """Return the method, and its weight, for an event that points to both sides."""
    a, b = (rates[0] + rates[2]) / 2, (rates[1] + rates[3]) / 2
    slope_p, slope_q = (float(x) for x in sensitivity(claim, np.array(a), np.array(b)))
    weight = same_everywhere(two_sided_weight(a, b, sum(runs), slope_p, slope_q))
    return _best("both", rates, runs, claim, weight, error)


def _best(sides: str, rates: Rates, runs: tuple[float, float], claim: Claim, weight: float, error: float) -> Chosen:
    """The method with the highest expected bound for such an event; the first among equals."""
    offered = [each for each in METHODS.values() if each.offered == sides and (claim.pure or not each.pure)]

    def expected(method: BoundMethod) -> float:
        return method.computed.expected(rates, runs, claim, weight, error)

    best = offered[0] if len(offered) == 1 else max(offered, key=expected)
    return method_for(best.name, max(runs)), weight if best.weights == "one" else None


# --- Where would the outputs of a path differ that runs made earlier point to? Boxes, and the loss as a score ---
#
# A path that seems to cost more than is claimed says which numbers of its outputs move, and which way: then its outputs
# tell most that are far out on the side that they move away from. Where to cut is said by learning runs, and so is the
# middle of each number: nothing else is known here than outputs, and how far they move.

_SHARES = np.geomspace(1e-4, 0.9, 24)  # of the runs of a path, inside a box
_LEAST = 5  # runs in it
_UNCLIPPED = 1e9


@dataclass(frozen=True, slots=True)
class Lead:
    """A path whose outputs may show a violation.

    Attributes:
        form: of its outputs.
        fixed: (numbers,) those that the path decides; None for those with noise.
        moves: (numbers,) how far each moves from the recorded side to the other; 0 for those that stay.
        losses: (numbers,) the largest loss of each by itself, |move|/scale; of Gaussian noise (move/scale)². Empty
            where they are not known, or do not add up.
        clipped: whether the loss of a number stops growing beyond its two middles, as for Laplace noise.
    """

    form: str
    fixed: tuple[float | None, ...]
    moves: tuple[float, ...]
    losses: tuple[float, ...] = ()
    clipped: bool = True

    def scores(self, rows: Floats) -> Iterator[tuple[Score, bool]]:
        """Yield scores that may tell the sides apart, and whether each is a box, with two values.

        Args:
            rows: (runs, numbers), learning runs of this form, of both sides.
        """
        if rows.shape[1] != len(self.fixed):
            return
        decided = [place for place, value in enumerate(self.fixed) if value is not None]
        own = rows[(rows[:, decided] == [self.fixed[place] for place in decided]).all(axis=1)]
        if len(own) < _LEAST:
            return
        if decided:
            yield Box(self.fixed, self.fixed), True
        moved = np.flatnonzero(self.moves)
        if not len(moved):
            return
        shares = _SHARES[_SHARES * len(own) >= _LEAST]
        for sign in (1.0, -1.0):
            up = sign * np.array(self.moves)[moved] < 0  # what moves down tells most far up
            for limits in np.quantile(np.where(up, -own[:, moved], own[:, moved]), shares, axis=0):
                low, high = list(self.fixed), list(self.fixed)
                for place, limit, is_up in zip(moved.tolist(), limits.tolist(), up.tolist(), strict=True):
                    if is_up:
                        low[place] = -limit
                    else:
                        high[place] = limit
                yield Box(tuple(low), tuple(high)), True
        if self.losses and not decided:
            yield self._loss(own), False

    def _loss(self, own: Floats) -> Linear:
        """The privacy loss of independent noises.

        With f the density of noise of scale s and a move m, ln f(x)/f(x − m) is |m|/s·clip((c − x)/h, −1, 1) for
        Laplace noise, and (m/s)²/2·(c − x)/h for Gaussian noise, h = m/2 and c in the middle between both.
        """
        moves = np.array(self.moves)
        weights = -np.sign(moves) * np.array(self.losses) / (1.0 if self.clipped else 2.0)
        scale = np.where(moves == 0, 1.0, abs(moves) / 2)
        clip = 1.0 if self.clipped else _UNCLIPPED
        return Linear(tuple(np.median(own, axis=0).tolist()), _rounded(scale), (clip,), (_rounded(weights),))


def _rounded(values: Floats) -> tuple[float, ...]:
    """Keep 2 digits: events are published, and the data of the pair are not."""
    return tuple(float(f"{value:.2g}") for value in values.tolist())


# --- How many runs would show what a replayed path points to? A forecast from learning runs, which proves nothing ---

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
