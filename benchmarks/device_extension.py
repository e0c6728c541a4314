"""64 distinct load_inline candidates over 4 tasks on a GPU, cold build caches: verdicts a minute beside torch's own
`load_inline` in a process for each candidate, as many side by side as there are processors, in one run.

`device_extension.py [COUNT] [BASE]`: so many candidates, and so many of them for torch's own. Bar: 10 times the latter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import arguments
import device_verdicts
from kengine import Plan, tasks

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "cuda"
COUNT, BASE = 64, 16
ARCH = "9.0"
TASKS = ("softmax", "matmul", "reduction", "rmsnorm")
ONE = """
import importlib.util, sys, torch

def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

task, candidate = load(sys.argv[1], "task"), load(sys.argv[2], "candidate")
for seed in range(3):
    inputs = task.make_inputs(seed, "cuda")
    torch.testing.assert_close(candidate.candidate(*inputs), task.reference(*inputs), rtol=1e-3, atol=1e-3)
"""
"""What the process for each candidate does: everything that a verdict of the simplest kind needs."""


def texts(count: int) -> list[tuple[str, str, str]]:
    """Name, task and candidate; no two candidates share a text, so that no build serves two."""
    made = []
    for n in range(count):
        name = TASKS[n % len(TASKS)]
        text = (EXAMPLES / name / "inline.py").read_text()
        task = EXAMPLES / name / "task.py"
        first = text.index("__global__")
        made.append((name, task.read_text(), f"{text[:first]}// candidate {n}\n{text[first:]}"))
    return made


def measure_stock(made: Sequence[tuple[str, str, str]]) -> float:
    """Candidates a minute of a process each with torch's own `load_inline`, as many side by side as processors."""
    concurrency = len(os.sched_getaffinity(0))
    environ = {**os.environ, "TORCH_CUDA_ARCH_LIST": ARCH, "MAX_JOBS": "2"}
    with tempfile.TemporaryDirectory() as folder:

        def run(n: int) -> bool:
            place = Path(folder, str(n))
            (place / "built").mkdir(parents=True)
            (place / "task.py").write_text(made[n][1])
            (place / "candidate.py").write_text(made[n][2])
            done = subprocess.run(
                [sys.executable, "-c", ONE, str(place / "task.py"), str(place / "candidate.py")],
                env={**environ, "TORCH_EXTENSIONS_DIR": str(place / "built")}, check=False, capture_output=True,
            )  # fmt: skip
            if done.returncode:
                print(f"  candidate {n}:", *done.stderr.decode(errors="replace").strip().splitlines()[-1:])
            return done.returncode == 0

        begun = time.perf_counter()
        with ThreadPoolExecutor(concurrency) as pool:
            right = sum(pool.map(run, range(len(made))))
        rate = 60 * len(made) / (time.perf_counter() - begun)
    print(f"torch's own, {concurrency} side by side: {rate:.1f}/min ({right} of {len(made)} right)", flush=True)
    return rate


def main() -> None:
    made = texts(COUNT)
    items = [tasks.parse(text, f"{name}_{n}.py", task_text=task) for n, (name, task, text) in enumerate(made)]
    rate = 60 * device_verdicts.measure("load_inline", Plan(), items, backend="cuda")
    print(f"load_inline: {rate / measure_stock(made[:BASE]):.1f} x torch's own in a process each", flush=True)


if __name__ == "__main__":
    given = arguments.read(__doc__, count=COUNT, base=BASE)
    COUNT, BASE = given.count, given.base
    main()
