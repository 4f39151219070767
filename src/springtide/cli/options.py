"""Options that several commands share, and words that offer the nearest one when mistyped."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

from springtide.base.nearest import nearest
from springtide.base.quantity import MalformedQuantity, parse
from springtide.cli.context import Context

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ResultT = TypeVar("ResultT")

STDIN: Final = "-"
REQUEST_TIMEOUT: Final = "30s"
NODE_POLICIES: Final = ("binpack", "spread", "fragmentation")
DEVICE_POLICIES: Final = (
    "binpack",
    "spread",
    "numa",
    "mutex",
    "topology-aware",
    "fragmentation",
)


class Cluster(NamedTuple):
    """Which live cluster is meant, and whose pods: no namespace means those of all of them."""

    kubeconfig: str = ""
    context: str = ""
    namespace: str = ""
    has_all_namespaces: bool = False
    timeout_s: float = 0.0

    def is_asked(self, *, has_paths: bool) -> bool:
        """Return whether the cluster is to be read.

        A kubeconfig or a context asks for it in any case, a namespace only where there is nothing
        else that it could be about.
        """
        if self.kubeconfig or self.context:
            return True
        is_about_pods = bool(self.namespace) or self.has_all_namespaces
        return is_about_pods and not has_paths and not is_piped()


def inputs(
    ctx: click.Context,
    named: tuple[str, ...],
    cluster: Cluster,
    *,
    how: str = "name a file or folder",
) -> tuple[tuple[str, ...], Cluster | None]:
    """Return the paths to read, and the live cluster if it is to be read as well.

    `how` says how to name a path.
    """
    if cluster.is_asked(has_paths=bool(named)):
        return named, cluster
    return _sources(ctx, named, how=how), None


def _sources(ctx: click.Context, named: tuple[str, ...], *, how: str) -> tuple[str, ...]:
    """Return the paths to read; without any, what is piped in. `how` says how to name one."""
    if named:
        return named
    if sys.stdin is None or sys.stdin.isatty():
        ctx.fail(
            f"There is nothing to read: {how}, or pipe in what "
            "'kubectl get nodes,pods,daemonsets -A -o json' prints, or read the live cluster with -A."
        )
    return (STDIN,)


def is_piped() -> bool:
    """Return whether standard input is a pipe or a file, rather than a terminal or nothing."""
    if sys.stdin is None or sys.stdin.isatty():
        return False
    try:
        return not stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode)
    except (OSError, ValueError):
        return True


class Duration(click.ParamType[float]):
    """Seconds, or a duration as Go writes it; 0 is no limit."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds, or end with a usage error."""
        # Only a command line that says how long needs it.
        from springtide.base.durations import (  # noqa: PLC0415
            SECOND_NS,
            MalformedDuration,
            parse_duration_ns,
        )

        text = str(value)
        try:
            seconds = float(text) if text.isdecimal() else parse_duration_ns(text) / SECOND_NS
        except MalformedDuration:
            seconds = -1.0
        if seconds < 0:
            self.fail(f"{text!r} is no duration; write it like 30s, 2m or 1h.", param, ctx)
        return seconds


def cluster_options(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Give a command the options that name a live cluster; it takes them as one `cluster`.

    A command that always means the whole cluster takes `whole_cluster_options`.
    """

    @wraps(command)
    def with_cluster(*arguments: Any, namespace: str, **rest: Any) -> ResultT:
        if namespace and rest["cluster"].has_all_namespaces:
            raise click.UsageError("--namespace and --all-namespaces exclude each other: give one.")
        rest["cluster"] = rest["cluster"]._replace(namespace=namespace)
        return command(*arguments, **rest)

    return whole_cluster_options(_NAMESPACE(with_cluster))


def whole_cluster_options(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Give a command the options that name a live cluster, but none that picks a namespace."""

    @wraps(command)
    def with_cluster(
        *arguments: Any,
        kubeconfig: str,
        context: str,
        all_namespaces: bool,
        request_timeout: float,
        **rest: Any,
    ) -> ResultT:
        cluster = Cluster(kubeconfig, context, "", all_namespaces, request_timeout)
        return command(*arguments, cluster=cluster, **rest)

    for option in reversed(_CLUSTER):
        with_cluster = option(with_cluster)
    return with_cluster


_NAMESPACE: Final = click.option(
    "-n",
    "--namespace",
    default="",
    metavar="NAME",
    help="Answer only for pods of this namespace; everything else is still looked at. Without "
    "any input, the live cluster of the current context is read.",
)
_CLUSTER: Final = (
    click.option(
        "--kubeconfig",
        default="",
        metavar="FILE",
        help="Read the live cluster that this kubeconfig names, beside the files that are given.",
    ),
    click.option(
        "--context",
        default="",
        metavar="NAME",
        help="Read the live cluster of this context, beside the files that are given.",
    ),
    click.option(
        "-A",
        "--all-namespaces",
        is_flag=True,
        help="Look at all namespaces, as without this. Without any input, the live cluster of "
        "the current context is read.",
    ),
    click.option(
        "--request-timeout",
        type=Duration(),
        default=REQUEST_TIMEOUT,
        show_default=True,
        help="How long one request to the cluster may take; 0 is no limit.",
    ),
)


class NearestGroup(click.Group):
    """Commands by name; for an unknown one the nearest is named."""

    context_class: type[click.Context] = Context

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Take a command, whose help calls the program what people typed."""
        cmd.context_class = Context
        super().add_command(cmd, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, or end with a usage error."""
        is_unknown = bool(args) and self.get_command(ctx, args[0]) is None
        # A command line that is being completed may hold anything.
        if is_unknown and not args[0].startswith("-") and not ctx.resilient_parsing:
            known = self.list_commands(ctx)
            ctx.fail(f"There is no command {args[0]!r}.{offer(args[0], known)}")
        return super().resolve_command(ctx, args)


class NearestChoice(click.Choice[str]):
    """One word of a few; for an unknown one the nearest is named."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the word, or end with a usage error."""
        if value not in self.choices:
            self.fail(_unknown(str(value), self.choices), param, ctx)
        return str(value)


class Chain(click.ParamType[tuple[str, ...]]):
    """Some of a few words, separated by commas, in an order that counts."""

    name = "chain"

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return "NAME[,NAME]..."

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, ...]:
        """Return the words, or end with a usage error."""
        if isinstance(value, tuple):
            return value
        words = tuple(word.strip() for word in str(value).split(","))
        for word in words:
            if word not in self.words:
                self.fail(_unknown(word, self.words), param, ctx)
        return words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Return the chain so far, going on with each word that it lacks."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - seldom needed

        before, comma, begun = incomplete.rpartition(",")
        given = before.split(",")
        return [
            CompletionItem(f"{before}{comma}{word}")
            for word in self.words
            if word.startswith(begun) and word not in given
        ]


class Limit(click.ParamType[tuple[str, int]]):
    """The most there may be of something that has a name: NAME:NUMBER, a quantity for a resource."""

    name = "limit"

    def __init__(self, metavar: str, example: str) -> None:
        self._metavar = metavar
        self._example = example

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return self._metavar

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, int]:
        """Return the name and the number, or end with a usage error."""
        if isinstance(value, tuple):
            return value
        # Types of devices are names with spaces; the number is what stands behind the last colon.
        named, _, amount = str(value).rpartition(":")
        try:
            limit = parse(amount.strip()).value()
        except MalformedQuantity:
            limit = -1
        if not named.strip() or limit < 0:
            shape = f"Write {self._metavar}, as in {self._example}."
            self.fail(f"{value!r} is no limit. {shape}", param, ctx)
        return named.strip(), limit


def offer(word: str, known: Sequence[str]) -> str:
    """Return a question that offers the nearest known word, with a space before, or nothing."""
    close = nearest(word, known)
    return "" if close is None else f" Did you mean {close}?"


def _unknown(word: str, known: Sequence[str]) -> str:
    return f"{word!r} is none of {', '.join(known)}.{offer(word, known)}"


# Options that are the same wherever they are


filename_option: Final = click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    type=click.Path(allow_dash=True),
    help="Read this file or folder, or standard input for '-'. May be repeated.",
)
groups_option: Final = click.option(
    "--groups",
    multiple=True,
    type=click.Path(),
    help="Read node groups from this file, beside what else is read. May be repeated.",
)


def policy_options(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Give a command the options for pods that do not say how their devices are to be chosen."""
    return _NODE_POLICY(_DEVICE_POLICY(_STRICT_HAMI(command)))


def telling_options(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Give a command the options that say how much is told around the answer."""
    return _WARNINGS(_NO_HEADERS(command))


_NODE_POLICY: Final = click.option(
    "--node-policy",
    type=NearestChoice(NODE_POLICIES),
    default="binpack",
    show_default=True,
    help="How the device scheduler picks nodes for pods that do not say it.",
)
_DEVICE_POLICY: Final = click.option(
    "--device-policy",
    type=NearestChoice(DEVICE_POLICIES),
    default="spread",
    show_default=True,
    help="How it picks devices on a node for pods that do not say it.",
)
_STRICT_HAMI: Final = click.option(
    "--strict-hami",
    is_flag=True,
    help="Choose nodes and devices with the peculiarities of HAMi's scheduler, too.",
)
_WARNINGS: Final = click.option(
    "--warnings", is_flag=True, help="Print every problem of the input in full."
)
_NO_HEADERS: Final = click.option(
    "--no-headers", is_flag=True, help="Leave out the headings of the tables."
)
