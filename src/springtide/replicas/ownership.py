"""Which of the members 1 to `count` owns a key: the same answer in every process, and few keys that move.

The hash is "jump" (Lamping and Veach): growing by one moves one key in `count + 1`, and all of them to the
new member; shrinking by one moves only those of the last. It takes some steps even for thousands of members.
"""

import hashlib
from collections.abc import Set
from itertools import chain
from typing import Final

DRAWS_MAX: Final = 64
"""So often another member is drawn where the first ones are absent, before the next in order is taken."""
_WORD: Final = (1 << 64) - 1
_MULTIPLIER: Final = 2_862_933_555_777_941_757
_NOBODY: Final = frozenset[int]()


def owner_of(key: str, count: int, *, absent: Set[int] = _NOBODY) -> int:
    """Return the number, 1 to `count`, of the member that owns a key.

    A key whose owner is absent has a stand-in that is there; no other key moves for it.
    """
    if count < 1:
        raise ValueError(f"A key needs at least 1 member to own it, and there are {count}.")
    found = _drawn(key, count, 0)
    if found not in absent:
        return found
    again = (_drawn(key, count, draw) for draw in range(1, DRAWS_MAX))
    following = (1 + (found + step) % count for step in range(count))
    present = next((each for each in chain(again, following) if each not in absent), None)
    if present is None:
        raise ValueError(f"All of the members 1 to {count} are absent; nobody can own a key.")
    return present


def _drawn(key: str, count: int, draw: int) -> int:
    return _jump(_seed(key, draw), count) + 1


def _seed(key: str, draw: int) -> int:
    """Return 64 bits that any version of Python, and any other language, makes of a key."""
    salt = draw.to_bytes(2, "big")
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt)
    return int.from_bytes(digest.digest(), "big")


def _jump(seed: int, count: int) -> int:
    """Return the bucket, 0 to `count - 1`, to which the last of all jumps leads."""
    bucket, following = 0, 0
    while following < count:
        bucket = following
        seed = (seed * _MULTIPLIER + 1) & _WORD
        following = ((bucket + 1) << 31) // ((seed >> 33) + 1)
    return bucket
