"""Which node loses its victims: the one where it hurts least, by one criterion after the other."""

from collections.abc import Iterable
from typing import Final

from springtide.engine.preemption.victims import Victims, since
from springtide.model.pod import Pod

# Makes every priority positive, so that many unimportant pods weigh more than few.
_OFFSET: Final = 2**31


def best(candidates: Iterable[Victims]) -> Victims:
    """Return the first of the candidates that no other one is better than.

    What counts: few broken budgets, a low highest priority, a small sum of priorities, few pods,
    and that the longest-running of the most important pods was started late.
    """
    left = list(candidates)
    for pain in (_broken, _highest, _sum, _count):
        least = min(map(pain, left))
        left = [each for each in left if pain(each) == least]
    return max(left, key=lambda each: _eldest(each.pods))


def _broken(victims: Victims) -> int:
    return victims.broken


def _highest(victims: Victims) -> int:
    return victims.pods[0].spec.priority


def _sum(victims: Victims) -> int:
    return sum(pod.spec.priority + _OFFSET for pod in victims.pods)


def _count(victims: Victims) -> int:
    return len(victims.pods)


def _eldest(pods: tuple[Pod, ...]) -> str:
    """Return when the first of the most important pods was started."""
    highest = pods[0].spec.priority
    return min(since(pod) for pod in pods if pod.spec.priority == highest)
