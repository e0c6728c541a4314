"""The constants that AMD's device library is specialised by, as a bitcode file of our own for each chip.

ROCm ships one small bitcode file for each value of each constant (names `__oclc_*`); the library's code is folded by
the compiler once they are linked to it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from kengine_hip.chips import Chip
from kengine_hip.toolchain import Toolchain, compiler_environment

ABI = 600
"""Code object ABI version times 100: what clang assumes when it is told nothing."""

_SECONDS = 60


def text_of(chip: Chip) -> str:
    """The module of constants as LLVM IR."""
    wide = chip.lanes == 64
    values = (
        ("ISA_version", 32, chip.isa),
        ("ABI_version", 32, ABI),
        ("wavefrontsize64", 8, int(wide)),
        ("wavefrontsize_log2", 32, 6 if wide else 5),
        ("finite_only_opt", 8, 0),
        ("unsafe_math_opt", 8, 0),
        ("daz_opt", 8, 0),
        ("correctly_rounded_sqrt32", 8, 1),
    )
    lines = ['target triple = "amdgcn-amd-amdhsa"']
    lines += [
        f"@__oclc_{name} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i{bits} {value}, "
        f"align {bits // 8}"
        for name, bits, value in values
    ]
    return "\n".join([*lines, ""])


def make_constants(toolchain: Toolchain, chip: Chip, folder: Path) -> Path:
    """The bitcode file of a chip's constants in `folder`, made at first use (20 ms)."""
    made = folder / f"constants-{chip.arch}.bc"
    if made.exists():
        return made
    source = folder / f"constants-{chip.arch}.ll"
    source.write_text(text_of(chip), encoding="ascii")
    part = made.with_suffix(".part")
    subprocess.run(
        [*toolchain.command, "-x", "ir", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-c", "-emit-llvm", str(source),
         "-o", str(part)],
        check=True, capture_output=True, timeout=_SECONDS, env=compiler_environment(),
    )  # fmt: skip
    part.replace(made)
    return made
