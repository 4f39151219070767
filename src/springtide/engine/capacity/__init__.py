"""How many nodes: from pending pods and templates to a plan.

`batches` parts pods into sets of equal ones, `estimate` says how many new nodes of one template
they need (`packing` places whole batches at once, `stepping` one pod at a time where a rule tells
nodes apart; both give the same answer), `limits` bounds it, `options` compares groups through
expanders, `plan` repeats until no group helps any further, `asking` has what groups answer meanwhile, and `explain`
says what every group lacks. The algorithms follow Cluster Autoscaler's estimator and scale-up orchestrator.
"""
