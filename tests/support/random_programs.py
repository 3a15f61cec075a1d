"""Which random programs have exact output probabilities? Small ones, drawn by Hypothesis."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Program:
    """Draws, then guards that may each end the run; the output is the answers, or how many are yes."""

    method: str
    scale: int
    draws: int
    guards: tuple
    counts: bool

    def __call__(self, data, noise):
        drawn = [getattr(noise, self.method)(*((0, self.scale) if self.method == "uniform" else (self.scale,)))
                 for _ in range(self.draws)]  # fmt: skip
        answers = []
        for of_draws, of_data, constant, ends in self.guards:
            value = constant
            for factor, number in zip(of_draws + of_data, drawn + data, strict=True):
                value = value + factor * number
            answers.append(value > 0)
            if answers[-1] == ends:
                break
        return sum(answers) if self.counts else tuple(answers)


def programs(methods, draws, scales=st.integers(1, 3)):  # noqa: B008
    small = st.integers(-1, 1)
    guard = st.tuples(
        st.tuples(*[st.sampled_from([-2, -1, 1, 2])] * draws),
        st.tuples(small, small),
        st.integers(-2, 2),
        st.sampled_from([True, False, None]),
    )
    return st.builds(
        Program,
        st.sampled_from(methods),
        scales,
        st.just(draws),
        st.lists(guard, min_size=1, max_size=3).map(tuple),
        st.booleans(),
    )
