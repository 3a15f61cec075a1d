"""Does forged evidence pass? Kept files, rewritten by somebody who wants another verdict, under new ids that fit.

Whoever forges knows the format and makes the obvious members agree; passing means exit code 0.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.forgeries import BARE, CERTIFIED, FORGERIES, OLD, Record, record_of

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id
from dpaudit.review.check import check_file, exit_code


def code_of(record: Record, folder: Path) -> int:
    """The exit code of a check of the record under an id that fits."""
    path = folder / "forged.json"
    path.write_text(json.dumps({"id": content_id(record), "evidence": record, "run": None}), encoding="utf-8")
    return code_of_file(path)


def code_of_file(path: Path) -> int:
    try:
        return exit_code(check_file(path))
    except UsageError:
        return 2


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.slow
def test_forged_evidence_does_not_pass(name: str, tmp_path: Path) -> None:
    kept, change = FORGERIES[name]
    record = record_of(kept)
    before = json.dumps(record)
    change(record)
    assert json.dumps(record) != before
    assert code_of(record, tmp_path) != 0


@pytest.mark.parametrize("file", sorted(OLD.glob("*.json")), ids=lambda file: file.stem)
@pytest.mark.slow
def test_what_was_not_forged_passes_or_says_what_no_file_can_show(file: Path) -> None:
    assert exit_code(check_file(file)) == (3 if file.stem == "invalid" else 0)


# --- certificates alone -----------------------------------------------------------------------------------


def test_a_true_certificate_passes(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(CERTIFIED, encoding="utf-8")
    assert exit_code(check_file(path)) == 0


@pytest.mark.parametrize("name", BARE)
def test_a_certificate_alone_is_read_strictly(name: str, tmp_path: Path) -> None:
    assert BARE[name] != CERTIFIED
    path = tmp_path / "certificate.json"
    path.write_bytes(BARE[name].encode("utf-8", "surrogateescape"))
    assert code_of_file(path) in (1, 2)
