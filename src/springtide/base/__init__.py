"""The ground floor: values and rules that every other room speaks in, and nothing above them.

Here live exact Kubernetes quantities, resource and label names, label and node selectors, taints and
tolerations, the `Clock` and `Rng` protocols that decisions receive instead of reading the world, and
the root of all faults. Everything is an immutable record or a pure function: no input, no output, no
time, no logging. Each rule is held against answers recorded from a real kube-scheduler.
"""
