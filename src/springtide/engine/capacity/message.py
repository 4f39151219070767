"""What kube-scheduler says of pods that fit no node: the text of their FailedScheduling event.

Class tables have judged the nodes already, devices included; what is added is whether evicting pods
would help, in the scheduler's eyes, which know nothing of devices.
"""

import msgspec

from springtide.engine.attempt.attempt import NO_NODES, event_text
from springtide.engine.attempt.post_filter import given_back, post_filter
from springtide.engine.framework.fit_error import fit_error
from springtide.engine.framework.nominated import Judge
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.extenders import FAILURE
from springtide.engine.placement.tables import Tables
from springtide.engine.preemption import Evictable
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that are there: those of the overlay's ledger below one, with who could go."""

    overlay: Overlay
    below: int
    evictable: Evictable


def message(pod: Pod, pod_class: PodClass, *, tables: Tables, there: Rows) -> str:
    """Return the text for a pod of a class that fits none of the rows.

    If a rule cannot judge it, or an extender that must agree fails, that is all there is to say.
    """
    if not there.below:
        return NO_NODES
    # Pods that are nominated to a node are held there by the ledger.
    framework = tables.framework_of(pod_class)
    judge = Judge(framework, pod_class.framework, overlay=there.overlay, promised={})
    refusals = tables.histogram(pod_class, below=there.below)
    failed = next((text for refusal, _ in refusals if (text := _failure(refusal))), "")
    if judge.prepared.error or failed:
        return event_text(judge.prepared.error or failed)
    rejection = judge.prepared.rejection
    after = post_filter(
        pod,
        judge,
        promising=tables.promising(pod_class, below=there.below),
        evictable=there.evictable,
        below=there.below,
        on_claims=given_back(
            pod, judge, lambda code: tables.with_code(pod_class, code, below=there.below)
        ),
    )
    return event_text(
        fit_error(
            there.below,
            refusals,
            "" if rejection is None else rejection.text,
            postfilter_message=after.message,
        )
    )


def _failure(refusal: Refusal) -> str:
    """Return what ends the attempt if it is no mere refusal, empty otherwise."""
    if refusal.is_fault:
        return f'running "{refusal.rule}" filter plugin: {refusal.text}'
    return refusal.text if refusal.rule == FAILURE else ""
