"""The ledger: who holds what, and columns that agree."""

from collections.abc import Callable

import pytest

from springtide.base.taints import Taint
from springtide.model.device import Inventory, MigPlacement, Share
from springtide.model.ledger import FIRST_ROWS, Holding, Ledger
from springtide.model.pod import HostPort
from springtide.model.volumes import DiskKind, DiskVolume
from tests.builders import cards, mig_card, node
from tests.ledgers import content


def used(ledger: Ledger, name: str, row: int = 0) -> int:
    index = ledger.resources.known(name)
    assert index is not None
    return int(ledger.resources.used[index, row])


def holding(uid: str = "a", row: int = 0, **amounts: int) -> Holding:
    return Holding(uid=uid, row=row, amounts=tuple(sorted(amounts.items())))


def test_a_node_gets_the_next_row_with_its_amounts_in_scheduler_units() -> None:
    ledger = Ledger()

    rows = [ledger.add_node(node("a")), ledger.add_node(node("b", cpu="1500m", pods=7))]

    assert rows == [0, 1]
    assert ledger.rows == {"a": 0, "b": 1}
    assert ledger.resources.allocatable[:3, 1].tolist() == [7, 1500, 64 << 30]


def test_nodes_that_differ_in_their_hostname_only_share_a_set_of_labels() -> None:
    ledger = Ledger()

    for name in ("a", "b"):
        ledger.add_node(node(name, labels={"kubernetes.io/hostname": name, "zone": "z"}))

    assert ledger.labelset[:2].tolist() == [0, 0]
    assert ledger.labelsets.values == [(("zone", "z"),)]
    assert ledger.hostnames == ["a", "b"]


def test_sets_of_taints_are_told_apart() -> None:
    ledger = Ledger()

    for taints in ([], [Taint(key="gpu")], []):
        ledger.add_node(node("a", taints=taints))

    assert ledger.taintset[:3].tolist() == [0, 1, 0]


def test_a_node_under_another_name_is_its_own_host() -> None:
    ledger = Ledger()
    template = node("template", labels={"kubernetes.io/hostname": "template"})

    row = ledger.add_node(template, name="new-1")

    assert ledger.names[row] == "new-1"
    assert ledger.hostnames[row] == "new-1"
    assert ledger.rows == {"new-1": row}


def test_rows_and_device_cells_grow_with_the_cluster() -> None:
    ledger = Ledger()
    wide = Inventory("NVIDIA", cards(8))
    ledger.add_node(node("first"), {"NVIDIA": Inventory("NVIDIA", cards(1))})
    ledger.hold(Holding(uid="a", row=0, shares=(("NVIDIA", (Share(position=0),)),)))

    for index in range(2 * FIRST_ROWS):
        ledger.add_node(node(f"node-{index}"), {"NVIDIA": wide})

    assert ledger.count == 129
    assert len(ledger.born) == len(ledger.devices["NVIDIA"].count) == 4 * FIRST_ROWS
    assert ledger.devices["NVIDIA"].width == 8
    assert ledger.devices["NVIDIA"].slots_used.sum() == 1
    ledger.check()


def test_what_is_held_is_counted_and_what_is_released_is_free() -> None:
    ledger = Ledger()
    ledger.add_node(node())
    ledger.hold(holding("a", pods=1, cpu=500))
    ledger.hold(holding("b", pods=1, cpu=200, memory=7))

    freed = ledger.release("a")

    assert freed == holding("a", pods=1, cpu=500)
    assert [used(ledger, name) for name in ("pods", "cpu", "memory")] == [1, 200, 7]
    assert list(ledger.holdings) == ["b"]
    ledger.check()


def test_a_pod_may_hold_what_no_node_has() -> None:
    ledger = Ledger()
    ledger.add_node(node())

    for index in range(20):
        ledger.hold(Holding(uid=str(index), row=0, amounts=((f"example.com/r{index}", 3),)))

    assert used(ledger, "example.com/r19") == 3
    ledger.check()


def test_a_pod_holds_only_once() -> None:
    ledger = Ledger()
    ledger.add_node(node())
    ledger.hold(holding("a", pods=1))

    with pytest.raises(AssertionError, match="a"):
        ledger.hold(holding("a", pods=1))


def test_who_holds_nothing_cannot_release() -> None:
    with pytest.raises(KeyError):
        Ledger().release("a")


def test_a_port_is_in_use_until_its_last_holder_is_gone() -> None:
    ledger = Ledger()
    ledger.add_node(node())
    port = HostPort(port=80)
    ledger.hold(Holding(uid="a", row=0, ports=(port, HostPort(port=81))))
    ledger.hold(Holding(uid="b", row=0, ports=(port,)))

    ledger.release("a")

    assert ledger.ports == {0: {port: 1}}
    ledger.release("b")
    assert ledger.ports == {}


def test_placements_and_opaque_shares_are_counted_per_card() -> None:
    ledger = Ledger()
    ledger.add_node(node(), {"NVIDIA": Inventory("NVIDIA", (mig_card(), mig_card("GPU-1")))})
    half = Share(position=0, memory_mib=20480, occupied=(MigPlacement(4, 4),))
    hidden = Share(position=1, slots=0, is_opaque=True)
    ledger.hold(Holding(uid="a", row=0, shares=(("NVIDIA", (half, hidden)),)))

    view = ledger.view(0, "NVIDIA")

    assert view is not None
    assert [use.occupied for use in view.uses] == [(MigPlacement(4, 4),), ()]
    assert [use.opaque for use in view.uses] == [0, 1]
    ledger.check()
    ledger.release("a")
    assert ledger.devices["NVIDIA"].occupied == {}
    ledger.check()


def test_a_node_without_devices_has_no_view() -> None:
    ledger = Ledger()
    ledger.add_node(node("plain"))
    assert ledger.view(0, "NVIDIA") is None

    ledger.add_node(node("gpu"), {"NVIDIA": Inventory("NVIDIA", cards(1))})

    assert ledger.view(0, "NVIDIA") is None
    assert ledger.view(1, "NVIDIA") is not None


def test_every_change_is_logged() -> None:
    ledger = Ledger()
    ledger.add_node(node("a"))
    row = ledger.add_node(node("b"))
    changes: tuple[Callable[[], object], ...] = (
        lambda: ledger.hold(holding("x", row, pods=1)),
        lambda: ledger.release("x"),
        lambda: ledger.close(row, "NVIDIA", "x", "unreadable"),
        ledger.drop_last_node,
    )

    for change in changes:
        position = ledger.changes.position
        change()

        assert ledger.changes.since(position).tolist() == [row]


def test_the_last_node_is_taken_back_without_a_trace() -> None:
    ledger = Ledger()
    ledger.add_node(node("a"))
    row = ledger.add_node(node("b"), {"NVIDIA": Inventory("NVIDIA", cards(2))})

    ledger.drop_last_node()

    assert (ledger.count, ledger.names, ledger.rows) == (1, ["a"], {"a": 0})
    assert ledger.devices["NVIDIA"].inventory_at(row) is None
    assert ledger.add_node(node("c")) == row
    assert ledger.view(row, "NVIDIA") is None
    ledger.check()


def test_taking_a_node_back_leaves_the_name_to_its_earlier_namesake() -> None:
    ledger = Ledger()
    ledger.add_node(node("a"))
    ledger.add_node(node("a"))

    ledger.drop_last_node()

    assert ledger.rows == {"a": 0}


def test_a_row_says_for_each_pod_why_it_is_closed() -> None:
    ledger = Ledger()
    ledger.add_node(node())

    ledger.close(0, "NVIDIA", "a", "unreadable")
    ledger.close(0, "NVIDIA", "b", "unreadable too")

    assert ledger.devices["NVIDIA"].closed == {0: {"a": "unreadable", "b": "unreadable too"}}


def test_a_row_given_to_another_node_is_open_again() -> None:
    ledger = Ledger()
    ledger.add_node(node())
    ledger.close(0, "NVIDIA", "a", "unreadable")

    ledger.drop_last_node()
    ledger.add_node(node(), {"NVIDIA": Inventory("NVIDIA", cards(1))})

    assert ledger.devices["NVIDIA"].closed == {}


def test_drifted_columns_are_found() -> None:
    ledger = Ledger()
    ledger.add_node(node(), {"NVIDIA": Inventory("NVIDIA", cards(1))})
    ledger.hold(holding("a", pods=1))
    ledger.devices["NVIDIA"].memory_used[0, 0] = 5

    with pytest.raises(AssertionError, match="NVIDIA memory_used has drifted"):
        ledger.check()


def test_a_resource_released_twice_is_found() -> None:
    ledger = Ledger()
    ledger.add_node(node())
    ledger.resources.used[1, 0] = -1

    with pytest.raises(AssertionError, match="released twice"):
        ledger.check()


def test_what_is_overcommitted_is_named() -> None:
    ledger = Ledger()
    ledger.add_node(node("a", cpu=1), {"NVIDIA": Inventory("NVIDIA", cards(2))})
    ledger.add_node(node("b", cpu=1))
    share = Share(position=1, memory_mib=30000)
    ledger.hold(Holding(uid="x", row=0, amounts=(("cpu", 1001),), shares=(("NVIDIA", (share,)),)))
    ledger.hold(holding("y", 1, cpu=1000))

    assert ledger.overcommitted() == ["a/cpu", "a/NVIDIA/1"]


def test_holding_all_at_once_is_holding_one_by_one() -> None:
    port = HostPort(port=80)
    held = [
        Holding(
            uid=f"pod-{n}",
            row=n % 2,
            amounts=(("pods", 1), ("cpu", 100 * (n % 3)), ("example.com/dongle", 1)),
            ports=(port,) if n == 0 else (),
            shares=(("NVIDIA", (Share(position=n % 2, memory_mib=n, is_opaque=n == 3),)),),
        )
        for n in range(6)
    ]
    at_once, one_by_one = two_nodes(), two_nodes()

    at_once.hold_all(held)
    for each in held:
        one_by_one.hold(each)

    assert content(at_once) == content(one_by_one)
    assert at_once.changes.since(2).tolist() == [0, 1]
    at_once.check()


def two_nodes() -> Ledger:
    ledger = Ledger()
    for name in ("a", "b"):
        ledger.add_node(node(name), {"NVIDIA": Inventory("NVIDIA", cards(2))})
    return ledger


def test_claims_and_disks_are_counted_as_long_as_a_pod_uses_them() -> None:
    ledger = Ledger()
    ledger.add_node(node("a"))
    ledger.add_node(node("b"))
    disk = DiskVolume(kind=DiskKind.GCE, name="d")
    ledger.hold_all(
        [
            Holding(uid="one", row=0, claims=("default/data",), disks=(disk,)),
            Holding(uid="two", row=1, claims=("default/data",)),
        ]
    )
    ledger.check()

    ledger.release("one")

    assert (ledger.claims, ledger.disks) == ({1: {"default/data": 1}}, {})
    assert ledger.claimed == {"default/data": 1}
    ledger.check()


def test_what_containers_leave_out_is_counted_for_many_as_for_one() -> None:
    held = [Holding(uid=str(index), row=index % 2, unstated=(100, index)) for index in range(4)]
    at_once, one_by_one = two_nodes(), two_nodes()

    at_once.hold_all(held)
    for each in held:
        one_by_one.hold(each)
    at_once.release("3")
    one_by_one.release("3")

    assert at_once.unstated[:, :2].tolist() == [[200, 100], [2, 1]]
    assert content(at_once) == content(one_by_one)
    at_once.check()


def test_a_row_becomes_another_node_once_nothing_is_held_on_it() -> None:
    ledger = Ledger()
    row = ledger.add_node(node("a"), {"NVIDIA": Inventory("NVIDIA", cards(1))})
    ledger.close(row, "NVIDIA", "b", "unreadable")
    position = ledger.changes.position

    ledger.renew_node(row, node("b", cpu=2), {"NVIDIA": Inventory("NVIDIA", cards(3))})

    assert ledger.rows == {"b": row}
    assert ledger.resources.allocatable[1, row] == 2000
    assert ledger.devices["NVIDIA"].count[row] == 3
    assert not ledger.devices["NVIDIA"].closed
    assert ledger.born[row] == ledger.last_born == position
    assert ledger.changes.since(position).tolist() == [row]
    ledger.check()


def test_a_row_on_which_something_is_held_stays_what_it_is() -> None:
    ledger = Ledger()
    row = ledger.add_node(node("a"), {"NVIDIA": Inventory("NVIDIA", cards(1))})
    ledger.hold(Holding(uid="x", row=row, shares=(("NVIDIA", (Share(position=0),)),)))

    with pytest.raises(AssertionError, match="devices are held"):
        ledger.vacate(row)
    with pytest.raises(AssertionError, match="devices are held"):
        ledger.renew_node(row, node("b"))


def test_a_vacant_row_has_nothing_and_waits_for_the_next_node() -> None:
    ledger = Ledger()
    for name in "ab":
        ledger.add_node(node(name), {"NVIDIA": Inventory("NVIDIA", cards(1))})

    ledger.vacate(0)
    gone = dict(ledger.rows), set(ledger.vacant), ledger.view(0, "NVIDIA")
    ledger.renew_node(0, node("c"))

    assert gone == ({"b": 1}, {0}, None)
    assert ledger.rows == {"b": 1, "c": 0}
    assert ledger.vacant == set()
    ledger.check()


def test_a_row_that_was_closed_for_a_pod_is_open_again() -> None:
    ledger = Ledger()
    row = ledger.add_node(node("a"), {"NVIDIA": Inventory("NVIDIA", cards(1))})
    for uid in "xy":
        ledger.close(row, "NVIDIA", uid, "unreadable")

    ledger.reopen(row, "NVIDIA", "x")
    half = {row: dict(whys) for row, whys in ledger.devices["NVIDIA"].closed.items()}
    ledger.reopen(row, "NVIDIA", "y")

    assert half == {row: {"y": "unreadable"}}
    assert ledger.devices["NVIDIA"].closed == {}
