"""Values in kube-scheduler's configuration that plain Python types do not name."""

from typing import Annotated, TypeAlias

import msgspec

from springtide.base.durations import format_duration

Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Duration(msgspec.Struct, frozen=True, order=True, gc=False):
    """A span of time, written as `1m30s`."""

    nanoseconds: int = 0

    def __str__(self) -> str:
        """Return the span as the configuration writes it."""
        return format_duration(self.nanoseconds)
