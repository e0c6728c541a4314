"""128 distinct Triton kernels over 8 tasks on a GPU, cold caches, 3 cases each: verdicts a second without and with
timing, beside a harness that starts a process for each candidate at its best concurrency, in one run.

`device_verdicts.py [COUNT] [BASE] [WORKERS]`: so many kernels, so many of them for the harness, so many candidates side
by side. Bars: 10 verdicts a second and 5 times the harness; 4 a second with timing.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import arguments
import fresh_process
import kernels
from kengine import Engine, Item, Plan, tasks

COUNT = 128
BASE = 48
WORKERS = len(os.sched_getaffinity(0))
ROWS, COLUMNS = 512, 1024


def measure(label: str, plan: Plan, items: Sequence[Item], backend: str = "triton", workers: int = WORKERS) -> float:
    """Judge all on the backend's device, print what it took and where the time went, and give verdicts a second."""
    with Engine(backend=backend, compile_for=(), plan=plan, workers=workers) as engine:
        begun = time.perf_counter()
        engine.warm()
        print(f"{label}: {engine.info.target}, {workers} workers, warm after {time.perf_counter() - begun:.1f} s")
        busy, begun = _processor_seconds(), time.perf_counter()
        verdicts, ends = [], []
        for verdict in engine.verify_many(items):
            verdicts.append(verdict)
            ends.append(time.perf_counter() - begun)
        wall, busy = time.perf_counter() - begun, _processor_seconds() - busy
    bad = [v for v in verdicts if not v.passed]
    for v in bad[:5]:
        print("  not passed:", v.candidate.main.path, v.status, v.message)
    print(f"{label}: {len(items)} verdicts in {wall:.2f} s = {len(items) / wall:.1f}/s, {len(items) - len(bad)} passed")
    names = sorted({k for v in verdicts for k in v.durations_ns})
    medians = {k: statistics.median(v.durations_ns.get(k, 0) for v in verdicts) / 1e6 for k in names}
    print("  medians in ms:", {k: round(ms, 1) for k, ms in medians.items()})
    means = {k: statistics.mean(v.durations_ns.get(k, 0) for v in verdicts) / 1e6 for k in names}
    print("  means in ms:", {k: round(ms, 1) for k, ms in means.items()})
    middle = ends[len(ends) // 8 : -len(ends) // 8]
    steady = f", {(len(middle) - 1) / (middle[-1] - middle[0]):.1f}/s without the first and last eighth"
    print(
        f"  first verdict after {ends[0]:.1f} s{steady if len(middle) > 1 else ''}; processors busy "
        f"{busy / wall / len(os.sched_getaffinity(0)):.0%} of the time",
        flush=True,
    )
    return len(items) / wall


def _processor_seconds() -> float:
    """What all processes of this machine have computed so far."""
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, *_ = map(int, f.readline().split()[1:])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def measure_processes(corpus: Sequence[tuple[str, str, str]]) -> float:
    """Verdicts a second of a process for each candidate, at the best of two concurrencies."""
    best = 0.0
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        for n, (_, task, text) in enumerate(corpus):
            task_path, path = Path(folder, f"task_{n}.py"), Path(folder, f"candidate_{n}.py")
            task_path.write_text(task)
            path.write_text(text)
            pairs.append((task_path, path))
        for concurrency in (8, 16):
            os.environ["TRITON_CACHE_DIR"] = str(Path(folder, f"cache_{concurrency}"))
            part = pairs if concurrency == 16 else pairs[: max(concurrency, len(pairs) // 2)]
            wall, right = fresh_process.run_all(part, "cuda", concurrency, interpret=False)
            rate = len(part) / wall
            print(f"a process for each, {concurrency} side by side: {rate:.2f}/s ({right} of {len(part)} right)")
            best = max(best, rate)
    return best


def main() -> None:
    corpus = list(kernels.corpus(COUNT, ROWS, COLUMNS))
    items = [tasks.parse(text, f"{name}_{n}.py", task_text=task) for n, (name, task, text) in enumerate(corpus)]
    rate = measure("correctness", Plan(), items, workers=WORKERS)
    best = measure_processes(corpus[:BASE])
    print(f"correctness: {rate / best:.1f} x the best of them", flush=True)
    # Of those that are timed many wait for the device at any moment.
    timed = measure("with timing", Plan(time=True), items, workers=3 * WORKERS // 2)
    print(f"with timing: {timed / best:.1f} x the best of them")


if __name__ == "__main__":
    given = arguments.read(__doc__, count=COUNT, base=BASE, workers=WORKERS)
    COUNT, BASE, WORKERS = given.count, given.base, given.workers
    main()
