"""Does the whole way of a trace work: evidence, verdict, check, replay, page and command line?"""

import json
import math

import msgspec
import pytest
from click.testing import CliRunner

import dpaudit as dp
from dpaudit.cli.main import cli
from dpaudit.evidence.further_records import TraceFinding
from dpaudit.report import console_summary, html_page
from dpaudit.report.text.findings import trace_line
from dpaudit.report.text.reproduce import reproduce_command
from dpaudit.request import TraceOptions, TraceRequest, options_of
from dpaudit.review.check import CheckResult, check, passes

pytestmark = pytest.mark.slow

PAIRS = [([1.0], [2.0])]


def half(data, rng):
    return sum(data) + rng.laplace(0, 0.5)


def mean(data, rng):
    return sum(min(max(each, 0.0), 10.0) for each in data) / len(data) + rng.laplace(0, 10 / len(data))


def right(data, rng):
    return sum(min(max(each, 0.0), 1.0) for each in data) + rng.laplace(0, 1.0)


@pytest.fixture(scope="module")
def found():
    return {
        "certain": dp.trace(half, pairs=PAIRS, relation="replace", claim="epsilon=1", seed=1),
        "right": dp.trace(right, data=[0.5, 1.0], domain=(0.0, 1.0), claim="epsilon=1", seed=1, runs=0, candidates=20,
                          keep_data=True),
        "searched": dp.trace(mean, data=[5.0], claim="epsilon=1", domain=(0.0, 10.0), seed=1, runs=1_500,
                             time_budget=None, candidates=30, paths=4, keep_data=True),
    }  # fmt: skip


def test_a_certain_loss_decides_and_needs_no_runs(found):
    evidence = found["certain"]
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.exact.value == pytest.approx(2.0) and evidence.exact.value <= 2.0
    assert evidence.measuring == 0
    assert "given the stated laws" in evidence.reason


def test_what_is_supported_is_never_called_proved_or_clean(found):
    evidence = found["right"]
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE
    assert evidence.trace.word == "supported on this path"
    assert "private" not in console_summary(evidence).replace("pure differential privacy", "").lower()


def test_a_search_finds_the_small_pair_on_which_the_scale_differs_most(found):
    """A mean with the number of records that is there: [x] and [x, y] differ most."""
    evidence = found["searched"]
    assert evidence.trace.word == "violated, given the stated laws"
    assert "mean" in evidence.trace.findings[0].where
    assert "Laplace noise has scale" in evidence.trace.findings[0].text
    assert evidence.trace.source == "data" and evidence.trace.found


@pytest.mark.slow
def inside(data, rng):
    return sum(max(0.0, 10.0 - abs(each - math.sqrt(1369.0))) for each in data) + rng.laplace(0, 4.0)


@pytest.mark.usefixtures("all_candidates")
def test_pairs_are_drawn_over_the_domain_where_noise_has_to_move_farther():
    evidence = dp.trace(inside, data=[5.0], domain=(0.0, 100.0), claim="epsilon=1", seed=1, runs=0, candidates=45)
    trace = evidence.trace
    assert 0 < trace.drawn <= trace.tried / 3 and "hypothesis" in evidence.versions
    assert trace.word == "violated, given the stated laws" and trace.found == "a pair of small datasets over the domain"
    assert dp.trace(inside, data=[5.0], claim="epsilon=1", seed=1, runs=0).trace.drawn == 0


@pytest.mark.parametrize("name", ["certain", "right", "searched"])
def test_evidence_reads_back_checks_and_replays(found, name):
    evidence = found[name]
    assert dp.Evidence.from_json(evidence.to_json()).id == evidence.id
    assert not [str(each) for each in check(evidence, second=False) if each.answer is CheckResult.FAILS]
    replayed = dp.replay(evidence, target={"certain": half, "right": right, "searched": mean}[name],
                         pairs=PAIRS if name == "certain" else None)  # fmt: skip
    assert replayed.identical, list(replayed.sentences())


def test_a_loss_that_does_not_follow_from_its_steps_fails_a_check(found):
    evidence = found["certain"]
    loss = msgspec.structs.replace(evidence.trace.loss, value=5.0)
    forged = msgspec.structs.replace(
        evidence,
        trace=msgspec.structs.replace(evidence.trace, loss=loss),
        exact=msgspec.structs.replace(evidence.exact, value=5.0),
        lower=msgspec.structs.replace(evidence.lower, value=5.0),
    )
    assert passes(list(check(evidence, second=False)))
    assert not passes(list(check(forged, second=False)))


def relawed(loss):
    return msgspec.structs.replace(loss, steps=(msgspec.structs.replace(loss.steps[0], law="Gaussian"),))


FORGED = {
    "word": lambda found: {"word": "supported on this path" if "violated" in found.word else "leaks"},
    "no word": lambda found: {"word": "clean"},
    "no findings": lambda found: {"findings": ()},
    "findings": lambda found: {"findings": (msgspec.structs.replace(found.findings[0], word="not priced"),)},
    "price": lambda found: {"epsilon": (found.epsilon or 0.0) + 0.1},
    "negative": lambda found: {"epsilon": -1.0},
    "Gaussian": lambda found: {"mu": 3.0},
    "draws": lambda found: {"calls": tuple(msgspec.structs.replace(each, cost=0.0) for each in found.calls)},
    "moves": lambda found: {"calls": tuple(msgspec.structs.replace(each, by=9.0) for each in found.calls)},
    "runs": lambda found: {"runs": 0},
    "paths": lambda found: {"paths": 0},
    "pair": lambda found: {"pair": 3},
    "source": lambda found: {"source": "domain"},
    "unseen": lambda found: {"unseen": ("a thread is started",)},
    "steps": lambda found: {"loss": msgspec.structs.replace(found.loss, steps=())},
    "law": lambda found: {"loss": relawed(found.loss)},
    "leak": lambda found: {"loss": msgspec.structs.replace(found.loss, leaks=True)},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_trace_that_was_edited_fails_a_check(found, name):
    evidence = found["certain"]
    forged = msgspec.structs.replace(evidence.trace, **FORGED[name](evidence.trace))
    assert not passes(list(check(msgspec.structs.replace(evidence, trace=forged), second=False)))


NOT_SEEN = TraceFinding("not seen", "it raises on both sides: ValueError", "")
BESIDE = {
    "shifted noise": {"checked": False},
    "no shifted noise": {"checked": None},
    "a price below the draws": {"epsilon": 0.1},
    "drawn": {"drawn": 10_000},
}


@pytest.mark.parametrize("change", BESIDE.values(), ids=BESIDE)
def test_a_supported_path_that_was_edited_fails_a_check(found, change):
    evidence = found["right"]
    assert passes(list(check(evidence, second=False)))
    forged = msgspec.structs.replace(evidence, trace=msgspec.structs.replace(evidence.trace, **change))
    assert not passes(list(check(forged, second=False)))


def test_what_no_file_can_show_is_not_checked(found):
    """A verdict does not pass a check where nothing but the runs of a trace shows what it rests on."""
    answers = {each.what: each.answer for each in check(found["certain"], second=False)}
    assert answers["certain"] is CheckResult.HOLDS and answers["runs of the trace"] is CheckResult.NOT_CHECKED
    leak = list(check(dp.trace("exact_count", seed=0, runs=0), second=False))
    assert {each.what for each in leak if each.answer is CheckResult.NOT_CHECKED and each.decides} == {"certain"}
    assert not any(each.fails for each in leak) and not passes(leak)


def test_what_was_not_seen_stands_beside_what_is_supported(found):
    evidence = found["right"]
    assert "not all was followed" not in trace_line(evidence)
    trace = msgspec.structs.replace(evidence.trace, findings=(*evidence.trace.findings, NOT_SEEN))
    assert "not all was followed" in trace_line(msgspec.structs.replace(evidence, trace=trace))
    trace = msgspec.structs.replace(evidence.trace, unseen=("a thread is started",))
    assert "not all was followed" in trace_line(msgspec.structs.replace(evidence, trace=trace))


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", ["certain", "right", "searched"])
def test_a_page_shows_the_word_the_line_and_the_draws(found, name):
    page = html_page(found[name])
    assert found[name].trace.word in page.replace("&#39;", "'")
    assert found[name].trace.calls[0].where in page
    assert "test_trace.py" in console_summary(found[name])


def test_the_printed_command_asks_the_same(found):
    evidence = msgspec.structs.replace(found["certain"], run=None)
    words = reproduce_command(evidence)
    assert words.startswith("dpaudit trace ") and "--relation replace" in words and "--paths 24" not in words


def test_options_and_keywords_are_the_same():
    assert set(TraceOptions.__annotations__) == set(options_of(TraceRequest))


def test_the_command_line_traces(tmp_path):
    (tmp_path / "release.py").write_text(
        "def half(data, rng):\n    'A sum.'\n    return sum(data) + rng.laplace(0, 0.5)\n", encoding="utf-8"
    )
    (tmp_path / "pair.json").write_text("[[1.0], [2.0]]", encoding="utf-8")
    out = tmp_path / "evidence.json"
    words = ["trace", f"{tmp_path}/release.py:half", "--pair", f"{tmp_path}/pair.json", "--claim", "epsilon=1",
             "--relation", "replace", "--json", str(out), "--in-process"]  # fmt: skip
    told = CliRunner().invoke(cli, words)
    assert told.exit_code == 1, told.output
    assert "release.py:3 (half)" in told.output
    assert json.loads(out.read_text(encoding="utf-8"))["evidence"]["trace"]["word"] == "violated, given the stated laws"
