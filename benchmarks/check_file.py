"""Does the file for reviewers say what ``dpaudit check`` says? Kept evidence, forgeries, attacks, and single changes.

python benchmarks/check_file.py [--changes N] [--thin N] [--quick]

Writes results/check_file.md. Passing is exit code 0. The file looks at nothing that stands beside a verdict, and
what it passes alone is named.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.forgeries import BARE, FORGERIES, record_of
from support.forging import OLD, another, at, forged, leaves

import dpaudit as dp
from dpaudit.checker import evidence as alone
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id
from dpaudit.review.check import check_file, exit_code

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results") / "check_file.md"
HUGE = "9" * 5000


def text_of(record: Any) -> str:
    """The text of evidence under an id that fits."""
    return json.dumps({"id": content_id(record), "evidence": record, "run": None})


def with_forgeries() -> Iterator[tuple[str, str]]:
    """Yield the named forgeries of the tests."""
    for name, (kept, change) in FORGERIES.items():
        record = record_of(kept)
        change(record)
        yield name, text_of(record)
    yield from BARE.items()


def with_attacks() -> Iterator[tuple[str, str]]:
    """Yield texts that nobody who means well would write."""
    kept = (ROOT / "tests" / "evidence" / "old" / "randomised_response.json").read_text(encoding="utf-8")
    document = json.loads(kept)
    counts = '"counts": {'

    def instead(path: tuple[Any, ...], value: str) -> str:
        """The text with a JSON value of any kind at a place, under the id of before."""
        record = forged(document["evidence"], path, "#here#")
        return json.dumps({**document, "evidence": record}).replace('"#here#"', value)

    yield "a member twice", kept.replace('"verdict"', '"verdict": "proved", "verdict"', 1)
    yield "the evidence twice", kept.replace('"evidence"', '"evidence": {}, "evidence"', 1)
    yield "100,000 lists in one another", instead(("seed",), "[" * 100_000 + "]" * 100_000)
    yield "100,000 objects in one another", instead(("seed",), '{"a":' * 100_000 + "1" + "}" * 100_000)
    yield "a huge seed", instead(("seed",), HUGE)
    yield "huge runs", instead(("measuring",), HUGE)
    yield "NaN", instead(("confidence",), "NaN")
    yield "an infinite confidence", instead(("confidence",), "1e999")
    yield "a lone surrogate", instead(("reason",), '"\\ud800"')
    yield "a text that is cut off", kept[: len(kept) // 2]
    yield "nothing", ""
    yield "a number alone", "3"
    yield "a page that is none", "<html></html>"
    yield "no id", json.dumps({"evidence": document["evidence"]})
    yield "a null byte", kept.replace(counts, counts + "\x00", 1) if counts in kept else kept + "\x00"
    bound = ("attempts", 0, "bound")
    for name, path, value in [
        ("counts of 10^12 that agree", (*bound, "counts", "runs"), [10**12, 10**12]),
        ("counts as texts of 5,000 digits", (*bound, "counts", "runs"), [HUGE, HUGE]),
        ("counts below 0", (*bound, "counts", "toward0"), [-1, 0]),
        ("an error of 1e-17", (*bound, "confidence"), 1 - 2**-53),
        ("a confidence of 1e-300", (*bound, "confidence"), 1e-300),
        ("a method that nobody knows", (*bound, "method"), "oracle"),
        ("a joint bound of the same counts", (*bound, "method"), "joint"),
        ("an odds bound of the same counts", (*bound, "method"), "odds"),
        ("a bound of 1e308", (*bound, "value"), 1e308),
    ]:
        yield name, text_of(forged(document["evidence"], path, value))
    for name in ("gaussian", "sequential", "one_run", "zcdp", "scores"):
        record = record_of(name)
        if record["attempts"][0]["bound"]["counts"] is not None:
            for field in ("runs", "toward0", "toward1"):
                record["attempts"][0]["bound"]["counts"][field] = [10**11, 10**11 - 7]
        yield f"10^11 runs in {name}", text_of(record)


def with_accounts(chance: random.Random, each: int) -> Iterator[tuple[str, str]]:
    """Yield accounts, and single changes of them."""
    listed = dp.Laplace(4).times(4) + dp.Gaussian(2).poisson("0.1").times(3)
    for name, evidence in (
        ("an account with a curve", dp.account(listed, claim="epsilon=1.5, delta=0.001", tolerance=0.01)),
        ("an account of μ", dp.account(dp.Gaussian("1.1").times(5), claim="mu=3")),
    ):
        yield name, evidence.to_json()
        for place in chance.sample(list(leaves(evidence.record())), each):
            record = forged(evidence.record(), place, another(at(evidence.record(), place), chance))
            yield f"{name}: {'.'.join(map(str, place))}", text_of(record)


def with_changes(chance: random.Random, changes: int) -> Iterator[tuple[str, str]]:
    """Yield kept evidence, each with another value at one place."""
    for number in range(changes):
        old = OLD[number % len(OLD)]
        record = json.loads(old.read_text(encoding="utf-8"))["evidence"]
        place = chance.choice(list(leaves(record)))
        record = forged(record, place, another(at(record, place), chance))
        yield f"{old.stem}: {'.'.join(map(str, place))}", text_of(record)


def kept_files(thin: int) -> Iterator[tuple[str, str]]:
    """Yield evidence that is kept here: of older versions, and every so many of reference reports and other libraries.

    Args:
        thin: how many there are for one that is taken.
    """
    folders = (ROOT / "reports" / "evidence", ROOT / "benchmarks" / "adapters" / "found")
    newer = [file for folder in folders for file in sorted(folder.glob("*.json"))]
    for file in (*OLD, *newer[::thin]):
        yield file.stem, file.read_text(encoding="utf-8")


def in_the_file(text: str) -> tuple[int, float, list[alone.Finding]]:
    """The exit code of the file for reviewers, its seconds, and what it found."""
    start, findings = time.process_time(), []
    try:
        findings = list(alone.check(text))
        code = alone.exit_code(findings)
    except alone.UnreadableError:
        code = 2
    return code, time.process_time() - start, findings


def own_check(file: Path) -> tuple[int, float]:
    """The exit code of ``dpaudit check``, and its seconds without starting."""
    start = time.process_time()
    try:
        code = exit_code(check_file(file))
    except UsageError:
        code = 2
    return code, time.process_time() - start


def main() -> None:
    """Check everything twice, print what differs, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=310)
    parser.add_argument("--thin", type=int, default=1, metavar="N", help="one of N reference reports")
    parser.add_argument("--quick", action="store_true", help="only what takes a minute; writes nothing")
    given, chance = parser.parse_args(), random.Random(0)
    kinds = {
        "named forgeries": with_forgeries(),
        "attacks": with_attacks(),
        "single changes of kept evidence": with_changes(chance, 30 if given.quick else given.changes),
    }
    if not given.quick:
        kinds = {
            "kept evidence": kept_files(given.thin),
            **kinds,
            "accounts, and changes of them": with_accounts(chance, 20),
        }
    lines, differing = ["| | files | same exit code | only `dpaudit check` tells | passed by the file alone |"], []
    lines += ["|---|---|---|---|---|"]
    slowest, codes = (0.0, ""), Counter[tuple[int, int]]()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "evidence.json"
        for kind, texts in kinds.items():
            same = silent = worse = files = 0
            for name, text in texts:
                file.write_bytes(text.encode("utf-8", "surrogateescape"))
                own, seconds = own_check(file)
                try:
                    code, own_seconds, findings = in_the_file(file.read_text(encoding="utf-8"))
                except UnicodeDecodeError:
                    code, own_seconds, findings = 2, 0.0, []
                codes[own, code] += 1
                files += 1
                same += own == code
                silent += own != code == 3
                worse += code == 0 != own
                slowest = max(slowest, (own_seconds, name))
                if own != code:
                    why = [f"{each.what}: {each.sentence}" for each in findings if each.holds is not True]
                    differing.append(f"- {kind}, {name}: {own}, and {code}")
                    print(differing[-1], *why[:3], sep="\n    ", flush=True)
                if seconds > 20 or own_seconds > 20:
                    print(f"{name}: {seconds:.1f} s, and {own_seconds:.1f} s in the file", flush=True)
            print(f"{kind}: {files}", flush=True)
            lines.append(f"| {kind} | {files} | {same} | {silent} | {worse} |")
    lines += ["", f"Exit codes of `dpaudit check` and of the file: {dict(sorted(codes.items()))}."]
    lines += [f"The slowest takes {slowest[0]:.1f} s of CPU in the file: {slowest[1]}.", ""]
    lines += ["Other exit codes:", "", *differing] if differing else []
    text = "\n".join(lines) + "\n"
    print(text)
    if not given.quick:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
