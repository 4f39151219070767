"""A whole pod on one node, container by container."""

from springtide.engine.placement.containers import Grants, place_containers
from springtide.model.device import Grant
from springtide.model.refusal import Refusal

CAPACITY = 10


class Tank:
    """A trial with one number: how much is left."""

    def __init__(self) -> None:
        self.left = CAPACITY


def pour(tank: Tank, wanted: int) -> Grants | Refusal:
    if wanted > tank.left:
        return Refusal(rule="tank", reasons=(f"{wanted} of {tank.left}",))
    tank.left -= wanted
    return (Grant(device_id="tank", type="t", memory_mib=wanted, cores=0),)


def placed(requests: list[int | None], *, init_count: int = 0) -> list[int] | str:
    answer = place_containers(requests, init_count=init_count, fresh=Tank, fit=pour)
    if isinstance(answer, Refusal):
        return answer.text
    return [sum(grant.memory_mib for grant in grants) for grants in answer]


def test_app_containers_fill_one_trial() -> None:
    assert placed([6, 4]) == [6, 4]
    assert placed([6, 5]) == "5 of 4"


def test_every_init_container_finds_the_node_as_it_is() -> None:
    assert placed([9, 8, 10], init_count=2) == [9, 8, 10]


def test_app_containers_do_not_see_what_init_containers_took() -> None:
    assert placed([9, None, 10], init_count=1) == [9, 0, 10]


def test_containers_that_ask_nothing_keep_their_place() -> None:
    assert placed([None, 3, None]) == [0, 3, 0]


def test_the_first_refused_container_refuses_the_pod() -> None:
    assert placed([11, 12], init_count=1) == "11 of 10"
