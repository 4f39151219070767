"""Situations from the field about the adapter: whose samples count, what they come to, and what follows."""

import json
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from springtide.apps.adapter import Served
from springtide.edge.machine import MachineCalendar
from springtide.engine.metrics import Aggregator, Metric
from springtide.engine.replicas.combination import combine
from springtide.engine.replicas.demand import readings
from springtide.engine.replicas.evaluation import Standing, evaluate
from springtide.engine.replicas.queries import HEARTBEAT, Asking, joint_query
from springtide.engine.replicas.verdicts import Circumstance, judge
from springtide.engine.replicas.windows import Windows
from springtide.model.replicas.answer import Answered, Sample, Series
from springtide.model.replicas.policy import (
    Aggregation,
    Operator,
    Policy,
    RangeFunction,
    Wrapping,
)
from springtide.model.replicas.rules import Limits
from springtide.model.replicas.workload import Workload
from tests.adapting import EXPECTED, SERVED, Authority, E, S, adapting, value_path
from tests.adapting import Standing as Adapter
from tests.promapi import PromApi, prometheus
from tests.running import run
from tests.standin.hpa_maths import EXACT, Scale, combined, proposal
from tests.standin.hpa_maths import Metric as HpaMetric
from tests.standin.hpa_rows import one

SVC: Final = "labelSelector=hpa_target_name%3Dsvc"
QUEUES: Final = Served(
    metric=Metric(
        name="queue_depth",
        series=("queue_depth",),
        aggregator=Aggregator.SUM,
        namespace_label="namespace",
        required=(),
    )
)


def held(
    folder: Path,
    work: Callable[[Adapter, PromApi, Authority], Awaitable[None]],
    *,
    served: tuple[Served, ...] = SERVED,
) -> None:
    """Run an adapter over an API server and a Prometheus for as long as the work takes."""
    authority = Authority()

    async def whole(api: PromApi) -> None:
        async with adapting(folder, authority, api, served=served) as adapter:
            await work(adapter, api, authority)

    with prometheus() as api:
        run(whole(api))


async def items(adapter: Adapter, namespace: str, query: str) -> list[dict[str, Any]]:
    """Return the items of a question about the queues."""
    answer = await adapter.ask(value_path("queue_depth", namespace, query))
    assert answer.status == 200
    found: list[dict[str, Any]] = json.loads(answer.body)["items"]
    return found


def test_fc_068_nothing_is_never_published_as_a_zero(tmp_path: Path) -> None:
    async def work(adapter: Adapter, api: PromApi, _authority: Authority) -> None:
        empty = await adapter.ask(value_path(E))
        api.put_member(E, 6, member="chat-0")
        later = await adapter.value(E)

        assert empty.status == 404
        assert "items" not in json.loads(empty.body)
        assert later == "6"

    held(tmp_path, work, served=(Served(metric=replace(EXPECTED, refresh_s=0.0)),))


@pytest.mark.parametrize(("second", "value"), [(5, "5"), (6, "6")])
def test_fc_072_several_reporters_are_never_summed(tmp_path: Path, second: int, value: str) -> None:
    """Covers R-30 in part."""

    async def work(adapter: Adapter, api: PromApi, _authority: Authority) -> None:
        api.put_member(E, 5, member="ctl-0", target="svc", namespace="prod")
        api.put_member(E, second, member="ctl-1", target="svc", namespace="prod")
        api.put_member(E, 9, member="ctl-9", target="other", namespace="prod")

        answer = await adapter.ask(value_path(E, "prod", SVC))

        assert [each["value"] for each in json.loads(answer.body)["items"]] == [value]

    held(tmp_path, work)


def test_fc_073_selector_and_namespace_restrict_the_answer(tmp_path: Path) -> None:
    async def work(adapter: Adapter, api: PromApi, _authority: Authority) -> None:
        for namespace, queue, depth in (
            ("team-a", "a", 10),
            ("team-a", "b", 90),
            ("team-b", "a", 500),
        ):
            api.put("queue_depth", depth, age_s=20, namespace=namespace, queue=queue)

        (selected,) = await items(adapter, "team-a", "labelSelector=queue%3Da")
        (all_of_them,) = await items(adapter, "team-a", "")
        nothing = await items(adapter, "team-c", "")

        assert (selected["value"], all_of_them["value"], nothing) == ("10", "100", [])
        for each in (selected, all_of_them):
            age_s = (
                MachineCalendar().unix_s() - datetime.fromisoformat(each["timestamp"]).timestamp()
            )
            assert each["metricName"] == "queue_depth"
            assert 18 < age_s < 50

    held(tmp_path, work, served=(QUEUES,))


@pytest.mark.parametrize(
    ("index", "value", "replicas"), [((1, 2, 0, 4), "4", 4), ((1, 2, 0, 0), "2", 2)]
)
def test_fc_076_shrinking_waits_for_the_highest_index_that_holds_state(
    tmp_path: Path, index: tuple[int, ...], value: str, replicas: int
) -> None:
    """Covers R-31 in part, R-32 in part, R-36 in part."""
    metrics = (HpaMetric(name=E), HpaMetric(name=S))

    async def work(adapter: Adapter, api: PromApi, authority: Authority) -> None:
        authority.scale("svc", replicas=4, running=4)
        for ordinal, each in enumerate(index):
            api.put_member(E, 2, member=f"svc-{ordinal}", target="svc")
            api.put_member(S, each, member=f"svc-{ordinal}", target="svc")

        expected = await adapter.value(E, query=SVC)
        floor = await adapter.value(S, query=SVC)
        scale = Scale(wanted=4, there=4)
        found = combined(
            [
                proposal(metric, one(float(text)), scale=scale, tolerance=EXACT)
                for metric, text in zip(metrics, (expected, floor), strict=True)
            ],
            wanted=4,
        )

        assert (expected, floor, found.replicas) == ("2", value, replicas)

    held(tmp_path, work)


TASKS: Final = Policy(
    name="tasks",
    aggregation=Aggregation(operator=Operator.SUM),
    functions=(Wrapping(RangeFunction.LAST, 300),),
    up_per_replica=10,
    down_per_replica=10,
)
ASKING: Final = Asking(workload=Workload(name="svc"))


def series(name: str, member: str, values: str) -> dict[str, str]:
    """Return one series, every ten seconds."""
    labels = f'hpa_target_name="svc",service_instance_id="{member}"'
    return {"series": f"{name}{{{labels}}}", "values": values}


def test_fc_074_series_of_deleted_pods_do_not_count(tmp_path: Path) -> None:
    """A pod that ended 40 s ago is within the time that the query looks back, for ten evaluations."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("There is no promtool: install prometheus.")
    samples = [("age", 0), ("n", 1), ("v", 2)]
    asked = [
        {
            "expr": joint_query(TASKS, ASKING),
            "eval_time": f"{240 + 20 * loop}s",
            "exp_samples": [
                {"labels": f'{{hpa_q="{row}"}}', "value": value} for row, value in samples
            ],
        }
        for loop in range(10)
    ]
    given = [
        series("tasks", "svc-0", "2+0x60"),
        series(HEARTBEAT, "svc-0", "0+10x60"),
        series("tasks", "svc-1", "30+0x20 stale"),
        series(HEARTBEAT, "svc-1", "0+10x20 stale"),
    ]
    file = tmp_path / "deleted.json"
    tests = [{"interval": "10s", "input_series": given, "promql_expr_test": asked}]
    file.write_text(json.dumps({"evaluation_interval": "10s", "tests": tests}))

    told = subprocess.run(
        [promtool, "test", "rules", str(file)], capture_output=True, text=True, check=False
    )

    assert "SUCCESS" in told.stdout, told.stdout + told.stderr
    rows = [Series({"hpa_q": row}, (Sample(0, Decimal(value)),)) for row, value in samples]
    verdict = judge(TASKS, Answered(series=tuple(rows)), Circumstance(now_ms=0, members_expected=1))
    found = evaluate(
        combine(readings((TASKS,), {"tasks": verdict})),
        Standing(expect=1, current=1),
        limits=Limits(replicas_min=1, replicas_max=9),
        windows=Windows(),
        now_ms=0,
    )
    assert found.replicas == 1
