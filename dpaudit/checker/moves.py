"""Do releases of n numbers prove their bound? Each is of expressions, which trees show to move no farther.

A number with noise costs by how far it moves; the largest of several numbers with noise, and a choice by exponentials
of scores, by how far differences of scores move; a choice by other chances, by how far their logarithms move
(``docs/certificate.md``). Of any number of numbers there are reductions, which are written out for one of them.

A sum, a largest number, a quantile of any count of numbers is, where all numbers but one stand still, a function of
that one and of what the others come to: a few further variables within known ranges. The lemmas are in
``docs/certificate.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpaudit.checker.certificate import ROUNDED, CertificateHead, Checked
from dpaudit.checker.intervals import ONE, ZERO, Interval, add, exact, hull, mul, neg
from dpaudit.checker.movement import (
    MOST_NODES,
    MOST_NUMBERS,
    MovedExpression,
    Node,
    check_defined,
    check_tree,
    plain_range,
    read_nodes,
)
from dpaudit.checker.prices import LargestByRules, Price, read_notion
from dpaudit.checker.reading import CertificateError, ForgedError, Steps, fields, items, rational, shown, text, whole
from dpaudit.checker.reals import pure_rho

# --- What do any number of numbers come to, beside one of them? ------------------------------------------

MOST = 2**30
"""Any number of numbers is from 1 to this."""
REDUCTIONS = ("total", "largest", "smallest", "product", "quantile", "steps")
_SHARE: Interval = (0, ONE)
_COUNT: Interval = (ONE, MOST * ONE)
_MOST_VARIABLES = 200
_MOST_EXPONENT = 10**6


class WrittenOut:
    """The nodes of a certificate, with every reduction written out beside one record.

    Args:
        given: the nodes. ``["var", 0]`` is any one of the numbers, ``["var", 1]`` the one that follows it, and
            ``["place"]`` where it stands, from 1; ``["count"]`` is how many there are. ``["total", i]``, ``largest``,
            ``smallest``, ``product`` and ``["quantile", i, q]`` are of node i over all numbers, ``["steps", i]`` is the
            sum of node i over all neighbours.
        within: the range of each number.

    Attributes:
        nodes: plain operations, of variable 0, which is the record that is replaced, and of what the others come to.
        box: the range of every variable.
        places: where a node of the certificate stands among them, for those that hang on no single number.
    """

    def __init__(self, given: object, within: Interval) -> None:
        self._given = [items(each, f"node {k}", 3, 1) for k, each in enumerate(items(given, "nodes", MOST_NODES, 1))]
        self._within = within
        self.box: list[Interval] = [within]
        self.nodes: list[list[Any]] = []
        self.places: dict[int, int] = {}
        self._known: dict[tuple[Any, ...], int] = {}
        self._count: int | None = None
        self._place: int | None = None
        self._free: list[bool] = []  # whether it hangs on single numbers
        self._public: list[bool] = []  # whether it hangs on none, nor on a reduction of them
        for place in range(len(self._given)):
            self._read(place)

    def _read(self, place: int) -> None:
        where = f"node {place}"
        kind, *rest = self._given[place]
        if type(kind) is not str:
            raise CertificateError(f"{where}: it begins with a word, not with {shown(kind)}")
        free = public = False
        if kind in REDUCTIONS:
            if len(rest) != (2 if kind == "quantile" else 1):
                raise CertificateError(f"{where}: no reduction {shown(kind)} of {len(rest)}")
            of = whole(rest[0], where, 0, place - 1)
            if kind == "quantile" and not 0 <= rational(rest[1], where) <= 1:
                raise CertificateError(f"{where}: a quantile is from 0 to 1")
            self.places[place] = self._reduced(kind, of, where)
        elif kind in ("var", "place"):
            free = True
            if len(rest) != (kind == "var"):
                raise CertificateError(f"{where}: no {kind} of {len(rest)}")
            if rest:
                whole(rest[0], where, 0, 1)
        elif kind == "count" and not rest:
            public = True
            self._count = self._variable(_COUNT) if self._count is None else self._count
            self.places[place] = self._count
        elif kind == "const" and len(rest) == 1:
            public = True
            rational(rest[0], where)
            self.places[place] = self._put(kind, *rest)
        else:
            parts = [whole(each, where, 0, place - 1) for each in _parts(kind, rest)]
            if len(parts) < len(rest):
                whole(rest[-1], where, 0, _MOST_EXPONENT)
            free = any(self._free[each] for each in parts)
            public = bool(parts) and all(self._public[each] for each in parts)
            if free and not all(self._free[each] or self._public[each] for each in parts):
                raise ForgedError(f"{where}: a single number together with what all of them come to")
            if not free:
                self.places[place] = self._put(kind, *_with(kind, rest, [self.places[each] for each in parts]))
        self._free.append(free)
        self._public.append(public)

    # --- what is written out ----------------------------------------------------------------------------------

    def _put(self, *node: Any) -> int:
        if node not in self._known:
            if len(self.nodes) >= MOST_NODES:
                raise CertificateError(f"reductions that take more than {MOST_NODES:,} operations")
            self._known[node] = len(self.nodes)
            self.nodes.append(list(node))
        return self._known[node]

    def _variable(self, within: Interval) -> int:
        if len(self.box) >= _MOST_VARIABLES:
            raise CertificateError(f"more than {_MOST_VARIABLES} reductions")
        self.box.append(within)
        return self._put("var", len(self.box) - 1)

    def _copied(self, root: int, first: int, following: int | None) -> int:
        """Write an expression of one number, or of two that follow each other, of these variables."""
        copies: dict[int, int] = {}

        def copied(place: int) -> int:
            if place not in copies:
                kind, *rest = self._given[place]
                if not self._free[place]:
                    copies[place] = self.places[place]
                elif kind == "var":
                    if rest[0] and following is None:
                        raise ForgedError("a reduction of single numbers of what follows them")
                    copies[place] = following if rest[0] and following is not None else first
                elif kind == "place":
                    if following is not None:
                        raise ForgedError("a place within a sum over neighbours")
                    self._place = self._variable(_COUNT) if self._place is None else self._place
                    copies[place] = self._place
                else:
                    copies[place] = self._put(kind, *_with(kind, rest, [copied(each) for each in _parts(kind, rest)]))
            return copies[place]

        needed, todo = set[int](), [root]
        while todo:
            place = todo.pop()
            if place not in needed:
                needed.add(place)
                kind, *rest = self._given[place]
                todo += _parts(kind, rest) if self._free[place] and kind not in ("var", "place") else []
        for place in sorted(needed):  # each of earlier ones, so that none is too deep
            copied(place)
        return copies[root]

    def range(self, place: int) -> Interval:
        """Return the range of a written node, whatever its variables are."""
        return plain_range(read_nodes(self.nodes[: place + 1], len(self.box)), self.box)[place]

    def _reduced(self, kind: str, of: int, where: str) -> int:
        if not (self._free[of] or self._public[of]):
            raise ForgedError(f"{where}: a reduction of what all numbers come to")
        record = self._put("var", 0)
        if kind == "steps":
            return self._steps(of, record)
        value = self._copied(of, record, None)
        low, high = self.range(value)
        if kind == "total":
            return self._put("add", self._variable(_others((low, high))), value)
        if kind in ("largest", "smallest"):
            return self._put("max" if kind == "largest" else "min", self._variable((low, high)), value)
        if kind == "quantile":
            share = self._variable(_SHARE)
            rest = self._variable(add((low, high), neg(mul(_SHARE, (low, high)))))
            return self._put("add", rest, self._put("mul", share, value))
        if not (low >= -ONE and high <= ONE):
            raise ForgedError(f"{where}: a product of what may be larger than 1")
        return self._put("mul", self._variable((0 if low >= 0 else -ONE, ONE)), value)

    def _steps(self, of: int, record: int) -> int:
        """Σ of neighbours: what does not touch the record, and a share (0 or 1) of the step to it and from it."""
        before, after = self._variable(self._within), self._variable(self._within)
        into, out = self._copied(of, before, record), self._copied(of, record, after)
        rest = self._variable(_others(hull(self.range(into), self.range(out))))
        first, second = (self._put("mul", self._variable(_SHARE), each) for each in (into, out))
        return self._put("add", rest, self._put("add", first, second))


def settled(given: list[list[Any]], place: int) -> bool | None:
    """Return whether a condition holds however many numbers there are; None where that decides it."""
    public, nodes = list[bool](), list[list[Any]]()
    for kind, *rest in given[: place + 1]:
        inner = rest[:1] if kind in ("pow", "mod") else rest
        known = kind in ("const", "count") or (
            kind not in ("var", "place", *REDUCTIONS) and all(public[each] for each in inner)
        )
        public.append(known)
        nodes.append([kind, *rest] if known else ["const", "0"])
    written = WrittenOut(nodes, ZERO)
    low, high = written.range(written.places[place])
    return bool(low) if low == high and public[place] else None


def _others(one: Interval) -> Interval:
    """Return the range of a sum of up to so many numbers that are within a range each."""
    return mul((0, (MOST - 1) * ONE), hull(one, ZERO))


def _parts(kind: str, rest: list[Any]) -> list[Any]:
    return rest[:1] if kind in ("pow", "mod") else rest


def _with(kind: str, rest: list[Any], parts: list[int]) -> list[Any]:
    return rest if kind == "const" else [*parts, *rest[1:]] if kind in ("pow", "mod") else parts


_SCOPE = {"data", "container", "length", "low", "high", "relation", "parameters"}
ROUNDING = Fraction(1, 10**9)
"""By how much scales count as larger than they are written, relatively: they are floats."""
_GIVEN = "its scales are not smaller than written by more than one part in 10⁹, which floats are not"
_MOST_STEPS, _MOST_STEPS_OF_NODES = 200_000_000, 100_000_000
_MOST_MOVES, _MOST_RELEASES, _MOST_OF_RELEASE = 10_000, 10_000, 1_000
_ADDED = ("laplace", "gaussian")
_SELECTED = ("laplace", "gumbel", "exponential")
_CHOSEN = ("exponentials", "")
_UNTOLD = (
    "That the program computes these expressions and makes these releases and no others is not checked here: it rests "
    "on the reading of the program."
)


def check(given: dict[str, Any]) -> Checked:
    """Check a certificate of releases of numbers."""
    head = CertificateHead.read(given, {"notion", "delta", "nodes", "moves", "releases"}, _SCOPE)
    scope = head.scope
    for name, known in (("data", ("numbers",)), ("container", ("list", "array")), ("relation", ("replace",))):
        head.one_of(name, known)
    length = scope["length"]
    count = f"any number of numbers, up to {MOST:,}," if length == "any" else f"{length} numbers"
    if length != "any":
        whole(length, "scope: the length", 1, MOST_NUMBERS)
    low, high = rational(scope["low"], "scope: low"), rational(scope["high"], "scope: high")
    if low > high:
        raise CertificateError("scope: low is above high")
    bound, sentences = check_moves(given, length, side(low, high), Steps(_MOST_STEPS))
    holds = (
        f"It holds for {scope['container']}s of {count} from {scope['low']} to {scope['high']}, "
        "of which one is replaced by another."
    )
    delta, told = rational(given["delta"], "delta"), [holds, *sentences, _UNTOLD]
    return head.proved("releases", bound, told, room=4 * ROUNDED, notion=given["notion"], delta=delta, given=(_GIVEN,))


def side(low: Fraction, high: Fraction) -> Interval:
    """Return the range of each number."""
    return exact(low)[0], exact(high)[1]


@dataclass(frozen=True, slots=True)
class MovedExpressions:
    """The expressions of a certificate."""

    written: list[list[Any]]  # plain operations, as they are written
    nodes: list[Node]  # the same, as they are read
    box: tuple[Interval, ...]  # the range of every variable
    places: Mapping[int, int]  # where a node of the certificate stands among them
    replaced: range  # which variables may be replaced

    @classmethod
    def of(cls, given: object, length: int | Literal["any"], within: Interval) -> MovedExpressions:
        """Read the nodes of a certificate; of any number of numbers, with reductions written out for one of them."""
        if length == "any":
            written = WrittenOut(given, within)
            nodes = read_nodes(written.nodes, len(written.box))
            return cls(written.nodes, nodes, tuple(written.box), written.places, range(1))
        nodes = read_nodes(given, length)
        places = {place: place for place in range(len(nodes))}
        return cls(list(items(given, "nodes", MOST_NODES)), nodes, (within,) * length, places, range(length))

    @property
    def ranges(self) -> list[tuple[Fraction, Fraction]]:
        """The range of every variable, in fractions."""
        return [(Fraction(low, ONE), Fraction(high, ONE)) for low, high in self.box]

    def place(self, given: object, where: str) -> int:
        """Return where a node of the certificate stands."""
        place = whole(given, where, 0, MOST_NODES)
        if place not in self.places:
            raise CertificateError(f"{where}: node {place} is no number, or a single one of the data")
        return self.places[place]


def check_nodes(given: object, length: int | Literal["any"], within: Interval) -> MovedExpressions:
    """Return the expressions of operations, which are defined wherever all numbers are within their range."""
    expressions = MovedExpressions.of(given, length, within)
    check_defined(expressions.nodes, expressions.box, Steps(_MOST_STEPS_OF_NODES))
    return expressions


def check_moves(
    given: dict[str, Any], length: int | Literal["any"], within: Interval, steps: Steps
) -> tuple[Fraction, list[str]]:
    """Return the bound that the releases show, and what was checked.

    Args:
        given: the certificate.
        length: how many numbers the data are, or "any" for any number of them.
        within: the range of each.
        steps: the counter of the work.

    Returns:
        The bound in the notion of the certificate, and sentences for people.

    Raises:
        ForgedError: if a tree does not show its bound, or the expressions may be undefined.
        CertificateError: if it is not in this format, or too large.
    """
    expressions = MovedExpressions.of(given["nodes"], length, within)
    check_defined(expressions.nodes, expressions.box, steps)
    moves: dict[int, list[Fraction]] = {}
    parts = 0
    for number, each in enumerate(items(given["moves"], "moves", _MOST_MOVES)):
        node, most, count = _move(each, f"move {number}", expressions, steps)
        if node in moves:
            raise ForgedError(f"move {number}: node {node} is listed twice")
        moves[node] = most
        parts += count
    many = len(expressions.nodes)
    return _priced(given, expressions, moves), [
        f"There are {len(given['releases']):,} releases of {many:,} operations, defined on the whole domain.",
        f"How far they move is shown by {parts:,} parts of boxes, whichever number is replaced.",
    ]


def price(given: dict[str, Any], expressions: MovedExpressions) -> Fraction:
    """Return the bound that releases have, taking for granted how far numbers move them."""
    moves = {expressions.places[each["node"]]: list(map(Fraction, each["most"])) for each in given["moves"]}
    return _priced(given, expressions, moves)


def _priced(given: dict[str, Any], expressions: MovedExpressions, moves: dict[int, list[Fraction]]) -> Fraction:
    """Return the bound that releases have, where each number moves nodes no farther than so far."""
    notion, delta = read_notion(given, 1)
    largest = LargestByRules(notion, delta, alone=True)
    for replaced in expressions.replaced:
        total = Price()
        for number, each in enumerate(items(given["releases"], "releases", _MOST_RELEASES)):
            total = total.plus(_price(each, f"release {number}", expressions, moves, replaced), 1)
        largest.add(total)
    return largest.bound()


def _move(given: object, where: str, expressions: MovedExpressions, steps: Steps) -> tuple[int, list[Fraction], int]:
    """Check how far each number moves one expression; return it, how far, and how many parts show it."""
    move, many = fields(given, {"node", "most", "trees"}, where), len(expressions.replaced)
    nodes, node = expressions.nodes, expressions.place(move["node"], f"{where}: node")
    most = [rational(each, f"{where}: most") for each in items(move["most"], f"{where}: most", many, many)]
    if min(most) < 0:
        raise CertificateError(f"{where}: the most is not below 0")
    parts = 0
    for replaced, trees in enumerate(items(move["trees"], f"{where}: trees", many, many)):
        if not nodes[node].depends >> replaced & 1:
            items(trees, f"{where}: trees of number {replaced}, which it does not hang on", 0)
            continue
        expression, box = MovedExpression(nodes, node, replaced, steps), (*expressions.box, expressions.box[replaced])
        for sign, tree in zip((1, -1), items(trees, f"{where}: trees", 2, 2), strict=True):
            check_tree(expression, box, sign, exact(most[replaced]), tree, f"{where}, number {replaced}")
            parts += len(tree)
    return node, most, parts


def _price(
    given: object, where: str, expressions: MovedExpressions, moves: dict[int, list[Fraction]], replaced: int
) -> Price:
    release = fields(given, {"how", "law", "scale", "values", "line"}, where)
    how, law = release["how"], release["law"]
    scale = rational(release["scale"], f"{where}: scale")
    if scale <= 0:
        raise CertificateError(f"{where}: a scale is positive")
    text(release["line"], f"{where}: line")
    listed = items(release["values"], f"{where}: values", _MOST_OF_RELEASE, 1)
    places = [expressions.place(each, f"{where}: a value") for each in listed]
    moving = [place for place in places if expressions.nodes[place].depends >> replaced & 1]
    loose = [place for place in moving if place not in moves]
    if loose:
        raise ForgedError(f"{where}: nothing shows how far node {loose[0]} moves")
    far = max((moves[place][replaced] for place in moving), default=Fraction(0)) / (scale * (1 + ROUNDING))
    none = Fraction(0)
    if how == "added" and type(how) is str and law in _ADDED and len(places) == 1:
        if law == "gaussian":
            return Price(far and None, far**2 / 2, far**2, none, gaussian=far**2)
        return Price(far, pure_rho(far), far and None, none, other=far)
    selected = how == "selected" and type(how) is str and law in _SELECTED
    if selected or (how == "chosen" and type(how) is str and law in _CHOSEN and scale == 1):
        is_range = law in ("gumbel", "exponentials")  # what is lost lies in an interval of this length
        return Price(far, far**2 / 8 if is_range else pure_rho(far), far and None, none, other=far)
    raise CertificateError(f"{where}: no release {shown(how)} by {shown(law)} of {len(places)} values")


__all__ = [
    "MOST",
    "MOST_NUMBERS",
    "REDUCTIONS",
    "ROUNDING",
    "MovedExpressions",
    "WrittenOut",
    "check_moves",
    "check_nodes",
    "price",
    "settled",
    "side",
]
