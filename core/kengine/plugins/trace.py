"""KENGINE_TRACE=1: print every hook call to stderr with the plugin that answered and how long it took."""

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
        print(f"kengine trace: {hook} {took:.3f} ms by {where}{end}", file=sys.stderr, flush=True)

    return manager.add_hookcall_monitoring(before, after)
