"""KENGINE_TRACE=1: print every hook call to stderr with the plugin that answered and how long it took.

Those in a runner are kept there and told with its replies.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pluggy


def wanted() -> bool:
    """Whether KENGINE_TRACE is set to anything but 0."""
    return os.environ.get("KENGINE_TRACE", "") not in ("", "0")


_kept: list[str] | None = None


def keep() -> None:
    """In a runner: keep what is to be printed until `take`."""
    global _kept
    _kept = []


def take() -> list[str]:
    """What was kept since the last time."""
    if not _kept:
        return []
    lines = list(_kept)
    _kept.clear()
    return lines


def show(lines: object, where: str) -> None:
    """In the engine: print what a runner says of its hook calls, as far as it can be that."""
    if wanted() and isinstance(lines, list):
        for line in lines[:100]:
            if isinstance(line, str) and line.isprintable():
                _print(f"{line[:300]} in {where}")


def _print(line: str) -> None:
    print(f"kengine trace: {line}", file=sys.stderr, flush=True)


def install(manager: pluggy.PluginManager, titles: Mapping[str, str]) -> Callable[[], None]:
    """Print each hook call of a manager from now on, one line each, times in milliseconds.

    titles: how to show a plugin, by its name in the manager. Returns a function that stops the printing.
    """
    local = threading.local()

    def before(hook: str, implementations: Sequence[Any], arguments: Mapping[str, Any]) -> None:
        local.__dict__.setdefault("begun", []).append(time.perf_counter_ns())

    def after(outcome: Any, hook: str, implementations: Sequence[Any], arguments: Mapping[str, Any]) -> None:
        took = (time.perf_counter_ns() - local.begun.pop()) / 1e6
        # pluggy calls the last of the list first, and wrappers around all of them.
        names = [
            f"{titles.get(i.plugin_name, i.plugin_name)}{' (wrapper)' if i.wrapper or i.hookwrapper else ''}"
            for i in reversed(implementations)
        ]
        end = "" if outcome.exception is None else f" raised {type(outcome.exception).__name__}"
        where = ", ".join(names) or "nobody"
        line = f"{hook} {took:.3f} ms by {where}{end}"
        if _kept is not None:
            _kept.append(line)
        else:
            _print(line)

    return manager.add_hookcall_monitoring(before, after)
