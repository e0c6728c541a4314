"""Which processes there are below this one, read from /proc."""

from __future__ import annotations

import os

Key = tuple[int, int]
"""A process for good: its number, and the tick when it began."""


def parents() -> dict[Key, int]:
    """Parent of every process."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                # The name in parentheses may hold spaces and parentheses itself.
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(pid), int(fields[19])] = int(fields[1])
    return found


def descendants() -> set[Key]:
    """Processes below this one, at any depth."""
    known = parents()
    family = {os.getpid()}
    while more := {key[0] for key, parent in known.items() if parent in family} - family:
        family |= more
    return {key for key in known if key[0] in family and key[0] != os.getpid()}
