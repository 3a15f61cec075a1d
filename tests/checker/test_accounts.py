"""Does the checker accept true accounts, and only those? Every mechanism, and a change in every field."""

import copy
import itertools
import json
import random
import sys
from decimal import Context, Decimal
from fractions import Fraction

import flint
import pytest
from support.nightly import mostly_at_night

from dpaudit.accounting import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    RandomisedResponse,
    certify,
)
from dpaudit.accounting.lattice import coarser, shares
from dpaudit.checker import CertificateError, ForgedError, check_certificate, check_text
from dpaudit.checker.accounting_laws import step
from dpaudit.checker.accounting_sums import FINER, Composer, Lattice, Loss
from dpaudit.checker.reals import DecimalField, Real


def ball(value):
    exactly = Fraction(value)
    return flint.arb(flint.fmpq(exactly.numerator, exactly.denominator))


def test_the_normal_law_lies_in_its_interval():
    field, draw = DecimalField(65), random.Random(0)
    before, flint.ctx.prec = flint.ctx.prec, 400
    try:
        for _ in range(300):
            z = Fraction(draw.randrange(-20 * 10**9, 20 * 10**9), 10**9) / draw.choice((1, 10, 10**6))
            found = field.beyond(field(z))
            true = (ball(z) / flint.arb(2).sqrt()).erfc() / 2
            assert ball(found.low) <= true <= ball(found.high)
            assert found.high - found.low < Decimal("1e-60")
            if z > 12:
                true /= (-ball(z) * ball(z) / 2).exp() / (2 * flint.arb.pi()).sqrt()
                found = field.mills(field(z))
                assert ball(found.low) <= true <= ball(found.high)
                assert found.high - found.low < Decimal("1e-30")
    finally:
        flint.ctx.prec = before


EACH_MECHANISM = [
    Gaussian(2).times(3),
    Gaussian(1).poisson("0.05").times(20),
    Gaussian(2).fixed_size(1, 10).times(5),
    Gaussian(1).shuffled(50).times(3),
    Block("rho=0.02").times(3) + Laplace(4) + Exponential(1) + Gaussian(5),
    Laplace(1).times(5),
    Laplace(2).poisson("0.1").times(20),
    Laplace(2).fixed_size(1, 10).times(7),
    RandomisedResponse("0.1").times(30),
    RandomisedResponse(1).poisson("0.1").times(10),
    DiscreteLaplace(2, sensitivity=3).times(4),
    DiscreteGaussian(2).times(5),
    DiscreteGaussian(2).poisson("0.1").times(5),
    Exponential("0.2").times(5),
    Block("epsilon=0.1, delta=1e-7").times(5),
    Block("epsilon=0.1, delta=1e-7").poisson("0.5").times(5),
    Block("mu=0.25").poisson("0.5").times(5),
    Block("epsilon=0.5, delta=1e-7").fixed_size(1, 4).times(5),
    DiscreteLaplace(2, sensitivity=2).fixed_size(1, 10).times(4),
    Gaussian(3).times(2) + Block("epsilon=0.5, delta=1e-8") + RandomisedResponse("0.25").times(3),
]
ASKED = [{"delta": "1e-5"}, {"epsilon": "0.5"}]


# each is asked for one of the two, and the first for both: what is asked matters at the end alone
def test_exponentials_and_logarithms_of_intervals_hold_those_of_their_ends():
    field, exact, draw = DecimalField(30), Context(prec=60), random.Random(0)
    for _ in range(200):
        low = Decimal(draw.randrange(1, 10**9)) / 10 ** draw.choice((6, 9))
        high = low + draw.choice((0, 1)) * Decimal(draw.randrange(10**9)) / 10 ** draw.choice((8, 9, 20))
        both = Real(low, high, field)
        for found, ends in ((both.exp(), map(exact.exp, (low, high))), (both.log(), map(exact.ln, (low, high)))):
            first, last = ends
            assert found.low <= first and last <= found.high


def test_factors_and_products_are_of_one_lattice():
    field = DecimalField(60)
    lattice = Lattice(field(Fraction(1, 10)), 10**6, False, (None,), field)
    losses = [Loss([1, 2, 3], 0, 0, field(0)), Loss([3, 2, 1], 0, 0, field(0))]

    def made(program, factors):
        composer = Composer(lattice, 6, [(0, 0)] * (2 + sum(isinstance(order[1], int) for order in program)))
        return composer.factors(losses, [1, 1], program, factors)

    made([(0, "even"), (1, "odd")], [0, 1])
    for program, factors in (
        ([(0, "even")], [0, 1]),
        ([(0, "even"), (0, 1)], [2]),
        ([(0, 0)], [2]),
        ([(0, 0)], [1, 2]),
    ):
        with pytest.raises(CertificateError):
            made(program, factors)


@pytest.mark.parametrize("up", [True, False])
def test_both_sides_move_to_coarser_lattices_alike(up):
    """By the prover's way and by the checker's, from one statement."""
    draw, unit, field = random.Random(0), 10**12, DecimalField(60)
    lattice = Lattice(field(Fraction(1, 7)), unit, up, (None,), field)
    composer = Composer(lattice, 12, [])
    before, flint.ctx.prec = flint.ctx.prec, 200
    try:
        share = shares(ball(Fraction(1, 7)), unit)
    finally:
        flint.ctx.prec = before
    for start, odd, length in ((-7, False, 24), (-7, True, 25), (4, False, 25), (4, True, 24), (0, True, 1)):
        masses = [draw.choice((0, draw.randrange(10**9))) for _ in range(length)]
        own = composer.coarser(Loss(masses, start, 3, field(0)), odd=odd)
        assert (own.masses, own.start) == coarser(masses, start, odd, share, unit, up=up)
        assert (own.infinite, own.level) == (3, 1) and (own.base.low > 0) == odd


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    ("events", "asked"),
    [(EACH_MECHANISM[0], ASKED[1]), *zip(EACH_MECHANISM, itertools.cycle(ASKED), strict=False)],
    ids=str,
)
def test_every_mechanism_is_checked(events, asked):
    found = certify(events, tolerance=0.01, **asked)
    checked = check_text(json.dumps(found.certificate))
    assert checked.kind == "account"
    # what is shown is rounded outward to floats
    assert found.low <= Fraction(checked.scope["low"]) <= checked.bound <= found.high


@pytest.mark.slow
def test_an_end_from_below_that_shows_nothing_is_left_out():
    found = certify(Gaussian("1e6").poisson("0.5").times(100), delta="1e-6")
    assert found.low == 0 and len(found.certificate["ends"]) == 2
    check_certificate(found.certificate)


def test_pure_losses_are_checked():
    found = certify(Laplace(2).times(3) + RandomisedResponse("1/4").poisson("0.5"), delta=0)
    assert check_certificate(found.certificate).bound >= Fraction(3, 2)
    for name, value in (("high", "3/2"), ("low", "2")):
        with pytest.raises(CertificateError):
            check_certificate({**found.certificate, name: value})


@pytest.mark.parametrize(
    ("events", "asked"),
    [
        (Gaussian(2).times(3) + Block("mu=0.1"), {"delta": "1e-5"}),
        (Gaussian(2), {"epsilon": "0"}),
        (Gaussian("0.02"), {"epsilon": "3000"}),
        (Block("rho=0.02").times(3) + Gaussian(5), {"delta": "1e-5"}),
        (Block("rho=0.02"), {"epsilon": "0.5"}),
    ],
    ids=str,
)
def test_accounts_by_formula_are_held_to_it(events, asked):
    account = certify(events, **asked).certificate
    assert account["digits"] == 0 and not rejected(account)
    other, more = {"name": "laplace", "noise": "2"}, Fraction(1, 10**11)
    for change in (
        lambda one: one.__setitem__(
            "high", str(Fraction(one["high"]) * (1 - (more if not one["ends"] else Fraction(1, 1000))))
        ),
        lambda one: one.__setitem__("low", str(Fraction(one["low"]) * (1 + more))),
        lambda one: one["events"][0].__setitem__("count", one["events"][0]["count"] + 1),
        lambda one: one["events"][0].__setitem__("sampling", {"name": "poisson", "rate": "1"}),
        lambda one: one["events"][0].__setitem__("mechanism", other),
        lambda one: one["events"].append({"mechanism": other, "count": 1}),
        lambda one: one["ends"].pop() if one["ends"] else one["ends"].append({"side": "above", "order": "1"}),
        lambda one: one.__setitem__("at", str(10**390)),
        lambda one: one.__setitem__("digits", 20),
    ):
        forged = copy.deepcopy(account)
        change(forged)
        assert rejected(forged)


@pytest.mark.slow
@pytest.mark.parametrize("events", [Block("rho=1"), Laplace(1), Gaussian(1).poisson("0.5")], ids=str)
def test_numbers_beyond_all_ranges_are_refused(events):
    account = certify(events, delta=0 if isinstance(events, Laplace) else "1e-2").certificate
    for change in (
        lambda one: one.__setitem__("high", str(10**399)),
        lambda one: one["events"][0]["mechanism"].update(
            {key: "1/" + str(10**399) for key in one["events"][0]["mechanism"] if key != "name"}
        ),
    ):
        forged = copy.deepcopy(account)
        change(forged)
        assert rejected(forged)


@pytest.fixture(name="account", scope="module")
def _account():
    return certify(Gaussian(1).poisson("0.05").times(20), delta="1e-3", tolerance=0.2).certificate


def places(value, path=()):
    """Every place of a JSON value that holds a number or a text."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))
    else:
        yield path


def changed(account, path):
    """The account with another number or text at one place."""
    found = copy.deepcopy(account)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    value = inner[path[-1]]
    if isinstance(value, int):
        inner[path[-1]] = value + 1
    elif value.isdigit():
        inner[path[-1]] = str(int(value) + 1)
    elif "/" in value:
        inner[path[-1]] = str(Fraction(value) * Fraction(3, 2))
    elif value.startswith("sha256:"):
        inner[path[-1]] = value[:-1] + ("0" if value[-1] != "0" else "1")
    else:
        inner[path[-1]] = value + "x"
    return found


def rejected(account):
    try:
        check_certificate(account)
    except CertificateError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("further", mostly_at_night([1, 3]))
def test_a_change_in_any_field_is_rejected(account, further):
    """But for claims that become weaker, cuts between the same places, and events where nothing is left after cuts."""
    assert not rejected(account)
    draw = random.Random(0)
    kinds = {}
    for path in places(account):
        kinds.setdefault(tuple(key for key in path if isinstance(key, str)), []).append(path)
    accepted = set()
    for names, paths in kinds.items():
        if names in {("high",), ("ends", "cuts")}:  # below
            continue
        for path in [paths[0], *draw.sample(paths, min(further, len(paths)))]:
            if not rejected(changed(account, path)):
                accepted.add(path)
                assert path[0] == "ends" and path[2] in ("events", "sums") and path != paths[0]
    assert len(accepted) <= 2


@pytest.mark.slow
def test_certificates_without_a_program_are_read_as_they_were_written(monkeypatch):
    """They multiply by the binary digits of the counts, on one lattice."""
    monkeypatch.setattr(sys.modules["dpaudit.accounting.certify"], "_MOST_LEVELS", 0)
    account = certify(Gaussian(1).poisson("0.05").times(11), delta="1e-5", tolerance=0.01).certificate
    for end in account["ends"]:
        del end["program"], end["factors"]
    assert not rejected(account)
    account["events"][0]["count"] = 12
    assert rejected(account)


@pytest.mark.parametrize(
    "change",
    [
        lambda end: end["program"].append([0, 0]),
        lambda end: end["program"].insert(0, [0, "even"]),
        lambda end: end["program"].append([len(end["cuts"]) - 1, "odd"]),
        lambda end: end["program"].append([len(end["cuts"]), "odd"]),
        lambda end: end["program"].pop(),
        lambda end: end["program"].__setitem__(0, [0, "both"]),
        lambda end: end["program"].__setitem__(0, [0, -1]),
        lambda end: end["factors"].pop(),
        lambda end: end["factors"].append(0),
        lambda end: end.pop("factors"),
        lambda end: end.pop("program"),
    ],
)
def test_a_program_makes_every_step_once(account, change):
    other = copy.deepcopy(account)
    change(other["ends"][0])
    assert rejected(other)


@pytest.mark.slow
def test_claims_are_held_to_the_sums(account):
    high, low = Fraction(account["high"]), Fraction(account["low"])
    for name, value in (
        ("high", high - Fraction(1, 1000)),
        ("low", low + Fraction(1, 1000)),
        ("at", Fraction(1, 10**6)),
    ):
        with pytest.raises(ForgedError):
            check_certificate({**account, name: str(value)})


@pytest.mark.slow
def test_cuts_and_ends_are_all_there(account):
    for change in (
        lambda one: one["ends"].pop(0),
        lambda one: one["ends"].pop(1),
        lambda one: one["ends"].pop(2),
        lambda one: one["ends"].append(one["ends"][0]),
        lambda one: one["ends"][0]["cuts"].pop(),
        lambda one: one["ends"][0]["cuts"].append(["0", "0"]),
        lambda one: one["ends"][0]["cuts"].__setitem__(-1, ["0", "999999999999999"]),
        lambda one: one["ends"][0].__setitem__("side", "below"),
        lambda one: one["ends"][0].__setitem__("direction", "add"),
        lambda one: one["ends"][0].__setitem__("more", 1),
        lambda one: one["events"][0].pop("sampling"),
        lambda one: one["events"].append(one["events"][0]),
        lambda one: one.__setitem__("digits", 0),
        lambda one: one.__setitem__("high", "infinity"),
        lambda one: one.__setitem__("parameter", "delta"),
    ):
        other = copy.deepcopy(account)
        change(other)
        with pytest.raises(CertificateError):
            check_certificate(other)


@pytest.mark.parametrize(
    ("corners", "events"),
    [
        ([-10, 0, 10], [-5 * FINER, 10 * FINER - 1]),  # losses of the last event below the last corner
        ([-10, -9, 40], [-9 * FINER, 40 * FINER]),  # far events leave no convex line
        ([0, 10, 5], [5 * FINER, 10 * FINER]),
        ([-10, 0, 10], [10 * FINER]),
    ],
)
def test_lines_that_show_nothing_are_refused(corners, events):
    field = DecimalField(60)
    law = step({"mechanism": {"name": "gaussian", "noise": "1"}, "count": 1}, "", field, 20).below
    lattice = Lattice(field(Fraction(1, 10)), 10**20, False, (None,), field)
    lattice.loss(law, 0, [-10, 0, 10], [-5 * FINER, 10 * FINER], "")
    with pytest.raises(CertificateError):
        lattice.loss(law, 0, corners, events, "")


def test_the_last_event_of_a_test_needs_a_line_above_zero():
    """The largest of many batches is often far up without the record: the losses of its events are smaller than u."""
    field = DecimalField(60)
    sampling = {"name": "shuffled", "batches": 1000}
    law = step({"mechanism": {"name": "gaussian", "noise": "1"}, "count": 1, "sampling": sampling}, "", field, 20).below
    lattice = Lattice(field(Fraction(1, 10)), 10**20, False, (None,), field)
    lattice.loss(law, 0, [-10, 0, 10], [2 * 10 * FINER, 50 * FINER], "")
    with pytest.raises(ForgedError, match="the last event"):
        lattice.loss(law, 0, [-10, 0, 10], [5 * FINER, 10 * FINER], "")


@pytest.mark.slow
def test_a_claim_of_rho_is_bounded_by_its_order_alone():
    account = certify(Block("rho=0.125").times(2) + RandomisedResponse("0.1"), delta="1e-5").certificate
    assert not rejected(account)
    for change in (
        lambda one: one["ends"].pop(),
        lambda one: one["ends"].pop(0),
        lambda one: one["ends"].append(one["ends"][-1]),
        lambda one: one["ends"][-1].__setitem__("order", "2"),
        lambda one: one["ends"][-1].__setitem__("order", "1"),
        lambda one: one["ends"][-1].__setitem__("side", "below"),
        lambda one: one["ends"][0].__setitem__("side", "above"),
        lambda one: one["events"][0].__setitem__("count", 3),
        lambda one: one["events"][0]["mechanism"].__setitem__("rho", "1/7"),
        lambda one: one["events"][0].__setitem__("sampling", {"name": "poisson", "rate": "1/2"}),
        lambda one: one.__setitem__("high", str(Fraction(one["high"]) - Fraction(1, 10**6))),
        lambda one: one.__setitem__("low", str(Fraction(one["low"]) + Fraction(1, 100))),
    ):
        other = copy.deepcopy(account)
        change(other)
        assert rejected(other)
    # without the claim of ρ an order is no proof: the curve is asked for
    gaussian = copy.deepcopy(account)
    gaussian["events"][0]["mechanism"] = {"name": "gaussian", "noise": "2"}
    assert rejected(gaussian)
