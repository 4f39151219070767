"""The programs that an installation puts on the path, made in a folder for tests that need them there.

Made from the table in pyproject.toml, as an installer does it, so that the tests run this tree.
"""

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def installed(folder: Path) -> dict[str, str]:
    """Writes the programs into the folder, and returns an environment that finds them first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for name, place in project["scripts"].items():
        module, _, function = place.partition(":")
        program = folder / name
        program.write_text(f"#!{sys.executable}\nfrom {module} import {function}\n{function}()\n")
        program.chmod(0o755)
    path = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
    sources = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PATH": path, "PYTHONPATH": sources}
