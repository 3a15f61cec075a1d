"""What a certificate of releases describes, done on real lists of records: slow, one record at a time, no cells.

The twin of the checker: it computes expressions, rows and numbers of two neighbouring lists, and what their releases
lose. Choices are made in one way among those that the certificate allows for: rows without repeats of a column.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from fractions import Fraction


def read(value):
    tag, *given = value
    return None if tag == "missing" else Fraction(given[0]) if tag == "number" else given[0]


def expression(certificate, number, record, match=0):
    """The value of an expression for a record, a dict from column to value."""
    each = certificate["expressions"][number]
    of = [expression(certificate, inner, record, match) for inner in each["of"]]
    name = each["op"]
    if name == "column":
        column = certificate["columns"][each["column"]]
        return Fraction(match) if column["type"] == "match" else record[column["name"]]
    if name == "constant":
        return read(each["value"])
    if name in ("is_missing",):
        return of[0] is None
    if name == "fill":
        return of[1] if of[0] is None else of[0]
    if name == "where":
        return of[1] if of[0] else of[2]
    if name == "lookup":
        found = {tuple(map(read, row[:-1])): read(row[-1]) for row in each["table"]}
        return found.get(tuple(of), read(each["other"]))
    if name in ("less", "less_equal", "equal"):
        x, y = of
        if None in of:
            return False
        return x < y if name == "less" else x <= y if name == "less_equal" else x == y
    if name == "not_equal":
        return None in of or of[0] != of[1]
    if name == "is_in":
        return of[0] is not None and of[0] in [read(value) for value in each["values"]]
    if name in ("and", "or", "xor", "not", "number"):
        x, y = of[0], of[-1]
        return {"and": x and y, "or": x or y, "xor": x != y, "not": not x, "number": Fraction(int(x))}[name]
    if None in of:
        return None
    x, y = of[0], of[-1]
    simple = {
        "add": lambda: x + y, "subtract": lambda: x - y, "multiply": lambda: x * y, "divide": lambda: x / y,
        "minimum": lambda: min(x, y), "maximum": lambda: max(x, y), "floor_divide": lambda: Fraction(x // y),
        "remainder": lambda: x % y, "negative": lambda: -x, "absolute": lambda: abs(x),
        "floor": lambda: Fraction(math.floor(x)), "ceil": lambda: Fraction(math.ceil(x)),
        "truncate": lambda: Fraction(math.trunc(x)), "power": lambda: x ** each["exponent"],
        "round": lambda: round(x, each["digits"]),
    }  # fmt: skip
    if name in simple:
        return simple[name]()
    if name == "clip":
        low, high = each["low"], each["high"]
        x = x if low is None else max(x, Fraction(low))
        return x if high is None else min(x, Fraction(high))
    assert name == "bin"
    edges = [Fraction(edge) for edge in each["edges"]]
    return Fraction((bisect_left if each["right"] else bisect_right)(edges, x))


def rows(certificate, number, data):
    """The rows of a list of records, each with its match."""
    each = certificate["rows"][number]
    if each["kind"] == "all":
        return [(record, 0) for record in data]
    before = rows(certificate, each["of"], data)
    if each["kind"] == "kept":
        return [row for row in before if expression(certificate, each["mask"], *row)]
    if each["kind"] == "matched":
        many = len(certificate["columns"][each["column"]]["cells"])
        return [(record, match) for record, _ in before for match in range(many)]
    if each["kind"] == "bounded":
        seen: dict = {}
        found = []
        for record, match in before:
            who = record[certificate["scope"]["person"]]
            seen[who] = seen.get(who, 0) + 1
            if seen[who] <= each["most"]:
                found.append((record, match))
        return found
    assert each["kind"] == "chosen"
    by = sorted(before[0][0])[0] if before else ""
    found, seen = [], {}
    for record, match in before:
        key = tuple(sorted(record.items(), key=repr)) if each["out"] == 0 else record[by]
        if key not in seen:
            seen[key] = True
            found.append((record, match))
    return found


def number(certificate, which, data):
    """The places of a number, as a list."""
    each = certificate["numbers"][which]
    kind = each["kind"]
    if kind in ("sum", "sums"):
        here = rows(certificate, each["rows"], data)
        added = [Fraction(1) if each["of"] is None else expression(certificate, each["of"], *row) for row in here]
        if kind == "sum":
            return [sum(added, Fraction(0))]
        keys = [tuple(expression(certificate, key, *row) for key in each["key"]) for row in here]
        wanted = [tuple(map(read, key)) for key in each["keys"]]
        return [sum((a for a, key in zip(added, keys, strict=True) if key == one), Fraction(0)) for one in wanted]
    if kind == "groups":
        by = certificate["columns"][each["by"]]["name"]
        sizes: dict = {}
        for record, _ in rows(certificate, each["rows"], data):
            sizes[record[by]] = sizes.get(record[by], 0) + 1
        low, high = Fraction(each["low"]), Fraction(each["high"])
        return [sum((min(max(Fraction((-2) ** many), low), high) for many in sizes.values()), Fraction(0))]
    if kind == "stack":
        return [place for inner in each["of"] for place in number(certificate, inner, data)]
    if kind == "product":
        return [a * b for a, b in zip(*(number(certificate, of, data) for of in each["of"]), strict=True)]
    if kind == "deviations":
        values = [expression(certificate, each["of"], *row) for row in rows(certificate, each["rows"], data)]
        return [sum(((v - sum(values) / len(values)) ** 2 for v in values), Fraction(0))]
    inner = number(certificate, each["of"], data)
    if kind == "norm":
        return [math.sqrt(sum(place**2 for place in inner))]
    if kind == "curve":
        if each["function"] == "power":
            return [float(place) ** float(Fraction(each["exponent"])) for place in inner]
        return [getattr(math, each["function"])(place) for place in inner]
    if kind == "abs":
        return [abs(place) for place in inner]
    if kind == "clip":
        low, high = (None if each[end] is None else Fraction(each[end]) for end in ("low", "high"))
        inner = [place if low is None else max(place, low) for place in inner]
        return [place if high is None else min(place, high) for place in inner]
    if kind == "linear":
        return [
            sum((Fraction(by) * (1 if name == "1" else inner[int(name[1:])]) for name, by in to.items()), Fraction(0))
            for to in each["to"]
        ]
    assert kind == "among"
    some = Fraction(7)  # for a constant that is not said
    listed = [
        sorted(some if p is None else Fraction(p) if isinstance(p, str) else inner[p] for p in to) for to in each["to"]
    ]
    return [places[len(places) // 2] for places in listed]


def loss(certificate, one, other):
    """The ε that the releases of the dearest path lose between two lists of records."""
    moves = []
    for each in certificate["releases"]:
        before, after = (number(certificate, each["number"], data) for data in (one, other))
        moved = [b - a for a, b in zip(before, after, strict=True)]
        scale = Fraction(each["scale"])
        if each["law"] in ("laplace", "discrete_laplace"):
            lost = sum(map(abs, moved), Fraction(0)) / scale
        elif each["law"] == "select":
            top = [max(scores) for scores in (before, after)]
            sums = [
                sum(math.exp(float((score - most) / scale)) for score in scores)
                for scores, most in zip((before, after), top, strict=True)
            ]
            whole = float((top[1] - top[0]) / scale) + math.log(sums[1] / sums[0])
            lost = max(abs(float(move / scale) - whole) for move in moved)
        else:
            raise AssertionError(each["law"])
        moves.append(float(lost * each["times"]))
    return max(sum(moves[place] for place in path) for path in certificate["paths"])


def values_of(certificate):
    """Some values of each column of the data: listed ones, or ends, ends of cells, and what lies close to them."""
    found = {}
    for each in certificate["columns"]:
        if each["type"] == "match":
            continue
        if each["values"] is not None:
            values = [read(value) for value in each["values"]]
        elif each["type"] in ("text", "truth"):
            values = ["p", "q"] if each["type"] == "text" else [False, True]
        else:
            low, high = (Fraction(end) for end in (each["low"] or "-9", each["high"] or "9"))
            whole = each["type"] == "int64"
            ends = [Fraction(end) for cell in each["cells"] or () for end in cell[1:] if end is not None] + [low, high]
            step = 1 if whole else Fraction(1, 100)
            around = {end + by for end in ends for by in (-step, 0, step)}
            values = [value for value in sorted(around) if low <= value <= high]
        found[each["name"]] = values + [None] * each["missing"]
    return found


def neighbours(certificate, values, rng):
    """A list of records and a neighbour of it."""

    def record(**more):
        return {name: rng.choice(those) for name, those in values.items()} | more

    scope = certificate["scope"]
    person, replaced = scope["person"], scope["relation"] == "replace"
    if person is None:
        base = [record() for _ in range(rng.randint(0, 3))]
        place = rng.randint(0, len(base))
        other = [*base[:place], record(), *base[place:]] if replaced else base
        return [*base[:place], record(), *base[place:]], other
    base = [record(**{person: "q"}) for _ in range(rng.randint(0, 3))]
    one, other = list(base), list(base)
    for data, who in ((one, "p"), (other, "r")):
        for _ in range(rng.randint(1, 3) if who == "p" or replaced else 0):
            data.insert(rng.randint(0, len(data)), record(**{person: who}))
    return one, other


def is_true(certificate, bound, rng, pairs):
    """Whether none of some pairs of neighbours loses more; and the most that one does."""
    values, worst = values_of(certificate), 0.0
    for _ in range(pairs):
        worst = max(worst, loss(certificate, *neighbours(certificate, values, rng)))
        if worst > float(bound) * (1 + 1e-9) + 1e-9:
            return False, worst
    return True, worst
