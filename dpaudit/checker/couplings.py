"""Do the two runs of a fold keep distances that change when the query that differs is read? Its couplings say.

A coupling is a place where the two runs may be together: a state, whether the query that differs has been read, and the
constant distances of the state's real numbers there. Every leaf leads from each coupling of its state to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.reading import CertificateError, Expression, ForgedError, Steps, fields, items, rational, whole
from dpaudit.checker.shifts import Movement, Region
from dpaudit.checker.tree import Leaf

MOST_COUPLINGS = 10_000
MOST_REALS = 1_000


@dataclass(frozen=True, slots=True)
class _Coupling:
    """One place where the two runs may be together.

    Attributes:
        state: the number of the state.
        moved: whether the query that differs has been read.
        distances: s' − s of each real number of the state.
        allowance: what the runs may still cost from here on, in nats.
    """

    state: int
    moved: bool
    distances: tuple[Fraction, ...]
    allowance: Fraction


@dataclass(frozen=True, slots=True)
class Couplings:
    """The couplings of a fold, for each of the two worst differences of the one query.

    Attributes:
        reals: how many real numbers a state has.
        cases: for the differences −k and k, in this order: all couplings.
    """

    reals: int
    cases: tuple[tuple[_Coupling, ...], ...]
    movement: Movement
    steps: Steps

    @classmethod
    def read(cls, value: list[Any], states: int, movement: Movement, steps: Steps) -> Couplings:
        """Read the cases of a certificate.

        Args:
            value: the cases as JSON.
            states: how many states the fold has.
            movement: how the queries of neighbours differ; only one of them, or their sum.
            steps: the counter of the work.
        """
        if not movement.summed:
            raise ForgedError(f"under {movement.name!r} more than one query differs, so that couplings prove nothing")
        found: list[tuple[_Coupling, ...]] = []
        reals: int | None = None
        for number, case in enumerate(items(value, "cases", 2, 2)):
            own: list[_Coupling] = []
            given = fields(case, {"couplings"}, f"case {number}")["couplings"]
            for entry in items(given, f"case {number}: the couplings", MOST_COUPLINGS, 0):
                where = f"case {number}, coupling {len(own)}"
                fields(entry, {"state", "moved", "distances", "allowance"}, where)
                listed = items(entry["distances"], f"{where}: the distances", MOST_REALS)
                reals = len(listed) if reals is None else reals
                if len(listed) != reals:
                    raise CertificateError(f"{where}: {len(listed)} distances where others have {reals}")
                steps.spend(reals + 1)
                if type(entry["moved"]) is not bool:
                    raise CertificateError(f"{where}: moved is true or false")
                allowance = rational(entry["allowance"], f"{where}: the allowance")
                if allowance < 0:
                    raise ForgedError(f"{where}: the allowance is negative")
                distances = tuple(rational(each, f"{where}: a distance") for each in listed)
                state = whole(entry["state"], f"{where}: the state", 0, states - 1)
                own.append(_Coupling(state, entry["moved"], distances, allowance))
            found.append(tuple(own))
        return cls(reals or 0, tuple(found), movement, steps)

    def leaf(
        self, leaf: Leaf, kind: str, state: int | None, follows: int | None, new: Sequence[Expression]
    ) -> Fraction:
        """Check one leaf in both cases; return what a run that starts here may cost (0 except for ``init``).

        Args:
            leaf: the leaf.
            kind: "init", "step" or "end".
            state: the number of the state that it starts from; None for ``init``.
            follows: the number of the next state; None if the run stops.
            new: the next state's real numbers.

        Raises:
            ForgedError: if a coupling of the state has no shift here, or a shift fails or costs too much.
        """
        lists = items(leaf.given["shifts"], f"{leaf.name}: the shifts", len(self.cases), len(self.cases))
        largest = Fraction(0)
        for sign, couplings, entries in zip((-1, 1), self.cases, lists, strict=True):
            needed: set[tuple[int | None, Fraction | int]] = {(None, 0)}
            if kind != "init":
                here = [number for number, each in enumerate(couplings) if each.state == state]
                # where the data end, the query that differs has been read
                needed = {(number, 0) for number in here if kind == "step" or couplings[number].moved}
                if kind == "step":
                    moving = sign * self.movement.group
                    needed |= {(number, moving) for number in here if not couplings[number].moved}
            self.steps.spend(len(couplings) + 1)
            for entry in items(entries, f"{leaf.name}: the shifts", 2 * MOST_COUPLINGS):
                where = f"{leaf.name}: a shift"
                fields(entry, {"from", "difference", "shift", "to"}, where)
                source, target = (
                    None if entry[name] is None else whole(entry[name], f"{where}: {name}", 0, len(couplings) - 1)
                    for name in ("from", "to")
                )
                difference = rational(entry["difference"], f"{where}: the difference")
                at = (source, difference)
                if at not in needed:
                    raise ForgedError(f"{where}: from coupling {source} no difference {difference} is needed, or twice")
                needed.remove(at)
                before = None if source is None else couplings[source]
                after = None if target is None else couplings[target]
                moved = bool(difference) or (before is not None and before.moved)
                if (None if after is None else (after.state, after.moved)) != (
                    None if follows is None else (follows, moved)
                ):
                    raise ForgedError(f"{where}: coupling {target} is not where the two runs go on")
                cost = self._cost(leaf, before, after, difference, new, entry["shift"])
                cost += Fraction(0) if after is None else after.allowance
                if before is None:
                    largest = max(largest, cost)
                elif before.allowance < cost:
                    raise ForgedError(f"{where}: the allowance {before.allowance} of coupling {source} is below {cost}")
            if needed:
                source, left = min(needed, key=str)
                raise ForgedError(f"{leaf.name}: no shift from coupling {source} for the difference {left}")
        return largest

    def _cost(
        self,
        leaf: Leaf,
        before: _Coupling | None,
        after: _Coupling | None,
        difference: Fraction,
        new: Sequence[Expression],
        shift: object,
    ) -> Fraction:
        """Return the cost of a shift; raise unless it leads from one coupling's distances to the other's."""
        where = f"{leaf.name}: a shift"
        # a new number must get the distance of its coupling: an equality to a constant, a multiple of "1"
        kept = [
            Expression({**one.terms, "1": -distance} if distance else one.terms, one.constant)
            for one, distance in zip(new, after.distances if after is not None else (), strict=True)
        ]
        self.steps.spend(len(leaf.conditions) + len(kept) + 1)
        region = Region.of(leaf.name, leaf.conditions, [*leaf.output.released, *kept], leaf.draws)
        values = {"1": Fraction(1), "x": difference}
        values |= {f"s{number}": each for number, each in enumerate(before.distances if before is not None else ())}
        return region.cost(values, region.shift(shift, where), where, self.steps)
