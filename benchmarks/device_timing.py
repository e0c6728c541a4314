"""Timing of an add at three sizes on a GPU: kengine's device time beside the profiler's, and its spread over repeats."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import arguments
import kernels
from kengine import Engine, Plan, tasks

SIZES = {"4 Ki": (4, 15), "1 Mi": (1024, 15), "64 Mi": (65536, 6)}
"""Rows of 1024, and verdicts whose spread is looked at."""

TASK = """# /// kengine
# [[cases]]
# rows = {rows}
# ///
import torch


def reference(x, y):
    return x + y


def make_inputs(seed, device, rows):
    g = torch.Generator(device=device).manual_seed(seed)
    return torch.randn(rows, 1024, generator=g, device=device), torch.randn(rows, 1024, generator=g, device=device)
"""


def middle(values: Sequence[float]) -> float:
    """Mean of the middle half: a median of times that a device counts in steps of 32 ns is such a step itself."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return statistics.fmean(ordered[quarter : len(ordered) - quarter])


def profiled_ns(rows: int, source: str) -> float:
    """Device time of the same candidate under torch's profiler, cold L2, in this process."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    namespace: dict[str, object] = {}
    import linecache

    name = f"<profiled {rows}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), namespace)
    x, y = torch.randn(rows, 1024, device="cuda"), torch.randn(rows, 1024, device="cuda")
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    run = namespace["candidate"]
    for _ in range(5):
        run(x, y)  # type: ignore[operator]
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        for _ in range(50):
            flush.zero_()
            torch.cuda.synchronize()
            run(x, y)  # type: ignore[operator]
            torch.cuda.synchronize()
    events = prof.profiler.kineto_results.events()
    return middle([e.duration_ns() for e in events if e.name().startswith("kernel_add")])


def main() -> None:
    source = kernels.candidate("add", 7)
    for label, (rows, repeats) in SIZES.items():
        item = tasks.parse(source, "add.py", task_text=TASK.format(rows=rows))
        times, speeds = [], []
        plan = Plan(time=True, cases=1, integrity=False)
        with Engine(backend="triton", compile_for=(), plan=plan, workers=1) as engine:
            for _ in range(repeats):
                verdict = engine.verify(item)
                assert verdict.passed, (verdict.status, verdict.message)
                assert verdict.stages.time is not None
                timing = verdict.stages.time.cases[0]
                times.append(middle(timing.candidate_ns))
                speeds.append(timing.speedup)
        ours, theirs = statistics.median(times), profiled_ns(rows, source)
        spread = statistics.pstdev(times) / ours
        print(
            f"add {label:>5}: kengine {ours / 1e3:9.3f} us ({timing.method}), profiler {theirs / 1e3:9.3f} us, "
            f"ratio {ours / theirs:.4f}, spread over {repeats} runs {spread:.2%}, speedup {statistics.median(speeds):.3f} "
            f"({timing.label}), {len(timing.candidate_ns)} samples",
            flush=True,
        )


if __name__ == "__main__":
    arguments.read(__doc__)
    main()
