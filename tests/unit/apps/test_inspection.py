"""What is odd in the input beyond single fields; single fields have their table under `cli`."""

import json

import pytest

from springtide.apps.planner.inspection import inspected, notes
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source
from tests.manifests import REQUIRED, Json, claim, node, pod, storage_class, user, volume


def read(*documents: Json) -> Input:
    return decode([Source(f"{n}.json", json.dumps(d).encode()) for n, d in enumerate(documents)])


def fields(*documents: Json) -> list[tuple[str, str, str]]:
    found = inspected(read(*documents))
    return [(problem.source, problem.object, problem.field) for problem in found]


def running(name: str, on: str, phase: str = "Running") -> Json:
    return pod(name, nodeName=on) | {"status": {"phase": phase}}


def test_input_that_is_in_order_has_nothing_odd() -> None:
    assert fields(node(), user(), claim(), storage_class(), volume()) == []


@pytest.mark.parametrize(
    ("pods", "told"),
    [
        ([], ()),
        ([running("a", "n1"), running("b", "gone", "Succeeded")], ()),
        (
            [running("a", "gone")],
            ("1 pod runs on a node that is not in the input. Give the Node objects as well.",),
        ),
        (
            [running("a", "gone"), running("b", "lost"), running("c", "n1")],
            ("2 pods run on nodes that are not in the input. Give the Node objects as well.",),
        ),
    ],
)
def test_pods_whose_nodes_are_missing_are_counted(pods: list[Json], told: tuple[str, ...]) -> None:
    assert notes(read(node(), *pods)) == told


def test_a_claim_that_several_pods_use_is_told_of_once() -> None:
    second = user() | {"metadata": {"name": "q", "namespace": "shop", "uid": "q"}}

    found = fields(claim(storageClassName="slow"), storage_class(), user(), second)

    assert found == [("0.json", "PersistentVolumeClaim/shop/data", "spec.storageClassName")]


def test_claims_of_pods_that_run_are_taken_as_they_are() -> None:
    uses = user()
    uses["spec"]["nodeName"] = "n1"

    assert fields(claim(storageClassName="slow"), storage_class(), uses) == []


def test_preferred_terms_and_init_containers_are_looked_at_too() -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "Is"}]}
    term = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": selector}
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    affinity = {"podAntiAffinity": {preferred: [{"weight": 1, "podAffinityTerm": term}]}}
    starting = [{"name": "i", "resources": {"requests": {"memory": "-1Gi"}}}]

    found = fields(pod(affinity=affinity, initContainers=starting))

    assert [field for _, _, field in found] == [
        'spec.initContainers[0].resources.requests["memory"]',
        f"spec.affinity.podAntiAffinity.{preferred}[0].podAffinityTerm.namespaceSelector",
    ]


def test_a_term_with_two_faults_is_told_of_twice() -> None:
    bad = {"key": "zone", "operator": "In"}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [bad]}, {"matchFields": [bad]}]}

    found = fields(pod(affinity={"nodeAffinity": {REQUIRED: terms}}))

    path = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
    assert [field for _, _, field in found] == [
        f"{path}[0].matchExpressions[0].values",
        f"{path}[1].matchFields[0].values",
    ]
