"""Which kinds of records are there, how far does each move a number, and do releases of numbers prove their bound?

The conditions of a certificate cut the records of its domain into finitely many kinds, which behave alike in all of
them. A kind is one point for each column: records are of one kind if every test comes out alike.

This is version 1, in which every release says how far a record of each kind moves it (``docs/certificate.md``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpaudit.checker.accounted import Accounted, by_account
from dpaudit.checker.certificate import Checked
from dpaudit.checker.prices import (
    LAWS,
    MOST_RELEASES,
    LargestByRules,
    Price,
    ReleaseNoise,
    Sample,
    Spent,
    dearest,
    read_noise,
    read_notion,
)
from dpaudit.checker.reading import (
    MOST_COLUMNS,
    CertificateError,
    Point,
    Steps,
    fields,
    items,
    point,
    rational,
    shown,
    text,
    whole,
)
from dpaudit.checker.releases import proved, read_head, read_paths, read_samples

# --- Which kinds of records are there, and how far does each move a number? ------------------------------


MOST_KINDS = 5_000
MOST_TERMS = 100_000
MOST_DEPTH = 10

Interval = tuple[Fraction, Fraction]
Test = tuple[int, str, Any]
"""The number of a column, an operator, and its operand."""


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """What a column may hold: numbers from low to high (None: without an end), or values that are listed."""

    name: str
    low: Fraction | None
    high: Fraction | None
    values: tuple[Point, ...] | None
    missing: bool

    def points(self, tests: Iterable[Test]) -> list[Point]:
        """Return values of the column such that every value meets the same tests as one of them."""
        tests = list(tests)
        points: list[Point] = [None] if self.missing else []
        if self.values is not None:
            points += self.values
        else:
            marks = {operand for _, _, operand in tests if type(operand) is Fraction}
            marks |= {end for end in (self.low, self.high) if end is not None}
            ordered: list[Fraction] = sorted(marks) or [Fraction(0)]
            ordered = [ordered[0] - 1, *ordered, ordered[-1] + 1]
            between = [(one + other) / 2 for one, other in itertools.pairwise(ordered)]
            points += [each for each in (*ordered, *between) if self._holds(each)]
        distinct: dict[tuple[bool, ...], Point] = {}
        for each in points:
            distinct.setdefault(tuple(meets(each, operator, operand) for _, operator, operand in tests), each)
        return list(distinct.values())

    def _holds(self, value: Fraction) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


def meets(point: Point, operator: str, operand: Any) -> bool:
    """Whether a value meets a test; a missing one meets none but "missing"."""
    if operator == "missing":
        return point is None
    if point is None or type(point) is not type(operand):
        return False
    if operator == "==":
        return bool(point == operand)
    if type(point) is not Fraction or type(operand) is not Fraction:
        return False
    return bool(point < operand if operator == "<" else point <= operand)


def read_columns(value: object) -> list[ColumnValues]:
    """Return the columns that a certificate lists."""
    columns = []
    for number, given in enumerate(items(value, "columns", MOST_COLUMNS)):
        where = f"column {number}"
        given = fields(given, {"name", "low", "high", "values", "missing"}, where)
        if type(given["missing"]) is not bool:
            raise CertificateError(f"{where}: missing is true or false")
        low, high = (None if given[end] is None else rational(given[end], f"{where}: {end}") for end in ("low", "high"))
        values = None
        if given["values"] is not None:
            if low is not None or high is not None:
                raise CertificateError(f"{where}: it has ends or values, not both")
            listed = items(given["values"], f"{where}: values", MOST_KINDS, 1)
            values = tuple(point(each, where) for each in listed)
        elif low is not None and high is not None and low > high:
            raise CertificateError(f"{where}: its low end is above its high end")
        columns.append(ColumnValues(text(given["name"], f"{where}: name"), low, high, values, given["missing"]))
    if len({each.name for each in columns}) < len(columns):
        raise CertificateError("columns: two of them have one name")
    return columns


@dataclass(frozen=True, slots=True)
class Term:
    """What one record adds if it meets all conditions: (test, whether it holds), …; and from where to where."""

    conditions: tuple[tuple[Test, bool], ...]
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class MovedValue:
    """How a number moves: terms, and what moves within, each as (kind, factor, values).

    ``ball``: a vector instead, of at most the length ``high`` of its only term.
    """

    terms: tuple[Term, ...]
    bent: tuple[tuple[str, Fraction, tuple[MovedValue, ...]], ...] = ()
    ball: bool = False

    def tests(self) -> set[Test]:
        """Return all tests that it depends on."""
        tests = {test for term in self.terms for test, _ in term.conditions}
        return tests.union(*(inner.tests() for _, _, within in self.bent for inner in within))

    def moved(self, added: RecordKind, removed: RecordKind | None) -> Interval:
        """Return how far it moves where a record of one kind comes, and one of another kind goes; exact in a ball."""
        if self.ball:
            (term,) = self.terms
            length = sum((term.high for kind in (added, removed) if kind is not None and kind.is_in(term)), Fraction(0))
            return -length, length
        low, high = added.adds(self)
        if removed is not None:
            least, most = removed.adds(self)
            low, high = low - most, high - least
        for kind, factor, within in self.bent:
            ends = [inner.moved(added, removed) for inner in within]
            least, most = min(end for end, _ in ends), max(end for _, end in ends)
            if kind == "abs":
                most = max(abs(least), abs(most))
                least = -most
            if kind == "clip":
                least, most = min(least, Fraction(0)), max(most, Fraction(0))
            least, most = least * factor, most * factor
            low, high = low + min(least, most), high + max(least, most)
        return low, high


@dataclass(frozen=True, slots=True, eq=False)
class RecordKind:
    """One kind of records: which tests they meet, and what they add to which values, by these once it is known."""

    met: frozenset[Test]
    known: dict[int, tuple[MovedValue, Interval]] = field(default_factory=dict)

    def adds(self, value: MovedValue) -> Interval:
        """Return the sum of the terms of a value that such a record is in."""
        if id(value) not in self.known:
            terms = [term for term in value.terms if self.is_in(term)]
            low, high = (sum((getattr(term, end) for term in terms), Fraction(0)) for end in ("low", "high"))
            self.known[id(value)] = value, (low, high)
        return self.known[id(value)][1]

    def all_that_it_adds(self, value: MovedValue) -> tuple[Any, ...]:
        """Return what such a record adds to a value, and to all that moves within it."""
        within = (self.all_that_it_adds(inner) for _, _, listed in value.bent for inner in listed)
        return (self.adds(value), *within)

    def is_in(self, term: Term) -> bool:
        """Whether these records meet all conditions of a term."""
        return all((test in self.met) is holds for test, holds in term.conditions)


def read_value(value: object, columns: Sequence[ColumnValues], where: str, steps: Steps, depth: int = 0) -> MovedValue:
    """Return how a number moves, from {"terms": …, "bent": …} or {"ball": term}."""
    if depth > MOST_DEPTH:
        raise CertificateError(f"{where}: more than {MOST_DEPTH} levels")
    if type(value) is dict and "ball" in value:
        given = fields(value, {"ball"}, where)
        term = _term(given["ball"], columns, where, steps)
        if term.low != -term.high or term.high < 0:
            raise CertificateError(f"{where}: a ball goes from minus its radius to its radius")
        return MovedValue((term,), ball=True)
    given = fields(value, {"terms", "bent"}, where)
    terms = tuple(_term(each, columns, where, steps) for each in items(given["terms"], where, MOST_TERMS))
    bent = []
    for each in items(given["bent"], where, MOST_TERMS):
        each = fields(each, {"kind", "factor", "inner"}, where)
        if each["kind"] not in ("abs", "clip", "among"):
            raise CertificateError(f"{where}: {shown(each['kind'])} is no function that is known")
        listed = items(each["inner"], where, MOST_TERMS, 1) if each["kind"] == "among" else [each["inner"]]
        inner = tuple(read_value(given, columns, where, steps, depth + 1) for given in listed)
        if any(one.ball for one in inner):
            raise CertificateError(f"{where}: a function of a vector")
        bent.append((each["kind"], rational(each["factor"], where), inner))
    return MovedValue(terms, tuple(bent))


def _term(value: object, columns: Sequence[ColumnValues], where: str, steps: Steps) -> Term:
    given = fields(value, {"if", "low", "high"}, where)
    conditions = []
    for each in items(given["if"], where, MOST_COLUMNS):
        number, operator, operand, holds = items(each, where, 4, 4)
        whole(number, f"{where}: a column", 0, len(columns) - 1)
        if operator not in ("<", "<=", "==", "missing") or type(operator) is not str or type(holds) is not bool:
            raise CertificateError(f"{where}: {shown(operator)} is no test that holds or not")
        operand = None if operator == "missing" else point(operand, where)
        if operator in ("<", "<=") and type(operand) is not Fraction:
            raise CertificateError(f"{where}: only numbers have an order")
        conditions.append(((number, operator, operand), holds))
    steps.spend(len(conditions) + 1)
    low, high = rational(given["low"], where), rational(given["high"], where)
    if low > high:
        raise CertificateError(f"{where}: a record adds something from {low} to {high}, the wrong way round")
    return Term(tuple(conditions), low, high)


def kinds_of(tests: set[Test], columns: Sequence[ColumnValues], steps: Steps) -> list[RecordKind]:
    """Return every kind of records, as far as these tests tell them apart."""
    parts: list[list[frozenset[Test]]] = []
    many = 1
    for number, column in enumerate(columns):
        own = [test for test in tests if test[0] == number]
        if own:
            steps.spend(len(own) ** 2)
            points = column.points(own)
            parts.append([frozenset(test for test in own if meets(each, test[1], test[2])) for each in points])
            many *= len(points)
            if many > MOST_KINDS:
                raise CertificateError(f"there are more than {MOST_KINDS:,} kinds of records")
    return [RecordKind(frozenset().union(*chosen)) for chosen in itertools.product(*parts)]


# --- Do the releases of a program prove its bound? -------------------------------------------------------


_MOST_GIVEN = 100  # lines of which it is given how far their values move
_UNTOLD = (
    "That the program makes these releases and no others, and that a record moves them no farther, is not checked "
    "here: it rests on the reading of the program."
)
Listed = list[tuple["NumbersRelease", int]]
"""The releases of a path, each with how often it is made there."""


@dataclass(frozen=True, slots=True)
class NumbersRelease:
    """Noise on private numbers, or a choice by scores."""

    noise: ReleaseNoise
    values: tuple[MovedValue, ...]


def check(given: dict[str, Any]) -> Checked:
    """Check a certificate of releases that say how far a record moves them."""
    head = read_head(given, set(), frozenset({"account", "given"}))
    bound, sentences = check_releases(given, head.scope["relation"], head.scope["group"], Steps())
    granted: dict[str, str] = {}
    for number, each in enumerate(items(given["given"], "given", _MOST_GIVEN, 1) if "given" in given else ()):
        each = fields(each, {"line", "by"}, f"given {number}")
        by, line = rational(each["by"], f"given {number}: by"), text(each["line"], f"given {number}: line")
        if by < 0 or line in granted:
            raise CertificateError(f"given {number}: a line moves once, by a number that is not negative")
        granted[line] = f"{line} moves by at most {by} and does nothing else"
    return proved(given, head, bound, [*sentences, _UNTOLD], tuple(granted.values()))


def _read_paths(
    given: dict[str, Any], steps: Steps
) -> tuple[list[ColumnValues], list[Sample], list[NumbersRelease], list[Listed]]:
    columns, samples = read_columns(given["columns"]), read_samples(given["samples"])
    releases = [
        _release(each, columns, len(samples), f"release {number}", steps)
        for number, each in enumerate(items(given["releases"], "releases", MOST_RELEASES))
    ]
    paths = read_paths(given["paths"], len(releases))
    return columns, samples, releases, [[(releases[each], times) for each, times in path.items()] for path in paths]


def accounted(given: dict[str, Any], relation: str) -> tuple[list[Accounted], list[Sample]]:
    """Return the releases of the only path with their prices, and the samples that they are made of."""
    steps = Steps()
    columns, samples, _, (path,) = _read_paths(given, steps)
    return list(_accounted(path, columns, relation, steps)), samples


def _accounted(listed: Listed, columns: list[ColumnValues], relation: str, steps: Steps) -> Iterator[Accounted]:
    for each, times in listed:
        pairs = _pairs([each], columns, relation, steps)
        yield Accounted(each.noise, times, len(each.values), [_price(each, *pair) for pair in pairs])


def _pairs(
    releases: Sequence[NumbersRelease], columns: list[ColumnValues], relation: str, steps: Steps
) -> list[tuple[RecordKind, RecordKind | None]]:
    """Return each kind of records that comes, with each that goes under "replace"; of kinds that add the same, one."""
    values = [value for each in releases for value in each.values]
    distinct: dict[tuple[Any, ...], RecordKind] = {}
    for kind in kinds_of(set().union(*(value.tests() for value in values)), columns, steps):
        steps.spend(sum(len(value.terms) + 1 for value in values))
        distinct.setdefault(tuple(kind.all_that_it_adds(value) for value in values), kind)
    kinds = list(distinct.values())
    if relation != "replace":
        return [(kind, None) for kind in kinds]
    steps.spend(len(kinds) ** 2 * len(values))
    return list(itertools.product(kinds, kinds))


def _parts(listed: Listed) -> list[Listed]:
    """Return releases in parts that share no column and no sample: any kind of the one goes with any of the other."""
    parts: list[tuple[set[Any], Listed]] = []
    for release, times in listed:
        shares: set[Any] = {number for value in release.values for number, _, _ in value.tests()}
        shares |= set() if release.noise.sample is None else {("sample", release.noise.sample)}
        joined, apart = [(release, times)], []
        for known, before in parts:
            if known & shares:
                shares, joined = shares | known, before + joined
            else:
                apart.append((known, before))
        parts = [*apart, (shares, joined)]
    return [part for _, part in parts]


def check_releases(given: dict[str, Any], relation: str, group: int, steps: Steps) -> tuple[Fraction, list[str]]:
    """Return the bound that the releases show, and what was checked; raises where something fails."""
    columns, samples, releases, paths = _read_paths(given, steps)
    notion, delta = read_notion(given, group)
    most_kinds = 0
    largest = LargestByRules(notion, delta, alone=len(paths) == 1)
    of_parts: dict[tuple[tuple[int, int], ...], list[Spent]] = {}
    for listed in paths:
        spent = [Spent()]
        for part in _parts(listed):
            key = tuple((id(release), times) for release, times in part)
            if key not in of_parts:
                pairs = _pairs([release for release, _ in part], columns, relation, steps)
                most_kinds = max(most_kinds, len(pairs))
                steps.spend(sum(len(release.values) for release, _ in part) * len(pairs))
                of_parts[key] = dearest([_spent(part, samples, *pair) for pair in pairs], samples, steps)
            spent = dearest([one.joined(other) for one in spent for other in of_parts[key]], samples, steps)
        for each in spent:
            largest.add(each.total(samples))
    priced = [_accounted(listed, columns, relation, steps) for listed in paths]
    account = by_account(given, priced, samples, delta, is_replaced=relation == "replace")
    return largest.bound(group, account), [
        f"There are {len(releases):,} releases on {len(paths):,} paths, and at most {most_kinds:,} kinds of "
        "records, or pairs of them, that releases which hang together tell apart; every one was priced.",
    ]


def _release(value: object, columns: Any, samples: int, where: str, steps: Steps) -> NumbersRelease:
    given = fields(value, {"law", "scale", "values", "sample", "times", "line", "details"}, where)
    sample = None if given["sample"] is None else whole(given["sample"], f"{where}: sample", 0, samples - 1)
    noise = read_noise(given, sample, where)
    values = tuple(
        read_value(each, columns, where, steps) for each in items(given["values"], f"{where}: values", MOST_RELEASES, 1)
    )
    if any(value.ball for value in values) and (noise.law != "gaussian" or len(values) > 1):
        raise CertificateError(f"{where}: only Gaussian noise hides a vector of which the length is known")
    return NumbersRelease(noise, values)


def _price(release: NumbersRelease, added: RecordKind, removed: RecordKind | None) -> Price:
    moves = [value.moved(added, removed) for value in release.values]
    return LAWS[release.noise.law](release.noise, moves, removed is not None)


def _spent(listed: Listed, samples: list[Sample], added: RecordKind, removed: RecordKind | None) -> Spent:
    """Return what all releases of a path cost for one pair of kinds."""
    spent = Spent()
    for release, counted in listed:
        price = _price(release, added, removed)
        spent.add(release.noise, price, counted, samples, is_replaced=removed is not None)
    return spent
