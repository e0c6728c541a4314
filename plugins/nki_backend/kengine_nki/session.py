"""The candidate of this runner as it was loaded for each target, and the one way to call it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import Candidate, Mode, Target, TaskView
from kengine.native import libraries
from kengine.plugins.hooks import Inputs
from kengine.runner import entry

from kengine_nki.interpreter import Outcome


class Platform(Protocol):
    """Where kernels run: the interpreter, the vendor's simulator, or a device."""

    def call(self, function: Callable[[], Any], mode: Mode) -> Outcome: ...


@dataclass(frozen=True)
class Session:
    """A candidate loaded for one target; `module` is what its main file defines. mapped: libraries before it."""

    candidate: Candidate
    view: TaskView
    target: Target
    module: Any
    platform: Platform
    mapped: libraries.Mapped = frozenset()

    def bind(self, inputs: Inputs, convert: Callable[[Array], Any] = Array.as_made) -> Callable[[], Any]:
        """The entry with arrays of the task's own framework over the memory of `inputs`."""
        return entry.bind(self.module, self.view, inputs, convert)

    def call(self, inputs: Inputs, mode: Mode) -> Outcome:
        """Bind and call once. Raises CandidateFault."""
        # Within the platform's call: the constructor of a module may launch kernels as well.
        outcome = self.platform.call(lambda: self.bind(inputs)(), mode)
        libraries.tell(self.mapped)
        return outcome


_sessions: dict[Target, Session] = {}


def remember(session: Session) -> None:
    """Keep a session for the launches that follow."""
    _sessions[session.target] = session


def session_of(target: Target) -> Session:
    """The session that was compiled for a target. Raises CandidateFault when there was none."""
    try:
        return _sessions[target]
    except KeyError:
        raise CandidateFault("launch_failed", f"nothing was compiled for {target} in this process") from None
