"""VolumeBinding: claims in order, volumes within reach, volumes found, volumes to be made."""

import numpy as np
import pytest
from msgspec.structs import replace

from springtide.base import quantity
from springtide.base.selectors import label_selector
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.rule import Ready, selection
from springtide.engine.framework.volume_binding import VolumeBinding
from springtide.engine.simulation.sanitise import TEMPLATE_LABEL
from springtide.model.pod import Owner
from springtide.model.storage import Claim, CsiDriver, PersistentVolume, StorageCapacity
from springtide.model.volumes import EphemeralVolume
from tests.unit.engine.framework.asking import answers, ledger_of, roomy, unresolvable
from tests.unit.engine.framework.storing import (
    CLASS,
    DRIVER,
    bound,
    late_class,
    stored,
    using,
    volume,
    waiting,
)

RULE = "VolumeBinding"
OUT_OF_REACH = unresolvable(RULE, "node(s) didn't match PersistentVolume's node affinity")
NO_VOLUME = unresolvable(RULE, "node(s) didn't find available persistent volumes to bind")
NO_SPACE = unresolvable(RULE, "node(s) did not have enough free storage")
GONE = unresolvable(
    RULE, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
)
ZONES = [roomy("a", {"zone": "a"}), roomy("b", {"zone": "b"})]
NO_PROVISIONER = "kubernetes.io/no-provisioner"


# Claims that are not in order


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (
            replace(bound("data", "pv"), phase="Lost"),
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
        ),
        (
            replace(bound("data", "pv"), is_terminating=True),
            'persistentvolumeclaim "data" is being deleted',
        ),
        (
            replace(waiting("data"), class_name=""),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            replace(waiting("data"), volume="pv"),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ],
)
def test_a_claim_that_is_not_in_order_rejects_the_pod(claim: Claim, reason: str) -> None:
    storage = stored(claim, volume("pv"), late_class())

    assert answers(using("data"), [roomy()], storage=storage) == [unresolvable(RULE, reason)]


def test_a_claim_that_is_to_be_made_for_the_pod_is_waited_for() -> None:
    pending = using(EphemeralVolume("scratch"))
    reason = (
        "waiting for ephemeral volume controller to create the "
        'persistentvolumeclaim "pending-scratch"'
    )

    found = answers(pending, [roomy()], storage=stored())

    assert found == [unresolvable(RULE, reason)]


def test_a_claim_of_that_name_must_be_the_pods_own() -> None:
    stray = waiting("pending-scratch")
    own = replace(stray, owner=Owner(kind="Pod", name="pending", uid="pending"))
    pending = using(EphemeralVolume("scratch"))

    (refusal,) = answers(pending, [roomy()], storage=stored(stray, late_class()))
    (taken,) = answers(pending, [roomy()], storage=stored(own, late_class()))

    reason = "PVC default/pending-scratch was not created for pod default/pending"
    assert refusal == unresolvable(RULE, f"{reason} (pod is not owner)")
    assert taken is None


# Bound claims


def test_a_volume_is_used_where_it_can_be_reached() -> None:
    storage = stored(bound("data", "pv"), volume("pv", zone="a"))

    assert answers(using("data"), ZONES, storage=storage) == [None, OUT_OF_REACH]


def test_a_volume_that_is_gone_is_the_reason_where_the_others_are_in_reach() -> None:
    storage = stored(bound("one", "pv"), bound("two", "lost"), volume("pv", zone="a"))
    ledger = ledger_of(ZONES)

    prepared = VolumeBinding(storage).prepare(ask_of(using("one", "two")), ledger)

    assert isinstance(prepared, Ready)
    outcome = prepared.check.evaluate(ledger, selection(np.arange(2)))
    assert outcome is not None
    assert outcome.detail is not None
    reasons = [prepared.check.reasons(int(bits)) for bits in outcome.detail]
    assert reasons == [GONE.reasons, OUT_OF_REACH.reasons]


# Claims that wait, and volumes that are there


def test_a_waiting_claim_takes_a_volume_that_is_there() -> None:
    storage = stored(
        waiting("data"), volume("pv", zone="a"), late_class(provisioner=NO_PROVISIONER)
    )

    assert answers(using("data"), ZONES, storage=storage) == [None, NO_VOLUME]


@pytest.mark.parametrize(
    "unfit",
    [
        volume("pv", size="1Gi"),
        replace(volume("pv"), phase="Released"),
        replace(volume("pv"), mode="Block"),
        replace(volume("pv"), class_name="other"),
        replace(volume("pv"), access_modes=("ReadOnlyMany",)),
        replace(volume("pv"), is_terminating=True),
        replace(volume("pv"), attributes_class="gold"),
        volume("pv", reserved_for="other"),
    ],
)
def test_a_volume_must_suit_the_claim(unfit: PersistentVolume) -> None:
    storage = stored(waiting("data"), unfit, late_class(provisioner=NO_PROVISIONER))

    assert answers(using("data"), [roomy()], storage=storage) == [NO_VOLUME]


def test_a_selector_chooses_among_volumes() -> None:
    picky = replace(waiting("data"), selector=label_selector({"tier": "gold"}))
    plain, gold = volume("pv", zone="a"), volume("gold", zone="b", labels={"tier": "gold"})
    storage = stored(picky, plain, gold, late_class(provisioner=NO_PROVISIONER))

    assert answers(using("data"), ZONES, storage=storage) == [NO_VOLUME, None]


def test_a_selector_that_does_not_parse_chooses_nothing() -> None:
    odd = replace(waiting("data"), selector=label_selector({"tier": "not valid!"}))
    storage = stored(odd, volume("pv"), late_class(provisioner=NO_PROVISIONER))

    assert answers(using("data"), [roomy()], storage=storage) == [NO_VOLUME]


def test_a_volume_that_is_reserved_for_the_claim_is_the_only_one() -> None:
    storage = stored(
        waiting("data"),
        volume("pv", zone="a"),
        volume("reserved", zone="b", reserved_for="data"),
        late_class(provisioner=NO_PROVISIONER),
    )

    assert answers(using("data"), ZONES, storage=storage) == [NO_VOLUME, None]


def test_a_claim_that_is_named_twice_takes_a_second_volume() -> None:
    reserved = volume("reserved", reserved_for="data")
    none_made = late_class(provisioner=NO_PROVISIONER)
    alone = stored(waiting("data"), reserved, none_made)
    beside_another = stored(waiting("data"), reserved, volume("pv"), none_made)

    found = [
        answers(using("data", "data"), [roomy()], storage=each) for each in (alone, beside_another)
    ]

    assert found == [[NO_VOLUME], [None]]


def test_a_volume_serves_one_claim_and_the_smallest_claim_chooses_first() -> None:
    claims = (waiting("small", size="1Gi"), waiting("large", size="8Gi"))
    none_made = late_class(provisioner=NO_PROVISIONER)
    one = stored(*claims, volume("pv"), none_made)
    two = stored(*claims, volume("pv"), volume("tiny", size="2Gi"), none_made)

    found = [answers(using("large", "small"), [roomy()], storage=each) for each in (one, two)]

    assert found == [[NO_VOLUME], [None]]


# Volumes to be made


def test_a_volume_is_made_where_the_class_allows_it() -> None:
    storage = stored(waiting("data"), late_class(zones=["b"]))

    assert answers(using("data"), ZONES, storage=storage) == [NO_VOLUME, None]


def test_a_claim_that_is_meant_for_a_node_goes_nowhere_else() -> None:
    storage = stored(waiting("data", selected_node="b"), volume("pv"), late_class())

    assert answers(using("data"), ZONES, storage=storage) == [NO_VOLUME, None]


def room(zone: str, capacity: str, volume_max: str = "") -> StorageCapacity:
    return StorageCapacity(
        name=zone,
        class_name=CLASS,
        capacity=quantity.parse(capacity),
        volume_max=quantity.parse(volume_max) if volume_max else None,
        nodes=label_selector({"zone": zone}),
    )


@pytest.mark.parametrize(
    ("capacities", "expected"),
    [
        ((), [NO_SPACE, NO_SPACE]),
        ((room("a", "5Gi"), room("b", "4Gi")), [None, NO_SPACE]),
        ((room("a", "50Gi", "1Gi"), room("b", "0", "5Gi")), [NO_SPACE, None]),
        ((replace(room("a", "5Gi"), class_name="other"),), [NO_SPACE, NO_SPACE]),
        ((replace(room("a", "5Gi"), nodes=None),), [NO_SPACE, NO_SPACE]),
        ((replace(room("a", "5Gi"), nodes=label_selector({})),), [None, None]),
    ],
)
def test_a_volume_is_made_where_there_is_room(
    capacities: tuple[StorageCapacity, ...], expected: list[object]
) -> None:
    driver = CsiDriver(name=DRIVER, reports_capacity=True)
    storage = stored(waiting("data"), late_class(), driver, *capacities)

    assert answers(using("data"), ZONES, storage=storage) == expected


def test_a_new_node_is_taken_to_have_room() -> None:
    driver = CsiDriver(name=DRIVER, reports_capacity=True)
    new = roomy("new", {TEMPLATE_LABEL: "true"})
    storage = stored(waiting("data"), late_class(), driver)

    assert answers(using("data"), [roomy(), new], storage=storage) == [NO_SPACE, None]


def test_a_driver_that_does_not_report_has_room() -> None:
    storage = stored(waiting("data"), late_class(), CsiDriver(name=DRIVER))

    assert answers(using("data"), [roomy()], storage=storage) == [None]
