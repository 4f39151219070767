"""What the process knows at one moment, to be told to a process beside it.

Records never change, so that taking them is to take references, at once; only writing takes time.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from springtide.apps.why.asked import Names, readings
from springtide.apps.why.question import RECORDS_AT_ONCE, Question, piece
from springtide.engine.live import Live, node_as_used, pods_as_held
from springtide.model.pod import Pod


class Knowledge:
    """All records at the moment at which this is made."""

    def __init__(self, live: Live, pods: Mapping[str, Pod], question: Question) -> None:
        self._families = live.families
        self._nodes = live.stock.all()
        self._held = pods_as_held(live, apart_from=_uids(live, question.names))
        # A pod that a caller has asked about a moment ago may not have been heard of yet.
        unheard = (pod for uid, pod in live.tracking.waiting.items() if uid not in pods)
        self._pods = (*pods.values(), *unheard)
        self._question = replace(question, quotas=live.quotas())

    def pieces(self) -> Iterator[bytes]:
        """Yield the question and all that is known, in pieces that may be written one at a time."""
        yield piece(self._question)
        for first in range(0, len(self._nodes), RECORDS_AT_ONCE):
            nodes = self._nodes[first : first + RECORDS_AT_ONCE]
            yield piece([node_as_used(each, self._families) for each in nodes])
        yield piece(())
        for first in range(0, len(self._pods), RECORDS_AT_ONCE):
            pods = self._pods[first : first + RECORDS_AT_ONCE]
            yield piece([self._held.get(each.uid, each) for each in pods])
        yield piece(())


def _uids(live: Live, names: Names) -> Iterator[str]:
    """Yield the uids of waiting pods that the names may mean."""
    meant = {key for name in names.pods for key in readings(name, names.namespace)}
    return (uid for uid, pod in live.tracking.waiting.items() if pod.key in meant)
