"""Our executor on the scale of a StatefulSet, behind a real API server with its controllers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.executors import Execution, say
from tests.e2e.waiting import eventually
from tests.promapi import PromApi, prometheus

SETS: Final = "/apis/apps/v1/namespaces/default/statefulsets"

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def plane(planes: Planes) -> ControlPlane:
    """A control plane whose pods run nowhere."""
    return planes(Setup(has_controllers=True))


@pytest.fixture
def api() -> Iterator[PromApi]:
    """What members say."""
    with prometheus() as found:
        yield found


def stateful_set(name: str) -> dict[str, object]:
    """Return a StatefulSet of one pod."""
    labels = {"app": name}
    container = {"name": "main", "image": "registry.invalid/work:1"}
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
            },
        },
    }


def test_a_scale_grows_at_once_and_shrinks_one_at_a_time(
    plane: ControlPlane, tmp_path: Path, api: PromApi
) -> None:
    plane.create(SETS, stateful_set("chat"))
    say(api, expect=4, generation=1)
    scale: dict[str, object] = {
        "k8sScale": {
            "namespace": "default", "name": "chat", "kubeconfig": str(plane.kubeconfig("admin")),
        }
    }  # fmt: skip
    with Execution(tmp_path, api, scale, callTimeout="10s") as executor:
        executor.start()
        executor.until(phase="Steady", observed=4)
        say(api, expect=2, generation=2, members=4, serving={1, 2, 3})
        executor.until(phase="Steady", observed=3, desired=3)
        say(api, expect=2, generation=2, members=3, serving={1, 2})
        executor.until(phase="Steady", observed=2)

        spec = eventually(
            lambda: plane.ask("GET", f"{SETS}/chat"), lambda found: found["status"]["replicas"] == 2
        )["spec"]
        assert spec["replicas"] == 2
        assert [each["number"] for each in executor.events("scale")] == [4, 3, 2]
        assert executor.metric("hpa_executor_unknown_outcome_total") == 0


def test_a_scale_that_is_not_there_is_told(
    plane: ControlPlane, tmp_path: Path, api: PromApi
) -> None:
    say(api, expect=4, generation=1)
    scale: dict[str, object] = {
        "k8sScale": {
            "namespace": "default", "name": "nobody", "kubeconfig": str(plane.kubeconfig("admin")),
        }
    }  # fmt: skip
    with Execution(tmp_path, api, scale) as executor:
        executor.start()
        found = executor.until_it_says("It cannot be seen which members there are")

        assert "statefulsets nobody" in found["why"]
        assert b"members failed" in executor.page("/readyz")
