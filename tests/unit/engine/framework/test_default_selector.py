"""By what a pod is selected, for profiles that spread all pods."""

from springtide.base.selectors import label_selector
from springtide.engine.framework.default_selector import default_selector

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
