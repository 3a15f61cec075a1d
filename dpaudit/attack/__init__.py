"""Which outputs tell the two datasets apart? Learning runs in, frozen events out; no measuring run is seen here."""

from dpaudit.attack.choose import Choice, choose, choose_each
from dpaudit.attack.families import families, watched
from dpaudit.attack.glance import glance
from dpaudit.attack.learned import learner, needed_by
from dpaudit.attack.low_bits import choose_low_bits
from dpaudit.attack.partition import Partition, count_event, identities, in_degrees
from dpaudit.attack.predict import event_weight

__all__ = [
    "Choice",
    "Partition",
    "choose",
    "choose_each",
    "choose_low_bits",
    "count_event",
    "event_weight",
    "families",
    "glance",
    "identities",
    "in_degrees",
    "learner",
    "needed_by",
    "watched",
]
