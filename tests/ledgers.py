"""Nodes, holdings and the whole content of a ledger, for tests that draw them at random."""

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from springtide.base.selectors import label_selector
from springtide.base.taints import Taint
from springtide.model.device import Inventory, MigPlacement, Share
from springtide.model.device_columns import DeviceColumns
from springtide.model.ledger import Holding, Ledger
from springtide.model.neighbours import AffinityTerm, Neighbours
from springtide.model.node import Node
from springtide.model.pod import HostPort, PodSpec
from springtide.model.preferences import Preferences, PreferredPods
from springtide.model.presence import presence
from springtide.model.resource_claims import HeldClaim
from springtide.model.volumes import DiskKind, DiskVolume
from tests.builders import card, cards, mig_card, node
from tests.offers import given, share

NODES: Sequence[Node] = (
    node("plain", labels={"kubernetes.io/hostname": "plain", "zone": "a"}),
    node("tainted", taints=[Taint(key="gpu")]),
    node("single", others={"nvidia.com/gpu": 10}),
    node("wide", cpu="1500m", labels={"zone": "b"}),
    node("mig", is_unschedulable=True),
    node("rich", others={f"example.com/r{index}": index + 1 for index in range(12)}),
)
_DEVICES: Mapping[int, Mapping[str, Inventory]] = {
    2: {"NVIDIA": Inventory("NVIDIA", (card(),))},
    3: {"NVIDIA": Inventory("NVIDIA", cards(5)), "Other": Inventory("Other", cards(2))},
    4: {"NVIDIA": Inventory("NVIDIA", (mig_card(), card("GPU-1")))},
}
_DISKS = tuple(DiskVolume(kind=DiskKind.GCE, name=name) for name in "de")
_DEVICE_CLAIMS = (
    HeldClaim("", given("x")),
    HeldClaim("", share("y", memory="1Gi")),
    HeldClaim("", share("y", cores="5")),
    HeldClaim("default/shared", given("z")),
    HeldClaim("default/other", share("y", memory="2Gi")),
)
_CELLS = (
    "memory_total", "memory_used", "cores_total", "cores_used", "slots_total", "slots_used",
    "model", "mode", "numa", "healthy", "cordoned", "opaque",
)  # fmt: skip


TERMS = st.builds(
    AffinityTerm,
    topology_key=st.sampled_from(["zone", "kubernetes.io/hostname", "rack"]),
    selector=st.sampled_from([None, label_selector({}), label_selector({"app": "a"})]),
    namespaces=st.sampled_from([(), ("x",), ("default", "x")]),
    namespace_selector=st.sampled_from([None, None, label_selector({})]),
)
PRESENCES = st.builds(
    lambda namespace, labels, terms, liked, is_terminating: presence(
        namespace,
        labels,
        PodSpec(neighbours=Neighbours(affinity=tuple(liked), anti_affinity=tuple(terms))),
        is_terminating=is_terminating,
        preferences=Preferences(away=tuple(PreferredPods(2, each) for each in terms)),
    ),
    st.sampled_from(["default", "x"]),
    st.sampled_from([(), (("app", "a"),), (("app", "b"),)]),
    st.lists(TERMS, max_size=2),
    st.lists(TERMS, max_size=1),
    st.booleans(),
)


def inventories_of(kind: int) -> Mapping[str, Inventory]:
    """Return the devices of `NODES[kind]`, by family."""
    return _DEVICES.get(kind, {})


def holdings_on(kinds: Sequence[int]) -> st.SearchStrategy[Holding]:
    """Draw what some pod holds on one of these nodes; overcommitting is allowed."""
    return st.integers(0, len(kinds) - 1).flatmap(lambda row: holdings(row, kinds[row]))


@st.composite
def holdings(draw: st.DrawFn, row: int, kind: int) -> Holding:
    """Draw what some pod holds on this row, which is a node of this kind."""
    names = st.sampled_from(["pods", "cpu", "memory", "nvidia.com/gpu", "example.com/r11", "x/new"])
    amounts = draw(st.dictionaries(names, st.integers(0, 5000), max_size=3))
    ports = st.builds(
        HostPort, port=st.integers(80, 83), host_ip=st.sampled_from(["0.0.0.0", "::"])
    )
    shares = [
        (family, tuple(draw(st.lists(_shares(len(inventory.devices)), min_size=1, max_size=3))))
        for family, inventory in inventories_of(kind).items()
        if draw(st.booleans())
    ]
    return Holding(
        presence=draw(st.none() | PRESENCES),
        uid=f"pod-{draw(st.integers(0, 30))}",
        row=row,
        amounts=tuple(sorted(amounts.items())),
        ports=tuple(draw(st.lists(ports, max_size=2))),
        shares=tuple(shares),
        claims=tuple(draw(st.lists(st.sampled_from(["a/x", "a/y"]), max_size=2, unique=True))),
        disks=tuple(draw(st.lists(st.sampled_from(_DISKS), max_size=2))),
        device_claims=tuple(
            draw(st.lists(st.sampled_from(_DEVICE_CLAIMS), max_size=2, unique_by=lambda c: c.key))
        ),
        unstated=draw(st.none() | st.tuples(st.integers(0, 100), st.integers(0, 100))),
        namespace=draw(st.sampled_from(["a", "b"])),
        charges=draw(st.sampled_from([(), (("x/memory", 5),), (("x/cores", 1), ("x/memory", 0))])),
    )


def _shares(devices: int) -> st.SearchStrategy[Share]:
    return st.builds(
        Share,
        position=st.integers(0, devices - 1),
        slots=st.integers(0, 2),
        memory_mib=st.integers(0, 20000),
        cores=st.integers(0, 100),
        occupied=st.lists(st.builds(MigPlacement, st.integers(0, 6), st.just(1)), max_size=2).map(
            tuple
        ),
        is_opaque=st.booleans(),
    )


def content(ledger: Ledger) -> dict[str, object]:
    """Return everything that a ledger says about its rows, arrays as bytes.

    What has been heard of but is nowhere (a further resource, a device family) does not count.
    """
    count, resources = ledger.count, ledger.resources
    amounts = {
        name: (
            resources.allocatable[index, :count].tobytes(),
            resources.used[index, :count].tobytes(),
        )
        for index, name in enumerate(resources.names.values)
        if resources.allocatable[index, :count].any() or resources.used[index, :count].any()
    }
    return {
        "nodes": (
            list(ledger.nodes),
            list(ledger.names),
            list(ledger.hostnames),
            dict(ledger.rows),
            set(ledger.vacant),
        ),
        "unschedulable": ledger.unschedulable[:count].tobytes(),
        "taints": [ledger.taintsets.values[code] for code in ledger.taintset[:count]],
        "labels": [ledger.labelsets.values[code] for code in ledger.labelset[:count]],
        "amounts": amounts,
        "ports": {row: dict(ports) for row, ports in ledger.ports.items()},
        "claims": {row: dict(claims) for row, claims in ledger.claims.items()},
        "claimed": dict(ledger.claimed),
        "disks": {row: dict(disks) for row, disks in ledger.disks.items()},
        "devices": {
            name: _devices(each, count)
            for name, each in ledger.devices.items()
            if each.closed or (each.inventory[:count] >= 0).any()
        },
        "quotas": ledger.quotas.counts(),
        "held claims": ledger.held_claims.counts(),
        "presences": ledger.presences.content(),
        "leanings": ledger.presences.leanings.content(),
        "unstated": ledger.unstated[:, :count].tobytes(),
        "holdings": dict(ledger.holdings),
    }


def _devices(columns: DeviceColumns, count: int) -> dict[str, object]:
    def row(name: str, index: int) -> object:
        cells = getattr(columns, name)[index].tolist()
        return cells[: columns.count[index]]

    return {
        "inventories": [columns.inventory_at(index) for index in range(count)],
        "cells": {name: [row(name, index) for index in range(count)] for name in _CELLS},
        "occupied": dict(columns.occupied),
        "closed": {row: dict(whys) for row, whys in columns.closed.items()},
    }
