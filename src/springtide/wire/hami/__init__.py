"""HAMi's texts: what device plugins and schedulers write into annotations.

`keys` names the annotations, `containers` reads and writes what each container of a pod was given,
`register` and `colon` the devices of a node in the JSON and in the older colon form, `links` the pair
scores between them, `mig` the MIG reservations of a pod. Readers raise `Malformed` with the words
that HAMi uses; nothing here knows a vendor's rules.
"""

from springtide.wire.hami.errors import Malformed

__all__ = ["Malformed"]
