"""Device profiles against the nodes that they describe (device-profile contract, sections 3 and 4).

`comparing` holds what a node registers against what was promised, and `judging` says how one node stands.
`roster` keeps all profiles and nodes, `matching` which belong together. `verification` is the machine: it says
what the cluster is to be told, in `events`, with the words of `wording`; `statuses` works out what is said on
a profile.
"""
