"""The simulator of the Neuron SDK: `nki.simulate(kernel)(*arrays)`, before `nki.simulate_kernel(kernel, *arrays)`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from kengine.errors import CandidateFault
from kengine.model import Candidate, Mode
from kengine.runner import faults as runner_faults

from kengine_nki.interpreter import Outcome
from kengine_nki.vendor.kernels import ROOTS, Kernel, as_given, as_numpy, watching

HAZARD = "incorrect results on hardware"


class Simulator:
    """The vendor's simulator as a platform."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate

    def call(self, function: Callable[[], Any], mode: Mode) -> Outcome:
        """Call once. Raises CandidateFault; a warning that the hardware would give another result is one too."""
        with watching(self._run, mode) as watch, warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                value = function()
            except Exception as error:
                raise classify(error) from error
        hazard = next((w for w in seen if HAZARD in str(w.message)), None)
        if hazard is not None:
            raise CandidateFault("launch_failed", f"the simulator warns: {hazard.message}")
        return Outcome(value, tuple(watch.launches), {"launches": len(watch.launches)})

    def _run(self, kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        package = import_module(ROOTS[kernel.generation])
        plain, named = [as_numpy(a) for a in args], {k: as_numpy(v) for k, v in kwargs.items()}
        if kernel.generation == "new":
            return as_given(package.simulate(kernel.inner)(*plain, **named), args)
        return as_given(package.simulate_kernel(kernel.inner, *plain, **named), args)


def classify(error: Exception) -> CandidateFault:
    """What an exception of the official tools means: an access out of bounds fails the launch, the rest the compile."""
    cause: BaseException = error
    while isinstance(cause, CandidateFault) and cause.status == "launch_failed" and cause.__cause__ is not None:
        cause = cause.__cause__
    if isinstance(cause, CandidateFault):
        return cause
    frames = runner_faults.frames(cause.__traceback__)
    inside = bool(frames) and any(f"/{name}/" in frames[-1][0] for name in ("nki", "neuronxcc"))
    text = runner_faults.text_of(cause)
    official = inside or type(cause).__module__.partition(".")[0] in ("nki", "neuronxcc")
    if official and "out-of-bound" not in text.lower():
        return runner_faults.from_exception(cause, "compile_failed", "the kernel")
    return runner_faults.from_exception(cause, "launch_failed", "the kernel" if official else "the candidate")
