"""Attempts at a pod on a few nodes, for tests."""

from collections.abc import Sequence

from springtide.engine.attempt import Attempt, Setting, attempt
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.framework.nominated import Nominations, Nominee
from springtide.engine.placement.classes import standing_holding
from springtide.engine.preemption import Evictable, Residents
from springtide.model.disruption import DisruptionBudget
from springtide.model.ledger import Ledger
from springtide.model.neighbours import ALONE, Neighbours
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Container, HostPort, Pod, PodSpec
from springtide.model.presence import standing
from springtide.model.storage import Storage
from tests.builders import resources


def pod(
    name: str = "pending",
    *,
    on: str = "",
    nominated: str = "",
    cpu: int = 1,
    memory: str = "0",
    port: int = 0,
    priority: int = 0,
    may_preempt: bool = True,
    labels: dict[str, str] | None = None,
    neighbours: Neighbours = ALONE,
    started: str = "",
    is_preempted: bool = False,
) -> Pod:
    """Return a pod that asks for so many cores."""
    container = Container(
        name="main",
        requests=resources({"cpu": cpu, "memory": memory}),
        host_ports=(HostPort(port=port),) if port else (),
    )
    return Pod(
        namespace="team",
        name=name,
        uid=name,
        labels=labels or {},
        node_name=on,
        nominated_node=nominated,
        started=started,
        is_preempted=is_preempted,
        is_terminating=is_preempted,
        spec=PodSpec(
            containers=(container,),
            priority=priority,
            may_preempt=may_preempt,
            neighbours=neighbours,
        ),
    )


def setting(
    nodes: Sequence[Node],
    running: Sequence[Pod] = (),
    *,
    waiting: Sequence[Pod] = (),
    budgets: Sequence[DisruptionBudget] = (),
    config: FrameworkConfig | None = None,
    storage: Storage | None = None,
) -> Setting:
    """Return what an attempt is made on."""
    ledger = Ledger()
    for node in nodes:
        ledger.add_node(node)
    placed = [(ledger.rows[each.node_name], each) for each in running]
    for row, each in placed:
        ledger.hold(standing_holding(each, row, presence=standing(each)))
    nominees = [
        Nominee(
            each, standing_holding(each, ledger.rows[each.nominated_node], presence=standing(each))
        )
        for each in waiting
    ]
    return Setting(
        overlay=Overlay(ledger),
        framework=Framework(config, storage),
        nominations=Nominations(nominees),
        evictable=Evictable(residents=Residents(placed), budgets=tuple(budgets)),
    )


def attempted(pending: Pod, there: Setting, *, deallocation: str = "", offset: int = 0) -> Attempt:
    """Return what becomes of the pod."""
    ask = ask_of(pending, with_identity=True)
    return attempt(pending, ask, there, deallocation=deallocation, offset=offset)
