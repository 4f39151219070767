"""The rules of tools/tidy.py, each on a tree that breaks it and on one that keeps it."""

from pathlib import Path

import pytest

from tools.tidy import Finding, tidy

REASON = """
from enum import StrEnum

class Reason(StrEnum):
    SHORT_OF_MEMORY = "CardInsufficientMemory"
"""
PROJECT = """
[project]
dependencies = ["msgspec>=0.20"]

[dependency-groups]
dev = ["pytest>=8.4"]
"""
# Put together here so that the tool does not find them in this file.
NOTE = "TO" + "DO"
FOLDER = "/" + "tmp/"


def test_an_empty_tree_is_tidy(tmp_path: Path) -> None:
    assert tidy(tmp_path) == []


def test_a_reason_without_documentation_is_found_at_its_line(tmp_path: Path) -> None:
    write(tmp_path, "src/springtide/refusal.py", REASON)

    findings = tidy(tmp_path)

    assert places(findings) == [("src/springtide/refusal.py", 5)]
    assert "CardInsufficientMemory is not in docs/reasons.md" in findings[0].sentence


def test_a_documented_reason_is_tidy(tmp_path: Path) -> None:
    write(tmp_path, "src/springtide/refusal.py", REASON)
    write(tmp_path, "docs/reasons.md", "| `CardInsufficientMemory` | too little memory is free |\n")

    findings = tidy(tmp_path)

    assert findings == []


def test_a_longer_reason_does_not_document_a_shorter_one(tmp_path: Path) -> None:
    write(tmp_path, "src/springtide/refusal.py", REASON)
    write(tmp_path, "docs/reasons.md", "`CardInsufficientMemoryBandwidth`\n")

    findings = tidy(tmp_path)

    assert len(findings) == 1


def test_a_string_enum_of_another_name_needs_no_documentation(tmp_path: Path) -> None:
    write(tmp_path, "src/springtide/phase.py", REASON.replace("class Reason", "class Phase"))

    findings = tidy(tmp_path)

    assert findings == []


def test_an_address_in_a_lock_is_found(tmp_path: Path) -> None:
    write(tmp_path, "requirements/run.txt", "a==1\n--index-url https://packages.example\n")

    findings = tidy(tmp_path)

    assert places(findings) == [("requirements/run.txt", 2)]


def test_a_dependency_that_no_lock_holds_is_found_in_each_lock(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", PROJECT)
    write(tmp_path, "docs/dependencies.md", "msgspec and pytest\n")
    write(tmp_path, "requirements/run.txt", "")
    write(tmp_path, "requirements/dev.txt", "pytest==9.0.0\n")

    findings = tidy(tmp_path)

    assert [str(finding).partition(":1: ")[::2] for finding in findings] == [
        ("requirements/dev.txt", "The lock lacks msgspec: compile it by `make lock`."),
        ("requirements/run.txt", "The lock lacks msgspec: compile it by `make lock`."),
    ]


def test_a_dependency_without_a_reason_is_found(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", PROJECT)
    write(tmp_path, "docs/dependencies.md", "| msgspec | records |\n")
    write(tmp_path, "requirements/run.txt", "msgspec==0.23.0\n")
    write(tmp_path, "requirements/dev.txt", "msgspec==0.23.0\npytest==9.0.0\n")

    findings = tidy(tmp_path)

    assert places(findings) == [("pyproject.toml", 1)]
    assert findings[0].sentence.startswith("pytest is not in docs/dependencies.md")


@pytest.mark.parametrize("name", ["src/a.py", "docs/a.md", "Makefile", ".ci/run"])
def test_a_folder_of_one_machine_is_found(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, f"# first line\n# see {FOLDER}notes\n")

    findings = tidy(tmp_path)

    assert places(findings) == [(name, 2)]


@pytest.mark.parametrize("text", [f"a{FOLDER}b", f"./x{FOLDER}b", f"{{root}}{FOLDER}b"])
def test_a_folder_below_another_one_is_no_folder_of_the_machine(tmp_path: Path, text: str) -> None:
    write(tmp_path, "docs/a.md", text)

    findings = tidy(tmp_path)

    assert findings == []


def test_recorded_data_may_name_any_folder(tmp_path: Path) -> None:
    write(tmp_path, "tests/golden/dump.json", f'{{"hostPath": "{FOLDER}lock"}}')

    findings = tidy(tmp_path)

    assert findings == []


def test_a_note_of_work_to_come_needs_an_issue_number(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py", f"# {NOTE}(#12): known\n# {NOTE}: unknown\n")

    findings = tidy(tmp_path)

    assert places(findings) == [("src/a.py", 2)]


def test_documents_may_speak_about_such_notes(tmp_path: Path) -> None:
    write(tmp_path, "CONTRIBUTING.md", f"No {NOTE} without an issue number.\n")

    findings = tidy(tmp_path)

    assert findings == []


@pytest.mark.parametrize("name", ["3.feature.md", "added.md", "x.added.md", "3.added.txt"])
def test_a_misnamed_fragment_is_found(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"changes/{name}", "Something changed.\n")

    findings = tidy(tmp_path)

    assert places(findings) == [(f"changes/{name}", 1)]


def test_an_empty_fragment_is_found(tmp_path: Path) -> None:
    write(tmp_path, "changes/3.added.md", "\n")

    findings = tidy(tmp_path)

    assert [finding.sentence for finding in findings] == [
        "The fragment is empty: say what changed for the user."
    ]


def test_a_schema_that_differs_from_the_tool_is_found(tmp_path: Path) -> None:
    write(tmp_path, "tools/schema.py", "print('{}')\n")
    write(tmp_path, "docs/schema/plan.v1alpha1.json", "[]\n")

    findings = tidy(tmp_path)

    assert places(findings) == [("docs/schema/plan.v1alpha1.json", 1)]


def test_a_schema_as_the_tool_prints_it_is_tidy(tmp_path: Path) -> None:
    write(tmp_path, "tools/schema.py", "print('{}')\n")
    write(tmp_path, "docs/schema/plan.v1alpha1.json", "{}\n")

    findings = tidy(tmp_path)

    assert findings == []


def test_a_schema_tool_that_fails_is_found_with_its_last_words(tmp_path: Path) -> None:
    write(tmp_path, "tools/schema.py", "raise SystemExit('no such record')\n")

    findings = tidy(tmp_path)

    assert [str(finding) for finding in findings] == [
        "tools/schema.py:1: The schema cannot be made: no such record."
    ]


def test_pages_that_their_tool_finds_stale_are_found(tmp_path: Path) -> None:
    complaint = "docs/plan.md\\tThe part about plan options is out of date."
    write(tmp_path, "tools/command_pages.py", f"print('{complaint}')\nraise SystemExit(1)\n")

    findings = tidy(tmp_path)

    assert [str(finding) for finding in findings] == [
        "docs/plan.md:1: The part about plan options is out of date."
    ]


def test_a_tool_of_pages_that_fails_is_found_with_its_last_words(tmp_path: Path) -> None:
    write(tmp_path, "tools/command_pages.py", "raise SystemExit('no such command')\n")

    findings = tidy(tmp_path)

    assert [str(finding) for finding in findings] == [
        "tools/command_pages.py:1: The pages cannot be checked: no such command."
    ]


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def places(findings: list[Finding]) -> list[tuple[str, int]]:
    return [(finding.path, finding.line) for finding in findings]
