"""What comes of a replayed scenario, and the rules by which we differ on purpose."""

from collections import Counter
from typing import Final

import msgspec


class Difference(msgspec.Struct, frozen=True):
    """A rule by which we answer differently on purpose, or do not answer here, and why."""

    name: str
    why: str


DIFFERENCES: Final = (
    Difference("bind", "Node locks and bindings are a live matter."),
    Difference("register loop", "When HAMi reads a registration again is a live matter."),
    Difference("admission", "Whom the webhook takes over or denies is not the family's matter."),
    Difference("crash", "HAMi crashes; we answer."),
    Difference("senseless quantity", "What makes no sense is refused; HAMi lets the pod pass."),
    Difference("spelling", "A whole number counts however it is spelled (1000m, 2.0)."),
    Difference("padding", "Every container has its entry; HAMi omits those without cards."),
    Difference("malformed registration", "We say malformed where HAMi says unregistered."),
    Difference("stable sort", "Above 12 devices HAMi's order of equal devices is not stable."),
    Difference("cordon at once", "What a node annotation says counts at once, in HAMi later."),
    Difference("other family", "What another family wrote unreadably does not hide our cards."),
    Difference("terminating", "A pod that is being deleted holds its cards until it is gone."),
    Difference("init ended", "Ended init containers cost nothing, after a restart either."),
    Difference("failed bind", "A pod that waits again after a failed bind holds nothing."),
    Difference("other families", "Pods and nodes of families that are not built yet."),
    Difference("several families on a node", "Each family scores its own devices."),
    Difference("registered by others", "A node registers family by family; HAMi says too few."),
    Difference("quota in a simulation", "A simulation depends on its call alone."),
    Difference("after a skip", "HAMi's state cannot be taken over: ours has no words for it."),
)


class Report(msgspec.Struct):
    """What came of one scenario: steps that are equal, differences, skipped steps by rule.

    `judged` counts answers of one node to one pod, `unlike` says where class tables and the exact
    placement gave different ones.
    """

    equal: int = 0
    differences: list[str] = []
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    judged: int = 0
    unlike: list[str] = []


class Skip(Exception):
    """This step cannot be compared, by a listed rule."""
