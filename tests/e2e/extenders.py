"""A scheduler extender that says yes to everything, for tests of what it is asked."""

import json
from collections.abc import Callable
from typing import Any, Final

from tests.e2e.commands import Object
from tests.serving import Answer, Body, Extender

FILTER: Final = "/filter"
PRIORITIZE: Final = "/prioritize"
BIND: Final = "/bind"


def yes(bind: Callable[[Body], None]) -> Answer:
    """Return what answers every call; `bind` does what a Binding would."""

    def answer(path: str, said: Body) -> Body | list[Any]:
        match path:
            case "/filter":
                kept = {key: said[key] for key in ("Nodes", "NodeNames")}
                return {**kept, "FailedNodes": {}, "FailedAndUnresolvableNodes": {}, "Error": ""}
            case "/prioritize":
                return [{"Host": name, "Score": 0} for name in _names(said)]
            case _:
                bind(said)
                return {"Error": ""}

    return answer


def calls(extender: Extender, path: str, pod: str) -> list[bytes]:
    """Return the bodies of the calls of a path that are about a pod of this name."""
    return [
        body
        for called, body in list(extender.bodies)
        if called == path and _pod(json.loads(body)) == pod
    ]


def _names(said: Body) -> list[str]:
    if said["NodeNames"]:
        return list(said["NodeNames"])
    return [each["metadata"]["name"] for each in said["Nodes"]["items"]]


def _pod(said: Object) -> Any:
    return said["Pod"]["metadata"]["name"] if "Pod" in said else said["PodName"]
