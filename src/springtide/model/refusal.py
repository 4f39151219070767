"""Refusals: the answer "does not fit", with its reasons. A value, never an exception."""

import msgspec


class Refusal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why one rule refuses.

    `rule` is the filter plugin's or device family's name, `reasons` are its texts as others match
    them (`2/2 CardInsufficientMemory`, `Insufficient cpu`). `detail` is a sentence part for people
    with the numbers behind it. `is_unresolvable` says that evicting pods could not help, `is_fault`
    that the rule could not judge, which makes kube-scheduler give up the whole attempt.
    """

    rule: str
    reasons: tuple[str, ...]
    is_unresolvable: bool = False
    detail: str = ""
    is_fault: bool = False

    @property
    def text(self) -> str:
        """Return the reasons joined as kube-scheduler joins a status message."""
        return ", ".join(self.reasons)
