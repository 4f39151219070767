"""The columnar rules say of every node what the plain ones say, whatever the cluster and the pod."""

from collections.abc import Sequence

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from springtide.base import quantity
from springtide.base.names import PODS
from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.base.taints import Taint, Toleration
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import (
    PASSES,
    Framework,
    FrameworkConfig,
    PreparedAsk,
    Verdicts,
)
from springtide.engine.framework.requests import held_requests, pod_host_ports
from springtide.engine.framework.rule import Rows
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Container, HostPort, Pod, PodSpec
from springtide.model.resources import Resources
from tests.reference import framework as reference

FEW = 25
"""Examples of the laws that follow where the first one holds."""
NAMES = [f"n{index}" for index in range(5)]
RESOURCES = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "hugepages-2Mi",
    "example.com/gpu",
    "vendor.io/nic",
    "kubernetes.io/odd",
    "plain",
]
AMOUNTS = st.sampled_from(["0", "1", "2", "3", "5", "1500m", "700u", "2500m", "8"])
LABEL_KEYS = st.sampled_from(["zone", "rank", "gpu", HOSTNAME_LABEL])
LABEL_VALUES = st.sampled_from(["a", "b", "7", "-1", "12", "n0", "n3"])
TAINT_KEYS = st.sampled_from(["gpu", "dedicated", "node.kubernetes.io/unschedulable"])
EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"]


def quantities(resources: dict[str, str]) -> Resources:
    return tuple((name, quantity.parse(text)) for name, text in sorted(resources.items()))


RESOURCE_LISTS = st.dictionaries(st.sampled_from(RESOURCES), AMOUNTS, max_size=4).map(quantities)
ALLOCATABLE = st.builds(
    lambda resources, pods: quantities(resources | {PODS: pods}),
    st.fixed_dictionaries(dict.fromkeys(RESOURCES[:3], AMOUNTS))
    | st.dictionaries(st.sampled_from(RESOURCES), AMOUNTS, min_size=3),
    st.sampled_from(["0", "1", "9"]),
)
TAINTS = st.builds(
    Taint, key=TAINT_KEYS, value=st.sampled_from(["", "x"]), effect=st.sampled_from(EFFECTS)
)
TOLERATIONS = st.builds(
    Toleration,
    key=st.just("") | TAINT_KEYS,
    operator=st.sampled_from(["", "Equal", "Exists", "Gt"]),
    value=st.sampled_from(["", "x"]),
    effect=st.sampled_from(["", *EFFECTS]),
)
EXPRESSIONS = st.builds(
    NodeSelectorRequirement,
    key=LABEL_KEYS,
    operator=st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Bogus"]),
    values=st.lists(LABEL_VALUES, max_size=2).map(tuple),
)
FIELDS = st.builds(
    NodeSelectorRequirement,
    key=st.sampled_from(["metadata.name", "metadata.name", "spec.other"]),
    operator=st.sampled_from(["In", "In", "NotIn"]),
    values=st.lists(st.sampled_from([*NAMES, "gone", ""]), max_size=2).map(tuple),
)
TERMS = st.builds(
    NodeSelectorTerm,
    expressions=st.lists(EXPRESSIONS, max_size=2).map(tuple),
    fields=st.just(()) | st.lists(FIELDS, max_size=2).map(tuple),
)
TERM_LISTS = st.lists(TERMS, max_size=3).map(tuple)
PORTS = st.builds(
    HostPort,
    host_ip=st.sampled_from(["", "0.0.0.0", "::", "10.0.0.1"]),
    protocol=st.sampled_from(["", "TCP", "UDP"]),
    port=st.sampled_from([0, 80, 81]),
)
CONTAINERS = st.builds(
    Container,
    name=st.just("any"),
    requests=RESOURCE_LISTS,
    host_ports=st.just(()) | st.lists(PORTS, max_size=2).map(tuple),
    is_sidecar=st.booleans(),
)
SPECS = st.builds(
    PodSpec,
    containers=st.lists(CONTAINERS, max_size=2).map(tuple),
    init_containers=st.lists(CONTAINERS, max_size=3).map(tuple),
    overhead=st.just(()) | RESOURCE_LISTS,
    requests=st.just(()) | RESOURCE_LISTS,
    node_selector=st.just(())
    | st.dictionaries(LABEL_KEYS, LABEL_VALUES, max_size=1).map(lambda each: tuple(each.items())),
    required_node_terms=st.none() | TERM_LISTS,
    tolerations=st.lists(TOLERATIONS, max_size=3).map(tuple),
)
CONFIGS = st.just(FrameworkConfig()) | st.builds(
    FrameworkConfig,
    ignored_resources=st.frozensets(st.sampled_from(RESOURCES), max_size=2),
    ignored_groups=st.frozensets(st.sampled_from(["example.com", "kubernetes.io"]), max_size=1),
    added_node_terms=st.none() | TERM_LISTS,
    disabled=st.frozensets(st.sampled_from(["NodeName", "TaintToleration"]), max_size=1),
)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Node], list[Pod]]:
    """Draw a few nodes, some with room, and the pods that run on them."""
    nodes = [
        Node(
            name=name,
            labels=draw(st.dictionaries(LABEL_KEYS, LABEL_VALUES, max_size=3)),
            taints=tuple(draw(st.just([]) | st.lists(TAINTS, max_size=2))),
            is_unschedulable=draw(st.sampled_from([False, False, True])),
            allocatable=draw(ALLOCATABLE),
        )
        for name in NAMES[: draw(st.integers(1, len(NAMES)))]
    ]
    specs = draw(st.lists(SPECS, max_size=3))
    running = [
        pod(spec, uid=str(index), on=draw(st.sampled_from(nodes)).name)
        for index, spec in enumerate(specs)
    ]
    return nodes, running


def pod(spec: PodSpec, *, uid: str = "pending", on: str = "") -> Pod:
    return Pod(namespace="default", name=uid, uid=uid, spec=spec, node_name=on)


PENDING = st.builds(pod, SPECS, on=st.sampled_from(["", "", "n0", "gone"]))


def ledger_of(nodes: Sequence[Node], running: Sequence[Pod]) -> Ledger:
    ledger = Ledger()
    for node in nodes:
        ledger.add_node(node)
    for each in running:
        ledger.hold(
            Holding(
                uid=each.uid,
                row=ledger.rows[each.node_name],
                amounts=((PODS, 1), *held_requests(each).items()),
                ports=pod_host_ports(each.spec),
            )
        )
    return ledger


def statuses(
    framework: Framework, prepared: PreparedAsk, verdicts: Verdicts
) -> list[reference.Status | None]:
    """Return what the verdicts say, row by row."""
    found: list[reference.Status | None] = []
    for code, bits, is_final in zip(
        verdicts.rule.tolist(),
        verdicts.detail.tolist(),
        verdicts.unresolvable.tolist(),
        strict=True,
    ):
        if code == PASSES:
            found.append(None)
        else:
            refusal = framework.refusal(prepared, code, bits, is_final)
            found.append((refusal.rule, refusal.is_unresolvable, refusal.reasons))
    return found


@given(clusters(), PENDING, CONFIGS)
def test_columns_agree_with_one_node_at_a_time(
    cluster: tuple[list[Node], list[Pod]], pending: Pod, config: FrameworkConfig
) -> None:
    nodes, running = cluster
    framework, ledger = Framework(config), ledger_of(nodes, running)
    expected = reference.verdicts(pending, nodes, running, config)

    prepared = framework.prepare(ask_of(pending), ledger)
    verdicts = framework.evaluate(prepared, ledger, np.arange(ledger.count))

    ours = dict(zip(ledger.names, statuses(framework, prepared, verdicts), strict=True))
    for rule in {status[0] if status else "passes" for status in expected.values()}:
        event(rule or "outside")
    assert ours == expected


@settings(max_examples=FEW)
@given(clusters(), PENDING, CONFIGS, st.data())
def test_some_rows_are_told_what_all_rows_are_told(
    cluster: tuple[list[Node], list[Pod]],
    pending: Pod,
    config: FrameworkConfig,
    data: st.DataObject,
) -> None:
    framework, ledger = Framework(config), ledger_of(*cluster)
    prepared = framework.prepare(ask_of(pending), ledger)
    every_row = np.arange(ledger.count)
    some: Rows = np.array(data.draw(st.lists(st.sampled_from(every_row.tolist()))), np.intp)
    of_all = statuses(framework, prepared, framework.evaluate(prepared, ledger, every_row))

    of_some = statuses(framework, prepared, framework.evaluate(prepared, ledger, some))

    assert of_some == [of_all[row] for row in some]


@settings(max_examples=FEW)
@given(clusters(), PENDING, CONFIGS, SPECS, st.data())
def test_judging_usage_anew_is_enough_after_a_placement(
    cluster: tuple[list[Node], list[Pod]],
    pending: Pod,
    config: FrameworkConfig,
    placed: PodSpec,
    data: st.DataObject,
) -> None:
    nodes, running = cluster
    framework, ledger = Framework(config), ledger_of(nodes, running)
    prepared = framework.prepare(ask_of(pending), ledger)
    rows = np.arange(ledger.count)
    before = framework.evaluate(prepared, ledger, rows)
    row = data.draw(st.sampled_from(rows.tolist()))
    amounts = ((PODS, 1), *held_requests(pod(placed)).items())
    ledger.hold(Holding(uid="placed", row=row, amounts=amounts, ports=pod_host_ports(placed)))

    open_rows = rows[~framework.is_settled(before.rule)]
    anew = framework.evaluate_usage(prepared, ledger, open_rows)

    after = framework.evaluate(prepared, ledger, rows)
    assert statuses(framework, prepared, anew) == [
        statuses(framework, prepared, after)[each] for each in open_rows
    ]
    settled = framework.is_settled(before.rule)
    assert (after.rule[settled] == before.rule[settled]).all()


@settings(max_examples=FEW)
@given(clusters(), PENDING, CONFIGS, clusters())
def test_a_prepared_ask_judges_nodes_that_came_later(
    cluster: tuple[list[Node], list[Pod]],
    pending: Pod,
    config: FrameworkConfig,
    later: tuple[list[Node], list[Pod]],
) -> None:
    framework, ledger = Framework(config), ledger_of(*cluster)
    prepared = framework.prepare(ask_of(pending), ledger)
    framework.evaluate(prepared, ledger, np.arange(ledger.count))
    for node in later[0]:
        ledger.add_node(node, name=f"later-{node.name}")
    rows = np.arange(ledger.count)

    ours = statuses(framework, prepared, framework.evaluate(prepared, ledger, rows))

    fresh = Framework(config)
    again = fresh.prepare(ask_of(pending), ledger)
    assert ours == statuses(fresh, again, fresh.evaluate(again, ledger, rows))
