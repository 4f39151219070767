"""What the ConfigMaps of a workload hold, whoever has written it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.model.config_map import ConfigMap
from springtide.model.replicas.member import Record
from springtide.model.replicas.status import Status
from springtide.model.replicas.values import Folder, ValueKey, misnamed
from springtide.wire.k8s.replica_maps import (
    Kept,
    read_kept,
    read_records,
    read_values,
    record_data,
    status_data,
    token_data,
    value_data,
    value_name,
)

EMPTY = ConfigMap(namespace="t", name="chat-hpa-status", uid="u", version="41")
STATUS = Status(current=3, expect=2, start_ms=1, end_ms=2, scaling_ms=3, generation=4)
RECORD = Record(member="chat-1", boot="b", at_ms=5)


def over(before: ConfigMap, data: dict[str, str | None], version: str) -> ConfigMap:
    """Return the object after these texts were merged into it."""
    merged = {**before.data, **data}
    kept = {key: text for key, text in merged.items() if text is not None}
    return replace(before, data=kept, version=version)


def test_nothing_is_kept_where_there_is_nothing() -> None:
    assert read_kept(None) == read_kept(EMPTY) == Kept()
    assert read_records(None) == read_records(EMPTY) == {}


def test_a_status_is_kept_with_its_revision_whatever_changes_beside_it() -> None:
    data, revision = status_data(STATUS, over=EMPTY)
    written = over(EMPTY, data, "45")
    claimed = over(written, token_data(7), "50")

    assert revision == 42
    assert read_kept(written) == Kept(revision=42, status=STATUS)
    assert read_kept(claimed) == Kept(token=7, revision=42, status=STATUS)


def test_revisions_grow_also_when_somebody_writes_by_hand() -> None:
    first, at_first = status_data(STATUS, over=EMPTY)
    ours = over(EMPTY, first, "42")
    by_hand = over(ours, {"status": "{"}, "43")
    _, at_last = status_data(STATUS, over=by_hand)

    kept = read_kept(by_hand)
    assert kept.status is None
    assert "no JSON" in kept.why
    assert at_first < kept.revision < at_last


def test_a_revision_without_its_sum_is_none() -> None:
    data, _ = status_data(STATUS, over=EMPTY)

    for revision in ("", "99", "99 00000000", "x y z"):
        assert read_kept(over(EMPTY, {**data, "revision": revision}, "60")).revision == 60


def test_versions_that_are_no_numbers_are_told_apart() -> None:
    found = {status_data(STATUS, over=replace(EMPTY, version=each))[1] for each in ("a", "b", "1")}

    assert len(found) == 3
    assert min(found) > 0


def test_a_token_that_is_no_number_is_none() -> None:
    for text in ("", "-1", "many", "9" * 40):
        assert read_kept(over(EMPTY, {"token": text}, "42")).token == 0


def test_a_record_is_kept_under_its_number_and_deleted() -> None:
    written = over(EMPTY, record_data(12, RECORD), "42")

    assert read_records(written) == {12: RECORD}
    assert read_records(over(written, record_data(12, None), "43")) == {}


def test_a_record_that_cannot_be_read_protects_its_number() -> None:
    data: dict[str, str | None] = {"3": "{", "4": "null", "note": "by hand", "0": "{}"}

    unknown = Record(member="", boot="", at_ms=0)
    assert read_records(over(EMPTY, data, "42")) == {3: unknown, 4: unknown}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (ValueKey(Folder(name="rooms")), "custom.rooms"),
        (ValueKey(Folder(name="rooms"), "eu/limit"), "custom.rooms.eu_2flimit"),
        (ValueKey(Folder(name="a_b.c", domain="x"), "ä"), "x.a_5fb_2ec._c3_a4"),
    ],
)
def test_a_value_stands_under_a_name_that_a_config_map_takes(key: ValueKey, name: str) -> None:
    assert value_name(key) == name
    assert read_values(over(EMPTY, value_data(key, "8"), "42"), key.folder) == {key.subkey: "8"}


@given(st.dictionaries(st.text(max_size=20), st.text(min_size=1, max_size=5), max_size=6))
def test_values_are_read_as_they_were_written_and_no_others(texts: dict[str, str]) -> None:
    folder, others = Folder(name="rooms"), Folder(name="rooms2")
    named = {each: text for each, text in texts.items() if not misnamed(ValueKey(folder, each))}
    written = EMPTY
    for subkey, text in named.items():
        written = over(written, value_data(ValueKey(folder, subkey), text), "42")
    written = over(written, value_data(ValueKey(others, "x"), "8"), "43")

    assert read_values(written, folder) == named
    assert read_values(written, others) == {"x": "8"}
    for name in written.data:
        assert re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", name)
