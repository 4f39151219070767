"""Whatever happens to nodes and profiles, the end depends on nothing but how they are then."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.base.taints import Taint
from springtide.engine.profiles.events import own_taint
from springtide.engine.profiles.verification import Verification
from springtide.model.profile import MISMATCH_TAINT
from tests.profiles import CARDS, POOL
from tests.verifying import NOW_S, World, a_node, cards

THEIRS = Taint(key=MISMATCH_TAINT, effect="NoExecute", value="a10")
Act = Callable[[World], object]

NAMES = st.sampled_from(["n1", "n2", "n3"])
PROFILES = st.sampled_from(["a10", "b10"])


def put(name: str, count: int, text: str, is_ready: bool, is_selected: bool) -> Act:  # noqa: FBT001
    def act(world: World) -> None:
        known = world.nodes.get(name)
        taints = (THEIRS,) if known is None else known.taints
        world.put(
            a_node(
                name,
                cards(count),
                text=text,
                labels=POOL if is_selected else {},
                taints=taints,
                is_ready=is_ready,
            )
        )

    return act


def promise(name: str, count: int, consequence: str) -> Act:
    spec: dict[str, Any] = {"devices": [{**CARDS, "count": count}], "onMismatch": consequence}
    return lambda world: world.promise(name, **spec)


def drop(name: str) -> Act:
    return lambda world: world.drop(name) if name in world.nodes else None


def withdraw(name: str) -> Act:
    return lambda world: world.withdraw(name) if name in world.profiles else None


def settle(world: World) -> None:
    world.settle()


ACTS = st.one_of(
    st.builds(
        put, NAMES, st.integers(0, 3), st.sampled_from(["", "", "[{"]), st.booleans(), st.booleans()
    ),
    st.builds(
        promise, PROFILES, st.integers(0, 3), st.sampled_from(["Quarantine", "Report", "Adopt"])
    ),
    st.builds(drop, NAMES),
    st.builds(withdraw, PROFILES),
    st.just(settle),
)


@settings(deadline=None)
@given(st.lists(ACTS, max_size=12))
def test_who_starts_anew_finds_everything_as_it_should_be(acts: list[Act]) -> None:
    world = World()
    for act in acts:
        act(world)
    world.settle()

    anew: Verification = world.another()

    assert anew.tick(now_s=NOW_S + 200) == ()
    assert all(THEIRS in each.taints for each in world.nodes.values())


@settings(deadline=None)
@given(st.lists(ACTS, max_size=12))
def test_a_node_is_kept_from_pods_only_while_a_profile_says_so(acts: list[Act]) -> None:
    world = World()
    for act in acts:
        act(world)
    world.settle()

    reasons = {each.node for name in world.profiles for each in world.status(name).mismatches}
    tainted = {name for name, each in world.nodes.items() if own_taint(each.taints) is not None}

    # A node that is not ready, or whose profile cannot be used now, keeps what it has.
    unjudged = {name for name, each in world.nodes.items() if not each.is_ready}
    unusable = any(world.said(name)["Valid"][0] == "False" for name in world.profiles)
    assert tainted <= reasons | unjudged or unusable
