"""A member beside an application that cannot embed the library: the sidecar of `springtide replicas run`.

`application` asks and tells the application over HTTP, `surface` serves operators by the table of `endpoints`
and makes `pages` of snapshots, `process` composes them.
"""

from springtide.apps.replicas.application import Application
from springtide.apps.replicas.process import Endpoints, Process
from springtide.apps.replicas.surface import Surface

__all__ = ["Application", "Endpoints", "Process", "Surface"]
