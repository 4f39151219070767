"""What the commands that ask one member do: they call it, and print what it says."""

import asyncio
import getpass
import sys
import time
from typing import Final
from urllib.parse import urlencode

import msgspec

from springtide.cli.endings import DENIED, UNREACHABLE, USAGE, Ended
from springtide.cli.formats import as_json, as_yaml
from springtide.cli.replica_options import Asked
from springtide.cli.replica_table import members_table, status_lines
from springtide.cli.terminal import standard_output
from springtide.edge.http import Calling, HttpFault
from springtide.wire.replica_pages import (
    MemberPage,
    OrderAsked,
    RecoveredAsked,
    ReleaseAsked,
    Said,
    ScheduleAsked,
    ShutdownAsked,
    StatusPage,
    ThawAsked,
)

NO: Final = 1
WATCH_S: Final = 1.0
WAIT_S: Final = 5.0
"""So much longer than the member a command waits for the answer of its hook."""
_CLEAR: Final = "\x1b[H\x1b[2J\x1b[3J"
_ENDINGS: Final = {400: USAGE, 401: DENIED, 403: DENIED, 404: USAGE, 409: NO, 503: UNREACHABLE}


def show_status(asked: Asked, *, output: str, is_watched: bool) -> None:
    """Print the status of a member, once or whenever it changes."""
    try:
        asyncio.run(_show(asked, output, is_watched=is_watched))
    except KeyboardInterrupt:
        if not is_watched:
            raise


def show_members(asked: Asked, *, output: str, service: str, mode: str) -> None:
    """Print the members that a member knows."""
    query = urlencode({"mode": mode, "service": service})
    body = _call(asked, "GET", f"/v1/members?{query}")
    found = msgspec.json.decode(body, type=list[MemberPage])
    if output == "json":
        _print([msgspec.json.format(body, indent=2).decode()])
    else:
        _print(members_table(found, width=standard_output().width))


def show_configuration(asked: Asked) -> None:
    """Print the settings that a member goes by."""
    _print([msgspec.json.format(_call(asked, "GET", "/v1/configuration"), indent=2).decode()])


def order(asked: Asked, replicas: int | None, *, is_forced: bool) -> None:
    """Order a number of replicas, or take the order back."""
    _order(asked, "/v1/replicas", OrderAsked(replicas=replicas, force=is_forced))


def schedule(asked: Asked, *, start_s: float, end_s: float, scaling_s: float) -> None:
    """Let the running round come later."""
    wanted = ScheduleAsked(start_seconds=start_s, end_seconds=end_s, scaling_seconds=scaling_s)
    _order(asked, "/v1/schedule", wanted)


def shutdown(asked: Asked, *, in_s: float) -> None:
    """Let a member leave."""
    _order(asked, "/v1/shutdown", ShutdownAsked(in_seconds=in_s))


def release(asked: Asked, index: int, *, operator: str) -> None:
    """Give up what protects a number."""
    name = operator or getpass.getuser()
    _order(asked, "/v1/release-protection", ReleaseAsked(index=index, operator=name))


def thaw(asked: Asked, *, operator: str) -> None:
    """Let a workload shrink again."""
    _order(asked, "/v1/thaw", ThawAsked(operator=operator or getpass.getuser()))


def recovered(asked: Asked, *, holds_state: bool) -> None:
    """Say what a restarted member has recovered."""
    _order(asked, "/v1/recovered", RecoveredAsked(holds_state=holds_state))


def prestop(asked: Asked, *, timeout_s: float) -> None:
    """Let a member leave, and wait until it holds nothing; ends with 1 if it still does."""
    patient = asked._replace(timeout_s=timeout_s + WAIT_S)
    status, body = _answered(patient, "GET", f"/hpa/prestop?timeout={timeout_s:g}")
    text = body.decode("utf-8", "replace").strip()
    if status == 504:  # noqa: PLR2004
        raise Ended(text, NO)
    _checked(status, text)
    _print([text])


async def _show(asked: Asked, output: str, *, is_watched: bool) -> None:
    terminal = standard_output()
    before: list[str] = []
    async with Calling(timeout_s=asked.timeout_s, token_file=asked.token_file) as calling:
        while True:
            lines = await _status(calling, asked, output, width=terminal.width)
            if not is_watched:
                terminal.write("\n".join(lines))
                return
            if terminal.width is not None:
                terminal.write(f"{_CLEAR}" + "\n".join([*lines, "", "Ctrl-C ends."]))
            elif lines != before:
                terminal.write("\n".join([*lines, ""]))
            before = lines
            await asyncio.sleep(WATCH_S)


async def _status(calling: Calling, asked: Asked, output: str, *, width: int | None) -> list[str]:
    try:
        status, body = await calling.answered("GET", f"{asked.url.rstrip('/')}/v1/status")
    except HttpFault as fault:
        raise Ended(_unreachable(asked, fault), UNREACHABLE) from fault
    _checked(status, body.decode("utf-8", "replace").strip())
    page = _decoded(body, asked)
    if output == "json":
        return [as_json(page)]
    if output == "yaml":
        return [as_yaml(page)]
    return status_lines(page, now_s=time.time_ns() / 1e9, width=width)


def _decoded(body: bytes, asked: Asked) -> StatusPage:
    try:
        return msgspec.json.decode(body, type=StatusPage)
    except msgspec.DecodeError as fault:
        raise Ended(
            f"{asked.url} answers, but not as a member does ({fault}). Correct --url.", UNREACHABLE
        ) from fault


def _order(asked: Asked, path: str, body: msgspec.Struct) -> None:
    found = _call(asked, "POST", path, msgspec.json.encode(body))
    _print([msgspec.json.decode(found, type=Said).message])


def _call(asked: Asked, method: str, path: str, body: bytes = b"") -> bytes:
    status, found = _answered(asked, method, path, body)
    _checked(status, found.decode("utf-8", "replace").strip())
    return found


def _answered(asked: Asked, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    async def answered() -> tuple[int, bytes]:
        async with Calling(timeout_s=asked.timeout_s, token_file=asked.token_file) as calling:
            return await calling.answered(method, asked.url.rstrip("/") + path, body)

    try:
        return asyncio.run(answered())
    except HttpFault as fault:
        raise Ended(_unreachable(asked, fault), UNREACHABLE) from fault


def _unreachable(asked: Asked, fault: HttpFault) -> str:
    return f"The member at {asked.url} cannot be asked: {fault}. Start it, or correct --url."


def _checked(status: int, text: str) -> None:
    if status != 200:  # noqa: PLR2004
        raise Ended(text or f"The member answered {status}.", _ENDINGS.get(status, UNREACHABLE))


def _print(lines: list[str]) -> None:
    standard_output().write("\n".join(lines))
    sys.stdout.flush()
