"""The table of what is read from a live cluster: whole, and without what must not be read."""

import pytest

from springtide.wire.k8s.kinds import kinds_read
from springtide.wire.k8s.resources import OF_FILES, RESOURCES, judged


def test_every_kind_that_is_read_of_files_is_read_of_a_cluster() -> None:
    listed = {(each.group, each.kind) for each in RESOURCES}

    assert kinds_read() - listed == OF_FILES


@pytest.mark.parametrize("kind", ["Secret", "Event", "Lease"])
def test_what_is_nobodys_business_is_not_asked_for(kind: str) -> None:
    assert kind not in {each.kind for each in RESOURCES}


def test_config_maps_are_chosen_by_their_label() -> None:
    (config_maps,) = (each for each in RESOURCES if each.kind == "ConfigMap")

    assert config_maps.selector == "app.kubernetes.io/component=hami-scheduler"


def test_a_plan_reads_only_what_it_judges() -> None:
    names = [each.name for each in judged()]

    assert {"nodes", "pods", "configmaps", "nodegroups.springtide.io"} < set(names)
    assert {
        (each.group, each.kind) for each in judged() if not each.group.startswith("spring")
    } <= (kinds_read() | {("", "ConfigMap")})


def test_paths_are_those_of_the_api() -> None:
    paths = {each.name: each.path(each.versions[0]) for each in RESOURCES}

    assert paths["nodes"] == "/api/v1/nodes"
    assert paths["storageclasses.storage.k8s.io"] == "/apis/storage.k8s.io/v1/storageclasses"
    assert paths["deviceprofiles.springtide.io"] == "/apis/springtide.io/v1alpha1/deviceprofiles"
