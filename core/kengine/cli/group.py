"""The group of all subcommands. Importing this imports click; each subcommand is imported when it runs."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from kengine.cli import COMMANDS, PIPE_EXIT


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"kengine.cli.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise click.UsageError(f"no command {name!r}; {hint}commands: {', '.join(COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from kengine import __version__

        click.echo(f"kengine {__version__}")
        ctx.exit()


@click.group(
    cls=_Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Verdicts on generated accelerator kernels: does it compile, is it right, does the kernel do the work, how fast
    is it?

    \b
    Exit codes: 0 all passed, 1 a candidate failed, 2 wrong usage or a broken task, 3 a plugin is at fault,
    4 a target is unavailable or cannot judge the candidate, 5 the machine failed, 130 interrupted.
    With several candidates the worst counts, in the order 5, 3, 2, 4, 1, 0.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def invoke(args: list[str]) -> int:
    """Run one command line and return its exit code; raises KeyboardInterrupt and Terminated only."""
    try:
        result = cli.main(args, prog_name="kengine", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort as error:  # what click makes of a KeyboardInterrupt
        raise KeyboardInterrupt from error
    except (BrokenPipeError, SystemExit):  # the second is how click ends a command whose reader went away
        return hang_up()
    except Exception as error:  # whatever else: one line, and the traceback for those who ask for it
        from kengine.cli.failure import explain

        return explain(error)


def hang_up() -> int:
    """The reader of stdout went away: an exit code for it, and a quiet end."""
    # Python flushes stdout once more when it exits; give it something that takes the rest.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_EXIT
