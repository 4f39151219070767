"""The volume rules of the framework, one node at a time, as slow and as plain as the rules read.

This is what the columnar rules are compared with. It shares no code with them. Each rule answers
with the reasons why one node does not take the pod, none if it does; a rejection of the pod before
any node is looked at is the same answer on every node.
"""

from collections.abc import Collection, Iterator, Sequence

from springtide.base.selectors import any_term_matches, compile_selector
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.storage import Claim, PersistentVolume, Storage
from springtide.model.volumes import ClaimVolume, DiskKind, DiskVolume, EphemeralVolume

Reasons = tuple[str, ...]
Status = tuple[str, bool, Reasons]
"""Rule, whether eviction could not help, reasons."""

CLAIM_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)


def claim_keys(pod: Pod) -> Iterator[tuple[str, bool]]:
    """Yield the claims of a pod by key, and whether they are made for it."""
    for volume in pod.spec.volumes:
        if isinstance(volume, ClaimVolume):
            yield f"{pod.namespace}/{volume.claim}", False
        if isinstance(volume, EphemeralVolume):
            yield f"{pod.namespace}/{pod.name}-{volume.volume}", True


def using_any(keys: Collection[str], running: Sequence[Pod]) -> list[Pod]:
    """Return the pods that use one of these claims."""
    return [each for each in running if any(key in keys for key, _ in claim_keys(each))]


def rejection(pod: Pod, storage: Storage) -> Status | None:
    """Return why the pod is rejected whatever the nodes are, by the first rule that does it."""
    faults = (
        ("VolumeRestrictions", _missing_claim(pod, storage)),
        ("VolumeBinding", _binding_fault(pod, storage)),
        ("VolumeZone", _zone_fault(pod, storage)),
    )
    return next(((rule, True, fault) for rule, fault in faults if fault), None)


def _missing_claim(pod: Pod, storage: Storage) -> Reasons:
    for key, is_ephemeral in claim_keys(pod):
        if not is_ephemeral and key not in storage.claims:
            return (f'persistentvolumeclaim "{key.split("/")[1]}" not found',)
    return ()


def restrictions(pod: Pod, node: Node, running: Sequence[Pod], storage: Storage) -> Reasons:
    """Return why VolumeRestrictions refuses the node."""
    fault = _missing_claim(pod, storage)
    if fault:
        return fault
    once = [
        key
        for key, is_ephemeral in claim_keys(pod)
        if not is_ephemeral and "ReadWriteOncePod" in storage.claims[key].access_modes
    ]
    for other in running:
        if other.node_name == node.name and any(
            _meet(mine, theirs) for mine in _disks(pod) for theirs in _disks(other)
        ):
            return ("node(s) had no available disk",)
    used = {key for other in running for key, _ in claim_keys(other)}
    if used & set(once):
        return (CLAIM_IN_USE,)
    return ()


def _disks(pod: Pod) -> list[DiskVolume]:
    return [each for each in pod.spec.volumes if isinstance(each, DiskVolume)]


def _meet(mine: DiskVolume, theirs: DiskVolume) -> bool:
    if mine.kind != theirs.kind or mine.name != theirs.name:
        return False
    both_read = mine.is_read_only and theirs.is_read_only
    match mine.kind:
        case DiskKind.AWS:
            return True
        case DiskKind.GCE | DiskKind.ISCSI:
            return not both_read
        case DiskKind.RBD:
            shared = set(mine.monitors) & set(theirs.monitors)
            return bool(shared) and mine.pool == theirs.pool and not both_read
        case DiskKind.AZURE:
            return False


def limits(pod: Pod, node: Node, running: Sequence[Pod], storage: Storage) -> Reasons:
    """Return why NodeVolumeLimits refuses the node."""
    mine: set[tuple[str, str]] = set()
    for key, _ in claim_keys(pod):
        if key not in storage.claims:
            name = key.split("/")[1]
            return (f'looking up PVC {key}: persistentvolumeclaim "{name}" not found',)
        mine |= _attachables(storage.claims[key], storage)
    theirs: set[tuple[str, str]] = set()
    for other in running:
        if other.node_name == node.name:
            for key, _ in claim_keys(other):
                if key in storage.claims:
                    theirs |= _attachables(storage.claims[key], storage)
    return _missing_driver(mine, node, storage) or _over_limit(mine, theirs, node, storage)


def _missing_driver(mine: set[tuple[str, str]], node: Node, storage: Storage) -> Reasons:
    installed = _installed(node, storage)
    for driver in sorted({driver for driver, _ in mine}):
        known = storage.drivers.get(driver)
        if known is not None and known.must_be_installed and driver not in installed:
            return (f"{driver} CSI driver is not installed on the node",)
    return ()


def _over_limit(
    mine: set[tuple[str, str]], theirs: set[tuple[str, str]], node: Node, storage: Storage
) -> Reasons:
    attached = set(theirs)
    for name in storage.attached.get(node.name, ()):
        volume = storage.volumes.get(name)
        if volume is not None and volume.driver:
            attached.add((volume.driver, volume.handle))
    for driver, limit in _installed(node, storage).items():
        new = [each for each in mine - theirs if each[0] == driver]
        held = [each for each in attached if each[0] == driver]
        if limit is not None and new and len(new) + len(held) > limit:
            return ("node(s) exceed max volume count",)
    return ()


def _installed(node: Node, storage: Storage) -> dict[str, int | None]:
    csi_node = storage.csi_nodes.get(node.name)
    return dict(csi_node.drivers) if csi_node else {}


def _attachables(claim: Claim, storage: Storage) -> set[tuple[str, str]]:
    volume = storage.volumes.get(claim.volume)
    if volume is not None:
        return {(volume.driver, volume.handle)} if volume.driver else set()
    storage_class = storage.classes.get(claim.class_name)
    return {(storage_class.provisioner, f"new {claim.key}")} if storage_class else set()


def binding(pod: Pod, node: Node, storage: Storage) -> Reasons:
    """Return why VolumeBinding refuses the node."""
    fault = _binding_fault(pod, storage)
    if fault:
        return fault
    claims = [storage.claims[key] for key, _ in claim_keys(pod)]
    reasons = [*_bound(claims, node, storage), *_unbound(claims, node, storage)]
    missing = [each for each in reasons if "non-existent" in each]
    return tuple([each for each in reasons if each not in missing] + missing)


def _binding_fault(pod: Pod, storage: Storage) -> Reasons:
    keys = list(claim_keys(pod))
    for key, is_ephemeral in keys:
        name = key.split("/")[1]
        claim = storage.claims.get(key)
        if claim is None:
            if is_ephemeral:
                waits = "waiting for ephemeral volume controller to create the"
                return (f'{waits} persistentvolumeclaim "{name}"',)
            return (f'persistentvolumeclaim "{name}" not found',)
        if claim.is_terminating:
            return (f'persistentvolumeclaim "{name}" is being deleted',)
    claims = [storage.claims[key] for key, _ in keys]
    for claim in claims:
        storage_class = storage.classes.get(claim.class_name)
        is_late = storage_class is not None and storage_class.binding_mode == "WaitForFirstConsumer"
        if not claim.is_bound and (not is_late or claim.volume):
            return ("pod has unbound immediate PersistentVolumeClaims",)
    return ()


def _bound(claims: Sequence[Claim], node: Node, storage: Storage) -> Iterator[str]:
    for claim in claims:
        if not claim.is_bound:
            continue
        volume = storage.volumes.get(claim.volume)
        if volume is None:
            yield "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
            return
        if not _reaches(volume, node):
            yield "node(s) didn't match PersistentVolume's node affinity"
            return


def _reaches(volume: PersistentVolume, node: Node) -> bool:
    return volume.node_terms is None or any_term_matches(volume.node_terms, node.labels, name="")


def _unbound(claims: Sequence[Claim], node: Node, storage: Storage) -> Iterator[str]:
    open_claims = [claim for claim in claims if not claim.is_bound]
    chosen = [claim for claim in open_claims if claim.selected_node is not None]
    if any(claim.selected_node != node.name for claim in chosen):
        yield "node(s) didn't find available persistent volumes to bind"
        return
    taken: set[str] = set()
    free = [claim for claim in open_claims if claim.selected_node is None]
    to_make = list(chosen)
    for claim in sorted(free, key=_size):
        volume = _matching(claim, node, storage, taken)
        if volume is None:
            to_make.append(claim)
        else:
            taken.add(volume.name)
    for claim in to_make:
        why = _cannot_make(claim, node, storage)
        if why:
            yield why
            return


def _size(each: Claim) -> int:
    return each.requested.nano if each.requested is not None else 0


def _matching(
    claim: Claim, node: Node, storage: Storage, taken: set[str]
) -> PersistentVolume | None:
    best: PersistentVolume | None = None
    for volume in storage.volumes.values():
        assert volume.capacity is not None
        reserved = volume.claim
        is_mine = reserved is not None and (
            f"{reserved.namespace}/{reserved.name}" == claim.key and reserved.uid in ("", claim.uid)
        )
        if (
            volume.name in taken
            or volume.class_name != claim.class_name
            or (reserved is not None and not is_mine)
            or volume.capacity.nano < _size(claim)
            or (volume.mode or "Filesystem") != (claim.mode or "Filesystem")
        ):
            continue
        if is_mine:
            return volume if _reaches(volume, node) else None
        if (
            volume.phase == "Available"
            and set(claim.access_modes) <= set(volume.access_modes)
            and (claim.selector is None or compile_selector(claim.selector).matches(volume.labels))
            and _reaches(volume, node)
            and (best is None or best.capacity is None or volume.capacity.nano < best.capacity.nano)
        ):
            best = volume
    return best


def _cannot_make(claim: Claim, node: Node, storage: Storage) -> str:
    storage_class = storage.classes[claim.class_name]
    allowed = not storage_class.topologies or any(
        all(node.labels.get(key) in values for key, values in topology)
        for topology in storage_class.topologies
    )
    if storage_class.provisioner == "kubernetes.io/no-provisioner" or not allowed:
        return "node(s) didn't find available persistent volumes to bind"
    driver = storage.drivers.get(storage_class.provisioner)
    if driver is None or not driver.reports_capacity:
        return ""
    for capacity in storage.capacities:
        limit = capacity.volume_max or capacity.capacity
        if (
            capacity.class_name == claim.class_name
            and limit is not None
            and limit.nano >= _size(claim)
            and compile_selector(capacity.nodes).matches(node.labels)
        ):
            return ""
    return "node(s) did not have enough free storage"


def zone(pod: Pod, node: Node, storage: Storage) -> Reasons:
    """Return why VolumeZone refuses the node."""
    fault = _zone_fault(pod, storage)
    if fault:
        return fault
    labels = [
        item
        for key, is_ephemeral in claim_keys(pod)
        if not is_ephemeral and storage.claims[key].volume
        for item in storage.volumes[storage.claims[key].volume].labels.items()
        if item[1]
    ]
    return _zone_of(labels, node)


def _zone_fault(pod: Pod, storage: Storage) -> Reasons:
    for key, is_ephemeral in claim_keys(pod):
        name = key.split("/")[1]
        if is_ephemeral:
            continue
        if key not in storage.claims:
            return (f'persistentvolumeclaim "{name}" not found',)
        claim = storage.claims[key]
        if not claim.volume:
            if not claim.class_name:
                return ("PersistentVolumeClaim had no pv name and storageClass name",)
            if claim.class_name not in storage.classes:
                return (f'storageclass.storage.k8s.io "{claim.class_name}" not found',)
            if storage.classes[claim.class_name].binding_mode != "WaitForFirstConsumer":
                return ("PersistentVolume had no name",)
            continue
        if claim.volume not in storage.volumes:
            return (f'persistentvolume "{claim.volume}" not found',)
    return ()


def _zone_of(labels: Sequence[tuple[str, str]], node: Node) -> Reasons:
    beta, general = "failure-domain.beta.kubernetes.io/", "topology.kubernetes.io/"
    if not any(key.startswith((beta, general)) for key in node.labels):
        return ()
    for key, value in labels:
        if key.startswith((beta, general)):
            here = node.labels.get(key, node.labels.get(key.replace(beta, general)))
            if here not in value.split("__"):
                return ("node(s) had no available volume zone",)
    return ()
