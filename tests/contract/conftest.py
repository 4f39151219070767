"""The stores that the contract is held to."""

from pathlib import Path

import pytest

from tests.contract.etcdsite import ETCD
from tests.contract.memorysite import MEMORY
from tests.contract.stores import Play, World

WORLDS = (MEMORY, ETCD)


@pytest.fixture(params=WORLDS, ids=[each.name for each in WORLDS])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    """Return what plays a scene, at one kind of store after the other."""
    world: World = request.param
    if world.missing:
        pytest.skip(world.missing)
    return lambda scene: world.play(scene, tmp_path)
