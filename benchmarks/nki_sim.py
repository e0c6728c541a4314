"""Time the NKI interpreter against plain numpy doing the same work, on one BLAS thread.

    python benchmarks/nki_sim.py

Prints, from one run: the ratio of a tiled fp32 matmul (1000 x 1024 x 2048) and an RMSNorm (4000 x 2048) to numpy, the
overhead of an instruction (its time less that of the bare numpy call on the same tile), and the prefix scan against a
Python step for each element. Times are processor time, the best of several repeats; ratios compare within the run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402 (after the thread counts are set)

try:
    from kengine_nki.sim import load, session
except ImportError:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plugins" / "nki_backend"))
    from kengine_nki.sim import load, session

SOURCE = '''
import time

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def rms_norm(x, w):
    n, d = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    weight = nl.ndarray((128, d), dtype=w.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=weight, src=w.ap(pattern=[[0, 128], [1, d]]))
    for i in nl.affine_range((n + 127) // 128):
        p = min(128, n - i * 128)
        tile = nl.ndarray((p, d), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:i * 128 + p, :])
        square = nl.ndarray((p, d), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((p, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=square, op=nl.square, data=tile, reduce_op=nl.add, reduce_res=total)
        nisa.tensor_scalar(dst=total, data=total, op0=nl.multiply, operand0=1.0 / d, op1=nl.add, operand1=1e-6)
        nisa.activation(dst=total, op=nl.rsqrt, data=total)
        nisa.scalar_tensor_tensor(dst=square, data=tile, op0=nl.multiply, operand0=total, op1=nl.multiply,
                                  operand1=weight[0:p, :])
        nisa.dma_copy(dst=out[i * 128:i * 128 + p, :], src=square)
    return out


@nki.jit
def matmul(lhs_t, rhs):
    k, m = lhs_t.shape
    k, n = rhs.shape
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range((m + 127) // 128):
        pm = min(128, m - i * 128)
        left = []
        for t in nl.affine_range(k // 128):
            tile = nl.ndarray((128, pm), dtype=lhs_t.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=lhs_t[t * 128:(t + 1) * 128, i * 128:i * 128 + pm])
            left.append(tile)
        for j in nl.affine_range(n // 512):
            acc = nl.ndarray((pm, 512), dtype=nl.float32, buffer=nl.psum)
            for t in nl.affine_range(k // 128):
                right = nl.ndarray((128, 512), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=right, src=rhs[t * 128:(t + 1) * 128, j * 512:(j + 1) * 512])
                nisa.nc_matmul(dst=acc, stationary=left[t], moving=right)
            result = nl.ndarray((pm, 512), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=acc)
            nisa.dma_copy(dst=out[i * 128:i * 128 + pm, j * 512:(j + 1) * 512], src=result)
    return out


@nki.jit
def overhead(x, times, count):
    """Seconds of `count` runs of each instruction on a (4, 4) tile, less the bare numpy call."""
    out = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    a = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf)
    b = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf)
    v = nl.ndarray((4, 1), dtype=nl.float32, buffer=nl.sbuf)
    ps = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.psum)
    nisa.dma_copy(dst=a, src=x)
    nisa.memset(dst=v, value=1.0)
    cases = {
        "dma_copy": lambda: nisa.dma_copy(dst=b, src=x),
        "tensor_copy": lambda: nisa.tensor_copy(dst=b, src=a),
        "memset": lambda: nisa.memset(dst=b, value=1.0),
        "tensor_tensor": lambda: nisa.tensor_tensor(dst=b, data1=a, data2=a, op=nl.add),
        "tensor_scalar": lambda: nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=2.0),
        "scalar_tensor_tensor": lambda: nisa.scalar_tensor_tensor(dst=b, data=a, op0=nl.multiply, operand0=v,
                                                                  op1=nl.add, operand1=a),
        "activation": lambda: nisa.activation(dst=b, op=nl.exp, data=a),
        "tensor_reduce": lambda: nisa.tensor_reduce(dst=v, op=nl.add, data=a, axis=1),
        "nc_matmul": lambda: nisa.nc_matmul(dst=ps, stationary=a, moving=a, accumulate=False),
        "nl.ndarray": lambda: nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf),
        "a slice": lambda: a[0:2, 1:3],
    }
    for name, case in cases.items():
        best = 1e9
        for _ in range(5):
            start = time.process_time()
            for _ in range(count):
                case()
            best = min(best, time.process_time() - start)
        times[name] = best / count
    nisa.dma_copy(dst=out, src=a)
    return out


@nki.jit
def scan(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    x, y = nl.load(a), nl.load(b)
    nisa.tensor_tensor_scan(dst=x, data0=x, data1=y, initial=0.0, op0=nl.multiply, op1=nl.add)
    nl.store(out, x)
    return out
'''


def best(function: Callable[[], Any], repeats: int = 7) -> float:
    """Shortest time of a call, in seconds."""
    shortest = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        function()
        shortest = min(shortest, time.process_time() - start)
    return shortest


def bare_calls() -> dict[str, float]:
    """Seconds of the bare numpy call behind each instruction on a (4, 4) array."""
    a, b, v = np.ones((4, 4), np.float32), np.ones((4, 4), np.float32), np.ones((4, 1), np.float32)
    two = np.float32(2)
    cases: dict[str, Callable[[], Any]] = {
        "dma_copy": lambda: np.copyto(b, a),
        "tensor_copy": lambda: np.copyto(b, a),
        "memset": lambda: b.fill(1.0),
        "tensor_tensor": lambda: np.add(a, a, out=b),
        "tensor_scalar": lambda: np.multiply(a, two, out=b),
        "scalar_tensor_tensor": lambda: np.add(np.multiply(a, v), a, out=b),
        "activation": lambda: np.exp(a, out=b),
        "tensor_reduce": lambda: np.add.reduce(a, axis=1, keepdims=True),
        "nc_matmul": lambda: np.matmul(a.T, a, out=b),
        "nl.ndarray": lambda: None,
        "a slice": lambda: a[0:2, 1:3],
    }
    return {
        name: min(best(lambda c=case: [c() for _ in range(2000)], 5) / 2000 for _ in range(2))
        for name, case in cases.items()
    }


def stepwise(a: Any, b: Any) -> Any:
    out = np.empty_like(a)
    state = np.zeros(len(a), np.float32)
    for i in range(a.shape[1]):
        state = a[:, i] * state + b[:, i]
        out[:, i] = state
    return out


def main() -> int:
    rng = np.random.default_rng(0)
    module = load(SOURCE, "nki_sim_benchmark.py")
    with session():
        x, w = rng.standard_normal((4000, 2048), np.float32), rng.standard_normal(2048, np.float32)
        sim = best(lambda: module.rms_norm(x, w))
        plain = best(lambda: x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-6) * w)
        print(
            f"RMSNorm 4000x2048 fp32        interpreter {sim * 1e3:7.1f} ms  numpy {plain * 1e3:7.1f} ms  "
            f"ratio {sim / plain:.2f}  (target 3)"
        )
        a, b = rng.standard_normal((1024, 1000), np.float32), rng.standard_normal((1024, 2048), np.float32)
        sim = best(lambda: module.matmul(a, b))
        plain = best(lambda: a.T @ b)
        print(
            f"matmul 1000x1024x2048 fp32    interpreter {sim * 1e3:7.1f} ms  numpy {plain * 1e3:7.1f} ms  "
            f"ratio {sim / plain:.2f}  (target 3)"
        )
        a, b = rng.random((128, 2048), np.float32), rng.standard_normal((128, 2048), np.float32)
        sim, plain = best(lambda: module.scan(a, b)), best(lambda: stepwise(a, b))
        print(
            f"tensor_tensor_scan 128x2048   interpreter {sim * 1e3:7.2f} ms  column by column {plain * 1e3:7.2f} ms  "
            f"ratio {sim / plain:.2f}"
        )
        x, w = rng.standard_normal((512, 512), np.float32), rng.standard_normal(512, np.float32)
        sim = best(lambda: module.rms_norm(x, w), 20)
        print(f"RMSNorm 512x512, one launch   interpreter {sim * 1e3:7.2f} ms")
        times: dict[str, float] = {}
        module.overhead.func.__globals__["time"] = time
        module.overhead(np.ones((4, 4), np.float32), Times(times), 3000)
    bare = bare_calls()
    print("overhead of an instruction on a 4x4 tile, less the bare numpy call (target below 5 us):")
    for name, seconds in times.items():
        print(f"  {name:22s} {(seconds - bare[name]) * 1e6:6.2f} us   (numpy {bare[name] * 1e6:.2f} us)")
    return 0


class Times:
    """A mapping that passes into a kernel as it is."""

    def __init__(self, values: dict[str, float]) -> None:
        self.values = values

    def __setitem__(self, name: str, seconds: float) -> None:
        self.values[name] = seconds


if __name__ == "__main__":
    raise SystemExit(main())
