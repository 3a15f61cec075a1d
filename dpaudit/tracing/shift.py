"""Which shift of the noise hides the change most cheaply? A linear programme over all noise of a path.

Noises that are only ever seen in one combination are one noise: the sum of Gaussians is Gaussian, the difference of two
exponential noises of one scale is Laplace, that of two geometric ones discrete Laplace (Kotz, Kozubowski & Podgórski
2001, section 2.2; Inusah & Kozubowski 2006, Proposition 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.program.laws import DISCRETE_LAPLACE, EXPONENTIAL, GAUSSIAN, GEOMETRIC, LAPLACE, UNKNOWN, NoiseLaw
from dpaudit.tracing.alignment import Conditions, Noises
from dpaudit.tracing.primitives import Stated
from dpaudit.tracing.recording import NoiseForm

_SMALL = 1e-9  # of a shift, beside the largest: what rounding leaves
_DENSE = 1500  # columns up to which least squares are used
_MERGED = 4000  # columns among which combinations are looked for


@dataclass(slots=True)
class ShiftedNoise:
    """One noise that has to move.

    Attributes:
        column: its column, the first of them where several are one noise.
        law, scale: of it.
        by: how far it moves.
        site: the line of its draw.
        cost: |by|/scale; for Gaussian noise its share of μ.
        derived: whether its law was recognised from a sample, or follows from that of others.
    """

    column: int
    law: NoiseLaw
    scale: float
    by: float
    site: str
    cost: float
    recognised: bool


@dataclass(slots=True)
class CheapestShift:
    """The cheapest shift that was found."""

    moved: list[ShiftedNoise] = field(default_factory=list)  # the noises that move
    given: Floats | None = None  # (columns,) the noise on the other data: that of the recorded run, shifted
    chance: float = 0.0  # the price of coins and choices, of this path
    trouble: str = ""  # why there is none; empty where there is
    where: str = ""  # the line of the condition that cannot be met
    unpriced: list[str] = field(default_factory=list)  # why it has no known price
    testable: bool = True  # whether a run with the noise ``given`` can be made: no derived noise moves


def cheapest(needs: Conditions, noises: Noises, noise: Floats) -> CheapestShift:
    """Return the cheapest shift that meets the conditions, or why there is none."""
    shift = CheapestShift(given=noise.copy(), chance=needs.chance, unpriced=list(needs.unpriced))
    equal, right = needs.equal.joined()
    least, below = needs.least.joined()
    columns = np.unique(np.concatenate([equal.column, least.column]))
    _add_cells(shift, needs, noises, set(columns.tolist()), noise)
    if needs.differs:
        shift.trouble, shift.where = "differs", needs.differs[0][0]
        return shift
    if not np.any(right) and not np.any(below > 0):
        return shift
    together = _combined(columns, [equal, least], noises)
    leads = {column: column for column in columns.tolist()} | {
        member: group.lead for group in together for member, _ in group.members
    }
    laws = {column: noises.law(column) for column in set(leads.values())} | {
        group.lead: (group.law, group.scale) for group in together
    }
    kept = np.array(sorted(set(leads.values())), dtype=np.int64)
    dropped = np.array(sorted(set(leads) - set(leads.values())), dtype=np.int64)
    by = _solved(_without(equal, dropped), right, _without(least, dropped), below, kept, laws, needs.locked)
    if by is None:
        shift.trouble = "no shift"
        shift.unpriced += _doubts(columns.tolist(), needs, noises)
        size = int(np.argmax(abs(right))) if len(right) else -1
        shift.where = needs.equal.sites[size] if size >= 0 else needs.least.sites[0]
        return shift
    _fill(shift, kept, by, laws, together, noises)
    return shift


def _doubts(columns: Sequence[int], needs: Conditions, noises: Noises) -> list[str]:
    """Say why derived noise may be able to hide what it does not seem to."""
    for column in columns:
        if noises.is_derived(column):
            where = noises.block(column).site
            if noises.law(column)[0].cost in ("locked", "unknown"):
                return [f"noise is made of other noise, at {where}"]
            if noises.sources(column) & set(needs.cells):
                return [f"what noise is made of decides something too, at {where}"]
    return []


def _add_cells(shift: CheapestShift, needs: Conditions, noises: Noises, shifted: set[int], noise: Floats) -> None:
    assert shift.given is not None
    for column, cells in needs.cells.items():
        if column in shifted:
            shift.unpriced.append(f"uniform noise is compared and released, at {noises.block(column).site}")
            continue
        top = noises.law(column)[1]
        (low, high), (other_low, other_high) = [(max(a, 0.0), min(b, top)) for a, b in cells]
        size, other = high - low, other_high - other_low
        if math.isclose(size, other, rel_tol=1e-12, abs_tol=1e-300) and math.isclose(low, other_low, abs_tol=1e-15):
            continue
        needs.coins.append(noises.block(column).site)
        shift.chance += math.log(size / other) if other > 0 and size > 0 else math.inf
        if size > 0 and other > 0:
            shift.given[column] = other_low + (noise[column] - low) * other / size


@dataclass(slots=True)
class _Together:
    """Noises that are only seen in one combination: Σ factor·noise, the factor of the first being 1."""

    lead: int
    members: list[tuple[int, float]]
    law: NoiseLaw
    scale: float


def _combined(columns: Any, forms: Sequence[NoiseForm], noises: Noises) -> list[_Together]:
    if len(columns) > _MERGED:
        return []
    seen: dict[int, list[tuple[int, int, float]]] = {}
    for part, form in enumerate(forms):
        for row, column, coefficient in zip(
            form.row.tolist(), form.column.tolist(), form.coefficient.tolist(), strict=True
        ):
            seen.setdefault(column, []).append((part, row, coefficient))
    groups: dict[tuple[Any, ...], list[tuple[int, float]]] = {}
    for column, places in seen.items():
        lead = places[0][2]
        pattern = tuple((part, row, round(value / lead, 9)) for part, row, value in places)
        groups.setdefault(pattern, []).append((column, lead))
    together = []
    for members in groups.values():
        if len(members) > 1:
            first = members[0][1]
            factors = [(column, lead / first) for column, lead in members]
            law, scale = _of_sum(factors, noises)
            if law is not UNKNOWN:
                together.append(_Together(members[0][0], factors, law, scale))
    return together


def _of_sum(factors: Sequence[tuple[int, float]], noises: Noises) -> tuple[NoiseLaw, float]:
    """Return the law of Σ factor·noise, where it is one of the known ones."""
    if any(noises.is_derived(column) for column, _ in factors):
        return UNKNOWN, math.nan
    laws = [noises.law(column) for column, _ in factors]
    kinds = {law for law, _ in laws}
    if kinds == {GAUSSIAN}:
        return GAUSSIAN, math.sqrt(
            sum((factor * scale) ** 2 for (_, factor), (_, scale) in zip(factors, laws, strict=True))
        )
    if len(factors) == 2 and len(kinds) == 1 and kinds <= {EXPONENTIAL, GEOMETRIC}:
        (one, two), (first, second) = (factors[0][1], factors[1][1]), (laws[0][1], laws[1][1])
        if math.isclose(one * first, -two * second, rel_tol=1e-12):
            if kinds == {EXPONENTIAL}:
                return LAPLACE, abs(one * first)
            if math.isclose(one, -two, rel_tol=1e-12):
                return DISCRETE_LAPLACE, first
    return UNKNOWN, math.nan


def _without(form: NoiseForm, columns: Any) -> NoiseForm:
    if not len(columns):
        return form
    kept = ~np.isin(form.column, columns)
    return NoiseForm(form.offset, form.row[kept], form.column[kept], form.coefficient[kept])


def _solved(
    equal: NoiseForm,
    right: Floats,
    least: NoiseForm,
    below: Floats,
    columns: Any,
    laws: dict[int, tuple[NoiseLaw, float]],
    locked: set[int],
) -> Floats | None:
    """Return the shift of each column, or None where no shift meets the conditions."""
    place = np.searchsorted(columns, equal.column), np.searchsorted(columns, least.column)
    size = len(columns)
    known = [laws[column] for column in columns.tolist()]
    free = np.array(
        [
            column not in locked and law.cost != "locked"
            for column, (law, _) in zip(columns.tolist(), known, strict=True)
        ]
    )
    only_gaussian = all(law is GAUSSIAN for law, _ in known) and not len(least) and free.all()
    if not only_gaussian and not (np.all(np.isfinite(below)) and np.all(np.isfinite(right))):
        return None
    up = [(0, None) if may and 1 in law.shifts else (0, 0) for may, (law, _) in zip(free, known, strict=True)]
    down = [(0, None) if may and -1 in law.shifts else (0, 0) for may, (law, _) in zip(free, known, strict=True)]
    only = _determined(equal, right, place[0], size)
    if only is not None:
        low = np.array([0.0 if high == (0, 0) else -np.inf for high in down])
        high = np.array([0.0 if each == (0, 0) else np.inf for each in up])
        if not np.all((low <= only) & (only <= high)):
            return None
        if np.all(np.bincount(least.row, least.coefficient * only[place[1]], len(least)) >= below):
            return only
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    matrix = csr_array((equal.coefficient, (equal.row, place[0])), shape=(len(equal), size))
    if only_gaussian and size <= _DENSE:
        scale = np.array([scale for _, scale in known])
        # the least Σ(c/σ)² among the shifts that meet the conditions
        solution, *_ = np.linalg.lstsq(matrix.toarray() * scale, right, rcond=None)
        shortest = np.asarray(solution * scale, dtype=np.float64)
        slack = 1e-9 * max(1.0, float(abs(right).max()))
        return shortest if np.allclose(np.asarray(matrix @ shortest), right, rtol=1e-7, atol=slack) else None
    weight = np.array([1 / scale if law.cost in ("pure", "gaussian") and scale > 0 else 1e6 for law, scale in known])
    span = float(max(abs(right).max(initial=0.0), abs(below[np.isfinite(below)]).max(initial=0.0), 1e-300))
    inequality = csr_array((least.coefficient, (least.row, place[1])), shape=(len(least), size))
    weight = weight / weight.max()
    solve: Any = linprog  # its types know of no sparse matrices
    whole = np.array([law.is_whole for law, _ in known])
    by: Floats | None = None
    for unit, integrality in ((span, None), (1.0, np.tile(whole, 2).astype(int))):
        solved = solve(
            np.concatenate([weight, weight]),
            A_ub=-hstack([inequality, -inequality]) if len(least) else None,
            b_ub=-below / unit if len(least) else None,
            A_eq=hstack([matrix, -matrix]) if len(equal) else None,
            b_eq=right / unit if len(equal) else None,
            bounds=[*up, *down],
            integrality=integrality,
            method="highs",
        )
        if solved.x is None or solved.status != 0:
            break
        by = np.asarray((solved.x[:size] - solved.x[size:]) * unit, dtype=np.float64)
        if np.all(abs(by - np.rint(by))[whole] <= 1e-6):
            break  # else whole numbers are asked for, beside others
    if by is None:
        return None
    gaussian = np.flatnonzero([law is GAUSSIAN and may for (law, _), may in zip(known, free, strict=True)])
    if len(gaussian) < 2 or not len(least) or len(least) + 2 * len(equal) > _DENSE or size > _DENSE:
        return by
    rows = np.vstack([inequality.toarray(), matrix.toarray(), -matrix.toarray()])
    return _shorter(by, gaussian, rows, np.concatenate([below, right, -right]), [scale for _, scale in known])


def _determined(equal: NoiseForm, right: Floats, place: Any, size: int) -> Floats | None:
    """Return the only shift of least cost where each condition is of one noise, all others staying as they are.

    None where a condition is of several, or two that are of one noise differ.
    """
    if len(equal.row) != len(equal) or len(np.unique(equal.row)) != len(equal):
        return None
    only = np.zeros(size)
    only[place] = right[equal.row] / equal.coefficient
    left = abs(equal.coefficient * only[place] - right[equal.row])
    return only if np.all(left <= 1e-12 * abs(right[equal.row])) else None


def _shorter(by: Floats, gaussian: Any, rows: Floats, least: Floats, scales: Sequence[float]) -> Floats:
    """Return a shift with the least Σ(c/σ)² of its Gaussian noise, all other noise as it is: rows·c ≥ least.

    A least-distance problem, by non-negative least squares (Lawson & Hanson 1974, chapter 23.4): a linear programme
    minimises Σ|c|/σ, so that one noise moves where two that share the move would cost less.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    sigma = np.array(scales)[gaussian]
    rest = by.copy()
    rest[gaussian] = 0.0
    own, wanted = rows[:, gaussian] * sigma, least - rows @ rest
    _, block = connected_components(csr_array(own.T @ own != 0), directed=False)
    shorter = by.copy()
    for number in range(int(block.max()) + 1):  # noises that share no condition are no one problem
        mine = np.flatnonzero(block == number)
        conditions = np.flatnonzero(np.any(own[:, mine] != 0, axis=1))
        if len(mine) > 1 and np.any(wanted[conditions] > 0):
            distance = _least_distance(own[np.ix_(conditions, mine)], wanted[conditions])
            if distance is not None and np.sum(distance**2) < np.sum((by[gaussian[mine]] / sigma[mine]) ** 2):
                shorter[gaussian[mine]] = distance * sigma[mine]
    return shorter


def _least_distance(rows: Floats, least: Floats) -> Floats | None:
    """Return the x of least Σx² with rows·x ≥ least; None where rounding hides it."""
    from scipy.optimize import nnls

    unit = float(abs(least).max())
    system = np.vstack([rows.T, least / unit])
    aim = np.zeros(len(system))
    aim[-1] = 1.0
    try:
        weights, _ = nnls(system, aim)
    except RuntimeError:  # too many steps
        return None
    left = system @ weights - aim
    if left[-1] >= -1e-12:
        return None
    solution = np.asarray(-left[:-1] / left[-1] * unit)
    return solution if np.all(rows @ solution >= least - 1e-9 * unit) else None


def _fill(
    shift: CheapestShift,
    columns: Any,
    by: Floats,
    laws: dict[int, tuple[NoiseLaw, float]],
    together: Sequence[_Together],
    noises: Noises,
) -> None:
    """Say what moves, how far, and at which cost."""
    assert shift.given is not None
    groups = {group.lead: group for group in together}
    largest = float(abs(by).max(initial=0.0))
    for column, distance in zip(columns.tolist(), by.tolist(), strict=True):
        if abs(distance) <= _SMALL * max(largest, 1e-300):
            continue
        law, scale = laws[column]
        group = groups.get(column)
        if law.is_whole and abs(distance - round(distance)) > 1e-6:
            shift.trouble, shift.where = "whole", noises.block(column).site
            return
        if law.cost in ("unknown", "locked"):
            shift.unpriced.append(
                f"the law of the noise that would have to move is not known, at {noises.block(column).site}"
            )
            shift.testable = False
        derived = noises.is_derived(column)
        if derived:
            shift.testable = False
        cost = abs(distance) / scale if scale > 0 else math.inf
        shift.moved.append(ShiftedNoise(column, law, scale, distance, noises.block(column).site, cost, derived))
        if group is None:
            shift.given[column] += distance
        else:
            _spread(shift.given, group, distance, noises)
    _refuse_shared(shift, noises)


def _spread(given: Floats, group: _Together, distance: float, noises: Noises) -> None:
    """Move one of the noises that are one, in a direction in which it may move."""
    for column, factor in group.members:
        law, _ = noises.law(column)
        own = distance / factor
        if (own > 0 and 1 in law.shifts) or (own < 0 and -1 in law.shifts):
            given[column] += own
            return


def _refuse_shared(shift: CheapestShift, noises: Noises) -> None:
    """Derived noises that are made of the same noise are not independent, so that their prices do not add up."""
    taken: set[int] = set()
    for each in shift.moved:
        own = noises.sources(each.column) if each.recognised else {each.column}
        if own & taken:
            shift.unpriced.append(f"several values that are made of the same noise would have to move, at {each.site}")
            return
        taken |= own


# --- What do the shifts of one path cost together, and does the claim allow that? ---
#
# Each noise that moves is a mechanism of its own, on this pair: Laplace noise of scale b that moves by c is the Laplace
# mechanism of sensitivity |c| and so on; all of them are composed as independent. This is the price of *one alignment*:
# an upper bound of what this path loses on this pair. Above the claim it refutes nothing by itself.

WITHIN, OVER, OPEN = "within", "over", "open"
_ROUNDING = 1e-7  # relative, by which floats may differ
_RECOGNISED = 0.03  # relative, by which the scale of recognised noise may be off
_MOST = 400  # different steps that are composed exactly


@dataclass(frozen=True, slots=True)
class ShiftPrice:
    """What a shift costs."""

    epsilon: float  # Σ|c|/scale of all noise but Gaussian, with what choices cost and libraries state; in nats
    mu: float  # √Σ(c/σ)² of Gaussian noise; what is stated in ρ counts as μ = √(2ρ)
    answer: str  # whether the claim allows it: "within", "over", or "open" where that is not worked out
    delta: float = 0.0  # Σδ of what mechanisms of libraries state


def priced(
    moved: Sequence[ShiftedNoise], chance: float, claim: Claim | None, stated: Sequence[Stated] = ()
) -> ShiftPrice:
    """Return the price of a shift."""
    pure = [each for each in moved if each.law.cost == "pure"]
    epsilon = max(math.fsum(each.cost for each in pure) + chance, 0.0) + math.fsum(each.epsilon for each in stated)
    squares = [each.cost**2 for each in moved if each.law.cost == "gaussian"] + [each.mu**2 for each in stated]
    rho = math.fsum(each.rho for each in stated)
    mu = math.sqrt(math.fsum(squares) + 2 * rho)
    delta = math.fsum(each.delta for each in stated)
    if claim is None:
        return ShiftPrice(epsilon, mu, OPEN, delta)
    slack = _RECOGNISED if any(each.recognised for each in moved) else _ROUNDING
    answer = _answer(
        _Costs(pure, epsilon, chance, mu, delta, rho, math.fsum(each.epsilon for each in stated)), claim, slack
    )
    return ShiftPrice(epsilon, mu, answer, delta)


@dataclass(frozen=True, slots=True)
class _Costs:
    """All that a path costs: as in `ShiftPrice`, with ``stated`` the part of ε that libraries state."""

    pure: Sequence[ShiftedNoise]
    epsilon: float
    chance: float
    mu: float
    delta: float
    rho: float
    stated: float


def _answer(costs: _Costs, claim: Claim, slack: float) -> str:
    epsilon, mu, chance, pure = costs.epsilon, costs.mu, costs.chance, costs.pure
    if math.isnan(epsilon) or math.isnan(mu):
        return OPEN
    allowed = claim.value * (1 + slack) + 1e-12
    if isinstance(claim, PureDP):
        return WITHIN if mu == 0 and costs.delta == 0 and epsilon <= allowed else OVER
    if isinstance(claim, ApproxDP):
        return _approximate(costs, claim, slack, allowed)
    if costs.delta:
        return OPEN
    if isinstance(claim, GaussianDP):
        if epsilon:
            return OPEN
        return (OPEN if costs.rho else WITHIN) if mu <= allowed else OVER
    if isinstance(claim, ZeroConcentratedDP):
        if chance > 0:
            return OPEN
        # Bun & Steinke (2016), Proposition 1.4; what a library states as ε is of all its noise together
        rho = mu**2 / 2 + math.fsum(each.cost**2 / 2 for each in pure) + costs.stated**2 / 2
        return WITHIN if rho <= allowed else (OVER if not pure and not costs.stated else OPEN)
    if isinstance(claim, RenyiDP) and epsilon == 0:
        return WITHIN if claim.order * mu**2 / 2 <= allowed else OVER
    return OPEN


def _approximate(costs: _Costs, claim: ApproxDP, slack: float, allowed: float) -> str:
    epsilon, mu = costs.epsilon, costs.mu
    left = claim.delta * (1 + slack) - costs.delta  # δ that is stated adds up (Dwork & Roth 2014, Theorem 3.16)
    if left < 0 or (costs.stated > allowed):
        return OVER
    if epsilon == math.inf:
        return OPEN  # δ may allow it
    if delta_of(mu, allowed - epsilon) <= left:
        return WITHIN if not costs.rho or _of_rho(costs, left) <= allowed else OPEN
    if not costs.pure or costs.chance or costs.stated or costs.delta:
        return OVER if not costs.pure and not costs.chance else OPEN
    return _composed(costs.pure, mu, claim, slack)


def _of_rho(costs: _Costs, delta: float) -> float:
    """Return ε of noise of ρ = μ²/2 at δ: ρ + 2√(ρ·ln 1/δ) (Bun & Steinke 2016, Proposition 1.3), with all other ε."""
    if not 0 < delta < 1:
        return math.inf
    rho = costs.mu**2 / 2
    return rho + 2 * math.sqrt(rho * -math.log(delta)) + costs.epsilon


def delta_of(mu: float, epsilon: float) -> float:
    """Return δ(ε) of Gaussian noise: Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2) (Balle & Wang 2018, Theorem 5; μ = Δ/σ)."""
    if mu == 0:
        return 0.0 if epsilon >= 0 else -math.expm1(epsilon)
    from scipy.special import log_ndtr, ndtr

    tail = epsilon + float(log_ndtr(-epsilon / mu - mu / 2))
    return max(float(ndtr(-epsilon / mu + mu / 2)) - math.exp(min(tail, 700.0)), 0.0)


def _composed(pure: Sequence[ShiftedNoise], mu: float, claim: Claim, slack: float) -> str:
    """Ask the certified accounting, where costs merely added up are more than the claim."""
    from dpaudit.accounting import DiscreteLaplace, Events, Gaussian, Laplace, RandomisedResponse, decide

    listed = []
    for each in pure:
        if each.law is LAPLACE:
            listed.append(Laplace(each.scale / abs(each.by)).times(1))
        elif each.law is DISCRETE_LAPLACE:
            listed.append(DiscreteLaplace(each.scale, sensitivity=round(abs(each.by))).times(1))
        else:
            listed.append(RandomisedResponse(each.cost).times(1))
    if mu > 0:
        listed.append(Gaussian(1 / mu).times(1))
    events = Events(tuple(part for each in listed for part in each.parts))
    if len(events.parts) > _MOST:
        return OPEN
    try:
        wider = ApproxDP(claim.value * (1 + slack), claim.delta)
        verdict = decide(events, wider).verdict
    except UsageError:
        return OPEN
    return {"PROVED": WITHIN, "VIOLATED": OVER}.get(verdict, OPEN)
