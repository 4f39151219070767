"""Calls of the simulation service: small bodies, and a service that is told what time it is."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from springtide.apps.planner.families import DeviceConfig
from springtide.apps.sessions import Moment, Reply, Rules, Service, filter_simulation, rules
from springtide.engine.simulation.bounds import Bounds
from springtide.model.device import Device
from springtide.model.profile import DeviceProfile
from springtide.wire.crd.profiles import read_device_profile
from springtide.wire.hami import register
from springtide.wire.origin import Origin
from tests.builders import REGISTRATION, card
from tests.running import pod_object
from tests.world import FixedClock

Json = dict[str, Any]

PODS = "springtide.io/simulated-pods"
PROFILE = "springtide.io/device-profile"
CLIENT = "autoscaler"
NAME = "s-1"
A10 = card("GPU-a")
"""24,576 MiB, ten containers."""


def node(
    name: str = "t",
    *cards: Device,
    standing: Sequence[Json] | None = None,
    labels: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
) -> Json:
    """A template as it is sent; `standing` are the pods on it, `notes` further annotations."""
    notes = dict(notes or {})
    if cards:
        notes[REGISTRATION] = register.encode(cards)
    if standing is not None:
        notes[PODS] = json.dumps(standing)
    return {
        "metadata": {"name": name, "labels": dict(labels or {}), "annotations": notes},
        "spec": {},
        "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "pods": "110"}},
    }


def pod(name: str = "p", *, annotations: Mapping[str, str] | None = None, **limits: int) -> Json:
    """A pod as it is sent, with so much of NVIDIA's resources."""
    made = pod_object(name, **(limits or {"gpu": 1, "gpumem": 1000}))
    made["metadata"]["annotations"] = dict(annotations or {})
    return made


def short(name: str, **limits: int) -> Json:
    """A pod as a node carries it."""
    resources = {f"nvidia.com/{key}": str(amount) for key, amount in limits.items()}
    return {"namespace": "n", "name": name, "containers": [{"resources": {"limits": resources}}]}


def profile(name: str, *, count: int = 1, memory: int = 24576, **labels: str) -> DeviceProfile:
    """A profile of equal cards for nodes with these labels."""
    devices = {
        "vendor": "NVIDIA", "count": count, "slots": 10, "memoryMiB": memory, "type": "NVIDIA-A10",
    }  # fmt: skip
    document = {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "DeviceProfile",
        "metadata": {"name": name},
        "spec": {"nodeSelector": {"matchLabels": labels}, "devices": [devices]},
    }
    return read_device_profile(document, origin=Origin(source="test"))


def body(asked: Json, *nodes: Json) -> bytes:
    """The body of a filter call."""
    return json.dumps({"Pod": asked, "Nodes": {"items": nodes}}).encode()


def simulated(asked: Json, *nodes: Json, given: Rules | None = None, keeps: bool = False) -> Json:
    """The answer to a filter call."""
    answer = filter_simulation(body(asked, *nodes), given or rules(), keeps_dynamic=keeps)
    return read(answer.body)


def read(data: bytes) -> Json:
    """A body as plain data."""
    found: Json = json.loads(data)
    return found


def fitting(answer: Json) -> list[str]:
    """The names of the nodes that fit."""
    return [each["metadata"]["name"] for each in answer["Nodes"]["items"]]


def reasons(answer: Json) -> dict[str, str]:
    """Why nodes do not fit, whichever way it is told."""
    found: dict[str, str] = {**answer["FailedNodes"], **answer["FailedAndUnresolvableNodes"]}
    return found


class Caller:
    """Calls a service as one client at a time that the test sets."""

    def __init__(
        self,
        *,
        profiles: Sequence[DeviceProfile] = (),
        bounds: Bounds = Bounds(),  # noqa: B008 - a record that never changes
        config: DeviceConfig | None = None,
    ) -> None:
        self.service = Service(rules(config, profiles=profiles, bounds=bounds), FixedClock())
        self.now_s = 0.0
        self.client = CLIENT
        self._count = 0

    @property
    def at(self) -> Moment:
        """What time it is."""
        return Moment(elapsed_s=self.now_s, unix_s=1_800_000_000 + self.now_s)

    def operation(self) -> str:
        """An id that was not used yet."""
        self._count += 1
        return f"operation-{self._count}"

    def open(self, *nodes: Json, name: str = NAME, **fields: Any) -> Reply:
        """Open a session."""
        call = {"operationId": self.operation(), "nodes": nodes, **fields}
        return self.service.open(self.client, name, msgspec.json.encode(call), self.at)

    def call(self, verb: str, *, name: str = NAME, **fields: Any) -> Reply:
        """Call a session; changes get a new id unless one is given."""
        call = fields if verb == "evaluate" else {"operationId": self.operation(), **fields}
        return self.service.call(self.client, name, verb, msgspec.json.encode(call), self.at)

    def place(self, asked: Json, on: str, **fields: Any) -> Json:
        """Place one pod, and return what became of it."""
        reply = self.call("place", pods=[{"pod": asked, "node": on}], **fields)
        assert reply.status == 200, reply.body
        (result,) = read(reply.body)["results"]
        found: Json = result
        return found

    def evaluate(self, asked: Json, **fields: Any) -> Json:
        """Evaluate one pod."""
        reply = self.call("evaluate", pods=[asked], **fields)
        assert reply.status == 200, reply.body
        (evaluation,) = read(reply.body)["evaluations"]
        found: Json = evaluation
        return found

    def content(self, name: str = NAME) -> Json:
        """What is placed where."""
        reply = self.service.content(self.client, name, self.at)
        assert reply.status == 200, reply.body
        return read(reply.body)
