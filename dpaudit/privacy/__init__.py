"""What does a privacy promise mean? Claims as values, their curves, and their texts.

Nothing here is random, and nothing here depends on a mechanism.
"""

from dpaudit.privacy.claims import ApproxDP, Claim, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP, parse_claim

__all__ = [
    "ApproxDP",
    "Claim",
    "GaussianDP",
    "PureDP",
    "RenyiDP",
    "ZeroConcentratedDP",
    "claims",
    "composition",
    "parse_claim",
]
