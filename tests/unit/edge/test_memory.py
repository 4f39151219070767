"""The most memory that this process had."""

from pathlib import Path

import pytest

from springtide.edge.memory import forget_peak, peak_mib

MIB = 1 << 20


def test_the_peak_follows_what_is_taken() -> None:
    forget_peak()
    before_mib = peak_mib()

    taken = bytearray(64 * MIB)

    assert peak_mib() >= before_mib + 60
    del taken


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Only Linux forgets it.")
def test_a_peak_that_is_over_can_be_forgotten() -> None:
    taken = bytearray(64 * MIB)
    peak = peak_mib()
    del taken

    forget_peak()

    assert peak_mib() <= peak - 60
