"""Which plugins a profile asks at which point, and which lists cannot be."""

import pytest

from springtide.engine.framework.plugins import (
    KNOWN,
    EffectivePlugins,
    Misconfigured,
    effective_plugins,
)
from springtide.model.scheduler import Plugin, Plugins, PluginSet

MINIMUM = ("PrioritySort", "DefaultBinder")


def for_all(*names: str | Plugin, **points: PluginSet) -> Plugins:
    """Return the plugins of a profile that enables these for all of their points."""
    plugins = tuple(Plugin(name) if isinstance(name, str) else name for name in (*MINIMUM, *names))
    return Plugins(multi_point=PluginSet(enabled=plugins), **points)


def enabled(*names: str) -> PluginSet:
    return PluginSet(enabled=tuple(Plugin(name) for name in names))


def disabled(*names: str) -> PluginSet:
    return PluginSet(disabled=tuple(Plugin(name) for name in names))


def filters(plugins: Plugins) -> tuple[str, ...]:
    return effective(plugins).points["filter"]


def effective(plugins: Plugins) -> EffectivePlugins:
    return effective_plugins(plugins, "mine")


def refusal(plugins: Plugins) -> Misconfigured:
    with pytest.raises(Misconfigured) as caught:
        effective(plugins)
    return caught.value


def test_a_plugin_for_all_points_is_asked_where_it_has_something_to_say() -> None:
    found = effective(for_all("NodePorts", "ImageLocality"))

    assert found.points["filter"] == found.points["preFilter"] == ("NodePorts",)
    assert found.points["score"] == ("ImageLocality",)
    assert found.points["bind"] == ("DefaultBinder",)


def test_a_plugin_that_a_point_names_again_comes_first_there() -> None:
    plugins = for_all("NodeName", "NodePorts", "VolumeZone", filter=enabled("VolumeZone"))

    assert filters(plugins) == ("VolumeZone", "NodeName", "NodePorts")
    assert effective(plugins).points["preFilter"] == ("NodeName", "NodePorts", "VolumeZone")


def test_a_plugin_that_only_a_point_names_comes_last_there() -> None:
    plugins = for_all("NodeName", filter=enabled("NodePorts"))

    assert filters(plugins) == ("NodeName", "NodePorts")


def test_a_point_may_leave_out_one_plugin_or_all() -> None:
    assert filters(for_all("NodeName", "NodePorts", filter=disabled("NodeName"))) == ("NodePorts",)
    assert filters(for_all("NodeName", "NodePorts", filter=disabled("*"))) == ()


def test_the_weight_of_the_point_counts_and_no_weight_is_one() -> None:
    own = PluginSet(enabled=(Plugin("TaintToleration", 9),))

    found = effective(for_all(Plugin("TaintToleration", 3), "ImageLocality", score=own))

    assert found.weights == (("TaintToleration", 9), ("ImageLocality", 1))


@pytest.mark.parametrize(
    ("plugins", "text", "path"),
    [
        (
            for_all(filter=enabled("NodeName", "Mine")),
            'FilterPlugin "Mine" does not exist',
            ("plugins", "filter", "enabled", 1),
        ),
        (
            for_all("Mine"),
            'PreFilterPlugin "Mine" does not exist',
            ("plugins", "multiPoint", "enabled"),
        ),
        (
            for_all(score=enabled("NodePorts")),
            'plugin "NodePorts" does not extend ScorePlugin plugin',
            ("plugins", "score", "enabled", 0),
        ),
        (
            for_all(filter=enabled("NodeName", "NodeName")),
            'plugin "NodeName" already registered as "FilterPlugin"',
            ("plugins", "filter", "enabled", 1),
        ),
        (
            for_all("NodeName", "NodeName"),
            'plugin "NodeName" already registered as "PreFilterPlugin"',
            ("plugins", "multiPoint", "enabled"),
        ),
        (
            for_all(bind=disabled("*")),
            'at least one bind plugin is needed for profile with scheduler name "mine"',
            ("plugins",),
        ),
        (
            for_all(queue_sort=disabled("*")),
            'only one queue sort plugin required for profile with scheduler name "mine", but got 0',
            ("plugins",),
        ),
        (
            for_all(Plugin("ImageLocality", -1), Plugin("TaintToleration", 3)),
            "score plugins: total score of Score plugins could overflow",
            ("plugins", "score"),
        ),
    ],
)
def test_lists_that_cannot_be_are_refused_in_the_words_of_the_scheduler(
    plugins: Plugins, text: str, path: tuple[str | int, ...]
) -> None:
    found = refusal(plugins)

    assert (found.text, found.path) == (text, path)


def test_every_known_plugin_has_a_point() -> None:
    assert all(KNOWN.values())
