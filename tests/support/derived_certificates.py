"""Certificates of releases that are derived from the records, written by hand in few words."""

from __future__ import annotations

AGE = {
    "name": "age", "type": "int64", "low": "0", "high": "120", "values": None, "missing": False,
    "cells": [["range", "0", "17"], ["range", "18", "40"], ["range", "41", "64"], ["range", "65", "119"],
              ["number", "120"]],
}  # fmt: skip
INCOME = {
    "name": "income", "type": "float64", "low": "-1000", "high": "5000", "values": None, "missing": True,
    "cells": [["missing"], ["number", "-1000"], ["open", "-1000", "0"], ["number", "0"], ["open", "0", "1000"],
              ["number", "1000"], ["open", "1000", "5000"], ["number", "5000"]],
}  # fmt: skip
CITY = {
    "name": "city", "type": "text", "low": None, "high": None,
    "values": [["text", "bern"], ["text", "oslo"], ["text", "rome"]], "missing": False,
    "cells": [["text", "bern"], ["text", "oslo"], ["text", "rome"]],
}  # fmt: skip
PERSON = {
    "name": "person", "type": "text", "low": None, "high": None, "values": None, "missing": False, "cells": None,
}  # fmt: skip
COLUMNS = [AGE, INCOME, CITY, PERSON]
ALL = {"kind": "all"}


def match(size: int) -> dict:
    """A column that numbers the rows of a table that a record matches."""
    return {
        "name": "match", "type": "match", "low": "0", "high": str(size - 1), "values": None, "missing": False,
        "cells": [["number", str(place)] for place in range(size)],
    }  # fmt: skip


def column(number: int) -> dict:
    return {"op": "column", "of": [], "column": number}


def constant(value) -> dict:
    tag = "truth" if isinstance(value, bool) else "text" if value in ("bern", "oslo", "rome", "x") else "number"
    return {"op": "constant", "of": [], "value": [tag, value]}


def op(name: str, *of: int, **more) -> dict:
    return {"op": name, "of": list(of), **more}


def kept(mask: int, of: int = 0) -> dict:
    return {"kind": "kept", "of": of, "mask": mask}


def total(of: int | None = None, rows: int = 0) -> dict:
    return {"kind": "sum", "rows": rows, "of": of}


def by_key(key: int, keys, of: int | None = None, rows: int = 0) -> dict:
    return {"kind": "sums", "rows": rows, "of": of, "key": [key], "keys": [[each] for each in keys]}


def linear(of: int, *to: dict) -> dict:
    return {"kind": "linear", "of": of, "to": list(to)}


def release(law: str, scale: str, number: int = 0, *, times: int = 1, **details) -> dict:
    return {
        "law": law, "scale": scale, "number": number, "times": times, "line": "release.py:3",
        "details": details,
    }  # fmt: skip


def certificate(
    numbers, releases, bound, *, expressions=(), rows=(), paths=None, relation="add-remove", person=None, group=1,
    notion="epsilon", delta="0", samples=(), columns=None, **more,
) -> dict:  # fmt: skip
    return {
        "format": "dpaudit-certificate",
        "version": 2,
        "kind": "releases",
        "mechanism": {"name": "release", "source": ""},
        "scope": {"data": "records", "relation": relation, "group": group, "person": person, "parameters": {}},
        "notion": notion,
        "delta": delta,
        "bound": bound,
        "columns": COLUMNS if columns is None else columns,
        "expressions": list(expressions),
        "rows": [ALL, *rows],
        "numbers": list(numbers),
        "samples": list(samples),
        "releases": list(releases),
        "paths": [list(range(len(releases)))] if paths is None else paths,
        **more,
    }  # fmt: skip


CITIES = [["text", "bern"], ["text", "oslo"], ["text", "rome"]]
OLD = [column(0), constant("40"), op("less", 1, 0)]
INCOMES = [column(1), constant("0"), op("fill", 0, 1), op("clip", 2, low="0", high="1000")]
TENTH = {"rate": "1/10", "times": 1, "of": "records"}
SAMPLED = {"kind": "sampled", "of": 0, "sample": 0}

TO_100 = op("clip", 2, low="0", high="100")


def curve(of, exponent):
    return {"kind": "curve", "of": of, "function": "power", "exponent": exponent}


TABLE = op("table", 0, values=[["number", str(n)] for n in (4, 4, 5)], by="pandas 3.0", what=".str.len() of city")


def accepted() -> dict[str, dict]:
    """Certificates whose bound is exactly that of theory, by what they show."""
    return {
        "a count": certificate([total()], [release("laplace", "1")], "1"),
        "a count, replaced": certificate([total()], [release("laplace", "1")], "0", relation="replace"),
        "a mask": certificate([total(rows=1)], [release("laplace", "2")], "1/2", expressions=OLD, rows=[kept(2)]),
        "a mask, replaced": certificate(
            [total(rows=1)], [release("laplace", "2")], "1/2", expressions=OLD, rows=[kept(2)], relation="replace"
        ),
        "disjoint masks": certificate(
            [total(rows=1), total(rows=2)], [release("laplace", "1"), release("laplace", "1", 1)], "1",
            expressions=[*OLD, op("not", 2)], rows=[kept(2), kept(3)],
        ),
        "disjoint masks, replaced": certificate(
            [total(rows=1), total(rows=2)], [release("laplace", "1"), release("laplace", "1", 1)], "2",
            expressions=[*OLD, op("not", 2)], rows=[kept(2), kept(3)], relation="replace",
        ),
        "masks that lie within each other": certificate(
            [total(rows=1), total(rows=2)], [release("laplace", "1"), release("laplace", "1", 1)], "2",
            expressions=[*OLD, constant("64"), op("less", 3, 0)], rows=[kept(2), kept(4)],
        ),
        "a clipped sum with missing values": certificate(
            [total(3)], [release("laplace", "1000")], "1", expressions=INCOMES
        ),
        "a clipped sum, replaced": certificate(
            [total(3)], [release("laplace", "1000")], "1", expressions=INCOMES, relation="replace"
        ),
        "a sum of squares": certificate(
            [total(4)], [release("laplace", "1000000")], "1", expressions=[*INCOMES, op("power", 3, exponent=2)]
        ),
        "an average wage a month": certificate(
            [total(5)], [release("laplace", "1000")], "1/12",
            expressions=[*INCOMES, constant("12"), op("divide", 3, 4)],
        ),
        "counts by city": certificate(
            [by_key(0, CITIES)], [release("laplace", "1")], "1", expressions=[column(2)]
        ),
        "counts by city, replaced": certificate(
            [by_key(0, CITIES)], [release("laplace", "1")], "2", expressions=[column(2)], relation="replace"
        ),
        "counts by city, gaussian": certificate(
            [by_key(0, CITIES)], [release("gaussian", "1")], "1", expressions=[column(2)], relation="replace",
            notion="rho",
        ),
        "counts by city and age": certificate(
            [{"kind": "sums", "rows": 0, "of": None, "key": [0, 3],
              "keys": [[city, ["truth", old]] for city in CITIES for old in (False, True)]}],
            [release("laplace", "1")], "1", expressions=[column(2), column(0), constant("40"), op("less", 2, 1)],
        ),
        "sums by city and counts": certificate(
            [by_key(4, CITIES, of=3), by_key(4, CITIES), {"kind": "stack", "of": [0, 1]},
             linear(2, *({f"n{k}": "1/1000"} for k in range(3)), *({f"n{k}": "1"} for k in range(3, 6)))],
            [release("laplace", "2", 3)], "1", expressions=[*INCOMES, column(2)],
        ),
        "a histogram": certificate(
            [{"kind": "sums", "rows": 0, "of": None, "key": [1], "keys": [[["number", str(n)]] for n in range(4)]}],
            [release("laplace", "1")], "1",
            expressions=[column(0), op("bin", 0, edges=["18", "41", "65"], right=False)],
        ),
        "a difference that does not move": certificate(
            [total(), {"kind": "stack", "of": [0, 0]}, linear(1, {"n0": "1", "n1": "-1", "1": "7/2"})],
            [release("laplace", "1", 2)], "0",
        ),
        "the farther of two": certificate(
            [total(rows=1), total(), {"kind": "stack", "of": [0, 1]},
             {"kind": "among", "of": 2, "to": [[0, 1, "3"]], "middle": False}],
            [release("laplace", "1", 3)], "1", expressions=OLD, rows=[kept(2)],
        ),
        "an absolute difference": certificate(
            [total(rows=1), total(), {"kind": "stack", "of": [0, 1]}, linear(2, {"n0": "1", "n1": "-1/2"}),
             {"kind": "abs", "of": 3}],
            [release("laplace", "1", 4)], "1/2", expressions=OLD, rows=[kept(2)],
        ),
        "a count clipped": certificate(
            [total(), {"kind": "clip", "of": 0, "low": "0", "high": "100"}], [release("discrete_laplace", "2", 1)],
            "1/2",
        ),
        "the exponential mechanism": certificate(
            [by_key(0, CITIES)], [release("select", "2")], "1/2", expressions=[column(2)]
        ),
        "the exponential mechanism, replaced": certificate(
            [by_key(0, CITIES)], [release("select", "2")], "1", expressions=[column(2)], relation="replace"
        ),
        "scores that move together": certificate(
            [total(), {"kind": "stack", "of": [0, 0]}], [release("select", "1", 1)], "0"
        ),
        "the largest of noisy counts": certificate(
            [by_key(0, CITIES)], [release("noisy_max", "1")], "1/2", expressions=[column(2)], notion="rho"
        ),
        "a dearer path": certificate(
            [total()], [release("laplace", "1"), release("laplace", "2")], "3/2", paths=[[0], [0, 1]]
        ),
        "repeated": certificate([total()], [release("laplace", "10", times=5)], "1/2"),
        "for a group": certificate([total()], [release("laplace", "10")], "3/10", group=3),
        "mu": certificate([total()], [release("gaussian", "3"), release("gaussian", "4")], "5/12", notion="mu"),
        "three rows a person": certificate(
            [total(3, rows=1)], [release("laplace", "3000")], "1", expressions=INCOMES,
            rows=[{"kind": "bounded", "of": 0, "most": 3}], person="person",
        ),
        "three rows a person, replaced": certificate(
            [total(3, rows=1)], [release("laplace", "3000")], "1", expressions=INCOMES,
            rows=[{"kind": "bounded", "of": 0, "most": 3}], person="person", relation="replace",
        ),
        "three rows a person, bounded twice": certificate(
            [total(rows=3), total(rows=4)], [release("laplace", "1"), release("laplace", "1", 1)], "6",
            expressions=[*OLD, op("not", 2)],
            rows=[kept(2), kept(3), {"kind": "bounded", "of": 1, "most": 3}, {"kind": "bounded", "of": 2, "most": 3}],
            person="person",
        ),
        "three rows a person, kept apart after the bound": certificate(
            [total(rows=2), total(rows=3)], [release("laplace", "1"), release("laplace", "1", 1)], "3",
            expressions=[*OLD, op("not", 2)],
            rows=[{"kind": "bounded", "of": 0, "most": 3}, kept(2, of=1), kept(3, of=1)], person="person",
        ),
        "persons": certificate(
            [{"kind": "groups", "rows": 0, "by": 3, "low": "1", "high": "1"}], [release("laplace", "1")], "1",
            person="person",
        ),
        "a person's total, clipped": certificate(
            [{"kind": "groups", "rows": 0, "by": 3, "low": "-10", "high": "30"}], [release("laplace", "1")], "40",
            person="person", relation="replace",
        ),
        "distinct names": certificate(
            [{"kind": "groups", "rows": 0, "by": 3, "low": "1", "high": "1"}], [release("laplace", "1")], "1"
        ),
        "without repeats by name": certificate(
            [total(3, rows=1)], [release("laplace", "1000")], "1", expressions=INCOMES,
            rows=[{"kind": "chosen", "of": 0, "in": 1, "out": 1}],
        ),
        "without repeats by name, twice as much": certificate(
            [total(4, rows=1)], [release("laplace", "1000")], "2",
            expressions=[*INCOMES[:3], op("clip", 2, low="-1000", high="1000"), op("negative", 3)],
            rows=[{"kind": "chosen", "of": 0, "in": 1, "out": 1}],
        ),
        "without repeats": certificate(
            [total(3, rows=1)], [release("laplace", "1000")], "1", expressions=INCOMES,
            rows=[{"kind": "chosen", "of": 0, "in": 1, "out": 0}],
        ),
        "regions of a table": certificate(
            [by_key(1, [["text", "north"], ["text", "south"]])], [release("laplace", "1")], "1",
            expressions=[column(2), op("lookup", 0, other=["missing"], table=[
                [["text", "bern"], ["text", "south"]], [["text", "oslo"], ["text", "north"]]])],
        ),
        "two rows of a table": certificate(
            [total(rows=2)], [release("laplace", "1")], "2", columns=[*COLUMNS, match(2)],
            expressions=[column(2), column(4), op("lookup", 0, 1, other=["truth", False], table=[
                [["text", "bern"], ["number", str(n)], ["truth", True]] for n in range(2)])],
            rows=[{"kind": "matched", "of": 0, "column": 4}, kept(2, of=1)],
        ),
        "lengths of names": certificate(
            [total(1)], [release("laplace", "5")], "1", expressions=[column(2), TABLE]
        ),
        "a root of a total": certificate(
            [total(3), curve(0, "1/2")], [release("laplace", "10", 1)], "1", expressions=[*INCOMES[:3], TO_100]
        ),
        "a root of a total, replaced": certificate(
            [total(3), curve(0, "1/2")], [release("laplace", "10", 1)], "1", expressions=[*INCOMES[:3], TO_100],
            relation="replace",
        ),
        "roots of counts of a person's rows": certificate(
            [total(rows=2), total(rows=3), curve(0, "1/2"), curve(1, "1/2")],
            [release("laplace", "2", 2), release("laplace", "2", 3)], "2", expressions=[*OLD, op("not", 2)],
            rows=[{"kind": "bounded", "of": 0, "most": 4}, kept(2, of=1), kept(3, of=1)], person="city",
        ),
        "one over a count": certificate(
            [total(), linear(0, {"n0": "1", "1": "1"}), curve(1, "-1")], [release("laplace", "1/2", 2)], "1"
        ),
        "a square of what is clipped": certificate(
            [total(), {"kind": "clip", "of": 0, "low": "0", "high": "10"}, curve(1, "2")],
            [release("laplace", "19", 2)], "1",
        ),
        "a product": certificate(
            [total(), {"kind": "clip", "of": 0, "low": "0", "high": "2"}, {"kind": "clip", "of": 0, "low": "-1",
             "high": "3"}, {"kind": "product", "of": [1, 2]}], [release("laplace", "5", 3)], "1",
        ),
        "a norm": certificate(
            [total(), linear(0, {"n0": "3"}, {"n0": "-4", "1": "1"}), {"kind": "norm", "of": 1}],
            [release("laplace", "5", 2)], "1",
        ),
        "deviations, replaced": certificate(
            [{"kind": "deviations", "rows": 0, "of": 3}], [release("laplace", "10000")], "1",
            expressions=[*INCOMES[:3], TO_100], relation="replace",
        ),
        "a score that is clipped": certificate(
            [total(), {"kind": "clip", "of": 0, "low": "0", "high": "9"}, {"kind": "stack", "of": [0, 1]}],
            [release("select", "1", 2)], "1",
        ),
        "a score that is a distance": certificate(
            [total(), linear(0, {"n0": "1", "1": "-5"}), {"kind": "abs", "of": 1}, {"kind": "stack", "of": [0, 2]}],
            [release("select", "1", 3)], "2",
        ),
        "a ball": certificate(
            [{"kind": "ball", "rows": 0, "norm": 2, "radius": "2"}], [release("gaussian", "8")], "1/32",
            notion="rho",
        ),
        "a ball, replaced": certificate(
            [{"kind": "ball", "rows": 0, "norm": 1, "radius": "2"}], [release("laplace", "8")], "1/2",
            relation="replace",
        ),
        "a sample of every record": certificate(
            [total(rows=1)], [release("laplace", "1")], "1", rows=[SAMPLED], samples=[{**TENTH, "rate": "1"}]
        ),
        "a sample, replaced": certificate(
            [total(3, rows=1)], [release("laplace", "1000")], "1", expressions=INCOMES, rows=[SAMPLED],
            samples=[TENTH], relation="replace",
        ),
        "many numbers of few columns": certificate(
            [by_key(0, CITIES), by_key(2, [["truth", old] for old in (False, True)])],
            [release("laplace", "1"), release("laplace", "2", 1)], "3/2",
            expressions=[column(2), column(0), op("is_in", 1, values=[["number", "120"]])],
        ),
        "nothing": certificate([total()], [release("laplace", "1")], "1", paths=[[], [0]]),
        "an age in units of the oldest": certificate(
            [total(2)], [release("laplace", "1")], "1", expressions=[column(0), constant("120"), op("divide", 0, 1)]
        ),
    }  # fmt: skip
