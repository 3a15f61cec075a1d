"""Does the checker with a theorem accept what is right, refuse what is forged, and say what it does not cover?"""

import copy
import hashlib
import inspect
import json
from pathlib import Path

import pytest
from support import hostile_certificates as hostile
from support import made_certificates as made
from support.nightly import mostly_at_night

from dpaudit.checker import CertificateError, check_certificate
from dpaudit.errors import UsageError
from dpaudit.report.html import templates

OLD = Path(__file__).resolve().parents[1] / "evidence" / "old"


def certificates():
    """Every certificate that is made by hand without being asked for more."""
    found = {}
    for name, function in vars(made).items():
        if inspect.isfunction(function) and function.__module__ == made.__name__:
            required = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
            one = None if required else function()
            if isinstance(one, dict) and one.get("format") == "dpaudit-certificate":
                found[name] = one
    return found


def evidence(name):
    return json.loads((OLD / f"{name}.json").read_text(encoding="utf-8"))


def test_the_script_is_the_one_that_was_built(monkeypatch):
    assert hashlib.sha256(templates.checker().encode()).hexdigest() == templates.DIGEST
    monkeypatch.setattr(templates, "source", lambda name: "globalThis.dpaudit_check = () => ['PROVED', 'all']")
    with pytest.raises(UsageError, match="was altered"):
        templates.checker()


def test_the_script_needs_no_more_than_its_policy_allows():
    text = templates.checker() + templates.source("recheck.js")
    assert not [
        each for each in ("eval(", "Function(", "</script", "<!--", "fetch(", "XMLHttp", "innerHTML") if each in text
    ]


@pytest.mark.slow
def test_it_proves_what_is_right(ask):
    given = certificates()
    assert len(given) > 12
    for (name, one), (word, said, _) in zip(given.items(), ask(*given.values()), strict=True):
        assert word == "PROVED", name
        assert said.startswith(f"ε ≤ {one['bound']} for made by hand")


@pytest.mark.slow
def test_it_refuses_every_bound_that_is_too_small(ask):
    given = [one | {"bound": "1/1000"} for one in certificates().values()]
    assert {word for word, _, _ in ask(*given)} == {"REFUSED"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"movement": "one"}, "PROVED"),  # one query that moves by 1 is a case of all queries that move by 1
        ({"movement": "norm=1", "group": 2}, "REFUSED"),
        ({"group": 2}, "REFUSED"),
        ({"length": 2}, "REFUSED"),
        ({"values": "integer"}, "PROVED"),
    ],
)
def test_the_scope_is_part_of_what_is_checked(ask, change, word):
    one = made.laplace()
    one["scope"] |= change
    assert ask(one)[0][0] == word


@pytest.mark.slow
def test_of_folds_whose_queries_move_in_sum(ask):
    """The same numbers for one query that moves and for many that move by 1 in sum; for twice as much they fail."""
    one = made.fold_prefix_sum()
    for movement, group, word in (("one", 1, "PROVED"), ("norm=1", 1, "PROVED"), ("norm=1", 2, "REFUSED")):
        one["scope"] |= {"movement": movement, "group": group}
        assert ask(one)[0][0] == word, (movement, group)


@pytest.mark.slow
def test_a_cheaper_shift_than_is_needed_is_refused(ask):
    one = made.laplace()
    one["nodes"][1]["shifts"] = [
        {"difference": ["-1"], "shift": ["1/2"]},
        {"difference": ["1"], "shift": ["-1/2"]},
    ]
    assert ask(one | {"bound": "1/2"})[0][0] == "REFUSED"


@pytest.mark.slow
def test_a_boundary_of_a_continuous_draw_has_probability_0(ask):
    """Both sides of a comparison at once: without noise that is possible, with whole numbers too, else almost never."""
    either = made.e("q0 + h0")
    nodes = [
        made.draw("laplace", "1", 1),
        {"compare": either, "<": 2, ">=": 3},
        made.leaf(["none"], ("1", "-1")),
        {"compare": either, "<=": 4, ">": 5},
        {"dead": [[0, "1"], [1, "1"]]},
        made.leaf(["none"], ("-1", "1")),
    ]
    one = made.tree(1, "1", nodes)
    assert (made.accepted(one), ask(one)[0][0]) == (True, "PROVED")
    nodes[0] = made.draw("discrete_laplace", "1", 1)
    one = made.tree(1, "1", nodes, values="integer")
    assert (made.accepted(one), ask(one)[0][0]) == (False, "REFUSED")
    nodes[1] = {"compare": made.e("q0"), "<": 2, ">=": 3}
    nodes[3] = {"compare": made.e("q0"), "<=": 4, ">": 5}
    assert (made.accepted(made.tree(1, "1", nodes)), ask(made.tree(1, "1", nodes))[0][0]) == (False, "REFUSED")


def in_class(**more):
    """Merged leaves with another class."""
    one = made.merged_below()
    one["classes"][0] |= more
    return one


def other_output():
    one = made.merged_below()
    one["nodes"][5]["leaf"] = ["str", "lower"]
    return one


def left_out():
    """A leaf that lies in the hull, and is not in the class: it would be counted twice."""
    one = made.merged_below()
    one["nodes"][5] = made.leaf(["str", "lower"], ("-1", "1"), ("1", "-1"))
    one["classes"][0]["inside"].pop()
    one["classes"][0]["apart"].append({"leaf": 5, "reason": [[0, "1"], [1, "1"]]})
    return one


def never_said(change):
    one = made.merged_below()
    change(one["classes"][0])
    return one


MERGED = [
    (made.merged_below(), "PROVED"),
    (made.merged_below() | {"bound": "99/100"}, "REFUSED"),
    (in_class(hull=[[{"q0": "-1", "h0": "-1", "1": "2"}, ">"]]), "REFUSED"),  # part of it is another leaf
    (in_class(hull=[[{"q0": "-1", "h0": "-1"}, ">"]]), "REFUSED"),  # one of its leaves is outside
    (in_class(shifts=[{"difference": ["1"], "shift": ["-1/2"]}]), "REFUSED"),
    (left_out(), "REFUSED"),
    (never_said(lambda own: own["apart"].pop()), "REFUSED"),
    (other_output(), "leaves of a class return the same"),
    (never_said(lambda own: own["inside"].pop()), "leaf 5 is not listed inside"),
    (never_said(lambda own: own["inside"].append(own["inside"][0])), "leaf 2 of a class is listed twice"),
    (never_said(lambda own: own["apart"].append(own["apart"][0] | {"leaf": 7})), "lists what is no leaf there"),
]


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(("one", "said"), MERGED)
def test_of_merged_leaves(ask, one, said):
    word, sentence, _ = ask(one)[0]
    assert said == word or (word == "NOT COVERED" and said in sentence)
    assert made.accepted(one) == (word == "PROVED")


def changed_coupling(number, **more):
    one = made.fold_changes()
    for case in one["cases"]:
        case["couplings"][number] |= more
    return one


def one_sign_alone():
    """Couplings for the one difference alone: nothing is shown of the other."""
    one = made.fold_changes()
    one["cases"][0] = one["cases"][1]
    for node in (one["init"][0], one["states"][0]["step"][1]):
        node["shifts"][0] = node["shifts"][1]
    return one


def without_links(place):
    one = made.fold_changes()
    for links in one["states"][0]["step"][1]["shifts"]:
        links.pop(place)
    return one


COUPLED = [
    (made.fold_changes(), "PROVED"),
    (made.fold_changes("discrete_laplace", values="integer"), "PROVED"),
    (made.fold_changes("discrete_laplace"), "REFUSED"),
    (made.fold_changes("exponential"), "REFUSED"),
    (made.fold_changes(movement="norm=1", group=2), "REFUSED"),
    (made.fold_changes() | {"bound": "3/4"}, "REFUSED"),
    (changed_coupling(0, allowance="1/2") | {"bound": "1/2"}, "REFUSED"),
    (changed_coupling(1, allowance="0"), "REFUSED"),
    (changed_coupling(1, distances=["0"]), "REFUSED"),
    (changed_coupling(1, moved=False), "REFUSED"),
    (changed_coupling(2, allowance="-1/2"), "REFUSED"),
    (one_sign_alone(), "REFUSED"),
    (without_links(1), "REFUSED"),  # the query that moves
    (without_links(2), "REFUSED"),
    (made.fold_changes(movement="all"), "couplings are of one answer that moves"),
    (changed_coupling(1, distances=["1", "1"]), "REFUSED"),
    (changed_coupling(1, moved=1), "an answer has moved, or has not"),
    (changed_coupling(1, state=1), "a whole number from 0 to 0"),
]


@pytest.mark.slow
def test_of_couplings(ask):
    found = ask(*(one for one, _ in COUPLED))
    for (one, said), (word, sentence, _) in zip(COUPLED, found, strict=True):
        assert said == word or (word == "NOT COVERED" and said in sentence), (one, word, sentence)
        assert made.accepted(one) == (word == "PROVED"), one


NOT_READ = [
    ("", "it cannot be read"),
    ("[", "it cannot be read"),
    ("[" * 100_000, "more than 200 levels"),
    ("{}", "no certificate, and no evidence"),
    ('{"format": "dpaudit-certificate", "kind": "account"}', "kind account"),
    ('{"format": "dpaudit-certificate", "kind": "selection"}', "kind selection"),
    ('{"format": "dpaudit-certificate", "kind": "magic"}', "a kind that is not known: magic"),
    ('{"format": "dpaudit-certificate", "format": "dpaudit-certificate"}', "a key twice: format"),
    ('{"format": "dpaudit-certificate", "kind": "tree"}', "the field version"),
    ('{"format": "dpaudit-certificate", "kind": 7}', "a text is expected"),
    ('{"evidence": {"proof": null}}', "evidence without a proof"),
    ('{"a": "\\ud800"}', "it cannot be read"),
    ('{"a": 01}', "it cannot be read"),
    ('{"a": 1} more', "something follows the end"),
]


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(("text", "sentence"), NOT_READ)
def test_what_cannot_be_read_is_not_covered_and_a_sentence(ask, text, sentence):
    word, said, _ = ask(text)[0]
    assert word == "NOT COVERED"
    assert sentence in said


NO_RATIONALS = ("0/1", "2/4", "1.5", "-0", "01", "1/0", "1/-2", "+1", " 1", "1e3", "9" * 61, "NaN", "", 1, None)


@pytest.mark.slow
def test_numbers_that_are_no_rationals_are_refused_by_the_reader(ask):
    found = ask(*(made.laplace() | {"bound": number} for number in NO_RATIONALS))
    for number, (word, said, _) in zip(NO_RATIONALS, found, strict=True):
        assert (word, said.startswith("it cannot be read")) == ("NOT COVERED", True), number


@pytest.mark.slow
def test_variables_that_are_not_there_are_never_zero(ask):
    names, certificates = ("q1", "h1", "q00", "Q0", "x", "s0", "q-1", "q0 ", "1 "), []
    for name in names:
        certificates.append(made.laplace())
        certificates[-1]["nodes"][1]["leaf"][1][name] = "1"
    for name, (word, said, _) in zip(names, ask(*certificates), strict=True):
        assert (word, "there is no variable" in said) == ("NOT COVERED", True), name


# --- evidence around a certificate -------------------------------------------------------------------------


@pytest.mark.slow
def test_kept_evidence(ask):
    names = ("proved", "proved_any_length", "proved_at_delta", "proved_from_records", "proved_without_runs", "refuted")
    assert {word for word, _, _ in ask(*map(evidence, names))} == {"PROVED"}
    assert {word for word, _, _ in ask(*map(evidence, ("enumerated", "laplace_first")))} == {"NOT COVERED"}


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    ("upper", "said"),
    [
        ({"value": 0.49}, "a smaller bound is stated"),
        ({"exact": "49/100"}, "a smaller bound is stated"),
        ({"value": 1e-3}, "a smaller bound is stated"),
        ({"value": None}, "no number"),
        ({"value": "0.5"}, "no number"),
        ({"parameter": "delta"}, "no upper bound of epsilon"),
        ({"side": "lower"}, "no upper bound of epsilon"),
    ],
)
def test_evidence_that_states_more_than_its_certificate_is_refused(ask, upper, said):
    document = evidence("proved")  # which states 1/2
    document["evidence"]["upper"] |= upper
    word, sentence, _ = ask(document)[0]
    assert word == "REFUSED"
    assert said in sentence


@pytest.mark.slow
def test_evidence_that_states_less_is_true(ask):
    document = evidence("proved")
    document["evidence"]["upper"] |= {"value": 5e-1, "exact": "3/4"}
    assert ask(document)[0][0] == "PROVED"


@pytest.mark.slow
def test_the_certificate_of_another_mechanism_is_refused(ask):
    document = evidence("proved")
    document["evidence"]["target"]["name"] = "laplace"
    word, said, _ = ask(document)[0]
    assert (word, said.split(";")[0]) == ("REFUSED", "the certificate is of another mechanism")


@pytest.mark.slow
def test_a_certificate_elsewhere_in_evidence_proves_nothing(ask):
    document = evidence("proved")
    document["evidence"]["target"]["parameters"]["hidden"] = document["evidence"]["proof"].pop("certificate")
    assert ask(document)[0][:2] == ("NOT COVERED", "a proof without a certificate")


# --- hostile certificates -----------------------------------------------------------------------------------


HOSTILE = {
    "heavy": (hostile.heavy, "NOT COVERED"),
    "heavy, long numbers": (lambda: hostile.heavy(coefficient="9" * 60), "NOT COVERED"),
    "many answers": (hostile.many_answers, "REFUSED"),
    "many vectors": (hostile.many_vectors, "NOT COVERED"),
    "long fractions": (hostile.long_fractions, "NOT COVERED"),
    "late boundaries": (hostile.late_boundaries, "PROVED"),
    "many classes": (hostile.many_classes, "NOT COVERED"),
    "merged argmax": (hostile.merged_argmax, "NOT COVERED"),
    "many couplings": (hostile.many_couplings, "NOT COVERED"),
    "many odds": (hostile.many_odds, "NOT COVERED"),
    "long text": (lambda: "[" + '{"a":1},' * 1_500_000 + "1]", "NOT COVERED"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_at_night(HOSTILE, stay=["many odds"]))
def test_a_hostile_certificate_ends_soon(ask, name):
    make, word = HOSTILE[name]
    found, said, seconds = ask(make())[0]
    assert found == word, said
    assert said
    assert seconds < 10  # 3.5 on an idle machine


# --- against the Python checker -----------------------------------------------------------------------------


def changes(one):
    """The certificate with one number moved a little, or made zero, at every place where a number stands."""

    def numbers(value, path):
        if isinstance(value, (dict, list)):
            for key in value if isinstance(value, dict) else range(len(value)):
                yield from numbers(value[key], (*path, key))
        elif isinstance(value, str) and value.lstrip("-").replace("/", "").isdigit() and "parameters" not in path:
            yield path

    for path in numbers(one, ()):
        for text in ("0", "3/7", "-2"):
            again = copy.deepcopy(one)
            inner = again
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = text
            yield again


def refusal(one):
    """Why the Python checker refuses a certificate; empty if it does not."""
    try:
        check_certificate(one)
    except CertificateError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("part", mostly_at_night(range(4)))
def test_what_python_accepts_is_never_refused_and_what_it_refuses_is_proved_only_if_it_is_true(ask, part):
    given = [again for one in certificates().values() for again in changes(one)][part::4]
    assert len(given) > 125
    words, larger = [], 0
    for one, (word, said, _) in zip(given, ask(*given), strict=True):
        why = refusal(one)
        words.append(word)
        if not why:
            assert word == "PROVED", said
        elif word == "PROVED":
            larger += 1
            assert "the shifts show the bound" in why or "listed twice" in why, why
    assert {"PROVED", "REFUSED", "NOT COVERED"} == set(words)
    assert larger or part
