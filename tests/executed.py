"""Members as real processes for tests of executors: a small program, a systemctl of our own, and who runs.

The program writes a line at its birth and at its end, so that nobody is started twice unseen.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

MEMBER: Final = """
import os, signal, sys
index, births, stubborn = sys.argv[1], sys.argv[2], len(sys.argv) > 3
def tell(what):
    with open(births, "a") as file:
        file.write(f"{what} {index} {os.getpid()}\\n")
def end(*_):
    tell("asked")
    if not stubborn:
        sys.exit()
signal.signal(signal.SIGTERM, end)
tell("born")
while True:
    signal.pause()
"""
SYSTEMCTL: Final = '''#!{python} -S
"""Stands for systemctl, as far as an executor calls it: units are real processes."""
import fnmatch, os, pathlib, signal, subprocess, sys

folder, command = pathlib.Path(os.environ["STANDIN_FOLDER"]), {command!r}
arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
verb, name = arguments[0], arguments[-1]
folder.mkdir(exist_ok=True)

def pid(unit):
    try:
        number = int((folder / unit).read_text())
        state = open(f"/proc/{{number}}/stat").read().rpartition(")")[2].split()[0]
    except (OSError, ValueError):
        return 0
    return 0 if state == "Z" else number

if verb == "show":
    for each in sorted(folder.iterdir()):
        if fnmatch.fnmatch(each.name, name) and not each.name.endswith(".stopping"):
            is_stopping = (folder / f"{{each.name}}.stopping").exists()
            state = ("deactivating" if is_stopping else "active") if pid(each.name) else "inactive"
            print(f"Id={{each.name}}\\nActiveState={{state}}\\nJob=0\\n")
elif verb == "start" and not pid(name):
    if not name.startswith("chat@"):
        print(f"Unit {{name}} not found.", file=sys.stderr)
        sys.exit(5)
    index = name.partition("@")[2].partition(".")[0]
    (folder / f"{{name}}.stopping").unlink(missing_ok=True)
    member = subprocess.Popen([each.replace("{{index}}", index) for each in command],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    (folder / name).write_text(str(member.pid))
elif verb == "stop" and pid(name):
    os.kill(pid(name), signal.SIGTERM)
    (folder / f"{{name}}.stopping").touch()
elif verb == "kill" and pid(name):
    os.kill(pid(name), signal.SIGKILL)
'''


class Members:
    """Who was born, and who runs."""

    def __init__(self, folder: Path) -> None:
        self.births = folder / "births"
        self.folder = folder

    def command(self, *, is_stubborn: bool = False) -> tuple[str, ...]:
        """Return how a member is started."""
        stubborn = ("stubborn",) if is_stubborn else ()
        return (sys.executable, "-S", "-c", MEMBER, "{index}", str(self.births), *stubborn)

    def told(self, what: str) -> list[tuple[int, int]]:
        """Return number and process of each line of a kind."""
        lines = self.births.read_text().splitlines() if self.births.exists() else []
        found = [each.split() for each in lines]
        return [(int(index), int(pid)) for kind, index, pid in found if kind == what]

    def born(self) -> list[int]:
        """Return the numbers in the order of births."""
        return [index for index, _ in self.told("born")]

    def running(self) -> list[int]:
        """Return the numbers of who runs, each as often as it does."""
        return sorted(index for index, pid in self.told("born") if is_alive(pid))

    def systemctl(self, *, is_stubborn: bool = False) -> dict[str, str]:
        """Put a systemctl of our own on a path, and return the environment that finds it."""
        path = self.folder / "bin" / "systemctl"
        path.parent.mkdir(exist_ok=True)
        command = list(self.command(is_stubborn=is_stubborn))
        path.write_text(SYSTEMCTL.format(python=sys.executable, command=command))
        path.chmod(0o755)
        search = f"{path.parent}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": search, "STANDIN_FOLDER": str(self.folder / "units")}


def is_alive(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


@contextmanager
def members(folder: Path) -> Iterator[Members]:
    """Keep watch over members, and end them all with the block."""
    found = Members(folder)
    try:
        yield found
    finally:
        for _, pid in found.told("born"):
            if is_alive(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


NUMBERS: Final = """
import json, os, sys, time
path, how = sys.argv[1], sys.argv[2]
found = json.load(open(path))
if how == "observe":
    print(found["replicas"])
    sys.exit()
if found["refuses"]:
    print("the budget is spent", file=sys.stderr)
    sys.exit(3)
order = [os.environ[f"HPA_{name}"] for name in ("WORKLOAD", "GENERATION", "DESIRED", "CURRENT", "KEEP")]
found["orders"].append(order)
found["replicas"] = int(os.environ["HPA_DESIRED"])
json.dump(found, open(path, "w"))
if found["hangs"]:
    time.sleep(60)
"""


class NumberFile:
    """How many members there are, in a file that commands read and write."""

    def __init__(self, folder: Path, replicas: int) -> None:
        self.path = folder / "number.json"
        document = {"replicas": replicas, "orders": [], "refuses": False, "hangs": False}
        self.path.write_text(json.dumps(document))

    def command(self, how: str) -> tuple[str, ...]:
        """Return a command that reads or writes it."""
        return (sys.executable, "-S", "-c", NUMBERS, str(self.path), how)

    def put(self, **facts: object) -> None:
        """Change what the file says."""
        self.path.write_text(json.dumps({**json.loads(self.path.read_text()), **facts}))

    @property
    def orders(self) -> list[list[str]]:
        """Return what the command was told."""
        found: list[list[str]] = json.loads(self.path.read_text())["orders"]
        return found
