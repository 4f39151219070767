"""VolumeBinding scores: how well waiting claims fill what there is."""

from msgspec.structs import replace

from springtide.base import quantity
from springtide.base.selectors import label_selector
from springtide.engine.scoring.config import ScoringConfig
from springtide.model.plugin_arguments import ShapePoint
from springtide.model.storage import CsiDriver, Storage, StorageCapacity
from tests.unit.engine.framework.storing import (
    CLASS,
    DRIVER,
    bound,
    late_class,
    stored,
    using,
    volume,
    waiting,
)
from tests.unit.engine.scoring.scored import node, of_plugin, pod, scores, values

NODES = [node(zone, labels={"zone": zone}) for zone in "ab"]
REPORTING = CsiDriver(name=DRIVER, reports_capacity=True)


def room(zone: str, size: str) -> StorageCapacity:
    return StorageCapacity(
        name=zone,
        class_name=CLASS,
        capacity=quantity.parse(size),
        nodes=label_selector({"zone": zone}),
    )


def volume_scores(storage: Storage, *claims: str, config: ScoringConfig | None = None) -> list[int]:
    found = scores(using(*claims), NODES, config=config, storage=storage)
    return values(of_plugin("VolumeBinding", found).raw)


def test_a_volume_with_room_to_spare_is_better() -> None:
    storage = stored(
        waiting("data"),
        late_class(),
        volume("tight", size="5Gi", zone="a"),
        volume("wide", zone="b"),
    )

    assert volume_scores(storage, "data") == [0, 50]


def test_a_profile_may_prefer_volumes_that_fit_tightly() -> None:
    config = ScoringConfig(storage_shape=(ShapePoint(0, 0), ShapePoint(100, 10)))
    storage = stored(
        waiting("data"),
        late_class(),
        volume("tight", size="5Gi", zone="a"),
        volume("wide", zone="b"),
    )

    assert volume_scores(storage, "data", config=config) == [100, 50]


def test_the_smallest_volume_that_fits_is_the_one_that_counts() -> None:
    storage = stored(
        waiting("data"), late_class(), volume("wide", size="100Gi"), volume("tight", size="5Gi")
    )

    assert volume_scores(storage, "data") == [0, 0]


def test_claims_of_one_class_are_added_up() -> None:
    storage = stored(
        waiting("one"),
        waiting("two"),
        late_class(),
        volume("first", size="5Gi"),
        volume("second", size="15Gi"),
    )

    assert volume_scores(storage, "one", "two") == [50, 50]


def test_classes_count_alike() -> None:
    other = replace(waiting("two"), class_name="slow")
    storage = stored(
        waiting("one"),
        other,
        late_class(),
        replace(late_class(), name="slow"),
        volume("first", size="5Gi"),
        replace(volume("second", size="20Gi"), class_name="slow"),
    )

    # Nothing is left of the one, three quarters of the other.
    assert volume_scores(storage, "one", "two") == [38, 38]


def test_where_volumes_are_made_the_room_that_drivers_report_counts() -> None:
    storage = stored(
        waiting("one"),
        waiting("two"),
        late_class(),
        REPORTING,
        room("a", "20Gi"),
        room("b", "100Gi"),
    )

    assert volume_scores(storage, "one", "two") == [50, 90]


def test_where_no_driver_reports_room_all_nodes_are_alike() -> None:
    assert volume_scores(stored(waiting("data"), late_class()), "data") == [0, 0]


def test_claims_that_are_bound_do_not_matter() -> None:
    assert volume_scores(stored(bound("data", "pv"), volume("pv")), "data") == [0, 0]


def test_pods_without_claims_are_scored_all_alike() -> None:
    found = scores(pod({}), NODES)

    assert values(of_plugin("VolumeBinding", found).normalised) == [0, 0]
