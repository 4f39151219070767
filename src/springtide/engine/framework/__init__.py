"""The filters of kube-scheduler as columns: which nodes may take a pod, and why the others may not.

`rule` says what a filter plugin is: `prepare` looks at one ask and the ledger once (PreFilter) and
returns a check, which then judges any rows (Filter). Each plugin has a module of its own, and
`framework` holds the table of them in official order. `preparation` combines what they make of an
ask, `verdicts` keeps one verdict a row: the first rule that refuses, with its reasons as bits. Texts
are rendered only where somebody reads them, by `Framework.refusal` and `fit_error`. Rules that read
other nodes (spread, affinity between pods) are prepared again after every change; the counts of pods
that they gather over `domains` are kept by the ledger.

The behaviour is that of kube-scheduler 1.37, down to the spelling of reasons and to whether
evicting pods could help.
"""
