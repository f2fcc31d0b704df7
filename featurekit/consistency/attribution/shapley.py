"""What each of several changes contributes to what all of them do together: Shapley values, which add up to it.

A change's contribution is what it adds to those made before it, averaged over the orders in which they can be made. Up
to MOST_EXACT changes all orders are taken; of more, so many random ones, each of them backwards too: then the values
still add up, order by order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import factorial
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Made = frozenset[int]

MOST_EXACT: Final = 8


def shapley_values(
    worth: Callable[[Made], Floats], changes: int, *, orders: int, random: np.random.Generator
) -> tuple[Floats, int | None]:
    """Return what each change contributes, a row each, and how many orders were taken: None where it was all.

    `worth` says what the changes made are worth, as an array of any one length: each of its places has values of its
    own. It is asked for the same changes again and again, and had better remember.
    """
    if changes <= MOST_EXACT:
        return _exact(worth, changes), None
    total = np.zeros((changes, *np.shape(worth(frozenset()))))
    taken = 0
    for order in _orders(changes, orders, random):
        before, made = worth(frozenset()), frozenset[int]()
        for change in order:
            made |= {change}
            after = worth(made)
            total[change] += after - before
            before = after
        taken += 1
    return total / taken, taken


def _exact(worth: Callable[[Made], Floats], changes: int) -> Floats:
    values = np.zeros((changes, *np.shape(worth(frozenset()))))
    for bits in range(1 << changes):
        made = frozenset(change for change in range(changes) if bits >> change & 1)
        for change in set(range(changes)) - made:
            share = factorial(len(made)) * factorial(changes - len(made) - 1) / factorial(changes)
            values[change] += share * (worth(made | {change}) - worth(made))
    return values


def _orders(changes: int, count: int, random: np.random.Generator) -> Iterator[list[int]]:
    for _ in range(-(-count // 2)):
        order = random.permutation(changes).tolist()
        yield order
        yield order[::-1]
