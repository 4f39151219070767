"""A process beside one that knows a cluster, which answers one question and ends.

It reads the question and what is known from standard input, and writes one `Told` to standard output.
Wherever both want a processor it gives way. It is started as a module, by its name.
"""

import gc
import os
import sys
from typing import BinaryIO, Final

import msgspec

from springtide.apps.planner.setting import InvalidInput
from springtide.apps.why.asked import UnknownPod
from springtide.apps.why.question import Question, Reader, Told
from springtide.apps.why.run import Request, run
from springtide.edge.machine import MachineClock
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.wire.documents import Input

NICENESS: Final = 10
NOTE: Final = (
    "This is what the running extender knows: nodes, pods, quotas, and what it holds for pods. It does "
    "not follow volumes, claims of devices, disruption budgets, namespaces and node groups."
)


def answered(source: BinaryIO) -> Told:
    """Read what is known, and answer."""
    reader = Reader(source)
    question = reader.question()
    nodes, pods = tuple(reader.nodes()), tuple(reader.pods())
    request = Request(
        names=question.names,
        policies=question.policies,
        tells_all_nodes=question.tells_all_nodes,
    )
    try:
        report = run(_input(question, nodes, pods), request, clock=MachineClock())
    except (UnknownPod, InvalidInput) as fault:
        return Told(unknown=str(fault))
    return Told(report=msgspec.Raw(msgspec.json.encode(report)))


def _input(question: Question, nodes: tuple[Node, ...], pods: tuple[Pod, ...]) -> Input:
    return Input(
        nodes=nodes,
        pods=pods,
        quotas=question.quotas,
        device_config=question.device_config,
        counts={"Node": len(nodes), "Pod": len(pods), "ResourceQuota": len(question.quotas)},
        notes=(NOTE,),
    )


def main() -> None:
    """Answer the one question of this process."""
    # One answer and out, as for a command.
    gc.disable()
    os.nice(NICENESS)
    sys.stdout.buffer.write(msgspec.json.encode(answered(sys.stdin.buffer)))


if __name__ == "__main__":
    main()
