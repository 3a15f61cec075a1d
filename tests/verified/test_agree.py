"""Do the two checkers differ on certificates that were changed? Only in what is listed as true and untidy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.nightly import mostly_at_night

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("count", mostly_at_night([60, 20_000], stay=[60]))
def test_they_differ_only_in_what_is_listed(node, count):
    command = [sys.executable, str(ROOT / "verified" / "agree.py"), str(count), "--seed", "1"]
    ran = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Python accepts, verified: PROVED" in ran.stdout and "Python refuses, verified: REFUSED" in ran.stdout


@pytest.mark.slow
def test_a_difference_that_is_not_listed_fails(tmp_path):
    """A checker that proves all, or refuses all, is found out."""
    for word, said in (("PROVED", "DANGEROUS"), ("REFUSED", "accepted by Python, and not here")):
        liar = tmp_path / word
        liar.write_text(f"#!/bin/sh\nwhile read -r line; do echo '{word.ljust(11)}  -  '; done\n", encoding="utf-8")
        liar.chmod(0o755)
        command = [sys.executable, str(ROOT / "verified" / "agree.py"), "20", "--program", str(liar)]
        ran = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
        assert (ran.returncode, said in ran.stdout) == (1, True), ran.stdout + ran.stderr
