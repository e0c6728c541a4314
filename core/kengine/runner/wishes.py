"""Parts that are built once somebody has needed them: what a runner may wish for, and how its zygote hears of it.

Whoever warms up offers parts by name, each with what builds it. A runner that had to do without one wishes for it. The
zygote learns of it when the runner has ended, and builds the part in a process of its own, one at a time, in the
background. A runner and its zygote share a page of memory with one byte for each offer: a candidate may set any of them
in its own, which has something built once that others use, and can say nothing else by it. No runner has the page of
another.
"""

from __future__ import annotations

import mmap
import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NoReturn

from kengine.runner import keeper
from kengine.runner.family import Family
from kengine.runner.sandbox import syscalls

Build = Callable[[], object]

NICENESS = 15
"""Of a build in the background: beside candidates that keep every processor busy it has 3 % of one."""

_offers: dict[str, Build] = {}
_orders: list[str] = []
_page: mmap.mmap | None = None


def offer(name: str, build: Build) -> None:
    """Say in a zygote, before it forks, that a part is built where a runner wishes for it."""
    if name not in _offers and len(_offers) < mmap.PAGESIZE:
        _offers[name] = build


def offered() -> tuple[str, ...]:
    """The names that a runner may wish for."""
    return tuple(_offers)


def wish(name: str) -> bool:
    """Have a part built for those who come later; False where nobody offers it, or nobody listens."""
    if _page is None or name not in _offers:
        return False
    _page[list(_offers).index(name)] = 1
    return True


def order(*names: str) -> None:
    """Have offered parts built as soon as this process listens: for what warming up has put off."""
    _orders.extend(names)


class Listener:
    """The zygote's side: the pages of its runners, what was wished for, and the one process that builds."""

    def __init__(self) -> None:
        self._pages: dict[int, mmap.mmap] = {}
        self._wanted: list[str] = []
        self._heard: set[str] = set()
        self.builder = 0

    def share(self, fork: Callable[[], Family]) -> Family:
        """Fork a runner with a page that it shares with this process, and that no later one gets."""
        global _page
        if not _offers:
            return fork()
        page = _page = mmap.mmap(-1, mmap.PAGESIZE)
        try:
            family = fork()
            page.madvise(mmap.MADV_DONTFORK)  # who has it already keeps it
        except BaseException:
            page.close()
            raise
        finally:
            _page = None
        self._pages[family.pid] = page
        return family

    def hear(self, pid: int) -> None:
        """A child has ended: take its wishes, if it had any, and note it when it was the builder."""
        if pid == self.builder:
            self.builder = 0
        page = self._pages.pop(pid, None)
        if page is not None:
            with page:
                self.want([name for name, said in zip(_offers, page[: len(_offers)]) if said])

    def want(self, names: Iterable[str]) -> None:
        """Have offered parts built, each once, whether or not that succeeds."""
        for name in names:
            if name in _offers and name not in self._heard:
                self._heard.add(name)
                self._wanted.append(name)

    def build_next(self) -> None:
        """Start building what is wanted next, unless something is being built."""
        self.want(_orders)
        _orders.clear()
        if self._wanted and not self.builder:
            with suppress(OSError):  # no process can be made: later
                self.builder = _fork(_offers[self._wanted[0]])
                del self._wanted[0]


def _fork(build: Build) -> int:
    """Build in a process that gives way to all others, and ends with this one and all that it has started."""
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        _build(build, zygote)
    return pid


def _build(build: Build, zygote: int) -> NoReturn:
    code = 70
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, _end)
        syscalls.prctl(syscalls.SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != zygote:
            os._exit(code)
        keeper.close_others(())
        _give_way()
        os.umask(0o022)
        build()
        code = 0
    except BaseException:
        with suppress(BaseException):
            import traceback

            traceback.print_exc()
    os._exit(code)


def _end(*_: object) -> NoReturn:
    os.killpg(0, signal.SIGKILL)
    os._exit(70)


def _give_way() -> None:
    os.nice(NICENESS)
    # Where sessions are scheduled as groups, niceness counts inside of a session only, and this one has its own.
    with suppress(OSError), open("/proc/self/autogroup", "w") as file:
        file.write(str(NICENESS))
