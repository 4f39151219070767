"""A registry from what a process has at hand."""

from collections.abc import Iterator

from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from springtide.engine.replicas.queries import joint_query
from springtide.engine.replicas.setup import asking, policies
from springtide.model.replicas.settings import ReplicaSettings
from springtide.replicas import Identity, Observers
from springtide.replicas.exporting import BUILT_IN
from springtide.replicas.registering import page, registry
from tests.member_exports import LEADER, SETTINGS, Hand

WHO = Identity(name="chat-0", index=1, service="talk", labels={"zone.name": "b", "rack": "r1"})


def samples(
    settings: ReplicaSettings = SETTINGS, *, observers: Observers | None = None, suffix: str = ""
) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield what a scrape reads."""
    shown = registry(
        settings,
        WHO,
        snapshot=lambda: LEADER,
        observers=observers,
        calendar=Hand(),
        suffix=suffix,
    )
    for family in text_string_to_metric_families(page(shown).decode()):
        for each in family.samples:
            yield each.name, each.labels, each.value


def test_a_process_beside_the_application_says_nothing_of_its_load() -> None:
    found = {name: value for name, _, value in samples()}

    assert found["hpa_expect_replicas"] == 5
    assert found["hpa_leader"] == 1
    assert "hpa_rule_controller_status" in found
    assert not found.keys() & BUILT_IN.keys()
    assert "hpa_observer_skipped_total" not in found


def test_labels_of_the_identity_are_those_of_discovery() -> None:
    labels = {name: labels for name, labels, _ in samples()}

    assert labels["hpa_expect_replicas"]["rack"] == "r1"
    assert labels["hpa_stateful_index"]["rack"] == "r1"
    assert "rack" not in labels["hpa_leader"]
    assert labels["hpa_expect_replicas"]["zone_name"] == "a"


def test_a_workload_without_a_service_has_that_of_the_identity() -> None:
    settings = replace(SETTINGS, workload=replace(SETTINGS.workload, service=""))

    names = {labels["service_name"] for _, labels, _ in samples(settings)}

    assert names == {"talk"}
    assert all("talk" not in joint_query(each, asking(settings)) for each in policies(settings))


def test_observers_and_a_suffix_are_taken() -> None:
    observers = Observers(Hand())
    observers.add("rooms", lambda: 12)

    found = {name: value for name, _, value in samples(observers=observers, suffix="_count")}

    assert found["rooms"] == 12
    assert found["hpa_expect_replicas_count"] == 5
    assert "hpa_expect_replicas" not in found
