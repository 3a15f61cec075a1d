"""Are the proofs complete, and is the kept script what they give? Where Coq is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "verified"


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the folder, beside which the kept script lies as it does in the source."""
    for tool in ("coqc", "ocamlfind", "js_of_ocaml", "make"):
        if shutil.which(tool) is None:
            pytest.skip(
                f"{tool} is not installed (on Debian: apt install coq libcoq-coquelicot ocaml-findlib js-of-ocaml)"
            )
    root = tmp_path_factory.mktemp("source")
    kept = re.findall(r"^[^\s#][^:]*", (FOLDER / ".gitignore").read_text(encoding="utf-8"), re.MULTILINE)
    shutil.copytree(FOLDER, root / "verified", ignore=shutil.ignore_patterns(*kept))
    html = root / "dpaudit" / "report" / "html"
    html.mkdir(parents=True)
    shutil.copy(FOLDER.parent / "dpaudit" / "report" / "html" / "checker.js", html)
    return root / "verified"


def compared(folder):
    return subprocess.run(["make", "-s", "compare"], cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_the_build_gives_the_kept_script_and_fails_for_what_is_left_open(copied):
    ran = compared(copied)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    kept = copied.parent / "dpaudit" / "report" / "html" / "checker.js"
    with kept.open("a", encoding="utf-8") as script:
        script.write(" ")
    ran = compared(copied)
    assert ran.returncode and "not the kept one" in ran.stderr
    kept.write_bytes((copied / "checker.js").read_bytes())
    proof = copied / "Composition.v"
    text = proof.read_text(encoding="utf-8")
    proof.write_text(f"{text}\nLemma all_is_true : False. Admitted.\n", encoding="utf-8")
    ran = compared(copied)
    assert ran.returncode and "left open" in ran.stderr
    lies = "Section Lies. Variable lie : False. End Lies.\nVariable lie : False.\n"  # no word that is looked for
    lying = text.replace("Section Programs.", f"{lies}Section Programs.", 1)
    proof.write_text(lying, encoding="utf-8")
    assert compared(copied).returncode == 0  # nothing rests on it
    statement = re.search(r"Theorem composition( :.*?Proof\.)", text, re.DOTALL)[1]
    used = lying.replace(statement, f"{statement} destruct lie. Qed.\nTheorem as_it_was{statement}", 1)
    assert used != lying
    proof.write_text(used, encoding="utf-8")
    ran = compared(copied)
    assert ran.returncode and "something else than assumptions.txt lists" in ran.stderr, ran.stderr


def test_what_the_theorems_rest_on_is_the_real_numbers_of_coq():
    listed = (FOLDER / "assumptions.txt").read_text(encoding="utf-8")
    names = set(re.findall(r"^([\w.]+)(?= ?:|$)", listed, re.MULTILINE)) - {"Axioms"}
    assert names == {
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
    assert listed.count("Axioms:") == 10  # one for each theorem of Assumptions.v
    assert (FOLDER / "Assumptions.v").read_text(encoding="utf-8").count("Print Assumptions") == 10


def test_every_file_of_proofs_is_built():
    named = set((FOLDER / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ").split())
    found = {file.stem for file in FOLDER.glob("*.v")} - {"Extract", "Assumptions"}
    assert found and found <= named
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert not [name for name in found if f"`{name}.v`" not in table]
