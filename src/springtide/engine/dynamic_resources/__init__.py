"""Structured allocation of devices to claims, as kube-scheduler 1.37 does it (DRA).

`pools` sees slices as pools, `usage` knows what is taken of them, `requests` prepares the claims of
one pod, and `search` looks for devices on one node: depth first, claim by claim, request by request,
device by device, in the order of kube-scheduler, so that the same devices are found. `matching`,
`constraints`, `counters` and `capacity` each answer one question of the search. `naming` finds the
claims of a pod, and `extended` the requests behind extended resources.
"""
