"""Many pod names as few words: replicas of one workload are told by their numbers.

`train-0 … train-7` become `train-[0-7]`; names that end in what Kubernetes makes up become
`web-7d9f-*`. This is for reading only: the JSON has every name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import msgspec

TERMS_MAX: Final = 3
COLLAPSED_MIN: Final = 3
RANGES_MAX: Final = 6
# The letters and digits of names that Kubernetes makes up: no vowels, nothing easily misread.
_MADE_UP: Final = re.compile(r"(?P<stem>.+)-[bcdfghjklmnpqrstvwxz2456789]{5}")
_NUMBERED: Final = re.compile(r"(?P<stem>.+)-(?P<digits>[0-9]{1,9})")


class _Name(msgspec.Struct, frozen=True, kw_only=True):
    """A name in its parts: `stem`, digits if it ends in a number, and whether a made-up end follows."""

    stem: str
    digits: str = ""
    has_made_up_end: bool = False


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One word, and how many names it stands for."""

    text: str
    count: int


def workload(name: str) -> str:
    """Return the name without what tells replicas apart."""
    return _parsed(name).stem


def workloads(names: Iterable[str]) -> str:
    """Return how many pods of which workloads these are: `2 of team/train, 1 of team/web`."""
    counts = Counter(workload(name) for name in names)
    return ", ".join(f"{count} of {name}" for name, count in counts.items())


def listed(names: Sequence[str], *, terms_max: int | None = TERMS_MAX) -> str:
    """Return the names in few words, the last of which may say how many are left out."""
    terms = collapsed(names)
    if terms_max is None or len(terms) <= terms_max + 1:
        return " ".join(term.text for term in terms)
    left_out = sum(term.count for term in terms[terms_max:])
    return " ".join([*(term.text for term in terms[:terms_max]), f"and {left_out} more"])


def collapsed(names: Sequence[str]) -> list[Term]:
    """Return the terms that stand for these names, in the order of first appearance."""
    alike: dict[tuple[str, bool, bool], list[str]] = {}
    for name in names:
        parsed = _parsed(name)
        key = (parsed.stem, bool(parsed.digits), parsed.has_made_up_end)
        alike.setdefault(key, []).append(name)
    return [term for group in alike.values() for term in _terms(group)]


def _terms(names: Sequence[str]) -> list[Term]:
    first = _parsed(names[0])
    if len(names) < COLLAPSED_MIN or not (first.digits or first.has_made_up_end):
        return [Term(text=name, count=1) for name in names]
    ranges = _ranges([_parsed(name).digits for name in names]) if first.digits else []
    if 0 < len(ranges) <= RANGES_MAX:
        end = "-*" if first.has_made_up_end else ""
        text = f"{first.stem}-[{','.join(ranges)}]{end}"
    else:
        text = f"{first.stem}-* ({len(names)})"
    return [Term(text=text, count=len(names))]


def _ranges(numbers: Sequence[str]) -> list[str]:
    """Return the numbers as ranges, none if some are padded with zeros to another width."""
    width = len(numbers[0]) if any(digits[0] == "0" != digits for digits in numbers) else 0
    if width and any(len(digits) != width for digits in numbers):
        return []
    ordered = sorted({int(digits) for digits in numbers})
    gaps = [pair for pair in pairwise(ordered) if pair[1] != pair[0] + 1]
    starts = [ordered[0], *(after for _, after in gaps)]
    ends = [*(before for before, _ in gaps), ordered[-1]]
    return [
        f"{start:0{width}}" if start == end else f"{start:0{width}}-{end:0{width}}"
        for start, end in zip(starts, ends, strict=True)
    ]


def _parsed(name: str) -> _Name:
    numbered = _NUMBERED.fullmatch(name)
    if numbered is not None:
        return _Name(stem=numbered["stem"], digits=numbered["digits"])
    made_up = _MADE_UP.fullmatch(name)
    if made_up is None:
        return _Name(stem=name)
    inner = _NUMBERED.fullmatch(made_up["stem"])
    if inner is not None:
        return _Name(stem=inner["stem"], digits=inner["digits"], has_made_up_end=True)
    return _Name(stem=made_up["stem"], has_made_up_end=True)
