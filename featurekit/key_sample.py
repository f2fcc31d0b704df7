"""Samples of entities by a hash of their key: stable across processes, machines and versions.

A share is one unit everywhere, 0 to 1: what says "10" for ten per cent in one place and takes it as 0.1 in another has
logged a tenth of a per cent before anybody looked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from featurekit.errors import InputError

_HASH_BYTES: Final = 8
_ALL: Final = 1 << (8 * _HASH_BYTES)
_SEED_BYTES: Final = 32

KeyHash = Callable[[bytes], int]


def key_hash(seed: str = "") -> KeyHash:
    """Return the function from a key's text to its place in the order of choice, 0 to 2^64 - 1.

    >>> key_hash()(b"JFK"), key_hash("monday")(b"JFK")
    (2142423459197038213, 9796602932988288128)
    """
    keyed = hashlib.blake2b(seed.encode(), digest_size=_SEED_BYTES).digest()
    return lambda key: int.from_bytes(hashlib.blake2b(key, digest_size=_HASH_BYTES, key=keyed).digest())


def threshold(share: float) -> int:
    """Return the hash below which keys are in a share; InputError where it is none.

    >>> threshold(1.0) == 1 << 64, threshold(0.25) == 1 << 62
    (True, True)
    """
    if not 0 < share <= 1:
        raise InputError(
            f"{share!r} is not a share of the entities to sample",
            why="a share is more than 0 and at most 1: 0.1 is every tenth entity",
            try_=f"{share / 100:g} for {share:g} %" if 1 < share <= 100 else "0.1",
        )
    return _ALL if share == 1 else int(share * _ALL)
