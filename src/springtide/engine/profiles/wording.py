"""What is told of a node among its events: what was found, and what comes of it."""

from springtide.engine.profiles.judging import Judgement, Standing
from springtide.model.profile import DeviceProfile, OnMismatch


def sentence(profile: DeviceProfile, judgement: Judgement) -> str:
    """Return what is told of a node."""
    why = f"{judgement.why[:1].upper()}{judgement.why[1:]}"
    match judgement.standing:
        case Standing.VERIFIED:
            return f"The node has registered what the device profile {profile.name} promises."
        case Standing.EXCEEDS:
            return f"{why}: more than the device profile {profile.name} promises."
        case Standing.TIMED_OUT:
            return (
                f"{why}, though the device profile {profile.name} promises them. "
                "Check its device plugin."
            )
        case _:
            return f"{why}. {_consequence(profile)}"


def _consequence(profile: DeviceProfile) -> str:
    match profile.on_mismatch:
        case OnMismatch.QUARANTINE:
            return (
                f"The device profile {profile.name} has the node tainted until both agree: "
                "correct the node or the profile."
            )
        case OnMismatch.REPORT:
            return f"The device profile {profile.name} only reports it: correct it or the node."
        case OnMismatch.ADOPT:
            return f"The device profile {profile.name} adopts what its nodes agree on."
