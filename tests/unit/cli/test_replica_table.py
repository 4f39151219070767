"""A member's status as people read it."""

import click
from msgspec.structs import replace

from springtide.cli.replica_table import status_lines
from springtide.wire.replica_pages import StatusPage

PAGE = StatusPage(
    name="chat-0",
    at="2026-01-02T03:04:05Z",
    mode="active",
    is_enabled=True,
    is_target=True,
    is_ready=True,
    is_leader=False,
    is_stopping=False,
)


def lines(page: StatusPage, *, width: int | None = None) -> list[str]:
    """Return what is shown, without colours."""
    return [click.unstyle(each) for each in status_lines(page, now_s=0, width=width)]


def test_a_store_that_does_not_answer_is_shown_with_the_reason() -> None:
    fault = "etcd cannot be reached at http://etcd-0:2379: connection refused."

    well = lines(PAGE)
    away = lines(replace(PAGE, store_fault=fault))
    narrow = lines(replace(PAGE, store_fault=fault), width=60)

    assert not any(each.startswith("Store") for each in well)
    assert f"Store     {fault}" in away
    told = [each for each in narrow if each.startswith("Store     etcd")]
    assert narrow[narrow.index(told[0]) + 1].startswith(" " * 10)
