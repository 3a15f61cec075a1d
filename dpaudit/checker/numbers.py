"""Which numbers are made of the records, and how far does each kind of record move them?

A number is a vector. What a row adds to it is a few of its places, each with the least and the most; all other places
stay as they are. Numbers that are made of rows are at the bottom, and functions of numbers are made of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpaudit.checker.curves import Curved, norm, product_moved, range_of, range_of_sums
from dpaudit.checker.expressions import ColumnExpressions, may_be
from dpaudit.checker.ranges import EITHER, Number, NumberRange, Value, both, hull, plain
from dpaudit.checker.reading import CertificateError, Steps, expression, fields, items, point, rational, whole

MOST_ROWS = 10_000
MOST_NUMBERS = 20_000
MOST_PLACES = 100_000  # of a number
MOST_OF_PERSON = 1_000_000
Moves = dict[int, tuple[Number, Number]]
"""How far places move, at least and at most; places that are not there do not."""
Cells = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Which data are neighbours: one record more or another one, or all records of a person."""

    is_replaced: bool
    person: str | None


@dataclass(frozen=True, slots=True)
class ChangingRows:
    """Some rows of the data, and how many of them come and go between neighbours."""

    origin: int  # the rows by which it is decided which rows come and go: all, those of a bound or of a choice
    masks: tuple[int, ...] = ()  # expressions that hold for each of them
    matches: tuple[int, ...] = ()  # columns that number the rows of tables that they matched
    above: tuple[int, ...] = ()  # those of them that were matched after the origin: a row of it is here once for each
    sample: int | None = None  # of which they are
    # coming, going: how many rows of the origin at most; None for any number
    coming: int | None = 1
    going: int | None = 0
    exact: bool = True  # whether exactly so many come and go
    own: bool = True  # whether those that come and go are rows of the record, or of the person, that does


def read_rows(
    given: object, expressions: ColumnExpressions, samples: Sequence[str], scope: Neighbourhood
) -> list[ChangingRows]:
    """Return the rows that a certificate lists.

    Args:
        given: as the certificate has them.
        expressions: for masks.
        samples: for each sample what a coin is drawn for, "records" or "persons".
        scope: which data are neighbours.
    """
    rows: list[ChangingRows] = []
    for number, each in enumerate(items(given, "rows", MOST_ROWS, 1)):
        where = f"rows {number}"
        kind = each.get("kind") if type(each) is dict else None
        if type(kind) is not str or kind not in _ROWS:
            raise CertificateError(f"{where}: rows are of a kind, one of {', '.join(_ROWS)}")
        if (kind == "all") is not (number == 0):
            raise CertificateError(f"{where}: rows 0 are all, and no others")
        each = fields(each, {"kind", *_ROWS[kind]}, where)
        if kind == "all":
            unbounded, going = scope.person is not None, 1 if scope.is_replaced else 0
            rows.append(
                ChangingRows(
                    0, coming=None if unbounded else 1, going=None if unbounded else going, exact=not unbounded
                )
            )
            continue
        of = rows[whole(each["of"], f"{where}: of", 0, number - 1)]
        rows.append(_derived(kind, each, of, number, where, (expressions, samples, scope)))
    return rows


_ROWS: dict[str, tuple[str, ...]] = {
    "all": (),
    "kept": ("of", "mask"),
    "sampled": ("of", "sample"),
    "bounded": ("of", "most"),
    "chosen": ("of", "in", "out"),
    "matched": ("of", "column"),
}


def _derived(
    kind: str,
    given: dict[str, Any],
    of: ChangingRows,
    number: int,
    where: str,
    told: tuple[ColumnExpressions, Sequence[str], Neighbourhood],
) -> ChangingRows:
    expressions, samples, scope = told
    if kind == "kept":
        mask = whole(given["mask"], f"{where}: mask", 0, len(expressions.of) - 1)
        if expressions.of[mask].type != "truth":
            raise CertificateError(f"{where}: a mask is a truth, not a {expressions.of[mask].type}")
        _known_matches(expressions, [mask], of, where)
        return replace(of, masks=(*of.masks, mask))
    if kind == "matched":
        column = whole(given["column"], f"{where}: column", 0, len(expressions.columns) - 1)
        if not expressions.columns[column].match or column in of.matches:
            raise CertificateError(f"{where}: rows are matched by the column of a match, once")
        return replace(of, matches=(*of.matches, column), above=(*of.above, column))
    if kind == "sampled":
        sample = whole(given["sample"], f"{where}: sample", 0, len(samples) - 1)
        if of.origin != 0 or of.matches or of.sample is not None:
            raise CertificateError(f"{where}: a sample is one of the records themselves, or of some that a mask keeps")
        if samples[sample] != ("records" if scope.person is None else "persons"):
            # a person who is left out takes other records along: under a relation of records that gains nothing
            raise CertificateError(f"{where}: coins are drawn for what comes and goes, records or persons")
        return replace(of, sample=sample)
    if kind == "bounded":
        if scope.person is None or of.origin != 0:
            raise CertificateError(
                f"{where}: a bound on each person's rows is one of the records of persons themselves"
            )
        most = whole(given["most"], f"{where}: most", 1, MOST_OF_PERSON)
        return replace(of, origin=number, above=(), coming=most, going=most if scope.is_replaced else 0, exact=False)
    if of.coming is None or of.going is None or of.above:
        raise CertificateError(f"{where}: a choice among rows of which any number may come; bound them first")
    into, out = (whole(given[name], f"{where}: {name}", 0, 1) for name in ("in", "out"))
    coming, going = of.coming * into + of.going * out, of.going * into + of.coming * out
    if max(coming, going) > MOST_OF_PERSON:
        raise CertificateError(f"{where}: more than {MOST_OF_PERSON:,} rows come or go")
    return replace(of, origin=number, coming=coming, going=going, exact=False, own=False)


def _known_matches(expressions: ColumnExpressions, used: Iterable[int], rows: ChangingRows, where: str) -> None:
    for each in used:
        for column in expressions.of[each].columns:
            if expressions.columns[column].match and column not in rows.matches:
                raise CertificateError(f"{where}: an expression of a match that these rows have not")


@dataclass(slots=True)
class Contribution:
    """What rows of each kind add to a number."""

    # rows of one origin come and go together; a number that hangs on no kind has one of its own
    origin: tuple[str, int]
    # coming, going, exact: as of the rows
    coming: int
    going: int
    exact: bool
    columns: tuple[int, ...] = ()  # whose cells are the kinds
    # what a row of a kind adds; kinds that are not there add nothing
    adds: dict[Cells, Moves] = field(default_factory=dict)


@dataclass(slots=True)
class NumberVector:
    """One vector of numbers."""

    kind: str  # how it is made
    size: int  # how many places it has
    whole: bool = False  # whether all of them are whole numbers
    sample: int | None = None  # of the rows
    special: str = ""  # "ball 1", "ball 2", "any_key" or "reports": released by laws of its own; else empty
    given: Any = None  # the fields of the certificate
    of: tuple[int, ...] = ()  # the numbers that it is made of
    used: tuple[int, ...] = ()  # the expressions that it is made of
    rows: int | None = None  # the rows that it is made of
    made: Contribution | None = None  # what rows add, if it is made of rows
    constants: tuple[Number, ...] = ()  # of a linear number, in each place
    ranges: list[NumberRange] | None = None  # what each place can be, where anything asks


class AllNumbers:
    """All numbers of a certificate.

    Attributes:
        of: the numbers.
    """

    def __init__(
        self,
        given: object,
        expressions: ColumnExpressions,
        rows: list[ChangingRows],
        scope: Neighbourhood,
        steps: Steps,
    ) -> None:
        self.expressions, self.rows, self.scope, self.steps = expressions, rows, scope, steps
        self.of: list[NumberVector] = []
        for number, each in enumerate(items(given, "numbers", MOST_NUMBERS, 1)):
            where = f"number {number}"
            kind = each.get("kind") if type(each) is dict else None
            if type(kind) is not str or kind not in _NUMBERS:
                raise CertificateError(f"{where}: a number is of a kind, one of {', '.join(_NUMBERS)}")
            names, read = _NUMBERS[kind]
            self.of.append(read(self, fields(each, {"kind", *names}, where), where))

    # --- reading: numbers made of rows -------------------------------------------------------------------------

    def _rows(self, given: dict[str, Any], where: str) -> tuple[int, ChangingRows]:
        number = whole(given["rows"], f"{where}: rows", 0, len(self.rows) - 1)
        return number, self.rows[number]

    def _expression(self, given: object, kind: str, where: str) -> int:
        number = whole(given, f"{where}: an expression", 0, len(self.expressions.of) - 1)
        if kind != "any" and self.expressions.of[number].type != kind:
            raise CertificateError(f"{where}: of a {self.expressions.of[number].type}, where a {kind} is needed")
        return number

    def _summed(self, given: dict[str, Any], where: str) -> NumberVector:
        """Return a number of rows of which a bounded number come and go."""
        number, rows = self._rows(given, where)
        if rows.coming is None:
            raise CertificateError(f"{where}: a person may have any number of these rows; bound them first")
        of = None if given["of"] is None else self._expression(given["of"], "number", where)
        used = () if of is None else (of,)
        _known_matches(self.expressions, used, rows, where)
        each = None if of is None else self.expressions.of[of]
        return NumberVector(
            kind=given["kind"],
            size=1,
            whole=each is None or each.whole,
            sample=rows.sample,
            given=given,
            used=used,
            rows=number,
        )

    def _sums(self, given: dict[str, Any], where: str) -> NumberVector:
        sums = self._summed(given, where)
        rows = self.rows[sums.rows or 0]
        keys = [self._expression(each, "any", where) for each in items(given["key"], f"{where}: key", 10, 1)]
        _known_matches(self.expressions, keys, rows, where)
        places: dict[tuple[Value, ...], int] = {}
        for place, each in enumerate(items(given["keys"], f"{where}: keys", MOST_PLACES, 1)):
            values = tuple(point(value, where) for value in items(each, f"{where}: a key", len(keys), len(keys)))
            if [_type(value) for value in values] != [self.expressions.of[key].type for key in keys]:
                raise CertificateError(f"{where}: a key is of another type than what it is compared with")
            places[tuple(plain(value) for value in values)] = place
        if len(places) < len(given["keys"]):
            raise CertificateError(f"{where}: two keys are the same")
        sums.size, sums.used, sums.given = len(places), (*sums.used, *keys), {**given, "places": places}
        return sums

    def _any_key(self, given: dict[str, Any], where: str) -> NumberVector:
        sums = self._summed(given, where)
        if self.rows[sums.rows or 0].above:
            raise CertificateError(f"{where}: a record has several rows, and so several keys")
        sums.special = "any_key"
        return sums

    def _ball(self, given: dict[str, Any], where: str) -> NumberVector:
        ball = self._summed({**given, "of": None}, where)
        norm, radius = (
            whole(given["norm"], f"{where}: norm", 1, 2),
            plain(rational(given["radius"], f"{where}: radius")),
        )
        if radius < 0:
            raise CertificateError(f"{where}: a radius is not negative")
        ball.special, ball.whole = f"ball {norm}", False
        return ball

    def _groups(self, given: dict[str, Any], where: str) -> NumberVector:
        number, rows = self._rows(given, where)
        column = whole(given["by"], f"{where}: by", 0, len(self.expressions.columns) - 1)
        if self.expressions.columns[column].match:
            raise CertificateError(f"{where}: groups are told apart by a column of the data")
        low, high = _ends(given, where)
        is_person = self.scope.person is not None and self.expressions.columns[column].name == self.scope.person
        entire = is_person and rows.own
        if rows.coming is None and not entire:
            raise CertificateError(f"{where}: a person may have any number of these rows, and so of groups")
        groups = NumberVector(
            "groups", 1, whole=not _fractions(low, high), sample=rows.sample, given=given, rows=number
        )
        if entire:  # the group of one person comes, goes, or is another's
            low, high = min(low, 0), max(high, 0)
            if self.scope.is_replaced:
                low, high = low - high, high - low
            groups.made = _fixed(len(self.of), low, high)
        return groups

    def _reports(self, given: dict[str, Any], where: str) -> NumberVector:
        number, rows = self._rows(given, where)
        if number != 0 or not self.scope.is_replaced or self.scope.person is not None:
            raise CertificateError(f"{where}: reports are of all records, where one is replaced by another")
        of = self._expression(given["of"], "truth", where)
        _known_matches(self.expressions, [of], rows, where)
        return NumberVector("reports", 1, whole=True, special="reports", given=given, used=(of,), rows=0)

    def _deviations(self, given: dict[str, Any], where: str) -> NumberVector:
        """Return the sum of squared deviations from the mean, of all records, of which one is replaced."""
        number, rows = self._rows(given, where)
        if number != 0 or not self.scope.is_replaced or self.scope.person is not None:
            raise CertificateError(f"{where}: deviations are of all records, where one is replaced by another")
        of = self._expression(given["of"], "number", where)
        _known_matches(self.expressions, [of], rows, where)
        return NumberVector("deviations", 1, given=given, used=(of,), rows=0)

    # --- reading: functions of numbers -------------------------------------------------------------------------

    def _number(self, given: object, where: str) -> tuple[int, NumberVector]:
        number = whole(given, f"{where}: of", 0, len(self.of) - 1)
        if self.of[number].special:
            raise CertificateError(f"{where}: number {number} is released as it is, by a law of its own")
        return number, self.of[number]

    def _stack(self, given: dict[str, Any], where: str) -> NumberVector:
        listed = [self._number(each, where) for each in items(given["of"], f"{where}: of", MOST_PLACES, 1)]
        numbers = [number for _, number in listed]
        if len({each.sample for each in numbers}) > 1:
            raise CertificateError(f"{where}: numbers of different samples")
        size = sum(each.size for each in numbers)
        if size > MOST_PLACES:
            raise CertificateError(f"{where}: more than {MOST_PLACES:,} places")
        return NumberVector(
            "stack",
            size,
            whole=all(each.whole for each in numbers),
            sample=numbers[0].sample,
            given=given,
            of=tuple(number for number, _ in listed),
        )

    def _linear(self, given: dict[str, Any], where: str) -> NumberVector:
        number, of = self._number(given["of"], where)
        goes: dict[int, list[tuple[int, Number]]] = {}
        is_whole, constants = of.whole, []
        rows = items(given["to"], f"{where}: to", MOST_PLACES, 1)
        for place, each in enumerate(rows):
            read = expression(each, {"n": of.size}, where, self.steps)
            for name, coefficient in read.terms.items():
                goes.setdefault(int(name[1:]), []).append((place, plain(coefficient)))
            is_whole = is_whole and all(each.denominator == 1 for each in (read.constant, *read.terms.values()))
            constants.append(plain(read.constant))
        combination = self._of("linear", number, len(rows), whole=is_whole, given=goes)
        combination.constants = tuple(constants)
        return combination

    def _abs(self, given: dict[str, Any], where: str) -> NumberVector:
        number, of = self._number(given["of"], where)
        return self._of("abs", number, of.size, whole=of.whole, given=given)

    def _clip(self, given: dict[str, Any], where: str) -> NumberVector:
        number, of = self._number(given["of"], where)
        ends = [None if given[name] is None else rational(given[name], f"{where}: {name}") for name in ("low", "high")]
        if None not in ends and ends[0] > ends[1]:  # type: ignore[operator]
            raise CertificateError(f"{where}: low is above high")
        known = all(end is not None and end.denominator == 1 for end in ends)
        return self._of("clip", number, of.size, whole=of.whole and known, given=given)

    def _among(self, given: dict[str, Any], where: str) -> NumberVector:
        number, of = self._number(given["of"], where)
        if type(given["middle"]) is not bool:
            raise CertificateError(f"{where}: middle is true or false")
        to: list[list[int | None]] = []
        is_whole = of.whole and not given["middle"]
        for each in items(given["to"], f"{where}: to", MOST_PLACES, 1):
            listed = items(each, f"{where}: to", MOST_PLACES, 1)
            self.steps.spend(len(listed))
            constants = [rational(place, f"{where}: a constant") for place in listed if type(place) is str]
            is_whole = is_whole and None not in listed and all(place.denominator == 1 for place in constants)
            to.append(
                [
                    None if place is None or type(place) is str else whole(place, f"{where}: a place", 0, of.size - 1)
                    for place in listed
                ]
            )
        return self._of("among", number, len(to), whole=is_whole, given=to)

    def _curve(self, given: dict[str, Any], where: str) -> NumberVector:
        number, of = self._number(given["of"], where)
        curve = Curved(given["function"], given["exponent"], where)
        is_whole = of.whole and curve.exponent.denominator == 1 and curve.exponent > 0
        return self._of("curve", number, of.size, whole=is_whole, given=curve)

    def _product(self, given: dict[str, Any], where: str) -> NumberVector:
        (first, one), (second, other) = (self._number(each, where) for each in items(given["of"], where, 2, 2))
        if one.size != other.size or one.sample != other.sample:
            raise CertificateError(f"{where}: a product of numbers of different sizes or samples")
        is_whole = one.whole and other.whole
        return NumberVector("product", one.size, whole=is_whole, sample=one.sample, given=where, of=(first, second))

    def _norm(self, given: dict[str, Any], where: str) -> NumberVector:
        number, _ = self._number(given["of"], where)
        return self._of("norm", number, 1, whole=False, given=given)

    def _of(self, kind: str, number: int, size: int, *, whole: bool, given: Any) -> NumberVector:
        of = self.of[number]
        return NumberVector(kind, size, whole=whole, sample=of.sample, given=given, of=(number,))

    # --- computing ---------------------------------------------------------------------------------------------

    def needed(self, numbers: Iterable[int]) -> set[int]:
        """Return these numbers, and all that they are made of."""
        numbers_needed, waiting = set[int](), list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in numbers_needed:
                numbers_needed.add(number)
                waiting += self.of[number].of
        return numbers_needed

    def settle(self) -> None:
        """Compute what rows of each kind add to every number that is made of rows."""
        for number, each in enumerate(self.of):
            if each.kind == "deviations":
                each.made = self._made_of_deviations(number, each)
            elif each.rows is not None and each.made is None:
                each.made = self._made(number, each)
            elif each.kind == "curve":
                self.ranges(number)
                self._settle_curve(number, each)
            elif each.kind == "product":
                self.ranges(number)

    def _made_of_deviations(self, number: int, of: NumberVector) -> Contribution:
        """Return how far a sum of (xᵢ − xⱼ)²/n moves over all pairs, of which n − 1 hang on the record."""
        each = self.expressions.of[of.used[0]]
        widest: Value = None
        for cells in self.expressions.cells_of(each.columns):
            self.steps.spend(1)
            value = _bounded(each.values[cells], number)
            widest = value if widest is None else hull(widest, value)
        ends = NumberRange.of(widest)
        square = plain(Fraction(ends.high - ends.low) ** 2)
        return _fixed(number, -square, square)

    def _settle_curve(self, number: int, of: NumberVector) -> None:
        """Of several rows that come or go, let a curve move by as much as they move it at most, of whatever kinds.

        It moves farther by a row of each of two kinds than the mean of what two rows of either move it.
        """
        needed = sorted(self.needed(of.of))
        made = {each: self.of[each].made for each in needed}
        if all(each is None or max(each.coming, each.going) <= 1 for each in made.values()):
            return
        farthest = {number: _farthest(each) for number, each in made.items() if each is not None}
        self.steps.spend(sum(len(each.adds) + 1 for each in made.values() if each is not None))
        moves = _FUNCTIONS["curve"](self, of, [self.moves(needed, farthest)[each] for each in of.of])
        of.made = Contribution(("number", number), 1, 0, True, adds={(): moves})

    def ranges(self, number: int) -> list[NumberRange]:
        """Return what each place of a number can be, whatever the data are."""
        of = self.of[number]
        if of.ranges is None:
            self.steps.spend(of.size)
            of.ranges = self._ranges(of, [self.ranges(each) for each in of.of])
        return of.ranges

    def _ranges(self, of: NumberVector, inner: list[list[NumberRange]]) -> list[NumberRange]:
        self.steps.spend(sum(map(len, of.given.values())) if of.kind == "linear" else of.size)
        if of.kind in ("sum", "sums") and of.made is not None:
            return range_of_sums(of.made.adds.values(), of.size)
        if of.kind == "groups":
            return range_of_sums([{0: _ends(of.given, "groups")}], 1)
        return range_of(of.kind, of.given, inner, of.constants, of.size)

    def _made(self, number: int, of: NumberVector) -> Contribution:
        rows = self.rows[of.rows or 0]
        seen = [self.expressions.of[each] for each in (*rows.masks, *of.used)]
        columns = sorted({column for each in seen for column in each.columns} | set(rows.above))
        kinds = [place for place, column in enumerate(columns) if column not in rows.above]
        at = [(each.values, [columns.index(column) for column in each.columns]) for each in seen]
        made = Contribution(
            ("rows", rows.origin), rows.coming or 0, rows.going or 0, rows.exact, tuple(columns[k] for k in kinds)
        )
        for cells in self.expressions.cells_of(columns):
            values = [inner[tuple(cells[place] for place in places)] for inner, places in at]
            here: Value = True
            for mask in values[: len(rows.masks)]:
                here = both(here, mask)
            if here is False:
                continue
            values = values[len(rows.masks) :]
            self.steps.spend(1)
            adds = made.adds.setdefault(tuple(cells[place] for place in kinds), {})
            for place, low, high in _ADDS[of.kind](of, values, number):
                if here is EITHER:
                    low, high = min(low, 0), max(high, 0)
                before = adds.get(place, (0, 0))
                adds[place] = plain(before[0] + low), plain(before[1] + high)
        return made

    def moves(self, needed: Sequence[int], made: Mapping[int, Moves]) -> dict[int, Moves]:
        """Return how far numbers move.

        Args:
            needed: the numbers, rising, with all that they are made of.
            made: how far those move that are made of rows; what is not there does not.
        """
        moves: dict[int, Moves] = {}
        for number in needed:
            of = self.of[number]
            if of.made is not None:
                moves[number] = made.get(number, {})
            else:
                moves[number] = _FUNCTIONS[of.kind](self, of, [moves[each] for each in of.of])
            self.steps.spend(1 + len(moves[number]))
        return moves

    def _moved_stack(self, of: NumberVector, inner: list[Moves]) -> Moves:
        stacked, start = {}, 0
        for number, moves in zip(of.of, inner, strict=True):
            stacked.update({start + place: ends for place, ends in moves.items()})
            start += self.of[number].size
        self.steps.spend(len(of.of))
        return stacked

    def _moved_linear(self, of: NumberVector, inner: list[Moves]) -> Moves:
        moves: Moves = {}
        for place, (low, high) in inner[0].items():
            for to, factor in of.given.get(place, ()):
                ends = (factor * low, factor * high) if factor > 0 else (factor * high, factor * low)
                before = moves.get(to, (0, 0))
                moves[to] = plain(before[0] + ends[0]), plain(before[1] + ends[1])
            self.steps.spend(len(of.given.get(place, ())))
        return moves

    def _moved_abs(self, of: NumberVector, inner: list[Moves]) -> Moves:
        return {place: (-max(-low, high), max(-low, high)) for place, (low, high) in inner[0].items()}

    def _moved_clip(self, of: NumberVector, inner: list[Moves]) -> Moves:
        return {place: (min(low, 0), max(high, 0)) for place, (low, high) in inner[0].items()}

    def _moved_among(self, of: NumberVector, inner: list[Moves]) -> Moves:
        moves = {}
        for to, places in enumerate(of.given):
            self.steps.spend(len(places))
            ends = [(0, 0) if place is None else inner[0].get(place, (0, 0)) for place in places]
            low, high = min(low for low, _ in ends), max(high for _, high in ends)
            if low or high:
                moves[to] = low, high
        return moves

    def _moved_curve(self, of: NumberVector, inner: list[Moves]) -> Moves:
        ranges = self.ranges(of.of[0])
        self.steps.spend(20 * len(inner[0]))
        return {place: of.given.moved(ranges[place], ends) for place, ends in inner[0].items()}

    def _moved_product(self, of: NumberVector, inner: list[Moves]) -> Moves:
        one, other = (self.ranges(each) for each in of.of)
        places = sorted({*inner[0], *inner[1]})
        self.steps.spend(4 * len(places))
        return {
            place: product_moved((one[place], other[place]), (inner[0].get(place, (0, 0)), inner[1].get(place, (0, 0))))
            for place in places
        }

    def _moved_norm(self, of: NumberVector, inner: list[Moves]) -> Moves:
        self.steps.spend(20 + len(inner[0]))
        far = norm(inner[0].values())
        return {0: (-far, far)} if far else {}


def _farthest(made: Contribution) -> Moves:
    """Return how far rows of any kinds move a number, as many as come and go."""
    ends: Moves = {}
    for adds in made.adds.values():
        for place, (low, high) in adds.items():
            before = ends.get(place, (0, 0))
            ends[place] = min(before[0], low), max(before[1], high)
    return {
        place: (made.coming * low - made.going * high, made.coming * high - made.going * low)
        for place, (low, high) in ends.items()
    }


def _fixed(number: int, low: Number, high: Number, size: int = 1) -> Contribution:
    """Return what moves within the same ends, whatever the records are."""
    moves = dict.fromkeys(range(size), (low, high))
    return Contribution(("number", number), 1, 0, True, adds={(): moves})


def _type(value: Value) -> str:
    return "number" if isinstance(value, Fraction) else "text" if isinstance(value, str) else "truth"


def _fractions(*numbers: Number) -> bool:
    return any(type(number) is Fraction for number in numbers)


def _ends(given: dict[str, Any], where: str) -> tuple[Number, Number]:
    low, high = (plain(rational(given[name], f"{where}: {name}")) for name in ("low", "high"))
    if low > high:
        raise CertificateError(f"{where}: low is above high")
    return low, high


def _bounded(value: Value, number: int) -> NumberRange:
    """Return the ends of a value that is there, and bounded."""
    if value is None or (
        type(value) is NumberRange and (value.missing or float in (type(value.low), type(value.high)))
    ):
        raise CertificateError(f"number {number}: of values that may be missing, or have no end")
    return NumberRange.of(value)


def _adds_to_sum(of: NumberVector, values: list[Value], number: int) -> Iterable[tuple[int, Number, Number]]:
    each = _bounded(values[0], number) if of.given["of"] is not None else NumberRange(1, 1)
    keys = values[1:] if of.given["of"] is not None else values
    if of.kind == "any_key" and each.low <= 0 <= each.high:
        raise CertificateError(f"number {number}: a key is there although what is added to it may be 0; count its rows")
    if of.kind != "sums":
        return [(0, each.low, each.high)]
    if not any(type(key) is NumberRange or key is EITHER for key in keys):
        place = of.given["places"].get(tuple(keys))
        return [] if place is None else [(place, each.low, each.high)]
    possible = [place for key, place in of.given["places"].items() if all(map(may_be, keys, key))]
    return [(place, min(each.low, 0), max(each.high, 0)) for place in possible]


def _adds_to_ball(of: NumberVector, values: list[Value], number: int) -> Iterable[tuple[int, Number, Number]]:
    radius = plain(rational(of.given["radius"], "radius"))
    return [(0, -radius, radius)]


def _adds_to_groups(of: NumberVector, values: list[Value], number: int) -> Iterable[tuple[int, Number, Number]]:
    low, high = _ends(of.given, "groups")
    return [(0, min(low, low - high), max(high, high - low))]


def _adds_to_reports(of: NumberVector, values: list[Value], number: int) -> Iterable[tuple[int, Number, Number]]:
    return [(0, 0, 1)] if values[0] is EITHER else [(0, int(values[0]), int(values[0]))]


_ADDS = {
    "sum": _adds_to_sum,
    "sums": _adds_to_sum,
    "any_key": _adds_to_sum,
    "ball": _adds_to_ball,
    "groups": _adds_to_groups,
    "reports": _adds_to_reports,
}
_FUNCTIONS = {
    "stack": AllNumbers._moved_stack,
    "linear": AllNumbers._moved_linear,
    "abs": AllNumbers._moved_abs,
    "clip": AllNumbers._moved_clip,
    "among": AllNumbers._moved_among,
    "curve": AllNumbers._moved_curve,
    "product": AllNumbers._moved_product,
    "norm": AllNumbers._moved_norm,
}
_NUMBERS: dict[str, tuple[tuple[str, ...], Callable[[AllNumbers, dict[str, Any], str], NumberVector]]] = {
    "sum": (("rows", "of"), AllNumbers._summed),
    "sums": (("rows", "of", "key", "keys"), AllNumbers._sums),
    "any_key": (("rows", "of"), AllNumbers._any_key),
    "ball": (("rows", "norm", "radius"), AllNumbers._ball),
    "groups": (("rows", "by", "low", "high"), AllNumbers._groups),
    "reports": (("rows", "of"), AllNumbers._reports),
    "stack": (("of",), AllNumbers._stack),
    "linear": (("of", "to"), AllNumbers._linear),
    "abs": (("of",), AllNumbers._abs),
    "clip": (("of", "low", "high"), AllNumbers._clip),
    "among": (("of", "to", "middle"), AllNumbers._among),
    "deviations": (("rows", "of"), AllNumbers._deviations),
    "curve": (("of", "function", "exponent"), AllNumbers._curve),
    "product": (("of",), AllNumbers._product),
    "norm": (("of",), AllNumbers._norm),
}
"""Kinds of numbers: the fields that they have, and their reader."""
