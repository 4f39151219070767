"""Kubeconfig files: which one counts, what is merged, and what is said about nonsense."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from springtide.edge.cluster.errors import Unusable
from springtide.edge.kube.kubeconfig import chosen


def write(path: Path, *, contexts: Mapping[str, str], current: str = "", **user: Any) -> str:
    """Write a kubeconfig with these contexts, each of the cluster and server that it is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "current-context": current,
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": "me"}} for name in contexts
        ],
        "clusters": [
            {"name": name, "cluster": {"server": server}} for name, server in contexts.items()
        ],
        "users": [{"name": "me", "user": user}],
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_the_named_file_wins_over_the_environment(tmp_path: Path) -> None:
    named = write(tmp_path / "named", contexts={"a": "https://a"}, current="a")
    other = write(tmp_path / "other", contexts={"b": "https://b"}, current="b")

    found = chosen(named, "", environ={"KUBECONFIG": other})

    assert found is not None
    assert (found.context, found.server) == ("a", "https://a")


def test_of_several_files_the_first_that_says_something_counts(tmp_path: Path) -> None:
    first = write(tmp_path / "1", contexts={"a": "https://first"}, token="first")
    second = write(tmp_path / "2", contexts={"a": "https://second", "b": "https://b"}, current="b")
    third = write(tmp_path / "3", contexts={"c": "https://c"}, current="c")
    environ = {"KUBECONFIG": os.pathsep.join([first, str(tmp_path / "missing"), second, third])}

    current = chosen("", "", environ=environ)
    named = chosen("", "a", environ=environ)

    assert current is not None
    assert current.context == "b"
    assert current.document["users"][0]["user"] == {"token": "first"}
    assert named is not None
    assert named.server == "https://first"


def test_the_file_of_the_home_folder_counts_without_any_other(tmp_path: Path) -> None:
    write(tmp_path / ".kube" / "config", contexts={"a": "https://a"}, current="a")

    found = chosen("", "", environ={"HOME": str(tmp_path)})

    assert found is not None
    assert found.context == "a"


def test_no_file_at_all_is_no_kubeconfig(tmp_path: Path) -> None:
    assert chosen("", "", environ={"HOME": str(tmp_path)}) is None


def test_paths_start_at_the_folder_of_their_file(tmp_path: Path) -> None:
    command = {"apiVersion": "v1", "command": "bin/login"}
    path = write(
        tmp_path / "sub" / "config",
        contexts={"a": "https://a"},
        current="a",
        tokenFile="token",
        exec=command,
    )

    found = chosen(path, "", environ={})

    assert found is not None
    user = found.document["users"][0]["user"]
    assert user["tokenFile"] == str(tmp_path / "sub" / "token")
    assert user["exec"]["command"] == str(tmp_path / "sub" / "bin" / "login")


def test_a_command_without_a_folder_is_looked_for_where_commands_are(tmp_path: Path) -> None:
    command = {"apiVersion": "v1", "command": "login"}
    path = write(tmp_path / "config", contexts={"a": "https://a"}, current="a", exec=command)

    found = chosen(path, "", environ={})

    assert found is not None
    assert found.document["users"][0]["user"]["exec"]["command"] == "login"


@pytest.mark.parametrize(
    ("text", "context", "sentence"),
    [
        ("[]", "", "this is no kubeconfig"),
        ("a: [", "", "It should be a kubeconfig."),
        ("{}", "", "No context is current: name one with --context. The file names no contexts."),
        ('{"contexts": [{"name": "prod"}]}', "", "There are: prod."),
        ('{"contexts": [{"name": "prod"}]}', "prd", "Did you mean prod?"),
        ('{"contexts": [{"name": "prod"}]}', "prod", "of which no kubeconfig says where"),
        ('{"contexts": ["prod"]}', "prod", "contexts has an entry that is no map"),
    ],
)
def test_nonsense_is_told_with_what_to_do(
    text: str, context: str, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "config"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(Unusable) as caught:
        chosen(str(path), context, environ={})

    assert sentence in str(caught.value)


def test_a_missing_file_that_was_named_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="cannot be read: No such file"):
        chosen(str(tmp_path / "missing"), "", environ={})


def test_acting_as_somebody_else_is_refused_rather_than_ignored(tmp_path: Path) -> None:
    path = write(
        tmp_path / "config", contexts={"a": "https://a"}, current="a", **{"as": "somebody"}
    )

    with pytest.raises(Unusable, match="acts as somebody else"):
        chosen(path, "", environ={})
