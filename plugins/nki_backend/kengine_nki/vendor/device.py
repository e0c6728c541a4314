"""A Neuron chip: what a candidate launches is compiled to NEFFs; where the device is, it is launched and profiled."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from kengine.errors import CandidateFault
from kengine.model import Candidate, Mode

from kengine_nki import toolchain
from kengine_nki.interpreter import Outcome
from kengine_nki.vendor.kernels import Compiled, Kernel, as_given, as_numpy, watching
from kengine_nki.vendor.neff import compile_kernel
from kengine_nki.vendor.simulator import classify


class Chip:
    """One chip as a platform. `neffs`: what was compiled, by kernel."""

    def __init__(self, candidate: Candidate, chip: str, workdir: Path) -> None:
        self.candidate, self.chip, self.workdir = candidate, chip, workdir
        self.here = toolchain.find_device() == chip
        self.neffs: dict[str, Path] = {}

    def compile(self, call: Callable[[], Any]) -> dict[str, int]:
        """Make `call` and compile every kernel that it launches; sizes of the NEFFs by kernel.

        Without the device a launch has no result, and the candidate gets no further than its first one.
        """
        try:
            call()
        except CandidateFault as fault:
            if not isinstance(fault.__cause__, Compiled):
                raise
        return {name: path.stat().st_size for name, path in self.neffs.items()}

    def call(self, function: Callable[[], Any], mode: Mode) -> Outcome:
        """Call once. Raises CandidateFault."""
        with watching(self._run, mode) as watch:
            try:
                value = function()
            except Exception as error:
                cause = error.__cause__ if isinstance(error, CandidateFault) else error
                if isinstance(cause, Compiled):
                    raise CandidateFault("unsupported", f"{self.chip} is not here: nothing was launched") from cause
                raise classify(error) from error
        return Outcome(value, tuple(watch.launches), {"launches": len(watch.launches)})

    def _run(self, kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        plain, named = [as_numpy(a) for a in args], {k: as_numpy(v) for k, v in kwargs.items()}
        if kernel.__name__ not in self.neffs:
            self.neffs[kernel.__name__] = compile_kernel(kernel, plain, named, self.chip, self.workdir)
        if not self.here:
            raise Compiled(kernel.__name__)
        if kernel.generation == "new":
            return as_given(kernel.inner(*plain, **named), args)
        return as_given(import_module("neuronxcc.nki").baremetal(kernel.inner)(*plain, **named), args)


def profile(neffs: Sequence[Path], folder: Path) -> int:
    """Run each NEFF once under the profiler and return their device time together, in nanoseconds.

    The second execution counts: the first one loads. Raises CandidateFault (launch_failed) with the tool's own words.
    """
    tool, total = toolchain.find_profiler(), 0.0
    for neff in neffs:
        trace = folder / f"{neff.stem}.ntff"
        _run_tool([tool, "capture", "--neff", str(neff), "-s", str(trace), "--profile-nth-exec=2"])
        text = _run_tool([tool, "view", "--output-format", "summary-json", "-n", str(neff), "-s", str(trace)])
        try:
            total += float(next(iter(json.loads(text).values()))["total_time"])
        except (ValueError, KeyError, TypeError, StopIteration, AttributeError) as error:
            raise CandidateFault("launch_failed", f"{tool} view says no total_time: {text[:200]}") from error
    return int(total * 1e9)


def _run_tool(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise CandidateFault("launch_failed", f"{command[0]} {command[1]}: {lines[-1][:500]}")
    return done.stdout
