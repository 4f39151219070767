"""What pods would like, and which images nodes have: read only if somebody wants to know."""

import json
from typing import Any

import pytest

from springtide.base.selectors import LabelSelectorRequirement, label_selector
from springtide.model.neighbours import AffinityTerm
from springtide.model.node import Image
from springtide.model.pod import Pod
from springtide.model.preferences import INDIFFERENT, Preferences, PreferredNodes, PreferredPods
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Objects, Parts, decode_node, decode_pod
from tests.builders import term

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SELECTOR = {"matchLabels": {"app": "db"}}
NEAR = {"topologyKey": "zone", "labelSelector": SELECTOR}
SPEC: dict[str, Any] = {
    "affinity": {
        "nodeAffinity": {
            PREFERRED: [
                {
                    "weight": 5,
                    "preference": {
                        "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]
                    },
                }
            ]
        },
        "podAffinity": {PREFERRED: [{"weight": 7, "podAffinityTerm": NEAR}]},
        "podAntiAffinity": {
            PREFERRED: [{"weight": 9, "podAffinityTerm": {**NEAR, "namespaces": ["x"]}}]
        },
    },
    "initContainers": [{"name": "first", "image": "init:1"}],
    "containers": [{"name": "main", "image": "app:1"}, {"name": "bare"}],
    "volumes": [{"name": "model", "image": {"reference": "weights:2"}}, {"name": "none"}],
}
NODE = {
    "metadata": {"name": "n"},
    "status": {
        "images": [{"names": ["app@sha256:1", "app:1"], "sizeBytes": 5}, {"names": ["b:1"]}]
    },
}


def pod(parts: Parts, name: str = "p") -> Pod:
    return decode_pod(json.dumps({"metadata": {"name": name}, "spec": SPEC}).encode(), parts)


def objects(*given: dict[str, Any], with_preferences: bool = True) -> Objects:
    found = Objects(with_preferences=with_preferences)
    for each in given:
        group = "apps" if each["kind"] == "Deployment" else ""
        raw = json.dumps(each).encode()
        found.add_raw(raw, group=group, kind=each["kind"], source="s", at="")
    found.finish()
    return found


def test_all_that_a_pod_would_like_is_read() -> None:
    db = label_selector({"app": "db"})

    found = pod(Parts(with_preferences=True))

    assert found.preferences == Preferences(
        nodes=(PreferredNodes(5, term("zone", "In", "a")),),
        near=(PreferredPods(7, AffinityTerm(topology_key="zone", selector=db)),),
        away=(PreferredPods(9, AffinityTerm(topology_key="zone", selector=db, namespaces=("x",))),),
        images=("init:1", "app:1", "", "weights:2"),
    )


def test_equal_preferences_are_shared() -> None:
    parts = Parts(with_preferences=True)

    assert pod(parts).preferences is pod(parts, "q").preferences


def test_preferences_do_not_part_specs() -> None:
    parts = Parts(with_preferences=True)
    other = {**SPEC, "containers": [{"name": "main", "image": "app:2"}, {"name": "bare"}]}

    found = decode_pod(json.dumps({"metadata": {"name": "q"}, "spec": other}).encode(), parts)

    assert found.spec is pod(parts).spec
    assert found.preferences != pod(parts).preferences


def test_nothing_is_read_unasked() -> None:
    parts = Parts()

    assert pod(parts).preferences is INDIFFERENT
    assert decode_node(json.dumps(NODE).encode(), parts).images == ()


def test_images_of_a_node_are_read() -> None:
    parts = Parts(with_preferences=True)

    found = decode_node(json.dumps(NODE).encode(), parts)

    assert found.images == (Image(("app@sha256:1", "app:1"), 5), Image(("b:1",), 0))
    assert decode_node(json.dumps(NODE).encode(), parts).images is found.images


def test_images_that_make_no_sense_are_told() -> None:
    wrong = {"metadata": {"name": "n"}, "status": {"images": [{"sizeBytes": "big"}]}}

    with pytest.raises(MalformedObject) as caught:
        decode_node(json.dumps(wrong).encode(), Parts(with_preferences=True))

    assert caught.value.field == "status.images[0].sizeBytes"


def test_label_keys_are_merged_for_manifests() -> None:
    keyed = {"weight": 7, "podAffinityTerm": {**NEAR, "matchLabelKeys": ["rev"]}}
    spec = {"affinity": {"podAffinity": {PREFERRED: [keyed]}}, "containers": [{"name": "c"}]}
    manifest = {"kind": "Pod", "metadata": {"name": "p", "labels": {"rev": "3"}}, "spec": spec}

    found = objects(manifest).manifests["default/p"]

    same = LabelSelectorRequirement(key="rev", operator="In", values=("3",))
    merged = AffinityTerm(topology_key="zone", selector=label_selector({"app": "db"}, [same]))
    assert found.preferences.near == (PreferredPods(7, merged),)


def test_workloads_hand_theirs_to_their_pods() -> None:
    deployment = {
        "kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d"},
        "spec": {"replicas": 1, "template": {"spec": SPEC}},
    }  # fmt: skip

    (found,) = objects(deployment).manifests.values()

    assert found.preferences.images == ("init:1", "app:1", "", "weights:2")
