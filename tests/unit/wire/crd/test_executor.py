"""Configurations of executors: what is left out is safe, and what is wrong is told by its field."""

import pytest

from springtide.wire import yaml
from springtide.wire.crd.executor import ExecutorDocument, read_executor
from springtide.wire.errors import InvalidDocument
from springtide.wire.origin import Origin

HEAD = "kind: ReplicasExecutorConfiguration\n"
WORKLOAD = "workload: chat\n"
BOUNDS = "bounds: {max: 9}\n"
STATE = "stateDirectory: state\n"
SOURCE = "source: {prometheus: {url: http://prometheus:9090}}\n"
REST = WORKLOAD + BOUNDS + STATE + SOURCE
PROCESS = "executor: {process: {command: [chat]}}\n"
HOOK = "executor: {webhook: {url: http://a, observeUrl: http://b}}\n"


def read(text: str) -> ExecutorDocument:
    """Return the document of a text."""
    (found,) = yaml.documents(text.encode(), "executor.yaml")
    return read_executor(found.value, origin=Origin(source="executor.yaml", document=found))


def test_what_is_left_out_kills_nobody_and_waits_for_all_to_speak() -> None:
    document = read(HEAD + REST + PROCESS)

    assert document.executor.given == ["process"]
    assert document.force_after == ""
    assert document.bounds.min == 1
    assert document.source.prometheus is not None
    assert document.source.prometheus.coverage == "members"
    assert document.source.prometheus.expected_series[0] == "hpa_expect_replicas"


@pytest.mark.parametrize(
    "executor",
    [
        PROCESS,
        HOOK,
        "executor: {systemd: {template: chat@.service, user: true}}\n",
        "executor: {exec: {command: [scale], observe: [count]}}\n",
        "executor: {k8sScale: {namespace: game, name: chat}}\n",
    ],
)
def test_every_executor_can_be_named(executor: str) -> None:
    assert len(read(HEAD + REST + executor).executor.given) == 1


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("kind: Other\n" + REST + PROCESS, "kind"),
        (HEAD + BOUNDS + STATE + SOURCE + PROCESS, "workload"),
        (HEAD + "workload: ''\n" + BOUNDS + STATE + SOURCE + PROCESS, "workload"),
        (HEAD + WORKLOAD + STATE + SOURCE + PROCESS, "bounds"),
        (HEAD + WORKLOAD + "bounds: {min: 0, max: 2}\n" + STATE + SOURCE + PROCESS, "bounds.min"),
        (HEAD + WORKLOAD + "bounds: {min: 3, max: 2}\n" + STATE + SOURCE + PROCESS, "bounds.max"),
        (HEAD + WORKLOAD + BOUNDS + SOURCE + PROCESS, "stateDirectory"),
        (HEAD + WORKLOAD + BOUNDS + "stateDirectory: ''\n" + SOURCE + PROCESS, "stateDirectory"),
        (HEAD + WORKLOAD + BOUNDS + STATE + PROCESS, "source"),
        (HEAD + REST, "executor"),
        (HEAD + REST + "executor: {}\n", "executor"),
        (HEAD + REST + PROCESS.replace("}}", "}, systemd: {template: a@.service}}"), "executor"),
        (HEAD + REST + "executor: {proces: {command: [a]}}\n", "executor.proces"),
        (HEAD + REST + "executor: {process: {command: []}}\n", "executor.process.command"),
        (HEAD + REST + "executor: {process: {command: [\"a\\0\"]}}\n", "executor.process.command"),
        (HEAD + REST + PROCESS.replace("[chat]", "[chat], stopSignal: SIGKILL"), "executor.process.stopSignal"),
        (HEAD + REST + "executor: {systemd: {template: chat.service}}\n", "executor.systemd.template"),
        (HEAD + REST + "executor: {exec: {command: [a], observe: []}}\n", "executor.exec.observe"),
        (HEAD + REST + HOOK.replace("http://a", "a"), "executor.webhook.url"),
        (HEAD + REST + HOOK.replace("http://b", "b"), "executor.webhook.observeUrl"),
        (HEAD + REST + "executor: {k8sScale: {namespace: a, name: b, kind: Deployment}}\n", "executor.k8sScale.kind"),
        (HEAD + REST + PROCESS + "interval: 0s\n", "interval"),
        (HEAD + REST + PROCESS + "callTimeout: soon\n", "callTimeout"),
        (HEAD + REST + PROCESS + "settle: 0s\n", "settle"),
        (HEAD + REST + PROCESS + "grace: 0s\n", "grace"),
        (HEAD + REST + PROCESS + "forceAfter: 10s\n", "forceAfter"),
        (HEAD + REST + HOOK + "forceAfter: 60s\n", "forceAfter"),
        (HEAD + WORKLOAD + BOUNDS + STATE + PROCESS + "source: {prometheus: {url: x}}\n", "source.prometheus.url"),
        (HEAD + REST.replace("9090", "9090, maxAge: 0s") + PROCESS, "source.prometheus.maxAge"),
        (HEAD + REST.replace("9090", "9090, indexSeries: []") + PROCESS, "source.prometheus.indexSeries"),
        (HEAD + REST.replace("9090", "9090, expectedSeries: [a-b]") + PROCESS, "source.prometheus.expectedSeries"),
        (HEAD + REST.replace("9090", "9090, memberLabel: a-b") + PROCESS, "source.prometheus.memberLabel"),
    ],
)  # fmt: skip
def test_a_fault_names_its_field_and_the_remedy(text: str, field: str) -> None:
    with pytest.raises(InvalidDocument) as told:
        read(text)

    assert field in str(told.value)
