"""Semantic versions: how they are read and ordered."""

import re

import pytest

from springtide.wire.cel.values import carried_version, compare
from springtide.wire.cel.versions import NUMBER_MAX, parse

# Each is before the next; the first eight stand in the specification of semver.org.
ORDERED = (
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1-0",
    "1.0.1-1",
    "1.0.1--",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "2.0.0",
)
MALFORMED = {
    "": "version string empty",
    "1": "no major.minor.patch elements found",
    "1.0": "no major.minor.patch elements found",
    "v1.0.0": 'Invalid character(s) found in major number "v1"',
    "1.x.0": 'Invalid character(s) found in minor number "x"',
    "1.0.0.0": 'Invalid character(s) found in patch number "0.0"',
    "1.0.": 'Invalid character(s) found in patch number ""',
    "01.0.0": 'major number must not contain leading zeroes "01"',
    "1.0.0-01": 'numeric prerelease version must not contain leading zeroes "01"',
    "1.0.0-": "prerelease version is empty",
    "1.0.0-a..b": "prerelease version is empty",
    "1.0.0-ä": 'prerelease version has invalid character(s) "ä"',
    "1.0.0+": "build version is empty",
    "1.0.0+a_b": 'build version has invalid character(s) "a_b"',
    f"{NUMBER_MAX + 1}.0.0": f'major number "{NUMBER_MAX + 1}" is out of range',
}
LENIENT = {
    "v1.2.3": "1.2.3",
    "v1": "1.0.0",
    "1.2": "1.2.0",
    "01.002.0003": "1.2.3",
    "00.0.0": "0.0.0",
    "1.2.00-rc.1+b": "1.2.0-rc.1",
}


def test_versions_have_their_order() -> None:
    versions = [carried_version(text) for text in ORDERED]

    orders = [[compare(left, right) for right in versions] for left in versions]

    count = len(versions)
    assert orders == [[(i > j) - (i < j) for j in range(count)] for i in range(count)]


def test_the_build_part_takes_no_part() -> None:
    order = compare(carried_version("1.0.0+a.01"), carried_version("1.0.0+b"))

    assert order == 0


@pytest.mark.parametrize(("text", "reason"), MALFORMED.items())
def test_what_is_no_version_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        parse(text)


@pytest.mark.parametrize(("text", "meant"), LENIENT.items())
def test_leniently_short_versions_are_completed(text: str, meant: str) -> None:
    version = parse(text, is_lenient=True)

    assert version.text == meant


@pytest.mark.parametrize("text", ["v1-rc", "1.2+b", "", "vv1.0.0", "1.0.0.0"])
def test_leniently_not_everything_is_a_version(text: str) -> None:
    with pytest.raises(ValueError, match=r"version|number|elements"):
        parse(text, is_lenient=True)
