"""Keeps fake nodes with cards alive in a cluster until it is interrupted, for benchmarks and by hand.

The cluster is the one that kubectl would talk to, or that of the kubeconfig that is named. The nodes are
called node-0000, node-0001 and so on, and stay when it ends: without leases they become not ready.
"""

import argparse
import asyncio

from springtide.edge.kube import Access, connect
from tests.standin.live import gpu_node, live_fleet


def main() -> None:
    """Run until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.standin", description=__doc__)
    parser.add_argument("--kubeconfig", default="", help="of the cluster")
    parser.add_argument("--nodes", type=int, default=50, help="how many (%(default)s)")
    parser.add_argument("--cards", type=int, default=8, help="of each node (%(default)s)")
    parser.add_argument("--beat-s", type=float, default=10, help="between two beats (%(default)s)")
    try:
        asyncio.run(keep(parser.parse_args()))
    except KeyboardInterrupt:
        return


async def keep(asked: argparse.Namespace) -> None:
    """Keep the nodes alive."""
    nodes = [gpu_node(f"node-{number:04}", cards=asked.cards) for number in range(asked.nodes)]
    async with await connect(Access(kubeconfig=asked.kubeconfig)) as connection:
        await live_fleet(connection, nodes, beat_s=asked.beat_s).run()


if __name__ == "__main__":
    main()
