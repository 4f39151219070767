"""A service that holds chat rooms in memory and moves them while it grows, shrinks and breaks.

`room` and `book` are what a member holds and what it writes down, without any I/O. `messages` is what
members and users say to each other; `answering` answers it, `moving` moves rooms to where they belong, and
`member` joins both with the controller of `springtide.replicas`. `scaler` is the autoscaler's part, `load`
the users and the checker. How messages travel and where members run is the world's affair: processes on one
machine here, virtual time in the tests.
"""
