"""The metrics adapter: what the cluster's autoscalers ask for, from what Prometheus has.

An aggregated API server. `process` composes it, `surface` answers by the table of `endpoints`. `identity` and
`permission` say who asks and whether they may, by asking the API server and keeping its answers a while
(`memo`). `tables` keeps the samples of all workloads, by one query for each metric and not for each request;
`workloads` holds an index against the pods that there are, `upstream` passes other metrics through. What is
decided is in `engine.metrics`.
"""

from springtide.apps.adapter.process import Endpoints, Process, Times
from springtide.apps.adapter.settings import Deadlines, Served, Settings

__all__ = ["Deadlines", "Endpoints", "Process", "Served", "Settings", "Times"]
