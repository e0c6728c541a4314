"""The harness to compare with: one Python process for each candidate, which imports everything and checks in place.

Run as a script it is that process: `fresh_process.py TASK CANDIDATE DEVICE`, ending with 0 when the candidate is right
on three cases by `torch.allclose`. `run_all` runs many, so many side by side.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def run_all(pairs: Sequence[tuple[Path, Path]], device: str, concurrency: int, interpret: bool) -> tuple[float, int]:
    """Run every (task, candidate) pair; returns wall seconds and how many were right."""
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    if interpret:
        environ["TRITON_INTERPRET"] = "1"

    def run(pair: tuple[Path, Path]) -> bool:
        command = [sys.executable, __file__, str(pair[0]), str(pair[1]), device]
        return subprocess.run(command, env=environ, check=False, stdout=subprocess.DEVNULL).returncode == 0

    begun = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        right = sum(pool.map(run, pairs))
    return time.perf_counter() - begun, right


def _main(task_path: str, candidate_path: str, device: str) -> int:
    import importlib.util

    import torch

    def load(path: str) -> object:
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    task, candidate = load(task_path), load(candidate_path)
    sizes = [line.split("=")[1] for line in Path(task_path).read_text().splitlines() if line.startswith(("# rows", "# columns"))]
    numbers = [int(s) for s in sizes]
    for seed, (rows, columns) in enumerate(zip(numbers[::2], numbers[1::2])):
        inputs = task.make_inputs(seed, device, rows=rows, columns=columns)  # type: ignore[attr-defined]
        expected = task.reference(*inputs)  # type: ignore[attr-defined]
        if not torch.allclose(candidate.candidate(*inputs), expected, rtol=1e-3, atol=1e-3):  # type: ignore[attr-defined]
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
