"""Is what two places of a file state compared? Honest evidence of every kind, each field changed alone.

    python benchmarks/contradictions.py [--only NAME …] [--quick]

Writes results/contradictions.md. Every changed record gets an id that fits, so that only the contradiction is left. It
is refused where `dpaudit check` exits with 1 or 2, or `check --against` where the target is at hand; it is held back
where the exit code is 3 and that of the honest file was 0. What nothing else in a file states stands in `FREE`, each
with its reason, and nothing else is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import hashlib
import importlib
import json
import random
import re
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import msgspec
import numpy as np
from check_file import text_of
from support.forging import OLD, OTHER_WORDS, Place, at, forged, is_unrevealed, kind_of
from support.proofs import HONEST, proved, target_of

import dpaudit as dp
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check import check, exit_code
from dpaudit.review.check.against import against

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results") / "contradictions.md"
PROGRAMS = ROOT / "tests" / "support"
MOST = 2  # changes of one place, beside leaving it out
MEMORY = 4 << 30  # bytes; whoever checks a file does not want to lose a machine by it
REPORTS = ("keys_leak", "seeded")
FIRST = (
    "curve", "enumerated", "invalid", "low_bits_decide", "one_run", "outputs", "proved_any_length",
    "proved_at_delta", "proved_from_records", "refuted", "refuted_infinite", "searched", "sequential", "timed",
    "two_pairs", "zcdp",
)  # fmt: skip

_RUNS = "runs of which the file holds no counts: a replay alone shows them"
_WORDS = "words for people"
_TARGET = "the target's own word, of what is not proved"
_KEPT = "was to be kept or not; nothing rests on it"
_OLDER = "older evidence has none, and loses nothing by it"
FREE: dict[str, str] = {
    "seed": "a replay alone uses it; the coins of canaries hang on it, and are compared",
    "versions": "what was installed",
    "unit": "what one record stands for, said by the mechanism; check --against compares it",
    "learning": _RUNS,
    "accuracy": _RUNS,
    "search": _RUNS,
    "sensitivity": _RUNS,
    "led": _RUNS,
    **dict.fromkeys(
        [f"trace.{each}" for each in ("runs", "tried", "left_out", "drawn", "paths", "limit", "data", "calls.*.draws")],
        _RUNS,
    ),
    **dict.fromkeys(
        [f"trace.calls.*.{each}" for each in ("where", "met", "name")]
        + [f"trace.findings.*.{each}" for each in ("where", "met", "text")]
        + [f"trace.{each}" for each in ("found", "change", "unproved", "instead", "beside", "unseen")]
        + [f"trace.loss.{each}" for each in ("where", "why", "steps.*.where")],
        _WORDS,
    ),
    "trace.epsilon": "left out: a price that is not known is none",
    "trace.domain": _KEPT,
    "proof.comparison.runs": _RUNS,
    "proof.comparison.passed_over": _RUNS,
    "target.name": _TARGET,
    "target.digest": _TARGET,
    "target.parameters": _TARGET,
    "target.asks": _TARGET,
    "target.reading": _TARGET,
    "target.true_loss": _TARGET,
    "target.summary": _WORDS,
    "target.source": _WORDS,
    "reason": "words of another dpaudit, with the same numbers",
    "observed": "shows in the forms of outputs at most",
    "relation": "shown where data or a certificate are there",
    "pairs": "data that are there by digest alone",
    "attempts.*.considered": "events that were thought of, and not chosen",
    "attempts.*.bound.event": "of an attempt that is not the headline, whose event stands twice",
    "attempts.*.bound.counts": "of an attempt that shows nothing and is not the best at finding a violation",
    "attempts.*.bound.weight": "a change that moves the bound by less than its tenth digit",
    "histogram.exact": "the mechanism's own word of its law; each is a probability",
    "histogram.cells.*.label": "of a category, which has no edges",
    "confidence": "of a proof without runs, which errs never",
    "false_alarm": "of bets that did not end the audit",
    "measuring": "of runs that could not be trusted",
    "low_bits": "of runs that could not be trusted",
    "detectable": "beyond six digits",
    "power": _OLDER,
    "asked": "what was asked for, of runs that were not made",
    "learn": "a learner whose score was not chosen",
    "curve": "a statement that no point rests on",
    "sequential.log_wealth": "beyond six digits",
    "sequential.epochs": "events of bets before the last epoch, in words",
    **dict.fromkeys(
        ["scores.roc", "scores.rates", "scores.mu", "scores.given"],
        "scores themselves are in no file",
    ),
    "proof.comparison": _OLDER,
    "proof.prices": _OLDER,
    "proof.domain": _KEPT,
    "proof.certificate.account": "a smaller lower end is one too; check --against compares it",
    "proof.certificate.releases.*.line": _WORDS,
    "proof.certificate.releases": "what is released, as long as the bound follows; check --against compares it",
    "proof.certificate.paths": "what is released, as long as the bound follows; check --against compares it",
    "proof.certificate.nodes": "another shift that costs no more",
    "proof.certificate.init": "another shift that costs no more",
    "proof.certificate.states": "another shift that costs no more",
    "proof.certificate.cases": "another shift that costs no more",
    "proof.certificate.laws": "names of outputs and datasets",
    "proof.certificate.pair": "names of outputs and datasets",
    "proof.certificate.digest": "of laws that are not in the file; check --against compares it",
    "proof.certificate.pairs": "of laws that are not in the file; check --against compares it",
    "counterexample.record.nodes": "what the event does not reach; check --against reads it again",
    "counterexample.record.epsilon": "beyond its last digit",
    "accounting.tolerance": "the width that was wished for",
    "accounting.recorded_by": "where the releases come from",
    "accounting.releases.*.name": _WORDS,
    "accounting.others": "of accountants that are not installed, and none decides",
    "accounting.certificates.*.ends": "a cut that takes nothing more away",
    "training.certificates.*.ends": "a cut that takes nothing more away",
    "training.facts.*.name": _WORDS,
    "training.facts.*.text": _WORDS,
    "training.facts.*.error": "a smaller share of the chance of a false alarm",
    "training.clip": "the norm that is claimed: all else is in units of it",
    "training.stated": "the loop's own accountant's word, which decides nothing",
    "training.gaussian": _KEPT,
    "training.step": _KEPT,
}
"""Fields that nothing else in a file states, by pattern, and why; what they begin is meant with them."""


@dataclass(frozen=True)
class Kept:
    """An honest file: its name, the evidence as it is read, its record, and the target where that is at hand."""

    name: str
    record: dict[str, Any]
    target: str | None = None


# --- honest evidence --------------------------------------------------------------------------------------


def counted(people: Any, noise: Any, *, epsilon: float = 1.0) -> Any:
    """How many there are, with noise."""
    return len(people) + noise.laplace(1 / epsilon)


def own_count(people: list[float], rng: np.random.Generator) -> float:
    """How many are older than 40, with NumPy's noise."""
    return sum(each > 40 for each in people) + rng.laplace(0, 1)


AGES = [23.0, 35.0, 41.0, 57.0, 62.0, 78.0]
OWN = f"{Path(__file__)}:own_count"


def _recorded(scale: float, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.laplace(0, scale, 3_000), rng.laplace(1, scale, 3_000)


def _loop() -> Evidence:
    from support.watched import evidence_of, seen_loop

    found: Evidence = evidence_of(seen_loop())
    return found


FRESH: dict[str, tuple[Callable[[], Evidence], str | None]] = {
    "audit of a mechanism": (lambda: dp.audit("laplace", runs=20_000, seed=1), "laplace"),
    "audit of a Gaussian": (lambda: dp.audit("gaussian", runs=20_000, seed=1), "gaussian"),
    "audit that finds a violation": (lambda: dp.audit("svt_unscaled_noise", runs=20_000, seed=1), "svt_unscaled_noise"),
    "audit of an own function with data": (
        lambda: dp.audit(OWN, claim="epsilon=1", data=AGES, relation="add-remove", runs=20_000, seed=1),
        OWN,
    ),
    "audit in steps": (
        lambda: dp.audit("svt_unscaled_noise", runs=40_000, seed=1, sequential=True),
        "svt_unscaled_noise",
    ),
    "recorded outputs": (lambda: dp.audit_outputs(*_recorded(1, 1), claim="epsilon=1", seed=1), None),
    "recorded outputs, without a claim": (lambda: dp.audit_outputs(*_recorded(1, 2), seed=1), None),
    "scores of many models": (
        lambda: dp.audit_scores(*_recorded(1, 3), claim="epsilon=1, delta=1e-5", design="independent", seed=1),
        None,
    ),
    "canaries of one model": (
        lambda: dp.audit_scores(*_recorded(1, 4), claim="epsilon=2, delta=1e-5", design="one-run", seed=1),
        None,
    ),
    "some canaries of one model": (
        lambda: dp.audit_scores(*_recorded(1, 5), claim="epsilon=2, delta=1e-5", design="one-run", canaries=8_000),
        None,
    ),
    "trace of a mechanism": (lambda: dp.trace("laplace", seed=1), "laplace"),
    "trace of an own function": (
        lambda: dp.trace(OWN, claim="epsilon=1", data=AGES, relation="add-remove", seed=1),
        OWN,
    ),
    "account": (lambda: dp.account(dp.Gaussian(2).times(3), claim="epsilon=4, delta=1e-5", tolerance=0.05), None),
    "account of several claims": (
        lambda: dp.account(dp.Laplace(4).times(4), claim=["epsilon=1", "epsilon=0.5, delta=0.01"], tolerance=0.05),
        None,
    ),
    "account of μ": (lambda: dp.account(dp.Gaussian("1.1").times(5), claim="mu=3"), None),
    "account of δ": (lambda: dp.account(dp.Laplace(2).times(4), epsilon="1.9"), None),
    "account with sampling": (
        lambda: dp.account(dp.Gaussian(1).poisson("0.01").times(10), claim="epsilon=1, delta=1e-5", tolerance=0.05),
        None,
    ),
    "watched loop": (_loop, None),
}


def honest() -> Iterator[Kept]:
    """Yield honest evidence of every kind: made now, and kept."""
    for name, (make, target) in FRESH.items():
        yield Kept(name, json.loads(make().to_json())["evidence"], target)
    for name in HONEST:
        yield Kept(f"proof: {name}", json.loads(proved(name).to_json())["evidence"], target_of(name))
    for file in (
        *(each for each in OLD if each.stem in FIRST),
        *(ROOT / "reports" / "evidence" / f"{name}.json" for name in REPORTS),
    ):
        where = {"evidence": "reports" if file.parent.parent.name == "reports" else "tests"}.get(
            file.parent.name, "kept"
        )
        yield Kept(f"{where}: {file.stem}", json.loads(file.read_text(encoding="utf-8"))["evidence"])


# --- one field is changed ---------------------------------------------------------------------------------

NUMBER = re.compile(r"-?\d+(/\d+)?")
OUTCOMES = ("refused by check", "refused by check --against", "held back", "passed")


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Yield the places of all values, and of all lists and objects."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if path:
        yield path
    for key, each in inner:
        yield from places(each, (*path, key))


def others(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield other values for a place, each with what was done."""
    if isinstance(value, bool):
        yield "flag flipped", not value
    elif isinstance(value, int):
        yield from (("halved", value // 2), ("doubled", value * 2), ("plus one", value + 1))
        yield from (("less one", value - 1), ("made 0", 0), ("negative", -value - 1))
    elif isinstance(value, float):
        yield from (("halved", value / 2), ("doubled", value * 2), ("plus one", value + 1), ("made 0", 0.0))
    elif isinstance(value, str) and NUMBER.fullmatch(value):
        top, _, rest = value.partition("/")
        yield "plus one", "/".join(filter(None, (str(int(top) + 1), rest)))
        yield "doubled", "/".join(filter(None, (str(2 * int(top)), rest)))
    elif isinstance(value, str):
        for words in OTHER_WORDS:
            if value in words:
                yield from (("word swapped", word) for word in sorted(words - {value}))
                return
        yield from (("text swapped", value + "x"), ("text emptied", ""))
    elif isinstance(value, list) and value:
        yield from (("list shortened", value[:-1]), ("list lengthened", [*value, value[-1]]))


def without(record: Any, path: Place) -> Any:
    """The record without the member at a place."""
    inner = at(record, path[:-1])
    return forged(record, path[:-1], {name: each for name, each in inner.items() if name != path[-1]})


SLOW = {
    "review.check.sampled": ("foresee", "lower_bound", "second_opinion"),
    "review.check.certain": ("event_probabilities",),
    "review.check.sequential": ("log_wealth", "sequential_bound", "foresee_sequential"),
    "review.check.against": ("check_certificate",),
    "review.check.accounting": ("certify", "others_say"),
    "review.check.training": ("certified",),
    "verify.proofs.kind": ("check_certificate",),
    "verify.proofs.answers": ("leaves_of",),
}
"""Functions of a check whose answers follow from what they are given, by module."""


def remembering() -> None:
    """Let them compute once what is asked again: two records that differ in one place ask for much that is alike."""

    def once(function: Callable[..., Any]) -> Callable[..., Any]:
        known: dict[bytes, Any] = {}

        def asked(*given: Any, **named: Any) -> Any:
            key = hashlib.sha256(repr((given, sorted(named.items()))).encode()).digest()
            if key not in known:
                found = function(*given, **named)
                known[key] = list(found) if isinstance(found, Iterator) else found
            return copy.copy(known[key])

        return asked

    for home, names in SLOW.items():
        module = vars(importlib.import_module(f"dpaudit.{home}"))
        module.update({name: once(module[name]) for name in names})


def differs(value: Any, other: Any) -> bool:
    return type(value) is not type(other) or value != other


def contradictions(kept: Kept, chance: random.Random) -> Iterator[tuple[Place, str, Any]]:
    """Yield one place of every kind, what is done to it, and the record after."""
    kinds: dict[str, list[Place]] = defaultdict(list)
    for path in places(kept.record):
        kinds[kind_of(path)].append(path)
    for paths in kinds.values():
        path = chance.choice(paths)
        value = at(kept.record, path)
        made = [(how, other) for how, other in others(value) if differs(value, other)]
        for how, other in chance.sample(made, min(MOST, len(made))):
            yield path, how, forged(kept.record, path, other)
        if isinstance(path[-1], str) and value not in (None, [], {}, "", False, 0):
            yield path, "left out", without(kept.record, path)


def shown(value: Any) -> str:
    return f"{value!r:.50}".replace("\n", " ").replace("|", "/")


def reason_of(path: Place) -> str:
    """Why nothing else states what stands in a place; empty where something does."""
    return next((why for pattern, why in FREE.items() if is_unrevealed(path, [pattern])), "")


# --- and asked --------------------------------------------------------------------------------------------


def is_alike(evidence: Evidence, record: Any) -> bool:
    """Whether a record says the same: a member that is left out has its default."""
    with contextlib.suppress(UsageError):
        return msgspec.structs.replace(Evidence.from_json(text_of(record)), written=None) == evidence
    return False


def code_of(text: str, target: str | None = None) -> int:
    """The exit code of a check of evidence, against a target where there is one."""
    try:
        evidence = Evidence.from_json(text)
        return exit_code([*check(evidence), *(() if target is None else against(evidence, target))])
    except UsageError:
        return 2


def outcome(kept: Kept, record: Any, before: int) -> str:
    """What becomes of a changed record, where the honest one has the exit code ``before``."""
    text = text_of(record)
    code = code_of(text)
    if code in (1, 2):
        return OUTCOMES[0]
    if kept.target is not None and code_of(text, kept.target) in (1, 2):
        return OUTCOMES[1]
    return OUTCOMES[2] if code == 3 and before == 0 else OUTCOMES[3]


HEAD = "| evidence | fields | contradictions | refused by check | by check --against | held back | passed | free |"


def table(rows: dict[str, list[int]], passed: list[str]) -> str:
    """The text of the results, as far as they go.

    Args:
        rows: the numbers of each evidence, by its name.
        passed: what passed.
    """
    sums = [sum(column) for column in zip(*rows.values(), strict=True)]
    lines = [HEAD, "|---|---|---|---|---|---|---|---|"]
    for name, numbers in (*rows.items(), ("**all**", sums)):
        lines.append(f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    lines += ["", "Passed:", "", *passed] if passed else ["", "None passed."]
    lines += [
        "",
        "What nothing else in a file states, which is free where it passes:",
        "",
        "| why | fields |",
        "|---|---|",
    ]
    reasons = dict.fromkeys(FREE.values())
    for why in reasons:
        lines.append(f"| {why} | {', '.join(f'`{field}`' for field, own in FREE.items() if own == why)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Change every field of every kind of evidence, print what passes, and write the table after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=(), help="parts of names of evidence")
    parser.add_argument("--quick", action="store_true", help="check alone; writes nothing")
    given = parser.parse_args()
    remembering()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    rows: dict[str, list[int]] = {}
    passed: list[str] = []
    for kept in honest():
        if given.only and not any(part in kept.name for part in given.only):
            continue
        start, chance, found = time.monotonic(), random.Random(kept.name), dict.fromkeys(OUTCOMES, 0)
        before, fields, free = code_of(text_of(kept.record), kept.target), set(), 0
        if before not in (0, 3):
            passed.append(f"- {kept.name}: *honest evidence is refused*")
            print(passed[-1], flush=True)
            continue
        honestly = msgspec.structs.replace(Evidence.from_json(text_of(kept.record)), written=None)
        for path, how, record in contradictions(kept, chance):
            if is_alike(honestly, record):
                continue
            said = outcome(kept, record, before)
            row = f"- {kept.name}, {kind_of(path)}: {how} ({shown(at(kept.record, path))})"
            if said == OUTCOMES[3] and reason_of(path):
                free += 1
                continue
            found[said] += 1
            fields.add(kind_of(path))
            if said == OUTCOMES[3]:
                passed.append(row)
                print(row, flush=True)
        rows[kept.name] = [len(fields), sum(found.values()), *found.values(), free]
        print(
            f"| {kept.name} | {' | '.join(map(str, rows[kept.name]))} | {time.monotonic() - start:.0f} s",
            flush=True,
        )
        if not given.quick and not given.only:
            RESULTS.write_text(table(rows, passed), encoding="utf-8")
    print(table(rows, passed))


if __name__ == "__main__":
    main()
