"""Does a release take a table beside its data, without a row of it in the evidence, and is another table refused?"""

from pathlib import Path

import pytest
from support import forked

import dpaudit as dp

RELEASE = """
import numpy as np


def spend(orders, people):
    adult = orders.merge(people[people["age"] >= 18], on="id")
    return adult["amount"].clip(0, 100).sum() + np.random.laplace(0, 100.0)
"""


@pytest.fixture(autouse=True)
def files(run):
    Path("two.py").write_text(RELEASE)
    Path("people.csv").write_text("id,age\n" + "".join(f"{n},{n % 90}\n" for n in range(77_701, 77_761)))
    Path("orders.csv").write_text("id,amount\n" + "".join(f"{n},{n % 150}\n" for n in range(77_701, 77_761)))


def _audit(run, *options):
    data = ("--data", "orders.csv", "-p", "people=@people.csv", "--claim", "epsilon=1", "--runs", "4000")
    return run("audit", "two.py:spend", *data, "--quiet", "--json", "found.json", *options)


@pytest.mark.slow
def test_a_table_is_named_by_its_file_and_digest_and_replayed(run):
    assert _audit(run).exit_code == 0
    found = dp.Evidence.load("found.json")
    assert found.target.parameters["people"].startswith("@people.csv, sha256:")
    assert "77760" not in Path("found.json").read_text()
    assert run("check", "found.json").exit_code == 0
    assert "people, the same on both sides: of what it holds nothing is said" in run("report", "found.json").stdout
    assert run("replay", "found.json", "--data", "orders.csv").exit_code == 0
    Path("people.csv").write_text("id,age\n77701,20\n")
    changed = run("replay", "found.json", "--data", "orders.csv")
    assert changed.exit_code == 2 and "holds another table" in changed.stderr


@pytest.mark.nightly
def test_the_gate_takes_a_table_too(run):
    target = 'target = "two.py:spend"\nclaim = "epsilon=1"\ndata = "orders.csv"\nruns = 4000\n'
    Path("dpaudit.toml").write_text(f'[[targets]]\n{target}parameters = {{ people = "@people.csv" }}\n')
    with forked.children():
        assert run("gate", "--config", "dpaudit.toml").exit_code == 0
    Path("people.csv").unlink()
    missing = run("gate", "--config", "dpaudit.toml")
    assert missing.exit_code == 2 and "cannot read the table 'people.csv'" in missing.stderr


@pytest.mark.parametrize("text", ["@none.csv", "@people.csv, sha256:" + 64 * "0"])
def test_what_is_no_such_table_is_refused(run, text):
    assert run("audit", "two.py:spend", "--data", "orders.csv", "-p", f"people={text}").exit_code == 2


@pytest.mark.slow
def test_a_frame_from_python_is_in_no_evidence():
    import pandas as pd

    one, two = (dp.audit(_count, data=[1.0, 2.0], claim="epsilon=2", parameters={"more": more}, runs=2000, seed=1)
                for more in (pd.DataFrame({"id": range(500)}), pd.DataFrame({"id": [*range(499), 0]})))  # fmt: skip
    assert one.target.parameters["more"].startswith("a table of 500 rows, sha256:")
    assert one.target.parameters != two.target.parameters and one.id != two.id


def _count(data, rng, more):
    return len(data) + rng.laplace()
