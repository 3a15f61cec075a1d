"""Which outputs distinguish the two datasets? Learning runs in, frozen events out; no measuring run is seen here."""

from dpaudit.events.candidate_partitions import families, watched
from dpaudit.events.floating_point import choose_low_bits
from dpaudit.events.grades import graded_along
from dpaudit.events.leads import Lead
from dpaudit.events.learned import learner, needed_by
from dpaudit.events.led import led
from dpaudit.events.partition import Partition, count_event, counts_by_degree, degree_of_each, identities
from dpaudit.events.predict import event_weight
from dpaudit.events.quick_predict import quick_predict
from dpaudit.events.select import SelectedEvent, choose, choose_each

__all__ = [
    "Lead",
    "Partition",
    "SelectedEvent",
    "choose",
    "choose_each",
    "choose_low_bits",
    "count_event",
    "counts_by_degree",
    "degree_of_each",
    "event_weight",
    "families",
    "graded_along",
    "identities",
    "learner",
    "led",
    "needed_by",
    "partition",
    "predict",
    "quick_predict",
    "watched",
]
