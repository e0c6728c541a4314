"""The command `kengine`. Importing this imports nothing: click comes with the first command line, and each subcommand
when it runs. So a Ctrl-C is listened to from the first moment."""

from __future__ import annotations

import sys
import warnings
from typing import Any, NoReturn

from kengine.cli import interrupts
from kengine.cli.interrupts import INTERRUPT_EXIT, TERMINATED_EXIT, Interrupted, Terminated

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

PIPE_EXIT = 141
"""Exit code when a reader went away: 128 and the number of SIGPIPE, as a shell reports it."""


def main() -> NoReturn:
    """Run the command line and exit; the entry point of the script `kengine`."""
    interrupts.install()
    sys.exit(interrupts.conclude(_run_and_flush))


def run(args: list[str]) -> int:
    """Run one command line and return its exit code; every exception becomes one clear line on stderr."""
    try:
        from kengine.cli.group import invoke

        return invoke(args)
    except KeyboardInterrupt:
        return interrupts.say(Interrupted)
    except Terminated:
        return interrupts.say(Terminated)


def _run_and_flush() -> int:
    warnings.showwarning = _Warner(warnings.showwarning)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from kengine.cli.group import hang_up

        code = hang_up()
    return code


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


__all__ = ["COMMANDS", "INTERRUPT_EXIT", "PIPE_EXIT", "TERMINATED_EXIT", "Terminated", "main", "run"]
