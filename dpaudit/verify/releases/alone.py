"""What does each release of a certificate cost by itself? Computed by the checker, for people who follow the proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.checker.prices import order_of
from dpaudit.checker.reading import Steps
from dpaudit.checker.releases import check_releases

MOST_PRICED = 50
"""Releases whose prices stand in evidence, from the first on: more than anybody reads."""

_GAUSSIAN = ("gaussian", "discrete_gaussian")
_SPENDING = ("laplace_threshold", "propose_test_release", "truncated_laplace")  # a δ of their own


def prices_alone(certificate: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the price of each release by itself, such as "epsilon=1/2": of whole data, once, for a group of one."""
    return tuple(_price(certificate, release) for release in certificate["releases"][:MOST_PRICED])


def _notion(certificate: Mapping[str, Any], release: Mapping[str, Any]) -> str:
    """Return what a release is priced in: there is no ε of Gaussian noise without a δ."""
    notion: str = certificate["notion"]
    return "rho" if order_of(notion) or (notion == "epsilon" and release["law"] in _GAUSSIAN) else notion


def _price(certificate: Mapping[str, Any], release: Mapping[str, Any]) -> str:
    notion, law = _notion(certificate, release), release["law"]
    alone = {
        "columns": certificate["columns"],
        "samples": [],
        "releases": [{**release, "sample": None, "times": 1}],
        "paths": [[0]],
        "notion": notion,
        "delta": certificate["delta"] if law in _SPENDING else "0",
    }
    found, _ = check_releases(alone, certificate["scope"]["relation"], 1, Steps())
    return f"{notion}={found}"
