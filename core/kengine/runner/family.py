"""What a zygote knows of one forked process and all that comes after it, and how such a family begins and ends."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from kengine.runner import keeper, sandbox
from kengine.runner.sandbox import namespaces, syscalls


@dataclass
class Family:
    """One keeper, or one trusted process without a keeper, by its process number.

    pipe: the reading end of its reports, -1 when there is none or it has ended. status: wait status of the innermost
    process, None while it lives. gone: whether the outermost process has been reaped. error: what went wrong inside.
    reason: which limit the keeper saw broken.
    """

    pid: int
    pipe: int = -1
    whole: bool = True
    status: int | None = None
    gone: bool = False
    killed: bool = False
    error: str = ""
    reason: str = ""
    text: bytearray = field(default_factory=bytearray)

    def read(self) -> None:
        """Take what the keeper has reported."""
        try:
            data = os.read(self.pipe, 65536)
        except BlockingIOError:
            return
        if not data:
            os.close(self.pipe)
            self.pipe = -1
        self.text += data
        while b"\n" in self.text:
            line, _, rest = bytes(self.text).partition(b"\n")
            self.text = bytearray(rest)
            word, _, value = line.decode(errors="replace").partition(" ")
            if word == "status":
                self.status = int(value)
            elif word == "reason":
                self.reason = value
            elif word == "error":
                self.error = value.replace("\\n", "\n")

    def reaped(self, status: int) -> None:
        """Note the outermost process's own end; without a report it stands for the whole family's."""
        while self.pipe >= 0:
            before = self.pipe, len(self.text)
            self.read()
            if (self.pipe, len(self.text)) == before:
                os.close(self.pipe)  # a grandchild may hold the other end; nothing more is to be expected
                self.pipe = -1
        self.gone = True
        if self.status is None:
            self.status = status

    def kill(self, hard: bool = False) -> None:
        """Have the whole family killed; `hard` where a keeper that kills one by one has not done so in time."""
        self.killed = True
        if not self.gone:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL if self.whole or hard else signal.SIGTERM)


def fork_sandboxed(settings: sandbox.Settings, channel: int, output: int, main: Callable[..., Any]) -> Family:
    """Fork a keeper with a sandboxed process inside. Raises OSError when no process can be made."""
    read, write = os.pipe2(os.O_CLOEXEC)
    zygote = os.getpid()
    # The keeper's number outside is what its user is derived from, and it cannot see that number from within.
    announce_read, announce = os.pipe2(os.O_CLOEXEC)
    try:
        pid, made = namespaces.fork(settings.without)
    except BaseException:
        for fd in (read, write, announce_read, announce):
            os.close(fd)
        raise
    if pid == 0:
        _reset()
        os.close(announce)
        outside = int(os.read(announce_read, 32) or b"0")
        keeper.keep(settings, made, (outside, zygote), (write, channel, output), main)
    os.write(announce, str(pid).encode())
    for fd in (write, announce_read, announce):
        os.close(fd)
    os.set_blocking(read, False)
    return Family(pid, read, whole="pid_namespace" in made)


def fork_trusted(channel: int, output: int, main: Callable[..., Any]) -> Family:
    """Fork a process of kengine's own, without walls, that ends with the zygote. Raises OSError."""
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        _serve_trusted(channel, output, main, zygote)
    return Family(pid)


def _serve_trusted(channel: int, output: int, main: Callable[..., Any], zygote: int) -> NoReturn:
    code = 70
    try:
        _reset()
        keeper.close_others((channel, output))
        keeper.redirect(output)
        os.setsid()
        syscalls.prctl(syscalls.SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == zygote:
            main(channel, ())
            code = 0
    except BaseException:
        with suppress(BaseException):
            import traceback

            traceback.print_exc()
    os._exit(code)


def _reset() -> None:
    """Undo in a fork what the zygote has set up for itself."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()
