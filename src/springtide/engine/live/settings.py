"""What may be set of the live scheduler. Times are in seconds; texts are as HAMi's flags take them."""

from collections.abc import Mapping

import msgspec

MINUTE_S = 60.0


class LiveSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one process.

    `scheduler_name` is written to pods that ask for devices; empty, none is. `node_selector` names the
    labels of the nodes that are looked at. A node lock is void `lock_timeout_s` after it was taken.
    A bind waits for the lock of its node for `lock_wait_s` if its pod belongs to a group, otherwise for
    `single_wait_s`. A reservation that nobody binds is given up after `reservation_timeout_s`.
    With `writes_at_bind`, a reservation is written on its pod when that is bound; otherwise when its node
    is chosen. Plugins are asked again after `handshake_again_s` at the soonest, and given
    `handshake_timeout_s`. `utc_offset_s` is that of local time, in which handshakes are written.

    Where it `leaves_choice`, a filter call names all nodes that take the pod and holds nothing; a bind
    reserves on the node that the scheduler chose, and writes that as well.
    """

    scheduler_name: str = ""
    forces_default_scheduler: bool = True
    node_selector: Mapping[str, str] = {}
    lock_timeout_s: float = 5 * MINUTE_S
    lock_wait_s: float = 28.0
    single_wait_s: float = 28.0
    reservation_timeout_s: float = 10 * MINUTE_S
    writes_at_bind: bool = False
    handshake_timeout_s: float = MINUTE_S
    handshake_again_s: float = 15.0
    utc_offset_s: int = 0
    leaves_choice: bool = False
