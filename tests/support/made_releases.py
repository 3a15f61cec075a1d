"""Certificates of releases, made by hand: small ones of which the bound follows in one's head; some sample, or flip."""

from __future__ import annotations

from typing import Any


def term(low="1", high="1", conditions=()):
    return {"if": [list(each) for each in conditions], "low": low, "high": high}


def value(*terms, bent=()):
    return {"terms": list(terms), "bent": list(bent)}


def under(*conditions):
    return value(term(conditions=conditions))


def release(law, scale, *values, sample=None, times=1, **details):
    return {
        "law": law, "scale": scale, "values": list(values), "sample": sample, "times": times, "line": "release.py:3",
        "details": details,
    }  # fmt: skip


CITIES = [["text", "bern"], ["text", "oslo"]]


def certificate(releases, bound, *, paths=None, relation="add-remove", notion="epsilon", delta="0", **more):
    return {
        "format": "dpaudit-certificate",
        "version": 1,
        "kind": "releases",
        "mechanism": {"name": "release", "source": ""},
        "scope": {"data": "records", "relation": relation, "group": 1, "person": None, "parameters": {}},
        "notion": notion,
        "delta": delta,
        "bound": bound,
        "columns": [
            {"name": "age", "low": "0", "high": "120", "values": None, "missing": True},
            {"name": "city", "low": None, "high": None, "values": CITIES, "missing": False},
        ],
        "samples": [],
        "releases": releases,
        "paths": [list(range(len(releases)))] if paths is None else paths,
        **more,
    }  # fmt: skip


COUNT = value(term())
AGES = value(term("0", "120"))
YOUNG = value(term(conditions=[(0, "<", ["number", "18"], True)]))
OLD = value(term(conditions=[(0, "<", ["number", "65"], False), (0, "missing", None, False)]))
BERN = value(term(conditions=[(1, "==", ["text", "bern"], True)]))
OSLO = value(term(conditions=[(1, "==", ["text", "oslo"], True)]))
DIFFERENCE = value(bent=[{"kind": "abs", "factor": "-1", "inner": value(term("-1/2", "1/2"))}])
BALL = {"ball": term("-2", "2")}


def everyone(person, relation, *releases, bound, group=1):
    made = certificate(list(releases), bound, relation=relation)
    return made | {"scope": made["scope"] | {"person": person, "group": group}}


def sampled(bound, *releases, rate="1/10", times=1):
    return certificate(list(releases), bound, samples=[{"rate": rate, "times": times}])


def reports(bound, probability, *more):
    """Whether each record is old, flipped with a probability."""
    return certificate(
        [release("randomised_response", "1", OLD, probability=probability), *more], bound, relation="replace"
    )


TEXTS = value(
    term("-1", "2", [(1, "==", ["text", "bern"], False)]), term("0", "1", [(0, "<=", ["number", "120"], True)])
)
MIDDLE = value(term("1/2", "1/2"), bent=[{"kind": "among", "factor": "2", "inner": [YOUNG, OLD, DIFFERENCE]}])
CUT = value(bent=[{"kind": "clip", "factor": "-3/2", "inner": AGES}])


def pure() -> list[Any]:
    """Certificates of ε without δ, each with the bound that it shows; of samples and reports, one of 20 digits."""
    laplace = lambda scale, *values, **more: release("laplace", scale, *values, **more)  # noqa: E731
    return [
        certificate([laplace("240", AGES), laplace("2", COUNT)], "1"),
        certificate([laplace("120", AGES)], "1", relation="replace"),
        certificate([laplace("1", YOUNG), laplace("1", OLD)], "1"),
        certificate([laplace("1", YOUNG), laplace("1", OLD)], "2", relation="replace"),
        certificate([release("discrete_laplace", "1", BERN, OSLO)], "2", relation="replace"),
        certificate([laplace("1", COUNT), laplace("2", COUNT)], "3/2", paths=[[0], [0, 1]]),
        certificate([laplace("10", COUNT, times=5)], "1/2"),
        certificate([release("select", "1", DIFFERENCE, value())], "1"),
        certificate([release("select", "2", YOUNG, OLD, TEXTS)], "2"),
        certificate([laplace("2", MIDDLE), laplace("180", CUT)], "9/4"),
        certificate([laplace("2", MIDDLE, TEXTS)], "3", relation="replace"),
        everyone("name", "add-remove", laplace("3", YOUNG), laplace("3", TEXTS), bound="4", group=3),
        sampled("15856507874042911101/100000000000000000000", laplace("1", COUNT, sample=0)),
        sampled(
            "64852751517800567379/25000000000000000000", laplace("1", COUNT, sample=0, times=8), rate="1/7", times=4
        ),
        sampled("2", laplace("1", YOUNG, sample=0), laplace("1/2", OLD)),
        reports("54930614433405484571/50000000000000000000", "1/4"),
        reports("54930614433405484571/50000000000000000000", "3/4"),
        reports("20493061443340548457/5000000000000000000", "1/4", laplace("1/2", OLD), laplace("1", BERN)),
    ]  # fmt: skip
