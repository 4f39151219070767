"""What was wrong with the input, told on standard error."""

from collections.abc import Iterable

import click

from springtide.apps.planner.report import ProblemReport
from springtide.cli.plan_table import problem_text


def warn(problems: Iterable[ProblemReport]) -> None:
    """Print a line for each problem."""
    for problem in problems:
        click.echo(f"Warning: {problem_text(problem)}", err=True)
