"""By which methods do counts become a bound? One record for each: what it needs, what it allows, and its description.

A method is identified by its `name`, which evidence stores and which never changes. The class that computes it is named
by `home`, and imported when it is first used: reading evidence needs only the words, not the mathematics.

A new method is a record here and a class of its own (`dpaudit.stats.event_bound.EventBound`). Audits choose among those
that are `offered` (`dpaudit.events.predict`); evidence, its check and its report know all that are listed.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from dpaudit.stats.event_bound import EventBound

MOST_ENUMERATED = 2_000
"""Runs a side up to which every outcome is enumerated: beyond it the gain is small and the sums are long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundMethod:
    """How counts become a lower bound."""

    name: str  # as evidence stores it
    words: str  # how it works, for a reader; authors and years in brackets
    sources: tuple[str, ...] = ()  # publications that a report lists for it, besides those of every audit
    home: str = ""  # "module:class" that computes it; empty if bounds follow from more than counts
    sides: Literal["one", "both", "any"] = "any"  # which sides its event may point to: "one", "both" or "any"
    # what is fixed before measuring besides the event: nothing, "one" weight, one for each of the "bins", or "steps" of
    # guesses (`dpaudit.stats.guessing`), in one attempt or more
    weights: Literal["none", "one", "bins", "steps"] = "none"
    pure: bool = False  # whether it is valid for plain ε-DP only
    guesses: bool = False  # whether outputs in the event count as guesses of a side
    canaries: bool = False  # whether what is guessed are canaries of one model, by the ranks of their scores
    # whether its counts are of independent runs whose number was fixed before, so that exact intervals hold for their
    # frequencies
    independent: bool = True
    interval: bool = True  # whether the loss of its event has an upper end too (`dpaudit.stats.joint_region`)
    # whether its region of (p, q) holds for every loss at once, and so for the whole privacy curve
    whole_curve: bool = False
    few: str = ""  # the method that is tighter for few runs, or nothing
    many: str = ""  # the method that it replaces there, or nothing
    # the sides of events that audits may choose it for, "one" or "both"; empty if it only occurs in the evidence of
    # earlier audits, or is chosen separately
    offered: Literal["one", "both", ""] = ""

    @property
    def computed(self) -> EventBound:
        """The object that computes the bound.

        Raises:
            ValueError: if bounds do not follow from the counts of one event by this method.
        """
        if not self.home:
            raise ValueError(f"no method of bounding is called {self.name!r}")
        return _loaded(self.home)


@cache
def _loaded(home: str) -> EventBound:
    module, _, name = home.partition(":")
    bound: EventBound = getattr(importlib.import_module(module), name)()
    return bound


def method_of(name: str) -> BoundMethod:
    """Return the method of this name; for an unknown name, one without words that computes nothing."""
    return METHODS.get(name) or BoundMethod(name=name, words="", independent=False, interval=False)


def method_for(name: str, runs: float) -> str:
    """Return the tightest form of a method for about ``runs`` measuring runs a side; to be fixed before measuring."""
    return method_of(name).few or name if runs <= MOST_ENUMERATED else name


def plain(name: str) -> str:
    """Return the form of a method that can be used at any number of runs."""
    return method_of(name).many or name


GUESS, ODDS, BOTH_SIDES, JOINT = "guess given sides", "odds given sides", "two-sided joint given sides", "joint"
MULTINOMIAL, SWAPPED = "multinomial", "swapped multinomial"
SEQUENTIAL = "sequential"
SHARP_ONE_RUN, GAUSSIAN_ONE_RUN = "sharp one-run", "Gaussian one-run"

KAIROUZ = "Kairouz, Oh & Viswanath (2015). The composition theorem for differential privacy. ICML."
_JOINT = (
    "Stouffer, Suchman, DeVinney, Star & Williams (1949). The American Soldier, volume 1. Princeton University Press.",
    "Berger & Boos (1994). P values maximized over a confidence set for the nuisance parameter. Journal of the "
    "American Statistical Association 89(427).",
)
_FEW = (
    "Buehler (1957). Confidence intervals for the product of two binomial parameters. Journal of the American "
    "Statistical Association 52(280).",
)
_DIVERGENCES = (
    "Donsker & Varadhan (1983). Asymptotic evaluation of certain Markov process expectations for large time, IV. "
    "Communications on Pure and Applied Mathematics 36(2).",
    "Birrell, Dupuis, Katsoulakis, Rey-Bellet & Wang (2021). Variational representations and neural network "
    "estimation of Rényi divergences. SIAM Journal on Mathematics of Data Science 3(4).",
)
_STEINKE = "Steinke, Nasr & Jagielski (2023). Privacy auditing with one (1) training run. NeurIPS. Theorem 5.2."
_MAHLOUJIFAR = "Mahloujifar, Melis & Chaudhuri (2025). Auditing f-differential privacy in one run. ICML."
_VILLE = "Ville (1939). Étude critique de la notion de collectif. Gauthier-Villars."

_BINS = (
    "Outputs are put into a few bins, by how much they point to one dataset; one event shows little of a divergence "
    "that is spread over all of them. The counts of all bins give a joint region for their probabilities: an exact "
    "binomial test for each bin among what the earlier ones left, combined with weights that were fixed before "
    "measuring (Stouffer et al. 1949), cut as in Berger & Boos (1994). The bound is the smallest Rényi divergence of "
    "the {first} dataset from the {second} that the region allows, by its variational form (Donsker & Varadhan 1983; "
    "Birrell et al. 2021), at the order that shows most; computed on a grid that is rounded against it."
)

_RANKS = (
    "The highest scores are guessed in and the lowest out. Their number depends on the tested value, as the number of "
    "canaries and the error level alone fix it; one walks upwards, to the first value that its guesses do not rule "
    "out. A part of the error is left to a few numbers of guesses that are tried at every value."
)


def _of_canaries(
    name: str, home: str, sources: tuple[str, ...], words: str, weights: Literal["none", "steps"] = "none"
) -> BoundMethod:
    """Return a method for canaries of one model; the arguments are those of `BoundMethod`."""
    return BoundMethod(
        name=name,
        home=home,
        sources=sources,
        weights=weights,
        canaries=True,
        independent=False,
        interval=False,
        words=(
            "Each canary was put into the training data of one model, or left out, by a fair coin of its own. "
            f"{words} There are no learning runs, and each canary counts as one measuring run."
        ),
    )


_LISTED = (
    BoundMethod(
        name=GUESS,
        home="dpaudit.stats.guessing:GuessGivenSides",
        pure=True,
        guesses=True,
        offered="both",
        words=(
            "The runs of both sides are equally many, and outputs in the event for a side count as a guess of that "
            "side, others as no guess. Given how many guesses each side made, a pure ε claim bounds the mean of the "
            "right ones, and a sum of unequal coins is seldom further above that than a binomial number (Hoeffding "
            "1956, Theorem 5). The bound is the smallest ε that the number of right guesses leaves possible."
        ),
    ),
    BoundMethod(
        name=BOTH_SIDES,
        sources=_JOINT,
        home="dpaudit.stats.joint_region:JointGivenSides",
        sides="both",
        weights="one",
        whole_curve=True,
        offered="both",
        words=(
            "Right and wrong guesses are counted on each side, and give a joint region for their probabilities, "
            "averaged over the sides: exact binomial tests of the counts, given how many runs each side has, "
            "combined with weights that were fixed before measuring (Stouffer et al. 1949), cut as in Berger & Boos "
            "(1994); where wrong guesses are few, those of both sides together (Hoeffding 1956). The bound is the "
            "smallest value that some point of the region allows."
        ),
    ),
    BoundMethod(
        name=JOINT,
        sources=_JOINT,
        home="dpaudit.stats.joint_region:Joint",
        sides="one",
        weights="one",
        whole_curve=True,
        few="enumerated joint",
        offered="one",
        words=(
            "The counts of one event on both sides give a joint region for its two probabilities: exact binomial "
            "tests combined with weights that were fixed before measuring (Stouffer et al. 1949), cut as in Berger & "
            "Boos (1994). The bound is the smallest value that some point of the region allows."
        ),
    ),
    BoundMethod(
        name=ODDS,
        home="dpaudit.stats.guessing:OddsRatio",
        sides="one",
        pure=True,
        offered="one",
        words=(
            "Given how often the event occurred on both sides together, its count on one side follows Fisher's "
            "noncentral hypergeometric law, whatever the numbers of runs: an exact limit of its odds ratio "
            "(Cornfield 1956), and one of its probability on the side that it speaks for, give the smallest ε that "
            "the counts leave possible."
        ),
    ),
    BoundMethod(
        name="guess",
        home="dpaudit.stats.guessing:GuessByCoins",
        pure=True,
        guesses=True,
        words=(
            "A fair coin picks the side of every run. Outputs in the event for a side count as a guess of that side, "
            "others as no guess. Under a pure ε claim a guess is right with a probability of at most e^ε / (1 + "
            "e^ε); the bound is the smallest ε that the number of right guesses leaves possible (Wasserman & Zhou "
            "2010; Kairouz, Oh & Viswanath 2015), with the exact binomial limit of Clopper & Pearson (1934)."
        ),
    ),
    BoundMethod(
        name="two-sided joint",
        sources=_JOINT,
        home="dpaudit.stats.joint_region:TwoSidedJoint",
        sides="both",
        weights="one",
        whole_curve=True,
        words=(
            "A fair coin picks the side of every run; right and wrong guesses give a joint region for their two "
            "probabilities: exact binomial tests combined with weights that were fixed before measuring (Stouffer et "
            "al. 1949), cut as in Berger & Boos (1994). The bound is the smallest value that some point of the "
            "region allows."
        ),
    ),
    BoundMethod(
        name=MULTINOMIAL,
        sources=(*_JOINT, *_DIVERGENCES),
        home="dpaudit.stats.renyi:Multinomial",
        weights="bins",
        interval=False,
        words=_BINS.format(first="first", second="second"),
    ),
    BoundMethod(
        name=SWAPPED,
        sources=(*_JOINT, *_DIVERGENCES),
        home="dpaudit.stats.renyi:SwappedMultinomial",
        weights="bins",
        interval=False,
        words=_BINS.format(first="second", second="first"),
    ),
    BoundMethod(
        name="enumerated joint",
        sources=(*_JOINT, *_FEW),
        home="dpaudit.stats.exact_region:EnumeratedJoint",
        sides="one",
        weights="one",
        many=JOINT,
        words=(
            "The counts of one event on both sides give a joint region for its two probabilities. Runs are few, so "
            "all counts that were possible are enumerated: they were put in order before measuring, by how much they "
            "tell, and a pair of probabilities stands in the region unless counts at least as telling as these are "
            "too unlikely under it (Buehler 1957), cut as in Berger & Boos (1994). The bound is the smallest value "
            "that some point of the region allows."
        ),
    ),
    _of_canaries(
        SHARP_ONE_RUN,
        "dpaudit.stats.guessing:SharpOneRun",
        (KAIROUZ, _STEINKE),
        f"{_RANKS} The guesses hang together, so no binomial interval holds for them; but under (ε, δ)-DP the "
        "number of right ones exceeds any number with a probability of at most that of a binomial number with "
        "the probability e^ε / (1 + e^ε), but for a term in δ that no smaller one can replace (Steinke, Nasr & "
        "Jagielski 2023, sharpened; docs/one-run.md has the proof). The bound is the smallest ε that is left "
        "possible.",
        weights="steps",
    ),
    _of_canaries(
        GAUSSIAN_ONE_RUN,
        "dpaudit.stats.guessing:GaussianOneRun",
        (_STEINKE, _MAHLOUJIFAR),
        f"{_RANKS} The guesses hang together, so no binomial interval holds for them; but the trade-off curve of "
        "a μ claim limits the right ones among all models that guess so often, and from the largest number down "
        "each probability the next (Mahloujifar, Melis & Chaudhuri 2025; docs/one-run.md has the proof). The "
        "bound is the smallest μ that is left possible.",
        weights="steps",
    ),
    BoundMethod(
        name=SEQUENTIAL,
        sources=(_VILLE,),
        independent=False,
        interval=False,
        words=(
            "Runs come in twos, one of each side (in the first audits by a fair coin for every run), and are bet on "
            "as they come, by events that only earlier runs have chosen: a bet wins where the event guesses the "
            "side, and loses so much where it errs that no bet gains on average if the claim is true. Then the "
            "wealth of all bettors, who start with 1, ever reaches 1 / (1 − confidence) with a probability of at "
            "most 1 − confidence, however often one looks and whenever one stops (Ville 1939). The bound is the "
            "largest value of the claim that is rejected in this way, with all smaller ones."
        ),
    ),
)

METHODS = {method.name: method for method in _LISTED}
"""All methods by name. If two promise equally much, the earlier is chosen; sources are listed in this order."""
