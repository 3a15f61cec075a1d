"""Does this evidence hold? ``python dpaudit-check.pyz evidence.json …``, with nothing installed."""

from __future__ import annotations

import sys
from pathlib import Path

from dpaudit.checker.evidence import UnreadableEvidenceError, check, exit_code

_USAGE = """usage: python dpaudit-check.pyz [--quiet] EVIDENCE [EVIDENCE ...]

Checks evidence of dpaudit, a page that holds it, or a certificate: the id, bounds from their counts, certificates, and
the verdict that follows from them. Nothing is installed and nothing is run. What the verdict does not rest on is not
looked at: power, assumptions, sentences, histograms. dpaudit check computes those too.

exit code 0: all that the verdict rests on was computed again and holds
          1: something fails
          2: EVIDENCE cannot be read, or was altered
          3: nothing fails, and something that the verdict rests on was not checked
With several files: the first of 1, 2 and 3 that any of them has."""
_MOST = 200_000_000  # characters of a file


def main(arguments: list[str]) -> int:
    """Check the files and print every finding; return the exit code."""
    names = [each for each in arguments if not each.startswith("-")]
    options = set(arguments) - set(names)
    if options - {"--quiet"} or not names:
        asked = bool(options) and options <= {"--help", "-h"}
        print(_USAGE, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    codes = {checked(name, quiet="--quiet" in options, several=len(names) > 1) for name in names}
    return next((code for code in (1, 2, 3) if code in codes), 0)


def checked(name: str, *, quiet: bool = False, several: bool = False) -> int:
    """Check one file and print its findings; return the exit code.

    Args:
        name: of the file.
        quiet: whether to print nothing.
        several: whether to print the name first.
    """
    if several and not quiet:
        print(f"{name}:")
    try:
        if not Path(name).is_file():
            raise UnreadableEvidenceError("there is no such file")
        with open(name, encoding="utf-8-sig") as file:
            text = file.read(_MOST + 1)
        if len(text) > _MOST:
            raise UnreadableEvidenceError(f"it has more than {_MOST:,} characters")
        findings = list(check(text))
    except (UnreadableEvidenceError, OSError, UnicodeDecodeError) as error:
        print(f"Error: {name}: {error}", file=sys.stderr)
        return 2
    words = {True: "holds", False: "fails", None: "not checked"}
    for each in () if quiet else findings:
        print(f"{words[each.holds]:<12} {each.what:<15} {each.sentence}")
    if not quiet:
        held, failed = (sum(each.holds is word for each in findings) for word in (True, False))
        rests = sum(each.holds is None and each.decides for each in findings)
        more = f", {rests} of which the verdict rests on: dpaudit check may tell" if rests else ""
        print(f"{held} hold, {failed} fail, {len(findings) - held - failed} not checked{more}")
    return exit_code(findings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
