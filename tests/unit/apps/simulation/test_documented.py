"""What the pages say of the server is what it does: problems, metrics, limits."""

from pathlib import Path

from prometheus_client import CollectorRegistry

from springtide.apps.sessions.replies import KINDS as FAULTS
from springtide.apps.simulation.figures import CLASSES, PREFIX, UNFIT, Figures, Standing
from springtide.apps.simulation.refusing import KINDS
from springtide.engine.simulation.bounds import Bounds
from springtide.engine.simulation.sessions import Sessions
from springtide.wire.crd.simulation import SimulationEntry, SimulationLimits

DOCS = Path(__file__).resolve().parents[4] / "docs"
PAGE = " ".join((DOCS / "simulation.md").read_text(encoding="utf-8").split())


def test_every_problem_is_explained() -> None:
    reasons = (DOCS / "reasons.md").read_text(encoding="utf-8")

    for kind in (*KINDS.values(), *FAULTS.values()):
        assert f"`{kind.name}`" in reasons, kind.name


def test_every_metric_and_class_of_reasons_is_explained() -> None:
    registry = CollectorRegistry()
    Figures(registry)
    registry.register(Standing(Sessions(Bounds()), waiting=dict, profiles=lambda: 0))

    for metric in registry.collect():
        name = metric.name + ("_total" if metric.type == "counter" else "")
        assert (
            f"`{name}`" in PAGE
            or f"`{name.removeprefix(PREFIX)}`" in PAGE
            or (
                name.startswith(f"{PREFIX}_sessions")
                and name.removeprefix(f"{PREFIX}_sessions") in PAGE
            )
        ), name
    for name in (*(each for _, each in CLASSES), UNFIT):
        assert f"`{name}`" in PAGE, name


def test_the_defaults_are_those_that_are_told() -> None:
    entry, limits = SimulationEntry(), SimulationLimits()

    for told in (
        f"`{entry.bind_address}`",
        f"`{entry.request_timeout}`",
        f"`{limits.body_mib}` a call, `{limits.bodies_mib}` all calls together",
        f"`{limits.waiting}` calls of each kind",
        f"`{limits.calls_per_second:.0f}`, `{limits.burst}`, of each client",
        f"`{limits.nodes}` a call, `{limits.sessions}`, `{limits.sessions_per_client}`",
    ):
        assert told in PAGE, told
