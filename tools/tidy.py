"""Checks what linters cannot: that the code, its documents and its generated files agree.

Reads files and imports nothing of the package. Prints each finding as `path:line: sentence` and exits
1 if there is one. The rules are the functions of `RULES`: each takes the root of a tree and yields
findings. It does not format, lint or mend.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

REASONS = Path("docs/reasons.md")
DEPENDENCIES = Path("docs/dependencies.md")
SCHEMAS = Path("docs/schema")
SCHEMA = SCHEMAS / "plan.v1alpha1.json"
SCHEMA_TOOL = Path("tools/schema.py")
DEFINITION = Path("deploy/crds/deviceprofiles.springtide.io.yaml")
DEFINITION_TOOL = Path("tools/crd.py")
PAGES_TOOL = Path("tools/command_pages.py")
RUN_LOCK = Path("requirements/run.txt")
DEV_LOCK = Path("requirements/dev.txt")

SOURCE_ROOTS = ("src", "tests", "tools", "bench", "docs", "deploy", "changes", ".ci")
SOURCE_FILES = ("Makefile", "README.md", "CONTRIBUTING.md", "pyproject.toml")
SOURCE_SUFFIXES = frozenset({"", ".md", ".py", ".sh", ".toml", ".yaml", ".yml"})
CODE_SUFFIXES = SOURCE_SUFFIXES - {".md"}

# The brackets keep this file from finding itself.
MACHINE_PATH = re.compile(r"(?<![\w.}>/-])/(?:[w]ork|[r]oot|[t]mp|[h]ome/\w+)/")
UNFINISHED = re.compile(r"\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b")
ISSUE = re.compile(r"#\d+")
ADDRESS = re.compile(r"\b\w+://")
FRAGMENT = re.compile(r"\d+\.(?:added|changed|fixed|removed)\.md")
PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Finding(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One thing that is not as it should be, and where."""

    path: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


def main() -> int:
    """Checks the tree that this file stands in."""
    findings = tidy(Path(__file__).resolve().parent.parent)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


def tidy(root: Path) -> list[Finding]:
    """Everything the rules find in the tree under `root`, in the order of paths and lines."""
    return sorted(finding for rule in RULES for finding in rule(root))


def undocumented_reasons(root: Path) -> Iterator[Finding]:
    """Every member of a reason enum has its name in code font in docs/reasons.md."""
    text = read(root / REASONS)
    for path in sorted((root / "src").rglob("*.py")):
        for line, reason in reasons_in(path):
            if f"`{reason}`" not in text:
                sentence = (
                    f"Reason {reason} is not in {REASONS}: add a line that says what it means."
                )
                yield found(root, path, line, sentence)


def reasons_in(path: Path) -> Iterator[tuple[int, str]]:
    """Line and value of each member of the string enums named `Reason` or `...Reason`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and is_reason_enum(node):
            for member in node.body:
                match member:
                    case ast.Assign(value=ast.Constant(value=str(value))):
                        yield member.lineno, value
                    case _:
                        pass


def is_reason_enum(node: ast.ClassDef) -> bool:
    """A string enum whose name says that it lists reasons."""
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    return node.name.endswith("Reason") and "StrEnum" in bases


def addresses_in_locks(root: Path) -> Iterator[Finding]:
    """Locks name packages and hashes; where to fetch them from is the machine's business."""
    for path in sorted((root / "requirements").glob("*.*")):
        for line, text in lines_of(path):
            if ADDRESS.search(text):
                yield found(root, path, line, "A lock names no address: compile it by `make lock`.")


def incomplete_locks(root: Path) -> Iterator[Finding]:
    """Every direct dependency of pyproject.toml is in the lock it belongs to."""
    runtime, development = declared(root)
    for lock, names in ((RUN_LOCK, runtime), (DEV_LOCK, runtime | development)):
        locked = {package_name(text) for _, text in lines_of(root / lock) if "==" in text}
        for name in sorted(names - locked):
            yield found(root, root / lock, 1, f"The lock lacks {name}: compile it by `make lock`.")


def unexplained_dependencies(root: Path) -> Iterator[Finding]:
    """Every direct dependency has a line in docs/dependencies.md that says why it is there."""
    runtime, development = declared(root)
    explained = {word.lower() for word in PACKAGE.findall(read(root / DEPENDENCIES))}
    for name in sorted((runtime | development) - explained):
        sentence = f"{name} is not in {DEPENDENCIES}: add a line that says why it is needed."
        yield found(root, root / "pyproject.toml", 1, sentence)


def machine_paths(root: Path) -> Iterator[Finding]:
    """Nothing that we write depends on the machine it was written on."""
    for path in sources(root, SOURCE_SUFFIXES):
        for line, text in lines_of(path):
            if hit := MACHINE_PATH.search(text):
                sentence = (
                    f"{hit[0]} is a folder of one machine: write a path relative to the root."
                )
                yield found(root, path, line, sentence)


def unfinished_work(root: Path) -> Iterator[Finding]:
    """A note about work to come carries the number of its issue."""
    for path in sources(root, CODE_SUFFIXES):
        for line, text in lines_of(path):
            if (hit := UNFINISHED.search(text)) and not ISSUE.search(text):
                sentence = f"{hit[0]} has no issue number: add one, as in #12, or do it now."
                yield found(root, path, line, sentence)


def misnamed_fragments(root: Path) -> Iterator[Finding]:
    """A change fragment says by its name which issue it belongs to and what kind it is."""
    for path in sorted((root / "changes").glob("*")):
        if not FRAGMENT.fullmatch(path.name):
            sentence = "A fragment is named <issue>.<added|changed|fixed|removed>.md: rename it."
            yield found(root, path, 1, sentence)
        elif not read(path).strip():
            yield found(root, path, 1, "The fragment is empty: say what changed for the user.")


def stale_schema(root: Path) -> Iterator[Finding]:
    """Every committed schema is what the tool prints now for the command of its name."""
    if not (root / SCHEMA_TOOL).exists():
        return
    for path in sorted((root / SCHEMAS).glob("*.json")) or [root / SCHEMA]:
        command = [sys.executable, str(SCHEMA_TOOL), path.name.partition(".")[0]]
        made = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            last = (made.stderr.strip().splitlines() or ["it said nothing"])[-1]
            yield found(root, root / SCHEMA_TOOL, 1, f"The schema cannot be made: {last}.")
        elif made.stdout != read(path):
            yield found(root, path, 1, "The schema is out of date: run `make schema`.")


def stale_definition(root: Path) -> Iterator[Finding]:
    """The committed definition of our stored documents is what the tool prints now."""
    if not (root / DEFINITION_TOOL).exists():
        return
    command = [sys.executable, str(DEFINITION_TOOL)]
    made = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        last = (made.stderr.strip().splitlines() or ["it said nothing"])[-1]
        yield found(root, root / DEFINITION_TOOL, 1, f"The definition cannot be made: {last}.")
    elif made.stdout != read(root / DEFINITION):
        yield found(root, root / DEFINITION, 1, "The definition is out of date: run `make crds`.")


def stale_pages(root: Path) -> Iterator[Finding]:
    """What the pages say of commands is what the commands say of themselves."""
    if not (root / PAGES_TOOL).exists():
        return
    command = [sys.executable, str(PAGES_TOOL), "--check"]
    checked = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    for line in checked.stdout.splitlines():
        page, _, sentence = line.partition("\t")
        yield found(root, root / page, 1, sentence)
    if checked.returncode != 0 and not checked.stdout:
        last = (checked.stderr.strip().splitlines() or ["it said nothing"])[-1]
        yield found(root, root / PAGES_TOOL, 1, f"The pages cannot be checked: {last}.")


RULES: tuple[Callable[[Path], Iterator[Finding]], ...] = (
    undocumented_reasons,
    addresses_in_locks,
    incomplete_locks,
    unexplained_dependencies,
    machine_paths,
    unfinished_work,
    misnamed_fragments,
    stale_schema,
    stale_definition,
    stale_pages,
)


def found(root: Path, path: Path, line: int, sentence: str) -> Finding:
    """A finding whose path is relative to the root, as editors and people expect it."""
    return Finding(path=path.relative_to(root).as_posix(), line=line, sentence=sentence)


def sources(root: Path, suffixes: frozenset[str]) -> Iterator[Path]:
    """The files that people write here: no environments, caches, recordings or results."""
    named = [root / name for name in SOURCE_FILES]
    yield from (path for path in named if path.suffix in suffixes and path.exists())
    for folder in SOURCE_ROOTS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file() and "__pycache__" not in path.parts:
                yield path


def declared(root: Path) -> tuple[set[str], set[str]]:
    """Names of the runtime and of the development dependencies in pyproject.toml."""
    text = read(root / "pyproject.toml")
    project = tomllib.loads(text)
    runtime = project.get("project", {}).get("dependencies", [])
    groups = project.get("dependency-groups", {}).values()
    development = [spec for group in groups for spec in group if isinstance(spec, str)]
    return {package_name(spec) for spec in runtime}, {package_name(spec) for spec in development}


def package_name(spec: str) -> str:
    """The package a requirement names, in lower case; nothing where it names none."""
    hit = PACKAGE.match(spec)
    return hit[0].lower() if hit else ""


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, counted from one."""
    return enumerate(read(path).splitlines(), start=1)


def read(path: Path) -> str:
    """The text of a file; a missing one reads as empty, so that its rule says what it lacks."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
