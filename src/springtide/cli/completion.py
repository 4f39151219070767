"""`springtide completion`: its help and its argument. The scripts are in `completing`."""

from typing import Final

import click

from springtide.cli.options import NearestChoice

SHELLS: Final = ("bash", "zsh", "fish")

HELP: Final = """Print what makes a shell complete the command lines of springtide.

\b
  source <(springtide completion bash)                  in ~/.bashrc, bash 4.4 or later
  source <(springtide completion zsh)                   in ~/.zshrc, after compinit
  springtide completion fish | source                   in ~/.config/fish/config.fish

As a plugin of kubectl, springtide is completed by kubectl's own completion, without this.

Exit codes: 0 printed, 2 wrong usage.
"""


@click.command("completion", help=HELP, short_help="Print the completion script of a shell.")
@click.argument("shell", type=NearestChoice(SHELLS), metavar=f"{{{'|'.join(SHELLS)}}}")
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> None:
    """Print the script."""
    # Imported here, because other commands and help do not need it.
    from springtide.cli import completing  # noqa: PLC0415

    click.echo(completing.script(shell, ctx.find_root().command), nl=False)
