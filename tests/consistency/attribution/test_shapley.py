"""Shapley values of games whose values are known, and what makes them fair: they add up, whoever is asked first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from featurekit.consistency.attribution.shapley import MOST_EXACT, Floats, Made, shapley_values

Worth = Callable[[Made], Floats]


def found(worth: Worth, changes: int, *, orders: int = 40, seed: int = 1) -> tuple[Floats, int | None]:
    return shapley_values(worth, changes, orders=orders, random=np.random.default_rng(seed))


def gloves(made: Made) -> Floats:
    """A pair of gloves is worth 1: change 0 has the only left one, the others a right one each."""
    return np.array([1.0 if 0 in made and len(made) > 1 else 0.0])


def drawn(changes: int, seed: int) -> Worth:
    values = np.random.default_rng(seed).normal(size=(1 << changes, 3))
    return lambda made: values[sum(1 << change for change in made)]


def test_a_game_that_is_known_from_books() -> None:
    values, orders = found(gloves, 3)
    assert orders is None
    assert values[:, 0].tolist() == pytest.approx([2 / 3, 1 / 6, 1 / 6])


@pytest.mark.parametrize("changes", [0, 1, 2, 5, MOST_EXACT, MOST_EXACT + 3])
def test_values_add_up_in_each_place(changes: int) -> None:
    worth = drawn(changes, seed=changes)
    values, orders = found(worth, changes)
    assert values.shape == (changes, 3)
    assert values.sum(axis=0) == pytest.approx(worth(frozenset(range(changes))) - worth(frozenset()))
    assert (orders is None) == (changes <= MOST_EXACT)


@pytest.mark.parametrize("changes", [4, MOST_EXACT + 2])
def test_a_change_that_does_nothing_has_nothing_and_two_alike_have_the_same(changes: int) -> None:
    def worth(made: Made) -> Floats:
        rest = sum(2.0**change for change in made if change > 2)
        return np.array([rest + (3.0 if {1, 2} <= made else 0.0)])

    values, _ = found(worth, changes)
    assert values[0, 0] == 0
    # Each order is taken backwards too, so of two that work together alone each comes first as often.
    assert values[1, 0] == pytest.approx(values[2, 0]) == pytest.approx(1.5)
    assert values[3:, 0].tolist() == pytest.approx([2.0**change for change in range(3, changes)])


def test_random_orders_come_near_and_are_the_same_for_a_seed() -> None:
    changes = MOST_EXACT + 1
    exact = np.zeros((changes, 1))

    def worth(made: Made) -> Floats:  # pairs of neighbours are worth something
        return np.array([float(sum(change + 1 in made for change in made))])

    exact[:, 0] = 1.0
    exact[[0, -1], 0] = 0.5
    values, orders = found(worth, changes, orders=2000)
    again, _ = found(worth, changes, orders=2000)
    assert orders == 2000
    assert values == pytest.approx(exact, abs=0.05)
    assert (values == again).all()
