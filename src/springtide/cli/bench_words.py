"""The words of `springtide bench`: names of policies and traces, ranges of seeds, files of pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from springtide.cli.options import Chain

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ALL: Final = "all"
POLICIES: Final = (
    "prod",
    "fgd",
    "bestfit",
    "dotprod",
    "gpu-packing",
    "gpu-clustering",
    "random",
    "first-fit",
    "hami-binpack",
    "hami-default",
    "hami-spread",
)
TRACES: Final = ("default", "multigpu50", "gpuspec33")
SEEDS_MAX: Final = 10_000
SEED_MAX: Final = 2**63 - 1
PICTURES: Final = (".svg", ".png")

_SEEDS: Final = re.compile(r"(?P<first>\d{1,19})(?:-(?P<last>\d{1,19}))?", re.ASCII)


class Some(Chain):
    """Some of a few words, or all of them; each counts once."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__((*words, ALL))
        self._every = tuple(words)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the words, or end with a usage error."""
        given = super().convert(value, param, ctx)
        return self._every if ALL in given else tuple(dict.fromkeys(given))


class Seeds(click.ParamType[range]):
    """One seed, or the first and the last of several."""

    name = "seeds"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return "A-B"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> range:
        """Return the seeds, or end with a usage error."""
        if isinstance(value, range):
            return value
        hit = _SEEDS.fullmatch(str(value).strip())
        if hit is None:
            self.fail(f"{value!r} names no seeds; write 42 or 42-51.", param, ctx)
        first, last = int(hit["first"]), int(hit["last"] or hit["first"])
        if last < first:
            self.fail(f"{value!r} runs backwards; write {last}-{first}.", param, ctx)
        if last > SEED_MAX:
            self.fail(f"{value!r}: a seed is at most {SEED_MAX}.", param, ctx)
        if last - first >= SEEDS_MAX:
            self.fail(f"{value!r} are more than {SEEDS_MAX:,} seeds; do them in parts.", param, ctx)
        return range(first, last + 1)


class Picture(click.ParamType[str]):
    """A file whose name says in which format it is drawn."""

    name = "picture"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return "FILE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the file, or end with a usage error."""
        path = str(value)
        if not path.lower().endswith(PICTURES):
            known = " or ".join(PICTURES)
            self.fail(f"{path!r} has no known format; let it end in {known}.", param, ctx)
        return path

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Leave files to the shell."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - seldom needed

        return [CompletionItem(incomplete, type="file")]
