"""What is wrong with the settings of an etcd, told with the field and the remedy."""

from typing import Any

import pytest

from springtide.edge.http import Unusable
from springtide.edge.store.etcd.access import EtcdAccess, Pace, checked
from springtide.model.scheduler import ExtenderTLSConfig


def access(**facts: Any) -> EtcdAccess:
    return EtcdAccess(**{"endpoints": ("https://etcd-0:2379",), **facts})


def test_what_can_be_tried_is_taken_as_it_is() -> None:
    whole = access(endpoints=("https://a:2379", "https://[::1]:2379/"), tls=ExtenderTLSConfig())

    assert checked(whole) is whole


@pytest.mark.parametrize(
    ("facts", "field", "remedy"),
    [
        ({"endpoints": ()}, "endpoints", "give 1 to 32"),
        ({"endpoints": ("https://a",) * 33}, "endpoints", "give 1 to 32"),
        ({"endpoints": ("https://a", "etcd-1:2379")}, "endpoints[1]", "write it like https://"),
        ({"endpoints": ("https://a:b",)}, "endpoints[0]", "write it like https://"),
        ({"endpoints": ("https://a/v3",)}, "endpoints[0]", "write it like https://"),
        ({"endpoints": ("http://a",), "tls": ExtenderTLSConfig()}, "endpoints[0]", "https"),
        ({"prefix": "atapp/hpa"}, "prefix", "add it"),
        ({"discovery": ""}, "discovery", "add it"),
        ({"user": "chat"}, "passwordFile", "name its file"),
        ({"password_file": "/p"}, "user", "name the user"),
        ({"pace": Pace(member_ttl_s=0.5)}, "pace.memberTtlS", "at least 1"),
    ],
)
def test_what_cannot_be_is_named(facts: dict[str, Any], field: str, remedy: str) -> None:
    with pytest.raises(Unusable) as caught:
        checked(access(**facts))

    assert caught.value.field == field
    assert remedy in caught.value.why
