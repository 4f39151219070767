"""A ConfigMap in which members keep something."""

from springtide.edge.cluster import CONFIG_MAP, Cluster, NotFound, Target
from springtide.model.config_map import ConfigMap


class KeptMap:
    """One ConfigMap, which need not be there."""

    def __init__(self, cluster: Cluster, target: Target) -> None:
        self._cluster = cluster
        self._target = target

    async def read(self) -> ConfigMap | None:
        """Return it as the server has it now."""
        try:
            return await self._cluster.read(
                CONFIG_MAP, self._target.name, namespace=self._target.namespace
            )
        except NotFound:
            return None
