"""The refusal that codes of single devices amount to."""

import numpy as np

from springtide.engine.placement import checks
from springtide.engine.placement.family import ABSENT, ACCEPTED


def text(*codes: int) -> str:
    return checks.refusal_of_codes("X", np.array(codes, np.uint8)).text


def test_devices_are_counted_by_reason_out_of_the_candidates() -> None:
    answer = text(checks.UNHEALTHY, checks.MEMORY_TAKEN, checks.MEMORY_TOO_SMALL, ACCEPTED, ABSENT)

    assert answer == (
        "1/4 AllocatedCardsInsufficientRequest, 1/4 CardNotHealth, 2/4 CardInsufficientMemory"
    )


def test_whole_nodes_have_reasons_of_their_own() -> None:
    assert text(checks.NODE_SHORT, checks.NODE_SHORT) == "NodeInsufficientDevice"
    assert text(checks.UNREGISTERED) == "node unregistered"
    assert text(checks.NODE_MODE, ABSENT, checks.NODE_MODE) == "1/2 ModeNotFit"


def test_that_none_would_do_is_said_where_it_is_told() -> None:
    counts = {checks.SLOTS_TAKEN: 1}

    silent = checks.refusal_of("X", counts, picked=0, total=2)
    told = checks.refusal_of("X", counts, picked=0, total=2, tells_none=True)

    assert silent.text == "1/2 CardTimeSlicingExhausted"
    assert told.text == "0/2 AllocatedCardsInsufficientRequest, 1/2 CardTimeSlicingExhausted"


def test_eviction_helps_unless_every_check_lasts() -> None:
    lasting = checks.refusal_of("X", {checks.UNHEALTHY: 2}, picked=0, total=2)
    passing = checks.refusal_of(
        "X", {checks.UNHEALTHY: 1, checks.MEMORY_TAKEN: 1}, picked=0, total=2
    )

    assert lasting.is_unresolvable
    assert not passing.is_unresolvable


def test_an_earlier_check_has_a_larger_number() -> None:
    order = [
        checks.UNHEALTHY, checks.OTHER_TYPE, checks.OTHER_ID, checks.SLOTS_TAKEN,
        checks.MUTEX_TAKEN, checks.MEMORY_TAKEN, checks.CORES_TAKEN, checks.EXCLUSIVE_TAKEN,
        checks.COMPUTE_TAKEN,
    ]  # fmt: skip

    assert order == sorted(order, reverse=True)
