"""Output of runners: both ends kept, everything read, every descriptor closed."""

from __future__ import annotations

import gc
import os
import time

from kengine.engine import drain as module
from kengine.engine.drain import Drain, Output


def wait_for(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_short_output_is_kept_whole():
    output = Output()
    output.add(b"hello ")
    output.add(b"world\n")
    assert output.text() == "hello world\n"
    assert output.total == 12


def test_long_output_keeps_head_and_tail_and_says_how_much_is_missing():
    output = Output()
    output.add(b"A" * 10_000 + b"B" * 10_000)
    text = output.text()
    assert text.startswith("A" * 8192 + "\n[... 3616 bytes left out ...]\n")
    assert text.endswith("B" * 8192)


def test_bytes_that_are_not_text_do_no_harm():
    output = Output()
    output.add(b"\xff\xfe\x00ok")
    assert output.text().endswith("ok")


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def test_a_writer_is_never_blocked_and_its_pipe_is_closed_in_the_end():
    before = descriptors()
    drain = Drain()
    try:
        _, write, output = drain.pipe()
        for _ in range(64):
            os.write(write, b"x" * 65536)
        os.close(write)
        assert wait_for(lambda: output.total == 64 * 65536)
    finally:
        drain.close()
    assert descriptors() <= before, "what an earlier test has left may go meanwhile"


def test_a_forgotten_pipe_is_closed_although_somebody_still_holds_the_other_end():
    before = descriptors()
    drain = Drain()
    try:
        _, write, output = drain.pipe()
        os.write(write, b"last words")
        drain.forget(output)
        assert wait_for(lambda: output.total == 10)
        os.close(write)
    finally:
        drain.close()
    assert output.text() == "last words"
    assert descriptors() <= before, "what an earlier test has left may go meanwhile"


def test_a_pipe_that_is_forgotten_after_its_end_takes_no_other_with_it():
    drain = Drain()
    try:
        first, write, ended = drain.pipe()
        os.close(write)
        assert wait_for(lambda: not os.path.exists(f"/proc/self/fd/{first}"))
        second, write, output = drain.pipe()
        assert second == first, "the number is given out again, which is what this is about"
        drain.forget(ended)
        os.write(write, b"still read")
        assert wait_for(lambda: output.total == 10)
        os.close(write)
    finally:
        drain.close()


def test_what_came_before_a_pipe_is_forgotten_is_read():
    drain = Drain()
    try:
        _, write, output = drain.pipe()
        os.write(write, b"first")
        assert wait_for(lambda: output.total == 5)
        with drain._lock:  # its thread gets as far as this lock, so that it has not seen what follows
            drain._wake()
            time.sleep(0.1)
            os.write(write, b" and last")
            drain._drop.append(output)
        assert wait_for(lambda: output.total == 14)
        os.close(write)
    finally:
        drain.close()
    assert output.text() == "first and last"


def test_a_pipe_that_stays_open_and_silent_keeps_no_other_waiting():
    drain = Drain()
    writers = []
    try:
        for n in range(3):
            _, write, output = drain.pipe()
            writers.append(write)
            os.write(write, b"hello")
            assert wait_for(lambda output=output: output.total == 5), n
    finally:
        for write in writers:
            os.close(write)
        drain.close()


def test_one_that_prints_without_end_is_left_for_the_others_after_a_while(monkeypatch):
    drain = Drain()
    try:
        calls = []

        def read(fd, size):
            calls.append(fd)
            assert len(calls) < 1000, "it reads one pipe for ever"
            return b"x" * size

        output = Output()
        with monkeypatch.context() as patch:
            patch.setattr(module.os, "read", read)
            drain._read(-5, output)
        assert 0 < len(calls) < 1000 and output.total == len(calls) << 16
    finally:
        drain.close()
