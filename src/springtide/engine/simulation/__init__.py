"""Nodes that do not exist yet: what one more node of a group would be, and what pods would get there.

`templates` builds a group's template node from its live nodes, from a device profile or from the
node that the input describes; `homogeneity` agrees on the devices of several samples; `daemons`
finds the DaemonSet pods that a new node will run; `sanitise` takes off what belongs to the sampled
node alone. Rules: device-profile contract §2–3, Cluster Autoscaler's template handling.

What pods would get is asked in two ways that agree (simulation contract): `filtering` answers a call
without state about nodes as they were sent, whose devices `supply` finds and on which `standing` puts the
pods that they carry; a `session` keeps nodes and pods, and `sessions` are those of all clients. `judge` is
the one device model under both.
"""
