"""Gangs for tests: their pods are named after them."""

from collections.abc import Sequence

from msgspec.structs import replace

from springtide.model.gang import Gang, Member, Task
from springtide.model.pod import Pod
from tests.builders import pod, replicas


def gang(
    name: str,
    minimum: int,
    pods: Sequence[Pod],
    *,
    standing: int = 0,
    tasks: Sequence[Task] = (),
    task_names: Sequence[str] = (),
    apart: int = 0,
) -> Gang:
    """Return a gang of these pods, in order of the names of their tasks where these are given."""
    names = task_names or [""] * len(pods)
    return Gang(
        api="test",
        namespace="default",
        name=name,
        minimum=minimum,
        tasks=tuple(tasks),
        standing=standing,
        waiting=tuple(Member(each, task) for each, task in zip(pods, names, strict=True)),
        apart=apart,
    )


def equal(name: str, count: int, minimum: int, *, cpu: int = 1, priority: int = 0) -> Gang:
    """Return a gang of so many equal pods."""
    return gang(name, minimum, replicas(count, pod(name, cpu=cpu, priority=priority)))


def sized(name: str, minimum: int, cores: Sequence[int]) -> Gang:
    """Return a gang of pods that ask for so many cores each."""
    pods = [
        replace(pod(f"{name}-{index}", cpu=each), uid=f"{name}-{index}")
        for index, each in enumerate(cores)
    ]
    return gang(name, minimum, pods)
