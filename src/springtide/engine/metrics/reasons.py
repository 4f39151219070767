"""Why there is no value; what each means is in docs/reasons.md."""

from enum import StrEnum

import msgspec


class AnswerReason(StrEnum):
    """Why an autoscaler gets no number."""

    UNKNOWN_METRIC = "UnknownMetric"
    MALFORMED_SELECTOR = "MalformedSelector"
    UNBOUND_SELECTOR = "UnboundSelector"
    NO_SAMPLES = "NoSamples"
    STALE_SAMPLES = "StaleSamples"
    NO_VALID_SAMPLES = "NoValidSamples"
    BELOW_LEAST = "BelowLeast"
    OUT_OF_RANGE = "OutOfRange"
    AMBIGUOUS_SERIES = "AmbiguousSeries"
    MEMBERS_MISSING = "MembersMissing"
    BEYOND_WORKLOAD = "BeyondWorkload"
    WORKLOAD_UNKNOWN = "WorkloadUnknown"
    PARTIAL_ANSWER = "PartialAnswer"
    SOURCE_UNAVAILABLE = "SourceUnavailable"


_BAD_REQUEST = 400
_NOT_FOUND = 404
_UNAVAILABLE = 503
_CODES = {
    AnswerReason.MALFORMED_SELECTOR: _BAD_REQUEST,
    AnswerReason.UNBOUND_SELECTOR: _BAD_REQUEST,
    AnswerReason.UNKNOWN_METRIC: _NOT_FOUND,
    AnswerReason.NO_SAMPLES: _NOT_FOUND,
}


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """No value, and why; `message` names neither queries nor addresses."""

    reason: AnswerReason
    message: str

    @property
    def code(self) -> int:
        """Return the status of HTTP that it means: by all of them the autoscaler holds."""
        return _CODES.get(self.reason, _UNAVAILABLE)
