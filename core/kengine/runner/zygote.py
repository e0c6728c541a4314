"""A process that has imported and warmed up everything, and forks runners and judges from then on.

Run as `main(fd)` with the descriptor of a unix stream socket to the engine. It has one thread, touches no device,
never waits for one of its children, and dies with all of them when the socket closes, or at SIGTERM.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn

from kengine import wire
from kengine.runner import environment, hugepages, keeper, sandbox, wishes
from kengine.runner.family import Family, fork_sandboxed, fork_trusted
from kengine.runner.sandbox import rlimits, syscalls

_KILL_S = 5.0
_REMEMBERED = 512


@dataclass
class Waiting:
    """A request whose answer depends on a child, and until when that is awaited (on `time.monotonic`)."""

    family: Family
    deadline: float
    op: str
    hard: bool = False


@dataclass
class Zygote:
    """The state of the server: who lives, who lived, and the one request that is not yet answered."""

    sock: socket.socket
    families: dict[int, Family] = field(default_factory=dict)
    past: dict[int, Family] = field(default_factory=dict)
    waiting: Waiting | None = None
    start: dict[str, Any] = field(default_factory=dict)
    reads: tuple[tuple[str, ...], bool, bool] = ((), True, True)
    listener: wishes.Listener = field(default_factory=wishes.Listener)

    def serve(self) -> None:
        """Answer requests until the socket closes or SIGTERM comes."""
        wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        stopped: list[int] = []
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        try:
            while not stopped and self._turn(wake_read):
                pass
        finally:
            self.close()

    def close(self) -> None:
        """Kill every family and wait a while for their ends."""
        for family in self.families.values():
            family.kill()
        deadline = time.monotonic() + _KILL_S
        while self.families and time.monotonic() < deadline:
            self._reap()
            time.sleep(0.002)
        keeper.kill_all(0, within_s=1.0)

    def _turn(self, wake: int) -> bool:
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        for family in self.families.values():
            if family.pipe >= 0:
                poll.register(family.pipe, select.POLLIN)
        # While one request is unanswered the next is not read: answers come in the order of the requests.
        poll.register(self.sock.fileno(), 0 if self.waiting else select.POLLIN)
        left = None if self.waiting is None else max(0.0, self.waiting.deadline - time.monotonic())
        ready = {fd: event for fd, event in poll.poll(None if left is None else int(left * 1000) + 1)}
        if ready.get(wake):
            with suppress(BlockingIOError):
                os.read(wake, 4096)
        for family in list(self.families.values()):
            if family.pipe in ready:
                family.read()
        self._reap()
        self.listener.build_next()
        if ready.get(self.sock.fileno(), 0) & (select.POLLHUP | select.POLLERR) and self.waiting:
            return False
        try:
            if self.waiting:
                self._settle()
            elif self.sock.fileno() in ready:
                request, fds = wire.receive(self.sock)
                try:
                    answer = self._answer(request, fds)
                finally:
                    wire.close_all(fds)
                if answer is not None:
                    wire.send(self.sock, answer)
                elif self.waiting:
                    self._settle()
        except wire.WireError:
            return False
        return True

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                break
            self.listener.hear(pid)
            family = self.families.pop(pid, None)
            if family is not None:
                family.reaped(status)
                self.past[pid] = family
                while len(self.past) > _REMEMBERED:
                    del self.past[next(iter(self.past))]
        if any(not f.whole for f in (*self.families.values(), *self.past.values())):
            self._kill_strays()

    def _kill_strays(self) -> None:
        """Kill children that are nobody's: orphans of a keeper that did not live to see to them."""
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                children = [int(pid) for pid in file.read().split()]
        except OSError:
            return
        for pid in children:
            if pid not in self.families and pid != self.listener.builder:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def _answer(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any] | None:
        op = request.get("op")
        try:
            if op == "start":
                return self._start(request)
            if op == "fork":
                return self._fork(request, fds)
            if op in ("kill", "reap"):
                return self._await(str(op), request)
            if op == "ping":
                return {"ok": True, "pid": os.getpid(), "families": len(self.families)}
        except Exception as error:
            return {"ok": False, "message": f"{op}: {type(error).__name__}: {error}"[:4000]}
        return {"ok": False, "message": f"unknown request {op!r:.80}; known: start, fork, kill, reap, ping"}

    def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        self.start = request
        sys.path[:] = [str(p) for p in request.get("path") or sys.path]
        # A library that starts threads when it is imported would leave forks with half of them.
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, "1")
        importlib.import_module("kengine.codec")
        for name in request.get("preload") or ():
            importlib.import_module(name)
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        role = request.get("role", "runner")
        if role == "judge":
            importlib.import_module(request.get("serve") or "kengine.judge.server")
        else:
            child = importlib.import_module("kengine.runner.child")
            child.prepare(request.get("module"), str(request.get("target")))
        self.reads = sandbox.survey()
        gc.collect()
        gc.freeze()
        if role != "judge":
            hugepages.collapse()
        return {"ok": True, "pid": os.getpid(), "threads": len(os.listdir("/proc/self/task"))}

    def _fork(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        if not self.start or len(fds) != 2:
            return {"ok": False, "message": "fork: wants a start before it, and two descriptors: channel and output"}
        main = self._main(request)
        limits = request.get("limits")
        if request.get("kind") == "judge" and limits is None:
            family = fork_trusted(fds[0], fds[1], main)
        else:
            if request.get("kind") == "judge" and limits:
                # A judge's shared memory is a file too, and as large as a task wants it.
                limits = {**limits, "file_bytes": None}
            reads, open_reads, open_parents = self.reads
            settings = sandbox.Settings(
                workdir=str(request["workdir"]),
                limits=limits or {},
                reads=reads,
                open_reads=open_reads,
                open_parents=open_parents,
                device=str((limits or {}).get("device", "cpu")),
                cache=str(request.get("cache") or ""),
                without=frozenset(request.get("without") or ()),
            )
            if settings.device != "cpu" and settings.without & {"private_root", "mount_namespace"}:
                # CUDA dies where /proc shows other process numbers than its own.
                settings = replace(settings, without=settings.without | {"pid_namespace"})
            family = self.listener.share(partial(fork_sandboxed, settings, fds[0], fds[1], main))
        self.families[family.pid] = family
        return {"ok": True, "pid": family.pid}

    def _main(self, request: dict[str, Any]) -> Callable[[int, tuple[str, ...]], Any]:
        holder, workdir = str(request.get("holder", "")), str(request.get("workdir", ""))
        if request.get("kind") == "judge":
            serve = importlib.import_module(self.start.get("serve") or "kengine.judge.server").serve
            return partial(_serve_judge, serve, holder, workdir, request.get("limits"))
        child = importlib.import_module("kengine.runner.child")
        return partial(child.main, holder=holder, workdir=workdir, settings=request)

    def _await(self, op: str, request: dict[str, Any]) -> dict[str, Any] | None:
        pid = request.get("pid")
        family = self.families.get(pid) or self.past.get(pid) if isinstance(pid, int) else None
        if family is None:
            return {"ok": False, "message": f"{op}: no child {pid!r:.40} here"}
        if op == "kill":
            family.kill()
            if request.get("wait") is False and not family.gone:
                # A device's driver takes long to let a process go; who need not know the end need not wait for it.
                return {"ok": True, "status": int(signal.SIGKILL)}
        seconds = _KILL_S if op == "kill" else float(request.get("timeout_s", 0.5))
        self.waiting = Waiting(family, time.monotonic() + seconds, op)
        return None

    def _settle(self) -> None:
        """Answer the request that waits, if its child has ended or its time is over."""
        waiting = self.waiting
        if waiting is None:
            return
        late = time.monotonic() >= waiting.deadline
        if not waiting.family.gone and not late:
            return
        if late and waiting.op == "kill" and not waiting.family.gone and not waiting.hard:
            waiting.family.kill(hard=True)
            waiting.hard, waiting.deadline = True, time.monotonic() + _KILL_S
            return
        self.waiting = None
        family = waiting.family
        if waiting.op == "reap":
            wire.send(
                self.sock,
                {"ok": True, "exited": family.gone, "status": family.status or 0, "reason": _reason(family)},
            )
        elif family.gone:
            wire.send(self.sock, {"ok": True, "status": family.status or 0})
        else:
            wire.send(self.sock, {"ok": False, "message": f"kill: child {family.pid} does not die"})


def _reason(family: Family) -> str:
    """Say which limit stands behind a death, or what failed before the candidate; "" when the status says it all."""
    if family.error or family.reason:
        return family.error or family.reason
    if not family.gone or family.killed or family.status is None or not os.WIFSIGNALED(family.status):
        return ""
    number = os.WTERMSIG(family.status)
    return {signal.SIGXCPU: "limit of processor time", signal.SIGXFSZ: "limit of file size"}.get(
        signal.Signals(number) if number in list(signal.Signals) else signal.SIGKILL, ""
    )


def _serve_judge(
    serve: Callable[[socket.socket], Any],
    holder: str,
    workdir: str,
    limits: dict[str, Any] | None,
    fd: int,
    measures: tuple[str, ...],
) -> None:
    if limits is not None:
        environment.make_private(workdir)
        rlimits.apply_last(limits, str(limits.get("device", "cpu")))
    with socket.socket(fileno=fd) as sock:
        wire.send(sock, {"op": "ready", "sandbox": list(measures), "holder": holder})
        serve(sock)


def main(fd: int) -> NoReturn:
    """Serve on the inherited socket `fd`, then end this process."""
    os.set_inheritable(fd, False)
    syscalls.prctl(syscalls.SET_CHILD_SUBREAPER, 1)
    Zygote(socket.socket(fileno=fd)).serve()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[sys.argv.index("--fd") + 1]))
