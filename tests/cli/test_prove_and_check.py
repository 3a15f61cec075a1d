"""Do `prove` and `check` say what they found, with the exit code that is documented?"""

import json
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id

QUICK = ("--runs", "4000")


@pytest.fixture
def own(folder, run):
    """Prove a function of the user's own file."""
    (folder / "own.py").write_text(
        "def laplace(data, noise, *, epsilon=1):\n"
        "    return data[0] + noise.laplace(1 / epsilon)\n"
        "def gaussian(data, noise):\n"
        "    return data[0] + noise.gaussian(1)\n"
        "def response(bit, noise):\n"
        "    return bit if noise.bernoulli(0.75) else 1 - bit\n",
        encoding="utf-8",
    )

    def call(name, *options):
        answers = () if name == "response" or "--length" in options else ("--length", "1")
        answers += () if name == "response" else ("--relation", "queries")
        quick = () if "--runs" in options else QUICK
        return run("prove", f"own.py:{name}", *answers, *quick, *options)

    return call


@pytest.mark.parametrize(
    ("options", "code", "word"),
    [
        (("--claim", "epsilon=1"), 0, "PROVED"),
        (("--claim", "epsilon=0.5"), 1, "VIOLATED"),
        (("--claim", "epsilon=0.5, delta=0.3"), 3, "INCONCLUSIVE"),
        ((), 0, "NO CLAIM"),
    ],
)
@pytest.mark.slow
def test_exit_codes_and_words(own, options, code, word):
    result = own("laplace", *options)
    assert (result.exit_code, word in result.stdout.upper()) == (code, True), result.output


@pytest.mark.slow
def test_the_catalogue_without_a_length(run):
    result = run("prove", "prefix_sum", "--runs", "0")
    assert result.exit_code == 0
    assert "any number of" in " ".join(result.stdout.split())


@pytest.mark.slow
def test_parameters_are_exact(own, folder):
    assert own("laplace", "-p", "epsilon=0.3", "--claim", "epsilon=0.3", "--json", "found.json").exit_code == 0
    assert dp.Evidence.load(folder / "found.json").upper.exact == "3/10"


def test_a_domain(own):
    domain = ("--domain", "[0, 1]", "--relation", "replace")
    assert own("response", *domain, "--claim", "epsilon=ln(3)").exit_code == 0
    assert own("response", *domain, "--claim", "epsilon=1").exit_code == 1


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("response", ("--domain", "[0, 1", "--relation", "replace"), "--domain is a JSON list of datasets"),
        ("laplace", ("--domain", "complex"), "--domain is 'real', 'integer', NAME=JSON for each column"),
        ("laplace", ("--runs", "3"), "runs is 0, for none, or at least 400"),
        ("laplace", ("--length", "0"), "length is a whole number"),
        ("laplace", ("--claim", "rho=1"), "give an epsilon=… claim"),
        ("gaussian", (), "noise.gaussian"),
        ("missing", (), "missing"),
    ],
)
def test_bad_requests_are_exit_code_2_and_a_sentence(own, name, options, sentence):
    result = own(name, *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_samplers_are_refused(run):
    result = run("prove", "some folder/shapes.py:sampler", "--length", "1")
    assert result.exit_code == 2
    assert "only a program" in result.stderr


@pytest.mark.nightly
def test_standard_output_holds_the_evidence_alone(own):
    result = own("laplace", "--claim", "epsilon=1", "--json", "-")
    evidence = dp.Evidence.from_json(result.stdout)
    assert evidence.verdict is dp.Verdict.PROVED
    page = own("laplace", "--claim", "epsilon=1", "--html", "-").stdout
    assert page.lstrip().startswith("<!") and page.rstrip().endswith("</html>")


@pytest.mark.slow
def test_quiet_says_nothing(own):
    result = own("laplace", "--claim", "epsilon=0.5", "--quiet")
    assert (result.exit_code, result.output) == (1, "")


# --- check ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_was_proved_holds_as_evidence_page_and_certificate(own, run, folder):
    made = own("laplace", "--claim", "epsilon=1", "--json", "found.json", "--html", "found.html")
    assert made.exit_code == 0
    evidence = dp.Evidence.load(folder / "found.json")
    (folder / "certificate.json").write_text(json.dumps(evidence.proof.certificate), encoding="utf-8")
    assert run("check", "found.json", "--quiet").output == ""
    for name in ("found.json", "found.html", "certificate.json"):
        result = run("check", name)
        assert result.exit_code == 0, result.output
        assert not any(line.startswith("fails") for line in result.stdout.splitlines()), result.stdout
        assert "certificate" in result.stdout


def test_an_audit_holds_too(audit, run):
    assert audit("program", "--claim", "epsilon=1", "--json", "found.json").exit_code == 0
    result = run("check", "found.json")
    assert result.exit_code == 0, result.output


@pytest.mark.slow
def test_what_fails_is_exit_code_1(own, run, folder):
    own("laplace", "--claim", "epsilon=1", "--json", "found.json")
    document = json.loads(Path("found.json").read_text(encoding="utf-8"))
    document["evidence"]["upper"]["value"] = 0.5
    (folder / "altered.json").write_text(json.dumps(document), encoding="utf-8")
    result = run("check", "altered.json")
    assert result.exit_code == 2
    assert "altered" in result.stderr
    document["id"] = content_id(document["evidence"])
    (folder / "forged.json").write_text(json.dumps(document), encoding="utf-8")
    result = run("check", "forged.json")
    assert result.exit_code == 1
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("fails")]
    assert line.endswith("the certificate shows ε ≤ 1, and 0.5 as a decimal is stated")
    quiet = run("check", "forged.json", "--quiet")
    assert (quiet.exit_code, quiet.output) == (1, "")


@pytest.mark.slow
def test_a_certificate_that_was_changed(own, run, folder):
    own("laplace", "--claim", "epsilon=1", "--json", "found.json")
    certificate = dp.Evidence.load(folder / "found.json").proof.certificate
    certificate["bound"] = "1/2"
    (folder / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    assert run("check", "certificate.json").exit_code == 1


@pytest.mark.parametrize("text", [None, "", "no evidence", "{}", "<html></html>"])
def test_what_cannot_be_read_is_exit_code_2(run, folder, text):
    if text is not None:
        (folder / "file").write_text(text, encoding="utf-8")
    result = run("check", "file")
    assert result.exit_code == 2
    assert result.stderr.startswith("dpaudit: ")
    assert "Traceback" not in result.output


RELEASE = """
def release(people, noise, *, epsilon=1.0):
    ages = people["age"].clip(0, 120)
    total = ages.sum() + noise.laplace(120 / (epsilon / 2))
    return total / max(len(people) + noise.laplace(1 / (epsilon / 2)), 1)

def twin(people, noise, *, epsilon=1.0):
    return (people["age"].sum() + noise.laplace(150 / epsilon)) / len(people)
"""


@pytest.mark.slow
def test_a_release_of_records_is_proved_checked_and_replayed(folder, run):
    pytest.importorskip("pandas")
    (folder / "released.py").write_text(RELEASE)
    asked = ["prove", "released.py:release", "--domain", "age=[0, 150]", "--relation", "add-remove", "--runs", "2000"]
    proved = run(*asked, "--claim", "epsilon=1", "--seed", "3", "--json", "proof.json", "--html", "proof.html")
    assert proved.exit_code == 0, proved.stderr
    assert "PROVED" in proved.stdout
    assert "for data frames of any length" in proved.stdout
    checked = run("check", "proof.json")
    assert "holds        certificate     ε ≤ 1" in checked.stdout
    assert run("replay", "proof.json").exit_code == 0
    assert "one row for every kind of record" in (folder / "proof.html").read_text()


@pytest.mark.nightly
def test_a_wrong_release_of_records_is_refuted_by_the_pair_that_it_suspects(folder, run):
    pytest.importorskip("pandas")
    (folder / "released.py").write_text(RELEASE)
    asked = ["prove", "released.py:twin", "--domain", "age=[0, 150]", "--relation", "add-remove", "--runs", "4000"]
    refuted = run(*asked, "--claim", "epsilon=1", "--seed", "3")
    assert refuted.exit_code == 1, refuted.stderr
    assert "VIOLATED" in refuted.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "sentence"),
    [
        ("age=[150, 0]", "lower end first"),
        ("age=3", "names no values"),
        ("'age'=[0, 150]=3", "is no NAME=JSON"),
    ],
)
def test_a_bad_domain_of_records_is_exit_code_2_and_a_sentence(folder, run, domain, sentence):
    (folder / "released.py").write_text(RELEASE)
    result = run("prove", "released.py:release", "--domain", domain, "--relation", "add-remove")
    assert result.exit_code == 2
    assert sentence in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "code", "sentence"),
    [("age\n7\n", 0, "PROVED"), ("age\n7\n151\n", 2, "'age' holds 151 in row 1"), (None, 2, "cannot read the dataset")],
)
@pytest.mark.nightly
def test_a_proof_of_records_is_held_against_a_file_of_them(folder, run, rows, code, sentence):
    pytest.importorskip("pandas")
    (folder / "released.py").write_text(RELEASE)
    if rows is not None:
        (folder / "people.csv").write_text(rows)
    asked = ["prove", "released.py:release", "--domain", "age=[0, 150]", "--relation", "add-remove", "--runs", "0"]
    result = run(*asked, "--data", "people.csv", "--claim", "epsilon=1")
    assert (result.exit_code, sentence in result.output) == (code, True), result.output
