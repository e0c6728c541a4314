"""Whether an answer depends on how wide a wavefront is: the same calls, emulated with the other number of lanes."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import Candidate, JsonValue, Mode, Target, TaskView
from kengine.native import observe
from kengine.native.session import Session
from kengine.plugins.hooks import Inputs
from kengine.runner import watch

from kengine_hip.chips import EMULATED, NARROW, Chip
from kengine_hip.figures import figures_of
from kengine_hip.targets import EMULATORS

TOLERANCE = 1e-3
"""Relative difference, of the largest magnitude, beyond which two answers are told apart: orders of sums differ."""

LARGEST = 1 << 22
"""Elements of all inputs together beyond which the second run is left out."""

SAME = "same answer"

SHARE = 0.3
"""How much of the time for a call the call itself may have taken, and a launch of the second run may take."""

SECONDS = 10.0
"""Processor seconds of all second runs of one candidate after which no further case is repeated."""

_SENSITIVE = re.compile(
    r"__shfl|__ballot|__any\b|__all\b|__activemask|__match_|__reduce_|__syncwarp|\bwarpSize\b|__lane_id|__lanemask"
    r"|\btiled_partition\b|\bcoalesced_|\bvolatile\b|WAVE|WARP|[&]\s*(?:31|63|0x1[fF]|0x3[fF])\b|[%/]\s*(?:32|64)\b"
    r"|>>\s*[56]\b"
)


@dataclass
class _Other:
    """A candidate with the other width. session: None until the first call. cases: by number, what comparing answers
    gave. seconds: processor seconds that it may still take."""

    candidate: Candidate
    view: TaskView
    target: Target
    chip: Chip
    workdir: Path
    samples: Sequence[Inputs]
    session: Session | None = None
    cases: dict[int, str] = field(default_factory=dict)
    seconds: float = SECONDS

    def call(self, inputs: Inputs) -> Any:
        """What the candidate gives for these inputs with the other width. Raises CandidateFault."""
        if self.session is None:
            self.session = self._load()
        return self.session.call(inputs, Mode.normal).value

    def _load(self) -> Session:
        from kengine.native.emulator import Emulator
        from kengine.native.forms import find_form
        from kengine.simt import DeviceLimits

        limits, figures = DeviceLimits.of(self.chip.arch), figures_of(self.chip)
        seconds = SHARE * self.view.timeout_s
        driver = Emulator("hip", limits, figures, self.candidate, self.workdir, check=False, timeout_s=seconds)
        target = replace(self.target, arch=f"{self.target.arch}.other")
        session = Session(self.candidate, self.view, target, driver, find_form(self.candidate))
        with observe.observing(Mode.normal):
            session.load(self.workdir, self.samples)
        return session


_others: dict[Target, _Other] = {}


def is_sensitive(candidate: Candidate) -> bool:
    """Whether the text holds anything through which the width of a wavefront may show."""
    return any(_SENSITIVE.search(file.text) for file in candidate.files)


def remember(candidate: Candidate, view: TaskView, target: Target, workdir: Path, samples: Sequence[Inputs]) -> None:
    """Take note of a candidate whose calls are to be repeated with the other width."""
    _others.pop(target, None)
    if is_sensitive(candidate):
        chip = NARROW if EMULATORS[target.arch].lanes == EMULATED.lanes else EMULATED
        _others[target] = _Other(candidate, view, target, chip, workdir, samples)


def prepare(target: Target, case: int, inputs: Inputs, mode: Mode) -> Repeated | None:
    """For the first ordinary call of each case: the inputs as they are now, to be used again. None for every other
    call, and when the time for this or the memory is used up."""
    other = _others.get(target)
    if other is None or mode not in (Mode.normal, Mode.traced) or case in other.cases or other.seconds <= 0:
        return None
    from kengine.runner.arena import arrays

    size = sum(len(memoryview(a.memory).cast("B")) for a in arrays(inputs.args))
    return Repeated(other, case, _copy(inputs), time.monotonic()) if size <= 4 * LARGEST else None


def summary(target: Target) -> Mapping[str, JsonValue]:
    """What the cases so far gave with the other width: the same answer, or what differs and in which case first; and
    how many of them there were."""
    other = _others.get(target)
    if other is None or not other.cases:
        return {}
    key = f"with_{other.chip.lanes}_lanes"
    told = next((f"{answer} (case {case})" for case, answer in other.cases.items() if answer != SAME), SAME)
    return {key: told, f"{key}_cases": len(other.cases)}


@dataclass
class Repeated:
    """One call to be made with the other width, on inputs of its own. begun: when the call itself began."""

    other: _Other
    case: int
    inputs: Inputs
    begun: float

    def compare(self, value: Any) -> None:
        """Run it, and note what is different; never raises because of the candidate.

        It takes its time from that of the call, so that one which has used much of it is not repeated.
        """
        other = self.other
        if time.monotonic() - self.begun > SHARE * other.view.timeout_s:
            return
        begun = time.process_time()
        try:
            with watch.unseen():
                answer = other.call(self.inputs)
        except CandidateFault as fault:
            if fault.status in ("unsupported", "timed_out"):
                other.seconds = 0.0
                return
            problem = f"{fault.status}: {fault.message}"
        else:
            problem = difference(value, answer)
        other.seconds -= time.process_time() - begun
        other.cases[self.case] = f"differs: {problem}"[:500] if problem else SAME


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
