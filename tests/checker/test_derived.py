"""Does the checker accept releases that are derived from the records, and only those? By hand, by force, by changes."""

from __future__ import annotations

import copy
import itertools
import math
import random
from fractions import Fraction

import pytest
from support import changes
from support import derived_certificates as made
from support import naive_derived as naive
from support.derived_certificates import certificate, column, constant, op, release, total
from support.nightly import mostly_at_night

from dpaudit.checker import CertificateError, ForgedError, check_certificate
from dpaudit.checker.derived import CheckedDerivation

ACCEPTED = made.accepted()


def bound(given):
    """What a certificate shows, whatever it states."""
    return CheckedDerivation(given).bound(given, given["scope"]["group"])


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_theory_says_is_accepted_and_anything_else_is_forged(name):
    given = ACCEPTED[name]
    assert check_certificate(copy.deepcopy(given)).bound == Fraction(given["bound"])
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        if given["bound"] != "0":
            with pytest.raises(ForgedError, match="the releases show the bound"):
                check_certificate({**given, "bound": str(Fraction(given["bound"]) * factor)})


# --- by force: programs over small domains, on real lists of records ----------------------------------------------


def cells_between(rng, low, high, cuts):
    ends = sorted({Fraction(low), Fraction(high), *cuts})
    cells = [["number", str(ends[0])]]
    for one, other in itertools.pairwise(ends):
        cells += [["open", str(one), str(other)], ["number", str(other)]]
    rng.shuffle(cells)
    return cells


def domain(rng):
    """Columns with cells, and where these are cut."""
    cuts = [Fraction(rng.randint(-3, 3), 2) for _ in range(2)]
    missing = rng.random() < 0.5
    real = {
        "name": "b", "type": "float64", "low": "-2", "high": "2", "values": None, "missing": missing,
        "cells": cells_between(rng, -2, 2, cuts) + [["missing"]] * missing,
    }  # fmt: skip
    whole = {
        "name": "a", "type": "int64", "low": "0", "high": "4", "values": None, "missing": False,
        "cells": rng.choice([
            [["number", str(n)] for n in range(5)], [["range", "0", "1"], ["number", "2"], ["range", "3", "4"]],
        ]),
    }  # fmt: skip
    texts = [["text", each] for each in "xyz"]
    text = {"name": "c", "type": "text", "low": None, "high": None, "values": texts, "missing": False, "cells": texts}
    who = {"name": "who", "type": "text", "low": None, "high": None, "values": None, "missing": False, "cells": None}
    return [whole, real, text, who], cuts


def program(rng):
    """A certificate of a random program over a random domain."""
    columns, cuts = domain(rng)
    expressions = [column(0), column(1), column(2), constant("0"), op("fill", 1, 3)]
    numbers, truths = [0, 4], []

    def put(each, into):
        expressions.append(each)
        into.append(len(expressions) - 1)

    for _ in range(rng.randint(1, 6)):
        one, other = rng.choice(numbers), rng.choice(numbers)
        kind = rng.randrange(12)
        cut = rng.choice([*cuts, Fraction(1), Fraction(2)])
        if kind == 0:
            put(op("clip", one, low=str(min(cut, 1)), high=str(max(cut, 2))), numbers)
        elif kind in (1, 2):
            put(op(rng.choice(["add", "subtract", "multiply", "minimum", "maximum"]), one, other), numbers)
        elif kind == 3:
            put(op(rng.choice(["negative", "absolute", "floor", "ceil", "truncate"]), one), numbers)
        elif kind in (4, 5):
            put(constant(str(cut)), numbers)
            put(op(rng.choice(["less", "less_equal", "equal", "not_equal"]), one, numbers.pop()), truths)
        elif kind == 6 and truths:
            put(op("where", rng.choice(truths), one, other), numbers)
        elif kind == 7 and truths:
            put(op(rng.choice(["and", "or", "xor"]), rng.choice(truths), rng.choice(truths)), truths)
        elif kind == 8 and truths:
            put(op("not", rng.choice(truths)), truths)
            put(op("number", truths[-1]), numbers)
        elif kind == 9:
            put(op("bin", one, edges=["-1", "1/2", "2"], right=rng.random() < 0.5), numbers)
        elif kind == 10:
            table = [[["text", each], ["number", str(rng.randint(-2, 3))]] for each in "xy"]
            put(op("lookup", 2, table=table, other=["number", "1"]), numbers)
        elif kind == 11:
            put(op("is_in", 2, values=[["text", "x"], ["text", "z"]]), truths)
    relation, person = rng.choice([("add-remove", None), ("replace", None), ("add-remove", "who"), ("replace", "who")])
    rows = [made.ALL]
    if person and rng.random() < 0.9:
        rows.append({"kind": "bounded", "of": 0, "most": rng.randint(1, 2)})
    usable = [len(rows) - 1]
    for _ in range(rng.randint(0, 2)):
        of = rng.choice(usable)
        if truths and rng.random() < 0.7:
            rows.append(made.kept(rng.choice(truths), of))
        elif not person or len(rows) > 1:
            rows.append({"kind": "chosen", "of": of, "in": 1, "out": rng.choice([0, 1])})
        else:
            continue
        usable.append(len(rows) - 1)
    made_of, releases = [], []
    for _ in range(rng.randint(1, 2)):
        here = rng.choice(usable)
        kind = rng.randrange(8)
        if kind < 3:
            made_of.append(total(rng.choice([None, *numbers]), here))
        elif kind < 5:
            made_of.append(made.by_key(2, [["text", each] for each in "xyz"][: rng.randint(1, 3)], None, here))
        elif kind == 5:
            low, by = rng.randint(-4, 2), 3 if person else rng.choice([0, 2])
            high = low + rng.randint(0, 4)
            made_of.append(
                {"kind": "groups", "rows": here, "by": by, "low": str(low), "high": str(high)}
            )  # fmt: skip
        else:
            made_of.append(made.by_key(2, [["text", each] for each in "xyz"], rng.choice(numbers), here))
        last = len(made_of) - 1
        function = rng.randrange(9)
        size = len(made_of[last].get("keys", "1"))
        if function == 0:
            made_of.append({"kind": "abs", "of": last})
        elif function == 1:
            made_of.append({"kind": "clip", "of": last, "low": "-1", "high": "2"})
        elif function == 2:
            to = [{f"n{rng.randrange(size)}": str(rng.choice([-2, 1, Fraction(1, 2)])), "1": "3"} for _ in range(2)]
            made_of.append({"kind": "linear", "of": last, "to": to})
        elif function == 3:
            made_of.append({"kind": "among", "of": last, "to": [[*range(size), "1", "0"]], "middle": False})
        elif function in (4, 5):
            made_of.append({"kind": "abs", "of": last})
            made_of.append(
                {"kind": "linear", "of": last + 1, "to": [{"n0": "1"} if function == 4 else {"n0": "1", "1": "1"}]}
            )
            made_of.append(made.curve(last + 2, rng.choice(["1/2", "1/3"] if function == 4 else ["1/2", "-1", "-3/2"])))
        elif function == 6:
            made_of.append({"kind": "clip", "of": last, "low": "-1", "high": "2"})
            made_of.append({"kind": "clip", "of": last, "low": "0", "high": "3"})
            made_of.append({"kind": "product", "of": [last + 1, last + 2]})
        elif function == 7:
            made_of.append({"kind": "norm", "of": last})
        law = rng.choice(["laplace", "laplace", "select"])
        releases.append(release(law, str(rng.choice([1, 2, Fraction(1, 2)])), len(made_of) - 1))
    given = certificate(
        made_of,
        releases,
        "0",
        expressions=expressions,
        rows=rows[1:],
        relation=relation,
        person=person,
        columns=columns,
    )
    return trimmed(given)


def trimmed(given):
    """The same without what leads to no release."""
    for name, refers in (("rows", ["of"]), ("expressions", ["of"])):
        while True:
            try:
                bound(given)
            except CertificateError as error:
                if f"made of {name} " not in str(error):
                    break
                number = int(str(error).rsplit(" ", 1)[1])
                given = without(given, name, number, refers)
            else:
                break
    return given


def without(given, name, number, refers):
    given = copy.deepcopy(given)
    del given[name][number]

    def less(value):
        return [less(each) for each in value] if isinstance(value, list) else value - (value > number)

    for each in given[name]:
        for field in refers:
            if field in each:
                each[field] = less(each[field])
    if name == "rows":
        for each in given["numbers"]:
            if "rows" in each:
                each["rows"] = less(each["rows"])
    else:
        for each in given["rows"]:
            if "mask" in each:
                each["mask"] = less(each["mask"])
        for each in given["numbers"]:
            if each["kind"] in ("sum", "sums") and each["of"] is not None:
                each["of"] = less(each["of"])
            if "key" in each:
                each["key"] = less(each["key"])
    return given


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_at_night(range(12), stay=range(4)))
def test_no_pair_of_lists_loses_more_than_is_shown(seed):
    """Random programs over small domains: no pair of neighbours passes the bound, and many come close to it."""
    rng = random.Random(f"derived {seed}")
    shown = tight = 0
    for _ in range(20):
        given = program(rng)
        try:
            found = bound(given)
        except CertificateError:
            continue
        shown += 1
        true, worst = naive.is_true(given, found, rng, 60)
        assert true, given
        tight += worst >= 0.8 * float(found) - 1e-9
    assert shown >= 15
    assert tight >= 3


# --- changes ----------------------------------------------------------------------------------------------


def parts_of(name):
    return {
        one.get("op", one.get("kind")) for part in ("expressions", "rows", "numbers") for one in ACCEPTED[name][part]
    }


UNKNOWN = {"ball", "table", "matched", "sampled"}  # to the twin, which runs what can be run
CHANGED = [
    name
    for name, each in ACCEPTED.items()
    if {one["law"] for one in each["releases"]} <= {"laplace", "select"} and not parts_of(name) & UNKNOWN
]


STAY: list[str] = []
"""Those in which everything is once that a certificate is made of."""
for _name in CHANGED:
    if parts_of(_name) - {part for stays in STAY for part in parts_of(stays)}:
        STAY.append(_name)


@pytest.mark.parametrize("part", mostly_at_night(range(3)))
@pytest.mark.parametrize("name", mostly_at_night(CHANGED, stay=STAY))
@pytest.mark.slow
def test_every_single_change_is_refused_or_leaves_it_true(name, part):
    """What is still accepted is decided by the naive twin, which shares nothing with the checker."""
    given, rng = ACCEPTED[name], random.Random(name)
    tried = passed = 0
    every = [(path, new) for path in changes.places(given) for new in changes.changes(changes.at(given, path))]
    for path, new in every[part::3]:
        tried += 1
        other = changes.changed(given, path, new)
        try:
            checked = check_certificate(other)
        except CertificateError:
            continue
        passed += 1
        assert naive.is_true(other, checked.bound, rng, 15)[0], (path, new)
    assert tried > 200
    assert passed < tried / 8


COVERED = {
    "a number is in no cell": [["number", "0"], ["open", "0", "1"], ["open", "1", "2"], ["number", "2"]],
    "an end is in no cell": [["number", "0"], ["open", "0", "2"]],
    "cells overlap": [["number", "0"], ["open", "0", "2"], ["number", "1"], ["number", "2"]],
    "a cell is there twice": [["number", "0"], ["number", "0"], ["open", "0", "2"], ["number", "2"]],
    "cells pass the end": [["number", "0"], ["open", "0", "3"], ["number", "3"]],
    "cells of whole numbers": [["number", "0"], ["range", "1", "2"]],
    "a missing value": [["missing"], ["number", "0"], ["open", "0", "2"], ["number", "2"]],
    "no end": [["number", "0"], ["open", "0", None]],
    "the wrong way round": [["number", "0"], ["open", "2", "0"], ["number", "2"]],
    "no cell": [],
}


@pytest.mark.parametrize("name", COVERED)
def test_cells_that_are_not_those_of_the_domain_are_refused(name):
    real = {"name": "x", "type": "float64", "low": "0", "high": "2", "values": None, "missing": False}
    whole = [["number", "0"], ["open", "0", "2"], ["number", "2"]]
    given = certificate(
        [total(0)], [release("laplace", "2")], "1", expressions=[column(0)], columns=[{**real, "cells": whole}]
    )
    assert check_certificate(given).bound == 1
    with pytest.raises(CertificateError):
        check_certificate({**given, "columns": [{**real, "cells": COVERED[name]}]})


def test_a_column_without_ends_is_covered_by_cells_without_ends():
    cells = [["open", None, "0"], ["number", "0"], ["open", "0", None]]
    real = {"name": "x", "type": "float64", "low": None, "high": None, "values": None, "missing": False}
    expressions = [column(0), op("clip", 0, low="-1", high="3")]
    given = certificate(
        [total(1)], [release("laplace", "3")], "1", expressions=expressions, columns=[{**real, "cells": cells}]
    )
    assert check_certificate(given).bound == 1
    with pytest.raises(CertificateError, match="no end"):
        check_certificate({**given, "expressions": expressions[:1], "numbers": [total(0)]})


# --- what is refused ----------------------------------------------------------------------------------------------

MASK = [*made.OLD]
REFUSED = {
    "a sample of persons, where one record comes": certificate(
        [total(rows=1)], [release("laplace", "1")], "1", rows=[made.SAMPLED], samples=[{**made.TENTH, "of": "persons"}]
    ),
    "a sample of records, where persons come": certificate(
        [total(rows=2)], [release("laplace", "1")], "1", person="person", samples=[made.TENTH],
        rows=[made.SAMPLED, {"kind": "bounded", "of": 1, "most": 1}],
    ),
    "a sample after a choice": certificate(
        [total(rows=2)], [release("laplace", "1")], "1", samples=[made.TENTH],
        rows=[{"kind": "chosen", "of": 0, "in": 1, "out": 1}, {"kind": "sampled", "of": 1, "sample": 0}],
    ),
    "any number of rows of a person": certificate([total()], [release("laplace", "1")], "1", person="person"),
    "a bound after a choice": certificate(
        [total(rows=2)], [release("laplace", "1")], "1", person="person",
        rows=[{"kind": "chosen", "of": 0, "in": 1, "out": 1}, {"kind": "bounded", "of": 1, "most": 1}],
    ),
    "a bound of no persons": certificate(
        [total(rows=1)], [release("laplace", "1")], "1", rows=[{"kind": "bounded", "of": 0, "most": 1}]
    ),
    "a person who is not declared": certificate([total()], [release("laplace", "1")], "1", person="name"),
    "a mask that is a number": certificate(
        [total(rows=1)], [release("laplace", "1")], "1", expressions=[column(0)], rows=[made.kept(0)]
    ),
    "a sum of what may be missing": certificate([total(0)], [release("laplace", "5000")], "1", expressions=[column(1)]),
    "a column without cells": certificate([total(0)], [release("laplace", "1")], "1", expressions=[column(3)]),
    "a quotient by what may be 0": certificate(
        [total(1)], [release("laplace", "1")], "1", expressions=[column(0), op("divide", 0, 0)]
    ),
    "texts in order": certificate(
        [total(rows=1)], [release("laplace", "1")], "1", expressions=[column(2), op("less", 0, 0)], rows=[made.kept(1)]
    ),
    "a number and a text that are compared": certificate(
        [total(rows=1)], [release("laplace", "1")], "1", expressions=[column(0), column(2), op("equal", 0, 1)],
        rows=[made.kept(2)],
    ),
    "discrete noise on a half": certificate(
        [total(), made.linear(0, {"n0": "1/2"})], [release("discrete_laplace", "1", 1)], "1/2"
    ),
    "discrete noise beside a half": certificate(
        [total(), made.linear(0, {"n0": "1", "1": "1/2"})], [release("discrete_laplace", "1", 1)], "1"
    ),
    "discrete noise on the middle of two": certificate(
        [total(), {"kind": "stack", "of": [0, 0]}, {"kind": "among", "of": 1, "to": [[0, 1]], "middle": True}],
        [release("discrete_laplace", "1", 2)], "1",
    ),
    "a ball in a sum": certificate(
        [{"kind": "ball", "rows": 0, "norm": 2, "radius": "1"}, made.linear(0, {"n0": "1"})],
        [release("gaussian", "1", 1)], "1/2", notion="rho",
    ),
    "a ball of another norm": certificate(
        [{"kind": "ball", "rows": 0, "norm": 1, "radius": "1"}], [release("gaussian", "1")], "1/2",
        notion="rho",
    ),
    "reports of records that come": certificate(
        [{"kind": "reports", "rows": 0, "of": 2}], [release("randomised_response", "1", probability="1/4")], "2",
        expressions=MASK,
    ),
    "a lost release": certificate([total()], [release("laplace", "1"), release("laplace", "1")], "1", paths=[[0]]),
    "a lost expression": certificate([total()], [release("laplace", "1")], "1", expressions=[column(0)]),
    "lost rows": certificate(
        [total()], [release("laplace", "1")], "1", rows=[{"kind": "chosen", "of": 0, "in": 1, "out": 1}]
    ),
    "a threshold on a sum": certificate(
        [total(3)], [release("laplace_threshold", "1000", threshold="9000")], "1", expressions=made.INCOMES, delta="1/9"
    ),
    "keys that add nothing": certificate(
        [{"kind": "any_key", "rows": 0, "of": 3}], [release("laplace_threshold", "1000", threshold="9000")], "1",
        expressions=made.INCOMES, delta="1/9",
    ),
    "keys of the data without a threshold": certificate(
        [{"kind": "any_key", "rows": 0, "of": None}], [release("laplace", "1")], "1"
    ),
    "a table of other sizes": certificate(
        [total(1)], [release("laplace", "5")], "1",
        expressions=[column(2), {**made.TABLE, "values": made.TABLE["values"][:2]}],
    ),
    "a match that the rows have not": certificate(
        [total(0)], [release("laplace", "1")], "1", expressions=[column(4)], columns=[*made.COLUMNS, made.match(2)]
    ),
    "a float": certificate([total()], [release("laplace", 1.0)], "1"),
    "a later expression": certificate(
        [total(rows=1)], [release("laplace", "1")], "1", expressions=[op("not", 0)], rows=[made.kept(0)]
    ),
    "more paths than releases": certificate([total()], [release("laplace", "1")], "1", paths=[[1]]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_to_hold_is_refused(name):
    with pytest.raises(CertificateError) as error:
        check_certificate(REFUSED[name])
    assert "show the bound" not in str(error.value)


def test_what_floats_round_decides_no_comparison_alone():
    """0.1·3 is .3 in decimals and above .3 in floats: both outcomes count, where the column itself decides in one."""
    tenth = {
        "name": "x", "type": "float64", "low": None, "high": None, "values": [["number", "1/10"], ["number", "0"]],
        "missing": False, "cells": [["number", "1/10"], ["number", "0"]],
    }  # fmt: skip
    rounded = [column(0), constant("3"), op("multiply", 0, 1), constant("3/10"), op("less", 3, 2)]
    plain = [column(0), constant("1/10"), op("less", 1, 0)]
    for expressions, shown in ((rounded, 1), (plain, 0)):
        given = certificate(
            [total(rows=1)], [release("laplace", "1")], str(shown), columns=[tenth], expressions=expressions,
            rows=[made.kept(len(expressions) - 1)],
        )  # fmt: skip
        assert check_certificate(given).bound == shown


@pytest.mark.parametrize("delta", ["1/100", "1/1000000"])
def test_a_sample_a_threshold_and_gaussian_noise_have_the_bounds_of_their_theorems(delta):
    sampled = certificate([total(rows=1)], [release("laplace", "1")], "0", rows=[made.SAMPLED], samples=[made.TENTH])
    assert float(bound(sampled)) == pytest.approx(math.log1p(0.1 * math.expm1(1)), rel=1e-12)
    keys = {"kind": "any_key", "rows": 0, "of": None}
    spent = 0.5 * math.exp(-(20 / 1 - 1))
    counted = certificate([keys], [release("laplace_threshold", "1", threshold="20")], "0", delta=delta)
    assert spent < float(Fraction(delta)) and bound(counted) == 1
    persons = {**counted, "scope": {**counted["scope"], "person": "person"}}
    persons |= {"rows": [made.ALL, {"kind": "bounded", "of": 0, "most": 3}], "numbers": [{**keys, "rows": 1}]}
    assert bound(persons) == 3
    tight = copy.deepcopy(persons)
    tight["releases"][0]["details"]["threshold"] = "4"
    with pytest.raises(ForgedError, match="no finite bound"):
        bound(tight)  # three keys of their own, or one of three: at least ½·exp(−1)
    gaussian = certificate([total()], [release("gaussian", "2")], "0", delta=delta)
    found = float(bound(gaussian))
    normal = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))  # noqa: E731
    at = normal(0.25 - found / 0.5) - math.exp(found) * normal(-0.25 - found / 0.5)
    assert at == pytest.approx(float(Fraction(delta)), rel=1e-6)


@pytest.mark.slow
def test_ten_columns_of_a_census_are_one_after_the_other():
    """Kinds of records are not the product of columns that nothing looks at together."""
    columns, expressions, numbers, releases = [], [], [], []
    for place in range(10):
        cells = [["number", str(value)] for value in range(40)]
        columns.append(
            {"name": f"c{place}", "type": "int64", "low": "0", "high": "39", "values": None, "missing": False,
             "cells": cells}
        )  # fmt: skip
        expressions.append(column(place))
        numbers.append(made.by_key(place, cells))
        releases.append(release("laplace", "10", place))
    given = certificate(numbers, releases, "1", columns=columns, expressions=expressions)
    assert check_certificate(given).bound == 1
    given["scope"]["relation"] = "replace"
    assert check_certificate({**given, "bound": "2"}).bound == 2
