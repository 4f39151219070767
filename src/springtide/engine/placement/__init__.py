"""Which device: what the engine knows about a family, and what all families share.

`family` declares the protocol that every vendor package implements, `reasons` the words in which
devices refuse. The shared algorithms (collapsing a pod's grants, scores, device order) follow
HAMi's scheduler; `spec` sections are named where they apply.
"""
