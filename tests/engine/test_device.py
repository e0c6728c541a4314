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


def start(*targets):
    threads = [threading.Thread(target=target) for target in targets]
    for t in threads:
        t.start()
    time.sleep(0.05)
    return threads


def test_timings_gather_before_launches_are_kept_out():
    device, order, leave = Device(gather=2, patience_s=60.0), [], threading.Event()

    def long_launch():
        with device.shared():
            leave.wait(5)

    def launch():
        with device.shared():
            order.append("launch")

    def measure():
        with device.alone():
            order.append("timing")

    threads = start(long_launch)
    threads += start(measure)
    threads += start(launch)
    assert order == ["launch"], "one timing alone waits for a second one"
    threads += start(measure)
    threads += start(launch)
    assert order == ["launch"], "two do not wait any longer"
    leave.set()
    for t in threads:
        t.join(5)
    assert order == ["launch", "timing", "timing", "launch"]


def test_a_timing_does_not_wait_for_others_beyond_its_patience():
    device, order, leave = Device(gather=9, patience_s=0.2), [], threading.Event()

    def long_launch():
        with device.shared():
            leave.wait(5)

    def launch():
        with device.shared():
            order.append("launch")

    def measure():
        with device.alone():
            order.append("timing")

    threads = start(long_launch)
    threads += start(measure)
    time.sleep(0.25)
    threads += start(launch)
    leave.set()
    for t in threads:
        t.join(5)
    assert order == ["timing", "launch"]


def test_a_timing_takes_a_free_device_at_once():
    device = Device(gather=9, patience_s=60.0)
    begun = time.monotonic()
    with device.alone():
        pass
    with device.shared():
        pass
    assert time.monotonic() - begun < 5


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
