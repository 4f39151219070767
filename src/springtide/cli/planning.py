"""What `springtide plan` does once its options are read: read, plan, print."""

from typing import Literal, assert_never

import click
import msgspec

from springtide.apps.planner import Onlooker, PlanReport, Request, run
from springtide.apps.planner.families import Policies
from springtide.apps.planner.report import ExtenderReport
from springtide.apps.planner.spending import Calls
from springtide.base.clock import Clock
from springtide.base.names import CPU, MEMORY
from springtide.cli import formats, plan_table
from springtide.cli.input import read_input
from springtide.cli.options import Cluster
from springtide.cli.terminal import Terminal, standard_output
from springtide.cli.warning import warn
from springtide.cli.watching import watched
from springtide.edge.machine import MachineClock, SeededRng
from springtide.engine.capacity.quotas import Quota
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.engine.capacity.similarity import Similarity


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What to read, and how to decide."""

    paths: tuple[str, ...]
    expanders: tuple[str, ...]
    seed: int
    nodes_total_max: int
    nodes_per_step_max: int
    node_policy: str
    device_policy: str
    is_strict: bool = False
    cluster: Cluster | None = None
    namespace: str = ""
    balances: bool = False
    ignored_labels: tuple[str, ...] = ()
    cores_total_max: int = 0
    memory_total_max_gib: int = 0
    calls_extenders: bool = False
    extender_budget_s: float = 0.0
    extender_calls_max: int = 0
    is_strict_tls: bool = False
    others_total_max: tuple[tuple[str, int], ...] = ()
    raises_to_minimum: bool = False


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How to print the answer."""

    output: Literal["table", "wide", "json", "yaml", "name"]
    has_headers: bool
    has_warnings: bool
    verbosity: int = 0


def answer(question: Question, view: View) -> PlanReport:
    """Print the answer and return it."""
    clock = MachineClock()
    with watched(view.verbosity) as onlooker:
        report, times = _planned(question, clock, onlooker)
    if view.has_warnings:
        warn(report.problems)
    terminal = standard_output()
    text = _text(report, times, view, terminal)
    if text:
        terminal.write(text)
    for extender in report.extenders:
        if extender.is_missing:
            click.echo(f"Error: {_missing(extender)}", err=True)
    return report


def _planned(
    question: Question, clock: Clock, onlooker: Onlooker
) -> tuple[PlanReport, plan_table.Times]:
    started_s = clock.monotonic_s()
    found = read_input(
        question.paths,
        question.cluster,
        clock=clock,
        onlooker=onlooker,
        keeps_raws=question.calls_extenders,
    )
    read_s = clock.monotonic_s()
    rng = SeededRng(question.seed)
    report = run(found, _request(question), clock=clock, rng=rng, onlooker=onlooker)
    planned_s = clock.monotonic_s()
    return report, plan_table.Times(reading_s=read_s - started_s, planning_s=planned_s - read_s)


def _request(question: Question) -> Request:
    return Request(
        namespace=question.namespace,
        expanders=question.expanders,
        policies=Policies(
            node=question.node_policy,
            device=question.device_policy,
            is_strict=question.is_strict,
        ),
        bounds=Bounds(
            nodes_total_max=question.nodes_total_max,
            nodes_per_step_max=question.nodes_per_step_max,
            quotas=_quotas(question),
        ),
        manner=Manner(
            raises_to_minimum=question.raises_to_minimum,
            similarity=Similarity(ignored_labels=frozenset(question.ignored_labels))
            if question.balances
            else None,
        ),
        calls=Calls(
            budget_s=question.extender_budget_s,
            calls_max=question.extender_calls_max,
            is_strict_tls=question.is_strict_tls,
        )
        if question.calls_extenders
        else None,
    )


def _missing(extender: ExtenderReport) -> str:
    return (
        f"The scheduler extender {extender.extender} gave no usable answer ({extender.error}), so "
        "pods that need its word count as fitting nowhere. Start it or correct its address, or plan "
        "without --call-extenders to take it to agree."
    )


def _quotas(question: Question) -> tuple[Quota, ...]:
    limits = {CPU: question.cores_total_max, MEMORY: question.memory_total_max_gib << 30}
    given = {name: limit for name, limit in limits.items() if limit}
    for name, limit in question.others_total_max:
        # Of several limits of one thing the tightest holds.
        given[name] = min(limit, given.get(name, limit))
    return (Quota(limits=tuple(given.items())),) if given else ()


def _text(report: PlanReport, times: plan_table.Times, view: View, terminal: Terminal) -> str:
    match view.output:
        case "json":
            return formats.as_json(report)
        case "yaml":
            return formats.as_yaml(report)
        case "name":
            return formats.as_names(report)
        case "table" | "wide":
            style = plan_table.Style(
                is_wide=view.output == "wide",
                has_headers=view.has_headers,
                has_warnings=view.has_warnings,
                width=terminal.width,
            )
            return plan_table.render(report, times, style)
        case _:
            assert_never(view.output)
