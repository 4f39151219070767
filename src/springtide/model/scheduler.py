"""The configuration of a scheduler: its profiles with their plugins, and its extenders.

The records mirror `kubescheduler.config.k8s.io/v1`, field by field; a configuration that was read
has every default filled in. What its plugin lists amount to is decided in `engine.framework`.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from springtide.model.plugin_arguments import Arguments
from springtide.model.scheduler_values import Duration, Int32, Int64

EVERY: Final = "*"


class Plugin(msgspec.Struct, frozen=True, rename="camel"):
    """A plugin by name; a weight of 0 is none given."""

    name: str = ""
    weight: Int32 = 0


class PluginSet(msgspec.Struct, frozen=True, rename="camel"):
    """What a profile says about one extension point."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()

    @property
    def disabled_names(self) -> frozenset[str]:
        """Return the names that are disabled; `*` stands for all."""
        return frozenset(each.name for each in self.disabled)


class Plugins(msgspec.Struct, frozen=True, rename="camel"):
    """The plugins of a profile by extension point; `multi_point` counts for all of them."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()

    def points(self) -> Iterator[tuple[str, PluginSet]]:
        """Yield (name in the configuration, set) of every extension point."""
        for name, encoded in zip(
            self.__struct_fields__, self.__struct_encode_fields__, strict=True
        ):
            yield encoded, getattr(self, name)


class PluginConfig(msgspec.Struct, frozen=True, rename="camel"):
    """Arguments for a plugin; those of a plugin that is not known stay plain data."""

    name: str = ""
    args: Any = None


class SchedulerProfile(msgspec.Struct, frozen=True, rename="camel"):
    """How pods are judged that name this scheduler; None is a name that was not given."""

    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins | None = None
    plugin_config: tuple[PluginConfig, ...] = ()

    def arguments(self, name: str) -> Arguments | None:
        """Return the arguments that are given to a known plugin."""
        return next((each.args for each in self.plugin_config if each.name == name), None)


class ManagedResource(msgspec.Struct, frozen=True, rename="camel"):
    """A resource that an extender manages."""

    name: str = ""
    ignored_by_scheduler: bool = False


EXTENDER_TIMEOUT: Final = Duration(5_000_000_000)


class ExtenderTLSConfig(msgspec.Struct, frozen=True, rename="camel"):
    """How an extender is reached with TLS."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


class Extender(
    msgspec.Struct, frozen=True, rename={
        "url_prefix": "urlPrefix", "filter_verb": "filterVerb", "preempt_verb": "preemptVerb",
        "prioritize_verb": "prioritizeVerb", "bind_verb": "bindVerb", "enable_https": "enableHTTPS",
        "tls_config": "tlsConfig", "http_timeout": "httpTimeout",
        "node_cache_capable": "nodeCacheCapable", "managed_resources": "managedResources",
    }
):  # fmt: skip
    """A scheduler extender; it is asked about pods that name one of its resources, if it has any."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = False
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = Duration()
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False

    @property
    def call_timeout(self) -> Duration:
        """Return how long a call may take; no time stands for the default."""
        return self.http_timeout if self.http_timeout.nanoseconds > 0 else EXTENDER_TIMEOUT


class LeaderElection(msgspec.Struct, frozen=True, rename="camel"):
    """How several schedulers agree which of them works."""

    leader_elect: bool | None = None
    lease_duration: Duration = Duration()
    renew_deadline: Duration = Duration()
    retry_period: Duration = Duration()
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnection(msgspec.Struct, frozen=True, rename="camel"):
    """How the scheduler talks to the API server."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: float = 0.0
    burst: Int32 = 0


class SchedulerConfiguration(msgspec.Struct, frozen=True, rename="camel"):
    """A KubeSchedulerConfiguration."""

    parallelism: Int32 | None = None
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 | None = None
    pod_max_backoff_seconds: Int64 | None = None
    profiles: tuple[SchedulerProfile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False

    @property
    def extenders_in_order(self) -> tuple[Extender, ...]:
        """Return the extenders as they are called: those that may fail come last."""
        return tuple(sorted(self.extenders, key=lambda each: each.ignorable))

    @property
    def ignored_by_scheduler(self) -> tuple[str, ...]:
        """Return the resources that extenders manage in the scheduler's place."""
        return tuple(
            each.name
            for extender in self.extenders
            for each in extender.managed_resources
            if each.ignored_by_scheduler
        )
