"""Where a runner's main thread stood when its time ended: the runner's word, which only a message ever uses."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress

_SIZE = 1 << 16
_FRAME = re.compile(r'^  File "(.*)", line (\d{1,9}) in ', re.MULTILINE)


class Stack:
    """Memory of a fixed size for one runner to write into; `fd` goes to it. Without any, nothing is told.

    Its first line is the path of the candidate's main file; `kengine.runner.deadline` writes it.
    """

    def __init__(self) -> None:
        self.fd = -1
        with suppress(OSError):
            self.fd = os.memfd_create("kengine-stack", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(self.fd, _SIZE)
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)

    def line(self) -> int:
        """The innermost line of the candidate's main file that was being executed; 0 when nothing was told of one."""
        try:
            text = os.pread(self.fd, _SIZE, 0).decode(errors="replace")
        except OSError:
            return 0
        main, _, frames = text.partition("\n")
        return next((int(frame[2]) for frame in _FRAME.finditer(frames) if frame[1] == main), 0)

    def close(self) -> None:
        """Give the memory back; safe to call again."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)
