"""Does every bad file get a sentence and exit code 2, never a traceback, and is nothing left half-written?"""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import os
import pickle
import random
import sys
import time
from pathlib import Path

import pytest
from support import forked
from support.nightly import mostly_at_night

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id, write_whole
from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check import check
from dpaudit.review.check.finding import exit_code
from dpaudit.sampling.checkpoint import MAGIC

OLD = Path(__file__).parents[1] / "evidence" / "old"


def header(text: bytes) -> bytes:
    """A .npy file with this header."""
    return b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + text.ljust(117) + b"\n" + bytes(16)


DATA = {
    "header.npy": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }"),
    "call.npy": header(b"{'descr': __import__('os').system('touch ran'), }"),
    "open.npy": header(b"(" * 117),
    "bytes.npy": header(b"\xff" * 117),
    "shape.npy": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"),
    "shapes.npy": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, -1), }"),
    "number.npy": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': 3, }"),
    "kind.npy": header(b"{'descr': 'Q9', 'fortran_order': False, 'shape': (2,), }"),
    "objects.npy": header(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"),
    "long.npy": b"\x93NUMPY\x01\x00\xff\xff",
    "version.npy": b"\x93NUMPY\x09\x00" + bytes(50),
    "pickle.npy": pickle.dumps([1]),
    "empty.npy": b"",
    "nul.csv": b"a,b\n1,\x00\n2,3\n",
    "latin.csv": "näme,b\n1,2\n".encode("latin-1"),
    "utf16.csv": "a,b\n1,2\n".encode("utf-16"),
    "quote.csv": b'a,b\n"1,2\n',
    "empty.csv": b"",
    "zipped.csv": gzip.compress(b"a\n1\n")[:-4],
    "data.csv.gz": gzip.compress(b"a\n1\n")[:-4],
    "cut.parquet": b"PAR1xxxx",
    "empty.parquet": b"",
    "digits.json": b"[[" + b"9" * 5000 + b"], [1]]",
    "utf16.json": "[[1], [0]]".encode("utf-16"),
    "deep.json": b"[" * 100_000,
    "nul.json": b"\0",
    "empty.json": b"",
}
PLACES = ("folder.csv", "folder.json", "folder.npy", "folder.parquet", "loop.csv", "loop.json", "loop.npy", "pipe.csv",
          "pipe.npy", "gone.json", "device.npy", "device.json", "gone.parquet", "loop.parquet")  # fmt: skip


@pytest.fixture
def bad(folder):
    for name, content in DATA.items():
        (folder / name).write_bytes(content)
    for name in PLACES:
        kind, place = name.partition(".")[0], folder / name
        if kind == "folder":
            place.mkdir()
        elif kind == "loop":
            place.symlink_to(name)
        elif kind == "pipe":
            os.mkfifo(place)
        elif kind == "device":
            place.symlink_to("/dev/zero")
    return folder


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*DATA, *PLACES])
def test_a_bad_dataset_gets_a_sentence(name, bad, run):
    before = sorted(os.listdir(bad))
    pair = ["--pair", name] if name.endswith("json") else ["--pair", name, "--pair", name]
    common = ["--claim", "epsilon=1", "--runs", "2000", "--seed", "1", "--json", "e.json"]
    for words in (["--data", name], pair):
        done = run("audit", "some folder/shapes.py:seeded", *words, *common)
        assert done.exit_code == 2, done.output
        assert done.stderr.startswith("dpaudit: ") and name in done.stderr
        assert "fault of dpaudit" not in done.stderr and "Traceback" not in done.stderr
    assert sorted(name for name in os.listdir(bad) if name != "__pycache__") == before


@pytest.mark.parametrize("name", ["bom.json", "large.json"])
def test_an_odd_pair_that_is_good_is_read(name, run, folder):
    (folder / "bom.json").write_bytes(b"\xef\xbb\xbf[[1], [0]]")
    (folder / "large.json").write_text(f"[[{10**400}], [0]]")
    (folder / "counts.py").write_text("def count(data, rng):\n    return len(data) + rng.laplace()\n")
    options = ["--pair", name, "--relation", "declared", "--claim", "epsilon=1", "--runs", "400", "--seed", "1"]
    assert run("audit", "counts.py:count", *options).exit_code in (0, 3)


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", b"{", b"[" * 100_000, b"\xff\xfe", b'{"id": 1}', b"<html>", b"9" * 5000, b'{"a": NaN}', b"null"],
)
@pytest.mark.parametrize("command", ["check", "report", "replay"])
def test_a_bad_evidence_file_gets_a_sentence(command, content, run, folder):
    (folder / "e.json").write_bytes(content)
    done = run(command, "e.json")
    assert done.exit_code == 2
    assert "e.json" in done.stderr and len(done.stderr) < 700
    assert "fault of dpaudit" not in done.stderr


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices")
@pytest.mark.parametrize("command", [["check"], ["report"], ["replay"], ["gate", "--config"]])
def test_a_device_without_an_end_is_not_read(command, run, folder):
    done = run(*command, "/dev/zero")
    assert (done.exit_code, "it is a device" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "text", ["[tool", "tool = 1\n", "[tool.dpaudit]\ntargets = 3\n", "\0", "[tool.dpaudit]\nx = 1\n"]
)
def test_a_broken_configuration_gets_a_sentence(text, run, folder):
    (folder / "pyproject.toml").write_text(text)
    done = run("gate")
    assert done.exit_code == 2 and done.stderr.startswith("dpaudit: ")
    assert "fault of dpaudit" not in done.stderr


def record_of(content: bytes) -> bytes:
    import hashlib

    return len(content).to_bytes(8, "little") + hashlib.blake2b(content, digest_size=16).digest() + content


@pytest.mark.parametrize(
    "content",
    [b"mine", MAGIC + record_of(b"no json"), MAGIC + record_of(b"[1]"), MAGIC + record_of(b"{}") + record_of(b"\xc1")],
)
def test_a_foreign_or_broken_file_of_blocks_is_left_as_it_is(content, run, folder):
    (folder / "blocks").write_bytes(content)
    done = run("audit", "laplace", "--runs", "400", "--seed", "1", "--resume", "blocks")
    assert done.exit_code == 2 and "'" in done.stderr and "name another" in done.stderr
    assert (folder / "blocks").read_bytes() == content


# --- full disks ---


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (["--json", "e.json"], 500),
        (["--html", "e.html"], 500),
        (["--resume", "blocks"], 100),
        (["--resume", "blocks"], 3000),
    ],
)
@pytest.mark.slow
def test_a_full_disk_gets_a_sentence_and_leaves_nothing(words, limit, folder):
    command = ["audit", "exact_count", "--in-process", "--runs", "2000", "--seed", "1", "--quiet", *words]

    def limited():
        import resource

        sys.dont_write_bytecode = True  # Python would keep the half of what it compiled
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = forked.call(*command, cwd=folder, preexec_fn=limited)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("dpaudit: cannot")
    assert "Traceback" not in done.stderr
    assert sorted(set(os.listdir(folder)) - {"blocks"}) == ["pair.json", "some folder"]


def test_parts_that_were_left_are_cleaned(tmp_path):
    old, young = tmp_path / ".dpaudit-old.part", tmp_path / ".dpaudit-young.part"
    for part in (old, young):
        part.touch()
    os.utime(old, (time.time() - 10_000,) * 2)
    write_whole(tmp_path / "e.json", "{}")
    assert sorted(os.listdir(tmp_path)) == [".dpaudit-young.part", "e.json"]


# --- evidence that is well hashed and contradicts itself ---

VALUES = (None, -1, 0, 2**52, 10**400, -(10**18), 0.5, 1e308, "", "x", "inf", "nan", "-inf", "1e400", "9" * 5000, [],
          {}, [[]], [None], True, "gaussian", "a\0b", "epsilon=-1")  # fmt: skip
KNOWN = {
    "an unknown yardstick": (("detectable_on",), "moon"),
    "unknown low bits": (("low_bits",), "moon"),
    "a joint bound without a weight": (("attempts", 0, "bound", "weight"), None),
    "huge counts": (("attempts", 0, "bound", "counts", "runs", 0), 10**15),
    "negative counts": (("attempts", 0, "bound", "counts", "runs", 0), -5),
}


def hashed(record) -> str:
    return json.dumps({"id": content_id(record), "evidence": record, "run": None})


def put(record, place, value) -> None:
    for step in place[:-1]:
        record = record[step]
    record[place[-1]] = value


def assert_said(run, folder, text) -> None:
    (folder / "forged.json").write_text(text, encoding="utf-8")
    for command in ("check", "report"):
        done = run(command, "forged.json")
        assert done.exit_code in (0, 1, 2, 3)
        assert "fault of dpaudit" not in done.output and "Traceback" not in done.output


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KNOWN)
def test_well_hashed_evidence_that_cannot_be_gets_a_sentence(name, run, folder):
    place, value = KNOWN[name]
    record = json.loads((OLD / "gaussian.json").read_text(encoding="utf-8"))["evidence"]
    put(record, place, value)
    assert_said(run, folder, hashed(record))
    with contextlib.suppress(UsageError):
        assert exit_code(check(Evidence.from_json(hashed(record)))) != 0


def leaves(value, place=()):
    if place:
        yield place
    if isinstance(value, dict):
        for name in value:
            yield from leaves(value[name], (*place, name))
    elif isinstance(value, list):
        for number in range(min(len(value), 6)):
            yield from leaves(value[number], (*place, number))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_at_night([20, 21, 22]))
def test_no_mutation_of_evidence_ends_in_a_traceback(run, folder, seed):
    rng = random.Random(seed)
    kept = [json.loads(file.read_text(encoding="utf-8"))["evidence"] for file in sorted(OLD.glob("*.json"))]
    small = [record for record in kept if len(json.dumps(record)) < 8_000]
    accepted = 0
    for number in range(20):
        record = copy.deepcopy(small[number % len(small)])
        place = rng.choice(list(leaves(record)))
        put(record, place, rng.choice(VALUES))
        try:
            text = hashed(record)
            Evidence.from_json(text)
        except UsageError:
            continue
        accepted += 1
        assert_said(run, folder, text)
    assert accepted > 2
