"""Autotuning without a clock: configurations run once each while there is time, and each question gets another one.

An emulator's times mean nothing, but running more than one configuration finds those that are wrong, and a kernel
that accumulates into its output without `reset_to_zero` shows it here as it does on a chip.
"""

from __future__ import annotations

import inspect
import time
import zlib
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


def turn(questions: int, configurations: int, start: int = 0) -> int:
    """Which configuration is taken when so many questions were answered before: one of them, then the next.

    Any of them may be the fastest on a chip. start: where a kernel begins. The first question is the one that is asked
    most often, so that a configuration which always came first would be the only one whose own work is seen.
    """
    return (start + questions) % configurations


def _start(tuner: Any) -> int:
    """A number that is the same for the same text of a kernel, and that nobody who writes one has in mind."""
    try:
        return zlib.crc32(inspect.getsource(tuner.base_fn).encode(errors="replace"))
    except (AttributeError, OSError, TypeError):
        return 0


def install() -> None:
    """Use it wherever Triton would time: the driver gives it out, and `triton.testing` offers it by name."""
    import triton.testing
    from triton.runtime.autotuner import Autotuner

    bench = Benchmark()
    triton.testing.do_bench = bench
    triton.testing.do_bench_cudagraph = bench
    inner = Autotuner._bench

    def trial(self: Any, *args: Any, config: Any, **meta: Any) -> Any:
        timings = inner(self, *args, config=config, **meta)
        chosen = config is self.configs[turn(len(self.cache), len(self.configs), _start(self))]
        works = isinstance(timings, list) and all(each == 1.0 for each in timings)
        return [0.5] * len(timings) if chosen and works else timings

    Autotuner._bench = trial
