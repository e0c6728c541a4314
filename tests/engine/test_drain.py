"""Output of runners: both ends kept, everything read, every descriptor closed."""

from __future__ import annotations

import os
import time

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


def test_a_writer_is_never_blocked_and_its_pipe_is_closed_in_the_end():
    before = len(os.listdir("/proc/self/fd"))
    drain = Drain()
    try:
        _, write, output = drain.pipe()
        for _ in range(64):
            os.write(write, b"x" * 65536)
        os.close(write)
        assert wait_for(lambda: output.total == 64 * 65536)
    finally:
        drain.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_forgotten_pipe_is_closed_although_somebody_still_holds_the_other_end():
    before = len(os.listdir("/proc/self/fd"))
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
    assert len(os.listdir("/proc/self/fd")) == before


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
