"""What the plugin lists of a profile amount to, point by point.

A plugin is asked at a point if it is enabled there, or enabled for several points and not disabled
there. Plugins enabled at the point come first as far as they are enabled for several as well, then
the others that are enabled for several, then those that only the point names.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from springtide.model.scheduler import EVERY, Plugin, Plugins, PluginSet

SCORE: Final = "score"
SCORE_MAX: Final = 100
_INT64_MAX: Final = 2**63 - 1
_INT64: Final = 2**64

POINTS: Final[Mapping[str, str]] = {
    "preFilter": "PreFilterPlugin",
    "filter": "FilterPlugin",
    "postFilter": "PostFilterPlugin",
    "reserve": "ReservePlugin",
    "preScore": "PreScorePlugin",
    SCORE: "ScorePlugin",
    "preBind": "PreBindPlugin",
    "bind": "BindPlugin",
    "postBind": "PostBindPlugin",
    "permit": "PermitPlugin",
    "preEnqueue": "PreEnqueuePlugin",
    "queueSort": "QueueSortPlugin",
}
"""Extension points in the order in which they are set up, with what a plugin there is called."""

_SEVERAL: Final = ("plugins", "multiPoint", "enabled")
_FILTERS: Final = ("preFilter", "filter")
_SCORED: Final = ("preScore", SCORE)

KNOWN: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(points)
    for name, points in {
        "SchedulingGates": ("preEnqueue",),
        "PrioritySort": ("queueSort",),
        "NodeName": _FILTERS,
        "NodeUnschedulable": _FILTERS,
        "TaintToleration": (*_FILTERS, *_SCORED),
        "NodeAffinity": (*_FILTERS, *_SCORED),
        "NodePorts": _FILTERS,
        "NodeResourcesFit": (*_FILTERS, *_SCORED),
        "VolumeRestrictions": _FILTERS,
        "NodeVolumeLimits": _FILTERS,
        "VolumeBinding": (*_FILTERS, *_SCORED, "reserve", "preBind"),
        "VolumeZone": _FILTERS,
        "PodTopologySpread": (*_FILTERS, *_SCORED),
        "InterPodAffinity": (*_FILTERS, *_SCORED),
        "DynamicResources": (
            *_FILTERS, "postFilter", SCORE, "reserve", "preBind", "preEnqueue",
        ),
        "DefaultPreemption": ("postFilter", "preEnqueue"),
        "NodeResourcesBalancedAllocation": _SCORED,
        "ImageLocality": (SCORE,),
        "DefaultBinder": ("bind",),
        "NodeDeclaredFeatures": _FILTERS,
    }.items()
}  # fmt: skip
"""The plugins that kube-scheduler 1.37 has, and the points that each is for."""

Lists = Mapping[str, tuple[str, ...]]


class Misconfigured(Exception):
    """A profile's plugins cannot be set up; the text is kube-scheduler's, the path leads there."""

    def __init__(self, text: str, *path: str | int) -> None:
        super().__init__(text)
        self.text = text
        self.path = path


class EffectivePlugins(msgspec.Struct, frozen=True, kw_only=True):
    """The plugins of a profile by point, in the order in which they are asked, and score weights."""

    points: Lists
    weights: tuple[tuple[str, int], ...]


def effective_plugins(plugins: Plugins, profile: str) -> EffectivePlugins:
    """Return the lists of the profile of this name, or raise Misconfigured."""
    sets = dict(plugins.points())
    several = plugins.multi_point.enabled
    for point, kind in POINTS.items():
        _check(point, kind, sets[point])
    points = {point: _expanded(point, kind, sets[point], several) for point, kind in POINTS.items()}
    _check_counts(points, profile)
    weights = _weights((*plugins.score.enabled, *several))
    scores = tuple((name, weights[name]) for name in points[SCORE])
    return EffectivePlugins(points=points, weights=scores)


def names_of(plugins: Plugins) -> frozenset[str]:
    """Return every plugin that is enabled anywhere."""
    return frozenset(plugin.name for _, each in plugins.points() for plugin in each.enabled)


def _check(point: str, kind: str, given: PluginSet) -> None:
    """Refuse what a point itself names and cannot have."""
    seen: set[str] = set()
    for index, plugin in enumerate(given.enabled):
        name, path = plugin.name, ("plugins", point, "enabled", index)
        _check_known(name, kind, *path)
        if point not in KNOWN[name]:
            raise Misconfigured(f'plugin "{name}" does not extend {kind} plugin', *path)
        if name in seen:
            raise Misconfigured(f'plugin "{name}" already registered as "{kind}"', *path)
        seen.add(name)


def _check_known(name: str, kind: str, *path: str | int) -> None:
    if name not in KNOWN:
        raise Misconfigured(f'{kind} "{name}" does not exist', *path)


def _expanded(
    point: str, kind: str, given: PluginSet, several: Iterable[Plugin]
) -> tuple[str, ...]:
    own = [plugin.name for plugin in given.enabled]
    disabled = given.disabled_names
    if EVERY in disabled:
        return tuple(own)
    overridden: set[str] = set()
    added: list[str] = []
    for plugin in several:
        name = plugin.name
        _check_known(name, kind, *_SEVERAL)
        if point not in KNOWN[name] or name in disabled:
            continue
        if name in own:
            overridden.add(name)
        elif name in added:
            raise Misconfigured(f'plugin "{name}" already registered as "{kind}"', *_SEVERAL)
        else:
            added.append(name)
    first = [name for name in own if name in overridden]
    return (*first, *added, *(name for name in own if name not in overridden))


def _check_counts(points: Lists, profile: str) -> None:
    named = f'profile with scheduler name "{profile}"'
    if len(points["queueSort"]) != 1:
        count = len(points["queueSort"])
        text = f"only one queue sort plugin required for {named}, but got {count}"
        raise Misconfigured(text, "plugins")
    if not points["bind"]:
        raise Misconfigured(f"at least one bind plugin is needed for {named}", "plugins")


def _weights(plugins: Iterable[Plugin]) -> dict[str, int]:
    """Return the weight of each plugin that scores: the first one given, 1 where none is."""
    weights: dict[str, int] = {}
    total = 0
    for plugin in plugins:
        if SCORE not in KNOWN[plugin.name] or plugin.name in weights:
            continue
        weights[plugin.name] = weight = plugin.weight or 1
        # Negative weights are caught by this alone, because the difference wraps around.
        if weight * SCORE_MAX > _wrapped(_INT64_MAX - total):
            text = "score plugins: total score of Score plugins could overflow"
            raise Misconfigured(text, "plugins", SCORE)
        total += weight * SCORE_MAX
    return weights


def _wrapped(value: int) -> int:
    return (value + _INT64 // 2) % _INT64 - _INT64 // 2
