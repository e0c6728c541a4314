"""128 distinct Triton kernels over 8 tasks on a GPU, cold caches, 3 cases each: verdicts a second without and with
timing, beside a harness that starts a process for each candidate at its best concurrency, in one run.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import fresh_process
import kernels
from kengine import Engine, Plan, tasks

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 128
BASE = int(sys.argv[2]) if len(sys.argv) > 2 else 48
ROWS, COLUMNS = 512, 1024


def main() -> None:
    corpus = list(kernels.corpus(COUNT, ROWS, COLUMNS))
    items = [tasks.parse(text, f"{name}_{n}.py", task_text=task) for n, (name, task, text) in enumerate(corpus)]
    workers = len(os.sched_getaffinity(0))
    rates = {}
    for label, plan in (("correctness", Plan()), ("with timing", Plan(time=True))):
        with Engine(backend="triton", compile_for=(), plan=plan, workers=workers) as engine:
            begun = time.perf_counter()
            engine.warm()
            print(f"{label}: {engine.info.target}, {workers} workers, warm after {time.perf_counter() - begun:.1f} s")
            begun = time.perf_counter()
            verdicts = list(engine.verify_many(items))
            wall = time.perf_counter() - begun
        bad = [v for v in verdicts if not v.passed]
        for v in bad[:5]:
            print("  not passed:", v.candidate.main.path, v.status, v.message)
        rates[label] = COUNT / wall
        print(f"{label}: {COUNT} verdicts in {wall:.2f} s = {rates[label]:.1f}/s, {COUNT - len(bad)} passed")
        names = sorted({k for v in verdicts for k in v.durations_ns})
        print("  medians in ms:", {k: round(statistics.median(v.durations_ns.get(k, 0) for v in verdicts) / 1e6, 1) for k in names})
    best = 0.0
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        for n, (_, task, text) in enumerate(corpus[:BASE]):
            task_path, path = Path(folder, f"task_{n}.py"), Path(folder, f"candidate_{n}.py")
            task_path.write_text(task)
            path.write_text(text)
            pairs.append((task_path, path))
        for concurrency in (8, 16):
            os.environ["TRITON_CACHE_DIR"] = str(Path(folder, f"cache_{concurrency}"))
            part = pairs[: max(concurrency, BASE // 2)] if concurrency < 16 else pairs
            wall, right = fresh_process.run_all(part, "cuda", concurrency, interpret=False)
            print(f"a process for each, {concurrency} side by side: {len(part) / wall:.2f}/s ({right} of {len(part)} right)")
            best = max(best, len(part) / wall)
    for label, rate in rates.items():
        print(f"{label}: {rate / best:.1f} x the best of them")


if __name__ == "__main__":
    main()
