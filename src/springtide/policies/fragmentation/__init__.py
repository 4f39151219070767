"""The policy `fragmentation`: a pod goes where it spoils least of what others could use.

What is free is worth what the pods that come could take of it. `shapes` counts which pods come,
`states` says of one device in one use which shapes it serves, `worth` adds devices up to nodes under what
CPU the node has left, and `policy` compares each node before and after.

The measure is fragmentation gradient descent (Weng and others, USENIX ATC 2023) carried on: from
thousandths of a GPU to memory, cores and slots of any device, from CPU that is there or not to CPU for
so many pods more, and from a list of typical pods given beforehand to one learned on the way.
"""

from springtide.policies.fragmentation.policy import NAME, Fragmentation

__all__ = ["NAME", "Fragmentation"]
