"""What may be set of the process, and what is made of a configuration document."""

import msgspec
from msgspec.structs import replace

from springtide.apps.adapter.settings import Served, served
from springtide.wire.admission import Workload
from springtide.wire.crd.adapter import seconds
from springtide.wire.crd.guard import GuardDocument
from springtide.wire.origin import Origin


class Deadlines(msgspec.Struct, frozen=True, kw_only=True):
    """How long things may take, in seconds; at the end everybody is answered for `leave_s` more."""

    request_s: float = 3.0
    leave_s: float = 0.0
    drain_s: float = 10.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one process.

    `index` says which replica is the highest that holds state. Workloads are guarded that are `listed`, and
    those with a label or annotation `mark` of the value true.
    """

    index: Served
    mark: str = ""
    listed: frozenset[Workload] = frozenset()
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    deadlines: Deadlines = Deadlines()

    def is_exempt(self, user: str, groups: tuple[str, ...]) -> bool:
        """Return whether somebody may lower replicas whatever they hold."""
        return user in self.users or not self.groups.isdisjoint(groups)

    def of_kind(self, kind: str) -> Served:
        """Return the metric for a kind of workload."""
        return replace(self.index, kind=kind)


def settings(document: GuardDocument, *, origin: Origin) -> Settings:
    """Return the settings that a document stands for."""
    return Settings(
        index=served(document.index, ("index",), origin=origin),
        mark=document.mark,
        listed=frozenset(
            Workload(kind=each.kind, namespace=each.namespace, name=each.name)
            for each in document.workloads
        ),
        users=frozenset(document.exempt.users),
        groups=frozenset(document.exempt.groups),
        deadlines=Deadlines(
            request_s=seconds(document.request_timeout, ("requestTimeout",), origin=origin),
            leave_s=seconds(document.shutdown_delay, ("shutdownDelay",), origin=origin),
        ),
    )
