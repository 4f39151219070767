"""What an ask keeps of a pod's identity: no more than some rule reads."""

import pytest

from springtide.engine.framework.ask import ask_of
from springtide.model.pod import Pod, PodSpec
from springtide.model.volumes import ClaimVolume, DiskKind, DiskVolume, EphemeralVolume, Volume

DISK = DiskVolume(kind=DiskKind.GCE, name="d")


def pod(name: str, volume: Volume | None = None, *, namespace: str = "default") -> Pod:
    volumes = () if volume is None else (volume,)
    return Pod(namespace=namespace, name=name, uid=name, spec=PodSpec(volumes=volumes))


@pytest.mark.parametrize(
    ("volume", "namespaces_matter", "names_matter"),
    [
        (None, False, False),
        (DISK, False, False),
        (ClaimVolume("data"), True, False),
        (EphemeralVolume("scratch"), True, True),
    ],
)
def test_claims_are_looked_up_by_what_names_them(
    volume: Volume | None, *, namespaces_matter: bool, names_matter: bool
) -> None:
    first = ask_of(pod("first", volume))

    elsewhere = ask_of(pod("first", volume, namespace="other"))
    second = ask_of(pod("second", volume))

    assert (elsewhere != first) == namespaces_matter
    assert (second != first) == names_matter
