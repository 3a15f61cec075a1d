"""Is report noisy max of any length bounded as theory says, are wrong twins not, and are forged selections refused?"""

import copy
import functools
import json
from fractions import Fraction

import pytest

from dpaudit.checker import CertificateError, check_certificate, check_text
from dpaudit.program.fold import Emit, Fold
from dpaudit.verify.fold import prove_fold


def selecting(draw, better=lambda new, best: new > best, told=lambda state: state[1], known=None, weight=1):
    """A fold that keeps the best noisy answer, and where it was."""

    def step(state, answer, noise):
        best, winner, place = state
        noisy = weight * answer + draw(noise)
        if best is None or better(noisy, best):
            best, winner = noisy, place
        return best, winner, place + 1

    return Fold(step, init=(known, None if known is None else 0, 0), finish=told)


def laplace(noise):
    return noise.laplace(2)


NOISY_MAX = selecting(laplace)


def by_turns(state, answer, noise):
    """The last answer that is above a fixed limit, which may be none of them."""
    best, winner, place = state
    if best is None or answer + noise.laplace(2) > 5:
        best, winner = 0, place
    return best, winner, place + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fold", "relation", "domain", "bound"),
    [
        pytest.param(NOISY_MAX, "queries", None, Fraction(1), id="laplace"),
        pytest.param(NOISY_MAX, "queries(monotone)", None, Fraction(1, 2), id="monotone"),
        pytest.param(NOISY_MAX, "queries(group=2)", None, Fraction(2), id="group"),
        pytest.param(selecting(lambda noise: noise.exponential(2)), "queries", None, Fraction(1), id="exponential"),
        pytest.param(selecting(lambda noise: noise.gumbel(2)), "queries", None, Fraction(1), id="gumbel"),
        pytest.param(
            selecting(lambda noise: noise.discrete_laplace(2), lambda new, best: new >= best), "queries", "integer",
            Fraction(1), id="discrete-last-of-equals",
        ),
        pytest.param(selecting(laplace, lambda new, best: new < best), "queries", None, Fraction(1), id="smallest"),
        pytest.param(selecting(laplace, weight=3), "queries", None, Fraction(3), id="weighted"),
        pytest.param(selecting(lambda noise: noise.laplace(1)), "queries", None, Fraction(2), id="half-the-noise"),
        # wrong twins
        pytest.param(selecting(laplace, told=lambda state: state[0]), "queries", None, None, id="its-value"),
        pytest.param(selecting(laplace, told=lambda state: state[:2]), "queries", None, None, id="both"),
        pytest.param(selecting(lambda noise: 0), "queries", None, None, id="no-noise"),
        pytest.param(selecting(lambda noise: noise.uniform(0, 9)), "queries", None, None, id="uniform"),
        pytest.param(
            selecting(lambda noise: noise.exponential(2), lambda new, best: new < best), "queries", None, None,
            id="smallest-of-exponential",
        ),
        pytest.param(selecting(laplace, known=0), "queries", None, None, id="perhaps-none"),
        pytest.param(Fold(by_turns, init=(None, None, 0), finish=lambda s: s[1]), "queries", None, None, id="last"),
    ],
)  # fmt: skip
def test_bounds_are_those_of_theory(fold, relation, domain, bound):
    """Laplace noise of scale b costs 2k/b (k/b for monotone answers): Dwork & Roth 2014, Claim 3.9."""
    proof = prove_fold(fold, relation=relation, domain=domain, runs=6)
    assert proof.bound == bound and proof.agreement.disagreement is None
    if bound is None:
        assert proof.certificate is None
        return
    checked = check_text(json.dumps(proof.certificate))
    assert (checked.bound, checked.kind, checked.scope["length"]) == (bound, "selection", "any")


@pytest.mark.slow
def test_a_count_in_the_state_may_have_any_value():
    """A sparse vector that releases the place of the first answer above: its count is the same on both sides."""
    fold = Fold(
        lambda s, x, noise: Emit(s[1], (s[0], s[1] + 1)) if x + noise.laplace(4) >= s[0] else (s[0], s[1] + 1),
        init=lambda noise: (noise.laplace(2), 0),
        finish=None,
    )
    assert prove_fold(fold, relation="queries(one)", runs=6).bound == Fraction(1, 4)


def test_a_count_that_decides_is_read_value_by_value(monkeypatch):
    """The first eight answers are released, and no more: with any count at all there would be no end of them."""
    monkeypatch.setattr("dpaudit.program.symbolic.fold_machine._FEW_STATES", 4)
    monkeypatch.setattr("dpaudit.program.symbolic.fold_machine._MANY_VALUES", 3)
    fold = Fold(lambda s, x, noise: Emit(x + noise.laplace(4), s + 1) if s < 8 else s, init=0, finish=None)
    assert prove_fold(fold, relation="queries", runs=6).bound == 2


@pytest.mark.slow
def test_what_a_count_decides_is_read_whatever_the_count(monkeypatch):
    """A value instead of a place, after a thousand answers: no run of the tests would come there."""

    def step(state, answer, noise):
        best, winner, place = NOISY_MAX.step(state, answer, noise)
        return best, (best if place == 1000 else winner), place

    monkeypatch.setattr("dpaudit.program.symbolic.fold_machine.MOST_STATES", 120)
    fold = Fold(step, init=(None, None, 0), finish=lambda state: state[1])
    assert prove_fold(fold, relation="queries", runs=6).bound is None


# --- forged certificates ----------------------------------------------------------------------------------------

EMPTY, HELD = 0, 1  # the states: nothing yet, and a best one


@functools.cache
def true():
    certificate = prove_fold(NOISY_MAX, relation="queries(monotone)", runs=0).certificate
    assert certificate is not None
    return certificate


def best(c):
    return next(name for name in ("s0", "s1", "s2") if name not in (f"s{c['place']}", f"s{c['winner']}"))


def nodes(c, state=HELD):
    return [node for node in c["states"][state]["step"] if "leaf" in node]


def numbers(c):
    """The numbers of the leaves of a step: of the one that keeps the winner, and of the marked one."""
    step = c["states"][HELD]["step"]
    own = {n: node for n, node in enumerate(step) if "leaf" in node}
    marked = next(n for n, node in own.items() if node["state"][c["winner"]] == {f"s{c['place']}": "1"})
    return next(n for n in own if n != marked), marked


def pairs(c, phase, first, second, case=0):
    found = c["cases"][case]["states"][HELD]["pairs"][phase]
    return next(each for each in found if (each["first"], each["second"]) == (first, second))


def all_move(c):
    c["scope"]["movement"] = "all"


def both_ways(c):
    """The cases of one direction, for answers of which each may move either way."""
    c["scope"]["movement"] = "all"
    del c["cases"][1]


def twice_as_far(c):
    c["scope"].update(movement="all", group=1)
    c["cases"] = [c["cases"][0]]


def its_value(c):
    c["states"][HELD]["end"][0]["leaf"] = ["float", {best(c): "1"}]


def told_on_the_way(c):
    nodes(c)[0]["leaf"] = ["float", {"x": "1", "h0": "1"}]


def told_by_text(c):
    nodes(c)[0]["leaf"] = ["str", "kept"]


def stopped(c):
    nodes(c)[0].update(next=None, state=[])


def from_the_middle(c):
    """A start at which no answer need win."""
    c["init"][0]["next"] = HELD


def noise_at_the_start(c):
    c["init"] = [{"draw": "laplace", "scale": "1", "then": 1}, c["init"][0]]


def noise_at_the_end(c):
    c["states"][HELD]["end"] = [{"draw": "laplace", "scale": "1", "then": 1}, c["states"][HELD]["end"][0]]


def impossible(c):
    """Relations that never hold, from which everything follows."""
    c["bound"] = "0"
    for case in c["cases"]:
        for state in case["states"]:
            state["before"] = state["after"] = [{"1": "-1"}]
            unshift(state)
            for each in all_pairs(state):
                each.pop("rows", None)
                each["never"] = [[0, "1"]]


def impossible_later(c):
    """Such relations from the second record on, for which there are no reasons."""
    c["bound"] = "0"
    for case in c["cases"]:
        for number, state in enumerate(case["states"]):
            unshift(state)
            if number == HELD:
                state["before"] = state["after"] = [{"1": "-1"}]
            for each in all_pairs(state):
                each.pop("rows", None)
                each.pop("never", None)
                each.update({"never": [[0, "1"]]} if number == HELD else {"rows": [[[0, "1"]]]})


def unreasoned(c):
    """Pairs that are said never to be, without a reason."""
    c["bound"] = "0"
    for case in c["cases"]:
        for state in case["states"]:
            state["before"] = state["after"] = []
            unshift(state)
            for each in all_pairs(state):
                if "rows" in each:
                    each["rows"] = []
                else:
                    each["never"] = [[0, "1"]]


def unshift(state):
    for each in state["shifts"]:
        each["shift"] = ["0"]


def all_pairs(state):
    return [each for pairs in state["pairs"].values() for each in pairs]


def unshifted(c):
    c["bound"] = "0"
    for case in c["cases"]:
        for state in case["states"]:
            for each in state["shifts"]:
                each["shift"] = ["0"]


def free_start(c):
    """The shift of one marked leaf is left out."""
    c["cases"][0]["states"][EMPTY]["shifts"] = []


def another_may_win(c):
    """A pair that parts at the winner, though it could never be."""
    keeps, marks = numbers(c)
    for case in range(2):
        each = pairs(c, "at", marks, keeps, case)
        each["rows"] = [each.pop("never")] * len(c["cases"][case]["states"][HELD]["after"])


def wins_later(c):
    """The same after the winner."""
    keeps, marks = numbers(c)
    for case in range(2):
        each = pairs(c, "after", keeps, marks, case)
        each["rows"] = [each.pop("never")] * len(c["cases"][case]["states"][HELD]["after"])


def parted(c):
    """The two runs go to different states."""
    keeps, _ = numbers(c)
    c["states"][HELD]["step"][keeps]["next"] = EMPTY
    for case in c["cases"]:
        for each in all_pairs(case["states"][HELD]):
            if each["first"] == keeps and "rows" in each:
                each["rows"] = []


def one_way(c):
    c["cases"][0] = copy.deepcopy(c["cases"][1])


def other_way(c):
    c["cases"][1] = copy.deepcopy(c["cases"][0])


def dearer(c):
    """A shift that costs more than is stated."""
    c["cases"][0]["states"][EMPTY]["shifts"][0]["shift"] = ["9"]


def left_out(c):
    c["cases"][0]["states"][HELD]["pairs"]["before"].pop()


def listed_twice(c):
    before = c["cases"][0]["states"][HELD]["pairs"]["before"]
    before[0] = before[1]


def without_reason(c):
    found = c["cases"][0]["states"][HELD]["pairs"]["before"]
    next(each for each in found if each.get("rows"))["rows"].pop()


def not_counted(c):
    nodes(c)[0]["state"][c["place"]] = {f"s{c['place']}": "1"}


def counted_later(c):
    """The number of the next place, and not of this one."""
    nodes(c)[1]["state"][c["winner"]] = {f"s{c['place']}": "1", "1": "1"}


def same_number(c):
    c["winner"] = c["place"]


def of_exponential_noise(c):
    for state in c["states"]:
        for node in state["step"]:
            if "draw" in node:
                node["draw"] = "uniform"


def whole_noise(c):
    for state in c["states"]:
        for node in state["step"]:
            if "draw" in node:
                node["draw"] = "discrete_laplace"


def less_noise(c):
    for state in c["states"]:
        for node in state["step"]:
            if "draw" in node:
                node["scale"] = "1"


def other_noise(c):
    """The leaf that loses draws once more."""
    step = c["states"][HELD]["step"]
    keeps, _ = numbers(c)
    step.append(step[keeps])
    step[keeps] = {"draw": "laplace", "scale": "1", "then": len(step) - 1}
    for case in c["cases"]:
        for each in all_pairs(case["states"][HELD]):
            each.update({side: len(step) - 1 for side in ("first", "second") if each[side] == keeps})


def winner_from_data(c):
    keeps, _ = numbers(c)
    c["states"][HELD]["step"][keeps]["state"][c["winner"]] = {best(c): "1"}


def told_at_the_start(c):
    c["init"][0]["leaf"] = ["str", "x"]


def two_starts(c):
    c["init"] = [
        {"draw": "laplace", "scale": "1", "then": 1},
        {"compare": {"h0": "1"}, "<": 2, ">=": 3},
        *(copy.deepcopy(c["init"][0]) for _ in range(2)),
    ]


def endless(c):
    c["states"][HELD]["end"][0]["next"] = HELD


def of_values(c):
    c["values"] = []


def other_state(c):
    nodes(c)[0]["next"] = EMPTY


@pytest.mark.parametrize("forge", [
    all_move, both_ways, twice_as_far, its_value, told_on_the_way, told_by_text, stopped, from_the_middle,
    noise_at_the_start, noise_at_the_end, impossible, impossible_later, unreasoned, unshifted, free_start,
    another_may_win, wins_later, parted, one_way, other_way, dearer, left_out, listed_twice, without_reason,
    not_counted, counted_later, same_number, of_exponential_noise, whole_noise, less_noise, other_noise,
    winner_from_data, told_at_the_start, two_starts, endless, of_values, other_state,
], ids=lambda each: each.__name__)  # fmt: skip
def test_forged_selections_are_refused(forge):
    assert check_certificate(true()).bound == Fraction(1, 2)
    forged = copy.deepcopy(true())
    forge(forged)
    assert forged != true()
    with pytest.raises(CertificateError):
        check_certificate(forged)
