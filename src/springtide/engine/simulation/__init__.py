"""Nodes that do not exist yet: what one more node of a group would be.

`templates` builds a group's template node from its live nodes, from a device profile or from the
node that the input describes; `homogeneity` agrees on the devices of several samples; `daemons`
finds the DaemonSet pods that a new node will run; `sanitise` takes off what belongs to the sampled
node alone. Rules: device-profile contract §2–3, Cluster Autoscaler's template handling.
"""
