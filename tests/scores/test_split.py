"""Are recorded outputs parted in numbers that nothing but their own number fixes, each used once?"""

import numpy as np
import pytest

from dpaudit.auditing.scores import at, split
from dpaudit.sampling.outputs import from_list


@pytest.mark.parametrize("sizes", [(20, 20), (100, 100), (1000, 900), (30, 5000)])
def test_every_output_is_used_once(sizes):
    cut = split(sizes, 3)
    for side, size in enumerate(sizes):
        used = np.concatenate([cut.learning[side], cut.measuring[side]])
        assert sorted(used.tolist()) == list(range(size))
        assert len(cut.learning[side]) > 0
        assert len(cut.learning[side]) == round(0.3 * size)
    assert [len(part) for part in cut.balanced.measuring] == 2 * [min(map(len, cut.measuring))]


def test_the_split_hangs_on_the_seed_alone():
    one, again, other = (split((50, 60), seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one.measuring, again.measuring, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one.learning, other.learning, strict=True))


def test_outputs_are_taken_with_their_numbers_in_the_order_asked_for():
    values = [1.5, "a", (1.0, 2.0), float("nan"), 2.5, (3.0, 4.0), "a", 0.5, None]
    order = np.array([8, 5, 0, 6, 2, 4, 3])
    found = at(from_list(values), order)
    wanted = from_list([values[i] for i in order])
    assert [found.forms[code] for code in found.codes] == [wanted.forms[code] for code in wanted.codes]
    numbers = dict(zip(found.forms, found.numbers, strict=True))
    for form, rows in zip(wanted.forms, wanted.numbers, strict=True):
        np.testing.assert_array_equal(numbers[form], rows)
