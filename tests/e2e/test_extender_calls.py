"""What an unmodified kube-scheduler asks an extender: recorded bodies still are what it sends.

`tests/recorded/kube-extender-calls` keeps one exact body of each call, for those who serve it. Here the
same situations are played again, and the calls must have the same form: every field and its type, not
the values. SPRINGTIDE_REGENERATE=1 records them anew.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Final

import pytest

from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.extenders import BIND, FILTER, PRIORITIZE, calls, yes
from tests.e2e.fleets import running_fleet
from tests.e2e.objects import PODS, a_pod, phases
from tests.e2e.recording import is_as_recorded
from tests.e2e.waiting import eventually
from tests.serving import Body, Extender, serving
from tests.standin.live import gpu_node
from tests.standin.plugin import NVIDIA

NODES: Final = ("gpu-1", "gpu-2")

pytestmark = pytest.mark.timeout(180)


class Situation:
    """Two schedulers' worth of extenders in one: by names, and by full nodes."""

    def __init__(self, plane: ControlPlane, names: Extender, nodes: Extender) -> None:
        self.plane = plane
        self.names = names
        self.nodes = nodes


def configured(extender: Extender, *, resource: str, by_names: bool) -> Object:
    """Return an extender's configuration as HAMi's chart has it."""
    binds = {"bindVerb": "bind"} if by_names else {}
    return {
        "urlPrefix": extender.url,
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        **binds,
        "weight": 1,
        "nodeCacheCapable": by_names,
        "httpTimeout": "30s",
        "managedResources": [{"name": resource, "ignoredByScheduler": True}],
    }


@pytest.fixture(scope="module")
def situation(planes: Planes) -> Iterator[Situation]:
    """A scheduler with both extenders, each asked only about pods that ask for its resource."""
    with ExitStack() as stack:
        started: list[ControlPlane] = []
        answer = yes(lambda said: bind(started[0], said))
        names = stack.enter_context(serving(answer))
        nodes = stack.enter_context(serving(answer))
        extenders = (
            configured(names, resource=NVIDIA.resource, by_names=True),
            configured(nodes, resource="nvidia.com/gpumem", by_names=False),
        )
        plane = planes(Setup(has_controllers=True, extenders=extenders))
        started.append(plane)
        stack.enter_context(running_fleet(plane, [gpu_node(name, cards=2) for name in NODES]))
        have_scheduled_on(plane, NODES)
        plane.create(PODS, asking("names", **{NVIDIA.resource: "1"}))
        plane.create(PODS, asking("nodes", **{"nvidia.com/gpumem": "3000"}))
        eventually(lambda: phases(plane), is_settled)
        yield Situation(plane, names, nodes)


def have_scheduled_on(plane: ControlPlane, nodes: Sequence[str]) -> None:
    """Return when the scheduler has put a pod on each node: it knows then that all are ready."""
    for name in nodes:
        selector = {"kubernetes.io/hostname": name}
        plane.create(PODS, a_pod(f"first-on-{name}", nodeSelector=selector))
    eventually(lambda: phases(plane), lambda found: set(found.values()) == {"Running"})


def asking(name: str, **limits: str) -> Object:
    pod = a_pod(name, limits=({}, limits), annotations={"nvidia.com/use-gputype": "A100"})
    init = {"name": "init", "image": "registry.invalid/init:1", "command": ["true"]}
    pod["metadata"]["labels"] = {"app": "train"}
    pod["spec"] |= {"initContainers": [init], "nodeSelector": {"kubernetes.io/os": "linux"}}
    return pod


def bind(plane: ControlPlane, said: Body) -> None:
    target = {"apiVersion": "v1", "kind": "Node", "name": said["Node"]}
    metadata = {"name": said["PodName"], "uid": said["PodUID"]}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
    plane.create(f"/api/v1/namespaces/{said['PodNamespace']}/pods/{metadata['name']}/binding", body)


def is_settled(found: dict[str, str]) -> bool:
    # No scheduler reserved cards for the first, so the plugin has none to give.
    return (found["names"], found["nodes"]) == ("Failed", "Running")


@pytest.mark.parametrize("path", [FILTER, PRIORITIZE])
def test_calls_by_names_are_as_recorded(path: str, situation: Situation) -> None:
    body = calls(situation.names, path, "names")[0]

    said = json.loads(body)
    assert sorted(said["NodeNames"]) == sorted(NODES)
    assert said["Nodes"] is None
    is_as_recorded(body, f"names-{path.removeprefix('/')}")


@pytest.mark.parametrize("path", [FILTER, PRIORITIZE])
def test_calls_by_nodes_are_as_recorded(path: str, situation: Situation) -> None:
    body = calls(situation.nodes, path, "nodes")[0]

    said = json.loads(body)
    assert sorted(each["metadata"]["name"] for each in said["Nodes"]["items"]) == sorted(NODES)
    assert said["NodeNames"] is None
    is_as_recorded(body, f"nodes-{path.removeprefix('/')}")


def test_bind_calls_are_as_recorded(situation: Situation) -> None:
    (body,) = calls(situation.names, BIND, "names")

    assert json.loads(body)["Node"] in NODES
    is_as_recorded(body, "bind")


def test_nobody_is_asked_about_a_pod_that_asks_for_nothing_of_it(situation: Situation) -> None:
    situation.plane.create(PODS, a_pod("plain"))

    eventually(lambda: phases(situation.plane), lambda found: found.get("plain") == "Running")

    assert calls(situation.names, FILTER, "plain") == []
    assert calls(situation.nodes, FILTER, "plain") == []
