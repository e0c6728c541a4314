"""nvcc, for sources that hold host code too, and where NVRTC is missing."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

TIMEOUT_S = 300


class NvccError(Exception):
    """The source does not compile; `log` says why."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


def compile_source(
    command: str, source: str, filename: str, options: Sequence[str], names: Sequence[str], workdir: Path
) -> tuple[bytes, str]:
    """Compile to a binary for one architecture; and the log. names: instances of templates to be made.

    Raises NvccError.
    """
    text = source
    if names:
        # Taking the address of an instance on the host makes its device code.
        uses = "".join(f"  (void*)({name}),\n" for name in names)
        text += f'\n#line 1 "(instances)"\nextern "C" void* const kengine_instances[] = {{\n{uses}}};\n'
    with tempfile.TemporaryDirectory(dir=workdir) as folder:
        unit, out = Path(folder, filename), Path(folder, "out.cubin")
        unit.write_text(text, encoding="utf-8", errors="surrogateescape")
        line = [command, "-cubin", "-x", "cu", "-w", *options, f"-I{workdir}", filename, "-o", str(out)]
        environment = {**os.environ, "LC_ALL": "C", "TMPDIR": folder}
        try:
            done = subprocess.run(
                line, capture_output=True, text=True, errors="replace", cwd=folder, env=environment,
                timeout=TIMEOUT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NvccError(f"nvcc has not finished after {TIMEOUT_S} s", "") from None
        log = (done.stdout + done.stderr).replace(f"{folder}/", "")
        if done.returncode or not out.exists():
            raise NvccError("nvcc failed", log)
        return out.read_bytes(), log
