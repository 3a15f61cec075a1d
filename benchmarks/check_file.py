"""Does the file for reviewers ever pass what ``dpaudit check`` does not? Kept evidence, and changes of single values.

python benchmarks/check_file.py [CHANGES]
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.forging import OLD, another, at, forged, leaves

from dpaudit.alone.build import built
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id
from dpaudit.review.check import check_file, exit_code


def own_code(file: Path) -> int:
    """The exit code of the check itself."""
    try:
        return exit_code(check_file(file))
    except UsageError:
        return 2


def main() -> None:
    """Print how often both say the same, and every file that only the one for reviewers passes."""
    chance, changes = random.Random(0), int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        check_pyz, files = Path(folder) / "dpaudit-check.pyz", list(OLD)
        check_pyz.write_bytes(built())
        for number in range(changes):
            old = OLD[number % len(OLD)]
            record = json.loads(old.read_text(encoding="utf-8"))["evidence"]
            place = chance.choice(list(leaves(record)))
            record = forged(record, place, another(at(record, place), chance))
            files.append(Path(folder) / f"{number}-{old.stem}-{'.'.join(map(str, place))[:80]}.json")
            text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
            files[-1].write_text(text, encoding="utf-8")
        counts: dict[tuple[int, int], int] = {}
        for file in files:
            told = subprocess.run(
                [sys.executable, "-I", "-S", str(check_pyz), str(file)], capture_output=True, text=True
            )
            pair = own_code(file), told.returncode
            counts[pair] = counts.get(pair, 0) + 1
            if pair[0] != pair[1]:
                print(f"dpaudit check {pair[0]}, the file {pair[1]}: {file.name}", flush=True)
            if pair[1] == 0 != pair[0] or pair[1] == 1 != pair[0]:
                print(told.stdout, told.stderr)
        for (own, other), times in sorted(counts.items()):
            print(f"dpaudit check {own}, the file {other}: {times} times")
        wrong = sum(times for (own, other), times in counts.items() if other == 0 != own)
        print(f"passed by the file alone: {wrong} of {len(files)}")


if __name__ == "__main__":
    main()
