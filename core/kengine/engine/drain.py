"""What runners print: read without end so that nobody blocks on a full pipe, kept only at both ends."""

from __future__ import annotations

import os
import selectors
import threading
from contextlib import suppress

_KEEP = 8 << 10


class Output:
    """The head and the tail of everything written to one pipe, and how much there was."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take more bytes."""
        self.total += len(data)
        room = _KEEP - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail = (self._tail + data)[-_KEEP:]

    def text(self) -> str:
        """What was printed, with the middle left out when it was long."""
        dropped = self.total - len(self._head) - len(self._tail)
        middle = f"\n[... {dropped} bytes left out ...]\n".encode() if dropped else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode(errors="replace")


class Drain:
    """One thread that empties the output pipes of all runners of an engine."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._new: list[tuple[int, Output]] = []
        self._drop: list[Output] = []
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="kengine-drain", daemon=True)
        self._thread.start()

    def pipe(self) -> tuple[int, int, Output]:
        """Make a pipe; returns its reading end (owned here), its writing end (the caller's) and what is read."""
        read, write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(read, False)
        output = Output()
        with self._lock:
            self._new.append((read, output))
        self._wake()
        return read, write, output

    def forget(self, output: Output) -> None:
        """Stop reading a pipe that may never end, because a process that held it cannot be trusted to close it.

        By its output: the number of a pipe that has ended may be that of another by now.
        """
        with self._lock:
            self._drop.append(output)
        self._wake()

    def close(self) -> None:
        """Close every pipe and end the thread."""
        self._closed = True
        self._wake()
        self._thread.join(timeout=5)

    def _wake(self) -> None:
        with suppress(BlockingIOError, OSError):
            os.write(self._wake_write, b"x")

    def _run(self) -> None:
        while not self._closed:
            for key, _ in self._selector.select():
                if key.fd == self._wake_read:
                    with suppress(BlockingIOError):
                        os.read(self._wake_read, 4096)
                else:
                    self._read(key.fd, key.data)
            self._settle()
        for key in list(self._selector.get_map().values()):
            os.close(key.fd)
        os.close(self._wake_write)
        self._selector.close()

    def _read(self, fd: int, output: Output) -> None:
        # A few reads at a time: one runner that prints without end must not starve the others.
        for _ in range(16):
            try:
                data = os.read(fd, 1 << 16)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._remove(fd)
                return
            output.add(data)

    def _remove(self, fd: int) -> None:
        with suppress(KeyError):
            self._selector.unregister(fd)
            os.close(fd)

    def _settle(self) -> None:
        with self._lock:
            new, self._new = self._new, []
            drop, self._drop = self._drop, []
        for fd, output in new:
            self._selector.register(fd, selectors.EVENT_READ, output)
        for key in list(self._selector.get_map().values()) if drop else ():
            if any(key.data is output for output in drop):
                self._read(key.fd, key.data)
                self._remove(key.fd)
