"""In which order pods come and go."""

from springtide.engine.replay import Turn, arrivals, turns


def came(pod: int) -> Turn:
    """Return that a pod comes."""
    return Turn(pod=pod)


def went(pod: int) -> Turn:
    """Return that a pod goes."""
    return Turn(pod=pod, is_departure=True)


def test_pods_that_stay_come_in_the_order_in_which_they_are_given() -> None:
    assert arrivals(2) == (came(0), came(1))
    assert turns([5, 5, 9], [None, None, None]) == arrivals(3)


def test_a_pod_goes_between_those_that_come_before_and_after_its_end() -> None:
    assert turns([0, 10, 20], [15, None, None]) == (came(0), came(1), went(0), came(2))


def test_who_goes_when_another_comes_makes_room_for_it() -> None:
    assert turns([0, 10], [10, None]) == (came(0), went(0), came(1))


def test_a_pod_that_is_gone_in_the_second_it_comes_was_there() -> None:
    assert turns([10, 10], [10, None]) == (came(0), went(0), came(1))


def test_pods_go_in_the_order_of_their_ends() -> None:
    assert turns([0, 1, 9], [8, 7, None]) == (came(0), came(1), went(1), went(0), came(2))


def test_nobody_goes_after_the_last_one_has_come() -> None:
    assert turns([0, 1], [5, 6]) == arrivals(2)


def test_a_pod_that_ended_before_it_came_goes_at_the_next_turn() -> None:
    assert turns([5, 6], [1, None]) == (came(0), went(0), came(1))
