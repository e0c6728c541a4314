"""Whether an answer depends on how wide a wavefront is: the same call, emulated with the other number of lanes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import Candidate, JsonValue, Mode, Target, TaskView
from kengine.native import observe
from kengine.native.session import Session
from kengine.plugins.hooks import Inputs

from kengine_hip.chips import EMULATED, NARROW, Chip
from kengine_hip.figures import figures_of
from kengine_hip.targets import EMULATORS

TOLERANCE = 1e-3
"""Relative difference, of the largest magnitude, beyond which two answers are told apart: orders of sums differ."""

LARGEST = 1 << 22
"""Elements of all inputs together beyond which the second run is left out."""

_SENSITIVE = re.compile(
    r"__shfl|__ballot|__any\b|__all\b|__activemask|__match_|__reduce_|__syncwarp|\bwarpSize\b|__lane_id|__lanemask"
    r"|\btiled_partition\b|\bcoalesced_|\bvolatile\b|WAVE|WARP|[&]\s*(?:31|63|0x1[fF]|0x3[fF])\b|[%/]\s*(?:32|64)\b"
    r"|>>\s*[56]\b"
)


@dataclass
class _Pending:
    """A candidate that has not been run with the other width yet."""

    candidate: Candidate
    view: TaskView
    target: Target
    chip: Chip
    workdir: Path
    samples: Sequence[Inputs]


_pending: dict[Target, _Pending] = {}


def is_sensitive(candidate: Candidate) -> bool:
    """Whether the text holds anything through which the width of a wavefront may show."""
    return any(_SENSITIVE.search(file.text) for file in candidate.files)


def remember(candidate: Candidate, view: TaskView, target: Target, workdir: Path, samples: Sequence[Inputs]) -> None:
    """Take note of a candidate whose first call is to be repeated with the other width."""
    _pending.pop(target, None)
    if is_sensitive(candidate):
        chip = NARROW if EMULATORS[target.arch].lanes == EMULATED.lanes else EMULATED
        _pending[target] = _Pending(candidate, view, target, chip, workdir, samples)


def prepare(target: Target, inputs: Inputs, mode: Mode) -> OtherWidth | None:
    """For the first ordinary call: the inputs as they are now, to be used again. None for every other call."""
    if mode is not Mode.normal or target not in _pending:
        return None
    pending = _pending.pop(target)
    from kengine.runner.arena import arrays

    size = sum(len(memoryview(a.memory).cast("B")) for a in arrays(inputs.args))
    if size > 4 * LARGEST:
        return None
    return OtherWidth(pending, _copy(inputs))


@dataclass
class OtherWidth:
    """One call to be made with the other width, on inputs of its own."""

    pending: _Pending
    inputs: Inputs

    def compare(self, value: Any) -> Mapping[str, JsonValue]:
        """Run it, and say what is different; never raises because of the candidate."""
        lanes = self.pending.chip.lanes
        key = f"with_{lanes}_lanes"
        try:
            other = self._run()
        except CandidateFault as fault:
            if fault.status in ("unsupported", "timed_out"):
                return {}
            return {key: f"differs: {fault.status}: {fault.message}"[:500]}
        problem = difference(value, other)
        return {key: f"differs: {problem}" if problem else "same answer"}

    def _run(self) -> Any:
        from kengine.native.emulator import Emulator
        from kengine.simt import DeviceLimits

        p = self.pending
        driver = Emulator("hip", DeviceLimits.of(p.chip.arch), figures_of(p.chip), p.candidate, p.workdir, check=False)
        from kengine.native.forms import find_form

        session = Session(p.candidate, p.view, replace(p.target, arch=f"{p.target.arch}.other"), driver,
                          find_form(p.candidate))  # fmt: skip
        with observe.observing(Mode.normal):
            session.load(p.workdir, p.samples)
        return session.call(self.inputs, Mode.normal).value


def difference(value: Any, other: Any) -> str:
    """What tells two answers apart, "" when they agree within TOLERANCE of their magnitude."""
    import numpy as np

    first, second = _leaves(value), _leaves(other)
    if len(first) != len(second):
        return f"{len(first)} arrays and {len(second)}"
    for position, (a, b) in enumerate(zip(first, second)):
        if a.shape != b.shape:
            return f"output {position} has shape {list(a.shape)} and {list(b.shape)}"
        if not a.size:
            continue
        scale = max(float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0)), 1e-30)
        with np.errstate(invalid="ignore"):
            apart = ~((np.abs(a - b) <= TOLERANCE * scale) | (a == b) | (np.isnan(a) & np.isnan(b)))
        if apart.any():
            return f"output {position}: {int(apart.sum())} of {a.size} elements"
    return ""


def _leaves(value: Any) -> list[Any]:
    import numpy as np

    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, np.ndarray):
        return [np.asarray(value, dtype=np.float64)]
    if type(value).__module__ == "torch" and hasattr(value, "dtype"):
        import torch

        with torch._C.DisableTorchFunction():
            return [value.detach().cpu().double().numpy()]
    return []


def _copy(inputs: Inputs) -> Inputs:
    """The same inputs in memory of their own."""

    def copied(value: Any) -> Any:
        if isinstance(value, Array):
            return Array(value.spec, bytearray(memoryview(value.memory).cast("B")))
        if isinstance(value, (tuple, list)):
            return type(value)(copied(item) for item in value)
        if isinstance(value, dict):
            return {key: copied(item) for key, item in value.items()}
        return value

    return Inputs(
        copied(inputs.args), copied(inputs.init_args), {n: copied(a) for n, a in inputs.state.items()},
        tuple(copied(a) for a in inputs.destination),
    )  # fmt: skip
