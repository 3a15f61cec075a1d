"""What is the score of each run under a sum of decision trees? Evaluated here, so that an event needs no library."""

from __future__ import annotations

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.evidence.event import Tree, Trees


def trees_score(score: Trees, numbers: Floats) -> Floats:
    """Return the sum of all trees, in their order; (runs, numbers of the form) → (runs,)."""
    columns = np.ascontiguousarray(numbers.T)
    total = np.zeros(len(numbers))
    for tree in score.trees:
        total += _from_node(tree, 0, columns)
    return total


def _from_node(tree: Tree, node: int, columns: Floats) -> Floats | float:
    """The value of each run in the part of a tree below a node; every branch is evaluated, and one of them selected."""
    feature = tree.feature[node]
    if feature < 0:
        return tree.value[node]
    left, right = (_from_node(tree, child, columns) for child in (tree.left[node], tree.right[node]))
    return np.where(columns[feature] <= tree.threshold[node], left, right)
