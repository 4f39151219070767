"""Admission: what a pod that is to be created gets on top, whom it is left to, and why it is denied."""

from collections.abc import Mapping, Sequence
from typing import Final

from springtide.base.annotations import BIND_PHASE, BIND_TIME, NODE, RESERVED_AT
from springtide.engine.live.answers import Admitted, Submitted
from springtide.engine.live.settings import LiveSettings
from springtide.engine.placement.admission import admitted, denial
from springtide.engine.placement.family import Additions, DeviceFamily
from springtide.model.pod import Pod
from springtide.model.quotas import Quotas
from springtide.model.refusal import Refusal

DEFAULT_SCHEDULER: Final = "default-scheduler"
OTHERS: Final = "pod already has different scheduler assigned"
FORBIDDEN: Final = 403
FAULTY: Final = 500
OWN: Final = frozenset({NODE, RESERVED_AT, BIND_PHASE, BIND_TIME})

Families = Mapping[str, DeviceFamily]


def admit(
    submitted: Submitted, families: Families, settings: LiveSettings, *, quotas: Quotas
) -> Admitted:
    """Return what admission makes of a pod."""
    pod = submitted.pod
    if not pod.spec.containers:
        return _denied("pod has no containers")
    forged = _forged(pod, families)
    if forged:
        return _denied(
            f"annotation {forged} is written by the scheduler alone: remove it from the pod"
        )
    if _is_others(submitted.scheduler_name, settings):
        return Admitted(is_allowed=True, message=OTHERS)
    stored = admitted(pod, families)
    if isinstance(stored, Refusal):
        return Admitted(is_allowed=False, code=FAULTY, message=stored.text)
    added = [family.additions(stored) for family in families.values()]
    refusal = (
        _refused(submitted, stored, settings, is_taken=any(each.is_taken for each in added))
        or _senseless(stored, families)
        or denial(stored, families, quotas=quotas)
    )
    return (
        _changed(submitted, stored, settings, added) if refusal is None else _denied(refusal.text)
    )


def _changed(
    submitted: Submitted, stored: Pod, settings: LiveSettings, added: Sequence[Additions]
) -> Admitted:
    is_taken = any(each.is_taken for each in added)
    return Admitted(
        is_allowed=True,
        spec=None if stored.spec == submitted.pod.spec else stored.spec,
        scheduler_name=settings.scheduler_name if is_taken else "",
        runtime_class="" if submitted.has_runtime_class else _runtime_class(added),
        environment=tuple(each for addition in added for each in addition.environment),
    )


def _runtime_class(added: Sequence[Additions]) -> str:
    return next((each.runtime_class for each in added if each.runtime_class), "")


def _refused(
    submitted: Submitted, stored: Pod, settings: LiveSettings, *, is_taken: bool
) -> Refusal | None:
    """Return why a pod that is taken over is denied whatever is free."""
    if is_taken and submitted.privileged:
        return _refusal(f"container {submitted.privileged} is privileged")
    if is_taken and stored.node_name and settings.scheduler_name:
        return _refusal("pod has node assigned")
    return None


def _senseless(stored: Pod, families: Families) -> Refusal | None:
    """Return why a pod is denied that no node will ever take, with the remedy.

    An annotation that cannot be read can still be mended; what containers ask cannot.
    """
    answers = (family.ask(stored) for family in families.values())
    found = (each for each in answers if isinstance(each, Refusal) and not each.is_fault)
    senseless = next(found, None)
    if senseless is None:
        return None
    return _refusal(". ".join(part for part in (senseless.text, senseless.detail) if part))


def _refusal(reason: str) -> Refusal:
    return Refusal(rule="Admission", reasons=(reason,))


def _forged(pod: Pod, families: Families) -> str:
    """Return the first annotation of a pod that only a scheduler may write, empty if there is none."""
    if not pod.annotations:
        return ""
    written = (name for each in families.values() for name in each.written_annotations())
    return min(pod.annotations.keys() & OWN.union(written), default="")


def _is_others(name: str, settings: LiveSettings) -> bool:
    """Return whether another scheduler places pods that name this one."""
    if not name or (name == DEFAULT_SCHEDULER and settings.forces_default_scheduler):
        return False
    return not settings.scheduler_name or name != settings.scheduler_name


def _denied(message: str) -> Admitted:
    return Admitted(is_allowed=False, code=FORBIDDEN, message=message)
