"""What a member shows: twelve run, ten are expected from 180 s on, this one is the third."""

from typing import Any

import pytest
from msgspec.structs import replace

from springtide.engine.replicas.export import (
    EXPECT,
    EXPECT_OBSERVED,
    ExportRules,
    Seat,
    Shown,
    expect_name,
    shown,
)
from springtide.engine.replicas.gates import Plan
from springtide.engine.replicas.labels import Labels
from springtide.model.replicas.knobs import LEGACY, SAFE, Mode
from springtide.model.replicas.status import Status

ROUND = Status(
    current=12, expect=10, start_ms=60_000, end_ms=120_000, scaling_ms=180_000, generation=8
)
SERVING = Labels(plan=Plan(booted_ms=0, index=3), is_target=True, is_ready=True, protected=3)
STOPPING = Labels(plan=Plan(booted_ms=0, index=3, stop_target_ms=0, stop_ready_ms=0))
RULES = ExportRules()
OLD = ExportRules(knobs=LEGACY)


def seat(at_s: int = 0, **fields: Any) -> Seat:
    """Return what a member knows at this second."""
    return replace(Seat(now_ms=at_s * 1000, labels=SERVING, status=ROUND), **fields)


def test_a_follower_shows_what_it_heard_of_lately() -> None:
    """Covers R-4 in part."""
    assert shown(RULES, seat(180, status_age_ms=7)) == Shown(
        expect=10, stateful_index=3, mask=0x830, generation=8, phase=4, status_age_ms=7
    )


@pytest.mark.parametrize(
    ("rules", "fields", "expect"),
    [
        (RULES, {"status_age_ms": 60_000}, 12),
        (RULES, {"status_age_ms": 60_001}, None),
        (RULES, {"status_age_ms": 60_001, "holds_lock": True}, 12),
        (RULES, {"status_age_ms": 60_001, "has_led": True}, None),
        (RULES, {"status": None, "holds_lock": True}, None),
        (OLD, {}, None),
        (OLD, {"has_led": True}, 12),
        (OLD, {"has_led": True, "status_age_ms": 60_001}, None),
        (OLD, {"holds_lock": True}, 12),
        (ExportRules(is_enabled=False), {"holds_lock": True}, None),
    ],
)
def test_f_8_only_who_holds_the_lock_shows_an_old_status(
    rules: ExportRules, fields: dict[str, Any], expect: int | None
) -> None:
    assert shown(rules, seat(**fields)).expect == expect


def test_f_28_a_former_leader_takes_its_number_back_after_a_while() -> None:
    higher = replace(ROUND, current=14, expect=14)

    former = [seat(at_s, status=higher, status_age_ms=at_s * 1000) for at_s in (20, 60, 80)]

    assert [shown(RULES, each).expect for each in former] == [14, 14, None]


def test_l_20_what_is_only_observed_has_a_name_of_its_own() -> None:
    """Covers R-42 in part."""
    assert expect_name(SAFE) == EXPECT
    assert expect_name(replace(SAFE, mode=Mode.OBSERVE)) == EXPECT_OBSERVED


@pytest.mark.parametrize(
    ("fields", "index"),
    [
        ({}, 3),
        ({"labels": STOPPING}, 0),
        ({"labels": STOPPING, "unready_ms": 24_999}, 0),
        ({"labels": STOPPING, "unready_ms": 25_000}, None),
        ({"labels": replace(STOPPING, is_ready=True), "unready_ms": 60_000}, 3),
        ({"labels": replace(SERVING, is_ready=False), "unready_ms": 60_000}, 0),
        ({"labels": replace(SERVING, is_ready=False), "stateful_count": 11}, 11),
    ],
)
def test_the_floor_is_shown_until_everybody_has_seen_that_it_is_gone(
    fields: dict[str, Any], index: int | None
) -> None:
    """Covers R-31 in part."""
    assert shown(RULES, seat(**fields)).stateful_index == index


@pytest.mark.parametrize(
    ("at_s", "fields", "mask", "phase"),
    [
        (0, {"holds_lock": True, "has_ordinal": True}, 0x133, 1),
        (60, {"labels": replace(SERVING, is_target=False)}, 0x210, 2),
        (120, {"labels": replace(SERVING, is_ready=False)}, 0x420, 3),
        (180, {"labels": STOPPING}, 0x800, 4),
        (180, {"labels": STOPPING, "status": None}, 0, 0),
    ],
)
def test_a_mask_shows_who_a_member_is_and_the_phase(
    at_s: int, fields: dict[str, Any], mask: int, phase: int
) -> None:
    """Covers R-4 in part."""
    found = shown(RULES, seat(at_s, **fields))

    assert (found.mask, found.phase) == (mask, phase)
