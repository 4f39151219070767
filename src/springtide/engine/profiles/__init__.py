"""Device profiles against the nodes that they describe (device-profile contract, sections 3 and 4).

`comparing` holds what a node registers against what was promised. `judging` says how one node stands,
`verification` is the machine that follows all profiles and nodes and says what the cluster is to be told,
and `statuses` works out what is said on a profile. `matching` finds which profile a node goes by.
"""
