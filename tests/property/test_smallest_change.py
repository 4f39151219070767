"""Every change that is proposed lets the pod fit, and nothing smaller of its kind does.

The clusters are so small that everything smaller can be tried, one by one, on tables made anew.
"""

from collections.abc import Sequence
from itertools import combinations

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.base.quantity import Quantity
from springtide.base.taints import Taint, Toleration
from springtide.engine.explain import Change, ChangeKind, Explained
from springtide.engine.placement.admission import admitted
from springtide.engine.placement.wishes import lowered
from springtide.model.node import Node
from springtide.model.pod import Container, Pod
from springtide.vendors.nvidia import FAMILY
from tests.builders import card, group, node, pod
from tests.explaining import Cluster, running

MEMORY_MAX = 12
TAINTS = (Taint(key="a"), Taint(key="b", value="x"), Taint(key="c", effect="NoExecute"))

CARDS = st.lists(
    st.builds(
        lambda memory, cores, slots, model: (memory, cores, slots, model),
        st.integers(1, MEMORY_MAX),
        st.sampled_from([3, 100]),
        st.sampled_from([2, 2, 1]),
        st.sampled_from(["NVIDIA-A10", "NVIDIA-T4"]),
    ),
    min_size=1,
    max_size=3,
)


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    """Draw nodes with cards, taints and labels."""
    found = []
    for index in range(draw(st.integers(1, 3))):
        name = f"n{index}"
        cards = [
            card(f"{name}-{at}", memory=memory, cores=cores, slots=slots, model=model)
            for at, (memory, cores, slots, model) in enumerate(draw(CARDS))
        ]
        found.append(
            node(
                name,
                cpu=draw(st.sampled_from(["1m", "9m", "9m"])),
                memory=100,
                cards=cards,
                labels={"zone": draw(st.sampled_from("xy"))},
                taints=draw(st.sampled_from([(), (), (), TAINTS[:1], TAINTS[1:2], TAINTS[1:]])),
                is_unschedulable=draw(st.integers(0, 9)) == 9,
            )
        )
    return found


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Draw a cluster with pods of lower priority on some of its cards."""
    found = draw(nodes())
    placed = [
        running(
            f"{each.name}-{at}",
            each.name,
            card=f"{each.name}-{draw(st.integers(0, 2))}",
            gpumem=draw(st.integers(2, MEMORY_MAX)),
            gpucores=draw(st.integers(0, 2)),
            priority=draw(st.integers(0, 2)),
        )
        for each in found
        for at in range(draw(st.integers(0, 3)))
    ]
    return Cluster(found, placed)


def asking(*, is_plain: bool = True) -> st.SearchStrategy[Pod]:
    """Draw a pod with one container, or with two."""
    one = st.builds(
        pod,
        cpu=st.sampled_from([0, 0, 0, "2m", "20m"]),
        gpu=st.sampled_from([0, 1, 1, 1, 2, 3]),
        gpumem=st.integers(0, MEMORY_MAX),
        gpucores=st.sampled_from([0, 0, 2, 3, 50, 100]),
        selector=st.sampled_from([{}, {}, {}, {"zone": "x"}, {"zone": "z"}]),
        annotations=st.sampled_from([{}, {}, {}, {"nvidia.com/use-gputype": "T4"}]),
        tolerations=st.lists(st.sampled_from([Toleration(key="a", operator="Exists")]), max_size=1),
        priority=st.sampled_from([5, 0]),
    )
    return (one if is_plain else st.builds(_with_second, one, one)).map(_stored)


def _stored(who: Pod) -> Pod:
    """Return the pod as admission stores it."""
    answer = admitted(who, {"NVIDIA": FAMILY})
    assert isinstance(answer, Pod)
    return answer


def _with_second(first: Pod, second: Pod) -> Pod:
    containers = (*first.spec.containers, replace(second.spec.containers[0], name="second"))
    return replace(first, spec=replace(first.spec, containers=containers))


def stuck(cluster: Cluster, who: Pod) -> Explained:
    """Return the explanation of a pod that fits nowhere; others are of no interest."""
    found = cluster.explain(who)
    assert found.fits == cluster.fits(who)
    assume(not found.fits and found.pod_class.refusal is None)
    return found


def of_kind(found: Explained, kind: ChangeKind) -> list[Change]:
    """Return the changes of one kind."""
    return [change for change in found.changes if change.kind is kind]


@settings(max_examples=150, deadline=None)
@given(clusters(), asking() | asking(is_plain=False))
def test_a_proposed_change_of_the_pod_makes_the_filter_pass(cluster: Cluster, who: Pod) -> None:
    found = stuck(cluster, who)

    changed = [change.pod for change in found.changes if change.pod is not None]

    assert all(cluster.fits(each) for each in changed)
    cluster.stage.picture.ledger.check()


@settings(max_examples=150, deadline=None)
@given(clusters(), asking())
def test_no_larger_amount_of_devices_than_the_proposed_one_fits(cluster: Cluster, who: Pod) -> None:
    found = stuck(cluster, who)
    proposed = {
        each.subject: int(each.after)
        for each in of_kind(found, ChangeKind.ASK_LESS)
        if "/" in each.subject
    }

    for wish in cluster.stage.families["NVIDIA"].wishes(who):
        amounts = range(wish.least, wish.asked)
        fitting = [each for each in amounts if cluster.fits(_stored(lowered(who, wish, each)))]

        assert proposed.get(wish.resource) == max(fitting, default=None)


@settings(max_examples=100, deadline=None)
@given(clusters(), asking())
def test_no_more_cpu_than_the_proposed_amount_fits(cluster: Cluster, who: Pod) -> None:
    found = stuck(cluster, who)
    proposed = [each.after for each in of_kind(found, ChangeKind.ASK_LESS) if each.subject == "cpu"]

    asked = max(
        dict(each.requests).get("cpu", Quantity(nano=0)).milli() for each in who.spec.containers
    )
    fitting = [each for each in range(1, asked) if cluster.fits(_with_cpu(who, each))]

    assert proposed == [f"{each}m" for each in fitting[-1:]]


def _with_cpu(who: Pod, milli: int) -> Pod:
    def lower(container: Container) -> Container:
        kept = [pair for pair in container.requests if pair[0] != "cpu"]
        pair = ("cpu", Quantity(nano=milli * 10**6))
        return replace(container, requests=tuple(sorted([*kept, pair], key=lambda each: each[0])))

    spec = replace(who.spec, containers=tuple(map(lower, who.spec.containers)))
    return replace(who, spec=spec)


@settings(max_examples=100, deadline=None)
@given(clusters(), asking())
def test_no_fewer_tolerations_than_the_proposed_ones_help(cluster: Cluster, who: Pod) -> None:
    found = stuck(cluster, who)
    sizes = [int(each.size) for each in of_kind(found, ChangeKind.ADD_TOLERATION)]

    helping = [
        count
        for count in range(1, len(TAINTS) + 1)
        if any(cluster.fits(_tolerating(who, taints)) for taints in combinations(TAINTS, count))
    ]

    assert sizes == helping[:1]


def _tolerating(who: Pod, taints: Sequence[Taint]) -> Pod:
    more = [Toleration(key=each.key, value=each.value, effect=each.effect) for each in taints]
    return replace(who, spec=replace(who.spec, tolerations=(*who.spec.tolerations, *more)))


@settings(max_examples=150, deadline=None)
@given(clusters(), asking())
def test_pods_that_would_have_to_go_make_room_and_none_of_them_could_stay(
    cluster: Cluster, who: Pod
) -> None:
    found = stuck(cluster, who)
    overlay = cluster.scene.overlay

    for change in of_kind(found, ChangeKind.FREE_PODS):
        assert all(each.spec.priority < who.spec.priority for each in change.pods)
        assert _fits_without(cluster, who, change.pods)
        for each in change.pods:
            others = [other for other in change.pods if other is not each]
            assert not _fits_without(cluster, who, others)
    assert overlay.depth == 0


def _fits_without(cluster: Cluster, who: Pod, gone: Sequence[Pod]) -> bool:
    overlay = cluster.scene.overlay
    with overlay.trial():
        for each in gone:
            overlay.release(each.uid)
        return cluster.fits(who)


@settings(max_examples=100, deadline=None)
@given(clusters(), asking())
def test_the_verdicts_account_for_every_node_once(cluster: Cluster, who: Pod) -> None:
    found = cluster.explain(who)

    rows = sorted(row for each in found.verdicts for row in each.rows)

    assert rows == list(range(cluster.stage.picture.ledger.count))


@settings(max_examples=100, deadline=None)
@given(clusters(), asking(), nodes())
def test_a_change_that_counts_on_a_new_node_fits_one(
    cluster: Cluster, who: Pod, described: list[Node]
) -> None:
    groups = [
        group(f"g{index}", template=replace(each, name=f"t{index}", is_unschedulable=False))
        for index, each in enumerate(described)
    ]
    there = cluster.stage.picture.ledger
    grown = Cluster(there.nodes, groups=groups)
    found = stuck(grown, who)

    added = {f"a new node of {each.name}": each.template for each in groups}
    on_new = [each for each in found.changes if each.node in added]

    for change in on_new:
        template = added[change.node]
        assert template is not None
        assert Cluster([template]).fits(change.pod or who)
    grown.stage.picture.ledger.check()
