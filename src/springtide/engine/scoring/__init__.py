"""The score plugins of kube-scheduler as columns: how well each node suits a pod that fits there.

A `scorer` gives every row that it is asked about a raw score and a normalised one between 0 and
100. Each plugin has a module of its own, `scoring` holds the table of them, weighs what they say and
picks the best row, and `config` is what a profile may change. `sampling` says how many nodes that
fit are enough. Only rows that fit may be asked about: some scores are relative to the other rows.

The behaviour is that of kube-scheduler 1.37.
"""
