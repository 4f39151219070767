"""By what a pod is selected, for profiles that spread all pods."""

import pytest
from msgspec.structs import replace

from springtide.base.selectors import label_selector
from springtide.engine.framework.default_selector import (
    DefaultSelectors,
    default_selector,
    selector_of,
)
from springtide.model.pod import Owner, Pod
from springtide.model.selecting import Selecting
from tests.builders import pod, spread

LABELS = {"app": "web", "ver": "1"}


def test_services_that_select_the_pod_are_merged() -> None:
    found = default_selector(LABELS, [{"app": "web"}, {"ver": "1"}, {"app": "db"}, {}])

    assert str(found) == "app=web,ver=1"


def test_nothing_selects_a_pod_without_services_and_controller() -> None:
    assert default_selector(LABELS, []).is_empty


def test_plain_labels_of_a_controller_replace_those_of_services() -> None:
    found = default_selector(LABELS, [{"app": "web"}], controller={"app": "other"})

    assert str(found) == "app=other"


def test_the_selector_of_a_controller_is_a_condition_more() -> None:
    controller = label_selector({"ver": "1"})

    found = default_selector(LABELS, [{"app": "web"}], controller=controller)

    assert str(found) == "app=web,ver=1"


def test_a_malformed_selector_does_not_count() -> None:
    controller = label_selector({"ver": "bad value!"})

    assert str(default_selector(LABELS, [{"app": "web"}], controller=controller)) == "app=web"


def owned(kind: str, name: str, **labels: str) -> Pod:
    return replace(pod(labels=labels), owner=Owner(kind=kind, name=name, uid=name))


@pytest.mark.parametrize(
    ("of", "selected"),
    [
        (owned("StatefulSet", "db", app="db"), "app=db"),
        (owned("ReplicationController", "old", app="old"), "app=old"),
        (
            owned("ReplicaSet", "web-7d9f", **{"pod-template-hash": "7d9f"}),
            "app=web,pod-template-hash=7d9f",
        ),
        (owned("ReplicaSet", "web-7d9f"), ""),
        (owned("ReplicaSet", "gone-7d9f", **{"pod-template-hash": "7d9f"}), ""),
        (owned("Job", "job", app="job"), ""),
        (pod(labels={"app": "db"}), ""),
    ],
    ids=["stateful set", "plain labels", "deployment", "no hash", "unknown", "job", "no owner"],
)
def test_the_controller_of_a_pod_is_looked_up(of: Pod, selected: str) -> None:
    namespace = of.namespace
    known = Selecting(
        controllers={
            ("StatefulSet", namespace, "db"): label_selector({"app": "db"}),
            ("ReplicationController", namespace, "old"): {"app": "old"},
            ("Deployment", namespace, "web"): label_selector({"app": "web"}),
        }
    )

    assert str(selector_of(of, known)) == selected


def test_services_of_other_namespaces_do_not_count() -> None:
    of = pod(labels={"app": "a"})
    known = Selecting(services={"elsewhere": ({"app": "a"},)})

    assert selector_of(of, known).is_empty


def test_only_pods_that_state_no_constraint_are_spread_by_default() -> None:
    of = pod(labels={"app": "a"})
    known = Selecting(services={of.namespace: ({"app": "a"},)})
    defaults = DefaultSelectors(known, frozenset({of.spec.scheduler_name}))

    found = [
        defaults.of(of),
        defaults.of(pod(labels={"app": "a"}, neighbours=spread("zone"))),
        defaults.of(pod(labels={"app": "b"})),
        DefaultSelectors(known, frozenset({"another"})).of(of),
    ]

    assert [None if each is None else str(each) for each in found] == ["app=a", None, None, None]
