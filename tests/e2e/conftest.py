"""What tests against real programs share: the programs, planes of them, and their last words."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.commands import Setup
from tests.e2e.controlplane import MISSING, ControlPlane, all_programs, control_plane

Planes = Callable[[Setup], ControlPlane]


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with all four programs; without it, there is nothing to test."""
    folder = all_programs()
    if folder is None:
        pytest.skip(MISSING)
    return folder


@pytest.fixture(scope="module")
def planes(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planes]:
    """What starts control planes that end with the module."""
    with ExitStack() as stack:

        def plane(setup: Setup) -> ControlPlane:
            folder = tmp_path_factory.mktemp("control-plane")
            return stack.enter_context(control_plane(programs, folder, setup))

        yield plane


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the programs printed last beside a test that fails."""
    report = yield
    if report.failed:
        for plane in item.funcargs.values():
            if isinstance(plane, ControlPlane):
                for name in plane.processes.names:
                    report.sections.append((f"last words of {name}", plane.processes.tail(name)))
    return report
