"""Timing of an add at three sizes on a GPU: kengine's device time beside the profiler's, and its spread over repeats."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import arguments
import kernels
from kengine import Engine, Plan, tasks

SIZES = {"4 Ki": (4, 15), "1 Mi": (1024, 15), "64 Mi": (65536, 6)}
"""Rows of 1024, and verdicts whose spread is looked at."""
STEP_NS, SHORT_NS = 32, 2000
"""Steps in which the device's clock counts, and how long a kernel is at least of whose spread 1 % can be told."""

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


def profiled_ns(rows: int, source: str, runs: int, calls: int) -> list[float]:
    """Device times of the same candidate under torch's profiler in this process, one of `calls` calls for each run.

    As a verdict measures them: the same flush, the device waited for before and after each call, and as many input sets
    in turn as a batch has at the least.
    """
    import torch
    from kengine.device.l2 import Flush
    from kengine.judge.timing import MIN_SETS
    from torch.profiler import ProfilerActivity, profile

    namespace: dict[str, object] = {}
    import linecache

    name = f"<profiled {rows}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), namespace)
    sets = [tuple(torch.randn(rows, 1024, device="cuda") for _ in range(2)) for _ in range(MIN_SETS)]
    flush = Flush()
    run = namespace["candidate"]
    for x, y in sets:
        run(x, y)  # type: ignore[operator]
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        for n in range(runs * calls):
            flush()
            torch.cuda.synchronize()
            run(*sets[n % len(sets)])  # type: ignore[operator]
            torch.cuda.synchronize()
    events = [e for e in prof.profiler.kineto_results.events() if e.name().startswith("kernel_add")]
    assert len(events) == runs * calls, f"the profiler has {len(events)} of {runs * calls} calls"
    durations = [e.duration_ns() for e in sorted(events, key=lambda e: e.start_ns())]
    return [middle(durations[n * calls : (n + 1) * calls]) for n in range(runs)]


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
        profiled = profiled_ns(rows, source, repeats, len(timing.candidate_ns))
        ours, theirs = statistics.median(times), statistics.median(profiled)
        spread, own = statistics.pstdev(times) / ours, statistics.pstdev(profiled) / theirs
        step = f"a step of {STEP_NS} ns is {STEP_NS / theirs:.1%}, " if theirs < SHORT_NS else ""
        # The bar is for kernels over 2 us: of a shorter one 1 % is less than the device's clock can tell.
        word = "of" if theirs < SHORT_NS else "over"
        print(
            f"add {label:>5}: kengine {ours / 1e3:9.3f} us ({timing.method}), profiler {theirs / 1e3:9.3f} us, "
            f"ratio {ours / theirs:.4f}, spread {word} {repeats} runs {spread:.2%}, {step}the profiler's own {own:.2%}, "
            f"speedup {statistics.median(speeds):.3f} ({timing.label}), {len(timing.candidate_ns)} samples",
            flush=True,
        )
        if (why := verdict.stages.time.device.get("no_activity")) is not None:
            print(f"add {label:>5}: not by activity: {why}", flush=True)


if __name__ == "__main__":
    arguments.read(__doc__)
    main()
