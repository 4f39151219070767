"""The definition of device profiles on a real API server, which refuses what our reader refuses."""

import urllib.error
from typing import Final

import pytest

from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.waiting import eventually
from tests.profiles import Document, bad, definition, document, good

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PROFILES: Final = "/apis/springtide.io/v1alpha1/deviceprofiles"
STRICTLY: Final = f"{PROFILES}?fieldValidation=Strict&dryRun=All"
SERVED: Final = {"Established": "True", "NonStructuralSchema": None, "NamesAccepted": "True"}

pytestmark = pytest.mark.timeout(180)


def conditions(plane: ControlPlane, name: str) -> Document:
    listed = plane.ask("GET", f"{DEFINITIONS}/{name}").get("status", {}).get("conditions")
    found = {each["type"]: each["status"] for each in listed or ()}
    return {name: found.get(name) for name in SERVED}


def refusal(plane: ControlPlane, made: Document) -> str:
    """Return what the server says against a document, empty if it takes it."""
    try:
        plane.create(STRICTLY, made)
    except urllib.error.HTTPError as fault:
        return fault.read().decode()
    return ""


def is_listed(plane: ControlPlane) -> bool:
    try:
        plane.ask("GET", PROFILES)
    except urllib.error.HTTPError:
        return False
    return True


def test_the_server_takes_the_definition_and_what_the_reader_takes(planes: Planes) -> None:
    plane = planes(Setup())

    plane.create(DEFINITIONS, definition())
    told = eventually(
        lambda: conditions(plane, "deviceprofiles.springtide.io"), lambda seen: seen == SERVED
    )
    eventually(lambda: is_listed(plane), bool)
    refused = {name: refusal(plane, each) for name, each in good()}
    taken = [name for name, each in bad() if not refusal(plane, each)]
    plane.create(PROFILES, document())
    kept = plane.ask("GET", f"{PROFILES}/a10")

    assert told == SERVED
    assert {name: words for name, words in refused.items() if words} == {}
    assert taken == []
    assert kept["spec"]["homogeneity"] == "Strict"
    assert kept["spec"]["devices"][0]["cores"] == 100
