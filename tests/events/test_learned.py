"""Do fitted trees say the same without the library that fitted them, and only where they are asked for?"""

import subprocess
import sys

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import UsageError
from dpaudit.events import scores
from dpaudit.events.partition import Partition, count_event, score_of
from dpaudit.events.scores import BoostedTrees, learned_fits, learner
from dpaudit.evidence.event import Event, Rule, Tree, Trees
from dpaudit.sampling.outputs import from_array

laws = settings(derandomize=True, max_examples=150, deadline=None)
LEAF = (-1, 0.0, 0, 0)
STUMP = Tree((1, -1, -1), (0.5, 0.0, 0.0), (1, 0, 0), (2, 0, 0), (0.0, -1.0, 2.0))
FORM = "[float, float, float]"


def naive_score(score, row):
    total = 0.0
    for tree in score.trees:
        node = 0
        while tree.feature[node] >= 0:
            node = (tree.left if row[tree.feature[node]] <= tree.threshold[node] else tree.right)[node]
        total += tree.value[node]
    return total


@st.composite
def trees(draw):
    """A tree over three numbers; values are small powers of two, so that sums are exact."""
    nodes = []

    def grow(depth):
        at = len(nodes)
        nodes.append(None)
        if depth == 0 or draw(st.booleans()):
            nodes[at] = (*LEAF, draw(st.sampled_from([-1.0, -0.25, 0.0, 0.5, 2.0])))
        else:
            feature, threshold = draw(st.integers(0, 2)), draw(st.sampled_from([-1.0, 0.0, 0.3, 1.0]))
            left = grow(depth - 1)
            nodes[at] = (feature, threshold, left, grow(depth - 1), 0.0)
        return at

    grow(3)
    return Tree(*zip(*nodes, strict=True))


numbers = st.lists(st.tuples(*[st.sampled_from([-1.5, -1.0, 0.0, 0.3, np.nextafter(0.3, 1), 1e300])] * 3), max_size=20)


@pytest.mark.slow
@laws
@given(st.lists(trees(), max_size=4).map(tuple).map(Trees), numbers)
def test_every_run_is_scored_as_if_it_were_alone(score, rows):
    array = np.array(rows, dtype=float).reshape(-1, 3)
    found = score_of(score, array)
    assert found.tolist() == [naive_score(score, row) for row in rows]
    assert msgspec.json.decode(msgspec.json.encode(score), type=Trees) == score


def test_an_event_of_trees_is_data():
    partition = Partition("boosted trees", (Rule(FORM, Trees((STUMP, STUMP)), (0.0,), ()),))
    event = partition.event(np.array([-1, 1, 0]))
    outputs = from_array(np.array([[9, 0.5, 9], [9, 0.6, 9], [9, 0.7, 9]]))
    event = msgspec.structs.replace(event, rules=(msgspec.structs.replace(event.rules[0], form=outputs.forms[0]),))
    assert count_event(event, outputs) == (2, 1)
    assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event
    assert "with a fitted score at least 0 speaks for side 0" in str(event)


@pytest.mark.parametrize(
    "parts",
    [
        ((), (), (), (), ()),
        ((0, -1), (0.0, 0.0), (0, 0), (1, 0), (0.0, 1.0)),  # a node that is its own child
        ((0, -1), (0.0, 0.0), (1, 0), (2, 0), (0.0, 1.0)),  # a child that does not exist
        ((-1,), (0.0,), (0,), (0,), (0.0, 1.0)),
    ],
)
def test_what_is_no_tree_is_refused(parts):
    with pytest.raises(ValueError, match=r"node|entries"):
        Tree(*parts)
    written = dict(zip(("feature", "threshold", "left", "right", "value"), parts, strict=True))
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(written), type=Tree)


def test_nothing_is_learned_unasked():
    assert learned_fits(None, 5) == []
    assert learned_fits("trees", 1) == []
    with pytest.raises(UsageError, match="trees"):
        learner("forest")


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(scores, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"dpaudit\[learn\]"):
        learned_fits("trees", 5)
    assert learned_fits(None, 5) == []


@pytest.mark.slow
def test_the_library_is_imported_only_by_a_fit():
    code = "import sys; from dpaudit.events.scores import learned_fits; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def interaction(rng, runs, chance):
    """Five numbers with one law each; only the sign of the product of two of them tells the sides apart."""
    rows = rng.normal(size=(runs, 5))
    alike = np.where(rng.random(runs) < chance, 1, -1)
    rows[:, 1] = np.abs(rows[:, 1]) * np.sign(rows[:, 0]) * alike
    return rows


@pytest.mark.slow
def test_what_is_fitted_is_what_the_library_says():
    pytest.importorskip("sklearn")
    from sklearn.ensemble import GradientBoostingClassifier

    rng = np.random.default_rng(0)
    sides = interaction(rng, 2000, 0.75), interaction(rng, 2000, 0.25)
    found = BoostedTrees(trees=12).fit(*sides, seed=3)
    assert found == BoostedTrees(trees=12).fit(*sides, seed=3) and len(found.trees) == 12
    assert found != BoostedTrees(trees=12).fit(*sides, seed=4)
    # the same model on the same scale: the library's decisions, but for its first constant
    rows = np.concatenate(sides)
    scaled = (rows - np.median(rows, axis=0)) / rows.std(axis=0)
    model = GradientBoostingClassifier(
        n_estimators=12, max_depth=3, learning_rate=0.2, min_samples_leaf=20, subsample=0.5, random_state=3
    ).fit(scaled, np.repeat([1, 0], 2000))
    theirs, ours = model.decision_function(scaled), score_of(found, rows)
    assert np.mean(np.abs(theirs - ours - np.median(theirs - ours)) < 1e-4) > 0.999
    fresh = score_of(found, interaction(rng, 4000, 0.75)), score_of(found, interaction(rng, 4000, 0.25))
    assert np.mean(fresh[0] > 0) > 0.65 > 0.35 > np.mean(fresh[1] > 0)


@pytest.mark.slow
def test_odd_runs_are_no_error():
    pytest.importorskip("sklearn")
    fit = learned_fits("trees", 3)[0][1](np.zeros(3), np.ones(3))
    assert fit(np.empty((0, 3)), np.ones((900, 3))) == Trees(())
    assert score_of(Trees(()), np.ones((4, 3))).tolist() == [0, 0, 0, 0]
    for size in (1.0, 1e-100, 1e300, 1.7e308):
        rows = np.random.default_rng(0).uniform(0.5, 1, size=(600, 3)) * size
        score = fit(rows, -rows)
        assert np.mean(score_of(score, rows)) > 1 > -1 > np.mean(score_of(score, -rows))
        assert msgspec.json.decode(msgspec.json.encode(score), type=Trees) == score
    alike = np.ones((600, 3))
    assert np.all(score_of(fit(alike, alike), alike) == score_of(fit(alike, alike), alike + 1))
