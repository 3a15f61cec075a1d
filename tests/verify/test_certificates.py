"""Does the independent checker accept every proof, and reject what is changed in it?"""

import copy
import json
from fractions import Fraction

import pytest
from support import provable

from dpaudit.checker import CertificateError, check_certificate, check_text
from dpaudit.loading import load
from dpaudit.verify.fold import prove_program

FINITE = [(name, given, five) for name, given, five, _ in provable.TABLE if five != "oo"]
OTHERS = [
    (provable.noisy_max, 5, None),
    (provable.ranking, 4, None),
    (provable.index_of_largest, 4, None),
    (provable.coins, 2, None),
    (provable.outside, 1, None),
    (provable.geometric, 2, "integer"),
    (provable.geometric_max, 4, "integer"),
]


@pytest.mark.parametrize(("name", "given", "bound"), FINITE, ids=[f"{name}{given or ''}" for name, given, _ in FINITE])
@pytest.mark.slow
def test_the_checker_accepts_the_table(name, given, bound):
    proof = prove_program(load(name), given, length=5, runs=1)
    checked = check_text(json.dumps(proof.certificate))
    assert checked.bound == bound == proof.bound
    assert checked.scope["length"] == 5
    assert checked.mechanism["name"] == name


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(("program", "length", "domain"), OTHERS, ids=[each[0].__name__ for each in OTHERS])
def test_the_checker_accepts_other_programs(program, length, domain):
    proof = prove_program(program, length=length, relation="queries", domain=domain, runs=1)
    assert check_text(json.dumps(proof.certificate)).bound == proof.bound


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["queries(one, group=2)", "queries(norm=1)", "queries(monotone, group=2)"])
def test_the_checker_accepts_other_relations(relation):
    for program in (provable.noisy_max, provable.ranking):
        proof = prove_program(program, length=4, relation=relation, runs=1)
        assert check_certificate(proof.certificate).bound == proof.bound


@pytest.fixture(scope="module", params=[(provable.noisy_max, 4), (provable.index_of_largest, 4), (load("gap_svt"), 4)],
                ids=["noisy_max", "index_of_largest", "gap_svt"])  # fmt: skip
def certificate(request):
    program, length = request.param
    return prove_program(program, length=length, relation="queries", runs=1).certificate


def leaves(certificate):
    return [node for node in certificate["nodes"] if "leaf" in node]


def lower(certificate):
    certificate["bound"] = str(Fraction(certificate["bound"]) - Fraction(1, 100))


def cut_a_branch(certificate):
    for node in certificate["nodes"]:
        if "compare" in node:
            del node[next(key for key in node if key != "compare")]
            return


def kill_a_leaf(certificate):
    place = next(place for place, node in enumerate(certificate["nodes"]) if "leaf" in node)
    certificate["nodes"][place] = {"dead": [[0, "1"]]}


def shift_less(certificate):
    for each in [*leaves(certificate), *certificate["classes"]]:
        for shift in each.get("shifts", []):
            shift["shift"] = ["0"] * len(shift["shift"])


def drop_a_difference(certificate):
    for each in [*leaves(certificate), *certificate["classes"]]:
        if each.get("shifts"):
            each["shifts"].pop()


def drop_a_reason(certificate):
    for each in certificate["classes"]:
        if each["apart"]:
            each["apart"].pop()
            return
    pytest.skip("nothing is merged")


def loosen_the_hull(certificate):
    for each in certificate["classes"]:
        each["hull"].pop()
        for entry in each["inside"]:
            entry["reasons"].pop()
        return
    pytest.skip("nothing is merged")


def more_noise(certificate):
    for node in certificate["nodes"]:
        if "draw" in node:
            node["scale"] = str(2 * Fraction(node["scale"]))


@pytest.mark.parametrize(
    "change",
    [lower, cut_a_branch, kill_a_leaf, shift_less, drop_a_difference, drop_a_reason, loosen_the_hull, more_noise],
)
def test_the_checker_rejects_what_is_changed(certificate, change):
    forged = copy.deepcopy(certificate)
    change(forged)
    with pytest.raises(CertificateError):
        check_certificate(forged)


def test_certificates_hold_no_floats_and_name_their_parameters():
    proof = prove_program(load("above_threshold"), {"epsilon": 0.3, "threshold": Fraction(1, 3)}, length=2)
    assert proof.bound == Fraction(3, 20)
    assert proof.certificate["scope"]["parameters"] == {"epsilon": "3/10", "threshold": "1/3", "cutoff": "1"}

    def floats(value):
        if isinstance(value, dict):
            value = list(value.values())
        return any(map(floats, value)) if isinstance(value, list) else isinstance(value, float)

    assert not floats(proof.certificate)


@pytest.mark.slow
def test_certificates_are_the_same_every_time():
    first, second = (
        json.dumps(prove_program(provable.noisy_max, length=4, relation="queries", runs=1).certificate)
        for _ in range(2)
    )
    assert first == second


def test_conditions_with_fractions_are_weighed_as_they_were_written():
    """A dead branch behind conditions whose denominators differ: its certificate was refused once."""

    def program(data, noise):
        noisy = data[0] / 2 + noise.laplace(1)
        if noisy > Fraction(1, 3):
            return 7 if noisy / 3 < Fraction(1, 21) else 1
        return 0

    proof = prove_program(program, length=1, relation="queries", runs=0)
    assert any("dead" in node for node in proof.certificate["nodes"])
    assert check_certificate(proof.certificate).bound == Fraction(1, 2)
