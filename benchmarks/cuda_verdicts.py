"""Verdicts on cuda:cpu, warm engine: a RawKernel, a bare file and an extension of torch, each candidate with a text of its
own, so that no cache serves two. Prints medians of wall time from candidate to verdict, without and with the real
compile for sm_90 beside it.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import arguments
from kengine import Engine, Plan, tasks

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "cuda" / "softmax"
COUNT = 15
BARS = {"raw_kernel.py": 0.15, "one_block.cu": 0.15, "inline.py": 1.0}


def main() -> None:
    task = (FOLDER / "task.py").read_text()
    for label, companions in (("launch only", ()), ("with the real compile for sm_90", None)):
        with Engine(target="cuda:cpu", compile_for=companions, plan=Plan(), workers=1) as engine:
            for name, bar in BARS.items():
                walls, parts = [], []
                for n in range(COUNT + 2):
                    text = (FOLDER / name).read_text().replace("sum = 0.0f", f"sum = 0.0f * {n}.0f")
                    item = tasks.parse(text, name, task_text=task)
                    begun = time.perf_counter()
                    verdict = engine.verify(item)
                    walls.append(time.perf_counter() - begun)
                    parts.append(verdict.durations_ns)
                    assert verdict.passed, verdict.message
                medians = {k: statistics.median(p.get(k, 0) / 1e6 for p in parts[2:]) for k in parts[-1]}
                print(
                    f"{label}: {name}: median {statistics.median(walls[2:]) * 1e3:.0f} ms, fastest "
                    f"{min(walls[2:]) * 1e3:.0f} ms (bar {bar * 1e3:.0f} ms); medians in ms: "
                    + ", ".join(f"{k} {v:.1f}" for k, v in medians.items())
                )


if __name__ == "__main__":
    COUNT = arguments.read(__doc__, count=COUNT).count
    main()
