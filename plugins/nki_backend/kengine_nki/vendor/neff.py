"""Compiling one kernel to a NEFF, in the call forms of both generations; names that AWS calls internal are guarded."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from kengine.errors import CandidateFault
from kengine.runner import faults as runner_faults

from kengine_nki.vendor.kernels import Kernel

_CODE = re.compile(r"\bNCC_[A-Z]{4}\d{3}\b")


def compile_kernel(kernel: Kernel, args: list[Any], kwargs: dict[str, Any], chip: str, folder: Path) -> Path:
    """Compile for `chip` what a launch with these numpy arrays needs, and return the NEFF's path.

    Raises CandidateFault: compile_failed with the compiler's own code and line, unsupported for a package whose
    compiler is called in a way that is not known.
    """
    neff = folder / f"{kernel.__name__}.neff"
    try:
        if kernel.generation == "new":
            return _compile_new(kernel, args, kwargs, chip, folder, neff)
        return _compile_old(kernel, args, kwargs, folder, neff)
    except CandidateFault:
        raise
    except Exception as error:
        raise _fault(error) from error


def _compile_new(
    kernel: Kernel, args: list[Any], kwargs: dict[str, Any], chip: str, folder: Path, neff: Path
) -> Path:
    try:
        frontend = import_module("nki.compiler.frontend").ParserFrontend()
        driver = import_module("nki.compiler.ncc_driver")
        options, compiled = driver.CompileOptions, driver.CompiledKernel
    except (ImportError, AttributeError) as error:
        raise CandidateFault(
            "unsupported", f"this version of nki is compiled in a way that kengine does not know ({error}); "
            "known are 0.3 to 0.6",
        ) from error  # fmt: skip
    lnc = int(kernel.grid or 1)
    inputs = signature(kernel.function).bind(*args, **kwargs).arguments
    result = frontend.compile(kernel.function, inputs=dict(inputs), target=chip, lnc=lnc, artifacts_dir=str(folder))
    wanted = options(target=chip, lnc=lnc, output_path=str(neff), artifacts_dir=str(folder), neuronx_cc_args=[])
    return Path(compiled.from_frontend(result, wanted).neff_path)


def _compile_old(kernel: Kernel, args: list[Any], kwargs: dict[str, Any], folder: Path, neff: Path) -> Path:
    package = import_module("neuronxcc.nki")
    try:
        package.baremetal(kernel.inner, save_neff_name=str(neff), artifacts_dir=str(folder))(*args, **kwargs)
    except Exception:
        # It compiles, saves, and then runs; without a device only the last of the three fails.
        if not neff.exists():
            raise
    return neff


def _fault(error: Exception) -> CandidateFault:
    text = runner_faults.text_of(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if "error:" in line.lower()), lines[-1] if lines else "")
    code = _CODE.search(text)
    head = f"neuronx-cc {code.group()}: " if code and code.group() not in told else ""
    line = runner_faults.own_line(error)
    where = f" (line {line})" if line else ""
    message = runner_faults.clean(f"{head}{told or runner_faults.name_of(error)}{where}", 1500)
    return CandidateFault("compile_failed", message, runner_faults.log_of(error), line)
