"""How large must the loss be, given these counts? Counts in, certain bounds out; no mechanism is known here."""

from dpaudit.bounds.binomial import probability_at_least, probability_at_most
from dpaudit.bounds.guess import guess_bound
from dpaudit.bounds.joint import Region, joint_region, joint_weight, two_sided_region, two_sided_weight
from dpaudit.bounds.small import enumerated_region, two_sided_enumerated_region

__all__ = [
    "Region",
    "enumerated_region",
    "guess_bound",
    "joint_region",
    "joint_weight",
    "probability_at_least",
    "probability_at_most",
    "two_sided_enumerated_region",
    "two_sided_region",
    "two_sided_weight",
]
