"""What a compiled kernel takes of its chip: registers, spills, shared memory, occupancy; and the log that says so."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from kengine.model import JsonValue, KernelResources

from kengine_triton import assembler, occupancy
from kengine_triton.chips import Chip

_REGISTERS = re.compile(r"Used (\d+) registers")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_AMD_FIELD = re.compile(r"^\s+\.(\w+):\s+(\d+)\s*$", re.MULTILINE)
_AMD_WAVES = re.compile(r"^;\s*Occupancy:\s*(\d+)", re.MULTILINE)
_PTXAS_TIMEOUT_S = 120


def describe(kernel: Any, chip: Chip, loaded: bool) -> tuple[KernelResources, str]:
    """Resources of one `CompiledKernel`, and the vendor's log. loaded: the driver has loaded it and says registers."""
    meta = kernel.metadata
    shared = int(meta.shared)
    warps = int(meta.num_warps)
    details: dict[str, JsonValue] = {
        name: int(value)
        for name in ("num_warps", "num_stages", "num_ctas", "tmem_size")
        if isinstance(value := getattr(meta, name, None), int)
    }
    if chip.is_amd:
        return _amd(kernel, chip, shared, warps, details)
    if loaded:
        registers, spills, log = int(kernel.n_regs), 4 * int(kernel.n_spills), ""
    else:
        heard = assembler.log_of(kernel.asm["cubin"])
        registers, spills, log = _ptxas(kernel.asm["ptx"], chip, kernel) if heard is None else _read(heard, kernel)
    share = occupancy.nvidia(chip, registers, shared, warps) if registers else None
    return KernelResources(kernel.name, registers or None, spills, shared, share, details), log


def _ptxas(ptx: str, chip: Chip, kernel: Any) -> tuple[int, int, str]:
    """Registers, spilled bytes (stores and loads) and log of the assembler that Triton used."""
    with tempfile.TemporaryDirectory(prefix="kengine-ptxas-") as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        command = [
            _assembler(chip), "-v", "-lineinfo", f"--gpu-name={chip.arch}{'a' if chip.capability[0] >= 9 else ''}",
            *([] if getattr(kernel.metadata, "enable_fp_fusion", True) else ["--fmad=false"]),
            *(["--regAllocOptLevel=2"] if _newest() else []),
            str(source), "-o", str(Path(folder, "kernel.cubin")),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PTXAS_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return 0, 0, f"ptxas could not be asked: {error}"
    return _read(done.stderr.replace(str(source), f"{kernel.name}.ptx"), kernel)


def _read(log: str, kernel: Any) -> tuple[int, int, str]:
    log = re.sub(r"/\S+\.ptx", f"{kernel.name}.ptx", log).strip()
    registers = _REGISTERS.search(log)
    spills = _SPILLS.search(log)
    return (
        int(registers.group(1)) if registers else 0,
        int(spills.group(2)) + int(spills.group(3)) if spills else 0,
        log,
    )


def _assembler(chip: Chip) -> str:
    from triton.backends.nvidia import compiler

    found: Any = compiler.get_ptxas(chip.capability[0] * 10 + chip.capability[1])
    return str(found.path if hasattr(found, "path") else found[0])


def _newest() -> bool:
    """Whether this Triton passes the register allocation option that goes with its own assembler."""
    import inspect

    from triton.backends.nvidia import compiler

    return "regAllocOptLevel" in inspect.getsource(compiler.CUDABackend.make_cubin)


def _amd(
    kernel: Any, chip: Chip, shared: int, warps: int, details: dict[str, JsonValue]
) -> tuple[KernelResources, str]:
    """From the metadata block and the comments of the assembly text."""
    text = kernel.asm["amdgcn"]
    fields = {name: int(value) for name, value in _AMD_FIELD.findall(text)}
    registers = fields.get("vgpr_count")
    waves = _AMD_WAVES.search(text)
    by_registers = int(waves.group(1)) if waves else occupancy.amd_waves(chip, registers or 0)
    for key, name in (("sgpr_count", "sgpr"), ("agpr_count", "agpr"), ("private_segment_fixed_size", "scratch_bytes"),
                      ("sgpr_spill_count", "sgpr_spills")):  # fmt: skip
        if key in fields:
            details[name] = fields[key]
    spilled = fields.get("vgpr_spill_count")
    record = KernelResources(
        kernel.name,
        registers,
        None if spilled is None else 4 * spilled,
        shared,
        occupancy.amd(chip, by_registers, shared, warps),
        details,
    )
    log = "\n".join(line for line in text.splitlines() if line.startswith("; ") and ":" in line)
    return record, f"{kernel.name}:\n{log}" if log else ""
