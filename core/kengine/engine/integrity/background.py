"""After the last call a runner waits for the next; what then still works in it was not asked for.

Read from outside, from the kernel's own books: nothing here is the runner's word.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from kengine.engine.accounts import read_account
from kengine.model import Check

if TYPE_CHECKING:
    from kengine.engine.executions import Execution

SETTLE_S, WATCH_S = 0.002, 0.006
BUSY = 0.3
"""Share of the watched time that its threads may work all together: a garbage collector or a pool going to sleep."""
ROUNDS = 3


def idle(execution: Execution) -> Check:
    """No thread of the runner works, and no process is left that was not there when it was compiled."""
    name = "background work"
    if not Path("/proc/self/schedstat").exists():
        return Check(name, False, True, "this system keeps no account of threads (/proc/PID/schedstat)")
    for _ in range(ROUNDS):
        time.sleep(SETTLE_S)
        begun, before = time.perf_counter_ns(), read_account(execution.runner.pid)
        time.sleep(WATCH_S)
        after, passed = read_account(execution.runner.pid), time.perf_counter_ns() - begun
        spent = sum(max(0, ns - before.get(thread, ns)) for thread, ns in after.items())
        if spent < BUSY * passed:
            break
    else:
        share = spent / passed
        return Check(name, True, False, f"it goes on working after its call has returned ({share:.0%} of a processor)")
    processes = {pid for pid, _ in after}
    left = processes - execution.processes
    if left and execution.processes:
        return Check(name, True, False, f"{len(left)} processes that it started are still there after its calls")
    return Check(name, True, True, f"{len(processes)} processes, {len(after)} threads, all of them waiting")
