"""Eight ways to publish how heavy penguins are: four that people write, and how each is put right.

Each takes a data frame with a column ``body_mass_g`` in grams, as `examples/data/penguins.csv` is read, with its two
birds that were never weighed. Given nothing but that file, `dpaudit` finds what is wrong:

    dpaudit audit examples/release.py:mean_mass --data examples/data/penguins.csv --claim epsilon=1

=========================  ================================  ==========================
wrong                      why                               put right
=========================  ================================  ==========================
``mean_mass``              its bounds come from the data     ``mean_mass_bounded``
``total_mass``             nothing is clipped                ``total_mass_clipped``
``mean_mass_public_n``     treats the number of birds as     ``mean_mass_private_n``
                           public, where a bird more or
                           less is to be hidden
``mean_mass_half``         half the sensitivity, where one   ``mean_mass_replace``
                           bird is replaced by another
=========================  ================================  ==========================

The last two are about neighbours in which one bird is replaced: their number is public then. All others are about a
bird more or less. Those with ``size`` publish so many outputs a call, which is fast; the totals publish one a call.
"""

from __future__ import annotations

import numpy as np

import dpaudit as dp

LEAST, MOST = 2500.0, 6500.0  # grams; known of the species, not read from these birds
MIDDLE, HALF = (LEAST + MOST) / 2, (MOST - LEAST) / 2


# --- wrong ------------------------------------------------------------------------------------------------


def mean_mass(birds, size, rng, epsilon=1.0):
    """Publish the mean mass, with noise for bounds that are read from the data.

    A single heavy bird moves the bounds, and with them the noise that was to hide it.
    """
    mass = birds["body_mass_g"].dropna()
    width = mass.max() - mass.min()
    return mass.mean() + rng.laplace(0, width / len(mass) / epsilon, size)


def total_mass(birds, rng, epsilon=1.0):
    """Publish the total mass, with noise for birds of at most 6500 g: nothing says that they are."""
    mass = birds["body_mass_g"].to_numpy()
    return np.nansum(mass) + rng.laplace(0, MOST / epsilon)


def mean_mass_public_n(birds, size, rng, epsilon=1.0):
    """Publish the mean mass, with noise that knows how many birds there are.

    A bird more or less changes the noise as well as the mean, and without any bird there is no mean.
    """
    mass = birds["body_mass_g"].dropna().clip(LEAST, MOST)
    return mass.mean() + rng.laplace(0, (MOST - LEAST) / len(mass) / epsilon, size)


@dp.mechanism(relation="replace", unit="one bird")
def mean_mass_half(birds, size, rng, epsilon=1.0):
    """Publish the mean mass with noise for half the bounds' width; one bird in place of another may move it by all."""
    mass = birds["body_mass_g"].fillna(MIDDLE).clip(LEAST, MOST)
    return mass.mean() + rng.laplace(0, HALF / len(mass) / epsilon, size)


# --- put right --------------------------------------------------------------------------------------------


def mean_mass_bounded(birds, size, rng, epsilon=1.0):
    """Publish a noisy sum over a noisy count, with bounds that are known beforehand: half of epsilon for each.

    A bird moves the sum of distances from the middle by at most half the bounds' width, and the count by 1. One that
    was never weighed counts for neither.
    """
    mass = birds["body_mass_g"].dropna().clip(LEAST, MOST)
    total = (mass - MIDDLE).sum() + rng.laplace(0, HALF / (epsilon / 2), size)
    count = len(mass) + rng.laplace(0, 1 / (epsilon / 2), size)
    return MIDDLE + total / np.maximum(count, 1)


def total_mass_clipped(birds, rng, epsilon=1.0):
    """Publish the total mass of birds that are clipped, so that each counts for at most 6500 g."""
    mass = birds["body_mass_g"].to_numpy()
    return np.nansum(np.clip(mass, 0, MOST)) + rng.laplace(0, MOST / epsilon)


def mean_mass_private_n(birds, size, rng, epsilon=1.0):
    """Publish the mean mass from a noisy count, which also says how much the mean may move.

    The count takes half of epsilon and is published too. The sum has a sensitivity of its own, whatever the count is.
    """
    mass = birds["body_mass_g"].dropna().clip(LEAST, MOST)
    count = np.maximum(np.round(len(mass) + rng.laplace(0, 2 / epsilon, size)), 1)
    total = (mass - MIDDLE).sum() + rng.laplace(0, 2 * HALF / epsilon, size)
    return np.stack([count, MIDDLE + total / count], axis=1)


@dp.mechanism(relation="replace", unit="one bird")
def mean_mass_replace(birds, size, rng, epsilon=1.0):
    """Publish the mean mass with noise for the whole width of the bounds.

    A bird that was never weighed counts as the middle: left out, it would change the number of birds.
    """
    mass = birds["body_mass_g"].fillna(MIDDLE).clip(LEAST, MOST)
    return mass.mean() + rng.laplace(0, (MOST - LEAST) / len(mass) / epsilon, size)
