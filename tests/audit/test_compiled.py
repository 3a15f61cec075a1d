"""Is an audit whose program is compiled an audit like any other?"""

from __future__ import annotations

import msgspec
import pytest

import dpaudit as dp
from dpaudit.auditing import question
from dpaudit.errors import UsageError
from dpaudit.review.check import check

COMPILED = {"runs": 20_000, "seed": 3, "reading": "compiled"}


def quantised(data, noise):
    return round(data[0] + noise.laplace(1.0))


def test_other_functions_are_not_compiled():
    def sampler(data, size, rng):
        return data[0] + rng.laplace(size=size)

    with pytest.raises(UsageError, match="draw all their randomness from noise"):
        dp.audit(sampler, pairs=[([1], [0])], claim="epsilon=1", **COMPILED)
    with pytest.raises(UsageError, match="reading is 'compiled'"):
        dp.audit("laplace", reading="fast")


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(question, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'dpaudit\[compiled\]'"):
        dp.audit("laplace", **COMPILED)


@pytest.mark.slow
def test_evidence_names_the_reading_and_is_the_same_however_it_is_made(tmp_path):
    pytest.importorskip("numba")
    file = tmp_path / "blocks"
    once = dp.audit("above_threshold", resume=file, **COMPILED)
    assert once.target.reading == "compiled" and "numba" in once.versions
    assert dp.audit("above_threshold", resume=file, **COMPILED).id == once.id
    batch = dp.audit("above_threshold", runs=20_000, seed=3)
    assert batch.target.reading == "batch" and batch.lower.counts != once.lower.counts
    with pytest.raises(UsageError, match='reading was "compiled" and is null'):
        dp.audit("above_threshold", resume=file, runs=20_000, seed=3)
    assert not any(finding.fails for finding in check(once))
    assert not dp.replay(once).differences


@pytest.mark.slow
def test_a_program_without_a_loop_is_read_in_batches_and_the_evidence_says_why():
    pytest.importorskip("numba")
    found = dp.audit(quantised, pairs=[([1], [0])], claim="epsilon=1", **COMPILED)
    assert found.target.reading.startswith("compiled, in part as a batch: test_compiled.py:")
    assert "round()" in found.target.reading
    assert not any(finding.fails for finding in check(found))
    forged = msgspec.structs.replace(found, target=msgspec.structs.replace(found.target, reading="compiled, mostly"))
    assert [finding.what for finding in check(forged) if finding.fails] == ["target"]
