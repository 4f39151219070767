"""A document as kube-scheduler decodes it: version and kind, fields, plugin arguments, defaults.

`from_text` reads a whole file as the scheduler does, of which only the first YAML document counts.
`from_json` reads one document that has been found already.
"""

import json
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from springtide.model.scheduler import PluginConfig, SchedulerConfiguration, SchedulerProfile
from springtide.wire import yaml
from springtide.wire.configurations import SCHEDULER_GROUP, SCHEDULER_KIND
from springtide.wire.errors import MalformedDocument
from springtide.wire.kubescheduler.defaults import defaulted
from springtide.wire.kubescheduler.golang import read
from springtide.wire.kubescheduler.names import ARGUMENTS
from springtide.wire.kubescheduler.parsed import (
    Complaint,
    Members,
    Strictness,
    kind_of,
    parse,
    plain,
)
from springtide.wire.validation import Path

GROUP: Final = SCHEDULER_GROUP
VERSION: Final = "v1"
KIND: Final = SCHEDULER_KIND

_META: Final = "couldn't get version/kind; json parse error: "
_NO_OBJECT: Final = (
    'json: cannot unmarshal {} into Go value of type struct {{ APIVersion string "json:'
    '\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
_KINDS: Final = frozenset({KIND, *(f"{name}Args" for name in ARGUMENTS)})


def from_text(text: str) -> SchedulerConfiguration:
    """Return what a file says, defaults filled in, or raise Complaint."""
    if text.lstrip().startswith("{"):
        return defaulted(_decoded(_json(text), shown=text, strictness=Strictness([])))
    value, repeated = _yaml(text)
    node = parse(msgspec.json.encode(value, order="sorted").decode())
    return defaulted(_decoded(node, shown=text, strictness=Strictness(repeated)))


def from_json(data: bytes, *, is_yaml: bool = False) -> SchedulerConfiguration:
    """Return what a document says, defaults filled in, or raise Complaint.

    Of a document that was YAML the fields are told by name instead of by place, as the scheduler
    does it.
    """
    value = msgspec.json.decode(data)
    if is_yaml:
        data = msgspec.json.encode(value, order="sorted")
    return defaulted(stated(data))


def stated(data: bytes) -> SchedulerConfiguration:
    """Return what a document says and nothing more, or raise Complaint."""
    text = data.decode()
    return _decoded(_json(text), shown=text, strictness=Strictness([]))


def _decoded(node: Any, *, shown: str, strictness: Strictness) -> SchedulerConfiguration:
    group, version, kind = _version_and_kind(node, shown=shown)
    if (group, version) != (GROUP, VERSION) or kind not in _KINDS:
        raise _unregistered(group, version, kind)
    if kind != KIND:
        got = f"{GROUP}/{VERSION}, Kind={kind}"
        raise Complaint(f"couldn't decode as {KIND}, got {got}: ", ("kind",))
    configuration = _with_arguments(read(node, SchedulerConfiguration, strictness), strictness)
    if strictness.complaints:
        raise _strict(strictness.complaints)
    return configuration


def _strict(complaints: list[Complaint]) -> Complaint:
    texts = ", ".join(each.text for each in complaints)
    return Complaint(f"strict decoding error: {texts}", complaints[0].path)


# Texts


def _json(text: str) -> Any:
    try:
        return parse(text)
    except json.JSONDecodeError as fault:
        raise Complaint(f"{_META}{_go_syntax(fault, text)}") from fault


def _go_syntax(fault: json.JSONDecodeError, text: str) -> str:
    rest = text[fault.pos :].lstrip()
    if not rest:
        return "unexpected end of JSON input"
    found = f"invalid character '{rest[0]}'"
    if fault.msg == "Extra data":
        return f"{found} after top-level value"
    if fault.msg == "Expecting ',' delimiter":
        is_object = text[: fault.pos].count("{") > text[: fault.pos].count("}")
        after = "object key:value pair" if is_object else "array element"
        return f"{found} after {after}"
    if fault.msg == "Expecting ':' delimiter":
        return f"{found} after object key"
    if fault.msg.startswith("Expecting property name"):
        return f"{found} looking for beginning of object key string"
    return f"{found} looking for beginning of value"


def _yaml(text: str) -> tuple[Any, list[Complaint]]:
    """Return the first document, and which of its keys are given twice."""
    repeated: list[tuple[str, int]] = []
    try:
        found = yaml.documents(text.encode(), "", repeated=repeated)
    except MalformedDocument as fault:
        raise Complaint(_yaml_text(fault)) from fault
    if not repeated:
        return (found[0].value if found else None), []
    lines = "".join(f'\n  line {line}: key "{key}" already set in map' for key, line in repeated)
    return found[0].value, [Complaint(f"yaml: unmarshal errors:{lines}")]


def _yaml_text(fault: MalformedDocument) -> str:
    """Return a parser's complaint as Go words it: without place where it concerns line 1."""
    what = fault.reason.removeprefix("this is not YAML: ").removesuffix(".")
    return f"yaml: {what}" if fault.line == 1 else f"yaml: line {fault.line}: {what}"


# Versions and kinds


def _version_and_kind(
    node: Any, *, shown: str, assumed: tuple[str, str, str] = ("", "", "")
) -> tuple[str, str, str]:
    if node is not None and not isinstance(node, Members):
        raise Complaint(_META + _NO_OBJECT.format(kind_of(node)))
    api_version, kind = _text(node, "apiVersion"), _text(node, "kind")
    group, slash, version = api_version.rpartition("/")
    if "/" in group:
        raise Complaint(f"{_META}unexpected GroupVersion string: {api_version}", ("apiVersion",))
    if not kind and not assumed[2]:
        raise Complaint(f"Object 'Kind' is missing in '{shown}'")
    if not version and not assumed[1]:
        raise Complaint(f"Object 'apiVersion' is missing in '{shown}'")
    if not slash and not version:
        group, version = assumed[0], assumed[1]
    return group, version, kind or assumed[2]


def _text(node: Members | None, name: str) -> str:
    value = node.get(name) if node is not None else None
    if value is None:
        return ""
    if kind_of(value) != "string":
        what = f"cannot unmarshal {kind_of(value)} into Go struct field .{name} of type string"
        raise Complaint(f"{_META}json: {what}", (name,))
    return str(value)


def _unregistered(group: str, version: str, kind: str) -> Complaint:
    shown = f"{group}/{version}" if group else version
    text = f'no kind "{kind}" is registered for version "{shown}"'
    return Complaint(text, ("apiVersion" if kind in _KINDS else "kind",))


# Plugin arguments


def _with_arguments(
    configuration: SchedulerConfiguration, strictness: Strictness
) -> SchedulerConfiguration:
    profiles = tuple(
        _profile(profile, index, strictness) for index, profile in enumerate(configuration.profiles)
    )
    return replace(configuration, profiles=profiles)


def _profile(profile: SchedulerProfile, index: int, strictness: Strictness) -> SchedulerProfile:
    configs = tuple(
        _plugin_config(config, ("profiles", index, "pluginConfig", place), strictness)
        for place, config in enumerate(profile.plugin_config)
    )
    return replace(profile, plugin_config=configs)


def _plugin_config(config: PluginConfig, path: Path, strictness: Strictness) -> PluginConfig:
    of = ARGUMENTS.get(config.name)
    if of is None:
        return replace(config, args=plain(config.args))
    if config.args is None:
        return replace(config, args=of())
    where = f"decoding .profiles[{path[1]}].pluginConfig[{path[3]}]: "
    inner = Strictness([])
    try:
        args = _arguments(config, of, inner)
    except Complaint as fault:
        raise Complaint(where + fault.text, (*path, "args", *fault.path)) from fault
    if inner.complaints:
        nested = _strict([_about(config.name, _strict(inner.complaints))])
        first = (*path, "args", *inner.complaints[0].path)
        strictness.complaints.append(Complaint(where + nested.text, first))
    return replace(config, args=args)


def _arguments(config: PluginConfig, of: type, strictness: Strictness) -> Any:
    wanted = f"{config.name}Args"
    try:
        found = _version_and_kind(config.args, shown="", assumed=(GROUP, VERSION, wanted))
        group, version, kind = found
        if (group, version) != (GROUP, VERSION) or kind not in _KINDS:
            raise _unregistered(*found)
        args = read(config.args, of, strictness) if kind == wanted else None
    except Complaint as fault:
        raise _about(config.name, fault) from fault
    if args is None:
        got = f"were not of type {wanted}.{GROUP}, got {kind}.{GROUP}"
        raise Complaint(f"args for plugin {config.name} {got}", ("kind",))
    return args


def _about(name: str, fault: Complaint) -> Complaint:
    return Complaint(f"decoding args for plugin {name}: {fault.text}", fault.path)
