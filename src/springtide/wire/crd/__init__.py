"""Our own documents: node groups and device profiles, read strictly.

`profiles` reads device profiles from files and from the cluster, `writing` writes them; the definition
that an API server needs of them is generated from the records.

A process that needs one kind of them imports its module, and loads nothing of the others.
"""
