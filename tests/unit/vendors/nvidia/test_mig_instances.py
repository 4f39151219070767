"""The life of a MIG instance: free, reserved, realised, released; and what closes a card meanwhile."""

import json
from collections.abc import Callable

import pytest

from springtide.model.device import Allocation
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import FAMILY
from springtide.wire.hami import mig
from tests.clusters import VGPU_NODE
from tests.unit.vendors.nvidia.building import (
    MIG_ALLOCATIONS,
    TO_ALLOCATE,
    Cluster,
    card,
    container,
    mig_card,
    pod,
    registered,
)

MIG_POD = {"nvidia.com/vgpu-mode": "mig"}
Change = Callable[[dict[str, object]], dict[str, object]]


def wanted(name: str, mem: int = 10000, count: int = 1) -> Pod:
    return pod(container(gpu=count, mem=mem), annotations=MIG_POD, name=name)


def stored(asking: Pod, notes: dict[str, str]) -> Pod:
    """Return the pod as it stands once it was placed on the node."""
    return pod(*asking.spec.containers, annotations=MIG_POD | notes | {VGPU_NODE: "n1"})


def reserved(cluster: Cluster, asking: Pod) -> dict[str, str]:
    """Place a pod on the node, and return what is written of it."""
    _, allocation = cluster.schedule(asking)
    return FAMILY.encode(allocation)


def realised(notes: dict[str, str], change: Change = lambda entry: entry) -> dict[str, str]:
    """Return the annotations as the plugin leaves them once the instances exist."""
    entries = json.loads(notes[MIG_ALLOCATIONS])
    for number, entry in enumerate(entries):
        entry |= {"migUUID": f"MIG-{number}", "gpuInstanceID": number, "computeInstanceID": 0}
    return notes | {
        MIG_ALLOCATIONS: json.dumps([change(entry) for entry in entries]),
        TO_ALLOCATE: ";",
    }


def starts(cluster: Cluster) -> list[int]:
    view = cluster.ledger.view(0, "NVIDIA")
    assert view is not None
    return sorted(place.start for use in view.uses for place in use.occupied)


def is_closed(cluster: Cluster) -> bool:
    view = cluster.ledger.view(0, "NVIDIA")
    assert view is not None
    return any(use.opaque for use in view.uses)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(registered([mig_card()]))


def test_a_free_slot_is_reserved_by_the_placement(cluster: Cluster) -> None:
    notes = reserved(cluster, wanted("first"))

    (entry,) = mig.decode(notes[MIG_ALLOCATIONS])

    assert (entry.profile, entry.placement.start, entry.is_realised) == ("2g.10gb", 0, False)
    assert starts(cluster) == [0]


def test_what_is_reserved_and_what_exists_counts_alike(cluster: Cluster) -> None:
    first = wanted("first", count=2)
    notes = reserved(cluster, first)
    before = cluster.ledger.view(0, "NVIDIA")

    cluster.ledger.release(first.uid)
    cluster.hold(stored(first, realised(notes)))

    assert cluster.ledger.view(0, "NVIDIA") == before
    assert all(entry.is_realised for entry in mig.decode(realised(notes)[MIG_ALLOCATIONS]))
    assert cluster.texts(wanted("next")) == {"n1": "GPU-m,NVIDIA,10240,28:;"}


def test_a_realised_instance_is_read_as_it_was_reserved(cluster: Cluster) -> None:
    first = wanted("first")
    notes = reserved(cluster, first)

    as_reserved, as_realised = (
        FAMILY.decode(stored(first, each)) for each in (notes, realised(notes))
    )

    assert isinstance(as_realised, Allocation)
    assert as_realised == as_reserved


def test_an_instance_is_released_with_its_pod(cluster: Cluster) -> None:
    first, second = wanted("first"), wanted("second")
    reserved(cluster, first)
    reserved(cluster, second)
    assert starts(cluster) == [0, 2]

    cluster.ledger.release(first.uid)
    notes = reserved(cluster, wanted("third"))

    assert starts(cluster) == [0, 2]
    assert json.loads(notes[MIG_ALLOCATIONS])[0]["placement"] == {"start": 0, "size": 2}


def without(name: str) -> Change:
    return lambda entry: {key: value for key, value in entry.items() if key != name}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(without("migUUID"), id="no id"),
        pytest.param(without("gpuInstanceID"), id="no GPU instance"),
        pytest.param(without("computeInstanceID"), id="no compute instance"),
        pytest.param(lambda entry: entry | {"migUUID": ""}, id="an empty id"),
        pytest.param(without("placement"), id="no placement"),
    ],
)
def test_t12_half_an_identity_closes_the_card_while_the_pod_holds_it(
    cluster: Cluster, change: Change
) -> None:
    first = wanted("first")
    notes = reserved(cluster, first)
    cluster.ledger.release(first.uid)

    cluster.hold(stored(first, realised(notes, change)))

    assert is_closed(cluster)
    assert cluster.texts(wanted("next")) == {"n1": "1/1 CardNotHealth"}
    cluster.ledger.release("uid-pod")
    assert not is_closed(cluster)
    assert cluster.texts(wanted("next")) == {"n1": "GPU-m,NVIDIA,10240,28:;"}


def test_a_card_that_left_mig_mode_is_closed_for_what_is_still_reserved(cluster: Cluster) -> None:
    first = wanted("first")
    notes = reserved(cluster, first)
    switched = Cluster(registered([card("GPU-m", memory_mib=40960)]))

    switched.hold(stored(first, realised(notes)))

    assert is_closed(switched)
    answer = switched.answers(pod(container(gpu=1, mem=1000), name="next"))["n1"]
    assert isinstance(answer, Refusal)
    assert answer.text == "1/1 CardNotHealth"


def test_the_whole_card_is_cut_into_as_many_instances_as_it_has_slots(cluster: Cluster) -> None:
    for number in range(7):
        reserved(cluster, wanted(f"p{number}", mem=5000))

    assert starts(cluster) == list(range(7))
    assert cluster.texts(wanted("eighth", mem=5000)) == {"n1": "1/1 CardTimeSlicingExhausted"}
