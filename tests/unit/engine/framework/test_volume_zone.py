"""VolumeZone by the labels of volumes and nodes."""

import pytest

from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.rule import Rejected
from springtide.engine.framework.volume_zone import VolumeZone
from springtide.model.node import Node
from springtide.model.storage import StorageClass
from tests.unit.engine.framework.asking import answers, ledger_of, roomy, unresolvable
from tests.unit.engine.framework.storing import (
    CLASS,
    bound,
    late_class,
    stored,
    using,
    volume,
    waiting,
)

ZONE = "topology.kubernetes.io/zone"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


@pytest.mark.parametrize(
    ("of_volume", "of_node", "fits"),
    [
        ({ZONE: "a"}, {ZONE: "a"}, True),
        ({ZONE: "a"}, {ZONE: "b"}, False),
        ({ZONE: "a__b"}, {ZONE: "b"}, True),
        ({ZONE: "a"}, {}, True),
        ({ZONE: "a"}, {REGION: "r"}, False),
        ({ZONE: ""}, {ZONE: "b"}, True),
        ({ZONE: "a__"}, {ZONE: "b"}, True),
        ({BETA_ZONE: "a"}, {ZONE: "a"}, True),
        ({BETA_ZONE: "a"}, {ZONE: "b"}, False),
        ({BETA_ZONE: "a"}, {BETA_ZONE: "b", ZONE: "a"}, False),
        ({ZONE: "a"}, {BETA_ZONE: "a"}, False),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False),
    ],
)
def test_a_volume_is_used_in_its_zone(
    of_volume: dict[str, str], of_node: dict[str, str], *, fits: bool
) -> None:
    storage = stored(bound("data", "pv"), volume("pv", labels=of_volume))
    node: Node = roomy(labels=of_node)

    (refusal,) = answers(using("data"), [node], storage=storage)

    expected = unresolvable("VolumeZone", "node(s) had no available volume zone")
    assert refusal == (None if fits else expected)


def test_a_claim_that_waits_has_no_zone() -> None:
    storage = stored(waiting("data"), late_class())

    assert answers(using("data"), [roomy(labels={ZONE: "a"})], storage=storage) == [None]


def test_a_class_without_a_mode_is_complained_about() -> None:
    storage = stored(waiting("data"), StorageClass(name=CLASS))

    (refusal,) = answers(using("data"), [roomy()], storage=storage)

    assert refusal == unresolvable(
        "",
        'running PreFilter plugin "VolumeBinding": '
        'VolumeBindingMode not set for StorageClass "fast"',
    )


def test_the_rule_alone_complains_about_a_class_without_a_mode_as_well() -> None:
    storage = stored(waiting("data"), StorageClass(name=CLASS))
    ask = ask_of(using("data"))

    prepared = VolumeZone(storage).prepare(ask, ledger_of([roomy()]))

    assert prepared == Rejected(
        unresolvable("VolumeZone", f'VolumeBindingMode not set for StorageClass "{CLASS}"')
    )
