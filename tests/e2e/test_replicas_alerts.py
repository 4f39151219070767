"""The alerts and the scraping of replicas on a real Prometheus: when each fires, and whose samples are whose."""

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from springtide.apps.manifests.alerts import Scope, scope_of
from springtide.apps.manifests.choices import ScaleDown
from springtide.apps.manifests.monitor import monitor
from springtide.apps.manifests.rules import rule_file
from tests.e2e.ours import free_port
from tests.e2e.processes import Processes
from tests.e2e.waiting import eventually
from tests.exporting import exported
from tests.manifesting import chosen, settings

WHOSE: Final = 'k8s_namespace_name="game",hpa_target_name="chat"'
OTHER: Final = 'k8s_namespace_name="game",hpa_target_name="lobby"'
KUBE: Final = 'namespace="game"'
OPENED: Final = chosen(scale_down=ScaleDown(is_allowed=True))
SCOPES: Final = {"of all": Scope(), "of one": scope_of(settings(), OPENED)}
MEMBER: Final = f'{WHOSE},instance="chat-0"'
ADAPTER: Final = "springtide_adapter_answers_total"

Series = dict[str, str]

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def promtool() -> str:
    """The program that checks rules; without it, there is nothing to test."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("There is no promtool: install prometheus.")
    return program


def checked(promtool: str, *arguments: str) -> str:
    """Return what promtool says of files, all of which must be good."""
    done = subprocess.run([promtool, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_prometheus_takes_every_rule(scope: Scope, promtool: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(rule_file(scope)))

    told = checked(promtool, "check", "rules", str(path))

    assert "SUCCESS: 11 rules found" in told


GOOD: Final[Series] = {
    f'hpa_leader{{{WHOSE},instance="chat-0"}}': "1x60",
    f'hpa_leader{{{WHOSE},instance="chat-1"}}': "0x60",
    f'hpa_policy_valid{{{MEMBER},policy="cpu",direction="down"}}': "1x60",
    f"hpa_status_age_seconds{{{MEMBER}}}": "20x60",
    f"hpa_drain_overdue_seconds{{{MEMBER}}}": "0x60",
    f"hpa_clock_offset_seconds{{{MEMBER}}}": "-1x60",
    f"hpa_expect_replicas{{{MEMBER}}}": "2x60",
    f'hpa_stateful_index{{{WHOSE},instance="chat-0"}}': "1x60",
    f'hpa_stateful_index{{{WHOSE},instance="chat-1"}}': "2x60",
    f'up{{{WHOSE},instance="chat-0"}}': "1x60",
    f'up{{{WHOSE},instance="chat-1"}}': "1x60",
    f'kube_statefulset_replicas{{{KUBE},statefulset="chat"}}': "2x60",
    f'kube_horizontalpodautoscaler_spec_max_replicas{{{KUBE},horizontalpodautoscaler="chat"}}': "40x60",
    f'{ADAPTER}{{metric="hpa_expect_replicas",reason="answered"}}': "0+60x60",
}
"""A workload that nothing is wrong with, a sample a minute for an hour."""
LEADS: Final = 'hpa_leader{{{0},instance="chat-{1}"}}'

BAD: Final[dict[str, tuple[Series, set[str]]]] = {
    "nothing": ({}, set()),
    "an unknown input": (
        {f'hpa_policy_valid{{{MEMBER},policy="cpu",direction="down"}}': "0x60"},
        {"InputUnknown"},
    ),
    "an old status": ({f"hpa_status_age_seconds{{{MEMBER}}}": "121x60"}, {"StatusOld"}),
    "no leader": ({LEADS.format(WHOSE, 0): "0x60"}, {"NoLeader"}),
    "two leaders": ({LEADS.format(WHOSE, 1): "1x60"}, {"TwoLeaders"}),
    "a late drain": ({f"hpa_drain_overdue_seconds{{{MEMBER}}}": "301x60"}, {"DrainOverdue"}),
    "a clock behind": ({f"hpa_clock_offset_seconds{{{MEMBER}}}": "-6x60"}, {"ClockOff"}),
    "a limit that was lowered": (
        {
            'kube_horizontalpodautoscaler_spec_max_replicas{namespace="game",'
            'horizontalpodautoscaler="chat"}': "1x60"
        },
        {"IndexAboveLimit"},
    ),
    "no number": ({f"hpa_expect_replicas{{{MEMBER}}}": "_x60"}, {"NumberMissing"}),
    "an index short of one": (
        {f'hpa_stateful_index{{{WHOSE},instance="chat-1"}}': "_x60"},
        {"IndexMissing"},
    ),
    "no index at all": (
        {f'hpa_stateful_index{{{WHOSE},instance="chat-{each}"}}': "_x60" for each in (0, 1)},
        {"IndexMissing"},
    ),
    "too few replicas": (
        {f'kube_statefulset_replicas{{{KUBE},statefulset="chat"}}': "1x60"},
        {"NotFollowed"},
    ),
    "too many replicas": (
        {f'kube_statefulset_replicas{{{KUBE},statefulset="chat"}}': "9x60"},
        {"NotFollowed"},
    ),
    "no kube-state-metrics": (
        {name: "_x60" for name in GOOD if name.startswith("kube_")},
        set(),
    ),
    "an adapter that fails": (
        {f'{ADAPTER}{{metric="hpa_expect_replicas",reason="SourceUnavailable"}}': "0+6x60"},
        {"Adapter"},
    ),
    "another workload": ({f"hpa_leader{{{OTHER}}}": "1x60"}, set()),
}


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize(("changes", "fires"), BAD.values(), ids=BAD)
def test_what_is_wrong_fires_its_alert_and_no_other(
    changes: Series, fires: set[str], scope: Scope, promtool: str, tmp_path: Path
) -> None:
    """Covers R-12 in part, R-46 in part, R-57 in part."""
    names = [each["alert"] for each in rule_file(scope)["groups"][0]["rules"]]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(rule_file(scope)))
    series = [{"series": name, "values": values} for name, values in (GOOD | changes).items()]

    asked = [
        {"expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})', "eval_time": "30m",
         "exp_samples": [{"labels": "{}", "value": 1}] if short(name) in fires else []}
        for name in names
    ]  # fmt: skip
    test = {"interval": "1m", "input_series": series, "promql_expr_test": asked}
    file = tmp_path / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(path)], "tests": [test]}))

    assert fires <= set(map(short, names))
    assert "SUCCESS" in checked(promtool, "test", "rules", str(file))


def short(name: str) -> str:
    """Return what tells an alert from the others."""
    return name.removeprefix("SpringtideReplicas").replace("SpringtideAdapterErrors", "Adapter")


LIAR: Final = """\
hpa_stateful_index{k8s_namespace_name="bank",hpa_target_name="vault",instance="vault-9",job="x"} 10
hpa_leader{service_instance_id="chat-0"} 1
"""
"""A pod that calls itself a member of somebody else's workload."""


def scraping(target: str) -> dict[str, Any]:
    """Return what an operator of Prometheus makes of our monitor, with the pod in the place of discovery."""
    (endpoint,) = monitor(settings(), chosen())["spec"]["podMetricsEndpoints"]
    found = {"__meta_kubernetes_namespace": "game", "__meta_kubernetes_pod_name": "chat-0"}
    words = {"sourceLabels": "source_labels", "targetLabel": "target_label"}
    return {
        "job_name": "chat",
        "scrape_interval": "200ms",
        "scrape_timeout": "200ms",
        "honor_labels": endpoint["honorLabels"],
        "metrics_path": endpoint["path"],
        "static_configs": [{"targets": [target], "labels": found}],
        "relabel_configs": [
            {words.get(key, key): value for key, value in each.items()}
            for each in endpoint["relabelings"]
        ],
        "metric_relabel_configs": endpoint["metricRelabelings"],
    }


def seen(url: str, metric: str) -> Any:
    """Return the labels of the samples of a metric."""
    query = urllib.parse.urlencode({"query": metric})
    try:
        with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=5) as answer:
            return [each["metric"] for each in json.load(answer)["data"]["result"]]
    except OSError:
        return []


def test_f_26_a_pod_speaks_for_the_workload_that_it_is_of_and_no_other(tmp_path: Path) -> None:
    """Covers R-41 in part."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("There is no prometheus: install it.")
    port = free_port()
    with exported(LIAR) as target, Processes(tmp_path / "logs") as processes:
        file = tmp_path / "prometheus.json"
        file.write_text(json.dumps({"scrape_configs": [scraping(target)]}))
        options = [f"--config.file={file}", f"--storage.tsdb.path={tmp_path / 'data'}"]
        processes.start("prometheus", [program, *options, f"--web.listen-address=127.0.0.1:{port}"])
        url = f"http://127.0.0.1:{port}"

        (index,) = eventually(lambda: seen(url, "hpa_stateful_index"), bool)
        (leader,) = seen(url, "hpa_leader")

    own = {
        "k8s_namespace_name": "game",
        "hpa_target_kind": "StatefulSet",
        "hpa_target_name": "chat",
        "instance": "chat-0",
        "job": "chat",
    }
    assert index == {"__name__": "hpa_stateful_index", **own}
    assert leader == {"__name__": "hpa_leader", **own, "service_instance_id": "chat-0"}
