"""What kube-scheduler's plugin DefaultPreemption decides for a pod that fits nowhere."""

from springtide.engine.preemption.preemption import Evictable, Preempted, preempt
from springtide.engine.preemption.residents import Residents
from springtide.engine.preemption.victims import Victims

__all__ = ["Evictable", "Preempted", "Residents", "Victims", "preempt"]
