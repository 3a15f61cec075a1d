"""Can a person read what checks a certificate? Each kind is checked by its own modules, which import no other kind."""

from __future__ import annotations

import runpy
import subprocess
import sys
from itertools import product

import pytest
from support import made_certificates as made
from support.forging import ROOT

from dpaudit.checker import KINDS

MOST = 5_000
ACCOUNT = {"accounting", "accounting_laws", "accounting_sums"}


@pytest.fixture(scope="module")
def lists():
    return runpy.run_path(str(ROOT / "docs" / "lists.py"))


@pytest.mark.parametrize("module", [*dict.fromkeys(KINDS.values()), "__main__"])
def test_a_person_can_read_what_checks_a_kind(lists, module):
    assert sum(lists["trusted"](module).values()) < MOST


@pytest.mark.parametrize("module", ["records", "derived"])
def test_a_person_can_read_what_checks_releases_with_their_account(lists, module):
    assert sum(lists["trusted"](module, "accounting").values()) < MOST


@pytest.mark.parametrize(("one", "other"), list(product(dict.fromkeys(KINDS.values()), repeat=2)))
def test_no_kind_rests_on_another(lists, one, other):
    assert one == other or (one, other) == ("fold", "shifts") or other not in lists["trusted"](one)


def test_the_table_of_reviewers_names_every_kind(lists):
    table = lists["reviewed"]()
    assert all(f"`{kind}`, version {version} |" in table for kind, version in KINDS)
    assert "| evidence |" in table and "`bounds`" in table


@pytest.mark.slow
def test_nothing_but_what_is_listed_is_imported(lists, tmp_path):
    """What imports say of a tree, and what a process has imported once it checked one."""
    import json

    (tmp_path / "tree.json").write_text(json.dumps(made.laplace()), encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from dpaudit.checker import check_text; "
        f"check_text(Path({str(tmp_path / 'tree.json')!r}).read_text()); "
        "print(*sorted(m.removeprefix('dpaudit.checker.') for m in sys.modules if m.startswith('dpaudit.checker.')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"__init__", *ran.stdout.split()} == lists["trusted"]("shifts").keys()


@pytest.mark.slow
def test_whoever_runs_programs_has_imported_all_of_it_before():
    """A program could bring a module of its own, under the name of one that is imported later."""
    code = (
        "import sys; import dpaudit.verify.proofs; print(*(m for m in sys.modules if m.startswith('dpaudit.checker.')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {f"dpaudit.checker.{module}" for module in KINDS.values()} <= set(ran.stdout.split())
