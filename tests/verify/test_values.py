"""Are branches on data alone compared for both runs, with the bounds of theory, and are forged values refused?"""

import copy
import json
import statistics
from fractions import Fraction

import pytest

from dpaudit.checker import CertificateError, check_certificate, check_text
from dpaudit.verify.fold import prove_program


def clipped(x, low, high):
    return max(low, min(x, high))


def absolute(data, noise):
    return abs(data[0]) + noise.laplace(2)


def by_hand(data, noise):
    answer = data[0]
    if answer < 0:
        answer = -answer
    return answer + noise.laplace(2)


def largest(data, noise):
    return max(data) + noise.laplace(2)


def median(data, noise):
    return statistics.median(data) + noise.laplace(2)


def spread(data, noise):
    return max(data) - min(data) + noise.laplace(2)


def clipped_sum(data, noise):
    return sum(clipped(x, 0, 10) for x in data) + noise.laplace(2)


def vector(data, noise):
    return [abs(x) + noise.laplace(2) for x in data]


def jumps(data, noise):
    return (0 if data[0] < 0 else 3) + noise.laplace(2)


def steep(data, noise):
    return (-2 * data[0] if data[0] < 0 else 5 * data[0]) + noise.laplace(2)


def whole(data, noise):
    return max(data) + noise.discrete_laplace(2)


def sparse(data, noise):
    level = noise.laplace(2)
    found = []
    for x in data:
        found.append(clipped(x, 0, 5) + noise.laplace(4) >= level)
        if found[-1]:
            break
    return found


def gap(data, noise):
    """The same value is compared and released: it counts once."""
    level, noisy = noise.laplace(2), abs(data[0]) + noise.laplace(4)
    return noisy - level if noisy >= level else None


def noisy_max(data, noise):
    return noise.argmax([abs(x) + noise.laplace(2) for x in data])


def sign_is_told(data, noise):
    return abs(data[0]) + noise.laplace(2), data[0] < 0


def other_scale(data, noise):
    return -data[0] + noise.laplace(2) if data[0] < 0 else data[0] + noise.laplace(3)


def one_more_draw(data, noise):
    first = noise.laplace(2)
    return -data[0] + first if data[0] < 0 else data[0] + first + noise.laplace(2)


def turned_noise(data, noise):
    first = noise.laplace(2)
    return data[0] + first if data[0] < 0 else data[0] - first


def other_type(data, noise):
    return [abs(data[0]) + noise.laplace(2)] if data[0] < 0 else (abs(data[0]) + noise.laplace(2),)


def plain(data, noise):
    return max(data), noise.laplace(2)


def twice(data, noise):
    """One value gets noise twice, where one of the two is compared only."""
    first = abs(data[0]) + noise.laplace(2)
    return first if abs(data[0]) + noise.laplace(2) > 0 else None


def halves(data, noise):
    """A jump that is half as large as the largest movement that may hide it."""
    return (data[0] / 2 if data[0] < 1 else data[0] / 2 + Fraction(1, 4)) + noise.laplace(2)


HALF = Fraction(1, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "length", "all_move", "one_moves"),
    [
        pytest.param(program, length, all_move, one_moves, id=program.__name__)
        for program, length, all_move, one_moves in [
            (absolute, 1, HALF, HALF),
            (by_hand, 1, HALF, HALF),
            (largest, 3, HALF, HALF),
            (median, 3, HALF, HALF),
            (spread, 3, Fraction(1), HALF),
            (clipped_sum, 2, Fraction(1), HALF),
            (vector, 3, Fraction(3, 2), HALF),
            (jumps, 1, Fraction(3, 2), Fraction(3, 2)),
            (steep, 1, Fraction(5, 2), Fraction(5, 2)),
            (sparse, 2, HALF, Fraction(1, 4)),
            (gap, 1, Fraction(1, 4), Fraction(1, 4)),
            (noisy_max, 3, Fraction(1), HALF),
            (twice, 1, Fraction(1), Fraction(1)),
            (halves, 1, Fraction(3, 8), Fraction(3, 8)),
            # wrong twins
            (sign_is_told, 1, None, None),
            (other_scale, 1, None, None),
            (one_more_draw, 1, None, None),
            (turned_noise, 1, None, None),
            (other_type, 1, None, None),
            (plain, 2, None, None),
        ]
    ],
)
def test_bounds_are_those_of_theory(program, length, all_move, one_moves):
    for relation, bound in (("queries", all_move), ("queries(one)", one_moves)):
        proof = prove_program(program, length=length, relation=relation, runs=6)
        assert proof.bound == bound and proof.agreement.disagreement is None and not proof.open_ends
        if bound is None:
            assert proof.certificate is None
            continue
        assert proof.certificate is not None and "values" in proof.certificate
        checked = check_text(json.dumps(proof.certificate))
        assert (checked.bound, checked.kind, checked.scope["length"]) == (bound, "tree", length)


def test_groups_move_values_farther():
    for relation in ("queries(group=3)", "queries(norm=1, group=3)"):
        proof = prove_program(largest, length=2, relation=relation, runs=0)
        assert proof.bound == Fraction(3, 2) == check_certificate(proof.certificate).bound


def test_whole_values_for_whole_noise():
    def half(data, noise):
        return max(data) / 2 + noise.discrete_laplace(2)

    proof = prove_program(whole, length=2, relation="queries(group=2)", domain="integer", runs=6)
    assert proof.bound is None  # values move in units of two, which are not whole
    proof = prove_program(whole, length=2, relation="queries", domain="integer", runs=6)
    assert proof.bound == HALF == check_certificate(proof.certificate).bound
    assert prove_program(half, length=2, relation="queries", domain="integer", runs=0).bound is None


# --- forged certificates ----------------------------------------------------------------------------------------


def proved(program, relation, **options):
    found = prove_program(program, length=options.pop("length", 2), relation=relation, runs=0, **options).certificate
    assert found is not None
    return found


BOX, SUMMED = proved(largest, "queries"), proved(largest, "queries(one)")
STEEP, MANY = proved(steep, "queries", length=1), proved(vector, "queries(one)")
WHOLE = proved(whole, "queries", domain="integer")


def twice_as_far(c):
    c["scope"]["group"] = 2


def half_of_it(c):
    c["values"][0]["pairs"].pop()


def turned_round(c):
    c["values"][0]["pairs"].reverse()


def steeper(c):
    """A leaf that rises twice as fast."""
    leaf = next(node for node in c["values"][0]["nodes"] if "leaf" in node)
    leaf["leaf"][1] = {name: str(2 * Fraction(number)) for name, number in leaf["leaf"][1].items()}


def shifted(c):
    """A jump between the leaves."""
    next(node for node in c["values"][0]["nodes"] if "leaf" in node)["leaf"][1]["1"] = "1/2"


def other_branch(c):
    c["values"][0]["nodes"][0]["compare"]["1"] = "1"


def with_noise(c):
    nodes = c["values"][0]["nodes"]
    for node in nodes:
        for way in ("<", "<=", "=", ">=", ">"):
            if way in node:
                node[way] += 1
    nodes.insert(0, {"draw": "laplace", "scale": "1", "then": 1})


def not_a_number(c):
    next(node for node in c["values"][0]["nodes"] if "leaf" in node)["leaf"] = ["float", "nan"]


def a_text(c):
    next(node for node in c["values"][0]["nodes"] if "leaf" in node)["leaf"] = ["str", "x"]


def unread(c):
    """More queries than values."""
    nodes = [node for node in c["nodes"] if "leaf" in node]
    nodes[0]["leaf"] = ["float", {"q1": "1", "h0": "1"}]


def of_sums(c):
    c["scope"].update(movement="norm=1", group=2)


def of_boxes(c):
    c["scope"]["movement"] = "all"


def flat(c):
    for each in c["values"][0]["slopes"]:
        each["slope"] = "0"


def negative(c):
    c["values"][0]["slopes"][0]["slope"] = "-1"


def without_slope(c):
    c["values"][0]["slopes"].pop()


def slope_twice(c):
    c["values"][0]["slopes"][1] = copy.deepcopy(c["values"][0]["slopes"][0])


def downwards_only(c):
    c["values"][0]["slopes"][0]["up"] = c["values"][0]["slopes"][0]["down"]


def one_query(c):
    """Both values are of one query, so that their slopes add up to 2."""
    c["values"][1] = copy.deepcopy(c["values"][0])


def halved_for_whole(c):
    """Values in halves, which move by half as much, under noise of whole numbers."""
    for node in c["values"][0]["nodes"]:
        if "leaf" in node:
            node["leaf"][1] = {name: str(Fraction(number) / 2) for name, number in node["leaf"][1].items()}
    last = 1 + 1 + 2 * c["scope"]["length"]  # after the conditions of two leaves and the box
    for each in c["values"][0]["pairs"]:
        each[:] = [[number, str(2 * Fraction(factor)) if number == last else factor] for number, factor in each]


def whole_value(c):
    next(node for node in c["values"][0]["nodes"] if "leaf" in node)["leaf"][0] = "int"


def slope_once_more(c):
    c["values"][0]["slopes"].append(copy.deepcopy(c["values"][0]["slopes"][0]))


def unknown_query(c):
    c["values"][0]["slopes"].append({**c["values"][0]["slopes"][0], "query": "q7"})


def no_values(c):
    c["values"] = []


@pytest.mark.parametrize(("true", "forge"), [
    (BOX, twice_as_far), (BOX, half_of_it), (STEEP, turned_round), (BOX, steeper), (BOX, shifted), (BOX, other_branch),
    (BOX, with_noise), (BOX, not_a_number), (BOX, a_text), (BOX, unread), (BOX, of_sums), (BOX, no_values),
    (SUMMED, of_boxes), (SUMMED, flat), (SUMMED, negative), (SUMMED, without_slope), (SUMMED, slope_twice),
    (SUMMED, downwards_only), (SUMMED, steeper), (SUMMED, shifted), (MANY, one_query), (WHOLE, halved_for_whole),
    (SUMMED, twice_as_far), (BOX, whole_value), (SUMMED, slope_once_more), (SUMMED, unknown_query),
], ids=lambda each: getattr(each, "__name__", "of"))  # fmt: skip
def test_forged_values_are_refused(true, forge):
    check_certificate(true)
    forged = copy.deepcopy(true)
    forge(forged)
    assert forged != true
    with pytest.raises(CertificateError):
        check_certificate(forged)
