"""Preferences: one module a policy. They order what the engine found possible, and say why.

`expanders` chooses among node groups; `fragmentation` keeps nodes and devices useful; `published` places pods as papers and schedulers do that results
are compared with.
"""
