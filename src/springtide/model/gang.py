"""Gangs: pods that start together or not at all.

A pod names its gang by a link; a pod group, an object of one of three APIs, says how many of its
pods must run at least. `Gang` is what comes of both for one plan: the pods that wait, and how many
others have their places already.
"""

from enum import StrEnum

import msgspec

from springtide.model.pod import Pod


class GangApi(StrEnum):
    """Where a gang is declared: the group of the API, and ours for annotations."""

    WORKLOAD = "scheduling.k8s.io"
    COSCHEDULING = "scheduling.x-k8s.io"
    VOLCANO = "scheduling.volcano.sh"
    ANNOTATION = "springtide.io"


class PodGroup(msgspec.Struct, frozen=True, kw_only=True):
    """What an object says of the pods that name it.

    Without `minimum` they need not start together. `task_minimums` hold inside the gang, for each
    of its tasks by name. `unread` are fields in use that a plan does not look at.
    """

    api: str
    namespace: str
    name: str
    minimum: int | None = None
    task_minimums: tuple[tuple[str, int], ...] = ()
    unread: tuple[str, ...] = ()
    kind: str = "PodGroup"


class Task(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One task of a gang: how many of its pods must run, and how many have their places already."""

    name: str
    minimum: int
    standing: int = 0


class Member(msgspec.Struct, frozen=True):
    """A pod of a gang that waits for a node, with the name of its task, empty if it has none."""

    pod: Pod
    task: str = ""


class Gang(msgspec.Struct, frozen=True, kw_only=True):
    """Pods of which at least `minimum` must run, those of every task among them.

    `standing` counts the pods that have their places or have done their work; `waiting` are those
    that a plan is made for, in input order; `apart` counts those that wait for something else.
    """

    api: str
    namespace: str
    name: str
    minimum: int
    tasks: tuple[Task, ...] = ()
    standing: int = 0
    waiting: tuple[Member, ...] = ()
    apart: int = 0

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return what no other gang has: API, namespace and name."""
        return self.api, self.namespace, self.name

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def pods(self) -> tuple[Pod, ...]:
        """Return the pods that wait for a node."""
        return tuple(member.pod for member in self.waiting)
