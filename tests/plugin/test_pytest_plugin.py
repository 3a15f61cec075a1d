"""Does a test with dp_audit fail when it should, stay green when it should, and say what was found?"""

import importlib
import json
import re
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner
from support import forked

import dpaudit as dp
from dpaudit.cli.main import cli
from dpaudit.report import evidence_from_page

pytest_plugins = ["pytester"]

RELEASE = """
import warnings

PAIRS = [([1, 1], [1])]

def noisy_count(data, noise, *, epsilon=1.0):
    return len(data) + noise.laplace(1 / epsilon)

def randomised_response(data, size, rng):
    import numpy as np
    return np.where(rng.random(size) < 0.7310585786300049, len(data), 3 - len(data))

def repeats(data, size, rng):
    import numpy as np
    return len(data) + np.random.default_rng(0).laplace(size=size)

def warns(data, rng):
    warnings.warn("an old way", DeprecationWarning, stacklevel=2)
    return len(data) + rng.laplace()
"""
# without what looks through all of memory, five times, at the end of every run
QUICKLY = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:unraisableexception")
GOOD = 'noisy_count, claim="epsilon=1", pairs=PAIRS, runs=20_000'
BAD = 'noisy_count, claim="epsilon=0.5", pairs=PAIRS, runs=20_000'


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Whatever an audit imports is imported out here, so that no test within a test has to do it again."""
    importlib.import_module("dpaudit.auditing.trace")
    dp.audit("randomised_response", runs=1_000).to_html(tmp_path_factory.mktemp("warm") / "page.html")


@pytest.fixture
def run(warm, pytester, monkeypatch):
    """Run tests that import everything from release.py; call(body, *options) gives the result."""
    pytester.makepyfile(release=RELEASE)
    pytester.makeini("[pytest]\n")  # so that the root folder is this one

    def call(body, *options, pages=False):
        if not pages:  # they take most of the time
            monkeypatch.setattr("dpaudit.report.html_page", lambda _: "")
        pytester.makepyfile(test_it="import pytest\nfrom release import *\n\n" + body)
        return pytester.runpytest_inprocess(*QUICKLY, *options)

    return call


def called(arguments):
    return f"def test_release(dp_audit):\n    dp_audit({arguments})\n"


# --- when a test passes and when it fails ---


@pytest.mark.slow
def test_a_release_that_keeps_its_claim_passes_and_gives_its_evidence(run):
    body = f"def test_release(dp_audit):\n    evidence = dp_audit({GOOD})\n    assert evidence.lower.value > 0.8\n"
    run(body + "    assert dp_audit.evidence is evidence\n").assert_outcomes(passed=1)
    run(body + "    assert evidence.lower.value > 2\n").assert_outcomes(failed=1)


@pytest.mark.nightly
def test_a_function_that_is_proved_passes_where_no_violation_is_asked_for(run):
    asked = 'claim="epsilon={}", domain={{"age": (0.0, 9.0)}}, relation="add-remove", runs=2_000'
    done = run(
        "import numpy as np\n"
        "def count(df): return len(df[df['age'] > 3]) + np.random.laplace()\n"
        f"def test_kept(dp_audit): assert str(dp_audit(count, {asked.format(1)}).verdict) == 'proved'\n"
        f"def test_broken(dp_audit): dp_audit(count, {asked.format('0.2')})\n"
        f"def test_known(dp_audit): dp_audit(count, {asked.format(1)}, expect='violated')\n"
    )
    done.assert_outcomes(passed=1, failed=2)


@pytest.mark.slow
def test_a_release_that_does_not_fails_without_a_traceback(run, pytester):
    result = run(called(BAD), pages=True)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "VIOLATED: The runs contradict the claim ε = 0.5: they show ε ≥ 0.9* at 95 % confidence.",
            "  target      release:noisy_count (epsilon=1)",
            "  event       points to the first dataset: an output that is at least *",
            "              seen: first * of * (*), second * of * (*)",
            "  pair        as it was given",
            "  reproduce   dpaudit audit release:noisy_count * --claim epsilon=0.5 --runs 20000 * --seed 0 *",
            "  run alone   pytest test_it.py::test_release --dp-seed 0 --dp-runs 20000 --dp-confidence 0.95 "
            "--dp-false-alarm 0.001",
            "  page        .dpaudit/pytest/test_it.py-test_release-*.html",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "def test_release" not in result.stdout.str()
    [page] = (pytester.path / ".dpaudit/pytest").glob("*.html")
    assert evidence_from_page(page.read_text(encoding="utf-8")).verdict is dp.Verdict.VIOLATED
    assert (pytester.path / ".dpaudit/pytest/.gitignore").read_text() == "*\n"


@pytest.mark.nightly
def test_what_replays_a_failure_gives_its_evidence(run, pytester):
    text = run(called('"laplace", claim="epsilon=0.5"'), pages=True).stdout.str()
    words = shlex.split(re.search(r"reproduce +dpaudit (.*)", text)[1])
    done = CliRunner().invoke(cli, [*words, "--json", "again.json"])
    assert done.exit_code == 1, done.output
    [page] = (pytester.path / ".dpaudit/pytest").glob("*.html")
    assert dp.Evidence.load("again.json").id == evidence_from_page(page.read_text(encoding="utf-8")).id


@pytest.mark.slow
def test_the_marker_audits_before_the_body(run):
    marked = "@pytest.mark.dp_audit({})\ndef test_release(dp_audit):\n    print('the body')\n    {}\n"
    result = run(marked.format(BAD, "assert False"), "-rA")
    result.assert_outcomes(failed=1)
    assert "VIOLATED" in result.stdout.str()
    assert "the body" not in result.stdout.str()
    result = run(marked.format(GOOD, "assert dp_audit.evidence.lower.value > 0.8"), "-rA", "--strict-markers")
    result.assert_outcomes(passed=1)
    assert "the body" in result.stdout.str()


@pytest.mark.slow
def test_a_marker_needs_no_body_and_may_stand_above_a_class(run):
    run(f"@pytest.mark.dp_audit({BAD})\ndef test_release(): ...\n").assert_outcomes(failed=1)
    body = (
        f"@pytest.mark.dp_audit({BAD})\nclass TestRelease:\n    def test_one(self): ...\n    def test_two(self): ...\n"
    )
    run(body).assert_outcomes(failed=2)
    result = run('@pytest.mark.dp_audit(claim="epsilon=1")\ndef test_release(): ...\n')
    result.stdout.fnmatch_lines(["the marker dp_audit is given one target*"])


@pytest.mark.slow
def test_a_function_defined_in_the_test_is_run_alone_by_its_test(run):
    result = run(
        "def test_release(dp_audit):\n    def f(data, rng):\n        return len(data) + rng.laplace()\n"
        '    dp_audit(f, claim="epsilon=0.3", pairs=PAIRS, runs=5_000, seed=3)\n'
    )
    result.assert_outcomes(failed=1)
    assert "replay" not in result.stdout.str()
    result.stdout.fnmatch_lines(["  run alone   pytest test_it.py::test_release --dp-seed 3 --dp-runs 5000 *"])


@pytest.mark.slow
def test_an_expected_violation_has_to_be_found(run):
    run(called(BAD + ', expect="violated"')).assert_outcomes(passed=1)
    result = run(called(GOOD + ', expect="violated"'))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["NOT VIOLATED: *", "This test expects that a violation is found."])
    inconclusive = 'noisy_count, claim="epsilon=9", pairs=PAIRS, runs=1_000, expect="violated", inconclusive="pass"'
    run(called(inconclusive)).assert_outcomes(failed=1)


@pytest.mark.slow
def test_runs_that_cannot_show_anything_fail_unless_they_may_pass(run, pytester):
    body = called('noisy_count, claim="epsilon=9", pairs=PAIRS, runs=1_000')
    result = run(body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["INCONCLUSIVE: *", "Give the test more runs, or inconclusive='pass' *"])
    run(body.replace("runs", 'inconclusive="pass", runs')).assert_outcomes(passed=1)
    run(body, "--dp-inconclusive", "pass").assert_outcomes(passed=1)
    pytester.makeini("[pytest]\ndp_inconclusive = pass\n")
    run(body).assert_outcomes(passed=1)
    run(body, "--dp-inconclusive", "fail").assert_outcomes(failed=1)


def test_runs_that_cannot_be_trusted_fail(run):
    result = run(called('repeats, claim="epsilon=1", pairs=PAIRS, runs=600_000, inconclusive="pass"'))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["INVALID: *", "*same varying sequence*"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("noisy_count, pairs=PAIRS", "there is no claim to hold * this test could not fail*"),
        ('noisy_count, pairs=PAIRS, claims="epsilon=1"', "*takes no 'claims'; did you mean 'claim'*"),
        ('noisy_count, pairs=PAIRS, claim="epsilon=1", expect="proved"', "*expect is 'not violated' or 'violated'*"),
        ('noisy_count, pairs=PAIRS, claim="epsilon=1", inconclusive="skip"', "*inconclusive is 'fail' or 'pass'*"),
        ('"laplac", claim="epsilon=1"', "*no mechanism is called 'laplac'; did you mean 'laplace'*"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, words, run):
    result = run(called(arguments))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["dpaudit cannot audit this: " + words])


# --- one rule of what is a violation ---

TIGHT = 'randomised_response, claim="epsilon={}", pairs=PAIRS, relation="add-remove", {}'


@pytest.mark.nightly
def test_a_test_ends_as_the_same_audit_does(run, pytester):
    """The rule of two looks is the audit's own: a test has none beside it, so that both have one id."""
    arguments = TIGHT.format("0.85", "runs=4_000, seed=7")
    body = called(arguments + ', expect="violated"').replace("dp_audit(r", "evidence = dp_audit(r")
    run(
        body + "    import dpaudit as dp\n    assert evidence.second is not None and evidence.false_alarm == 1e-3\n"
        f"    assert evidence.id == dp.audit({arguments}).id\n"
    ).assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_violation_that_needs_a_second_look_says_so(run):
    result = run(called(TIGHT.format("0.85", "runs=4_000, seed=7")))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["VIOLATED: *; 6,000", "fresh runs of its event confirm it.", "  second look * fresh runs *"]
    )


@pytest.mark.slow
def test_a_bound_above_the_claim_alone_fails_no_test_and_is_told(run):
    # a mechanism that is tight at its claim, at a confidence at which such bounds are common
    body = called(TIGHT.format("1", "runs=2_000, confidence=0.6, seed=0"))
    result = run(body)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*dpaudit: bounds above the claim that are no violation*",
            "*::test_release: seed 0: *show more than is claimed, as they do by chance*fresh runs*did not confirm it.",
        ]
    )
    run(body, "--dp-false-alarm", "0.4").assert_outcomes(failed=1)  # as rare as the bound: one look


@pytest.mark.slow
def test_types_count_as_in_every_audit(run):
    body = "def typed(data, rng):\n    return 1.0 if len(data) == 2 else 1\n\n" + called(
        'typed, claim="epsilon=1", pairs=PAIRS, runs=2_000, seed=0{}'
    )
    run(body.format("")).assert_outcomes(failed=1)
    run(body.format(', types="ignore"')).assert_outcomes(passed=1)


# --- settings ---


@pytest.mark.slow
def test_the_test_beats_the_command_line_which_beats_the_ini_file(run, pytester):
    body = (
        "def shown(e):\n    print(e.runs, e.seed, e.confidence, e.false_alarm)\n"
        'def test_usual(dp_audit):\n    shown(dp_audit("randomised_response"))\n'
        "def test_own(dp_audit):\n"
        '    shown(dp_audit("randomised_response", runs=5_000, seed=1, confidence=0.9, false_alarm=0.01))\n'
    )
    result = run(body, "-s")
    result.stdout.fnmatch_lines(["*100000 0 0.95 0.001*", "*5000 1 0.9 0.01*"])
    pytester.makeini("[pytest]\ndp_runs = 2e4\ndp_seed = 5\ndp_confidence = 0.99\ndp_false_alarm = 2e-3\n")
    result = run(body, "-s")
    result.stdout.fnmatch_lines(["*20000 5 0.99 0.002*", "*5000 1 0.9 0.01*"])
    result = run(
        body, "-s", "--dp-runs", "30_000", "--dp-seed", "8", "--dp-confidence", "0.98", "--dp-false-alarm", "0.003"
    )
    result.stdout.fnmatch_lines(["*30000 8 0.98 0.003*", "*5000 1 0.9 0.01*"])


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    ("ini", "options", "words"),
    [
        ("dp_runs = many", [], "*dp_runs: 'many' is no whole number*"),
        ("dp_false_alarm = 0", [], "*dp_false_alarm: false_alarm is the chance *between 0*"),
        ("dp_false_alarm = 1e-300", [], "*dp_false_alarm: * fewer errors than one in 10^12*"),
        ("dp_confidence = 0.9999999999999", [], "*dp_confidence: * fewer errors than one in 10^12*"),
        ("dp_confidence = 95", [], "*dp_confidence: confidence lies strictly between 0 and 1*"),
        ("", ["--dp-runs", "1.5"], "*'1.5' is no whole number*"),
        ("", ["--dp-seed", "-1"], "*'-1' is no whole number*"),
        ("", ["--dp-inconclusive", "skip"], "*'skip' is neither 'fail' nor 'pass'*"),
    ],
)
def test_settings_that_cannot_be_read_are_refused_at_once(ini, options, words, run, pytester):
    pytester.makeini(f"[pytest]\n{ini}\n")
    result = run(called(GOOD), *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])


@pytest.mark.slow
def test_pages_of_all_audits_go_where_they_are_asked_to(run, pytester):
    body = f"def test_release(dp_audit):\n    dp_audit({GOOD})\n    dp_audit({GOOD}, seed=1)\n"
    run(body, "--dp-html", "pages").assert_outcomes(passed=1)
    assert len(list((pytester.path / "pages").glob("*.html"))) == 2
    assert not (pytester.path / ".dpaudit").exists()


@pytest.mark.slow
def test_a_page_that_cannot_be_written_hides_no_verdict(run, pytester):
    (pytester.path / "taken").write_text("")
    result = run(called(BAD), "--dp-html", "taken")
    result.stdout.fnmatch_lines(["VIOLATED: *", "  page        could not be written: *"])


@pytest.mark.slow
def test_warnings_as_errors_change_nothing(run):
    body = (
        called('warns, claim="epsilon=1", pairs=PAIRS, runs=2_000, reading="calls"')
        + "    assert dp_audit.evidence.lower.value > 0.4\n"
    )
    run(body, "-W", "error").assert_outcomes(passed=1, warnings=1)
    run(called(BAD), "-W", "error", pages=True).stdout.fnmatch_lines(["VIOLATED: *", "  page        .dpaudit/*"])


# --- processes ---


@pytest.mark.nightly
def test_every_worker_of_xdist_makes_the_same_evidence(pytester):
    pytester.makepyfile(release=RELEASE)
    pytester.makeini("[pytest]\n")  # so that the root folder is this one
    pytester.makepyfile(
        test_it=f"""
        import pytest
        from release import *

        @pytest.mark.parametrize("again", range(2))
        def test_release(dp_audit, again, worker_id):
            evidence = dp_audit({GOOD.replace("20_000", "2_000")})
            with open(f"{{worker_id}}-{{again}}.id", "w") as file:
                file.write(evidence.id)

        @pytest.mark.dp_audit({BAD.replace("20_000", "2_000")})
        def test_bad(): ...
        """
    )
    # they take most of the time
    pytester.makeconftest("import dpaudit.report\ndpaudit.report.html_page = lambda _: 'a page'")
    done = forked.call(*QUICKLY, "-n", "2", "--dist", "each", "--dp-seed", "0", module="pytest", cwd=pytester.path)
    assert re.search("2 failed, 4 passed", done.stdout), done.stdout
    ids = {path.read_text() for path in pytester.path.glob("*.id")}
    assert len(list(pytester.path.glob("*.id"))) == 4
    assert len(ids) == 1
    assert len(list((pytester.path / ".dpaudit/pytest").glob("*.html"))) == 1


@pytest.mark.slow
def test_the_plugin_costs_nothing_until_it_is_used(pytester):
    pytester.makepyfile(
        "import sys\ndef test_plain():\n    print('heavy', 'numpy' in sys.modules, 'msgspec' in sys.modules)"
    )
    result = pytester.runpytest_subprocess("-s", "-p", "no:hypothesispytest", "-p", "no:xdist")
    result.stdout.fnmatch_lines(["*heavy False False*"])
    code = (
        "import pytest, sys; before = set(sys.modules); import dpaudit.gate.pytest_plugin; "
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    new = json.loads(done.stdout.replace("'", '"'))
    packages = ["dpaudit", "dpaudit.evidence", "dpaudit.gate"]
    own = sorted([*packages, "dpaudit.gate.pytest_plugin"])
    assert [name for name in new if name.startswith("dpaudit")] == own
    assert len(new) < 15


@pytest.mark.slow
def test_the_evidence_is_a_property_of_the_report(run, pytester):
    run(called(GOOD), "--junitxml", "junit.xml")
    assert re.search(r'<property name="dpaudit" value="dpa1:[0-9a-f]{64}"', (pytester.path / "junit.xml").read_text())


# --- releases that are accounted for ---


PLAN = 'claims = ["epsilon=2"]\n[[release]]\nmechanism = "laplace"\nscale = 2\nsteps = 4\n'


@pytest.mark.slow
def test_releases_are_accounted_for(run, pytester):
    (pytester.path / "plan.toml").write_text(PLAN, encoding="utf-8")
    body = """
@pytest.mark.dp_audit(account="plan.toml")
def test_plan(dp_audit):
    assert str(dp_audit.evidence.verdict) == "proved"

@pytest.mark.dp_audit(account="plan.toml", claim="epsilon=1.9")
def test_claim(): ...

def test_table(dp_audit):
    dp_audit(account={"mechanism": "laplace", "scale": 2, "steps": 4}, claim="epsilon=2")

def test_text(dp_audit):
    dp_audit(account="Laplace(2).times(4)", claim="epsilon=1.9", expect="violated")

def test_between(dp_audit):
    dp_audit(account="Exponential(1).times(4)", claim="epsilon=3")

def test_between_passes(dp_audit):
    dp_audit(account="Exponential(1).times(4)", claim="epsilon=3", inconclusive="pass")

def test_no_claim(dp_audit):
    dp_audit(account="Laplace(2).times(4)", delta="1e-5")

def test_runs(dp_audit):
    dp_audit(account="plan.toml", runs=100)

def test_both(dp_audit):
    dp_audit(repeats, account="plan.toml")

def test_nothing(dp_audit):
    dp_audit(claim="epsilon=1")
"""
    found = run(body)
    found.assert_outcomes(passed=4, failed=6)
    said = str(found.stdout)
    for each in (
        "VIOLATED: The claim ε = 1.9 certainly does not hold",
        "smaller tolerance",
        "no claim to hold the releases against",
        "runs has no meaning beside account",
        "target has no meaning beside account",
        "give a target, or account=",
        "reproduce   dpaudit account",
    ):
        assert each in said.replace("\xa0", " "), each


@pytest.mark.slow
def test_a_release_is_traced(run):
    body = """
def half(data, rng):
    return len(data) + rng.laplace(0, 0.5)

def test_traced(dp_audit):
    found = dp_audit(half, trace=True, claim="epsilon=1", pairs=[([1], [1, 1])], expect="violated")
    assert found.measuring == 0 and found.trace.word == "violated, given the stated laws"

def test_types(dp_audit):
    dp_audit(half, trace=True, claim="epsilon=1", pairs=[([1], [1, 1])], types="ignore")

def test_account(dp_audit):
    dp_audit(account="Laplace(2).times(4)", trace=True, claim="epsilon=3")
"""
    found = run(body)
    found.assert_outcomes(passed=1, failed=2)
    for each in ("a trace takes no 'types'", "nothing to trace"):
        assert each in str(found.stdout).replace("\xa0", " "), each


@pytest.mark.nightly
def test_a_test_may_require_a_proof(run):
    body = """
@pytest.mark.dp_audit(noisy_count, claim="epsilon=1", domain={"age": (0, 9)}, relation="add-remove", require="proved")
def test_proved(dp_audit):
    assert str(dp_audit.evidence.verdict) == "proved"

def test_refuted(dp_audit):
    dp_audit(noisy_count, claim="epsilon=0.5", domain={"age": (0, 9)}, relation="add-remove", require="proved")

def test_no_program(dp_audit):
    dp_audit(randomised_response, claim="epsilon=1", pairs=PAIRS, require="proved", inconclusive="pass")

def test_no_data(dp_audit):
    dp_audit(randomised_response, claim="epsilon=1", require="proved")

def test_traced(dp_audit):
    dp_audit(noisy_count, claim="epsilon=1", pairs=PAIRS, require="proved", trace=True)

def test_word(dp_audit):
    dp_audit(noisy_count, claim="epsilon=1", pairs=PAIRS, require="proof")

def test_option(dp_audit):
    dp_audit(noisy_count, claim="epsilon=1", pairs=PAIRS, require="proved", lenght=2)

def test_data(dp_audit):
    found = dp_audit(noisy_count, claim="epsilon=0.5", data=[1, 2], expect="violated")
    assert found.search.source == "data"
"""
    found = run(body, "--dp-runs", "2000")
    found.assert_outcomes(passed=2, failed=6)
    said = re.sub(r"\s+", " ", str(found.stdout))
    for each in (
        "VIOLATED: ",
        "This test requires a proof: randomised_response is of the kind",
        "cannot audit this: randomised_response is of the kind",
        "a trace proves nothing",
        "require is 'audited' or 'proved', not 'proof'",
        "neither a proof nor an audit takes 'lenght'; did you mean 'length'",
    ):
        assert each in said, each
