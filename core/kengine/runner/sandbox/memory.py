"""Memory of a whole family of processes, and who goes first when the machine has none left."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress


def private_bytes(pids: Iterable[int]) -> int:
    """Sum up memory that is not of files, in bytes; what forks still share is counted once for each of them."""
    total = 0
    for pid in pids:
        with suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/statm") as file:
            _, resident, shared = (int(n) for n in file.read().split()[:3])
            total += resident - shared
    return total * os.sysconf("SC_PAGESIZE")


def go_first() -> bool:
    """Have the kernel kill this process and its children before all others when memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        return False
    return True
