"""Does a certificate that derives everything from the records prove its bound? Releases, version 2.

The certificate says what the program computes: of the cells of columns expressions, of rows and expressions numbers,
of numbers and noise releases. All of it is computed again here, for every kind of records.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpaudit.checker.accounted import Accounted, by_account
from dpaudit.checker.certificate import Checked
from dpaudit.checker.expressions import ColumnExpressions
from dpaudit.checker.numbers import AllNumbers, Contribution, Moves, Neighbourhood, NumberVector, read_rows
from dpaudit.checker.prices import (
    LAWS,
    MOST_RELEASES,
    LargestByRules,
    Price,
    ReleaseNoise,
    Spent,
    dearest,
    read_noise,
    read_notion,
)
from dpaudit.checker.ranges import read_columns
from dpaudit.checker.reading import CertificateError, Steps, fields, items, shown, whole
from dpaudit.checker.releases import proved, read_head, read_paths, read_samples

_MOST_STEPS = 4_000_000
MOST_KINDS = 20_000  # that the releases of a path tell apart, of rows of one origin
_STEPS_OF_CURVE = 50_000  # that one conversion of Gaussian noise counts for
_DISCRETE = ("discrete_laplace", "discrete_gaussian")
_SPECIAL = {
    ("ball 1", "laplace"),
    ("ball 2", "gaussian"),
    ("any_key", "laplace_threshold"),
    ("reports", "randomised_response"),
}
_UNTOLD = (
    "That the program computes these expressions, rows and numbers and makes these releases and no others is not "
    "checked here: it rests on the reading of the program."
)


def check(given: dict[str, Any]) -> Checked:
    """Check a certificate that derives from the records how far they move the releases."""
    head = read_head(given, {"expressions", "rows", "numbers"}, frozenset({"account"}))
    derivation = CheckedDerivation(given)
    bound = derivation.bound(given, head.scope["group"])
    head = replace(head, scope={**head.scope, "columns": derivation.domain()})
    return proved(given, head, bound, [*derivation.sentences(), _UNTOLD], tuple(derivation.given))


@dataclass(frozen=True, slots=True)
class DerivedRelease:
    """Noise on a number, or a choice by its places."""

    noise: ReleaseNoise
    number: int


@dataclass(slots=True)
class ReleasePart:
    """Releases of a path that hang on the same columns or samples, and so on one kind of record together."""

    variables: set[tuple[Any, ...]]
    releases: dict[int, int] = field(default_factory=dict)


class CheckedDerivation:
    """A certificate of releases, read and computed: what each release costs for each kind of records.

    Its head and scope are taken to be read.

    Attributes:
        given: sentences about what the bound takes for granted.
        most_kinds: how many kinds of records the releases of a path tell apart, at most.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        scope = Neighbourhood(given["scope"]["relation"] == "replace", given["scope"]["person"])
        steps = Steps(_MOST_STEPS)
        self.steps, self.scope, self.most_kinds = steps, scope, 1
        columns = read_columns(given["columns"])
        if scope.person is not None and scope.person not in {each.name for each in columns}:
            raise CertificateError(f"the column {shown(scope.person)}, which tells persons apart, is not declared")
        self.samples = read_samples(given["samples"], frozenset({"of"}))
        units = [each["of"] for each in given["samples"]]
        for number, of in enumerate(units):
            if of not in ("records", "persons") or type(of) is not str:
                raise CertificateError(f"sample {number}: it is one of records or persons, not {shown(of)}")
        self.expressions = ColumnExpressions(columns, given["expressions"], steps)
        self.rows = read_rows(given["rows"], self.expressions, units, scope)
        self.numbers = AllNumbers(given["numbers"], self.expressions, self.rows, scope, steps)
        self.releases = [
            self._release(each, f"release {number}")
            for number, each in enumerate(items(given["releases"], "releases", MOST_RELEASES))
        ]
        self.paths = read_paths(given["paths"], len(self.releases))
        self._refuse_unused(given)
        used = {each for number in self.numbers.of for each in number.used}
        self.expressions.settle(used | {mask for rows in self.rows for mask in rows.masks})
        self.numbers.settle()
        self._needed = [sorted(self.numbers.needed([release.number])) for release in self.releases]
        self._priced: dict[tuple[Any, ...], Price] = {}
        self._dearest: dict[frozenset[tuple[int, int]], list[Spent]] = {}
        self.given = [f"{each} ({many} table{'s' * (many > 1)})" for each, many in self.expressions.tables.items()]

    def _release(self, value: object, where: str) -> DerivedRelease:
        given = fields(value, {"law", "scale", "number", "times", "line", "details"}, where)
        number = whole(given["number"], f"{where}: number", 0, len(self.numbers.of) - 1)
        of = self.numbers.of[number]
        noise = read_noise(given, of.sample, where)
        if noise.law in _DISCRETE and not of.whole:
            raise CertificateError(f"{where}: discrete noise on what may be no whole number")
        if noise.law == "laplace_threshold" and not (
            of.special == "any_key" or (of.kind in ("sum", "sums") and of.given["of"] is None)
        ):
            raise CertificateError(f"{where}: a threshold is one on counts of rows by key")
        is_special = bool(of.special) or noise.law == "randomised_response"
        if is_special and (of.special, noise.law) not in _SPECIAL:
            raise CertificateError(f"{where}: {noise.law} noise hides no number of kind {of.kind!r}")
        return DerivedRelease(noise, number)

    def _refuse_unused(self, given: Mapping[str, Any]) -> None:
        """Raise unless everything that is listed leads to a release on a path."""
        releases = set().union(*self.paths)
        numbers = self.numbers.needed(self.releases[each].number for each in releases)
        rows = {0}
        waiting = [self.numbers.of[each].rows for each in numbers]
        while waiting:
            number = waiting.pop()
            if number is not None and number not in rows:
                rows.add(number)
                waiting.append(given["rows"][number].get("of"))
        expressions = {each for number in numbers for each in self.numbers.of[number].used}
        expressions |= {mask for number in rows for mask in self.rows[number].masks}
        todo = list(expressions)
        while todo:
            before = set(self.expressions.of[todo.pop()].of) - expressions
            expressions |= before
            todo += before
        samples = {given["rows"][number].get("sample") for number in rows} - {None}
        used = {
            "releases": releases, "numbers": numbers, "rows": rows, "expressions": expressions, "samples": samples
        }  # fmt: skip
        for name, of in used.items():
            unused = set(range(len(given[name]))) - of
            if unused:
                raise CertificateError(f"nothing that is released is made of {name} {max(unused)}")

    # --- what a path costs -------------------------------------------------------------------------------------

    def dearest(self, path: Counter[int]) -> list[Spent]:
        """Return what the releases of a path cost at most: for any kind of records, one of these is at least that."""
        parts = [self._dearest_part(part) for part in self._parts(path)]
        spent = [Spent()]
        for part in parts:
            spent = dearest([one.joined(other) for one in spent for other in part], self.samples, self.steps)
        return spent

    def _parts(self, path: Counter[int]) -> list[ReleasePart]:
        """Return the releases of a path in parts that share no column of rows of one origin, and no sample."""
        owner: dict[tuple[Any, ...], ReleasePart] = {}
        for release, counted in sorted(path.items()):
            made, sample = self._made(release).values(), self.releases[release].noise.sample
            variables: set[tuple[Any, ...]] = {(each.origin, column) for each in made for column in each.columns}
            variables |= set() if sample is None else {("sample", sample)}
            part = ReleasePart(variables or {("release", release)}, {release: counted})
            for before in {id(owner[each]): owner[each] for each in part.variables if each in owner}.values():
                if len(before.variables) > len(part.variables):
                    part, before = before, part
                part.variables |= before.variables
                part.releases.update(before.releases)
                self.steps.spend(len(before.variables))
            owner.update(dict.fromkeys(part.variables, part))
            self.steps.spend(len(part.variables))
        return list({id(part): part for part in owner.values()}.values())

    def _made(self, release: int) -> dict[int, Contribution]:
        """Return the numbers made of rows that a release is made of."""
        made_of = {each: self.numbers.of[each].made for each in self._needed[release]}
        return {number: made for number, made in made_of.items() if made is not None}

    def _dearest_part(self, part: ReleasePart) -> list[Spent]:
        key = frozenset(part.releases.items())
        if key in self._dearest:
            return self._dearest[key]
        spent = []
        for moved in self._moved(part.releases):
            each = Spent()
            for release, counted in part.releases.items():
                noise, price = self.releases[release].noise, self._price(release, moved)
                each.add(noise, price, counted, self.samples, is_replaced=self.scope.is_replaced)
            spent.append(each)
        made = [each for release in part.releases for each in self._made(release).values()]
        if any(max(each.coming, each.going) > 1 for each in made):
            # several rows: each sum is largest where all are of one kind, but not all sums for the same kind
            largest = [Spent.largest(spent)]
        else:
            largest = dearest(spent, self.samples, self.steps)
        self._dearest[key] = largest
        return largest

    def _moved(self, releases: Iterable[int]) -> Iterator[dict[int, Moves]]:
        """Yield how far the numbers that releases are made of move, for each kind of records."""
        releases = list(releases)
        made = {number: each for release in releases for number, each in self._made(release).items()}
        origins: dict[tuple[str, int], list[int]] = {}
        for number, each in made.items():
            origins.setdefault(each.origin, []).append(number)
        options, kinds = [], 1
        for numbers in origins.values():
            rows = self._distinct([made[number] for number in numbers])
            kinds *= len(rows)
            first = made[numbers[0]]
            coming = [[_times(adds, first.coming, first.exact) for adds in row] for row in rows]
            if first.going:
                going = [[_times(adds, -first.going, first.exact) for adds in row] for row in rows]
                self.steps.spend(len(rows) ** 2)
                pairs = itertools.product(coming, going)
            else:
                pairs = itertools.product(coming, [[{} for _ in numbers]])
            options.append((numbers, pairs))
        self.most_kinds = max(self.most_kinds, kinds)
        needed = sorted(set().union(*(self._needed[release] for release in releases)))
        for chosen in itertools.product(*(pairs for _, pairs in options)):
            moved = {}
            for (numbers, _), (coming_row, going_row) in zip(options, chosen, strict=True):
                for number, come, go in zip(numbers, coming_row, going_row, strict=True):
                    moved[number] = _sum(come, go) if go else come
                    self.steps.spend(1 + len(come) + len(go))
            self.steps.spend(10)
            yield self.numbers.moves(needed, moved)

    def _distinct(self, made: list[Contribution]) -> list[tuple[Moves, ...]]:
        """Return what a row of each kind adds to numbers of one origin; kinds that add the same are one."""
        columns = sorted({column for each in made for column in each.columns})
        places = [[columns.index(column) for column in each.columns] for each in made]
        distinct: dict[tuple[Any, ...], tuple[Moves, ...]] = {}
        for cells in self.expressions.cells_of(columns):
            row = tuple(
                each.adds.get(tuple(cells[place] for place in own), {}) for each, own in zip(made, places, strict=True)
            )
            self.steps.spend(sum(map(len, row)) + len(row))
            distinct.setdefault(tuple(tuple(adds.items()) for adds in row), row)
            if len(distinct) > MOST_KINDS:
                raise CertificateError(f"the releases of a path tell more than {MOST_KINDS:,} kinds of records apart")
        return list(distinct.values())

    def _price(self, release: int, moved: dict[int, Moves]) -> Price:
        noise, number = self.releases[release].noise, self.releases[release].number
        moves, of = moved[number], self.numbers.of[number]
        key = (release, tuple(sorted(moves.items())))
        self.steps.spend(10 + len(moves))
        price = self._priced.get(key)
        if price is None:
            self.steps.spend(10 + 4 * len(moves))
            if noise.law == "laplace_threshold":
                price = self._price_by_threshold(release, moves, of)
            else:
                # places that do not move count where there are any: for spreads
                listed = [*moves.values(), *[(0, 0)] * min(2, of.size - len(moves))]
                ends = [(Fraction(low), Fraction(high)) for low, high in listed]
                price = LAWS[noise.law](noise, ends, self.scope.is_replaced)
            if len(self._priced) < MOST_KINDS:
                self._priced[key] = price
        return price

    def _price_by_threshold(self, release: int, moves: Moves, of: NumberVector) -> Price:
        """Return the price of counts of which small ones are dropped, of keys that the data hold."""
        noise, made = self.releases[release].noise, list(self._made(release).values())
        if any(each.going for each in made):
            raise CertificateError("the threshold rule is about records that come or go")
        rows = sum({each.origin: each.coming for each in made}.values())
        ends = [(Fraction(low), Fraction(high)) for low, high in moves.values()] or [(Fraction(0), Fraction(0))]
        if rows <= 1:
            return LAWS[noise.law](noise, ends, False)
        if not of.special:
            raise CertificateError("a threshold on counts of which several rows of a person may change several")
        far = max(abs(end) for end in ends[0])
        law = LAWS[noise.law]
        # all rows have one key, or each its own
        one, other = law(noise, ends, False), Price().plus(law(noise, [(-far / rows, far / rows)], False), rows)
        return one if one.delta >= other.delta else other

    # --- what all paths cost -----------------------------------------------------------------------------------

    def bound(self, given: dict[str, Any], group: int) -> Fraction:
        """Return the bound that the releases show.

        Raises:
            ForgedError: if they show none.
        """
        notion, delta = read_notion(given, group)
        largest = LargestByRules(notion, delta, alone=len(self.paths) == 1)
        converted = set[tuple[Any, ...]]()
        for path in self.paths:
            for spent in self.dearest(path):
                total = spent.total(self.samples)
                if delta and (total.gaussian, total.delta) not in converted:
                    converted.add((total.gaussian, total.delta))
                    self.steps.spend(_STEPS_OF_CURVE)
                largest.add(total)
        priced = [self._accounted(path) for path in self.paths]
        account = by_account(given, priced, self.samples, delta, is_replaced=self.scope.is_replaced)
        return largest.bound(group, account)

    def sentences(self) -> list[str]:
        """Say what was computed, for people to read, once the bound was."""
        typed = [f"{each.name} ({each.told['type']})" for each in self.expressions.columns if not each.match]
        return [
            f"There are {len(self.releases):,} releases on {len(self.paths):,} paths. What a record adds to them was "
            f"computed from {len(self.expressions.of):,} expressions, and at most {self.most_kinds:,} kinds of records "
            "were told apart by releases that hang together; every one, and every pair of them, was priced.",
            f"The columns of the data are {', '.join(typed) or 'none'}.",
        ]

    def domain(self) -> list[dict[str, Any]]:
        """Return the declared domain: what each column of the data may hold."""
        return [each.told for each in self.expressions.columns if not each.match]

    def _accounted(self, path: Counter[int]) -> Iterator[Accounted]:
        for release, counted in path.items():
            each = self.releases[release]
            of = self.numbers.of[each.number]
            prices = [self._price(release, moved) for moved in self._moved([release])]
            yield Accounted(each.noise, counted, 2 if of.special else of.size, prices)


def _times(adds: Moves, times: int, exact: bool) -> Moves:
    """Return what so many rows add, all of one kind; fewer where it is not ``exact``; for a negative number they go."""
    added = {}
    for place, (low, high) in adds.items():
        ends = (low * times, high * times) if times > 0 else (high * times, low * times)
        added[place] = ends if exact else (min(ends[0], 0), max(ends[1], 0))
    return {place: ends for place, ends in added.items() if any(ends)}


def _sum(one: Moves, other: Moves) -> Moves:
    total = dict(one)
    for place, (low, high) in other.items():
        before = total.get(place, (0, 0))
        total[place] = before[0] + low, before[1] + high
    return {place: ends for place, ends in total.items() if any(ends)}
