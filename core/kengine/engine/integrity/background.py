"""After the last call a runner waits for the next; what then still works in it was not asked for.

On the host this is read from outside, from the kernel's own books; of a device's streams it is the runner's word, which
can convict.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from kengine.engine.accounts import read_account
from kengine.errors import CandidateFault
from kengine.model import Check

if TYPE_CHECKING:
    from kengine.engine.executions import Execution

WATCH_S = (0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
"""How long it is watched, again and again until it is found at rest: on a busy machine even a thread that is about to
wait for its next request needs a while to get there."""
BUSY = 0.3
"""Share of the watched time that its threads may work all together: a garbage collector or a pool going to sleep."""


def idle(execution: Execution) -> Check:
    """No thread of the runner works, no process is left that was not there before it was compiled, and no call has left
    a kernel at work on the device. Raises CandidateFault (crashed) when the runner has ended."""
    name = "background work"
    if execution.unjoined:
        kernels = ", ".join(sorted(execution.unjoined)[:4])
        evidence = (
            f"{kernels} went on in a stream that its caller's stream does not wait for when the call returns; "
            "join it with wait_stream or an event"
        )
        return Check(name, True, False, evidence)
    if not Path("/proc/self/schedstat").exists():
        return Check(name, False, True, "this system keeps no account of threads (/proc/PID/schedstat)")
    for watch_s in WATCH_S:
        begun, before = time.perf_counter_ns(), read_account(execution.runner.pid)
        time.sleep(watch_s)
        after, passed = read_account(execution.runner.pid), time.perf_counter_ns() - begun
        spent = sum(now.worked_ns - before[who].worked_ns for who, now in after.items() if who in before)
        # On a busy machine a thread may wait for a processor all the time that it is watched; of many that share one
        # interpreter's lock, another one each time.
        waits = all(any(thread.runnable for thread in seen.values()) for seen in (before, after))
        if spent < BUSY * passed and not waits:
            break
    else:
        how = f"{spent / passed:.0%} of a processor" if spent >= BUSY * passed else "waiting for a processor"
        return Check(name, True, False, f"it goes on working after its call has returned ({how})")
    processes = {pid for pid, _ in after}
    if execution.runner.pid not in processes:
        # Of a process that is gone nothing is known, and a death in one of the checks that follow is no fault.
        raise CandidateFault("crashed", "its process ended after its calls, while nothing was asked of it")
    left = processes - execution.processes
    if left and execution.processes:
        return Check(name, True, False, f"{len(left)} processes that it started are still there after its calls")
    return Check(name, True, True, f"{len(processes)} processes, {len(after)} threads, all of them waiting")
