"""What is behind each page of the executor."""

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from springtide.apps.executor import endpoints
from springtide.apps.executor.driver import Driver
from springtide.apps.executor.endpoints import Standing, Wished
from springtide.edge.serving import Asked, Check, Reply, Route, probe


class Surface:
    """Answers about one driver."""

    def __init__(
        self, driver: Driver, *, workload: str, executor: str, registry: CollectorRegistry
    ) -> None:
        self._driver = driver
        self._workload = workload
        self._executor = executor
        self._registry = registry
        self.is_leaving = False

    def routes(self) -> tuple[Route, ...]:
        """Return all pages."""
        return (
            Route(endpoint=endpoints.HEALTHZ, answer=self._healthz),
            Route(endpoint=endpoints.READYZ, answer=self._readyz),
            Route(endpoint=endpoints.METRICS, answer=self._metrics),
            Route(endpoint=endpoints.STATUS, answer=self._status),
        )

    def standing(self) -> Standing:
        """Return where the executor stands."""
        state = self._driver.state
        wish = state.wish
        nodes = None if self._driver.blind else state.nodes
        return Standing(
            workload=self._workload,
            executor=self._executor,
            phase=state.phase,
            why=state.why,
            desired=state.desired,
            observed=None if nodes is None else len(nodes),
            generation=state.generation,
            wish=Wished(
                generation=wish.generation,
                expect=wish.expect,
                floor=wish.floor,
                ready=None if wish.ready is None else sorted(wish.ready),
                spoken=wish.spoken,
                why=wish.why,
            ),
            members=list(nodes or ()),
            orders=list(self._driver.orders),
        )

    async def _healthz(self, asked: Asked) -> Reply:
        return probe([Check(name="ping")], "healthz", asked)

    async def _readyz(self, asked: Asked) -> Reply:
        stopping = "the process is shutting down" if self.is_leaving else ""
        checks = [
            Check(name="members", why=self._driver.blind),
            Check(name="shutdown", why=stopping),
        ]
        return probe(checks, "readyz", asked)

    async def _metrics(self, _asked: Asked) -> Reply:
        return Reply(body=generate_latest(self._registry), content_type=CONTENT_TYPE_LATEST)

    async def _status(self, _asked: Asked) -> Reply:
        return Reply(body=msgspec.json.encode(self.standing()))
