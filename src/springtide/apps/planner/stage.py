"""What every question about a cluster is asked on: the picture, whose rules judge, and the tables."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from springtide.apps.planner import inspection
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.choosing import within
from springtide.apps.planner.consulting import Consulted, consulted
from springtide.apps.planner.families import Policies, policy_table
from springtide.apps.planner.learning import learn
from springtide.apps.planner.onlooker import NOBODY, Onlooker, looking_at
from springtide.apps.planner.picture import Picture
from springtide.apps.planner.schedulers import Claimable, Schedulers, schedulers
from springtide.apps.planner.selector_faults import selector_faults
from springtide.apps.planner.setting import families_of
from springtide.apps.planner.spending import Calls
from springtide.base.clock import Clock
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.tables import Tables
from springtide.model.problem import Problem
from springtide.wire.cel import Selectors
from springtide.wire.documents import Input


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """One input, set up to be asked about.

    `problems` is all that is wrong with it, `notes` say which of its pods are not asked about.
    """

    families: Mapping[str, DeviceFamily]
    picture: Picture
    judges: Schedulers
    heard: Consulted
    tables: Tables
    classifier: Classifier
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()


@contextmanager
def staged(
    found: Input,
    *,
    policies: Policies,
    calls: Calls | None,
    clock: Clock,
    namespace: str = "",
    onlooker: Onlooker = NOBODY,
) -> Iterator[Stage]:
    """Give the stage; extenders, if there are calls for them, are there as long as it is used.

    Only pods of the namespace wait there, of all namespaces if none is named.

    Raises `InvalidInput` for a device configuration and `InvalidDocument` for a scheduler
    configuration with which nothing starts, or with an extender that cannot be called as it says.
    """
    onlooker.progress.begin(looking_at(found))
    kinds = families_of(found, policies)
    selectors = Selectors()
    claimable = Claimable(storage=found.storage, devices=found.device_objects, selectors=selectors)
    judges = schedulers(found.scheduler, kinds, claimable)
    picture = assemble(found, kinds, spreading=judges.spreading)
    notes: tuple[str, ...] = ()
    if namespace:
        picture, notes = within(picture, namespace)
    with consulted(found, picture, kinds, allowed=calls, clock=clock, tell=onlooker.tell) as heard:
        table = policy_table(kinds, policies)
        learn(table, picture, kinds, policies)
        yield Stage(
            families=kinds,
            picture=picture,
            judges=judges,
            heard=heard,
            tables=Tables(
                picture.ledger,
                judges.framework,
                kinds,
                by_scheduler=judges.by_name,
                extenders=heard.extenders,
                policies=table,
                is_strict=policies.is_strict,
            ),
            classifier=Classifier(
                kinds,
                keys=picture.read_keys,
                appearance=heard.appearance,
                devices=found.device_objects,
                defaults=picture.defaults,
                quotas=picture.ledger.quotas,
            ),
            problems=(
                *found.problems,
                *inspection.inspected(found),
                *selector_faults(found, selectors),
                *picture.problems,
                *judges.problems,
                *heard.problems,
            ),
            notes=notes,
        )
