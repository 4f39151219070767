"""Writes docs/replicas-requirements.md: which tests stand for which requirement.

A test, in whichever folder of `tests`, says `Covers R-12 in part, R-46, M-15.` in the docstring of
its function. A requirement is whole as soon as one test covers it and does not say "in part". A row
of the tables of cases is also named by `"P-3 what it is":` or `id="P-3"` in a table, by `test_p_3_`
in a name, and a run of them by `H-1 to H-17` in a docstring. `make pages` writes the page; with
--check a stale page, and a test that names what is not asked for, are printed as a page and a
sentence a line.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = Path("docs/replicas-requirements.md")
NOT_YET: Final = "not yet"
REAL: Final = "e2e"
"""The folder of tests on real processes."""
OURS: Final = "tests/unit/tools"
"""Tests of the tools: what they hold are examples."""
CLAIM: Final = re.compile(
    r"(?P<group>[ACFHKLMNPRWXZ])-(?P<number>\d+)(?: to (?P=group)-(?P<last>\d+))?(?P<part> in part)?"
)
CLAIMS: Final = re.compile(r"Covers (?P<claims>[ACFHKLMNPRWXZ]-\d[^.]*)\.")
ROW: Final = re.compile(
    r'"(?P<row>[A-Z]-\d+)\b[^"\n]*":|\bid="(?P<id>[A-Z]-\d+)\b|def test_(?P<named>[a-z]_\d+)_'
)
STALE: Final = "The page is out of date: run `make pages`."

ASKED: Final = {
    1: "the controller lives in the members; nothing else is needed for suggestions",
    2: "the library never writes the replicas of a workload",
    3: "a metrics adapter and a native HPA object can be deployed",
    4: "expected replicas, Target and Ready are told separately, and each can be seen",
    5: "nothing is on unless controller and metrics are; members still get their labels",
    6: "built-in policies, and any number of one's own",
    7: "a suggestion is the total over the threshold, rounded up exactly",
    8: "of several policies the largest suggestion wins",
    9: "step, window and bounds, in this order; bounds last",
    10: "thresholds each way, and nothing changes between them",
    11: "a mean is never divided by what one replica carries",
    12: "an unknown input never lowers anything, and is told",
    13: "applications plug providers in",
    14: "age, coverage, bounds, step and window for each policy",
    15: "counters through rates; histograms joined first, then their quantile",
    16: "defaults of the schema, and those of a deployment",
    17: "the two label keys, with values 1 and 0",
    18: "members are selected by Ready or by Target",
    19: "readiness of Kubernetes, Ready and Target do not follow from each other",
    20: "a round has a start, an end and a scaling",
    21: "from the start on a leaving member is no Target",
    22: "from the end on it stays Ready while it holds state",
    23: "without a check nothing protects, and that is told",
    24: "a new member is Ready when its application says so",
    25: "the first time takes about a minute",
    26: "labels move nothing: they tell the application",
    27: "hooks for whatever moves state without interruption",
    28: "skewed clocks, partitions, kills and late executors each have a test",
    29: "labels are published once a change, and again after a reconnect",
    30: "expected replicas of one workload are joined by the maximum",
    31: "the number of a member is its floor while it is Ready",
    32: "a pod's number is its ordinal and one",
    33: "elsewhere it is the place in the order of all",
    34: "the floor follows Ready, not a count of objects",
    35: "the exported name is verified, at the start and each minute",
    36: "the floor keeps a StatefulSet from deleting a stateful ordinal",
    37: "ordinals that do not start at zero are corrected",
    38: "Deployments need coordination, or are refused",
    39: "both metrics stand in one HPA",
    40: "an HPA never multiplies by the current replicas",
    41: "metrics cover one workload only",
    42: "step 1: observe without moving anything",
    43: "step 2: callbacks and migration, with old members serving",
    44: "step 3: adapter and HPA, or an executor",
    45: "step 4: scale-down is opened last",
    46: "failed, old or missing metrics cause no wrong scale-down",
    47: "a new leader or a repeated policy causes nothing twice",
    48: "a migration that is slow keeps its member",
    49: "a kill is told from a drain",
    50: "without adapter or store things stay visible, and are checked afterwards",
    51: "a write that began is not yet durable, and can be waited for",
    52: "watchers reconnect, compact and read again in order",
    53: "a new leader waits for one pull",
    54: "observers never block, and labels stay few",
    55: "one leader at most changes the status",
    56: "executors do nothing twice and spare who is Ready",
    57: "no configuration deletes protected members silently",
    58: "a crash never lowers the floor",
}
ROWS: Final = {
    "A": ("arithmetic", 16), "P": ("combination and validity", 19), "C": ("windows", 13),
    "W": ("rounds", 13), "L": ("labels", 21), "N": ("leadership", 6), "M": ("adapter", 19),
    "H": ("arithmetic of the HPA", 17), "K": ("workloads", 7), "X": ("executors", 6),
    "Z": ("answers of Prometheus", 14), "F": ("faults", 28),
}  # fmt: skip
HEAD: Final = """# Requirements on stateful replicas, and their tests

<!-- made by tools/requirements.py: run `make pages` -->

"In part" means that the tests show what the engine does of it; the rest needs parts that are not
there yet. "Not yet" means that nothing is tested. How a number comes about is told in [replicas.md](replicas.md).

| requirement | what is asked | tests |
| --- | --- | --- |
"""
ROWS_HEAD: Final = """
## Rows of the tables of cases

| table | about | rows with a test | on real processes | not yet |
| --- | --- | --- | --- | --- |
"""


def main(arguments: list[str]) -> int:
    """Writes the page, or says what is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    if not parser.parse_args(arguments).check:
        (ROOT / PAGE).write_text(page(ROOT), "utf-8")
    findings = list(faults(ROOT))
    for sentence in findings:
        print(f"{PAGE}\t{sentence}")
    return 1 if findings else 0


def faults(root: Path) -> Iterator[str]:
    """What is stale, and what is claimed that nobody asks for."""
    for number in sorted(claims(root).keys() - ASKED.keys()):
        yield f"A test covers R-{number}, which nobody asks for: correct its number."
    for row in sorted(rows(root)):
        group, _, place = row.partition("-")
        if not 1 <= int(place) <= ROWS[group][1]:
            yield f"A test is named after {row}, which no table has: correct its number."
    path = root / PAGE
    if not path.exists() or path.read_text("utf-8") != page(root):
        yield STALE


def page(root: Path) -> str:
    """The whole page as it has to be."""
    covered = claims(root)
    lines = [
        f"| R-{number} | {asked} | {told(covered, number)} |" for number, asked in ASKED.items()
    ]
    return HEAD + "\n".join(lines) + "\n" + ROWS_HEAD + "\n".join(row_lines(root)) + "\n"


def told(covered: dict[int, dict[str, bool]], number: int) -> str:
    """The tests of one requirement; it is whole where one of them covers it whole."""
    tests = covered.get(number)
    if not tests:
        return NOT_YET
    extent = "" if any(tests.values()) else "in part: "
    return extent + ", ".join(f"`{name}`" for name in sorted(tests))


def row_lines(root: Path) -> Iterator[str]:
    """One line a table of cases."""
    found = rows(root)
    for group, (about, last) in ROWS.items():
        named = {number: f"{group}-{number}" for number in range(1, last + 1)}
        done = [number for number, row in named.items() if row in found]
        real = [number for number in done if found[named[number]]]
        left = [number for number in named if number not in done]
        yield f"| {group} | {about} | {runs(done)} | {runs(real)} | {runs(left)} |"


def runs(numbers: list[int]) -> str:
    """Numbers as people list them: 1–4, 7."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in parts)


def claims(root: Path) -> dict[int, dict[str, bool]]:
    """By requirement the tests that claim it, and whether they cover it whole."""
    found: dict[int, dict[str, bool]] = {}
    for path in tests(root):
        for test, hit in claimed(path):
            if hit["group"] == "R":
                whole = hit["part"] is None
                found.setdefault(int(hit["number"]), {})[test] = whole
    return found


def rows(root: Path) -> dict[str, bool]:
    """The rows of the tables that a test is named after or claims, and whether a real one does."""
    found: dict[str, bool] = {}
    for path in tests(root):
        is_real = REAL in path.relative_to(root).parts
        for row in (*rows_named(path), *rows_claimed(path)):
            if row.partition("-")[0] in ROWS:
                found[row] = found.get(row, False) or is_real
    return found


def rows_named(path: Path) -> Iterator[str]:
    """The rows in names of tests and in their tables."""
    for hit in ROW.finditer(path.read_text("utf-8")):
        yield hit["row"] or hit["id"] or hit["named"].upper().replace("_", "-")


def rows_claimed(path: Path) -> Iterator[str]:
    """The rows in docstrings of tests."""
    for _, hit in claimed(path):
        first = int(hit["number"])
        for number in range(first, int(hit["last"] or first) + 1):
            yield f"{hit['group']}-{number}"


def claimed(path: Path) -> Iterator[tuple[str, re.Match[str]]]:
    """What the docstrings of tests say that these cover, with the name of each test."""
    text = path.read_text("utf-8")
    if not CLAIMS.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("test_"):
            for sentence in CLAIMS.finditer(ast.get_docstring(node) or ""):
                for hit in CLAIM.finditer(sentence["claims"]):
                    yield node.name, hit


def tests(root: Path) -> list[Path]:
    """Every file of tests and of their tables, but those of the tools."""
    return sorted(
        path for path in (root / "tests").rglob("*.py") if not path.is_relative_to(root / OURS)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
