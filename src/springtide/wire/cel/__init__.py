"""Device selectors: Kubernetes' CEL expressions about one device, as the DRA scheduler reads them.

The language itself is Google's implementation; this package gives it the device, the types and
functions that Kubernetes adds, and limits. It does no I/O. The library is loaded with the first
expression, because a plan without selectors should not wait for it.

An expression is compiled twice. First it is checked against typed declarations (`declarations`),
which finds what an API server would refuse. The checked tree is then rewritten (`rewriting`) for an
environment that computes (`environment`): the library can carry no value of a type of ours from
Python into an expression, so quantities and versions travel as tagged bytes (`values`).
"""

from springtide.wire.cel.selectors import Selectors

__all__ = ["Selectors"]
