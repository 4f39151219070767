"""What the live scheduler answers to its callers."""

from collections.abc import Mapping

import msgspec

from springtide.engine.live.commands import Commands, PatchPod
from springtide.model.pod import Pod, PodSpec


class Filtered(msgspec.Struct, frozen=True, kw_only=True):
    """Where a pod may go.

    With a `node`, a reservation is held there; `patch`, if there is one, is to be written on the pod, and
    `Live.take_back` to be called if that fails, whose commands are to be performed; without one the bind
    writes it. With `nodes`, the caller chooses one of them, and nothing is held. `passes` says that the pod asks for no devices: all names are let through, nothing is held.
    `refusals` gives each refused node's reason where no node is found, `error` says that the question
    could not be answered. `events` are to be recorded, those of a success once the patch has been written.
    """

    node: str | None = None
    nodes: tuple[str, ...] = ()
    passes: bool = False
    refusals: Mapping[str, str] = {}
    patch: PatchPod | None = None
    error: str = ""
    events: Commands = ()


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that is to be created, with what admission reads beyond the pod.

    `scheduler_name` is as it is written, empty if it is not. `privileged` names the first privileged
    container, init containers first.
    """

    pod: Pod
    scheduler_name: str = ""
    privileged: str = ""
    has_runtime_class: bool = False


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """What admission makes of a pod.

    `spec` is the pod's with the resources of its containers filled in, None where nothing of it
    changes; of `scheduler_name`, `runtime_class` and `environment` (container, name, value, to be
    appended) the empty ones change nothing. A denied pod has a `code` of HTTP and a message.
    """

    is_allowed: bool
    code: int = 200
    message: str = ""
    spec: PodSpec | None = None
    scheduler_name: str = ""
    runtime_class: str = ""
    environment: tuple[tuple[str, str, str], ...] = ()
