"""Does the checker with a theorem prove what programs on records release, and refuse what is forged?"""

import copy
from fractions import Fraction

import pytest
from support import made_releases as made

from dpaudit.checker import CertificateError, check_certificate

LAPLACE = made.certificate([made.release("laplace", "1", made.YOUNG), made.release("laplace", "1", made.OLD)], "1")


def changed(change, one=LAPLACE):
    again = copy.deepcopy(one)
    change(again)
    assert again != one
    return again


@pytest.mark.slow
def test_it_proves_what_the_python_checker_accepts_and_no_smaller_bound(ask):
    given = made.pure()
    less = [one | {"bound": str(Fraction(one["bound"]) * Fraction(999, 1000))} for one in given]
    assert [check_certificate(one).bound for one in given] == [Fraction(one["bound"]) for one in given]
    assert [word for word, _, _ in ask(*given)] == ["PROVED"] * len(given)
    assert [word for word, _, _ in ask(*less)] == ["REFUSED"] * len(given)


def less_noise(one):
    one["releases"][0]["scale"] = "99/100"


def twice(one):
    one["releases"][1]["times"] = 2


def on_one_path(one):
    one["paths"] = [[0], [0, 1, 1]]


def wider(one):
    one["releases"][0]["values"][0]["terms"][0]["low"] = "-11/10"


def overlapping(one):  # both count who is under 18
    one["releases"][1]["values"][0]["terms"][0]["if"] = [[0, "<", ["number", "120"], True]]


def without_a_condition(one):
    one["releases"][1]["values"][0]["terms"][0]["if"].clear()


def other_column(one):
    one["releases"][1]["values"][0]["terms"][0]["if"] = [[1, "==", ["text", "bern"], True]]


def replaced(one):
    one["scope"]["relation"] = "replace"


def in_groups(one):
    one["scope"]["group"] = 2


def a_factor(one):
    one["releases"][0]["values"][0]["bent"] = [{"kind": "abs", "factor": "-1/9", "inner": made.COUNT}]


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    "change",
    [
        less_noise,
        twice,
        on_one_path,
        wider,
        overlapping,
        without_a_condition,
        other_column,
        replaced,
        in_groups,
        a_factor,
    ],
)
def test_what_makes_it_dearer_is_refused(ask, change):
    assert ask(changed(change))[0][0] == "REFUSED"
    with pytest.raises(CertificateError):
        check_certificate(changed(change))


@pytest.mark.slow
@pytest.mark.parametrize(("low", "word"), [("0", "REFUSED"), ("18", "PROVED"), (None, "REFUSED")])
def test_who_is_outside_of_the_domain_is_of_no_kind(ask, low, word):
    """Two counts of which one is of people under 18 cost one count where there are none."""
    one = made.certificate([made.release("laplace", "1", made.YOUNG), made.release("laplace", "1", made.COUNT)], "1")
    one["columns"][0] |= {"low": low, "high": None}
    assert ask(one)[0][0] == word


@pytest.mark.slow
def test_a_missing_value_meets_no_test(ask):
    count = made.value(
        made.term(conditions=[(0, "<", ["number", "18"], False)]), made.term(conditions=[(0, "missing", None, True)])
    )
    one = made.certificate([made.release("laplace", "1", count)], "1")
    assert ask(one, one | {"bound": "2"})[0][0] == "REFUSED"
    one["columns"][0]["missing"] = False
    assert ask(one)[0][0] == "PROVED"


REPORTS = made.reports("54930614433405484571/50000000000000000000", "1/4")  # ln 3


def flipped(probability, **more):
    return made.release("randomised_response", "1", *more.pop("values", [made.OLD]), probability=probability, **more)


FLIPPED = [
    (REPORTS, "PROVED"),
    (REPORTS | {"scope": REPORTS["scope"] | {"group": 2}}, "REFUSED"),
    (REPORTS | {"scope": REPORTS["scope"] | {"relation": "add-remove"}}, "REFUSED"),
    (REPORTS | {"scope": REPORTS["scope"] | {"person": "name"}}, "reports of several records of one person"),
    (REPORTS | {"releases": [flipped("0")]}, "REFUSED"),
    (REPORTS | {"releases": [flipped("1")]}, "REFUSED"),
    (REPORTS | {"releases": [flipped("5/4")]}, "REFUSED"),
    (REPORTS | {"releases": [flipped("-1/4")]}, "REFUSED"),
    (REPORTS | {"releases": [flipped("6/25")]}, "REFUSED"),
    (REPORTS | {"releases": [flipped("1/2")], "bound": "0"}, "PROVED"),
    (REPORTS | {"releases": [flipped("1/4", times=2)]}, "REFUSED"),
    (REPORTS | {"releases": [flipped("1/4", values=[made.COUNT])], "bound": "0"}, "PROVED"),  # all of one bit
    (REPORTS | {"releases": [flipped("1/4", values=[made.OLD, made.OLD])]}, "of one truth of each record"),
    (REPORTS | {"releases": [flipped("1/4") | {"scale": "2"}]}, "the scale of reports is 1"),
    (REPORTS | {"releases": [flipped("1/4") | {"details": {}}]}, "the field probability is missing"),
    (REPORTS | {"releases": [flipped(f"1/{10**6 + 2}")], "bound": "200"}, "less than once in 1,000,000 times"),
    (REPORTS | {"releases": [flipped("999999/1000000")], "bound": "1726938694745471763/125" + "0" * 15}, "PROVED"),
]


@pytest.mark.nightly
def test_of_reports_that_are_flipped(ask):
    found = ask(*(one for one, _ in FLIPPED))
    for (one, said), (word, sentence, _) in zip(FLIPPED, found, strict=True):
        assert said == word or (word == "NOT COVERED" and said in sentence), (one, word, sentence)


@pytest.mark.slow
def test_a_great_loss_on_a_sample_is_known_as_exactly_as_a_small_one(ask):
    """ln(1 + (e^100 - 1)/10) is 100 - ln 10, and hardly more."""
    one = made.sampled(f"97697414907005954315983/1{'0' * 21}", made.release("laplace", "1/100", made.COUNT, sample=0))
    assert check_certificate(one).bound == Fraction(one["bound"])
    assert ask(one)[0][0] == "PROVED"
    assert ask(one | {"bound": "97"})[0][0] == "REFUSED"


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"given": [{"line": "release.py:7", "by": "1"}]}, "lines that were not read"),
        ({"notion": "rho"}, "another notion"),
        ({"delta": "1/10"}, "at a delta"),
        ({"version": 2}, "version"),
        ({"account": {}}, "accounts"),
        ({"releases": [made.release("gaussian", "1", made.COUNT)], "paths": [[0]]}, "the law gaussian"),
        (
            {"releases": [made.release("laplace", "1", made.BALL)], "paths": [[0]]},
            "vectors of which the length is known",
        ),
        ({"paths": []}, "it cannot be read: there is no path"),
        ({"paths": [[2]]}, "it cannot be read"),
        ({"columns": [LAPLACE["columns"][0]] * 2}, "two columns of one name"),
        ({"more": 1}, "unknown field more"),
        ({"bound": 1}, "it cannot be read"),
    ],
)
def test_what_is_not_covered_says_so(ask, change, said):
    word, sentence, _ = ask(LAPLACE | change)[0]
    assert word == "NOT COVERED"
    assert said in sentence


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    "condition",
    [
        [2, "<", ["number", "1"], True],
        [0, ">", ["number", "1"], True],
        [0, "<", ["text", "1"], True],
        [0, "<", ["number", 1], True],
        [0, "<", ["number", "1"], 1],
        [0, "<", ["number", "1"]],
        [0, "==", ["date", "1"], True],
        [0, "==", None, True],
    ],
)
def test_conditions_are_read_strictly(ask, condition):
    one = copy.deepcopy(LAPLACE)
    one["releases"][0]["values"][0]["terms"][0]["if"] = [condition]
    word, said, _ = ask(one)[0]
    assert (word, said.startswith("it cannot be read")) == ("NOT COVERED", True)


def many_kinds():
    one = made.certificate([], "1", paths=[[0]])
    one["columns"] = [one["columns"][0] | {"name": str(each)} for each in range(12)]
    terms = [made.term(conditions=[(each, "<", ["number", "18"], True)]) for each in range(12)]
    return one | {"releases": [made.release("laplace", "1", made.value(*terms))]}


def many_marks():
    terms = [made.term(conditions=[(0, "<", ["number", f"{each}/7919"], True)]) for each in range(1, 3_000)]
    return made.certificate([made.release("laplace", "1", made.value(*terms))], "1")


def many_pairs():
    terms = [made.term(conditions=[(0, "<", ["number", str(each)], True)]) for each in range(1, 110)]
    return made.certificate([made.release("laplace", "1", *[made.value(*terms)] * 40)], "1", relation="replace")


def many_gains():
    """Each kind costs more of the sample, and less of all, than the one before."""
    inside = [made.term("0", str(each), [(0, "==", ["number", str(each)], True)]) for each in range(1, 100)]
    outside = [made.term("0", str(100 - each), [(0, "==", ["number", str(each)], True)]) for each in range(1, 100)]
    releases = [
        made.release("laplace", "200", made.value(*inside), sample=0),
        made.release("laplace", "100", made.value(*outside)),
    ]
    return made.certificate(releases, "1", samples=[{"rate": "1/3", "times": 1}])


def deep():
    inner = made.COUNT
    for _ in range(150):
        inner = made.value(bent=[{"kind": "abs", "factor": "1", "inner": inner}])
    return made.certificate([made.release("laplace", "1", inner)], "1")


def many_times():
    """More steps than 32 bits count."""
    one = made.certificate([made.release("laplace", "1", *[made.value(*[made.term()] * 275)] * 364)], "1")
    return one | {"paths": [[0] * 3_000]}


@pytest.mark.nightly
def test_hostile_certificates_end_soon(ask):
    hostile = (many_times, many_kinds, many_marks, many_pairs, many_gains, deep)
    for make, (word, said, seconds) in zip(hostile, ask(*(make() for make in hostile)), strict=True):
        assert word in ("NOT COVERED", "REFUSED", "PROVED")
        assert said
        assert seconds < 10, f"{make.__name__} took {seconds:.1f} s"
