"""ReplicasConfiguration documents: what they say, what is refused, and what is told."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from springtide.engine.replicas.policy_limits import PolicyWindows
from springtide.engine.replicas.queries import value_query
from springtide.engine.replicas.setup import (
    asking,
    checking,
    course,
    export_rules,
    first_windows,
    label_rules,
    policies,
    policy_windows_after_reload,
    terms,
    windows_after_reload,
)
from springtide.engine.replicas.windows import Asked, Windows
from springtide.model.replicas.knobs import LEGACY, SAFE, Allocation, Publication, Rounding
from springtide.model.replicas.matcher import Matcher, MatchOperator
from springtide.model.replicas.policy import Fallback, RangeFunction, Wrapping
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.settings import ReplicaSettings, WindowSettings
from springtide.wire.crd.replica_lint import Warned, lint
from springtide.wire.crd.replicas import read_document, read_replicas
from springtide.wire.errors import InvalidDocument
from springtide.wire.origin import Origin

ROOT = Path(__file__).resolve().parents[4]
ORIGIN = Origin(source="replicas.yaml")

DEPLOYED: dict[str, Any] = {
    "controller": {"enabled": True},
    "replicas": {"min": 2, "max": 3000},
    "scaleUp": {"window": "60s"},
    "scaleDown": {"window": "60s"},
    "metrics": {
        "enabled": True,
        "pullInterval": "20s",
        "pullRetryInterval": "5s",
        "lookBackPermille": 5000,
    },
    "policies": {
        "cpu": {"thresholds": {"up": 600, "down": 500}},
        "memory": {"thresholds": {"up": 2576980377, "down": 1932735283}},
        "recentTasks": {},
    },
}


def document(**fields: Any) -> dict[str, Any]:
    """Return a document with these fields."""
    return {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "ReplicasConfiguration",
        "workload": {"name": "chat"},
        **fields,
    }


def read(**fields: Any) -> ReplicaSettings:
    """Return the settings of a document with these fields."""
    return read_replicas(document(**fields), origin=ORIGIN)


def custom(**fields: Any) -> dict[str, Any]:
    """Return the fields of a document with one policy of one's own."""
    return {"policies": {"custom": [{"metric": "rooms", **fields}]}}


def test_c_8_nothing_said_limits_nothing() -> None:
    """Covers R-5, R-16 in part."""
    settings = read()

    assert not settings.is_enabled
    assert settings.knobs == SAFE
    assert (settings.pull.interval_ms, settings.pull.retry_ms) == (180_000, 30_000)
    assert settings.pull.look_back_permille == 4500
    assert settings.windows == WindowSettings()
    assert settings.labels.is_led
    assert settings.limits == Limits()


def test_c_8_what_is_deployed() -> None:
    settings = read(**DEPLOYED)

    assert settings.is_enabled
    assert (settings.pull.interval_ms, settings.pull.retry_ms) == (20_000, 5_000)
    assert asking(settings).look_back_s == 50
    assert settings.windows == WindowSettings(up_ms=60_000, down_ms=60_000)
    assert settings.limits.least == 2
    assert settings.cancel_after_ms == 60_000


def test_built_in_policies_have_their_metrics_and_their_query() -> None:
    """Covers R-6 in part."""
    settings = read(**DEPLOYED, workload={"name": "chat", "service": "chat"})

    cpu, memory, tasks = policies(settings)

    assert (cpu.name, memory.name) == ("hpa_rule_cpu", "hpa_rule_memory")
    assert cpu.validity.is_zero_unknown
    assert not tasks.validity.is_zero_unknown
    assert value_query(memory, asking(settings)) == (
        "sum by (service_name) (last_over_time(hpa_rule_memory_bytes"
        '{hpa_target_api_version="apps/v1",hpa_target_kind="StatefulSet",hpa_target_name="chat",service_name="chat"}[50s]))'
    )


def test_matchers_are_texts_or_say_how_to_compare() -> None:
    selectors = {"zone": "b", "shard": {"op": "!~", "value": "x.*"}}

    settings = read(metrics={"selectors": selectors})

    assert settings.pull.selectors == (
        Matcher(label="zone", value="b"),
        Matcher(label="shard", value="x.*", operator=MatchOperator.NOT_REGEX),
    )


def test_functions_and_validity_are_read() -> None:
    fields = custom(
        functions=[{"name": "rate", "range": "1m"}],
        validity={"dataAgeMax": "90s", "emptyMeans": "zero", "zeroMeans": "unknown"},
    )

    (policy,) = read(**fields).custom

    assert policy.functions == (Wrapping(RangeFunction.RATE, 60),)
    assert policy.validity.data_age_max_ms == 90_000
    assert policy.validity.is_empty_zero
    assert policy.validity.is_zero_unknown


def test_a_policy_has_its_own_steps_and_windows() -> None:
    """Covers R-14."""
    fields = custom(stepMax={"up": 4, "down": 1}, window={"up": "60s", "down": "5m"})

    (policy,) = read(**fields).custom

    assert (policy.step_up_max, policy.step_down_max) == (4, 1)
    assert (policy.window_up_ms, policy.window_down_ms) == (60_000, 300_000)


def test_a_policy_has_a_number_for_when_it_fails() -> None:
    (policy,) = read(**custom(fallback={"replicas": 5})).custom

    assert policy.fallback == Fallback(replicas=5, failures=3)


def test_a_follower_s_status_has_an_age_and_older_fleets_have_no_followers() -> None:
    fresh, old = read(metrics={"statusMaxAge": "90s"}), read(profile="legacy")

    assert export_rules(fresh).status_age_ms_max == 90_000
    assert export_rules(fresh).linger_ms == 25_000
    assert not export_rules(old).knobs.do_followers_export
    assert export_rules(read(profile="legacy", followersExport=True)).knobs.do_followers_export


def test_an_outage_is_over_when_all_agreed_through_the_window_to_shrink() -> None:
    assert checking(read(scaleDown={"window": "90s"})).window_down_ms == 90_000
    assert not checking(read(mode="observe")).are_labels_led


def test_the_members_of_a_deployment_are_coordinated_if_asked_for() -> None:
    """Covers R-38 in part."""
    workload = {"name": "chat", "kind": "Deployment"}

    settings = read(workload=workload, deployment={"coordination": True})

    assert settings.is_coordinated
    assert settings.knobs.waits_for_drain
    assert not read(workload=workload).is_coordinated


def test_data_may_miss_three_exports() -> None:
    (policy,) = read(metrics={"exportInterval": "30s"}, **custom()).custom

    assert policy.validity.data_age_max_ms == 90_000


def test_a_profile_is_a_bundle_and_each_choice_can_be_made_alone() -> None:
    settings = read(profile="legacy", rounding="ceil", scaleUpPublish="early", preemptUp=True)

    assert settings.knobs == msgspec.structs.replace(
        LEGACY, rounding=Rounding.CEIL, publication=Publication.EARLY, preempt_up=True
    )


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "P-10": (
        custom(aggregation={"operator": "avg"}, thresholds={"up": 5}),
        "policies.custom[0].aggregation.operator",
        "write sum",
    ),
    "P-10 in a query": (
        custom(query="avg(rooms)", thresholds={"down": 5}),
        "policies.custom[0].query",
        "semantics: total",
    ),
    "P-15": (
        {"policies": {"cpu": {"thresholds": {"up": 600, "down": 700}}}},
        "policies.cpu.thresholds.down",
        "lower it",
    ),
    "a negative threshold": (
        custom(thresholds={"up": -1}),
        "policies.custom[0].thresholds.up",
        "correct it",
    ),
    "no name": ({"workload": {"name": ""}}, "workload.name", "write its name"),
    "another kind": ({"kind": "Deployment"}, "kind", "kind: ReplicasConfiguration"),
    "min above max": ({"replicas": {"min": 5, "max": 4}}, "replicas.min", "lower it"),
    "a negative bound": ({"replicas": {"min": -1}}, "replicas.min", "write 0 for no limit"),
    "a negative step": ({"scaleDown": {"stepMax": -1}}, "scaleDown.stepMax", "write 0"),
    "a negative step of a policy": (
        custom(stepMax={"down": -1}),
        "policies.custom[0].stepMax.down",
        "write 0 for no limit",
    ),
    "a fallback of no replicas": (
        custom(fallback={"replicas": -1}),
        "policies.custom[0].fallback.replicas",
        "write 0 for none",
    ),
    "a fallback at once": (
        custom(fallback={"failureThreshold": 0}),
        "policies.custom[0].fallback.failureThreshold",
        "write 1 to 1000",
    ),
    "no window of a policy": (
        custom(window={"up": "soon"}),
        "policies.custom[0].window.up",
        "write it like 30s",
    ),
    "coordination of a set that has an order": (
        {"deployment": {"coordination": True}},
        "deployment.coordination",
        "remove this",
    ),
    "no duration": ({"schedule": {"period": "60"}}, "schedule.period", "write it like 30s"),
    "a retry after the pull": (
        {"metrics": {"pullInterval": "5s", "pullRetryInterval": "6s"}},
        "metrics.pullRetryInterval",
        "shorten it",
    ),
    "a lease that is over at once": (
        {"controller": {"leaseTtl": "1s"}},
        "controller.leaseTtl",
        "write at least 2s",
    ),
    "a retry too soon": (
        {"metrics": {"pullRetryInterval": "10ms"}},
        "metrics.pullRetryInterval",
        "write at least 1s",
    ),
    "parts of a second": (
        {"metrics": {"exportInterval": "1500ms"}},
        "metrics.exportInterval",
        "write whole ones",
    ),
    "without its scope": (
        {"metrics": {"withoutSelectors": ["zone", "hpa_target_name"]}},
        "metrics.withoutSelectors[1]",
        "remove it here",
    ),
    "without its scope in a policy": (
        custom(selectors={"hpa_target_name": {"op": "=~", "value": ".*"}}),
        'policies.custom[0].selectors["hpa_target_name"]',
        "write the name of one",
    ),
    "twice": (
        {"policies": {"custom": [{"metric": "a"}, {"metric": "a"}]}},
        "policies.custom[1].metric",
        "remove one of the two",
    ),
    "no metric": ({"policies": {"custom": [{}]}}, "policies.custom[0].metric", "name it"),
    "by and without": (
        custom(aggregation={"operator": "sum", "by": ["a"], "without": ["b"]}),
        "policies.custom[0].aggregation.without",
        "remove one",
    ),
    "topk of none": (
        custom(aggregation={"operator": "topk"}),
        "policies.custom[0].aggregation.k",
        "write 1 or more",
    ),
    "values without a label": (
        custom(aggregation={"operator": "count_values"}),
        "policies.custom[0].aggregation.valueLabel",
        "name one",
    ),
    "a range of nothing": (
        custom(functions=[{"name": "rate", "range": "0s"}]),
        "policies.custom[0].functions[0].range",
        "write at least 1s",
    ),
    "more than all members": (
        custom(validity={"coverageDownPermille": 1001}),
        "policies.custom[0].validity.coverageDownPermille",
        "not from 0 to 1000",
    ),
    "an empty range of values": (
        custom(validity={"valueMin": 2, "valueMax": 1}),
        "policies.custom[0].validity.valueMin",
        "lower it",
    ),
    "a misspelt field": ({"replica": {}}, "replica", 'did you mean "replicas"'),
    "a misspelt comparison": (
        {"metrics": {"selectors": {"zone": {"op": "~", "value": "b"}}}},
        'metrics.selectors["zone"].op',
        'did you mean "=~"',
    ),
    "a misspelt field of a comparison": (
        {"metrics": {"selectors": {"zone": {"opp": "=", "value": "b"}}}},
        'metrics.selectors["zone"].opp',
        'did you mean "op"',
    ),
    "a number where a text belongs": (
        {"metrics": {"selectors": {"zone": 5}}},
        'metrics.selectors["zone"]',
        "put it in quotes",
    ),
    "a list": ({"policies": []}, "policies", "a map belongs"),
    "a misspelt function": (
        custom(functions=[{"name": "rates", "range": "1m"}]),
        "policies.custom[0].functions[0].name",
        'did you mean "rate"',
    ),
}


@pytest.mark.parametrize(("fields", "path", "remedy"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_with_its_field_and_the_remedy(
    fields: dict[str, Any], path: str, remedy: str
) -> None:
    """Covers R-11, R-41 in part."""
    with pytest.raises(InvalidDocument) as caught:
        read(**fields)

    assert caught.value.field == path
    assert remedy in caught.value.reason


def test_too_many_policies_are_refused() -> None:
    many = [{"metric": f"m{index}"} for index in range(257)]

    with pytest.raises(InvalidDocument, match="more than 256"):
        read(policies={"custom": many})


def test_a_mean_that_is_said_to_be_a_total_is_taken() -> None:
    fields = custom(aggregation={"operator": "avg"}, thresholds={"up": 5}, semantics="total")

    assert read(**fields).custom[0].up_per_replica == 5


WARNED: dict[str, tuple[dict[str, Any], str, str]] = {
    "R-15": (custom(type="counter"), "policies.custom[0].functions", "rate or increase"),
    "unchecked": (
        custom(query='x{hpa_target_name="chat"}'),
        "policies.custom[0].coverageQuery",
        "give coverageQuery and ageQuery",
    ),
    "no age": (
        custom(query='x{hpa_target_name="chat"}', coverageQuery="count(y)"),
        "policies.custom[0].ageQuery",
        "give coverageQuery",
    ),
    "unscoped": (
        custom(query="x", coverageQuery="count(y)", ageQuery="z"),
        "policies.custom[0].query",
        "name it",
    ),
    "a quantile of each": (
        custom(
            query='histogram_quantile(0.9, rate(x_bucket{hpa_target_name="chat"}[1m]))',
            coverageQuery="count(y)",
            ageQuery="z",
        ),
        "policies.custom[0].query",
        "join the buckets first",
    ),
    "a short period": (
        {"controller": {"enabled": True}, "schedule": {"period": "60s"}},
        "schedule.period",
        "write 65s or more",
    ),
    "a window within two pulls": (
        {"scaleDown": {"window": "60s"}, "metrics": {"pullInterval": "90s"}},
        "scaleDown.window",
        "the next comes 90s later; write more",
    ),
    "a short grace": (
        {"controller": {"stopGrace": "90s"}, "schedule": {"startDelay": "60s", "period": "60s"}},
        "controller.stopGrace",
        "write 120s or more",
    ),
    "a status that is old before it is confirmed": (
        {
            "store": {"etcd": {"endpoints": ["http://etcd:2379"]}},
            "metrics": {"statusMaxAge": "20s"},
        },
        "metrics.statusMaxAge",
        "confirmed every 20s, so replicas would not be shown all the time; write more",
    ),
}


@pytest.mark.parametrize(("fields", "path", "remedy"), WARNED.values(), ids=WARNED)
def test_what_is_rarely_meant_is_told(fields: dict[str, Any], path: str, remedy: str) -> None:
    """Covers R-15."""
    found = lint(read_document(document(**fields), origin=ORIGIN), origin=ORIGIN)

    assert [each.field for each in found] == [path]
    assert remedy in found[0].words


def test_a_quantile_of_joined_buckets_is_careful() -> None:
    joined = custom(
        query='histogram_quantile(0.9, sum by (le) (rate(x_bucket{hpa_target_name="chat"}[1m])))',
        coverageQuery="count(y)",
        ageQuery="z",
    )

    assert lint(read_document(document(**joined), origin=ORIGIN), origin=ORIGIN) == ()


def test_c_8_the_deployment_that_is_shipped_has_careful_values() -> None:
    """Covers R-16."""
    text = (ROOT / "deploy/replicas/configuration.yaml").read_text("utf-8")
    value = yaml.safe_load(text)

    settings = read_replicas(value, origin=ORIGIN)

    assert settings.is_enabled
    assert settings.limits.replicas_min == 2
    assert (settings.pull.interval_ms, settings.pull.retry_ms) == (20_000, 5_000)
    assert settings.pull.look_back_permille == 5000
    assert (settings.windows.up_ms, settings.windows.down_ms) == (60_000, 60_000)
    assert lint(read_document(value, origin=ORIGIN), origin=ORIGIN) == ()


def test_the_example_of_the_page_is_read_and_careful() -> None:
    page = (ROOT / "docs/replicas.md").read_text("utf-8")
    _, _, rest = page.partition("```yaml\n")
    example = yaml.safe_load(rest.partition("```")[0])

    settings = read_replicas(example, origin=ORIGIN)

    assert settings.is_enabled
    assert lint(read_document(example, origin=ORIGIN), origin=ORIGIN) == ()


def test_nothing_is_told_of_a_careful_document() -> None:
    careful = custom(type="counter", functions=[{"name": "rate", "range": "1m"}])
    grace = {"controller": {"stopGrace": "120s"}, "schedule": {"startDelay": "1m", "period": "1m"}}

    told: tuple[Warned, ...] = ()
    for fields in (DEPLOYED, careful, grace):
        told += lint(read_document(document(**fields), origin=ORIGIN), origin=ORIGIN)

    assert told == ()


def test_the_parts_of_the_engine_take_what_is_theirs() -> None:
    settings = read(**DEPLOYED, schedule={"startDelay": "60s"}, profile="legacy")
    hasty = read(controller={"leaseTtl": "3s"})

    assert course(settings).schedule == Schedule(start_delay_ms=60_000)
    assert terms(settings).pull_interval_ms == 20_000
    assert (terms(settings).ttl_ms, terms(settings).safety_ms) == (15_000, 5_000)
    assert (terms(hasty).ttl_ms, terms(hasty).renewed_ms_max) == (3_000, 2_000)
    assert label_rules(settings, has_ordinals=False).slack == 1
    assert label_rules(settings, has_ordinals=True).slack == 0


def test_l_20_who_only_observes_leads_no_labels() -> None:
    """Covers R-42 in part."""
    assert not label_rules(read(mode="observe"), has_ordinals=True).is_led


def test_policies_own_windows_are_kept_unless_thresholds_change() -> None:
    before, other = read(**DEPLOYED), read(**DEPLOYED, preemptUp=False)
    changed = read(**{**DEPLOYED, "policies": {"cpu": {"thresholds": {"up": 700}}}})
    windows = PolicyWindows(ups={"hpa_rule_cpu": Windows(up_ms=60_000, asked=(Asked(0, 4),))})

    assert policy_windows_after_reload(windows, before, other) == windows
    assert policy_windows_after_reload(windows, before, changed) == PolicyWindows()


def test_where_all_are_to_drain_one_stays_expected() -> None:
    settings = read(mode="drain_all", profile="legacy")

    rules = label_rules(settings, has_ordinals=True)

    assert rules.is_led
    assert rules.do_all_drain
    assert course(settings).limits.least == 1
    assert course(read(profile="legacy")).limits.least == 0


def test_members_may_keep_their_numbers() -> None:
    assert read().knobs.allocation is Allocation.SORTED
    assert read(indexAllocation="allocated").knobs.allocation is Allocation.ALLOCATED


def test_members_that_meet_in_a_cluster_keep_no_numbers() -> None:
    """Covers R-33 in part."""
    store = {"kubernetes": {"selector": "app=chat"}}

    with pytest.raises(InvalidDocument, match=r"indexAllocation.*store\.etcd"):
        read(indexAllocation="allocated", store=store)
    etcd = {"etcd": {"endpoints": ["http://etcd:2379"]}}
    assert read(indexAllocation="allocated", store=etcd).knobs.allocation is Allocation.ALLOCATED
    assert read(store=store).knobs.allocation is Allocation.SORTED


def test_c_13_windows_are_kept_unless_thresholds_change() -> None:
    before, other = read(**DEPLOYED), read(**DEPLOYED, preemptUp=False)
    changed = read(**{**DEPLOYED, "policies": {"cpu": {"thresholds": {"up": 700}}}})
    windows = first_windows(before, now_ms=0, expect=10)

    kept = windows_after_reload(windows, before, other, now_ms=50, expect=12)
    fresh = windows_after_reload(windows, before, changed, now_ms=50, expect=12)

    assert kept.asked == (Asked(0, 10),)
    assert fresh.asked == (Asked(50, 12),)


def test_a_retry_that_nobody_wrote_is_no_later_than_the_next_pull() -> None:
    settings = read_replicas(document(metrics={"pullInterval": "20s"}), origin=ORIGIN)

    assert settings.pull.retry_ms == 20_000
