"""The `vnpus` section of HAMi's device configuration, as far as scheduling reads it.

Every kind of chip has a *word* of its own: the resource names, the annotations and the requests of
one chip carry it. A chip is given whole, or cut by one of its *templates*.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import structs

from springtide.engine.placement.configured import read_section

FAMILY_NAME: Final = "Ascend"
"""The family's name: all kinds of chip together."""

PAIRED_WORD: Final = "Ascend910C"
"""The chip of which two form a module."""

NETWORKED_PREFIX: Final = "Ascend910"
"""The beginning of the words of chips that may be part of fast networks."""

SOFT: Final = "hami-core"
"""The soft split: shared by memory and cores without templates, if pod and node agree on it."""


class Template(msgspec.Struct, frozen=True, gc=False):
    """One shape that a chip can be cut into."""

    name: str = ""
    memory_mib: int = msgspec.field(name="memory", default=0)


class Chip(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """One kind of chip: its resource names, its memory, and its templates, the smallest first.

    A whole chip counts as `allocatable_mib`; up to `capacity_mib` may be asked for. `memory_factor`
    multiplies the memory that pods ask for. Admission sets `runtime_class` where a pod has none, and
    if it `hides_chips`, containers without them see none.
    """

    word: str = msgspec.field(name="commonWord", default="")
    count_name: str = msgspec.field(name="resourceName", default="")
    memory_name: str = msgspec.field(name="resourceMemoryName", default="")
    cores_name: str = msgspec.field(name="resourceCoreName", default="")
    allocatable_mib: int = msgspec.field(name="memoryAllocatable", default=0)
    capacity_mib: int = msgspec.field(name="memoryCapacity", default=0)
    memory_factor: int = msgspec.field(name="memoryFactor", default=1)
    is_super_pod: bool = msgspec.field(name="superPod", default=False)
    hides_chips: bool = msgspec.field(name="overwriteEnv", default=False)
    runtime_class: str = msgspec.field(name="runtimeClassName", default="")
    templates: tuple[Template, ...] = ()

    @property
    def is_paired(self) -> bool:
        """Return whether two of these chips form a module."""
        return self.word == PAIRED_WORD

    @property
    def is_networked(self) -> bool:
        """Return whether these chips may be part of fast networks."""
        return self.word.startswith(NETWORKED_PREFIX)

    def trimmed(self, memory_mib: int) -> Template:
        """Return the smallest template with so much memory, or a nameless one: the whole chip.

        Its memory is 0 where not even the whole chip has so much.
        """
        for template in self.templates:
            if memory_mib <= template.memory_mib:
                return template
        return Template("", self.allocatable_mib if memory_mib <= self.capacity_mib else 0)


def _chip(word: str, *templates: Template, mib: int, is_super_pod: bool = False) -> Chip:
    return Chip(
        word=word,
        count_name=f"huawei.com/{word}",
        memory_name=f"huawei.com/{word}-memory",
        cores_name=f"huawei.com/{word}-core",
        allocatable_mib=mib,
        capacity_mib=mib,
        is_super_pod=is_super_pod,
        templates=templates,
    )


_QUARTER, _HALF = Template("vir05_1c_16g", 16384), Template("vir10_3c_32g", 32768)

DEFAULT_CHIPS: Final = (
    _chip(
        "Ascend910A",
        Template("vir02", 2184),
        Template("vir04", 4369),
        Template("vir08", 8738),
        Template("vir16", 17476),
        mib=32768,
    ),
    _chip(
        "Ascend910B2",
        Template("vir03_1c_8g", 8192),
        Template("vir06_1c_16g", 16384),
        Template("vir12_3c_32g", 32768),
        mib=65536,
    ),
    _chip("Ascend910B3", _QUARTER, _HALF, mib=65536),
    _chip("Ascend910B4-1", _QUARTER, _HALF, mib=65536),
    _chip(
        "Ascend910B4",
        Template("vir05_1c_8g", 8192),
        Template("vir10_3c_16g", 16384),
        mib=32768,
    ),
    structs.replace(
        _chip(
            "Ascend310P",
            Template("vir01", 3072),
            Template("vir02", 6144),
            Template("vir04", 12288),
            mib=21527,
        ),
        capacity_mib=24576,
    ),
    _chip("Ascend910C", _QUARTER, _HALF, mib=65536, is_super_pod=True),
)
"""The chips that HAMi's chart knows."""


class AscendConfig(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """The kinds of chip, and whether nodes that do not say otherwise support the soft split."""

    chips: tuple[Chip, ...] = msgspec.field(name="configs", default=())
    has_soft_split: bool = msgspec.field(name="hamiVnpuCore", default=False)

    @property
    def names(self) -> frozenset[str]:
        """Return the resource names in use."""
        names = (
            name
            for chip in self.chips
            for name in (chip.count_name, chip.memory_name, chip.cores_name)
        )
        return frozenset(name for name in names if name)


DEFAULT_CONFIG: Final = AscendConfig(chips=DEFAULT_CHIPS)


def config_from(document: Mapping[str, object]) -> AscendConfig:
    """Return the configuration in a decoded device configuration, or raise InvalidConfig.

    Without any configuration the chips of HAMi's chart are taken; one without them has none.
    """
    if not document:
        return DEFAULT_CONFIG
    section = document.get("vnpus") or {}
    # Older configurations have the list of chips here.
    whole = {"configs": section} if isinstance(section, list) else section
    config = read_section(whole, AscendConfig, name="vnpus")
    return structs.replace(config, chips=tuple(_in_order(chip) for chip in config.chips))


def _in_order(chip: Chip) -> Chip:
    templates = sorted(chip.templates, key=lambda template: template.memory_mib)
    return structs.replace(chip, templates=tuple(templates))
