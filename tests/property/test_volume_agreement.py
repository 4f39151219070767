"""The columnar volume rules say of every node what the plain ones say, whatever the storage."""

from collections.abc import Sequence

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from springtide.base import quantity
from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm, label_selector
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.node_volume_limits import NodeVolumeLimits
from springtide.engine.framework.rule import Ready, Rejected, Rule, Skipped, selection
from springtide.engine.framework.volume_binding import VolumeBinding
from springtide.engine.framework.volume_restrictions import VolumeRestrictions
from springtide.engine.framework.volume_zone import VolumeZone
from springtide.model.ledger import Ledger
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.storage import (
    Claim,
    ClaimReference,
    CsiDriver,
    CsiNode,
    PersistentVolume,
    Storage,
    StorageCapacity,
    StorageClass,
)
from springtide.model.volumes import ClaimVolume, DiskKind, DiskVolume, Volume
from tests.reference import volumes as reference
from tests.unit.engine.framework.asking import ledger_of

FEW = 40
"""Drawing a whole storage takes its time."""
ZONE = "topology.kubernetes.io/zone"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
NODES = ["n0", "n1", "n2"]
CLAIMS = ["c0", "c1", "c2"]
VOLUMES = ["v0", "v1", "v2", "v3"]
DRIVERS = ["d0", "d1"]
ZONES = st.sampled_from(["a", "b"])
SIZES = st.sampled_from(["1Gi", "2Gi", "5Gi"]).map(quantity.parse)
FREE = st.sampled_from([False, False, True])


@st.composite
def labels(draw: st.DrawFn) -> dict[str, str]:
    """Draw a zone under either name, neither or both."""
    zones = st.sampled_from(["a", "b", "a__b", ""])
    return draw(st.dictionaries(st.sampled_from([ZONE, BETA_ZONE]), zones, max_size=2))


def expression(key: str, operator: str, values: Sequence[str]) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=tuple(values))


OPERATORS = st.sampled_from(["In", "In", "NotIn"])
EXPRESSIONS = st.builds(
    expression, st.just(HOSTNAME_LABEL), OPERATORS, st.lists(st.sampled_from(NODES), min_size=1)
) | st.builds(expression, st.just(ZONE), OPERATORS, st.lists(ZONES, min_size=1))
TERMS = st.builds(
    NodeSelectorTerm,
    expressions=st.lists(EXPRESSIONS, max_size=2).map(tuple),
    fields=st.just(()) | st.just((expression("metadata.name", "In", ["n0"]),)),
)
REFERENCES = st.builds(
    ClaimReference,
    namespace=st.just("default"),
    name=st.sampled_from(CLAIMS),
    uid=st.sampled_from(["", "c0"]),
)


@st.composite
def volumes(draw: st.DrawFn, name: str) -> PersistentVolume:
    driver = draw(st.sampled_from(["", *DRIVERS]))
    return PersistentVolume(
        name=name,
        labels=draw(labels() | st.just({"tier": "gold"})),
        class_name=draw(st.sampled_from(["late", "late", "soon"])),
        capacity=draw(SIZES),
        access_modes=draw(st.sampled_from([("ReadWriteOnce",), ("ReadOnlyMany",)])),
        phase=draw(st.sampled_from(["Available", "Available", "Released"])),
        claim=draw(st.none() | REFERENCES),
        node_terms=draw(st.none() | st.lists(TERMS, min_size=1, max_size=2).map(tuple)),
        driver=driver,
        handle=name if driver else "",
    )


@st.composite
def claims(draw: st.DrawFn, name: str) -> Claim:
    is_bound = draw(st.booleans())
    gold = label_selector({"tier": "gold"})
    return Claim(
        namespace="default",
        name=name,
        uid=name,
        class_name=draw(st.sampled_from(["late"] * 9 + ["soon", "gone", ""])),
        volume=draw(st.sampled_from([*VOLUMES, *VOLUMES, "gone"])) if is_bound else "",
        is_bound=is_bound,
        selected_node=draw(st.none() | st.none() | st.sampled_from(NODES)),
        access_modes=draw(st.sampled_from([("ReadWriteOnce",), ("ReadWriteOncePod",)])),
        requested=draw(SIZES),
        selector=draw(st.none() | st.none() | st.just(gold)),
        is_terminating=draw(st.sampled_from([False] * 19 + [True])),
    )


CAPACITIES = st.builds(
    StorageCapacity,
    name=st.just("any"),
    class_name=st.sampled_from(["late", "soon"]),
    capacity=SIZES,
    volume_max=st.none() | SIZES,
    nodes=st.none()
    | st.just(label_selector({}))
    | st.sampled_from(NODES).map(lambda name: label_selector({HOSTNAME_LABEL: name}))
    | ZONES.map(lambda zone: label_selector({ZONE: zone})),
)
TOPOLOGIES = st.lists(ZONES, min_size=1, max_size=2).map(lambda zones: (((ZONE, tuple(zones)),),))
LATE = st.builds(
    StorageClass,
    name=st.just("late"),
    provisioner=st.sampled_from([*DRIVERS, "kubernetes.io/no-provisioner"]),
    binding_mode=st.just("WaitForFirstConsumer"),
    topologies=st.just(()) | TOPOLOGIES,
)
SOON = StorageClass(name="soon", provisioner="d0", binding_mode="Immediate")


@st.composite
def storages(draw: st.DrawFn) -> Storage:
    drivers = [
        CsiDriver(name=name, reports_capacity=draw(FREE), must_be_installed=draw(FREE))
        for name in draw(st.lists(st.sampled_from(DRIVERS), unique=True))
    ]
    limits = st.dictionaries(st.sampled_from(DRIVERS), st.none() | st.integers(0, 3))
    csi_nodes = [
        CsiNode(name, tuple(draw(limits).items()))
        for name in draw(st.lists(st.sampled_from(NODES), unique=True))
    ]
    given_claims = CLAIMS if draw(st.integers(0, 4)) else CLAIMS[:2]
    return Storage(
        claims={f"default/{name}": draw(claims(name)) for name in given_claims},
        volumes={name: draw(volumes(name)) for name in VOLUMES},
        classes={"late": draw(LATE), "soon": SOON},
        csi_nodes={each.name: each for each in csi_nodes},
        drivers={each.name: each for each in drivers},
        capacities=tuple(draw(st.lists(CAPACITIES, max_size=3))),
        attached=draw(
            st.dictionaries(
                st.sampled_from(NODES), st.lists(st.sampled_from(VOLUMES), max_size=2).map(tuple)
            )
        ),
    )


DISKS = st.builds(
    DiskVolume,
    kind=st.sampled_from(DiskKind),
    name=st.sampled_from(["x", "y"]),
    monitors=st.sampled_from([("m",), ("m", "n"), ("n",)]),
    is_read_only=st.booleans(),
)
CLAIMED = st.builds(ClaimVolume, st.sampled_from(CLAIMS))
USED = st.lists(CLAIMED | CLAIMED | DISKS, min_size=1, max_size=3)


def pod(used: Sequence[Volume], *, name: str = "pending", on: str = "") -> Pod:
    spec = PodSpec(volumes=tuple(used))
    return Pod(namespace="default", name=name, uid=name, spec=spec, node_name=on)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Node], list[Pod]]:
    nodes = [
        Node(name=name, labels={HOSTNAME_LABEL: name, **draw(labels())})
        for name in NODES[: draw(st.integers(1, 3))]
    ]
    used = draw(st.lists(USED, max_size=3))
    names = st.sampled_from([node.name for node in nodes])
    return nodes, [pod(each, name=f"r{n}", on=draw(names)) for n, each in enumerate(used)]


def reasons(rule: Rule, pending: Pod, ledger: Ledger) -> list[tuple[str, ...]]:
    """Return what a rule says alone, row by row."""
    prepared = rule.prepare(ask_of(pending), ledger)
    if isinstance(prepared, Skipped):
        return [()] * ledger.count
    if isinstance(prepared, Rejected):
        return [prepared.refusal.reasons] * ledger.count
    assert isinstance(prepared, Ready)
    outcome = prepared.check.evaluate(ledger, selection(np.arange(ledger.count)))
    if outcome is None:
        return [()] * ledger.count
    details = np.ones(ledger.count) if outcome.detail is None else outcome.detail
    return [
        prepared.check.reasons(int(bits)) if refused else ()
        for refused, bits in zip(outcome.refused, details, strict=True)
    ]


@settings(max_examples=FEW)
@given(clusters(), USED, storages())
def test_columns_agree_with_one_node_at_a_time(
    cluster: tuple[list[Node], list[Pod]], used: list[Volume], storage: Storage
) -> None:
    nodes, running = cluster
    pending, ledger = pod(used), ledger_of(nodes, running)
    expected = [
        [reference.restrictions(pending, node, running, storage) for node in nodes],
        [reference.limits(pending, node, running, storage) for node in nodes],
        [reference.binding(pending, node, storage) for node in nodes],
        [reference.zone(pending, node, storage) for node in nodes],
    ]
    rules: list[Rule] = [
        VolumeRestrictions(storage),
        NodeVolumeLimits(storage),
        VolumeBinding(storage),
        VolumeZone(storage),
    ]

    ours = [reasons(rule, pending, ledger) for rule in rules]

    for told in {reason for rows in expected for row in rows for reason in row}:
        event(told.split('"')[0])
    assert ours == expected
