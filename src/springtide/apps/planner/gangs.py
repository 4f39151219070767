"""Which pods form a gang: what pods name, matched with the groups that the input has.

A pod that names a group which is not there is judged as its annotations say, or alone, and that is
told. So is what a group says and a plan does not look at.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from springtide.model.gang import Gang, GangApi, Member, PodGroup, Task
from springtide.model.pod import GangLink, Pod
from springtide.model.problem import Problem
from springtide.wire.k8s.gang_links import (
    GANG_ANNOTATION,
    GANG_SIZE_ANNOTATION,
    VOLCANO_SIZE_ANNOTATION,
)

SIZE_DIGITS_MAX: Final = 9
FAILED: Final = "Failed"
SUCCEEDED: Final = "Succeeded"
OURS: Final = GangApi.ANNOTATION
# What Volcano calls the groups that it makes for pods that name none.
VOLCANO_MADE_UP: Final = "podgroup-"

Key = tuple[str, str, str]
"""A group: API, namespace and name."""


class Gathered(msgspec.Struct, frozen=True):
    """The gangs that have pods to plan for, and what is wrong with what was said of gangs."""

    gangs: tuple[Gang, ...] = ()
    problems: tuple[Problem, ...] = ()


def gathered(
    pods: Sequence[Pod],
    groups: Iterable[PodGroup],
    *,
    placed: Iterable[tuple[Pod, str]],
    waiting: Iterable[Pod],
) -> Gathered:
    """Return the gangs in the order of their first pods."""
    linked = [pod for pod in pods if pod.gang_links]
    if not linked:
        return Gathered()
    gathering = _Gathering(
        {(each.api, each.namespace, each.name): each for each in groups},
        placed={pod.uid for pod, _ in placed},
        waiting={pod.uid for pod in waiting},
    )
    for pod in linked:
        # One that has failed or goes away is of no use to its gang.
        if pod.phase != FAILED and not pod.is_terminating:
            gathering.take(pod)
    return Gathered(tuple(gathering.gangs()), tuple(gathering.problems))


class _Gathering:
    """Pods by the gang that they belong to, while they are sorted."""

    def __init__(
        self,
        groups: Mapping[Key, PodGroup],
        *,
        placed: Collection[str],
        waiting: Collection[str],
    ) -> None:
        self._groups = groups
        self._placed = placed
        self._waiting = waiting
        self._members: dict[Key, list[Member]] = defaultdict(list)
        self._links: dict[Key, GangLink] = {}
        self._minimums: dict[Key, int] = {}
        self._absent: dict[tuple[Key, bool], list[Pod]] = defaultdict(list)
        self._told: set[Key] = set()
        self.problems: list[Problem] = []

    def take(self, pod: Pod) -> None:
        """Put the pod to its gang, if the first of its links that is known leads to one."""
        for link in pod.gang_links:
            group = self._groups.get((link.api, pod.namespace, link.name))
            if group is not None:
                if group.minimum is not None or group.task_minimums:
                    self._add(pod, link)
                return
        annotated = [link for link in pod.gang_links if link.api == OURS or link.minimum]
        if annotated:
            self._add(pod, annotated[0])
            self._take_minimum(pod, annotated[0])
        link = pod.gang_links[0]
        if link.api != OURS and not link.name.startswith(VOLCANO_MADE_UP) and not pod.is_finished:
            key = (link.api, pod.namespace, link.name)
            self._absent[key, bool(annotated)].append(pod)

    def gangs(self) -> Iterator[Gang]:
        """Yield the gangs with pods that wait for a node."""
        for key, members in self._members.items():
            group = self._groups.get((key[0], key[1], self._links[key].name))
            gang = self._gang(key, members, group)
            if not gang.waiting:
                continue
            if group is not None and group.unread:
                self.problems.append(_unread(group))
            yield gang
        self.problems.extend(
            _absent(key, pods, is_annotated=is_annotated)
            for (key, is_annotated), pods in self._absent.items()
        )

    def _add(self, pod: Pod, link: GangLink) -> None:
        key = _key(pod, link)
        self._links.setdefault(key, link)
        self._members[key].append(Member(pod, link.task))

    def _take_minimum(self, pod: Pod, link: GangLink) -> None:
        """Take in what a pod itself says of its gang's size; the largest number counts."""
        key, size = _key(pod, link), _size(link.minimum)
        if size is not None:
            self._minimums[key] = max(size, self._minimums.get(key, 0))
        elif link.minimum and key not in self._told:
            self._told.add(key)
            self.problems.append(_malformed_size(pod, link))

    def _gang(self, key: Key, members: Sequence[Member], group: PodGroup | None) -> Gang:
        api, namespace, name = key
        there = [each for each in members if self._is_there(each.pod)]
        if group is not None:
            minimum = group.minimum or sum(count for _, count in group.task_minimums)
        else:
            minimum = self._minimums.get(key, len(members))
        waiting = tuple(each for each in members if each.pod.uid in self._waiting)
        return Gang(
            api=api,
            namespace=namespace,
            name=name,
            minimum=minimum,
            tasks=() if group is None else tuple(_tasks(group, there)),
            standing=len(there),
            waiting=waiting,
            apart=len(members) - len(there) - len(waiting),
        )

    def _is_there(self, pod: Pod) -> bool:
        """Return whether the pod has its place, or has done its work."""
        return pod.phase == SUCCEEDED or pod.uid in self._placed


def _key(pod: Pod, link: GangLink) -> Key:
    name = f"{link.name}/{link.replica}" if link.replica else link.name
    return link.api, pod.namespace, name


def _tasks(group: PodGroup, there: Sequence[Member]) -> Iterator[Task]:
    for name, minimum in group.task_minimums:
        count = sum(each.task == name for each in there)
        yield Task(name=name, minimum=minimum, standing=count)


def _size(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= SIZE_DIGITS_MAX
    return int(text) if is_number and int(text) > 0 else None


# What is wrong


def _malformed_size(pod: Pod, link: GangLink) -> Problem:
    name = GANG_SIZE_ANNOTATION if link.api == GangApi.ANNOTATION else VOLCANO_SIZE_ANNOTATION
    return Problem(
        source="",
        object=f"Pod/{pod.key}",
        field=f'metadata.annotations["{name}"]',
        message=f"{link.minimum!r} is no number of pods. Give 1 or more; until then the other pods of "
        f"{pod.namespace}/{link.name} say how many must start together, or else all of them must.",
    )


def _absent(key: Key, pods: Sequence[Pod], *, is_annotated: bool) -> Problem:
    api, namespace, name = key
    also = len(pods) - 1
    others = "" if not also else " So does another pod." if also == 1 else f" So do {also} others."
    how = "as its annotations say" if is_annotated else "by itself"
    remedy = (
        ""
        if is_annotated
        else f", or annotate the pods with {GANG_ANNOTATION} and {GANG_SIZE_ANNOTATION}"
    )
    kind = "Workload" if "/" in name else "PodGroup"
    return Problem(
        source="",
        object=f"Pod/{pods[0].key}",
        field="",
        message=f"it belongs to the {kind} {namespace}/{name} of {api}, which is not in the input, "
        f"and is planned for {how}.{others} Add the object{remedy}.",
    )


def _unread(group: PodGroup) -> Problem:
    what = " and ".join(group.unread)
    return Problem(
        source="",
        object=f"{group.kind}/{group.namespace}/{group.name}",
        field=group.unread[0],
        message=f"A plan does not look at {what}: the pods may be sent to nodes that are farther "
        "apart than they may be. Check where they go.",
    )
