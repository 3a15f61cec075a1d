"""Are folds whose distances change with the record that moves bounded as theory says, and forgeries refused?"""

import copy
import json
from fractions import Fraction

import pytest

from dpaudit.checker import CertificateError, check_certificate, check_text
from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import parse_relation
from dpaudit.program.fold import Emit, Fold, Stop
from dpaudit.program.symbolic.noise import queries, read
from dpaudit.verify.alignment import align
from dpaudit.verify.fold import prove_fold


def in_blocks(state, answer, noise, *, block=3, hidden=True):
    """Noisy answers, and at the end of a block its exact sum with one noise: each answer is used twice at most."""
    exact, place = state[0] + answer, state[1] + 1
    if place < block:
        return Emit(answer + noise.laplace(1), (exact, place))
    return Emit(exact + noise.laplace(1) if hidden else exact, (0, 0))


def in_a_tree(state, answer, noise, *, block=2):
    """Answers, blocks, and blocks of blocks, each with noise of scale 3."""
    inner, outer, i, j = state[0] + answer, state[1] + answer, state[2] + 1, state[3]
    told = [answer + noise.laplace(3)]
    if i == block:
        told.append(inner + noise.laplace(3))
        inner, i, j = 0, 0, j + 1
        if j == block:
            told.append(outer + noise.laplace(3))
            outer, j = 0, 0
    return Emit(told, (inner, outer, i, j))


BLOCKS = Fold(in_blocks, init=(0, 0), finish=None)
TREE = Fold(in_a_tree, init=(0, 0, 0, 0), finish=None)
CHANGES = Fold(lambda last, x, noise: Emit(x - last + noise.laplace(2), x), init=0, finish=None)
TOTAL = Fold(lambda s, x, noise: s + x, init=lambda noise: noise.laplace(2), finish=lambda s: s)
FIRST = Fold(  # all sums from the record that moves on move in one direction, as for monotone answers
    lambda s, x, noise: Emit(True, Stop()) if s[0] + x + noise.laplace(4) > s[1] else Emit(False, (s[0] + x, s[1])),
    init=lambda noise: (0, noise.laplace(2)),
    finish=None,
)


def loss(fold, relation, length, **parameters):
    """The bound for one length, from the tree of that length."""
    tree = read(lambda data, noise, **given: fold(data, noise, **given), queries(length), parameters)
    return align(tree, parse_relation(relation), length).bound


@pytest.mark.parametrize(
    ("fold", "relation", "parameters", "bound"),
    [
        pytest.param(BLOCKS, "queries(one)", {}, Fraction(2), id="blocks"),
        pytest.param(BLOCKS, "queries(norm=1, group=2)", {"block": 2}, Fraction(4), id="blocks-group"),
        pytest.param(BLOCKS, "queries(one)", {"block": 1}, Fraction(1), id="blocks-of-one"),
        pytest.param(TREE, "queries(one)", {}, Fraction(1), id="tree"),
        pytest.param(CHANGES, "queries(one)", {}, Fraction(1), id="changes"),
        pytest.param(TOTAL, "queries(one)", {}, Fraction(1, 2), id="total"),
        pytest.param(BLOCKS, "queries(one)", {"hidden": False}, None, id="a-sum-without-noise"),
        pytest.param(BLOCKS, "queries", {}, None, id="blocks-all-move"),
        pytest.param(
            Fold(lambda s, x, noise: Emit(s + x + noise.laplace(1), s + x), finish=None), "queries(one)", {}, None,
            id="every-running-sum",
        ),
        pytest.param(FIRST, "queries(one)", {}, Fraction(3, 4), id="a-sum-above-a-threshold"),
    ],
)  # fmt: skip
def test_bounds_are_those_of_theory(fold, relation, parameters, bound):
    proof = prove_fold(fold, parameters, relation=relation, runs=6)
    assert proof.bound == bound and proof.agreement.disagreement is None
    if bound is None:
        assert proof.certificate is None
        return
    checked = check_text(json.dumps(proof.certificate))
    assert (checked.bound, checked.kind, checked.scope["length"]) == (bound, "fold", "any")
    # the noise of FIRST is shifted before it is known which record moves, or which is above
    reached = Fraction(1, 2) if fold is FIRST else bound
    assert max(loss(fold, relation, length, **parameters) for length in (1, 4)) == reached <= bound


def test_discrete_noise_needs_whole_distances():
    fold = Fold(lambda s, x, noise: Emit(x - s + noise.discrete_laplace(2), x), init=0, finish=None)
    proof = prove_fold(fold, relation="queries(one)", domain="integer", runs=6)
    assert proof.bound == 1 == check_certificate(proof.certificate).bound
    with pytest.raises(UsageError, match="one step"):
        prove_fold(fold, relation="queries(one, group=2)", domain="integer", runs=0)


# --- forged certificates ----------------------------------------------------------------------------------------

TRUE = prove_fold(CHANGES, relation="queries(one)", runs=0).certificate
assert TRUE is not None


def leaf(certificate):
    return next(node for node in certificate["states"][-1]["step"] if "leaf" in node)


def moving(certificate, case=1):
    """The entries of a step at which the record moves."""
    return [each for each in leaf(certificate)["shifts"][case] if each["difference"] != "0"]


def all_move(c):
    c["scope"]["movement"] = "all"


def twice_as_far(c):
    c["scope"]["group"] = 2


def one_sign(c):
    del c["cases"][0]
    for state in [c["init"], *(state["step"] for state in c["states"])]:
        for node in state:
            if "leaf" in node:
                del node["shifts"][0]


def never_moved(c):
    """Runs begin where the record that moves has been read, at no cost."""
    c["bound"] = "0"
    for couplings in c["cases"]:
        for each in couplings["couplings"]:
            each.update(moved=True, distances=["0"] * len(each["distances"]), allowance="0")
    for state in c["states"]:
        for node in state["step"]:
            for case in node.get("shifts", []):
                case[:] = [each for each in case if each["difference"] == "0"]
                for each in case:
                    each["shift"] = ["0"]


def moved_unseen(c):
    """A coupling after the move is where runs go on before it."""
    target = next(n for n, each in enumerate(c["cases"][1]["couplings"]) if each["moved"])
    next(node for node in c["init"] if "leaf" in node)["shifts"][1][0]["to"] = target


def other_state(c):
    for each in c["cases"][1]["couplings"]:
        each["state"] = 0


def in_debt(c):
    c["bound"] = "0"
    for case in c["cases"]:
        for each in case["couplings"]:
            each["allowance"] = str(Fraction(each["allowance"]) - 1)


def dropped(c):
    for each in moving(c):
        leaf(c)["shifts"][1].remove(each)


def repeated(c):
    leaf(c)["shifts"][1].append(copy.deepcopy(moving(c)[0]))


def nearer(c):
    for each in c["cases"][1]["couplings"]:
        each["distances"] = ["0" for _ in each["distances"]]


def cheaper(c):
    c["bound"] = "1/2"
    for case in c["cases"]:
        for each in case["couplings"]:
            each["allowance"] = str(Fraction(each["allowance"]) / 2)


def unshifted(c):
    moving(c)[0]["shift"] = ["0"]


def half_a_move(c):
    moving(c)[0]["difference"] = "1/2"


def more_than_a_move(c):
    """A shift for 3/2 is none for 1, whatever may be spent."""
    c["bound"] = "2"
    for case in c["cases"]:
        for each in case["couplings"]:
            each["allowance"] = str(2 * Fraction(each["allowance"]))
    moving(c)[0].update(difference="3/2", shift=["-3/2"])


def forgotten(c):
    """The distance that the record leaves behind in the state."""
    c["bound"] = "1/2"
    for case, couplings in enumerate(c["cases"]):
        for each in couplings["couplings"]:
            each.update(distances=["0"], allowance="0" if each["moved"] else "1/2")
        for state in c["states"]:
            for node in state["step"]:
                for each in node["shifts"][case] if "leaf" in node else []:
                    each["shift"] = [str(-Fraction(each["difference"]))]


def shorter(c):
    c["cases"][1]["couplings"][0]["distances"].append("0")


def nowhere(c):
    moving(c)[0]["to"] = None


@pytest.mark.parametrize("forge", [
    all_move, twice_as_far, one_sign, never_moved, moved_unseen, other_state, in_debt, dropped, repeated, nearer,
    cheaper, unshifted, half_a_move, shorter, nowhere, more_than_a_move, forgotten,
], ids=lambda each: each.__name__)  # fmt: skip
def test_forged_couplings_are_refused(forge):
    assert check_certificate(TRUE).bound == 1
    forged = copy.deepcopy(TRUE)
    forge(forged)
    assert forged != TRUE
    with pytest.raises(CertificateError):
        check_certificate(forged)
