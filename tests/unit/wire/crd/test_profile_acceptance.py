"""The table of good and bad profiles, before the reader; an API server is held to the same one in e2e."""

import pytest

from springtide.apps.planner.families import FAMILIES
from springtide.engine.profiles.matching import fault_of
from tests.profiles import Document, as_stored, bad, good


def fault(made: Document) -> str:
    return fault_of(as_stored(made), FAMILIES)


@pytest.mark.parametrize("made", [pytest.param(each, id=name) for name, each in good()])
def test_a_good_profile_is_read(made: Document) -> None:
    assert fault(made) == ""


@pytest.mark.parametrize("made", [pytest.param(each, id=name) for name, each in bad()])
def test_a_bad_profile_is_refused_with_its_field_and_the_remedy(made: Document) -> None:
    found = fault(made)

    assert found.startswith(("spec.", "metadata.name: "))
    assert found.endswith((".", "?"))
