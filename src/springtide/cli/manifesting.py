"""What `springtide replicas manifest` does once its options are read: read, check, compose, write."""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import click
import msgspec

from springtide.apps.manifests import (
    Choices,
    Fallback,
    Finding,
    Printed,
    ScaleDown,
    compose,
    demand,
    lint,
    patch,
    settled,
    target_of,
)
from springtide.apps.manifests.choices import Document, Version
from springtide.base.labels import key_faults, value_faults
from springtide.base.selectors import MalformedSelector, parse_selector
from springtide.cli import formats
from springtide.cli.endings import USAGE, Ended
from springtide.cli.terminal import standard_output
from springtide.edge import files
from springtide.model.replicas.settings import ReplicaSettings
from springtide.wire import yaml
from springtide.wire.crd import replica_lint
from springtide.wire.crd.replica_entries import ReplicasDocument
from springtide.wire.crd.replica_times import whole_ms
from springtide.wire.crd.replicas import read_document, read_replicas
from springtide.wire.crd.writing import NotWritable, selector_object
from springtide.wire.k8s.scaled import read_scaled
from springtide.wire.origin import Origin
from springtide.wire.source import Source

PATCHES: Final = "patch"
_VERSION: Final = re.compile(r"v?1\.(?P<minor>\d{1,4})(?:[.+-].*)?")
_PEM: Final = b"-----BEGIN CERTIFICATE-----"


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration, and where it stands."""

    document: ReplicasDocument
    settings: ReplicaSettings
    origin: Origin
    grace_s_min: int
    warnings: tuple[replica_lint.Warned, ...]


def run(wanted: Mapping[str, Any]) -> None:
    """Print what the options ask for, and what is wrong on standard error."""
    given = _configuration(wanted["config"])
    settings, origin = given.settings, given.origin
    named = [wanted[each] for each in ("workload", "hpa") if wanted[each]]
    scaled = read_scaled(files.read(list(dict.fromkeys(named)), sys.stdin.buffer))
    target = target_of(scaled, settings, wanted["namespace"]) if wanted["workload"] else None
    choices = settled(_choices(wanted, given), settings, target)
    demand(settings, choices, origin=origin)
    _tell(given)
    found = lint(scaled, settings, choices, target=target, origin=origin)
    _judge(found, _printed(wanted))
    if not wanted["check"]:
        _write(settings, choices, wanted)


def _printed(wanted: Mapping[str, Any]) -> Printed:
    if wanted["check"]:
        return Printed.NOTHING
    return Printed.PATCH if wanted["patch"] else Printed.OBJECTS


def _configuration(path: str) -> Given:
    (source,) = _one(path)
    found = yaml.documents(source.data, source.name)
    if len(found) != 1:
        raise Ended(f"{path} holds {len(found)} documents; write exactly one.", USAGE)
    origin = Origin(source=source.name, document=found[0])
    document = read_document(found[0].value, origin=origin)
    settings = read_replicas(found[0].value, origin=origin)
    grace = document.controller.stop_grace or "0s"
    grace_ms = whole_ms(grace, origin, ("controller", "stopGrace"))
    return Given(
        document=document,
        settings=settings,
        origin=origin,
        grace_s_min=-(-grace_ms // 1000),
        warnings=replica_lint.lint(document, origin=origin),
    )


def _one(path: str) -> Sequence[Source]:
    found = files.read((path,), sys.stdin.buffer)
    if len(found) != 1:
        raise Ended(f"{path} holds {len(found)} files; name one.", USAGE)
    return found


def _choices(wanted: Mapping[str, Any], given: Given) -> Choices:
    fallback = wanted["tolerance_fallback"]
    store, process = given.document.store, given.document.process
    cluster = None if store is None else store.kubernetes
    is_elsewhere = store is not None and cluster is None
    return Choices(
        namespace=wanted["namespace"],
        selector=_selector(wanted["selector"], "--selector"),
        met_by=_selector("" if cluster is None else cluster.selector, "store.kubernetes.selector"),
        in_cluster=given.settings.is_coordinated or not is_elsewhere,
        reaches=store is None or process.prestop_on_metrics or bool(wanted["prestop_port"]),
        service_account=wanted["service_account"],
        container=wanted["container"],
        ordinals_start=wanted["ordinals_start"],
        kubernetes=_version(wanted["kubernetes_version"]),
        fallback=None if fallback is None else Fallback(fallback),
        floor=wanted["floor"],
        scale_down=ScaleDown(
            is_allowed=wanted["allow_scale_down"],
            window_s=wanted["scale_down_window"],
            pods=wanted["scale_down_pods"],
            period_s=wanted["scale_down_period"],
        ),
        metrics_port=wanted["metrics_port"],
        prestop_port=wanted["prestop_port"],
        stop_s=wanted["stop_time"],
        grace_s_min=given.grace_s_min,
        monitor_labels=dict(map(_label, wanted["monitor_label"])),
        ca_bundle=_authority(wanted["ca_bundle"]),
    )


def _selector(text: str, name: str) -> Document:
    if not text:
        return {}
    try:
        return selector_object(parse_selector(text))
    except (MalformedSelector, NotWritable) as fault:
        raise Ended(f"{name}: {fault}", USAGE) from fault


def _version(text: str) -> Version:
    matched = _VERSION.fullmatch(text)
    if matched is None:
        raise Ended(
            f"--kubernetes-version: {text!r} is no version; write it like 1.35, as `kubectl version` says.",
            USAGE,
        )
    return 1, int(matched["minor"])


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    found = (*key_faults(key), *value_faults(value)) if equals else ("there is no = in it",)
    if found:
        raise Ended(f"--monitor-label: {text!r} is no label: {found[0]}.", USAGE)
    return key, value


def _authority(path: str) -> bytes:
    if not path:
        return b""
    (source,) = _one(path)
    if _PEM not in source.data:
        raise Ended(f"{path} holds no certificate; name the PEM file of the authority.", USAGE)
    return source.data


def _tell(given: Given) -> None:
    for each in given.warnings:
        click.echo(f"Warning: {given.origin.source}: {each.field}: {each.words}", err=True)


def _judge(found: Iterable[Finding], printed: Printed) -> None:
    """Say what was found, and end the command if anything must not stay so."""
    stopping = 0
    for each in found:
        stops = each.stops(printed)
        stopping += stops
        click.echo(f"{'Error' if stops else 'Warning'}: {each}", err=True)
    if stopping:
        what = "this is" if stopping == 1 else f"these {stopping} faults are"
        raise Ended(f"Nothing can be relied on until {what} mended.", USAGE)


def _write(settings: ReplicaSettings, choices: Choices, wanted: Mapping[str, Any]) -> None:
    output: Literal["yaml", "json"] = wanted["output"]
    if wanted["patch"]:
        standard_output().write(formats.as_documents((patch(settings, choices),), output))
        return
    documents = compose(settings, choices, without=wanted["without"])
    folder = wanted["output_dir"]
    if not folder:
        standard_output().write(formats.as_documents(documents, output))
        return
    # kubectl does not look into folders in a folder, so that no patch is applied as an object.
    _put(f"{folder}/{PATCHES}", (patch(settings, choices),), output)
    _put(folder, documents, output)
    click.echo(f"Wrote {len(documents)} objects and a patch to {folder}.", err=True)


def _put(folder: str, documents: Iterable[Document], output: Literal["yaml", "json"]) -> None:
    files.make_folder(folder)
    for each in documents:
        text = formats.as_documents((each,), output)
        files.write(f"{folder}/{each['kind'].lower()}.{output}", f"{text}\n".encode())
