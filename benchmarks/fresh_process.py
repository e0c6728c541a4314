"""The harness to compare with: one Python process for each candidate, which imports everything and checks in place.

Run as a script it is that process: `fresh_process.py TASK CANDIDATE DEVICE`, ending with 0 when the candidate is right
on three cases by `torch.allclose`; with the device "compile" it compiles for sm_90 instead what the candidate launches,
which needs a process of its own, because Triton interprets or compiles by what stood in the environment when it was
imported. `run_all` runs many, so many side by side.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def run_all(
    pairs: Sequence[tuple[Path, Path]], device: str, concurrency: int, interpret: bool, compiled: bool = False
) -> tuple[float, int]:
    """Run every (task, candidate) pair; returns wall seconds and how many were right. compiled: compile each too."""
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    if interpret:
        environ["TRITON_INTERPRET"] = "1"

    def run(pair: tuple[Path, Path]) -> bool:
        command = [sys.executable, __file__, str(pair[0]), str(pair[1]), device]
        right = subprocess.run(command, env=environ, check=False, stdout=subprocess.DEVNULL).returncode == 0
        if compiled:
            plain = {k: v for k, v in environ.items() if k != "TRITON_INTERPRET"}
            command[-1] = "compile"
            right &= subprocess.run(command, env=plain, check=False, stdout=subprocess.DEVNULL).returncode == 0
        return right

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

    if device == "compile":
        return _compile(task_path, candidate_path)
    task, candidate = load(task_path), load(candidate_path)
    sizes = [line.split("=")[1] for line in Path(task_path).read_text().splitlines() if line.startswith(("# rows", "# columns"))]
    numbers = [int(s) for s in sizes]
    for seed, (rows, columns) in enumerate(zip(numbers[::2], numbers[1::2])):
        inputs = task.make_inputs(seed, device, rows=rows, columns=columns)  # type: ignore[attr-defined]
        expected = task.reference(*inputs)  # type: ignore[attr-defined]
        if not torch.allclose(candidate.candidate(*inputs), expected, rtol=1e-3, atol=1e-3):  # type: ignore[attr-defined]
            return 1
    return 0


def _compile(task_path: str, candidate_path: str) -> int:
    import tempfile

    import torch
    from kengine import tasks
    from kengine.array import Array
    from kengine.model import Target, TaskView, TensorSpec
    from kengine.plugins.hooks import Inputs
    from kengine_triton.compile import compile_candidate

    item = tasks.load([Path(candidate_path)], Path(task_path))
    namespace: dict[str, object] = {}
    exec(item.task.source, namespace)
    samples = []
    for case in item.task.spec.cases:
        arrays = []
        for tensor in namespace["make_inputs"](0, "cpu", **case.params):  # type: ignore[operator]
            assert tensor.dtype == torch.float32
            array = Array(TensorSpec("float32", tuple(tensor.shape)), bytearray(tensor.numel() * 4))
            array.as_torch().copy_(tensor)
            arrays.append(array)
        samples.append(Inputs(tuple(arrays)))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        (Path(folder) / item.candidate.main.path).parent.mkdir(parents=True, exist_ok=True)
        artifact = compile_candidate(
            item.candidate, TaskView("function", item.candidate.entry), Target("triton", "sm_90"), samples, Path(folder)
        )
    return 0 if artifact.kernels else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("task", "candidate", "device"):
        parser.add_argument(name)
    given = parser.parse_args()
    sys.exit(_main(given.task, given.candidate, given.device))
