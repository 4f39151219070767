"""How what became of a pod differs between two policies."""

import pytest

from springtide.engine.replay import Change, Fate, change, fate
from springtide.model.device import Share

NOWHERE = Fate()
FIRST = Fate(row=1, devices=(("NVIDIA", (0, 2)),))


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (FIRST, FIRST, None),
        (NOWHERE, NOWHERE, None),
        (NOWHERE, FIRST, Change.PLACED),
        (FIRST, NOWHERE, Change.REFUSED),
        (FIRST, Fate(row=2, devices=FIRST.devices), Change.NODE),
        (FIRST, Fate(row=1, devices=(("NVIDIA", (0, 1)),)), Change.DEVICES),
        (FIRST, Fate(row=1), None),
        (Fate(row=1), FIRST, None),
        (Fate(row=1), Fate(row=2), Change.NODE),
    ],
)
def test_the_first_thing_that_differs_counts(one: Fate, other: Fate, found: Change | None) -> None:
    assert change(one, other) == found


def test_a_device_is_named_once_however_many_containers_share_it() -> None:
    shares = [("NVIDIA", (Share(position=3), Share(position=1), Share(position=3))), ("NPU", ())]

    found = fate(7, shares)

    assert found == Fate(row=7, devices=(("NVIDIA", (1, 3)),))
