"""How a pod names its gang: fields, labels and annotations of the APIs that know gangs, and ours.

A pod may name several, as where one scheduler took over from another; all are kept, in the order in
which they count.
"""

from collections.abc import Iterator
from typing import Final

from springtide.model.gang import GangApi
from springtide.model.pod import GangLink, Owner
from springtide.wire.k8s import schema

GANG_ANNOTATION: Final = "springtide.io/gang"
GANG_SIZE_ANNOTATION: Final = "springtide.io/gang-min-size"
COSCHEDULING_LABELS: Final = (
    "scheduling.x-k8s.io/pod-group",
    # As it was before Kubernetes 1.25.
    "pod-group.scheduling.sigs.k8s.io",
)
VOLCANO_ANNOTATIONS: Final = (
    "scheduling.k8s.io/group-name",
    "scheduling.volcano.sh/group-name",
)
VOLCANO_SIZE_ANNOTATION: Final = "scheduling.volcano.sh/group-min-member"
VOLCANO_TASK: Final = "volcano.sh/task-spec"


def gang_links(
    metadata: schema.Metadata, spec: schema.PodSpec, owner: Owner | None
) -> tuple[GangLink, ...]:
    """Return what the pod names, nothing for nearly every pod."""
    has_fields = spec.workload_ref is not None or spec.scheduling_group is not None
    if not (has_fields or metadata.labels or metadata.annotations):
        return ()
    return tuple(
        link
        for link in (
            *_workload_links(spec),
            *_coscheduling_links(metadata),
            *_volcano_links(metadata, owner),
            *_own_links(metadata),
        )
        if link.name
    )


def inline_name(workload: str, group: str) -> str:
    """Return what a group is called that has no object of its own but stands in a workload."""
    return f"{workload}/{group}"


def _workload_links(spec: schema.PodSpec) -> Iterator[GangLink]:
    if spec.scheduling_group is not None:
        yield GangLink(api=GangApi.WORKLOAD, name=spec.scheduling_group.pod_group_name)
    reference = spec.workload_ref
    if reference is not None and reference.name:
        name = inline_name(reference.name, reference.pod_group)
        replica = reference.pod_group_replica_key
        yield GangLink(api=GangApi.WORKLOAD, name=name, replica=replica)


def _coscheduling_links(metadata: schema.Metadata) -> Iterator[GangLink]:
    for label in COSCHEDULING_LABELS:
        if label in metadata.labels:
            yield GangLink(api=GangApi.COSCHEDULING, name=metadata.labels[label])
            return


def _volcano_links(metadata: schema.Metadata, owner: Owner | None) -> Iterator[GangLink]:
    notes = metadata.annotations
    minimum = notes.get(VOLCANO_SIZE_ANNOTATION, "")
    name = next((notes[each] for each in VOLCANO_ANNOTATIONS if notes.get(each)), "")
    if not name and minimum and owner is not None:
        # Volcano makes a pod group of this name for pods that name none.
        name = f"podgroup-{owner.uid}"
    if name:
        task = notes.get(VOLCANO_TASK) or metadata.labels.get(VOLCANO_TASK, "")
        yield GangLink(api=GangApi.VOLCANO, name=name, task=task, minimum=minimum)


def _own_links(metadata: schema.Metadata) -> Iterator[GangLink]:
    notes = metadata.annotations
    if GANG_ANNOTATION in notes:
        minimum = notes.get(GANG_SIZE_ANNOTATION, "")
        yield GangLink(api=GangApi.ANNOTATION, name=notes[GANG_ANNOTATION], minimum=minimum)
