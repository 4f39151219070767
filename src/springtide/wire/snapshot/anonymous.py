"""Objects with other names: the same word becomes the same name everywhere, so references still match.

Only what is known to be everybody's stays: numbers, times, words of the API, keys and domains of
Kubernetes and of makers of devices. Every other text becomes a made-up name, also in fields that
nobody here has heard of; texts for people and whatever decides nothing is left out.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from springtide.wire import kubescheduler, yaml
from springtide.wire.configurations import DEVICE_CONFIG_KEY, is_device_config
from springtide.wire.errors import MalformedDocument
from springtide.wire.snapshot import devices
from springtide.wire.snapshot.fields import (
    AMOUNT,
    ATTRIBUTES,
    BY_DOMAIN,
    IMAGES,
    KEYS,
    LABELS,
    LEFT_OUT,
    NAMED,
    NODE_INFO,
    PREFIXES,
    QUANTITIES,
    SELECTORS,
    VALUES,
    WORDS_OF_API,
)
from springtide.wire.snapshot.names import Names
from springtide.wire.snapshot.objects import Object
from springtide.wire.snapshot.words import (
    is_address,
    is_api_word,
    is_domain_known,
    is_key_known,
    is_value,
)

_URL: Final = re.compile(r"(?P<scheme>[a-z]+)://(?P<host>[^/]*).*", re.DOTALL)
_PART_OF_REQUEST: Final = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")
# A text in an expression, or a comment.
_LITERAL: Final = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\]|\\.)*'|//[^\n]*")
_LIMITED: Final = re.compile(r"(limits|requests)\.")
_NOWHERE: Final = "nobody://"


def anonymised(objects: Sequence[Object], names: Names) -> list[Object]:
    """Return the objects under other names."""
    for each in objects:
        _know(each, names)
    rewriting = _Rewriting(names, objects)
    return [rewriting.object(each) for each in objects]


def _know(value: Object, names: Names) -> None:
    """Learn what is called what, so that these names are found wherever they stand."""
    kind, metadata = value.get("kind"), _part(value, "metadata")
    name = metadata.get("name")
    if not (kind in BY_DOMAIN and isinstance(name, str) and is_domain_known(name)):
        _learn(name, PREFIXES.get(str(kind), "object"), names)
    _learn(metadata.get("namespace"), "ns", names)
    _learn(_part(value, "spec").get("nodeName"), "node", names)
    groups = value.get("groups")
    for group in groups if kind == "NodeGroups" and isinstance(groups, list) else []:
        _learn(group.get("name") if isinstance(group, dict) else None, "group", names)


def _part(value: Object, field: str) -> Object:
    """Return a map inside an object, an empty one where it has none."""
    part = value.get(field)
    return part if isinstance(part, dict) else {}


def _learn(word: object, prefix: str, names: Names) -> None:
    if isinstance(word, str) and not is_value(word):
        names.know(word, prefix)


class _Rewriting:
    """Walks through objects, and knows by the field what a text is."""

    def __init__(self, names: Names, objects: Sequence[Object]) -> None:
        self._names = names
        self._has_plugins = False
        self._rules: Mapping[str, Callable[[str], str]] = {
            **dict.fromkeys(WORDS_OF_API, self._enumerated),
            **dict.fromkeys(KEYS, self._key),
            **dict.fromkeys(VALUES, self._label),
            **dict.fromkeys(IMAGES, self._image),
            "apiVersion": self._version,
            "apiGroup": self._version,
            "ignoredResourceGroups": self._domain,
            "matchAttribute": self._attribute,
            "distinctAttribute": self._attribute,
            "uid": names.uid,
            "expression": self._expression,
            "providerID": self._provider_id,
            "providerIdPattern": self._pattern,
        }
        ids = (_part(each, "spec").get("providerID") for each in objects)
        self._provider_ids = sorted({each for each in ids if isinstance(each, str)})

    def object(self, value: Object) -> Object:
        """Return one object under other names."""
        if is_device_config(value):
            return self._configuration(value)
        if value.get("kind") == "ConfigMap":
            return self._config_map(value)
        if value.get("kind") == kubescheduler.KIND:
            return self._scheduler(value)
        return self._map(value)

    def _map(self, value: Mapping[str, Any]) -> Object:
        return {
            self._field(key): self._value(each, key)
            for key, each in value.items()
            if key not in LEFT_OUT
        }

    def _field(self, key: str) -> str:
        """Return a key of a map: those of the API are plain words, others may be anybody's."""
        return key if key.isidentifier() else self._key(key)

    def _value(self, value: Any, field: str) -> Any:
        if isinstance(value, str):
            is_name = field == "name" or field.endswith("Name")
            rule = self._rules.get(field, self._name if is_name else self._word)
            return rule(value)
        if isinstance(value, list):
            return [self._value(each, field) for each in value]
        return self._inner(value, field) if isinstance(value, dict) else value

    def _inner(self, value: Object, field: str) -> Object:
        """Return a map inside an object, whose keys may be somebody's words."""
        if field == "annotations":
            return devices.rewritten(value, self._names)
        if field in LABELS and not value.keys() & SELECTORS:
            return {self._key(key): self._label(each) for key, each in value.items()}
        if field in QUANTITIES and all(isinstance(each, AMOUNT) for each in value.values()):
            return {self._resource(key): self._label(each) for key, each in value.items()}
        has_parts = any(isinstance(each, dict) for each in value.values())
        if field in NAMED or (field in ATTRIBUTES and has_parts):
            change = self._name if field in NAMED else self._attribute
            return {change(key): self._value(each, "") for key, each in value.items()}
        if field == "nodeInfo":
            return {key: each for key, each in value.items() if key in NODE_INFO}
        # The devices of a profile: how cards are made is nobody's secret.
        return value if value.keys() >= {"vendor", "count"} else self._map(value)

    def _enumerated(self, word: str) -> str:
        return word if is_api_word(word) or is_value(word) else self._names.name(word)

    def _expression(self, text: str) -> str:
        return _LITERAL.sub(self._literal, text)

    def _name(self, word: str) -> str:
        """Return what something is called: plugins of the scheduler by words of its API."""
        is_kept = self._has_plugins or not is_api_word(word)
        return self._word(word) if is_kept else self._names.name(word)

    def _word(self, word: str) -> str:
        """Return a text of no field in particular."""
        if word in self._names.known:
            return self._names.name(word)
        domain, _, _ = word.partition("/")
        is_kept = is_value(word) or is_api_word(word) or is_domain_known(domain)
        return word if is_kept else self._made_up(word)

    def _made_up(self, word: str) -> str:
        """Return another text in the form of this one, as far as the form counts."""
        names = self._names
        if is_address(word):
            return names.address(word)
        matched = _URL.fullmatch(word)
        if matched is not None:
            return f"{matched['scheme']}://{names.domain(matched['host'])}"
        domain, slash, rest = word.partition("/")
        if _PART_OF_REQUEST.fullmatch(word):
            return f"{self._word(domain)}/{self._word(rest)}"
        return names.key(word) if slash and "." in domain else names.name(word)

    def _attribute(self, word: str) -> str:
        """Return an attribute's name; expressions have domains as texts, and the rest as it is."""
        domain, slash, own = word.rpartition("/")
        is_kept = not slash or (domain not in self._names.known and is_domain_known(domain))
        return word if is_kept else f"{self._label(domain)}/{own}"

    def _version(self, version: str) -> str:
        """Return an API version: groups that Kubernetes or a maker of devices has stay."""
        domain, slash, _ = version.partition("/")
        is_known = not slash or "." not in domain or is_domain_known(domain)
        return version if is_known else self._names.key(version)

    def _domain(self, word: str) -> str:
        return word if is_domain_known(word) else self._names.domain(word)

    def _image(self, word: str) -> str:
        """Return the image's name: with a tag, as where the scheduler compares them."""
        has_tag = ":" in word.rpartition("/")[2]
        return f"{self._names.name(word if has_tag else f'{word}:latest', 'image')}:1"

    def _label(self, word: str) -> str:
        if not isinstance(word, str):
            # A broken object stays broken.
            return word
        names = self._names
        if word in names.known:
            return names.name(word)
        if is_value(word):
            return word
        return names.address(word) if is_address(word) else names.name(word)

    def _key(self, word: str) -> str:
        return word if is_key_known(word) else self._names.key(word)

    def _resource(self, word: str) -> str:
        # Without a domain they are Kubernetes' own, and quotas put a word before the name.
        if "/" not in word:
            return word
        matched = _LIMITED.match(word)
        prefix = matched[0] if matched else ""
        return prefix + self._key(word.removeprefix(prefix))

    def _literal(self, found: re.Match[str]) -> str:
        quote, word = found[0][0], found[0][1:-1]
        if quote == "/":
            return ""
        is_kept = word not in self._names.known and is_domain_known(word.partition("/")[0])
        return f"{quote}{word if is_kept else self._label(word)}{quote}"

    def _provider_id(self, word: str) -> str:
        return f"{_NOWHERE}{self._names.name(word)}"

    def _pattern(self, pattern: str) -> str:
        """Return a pattern that finds the same nodes under their other ids."""
        try:
            chosen = [each for each in self._provider_ids if re.fullmatch(pattern, each)]
        except re.error:
            chosen = []
        return "|".join(re.escape(self._provider_id(each)) for each in chosen) or _NOWHERE

    # Configurations of other programs

    def _config_map(self, value: Object) -> Object:
        data = value.get("data")
        texts = data if isinstance(data, dict) else {}
        entries = {}
        for position, (key, text) in enumerate(texts.items()):
            own = key if key == DEVICE_CONFIG_KEY else f"config-{position}.yaml"
            entries[own] = self._embedded(text)
        return {**self._map({k: v for k, v in value.items() if k != "data"}), "data": entries}

    def _embedded(self, text: str) -> str:
        try:
            documents = [each.value for each in yaml.documents(text.encode(), "")]
        except MalformedDocument:
            return ""
        return "\n---\n".join(
            msgspec.json.encode(self._document(each)).decode()
            for each in documents
            if isinstance(each, dict)
        )

    def _document(self, value: Object) -> Object:
        is_scheduler = value.get("kind") == kubescheduler.KIND
        return self._scheduler(value) if is_scheduler else self._configuration(value)

    def _scheduler(self, value: Object) -> Object:
        self._has_plugins = True
        try:
            return self._map(value)
        finally:
            self._has_plugins = False

    def _configuration(self, value: Object) -> Object:
        return {key: self._configured(each) for key, each in value.items()}

    def _configured(self, value: Any) -> Any:
        """Return HAMi's configuration: facts about devices, among which a node may be named."""
        if isinstance(value, dict):
            return {key: self._configured(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._configured(each) for each in value]
        if not isinstance(value, str):
            return value
        if value in self._names.known:
            return self._names.name(value)
        is_resource = value.count("/") == 1 and "." in value.partition("/")[0]
        return self._key(value) if is_resource else value
