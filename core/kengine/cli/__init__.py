"""The command `kengine`. Importing this imports click and nothing else: each subcommand is imported when it runs."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from types import FrameType

COMMANDS = {
    "verify": "Judge candidates: lint, compile, launch, compare, check integrity.",
    "time": "Judge candidates and measure them against the reference.",
    "compile": "Compile candidates and show what they take of the chip; nothing is launched.",
    "lint": "Look at the text of candidates; nothing is executed.",
    "screen": "Report tasks that cannot tell right from wrong, with a suggested fix.",
    "backends": "List every backend and target, and what each can do here.",
    "show": "Print verdicts that were written with --json.",
    "replay": "Judge again with the recorded seeds and plan, and compare.",
    "reward": "Reward rollouts for training: rewards, returns, advantages.",
    "serve": "Answer trainers over HTTP: verdicts, jobs, metrics.",
    "curate": "Turn raw samples into a corpus: load, judge, deduplicate, balance, export.",
    "score": "Score verdicts: pass@k, fast_p, geometric mean of speed-ups.",
    "selftest": "Judge a corpus of hacks and honest kernels: the engine's own score.",
}
"""Every subcommand with its one-line help; `kengine.cli.NAME` holds its `command`."""

PIPE_EXIT, INTERRUPT_EXIT, TERMINATED_EXIT = 141, 130, 143
"""Exit codes of a reader that went away, Ctrl-C, and SIGTERM: 128 and the signal's number, as a shell reports them."""


class Terminated(BaseException):
    """SIGTERM arrived: unwind as for Ctrl-C, so that every child is ended."""


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
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"no command {name!r}{hint} There are: {', '.join(COMMANDS)}", ctx)
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


def main() -> NoReturn:
    """Run the command line and exit; the entry point of the script `kengine`."""
    signal.signal(signal.SIGTERM, _terminate)
    warnings.showwarning = _Warner(warnings.showwarning)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _hang_up()
    sys.exit(code)


def run(args: list[str]) -> int:
    """Run one command line and return its exit code; every exception becomes one clear line on stderr."""
    try:
        result = cli.main(args, prog_name="kengine", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("kengine: interrupted", err=True)
        return INTERRUPT_EXIT
    except Terminated:
        click.echo("kengine: terminated", err=True)
        return TERMINATED_EXIT
    except (BrokenPipeError, SystemExit):  # the second is how click ends a command whose reader went away
        return _hang_up()
    except Exception as error:  # whatever else: one line, and the traceback for those who ask for it
        from kengine.cli.failure import explain

        return explain(error)


class _Warner:
    """Shows kengine's own warnings as one line each and only once; all others as Python does."""

    def __init__(self, other: Any) -> None:
        self.other = other
        self.said: set[str] = set()

    def __call__(self, message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if not category.__module__.startswith("kengine"):
            self.other(message, category, *place, **more)
        elif str(message) not in self.said:
            from kengine.cli.failure import say

            self.said.add(str(message))
            say("warning", str(message))


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _hang_up() -> int:
    # Python flushes stdout once more when it exits; give it something that takes the rest.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_EXIT
