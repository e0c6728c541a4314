"""What is read of the stack that a runner has left."""

from __future__ import annotations

import errno
import os

import pytest
from kengine.engine.stack import Stack

HEAD = "Stack (most recent call first):\n"


@pytest.fixture
def stack():
    made = Stack()
    yield made
    made.close()


@pytest.mark.parametrize(("text", "line"), [
    ("", 0),
    ("/w/k.py\n", 0),
    (f'/w/k.py\n{HEAD}  File "/w/k.py", line 7 in step\n  File "/w/k.py", line 3 in candidate\n', 7),
    (f'/w/k.py\n{HEAD}  File "/lib/re.py", line 99 in match\n  File "/w/k.py", line 3 in candidate\n', 3),
    (f'/w/k.py\n{HEAD}  File "/w/other.py", line 7 in step\n  File "/lib/k.py", line 3 in candidate\n', 0),
    (f'/w/k.py\n{HEAD}  File "/w/k.py", line 99999999999999999999 in step\n', 0),
    (f'/w/k.py\n{HEAD}  File "/w/k.py", line -3 in step\n  File "/w/k.py", line', 0),
    (f'\n{HEAD}  File "", line 4 in step\n', 4),
])  # fmt: skip
def test_the_innermost_line_of_the_main_file(stack, text, line):
    os.pwrite(stack.fd, text.encode(), 0)
    assert stack.line() == line


def test_bytes_that_are_no_text(stack):
    os.pwrite(stack.fd, bytes(range(256)) * 256, 0)
    assert stack.line() == 0


def test_nobody_makes_it_larger_or_smaller(stack):
    size = os.fstat(stack.fd).st_size
    for other in (0, size + 1):
        with pytest.raises(OSError) as caught:
            os.ftruncate(stack.fd, other)
        assert caught.value.errno == errno.EPERM
    os.lseek(stack.fd, size, os.SEEK_SET)
    with pytest.raises(OSError):
        os.write(stack.fd, b"x")


def test_one_that_is_closed_or_was_never_made_tells_nothing(stack, monkeypatch):
    def refuse(*args):
        raise OSError(errno.EMFILE, "too many")

    stack.close()
    stack.close()
    monkeypatch.setattr(os, "memfd_create", refuse)
    assert stack.line() == 0 and (Stack().fd, Stack().line()) == (-1, 0)
