"""Words that are everybody's: they name no one's cluster, and stay as they are."""

import ipaddress
import re
from typing import Final

WELL_KNOWN: Final = frozenset(
    {
        # Objects that every cluster has.
        "default", "kubernetes", "kube-system", "kube-public", "kube-node-lease",
        "system-node-critical", "system-cluster-critical", "default-scheduler", "hami-scheduler",
        # Values that the API, HAMi and Springtide define.
        "linux", "windows", "amd64", "arm64", "ppc64le", "s390x", "riscv64",
        "true", "false", "on", "off", "yes", "no", "success", "failed", "allocating",
        "binpack", "spread", "numa", "mutex", "topology-aware", "hami-core", "mig", "mps",
        "filter", "prioritize", "bind", "preempt", "string", "int", "bool", "version",
        "metadata.name", "*",
    }
)  # fmt: skip
"""Whole words."""

KEYS: Final = frozenset(
    {"app", "component", "gpu", "k8s-app", "name", "release", "role", "tier", "version"}
)
"""Keys of labels without a domain that everybody uses."""

DOMAINS: Final = (
    "kubernetes.io", "k8s.io", "x-k8s.io", "springtide.io", "hami.io", "nvidia.com", "amd.com",
    "intel.com", "huawei.com", "volcano.sh", "amazonaws.com", "amazon.com", "google.com",
    "azure.com", "karpenter.sh", "cambricon.com", "hygon.com", "metax-tech.com", "enflame.com",
    "mthreads.com", "iluvatar.ai", "kunlunxin.com", "vastaitech.com", "birentech.com",
)  # fmt: skip
"""Domains of Kubernetes, of makers of devices and of clouds."""

# API words are CamelCase, which names of objects cannot be.
_API_WORD: Final = re.compile(r"[A-Z][A-Za-z0-9]*")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+|[numkMGTPE]i?|Ki)?")
_DURATION: Final = re.compile(r"([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+")
_VERSION: Final = re.compile(r"v?[0-9]+(\.[0-9]+)*((alpha|beta)[0-9]+)?")
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?([+-][0-9:]+)?")
_MEANT_FOR_ALL: Final = frozenset({"0.0.0.0", "::", "127.0.0.1", "::1"})  # noqa: S104


def is_domain_known(domain: str) -> bool:
    """Return whether a domain is everybody's."""
    return any(domain == known or domain.endswith(f".{known}") for known in DOMAINS)


def is_key_known(key: str) -> bool:
    """Return whether the key of a label is everybody's."""
    domain, slash, name = key.rpartition("/")
    # Some keys look like a domain from end to end.
    return is_domain_known(domain if slash else name) or (
        not slash and (name in KEYS or name in WELL_KNOWN)
    )


def is_value(word: str) -> bool:
    """Return whether a word is a number, a version, a time, or a well known one."""
    patterns = (_NUMBER, _DURATION, _VERSION, _TIME)
    if not word or word in WELL_KNOWN:
        return True
    return not is_address(word) and any(each.fullmatch(word) for each in patterns)


def is_api_word(word: str) -> bool:
    """Return whether a word is one that the API defines, by its spelling."""
    return _API_WORD.fullmatch(word) is not None


def is_address(word: str) -> bool:
    """Return whether a word is the address of somebody's machine."""
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return False
    return word not in _MEANT_FOR_ALL
