"""Are the proofs complete, and is the kept script what they give?

The proofs themselves take Coq and minutes: `make verified` builds them, and here where DPAUDIT_BUILD_PROOFS is set, as
the workflow does. Everywhere else the sources have to be those that were built (`built.sha256`), and the rules of the
build are held with tools that only seem to build.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "verified"
TOOLS = {
    "coqc": 'file="${!#}"; touch "${file%.v}.vo"\n'
    'case "$file" in Extract.v) touch checker.ml checker.mli;;\n'
    '  Assumptions.v) cat "${RESTS_ON:-assumptions.txt}";; esac',
    "coqdep": "true",
    "ocamlfind": 'for each; do [ "$before" = -o ] && touch "$each"; before="$each"; done; true',
    "js_of_ocaml": "cp built checker.js",
}


@pytest.fixture
def copied(tmp_path):
    """A copy of the folder, beside which the kept script lies as it does in the source."""
    kept = re.findall(r"^[^\s#][^:]*", (FOLDER / ".gitignore").read_text(encoding="utf-8"), re.MULTILINE)
    shutil.copytree(FOLDER, tmp_path / "verified", ignore=shutil.ignore_patterns(*kept))
    html = tmp_path / "dpaudit" / "report" / "html"
    html.mkdir(parents=True)
    shutil.copy(FOLDER.parent / "dpaudit" / "report" / "html" / "checker.js", html)
    return tmp_path / "verified"


def compared(folder, **more):
    return subprocess.run(
        ["make", "-s", "compare"], cwd=folder, env={**os.environ, **more}, capture_output=True, text=True
    )


def test_what_lies_here_is_what_was_built():
    """Whoever changes a proof builds it: `make verified` says how to write the digests anew."""
    listed = dict(line.split()[::-1] for line in (FOLDER / "built.sha256").read_text(encoding="utf-8").splitlines())
    sources = {file.name for kind in ("*.v", "*.ml") for file in FOLDER.glob(kind) if file.name != "checker.ml"}
    assert set(listed) == sources | {"Makefile", "assumptions.txt", "../dpaudit/report/html/checker.js"}
    for name, digest in listed.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_what_is_not_kept_left_open_or_rests_on_more_fails(copied):
    kept = copied.parent / "dpaudit" / "report" / "html" / "checker.js"
    shutil.copy(kept, copied / "built")
    tools = copied.parent / "tools"
    tools.mkdir()
    for name, lines in TOOLS.items():
        (tools / name).write_text(f"#!/usr/bin/env bash\n{lines}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    path = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    ran = compared(copied, **path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (copied / "more.txt").write_text(
        (copied / "assumptions.txt").read_text(encoding="utf-8") + "lie\n", encoding="utf-8"
    )
    (copied / "assumptions.found").unlink()
    ran = compared(copied, **path, RESTS_ON="more.txt")
    assert ran.returncode and "something else than assumptions.txt lists" in ran.stderr, ran.stderr
    (copied / "assumptions.found").unlink()
    proof = copied / "Composition.v"
    text = proof.read_text(encoding="utf-8")
    proof.write_text(f"{text}\nLemma all_is_true : False. Admitted.\n", encoding="utf-8")
    ran = compared(copied, **path)
    assert ran.returncode and "left open" in ran.stderr, ran.stderr
    proof.write_text(f"{text}\n", encoding="utf-8")
    ran = compared(copied, **path)
    assert ran.returncode and "not what was built" in ran.stderr, ran.stderr
    proof.write_text(text, encoding="utf-8")
    with kept.open("a", encoding="utf-8") as script:
        script.write(" ")
    ran = compared(copied, **path)
    assert ran.returncode and "not the kept one" in ran.stderr, ran.stderr


@pytest.mark.slow
@pytest.mark.skipif("DPAUDIT_BUILD_PROOFS" not in os.environ, reason="minutes: set DPAUDIT_BUILD_PROOFS to build")
def test_coq_builds_the_kept_script_and_notices_a_lie_that_is_used(copied):
    ran = compared(copied)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    proof = copied / "Composition.v"
    text = proof.read_text(encoding="utf-8")
    lies = "Section Lies. Variable lie : False. End Lies.\nVariable lie : False.\n"  # no word that is looked for
    lying = text.replace("Section Programs.", f"{lies}Section Programs.", 1)
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
    assert listed.count("Axioms:") == 11  # one for each theorem of Assumptions.v
    assert (FOLDER / "Assumptions.v").read_text(encoding="utf-8").count("Print Assumptions") == 11


def test_every_file_of_proofs_is_built():
    named = set((FOLDER / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ").split())
    found = {file.stem for file in FOLDER.glob("*.v")} - {"Extract", "Assumptions"}
    assert found and found <= named
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert not [name for name in found if f"`{name}.v`" not in table]


def test_the_list_of_forms_has_every_field_that_the_reader_names_and_no_other():
    ways = [
        r"(?:fields|head) \w+ (.*?\])",
        r'(?:get|has|named_leaves) (?:\w+|\([^()]*\)) (".*?")',
        r'(?:get|is|maybe) \w* ?(".*?")',
    ]
    sources = [file.read_text(encoding="utf-8") for file in FOLDER.glob("*.ml") if file.name != "checker.ml"]
    named = [each for text in sources for way in ways for each in re.findall(way, text, re.DOTALL)]
    found = {name for each in named for name in re.findall(r'"([a-z]+)"', each)}
    listed = set(re.findall(r'"([a-z]+)"\??: ', (FOLDER / "forms.md").read_text(encoding="utf-8")))
    assert len(found) > 50
    assert found - listed == {"account", "given", "ball"}  # of which it is said that they are not covered
    assert listed - found == set()
