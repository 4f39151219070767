"""The start of an estimate: an empty copy of the template, and where the search begins."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from springtide.engine.capacity.shortage import shortage
from springtide.engine.capacity.states import DeviceStates
from springtide.engine.dynamic_resources.copies import moved
from springtide.engine.framework.ask import reads_others
from springtide.engine.framework.dynamic_resources import DynamicResources
from springtide.engine.framework.node_resources_fit import NodeResourcesFit
from springtide.engine.placement.beyond_quota import with_numbers
from springtide.engine.placement.classes import PodClass, standing_holding
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.templates import Template
from springtide.model.device import DeviceView, Inventory, nameless
from springtide.model.ledger import Holding
from springtide.model.overlay import Overlay
from springtide.model.presence import standing
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import HeldClaim


class DeviceTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What the new nodes have of one device family, and how much of it is in use."""

    family: str
    memory_used_mib: int = 0
    memory_total_mib: int = 0
    cores_used: int = 0
    cores_total: int = 0


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """What an estimate starts from.

    `verdicts` says for every class to be placed what an empty new node answers: a Refusal, or None
    if it takes the pod; `devices` are the states that a new node's devices may come to, `standing` is
    what the template's own pods hold. New nodes follow the rows of the ledger in the search order.
    """

    template: Template
    tables: Tables
    overlay: Overlay
    devices: DeviceStates
    verdicts: Mapping[PodClass, Refusal | None]
    standing: tuple[Holding, ...]

    def name(self, index: int) -> str:
        """Return the name of the new node with this index."""
        return f"{self.template.node.name}-e-{index}"

    def add(self, name: str) -> int:
        """Add a copy of the template with its pods to the overlay and return its row."""
        template = self.template
        row = self.overlay.add_node(template.node, dict(template.inventories), name=name)
        for held in self.standing:
            uses = template.device_uses.get(held.uid, ())
            claims = tuple(HeldClaim("", moved(each, name)) for each in uses)
            own = replace(held, row=row, uid=f"{name}/{held.uid}", device_claims=claims)
            self.overlay.hold(own)
        return row


Pools = dict[tuple[tuple[str, Inventory], ...], DeviceStates]
"""Device states by the devices that they are states of, shared by several estimates."""


def begin(
    template: Template, tables: Tables, overlay: Overlay, classes: Iterable[PodClass]
) -> Start:
    """Ask an empty copy of the template about every class, and return where to start from."""
    return begin_all([template], tables, overlay, classes)[0]


def begin_all(
    templates: Sequence[Template], tables: Tables, overlay: Overlay, classes: Iterable[PodClass]
) -> list[Start]:
    """Ask an empty copy of every template about every class, and return where to start from.

    The copies stand side by side while they are asked, unless a pod's rules read other nodes.
    """
    wanted = list(classes)
    own = [pod.spec for template in templates for pod in template.pods]
    is_read = any(each.framework.reads_others for each in wanted) or reads_others(own)
    pools: Pools = {}
    starts = [
        Start(
            template=template,
            tables=tables,
            overlay=overlay,
            devices=_states(template, tables, pools),
            verdicts={},
            standing=_standing(template, is_read=is_read),
        )
        for template in templates
    ]
    if is_read:
        return [_asked([start], wanted)[0] for start in starts]
    return _asked(starts, wanted)


def _asked(starts: Sequence[Start], classes: Sequence[PodClass]) -> list[Start]:
    """Return the starts with the verdicts of their templates, which stand side by side."""
    if not starts:
        return []
    with starts[0].overlay.trial():
        rows = [start.add(start.template.node.name) for start in starts]
        starts[0].tables.ask_ahead(classes)
        asked = [
            [
                (pod_class, _verdict(start, pod_class, row))
                for start, row in zip(starts, rows, strict=True)
            ]
            for pod_class in classes
        ]
    return [
        replace(start, verdicts=dict(each[index] for each in asked))
        for index, start in enumerate(starts)
    ]


def _standing(template: Template, *, is_read: bool) -> tuple[Holding, ...]:
    """Return what the pods of a new node hold; what they show to others only if somebody reads it."""
    return tuple(
        standing_holding(pod, 0, presence=standing(pod) if is_read else None)
        for pod in template.pods
    )


def _states(template: Template, tables: Tables, pools: Pools) -> DeviceStates:
    key = tuple((family, nameless(inventory)) for family, inventory in template.inventories)
    if key not in pools:
        pools[key] = DeviceStates(key, tables)
    return pools[key]


def _verdict(start: Start, pod_class: PodClass, row: int) -> Refusal | None:
    """Return why a new node's row refuses the class, or None if it takes the pod.

    A shortage comes with its numbers. Where a family's devices are unknown, the template says why.
    """
    answer = start.tables.place(pod_class, row)
    if not isinstance(answer, Refusal):
        return None
    if answer.rule == NodeResourcesFit.name:
        free = start.overlay.ledger.resources.free(row)
        return replace(answer, detail=shortage(answer, pod_class, free))
    if answer.rule == DynamicResources.name:
        return replace(answer, detail=start.tables.claims_shortfall(pod_class, row))
    inventory = dict(start.template.inventories).get(answer.rule)
    if inventory is None:
        return dict(start.template.refusals).get(answer.rule, answer)
    ask = next((ask for ask in pod_class.asks if ask.family == answer.rule), None)
    if ask is None:
        return answer
    detail = start.tables.families[ask.family].detail(ask, inventory, answer)
    return replace(
        answer, detail=with_numbers(detail, answer, pod_class=pod_class, tables=start.tables)
    )


def device_totals(views: Iterable[tuple[DeviceView, int]]) -> tuple[DeviceTotals, ...]:
    """Return the sums over device views, each counted as often as given, by family."""
    sums: dict[str, DeviceTotals] = {}
    for view, count in views:
        family = view.inventory.family
        total = sums.get(family, DeviceTotals(family=family))
        devices = view.inventory.devices
        sums[family] = DeviceTotals(
            family=family,
            memory_used_mib=total.memory_used_mib
            + count * sum(use.memory_mib for use in view.uses),
            memory_total_mib=total.memory_total_mib + count * sum(d.memory_mib for d in devices),
            cores_used=total.cores_used + count * sum(use.cores for use in view.uses),
            cores_total=total.cores_total + count * sum(device.cores for device in devices),
        )
    return tuple(sums.values())
