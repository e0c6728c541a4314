"""Timing of an add at three sizes on a GPU: kengine's device time beside the profiler's, and its spread over repeats."""

from __future__ import annotations

import statistics

import kernels
from kengine import Engine, Plan, tasks

SIZES = {"4 Ki": (4, 1024), "1 Mi": (1024, 1024), "64 Mi": (65536, 1024)}
REPEATS = 15

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


def profiled_ns(rows: int, source: str) -> float:
    """Median device time of the same candidate under torch's profiler, cold L2, in this process."""
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
    return statistics.median(e.duration_ns() for e in events if e.name().startswith("kernel_add"))


def main() -> None:
    source = kernels.candidate("add", 7)
    for label, (rows, _) in SIZES.items():
        item = tasks.parse(source, "add.py", task_text=TASK.format(rows=rows))
        medians, speeds = [], []
        with Engine(backend="triton", compile_for=(), plan=Plan(time=True, cases=1), workers=1) as engine:
            for _ in range(REPEATS):
                verdict = engine.verify(item)
                assert verdict.passed, (verdict.status, verdict.message)
                assert verdict.stages.time is not None
                timing = verdict.stages.time.cases[0]
                medians.append(statistics.median(timing.candidate_ns))
                speeds.append(timing.speedup)
        ours, theirs = statistics.median(medians), profiled_ns(rows, source)
        spread = statistics.pstdev(medians) / ours
        print(
            f"add {label:>5}: kengine {ours / 1e3:9.3f} us ({timing.method}), profiler {theirs / 1e3:9.3f} us, "
            f"ratio {ours / theirs:.4f}, spread over {REPEATS} runs {spread:.2%}, speedup {statistics.median(speeds):.3f} "
            f"({timing.label}), {len(timing.candidate_ns)} samples"
        )


if __name__ == "__main__":
    main()
