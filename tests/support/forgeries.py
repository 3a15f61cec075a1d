"""Which evidence would somebody forge who wants another verdict? Named changes of kept files, and bad certificates.

Whoever forges knows the format and makes the obvious members agree.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from support.forging import ROOT

OLD = ROOT / "tests" / "evidence" / "old"
Record = dict[str, Any]


def record_of(name: str) -> Record:
    found: Record = json.loads((OLD / f"{name}.json").read_text(encoding="utf-8"))["evidence"]
    return found


def put(*path: Any) -> Callable[[Record], None]:
    """A change of one place: the last of the path is what stands there then."""

    def change(record: Record) -> None:
        inner: Any = record
        for part in path[:-2]:
            inner = inner[part]
        inner[path[-2]] = path[-1]

    return change


def both(*changes: Callable[[Record], None]) -> Callable[[Record], None]:
    def change(record: Record) -> None:
        for each in changes:
            each(record)

    return change


def calmed(record: Record) -> None:
    """A violation becomes none: the counts of all events are evened out, and the numbers with them."""
    for bound in [record["lower"], *(attempt["bound"] for attempt in record["attempts"])]:
        bound["value"] = 0.0
    record["verdict"] = "not violated"


def proved_by(name: str) -> Callable[[Record], None]:
    """The proof of another file, with all that stands beside it."""

    def change(record: Record) -> None:
        other = record_of(name)
        for member in ("proof", "upper", "exact", "counterexample", "lower", "verdict", "reason", "claim", "attempts"):
            record[member] = copy.deepcopy(other.get(member))

    return change


def renamed(name: str, digest: str | None = None) -> Callable[[Record], None]:
    """The same proof, of a target of another name (and source)."""

    def change(record: Record) -> None:
        record["target"]["name"] = name
        if digest is not None:
            record["target"]["digest"] = digest

    return change


def noise(method: str) -> Callable[[Record], None]:
    """All Laplace draws of the trees become draws of another noise."""

    def change(record: Record) -> None:
        trees = [(record.get("proof") or {}).get("certificate"), (record.get("counterexample") or {}).get("record")]
        for tree in trees:
            for node in (tree or {}).get("nodes", ()):
                if node.get("draw") == "laplace":
                    node["draw"] = method

    return change


OTHER = "ab" * 32
REACHED = f"reached1:{OTHER}"
CERTIFICATE = ("proof", "certificate")
FORGERIES: dict[str, tuple[str, Callable[[Record], None]]] = {
    # the verdict
    "a violation is called none": ("classic_gaussian_large_epsilon", put("verdict", "not violated")),
    "a violation is called proved": ("svt_unscaled_noise", put("verdict", "proved")),
    "a violation is called invalid": ("svt_unscaled_noise", put("verdict", "invalid")),
    "a violation is called inconclusive": ("refuted", put("verdict", "inconclusive")),
    "nothing found is called proved": ("laplace_first", put("verdict", "proved")),
    "a violation without counts": ("svt_unscaled_noise", calmed),
    "what is left of a violation that was made invalid": (
        "svt_unscaled_noise",
        both(put("verdict", "invalid"), put("attempts", []), put("histogram", None), put("detectable", None)),
    ),
    # the claim
    "a larger claim": ("svt_unscaled_noise", put("claim", "epsilon=9")),
    "a larger claim and its verdict": (
        "svt_unscaled_noise",
        both(put("claim", "epsilon=9"), put("verdict", "not violated")),
    ),
    "another notion": ("gaussian", put("claim", "epsilon=1")),
    "no claim": ("svt_unscaled_noise", both(put("claim", None), put("verdict", "no claim"))),
    # what was counted
    "a smaller bound": ("svt_unscaled_noise", put("lower", "value", 0.5)),
    "a smaller headline and attempt": (
        "svt_unscaled_noise",
        both(put("lower", "value", 0.5), put("attempts", 0, "bound", "value", 0.5)),
    ),
    "fewer hits": ("svt_unscaled_noise", put("attempts", 0, "bound", "counts", "toward0", [0, 0])),
    "more runs": ("laplace_first", put("measuring", 10**9)),
    "another confidence": ("laplace_first", put("confidence", 0.5)),
    "a bound that is called exact": ("laplace_first", put("lower", "kind", "exact")),
    "a larger detectable violation": ("laplace_first", put("detectable", 0.1)),
    "a cell that is missing": ("laplace_first", lambda record: record["histogram"]["cells"].pop()),
    "other low-order bits": ("low_bits_decide", put("floating_point", "value", 0.0)),
    "low-order bits that are ignored": ("low_bits_decide", put("low_bits", "ignore")),
    "an attempt that is left out": ("two_pairs", lambda record: record["attempts"].pop()),
    # what was bet, drawn as a curve, scored, searched and moved
    "more wealth": ("sequential", put("sequential", "log_wealth", 99.0)),
    "an audit that did not stop": ("sequential", put("sequential", "stopped", False)),
    "an epoch that is left out": ("sequential", lambda record: record["sequential"]["epochs"].pop()),
    "a curve that lies lower": ("curve", lambda record: record["curve"]["deltas"].__setitem__(0, 0.0)),
    "a curve with a smaller μ": ("curve", put("curve", "mu", 0.0)),
    "scores of another design": ("one_run", put("scores", "design", "independent")),
    "canaries that were guessed more rarely": ("one_run", put("attempts", 0, "bound", "counts", "toward0", [1, 1])),
    "a rate with other limits": ("scores", lambda record: record["scores"]["rates"][0].update(limits=[0.9, 1.0])),
    "a search of nothing": ("searched", put("search", "candidates", 0)),
    "a search that is not there": ("searched", put("search", None)),
    "the data of a pair": ("searched", put("pairs", 0, "shown0", "[1]")),
    # what is proved
    "a smaller upper bound": ("proved", both(put("upper", "exact", "1/4"), put("upper", "value", 0.25))),
    "a smaller bound in the certificate too": (
        "proved",
        both(put("upper", "exact", "1/4"), put("upper", "value", 0.25), put(*CERTIFICATE, "bound", "1/4")),
    ),
    "no counterexample": ("refuted", both(put("counterexample", None), put("exact", None), put("verdict", "proved"))),
    "a smaller exact bound": ("refuted", both(put("exact", "exact", "1/2"), put("exact", "value", 0.5))),
    "another tree": ("proved", noise("exponential")),
    "Gumbel noise in a counterexample": ("refuted", noise("gumbel")),
    "Gumbel noise in an infinite one": ("refuted_infinite", noise("gumbel")),
    "uniform noise in a counterexample": ("refuted_infinite", noise("uniform")),
    "another scale": ("refuted", put("counterexample", "record", "nodes", 0, "scale", "9")),
    "another scope": ("proved", put("proof", "scope", "all data")),
    "another length": ("proved", put("proof", "length", 9)),
    "any length": ("proved", both(put("proof", "method", "induction"), put("proof", "length", None))),
    "another relation": ("proved", put("relation", "queries(one)")),
    "a proof of another entry": ("svt_unscaled_noise", proved_by("proved")),
    "a proof of another name": ("proved", renamed("svt_unlimited")),
    "a proof of another source": ("proved", renamed("above_threshold", OTHER)),
    "a proof by induction of another name": ("proved_any_length", renamed("smart_sum")),
    "a proof by induction of another source": ("proved_any_length", renamed("prefix_sum", OTHER)),
    "a proof by induction of another newer source": ("proved_any_length", renamed("prefix_sum", REACHED)),
    "another parameter": ("proved", put("target", "parameters", "epsilon", 0.1)),
    "a parameter that is no number": ("proved", put("target", "parameters", "mode", "unsafe")),
    "a parameter that is a list": ("proved", put("target", "parameters", "sizes", [1, [2]])),
    "a parameter that is null": ("proved", put("target", "parameters", "seed", None)),
    "a parameter that is true": ("proved", put("target", "parameters", "cutoff", True)),
    "a parameter that is left out": ("proved", lambda record: record["target"]["parameters"].pop("cutoff")),
    "another ratio of laws": ("enumerated", put(*CERTIFICATE, "exp_epsilon", "2")),
    "other laws": ("enumerated", put(*CERTIFICATE, "laws", [{"0": "1/2", "1": "1/2"}] * 2)),
    "a larger domain": ("enumerated", put(*CERTIFICATE, "datasets", 9)),
    # what is taken on trust
    "no assumptions": ("laplace_first", put("assumptions", [])),
    "assumptions of a proof": ("proved_without_runs", put("assumptions", ["nothing"])),
    "another reason": ("laplace_first", put("reason", "Private, certainly.")),
    "called reproducible": ("opaque", put("reproducible", True)),
}


# --- certificates alone -----------------------------------------------------------------------------------

CERTIFIED = json.dumps(record_of("proved")["proof"]["certificate"])
BARE = {
    "a member twice": CERTIFIED.replace('"bound": "1/2"', '"bound": "1/4", "bound": "1/2"'),
    "NaN": CERTIFIED.replace('"bound": "1/2"', '"bound": NaN'),
    "a float": CERTIFIED.replace('"length": 2', '"length": 2.0'),
    "a huge number": CERTIFIED.replace('"group": 1', '"group": 1' + "0" * 5000),
    "too deep": CERTIFIED.replace('"bound": "1/2"', '"bound": ' + "[" * 100_000 + "]" * 100_000),
    "more behind it": CERTIFIED + "{}",
    "a member that nobody knows": CERTIFIED.replace('"bound": "1/2"', '"bound": "1/2", "verdict": "proved"'),
    "another bound": CERTIFIED.replace('"bound": "1/2"', '"bound": "1/4"'),
    "a text that ends early": CERTIFIED[:-1],
    "bytes that are no text": CERTIFIED.replace("above", "ab\udcffve"),
}
