"""The commands of the guide for rolling replicas out, typed against a real API server in their order.

There are no kubelets: what asks a pod, waits for one or asks the adapter is left out, and tested with those.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.monitoring import monitored
from tests.rollout import ROOT, Shell, blocks, guide

SCALERS: Final = "/apis/autoscaling/v2/namespaces/game/horizontalpodautoscalers"
ELSEWHERE: Final = re.compile(
    r"kubectl exec|rollout status|--raw| -w$|apiservice|delete pod|--as=NAME"
)
COMMANDS_MIN: Final = 15

pytestmark = pytest.mark.timeout(300)


def test_the_steps_go_through_on_an_api_server_and_end_with_shrinking_allowed(
    planes: Planes, tmp_path: Path
) -> None:
    """Covers R-44 in part, R-45 in part."""
    plane = planes(Setup())
    monitored(plane)
    shell = Shell(tmp_path, KUBECONFIG=str(plane.kubeconfig("admin")))
    steps = guide().partition("## Blue and green")[0]
    seen, count = [], 0

    for is_offline, commands in blocks(steps):
        for command in commands:
            is_typed = command.startswith("kubectl ") and not ELSEWHERE.search(command)
            if not is_offline and not is_typed:
                continue
            shell.run(command.replace("../../", f"{ROOT}/"))
            count += 1
            if "-f objects.yaml" in command:
                seen.append(shrinking(plane))

    assert count >= COMMANDS_MIN
    assert seen == ["", "", "Disabled", "Max"]


def shrinking(plane: ControlPlane) -> str:
    """Return how the installed autoscaler shrinks the workload, empty if there is none."""
    found = plane.ask("GET", SCALERS)["items"]
    return next((each["spec"]["behavior"]["scaleDown"]["selectPolicy"] for each in found), "")
