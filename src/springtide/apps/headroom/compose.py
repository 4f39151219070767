"""From the engine's rooms to the report: per ask and pool, counted, with what limits it."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from springtide.apps.headroom import words
from springtide.apps.headroom.asks import Asked
from springtide.apps.headroom.limits import limits_by_pool
from springtide.apps.headroom.occupancy import occupancy
from springtide.apps.headroom.pools import Pools
from springtide.apps.headroom.report import AskReport, HeadroomReport, PoolReport, PoolRoom
from springtide.apps.planner.compose import problem_reports
from springtide.apps.planner.report import GangPlaces, InputReport
from springtide.engine.headroom import Room
from springtide.model.ledger import Ledger
from springtide.model.problem import Problem


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """An ask with the room for it, None if there can be no such pod."""

    asked: Asked
    room: Room | None


def compose(
    answers: Sequence[Answered],
    ledger: Ledger,
    pools: Pools,
    *,
    left_out: int,
    gangs: Iterable[GangPlaces],
    read: InputReport,
    problems: Iterable[Problem],
) -> HeadroomReport:
    """Return the report; `left_out` asks of pods were not answered for."""
    asks = tuple(_ask(each, ledger, pools) for each in answers)
    found = occupancy(ledger, pools)
    return HeadroomReport(
        summary=summary(asks, found),
        pools_by=pools.by,
        asks=asks,
        asks_left_out=left_out,
        pools=found,
        gangs=tuple(gangs),
        problems=problem_reports(problems),
        input=read,
    )


def _ask(answered: Answered, ledger: Ledger, pools: Pools) -> AskReport:
    asked, room = answered.asked, answered.room
    report = AskReport(
        name=asked.name,
        source=asked.source,
        text=asked.text,
        requests=words.requests_of(asked.pod.spec),
        workloads=asked.workloads,
        running=asked.running,
        waiting=asked.waiting,
        denied=asked.denied,
        device=asked.device,
        portion=asked.portion,
    )
    if room is None or not ledger.count:
        return report
    every, each = limits_by_pool(room.refusals, pools.of_row, pools=len(pools.names))
    best = int(np.argmax(room.counts))
    on_one_node = int(room.counts[best])
    return replace(
        report,
        more=int(room.counts.sum()),
        is_at_least=room.is_cut,
        nodes=int((room.counts > 0).sum()),
        on_one_node=on_one_node,
        node=ledger.names[best] if on_one_node else "",
        pools=tuple(
            PoolRoom(
                pool=name,
                more=int(counts.sum()),
                nodes=int((counts > 0).sum()),
                on_one_node=int(counts.max(initial=0)),
                limits=each[index],
            )
            for index, name in enumerate(pools.names)
            for counts in (room.counts[pools.of_row == index],)
        ),
        limits=every,
    )


# Words


def summary(asks: Sequence[AskReport], pools: Sequence[PoolReport]) -> str:
    """Return the answer in a sentence or two."""
    nodes = sum(pool.nodes for pool in pools)
    if not nodes:
        return "There is no node in the input, so nothing fits."
    return " ".join([*_given(asks), _cluster(pools, nodes)])


def _given(asks: Iterable[AskReport]) -> list[str]:
    """Return one sentence a given ask."""
    return [_sentence(ask) for ask in asks if ask.source == "Given"]


def _sentence(ask: AskReport) -> str:
    if ask.denied:
        return f"There can be no pod with {ask.text}: {ask.denied}."
    if not ask.more:
        return f"No pod with {ask.text} fits{_because(ask)}."
    least = "At least " if ask.is_at_least else ""
    fit = "fits" if ask.more == 1 else "fit"
    most = f", at most {ask.on_one_node} on one node" if ask.nodes > 1 else " on one node"
    return f"{least}{ask.more} more with {ask.text} {fit}{most}."


def _because(ask: AskReport) -> str:
    first = next(iter(ask.limits), None)
    return "" if first is None else f": {first.reason} on {_count(first.nodes, 'node')}"


def _cluster(pools: Sequence[PoolReport], nodes: int) -> str:
    devices = [each for pool in pools for each in pool.devices]
    where = f"{_count(nodes, 'node')} in {_count(len(pools), 'pool')}"
    if not devices:
        return f"{where}, without devices."
    count = sum(each.devices for each in devices)
    unused = sum(each.unused for each in devices)
    total = sum(each.memory_mib for each in devices)
    used = sum(each.memory_used_mib for each in devices)
    memory = f", {used * 100 // total}% of device memory is in use" if total else ""
    return f"{unused} of {_count(count, 'device')} on {where} are unused{memory}."


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
