"""Scheduler extenders: who else has a say in where a pod goes, and what they have said.

After the framework and the devices, every extender that is interested in a pod is given the nodes
that are left, those that may fail last, and each sees what the one before it kept. An extender that
fails is passed over if it is ignorable; if not, the pod is not placed at all, and its error is the
reason.

What an extender says depends on the pod and the node alone, because that is all that it is sent. So it
is asked once for each pair, and copies of a template are one node. How it is asked is the caller's.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from springtide.engine.placement.classes import PodClass
from springtide.model.pod import PodSpec
from springtide.model.refusal import Refusal

RULE: Final = "ExtenderFilter"
"""The rule of a refusal that an extender gave for a node."""
FAILURE: Final = "SchedulerError"
"""The rule of a refusal that stands for a failed extender: kube-scheduler's reason for such a pod."""
ANSWERS_MAX: Final = 1 << 21


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a filter call asks: which of these nodes would do for pods that look like this."""

    appearance: str
    nodes: tuple[str, ...]


class Filtered(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that an extender keeps, and why it does not keep others, where it says so.

    Of a node in both maps, eviction does not help. A kept node counts as kept whatever the maps say.
    """

    kept: Sequence[str]
    failed: Mapping[str, str] = {}
    unresolvable: Mapping[str, str] = {}


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """The call as a whole failed. `is_answer`: the extender was reached, and itself says so."""

    text: str
    is_answer: bool = False


class FilterExtender(Protocol):
    """One extender that filters nodes; its name is what kube-scheduler calls it, its address."""

    @property
    def name(self) -> str:
        """Return the name."""
        ...

    @property
    def is_ignorable(self) -> bool:
        """Return whether pods may be placed although it fails."""
        ...

    def is_interested(self, spec: PodSpec) -> bool:
        """Return whether it has a say in pods of this spec."""
        ...

    def filter(self, questions: Sequence[Question]) -> Sequence[Filtered | Failed]:
        """Return the answer to each of these questions, none of which depends on another."""
        ...


Asked = Sequence[tuple[PodClass, Sequence[str]]]
"""Classes of pods, each with the names of nodes."""


class Extenders:
    """The extenders in the order in which they are called, and their answers so far.

    `failures` counts for each the questions that it failed to answer, by how.
    """

    def __init__(self, members: Iterable[FilterExtender]) -> None:
        self.members = tuple(sorted(members, key=lambda each: each.is_ignorable))
        self.failures: dict[FilterExtender, Counter[Failed]] = {
            each: Counter() for each in self.members
        }
        self._answers: dict[tuple[str, str], Refusal | None] = {}
        self._failed: dict[str, Refusal] = {}

    def answers(self, pod_class: PodClass, nodes: Sequence[str]) -> list[Refusal | None]:
        """Return why each of these nodes is refused to the class, None where it is not."""
        self.learn([(pod_class, nodes)])
        appearance = pod_class.appearance
        failed = self._failed.get(appearance)
        if failed is not None:
            return [failed] * len(nodes)
        return [self._answers[appearance, node] for node in nodes]

    def learn(self, asked: Asked) -> None:
        """Ask whatever is not known yet of all of this, so that `answers` need not."""
        left = [(pod_class, self._unknown(pod_class, nodes)) for pod_class, nodes in asked]
        count = sum(len(nodes) for _, nodes in left)
        if not count:
            return
        if count + len(self._answers) > ANSWERS_MAX:
            self._answers.clear()
            left = [(pod_class, self._unknown(pod_class, nodes)) for pod_class, nodes in asked]
        for member in self.members:
            left = self._through(member, left)
        for pod_class, nodes in left:
            for node in nodes:
                self._answers[pod_class.appearance, node] = None

    def _unknown(self, pod_class: PodClass, nodes: Iterable[str]) -> tuple[str, ...]:
        appearance = pod_class.appearance
        if appearance in self._failed:
            return ()
        answers = self._answers
        return tuple(dict.fromkeys(node for node in nodes if (appearance, node) not in answers))

    def _through(
        self, member: FilterExtender, left: Sequence[tuple[PodClass, tuple[str, ...]]]
    ) -> list[tuple[PodClass, tuple[str, ...]]]:
        """Return what one extender leaves of the nodes of each class."""
        asked = [
            index
            for index, (pod_class, nodes) in enumerate(left)
            if nodes and member.is_interested(pod_class.framework.spec)
        ]
        questions = [
            Question(appearance=pod_class.appearance, nodes=nodes)
            for pod_class, nodes in (left[index] for index in asked)
        ]
        through = list(left)
        for index, question, answer in zip(
            asked, questions, member.filter(questions) if questions else (), strict=True
        ):
            through[index] = (left[index][0], self._taken(member, question, answer))
        return through

    def _taken(
        self, member: FilterExtender, question: Question, answer: Filtered | Failed
    ) -> tuple[str, ...]:
        """Take in an answer and return the nodes that are left, in the order of the question."""
        answer = _checked(member.name, question, answer)
        if isinstance(answer, Failed):
            return self._without(member, question, answer)
        kept = frozenset(answer.kept)
        for node in question.nodes:
            if node not in kept:
                self._answers[question.appearance, node] = _refusal(member.name, node, answer)
        return tuple(node for node in question.nodes if node in kept)

    def _without(
        self, member: FilterExtender, question: Question, answer: Failed
    ) -> tuple[str, ...]:
        """Return what is left if the extender fails: all nodes, or none if it must agree."""
        name = member.name
        self.failures[member][answer] += 1
        if member.is_ignorable:
            return question.nodes
        detail = "" if name in answer.text else f"from extender {name}"
        self._failed[question.appearance] = Refusal(
            rule=FAILURE, reasons=(answer.text,), detail=detail
        )
        return ()


def _checked(name: str, question: Question, answer: Filtered | Failed) -> Filtered | Failed:
    """Return the answer, or a failure if it keeps what it was not asked about, or keeps it twice."""
    if isinstance(answer, Failed):
        return answer
    asked = frozenset(question.nodes)
    seen: set[str] = set()
    for node in answer.kept:
        if node not in asked:
            return Failed(
                text=f'extender "{name}" claims a filtered node "{node}" which is not found in the '
                "input node list"
            )
        if node in seen:
            return Failed(text=f'extender "{name}" returns the node "{node}" twice')
        seen.add(node)
    return answer


def _refusal(name: str, node: str, answer: Filtered) -> Refusal:
    is_unresolvable = node in answer.unresolvable
    told = (answer.unresolvable if is_unresolvable else answer.failed).get(node, "")
    if not told:
        return Refusal(
            rule=RULE,
            reasons=(f"node(s) filtered out by extender {name}",),
            is_unresolvable=is_unresolvable,
        )
    return Refusal(
        rule=RULE,
        reasons=(told,),
        is_unresolvable=is_unresolvable,
        detail=f"says extender {name}",
    )
