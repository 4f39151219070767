"""Extenders in turn: order, chaining, failures, and that nobody is asked twice."""

from collections.abc import Callable, Sequence

from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.extenders import (
    FAILURE,
    RULE,
    Extenders,
    Failed,
    Filtered,
    Question,
)
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.tables import Tables
from springtide.model.ledger import Holding, Ledger
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from tests.builders import node, pod

Say = Callable[[Question], Filtered | Failed]


class Scripted:
    """An extender in this process, which says what it is told to and remembers what it was asked."""

    def __init__(
        self, say: Say, *, name: str = "e", is_ignorable: bool = False, resource: str = ""
    ) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.name = name
        self.is_ignorable = is_ignorable
        self._say = say
        self._resource = resource

    def is_interested(self, spec: PodSpec) -> bool:
        """Return whether a container requests the resource, if there is one."""
        names = {name for container in spec.containers for name, _ in container.requests}
        return not self._resource or self._resource in names

    def filter(self, questions: Sequence[Question]) -> list[Filtered | Failed]:
        """Answer as told."""
        self.asked += [question.nodes for question in questions]
        return [self._say(question) for question in questions]


def keeping(*names: str) -> Say:
    return lambda question: Filtered(kept=[name for name in question.nodes if name in names])


def failing(text: str = "boom") -> Say:
    return lambda _: Failed(text=text)


def classified(of: Pod | None = None) -> PodClass:
    return Classifier({}, appearance=lambda each: f"looks of {each.name}").classify(of or pod())


def asked(members: Sequence[Scripted], *nodes: str) -> list[Refusal | None]:
    return Extenders(members).answers(classified(), nodes)


def texts(answers: Sequence[Refusal | None]) -> list[str]:
    return ["" if each is None else each.text for each in answers]


def test_each_sees_what_the_one_before_it_kept() -> None:
    first, second = Scripted(keeping("a", "b"), name="1"), Scripted(keeping("b"), name="2")

    answers = asked([first, second], "a", "b", "c")

    assert second.asked == [("a", "b")]
    assert texts(answers) == [
        "node(s) filtered out by extender 2",
        "",
        "node(s) filtered out by extender 1",
    ]


def test_nobody_is_asked_about_no_nodes() -> None:
    second = Scripted(keeping("a"))

    answers = asked([Scripted(keeping()), second], "a")

    assert second.asked == []
    assert answers[0] is not None


def test_those_that_may_fail_are_asked_last() -> None:
    order: list[str] = []

    def noting(name: str) -> Say:
        def say(question: Question) -> Filtered:
            order.append(name)
            return Filtered(kept=question.nodes)

        return say

    asked(
        [
            Scripted(noting("a"), is_ignorable=True),
            Scripted(noting("b")),
            Scripted(noting("c"), is_ignorable=True),
            Scripted(noting("d")),
        ],
        "n",
    )

    assert order == ["b", "d", "a", "c"]


def test_the_order_of_an_answer_does_not_count() -> None:
    second = Scripted(keeping("a", "b"))

    asked([Scripted(lambda _: Filtered(kept=["b", "a"])), second], "a", "b")

    assert second.asked == [("a", "b")]


def test_reasons_are_kept_and_the_unresolvable_one_wins() -> None:
    answer = Filtered(
        kept=["d"],
        failed={"a": "no licence", "b": "quota", "d": "kept all the same"},
        unresolvable={"b": "wrong rack", "c": ""},
    )

    answers = asked([Scripted(lambda _: answer, name="lic")], "a", "b", "c", "d")

    assert answers == [
        Refusal(rule=RULE, reasons=("no licence",), detail="says extender lic"),
        Refusal(
            rule=RULE, reasons=("wrong rack",), is_unresolvable=True, detail="says extender lic"
        ),
        Refusal(rule=RULE, reasons=("node(s) filtered out by extender lic",), is_unresolvable=True),
        None,
    ]


def test_a_failure_that_may_be_ignored_keeps_the_nodes_and_is_counted() -> None:
    failed, last = Scripted(failing(), is_ignorable=True), Scripted(keeping("a"), is_ignorable=True)
    extenders = Extenders([failed, last])

    answers = extenders.answers(classified(), ["a", "b"])

    assert last.asked == [("a", "b")]
    assert texts(answers) == ["", "node(s) filtered out by extender e"]
    assert extenders.failures[failed] == {Failed(text="boom"): 1}
    assert not extenders.failures[last]


def test_any_other_failure_ends_the_evaluation_of_such_pods_only() -> None:
    def say(question: Question) -> Filtered | Failed:
        return Failed(text="boom") if "bad" in question.appearance else Filtered(kept=["a"])

    last = Scripted(keeping("a"))
    extenders = Extenders([Scripted(say, name="first"), last])

    bad = extenders.answers(classified(pod("bad")), ["a", "b"])
    again = extenders.answers(classified(pod("bad")), ["c"])
    good = extenders.answers(classified(pod("good")), ["a"])

    failure = Refusal(rule=FAILURE, reasons=("boom",), detail="from extender first")
    assert bad == [failure, failure]
    assert again == [failure]
    assert good == [None]
    assert last.asked == [("a",)]


def test_a_node_that_was_not_asked_about_fails_the_call() -> None:
    answers = asked([Scripted(lambda _: Filtered(kept=["a", "x"]), name="http://e")], "a")

    text = (
        'extender "http://e" claims a filtered node "x" which is not found in the input node list'
    )
    assert answers == [Refusal(rule=FAILURE, reasons=(text,))]


def test_a_node_that_comes_back_twice_fails_the_call() -> None:
    answers = asked([Scripted(lambda _: Filtered(kept=["a", "a"]), name="http://e")], "a")

    assert texts(answers) == ['extender "http://e" returns the node "a" twice']


def test_who_is_not_interested_is_not_asked() -> None:
    extender = Scripted(keeping(), resource="example.com/licence")

    answers = asked([extender], "a")

    assert answers == [None]
    assert extender.asked == []


def test_every_pair_of_pod_and_node_is_asked_about_once() -> None:
    extender = Scripted(keeping("a", "c"))
    extenders = Extenders([extender])

    extenders.learn([(classified(pod("p")), ["a", "b"]), (classified(pod("q")), ["a"])])
    answers = extenders.answers(classified(pod("p")), ["c", "b", "a", "b"])

    assert extender.asked == [("a", "b"), ("a",), ("c",)]
    refused = "node(s) filtered out by extender e"
    assert texts(answers) == ["", refused, "", refused]


# In the tables


def held(of: Tables, name: str, *, cpu: int = 4) -> Holding:
    return Holding(
        uid=f"on {name}", row=of.ledger.rows[name], amounts=(("cpu", cpu * 1000), ("pods", 1))
    )


def tables(extender: Scripted, *names: str) -> Tables:
    ledger = Ledger()
    for name in names:
        ledger.add_node(node(name, cpu=4, pods=10))
    return Tables(ledger, Framework(), {}, extenders=Extenders([extender]))


def test_only_nodes_that_nobody_else_refuses_are_asked_about() -> None:
    extender = Scripted(keeping("a"))
    of = tables(extender, "a", "b", "c")
    of.ledger.hold(held(of, "b"))

    candidates = of.candidates(classified(pod(cpu=2)))

    assert candidates.tolist() == [0]
    assert extender.asked == [("a", "c")]
    assert of.refusal(classified(pod(cpu=2)), 1).text == "Insufficient cpu"


def test_what_was_said_of_a_node_stands_whatever_is_placed_on_it() -> None:
    extender = Scripted(keeping("a"))
    of = tables(extender, "a", "b")
    wanted = classified(pod(cpu=1))
    before = of.candidates(wanted).tolist()

    for name in ("a", "b"):
        of.ledger.hold(held(of, name, cpu=1))
    after = of.candidates(wanted).tolist()

    assert before == after == [0]
    assert extender.asked == [("a", "b")]


def test_room_that_is_freed_is_asked_about_then() -> None:
    extender = Scripted(keeping("b"))
    of = tables(extender, "a", "b")
    of.ledger.hold(held(of, "b"))
    wanted = classified(pod(cpu=1))
    before = of.candidates(wanted).tolist()

    of.ledger.release("on b")

    assert before == []
    assert of.candidates(wanted).tolist() == [1]
    assert extender.asked == [("a",), ("b",)]


def test_copies_of_a_template_are_one_node_and_another_node_in_their_row_is_not() -> None:
    extender = Scripted(keeping("template"))
    of = tables(extender)
    overlay = Overlay(of.ledger)
    wanted = classified(pod(cpu=1))

    with overlay.trial():
        for name in ("new-1", "new-2"):
            overlay.add_node(node("template", cpu=4, pods=10), name=name)
        copies = of.candidates(wanted).tolist()
    with overlay.trial():
        overlay.add_node(node("other", cpu=4, pods=10))
        other = of.candidates(wanted).tolist()

    assert (copies, other) == ([0, 1], [])
    assert extender.asked == [("template",), ("other",)]


def test_classes_are_asked_about_together() -> None:
    extender = Scripted(keeping("a"))
    of = tables(extender, "a")
    classes = [classified(pod("p", cpu=1)), classified(pod("q", cpu=2))]

    of.ask_ahead(classes)
    placements = [of.place(each, 0) for each in classes]

    assert extender.asked == [("a",), ("a",)]
    assert all(isinstance(each, Placement) for each in placements)
