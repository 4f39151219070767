"""The published cases of scaling up (rows O-1 to O-27 of the peer's own tests), as data.

Not here: O-11 to O-13 are about a provider that fails to resize groups, one after the other and at
once; a decision is made before anybody resizes. O-26 gets from its caller what the record keeper of a
live cluster knows, that the group is not healthy. O-18 ends as in the recordings (su-0064): where
not all pods fit, no option is left, and nobody is told so; where limits cut an option, everybody is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from springtide.base.selectors import parse_selector
from springtide.base.taints import Taint, Toleration
from springtide.engine.capacity.decision import ALL_OR_NOTHING, Decision
from springtide.engine.capacity.events import not_triggered
from springtide.engine.capacity.explain import LIMIT
from springtide.engine.capacity.minimum import raised
from springtide.engine.capacity.quotas import Quota, tracked
from springtide.engine.capacity.scene import Bounds, Candidate, Scene
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from tests.builders import node, pod, replicas
from tests.decisions import BALANCING, candidate, counts, decided, names, quota, sizes

GPU = "example.com/gpu"
GPU_TAINT = Taint(key="gpu", value="present", effect="NoSchedule")
GPU_TOLERATION = Toleration(key="gpu", operator="Exists", effect="NoSchedule")
NOT_READY = Refusal(rule=LIMIT, reasons=("not ready for scale-up",))
BALANCED = {"similarity": BALANCING.similarity}
EXCEEDED = 'exceeded quota: "cluster-wide", resources: '


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One published case: what is asked, and as much of the answer as is published."""

    groups: Sequence[Candidate]
    pending: Sequence[Pod]
    existing: Sequence[Node] = ()
    choose: str = ""
    bounds: Bounds = Bounds()
    manner: Mapping[str, Any] = {}
    grown: Mapping[str, int]
    options: Mapping[str, int] | None = None
    triggered: int | None = None
    awaiting: Sequence[str] = ()
    remaining: Sequence[str] = ()
    skipped: Mapping[str, str] = {}

    def decided(self) -> Decision:
        """Return the decision on the case."""
        return decided(
            self.groups,
            self.pending,
            existing=self.existing,
            choose=self.choose,
            bounds=self.bounds,
            **self.manner,
        )


def gpu_node(count: int) -> Node:
    return node(cpu=16, others={GPU: count} if count else None, taints=[GPU_TAINT] if count else ())


def gpu_pod(count: int, *, cpu: str = "1m") -> Pod:
    return pod("p", cpu=cpu, others={GPU: count}, tolerations=[GPU_TOLERATION])


def limited(**cores: int) -> Bounds:
    """Return quotas of cores, each of the nodes of one group or, as `all`, of the cluster."""
    return Bounds(
        quotas=tuple(
            Quota(
                name=name,
                limits=(("cpu", limit),),
                selector=None if name == "all" else parse_selector(f"pool={name}"),
            )
            for name, limit in cores.items()
        )
    )


TWO_OF_TWO_CORES = [node(cpu=2, labels={"pool": name}) for name in ("ng1", "ng2")]
TWO_GROUPS = [candidate("ng1", node(cpu=2)), candidate("ng2", node(cpu=2))]
SIXTEEN_CORES = node(cpu=16)
WHOLE = candidate("ng2", node(cpu=1, memory=1000), size=0, max_size=5, is_zero_or_max=True)
EMPTY_NODES = [node(cpu=0, memory=0), node(cpu=0, memory=0)]

ROWS = {
    "O-1 the group that is large enough": Row(
        groups=[candidate("ng1", node(cpu="100m")), candidate("ng2", node(cpu=1))],
        pending=[pod("p", cpu="500m")],
        grown={"ng2": 2},
        triggered=1,
    ),
    "O-2 helped, waiting and left": Row(
        groups=[
            candidate("ng1", node(cpu="100m", memory=1000)),
            candidate("ng2", node(cpu=1, memory=100)),
        ],
        pending=[pod("fits", cpu="900m"), pod("huge", cpu=2), pod("heavy", memory=200)],
        choose="ng2",
        grown={"ng2": 2},
        triggered=1,
        awaiting=["heavy"],
        remaining=["huge"],
    ),
    "O-3 cores of the cluster": Row(
        groups=[candidate("ng1", node(cpu=2)), candidate("ng2", node(cpu=4))],
        pending=replicas(2, pod("p", cpu=2)),
        existing=[node(cpu=2), node(cpu=4)],
        choose="ng1",
        bounds=quota(cpu=9),
        grown={"ng1": 2},
        options={"ng1": 2},
        triggered=2,
        skipped={"ng2": f"{EXCEEDED}cpu"},
    ),
    "O-4 nodes of no group count too": Row(
        groups=[candidate("ng1", node(cpu=2))],
        pending=replicas(2, pod("p", cpu=2)),
        existing=[node(cpu=2), node(cpu=4)],
        bounds=quota(cpu=9),
        grown={"ng1": 2},
        triggered=2,
    ),
    "O-5 memory of the cluster": Row(
        groups=[candidate("ng1", node(cpu=2, memory=100))],
        pending=replicas(3, pod("p", cpu=2, memory=100)),
        existing=[node(cpu=2, memory=100), node(cpu=4, memory=1000)],
        bounds=quota(memory=1300),
        grown={"ng1": 3},
        options={"ng1": 3},
    ),
    "O-6 quotas leave both a node": Row(
        groups=TWO_GROUPS,
        pending=[pod("p", cpu=1)],
        existing=TWO_OF_TWO_CORES,
        bounds=limited(all=8, ng2=4),
        grown={"ng1": 2},
        options={"ng1": 1, "ng2": 1},
    ),
    "O-7 a quota leaves one of them none": Row(
        groups=TWO_GROUPS,
        pending=[pod("p", cpu=1)],
        existing=TWO_OF_TWO_CORES,
        bounds=limited(ng2=2),
        grown={"ng1": 2},
        options={"ng1": 1},
        skipped={"ng2": 'exceeded quota: "ng2", resources: cpu'},
    ),
    "O-8 quotas leave nobody a node": Row(
        groups=TWO_GROUPS,
        pending=[pod("p", cpu=1)],
        existing=TWO_OF_TWO_CORES,
        bounds=limited(ng1=2, ng2=2),
        grown={},
        options={},
        remaining=["p"],
        skipped={name: f'exceeded quota: "{name}", resources: cpu' for name in ("ng1", "ng2")},
    ),
    "O-9 a quota of one group cuts its growth": Row(
        groups=TWO_GROUPS[:1],
        pending=replicas(3, pod("p", cpu=2)),
        existing=TWO_OF_TWO_CORES[:1],
        bounds=limited(ng1=6),
        grown={"ng1": 3},
        options={"ng1": 3},
    ),
    "O-10 similar groups share": Row(
        groups=[candidate("ng1", node(cpu="1500m")), candidate("ng2", node(cpu="1500m"))],
        pending=replicas(2, pod("p", cpu="1400m")),
        manner=BALANCED,
        grown={"ng1": 2, "ng2": 2},
    ),
    "O-14 nodes of the cluster": Row(
        groups=[candidate("ng1", node(cpu="100m")), candidate("ng2", node(cpu=4))],
        pending=replicas(3, pod("p", cpu=4)),
        existing=[node(cpu="100m"), node(cpu=4)],
        bounds=Bounds(nodes_total_max=3),
        grown={"ng2": 2},
    ),
    "O-15 a pod that tolerates devices may use both": Row(
        groups=[candidate("gpu-pool", gpu_node(1)), candidate("std-pool", gpu_node(0))],
        pending=[pod("p", cpu=2, tolerations=[GPU_TOLERATION])],
        choose="std-pool",
        grown={"std-pool": 2},
        options={"gpu-pool": 1, "std-pool": 1},
    ),
    "O-16 a pod that wants a device": Row(
        groups=[candidate("gpu-pool", gpu_node(1)), candidate("std-pool", gpu_node(0))],
        pending=[gpu_pod(1, cpu="2")],
        grown={"gpu-pool": 2},
        options={"gpu-pool": 1},
    ),
    "O-17 devices a node": Row(
        groups=[
            *(candidate(f"gpu-{count}", gpu_node(count)) for count in (1, 2, 4)),
            candidate("std", gpu_node(0)),
        ],
        pending=replicas(3, gpu_pod(1)),
        choose="gpu-1",
        grown={"gpu-1": 4},
        options={"gpu-1": 3, "gpu-2": 2, "gpu-4": 1},
    ),
    "O-18 all or nothing": Row(
        groups=[candidate("ng1", node(cpu=1))],
        pending=replicas(11, pod("p", cpu=1)),
        manner={"is_all_or_nothing": True},
        grown={},
        options={},
    ),
    "O-19 a group of all or none": Row(
        groups=[candidate("ng1", node(cpu="100m")), WHOLE],
        pending=[pod("p", cpu=1, memory=1000)],
        grown={"ng2": 5},
        options={"ng2": 5},
    ),
    "O-20 groups of all or none share nothing": Row(
        groups=[
            candidate("ng2", node(cpu=1), size=0, max_size=5, is_zero_or_max=True),
            candidate("ng3", node(cpu=1), size=0, max_size=4, is_zero_or_max=True),
        ],
        pending=replicas(4, pod("p", cpu=1)),
        choose="ng3",
        manner=BALANCED,
        grown={"ng3": 4},
    ),
    "O-21 all or none and cores": Row(
        groups=[WHOLE],
        pending=[pod("p", cpu=1)],
        existing=EMPTY_NODES,
        bounds=quota(cpu=3),
        grown={},
        remaining=["p"],
        skipped={"ng2": f"{EXCEEDED}cpu"},
    ),
    "O-22 all or none and memory": Row(
        groups=[WHOLE],
        pending=[pod("p", cpu=1)],
        existing=EMPTY_NODES,
        bounds=quota(memory=3000),
        grown={},
        remaining=["p"],
        skipped={"ng2": f"{EXCEEDED}memory"},
    ),
    "O-23 all or none and nodes": Row(
        groups=[WHOLE],
        pending=[pod("p", cpu=1)],
        existing=EMPTY_NODES,
        bounds=Bounds(nodes_total_max=5),
        grown={},
        remaining=["p"],
        skipped={"ng2": "atomic scale-up exceeds cluster node count limit"},
    ),
    "O-24 full and larger groups get none": Row(
        groups=[
            candidate("ng1", node(cpu="100m"), size=1, max_size=1),
            candidate("ng2", node(cpu="100m"), size=1, max_size=2),
            candidate("ng3", node(cpu="100m"), size=1, max_size=5),
            candidate("ng4", node(cpu="100m"), size=3, max_size=5),
        ],
        pending=replicas(2, pod("p", cpu="80m")),
        manner=BALANCED,
        grown={"ng2": 2, "ng3": 2},
        skipped={"ng1": "max node group size reached"},
    ),
    "O-26 a group that is not healthy": Row(
        groups=[candidate("ng1", node(cpu=1), closed=NOT_READY)],
        pending=[pod("p", cpu="500m")],
        grown={},
        options={},
        remaining=["p"],
        skipped={"ng1": "not ready for scale-up"},
    ),
    "O-27 a selector that nothing matches": Row(
        groups=[candidate("ng1", node(cpu=1))],
        pending=[pod("p", cpu="500m", selector={"nothing": "matches"})],
        grown={},
        options={},
        remaining=["p"],
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_we_decide_as_published(row: Row) -> None:
    decision = row.decided()

    assert sizes(decision) == row.grown
    assert row.options is None or dict(counts(decision)) == row.options
    assert row.triggered in {None, len(decision.triggered)}
    assert names(decision.awaiting) == [*row.awaiting]
    assert {name: refusal.text for name, refusal in decision.skipped} == row.skipped
    assert [each.name for item in decision.remaining for each in item.batch.pods] == [
        *row.remaining
    ]


def test_o_18_where_a_limit_cuts_the_option_everybody_is_told() -> None:
    row = replace(ROWS["O-18 all or nothing"], pending=replicas(5, pod("p", cpu=1)))

    decision = replace(row, bounds=quota(cpu=3)).decided()

    (remaining,) = decision.remaining
    assert decision.growths == ()
    assert len(remaining.batch.pods) == 5
    assert remaining.rejected == (("ng1", ALL_OR_NOTHING),)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("O-26 a group that is not healthy", "1 not ready for scale-up"),
        (
            "O-27 a selector that nothing matches",
            "1 node(s) didn't match Pod's node affinity/selector",
        ),
    ],
    ids=["O-26", "O-27"],
)
def test_pods_that_no_group_grows_for_are_told_why(row: str, text: str) -> None:
    (remaining,) = ROWS[row].decided().remaining

    told = not_triggered(refusal for _, refusal in (*remaining.rejected, *remaining.skipped))

    assert told == f"pod didn't trigger scale-up: {text}"


def test_o_25_minimum_sizes_within_the_cores_of_the_cluster() -> None:
    ledger = Ledger()
    for name in ("n1", "n2"):
        ledger.add_node(SIXTEEN_CORES, name=name)
    scene = Scene(
        candidates=[
            candidate("ng1", SIXTEEN_CORES, size=1, min_size=3),
            candidate("ng2", SIXTEEN_CORES, size=1, min_size=1),
        ],
        waiting=(),
        tracker=tracked(ledger, [Quota(limits=(("cpu", 48),))]),
        node_count=2,
        estimator=lambda *_: pytest.fail("nobody waits"),
    )

    found = raised(scene)

    assert [(growth.name, growth.size_after) for growth in found.growths] == [("ng1", 2)]
