"""The running program: one instance of a kernel on one core."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import BudgetExceeded, NkiError, caller_line

if TYPE_CHECKING:
    from .session import LaunchState


class Program:
    """State of one program of a launch: its place in the grid, counters, reduction registers and random state."""

    __slots__ = (
        "budget", "chip", "count", "dma_bytes", "generation", "grid", "immutable", "intervals", "kernel", "launch",
        "limit", "loops", "macs", "ndim", "options", "pid", "rank", "registers", "rng", "shared", "strict", "tally",
    )  # fmt: skip

    def __init__(self, launch: LaunchState, pid: tuple[int, ...], rank: int) -> None:
        session = launch.session
        self.launch, self.pid, self.grid, self.rank = launch, pid, launch.grid, rank
        self.kernel, self.generation = launch.kernel, launch.generation
        self.ndim = launch.grid_ndim
        self.options = session.options
        self.chip, self.strict = session.options.limits, session.options.strict
        self.count, self.budget = 0, session.options.instruction_budget
        self.limit = self.budget - session.work
        self.tally: dict[tuple[str, str], list[float]] = {}
        self.dma_bytes, self.macs = 0, 0
        self.registers: dict[str, Any] = {}
        self.rng = np.random.default_rng([session.options.seed, launch.number, rank])
        self.shared = 0
        self.intervals: list[tuple[str, int, int, int, Any]] = []

    def step(self, key: tuple[str, str], cycles: float) -> None:
        """Count one instruction; `key` is (instruction, engine)."""
        self.count += 1
        if self.count > self.limit:
            raise BudgetExceeded(self.budget + self.count - self.limit - 1, self.budget, self.kernel)
        entry = self.tally.get(key)
        if entry is None:
            self.tally[key] = [1, cycles]
        else:
            entry[0] += 1
            entry[1] += cycles

    def warn(self, message: str) -> None:
        """Record something undefined on hardware, once for each line of the kernel."""
        where = caller_line(sys._getframe(1)) or (None, None)
        self.launch.session.add_warning(message, *where)


class _State(threading.local):
    program: Program | None = None


state = _State()


def current() -> Program:
    """The program that is running in this thread. NkiError outside of a kernel."""
    program = state.program
    if program is None:
        raise NkiError("NKI API called outside of an NKI kernel: call it from a function decorated with @nki.jit")
    return program
