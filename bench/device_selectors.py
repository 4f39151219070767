"""How many devices a second does a selector judge? 8,000 different ones, and the first expression of all."""

import subprocess
import sys
from collections.abc import Iterator

from bench.figure import Figure, cpu_s, wall_s
from springtide.base.quantity import parse
from springtide.model.device_facts import DeviceFacts, Version
from springtide.wire.cel import Selectors

DEVICES = 8_000
DRIVER = "gpu.example.com"
EXPRESSIONS = {
    "one of two models": f'device.attributes["{DRIVER}"].model in ["a100", "h100"]',
    "enough memory": f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
    "a newer driver": (
        f'has(device.attributes["{DRIVER}"].driverVersion) && '
        f'device.attributes["{DRIVER}"].driverVersion.compareTo(semver("2.0.0")) >= 0'
    ),
}


def measure() -> Iterator[Figure]:
    """Yield devices a second for three expressions, and milliseconds to load the library."""
    devices = [_device(index) for index in range(DEVICES)]
    for name, expression in EXPRESSIONS.items():
        rate = DEVICES / _judged_s(expression, devices)
        yield Figure(name, rate, "devices/s", f"{DEVICES:,} different devices with 6 attributes")
    with_one = wall_s(lambda: _process("Selectors().fault_of('true')"), repeat=5)
    without = wall_s(lambda: _process("Selectors()"), repeat=5)
    yield Figure("first expression", (with_one - without) * 1e3, "ms", "loads the library")


def _judged_s(expression: str, devices: list[DeviceFacts]) -> float:
    selectors = Selectors()
    assert selectors.fault_of(expression) is None

    def judge() -> None:
        for device in devices:
            selectors.matches(expression, device)

    return cpu_s(judge, repeat=3)


def _process(statement: str) -> None:
    script = f"from springtide.wire.cel import Selectors; {statement}"
    subprocess.run([sys.executable, "-c", script], check=True)


def _device(index: int) -> DeviceFacts:
    return DeviceFacts(
        driver=DRIVER,
        attributes={
            f"{DRIVER}/model": ("a100", "h100", "l4")[index % 3],
            f"{DRIVER}/index": index % 8,
            f"{DRIVER}/uuid": f"GPU-{index}",
            f"{DRIVER}/driverVersion": Version("2.1.0"),
            f"{DRIVER}/healthy": True,
            "resource.kubernetes.io/pcieRoot": f"pci0000:{index % 64:02x}",
        },
        capacity={f"{DRIVER}/memory": parse("80Gi")},
    )
