"""Does a compiled program draw what its laws say, and do what the function itself does on the same draws?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpaudit.errors import UsageError
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.compiled_draws import exponential_layers
from dpaudit.program.compiled_reading import UncompiledError
from dpaudit.sampling.outputs import OutputSnapshot, from_paths, taken_path

numba = pytest.importorskip("numba")

from dpaudit.program import compiled_reading  # noqa: E402
from dpaudit.program.compiled_reading import compiled  # noqa: E402
from dpaudit.sampling.compiled import compiled_outputs  # noqa: E402


def fresh(index):
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(7, spawn_key=(1, 0, 0, index))))


def outputs(program, data=None, runs=3000, index=0):
    return compiled_outputs(program, data, {}, runs, fresh(index), fresh(1000 + index))


def mixed(data, noise):
    """Every kind of noise that is compiled, every kind of branch, and every kind of output."""
    first = noise.laplace(2.0) + data
    if first > 3:
        raise ValueError(f"above {3}")
    if noise.bernoulli(0.25):
        return {"a": first, "b": [noise.discrete_laplace(1.5), None, True]}
    if abs(first) < 0.5:
        return noise.choice(["x", "y"], [1, 2]), noise.exponential(0.5), float("nan")
    return noise.argmax([noise.gumbel(1.0), 0.5, noise.uniform(-1, 2)])


def test_layers_have_one_area():
    sure, widths, heights = exponential_layers()
    edges = widths * 2.0**53
    areas = edges[1:] * (heights[:-1] - heights[1:])
    assert np.allclose(areas, edges[0] * heights[255], rtol=1e-12)
    assert np.allclose(sure[2:] / 2.0**53, edges[1:-1] / edges[2:], rtol=1e-15)


def test_the_generator_is_the_one_of_the_block():
    from dpaudit.program.compiled_draws import _word, laplace

    @numba.njit
    def words(state, count):
        return [_word(state) for _ in range(count)]

    @numba.njit
    def many(state, count):
        found = np.empty(count)
        for place in range(count):
            found[place] = laplace(state)
        return found

    state = fresh(1).bit_generator.state["state"]["state"].copy()
    assert words(state, 100) == fresh(1).bit_generator.random_raw(100).tolist()
    draws = many(state, 400_000)
    assert stats.kstest(draws, stats.laplace.cdf).pvalue > 1e-3
    # the tail begins at 7.7 and its edges have draws of their own
    assert stats.kstest(np.abs(draws[np.abs(draws) > 6]) - 6, stats.expon.cdf).pvalue > 1e-3


def test_every_run_is_what_the_function_returns_on_the_same_draws():
    program = compiled(mixed, 1, {})
    runs = program.run(3000, fresh(2))
    found = outputs(mixed, 1, 3000)
    assert len(found.forms) == 5
    whole = compiled_outputs(mixed, 1, {}, 3000, fresh(2), fresh(3))
    places = [0] * len(whole.forms)
    for run, code in enumerate(whole.codes.tolist()):
        row = whole.numbers[code][places[code]]
        places[code] += 1
        if run % 10 == 0:
            once = program.replayed(lambda noise: mixed(1, noise), runs, run, fresh(4))
            snapshot = OutputSnapshot(once.output)
            assert snapshot.form == whole.forms[code]
            assert np.allclose(snapshot.numbers, row, rtol=1e-12)


@pytest.mark.slow
def test_laws_are_those_of_the_batch_reading():
    batch = run_batch(lambda noise: mixed(1, noise), 60_000, fresh(5), taken_path)
    one, other = outputs(mixed, 1, 60_000), from_paths(batch.paths, 60_000)
    assert set(one.forms) == set(other.forms)
    table = [[int(np.sum(each.codes == each.forms.index(form))) for form in one.forms] for each in (one, other)]
    assert stats.chi2_contingency(table).pvalue > 1e-3
    for form in one.forms:
        for mine, theirs in zip(*(each.numbers[each.forms.index(form)].T for each in (one, other)), strict=True):
            assert stats.ks_2samp(mine, theirs).pvalue > 1e-4


def big(data, noise):
    return noise.discrete_laplace(2.0) * 2**53


def beyond(data, noise):
    return noise.laplace(1e300) * 10**10


def ties(data, noise):
    return noise.discrete_laplace(2.0) * 0.1 > 0.3


def rounded(data, noise):
    return round(noise.laplace(1.0))


def gaussian(data, noise):
    return noise.gaussian(1.0)


def deep(data, noise):
    return deep(data, noise) + noise.laplace(1.0)


def twelve(data, noise):
    return [noise.laplace(1.0) > 0 for _ in range(12)]


@pytest.mark.parametrize("program", [big, beyond, ties, rounded, gaussian, deep, twelve])
def test_what_has_no_loop_is_refused_with_a_reason(program):
    with pytest.raises(UncompiledError, match=r"\w"):
        compiled(program, None, {})


def test_a_branch_that_rounding_decides_is_an_error():
    def program(data, noise):
        value = noise.laplace(1.0)
        return (value + 1e16) - 1e16 > value

    with pytest.raises(UsageError, match="not what the program does"):
        outputs(program)


def test_a_state_that_shows_after_the_reading_is_an_error():
    calls = []

    def program(data, noise):
        calls.append(1)
        return noise.laplace(1.0) + (len(calls) > 2)

    with pytest.raises(UsageError, match="not what the program does"):
        outputs(program)


def test_a_changed_program_never_runs_an_earlier_loop():
    scale = [1.0]

    def program(data, noise):
        value = noise.laplace(scale[0])
        return value if scale[0] < 2 else -value > 0

    before = outputs(program)
    scale[0] = 5.0
    after = outputs(program)
    assert before.forms == ("float",) and after.forms == ("bool",)
    scale[0] = 1.5  # the same loop, with another number
    assert np.allclose(outputs(program).numbers[0], 1.5 * before.numbers[0])


def test_both_sides_share_a_loop():
    compiled_reading._loop.cache_clear()
    for data in (0, 3.25, 0.1 + 0.2):
        outputs(lambda data, noise: data + 1 + noise.laplace(1.0), data)
    assert compiled_reading._loop.cache_info().misses == 1


def test_equal_numbers_are_equal_floats():
    """Whole-number noise in tenths: otherwise low bits would tell the sides apart, which the program does not."""

    def program(data, noise):
        return (noise.discrete_laplace(2.0) + data) * 0.1

    sides = [set(outputs(program, data, 3000).numbers[0][:, 0].tolist()) for data in (3, 4)]
    tenths = {whole / 10 for whole in range(-60, 60)}
    assert all(side <= tenths for side in sides)


def test_a_point_of_probability_zero_is_read_by_the_function(monkeypatch):
    def program(data, noise):
        return "hit" if noise.laplace(1.0) == 0 else "missed"

    whole = compiled(program, None, {})
    null = next(place for place, leaf in enumerate(whole.tree.leaves) if leaf.is_null)
    loop = compiled_reading._loop(whole.text)

    def hitting(state, numbers, codes, released, last, drawn, first):
        loop(state, numbers, codes, released, last, drawn, first)
        if first + len(codes) > 5 >= first:
            codes[5 - first], last[null] = null, 5
        if len(codes) == 6:  # made again up to that run
            drawn[0] = 0.0

    monkeypatch.setattr(compiled_reading, "_loop", lambda text: hitting)
    found = outputs(program, None, 100)
    assert found.forms[found.codes[5]] == "'hit'"
    assert sum(found.codes != found.codes[5]) == 99
