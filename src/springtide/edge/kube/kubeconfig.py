"""Kubeconfig files, found and merged as kubectl does it.

`--kubeconfig` names one file. Without it `$KUBECONFIG` names several, of which those that are missing
are passed over, else it is the file in the home folder. What the first file says of a name counts,
and so does the first current context. Paths inside a file start at its folder.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from springtide.base.nearest import nearest
from springtide.edge.cluster.errors import Unusable
from springtide.wire import yaml
from springtide.wire.errors import DocumentFault

VARIABLE: Final = "KUBECONFIG"
_HOME: Final = ".kube/config"
_SECTIONS: Final = {"clusters": "cluster", "users": "user", "contexts": "context"}
_PATHS: Final = ("certificate-authority", "client-certificate", "client-key", "tokenFile")

Fields = dict[str, Any]


class Kubeconfig(msgspec.Struct, frozen=True, kw_only=True):
    """One context with all that it names; `document` is a kubeconfig of nothing else."""

    context: str
    server: str
    document: Fields


def chosen(path: str, context: str, *, environ: Mapping[str, str]) -> Kubeconfig | None:
    """Return the context to use, None if there is no kubeconfig at all, or raise Unusable."""
    files = [_read(Path(path))] if path else [_read(each) for each in _found(environ)]
    if not files:
        return None
    merged = _merged(files)
    return _selected(merged, context)


def _found(environ: Mapping[str, str]) -> list[Path]:
    listed = environ.get(VARIABLE, "")
    if listed:
        return [
            path for name in listed.split(os.pathsep) if name and (path := Path(name)).is_file()
        ]
    home = Path(environ.get("HOME") or Path.home()) / _HOME
    return [home] if home.is_file() else []


def _read(path: Path) -> Fields:
    try:
        documents = yaml.documents(path.read_bytes(), str(path))
        value = next((each.value for each in documents if each.value is not None), {})
    except OSError as fault:
        why = fault.strerror or fault
        raise Unusable(f"{path}: the kubeconfig cannot be read: {why}. Check the path.") from fault
    except DocumentFault as fault:
        raise Unusable(f"{fault} It should be a kubeconfig.") from fault
    if not isinstance(value, dict):
        raise Unusable(f"{path}: this is no kubeconfig; give one, as kubectl uses it.")
    return {
        "current-context": value.get("current-context") or "",
        **{section: _entries(value, section, path) for section in _SECTIONS},
    }


def _entries(value: Fields, section: str, path: Path) -> dict[str, Fields]:
    """Return what a section says by name, with paths that no longer depend on the file."""
    entries: dict[str, Fields] = {}
    listed = value.get(section) or []
    for entry in listed if isinstance(listed, list) else []:
        body = entry.get(_SECTIONS[section]) if isinstance(entry, dict) else None
        if not isinstance(body, dict | None) or not isinstance(entry, dict):
            raise Unusable(f"{path}: {section} has an entry that is no map; correct the file.")
        entries.setdefault(str(entry.get("name")), _located(dict(body or {}), path.parent))
    return entries


def _located(body: Fields, folder: Path) -> Fields:
    for key in _PATHS:
        if body.get(key):
            body[key] = str(folder.absolute() / str(body[key]))
    command = body.get("exec")
    if isinstance(command, dict) and os.sep in str(command.get("command", "")):
        body["exec"] = {**command, "command": str(folder.absolute() / command["command"])}
    return body


def _merged(files: Sequence[Fields]) -> Fields:
    merged: Fields = {section: {} for section in _SECTIONS}
    for file in reversed(files):
        for section in _SECTIONS:
            merged[section] |= file[section]
    current = (file["current-context"] for file in files if file["current-context"])
    return {**merged, "current-context": next(current, "")}


def _selected(merged: Fields, context: str) -> Kubeconfig:
    name = context or str(merged["current-context"])
    if not name:
        raise Unusable(f"No context is current: name one with --context.{_known(merged, '')}")
    chosen_context = merged["contexts"].get(name)
    if chosen_context is None:
        raise Unusable(f'No kubeconfig has a context "{name}".{_known(merged, name)}')
    cluster_name, user_name = str(chosen_context.get("cluster")), str(chosen_context.get("user"))
    cluster = merged["clusters"].get(cluster_name)
    if cluster is None or not isinstance(cluster.get("server"), str):
        raise Unusable(
            f'The context "{name}" is of the cluster "{cluster_name}", of which no kubeconfig says '
            "where its server is. Add it, or use another --context."
        )
    user = merged["users"].get(user_name, {})
    if any(key in user for key in ("as", "as-groups", "as-uid", "as-user-extra")):
        raise Unusable(
            f'The user "{user_name}" acts as somebody else (as), which is not supported here. '
            "Use a context with a user of its own."
        )
    return Kubeconfig(
        context=name, server=cluster["server"], document=_document(name, cluster, user)
    )


def _document(name: str, cluster: Fields, user: Fields) -> Fields:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
    }


def _known(merged: Fields, name: str) -> str:
    names = list(merged["contexts"])
    close = nearest(name, names) if name else None
    if close is not None:
        return f" Did you mean {close}?"
    return f" There are: {', '.join(names)}." if names else " The file names no contexts."
