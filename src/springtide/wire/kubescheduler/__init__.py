"""KubeSchedulerConfiguration v1: from a document to the records of `model.scheduler`.

Everything that kube-scheduler 1.37 says about a document it says here too, in its words: `golang`
reads JSON as Go's decoder does, `decoding` adds versions, kinds and plugin arguments, `defaults`
fills in what was left out, `validation` and `arguments` say which values cannot be.
"""

from springtide.wire.kubescheduler.arguments import CONSTRUCTION_FAULTS
from springtide.wire.kubescheduler.decoding import GROUP, KIND, from_json, from_text, stated
from springtide.wire.kubescheduler.given import read, refusal
from springtide.wire.kubescheduler.parsed import Complaint
from springtide.wire.kubescheduler.validation import validation_faults

__all__ = [
    "CONSTRUCTION_FAULTS",
    "GROUP",
    "KIND",
    "Complaint",
    "from_json",
    "from_text",
    "read",
    "refusal",
    "stated",
    "validation_faults",
]
