"""What do the files hold that a command line names? Evidence, pairs, datasets, domains."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.targets.mechanism import Mechanism


def read_evidence(name: str) -> Evidence:
    """Read an evidence file, or the evidence embedded in a page."""
    from dpaudit.evidence.canonical_json import read_text

    return evidence_in(read_text(name), name)


def evidence_in(text: str, name: str) -> Evidence:
    """Return the evidence that a text is, or that is embedded in a page; ``name`` is for errors."""
    from dpaudit.errors import UsageError
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.report import evidence_from_page

    if not text.lstrip().startswith("<"):
        return Evidence.from_json(text, name=name)
    try:
        return evidence_from_page(text)
    except UsageError as error:
        raise UsageError(f"cannot read {name!r}: {error}") from None


def loaded(target: str, options: Mapping[str, Any]) -> tuple[Mechanism, dict[str, Any]]:
    """Return a target, and the options with what the files hold that ``pairs``, ``data`` and ``domain`` name."""
    from dpaudit.loading.named import load
    from dpaudit.neighbours.data_files import with_tables

    # a target may change the working directory
    named = [Path(name).absolute() for name in options.get("pairs", ())]
    data = None if options.get("data") is None else str(Path(options["data"]).absolute())
    found = dict(options)
    if "parameters" in options:
        found["parameters"] = with_tables(options["parameters"])
    mechanism = load(target)
    if "pairs" in options:
        found["pairs"] = _pairs_in(named, mechanism, found["parameters"], options["relation"]) if named else None
    if "data" in options:
        found["data"] = dataset_in(data)
    if "domain" in options:
        found["domain"] = domain_of(options["domain"])
    return mechanism, found


def digests_of(files: Sequence[str], relation: str) -> list[tuple[str, str]] | None:
    """Return digests of the pairs in files, None if there are none; the relation tells one pair from several."""
    if not files:
        return None
    from dpaudit.neighbours.data_files import read_pairs
    from dpaudit.neighbours.digest import digest
    from dpaudit.neighbours.relation import neighbouring

    return [(digest(data0), digest(data1)) for data0, data1 in read_pairs(files, neighbouring(relation))]


def dataset_in(name: str | None) -> Any:
    """Read a dataset, or return None if none is named."""
    if name is None:
        return None
    from dpaudit.neighbours.data_files import read_dataset

    return read_dataset(Path(name).absolute())


def domain_of(texts: Sequence[str]) -> Any:
    """Read the domain of records, or return None if none is given."""
    if not texts:
        return None
    from dpaudit.neighbours.domain import read_domain

    return read_domain(texts)


def _pairs_in(
    files: list[Path], mechanism: Mechanism, parameters: dict[str, Any], relation: str | None
) -> list[tuple[Any, Any]]:
    """Read the pairs in files; the relation (by default the mechanism's own) tells one pair from several."""
    from dpaudit.neighbours.data_files import read_pairs
    from dpaudit.neighbours.relation import neighbouring

    said = relation or mechanism.relation_for(mechanism.parameters_with(parameters))
    return read_pairs(files, neighbouring(said))


def checked_evidence(name: str) -> Evidence:
    """Read evidence and check it, since a summary or a page would not show that a check fails."""
    from dpaudit.errors import UsageError

    evidence = read_evidence(name)
    why = failing_check(evidence)
    if why:
        raise UsageError(
            f"{name!r} fails its check, so nothing is drawn of it: {why}; dpaudit check {shlex.quote(name)} says all"
        )
    return evidence


def failing_check(evidence: Evidence) -> str:
    """Return what fails in a check of evidence, or an empty text."""
    from dpaudit.review.check import TOO_MANY, check

    for finding in check(evidence, second=False):
        if finding.fails or finding.what == TOO_MANY:
            return f"{finding.what}: {finding.sentence}"
    return ""
