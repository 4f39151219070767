"""What one more node of a group would be."""

from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from springtide.base.selectors import Selector, parse_selector
from springtide.base.taints import Taint
from springtide.engine.simulation.templates import Fleet, Source, Template, build, members
from springtide.model.device import Device, Inventory
from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.profile import DeviceProfile, Homogeneity
from springtide.model.refusal import Refusal
from springtide.model.workload import DaemonSet
from springtide.vendors.nvidia import Nvidia
from tests.builders import card, cards, group, node, pod

NVIDIA = Nvidia()
EVERYTHING = parse_selector("")


def profile(
    name: str = "profile",
    *,
    devices: tuple[Device, ...] = cards(2),
    last_verified: tuple[Device, ...] = (),
    selector: Selector = EVERYTHING,
    homogeneity: Homogeneity = Homogeneity.STRICT,
) -> DeviceProfile:
    return DeviceProfile(
        name=name,
        selector=selector,
        devices=(("NVIDIA", devices),),
        last_verified=(("NVIDIA", last_verified),) if last_verified else (),
        homogeneity=homogeneity,
    )


def built(
    of: NodeGroup,
    own: Sequence[Node] = (),
    *,
    pods_on: Mapping[str, Sequence[Pod]] | None = None,
    daemons: Sequence[DaemonSet] = (),
    profiles: Sequence[DeviceProfile] = (),
) -> Template:
    described = (of.template,) if of.template is not None else ()
    registered = {
        each.name: {"NVIDIA": found}
        for each in (*own, *described)
        if (found := NVIDIA.inventory(each)) is not None
    }
    answer = build(
        of,
        own,
        Fleet(
            registered=registered,
            pods_on=pods_on or {},
            daemons=daemons,
            profiles=profiles,
            families=("NVIDIA",),
        ),
    )
    assert isinstance(answer, Template)
    return answer


def inventory(of: Template) -> Inventory:
    return dict(of.inventories)["NVIDIA"]


def refusal(of: Template) -> Refusal:
    assert of.inventories == ()
    return dict(of.refusals)["NVIDIA"]


# The node


def test_members_are_found_by_provider_id_or_by_labels() -> None:
    by_id = group("g")
    by_label = NodeGroup(name="g", max_size=1, selector=parse_selector("pool=g"))
    nodes = [
        node("a", provider_id="g-1"),
        node("b", provider_id="gg-1"),
        node("c", labels={"pool": "g"}),
    ]

    assert [each.name for each in members(by_id, nodes)] == ["a"]
    assert [each.name for each in members(by_label, nodes)] == ["c"]


def test_a_live_node_that_stays_is_copied() -> None:
    own = [
        node("unready", is_ready=False),
        node("cordoned", is_unschedulable=True),
        node("leaving", taints=[Taint(key="ToBeDeletedByClusterAutoscaler")]),
        node("lonely", taints=[Taint(key="node.kubernetes.io/network-unavailable")]),
        replace(node("filled"), conditions={"Ready": "True", "DiskPressure": "True"}),
        node("good", cpu=4),
    ]

    template = built(group(template=node("described")), own)

    assert template.source is Source.WARM
    assert template.origin == "good"
    assert template.node.name == "template-node-for-group"
    assert template.node.allocatable == own[-1].allocatable


def test_the_described_node_comes_before_live_nodes_that_do_not_stay() -> None:
    own = [node("cordoned", cpu=4, is_unschedulable=True)]

    template = built(group(template=node("described", cpu=8)), own)

    assert template.source is Source.INPUT
    assert template.origin == ""
    assert template.node.allocatable == node(cpu=8).allocatable


def test_any_live_node_is_better_than_none() -> None:
    template = built(group(), [node("unready", cpu=4, is_ready=False)])

    assert template.source is Source.WARM
    assert template.node.allocatable == node(cpu=4).allocatable
    assert template.node.is_ready


def test_a_group_without_nodes_and_description_has_no_template() -> None:
    answer = build(
        group(), (), Fleet(registered={}, pods_on={}, daemons=(), profiles=(), families=())
    )

    assert isinstance(answer, Refusal)
    assert answer.text == "no template: the group has no node and the input describes none"


# Pods


def test_daemons_and_mirrors_of_the_copied_node_come_along() -> None:
    mirror = pod("static", annotations={"kubernetes.io/config.mirror": "x"})
    leaving = replace(pod("leaving", daemon_of="agent"), is_terminating=True)
    on = [pod("web"), pod("agent-x", daemon_of="agent"), mirror, leaving]

    template = built(group(), [node("live")], pods_on={"live": on})

    assert [each.name for each in template.pods] == ["agent-x", "static"]


def test_a_described_node_runs_the_daemons_that_would_start_there() -> None:
    daemons = [
        DaemonSet(namespace="default", name="agent", uid="a", spec=pod().spec),
        DaemonSet(namespace="default", name="picky", uid="p", spec=pod(selector={"x": "y"}).spec),
    ]

    template = built(group(template=node("described")), daemons=daemons)

    assert [each.name for each in template.pods] == ["agent-on-template-node-for-group"]


def test_a_daemon_that_pushes_others_away_runs_on_a_copied_node_before_it_is_there() -> None:
    daemons = [
        DaemonSet(namespace="default", name="agent", uid="a", spec=pod().spec),
        DaemonSet(namespace="default", name="driver", uid="d", spec=pod().spec, is_critical=True),
    ]
    on = [pod("agent-x", daemon_of="agent")]

    template = built(group(), [node("live")], pods_on={"live": on}, daemons=daemons)

    assert [each.name for each in template.pods] == [
        "agent-x",
        "driver-on-template-node-for-group",
    ]


def test_a_described_node_has_labels_under_their_older_names_too() -> None:
    labels = {"topology.kubernetes.io/zone": "a", "beta.kubernetes.io/instance-type": "big"}

    template = built(group(template=node("described", labels=labels)))

    assert template.node.labels["failure-domain.beta.kubernetes.io/zone"] == "a"
    assert template.node.labels["node.kubernetes.io/instance-type"] == "big"


# Devices: a registration first, then the named profile, then the one that matches


def test_what_ready_nodes_register_comes_first() -> None:
    own = [node("live", cards=cards(1)), node("unready", cards=cards(3), is_ready=False)]

    template = built(group(), own, profiles=[profile()])

    assert [each.id for each in inventory(template).devices] == ["template-group-0"]


def test_a_registration_on_the_described_node_comes_first() -> None:
    described = node("described", cards=cards(3))

    template = built(group(template=described), profiles=[profile()])

    assert [each.id for each in inventory(template).devices] == [
        f"template-group-{index}" for index in range(3)
    ]


def test_an_unready_node_that_is_copied_brings_its_devices() -> None:
    template = built(group(), [node("unready", cards=cards(3), is_ready=False)])

    assert len(inventory(template).devices) == 3


def test_the_profile_that_the_node_names_comes_before_those_that_match() -> None:
    described = node("described", annotations={"springtide.io/device-profile": "named"})
    named = profile("named", devices=cards(4), selector=parse_selector("never=true"))

    template = built(group(template=described, profile="other"), profiles=[profile(), named])

    assert inventory(template).devices == cards(4)


def test_the_group_may_name_its_profile() -> None:
    named = profile("named", devices=cards(4), selector=parse_selector("never=true"))

    template = built(group(template=node("described"), profile="named"), profiles=[named])

    assert inventory(template).devices == cards(4)


def test_a_profile_that_is_named_but_missing_is_said_to_be() -> None:
    template = built(group(template=node("described"), profile="named"), profiles=[profile()])

    assert (
        refusal(template).text == "device profile missing: named is named, but is not in the input"
    )


def test_a_profile_that_is_degraded_promises_nothing_for_a_group_without_nodes() -> None:
    degraded = replace(profile("bad"), degraded="On n1 NVIDIA devices: count is 1, 2 promised.")

    template = built(group(template=node("described")), profiles=[degraded])

    assert refusal(template).text == (
        "device profile degraded: bad: On n1 NVIDIA devices: count is 1, 2 promised."
    )


def test_the_one_profile_that_matches_describes_the_devices() -> None:
    other = profile("other", devices=cards(8), selector=parse_selector("kind=other"))
    fitting = profile("fitting", selector=parse_selector("kind=gpu"))
    described = node("described", labels={"kind": "gpu"})

    template = built(group(template=described), profiles=[other, fitting])

    assert inventory(template).devices == cards(2)


def test_profiles_that_match_and_differ_are_ambiguous() -> None:
    profiles = [profile("a", devices=cards(1)), profile("b", devices=cards(2))]

    template = built(group(template=node("described")), profiles=profiles)

    assert (
        refusal(template).text == "device profile ambiguous: a, b all select this node and differ"
    )


def test_profiles_that_match_and_agree_are_one() -> None:
    profiles = [profile("a", devices=cards(1)), profile("b", devices=cards(1))]

    template = built(group(template=node("described")), profiles=profiles)

    assert inventory(template).devices == cards(1)


def test_what_real_nodes_last_registered_stands_for_a_group_that_dropped_to_zero() -> None:
    verified = profile(devices=cards(2), last_verified=cards(8))

    template = built(group(template=node("described")), profiles=[verified])

    assert inventory(template).devices == cards(8)


@pytest.mark.parametrize(
    ("own", "profiles", "why"),
    [
        ([], [], "no node of the group is up, and no device profile matches it"),
        ([node("live")], [], "its node live has not registered devices of NVIDIA"),
        (
            [],
            [DeviceProfile(name="other", selector=EVERYTHING, devices=())],
            "device profile other describes no NVIDIA device",
        ),
    ],
)
def test_devices_never_come_from_nothing(
    own: Sequence[Node], profiles: Sequence[DeviceProfile], why: str
) -> None:
    template = built(group(template=node("described")), own, profiles=profiles)

    assert refusal(template).text == "node unregistered"
    assert refusal(template).detail == why


def test_a_malformed_registration_is_told_if_there_is_nothing_better() -> None:
    broken = node("live", annotations={"hami.io/node-nvidia-register": "{"})

    alone = built(group(), [broken])
    helped = built(group(), [broken], profiles=[profile()])
    outvoted = built(group(), [broken, node("other", cards=cards(1))])

    assert refusal(alone).text.startswith("device registration malformed")
    assert inventory(helped).devices == cards(2)
    assert len(inventory(outvoted).devices) == 1


@pytest.mark.parametrize(
    ("of", "profiles"),
    [
        (group(homogeneity="Minimum"), [profile(homogeneity=Homogeneity.STRICT)]),
        (group(), [profile(homogeneity=Homogeneity.MINIMUM)]),
    ],
)
def test_the_group_or_else_its_profile_says_what_must_agree(
    of: NodeGroup, profiles: Sequence[DeviceProfile]
) -> None:
    own = [node("a", cards=[card(memory=10)]), node("b", cards=[card(memory=5)])]

    template = built(of, own, profiles=profiles)

    assert inventory(template).devices[0].memory_mib == 5


def test_unequal_nodes_have_no_template_for_devices_if_nothing_else_is_said() -> None:
    own = [node("a", cards=[card(memory=10)]), node("b", cards=[card(memory=5)])]

    template = built(group(), own)

    assert refusal(template).text == (
        "device profile heterogeneous: memory_mib of device 0 is 10 on a, 5 on b"
    )
