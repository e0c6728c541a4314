"""From an exception to one clear line, a hint and an exit code."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import click

from kengine.errors import BackendNotFound, InfraError, InternalError, KengineError, PluginError, UsageError
from kengine.report.plain import clean

ORDER = (5, 3, 2, 4, 1, 0)
"""Exit codes from worst to best: the further a fault is from the candidate, the worse."""


def worst(codes: list[int]) -> int:
    """The worst of several exit codes, 0 for none."""
    return min(codes, key=ORDER.index, default=0)


def explain(error: Exception) -> int:
    """Print an exception for a person on stderr and return the exit code; KENGINE_DEBUG=1 adds the traceback."""
    if debugging():
        traceback.print_exception(type(error), error, error.__traceback__)
    if isinstance(error, click.ClickException):
        return _explain_usage(error)
    if isinstance(error, KengineError):
        say("error", str(error) or type(error).__name__)
        hint = hint_for(error)
        if hint:
            say("hint", hint)
        return exit_code(error)
    say("error", f"{type(error).__name__}: {error}")
    say("hint", "this is a fault of kengine itself; KENGINE_DEBUG=1 shows where it happened")
    return InfraError.exit_code


def exit_code(error: KengineError) -> int:
    """What the command ends with; a backend that is not installed is a name that a person got wrong, no plugin."""
    return UsageError.exit_code if isinstance(error, BackendNotFound) else error.exit_code


def hint_for(error: KengineError) -> str:
    """What to try next, "" when the message says it already."""
    if isinstance(error, BackendNotFound):
        return "" if "did you mean" in str(error) else "`kengine backends` lists what is installed"
    if isinstance(error, PluginError) and error.distribution:
        return f"the plugin comes with the distribution {error.distribution}; `kengine backends` lists all"
    if isinstance(error, InternalError):
        return "it counts against no candidate; KENGINE_DEBUG=1 shows where it happened"
    if isinstance(error, InfraError):
        return (
            "the machine failed, which counts against no candidate: mend it and run the same command again; "
            "KENGINE_DEBUG=1 shows where it happened"
        )
    return ""


def about(file: str, message: str) -> str:
    """A message that names its file: as it is when it does so already."""
    return message if Path(file).name in message else f"{file}: {message}"


def debugging() -> bool:
    """Whether KENGINE_DEBUG asks for tracebacks."""
    return os.environ.get("KENGINE_DEBUG", "") not in ("", "0")


def say(kind: str, message: str) -> None:
    """One message on stderr: `kengine: error: ...`."""
    click.echo(f"kengine: {kind}: {clean(message)}", err=True)


def _explain_usage(error: click.ClickException) -> int:
    say("error", error.format_message())
    context = getattr(error, "ctx", None)
    if context is not None:
        say("hint", f"`{context.command_path} --help` lists what it takes")
    return 2
