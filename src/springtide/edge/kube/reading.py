"""A whole cluster, read once: several kinds at a time, nothing written, nothing decoded.

What is not served or may not be listed is reported and left out, unless there is no answer without
it. The first fault that concerns the server as a whole ends everything that is on its way.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from springtide.base.telling import Level, Tell, Untold
from springtide.edge.cluster.errors import ClusterFault, Denied, NotServed, Unknown
from springtide.edge.kube.asking import Patience
from springtide.edge.kube.connection import Access, connect
from springtide.edge.kube.listing import pages
from springtide.edge.kube.transport import Answer, Get, Query
from springtide.wire.k8s.resources import Resource
from springtide.wire.source import Source

CONCURRENCY_MAX: Final = 6

Progress = Callable[[str], None]
"""Told the name of each kind that has been read."""


_UNTOLD: Final = Untold()


class Harvest(msgspec.Struct, frozen=True, kw_only=True):
    """What came: pages in the order of the resources, and the resources that did not come."""

    name: str
    sources: tuple[Source, ...] = ()
    denied: tuple[Resource, ...] = ()
    unserved: tuple[Resource, ...] = ()


def harvest(
    access: Access,
    resources: Sequence[Resource],
    *,
    patience: Patience,
    progress: Progress,
    tell: Tell = _UNTOLD,
) -> Harvest:
    """Return what the cluster has of these resources, or raise ClusterFault."""
    return asyncio.run(_harvest(access, resources, patience, progress, tell))


async def _harvest(
    access: Access,
    resources: Sequence[Resource],
    patience: Patience,
    progress: Progress,
    tell: Tell,
) -> Harvest:
    async with await connect(access) as connection:
        turns = asyncio.Semaphore(CONCURRENCY_MAX)
        get = _told(connection.get, tell)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(_outcome(get, each, patience, progress, turns))
                    for each in resources
                ]
        except* ClusterFault as faults:
            raise _first(faults) from None
        return _gathered(connection.name, resources, [task.result() for task in tasks])


async def _outcome(
    get: Get,
    resource: Resource,
    patience: Patience,
    progress: Progress,
    turns: asyncio.Semaphore,
) -> list[bytes] | ClusterFault:
    async with turns:
        try:
            found = await pages(get, resource, patience=patience)
        except NotServed as fault:
            return fault
        except Unknown:
            raise
        except Denied as fault:
            if resource.is_essential:
                raise Denied(_essential(resource, fault)) from fault
            return fault
        progress(resource.name)
        return found


def _told(get: Get, tell: Tell) -> Get:
    """Return what asks and tells it; neither credentials nor bodies are told."""
    if not tell.hears(Level.REQUEST):
        return get

    async def telling(path: str, query: Query) -> Answer:
        answer = await get(path, query)
        size = len(answer.body)
        tell(Level.REQUEST, "cluster_asked", path=path, status=answer.status, bytes=size)
        return answer

    return telling


def _first(faults: BaseExceptionGroup[ClusterFault]) -> ClusterFault:
    fault = faults.exceptions[0]
    return fault if isinstance(fault, ClusterFault) else _first(fault)


def _essential(resource: Resource, fault: Denied) -> str:
    return (
        f"{fault} Without {resource.name} there is no answer: have somebody grant the right to list "
        "them in the whole cluster, or give a dump that somebody else has made."
    )


def _gathered(
    name: str, resources: Sequence[Resource], outcomes: Sequence[list[bytes] | ClusterFault]
) -> Harvest:
    pairs = list(zip(resources, outcomes, strict=True))
    return Harvest(
        name=name,
        sources=tuple(
            Source(f"cluster {name}, {resource.name}", page)
            for resource, outcome in pairs
            if not isinstance(outcome, ClusterFault)
            for page in outcome
        ),
        denied=tuple(resource for resource, outcome in pairs if isinstance(outcome, Denied)),
        unserved=tuple(
            resource
            for resource, outcome in pairs
            if isinstance(outcome, NotServed) and not resource.is_optional
        ),
    )
