"""Input that is wrong in one place: `springtide plan` names the file, the object, the field and a remedy.

One broken object is told and the plan stands; a document of ours or a configuration ends it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from springtide.cli.main import run
from tests.manifests import (
    REQUIRED,
    Json,
    arguments,
    claim,
    claiming,
    configured,
    groups,
    near,
    node,
    pod,
    required,
    selecting,
    spread,
    storage_class,
    thing,
    user,
    volume,
)

Captured = pytest.CaptureFixture[str]

TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0]"
NEAR = f"spec.affinity.podAffinity.{REQUIRED}[0]"
SPREAD = "spec.topologySpreadConstraints[0]"
POD, CLAIM, VOLUME = "Pod/shop/p", "PersistentVolumeClaim/shop/data", "PersistentVolume/pv"
LEFT_OUT = "The object is left out."
INCOMPLETE = re.compile("the input (has claims, but )?(has )?no .* object")
NO_QUANTITY = "is not a quantity; write one like 500m or 16Gi"


def answered(documents: Sequence[Json], folder: Path, capsys: Captured) -> tuple[int, list[str]]:
    """Return the exit code and what is said of these documents, each in a file of its own."""
    for index, document in enumerate(documents):
        (folder / f"{index}.json").write_text(json.dumps(document))
    code = run(["plan", str(folder), "--warnings"])
    return code, capsys.readouterr().err.splitlines()


LATE, OTHER = storage_class(), claim() | {"metadata": {"name": "other", "namespace": "shop"}}

CHAINS: Mapping[str, tuple[Sequence[Json], str]] = {
    "requested": (
        [claim(resources={"requests": {"storage": "5Gb"}}), LATE],
        f'{CLAIM}, spec.resources.requests["storage"]: "5Gb" {NO_QUANTITY}. {LEFT_OUT}',
    ),
    "modes": (
        [claim(accessModes="ReadWriteOnce"), LATE],
        f"{CLAIM}, spec.accessModes: this is a text where a list belongs; correct it. {LEFT_OUT}",
    ),
    "class name": (
        [claim(storageClassName=5), LATE],
        (
            f"{CLAIM}, spec.storageClassName: this is a whole number where a text belongs; put it in "
            f"quotes. {LEFT_OUT}"
        ),
    ),
    "selector": (
        [claim(selector={"matchExpressions": [{"key": "a", "operator": "in"}]}), LATE],
        (
            f'{CLAIM}, spec.selector: "in" is not a valid label selector operator. No API server takes '
            "this; correct it."
        ),
    ),
    "no claim": (
        [OTHER, LATE, user()],
        (
            f"{POD}, spec.volumes: there is no PersistentVolumeClaim 'shop/data' in the input; add it, "
            "or correct the name."
        ),
    ),
    "no volume": (
        [claim(is_bound=True, volumeName="gone"), volume(), LATE, user()],
        (
            f"{CLAIM}, spec.volumeName: there is no PersistentVolume 'gone' in the input; add it, or "
            "correct the name."
        ),
    ),
    "no class": (
        [claim(storageClassName="slow"), LATE, user()],
        (
            f"{CLAIM}, spec.storageClassName: there is no StorageClass 'slow' in the input; add it, or "
            "correct the name."
        ),
    ),
    "mode of the class": (
        [storage_class(volumeBindingMode="Late")],
        (
            "StorageClass/fast, volumeBindingMode: 'Late' is not allowed; give Immediate or "
            "WaitForFirstConsumer."
        ),
    ),
    "no mode of the class": (
        [storage_class(volumeBindingMode=None)],
        (
            "StorageClass/fast, volumeBindingMode: it is missing; give Immediate or "
            "WaitForFirstConsumer."
        ),
    ),
    "capacity": (
        [volume(capacity={"storage": "ten"})],
        f'{VOLUME}, spec.capacity["storage"]: "ten" {NO_QUANTITY}. {LEFT_OUT}',
    ),
    "reach": (
        [
            volume(
                nodeAffinity={
                    "required": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "zone", "operator": "Inn"}]}
                        ]
                    }
                }
            )
        ],
        (
            f"{VOLUME}, spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].operator: "
            'Unsupported value: "Inn": supported values: "In", "NotIn", "Exists", "DoesNotExist", '
            '"Gt", "Lt". No node meets it; correct it.'
        ),
    ),
    "room": (
        [
            thing("CSIStorageCapacity", "c", version="storage.k8s.io/v1", namespace="shop")
            | {"storageClassName": "fast", "capacity": "much"}
        ],
        f'CSIStorageCapacity/shop/c, capacity: "much" {NO_QUANTITY}. {LEFT_OUT}',
    ),
    "where there is room": (
        [
            thing("CSIStorageCapacity", "c", version="storage.k8s.io/v1", namespace="shop")
            | {
                "storageClassName": "fast",
                "nodeTopology": {"matchExpressions": [{"key": "zone", "operator": "Is"}]},
            }
        ],
        (
            'CSIStorageCapacity/shop/c, nodeTopology: "Is" is not a valid label selector operator. No '
            "API server takes this; correct it."
        ),
    ),
    "drivers": (
        [
            thing("CSINode", "n1", version="storage.k8s.io/v1")
            | {"spec": {"drivers": [{"name": "d", "allocatable": {"count": "ten"}}]}}
        ],
        (
            "CSINode/n1, spec.drivers[0].allocatable.count: this is a text where a whole number "
            f"belongs; correct it. {LEFT_OUT}"
        ),
    ),
}
SELECTORS: Mapping[str, tuple[Sequence[Json], str]] = {
    "node selector": (
        [pod(nodeSelector={"zone": 5})],
        (
            f'{POD}, spec.nodeSelector["zone"]: this is a whole number where a text belongs; put it in '
            f"quotes. {LEFT_OUT}"
        ),
    ),
    "node affinity operator": (
        [required({"key": "zone", "operator": "in", "values": ["a"]})],
        (
            f'{POD}, {TERMS}.operator: Unsupported value: "in": supported values: "In", "NotIn", '
            '"Exists", "DoesNotExist", "Gt", "Lt". No node meets it; correct it.'
        ),
    ),
    "node affinity values": (
        [required({"key": "zone", "operator": "In"})],
        (
            f"{POD}, {TERMS}.values: Invalid value: []: for 'in', 'notin' operators, values set can't "
            "be empty. No node meets it; correct it."
        ),
    ),
    "pod affinity operator": (
        [near({"matchExpressions": [{"key": "app", "operator": "Is"}]})],
        (
            f'{POD}, {NEAR}.labelSelector: "Is" is not a valid label selector operator. No API server '
            "takes this; correct it."
        ),
    ),
    "pod affinity key": (
        [near({}, key="")],
        (
            f"{POD}, {NEAR}.topologyKey: it is empty; give the node label whose values are the domains."
            f" {LEFT_OUT}"
        ),
    ),
    "spread selector": (
        [spread(labelSelector={"matchExpressions": [{"key": "app", "operator": "Is"}]})],
        (
            f'{POD}, {SPREAD}.labelSelector: "Is" is not a valid label selector operator. No API server '
            "takes this; correct it."
        ),
    ),
    "spread skew": (
        [spread(maxSkew=0)],
        f"{POD}, {SPREAD}.maxSkew: 0 is not allowed; give a number above 0. {LEFT_OUT}",
    ),
    "spread domains": (
        [spread(minDomains=0)],
        f"{POD}, {SPREAD}.minDomains: 0 is not allowed; give a number above 0. {LEFT_OUT}",
    ),
    "spread policy": (
        [spread(nodeTaintsPolicy="Maybe")],
        f"{POD}, {SPREAD}.nodeTaintsPolicy: 'Maybe' is not allowed; give Honor or Ignore. {LEFT_OUT}",
    ),
    "toleration": (
        [pod(tolerations=[{"key": "a", "operator": "Equals"}])],
        (
            f"{POD}, spec.tolerations[0].operator: 'Equals' is none of Equal, Exists, Lt, Gt. No API "
            "server takes this; correct it."
        ),
    ),
    "daemon set": (
        [
            thing("DaemonSet", "d", version="apps/v1", namespace="shop")
            | {"spec": {"template": {"spec": {"nodeSelector": {"a": "not valid!"}}}}}
        ],
        (
            'DaemonSet/shop/d, spec.template.spec.nodeSelector["a"]: values[0][a]: Invalid value: "not '
            'valid!": '
        ),
    ),
}
QUANTITIES: Mapping[str, tuple[Sequence[Json], str]] = {
    "words": (
        [pod(requests={"cpu": "1 core"})],
        f'{POD}, spec.containers[0].resources.requests["cpu"]: "1 core" {NO_QUANTITY}. {LEFT_OUT}',
    ),
    "empty": (
        [pod(requests={"cpu": ""})],
        f'{POD}, spec.containers[0].resources.requests["cpu"]: "" {NO_QUANTITY}. {LEFT_OUT}',
    ),
    "beyond all bounds": (
        [pod(requests={"cpu": "1e99999"})],
        f'{POD}, spec.containers[0].resources.requests["cpu"]: "1e99999" {NO_QUANTITY}. {LEFT_OUT}',
    ),
    "below zero": (
        [pod(requests={"cpu": "-1"})],
        (
            f'{POD}, spec.containers[0].resources.requests["cpu"]: -1 is below zero. No API server takes '
            "this; correct it."
        ),
    ),
    "list": (
        [pod(requests={"cpu": ["1"]})],
        (
            f'{POD}, spec.containers[0].resources.requests["cpu"]: this is a list where a number or a '
            f"text belongs; correct it. {LEFT_OUT}"
        ),
    ),
    "overhead": (
        [pod(overhead={"cpu": "x"})],
        f'{POD}, spec.overhead["cpu"]: "x" {NO_QUANTITY}. {LEFT_OUT}',
    ),
    "node": (
        [node(memory="8GB")],
        f'Node/n1, status.allocatable["memory"]: "8GB" {NO_QUANTITY}. {LEFT_OUT}',
    ),
}
REFUSES = "kube-scheduler refuses this"
CONFIGURATIONS: Mapping[str, tuple[Json, str]] = {
    "group field": (
        groups(maxsize=4),
        'groups[0].maxsize: there is no such field; did you mean "maxSize"?',
    ),
    "group quantity": (
        groups(template={"capacity": {"cpu": "4 cores"}}),
        f'groups[0].template.capacity["cpu"]: "4 cores" {NO_QUANTITY}.',
    ),
    "group selector": (
        groups(nodeSelector={"matchExpressions": [{"key": "zone", "operator": "Is"}]}),
        'groups[0].nodeSelector: "Is" is not a valid label selector operator; correct the selector.',
    ),
    "group size": (
        groups(maxSize=-1),
        "groups[0].maxSize: -1 is below 0; give a number from 0 on.",
    ),
    "scheduler field": (
        configured(profilez=[]),
        f'profilez: {REFUSES}: strict decoding error: unknown field "profilez"',
    ),
    "scheduler type": (
        configured(profiles={}),
        (
            f"profiles: {REFUSES}: json: cannot unmarshal object into Go struct field "
            "KubeSchedulerConfiguration.profiles of type []v1.KubeSchedulerProfile"
        ),
    ),
    "scheduler arguments": (
        arguments("NodeResourcesFit", ignoredResources="x"),
        (
            f"profiles[0].pluginConfig[0].args.ignoredResources: {REFUSES}: decoding "
            ".profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: json: cannot "
            "unmarshal string into Go struct field NodeResourcesFitArgs.ignoredResources of type "
            "[]string"
        ),
    ),
    "scheduler constraints": (
        arguments(
            "PodTopologySpread",
            defaultingType="List",
            defaultConstraints=[
                {"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
            ],
        ),
        (
            f"profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew: {REFUSES}: Invalid value: "
            "0: not in valid range (0, inf)"
        ),
    ),
    "scheduler plugin": (
        configured(profiles=[{"plugins": {"filter": {"enabled": [{"name": "Nope"}]}}}]),
        (
            "profiles[0].plugins.filter.enabled[0]: kube-scheduler does not start with this: "
            "initializing profiles: creating profile for scheduler name default-scheduler: "
            'FilterPlugin "Nope" does not exist'
        ),
    ),
    "scheduler extender": (
        configured(extenders=[{"urlPrefix": "x", "managedResources": [{"name": "gpu"}]}]),
        (
            f"extenders[0].managedResources[0].name: {REFUSES}: Invalid value: "
            '"gpu": is an invalid extended resource name'
        ),
    ),
    "devices": (
        {"nvidia": {"resourceCountName": 5}},
        "nvidia.resourceCountName: expected `str`, got `int`. Correct the value.",
    ),
}


DEVICES: Mapping[str, tuple[Sequence[Json], str]] = {
    "template": (
        [selecting("ResourceClaimTemplate"), claiming()],
        (
            "ResourceClaimTemplate/shop/gpu, spec.spec.devices.requests[0].exactly.selectors[0].cel."
            "expression: line 1, column 20: "
        ),
    ),
    "alternative": (
        [selecting("ResourceClaimTemplate", form="firstAvailable"), claiming()],
        (
            "ResourceClaimTemplate/shop/gpu, spec.spec.devices.requests[0].firstAvailable[0].selectors"
            "[0].cel.expression: line 1, column 20: "
        ),
    ),
    "class": (
        [selecting("DeviceClass"), claiming()],
        "DeviceClass/gpu, spec.selectors[0].cel.expression: line 1, column 20: ",
    ),
    "mode": (
        [selecting("ResourceClaimTemplate", allocationMode="Some"), claiming()],
        (
            "ResourceClaimTemplate/shop/gpu, spec.spec.devices.requests[0].exactly.allocationMode: "
            f'"Some" is not allowed; give ExactCount or All. {LEFT_OUT}'
        ),
    ),
}


def in_gang(**metadata: object) -> Json:
    made = pod()
    return made | {"metadata": {**made["metadata"], **metadata}}


def pod_group(version: str, spec: Json) -> Json:
    return thing("PodGroup", "train", version=version, namespace="shop") | {"spec": spec}


GANGS: Mapping[str, tuple[Sequence[Json], str]] = {
    "minimum": (
        [pod_group("scheduling.x-k8s.io/v1alpha1", {"minMember": -1})],
        (
            "PodGroup/shop/train, spec.minMember: -1 pods cannot be the minimum; give 0 or more. "
            f"{LEFT_OUT}"
        ),
    ),
    "policy": (
        [pod_group("scheduling.k8s.io/v1beta1", {"schedulingPolicy": {}})],
        f"PodGroup/shop/train, spec.schedulingPolicy: give exactly one of basic and gang. {LEFT_OUT}",
    ),
    "absent": (
        [in_gang(labels={"scheduling.x-k8s.io/pod-group": "train"})],
        f"{POD}: it belongs to the PodGroup shop/train of scheduling.x-k8s.io, which is not in",
    ),
    "annotation": (
        [
            in_gang(
                annotations={"springtide.io/gang": "train", "springtide.io/gang-min-size": "all"}
            )
        ],
        (
            f"{POD}, metadata.annotations[\"springtide.io/gang-min-size\"]: 'all' is no number of pods. "
            "Give 1 or more; "
        ),
    ),
}


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        pytest.param(*row, id=f"{table}: {name}")
        for table, rows in (
            ("chain", CHAINS),
            ("selector", SELECTORS),
            ("quantity", QUANTITIES),
            ("devices", DEVICES),
            ("gangs", GANGS),
        )
        for name, row in rows.items()
    ],
)
def test_a_broken_object_is_told_with_its_file_and_field(
    documents: Sequence[Json], said: str, tmp_path: Path, capsys: Captured
) -> None:
    code, lines = answered([*documents, node() | {"metadata": {"name": "n2"}}], tmp_path, capsys)

    assert code in {0, 1}
    (line,) = [each for each in lines if not INCOMPLETE.search(each)]
    file, _, rest = line.partition(".json: ")
    assert file.startswith(f"Warning: {tmp_path}")
    assert rest.startswith(said)


@pytest.mark.parametrize(
    ("document", "said"),
    [pytest.param(*row, id=name) for name, row in CONFIGURATIONS.items()],
)
def test_a_wrong_configuration_ends_the_plan_at_its_field(
    document: Json, said: str, tmp_path: Path, capsys: Captured
) -> None:
    code, lines = answered([document, node(), pod()], tmp_path, capsys)

    assert code == 2
    assert lines == [f"Error: {tmp_path / '0.json'}: {said}"]


def test_what_is_wrong_with_equal_pods_is_told_once(tmp_path: Path, capsys: Captured) -> None:
    tolerations = [{"key": "a", "operator": "Equals"}]

    _, lines = answered(
        [pod(name, tolerations=tolerations) for name in ("p", "q", "r")], tmp_path, capsys
    )

    (line,) = lines
    assert line.endswith("No API server takes this; correct it. So do 2 other pods.")
