"""The published cases of the expanders (rows X1 to X12 of the peer's own tests), as data.

Not here: X9 is about groups that do not exist yet, which a plan does not make up; X11 is about an
expander that another program answers over gRPC, which is not built; of X10, that a broken new text
leaves the old priorities in force concerns a process that watches them, while a plan reads one text.
"""

from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from springtide.engine.capacity.options import Expander, Option
from springtide.model.group import NodeGroup
from springtide.policies.expanders import LeastNodes, LeastWaste, MostPods, Priority
from springtide.wire.priorities import read
from tests.builders import node, pod, replicas
from tests.options import kept, option, priced, prices

POD = replicas(1, pod(cpu="500m", memory="1000Mi"))
BALANCED = option("balanced", pods=POD, of=node(cpu=16, memory="16Gi"))
HIGH_MEMORY = option("highmem", pods=POD, of=node(cpu=16, memory="32Gi"))
LOW_CPU = option("lowcpu", pods=POD, of=node(cpu=8, memory="16Gi"))


class Row(msgspec.Struct, frozen=True):
    """One published case: an expander, options, and the groups that it keeps."""

    expander: Expander
    options: Sequence[Option]
    kept: Sequence[str]


def ranked(text: str, *names: str) -> list[Option]:
    """Return options of groups that have their priorities from a text."""
    rules = read(text)
    found = [option(name) for name in names]
    return [replace(each, group=_ranked(each, rules.of(each.group.name))) for each in found]


def _ranked(given: Option, priority: int) -> NodeGroup:
    return replace(given.group, priority=priority)


MANY = "10:\n- .*t2\\.large.*\n50:\n- .*m4\\.4xlarge.*\n- .*c5.*\n"

ROWS = {
    "X1 the smaller memory wastes less": Row(LeastWaste(), [BALANCED, HIGH_MEMORY], ["balanced"]),
    "X2 the smaller node wastes less": Row(
        LeastWaste(), [BALANCED, HIGH_MEMORY, LOW_CPU], ["lowcpu"]
    ),
    "X3 the cheaper nodes": Row(
        prices(preferred=2), [priced("ng1", 20, nodes=2), priced("ng2", 200, nodes=1)], ["ng1"]
    ),
    "X4 a node of sensible size may cost more": Row(
        prices(preferred=4),
        [priced("ng1", 50, nodes=2, cores=1), priced("ng2", 200, nodes=1, cores=4)],
        ["ng2"],
    ),
    "X5 size matters less for many nodes": Row(
        prices(preferred=4),
        [
            priced("ng1", 20, nodes=80, pods=80, cores=1),
            priced("ng2", 200, nodes=40, pods=80, cores=4),
        ],
        ["ng1"],
    ),
    "X6 the cheaper of two equal ones": Row(
        prices(preferred=2), [priced("ng1", 200, nodes=1), priced("ng2", 100, nodes=1)], ["ng2"]
    ),
    "X7 more pods on fewer nodes": Row(
        prices(preferred=2),
        [priced("ng1", 200, nodes=2, pods=1), priced("ng2", 200, nodes=1, pods=2)],
        ["ng2"],
    ),
    "X8 no prices": Row(
        prices(preferred=2), [option("ng1", pods=POD), option("ng2", pods=POD)], []
    ),
    "X10 two at the highest level": Row(
        Priority(),
        ranked(MANY, "my-asg.t2.large", "my-asg.m4.4xlarge", "my-asg.c5", "my-asg.p3"),
        ["my-asg.m4.4xlarge", "my-asg.c5"],
    ),
    "X10 nothing matches": Row(
        Priority(),
        ranked("10:\n- nothing\n", "my-asg.t2.large", "my-asg.p3"),
        ["my-asg.t2.large", "my-asg.p3"],
    ),
    "X12 most pods": Row(
        MostPods(),
        [
            option(name, pods=replicas(count, pod()))
            for name, count in (("a", 1), ("b", 2), ("c", 2))
        ],
        ["b", "c"],
    ),
    "X12 least nodes": Row(
        LeastNodes(), [option(str(count), nodes=count) for count in (3, 1, 0)], ["1"]
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_expanders_keep_what_is_published(row: Row) -> None:
    assert kept(row.expander, row.options) == row.kept
