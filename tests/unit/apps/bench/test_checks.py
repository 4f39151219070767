"""Checks against what is published: what holds, what does not, and what does not apply."""

import pytest

from springtide.apps.bench import checks
from springtide.apps.bench.checks import Terms
from springtide.apps.bench.published import GPUS, MEANS, POLICIES, within
from springtide.apps.bench.spreads import spreads
from tests.benches import done, reported

TERMS = Terms(seeds=range(42, 52), tune=1.3, gpus=GPUS)


def test_a_mean_within_its_tolerance_passes() -> None:
    found = list(checks.means(spreads([reported("fgd", at_100=95.0, at_130=95.5)]), terms=TERMS))

    assert [(each.name, each.state) for each in found] == [
        ("mean allocation of fgd on default", "passed")
    ]
    assert found[0].text == (
        "95.00 at 100% of arrivals, published 95.23 ± 0.25; "
        "95.50 at 130% of arrivals, published 95.39 ± 0.25"
    )


@pytest.mark.parametrize(
    ("at_100", "at_130"), [(94.9, 95.4), (95.2, 95.7), (None, 95.4), (95.2, None)]
)
def test_one_mean_out_of_tolerance_or_missing_fails(
    at_100: float | None, at_130: float | None
) -> None:
    found = list(
        checks.means(spreads([reported("fgd", at_100=at_100, at_130=at_130)]), terms=TERMS)
    )

    assert [each.state for each in found] == ["failed"]


def test_policies_differ_in_how_far_they_spread() -> None:
    off = [reported("gpu-packing", at_100=92.3, at_130=92.5), reported("bestfit", at_100=93.4)]

    found = list(checks.means(spreads(off), terms=TERMS))

    assert [each.state for each in found] == ["passed", "failed"]


def test_nothing_is_said_of_what_nobody_published() -> None:
    runs = [reported("first-fit", at_100=1.0), reported("fgd", trace="mine", at_100=1.0)]

    assert list(checks.means(spreads(runs), terms=TERMS)) == []


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        (Terms(seeds=range(42, 44), tune=1.3, gpus=GPUS), "published for 10 seeds"),
        (Terms(seeds=range(42, 52), tune=1.0, gpus=GPUS), "published for --tune 1.3"),
        (Terms(seeds=range(42, 52), tune=1.3, gpus=12), "these nodes have 12"),
    ],
)
def test_means_on_other_terms_are_skipped_and_say_why(terms: Terms, why: str) -> None:
    found = list(checks.means(spreads([reported("fgd", at_100=1.0)]), terms=terms))

    assert [each.state for each in found] == ["skipped"]
    assert why in found[0].text


def test_a_violation_fails_the_invariants_of_its_trace() -> None:
    runs = [
        done(reported("fgd")),
        done(reported("bestfit"), violation="arrival 7: too much"),
        done(reported("fgd", trace="other")),
    ]

    found = list(checks.invariants(runs))

    assert [(each.name, each.state) for each in found] == [
        ("invariants on default", "failed"),
        ("invariants on other", "passed"),
    ]
    assert found[0].text == "1 of 2 runs break one, first bestfit: arrival 7: too much"


@pytest.mark.parametrize(("mine", "state"), [(94.5, "passed"), (94.49, "failed")])
def test_ours_has_to_allocate_as_much_as_first_fit(mine: float, state: str) -> None:
    runs = [reported("prod", at_130=mine), reported("first-fit", at_130=94.5)]

    found = list(checks.ours(spreads(runs)))

    assert [each.state for each in found] == [state]


def test_ours_is_not_compared_where_it_did_not_run() -> None:
    found = list(checks.ours(spreads([reported("first-fit", at_130=94.5)])))

    assert [(each.state, each.text) for each in found] == [
        ("skipped", "both have to run: --policy prod,first-fit")
    ]


def test_every_published_row_is_whole() -> None:
    rows = [table for tables in MEANS.values() for table in tables.values()]

    assert len(rows) == 2 * 17
    assert {len(row) for row in rows} == {len(POLICIES)}
    assert all(70 < value < 98 for row in rows for value in row)


def test_more_arrivals_never_allocate_less() -> None:
    for trace, row in MEANS[100].items():
        assert all(low < high for low, high in zip(row, MEANS[130][trace], strict=True))


def test_a_published_mean_is_found_by_its_names() -> None:
    found = within("multigpu50", "fgd", 130)

    assert found is not None
    assert (found.mean_pct, found.tolerance_pct) == (97.18, 0.25)
    assert within("multigpu50", "fgd", 90) is None
    assert within("multigpu51", "fgd", 130) is None
    assert within("multigpu50", "hami-spread", 130) is None
