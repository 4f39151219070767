"""Which pods are asked about: by name, by labels, or those of manifests; and what each is doing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from springtide.apps.planner.picture import Picture
from springtide.apps.why.report import State
from springtide.base.errors import SpringtideError
from springtide.base.nearest import nearest
from springtide.base.selectors import MalformedSelector, parse_selector
from springtide.model.pod import Pod
from springtide.wire.documents import Input

DEFAULT_NAMESPACE = "default"
_KINDS = frozenset({"pod", "pods", "po"})


class UnknownPod(SpringtideError):
    """A name or a selector that no pod of the input has."""


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """Whom the caller names: pods, one namespace for all of them, labels."""

    pods: tuple[str, ...] = ()
    namespace: str = ""
    selector: str = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One pod as it stands, what it is doing, and where, or what it waits for."""

    pod: Pod
    state: State
    node: str = ""
    reason: str = ""


def asked(found: Input, picture: Picture, names: Names) -> list[Asked]:
    """Return the pods that are asked about; without names those of manifests, or all that wait."""
    known = _known(found, picture)
    if names.pods:
        named = (_named(name, names.namespace, known) for name in names.pods)
        return list({each.pod.key: each for each in named}.values())
    own = [
        each
        for each in known.values()
        if not names.namespace or each.pod.namespace == names.namespace
    ]
    if names.selector:
        return _selected(own, names)
    manifests = {pod.key for pod in found.manifests}
    return [each for each in own if each.pod.key in manifests] or [
        each for each in own if each.state not in {State.RUNNING, State.FINISHED}
    ]


def _known(found: Input, picture: Picture) -> Mapping[str, Asked]:
    """Return all pods by `namespace/name`, in the order of the input."""
    waiting = {pod.key: Asked(pod=pod, state=State.WAITING) for pod in picture.waiting}
    apart = {pod.key: _apart(pod, reason) for pod, reason in picture.apart}
    denied = {
        pod.key: Asked(pod=pod, state=State.DENIED, reason=reason) for pod, reason in picture.denied
    }
    special = {**waiting, **apart, **denied}
    return {
        pod.key: special.get(pod.key) or _placed(pod, picture)
        for pod in (*found.pods, *found.manifests)
    }


def _apart(pod: Pod, reason: str) -> Asked:
    if pod.is_terminating:
        return Asked(pod=pod, state=State.DELETED, reason=reason)
    if pod.spec.scheduling_gates:
        return Asked(pod=pod, state=State.GATED, reason=reason)
    if pod.is_daemon:
        return Asked(pod=pod, state=State.WAITING)
    return Asked(pod=pod, state=State.NOMINATED, node=pod.nominated_node, reason=reason)


def _placed(pod: Pod, picture: Picture) -> Asked:
    if pod.is_finished:
        return Asked(pod=pod, state=State.FINISHED, node=pod.node_name)
    holding = picture.ledger.holdings.get(pod.uid)
    node = picture.ledger.names[holding.row] if holding is not None else pod.node_name
    return Asked(pod=pod, state=State.RUNNING, node=node)


# By name and by labels


def key_of(name: str, namespace: str) -> str:
    """Return `namespace/name` for what people type: `[pod/]namespace/name`, `[pod/]name`."""
    parts = name.split("/")
    if len(parts) > 1 and parts[0] in _KINDS and (len(parts) > 2 or namespace):  # noqa: PLR2004
        parts = parts[1:]
    if len(parts) == 1:
        return f"{namespace or DEFAULT_NAMESPACE}/{parts[0]}"
    return "/".join(parts)


def _named(name: str, namespace: str, known: Mapping[str, Asked]) -> Asked:
    keys = list(readings(name, namespace))
    key = next((each for each in keys if each in known), None)
    if key is None:
        raise UnknownPod(_unknown(keys[-1], known))
    return known[key]


def readings(name: str, namespace: str) -> Iterator[str]:
    """Yield what a name may mean; `pod/x` is x in namespace pod, or else the pod x."""
    yield key_of(name, namespace)
    kind, _, rest = name.partition("/")
    if kind in _KINDS and rest and "/" not in rest:
        yield key_of(rest, namespace)


def _unknown(key: str, known: Mapping[str, Asked]) -> str:
    text = f"There is no pod {key} in the input."
    name = key.rpartition("/")[2]
    elsewhere = [each for each in known if each.rpartition("/")[2] == name]
    near = elsewhere[0] if elsewhere else nearest(key, list(known))
    if near is not None:
        return f"{text} Did you mean {near}?"
    return f"{text} Name one as NAMESPACE/NAME; it has {_some(known)}."


def _some(known: Iterable[str], most: int = 3) -> str:
    names = list(known)
    if not names:
        return "no pod at all"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _selected(pods: Sequence[Asked], names: Names) -> list[Asked]:
    try:
        selector = parse_selector(names.selector)
    except MalformedSelector as fault:
        raise UnknownPod(f"-l {names.selector}: {fault}") from fault
    found = [each for each in pods if selector.matches(each.pod.labels)]
    if not found:
        where = f" in namespace {names.namespace}" if names.namespace else ""
        raise UnknownPod(f"No pod{where} has labels that match {names.selector!r}.")
    return found
