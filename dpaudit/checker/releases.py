"""What do both versions of certificates of releases say of records, samples and paths, and what do they prove?"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from dpaudit.checker.certificate import MOST_GROUP, ROUNDED, CertificateHead, Checked
from dpaudit.checker.prices import MOST_RELEASES, Sample, read_notion, read_sample
from dpaudit.checker.reading import fields, items, text, whole

RELATIONS = ("add-remove", "replace")
MOST_PATHS = 20_000
_BODY = {"notion", "delta", "columns", "samples", "releases", "paths"}
_SCOPE = {"data", "relation", "group", "person", "parameters"}


def read_head(given: dict[str, Any], body: set[str], optional: frozenset[str]) -> CertificateHead:
    """Return the head of a certificate of releases that has these fields besides."""
    head = CertificateHead.read(given, _BODY | body, _SCOPE, optional)
    head.one_of("data", ("records",))
    head.one_of("relation", RELATIONS)
    whole(head.scope["group"], "scope: the group", 1, MOST_GROUP)
    if head.scope["person"] is not None:
        text(head.scope["person"], "scope: the person")
    return head


def read_samples(value: object, more: frozenset[str] = frozenset()) -> list[Sample]:
    """Return the samples that a certificate lists, which have these fields besides."""
    samples = []
    for number, each in enumerate(items(value, "samples", MOST_RELEASES)):
        samples.append(read_sample(fields(each, {"rate", "times"} | more, f"sample {number}"), f"sample {number}"))
    return samples


def read_paths(value: object, releases: int) -> list[Counter[int]]:
    """Return how often each release is made on each path, of so many releases."""
    paths = []
    for number, path in enumerate(items(value, "paths", MOST_PATHS, 1)):
        where = f"path {number}"
        paths.append(Counter(whole(each, where, 0, releases - 1) for each in items(path, where, MOST_RELEASES)))
    return paths


def proved(
    given: dict[str, Any], head: CertificateHead, bound: Fraction, sentences: list[str], granted: tuple[str, ...]
) -> Checked:
    """Return what is proved, where releases show the bound that is stated."""
    group, person = head.scope["group"], head.scope["person"]
    unit = "one record" if person is None else f"all records of one person, named by {person!r},"
    others = "is replaced by another" if person is None else "are replaced by others"
    how = "comes or goes" if head.scope["relation"] == "add-remove" else others
    times = "" if group == 1 else f", {group} times"
    told = [f"It holds for any number of records, where {unit} {how}{times}.", *sentences]
    notion, delta = read_notion(given, group)
    return head.proved("releases", bound, told, room=ROUNDED, notion=notion, delta=delta, given=granted)
