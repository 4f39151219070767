"""What commands that serve share: their document, their lines, their end."""

import asyncio
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from springtide.cli.endings import USAGE, Ended
from springtide.edge import files
from springtide.edge.lines import Forwarding, JsonLines
from springtide.wire import yaml
from springtide.wire.origin import Origin


def one_document(config: str) -> tuple[Origin, object]:
    """Return the one document of a file and where it comes from, or end the command."""
    source = files.read((config,), sys.stdin.buffer)[0]
    found = yaml.documents(source.data, source.name)
    if len(found) != 1:
        raise Ended(f"{config} holds {len(found)} documents; write exactly one.", USAGE)
    return Origin(source=source.name, document=found[0]), found[0].value


@contextmanager
def forwarded(lines: JsonLines) -> Iterator[None]:
    """Write what libraries log as lines of ours meanwhile."""
    handler = Forwarding(lines)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def told_to_stop() -> asyncio.Event:
    """Return what is set when this process is asked to end."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
