"""How many replicas a stateful workload has, who takes new state, and who must keep serving.

Everything here is pure. `queries` writes what is asked of Prometheus and `verdicts` says which
answers may count; an unknown is never a zero. `evaluation` makes one number of them, and `rounds`
a change with three times that every member follows with its `labels`. `protection` remembers who
holds state, and `leadership` who may decide. Machines are `step(state, event) -> (state,
commands)`, and an event names its cause.
"""
