"""The older registration, fields separated by commas and devices by colons."""

import pytest

from springtide.model.device import Device
from springtide.wire.hami import Malformed, colon

P4 = Device(
    id="GPU-03f69c50",
    index=1,
    slots=10,
    memory_mib=7680,
    cores=100,
    type="NVIDIA-Tesla P4",
    numa=0,
    mode="hami-core",
    is_healthy=True,
)


def test_t05_nine_fields_are_written_and_read_back() -> None:
    text = colon.encode([P4])

    assert text == "GPU-03f69c50,10,7680,100,NVIDIA-Tesla P4,0,true,1,hami-core:"
    assert colon.decode(text) == (P4,)


def test_an_unhealthy_device_is_written_as_such() -> None:
    assert colon.encode([Device(id="x", mode="mig")]) == "x,0,0,0,,0,false,0,mig:"


def test_seven_fields_lack_index_and_mode() -> None:
    (device,) = colon.decode("DCU-0,10,7680,100,DCU-K100,0,true:")

    assert (device.index, device.mode, device.is_healthy) == (0, "hami-core", True)


@pytest.mark.parametrize("text", [":", "::"])
def test_separators_alone_hold_no_device(text: str) -> None:
    assert colon.decode(text) == ()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "node annotation missing device separator"),
        (",", "node annotation missing device separator"),
        ("a", "node annotation missing device separator"),
        (",:", "unexpected field count 2 in node annotation"),
        ("garbage:", 'malformed node annotation segment: "garbage"'),
        ('a"b:', r'malformed node annotation segment: "a\"b"'),
        ("a,1,2,3,4:", "unexpected field count 5 in node annotation"),
        (
            "DCU-0,notanint,7680,100,DCU-K100,0,true:",
            'invalid count field: strconv.ParseInt: parsing "notanint": invalid syntax',
        ),
        (
            "DCU-0,10,7680,100,DCU-K100,notanint,true:",
            'invalid numa field: strconv.Atoi: parsing "notanint": invalid syntax',
        ),
        (
            "DCU-0,10,7680,100,DCU-K100,notanint,notabool:",
            'invalid health field: strconv.ParseBool: parsing "notabool": invalid syntax',
        ),
        (
            "DCU-0,10,7680,100,DCU-K100,0,true,notanint,hami-core:",
            'invalid index field: strconv.Atoi: parsing "notanint": invalid syntax',
        ),
        (
            "DCU-0,10,7680,100,DCU-K100,0,true,-1,hami-core:",
            "index field must not be negative: -1",
        ),
    ],
)
def test_faults_keep_their_words(text: str, fault: str) -> None:
    with pytest.raises(Malformed) as raised:
        colon.decode(text)

    assert str(raised.value) == fault


@pytest.mark.parametrize("word", ["1", "t", "T", "TRUE", "true", "True"])
def test_true_has_six_spellings(word: str) -> None:
    (device,) = colon.decode(f"a,1,1,1,t,0,{word}:")

    assert device.is_healthy
