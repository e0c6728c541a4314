"""What stands between a candidate and its verdict on a GPU: contexts opened and closed in a second, and what turning the
recording of device activity on and off costs.

`device_costs.py [SECONDS]`, default 3 for each way of opening a context. Every candidate has a process and a context of
its own, so that no engine gives more verdicts in a second than contexts can be opened and closed in it. CUDA is opened
in forks of this process only.
"""

from __future__ import annotations

import ast
import ctypes
import os
import select
import signal
import statistics
import sys
import time
from collections.abc import Callable

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
WIDTHS = (1, 4, 16)


def by_torch() -> None:
    import torch

    torch.zeros(16, device="cuda")
    torch.cuda.synchronize()


def by_driver() -> None:
    """Nothing but the driver's own context."""
    cuda, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
    codes = (
        cuda.cuInit(0),
        cuda.cuDeviceGet(ctypes.byref(device), 0),
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
    )
    assert codes == (0, 0, 0), codes


def fork(work: Callable[[], object], environ: dict[str, str]) -> tuple[int, int]:
    """A child that says so on a pipe when its work is done, and then waits to be killed: its number and the pipe."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            os.environ.update(environ)
            os.write(write, repr(work()).encode())
            signal.pause()
        finally:
            os._exit(1)
    os.close(write)
    return pid, read


def churn(
    work: Callable[[], object], environ: dict[str, str], width: int, seconds: float
) -> tuple[float, float, float]:
    """Keep `width` children opening, and kill each as soon as it is ready: how many ended in a second, and the medians
    of the seconds from fork to ready and from kill to end."""
    opening: dict[int, tuple[int, float]] = {}
    closing: dict[int, float] = {}
    ready, ended = [], []
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds or opening or closing:
        while len(opening) < width and time.perf_counter() - begun < seconds:
            pid, read = fork(work, environ)
            opening[read] = pid, time.perf_counter()
        for read in select.select(list(opening), [], [], 0.001)[0] if opening else ():
            pid, since = opening.pop(read)
            if not os.read(read, 64):
                raise SystemExit("a child could not open the device")
            os.close(read)
            ready.append(time.perf_counter() - since)
            os.kill(pid, signal.SIGKILL)
            closing[pid] = time.perf_counter()
        for pid in list(closing):
            if os.waitpid(pid, os.WNOHANG)[0]:
                ended.append(time.perf_counter() - closing.pop(pid))
        if not opening:
            time.sleep(0.001)
    wall = time.perf_counter() - begun
    return len(ended) / wall, statistics.median(ready), statistics.median(ended)


def recording() -> tuple[float, list[float], list[float], float]:
    """Milliseconds: the first recording of nothing, later ones, later ones of kernels only, and a batch of 8 calls."""
    import torch
    from kengine.device.activity import recorder, time_by_activity

    x = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()

    def record(kernels_only: bool = False) -> float:
        begun = time.perf_counter()
        with recorder().record(kernels_only):
            pass
        return (time.perf_counter() - begun) * 1e3

    first = record()
    later, kernels = [record() for _ in range(20)], [record(True) for _ in range(20)]
    begun = time.perf_counter()
    time_by_activity([lambda: x.add_(1)], 8)
    return first, later, kernels, (time.perf_counter() - begun) * 1e3


def main() -> None:
    import torch  # noqa: F401 - the forks share it

    ways: tuple[tuple[str, Callable[[], object], dict[str, str]], ...] = (
        ("torch", by_torch, {}),
        ("torch, CUDA_DEVICE_MAX_CONNECTIONS=1", by_torch, {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}),
        ("driver alone", by_driver, {}),
    )
    for name, work, environ in ways:
        for width in WIDTHS:
            rate, ready, ended = churn(work, environ, width, SECONDS)
            print(
                f"contexts by {name}, {width} at once: {rate:.1f}/s, ready after {ready * 1e3:.0f} ms, "
                f"gone {ended * 1e3:.0f} ms after the kill",
                flush=True,
            )
    pid, read = fork(recording, {})
    text = os.read(read, 1 << 16).decode()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if not text:
        raise SystemExit("device activity cannot be recorded here")
    first, later, kernels, batch = ast.literal_eval(text)
    print(
        f"recording: first {first:.1f} ms, later {statistics.median(later):.2f} ms, of kernels only "
        f"{statistics.median(kernels):.2f} ms, a batch of 8 calls {batch:.2f} ms"
    )


if __name__ == "__main__":
    main()
