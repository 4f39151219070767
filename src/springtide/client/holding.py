"""What a session is to its client: its name, its revision, and the calls that belong to it.

Changes are for the revision that the client knows: nobody else is meant to change its session.
"""

from collections.abc import Sequence
from typing import TypeVar

from springtide.client.calls import Call, Object, of_session, operation, raw
from springtide.wire.simulation import answers, calls

AnswerT = TypeVar("AnswerT", bound=answers.SessionAnswer)

Placing = tuple[Object, str]
"""A pod, and the node that it is to be placed on."""


class Held:
    """A session that is open."""

    def __init__(self, opened: answers.SessionAnswer) -> None:
        self.id = opened.id
        self.revision = opened.revision
        self.forks = opened.forks

    def take(self, answer: AnswerT) -> AnswerT:
        """Know the state after a change."""
        self.revision, self.forks = answer.revision, answer.forks
        return answer

    def evaluation(
        self, pods: Sequence[Object], nodes: Sequence[str] | None, *, allocations: bool
    ) -> Call[answers.EvaluationAnswer]:
        """Return the call that asks which nodes take pods."""
        said = calls.Evaluate(
            pods=tuple(map(raw, pods)),
            nodes=None if nodes is None else tuple(nodes),
            allocations=allocations,
        )
        return of_session(self.id, "evaluate", said, answers.EvaluationAnswer)

    def placement(
        self, pods: Sequence[Placing], *, all_or_nothing: bool
    ) -> Call[answers.PlaceAnswer]:
        """Return the call that places pods."""
        placings = tuple(calls.Placing(pod=raw(pod), node=node) for pod, node in pods)
        said = calls.Place(
            operation_id=operation(),
            if_revision=self.revision,
            pods=placings,
            all_or_nothing=all_or_nothing,
        )
        return of_session(self.id, "place", said, answers.PlaceAnswer)

    def removal(self, uids: Sequence[str]) -> Call[answers.RemoveAnswer]:
        """Return the call that takes pods away."""
        said = calls.Remove(operation_id=operation(), if_revision=self.revision, pods=tuple(uids))
        return of_session(self.id, "remove", said, answers.RemoveAnswer)

    def growth(
        self, nodes: Sequence[Object], copies: Sequence[calls.Copies]
    ) -> Call[answers.SessionAnswer]:
        """Return the call that adds nodes."""
        said = calls.AddNodes(
            operation_id=operation(),
            if_revision=self.revision,
            nodes=tuple(map(raw, nodes)),
            copies=tuple(copies),
        )
        return of_session(self.id, "addNodes", said, answers.SessionAnswer)

    def shrinking(self, nodes: Sequence[str]) -> Call[answers.RemoveAnswer]:
        """Return the call that takes nodes away."""
        said = calls.RemoveNodes(
            operation_id=operation(), if_revision=self.revision, nodes=tuple(nodes)
        )
        return of_session(self.id, "removeNodes", said, answers.RemoveAnswer)

    def step(self, verb: str) -> Call[answers.SessionAnswer]:
        """Return the call that forks, reverts or commits."""
        said = calls.Change(operation_id=operation(), if_revision=self.revision)
        return of_session(self.id, verb, said, answers.SessionAnswer)


def opening(
    nodes: Sequence[Object], copies: Sequence[calls.Copies], lease_s: float | None
) -> calls.OpenSession:
    """Return what opens a session."""
    return calls.OpenSession(
        operation_id=operation(),
        nodes=tuple(map(raw, nodes)),
        copies=tuple(copies),
        lease_seconds=lease_s,
    )


def copies_of(template: Object, count: int, *, name_prefix: str = "") -> calls.Copies:
    """Return copies of a template."""
    return calls.Copies(template=raw(template), count=count, name_prefix=name_prefix)


def estimate(
    templates: Sequence[Object],
    pods: Sequence[tuple[Object, int]],
    *,
    nodes_max: int,
    rules: calls.EstimateRules,
) -> calls.Estimate:
    """Return what asks how many nodes of each template pods need."""
    return calls.Estimate(
        templates=tuple(calls.EstimateTemplate(node=raw(each)) for each in templates),
        pods=tuple(calls.PodGroup(pod=raw(pod), count=count) for pod, count in pods),
        nodes_max=nodes_max,
        rules=rules,
    )
