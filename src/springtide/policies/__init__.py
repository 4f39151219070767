"""Preferences: one module a policy. They order what the engine found possible, and say why.

`expanders` chooses among node groups.
"""
