"""What a ReplicasConfiguration may say but rarely means, with the field and the remedy.

Nothing here stops anybody: it is told where a document is read, beside what was done.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from springtide.model.replicas.policy import MetricKind
from springtide.wire.crd.replica_entries import PolicyEntry, ReplicasDocument
from springtide.wire.crd.replica_times import whole_ms
from springtide.wire.origin import Origin
from springtide.wire.validation import Path, shown

PROPAGATION_MS: Final = 5_000
"""How long a label takes until everybody selects by it."""
CLOCK_SKEW_MS: Final = 30_000
_QUANTILE_OF_EACH: Final = re.compile(r"histogram_quantile\([^,]+,(?!\s*sum\b)")


class Warned(msgspec.Struct, frozen=True, kw_only=True):
    """A field that is worth a second look, and why."""

    field: str
    words: str


def lint(document: ReplicasDocument, *, origin: Origin) -> tuple[Warned, ...]:
    """Return what is worth a second look in a document that was read without fault."""
    return tuple(
        Warned(field=shown(path), words=words)
        for path, words in (
            *_of_schedule(document, origin),
            *_of_windows(document, origin),
            *_of_stop(document, origin),
            *_of_ages(document, origin),
            *_of_policies(document),
        )
    )


def _of_schedule(document: ReplicasDocument, origin: Origin) -> Iterator[tuple[Path, str]]:
    period_ms = whole_ms(document.schedule.period, origin, ("schedule", "period"))
    least_ms = 2 * CLOCK_SKEW_MS + PROPAGATION_MS
    if document.controller.enabled and 0 < period_ms < least_ms:
        early = "Clocks may differ, so members may move before others see it"
        yield ("schedule", "period"), f"{early}; write {least_ms // 1000}s or more."


def _of_windows(document: ReplicasDocument, origin: Origin) -> Iterator[tuple[Path, str]]:
    pull = document.metrics.pull_interval
    pull_ms = whole_ms(pull, origin, ("metrics", "pullInterval"))
    windows = {"scaleUp": document.scale_up.window, "scaleDown": document.scale_down.window}
    for name, text in windows.items():
        path: Path = (name, "window")
        if 0 < whole_ms(text, origin, path) < pull_ms:
            yield path, f"One answer alone opens it, as the next comes {pull} later; write more."


def _of_stop(document: ReplicasDocument, origin: Origin) -> Iterator[tuple[Path, str]]:
    grace = document.controller.stop_grace
    if not grace:
        return
    entry = document.schedule
    path: Path = ("controller", "stopGrace")
    needed_ms = whole_ms(entry.start_delay, origin, path) + whole_ms(entry.period, origin, path)
    if whole_ms(grace, origin, path) < needed_ms:
        yield (
            path,
            f"A member is killed before it has drained; write {needed_ms / 1000:g}s or more.",
        )


def _of_ages(document: ReplicasDocument, origin: Origin) -> Iterator[tuple[Path, str]]:
    etcd = document.store.etcd if document.store is not None else None
    if etcd is None:
        return
    path: Path = ("metrics", "statusMaxAge")
    confirm_ms = whole_ms(etcd.confirm_interval, origin, ("store", "etcd", "confirmInterval"))
    if whole_ms(document.metrics.status_max_age, origin, path) <= confirm_ms:
        asked = f"The status is confirmed every {etcd.confirm_interval}"
        yield path, f"{asked}, so replicas would not be shown all the time; write more."


def _of_policies(document: ReplicasDocument) -> Iterator[tuple[Path, str]]:
    given = document.policies
    named = {
        "cpu": given.cpu,
        "mainThreadCpu": given.main_thread_cpu,
        "memory": given.memory,
        "recentTasks": given.recent_tasks,
        "controllerStatus": given.controller_status,
    }
    for name, entry in named.items():
        if entry is not None:
            yield from _of_policy(entry, ("policies", name))
    for index, entry in enumerate(given.custom):
        yield from _of_policy(entry, ("policies", "custom", index))


def _of_policy(entry: PolicyEntry, path: Path) -> Iterator[tuple[Path, str]]:
    if entry.type is MetricKind.COUNTER and not entry.query and not _has_rate(entry):
        yield (
            (*path, "functions"),
            "A counter only ever grows; take its rate or increase over a range.",
        )
    if _QUANTILE_OF_EACH.search(entry.query):
        yield (
            (*path, "query"),
            (
                "A quantile of each member's buckets is none of the workload's; "
                "join the buckets first, as in histogram_quantile(0.9, sum by (le) (rate(...)))."
            ),
        )
    if entry.query and not (entry.coverage_query and entry.age_query):
        field = "ageQuery" if entry.coverage_query else "coverageQuery"
        blind = "Nobody can tell whether all members report and how old it is"
        yield (*path, field), f"{blind}; give coverageQuery and ageQuery."
    if entry.query and "hpa_target_name" not in entry.query:
        yield (
            (*path, "query"),
            "The query does not name hpa_target_name, so other workloads may count; name it.",
        )


def _has_rate(entry: PolicyEntry) -> bool:
    rates = {"rate", "irate", "increase"}
    return any(each.name in rates for each in entry.functions)
