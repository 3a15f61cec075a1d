"""What does a night of the court say, and what changed since every seat was last judged?

A row is the answer about one seat. Beside today's word it keeps the `last` judgement, kept or red: a seat that is not
run tonight, as its library does not install, is compared tomorrow with what was last known of it.
"""

from __future__ import annotations

import collections
import math
from typing import Any

KEPT, RED, NONE, NOT_RUN = "kept", "red", "no answer", "not run"
REST, ALL = "(the rest)", "(all)"  # what stands for seats that were not come to, and for a library
NOT_ASKED = "not asked for"
Row = dict[str, Any]

# what is known of red answers, by library and the beginning of a name
KNOWN = {
    ("opendp", "make_laplace_threshold(T='int'"): "keys are released at the threshold too, and δ is the chance of "
    "lying above it (opendp/opendp#2922)",
    ("diffprivlib", "nanmean"): "the sum is divided by the number of values that are there, and the noise is that of a "
    "mean of all values, missing ones too; read in its source",
    ("pure-ldp", "UEClient"): "the bit of the value is first drawn as any other and then set with probability p, so it "
    "is 1 with probability 1 − (1 − p)(1 − q) instead of p; read in its source",
    (
        "jax-privacy",
        "DpsgdTrainingAccountant PLD(noise=1.0, rate=1.0, steps=100, delta=1e-09)",
    ): "at this ε, δ is 1e-9 + 5e-15: 100 steps are composed by a Fourier transform in doubles, which is off by so "
    "much at any δ. With the transform of dp-accounting in 80 bits the same accountant says 109.1955987, above what is "
    "certified; asked about the Gaussian without sampling, it needs no transform and says 109.1955969",
    ("opacus", "GaussianAccountant"): "a central limit theorem stands in for the composition: an approximation, which "
    "is no upper bound (meta-pytorch/opacus#400)",
}


def package(row: Row) -> str:
    """The library of a row without its version."""
    return str(row["library"]).partition("==")[0]


def place(row: Row) -> tuple[str, str]:
    """What identifies a seat from night to night."""
    return package(row), row["name"]


def repeated(rows: list[Row]) -> list[str]:
    """The names that several seats have."""
    return [name for name, count in collections.Counter(row["name"] for row in rows).items() if count > 1]


def since(old: list[Row], new: list[Row]) -> list[Row]:
    """The rows of a night, each with its `last` judgement.

    Seats of libraries that were not asked stay as they are; those that a library did not come to are not run.
    """
    before, now = {place(row): row for row in old}, {place(row): row for row in new}
    asked = {package(row): row for row in new}
    ended = {package(row): row for row in new if row["name"] == REST}
    rows = []
    for key, row in now.items():
        last = _judgement(row) or (_last(before[key]) if key in before else None)
        rows.append(row | {"last": last})
    for key, row in before.items():
        if key[0] not in asked:
            rows.append(row)
        elif key not in now and key[0] in ended and row["name"] not in (REST, ALL):
            why = "its library did not come to it"
            rows.append({**ended[key[0]], "name": row["name"], "why": why, "last": _last(row)})
    return rows


def _judgement(row: Row) -> Row | None:
    if row["word"] not in (KEPT, RED):
        return None
    return {key: row[key] for key in ("library", "word", "claim", "night")}


def _last(row: Row) -> Row | None:
    return row["last"] if "last" in row else _judgement(row)


def differs(was: Row | None, row: Row | None) -> bool:
    """Whether a seat is told on the page of what changed.

    Judgements are compared with the last ones. Between kept and no answer, and back, the runs that there was time for
    decide: that is no change.
    """
    if was is None or row is None:
        return True
    last = _last(was)
    if row["word"] == NOT_RUN:
        return bool(was["word"] != NOT_RUN)
    if last is None:
        return bool(was["word"] == NOT_RUN or row["word"] == RED)
    if row["word"] == NONE:
        return bool(last["word"] == RED)
    return any(last[key] != row[key] for key in ("word", "claim"))


def new_reds(old: list[Row], new: list[Row]) -> list[str]:
    """The red answers about seats that were not red when they were last judged."""
    before = {place(row): _last(row) for row in old}
    return [
        f"{row['library']} {row['name']}: says {row['claim']}, and {row['shown']}"
        for row in new
        if row["word"] == RED and (before.get(place(row)) or row | {"word": ""})["word"] != RED
    ]


def known(row: Row) -> str:
    """What is known of a red answer."""
    told = [said for (library, name), said in KNOWN.items() if library == package(row) and row["name"].startswith(name)]
    return told[0] if told else "not looked into yet"


def summed(rows: list[Row], chance: float) -> str:
    """Rows in a sentence; ``chance`` is that of any false red answer in a night."""
    words = collections.Counter(row["word"] for row in rows)
    libraries = {package(row) for row in rows if row["word"] in (KEPT, RED)}
    return (
        f"{words[KEPT] + words[RED]} constructors and accounts of {len(libraries)} libraries were judged: {words[RED]} "
        f"are red, {words[KEPT]} showed nothing against their word, which is no proof of it; {words[NONE]} have no "
        f"answer, and {words[NOT_RUN]} were not run. Where every word is kept, a night has a false red answer with a "
        f"probability of at most {chance:g}."
    )


def when(rows: list[Row]) -> str:
    """Whether all rows are of one night and one commit, or of which ones."""
    nights = collections.Counter((row["night"], row["commit"]) for row in rows)
    told = [f"{night} at commit {commit}" for night, commit in sorted(nights)]
    if len(told) == 1 and not any(row["why"] == NOT_ASKED for row in rows):
        return f"One whole night: every answer was given in one run of `run.py`, on {told[0]}."
    return f"**No whole night**: not every library was asked in one run, {', and '.join(told)}."


def changed(old: list[Row], new: list[Row], chance: float) -> str:
    """The page of a night: what changed since every seat was last judged, what is red, and what was not run."""
    lines = [
        "# The court: what changed",
        "",
        "Made by `python benchmarks/court/run.py`.",
        when(new),
        "",
        summed(new, chance),
    ]
    lines += ["", "## Changed since the night before", "", *_changes(old, new)]
    lines += ["", "## Red, by two looks of fresh seeds, or below a certified interval", ""]
    reds = [row for row in new if row["word"] == RED]
    told = [[*(row[key] for key in ("library", "name", "claim", "shown")), known(row)] for row in reds]
    lines += _table(["library", "constructor", "says", "is shown", "what is known"], told)
    lines += ["", "## Not run, or without an answer", ""]
    lines += _table(["library", "constructor", "why", "last judged"],
                    [[row["library"], row["name"], f"{row['word']}: {row['why']}", _told(_last(row))]
                     for row in new if row["word"] in (NONE, NOT_RUN)])  # fmt: skip
    lines += ["", "## By library", ""]
    lines += _table(["library", KEPT, RED, NONE, NOT_RUN, "seconds"], [
        [library, *(str(sum(row["word"] == word for row in its)) for word in (KEPT, RED, NONE, NOT_RUN)),
         f"{math.fsum(row['seconds'] for row in its):.0f}"]
        for library in dict.fromkeys(row["library"] for row in new)
        for its in [[row for row in new if row["library"] == library]]
    ])  # fmt: skip
    return "\n".join(lines) + "\n"


def _changes(old: list[Row], new: list[Row]) -> list[str]:
    if not old:
        return ["There is no night before this one."]
    before, now = ({place(row): row for row in rows if row["name"] != REST} for rows in (old, new))
    told = []
    for key in sorted(before.keys() | now.keys()):
        was, row = before.get(key), now.get(key)
        if differs(was, row):
            held = row or was or {}
            last = was and (_last(was) or was)
            told.append([held["library"], held["name"], _told(last), _told(row), held["shown"] or held["why"]])
    versions = [{package(row): row["library"] for row in rows} for rows in (old, new)]
    lines = [f"{versions[0][name]} was exchanged for {versions[1][name]}.\n"
             for name in versions[0].keys() & versions[1].keys() if versions[0][name] != versions[1][name]]  # fmt: skip
    return lines + _table(["library", "constructor", "last judged", "now", "what is shown"], told)


def _told(row: Row | None) -> str:
    """A word with its claim, and the night if it is a judgement of an earlier one."""
    return f"{' '.join(filter(None, (row['word'], row['claim'])))}, {row['night']}" if row else "—"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    if not rows:
        return ["None."]
    cells = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(str(cell).replace('|', '¦').replace(chr(10), ' ') for cell in row)} |" for row in cells]
