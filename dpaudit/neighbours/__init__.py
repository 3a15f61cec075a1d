"""Which datasets are neighbours, and are these two?"""

from dpaudit.neighbours.relation import Relation, parse_relation

__all__ = [
    "Relation",
    "answers",
    "candidates",
    "data_files",
    "dataset",
    "digest",
    "domain",
    "parse_relation",
    "relation",
]
