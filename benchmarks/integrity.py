"""What the dynamic integrity checks cost: the same candidates with and without them, in turn, by a warm engine.

`integrity.py [TARGET ...]`, default the device-free targets. On a device (`integrity.py triton:sm_90`) the kernels are
products of float32 matrices, which take about a millisecond and little memory. Bars: at most 2 times the verdict
without them on a CPU, at most 1.5 times on a device.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import kernels
from kengine import Engine, Item, Plan, tasks
from kengine.errors import KengineError

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ROUNDS = {True: 15, False: 5}
"""Pairs of verdicts by whether the target is emulated."""
BARS = {True: 2.0, False: 1.5}
"""Bar by whether the target is emulated."""
ON_A_CPU = (("rmsnorm", 0, 16, 512), ("softmax", 0, 64, 512))
ON_A_DEVICE = (("matmul", 14, 1536, 1536), ("matmul", 14, 4096, 256))
"""Task of `kernels`, variant, rows and columns."""


def items(target: str) -> dict[str, Item]:
    """Candidates of a target by name: passing ones of different weight, with a task of their own but for NKI and toy."""
    backend = target.partition(":")[0]
    if backend == "triton":
        sizes = ON_A_CPU if target.endswith("interpret") else ON_A_DEVICE
        return {
            f"{name} {rows} x {columns}": tasks.parse(
                kernels.candidate(name, variant), f"{name}.py", task_text=kernels.task(name, rows, columns)
            )
            for name, variant, rows, columns in sizes
        }
    if backend == "toy":
        return {"vector_add": tasks.load([EXAMPLES / "toy" / "vector_add.py"], None)}
    if backend == "nki":
        names = ("rmsnorm", "old_rmsnorm", "softmax")
        return {name: tasks.load([EXAMPLES / "nki" / f"{name}.py"], None) for name in names}
    folders = [EXAMPLES / backend / name for name in ("rmsnorm", "softmax")]
    return {folder.name: tasks.load([folder / "raw_kernel.py"], folder / "task.py") for folder in folders}


def main() -> int:
    targets = sys.argv[1:] or ["toy:cpu", "triton:interpret", "nki:sim", "cuda:cpu"]
    missed = 0
    for target in targets:
        try:
            missed += measure(target)
        except KengineError as error:
            print(f"{target}: not measured: {error}", flush=True)
    return 1 if missed else 0


def measure(target: str) -> int:
    """Print the ratio for each candidate of a target; how many miss the bar."""
    missed = 0
    chosen = items(target)
    with (
        Engine(target=target, compile_for=(), plan=Plan(integrity=False), workers=1) as bare,
        Engine(target=target, compile_for=(), plan=Plan(), workers=1) as full,
    ):
        for name, item in chosen.items():
            if not all(engine.verify(item).passed for engine in (bare, full)):
                print(f"{target} {name}: not measured: it does not pass", flush=True)
                continue
            ratios, walls = [], []
            for _ in range(ROUNDS[full.info.emulated]):
                pair = []
                for engine in (bare, full):
                    begun = time.perf_counter()
                    verdict = engine.verify(item)
                    pair.append(time.perf_counter() - begun)
                    assert verdict.passed, verdict.message
                ratios.append(pair[1] / pair[0])
                walls.append(pair)
            bar = BARS[verdict.emulated]
            ratio = statistics.median(ratios)
            missed += ratio > bar
            without, with_ = (statistics.median(w[n] for w in walls) * 1e3 for n in (0, 1))
            print(
                f"{target} {name}: {without:.1f} ms without, {with_:.1f} ms with, ratio {ratio:.2f} "
                f"(quartiles {quartiles(ratios)}; bar {bar:g})",
                flush=True,
            )
    return missed


def quartiles(values: list[float]) -> str:
    low, _, high = statistics.quantiles(values, n=4)
    return f"{low:.2f} to {high:.2f}"


if __name__ == "__main__":
    raise SystemExit(main())
