"""Is every text file read the same way, with a byte order mark and without, and refused with a sentence otherwise?"""

import codecs
import json
from pathlib import Path

import pytest

import dpaudit as dp

ROOT = Path(__file__).resolve().parents[2]
OLD = ROOT / "tests" / "evidence" / "old"
AUDIT = ["audit", "laplace", "--runs", "400", "--seed", "0", "--quiet"]
SCORES = "\n".join(map(str, range(40)))
FILES = {
    "evidence": (OLD / "seeded.json", ["check", "FILE"]),
    "certificate": ("certificate", ["check", "FILE"]),
    "pair": ("[[1.0], [0.0]]", [*AUDIT, "--claim", "epsilon=1", "--relation", "declared", "--pair", "FILE"]),
    "data": ("[[1.0], [0.0], [1.0]]", ["sensitivity", "ask.py:total", "--data", "FILE.json", "--claim", "9"]),
    "frame": ("a,b\n1,2\n3,4\n", ["sensitivity", "ask.py:rows", "--data", "FILE.csv", "--claim", "9"]),
    "numbers": ("1,2\n3,4\n", ["sensitivity", "ask.py:rows", "--data", "FILE.csv", "--claim", "9"]),
    "scores": (
        f"[{SCORES.replace(chr(10), ',')}]",
        ["scores", "FILE.json", "FILE.json", "--design", "independent", "--seed", "0"],
    ),
    "column": (SCORES, ["scores", "FILE.csv", "FILE.csv", "--design", "independent", "--seed", "0"]),
    "lines": (SCORES, ["scores", "FILE.jsonl", "FILE.jsonl", "--design", "independent", "--seed", "0"]),
    "gate": ('[[targets]]\ntarget = "laplace"\nruns = 400\n', ["gate", "--config", "FILE", "nobody"]),
    "context": ('model_name = "Local"', ["report", "e.json", "--format", "registry-yaml", "--context", "FILE"]),
}
ASKED = "def total(data):\n    return len(data)\n\ndef rows(data):\n    return len(data) + len(data.columns)\n"


@pytest.fixture
def read(run, folder):
    """What a command says of a file with this content, and its exit code."""
    (folder / "ask.py").write_text(ASKED, encoding="utf-8")
    (folder / "e.json").write_bytes((OLD / "seeded.json").read_bytes())

    def call(kind, encode):
        content, words = FILES[kind]
        if kind == "certificate":
            content = json.dumps(dp.Evidence.load(OLD / "proved.json").proof.certificate)
        text = content.read_text(encoding="utf-8") if isinstance(content, Path) else content
        for ending in ("", ".json", ".csv", ".jsonl"):
            (folder / f"file{ending}").write_bytes(encode(text))
        done = run(*(word.replace("FILE", "file") for word in words))
        return done.exit_code, done.stdout, done.stderr

    return call


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.slow
def test_a_byte_order_mark_is_no_part_of_a_text(kind, read):
    plain = read(kind, lambda text: text.encode())
    assert plain[0] in (0, 3) or (kind == "gate" and "no target is called 'nobody'" in plain[2])
    assert read(kind, lambda text: codecs.BOM_UTF8 + text.encode()) == plain


@pytest.mark.parametrize("kind", FILES)
def test_another_encoding_is_named(kind, read):
    code, _, said = read(kind, lambda text: text.encode("utf-16"))
    assert code == 2
    assert "UTF-8" in said and "Traceback" not in said
