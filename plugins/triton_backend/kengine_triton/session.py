"""The candidate of this runner: its module as loaded for each target, and one way to call it."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from kengine.array import Array
from kengine.device import streams
from kengine.device.trace import tracing
from kengine.errors import CandidateFault
from kengine.model import Candidate, Target, TaskView
from kengine.native import libraries
from kengine.plugins.hooks import Inputs

from kengine_triton import choices, observe
from kengine_triton.chips import Chip


@dataclass
class Session:
    """A candidate loaded for one target. chip: what host code is told it runs on; None on a real device.

    mapped: libraries that were there before it.
    """

    candidate: Candidate
    view: TaskView
    target: Target
    chip: Chip | None
    module: ModuleType | None = None
    mapped: libraries.Mapped = field(default_factory=libraries.mapped)

    @contextmanager
    def surroundings(self) -> Iterator[None]:
        """Everything that candidate code of this session must run inside of."""
        if self.chip is None:
            yield
            return
        from kengine_triton.host import pretend
        from kengine_triton.interpret.autotune import BUDGET_S, Benchmark
        from kengine_triton.record.driver import StubDriver, active

        emulates = self.target.arch == "interpret"
        benchmark = Benchmark(BUDGET_S if emulates else float("inf"))
        with ExitStack() as stack:
            stack.enter_context(observe.pretending())
            stack.enter_context(active(StubDriver(self.chip, benchmark)))
            stack.enter_context(pretend(self.chip, poison=emulates, lenient=self.view.form == "module"))
            yield

    def load(self, workdir: Path) -> None:
        """Import the candidate. Raises CandidateFault (compile_failed)."""
        from kengine.runner import entry, source

        if self.chip is not None:
            _draw_the_same()
        with self.surroundings():
            self.module = source.load(self.candidate, workdir)
        entry.find(self.module, self.view)

    def bind(self, inputs: Inputs) -> Callable[[], Any]:
        """The entry with tensors over the memory of `inputs`; calling it calls the candidate once."""
        from kengine.runner import entry

        assert self.module is not None
        return entry.bind(self.module, self.view, inputs, as_tensor if self.chip is None else as_host_tensor)

    def call(self, inputs: Inputs) -> Any:
        """Bind and call once. Raises what the candidate raises, wrapped by the runner."""
        with self.surroundings():
            bound = self.bind(inputs)
            with tracing() if self.chip is None else nullcontext():
                value = bound()
            if self.chip is None:
                streams.wait()  # for the caller's alone: a wait for the device would hide work that is not joined
        libraries.tell(self.mapped)
        return value


def _draw_the_same() -> None:
    """Start generators alike: constants drawn while a module loads are the same in the emulator and for a chip."""
    random.seed(0)
    numbers = sys.modules.get("numpy.random")
    if numbers is not None:
        numbers.seed(0)


def as_tensor(array: Array) -> Any:
    """What a Triton wrapper gets for an array: a torch tensor over the same memory."""
    return array.as_torch()


def as_host_tensor(array: Array) -> Any:
    """The same for a wrapper that runs without a device: inputs that lie on one are copied to the host."""
    memory = array.memory
    if getattr(memory, "is_cuda", False):
        import torch

        with torch._C.DisableTorchFunction():
            return Array(array.spec, memory.cpu()).as_torch()
    return array.as_torch()


_sessions: dict[Target, Session] = {}


def open_session(candidate: Candidate, view: TaskView, target: Target, chip: Chip | None, workdir: Path) -> Session:
    """Load a candidate afresh for a target and remember it for the launches that follow."""
    session = Session(candidate, view, target, chip)
    choices.forget()
    session.load(workdir)
    _sessions[target] = session
    return session


def session_of(target: Target) -> Session:
    """The session that was compiled for a target. Raises CandidateFault when there was none."""
    try:
        return _sessions[target]
    except KeyError:
        raise CandidateFault("launch_failed", f"nothing was compiled for {target} in this process") from None
