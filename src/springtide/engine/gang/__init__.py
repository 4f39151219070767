"""Gangs: pods of which a minimum runs, or none is started.

`tally` counts how far a gang gets, `settling` decides which gangs get their places and in which
order, and `shortfall` says what a gang lacks. Where pods are placed, and how that is undone, is a
`Ground` that the caller provides: the nodes that are there, or these and all that a plan may add.
"""
