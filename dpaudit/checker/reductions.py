"""What do any number of numbers come to, beside one of them? Reductions of a certificate, written out for one record.

A sum, a largest number, a quantile of any count of numbers is, where all numbers but one stand still, a function of
that one and of what the others come to: a few further variables within known ranges. The lemmas are in
``docs/certificate.md``.
"""

from __future__ import annotations

from typing import Any

from dpaudit.checker.intervals import ONE, ZERO, Interval, add, hull, mul, neg
from dpaudit.checker.movement import MOST_NODES, plain_range, read_nodes
from dpaudit.checker.reading import CertificateError, ForgedError, items, rational, shown, whole

MOST = 2**30
"""Any number of numbers is from 1 to this."""
REDUCTIONS = ("total", "largest", "smallest", "product", "quantile", "steps")
_SHARE: Interval = (0, ONE)
_COUNT: Interval = (ONE, MOST * ONE)
_MOST_VARIABLES = 200
_MOST_EXPONENT = 10**6


class Written:
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
        found: dict[int, int] = {}

        def copied(place: int) -> int:
            if place not in found:
                kind, *rest = self._given[place]
                if not self._free[place]:
                    found[place] = self.places[place]
                elif kind == "var":
                    if rest[0] and following is None:
                        raise ForgedError("a reduction of single numbers of what follows them")
                    found[place] = following if rest[0] and following is not None else first
                elif kind == "place":
                    if following is not None:
                        raise ForgedError("a place within a sum over neighbours")
                    self._place = self._variable(_COUNT) if self._place is None else self._place
                    found[place] = self._place
                else:
                    found[place] = self._put(kind, *_with(kind, rest, [copied(each) for each in _parts(kind, rest)]))
            return found[place]

        needed, todo = set[int](), [root]
        while todo:
            place = todo.pop()
            if place not in needed:
                needed.add(place)
                kind, *rest = self._given[place]
                todo += _parts(kind, rest) if self._free[place] and kind not in ("var", "place") else []
        for place in sorted(needed):  # each of earlier ones, so that none is too deep
            copied(place)
        return found[root]

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
    written = Written(nodes, ZERO)
    low, high = written.range(written.places[place])
    return bool(low) if low == high and public[place] else None


def _others(one: Interval) -> Interval:
    """Return the range of a sum of up to so many numbers that are within a range each."""
    return mul((0, (MOST - 1) * ONE), hull(one, ZERO))


def _parts(kind: str, rest: list[Any]) -> list[Any]:
    return rest[:1] if kind in ("pow", "mod") else rest


def _with(kind: str, rest: list[Any], parts: list[int]) -> list[Any]:
    return rest if kind == "const" else [*parts, *rest[1:]] if kind in ("pow", "mod") else parts


__all__ = ["MOST", "REDUCTIONS", "Written", "settled"]
