"""The engine's end of one runner: sends requests, waits with a deadline, and says how a runner that died has died.

Nothing that a runner sends is believed beyond being data: every deviation is the candidate's fault. The single
exception is the loss of the zygote, which the engine sees for itself.
"""

from __future__ import annotations

import secrets
import signal
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kengine import wire
from kengine.engine import standing
from kengine.engine.stack import Stack
from kengine.engine.zygote import read_raised
from kengine.errors import CandidateFault, DeadlineExceeded, InfraError, WorkerLost
from kengine.model import Status
from kengine.plugins import trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from kengine.engine.drain import Drain
    from kengine.engine.zygote import Zygote

_READY_S = 120.0
_FAULTS = frozenset(s.value for s in Status) - {"passed", "lint_rejected", "wrong_result", "sham", "too_slow"}


class Runner:
    """One forked, sandboxed process that serves one candidate and is then killed with all it has started."""

    def __init__(
        self,
        zygote: Zygote,
        drain: Drain,
        holder: str,
        kind: str,
        limits: dict[str, Any] | None,
        workdir: str,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.holder = holder
        self.workdir = workdir
        self.sandboxed = kind != "judge" or limits is not None
        self.sandbox: tuple[str, ...] = ()
        self._wall_s = float((limits or {}).get("wall_s") or 0.0)
        self._deadline: float | None = None
        self.until: float | None = None
        self._zygote = zygote
        self._drain = drain
        self._ended: str | None = None
        self._waited = False
        self._stack: Stack | None = None
        ours, theirs = socket.socketpair()
        self._read, write, self.output = drain.pipe()
        try:
            answer = zygote.ask(
                {
                    "op": "fork", "kind": kind, "limits": limits, "holder": holder, "workdir": workdir,
                    "environ": dict(environ or {}),
                },
                (theirs.fileno(), write),
            )  # fmt: skip
        except BaseException:
            ours.close()
            drain.forget(self.output)
            raise
        finally:
            theirs.close()
            wire.close_all([write])
        if not answer.get("ok"):
            ours.close()
            drain.forget(self.output)
            raise InfraError(f"no runner could be forked: {answer.get('message')}")
        self._generation = zygote.generation
        self.pid = int(answer["pid"])
        self.sock = ours

    def wait_ready(self) -> None:
        """Wait for the first message, which precedes any candidate; once. Raises InfraError when it does not come, and
        TargetUnavailable when its backend says so."""
        if self._waited:
            return
        try:
            message, fds = wire.receive(self.sock, time.monotonic() + _READY_S)
        except wire.WireError as error:
            printed = self.output.text()[-1500:]
            self.kill()
            raise WorkerLost(f"a runner died before it had a candidate: {error}\n{printed}".rstrip()) from error
        wire.close_all(fds)
        if message.get("op") != "ready":
            self.kill()
            text = str(message.get("message", message))
            known = read_raised(self._zygote.recipe.target, text)
            raise known or WorkerLost(f"a runner could not get ready: {text}")
        self._waited = True
        self.sandbox = tuple(str(m) for m in message.get("sandbox", ()))
        trace.show(message.get("hooks"), f"runner {self.pid}")

    def request(
        self,
        op: str,
        body: dict[str, Any],
        timeout_s: float,
        fds: tuple[int, ...] = (),
        turn: Callable[[], AbstractContextManager[None]] | None = None,
    ) -> dict[str, Any]:
        """Ask for one thing. turn: what to enter, until it has answered, once the runner asks for the device
        (`kengine.runner.turn`); the time that this takes is not the candidate's.

        Raises CandidateFault for everything that goes wrong in the runner, WorkerLost when the zygote itself is gone.
        """
        nonce = secrets.randbits(53)
        if op == "load" and self._stack is None:
            self._stack = Stack()
            fds += (self._stack.fd,) if self._stack.fd >= 0 else ()
        timeout_s, whole = self._remaining(timeout_s)
        try:
            self.sock.settimeout(timeout_s)
            body = {"op": op, "n": nonce, "timeout_s": timeout_s, **body, **({"turn": True} if turn else {})}
            wire.send(self.sock, body, fds)
            deadline = time.monotonic() + timeout_s
            reply, extra = wire.receive(self.sock, deadline)
            if turn is not None and reply == {"n": nonce, "turn": True}:
                wire.close_all(extra)
                left = deadline - time.monotonic()
                with turn():
                    reply, extra = self._go_on(nonce, left, deadline)
        except wire.WireTimeout:
            line, at = self._stand()
            self.kill()
            if self.until is not None and time.monotonic() >= self.until:
                raise DeadlineExceeded(f"the caller's time ended during '{op}'") from None
            limit = f"the {self._wall_s:g} s that a candidate has in all" if whole else f"{timeout_s:g} s"
            raise CandidateFault("timed_out", f"no answer to '{op}' within {limit}{at}", line=line) from None
        except wire.WireClosed:
            raise self._died(op) from None
        except wire.WireError as error:
            self.kill()
            raise CandidateFault("tampered", f"the result channel carried garbage during '{op}': {error}") from None
        wire.close_all(extra)
        trace.show(reply.get("hooks"), f"runner {self.pid}")
        if reply.get("n") != nonce or not isinstance(reply.get("ok"), bool):
            self.kill()
            raise CandidateFault("tampered", f"the result channel carried an unasked-for answer during '{op}'")
        if not reply["ok"]:
            raise read_fault(reply.get("fault"))
        return reply

    def _go_on(self, nonce: int, left: float, deadline: float) -> tuple[dict[str, Any], list[int]]:
        """Tell the runner that it has the device, and wait for its answer for the seconds that it had left when it
        asked, of which nothing is taken from what it has in all."""
        until = time.monotonic() + left
        if self._deadline is not None:
            self._deadline += until - deadline
        self.sock.settimeout(max(left, 0.001))
        wire.send(self.sock, {"op": "turn", "n": nonce, "timeout_s": left})
        return wire.receive(self.sock, until)

    def _remaining(self, timeout_s: float) -> tuple[float, bool]:
        """Seconds that a request has, and whether the limit of the whole says so; it begins with the first one."""
        now = time.monotonic()
        if self.until is not None:
            timeout_s = min(timeout_s, max(self.until - now, 0.001))
        if not self._wall_s:
            return timeout_s, False
        if self._deadline is None:
            self._deadline = now + self._wall_s
        left = max(self._deadline - now, 0.001)
        return (left, True) if left < timeout_s else (timeout_s, False)

    @property
    def ended(self) -> bool:
        """Whether it has been killed."""
        return self._ended is not None

    def alive(self) -> bool:
        """Whether the channel is open and silent, as that of a standby must be: it speaks only when asked."""
        self.sock.setblocking(False)
        try:
            self.sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def exit_status(self, wait_s: float = 1.0) -> tuple[int, str] | None:
        """Wait status of its process, and the limit that the sandbox saw broken, "" for none; None while it runs.

        Raises WorkerLost when its zygote, which alone knows, is gone.
        """
        message = {"op": "reap", "pid": self.pid, "timeout_s": wait_s}
        answer = self._zygote.ask_running(self._generation, message)
        return (int(answer.get("status") or 0), str(answer.get("reason") or "")) if answer.get("exited") else None

    @property
    def innermost(self) -> int:
        """Number of the process that does the work: in a sandbox the one that its keeper watches over."""
        return next(iter(standing.children(self.pid)), self.pid) if self.sandboxed else self.pid

    def kill(self) -> None:
        """Kill the runner and everything that it has started; safe to call again."""
        if self._ended is None:
            self._ended = "killed"
            if not self.sandboxed:
                self._zygote.end_family(self._generation, self.pid)
            with suppress(InfraError):
                # The driver of a GPU takes its time to clean up after a process: nobody waits for that.
                self._zygote.ask_running(self._generation, {"op": "kill", "pid": self.pid, "wait": False})
        with suppress(OSError):
            self.sock.close()
        if self._stack is not None:
            self._stack.close()
        self._drain.forget(self.output)

    def _stand(self) -> tuple[int, str]:
        """Where it stood when its time ended, as a line and in words; 0 and "" when it has not told."""
        line = 0 if self._stack is None else self._stack.line()
        return line, f"; it was at line {line}" if line else ""

    def _died(self, op: str) -> CandidateFault:
        ended = self.exit_status()
        line, at = self._stand()
        self.kill()
        if ended is None:
            return CandidateFault("crashed", f"it closed its result channel during '{op}'")
        kind, message = describe_death(ended[0], op, ended[1])
        # Only of one that has run out of time: another one's stack would be of a moment that is long past.
        return CandidateFault(kind, message + at, line=line) if kind == "timed_out" else CandidateFault(kind, message)


def describe_death(status: int, op: str, reason: str = "") -> tuple[str, str]:
    """Turn a wait status into a verdict's status and a sentence; `reason` names a limit that the sandbox saw hit."""
    note = f" ({reason})" if reason else ""
    if status & 0x7F:
        number = status & 0x7F
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        if number == signal.SIGXCPU:
            return "timed_out", f"it used up its processor time during '{op}'{note}"
        if number == signal.SIGALRM:
            # Also the end of one that has taken away the handler of the alarm before its deadline.
            return "timed_out", f"an alarm ended the process during '{op}'{note}"
        return "crashed", f"the process was killed by {name} during '{op}'{note}"
    return "crashed", f"the process ended by itself with exit code {status >> 8} during '{op}'{note}"


def read_fault(fault: Any) -> CandidateFault:
    """Read the fault that a runner reports about its own candidate; anything malformed is tampering."""
    if not isinstance(fault, dict) or not isinstance(fault.get("message"), str):
        return CandidateFault("tampered", "the result channel carried a fault that is not one")
    status, line, log = fault.get("status"), fault.get("line", 0), fault.get("log", "")
    known = isinstance(status, str) and status in _FAULTS
    if not known or not isinstance(line, int) or isinstance(line, bool) or not isinstance(log, str):
        return CandidateFault("tampered", f"the result channel carried a fault with the status {status!r:.60}")
    return CandidateFault(str(status), fault["message"][:4000], log[:60000], max(0, line))
