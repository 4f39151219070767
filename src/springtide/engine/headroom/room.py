"""How many more pods of a class fit on every row, and why the next one does not."""

from springtide.engine.headroom.columns import filled
from springtide.engine.headroom.result import Room
from springtide.engine.headroom.stepping import stepped
from springtide.engine.headroom.walking import Walks
from springtide.engine.placement.classes import PodClass, without_quota
from springtide.engine.placement.tables import Tables
from springtide.model.overlay import Overlay

__all__ = ["Room", "room"]


def room(pod_class: PodClass, tables: Tables, overlay: Overlay, walks: Walks) -> Room:
    """Return the room for the class on the ledger of the tables, which the overlay lies over."""
    if not stands_alone(pod_class, tables):
        return stepped(pod_class, tables, overlay)
    if not pod_class.quota:
        return filled(pod_class, tables, walks)
    found = filled(without_quota(pod_class), tables, walks)
    # One more than there is room for: what refuses the next pod may be the quota.
    is_bound = tables.quotas_bind([(pod_class, int(found.counts.sum()) + 1)])
    return stepped(pod_class, tables, overlay) if is_bound else found


def stands_alone(pod_class: PodClass, tables: Tables) -> bool:
    """Return whether placing a pod of the class changes what its rules say of one row only.

    What pods that run say about others stands; only rules of the class itself follow its own pods.
    """
    table = tables.table(pod_class)
    assert table.prepared is not None
    spec = pod_class.framework.spec
    framework = tables.framework_of(pod_class)
    reads_others = spec.neighbours.may_exclude or bool(framework.config.default_spread)
    return (
        table.prepared.lasts_by_row
        and not (spec.volumes or spec.device_claims)
        and not (table.prepared.cluster_checks and reads_others)
    )
