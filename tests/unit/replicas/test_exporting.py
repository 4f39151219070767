"""What a member exports of one moment, as Prometheus reads it."""

import re
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from springtide.edge.machine import MachineClock
from springtide.engine.replicas.phases import Phase
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.policy import MetricKind
from springtide.replicas.exporting import BUILT_IN, load_here
from springtide.replicas.figures import FIGURES
from springtide.replicas.snapshot import Snapshot
from tests.member_exports import LEADER, NOW_MS, SETTINGS, Scraped

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "replicas-metrics.md"
DEMANDED: Final = {
    "hpa_expect_replicas", "hpa_stateful_index", "hpa_rule_cpu_permillage",
    "hpa_rule_main_thread_cpu_permillage", "hpa_rule_memory_bytes", "hpa_rule_recent_max_task_count",
    "hpa_rule_controller_status", "hpa_heartbeat_timestamp_seconds", "hpa_status_generation",
    "hpa_status_age_seconds", "hpa_leader", "hpa_policy_valid", "hpa_policy_value",
    "hpa_policy_age_seconds", "hpa_policy_unknown_total", "hpa_suggestion", "hpa_round_phase",
    "hpa_drain_overdue_seconds", "hpa_stateful_check_registered", "hpa_label_transitions_total",
    "hpa_backend_errors_total", "hpa_clock_offset_seconds", "hpa_exit_total",
}  # fmt: skip
"""What a member exports; those of executors are the executor's own."""
EXECUTED: Final = {
    "hpa_executor_desired", "hpa_executor_observed", "hpa_executor_forced_kills_total",
    "hpa_executor_unknown_outcome_total",
}  # fmt: skip


def test_every_metric_that_is_asked_for_is_exported() -> None:
    """Covers R-4 and R-6."""
    scraped = Scraped()
    scraped.hand.passed_s = 10
    scraped.tasks.seen(4)

    names = {
        sample.name
        for family in text_string_to_metric_families(scraped.page())
        for sample in family.samples
    }

    assert names >= DEMANDED
    assert names <= DEMANDED | {each.name for each in FIGURES}


def test_every_metric_has_its_line_in_the_page() -> None:
    rows = {
        cells[0]: cells[1:]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `hpa_")
        for cells in [[each.strip().strip("`") for each in line.strip("|").split("|")]]
    }

    for figure in FIGURES:
        kind, labels, text = rows[figure.name]
        assert kind == figure.kind
        assert re.findall(r"\w+", labels) == list(figure.labels), figure.name
        assert text
    for name in (*BUILT_IN, *DEMANDED):
        assert name in rows, name
    assert set(rows) == {*BUILT_IN, *DEMANDED, *(each.name for each in FIGURES)}


def test_metrics_of_executors_are_explained_with_them() -> None:
    text = PAGE.with_name("replicas-executors.md").read_text(encoding="utf-8")

    assert all(f"| `{name}` |" in text for name in EXECUTED)


def test_every_sample_says_whose_it_is() -> None:
    scraped = Scraped()
    scraped.hand.passed_s = 10

    for family in text_string_to_metric_families(scraped.page()):
        for sample in family.samples:
            assert (
                sample.labels.items()
                >= {
                    "deployment_environment_name": "live",
                    "service_namespace": "game",
                    "service_name": "chat",
                    "service_instance_id": "chat-0",
                    "hpa_target_kind": "StatefulSet",
                    "hpa_target_name": "chat",
                    "hpa_target_api_version": "apps/v1",
                    "zone_name": "a",
                }.items()
            ), sample.name
            assert not {"job", "instance"} & set(sample.labels)


def test_labels_of_discovery_are_on_replicas_and_index_alone() -> None:
    scraped = Scraped()

    assert scraped.samples("hpa_expect_replicas") == [({"zone": "b"}, 5)]
    assert scraped.samples("hpa_stateful_index") == [({"zone": "b"}, 1)]
    assert scraped.samples("hpa_leader") == [({}, 1)]


def test_a_workload_without_a_service_is_of_an_unknown_one() -> None:
    workload = replace(SETTINGS.workload, service="", environment="")

    labels = Scraped(settings=replace(SETTINGS, workload=workload)).exported.labels()

    assert labels["service_name"] == "UNKNOWN"
    assert "deployment_environment_name" not in labels


def test_what_nobody_knows_has_no_row() -> None:
    """Covers B-16: the index is there until the member says that it exports none."""
    scraped = Scraped(Snapshot(name="chat-0", stateful_index=None))

    page = scraped.page()

    for name in (
        "hpa_expect_replicas", "hpa_stateful_index", "hpa_status_generation", "hpa_status_age_seconds",
        "hpa_clock_offset_seconds", "hpa_suggestion", "hpa_policy_value", "hpa_exit_total",
        "hpa_rule_recent_max_task_count", "hpa_rule_cpu_permillage",
    ):  # fmt: skip
        assert name not in page, name
    assert scraped.value("hpa_round_phase") == 0
    assert scraped.value("hpa_rule_controller_status") == 0


def test_l_20_replicas_that_are_only_observed_have_another_name() -> None:
    scraped = Scraped(replace(LEADER, mode=Mode.OBSERVE))

    assert scraped.value("hpa_expect_replicas") is None
    assert scraped.value("hpa_expect_replicas_observed") == 5


def test_other_fleets_suffix_replicas_and_index() -> None:
    scraped = Scraped(suffix="_count")

    assert scraped.value("hpa_expect_replicas_count") == 5
    assert scraped.value("hpa_stateful_index_count") == 1
    assert scraped.value("hpa_expect_replicas") is None
    assert scraped.value("hpa_leader") == 1


def test_times_are_those_of_the_collection() -> None:
    scraped = Scraped()
    scraped.hand.passed_s = 2

    assert scraped.value("hpa_heartbeat_timestamp_seconds") == NOW_MS / 1000 + 2
    assert scraped.value("hpa_status_age_seconds") == 3.5
    assert scraped.value("hpa_policy_age_seconds") == 6
    assert scraped.value("hpa_clock_offset_seconds") == -0.25


def test_the_leader_says_what_counts_and_why_not() -> None:
    scraped = Scraped()

    assert scraped.samples("hpa_policy_valid") == [
        ({"policy": "rooms", "direction": "up"}, 1),
        ({"policy": "rooms", "direction": "down"}, 0),
    ]
    assert scraped.samples("hpa_policy_value") == [({"policy": "rooms"}, 450)]
    assert scraped.samples("hpa_policy_unknown_total") == [
        ({"policy": "rooms", "reason": "coverage"}, 2)
    ]
    assert scraped.samples("hpa_suggestion") == [({"direction": "up"}, 5)]


def test_who_led_once_does_not_repeat_old_answers_for_good() -> None:
    scraped = Scraped(replace(LEADER, is_leader=False))
    scraped.hand.passed_s = 50

    assert scraped.samples("hpa_policy_valid") == []
    assert scraped.samples("hpa_policy_value") == []
    assert scraped.samples("hpa_suggestion") == []
    assert scraped.value("hpa_policy_unknown_total") == 2


@pytest.mark.parametrize(("phase", "number"), [(Phase.PENDING, 1), (Phase.DONE, 4)])
def test_a_phase_is_a_number(phase: Phase, number: int) -> None:
    assert Scraped(replace(LEADER, phase=phase)).value("hpa_round_phase") == number


def test_counters_begin_at_zero_where_all_their_labels_are_known() -> None:
    found = {
        (labels["label"], labels["to"]): value
        for labels, value in Scraped().samples("hpa_label_transitions_total")
    }

    assert found == {
        ("hpa_scaling_target", "0"): 0,
        ("hpa_scaling_target", "1"): 1,
        ("hpa_scaling_ready", "0"): 0,
        ("hpa_scaling_ready", "1"): 0,
    }


def test_counters_are_told_to_be_counters() -> None:
    page = Scraped().page()

    for figure in FIGURES:
        if figure.kind is MetricKind.COUNTER and figure.name in page:
            assert f"# TYPE {figure.name} counter" in page


def test_observers_of_policies_are_metrics_by_the_names_that_are_asked_for() -> None:
    scraped = Scraped()
    scraped.observers.add("rooms", lambda: 12, labels={"map": "moon"})
    scraped.observers.add("sent", lambda: 5.5)

    assert scraped.samples("rooms") == [({"map": "moon"}, 12)]
    assert scraped.samples("sent_bytes_total") == [({}, 5.5)]


def test_an_observer_cannot_speak_for_another_member() -> None:
    scraped = Scraped()
    scraped.observers.add("rooms", lambda: 1, labels={"hpa_target_name": "lobby"})

    assert "rooms{" in scraped.page()
    assert "lobby" not in scraped.page()


def test_an_observer_of_a_built_in_policy_takes_its_place() -> None:
    scraped = Scraped()
    scraped.tasks.seen(3)
    scraped.observers.add("hpa_rule_recent_max_task_count", lambda: 99)

    assert scraped.value("hpa_rule_recent_max_task_count") == 99


def test_a_process_beside_the_application_says_nothing_of_its_own_load() -> None:
    scraped = Scraped(has_load=False)
    scraped.hand.passed_s = 10

    assert not any(name in scraped.page() for name in BUILT_IN)
    assert scraped.value("hpa_rule_controller_status") == 0x833


def test_the_load_of_this_process_is_that_of_its_export_interval() -> None:
    load = load_here(MachineClock(), SETTINGS)

    assert load.process.export_interval_s == load.tasks.period_s == 10
    assert (load.process.memory_bytes() or 0) > 1 << 20


def test_what_no_policy_is_called_is_not_exported() -> None:
    scraped = Scraped()
    scraped.observers.add("stray", lambda: 1)

    assert "stray" not in scraped.page()


def test_a_reload_takes_other_policies_and_labels() -> None:
    scraped = Scraped()
    scraped.observers.add("rooms", lambda: 1)
    settings = replace(SETTINGS, custom=(), pull=replace(SETTINGS.pull, labels={"rack": "r1"}))

    scraped.exported.reload(settings)

    assert scraped.samples("rooms") == []
    assert 'rack="r1"' in scraped.page()


def test_a_page_does_not_grow_with_the_members() -> None:
    alone = Scraped().page()

    assert len(alone.splitlines()) < 150
