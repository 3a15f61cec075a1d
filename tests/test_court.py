"""Does the court of libraries say what was judged, and never call what was not run right?

Of ``benchmarks/court/``; the libraries themselves are judged nightly.
"""

from __future__ import annotations

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
    old = {name: sys.modules.pop(name, None) for name in ("run", "seat", "released")}
    try:
        import run
        import seat

        return {"run": run, "seat": seat}
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
        **more,
    }


def _counts(scale):
    @dp.mechanism(claim="epsilon=1", relation="declared")
    def noisy(data, noise):
        return data + noise.laplace(scale)

    return noisy


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
    old = [_row("red", "a"), _row("kept", "b"), _row("kept", "gone")]
    new = [_row("red", "a"), _row("red", "b"), _row("not run", "c", why="no wheel")]
    page = court["run"].changed(old, new)
    assert "| lib==1 | b | kept epsilon=1 | red epsilon=1 |" in page
    assert "| lib==1 | gone | kept epsilon=1 | — |" in page and "| lib==1 | c | not run: no wheel |" in page
    assert [fault.split()[1] for fault in court["run"].new_reds(old, new)] == ["b:"]


def test_the_chance_of_a_false_red_is_shared_among_all_seats(court, rows):
    assert len(rows) <= court["run"].SEATS
    assert court["run"].NIGHT <= 1e-3


def test_the_kept_answers_are_of_many_constructors_of_many_libraries(rows):
    looked = [row for row in rows if row["word"] in ("kept", "red", "no answer")]
    assert len(looked) >= 200 and len({row["library"] for row in looked}) >= 6
    assert all(row["why"] for row in rows if row["word"] == "not run")
