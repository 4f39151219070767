"""How many more pods of one class fit, node by node, and what refuses the next one.

`room` answers for a class: by columns (`columns`) where a placement changes its own row only, pod by
pod on an overlay (`stepping`) where a rule reads other nodes or a quota comes to its end. Where a device
family cannot tell from columns, `walking` places on each distinct state of devices. All of them equal placing one by one
until it fails, and leave the ledger as it was.
"""

from springtide.engine.headroom.room import Room, room

__all__ = ["Room", "room"]
