"""The outside world: files, clusters, sockets. It moves bytes and decides nothing.

Each package has its own tree of faults in `errors`, sorted by what the caller can do.
"""
