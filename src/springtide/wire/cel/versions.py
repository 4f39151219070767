"""Semantic versions, read as Kubernetes does it (semver.org 2.0.0).

The build part is checked and then dropped: it takes no part in comparisons.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

NUMBER_MAX: Final = 2**64 - 1
PARSE_CACHE_ENTRIES: Final = 4096

_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]+")
_NUMBER: Final = re.compile(r"[0-9]+")
_PARTS: Final = ("major", "minor", "patch")


class Numbers(msgspec.Struct, frozen=True):
    """A version without its build part. `pre` is empty for a release."""

    numbers: tuple[int, int, int]
    pre: tuple[int | str, ...] = ()

    @property
    def text(self) -> str:
        """Return the version as it is written."""
        release = ".".join(map(str, self.numbers))
        return f"{release}-{'.'.join(map(str, self.pre))}" if self.pre else release


@lru_cache(maxsize=PARSE_CACHE_ENTRIES)
def parse(text: str, *, is_lenient: bool = False) -> Numbers:
    """Read a version, or raise ValueError.

    Leniently, a leading `v`, leading zeros and missing minor and patch numbers are allowed.
    """
    if is_lenient:
        text = _normalized(text)
    if not text:
        raise ValueError("version string empty")
    parts = text.split(".", 2)
    if len(parts) != len(_PARTS):
        raise ValueError("no major.minor.patch elements found")
    patch, build_sign, build = parts[2].partition("+")
    patch, pre_sign, pre = patch.partition("-")
    numbers = (_number(parts[0], "major"), _number(parts[1], "minor"), _number(patch, "patch"))
    identifiers = _identifiers(pre, "prerelease") if pre_sign else ()
    if build_sign:
        _checked(build, "build")
    return Numbers(numbers, identifiers)


def _number(text: str, part: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(f'Invalid character(s) found in {part} number "{text}"')
    return _within(text, f"{part} number")


def _within(text: str, name: str) -> int:
    if len(text) > 1 and text[0] == "0":
        raise ValueError(f'{name} must not contain leading zeroes "{text}"')
    number = int(text)
    if number > NUMBER_MAX:
        raise ValueError(f'{name} "{text}" is out of range')
    return number


def _identifiers(text: str, part: str) -> tuple[int | str, ...]:
    return tuple(
        _within(name, f"numeric {part} version") if _NUMBER.fullmatch(name) else name
        for name in _checked(text, part)
    )


def _checked(text: str, part: str) -> list[str]:
    names = text.split(".")
    for name in names:
        if _IDENTIFIER.fullmatch(name) is None:
            what = "is empty" if not name else f'has invalid character(s) "{name}"'
            raise ValueError(f"{part} version {what}")
    return names


def _normalized(text: str) -> str:
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < len(_PARTS) and set(parts[-1]) & {"+", "-"}:
        raise ValueError("a version without a patch number cannot have a prerelease or build part")
    return ".".join(parts + ["0"] * (len(_PARTS) - len(parts)))


def _without_zeros(part: str) -> str:
    kept = part.lstrip("0")
    if len(part) <= 1 or kept[:1].isdigit():
        return kept or part
    return "0" + kept
