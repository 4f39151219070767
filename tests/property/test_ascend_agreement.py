"""Laws of the Ascend family over generated nodes and asks.

Vector and exact verdicts agree: where `evaluate` is exact, `place` says the same in the same words;
where it is not, it never refuses what `place` places. A placement never takes what is not there.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.engine.placement.score import Weights
from springtide.model.device import Allocation, Device, Inventory, Share
from springtide.model.device_columns import DeviceColumns
from springtide.model.refusal import Refusal
from springtide.vendors.ascend import FAMILY, AscendAsk
from springtide.vendors.ascend.ask import Request, Wanted
from springtide.vendors.ascend.config import DEFAULT_CHIPS
from tests.reference import ascend as reference

CHIPS = {chip.word: chip for chip in DEFAULT_CHIPS}
WORDS = ("Ascend910B4", "Ascend910C", "Ascend310P")
POLICIES = ("spread", "binpack", "mutex", "binpack,mutex")
Made = tuple[Inventory, list[Share]]

ids = st.none() | st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3).map(tuple)


@st.composite
def requests(draw: st.DrawFn, word: str) -> Request:
    return Request(
        chip=CHIPS[word],
        count=draw(st.sampled_from([1, 1, 2, 2, 3, 4])),
        memory_mib=draw(st.sampled_from([0, 8192, 16384, 32768])),
        cores=draw(st.sampled_from([0, 0, 10, 50, 100, 120])),
        use_ids=draw(st.none() | ids),
        avoid_ids=draw(st.none() | ids),
    )


@st.composite
def containers(draw: st.DrawFn) -> Wanted | None:
    words = draw(st.lists(st.sampled_from(WORDS), max_size=2, unique=True))
    return tuple(draw(requests(word)) for word in words) or None


@st.composite
def asks(draw: st.DrawFn) -> AscendAsk:
    wanted = draw(st.lists(containers(), min_size=1, max_size=3).filter(any))
    return AscendAsk(
        requests=tuple(wanted),
        init_count=draw(st.integers(0, len(wanted))),
        node_policy=draw(st.sampled_from(["binpack", "spread"])),
        device_policy=draw(st.sampled_from(POLICIES)),
        weights=draw(st.sampled_from([Weights(), Weights(memory=3)])),
        numa_bind=draw(st.booleans()),
        is_soft=draw(st.integers(0, 3)) == 0,
    )


@st.composite
def nodes(draw: st.DrawFn) -> Made:
    words = draw(st.lists(st.sampled_from([*WORDS, "Ascend910B4-1"]), min_size=1, max_size=2))
    count = draw(st.integers(1, 6))
    has_networks = draw(st.booleans())
    networks = st.sampled_from([0, 1] if has_networks else [None, 0])
    indices = st.just(None) | st.integers(0, 5)
    mode = draw(st.sampled_from(["hami-core", ""]))
    devices = tuple(
        Device(
            id="abcdef"[position],
            index=draw(indices) or position,
            slots=draw(st.sampled_from([1, 4, 4, 7])),
            memory_mib=draw(st.sampled_from([32768, 65536])),
            cores=draw(st.sampled_from([0, 20, 100])),
            type=draw(st.sampled_from(words)),
            numa=draw(st.integers(0, 1)),
            mode=mode,
            network=draw(networks),
            is_healthy=draw(st.integers(0, 5)) > 0,
        )
        for position in range(count)
    )
    held = [draw(shares(position)) for position in range(count) if draw(st.booleans())]
    return Inventory("Ascend", devices), held


@st.composite
def shares(draw: st.DrawFn, position: int) -> Share:
    return Share(
        position=position,
        slots=draw(st.sampled_from([0, 1, 3])),
        memory_mib=draw(st.sampled_from([0, 8192, 32768])),
        cores=draw(st.sampled_from([0, 20, 50, 100])),
    )


def columns_of(made: list[Made]) -> DeviceColumns:
    columns = DeviceColumns("Ascend", len(made))
    for row, (inventory, held) in enumerate(made):
        columns.set_row(row, inventory)
        columns.take(row, held)
    return columns


@given(st.lists(nodes(), min_size=1, max_size=4), asks())
def test_vector_and_exact_verdicts_agree(made: list[Made], ask: AscendAsk) -> None:
    columns = columns_of(made)

    verdicts = FAMILY.evaluate(ask, columns, np.arange(len(made)))

    for row in range(len(made)):
        view = columns.view(row)
        assert view is not None
        answer = FAMILY.place(ask, view)
        if isinstance(answer, Allocation):
            assert verdicts.fits[row]
        elif verdicts.is_exact[row]:
            assert not verdicts.fits[row]
            assert FAMILY.refusal(ask, verdicts.codes[row]) == answer


def scores(ask: AscendAsk, columns: DeviceColumns, rows: list[int]) -> list[float]:
    loads = columns.load.take(rows)
    found: list[float] = FAMILY.scores(ask, columns, np.array(rows), loads=loads).tolist()
    return found


@given(nodes(), asks())
def test_a_row_is_judged_alike_alone_and_among_others(made: Made, ask: AscendAsk) -> None:
    columns = columns_of([made, made, made])

    alone = FAMILY.evaluate(ask, columns, np.array([1]))
    among = FAMILY.evaluate(ask, columns, np.arange(3))

    assert alone.codes[0].tolist() == among.codes[1].tolist()
    assert (alone.fits[0], alone.is_exact[0]) == (among.fits[1], among.is_exact[1])
    assert scores(ask, columns, [1]) == scores(ask, columns, [0, 1, 2])[1:2]


@given(nodes(), asks())
def test_placements_equal_a_naive_reference(made: Made, ask: AscendAsk) -> None:
    view = columns_of([made]).view(0)
    assert view is not None

    expected = reference.verdict(ask, view)

    answer = FAMILY.place(ask, view)
    if isinstance(answer, Refusal):
        assert answer.text == expected
        return
    given_to = [
        [(grant.device_id, grant.memory_mib, grant.cores) for grant in container]
        for container in answer.containers
    ]
    assert given_to == expected


@given(nodes(), asks())
def test_a_placement_takes_no_more_than_is_there(made: Made, ask: AscendAsk) -> None:
    view = columns_of([made]).view(0)
    assert view is not None
    answer = FAMILY.place(ask, view)

    if isinstance(answer, Refusal):
        assert answer.reasons
        return
    after = view.plus(FAMILY.shares(answer, view.inventory))
    for device, before, use in zip(view.inventory.devices, view.uses, after.uses, strict=True):
        assert use.memory_mib <= max(device.memory_mib, before.memory_mib)
        assert use.slots <= max(device.slots, before.slots)


@given(nodes(), asks())
def test_chips_that_form_modules_are_given_in_whole_modules(made: Made, ask: AscendAsk) -> None:
    view = columns_of([made]).view(0)
    assert view is not None
    index_of = {device.id: device.index for device in view.inventory.devices}
    answer = FAMILY.place(ask, view)

    if not isinstance(answer, Allocation):
        return
    for wanted, grants in zip(ask.requests, answer.containers, strict=True):
        for request in wanted or ():
            own = [
                index_of[each.device_id] // 2 for each in grants if each.type == request.chip.word
            ]
            assert len(own) == request.count
            if request.needs_pairs:
                assert all(own.count(module) == 2 for module in own)


@settings(max_examples=300)
@given(nodes(), asks())
def test_columns_are_filled_as_by_one_pod_after_the_other(made: Made, ask: AscendAsk) -> None:
    columns = columns_of([made])
    view = columns.view(0)
    assert view is not None

    filling = FAMILY.fill(ask, columns, np.array([0]))

    fits = FAMILY.evaluate(ask, columns, np.array([0])).fits[0]
    if not (fits and filling.is_known[0]):
        return
    taken = 0
    while isinstance(answer := FAMILY.place(ask, view), Allocation):
        view = view.plus(FAMILY.shares(answer, view.inventory))
        taken += 1
    assert filling.counts.tolist() == [taken]
    assert filling.after.view(0) == view
