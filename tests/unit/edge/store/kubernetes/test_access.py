"""Where members meet in a cluster: names that are made of others, and settings that cannot be."""

from typing import Any

import pytest
from msgspec.structs import replace

from springtide.edge.cluster import Unusable
from springtide.edge.store.kubernetes.access import checked
from tests.kubestores import ACCESS

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no namespace": ({"namespace": ""}, r"namespace: it is empty"),
    "no pod": ({"pod": ""}, r"pod: it is empty; give its name"),
    "no name": ({"workload": "Chat_1"}, r'workload: "Chat_1" is no name'),
    "no name of a lock": ({"lock_name": "a/b"}, r"lock_name: .* as kubectl shows it"),
    "one name for two": ({"records_name": "chat-hpa-status"}, r"records_name: .* another one"),
    "no port": ({"port": 65_536}, r"port: 65536 is no port; give 0 to 65535"),
    "no start": ({"ordinals_start": -1}, r"ordinals_start: ordinals are not negative"),
    "every pod": ({"selector": ""}, r"selector: it chooses every pod"),
    "no selector": ({"selector": "app in"}, r"selector: .* as kubectl's -l takes it"),
    "our labels": ({"selector": "app=chat,hpa_scaling_ready=1"}, r"selector: .* leave those two"),
}


@pytest.mark.parametrize(("said", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_is_refused_with_the_field_and_the_remedy(
    said: dict[str, Any], words: str
) -> None:
    with pytest.raises(Unusable, match=words):
        checked(replace(ACCESS, **said))


def test_names_are_made_of_the_workload_s() -> None:
    access = checked(ACCESS)

    assert access.status.name == "chat-hpa-status"
    assert access.records.name == "chat-hpa-records"
    assert access.names.lock == "chat-hpa-leader"
    assert replace(access, status_name="seen").status.name == "seen"
