"""A member's status for people: its labels, its round, what it goes by, and who else is there."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import click

from springtide.cli.layout import paragraph, table
from springtide.wire.replica_pages import InputPage, MemberPage, RoundPage, StatusPage

MINUTE_S: Final = 60
HOUR_S: Final = 3600
_WHY: Final = 10


def status_lines(page: StatusPage, *, now_s: float, width: int | None) -> list[str]:
    """Return the lines of a status; times are told as from now."""
    lines = [
        *_head(page),
        "",
        *_round(page, now_s),
        *_numbers(page),
        *_told("Store", page.store_fault, width, is_fault=True),
        *_reason(page, width),
    ]
    if page.inputs:
        lines += ["", *_inputs(page.inputs, now_s, width)]
    if page.members:
        lines += ["", *members_table(page.members, width=width)]
    if page.complaints:
        lines += ["", click.style("Complaints, the latest last:", bold=True)]
        for each in page.complaints:
            told = f"{_ago(each.at, now_s)} ago: {each.message}"
            lines += paragraph(told, width=width, indent="  ")
    return lines


def members_table(members: Sequence[MemberPage], *, width: int | None) -> list[str]:
    """Return the table of members."""
    rows = [
        [
            each.name,
            "-" if each.index is None else str(each.index),
            _yes(is_so=each.is_target),
            _yes(is_so=each.is_ready),
            _state(each),
            each.address or "-",
        ]
        for each in members
    ]
    return table(["MEMBER", "INDEX", "TARGET", "READY", "STATE", "ADDRESS"], rows, width=width)


def _head(page: StatusPage) -> list[str]:
    place = "leads" if page.is_leader else f"follows {page.leader}" if page.leader else "no leader"
    index = "no index" if page.index is None else f"index {page.index}"
    facts = [
        click.style(page.name, bold=True),
        index,
        f"Target {_yes(is_so=page.is_target)}",
        f"Ready {_yes(is_so=page.is_ready)}",
        place,
    ]
    if page.mode != "active":
        facts.append(f"mode {page.mode}")
    if page.is_stopping:
        facts.append("stopping")
    if not page.is_enabled:
        facts.append("disabled")
    return ["   ".join(facts)]


def _round(page: StatusPage, now_s: float) -> list[str]:
    found = page.round
    if found is None:
        return ["Round     none yet: the leader writes the first one after a whole pull"]
    change = f"{found.current} → {found.expect}" if found.current != found.expect else found.expect
    lines = [f"Round     {found.generation}   {_phase(found)}   {change} replicas"]
    times = (("start", found.start), ("end", found.end), ("scaling", found.scaling))
    if found.phase != "Done":
        told = "   ".join(f"{name} {_until(text, now_s)}" for name, text in times)
        lines.append(f"          {told}")
    return lines


def _numbers(page: StatusPage) -> list[str]:
    facts = [
        f"expected {_number(page.expected)}",
        f"floor {_number(page.stateful_index)}",
        f"highest protected {page.floor or '-'}",
    ]
    lines = ["Shown     " + "   ".join(facts)]
    age = page.status_age_seconds
    confirmed = "never confirmed" if age is None else f"confirmed {_span(age)} ago"
    facts = [confirmed]
    if page.clock_offset_seconds is not None and abs(page.clock_offset_seconds) >= 1:
        facts.append(f"Prometheus' clock is {page.clock_offset_seconds:+.1f} s off")
    if page.drain_overdue_seconds:
        facts.append(
            click.style(
                f"holds state {_span(page.drain_overdue_seconds)} past its time", fg="yellow"
            )
        )
    if not page.has_stateful_check:
        facts.append(click.style("no stateful check: nothing protects it", fg="yellow"))
    lines.append("Status    " + "   ".join(facts))
    return lines


def _reason(page: StatusPage, width: int | None) -> list[str]:
    why = page.why or (page.round.reason if page.round is not None else "")
    lines = []
    if page.ordered is not None:
        lines.append(f"Order     {page.ordered} replicas")
    if page.suggested_up is not None or page.suggested_down is not None:
        up, down = _number(page.suggested_up), _number(page.suggested_down)
        lines.append(f"Load      needs at least {up}; {down} would do")
    if why:
        lines += _told("Why", why, width)
    return lines


def _told(name: str, words: str, width: int | None, *, is_fault: bool = False) -> list[str]:
    """Return a sentence beside what it is about; nothing where nothing is said."""
    if not words:
        return []
    inner = None if width is None else width - _WHY
    told = [
        click.style(each, fg="red" if is_fault else None) for each in paragraph(words, width=inner)
    ]
    names = [name, *[""] * len(told)]
    return [f"{left:{_WHY}}{right}" for left, right in zip(names, told, strict=False)]


def _inputs(inputs: Sequence[InputPage], now_s: float, width: int | None) -> list[str]:
    rows = [
        [
            each.policy,
            "-" if each.value is None else f"{each.value:g}",
            str(each.up_per_replica or "-"),
            str(each.down_per_replica or "-"),
            _ago(each.at, now_s),
            _counts(each),
        ]
        for each in inputs
    ]
    headers = ["INPUT", "VALUE", "UP", "DOWN", "AGE", "COUNTS"]
    return table(headers, rows, width=width)


def _counts(each: InputPage) -> str:
    if not each.at:
        return "not asked by this member"
    if each.up_unknown and each.down_unknown:
        return f"no ({each.down_unknown}): {each.why}"
    if each.down_unknown:
        return f"to grow only ({each.down_unknown}): {each.why}"
    return "yes" if each.is_checked else "yes, unchecked"


def _state(each: MemberPage) -> str:
    if not each.is_alive:
        return "gone"
    return "stopping" if each.is_stopping else "alive"


def _phase(found: RoundPage) -> str:
    return click.style(found.phase, fg="green" if found.phase == "Done" else "yellow")


def _yes(*, is_so: bool) -> str:
    return "yes" if is_so else "no"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _until(text: str, now_s: float) -> str:
    left_s = datetime.fromisoformat(text).timestamp() - now_s
    return f"in {_span(left_s)}" if left_s > 0 else f"{_span(-left_s)} ago"


def _ago(text: str, now_s: float) -> str:
    return _span(max(0.0, now_s - datetime.fromisoformat(text).timestamp())) if text else "-"


def _span(seconds: float) -> str:
    whole = round(seconds)
    if whole < MINUTE_S:
        return f"{whole}s"
    if whole < HOUR_S:
        return f"{whole // MINUTE_S}m{whole % MINUTE_S:02}s"
    return f"{whole // HOUR_S}h{whole % HOUR_S // MINUTE_S:02}m"
