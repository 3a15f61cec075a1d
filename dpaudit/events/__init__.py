"""Which outputs distinguish the two datasets? Learning runs in, frozen events out; no measuring run is seen here."""

from dpaudit.events.candidate_partitions import families, watched
from dpaudit.events.floating_point import choose_low_bits
from dpaudit.events.partition import Partition, count_event, counts_by_degree, degree_of_each, identities
from dpaudit.events.predict import Lead, event_weight, led
from dpaudit.events.quantise import graded_along
from dpaudit.events.scores import learner, needed_by
from dpaudit.events.select import SelectedEvent, choose, choose_each, quick_predict

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
