"""Autotuning without a clock: configurations run once each while there is time, and the first that works is taken.

An emulator's times mean nothing, but running more than one configuration finds those that are wrong, and a kernel
that accumulates into its output without `reset_to_zero` shows it here as it does on a chip.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

BUDGET_S = 1.0
"""Seconds that the trial runs of one tuning may take together."""


class Benchmark:
    """Stands in for Triton's timing function; all runs are equally good, those beyond the budget are worse."""

    def __init__(self, budget_s: float = BUDGET_S) -> None:
        self.budget_s = budget_s
        self._spent = 0.0
        self._last = 0.0

    def __call__(self, call: Callable[[], Any], *_: Any, quantiles: Any = None, **__: Any) -> Any:
        begin = time.monotonic()
        if begin - self._last > 0.05:
            self._spent = 0.0
        result = 1.0
        if self._spent < self.budget_s:
            call()
        else:
            result = 2.0
        self._last = time.monotonic()
        self._spent += self._last - begin
        return [result] * len(quantiles) if quantiles is not None else result


def install() -> None:
    """Use it wherever Triton would time: the driver gives it out, and `triton.testing` offers it by name."""
    import triton.testing

    bench = Benchmark()
    triton.testing.do_bench = bench
    triton.testing.do_bench_cudagraph = bench
