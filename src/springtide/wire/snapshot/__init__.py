"""A cluster as one document that can be handed to others.

`objects` finds the objects that decide something, `trimming` takes out what is nobody's business,
`names` makes up names, `anonymous` puts them in everywhere so that references still match, and
`devices` does so inside the annotations of device plugins.
"""

from springtide.wire.snapshot.anonymous import anonymised
from springtide.wire.snapshot.names import Names
from springtide.wire.snapshot.objects import Found, Object, found
from springtide.wire.snapshot.trimming import trimmed

__all__ = ["Found", "Names", "Object", "anonymised", "found", "trimmed"]
