"""The stores that the contract is held to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.etcdsite import ETCD
from tests.contract.kuberealsite import REAL_KUBERNETES, SHARED
from tests.contract.kubesites import KUBERNETES
from tests.contract.memorysite import MEMORY
from tests.contract.stores import Play, World

WORLDS = (MEMORY, ETCD, KUBERNETES, REAL_KUBERNETES)


@pytest.fixture(scope="session", autouse=True)
def shared() -> Iterator[None]:
    """End what all scenes have shared."""
    yield
    SHARED.close()


@pytest.fixture(params=WORLDS, ids=[each.name for each in WORLDS])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    """Return what plays a scene, at one kind of store after the other."""
    world: World = request.param
    if world.missing:
        pytest.skip(world.missing)
    return lambda scene: world.play(scene, tmp_path)
