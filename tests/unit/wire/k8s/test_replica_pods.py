"""Pods as members: what a pod says by itself, what its process has written, and what has to be written."""

from typing import Any

import msgspec
import pytest

from springtide.model.replicas.member import Member
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.replica_pods import (
    ANNOTATION,
    Numbering,
    ReplicaPod,
    changes,
    decode_replica_pod,
    member_id,
    member_of,
)

NUMBERING = Numbering(target="chat", ordinals_start=5, port=8080)
OF_DEPLOYMENT = Numbering(target="chat", has_ordinal_names=False)
MEMBER = Member(
    id=7,
    name="chat-7",
    has_ordinal=True,
    index=3,
    boot="run",
    started_ms=9,
    service="s",
    target="chat",
    address="10.0.0.7:80",
    labels={"tier": "gold"},
    is_target=True,
)


def decoded(container: str = "", /, **parts: Any) -> ReplicaPod:
    """Return a pod of which these parts are said."""
    metadata = {"name": "chat-7", "uid": "u", **parts.get("metadata", {})}
    ready = {"type": "Ready", "status": "True"}
    status = {"phase": "Running", "conditions": [ready], **parts.get("status", {})}
    data = msgspec.json.encode({"metadata": metadata, "status": status})
    return decode_replica_pod(data, container=container)


def written(member: Member = MEMBER, *, has_left: bool = False, **status: Any) -> ReplicaPod:
    """Return a pod on which a member has written before its status became this."""
    labels, annotations = changes(decoded(), member, has_left=has_left)
    return decoded(metadata={"labels": labels, "annotations": annotations}, status=status)


def containers(**restarts: int) -> dict[str, Any]:
    """Return the status of containers that run."""
    listed = [
        {"name": name, "restartCount": count, "state": {"running": {"startedAt": "x"}}}
        for name, count in restarts.items()
    ]
    return {"containerStatuses": listed}


def of(pod: ReplicaPod, numbering: Numbering = NUMBERING) -> Member:
    """Return the member in a pod."""
    found = member_of(pod, numbering)
    assert found is not None
    return found


def test_a_pod_that_says_nothing_is_a_member_by_its_name() -> None:
    found = of(decoded(status={"podIP": "10.0.0.7"}))

    assert found == Member(
        id=7,
        name="chat-7",
        has_ordinal=True,
        index=3,
        boot="u/0",
        target="chat",
        address="10.0.0.7:8080",
    )


def test_the_label_of_the_ordinal_goes_before_the_name() -> None:
    found = of(decoded(metadata={"labels": {"apps.kubernetes.io/pod-index": "9"}}))

    assert (found.id, found.index) == (9, 5)


def test_a_name_that_ends_in_digits_by_chance_has_no_ordinal() -> None:
    found = of(decoded(), OF_DEPLOYMENT)

    assert (found.has_ordinal, found.index) == (False, None)
    assert found.id == member_id("chat-7", None) != 7


def test_an_address_of_the_newer_kind_is_put_in_brackets() -> None:
    assert of(decoded(status={"podIP": "fd00::7"})).address == "[fd00::7]:8080"


def test_what_a_member_has_written_is_read_as_it_was() -> None:
    assert of(written()) == MEMBER


def test_nothing_has_to_be_written_twice() -> None:
    assert changes(written(), MEMBER) == ({}, {})


def test_only_what_differs_has_to_be_written() -> None:
    served = msgspec.structs.replace(MEMBER, is_ready=True)

    assert changes(written(), served) == ({"hpa_scaling_ready": "1"}, {})


def test_what_an_earlier_run_of_the_container_has_written_counts_no_longer() -> None:
    found = of(written(**containers(main=1)))

    assert (found.boot, found.is_target, found.labels) == ("u/1", False, {})
    assert found.index == 3


def test_a_restart_beside_the_container_that_is_named_means_nothing() -> None:
    labels, annotations = changes(decoded(), MEMBER)
    metadata = {"labels": labels, "annotations": annotations}
    pod = decoded("main", metadata=metadata, status=containers(main=0, mesh=4))

    assert of(pod) == MEMBER


def test_who_has_left_is_no_member_until_the_container_starts_again() -> None:
    assert member_of(written(has_left=True), NUMBERING) is None
    assert of(written(has_left=True, **containers(main=1))).boot == "u/1"
    assert written(has_left=True).labels == {"hpa_scaling_target": "0", "hpa_scaling_ready": "0"}


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_nobody_is_in_a_pod_that_has_ended(phase: str) -> None:
    assert member_of(written(phase=phase), NUMBERING) is None


def test_nobody_is_in_a_pod_that_has_not_begun_unless_somebody_writes() -> None:
    assert member_of(decoded(status={"phase": "Pending"}), NUMBERING) is None
    assert of(written(phase="Pending")).is_alive


def test_a_pod_that_is_about_to_end_stays_ready_while_its_label_says_so() -> None:
    serving = msgspec.structs.replace(MEMBER, is_ready=True)
    labels, annotations = changes(decoded(), serving)
    ending = {"deletionTimestamp": "2026-11-30T20:00:00Z"}
    found = of(decoded(metadata={"labels": labels, "annotations": annotations, **ending}))

    assert (found.is_stopping, found.is_alive, found.is_ready) == (True, False, True)


def test_a_container_that_does_not_run_is_not_alive() -> None:
    waiting = {
        "name": "main",
        "restartCount": 0,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    }

    assert not of(written(containerStatuses=[waiting])).is_alive


def test_labels_that_others_wrote_count_where_no_run_is_named() -> None:
    labels = {"hpa_scaling_target": "1", "hpa_scaling_ready": "1"}

    found = of(decoded(metadata={"labels": labels}))
    assert (found.is_target, found.is_ready) == (True, True)


@pytest.mark.parametrize("text", ["{", '{"restarts": "many"}', "null", "1"])
def test_an_annotation_that_cannot_be_read_is_none(text: str) -> None:
    pod = decoded(metadata={"annotations": {ANNOTATION: text}})

    assert pod.written is None
    assert of(pod).boot == "u/0"


def test_a_pod_without_a_name_is_none() -> None:
    with pytest.raises(MalformedObject, match=r"metadata\.name"):
        decode_replica_pod(b"{}")


@pytest.mark.parametrize(("text", "cost"), [("-1000", -1000), ("7", 7), ("much", 0), ("", 0)])
def test_what_its_deletion_costs_is_what_its_annotation_says(text: str, cost: int) -> None:
    pod = decoded(metadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": text}})

    assert of(pod).deletion_cost == cost


def test_a_pod_is_ready_when_its_condition_says_so() -> None:
    """Covers R-19 in part. Whatever the labels say."""
    unready = [{"type": "Ready", "status": "False"}, {"type": "Initialized", "status": "True"}]

    assert of(written()).is_pod_ready
    assert not of(written(conditions=unready)).is_pod_ready
    assert of(written(conditions=unready)).is_target
