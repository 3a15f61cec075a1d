"""How much privacy do many steps lose together, certainly? ε and δ of compositions, bounded from both sides.

What was run is told in plain values (`Gaussian("1.1").poisson("0.004").times(14000)`), and `certify` returns an
interval that certainly holds ε at a δ, or δ at an ε, with a certificate that `dpaudit.checker` verifies by another way.
"""

from dpaudit.accounting.certify import ADDED, Certified, certify, certify_added
from dpaudit.accounting.decide import Calibrated, Decision, calibrate, decide
from dpaudit.accounting.events import (
    Block,
    DiscreteGaussian,
    DiscreteLaplace,
    Events,
    Exponential,
    Gaussian,
    Laplace,
    PrivacyEvent,
    RandomisedResponse,
    as_events,
    meaning,
)

__all__ = [
    "ADDED",
    "Block",
    "Calibrated",
    "Certified",
    "Decision",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Events",
    "Exponential",
    "Gaussian",
    "Laplace",
    "PrivacyEvent",
    "RandomisedResponse",
    "as_events",
    "calibrate",
    "certificate",
    "certify",
    "certify_added",
    "closed_forms",
    "compose",
    "decide",
    "events",
    "losses",
    "meaning",
]
