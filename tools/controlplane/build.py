"""Builds the control plane that end-to-end tests run against, once, into a cache outside the tree.

The module beside this file names the four programs as tools of Go and pins all that they are made of.
They are built without C, without paths and without symbols, so that a build is the same everywhere, and
kept by what the module says: a change of a version is a new folder. Takes minutes the first time.

Where KUBEBUILDER_ASSETS names a folder that has all four, that one is taken and nothing is built.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

VARIABLE: Final = "KUBEBUILDER_ASSETS"
MODULE: Final = Path(__file__).resolve().parent
PROGRAMS: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
# Go names a program after its folder, and a folder named for a major version does not count.
NAMES: Final = {"server": "etcd"}
KUBERNETES: Final = "1.37.2"
MAJOR, MINOR, _ = KUBERNETES.split(".")
VERSION: Final = {
    "gitVersion": f"v{KUBERNETES}",
    "gitMajor": MAJOR,
    "gitMinor": MINOR,
    "gitTreeState": "clean",
}
NO_GO: Final = (
    "The control plane for tests is built with Go, and there is no 'go' here: install Go 1.26 or newer,"
    f" or name a folder with {', '.join(PROGRAMS)} in {VARIABLE}."
)
NO_BUILD: Final = (
    "Go could not build the control plane for tests; it says above why. What it has compiled is kept: run it"
    " again once that is mended."
)


def main() -> int:
    """Builds what is not there yet, and prints the folder."""
    folder = found()
    if folder is None:
        if shutil.which("go") is None:
            print(NO_GO, file=sys.stderr)
            return 1
        folder = cached()
        try:
            with one_at_a_time(folder):
                if not has(folder):
                    build(folder)
        except subprocess.CalledProcessError:
            print(NO_BUILD, file=sys.stderr)
            return 1
    print(folder)
    return 0


def found(
    names: Sequence[str] = PROGRAMS, *, environ: Mapping[str, str] = os.environ
) -> Path | None:
    """The folder with these programs: the one that the environment names, else the cached one."""
    named = environ.get(VARIABLE)
    candidates = ([Path(named)] if named else []) + [cached(environ)]
    return next((each for each in candidates if has(each, names)), None)


def has(folder: Path, names: Sequence[str] = PROGRAMS) -> bool:
    """Whether all these programs are in it."""
    return all((folder / name).is_file() for name in names)


def cached(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the built programs lie."""
    home = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((MODULE / name).read_bytes())
    return Path(home) / "springtide" / f"controlplane-{KUBERNETES}-{digest.hexdigest()[:8]}"


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Lets a second build wait for the first, however the first ends."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(folder: Path) -> None:
    """Compiles all four, so that nobody ever finds half of them."""
    print(f"Building {', '.join(PROGRAMS)}: minutes, once.", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        part = Path(name) / "programs"
        part.mkdir()
        subprocess.run(command(part), cwd=MODULE, env=environment(), check=True)
        for built, wanted in NAMES.items():
            (part / built).rename(part / wanted)
        assert has(part)
        part.replace(folder)


def command(folder: Path) -> list[str]:
    """The one call of Go that compiles every tool of the module."""
    package = "k8s.io/component-base/version"
    flags = ["-s", "-w", *(f"-X={package}.{key}={value}" for key, value in VERSION.items())]
    # The version is asked for under two names: what clients see, and what programs say of themselves.
    flags += [f"-X=k8s.io/client-go/pkg/version.{key}={value}" for key, value in VERSION.items()]
    return ["go", "build", "-trimpath", "-ldflags", " ".join(flags), "-o", f"{folder}/", "tool"]


def environment() -> dict[str, str]:
    """The caller's, less what would change the programs."""
    kept = {
        key: value for key, value in os.environ.items() if key not in ("GOFLAGS", "GOOS", "GOARCH")
    }
    return kept | {"CGO_ENABLED": "0", "GOWORK": "off"}


if __name__ == "__main__":
    sys.exit(main())
