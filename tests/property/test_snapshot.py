"""A snapshot plans like what it was made of, under other names too, and tells none of the old ones."""

import gzip
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.apps.planner import Request
from springtide.apps.planner import run as planned
from springtide.apps.snapshot import Choices, run
from springtide.edge import files
from springtide.wire.documents import decode
from springtide.wire.snapshot import Names, anonymised, found, trimmed
from springtide.wire.snapshot.words import is_value
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted({path.parent for path in (ROOT / "examples").rglob("groups.yaml")})
DUMP = ROOT / "tests" / "recorded" / "cluster-dump"
GROUPS = [
    {
        "name": f"pool-{name}",
        "nodeSelector": {"matchLabels": {"example.com/node-group": name}},
        "maxSize": 20,
    }
    for name in ("a100-80g", "a100-40g", "l4", "t4")
]
KEY = b"a key"
# Of a report: where objects were read, and what was read of them.
FILES_ONLY = {"problems", "input"}


def example(folder: Path) -> list[Source]:
    return files.read([str(folder)], stdin=io.BytesIO())


def dump(moment: str) -> list[Source]:
    paths = [
        DUMP / f"{moment}.json.gz",
        DUMP / f"{moment}-scheduler-configuration.yaml",
        DUMP / "hami-device-config.yaml",
    ]
    document = {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": GROUPS}
    groups = Source("groups", json.dumps(document).encode())
    return [*files.read([str(path) for path in paths], stdin=io.BytesIO()), groups]


API = "resource.k8s.io/v1"
DRIVER = "gpu.acme.com"


def claimed(model: str) -> dict[str, Any]:
    """Return a template of claims for two cards of one board: of this model, or else large ones."""
    by_model = f'device.attributes["{DRIVER}"].model == "{model}"'
    large = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'
    texts = {"own": by_model} if model != "any" else {"own": by_model, "large": large}
    wanted = [
        {"name": name, "deviceClassName": "gpu", "count": 2,
         "selectors": [{"cel": {"expression": text}}]}
        for name, text in texts.items()
    ]  # fmt: skip
    devices = {
        "requests": [{"name": "cards", "firstAvailable": wanted}],
        "constraints": [{"requests": ["cards"], "matchAttribute": "boards.acme.com/board"}],
    }
    metadata = {"name": f"two-{model}", "namespace": "team"}
    return {
        "apiVersion": API,
        "kind": "ResourceClaimTemplate",
        "metadata": metadata,
        "spec": {"spec": {"devices": devices}},
    }


def claims() -> list[Source]:
    """Return a cluster whose pods claim devices of two nodes, which suffice for some of them."""
    node: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "status": {"allocatable": {"pods": "9"}},
    }
    objects = [
        {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "gpu"},
         "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}},
        *(claimed(model) for model in ("small", "big", "any")),
    ]  # fmt: skip
    for name, model, memory in (("rack-1", "small", "20Gi"), ("rack-2", "big", "80Gi")):
        cards = [
            {"name": f"card-{index}",
             "attributes": {"model": {"string": model},
                            "boards.acme.com/board": {"int": index // 2}},
             "capacity": {"memory": {"value": memory}}}
            for index in range(4)
        ]  # fmt: skip
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "pool": pool, "nodeName": name, "devices": cards}
        objects += [
            {**node, "metadata": {"name": name}},
            {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec},
        ]
    for index, model in enumerate(["small", "big", "any", "any"]):
        source = {"name": "cards", "resourceClaimTemplateName": f"two-{model}"}
        objects.append(
            {"apiVersion": "v1", "kind": "Pod",
             "metadata": {"name": f"train-{index}", "namespace": "team", "uid": f"u-{index}"},
             "spec": {"containers": [{"name": "main"}], "resourceClaims": [source]}}
        )  # fmt: skip
    document = {"apiVersion": "v1", "kind": "List", "items": objects}
    return [Source("claims", json.dumps(document).encode())]


def gangs() -> list[Source]:
    """Return a cluster with room for one of two gangs, each with its tasks and their minimums."""
    amounts = {"cpu": "4", "pods": "9"}
    objects: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "rack-1"},
         "status": {"allocatable": amounts}}
    ]  # fmt: skip
    for gang, size in (("small-run", 2), ("large-run", 3)):
        tasks = {"master-task": 1, "worker-task": size}
        objects.append(
            {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
             "metadata": {"name": gang, "namespace": "team"},
             "spec": {"minMember": size + 1, "minTaskMember": tasks}}
        )  # fmt: skip
        for task, count in tasks.items():
            for index in range(count):
                name = f"{gang}-{task}-{index}"
                notes = {"scheduling.k8s.io/group-name": gang, "volcano.sh/task-spec": task}
                main = {"name": "main", "resources": {"requests": {"cpu": "1"}}}
                objects.append(
                    {"apiVersion": "v1", "kind": "Pod",
                     "metadata": {"name": name, "namespace": "team", "uid": name,
                                  "annotations": notes},
                     "spec": {"containers": [main]}}
                )  # fmt: skip
    document = {"apiVersion": "v1", "kind": "List", "items": objects}
    return [Source("gangs", json.dumps(document).encode())]


INPUTS = {
    "claims": claims(),
    "gangs": gangs(),
    **{str(folder.relative_to(ROOT / "examples")): example(folder) for folder in EXAMPLES},
    "before": dump("before"),
    "after": dump("after"),
}


def report(sources: Sequence[Source]) -> dict[str, Any]:
    """Return what the plan says, as a program reads it."""
    answer = planned(decode(sources), Request(), clock=FixedClock(), rng=FirstRng())
    told = msgspec.to_builtins(answer)
    assert isinstance(told, dict)
    return {key: value for key, value in told.items() if key not in FILES_ONLY}


def under_other_names(sources: Sequence[Source]) -> tuple[bytes, Names]:
    names = Names(KEY)
    objects = anonymised([trimmed(each) for each in found(sources).objects], names)
    document = {"apiVersion": "v1", "kind": "List", "items": objects}
    return msgspec.json.encode(document), names


def renamed(value: Any, names: Names) -> Any:
    """Return a report with every old name replaced by the new one."""
    if isinstance(value, dict):
        return {key: renamed(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(each, names) for each in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"(?<!for )[^\s,;()\[\]]+", lambda match: _other(match[0], names.given), value)


# What stands around names in an answer: full stops, numbers of new nodes, the parts of keys.
AROUND = (
    r"(.+)([.:])",
    r"(\w+://)(.+)",
    r"([^/]+)(/)(.+)",
    r"(.+)(-new-\d+)",
    r"(.+)(-\d+)",
)


def _other(word: str, given_names: Mapping[str, str]) -> str:
    if word in given_names:
        return given_names[word]
    for pattern in AROUND:
        parts = re.fullmatch(pattern, word)
        if parts is not None:
            return "".join(_other(each, given_names) for each in parts.groups())
    return word


def words_of(value: Any) -> Iterator[str]:
    """Yield every word that names somebody's thing in an object."""
    if isinstance(value, list):
        for each in value:
            yield from words_of(each)
    if not isinstance(value, dict):
        return
    for key, each in value.items():
        if isinstance(each, str) and key in {
            "name", "namespace", "uid", "image", "nodeName", "claimName", "volumeName",
            "storageClassName", "providerID", "address", "id", "uuid",
        }:  # fmt: skip
            yield each
        elif key == "labels" and isinstance(each, dict):
            yield from (text for text in each.values() if isinstance(text, str))
        elif key == "annotations" and isinstance(each, dict):
            registered = each.get("hami.io/node-nvidia-register", "[]")
            if registered.startswith("[{"):
                yield from words_of(json.loads(registered))
        else:
            yield from words_of(each)


def test_the_claims_of_these_tests_are_met_by_what_expressions_say() -> None:
    answer = report(INPUTS["claims"])

    assert [each["node"] for each in answer["fitting"]] == ["rack-1", "rack-2", "rack-2"]
    assert [each["pods"] for each in answer["stuck"]] == [("team/train-3",)]


def test_one_of_the_gangs_of_these_tests_is_planned_for() -> None:
    answer = report(INPUTS["gangs"])

    assert len(answer["fitting"]) == 3
    assert len(answer["gangs"]) == 2


@pytest.mark.parametrize("name", INPUTS)
def test_a_snapshot_plans_like_its_input(name: str) -> None:
    snapshot = run(INPUTS[name], Choices())

    assert report([Source("snapshot", snapshot.data)]) == report(INPUTS[name])


@pytest.mark.parametrize("name", INPUTS)
def test_an_anonymised_snapshot_gives_the_same_answer_under_other_names(name: str) -> None:
    data, names = under_other_names(INPUTS[name])

    answer = report([Source("snapshot", data)])

    expected = renamed(report(INPUTS[name]), names)
    assert msgspec.json.format(msgspec.json.encode(answer)).decode() == (
        msgspec.json.format(msgspec.json.encode(expected)).decode()
    )


@pytest.mark.parametrize("name", INPUTS)
def test_none_of_the_old_names_remains(name: str) -> None:
    old = {
        word
        for each in found(INPUTS[name]).objects
        # Configurations name plugins and models, which are everybody's.
        if each.get("kind") not in {None, "KubeSchedulerConfiguration"}
        for word in words_of(each)
        if not is_value(word)
    }

    data, _ = under_other_names(INPUTS[name])

    # Groups of the API and keys of makers of devices stay, whatever somebody's pool is called.
    text = re.sub(r'"apiVersion":"[^"]*"|"(nvidia|huawei)\.com/[\w.-]+"', "", data.decode())
    parts = set(re.split(r"[^\w.-]+", text))
    assert len(old) > 5
    assert sorted(old & parts) == []
    assert [word for word in old if re.search(r"[^\w.-]", word) and word in text] == []


def test_the_same_key_gives_the_same_bytes_and_another_key_others() -> None:
    sources = INPUTS["after"]

    first, second, other = (
        run(sources, Choices(key=key)).data for key in (KEY, KEY, b"another key")
    )

    assert first == second
    assert first != other
    assert len(gzip.compress(first)) > 1000


NAMES = st.text(st.sampled_from("abcd-."), min_size=1, max_size=8).map(lambda text: f"n{text}n")


@given(st.lists(NAMES, min_size=1, max_size=20), st.binary(min_size=1, max_size=8))
def test_different_words_get_different_names_and_equal_ones_the_same(
    words: list[str], key: bytes
) -> None:
    names = Names(key)

    given_names = {word: names.name(word) for word in words}

    assert len(set(given_names.values())) == len(set(words))
    assert all(names.name(word) == name for word, name in given_names.items())
    assert set(given_names.values()).isdisjoint(words)


@given(
    st.dictionaries(NAMES, NAMES, max_size=4),
    st.lists(NAMES, max_size=4),
    st.sampled_from(["In", "NotIn"]),
)
def test_selectors_match_under_other_names_what_they_matched(
    labels: dict[str, str], values: list[str], operator: str
) -> None:
    key = next(iter(labels), "nothing")
    expression = {"key": key, "operator": operator, "values": values}
    pod = {
        "kind": "Pod",
        "metadata": {"name": "p", "labels": labels},
        "spec": {"affinity": {"nodeAffinity": {"matchExpressions": [expression]}}},
    }

    (other,) = anonymised([pod], Names(KEY))

    (changed,) = (other["spec"]["affinity"]["nodeAffinity"]["matchExpressions"],)
    value = other["metadata"]["labels"].get(changed[0]["key"])
    assert (value in changed[0]["values"]) == (labels.get(key) in values)
