"""What services and controllers select pods by, as the objects say it."""

import json
from typing import Any

from springtide.base.selectors import label_selector
from springtide.model.selecting import Selecting
from springtide.wire.documents import decode
from springtide.wire.source import Source


def thing(kind: str, name: str, spec: dict[str, Any], *, group: str = "") -> dict[str, Any]:
    version = f"{group}/v1" if group else "v1"
    metadata = {"name": name, "namespace": "n"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def selecting(*objects: dict[str, Any]) -> Selecting:
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    return decode([Source("in.json", json.dumps(listed).encode())]).selecting


def test_services_are_kept_by_namespace() -> None:
    found = selecting(
        thing("Service", "a", {"selector": {"app": "a"}}),
        thing("Service", "a", {"selector": {"app": "again"}}),
        thing("Service", "headless", {"selector": None}),
    )

    assert found.services == {"n": ({"app": "a"}, {})}


def test_controllers_are_kept_by_what_they_are_called() -> None:
    matching = {"matchLabels": {"app": "a"}}
    found = selecting(
        thing("ReplicationController", "rc", {"selector": {"app": "rc"}}),
        thing("ReplicaSet", "rs", {"selector": matching, "replicas": 0}, group="apps"),
        thing("StatefulSet", "ss", {"selector": matching, "replicas": 0}, group="apps"),
        thing("Deployment", "d", {"replicas": 0}, group="apps"),
    )

    assert found.controllers == {
        ("ReplicationController", "n", "rc"): {"app": "rc"},
        ("ReplicaSet", "n", "rs"): label_selector({"app": "a"}),
        ("StatefulSet", "n", "ss"): label_selector({"app": "a"}),
    }
