"""The cluster as the engine sees it."""

import msgspec

from springtide.engine.capacity.situation import SizedGroup
from springtide.engine.framework.default_selector import DefaultSelectors
from springtide.engine.preemption import Evictable
from springtide.model.gang import Gang
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.problem import Problem


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A ledger, groups with templates, and pods, as they were read.

    `waiting` are the pods to plan for, among them those of `gangs`, `apart` those that wait for something else, and `denied`
    manifests that could never become pods, each with the reason. `read_keys` are the labels that
    rules between pods read, None where there are no such rules. `evictable` are the pods that run.
    `defaults` knows who is spread by default, None if nobody is.
    """

    ledger: Ledger
    groups: tuple[SizedGroup, ...]
    waiting: tuple[Pod, ...]
    gangs: tuple[Gang, ...] = ()
    apart: tuple[tuple[Pod, str], ...]
    denied: tuple[tuple[Pod, str], ...]
    problems: tuple[Problem, ...]
    read_keys: frozenset[str] | None = None
    defaults: DefaultSelectors | None = None
    evictable: Evictable
