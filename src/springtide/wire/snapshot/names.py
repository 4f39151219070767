"""Made-up names: the same one for the same word, everywhere, and none that tells the word.

A name is a keyed digest of the word, so that nobody without the key can try words out, and everybody
with it gets the same names again. Where a form counts (ids, addresses, keys of labels) it is kept.
"""

import hashlib
import hmac
import ipaddress
import re
import uuid
from base64 import b32encode
from collections.abc import Callable
from typing import Final

LENGTH: Final = 10
# `GPU-` and the like, then the id, then the place of an instance inside its card.
_DEVICE: Final = re.compile(
    r"(?P<kind>(?:GPU|MIG|DCU|MLU|XPU|NPU)-)?(?P<id>[^\[]*)(?P<place>\[.*)?"
)
_NOBODYS: Final = int(ipaddress.IPv4Address("240.0.0.0"))
_HOSTS: Final = 1 << 28


class Names:
    """The mapping of one key; `known` words are names wherever they stand."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()
        self.known: set[str] = set()

    @property
    def given(self) -> dict[str, str]:
        """Return every word with what took its place."""
        return dict(self._given)

    def know(self, word: str, prefix: str) -> None:
        """Give a word its name before it is met, and hold it for a name from now on."""
        self.known.add(word)
        self.name(word, prefix)

    def name(self, word: str, prefix: str = "x") -> str:
        """Return the name of a word, fit for objects, hosts and values of labels."""
        return self._once(word, lambda digest: f"{prefix}-{_letters(digest)}")

    def key(self, word: str) -> str:
        """Return the key of a label or the name of a resource, with a domain if it has one."""
        domain, slash, _ = word.rpartition("/")
        before = f"{self.domain(domain)}/" if slash else ""
        return self._once(word, lambda digest: f"{before}key-{_letters(digest)}")

    def domain(self, word: str) -> str:
        """Return the name of a domain."""
        return self._once(word, lambda digest: f"d-{_letters(digest)}.example")

    def uid(self, word: str) -> str:
        """Return an id in the form of the API's."""
        return self._once(word, lambda digest: str(uuid.UUID(bytes=digest[:16])))

    def device(self, word: str) -> str:
        """Return the id of a device: how it starts and a place inside the card stay."""
        matched = _DEVICE.fullmatch(word)
        if matched is None or not matched["id"]:
            return self.name(word) if word else word
        kind, place = matched["kind"] or "", matched["place"] or ""
        card = word.removesuffix(place)
        self.known.add(card)
        return self._once(card, lambda digest: kind + str(uuid.UUID(bytes=digest[:16]))) + place

    def address(self, word: str) -> str:
        """Return an address that belongs to nobody."""
        return self._once(word, _address)

    def _once(self, word: str, make: Callable[[bytes], str]) -> str:
        made = self._given.get(word)
        round_ = 0
        while made is None:
            digest = hmac.digest(self._key, f"{round_} {word}".encode(), hashlib.sha256)
            candidate = make(digest)
            if candidate not in self._taken:
                made = self._given[word] = candidate
                self._taken.add(candidate)
            round_ += 1
        return made


def _letters(digest: bytes) -> str:
    return b32encode(digest).decode().lower()[:LENGTH]


def _address(digest: bytes) -> str:
    return str(ipaddress.IPv4Address(_NOBODYS + int.from_bytes(digest) % _HOSTS))
