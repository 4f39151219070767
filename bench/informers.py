"""How long does a process take to know a large cluster, and how much memory does that cost it?

5,000 nodes and 150,000 pods, as full as real ones are, are listed in pages by a server, over HTTP. A
process of its own follows them through the `Cluster` port and keeps the records; then it is told changes
of pods as fast as it reads them.
"""

import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import kubectl_dump  # noqa: E402
from bench.figure import Figure  # noqa: E402
from springtide.edge import cluster as port  # noqa: E402
from springtide.edge.cluster import Added, Kind, Synced, Updated  # noqa: E402
from springtide.edge.kube import Access, KubeCluster, Waiting, connect  # noqa: E402
from springtide.edge.machine import MachineClock, SeededRng  # noqa: E402
from springtide.wire.k8s.parts import Parts  # noqa: E402
from springtide.wire.k8s.single import decode_node, decode_pod  # noqa: E402

NODES = 5_000
PODS = 150_000
CHANGES = 50_000
MODELS = 3_000
PAGE_OBJECTS = 500
VERSION = "12345"
MIB = 1 << 20


def measure() -> Iterator[Figure]:
    """Yield time and memory of the lists, and the rate of changes."""
    server = [sys.executable, __file__, "serve"]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            follower = [sys.executable, __file__, "follow", url]
            run = subprocess.run(follower, stdout=subprocess.PIPE, check=True)
        finally:
            process.kill()
    found = json.loads(run.stdout)
    how = f"{found['cpu_s']:.1f} s of CPU, 5,000 nodes among them"
    yield Figure("list, 150,000 pods", found["list_s"], "s", how)
    yield Figure("memory, records kept", found["kept_mib"], "MiB", "of the whole process")
    yield Figure("memory, at most", found["peak_mib"], "MiB", "of the whole process")
    yield Figure("changes of pods", found["changes_per_s"], "1/s", f"{CHANGES:,} of them told")


class _Pages(BaseHTTPRequestHandler):
    """Serves lists by page, and one long watch of pods."""

    protocol_version = "HTTP/1.1"
    lists: ClassVar[dict[str, list[bytes]]] = {}
    changes: ClassVar[list[bytes]] = []

    def do_GET(self) -> None:
        """Answer one request."""
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        if "watch" in query:
            self._watch(parts.path)
            return
        pages = self.lists[parts.path]
        index = int(query.get("continue", ["0"])[0])
        metadata = {"resourceVersion": VERSION}
        if index + 1 < len(pages):
            metadata["continue"] = str(index + 1)
        head = f'{{"kind":"ObjectList","metadata":{json.dumps(metadata)},"items":['.encode()
        body = head + pages[index] + b"]}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self, path: str) -> None:
        self.send_response(200)
        self.end_headers()
        for line in self.changes if path.endswith("/pods") else ():
            self.wfile.write(line)
        self.wfile.flush()
        time.sleep(600)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def serve() -> None:
    """Serve until killed, and print where."""
    names = [f"pool-{index % 3}-{index:05d}" for index in range(NODES)]
    nodes = (_text(kubectl_dump.node(index, name)) for index, name in enumerate(names))
    models = list(kubectl_dump.team_pods(MODELS, names, random.Random(7)))
    _Pages.lists = {
        "/api/v1/nodes": list(_pages(nodes)),
        "/api/v1/pods": list(_pages(_pods(models, PODS))),
    }
    _Pages.changes = [_change(index, pod) for index, pod in enumerate(_pods(models, CHANGES))]
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


def _pages(objects: Iterator[str]) -> Iterator[bytes]:
    while page := list(islice(objects, PAGE_OBJECTS)):
        yield ",".join(page).encode()


def _text(each: dict[str, Any]) -> str:
    managed = kubectl_dump.managed(each)
    listed = {key: value for key, value in managed.items() if key not in {"kind", "apiVersion"}}
    return json.dumps(listed, separators=(",", ":"))


def _pods(models: list[dict[str, Any]], count: int) -> Iterator[str]:
    """Yield pods that differ from the models by name, uid and what carries them."""
    texts = [(each["metadata"]["name"], each["metadata"]["uid"], _text(each)) for each in models]
    for index in range(count):
        name, uid, text = texts[index % len(texts)]
        yield text.replace(name, f"{name}-{index:06d}").replace(uid, f"{uid}-{index:06d}")


def _change(index: int, pod: str) -> bytes:
    changed = pod.replace(f'"{VERSION}"', f'"{int(VERSION) + 1 + index}"')
    return f'{{"type":"MODIFIED","object":{changed}}}\n'.encode()


async def follow(url: str) -> dict[str, float]:
    """Follow nodes and pods, and return what it cost."""
    parts = Parts()
    inbox: asyncio.Queue[Any] = asyncio.Queue(1024)
    kept: dict[str, Any] = {}
    kinds: list[Kind[Any]] = [
        Kind(port.NODES, lambda data: decode_node(data, parts)),
        Kind(port.PODS, lambda data: decode_pod(data, parts)),
    ]

    async def until(synced: int, changes: int) -> None:
        while synced or changes:
            match await inbox.get():
                case Added(key=key, record=record):
                    kept[key] = record
                case Updated(key=key, record=record):
                    kept[key] = record
                    changes -= 1
                case Synced():
                    synced -= 1
                case _:
                    pass

    waiting = Waiting(clock=MachineClock(), rng=SeededRng(1), pause=asyncio.sleep)
    with tempfile.TemporaryDirectory() as folder:
        access = Access(kubeconfig=_kubeconfig(Path(folder), url))
        async with await connect(access) as connection:
            cluster = KubeCluster(connection, waiting=waiting)
            begun_s, cpu_s = time.perf_counter(), time.process_time()
            tasks = [asyncio.create_task(cluster.follow(each, inbox.put)) for each in kinds]
            await until(len(kinds), 0)
            listed_s, listed_cpu_s = time.perf_counter(), time.process_time()
            kept_mib = _resident_mib()
            await until(0, CHANGES)
            told_s = time.perf_counter()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
    assert len(kept) == NODES + PODS
    return {
        "list_s": listed_s - begun_s,
        "cpu_s": listed_cpu_s - cpu_s,
        "kept_mib": kept_mib,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "changes_per_s": CHANGES / (told_s - listed_s),
    }


def _kubeconfig(folder: Path, url: str) -> str:
    named = {
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    document = {"apiVersion": "v1", "kind": "Config", "current-context": "c", **named}
    path = folder / "config"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * resource.getpagesize() / MIB


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        print(json.dumps(asyncio.run(follow(sys.argv[2]))))
