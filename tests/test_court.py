"""Does the court of libraries say what was judged, and never call what was not run right?

Of ``benchmarks/court/``; the libraries themselves are judged nightly.
"""

import json
import math
import sys
import time
from pathlib import Path

import pytest

import dpaudit as dp

COURT = Path(__file__).parents[1] / "benchmarks" / "court"
LATE = 0.2


@pytest.fixture(scope="module")
def court():
    before = list(sys.path)
    sys.path.insert(0, str(COURT))
    old = {name: sys.modules.pop(name, None) for name in ("run", "night", "seat", "released")}
    try:
        import night
        import run
        import seat

        return {"run": run, "night": night, "seat": seat}
    finally:
        sys.path[:] = before
        for name, module in old.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


@pytest.fixture(scope="module")
def rows():
    return json.loads((COURT / "results.json").read_text(encoding="utf-8"))


def _row(word, name="noise", library="lib==1", claim="epsilon=1", **more):
    return {
        "library": library,
        "name": name,
        "word": word,
        "claim": claim,
        "shown": "",
        "why": "",
        "seconds": 0.0,
        "night": "2026-01-01",
        "commit": "abc",
        **more,
    }


def _counts(scale):
    @dp.mechanism(claim="epsilon=1", relation="declared")
    def noisy(data, noise):
        return data + noise.laplace(scale)

    return noisy


@pytest.mark.slow
def test_what_keeps_its_word_is_kept_and_what_breaks_it_is_red(court):
    for scale, word in ((1.0, court["run"].KEPT), (0.2, court["run"].RED)):
        seat = court["seat"].Audited("noise", lambda scale=scale: _counts(scale), [(0.0, 1.0)], {})
        assert court["run"].judged(seat, 0.5)["word"] == word


def test_an_accountant_is_red_only_below_what_is_certainly_lost(court):
    held = court["run"].held_against
    assert held(2.9, 3.0, 3.1, 1e-5)["word"] == "red"
    assert held(3.0, 3.0, 3.1, 1e-5)["word"] == "kept"
    assert held(math.inf, 3.0, 3.1, 1e-5)["word"] == "kept"
    assert held(math.nan, 3.0, 3.1, 1e-5)["word"] == "no answer"


@pytest.mark.slow
def test_what_fails_or_takes_too_long_is_not_run_with_the_reason(court, monkeypatch):
    def broken():
        raise TypeError("no parameter is called scale")

    def slow():
        until = time.process_time() + 100 * LATE
        while time.process_time() < until:
            pass

    monkeypatch.setattr(court["run"], "LIMIT", LATE)
    for make, why in ((broken, "no parameter is called scale"), (slow, "no answer within")):
        row = court["run"].judged(court["seat"].Audited("noise", make, [(0.0, 1.0)], {}), 0.1)
        assert row["word"] == "not run" and why in row["why"]
    assert court["run"].judged(court["seat"].Left("other", "no recipe"), 0.1)["word"] == "not run"


def test_a_package_that_does_not_install_is_not_run(court, monkeypatch, tmp_path):
    def fails(*_):
        raise court["run"].subprocess.CalledProcessError(1, ["python", "-m", "pip"])

    monkeypatch.setattr(court["run"], "environment", fails)
    (row,) = court["run"].rows_of("opendp", tmp_path, False, 1.0)
    assert row["word"] == "not run" and "ended with 1" in row["why"]


def test_a_registry_is_compared_with_the_recipes_both_ways(court):
    left = {each.name: each.why for each in court["seat"].without_recipe(["a", "b"], ["b", "c"])}
    assert left == {"a": "no recipe", "c": "the library does not have it any more"}


def test_the_page_says_what_is_new_and_what_went(court):
    night = court["night"]
    old = night.since([], [_row("red", "a"), _row("kept", "b"), _row("kept", "gone")])
    new = night.since(old, [_row("red", "a"), _row("red", "b"), _row("not run", "c", why="no wheel")])
    page = night.changed(old, new, 1e-3)
    assert "| lib==1 | b | kept epsilon=1, 2026-01-01 | red epsilon=1, 2026-01-01 |" in page
    assert "| lib==1 | gone | kept epsilon=1, 2026-01-01 | — |" in page
    assert "| lib==1 | c | not run: no wheel | — |" in page
    assert [fault.split()[1] for fault in night.new_reds(old, new)] == ["b:"]
    assert "whole night" in page and "No whole night" not in page
    assert "No whole night" in night.changed(old, [*new, _row("kept", "d", commit="other")], 1e-3)


def test_a_night_without_a_library_is_compared_with_what_was_last_judged(court):
    night = court["night"]
    first = night.since([], [_row("red", "a"), _row("kept", "b"), _row("kept", "c")])
    second = night.since(first, [_row("kept", "c"), _row("not run", night.REST, why="no wheel")])
    assert {row["name"]: row["word"] for row in second}["a"] == "not run"
    third = night.since(second, [_row("red", "a"), _row("red", "b"), _row("no answer", "c", why="few runs")])
    assert [fault.split()[1] for fault in night.new_reds(second, third)] == ["b:"]  # a was red when last judged
    told = night.changed(second, third, 1e-3).partition("## Red")[0]
    assert "| b |" in told and "| a |" not in told
    assert "| c |" not in told  # between kept and no answer the number of runs decides
    assert "| lib==1 | a | red epsilon=1, 2026-01-01 | not run" in night.changed(first, second, 1e-3)


@pytest.mark.slow
def test_a_seat_that_ends_its_process_is_not_run_and_the_rest_is_judged(court, monkeypatch, tmp_path):
    child = tmp_path / "run.py"
    child.write_text(
        f"import sys; sys.path[:0] = [{str(COURT)!r}]\nimport os, runpy\nfrom pathlib import Path\n"
        "import run, seat\n"
        "def dies(): os.abort()\n"
        "run.seats = lambda _: iter(\n"
        "    [seat.Left('a', 'x'), seat.Audited('b', dies, [(0, 1)], {}), seat.Left('c', 'y')])\n"
        "run.within('opendp', Path(sys.argv[-1]), 1.0)\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(court["run"], "environment", lambda *_: sys.executable)
    monkeypatch.setattr(court["run"], "__file__", str(child))
    rows = court["run"].rows_of("opendp", tmp_path, False, 1.0)
    assert [(row["name"], row["word"]) for row in rows] == [(name, "not run") for name in "abc"]
    assert rows[1]["why"] == f"{court['run'].BEGUN}: SIGABRT" and rows[2]["why"] == "y"


def test_a_registry_that_cannot_be_read_ends_its_library(court, monkeypatch, tmp_path):
    child = tmp_path / "run.py"
    child.write_text("raise ImportError('renamed')", encoding="utf-8")
    monkeypatch.setattr(court["run"], "environment", lambda *_: sys.executable)
    monkeypatch.setattr(court["run"], "__file__", str(child))
    (row,) = court["run"].rows_of("opendp", tmp_path, False, 1.0)
    assert (row["name"], row["why"]) == (court["night"].REST, "exit code 1 ImportError: renamed")


def test_the_chance_of_a_false_red_is_shared_among_all_seats(court, rows, monkeypatch):
    run, asked = court["run"], []
    real = dp.audit

    def audit(*args, **options):
        asked.append(options)
        return real(*args, **options)

    monkeypatch.setattr(dp, "audit", audit)
    seat = court["seat"].Audited("noise", lambda: _counts(1.0), [(0.0, 1.0)], {})
    run.judged(seat, 0.2)
    kept = [options for options in asked if "false_alarm" in options]  # the others are thrown away
    assert len(kept) == 1 and asked[-1] is kept[0] and "seed" not in kept[0]
    assert kept[0]["false_alarm"] * run.SEATS <= run.NIGHT <= 1e-3
    assert len(rows) <= run.SEATS


def test_more_seats_than_share_the_chance_are_refused(court, monkeypatch, tmp_path):
    run = court["run"]
    monkeypatch.setattr(run, "rows_of", lambda *_: [_row("kept", str(i)) for i in range(run.SEATS + 1)])
    monkeypatch.setattr(sys, "argv", ["run.py", "opendp", "--venvs", str(tmp_path)])
    monkeypatch.setattr(run, "ROWS", tmp_path / "results.json")
    with pytest.raises(SystemExit, match="raise SEATS"):
        run.main()
    assert not run.ROWS.exists()


def test_a_second_look_can_take_a_red_answer_away_and_not_add_one(court, monkeypatch):
    run, seat = court["run"], court["seat"].Audited("noise", lambda: _counts(1.0), [(0.0, 1.0)], {})
    for words, said in ((["red", "kept"], "no answer"), (["red", "red"], "red"), (["kept", "red"], "kept")):
        looks = iter(words)
        look = lambda *_, looks=looks: {"word": next(looks), "shown": "epsilon ≥ 3", "why": "", "seconds": 1.0}  # noqa: E731
        monkeypatch.setattr(run, "_looked", look)
        assert run.judged(seat, 1.0)["word"] == said


def test_rounding_is_no_violation_and_is_said(court):
    held = court["run"].held_against
    row = held(3.0 * (1 - 1e-11), 3.0, 3.1, 1e-5)
    assert row["word"] == "kept" and "below by rounding" in row["shown"]
    row = held(3.0 * (1 - 1e-8), 3.0, 3.1, 1e-5)
    assert row["word"] == "red" and "1.0e-08 of it below" in row["shown"]


def test_the_kept_answers_are_of_many_constructors_of_many_libraries(rows):
    looked = [row for row in rows if row["word"] in ("kept", "red", "no answer")]
    assert len(looked) >= 200 and len({row["library"] for row in looked}) >= 6
    assert all(row["why"] for row in rows if row["word"] == "not run")


def test_the_kept_answers_are_of_one_whole_night_and_every_red_one_is_looked_into(court, rows):
    night = court["night"]
    assert night.when(rows).startswith("One whole night")
    assert len({row["commit"] for row in rows}) == 1 and "edited" not in rows[0]["commit"]
    reds = [row for row in rows if row["word"] == "red"]
    assert reds and all(night.known(row) != "not looked into yet" for row in reds)
    assert night.summed(rows, court["run"].NIGHT) in (COURT / "changed.md").read_text(encoding="utf-8")
