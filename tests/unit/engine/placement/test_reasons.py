"""The words in which devices refuse."""

from springtide.engine.placement.reasons import Reason, parse, phrases, text_of


def test_reasons_are_counted_and_sorted_as_texts() -> None:
    counts = {
        Reason.RESOURCE_QUOTA_NOT_FIT: 3,
        Reason.ALLOCATED_CARDS_INSUFFICIENT_REQUEST: 1,
    }

    text = text_of(counts, 4)

    assert text == "1/4 AllocatedCardsInsufficientRequest, 3/4 ResourceQuotaNotFit"


def test_a_mixed_refusal_reads_as_hami_writes_it() -> None:
    counts = {
        Reason.CARD_TIME_SLICING_EXHAUSTED: 4,
        Reason.CARD_UUID_MISMATCH: 3,
        Reason.CARD_INSUFFICIENT_MEMORY: 2,
        Reason.CARD_INSUFFICIENT_CORE: 1,
    }

    text = text_of(counts, 10)

    assert text == (
        "1/10 CardInsufficientCore, 2/10 CardInsufficientMemory, "
        "3/10 CardUuidMismatch, 4/10 CardTimeSlicingExhausted"
    )


def test_the_order_is_that_of_texts_not_of_numbers() -> None:
    assert phrases({"Y": 2, "X": 10}, 16) == ("10/16 X", "2/16 Y")


def test_no_reason_is_an_empty_text() -> None:
    assert text_of({}, 3) == ""


def test_t13_counted_reasons_read_back() -> None:
    counts = parse("1/4 AllocatedCardsInsufficientRequest, 3/4 ResourceQuotaNotFit")

    assert counts == {"AllocatedCardsInsufficientRequest": 1, "ResourceQuotaNotFit": 3}


def test_t14_whole_node_reasons_have_no_count() -> None:
    assert parse("NodeInsufficientDevice") == {}
    assert parse("node unregistered") == {}
    assert parse("") == {}
