"""What a plan decided, told step by step: which group grew, by how much, for whom and why."""

from springtide.apps.planner.picture import Picture
from springtide.base.telling import Level, Tell
from springtide.engine.capacity.situation import Plan, Step


def told_of(plan: Plan, picture: Picture, tell: Tell) -> None:
    """Tell every decision of the plan, and in more detail what led to it."""
    if not tell.hears(Level.DECISION):
        return
    tell(Level.DECISION, "nodes_filled", pods=len(plan.fitting), pending=len(picture.waiting))
    for pod, node in plan.fitting:
        tell(Level.DEBUG, "pod_fits", pod=pod.key, node=node)
    for number, step in enumerate(plan.steps, start=1):
        _step(number, step, tell)
    for item in plan.stuck:
        tell(
            Level.DECISION,
            "pods_stuck",
            pods=len(item.pods),
            first=item.pods[0].key,
            why=item.message,
        )


def _step(number: int, step: Step, tell: Tell) -> None:
    tell(
        Level.DECISION,
        "group_raised" if step.is_raise else "group_grown",
        step=number,
        group=step.group.name,
        nodes=f"{step.size_before}->{step.size_after}",
        pods=sum(len(node.pods) for node in step.nodes),
        why=step.why,
    )
    for group, why in step.rejected:
        tell(Level.DEBUG, "group_rejected", step=number, group=group, why=why)
    for node in step.nodes:
        for pod in node.pods:
            tell(Level.DEBUG, "pod_placed", step=number, pod=pod.key, node=node.name)
