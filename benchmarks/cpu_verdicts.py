"""Verdicts on the one-row RMSNorm at triton:interpret, 2 workers, warm engine: what kengine adds, and how it compares
with a harness that starts a Python process for each candidate. Every candidate differs in text, so no cache serves two.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import arguments
import fresh_process
import kernels
from kengine import Engine, Plan, tasks

COUNT = 40
ROWS, COLUMNS = 16, 512


def main() -> None:
    text = kernels.task("rmsnorm", ROWS, COLUMNS)
    sources = [f"# candidate {n}\n{kernels.candidate('rmsnorm', 0)}" for n in range(COUNT)]
    items = [tasks.parse(source, f"rmsnorm_{n}.py", task_text=text) for n, source in enumerate(sources)]
    rates = {}
    for label, companions in (("launch only", ()), ("with the real compile for sm_90", None)):
        with Engine(target="triton:interpret", compile_for=companions, plan=Plan(), workers=2) as engine:
            for item in items[:4]:
                assert engine.verify(item).passed
            added = []
            for item in items:
                begun = time.perf_counter_ns()
                verdict = engine.verify(item)
                wall = time.perf_counter_ns() - begun
                assert verdict.passed, verdict.message
                added.append((wall - verdict.durations_ns.get("candidate", 0)) / 1e6)
            begun = time.perf_counter()
            verdicts = list(engine.verify_many(items))
            rates[label] = COUNT / (time.perf_counter() - begun)
            assert all(v.passed for v in verdicts)
            print(
                f"{label}: one at a time, wall minus the candidate's own launches: median {statistics.median(added):.1f} ms, "
                f"90th percentile {sorted(added)[COUNT * 9 // 10]:.1f} ms"
            )
            parts = {k: statistics.median(v.durations_ns.get(k, 0) / 1e6 for v in verdicts) for k in verdicts[0].durations_ns}
            print("  medians in ms:", ", ".join(f"{k} {v:.1f}" for k, v in parts.items()))
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        for n, source in enumerate(sources[: max(8, COUNT // 4)]):
            task_path, path = Path(folder, f"task_{n}.py"), Path(folder, f"candidate_{n}.py")
            task_path.write_text(text)
            path.write_text(source)
            pairs.append((task_path, path))
        for (label, rate), compiled in zip(rates.items(), (False, True)):
            wall, right = fresh_process.run_all(pairs, "cpu", 2, interpret=True, compiled=compiled)
            assert right == len(pairs)
            base = len(pairs) / wall
            print(f"{label}: kengine {rate:.2f} verdicts/s, processes for each {base:.2f}/s, ratio {rate / base:.1f}")


if __name__ == "__main__":
    COUNT = arguments.read(__doc__, count=COUNT).count
    main()
