"""What a process that opens a device for one candidate sets beforehand.

Opening a context is what a verdict on an H200 waits for longest, and the driver opens the contexts of all processes one
after the other: 4.6 in a second with its own 8 queues for kernels and 8 for copies, 13.9 with one of each, 9.5 with 4
and 1 (`benchmarks/device_costs.py`).
"""

from __future__ import annotations

CHECKED, TIMED = "1", "4"
"""Queues for kernels. Streams that share one run one after the other, which changes no answer but the time."""


def environ(timed: bool) -> dict[str, str]:
    """Variables of the environment of a process that only checks, or that also times, kernels of several streams
    side by side."""
    environ = {
        "CUDA_DEVICE_MAX_CONNECTIONS": TIMED if timed else CHECKED,
        "CUDA_DEVICE_MAX_COPY_CONNECTIONS": "1",
    }
    # Asking for the device's highest clocks is 6 of the 56 ms in which a context keeps the driver from all others.
    return environ if timed else {**environ, "CUDA_DISABLE_PERF_BOOST": "1"}
