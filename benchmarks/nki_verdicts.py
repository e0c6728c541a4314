"""Verdicts on RMSNorm 512x512 at nki:sim through the whole engine, warm: how many candidates a second on this machine.

The bar is ten a second. Every candidate differs in text, so no cache serves two; each is linted, tried in both orders of
its iterations, launched on every case, compared, repeated and knocked out. The same with a task of seven cases (the
default for a task that lists none) is printed beside it.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time

from kengine import Engine, Plan, tasks

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 100
WORKERS = 4
"""Twice the two processors that the bar speaks of: a worker waits for the judge a third of its time."""
BAR = 10.0

TASK = """
import numpy as np

def make_inputs(seed, device):
    draw = np.random.default_rng(seed)
    return draw.standard_normal((512, 512)).astype(np.float32), draw.random(512).astype(np.float32) + 0.5

def reference(x, gain):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + np.float32(1e-6)) * gain
"""
ONE_CASE = "# /// kengine\n# [[cases]]\n# name = \"512x512\"\n# ///\n" + TASK

KERNEL = """
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def rms_norm(x, gain):
    rows, width = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    gains = nl.ndarray((128, width), dtype=gain.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=gains, src=gain.ap(pattern=[[0, 128], [1, width]]))
    for i in nl.affine_range(rows // 128):
        tile = nl.ndarray((128, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128 : (i + 1) * 128, :])
        squares = nl.ndarray((128, width), dtype=nl.float32, buffer=nl.sbuf)
        scale = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=squares, op=nl.square, data=tile, reduce_op=nl.add, reduce_res=scale)
        nisa.tensor_scalar(dst=scale, data=scale, op0=nl.multiply, operand0=1.0 / width, op1=nl.add, operand1=1e-6)
        nisa.activation(dst=scale, op=nl.rsqrt, data=scale)
        nisa.scalar_tensor_tensor(
            dst=tile, data=tile, op0=nl.multiply, operand0=scale, op1=nl.multiply, operand1=gains
        )
        nisa.dma_copy(dst=y[i * 128 : (i + 1) * 128, :], src=tile)
    return y
"""


def processor_s() -> float:
    """Processor seconds of this process and of every process that it started and that has ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in both)


def main() -> None:
    for label, text in (("one case", ONE_CASE), ("seven cases", TASK)):
        judged = tasks.parse_task(text, "rmsnorm.py")
        items = [tasks.pair(f"# candidate {n}\n{KERNEL}", judged, f"rmsnorm_{n}.py") for n in range(COUNT)]
        used = processor_s()
        with Engine(target="nki:sim", compile_for=(), plan=Plan(), workers=WORKERS) as engine:
            for item in items[:4]:
                verdict = engine.verify(item)
                assert verdict.passed, verdict.message
            begun = time.perf_counter()
            verdicts = list(engine.verify_many(items))
            rate = COUNT / (time.perf_counter() - begun)
        assert all(v.passed for v in verdicts)
        keys = verdicts[0].durations_ns
        parts = {k: statistics.median(v.durations_ns.get(k, 0) / 1e6 for v in verdicts) for k in keys}
        load = f", {os.getloadavg()[0]:.0f} processes want {os.cpu_count()} processors"
        print(f"{label}: {rate:.1f} verdicts/s with {WORKERS} workers (bar: {BAR:g}{load})")
        each = (processor_s() - used) / (COUNT + 4)
        print(f"  processor time of a verdict, start of the engine included: {each * 1e3:.0f} ms")
        print("  medians in ms:", ", ".join(f"{k} {v:.1f}" for k, v in parts.items()))


if __name__ == "__main__":
    main()
