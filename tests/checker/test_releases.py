"""Does the checker accept releases that prove their bound, and only those? By hand, by tampering, and rounded up."""

import copy
import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from support.made_releases import (
    AGES,
    BALL,
    BERN,
    COUNT,
    DIFFERENCE,
    OLD,
    OSLO,
    YOUNG,
    certificate,
    release,
    term,
    under,
    value,
)
from support.nightly import mostly_at_night

from dpaudit.checker import CertificateError, check_certificate
from dpaudit.checker.reals import amplified, exponential, gaussian_epsilon, logarithm, logarithm_below, root

ACCEPTED = {
    "a count": certificate([release("laplace", "1", COUNT)], "1"),
    "a sum": certificate([release("laplace", "240", AGES), release("laplace", "2", COUNT)], "1"),
    "a sum, replaced": certificate([release("laplace", "120", AGES)], "1", relation="replace"),
    "disjoint": certificate([release("laplace", "1", YOUNG), release("laplace", "1", OLD)], "1"),
    "disjoint, replaced": certificate(
        [release("laplace", "1", YOUNG), release("laplace", "1", OLD)], "2", relation="replace"
    ),
    "a vector": certificate([release("laplace", "1", BERN, OSLO)], "1"),
    "a vector, replaced": certificate([release("laplace", "1", BERN, OSLO)], "2", relation="replace"),
    "the larger path": certificate(
        [release("laplace", "1", COUNT), release("laplace", "2", COUNT)], "3/2", paths=[[0], [0, 1]]
    ),
    "repeated": certificate([release("laplace", "10", COUNT, times=5)], "1/2"),
    "twice on a path": certificate([release("laplace", "2", COUNT)], "1", paths=[[0, 0]]),
    "a choice": certificate([release("select", "1", COUNT, value())], "1"),
    "a choice whose scores move together": certificate([release("select", "1", COUNT, COUNT)], "0"),
    "a choice by an absolute value": certificate([release("select", "1", DIFFERENCE, value())], "1"),
    "gaussian": certificate([release("gaussian", "2", COUNT)], "1/8", notion="rho"),
    "gaussian, replaced": certificate([release("gaussian", "2", BERN, OSLO)], "1/4", notion="rho", relation="replace"),
    "a choice in rho": certificate([release("select", "1", COUNT, value())], "1/8", notion="rho"),
    "mu": certificate([release("gaussian", "3", COUNT), release("gaussian", "4", COUNT)], "5/12", notion="mu"),
    "the largest of two": certificate(
        [release("laplace", "1", value(bent=[{"kind": "among", "factor": "-2", "inner": [COUNT, value()]}]))], "2"
    ),
    "the largest of two that move alike": certificate(
        [release("select", "1", value(bent=[{"kind": "among", "factor": "1", "inner": [COUNT, COUNT]}]), COUNT)], "0"
    ),
    "a ball": certificate([release("gaussian", "8", BALL)], "1/32", notion="rho"),
    "a ball, replaced": certificate([release("gaussian", "8", BALL)], "1/8", notion="rho", relation="replace"),
    "discrete": certificate([release("discrete_gaussian", "2", COUNT)], "1/8", notion="rho"),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_follows_by_hand_is_accepted_and_less_is_forged(name):
    given = ACCEPTED[name]
    checked = check_certificate(copy.deepcopy(given))
    assert checked.bound == Fraction(given["bound"])
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        if checked.bound:
            with pytest.raises(CertificateError, match="the releases show the bound"):
                check_certificate({**given, "bound": str(checked.bound * factor)})


REFUSED = {
    "gaussian noise has no pure ε": certificate([release("gaussian", "2", COUNT)], "1"),
    "a discrete gaussian has no μ": certificate([release("discrete_gaussian", "2", COUNT)], "1/2", notion="mu"),
    "a choice has no μ": certificate([release("select", "2", COUNT, value())], "1/2", notion="mu"),
    "laplace noise has no ball": certificate([release("laplace", "2", BALL)], "1"),
    "an unknown law": certificate([release("cauchy", "1", COUNT)], "1"),
    "a scale of 0": certificate([release("laplace", "0", COUNT)], "1"),
    "a negative scale": certificate([release("laplace", "-1", COUNT)], "-1"),
    "no values": certificate([release("laplace", "1")], "0"),
    "no path": certificate([release("laplace", "1", COUNT)], "0", paths=[]),
    "a release that is not there": certificate([release("laplace", "1", COUNT)], "1", paths=[[1]]),
    "a sample that is not there": certificate([release("laplace", "1", COUNT, sample=0)], "1"),
    "a wrong interval": certificate([release("laplace", "1", value(term("1", "0")))], "1"),
    "a δ of rho": certificate([release("gaussian", "2", COUNT)], "1/8", notion="rho", delta="1/2"),
    "an order of texts": certificate([release("laplace", "1", under((1, "<", ["text", "x"], True)))], "1"),
    "no such column": certificate([release("laplace", "1", under((2, "==", ["text", "x"], True)))], "1"),
    "a float": certificate([release("laplace", 1.0, COUNT)], "1"),
    "the largest of none": certificate(
        [release("laplace", "1", value(bent=[{"kind": "among", "factor": "1", "inner": []}]))], "0"
    ),
    "a lead of one": certificate([release("propose_test_release", "1", COUNT, threshold="3")], "0", delta="1/2"),
    "a detail that the law has not": certificate([release("laplace", "1", COUNT, threshold="3")], "1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused(name):
    with pytest.raises(CertificateError):
        check_certificate(REFUSED[name])


def places(given, path=()):
    """Yield the path to every member."""
    yield path
    for key, inner in given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ():
        yield from places(inner, (*path, key))


def test_a_certificate_with_any_member_missing_or_of_another_type_is_refused():
    given = ACCEPTED["a choice by an absolute value"]
    for path in list(places(given))[1:]:
        for change in ("missing", 0.5, {"a": 1}):
            other = copy.deepcopy(given)
            inner = other
            for key in path[:-1]:
                inner = inner[key]
            if change == "missing":
                if not isinstance(inner, dict):
                    continue
                del inner[path[-1]]
            else:
                inner[path[-1]] = change
            if path in (("mechanism", "name"),):
                continue
            if path == ("scope", "parameters") and change == {"a": 1}:
                change = "refused all the same"
            with pytest.raises(CertificateError):
                check_certificate(other)


def test_every_number_that_says_less_is_noticed():
    """Larger movements, smaller scales and more releases make a larger bound, which does not pass for the old one."""
    given = certificate([release("laplace", "240", AGES, times=2), release("laplace", "2", YOUNG)], "3/2")
    assert check_certificate(copy.deepcopy(given)).bound == Fraction(3, 2)
    for path, changed in (
        (("releases", 0, "values", 0, "terms", 0, "high"), "121"),
        (("releases", 0, "values", 0, "terms", 0, "low"), "-121"),
        (("releases", 0, "scale"), "239"),
        (("releases", 0, "times"), 3),
        (("releases", 1, "scale"), "1"),
        (("paths", 0), [0, 1, 1]),
        (("paths", 0), [1]),
        (("scope", "group"), 2),
        (("notion",), "rho"),
    ):
        other = copy.deepcopy(given)
        inner = other
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = changed
        with pytest.raises(CertificateError):
            check_certificate(other)


def test_a_sample_is_one_block():
    given = certificate(
        [release("laplace", "1", COUNT, sample=0), release("laplace", "120", AGES, sample=0)],
        "0.4940287081",
        samples=[{"rate": "1/10", "times": 1}],
    )
    low, high = Fraction("0.49402870804"), Fraction("0.49402870805")
    given["bound"] = str(high)
    assert check_certificate(copy.deepcopy(given)).bound == high
    with pytest.raises(CertificateError):
        check_certificate({**given, "bound": str(low)})
    with pytest.raises(CertificateError):
        check_certificate({**given, "scope": {**given["scope"], "relation": "replace"}})


def test_a_sample_is_used_as_often_as_it_is_drawn():
    """Otherwise one of its draws costs more than the others, and their mean says too little."""
    given = certificate([release("laplace", "1", COUNT, sample=0)], "1", samples=[{"rate": "1/10", "times": 5}])
    with pytest.raises(CertificateError, match="in some of them only"):
        check_certificate(given)


def test_a_threshold_costs_a_delta():
    keys = release("laplace_threshold", "1", COUNT, threshold="20")
    delta = Fraction(mpmath.nstr(mpmath.exp(-19) / 2, 12))
    assert check_certificate(certificate([keys], "1", delta=str(Fraction("2.81e-9")))).bound == 1
    for less in ("0", str(delta * Fraction(99, 100))):
        with pytest.raises(CertificateError):
            check_certificate(certificate([keys], "1", delta=less))
    with pytest.raises(CertificateError):
        check_certificate(certificate([keys], "1", delta="1/2", relation="replace"))


def least_delta(release, relation="add-remove", bound="1"):
    """Return the δ that a release costs, to 9 digits, by asking the checker."""
    low, high = Fraction(0), Fraction(1)
    for _ in range(60):
        middle = (low + high) / 2
        try:
            check_certificate(certificate([release], bound, delta=str(middle), relation=relation))
            high = middle
        except CertificateError:
            low = middle
    return float(high)


@pytest.mark.parametrize(("scale", "end", "moved"), [("1", "15", "1"), ("2", "3", "1"), ("1/2", "2", "3/2")])
def test_truncated_laplace_noise_costs_what_only_one_side_can_give(scale, end, moved):
    """δ = ∫ max(f(x) − e^ε·f(x − d), 0) dx, integrated."""
    b, far, d = (float(Fraction(each)) for each in (scale, end, moved))
    grid = np.linspace(-far, far + d, 400_001)
    density = [np.where(np.abs(grid - at) <= far, np.exp(-np.abs(grid - at) / b), 0.0) for at in (0.0, d)]
    density = [each / (2 * b * -np.expm1(-far / b)) for each in density]
    wanted = np.trapezoid(np.maximum(density[0] - np.exp(d / b) * (1 + 1e-12) * density[1], 0), grid)
    found = least_delta(
        release("truncated_laplace", scale, value(term(moved, moved)), bound=end), bound=str(Fraction(d / b))
    )
    assert found == pytest.approx(wanted, rel=1e-4)
    for less in ("1", "9/10"):
        with pytest.raises(CertificateError):  # noise that ends before the movement does
            check_certificate(
                certificate([release("truncated_laplace", "1", value(term("2", "2")), bound=less)], "2", delta="1/2")
            )


def lead(counts):
    ordered = sorted(counts)
    return ordered[-1] - ordered[-2]


def test_a_lead_that_is_tested_costs_what_the_worst_counts_lose():
    """The loss of all pairs of three small counts, one of which moves by 1, and of two of them that do."""

    def chances(counts):
        beyond = lead(counts) - threshold
        passed = 1 - np.exp(-beyond / scale) / 2 if beyond > 0 else np.exp(beyond / scale) / 2
        return {counts.index(max(counts)): passed, None: 1 - passed}

    scale, threshold = 0.7, 2.5
    moved = value(term("0", "1"))
    for relation, steps in (
        ("add-remove", [(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
        ("replace", [(1, -1, 0), (0, 1, -1), (-1, 0, 1)]),
    ):
        spread = 1 if relation == "add-remove" else 2
        worst = 0.0
        for counts in itertools.product(range(6), repeat=3):
            for step in steps:
                one, other = chances(counts), chances(tuple(map(sum, zip(counts, step, strict=True))))
                for here, there in ((one, other), (other, one)):
                    lost = sum(max(p - np.exp(spread / scale) * there.get(key, 0.0), 0) for key, p in here.items())
                    worst = max(worst, lost)
        given = release("propose_test_release", "7/10", moved, moved, moved, threshold="5/2")
        allowed = least_delta(given, relation, bound=str(Fraction(spread * 10, 7)))
        assert worst <= allowed * (1 + 1e-9)
        assert allowed <= worst * 1.01 + 1e-9


def test_flipped_bits_cost_the_ratio_of_both_ways():
    """All reports of two records, of which one is replaced, add up to counts; the largest ratio is that of one bit."""
    flips = 0.25
    bits = value(term(conditions=[(1, "==", ["text", "bern"], True)]))
    given = certificate([release("randomised_response", "1", bits, probability="1/4")], "1", relation="replace")
    sums = {true: np.array([flips, 1 - flips] if true else [1 - flips, flips]) for true in (True, False)}
    kept = np.convolve(sums[True], sums[True]), np.convolve(sums[True], sums[False])
    wanted = float(np.max(np.abs(np.log(kept[0] / kept[1]))))
    with pytest.raises(CertificateError):
        check_certificate({**given, "bound": str(Fraction("1.0986122"))})
    given["bound"] = str(Fraction("1.0986122887"))
    assert float(check_certificate(copy.deepcopy(given)).bound) == pytest.approx(wanted, abs=1e-9)
    for relation, chance in (("add-remove", "1/4"), ("replace", "0"), ("replace", "1")):
        flipped = release("randomised_response", "1", bits, probability=chance)
        with pytest.raises(CertificateError):
            check_certificate(certificate([flipped], given["bound"], relation=relation))


def test_gaussian_noise_at_a_delta_has_the_epsilon_of_its_mu():
    with mpmath.workdps(40):
        mu = mpmath.mpf(1) / 4
        delta = mpmath.ncdf(mu / 2 - 1 / mu) - mpmath.e * mpmath.ncdf(-mu / 2 - 1 / mu)
        just, less = (Fraction(mpmath.nstr(delta * (1 + sign * mpmath.mpf(10) ** -8), 20)) for sign in (1, -1))
    given = certificate([release("gaussian", "4", COUNT)], "1", delta=str(just))
    assert (
        Fraction(999_999, 10**6) < gaussian_epsilon(Fraction(1, 16), just) < 1 < gaussian_epsilon(Fraction(1, 16), less)
    )
    given["bound"] = str(gaussian_epsilon(Fraction(1, 16), just))
    assert check_certificate(copy.deepcopy(given)).delta == just
    with pytest.raises(CertificateError):
        check_certificate({**given, "delta": str(less)})
    more = certificate(
        [release("gaussian", "4", COUNT), release("laplace", "1", COUNT)],
        str(1 + Fraction(given["bound"])),
        delta=str(just),
    )
    assert check_certificate(copy.deepcopy(more)).bound == 1 + Fraction(given["bound"])
    with pytest.raises(CertificateError):  # what an output chooses is no single path
        check_certificate({**more, "paths": [[0], [0, 1]]})


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(2), Fraction(7, 5), Fraction(1, 10**9), Fraction(10**9)])
def test_what_is_no_fraction_is_rounded_up_and_hardly(number):
    with mpmath.workdps(80):
        exact = mpmath.mpf(number.numerator) / number.denominator
        pairs = [(root(number), mpmath.sqrt(exact))]
        if number <= 2:
            pairs += [(exponential(number), mpmath.exp(exact)), (exponential(-number), mpmath.exp(-exact))]
            pairs.append((amplified(Fraction(1, 10), number), mpmath.log(1 + (mpmath.exp(exact) - 1) / 10)))
        if number >= 1:
            pairs.append((logarithm(number), mpmath.log(exact)))
        else:
            pairs.append((-logarithm_below(number), -mpmath.log(exact)))
        for found, wanted in pairs:
            shown = mpmath.mpf(found.numerator) / found.denominator
            assert wanted <= shown * (1 + mpmath.mpf(10) ** -70)
            assert shown <= wanted * (1 + mpmath.mpf(10) ** -25) + mpmath.mpf(10) ** -30


@pytest.mark.slow
@pytest.mark.parametrize("part", mostly_at_night(range(5)))
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_releases_that_hang_on_other_columns_cost_what_every_kind_of_records_costs(relation, part):
    rng = np.random.default_rng([3, part])
    columns = [{"name": name, "low": None, "high": None, "values": [["text", each] for each in "pqr"], "missing": False}
               for name in "abc"]  # fmt: skip
    for _ in range(12):
        adds, made = [], []
        for _ in range(4):
            used = rng.choice(3, rng.integers(1, 3), replace=False)
            table = {key: int(rng.integers(-3, 4)) for key in itertools.product("pqr", repeat=len(used))}
            adds.append(lambda kind, used=used, table=table: table[tuple(kind[each] for each in used)])
            terms = [term(str(each), str(each), [(int(number), "==", ["text", one], True) for number, one in
                     zip(used, key, strict=True)]) for key, each in table.items()]  # fmt: skip
            made.append(release("laplace", "1", value(*terms)))
        kinds = list(itertools.product("pqr", repeat=3))
        going = kinds if relation == "replace" else [None]
        worst = max(
            sum(abs(each(one) - (0 if other is None else each(other))) for each in adds)
            for one, other in itertools.product(kinds, going)
        )
        given = certificate(made, str(worst), relation=relation, columns=columns)
        assert check_certificate(given).bound == worst
        if worst:
            with pytest.raises(CertificateError):
                check_certificate({**given, "bound": str(worst - 1)})
