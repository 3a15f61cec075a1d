"""What does a privacy promise mean? Claims as values, their curves, and their texts.

Nothing here is random, and nothing here depends on a mechanism.
"""

from dpaudit.privacy.claims import Claim
from dpaudit.privacy.epsilon_delta import ApproxDP, PureDP
from dpaudit.privacy.gaussian import GaussianDP
from dpaudit.privacy.renyi import RenyiDP, ZeroConcentratedDP
from dpaudit.privacy.text import parse_claim

__all__ = [
    "ApproxDP",
    "Claim",
    "GaussianDP",
    "PureDP",
    "RenyiDP",
    "ZeroConcentratedDP",
    "claims",
    "composition",
    "epsilon_delta",
    "parse_claim",
    "text",
]
