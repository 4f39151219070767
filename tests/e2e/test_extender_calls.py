"""What an unmodified kube-scheduler asks an extender: recorded bodies still are what it sends.

`tests/recorded/kube-extender-calls` keeps one exact body of each call, for those who serve it. Here the
same situations are played again, and the calls must have the same form: every field and its type, not
the values. SPRINGTIDE_REGENERATE=1 records them anew.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.extenders import BIND, FILTER, PRIORITIZE, Asked, Extender, serving_extender
from tests.e2e.fleets import running_fleet
from tests.e2e.objects import PODS, a_pod, gpu_node, phases
from tests.e2e.waiting import eventually
from tests.standin.plugin import NVIDIA

RECORDED: Final = Path(__file__).parent.parent / "recorded" / "kube-extender-calls"
REGENERATES: Final = bool(os.environ.get("SPRINGTIDE_REGENERATE"))
NODES: Final = ("gpu-1", "gpu-2")
FREE: Final = frozenset({"annotations", "labels", "managedFields"})

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
        names = stack.enter_context(serving_extender())
        nodes = stack.enter_context(serving_extender())
        extenders = (
            configured(names, resource=NVIDIA.resource, by_names=True),
            configured(nodes, resource="nvidia.com/gpumem", by_names=False),
        )
        plane = planes(Setup(has_controllers=True, extenders=extenders))
        names.bind = lambda said: bind(plane, said)
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


def bind(plane: ControlPlane, said: Object) -> None:
    target = {"apiVersion": "v1", "kind": "Node", "name": said["Node"]}
    metadata = {"name": said["PodName"], "uid": said["PodUID"]}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
    plane.create(f"/api/v1/namespaces/{said['PodNamespace']}/pods/{metadata['name']}/binding", body)


def is_settled(found: dict[str, str]) -> bool:
    # No scheduler reserved cards for the first, so the plugin has none to give.
    return (found["names"], found["nodes"]) == ("Failed", "Running")


def form(value: Any) -> Any:
    """Return a value with types for values, and items of a list that are alike only once.

    What stands in maps with free keys depends on which controllers have been there by then.
    """
    match value:
        case dict():
            return {
                key: type(each).__name__ if key in FREE else form(each)
                for key, each in sorted(value.items())
            }
        case list():
            forms = [form(each) for each in value]
            return [each for at, each in enumerate(forms) if each not in forms[:at]]
        case _:
            return type(value).__name__


def is_as_recorded(call: Asked, name: str) -> None:
    path = RECORDED / f"{name}.json"
    if REGENERATES:
        path.write_bytes(call.body)

    recorded = json.loads(path.read_bytes())

    assert form(call.read) == form(recorded)


@pytest.mark.parametrize("path", [FILTER, PRIORITIZE])
def test_calls_by_names_are_as_recorded(path: str, situation: Situation) -> None:
    call = situation.names.calls(path, "names")[0]

    assert sorted(call.read["NodeNames"]) == sorted(NODES)
    assert call.read["Nodes"] is None
    is_as_recorded(call, f"names-{path.removeprefix('/')}")


@pytest.mark.parametrize("path", [FILTER, PRIORITIZE])
def test_calls_by_nodes_are_as_recorded(path: str, situation: Situation) -> None:
    call = situation.nodes.calls(path, "nodes")[0]

    names = [each["metadata"]["name"] for each in call.read["Nodes"]["items"]]
    assert sorted(names) == sorted(NODES)
    assert call.read["NodeNames"] is None
    is_as_recorded(call, f"nodes-{path.removeprefix('/')}")


def test_bind_calls_are_as_recorded(situation: Situation) -> None:
    (call,) = situation.names.calls(BIND, "names")

    assert call.read["Node"] in NODES
    is_as_recorded(call, "bind")


def test_nobody_is_asked_about_a_pod_that_asks_for_nothing_of_it(situation: Situation) -> None:
    situation.plane.create(PODS, a_pod("plain"))

    eventually(lambda: phases(situation.plane), lambda found: found.get("plain") == "Running")

    assert situation.names.calls(FILTER, "plain") == []
    assert situation.nodes.calls(FILTER, "plain") == []
