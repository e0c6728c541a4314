"""The device lock: launches together, timings alone, waiting timings first."""

from __future__ import annotations

import threading
import time

from kengine.engine.device import Device


def test_launches_share_and_a_timing_waits_for_all_of_them():
    device, order, inside = Device(), [], threading.Barrier(3)

    def launch(n):
        with device.shared():
            inside.wait(5)
            time.sleep(0.05)
            order.append(f"launch {n}")

    def measure():
        with device.alone():
            order.append("timing")

    threads = [threading.Thread(target=launch, args=(n,)) for n in range(2)]
    for t in threads:
        t.start()
    inside.wait(5)
    timing = threading.Thread(target=measure)
    timing.start()
    for t in (*threads, timing):
        t.join(5)
    assert order[-1] == "timing"
    assert sorted(order[:2]) == ["launch 0", "launch 1"]


def test_a_waiting_timing_keeps_new_launches_out():
    device, order = Device(), []
    entered, leave = threading.Event(), threading.Event()

    def first():
        with device.shared():
            entered.set()
            leave.wait(5)

    def measure():
        with device.alone():
            order.append("timing")

    def late():
        with device.shared():
            order.append("launch")

    threads = [threading.Thread(target=first)]
    threads[0].start()
    entered.wait(5)
    for target in (measure, late):
        threads.append(threading.Thread(target=target))
        threads[-1].start()
        time.sleep(0.05)
    leave.set()
    for t in threads:
        t.join(5)
    assert order == ["timing", "launch"]


def test_an_exception_gives_the_device_back():
    device = Device()
    for lock in (device.shared, device.alone):
        try:
            with lock():
                raise ValueError
        except ValueError:
            pass
    with device.alone():
        pass
