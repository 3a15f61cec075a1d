"""Does the checker compute of a function's columns what pandas computed for every kind of record?"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from support.asis import RIGHT, cases, read
from support.nightly import mostly_at_night

from dpaudit.checker.derived import CheckedDerivation
from dpaudit.neighbours import parse_relation
from dpaudit.reading.universe import steps
from dpaudit.reading.universe.cells import declared
from dpaudit.reading.universe.drive import Reading
from dpaudit.reading.universe.state import Released
from dpaudit.verify.releases import written
from dpaudit.verify.releases.read import as_releases

pytestmark = pytest.mark.slow

FUNCTIONS = [case for table in RIGHT for case in cases(table) if case.is_right]


def head(case, bound):
    """What a certificate of version 1 says besides its releases."""
    relation = parse_relation(case.relation)
    scope = {"data": "records", "relation": relation.kind, "group": 1, "person": relation.person, "parameters": {}}
    return {
        "format": "dpaudit-certificate", "kind": "releases", "mechanism": {"name": case.name, "source": ""},
        "scope": scope, "notion": "epsilon", "delta": "0", "bound": str(bound),
    }  # fmt: skip


def adds(each, names, at, places):
    """What records add to some places of a release, that are in some cells of the columns."""
    axes = [[at[name]] if name in at else range(size) for name, size in zip(each.axes, names, strict=True)]
    rows = [int(np.ravel_multi_index(cells, names)) if cells else 0 for cells in itertools.product(*axes)]
    return each.low[rows][:, places].min(0), each.high[rows][:, places].max(0)


LONG = {"p35_price"}


@pytest.mark.parametrize("case", mostly_at_night(FUNCTIONS, every=18), ids=lambda case: f"{case.table}-{case.name}")
def test_what_a_record_adds_is_computed_again_and_alike(case):
    reading, bound = read(case)
    if bound is None or case.person is not None:
        pytest.skip("not read, or of persons, of whom several rows come")
    if case.name in LONG:
        pytest.skip("a cell ends at a number of more digits than a certificate may have, and none is written")
    writer = written._Writer(reading, None)
    paths = [writer.path(path) for path in reading.paths]
    relation = head(case, bound)["scope"]
    derived = CheckedDerivation(
        {
            "scope": relation, "columns": [writer.column(name) for name in writer.names],
            "expressions": writer.expressions.listed, "rows": writer.rows.listed, "numbers": writer.numbers.listed,
            "samples": writer.samples.listed, "releases": writer.released.listed, "paths": list(map(list, paths)),
        }
    )  # fmt: skip
    compared = of_records = 0
    for path, numbers in zip(reading.paths, paths, strict=True):
        listed = iter(numbers)
        for each in path:
            scales = np.broadcast_to(each.scales, each.low.shape[1:]).tolist()
            for scale in dict.fromkeys(scales):
                number, places = next(listed), [place for place, own in enumerate(scales) if own == scale]
                if each.selection[0] == "record" and not each.is_ball:
                    of_records += 1
                    compared += same(derived, writer, number, each, places)
    assert compared or not of_records or bound == 0 or case.replaced


def same(derived, writer, release, each, places):
    """Compare one release for every kind of records that the checker tells apart."""
    made = derived._made(release)
    columns = sorted({column for one in made.values() for column in one.columns})
    sizes, count = [writer.axis(name).size for name in each.axes], 0
    for cells in itertools.islice(itertools.product(*(derived.expressions.kinds[column] for column in columns)), 300):
        at = dict(zip((writer.names[column] for column in columns), cells, strict=True))
        moved = {
            number: one.adds.get(tuple(cells[columns.index(column)] for column in one.columns), {})
            for number, one in made.items()
        }
        moves = derived.numbers.moves(derived._needed[release], moved)[derived.releases[release].number]
        low, high = adds(each, sizes, at, places)
        again = [moves.get(place, (0, 0)) for place in range(len(places))]
        assert np.allclose([[float(end) for end in ends] for ends in again], np.stack([low, high], 1), 1e-6, 1e-6)
        count += 1
    return count


def meets(condition, record):
    value = record[condition.column]
    test = {"==": value == condition.operand, "missing": False}
    if not isinstance(value, str):
        test |= {"<": value < condition.operand, "<=": value <= condition.operand}
    return test[condition.operator] is condition.holds


@pytest.mark.parametrize("part", mostly_at_night(range(5)))
@pytest.mark.parametrize("replaced", [False, True])
def test_cells_that_are_not_told_apart_hold_what_each_adds_and_cost_what_the_dearest_does(replaced, part):
    rng = np.random.default_rng([5, part])
    columns = {"a": declared("a", list(range(7))), "b": declared("b", [0.5, 2.0, 3.0]), "c": declared("c", ["x", "y"])}
    sizes = {"a": 7, "b": 3, "c": 2}
    for number in range(12):
        listed = []
        for _ in range(rng.integers(1, 4)):
            axes = tuple(sorted(rng.choice(list(columns), rng.integers(1, 4), replace=False)))
            low = rng.integers(-3, 4, (*(sizes[axis] for axis in axes), 2)).astype(float)
            low = np.cumsum(np.maximum(low, 0), 0) if number % 2 else low
            low = np.minimum(low, 5).reshape(-1, 2)
            law = "laplace" if number % 3 else "select"
            listed.append(Released(law, axes, low, low, 1.0, ("record", 1, 0), None, "f.py:1"))
        found = as_releases(Reading(columns, {}, (tuple(listed),), (), replaced=replaced))
        kinds = list(itertools.product(*(range(size) for size in sizes.values())))
        rows = []
        for kind in kinds:
            at = dict(zip(columns, kind, strict=True))
            record = {name: columns[name].values[cell] for name, cell in at.items()}
            adds = [each.low[np.ravel_multi_index([at[a] for a in each.axes], [sizes[a] for a in each.axes])]
                    for each in listed]  # fmt: skip
            for release, exact in zip(found.paths[0], adds, strict=True):
                for value, one in zip(release.values, exact, strict=True):
                    terms = [each for each in value.terms if all(meets(test, record) for test in each.part)]
                    assert sum(each.low for each in terms) <= one <= sum(each.high for each in terms)
            rows.append(np.array(adds))
        moved = np.array(rows)[:, None] - (np.array(rows)[None] if replaced else 0.0)
        each = np.abs(moved).sum(-1) if number % 3 else moved.max(-1) - moved.min(-1)
        assert written.price(found, replace=replaced, group=1, notion="epsilon") == each.sum(-1).max()


def counts_of_words(df):
    old = df[df["age"].between(18, 64) & (df["city"] != "a")]
    total = (old["income"].clip(0, 1000) / 2).round(1).sum() + np.random.default_rng().laplace(0, 500)
    return total, len(old) + np.random.default_rng().laplace(0, 1)


def as_of_dpaudit(text, **names):
    """Return a function that is written here, and taken for one of dpaudit: past the reading, a user's is refused."""
    return eval(compile(text, steps.__file__, "eval"), names)


def test_tables_stand_in_where_no_word_fits(monkeypatch):
    case = next(iter(cases("forty")))
    case = type(case)("", "counts_of_words", counts_of_words, case.domain, 2.0, None)
    found = {}
    for way in ("words", "tables"):
        if way == "tables":
            monkeypatch.setattr(steps, "operation", as_of_dpaudit("lambda *_: None"))
            monkeypatch.setattr(steps, "between", as_of_dpaudit("lambda *_: None"))
        reading, bound = read(case)
        assert not reading.refused
        found[way] = written.derivation(reading, head(case, bound))
        assert bound == 2 and Fraction(found[way]["bound"]) == 2
    counted = [sum(each["op"] == "table" for each in found[way]["expressions"]) for way in found]
    assert counted[0] == 0 < counted[1]


def test_a_wrong_word_is_not_written(monkeypatch):
    """The checker finds another bound than the reading, and nothing is written."""
    case = next(iter(cases("forty")))
    case = type(case)("", "counts_of_words", counts_of_words, case.domain, 2.0, None)
    known = steps._of_one
    wrong = as_of_dpaudit("lambda name, one, others: one if name == 'clip' else known(name, one, others)", known=known)
    monkeypatch.setattr(steps, "_of_one", wrong)
    reading, bound = read(case)
    assert bound == 2 and written.derivation(reading, head(case, bound)) is None
