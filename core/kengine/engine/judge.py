"""The engine's end of a judge: the trusted process that owns inputs, references and comparisons of one device."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from kengine import codec, wire
from kengine.engine.device import Device
from kengine.errors import CandidateFault, InfraError, TargetUnavailable, TaskError, UsageError, WorkerLost
from kengine.model import Case, CaseView, Comparison, Task, TimeRecord
from kengine.provenance import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kengine.engine.runner import Runner

_ERRORS: dict[str, type[Exception]] = {
    "task": TaskError,
    "usage": UsageError,
    "unavailable": TargetUnavailable,
    "infra": InfraError,
}


_ON_DEVICE = frozenset({"open", "screen", "lend", "compare", "near", "profile", "prepare"})
"""What takes time of the device. `time` has it alone already."""

_OF_A_TASK = (_ON_DEVICE | {"time"}) - {"screen"}
"""What runs code of a task, whose fault it is when that ends the process. A screening has a finding of its own for it.
"""

_FAILED = 70
"""What a fork exits with when kengine's own code in it has failed."""


class OpenTask:
    """What a judge says of a task that it has opened: cases and their views, and which were left out.

    timeout_s: how long any request about it may take.
    """

    def __init__(self, answer: dict[str, Any], generation: int, timeout_s: float, name: str) -> None:
        self.generation = generation
        self.id = str(answer["task_id"])
        self.cases = tuple(codec.from_json(c, Case) for c in answer["cases"])
        self.views = tuple(codec.from_json(v, CaseView) for v in answer["views"])
        self.notes = tuple(str(n) for n in answer.get("notes", ()))
        self.skipped = {str(k): str(v) for k, v in answer.get("skipped", {}).items()}
        self.module = bool(answer.get("module"))
        self.elapsed_ns = int(answer.get("elapsed_ns", 0))
        self.timeout_s = timeout_s
        self.name = name


class Judge:
    """A connection to one judge process, started by `fork` and started again when it is lost.

    timeout_s: how long a request may take when its task does not say so. device: what its work shares with that of
    runners; a timing holds it alone. beside: how many judges share the device's memory. waiting: requests that are
    under way or stand before it, those aside that wait for the device.
    """

    def __init__(
        self, fork: Callable[[], Runner], timeout_s: float, device: Device | None = None, beside: int = 1
    ) -> None:
        self.waiting = 0
        self._device = device or Device()
        self._beside = beside
        self._fork = fork
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._process: Runner | None = None
        self._generation = 0

    def open(
        self,
        task: Task,
        salt: str,
        device: str,
        cases: int | None,
        screen: bool,
        comparers: Sequence[tuple[str, str]] = (),
        chip_error: float = 0.0,
    ) -> OpenTask:
        """Load and screen a task; `comparers` are name and module of plugins that may compare in the core's place,
        `chip_error` is that of the target.

        Raises TaskError when the task is broken or its reference does not end in time.
        """
        body = {
            "task": codec.to_json(task),
            "salt": salt,
            "device": device,
            "cases": cases,
            "screen": screen,
            "comparers": [list(pair) for pair in comparers],
            "chip_error": chip_error,
            "beside": self._beside,
        }
        timeout_s = task.spec.timeout_s or self._timeout_s
        try:
            answer, _ = self.call("open", body, timeout_s)
        except TimeoutError:
            raise TaskError(
                f"task {task.name}: its reference and inputs were not done within {timeout_s:g} s; "
                "make the cases smaller or raise timeout_s in its block"
            ) from None
        return OpenTask(answer, self._generation, timeout_s, task.name)

    def reserve(self, device: str) -> None:
        """Start the process, and have it open a device before there is a task. Raises as `call` does."""
        self.call("reserve", {"device": device}, self._timeout_s)

    def lend(
        self,
        task: OpenTask,
        cases: Sequence[int],
        phase: str | Sequence[str],
        holder: str,
        elsewhere: bool = False,
        room: tuple[int, int] = (0, 0),
    ) -> tuple[list[Any], list[int]]:
        """Lend fresh inputs and poisoned sinks, of one phase or of one for each case.

        elsewhere: not in the memory of the first loan, if there is room for that. room: how many loans of the first
        case, and of any of these cases beside, the memory is to hold without being moved.

        Returns bundles for the runner, and descriptors that the caller closes.
        """
        phases = [phase] * len(cases) if isinstance(phase, str) else list(phase)
        body = {"task_id": task.id, "cases": list(cases), "phases": phases, "holder": holder, "elsewhere": elsewhere}
        body |= {"room": list(room)}
        answer, fds = self.call("lend", body, task.timeout_s, task=task)
        return list(answer["bundles"]), fds

    def compare(
        self, task: OpenTask, case: int, phase: str, holder: str, outputs: Any, brief: bool, digest: bool = False
    ) -> tuple[Comparison, str]:
        """Compare what lies in a runner's sinks; `outputs` is the runner's own description and hostile.

        brief: only whether it is right; nothing is located, described or digested. digest: whether it is wanted.

        Returns the comparison and the digest of what was compared, "" where none is wanted. Raises CandidateFault when
        the description is not one that a runner sends.
        """
        body = {"task_id": task.id, "case": case, "phase": phase, "holder": holder, "outputs": outputs}
        body |= {"brief": brief, "digest": digest}
        answer, _ = self.call("compare", body, task.timeout_s, task=task)
        if (fault := answer.get("fault")) is not None:
            raise CandidateFault(fault["status"], fault["message"])
        return codec.from_json(answer["comparison"], Comparison), str(answer.get("digest", ""))

    def prepare(
        self, task: OpenTask, cases: Sequence[int], plan: dict[str, Any], timeout_s: float, holder: str = ""
    ) -> None:
        """Draw the inputs and answers that timing will need, or those that the holder's timing needs to go on. Raises
        TaskError when that does not end in time: the candidate has no part in it."""
        body = {"task_id": task.id, "cases": list(cases), "plan": plan, "holder": holder}
        try:
            self.call("prepare", body, timeout_s, task=task)
        except TimeoutError:
            raise TaskError(
                f"the inputs and answers that timing needs were not drawn within {timeout_s:g} s; make the cases "
                "smaller or raise the plan's time_timeout_s"
            ) from None

    def time(
        self, task: OpenTask, cases: Sequence[int], runner: Runner, plan: dict[str, Any], timeout_s: float
    ) -> tuple[TimeRecord | None, CandidateFault | None] | None:
        """Time candidate and baseline in turn; the judge talks to the runner itself, by its own clock.

        None when `prepare` for this runner should draw more before the same is asked for again.
        """
        body = {"task_id": task.id, "cases": list(cases), "holder": runner.holder, "plan": plan}
        answer, _ = self.call("time", body, timeout_s, (runner.sock.fileno(),), task)
        if answer.get("more"):
            return None
        record = codec.from_json(answer["record"], TimeRecord) if answer.get("record") is not None else None
        fault = answer.get("fault")
        return record, CandidateFault(fault["status"], fault["message"]) if fault else None

    def profile(self, task: OpenTask, case: int) -> Facts:
        """The operators that the reference uses on a case."""
        body = {"task_id": task.id, "case": case}
        answer, _ = self.call("profile", body, task.timeout_s, task=task)
        return codec.from_json(answer["facts"], Facts)

    def near(self, task: OpenTask, case: int, phase: str) -> str:
        """The phase whose inputs are nearly those of `phase` and whose answer is another; "" when there is none."""
        body = {"task_id": task.id, "case": case, "phase": phase}
        answer, _ = self.call("near", body, task.timeout_s, task=task)
        return str(answer["phase"])

    def release(self, holder: str) -> None:
        """Take back what was lent to a runner; a lost judge has nothing to take back."""
        with suppress(InfraError, TimeoutError):
            if self._process is not None:
                self.call("release", {"holder": holder}, 30.0)

    def call(
        self, op: str, body: dict[str, Any], timeout_s: float, fds: tuple[int, ...] = (), task: OpenTask | None = None
    ) -> tuple[dict[str, Any], list[int]]:
        """Ask for one thing, of the process that has opened the task where one is given.

        Raises what the judge says is wrong, TaskError when the task's code has ended it, WorkerLost when it died
        otherwise, TimeoutError at the end of the time (the judge is then killed, since it cannot be interrupted).
        """
        with self._device.shared() if op in _ON_DEVICE else nullcontext(), self._queued(), self._lock:
            if task is not None and (self._process is None or task.generation != self._generation):
                raise WorkerLost("the judge that had opened this task is gone")
            process = self._start()
            try:
                process.sock.settimeout(timeout_s)
                wire.send(process.sock, {"op": op, **body}, fds)
                answer, extra = wire.receive(process.sock, time.monotonic() + timeout_s)
            except wire.WireTimeout as error:
                self._stop()
                raise TimeoutError(f"the judge did not answer '{op}' within {timeout_s:g} s") from error
            except (wire.WireError, OSError) as error:
                printed = process.output.text()[-1500:]
                code = _exit_code(process) if op in _OF_A_TASK else None
                self._stop()
                if code is not None:
                    raise TaskError(
                        f"{_name(body, task)}the task's code ended the judge's process with exit status {code} during "
                        f"'{op}'; take os._exit and the like out of its code\n{printed}".rstrip()
                    ) from error
                raise WorkerLost(f"the judge died during '{op}': {error}\n{printed}".rstrip()) from error
        if not answer.get("ok"):
            wire.close_all(extra)
            raise _ERRORS.get(str(answer.get("error")), InfraError)(str(answer.get("message")))
        return answer, extra

    @property
    def sandbox(self) -> tuple[str, ...]:
        """Measures in force around this judge; empty for the engine's own long-lived ones."""
        return self._process.sandbox if self._process else ()

    @property
    def pid(self) -> int | None:
        """Process number, None when it does not run."""
        return self._process.pid if self._process else None

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    @contextmanager
    def _queued(self) -> Iterator[None]:
        with self._counting:
            self.waiting += 1
        try:
            yield
        finally:
            with self._counting:
                self.waiting -= 1

    def _start(self) -> Runner:
        if self._process is None:
            process = self._fork()
            process.wait_ready()
            self._process = process
            self._generation += 1
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            with suppress(OSError):
                self._process.sock.shutdown(socket.SHUT_RDWR)
            self._process.kill()
            self._process = None


def _name(body: dict[str, Any], task: OpenTask | None) -> str:
    """The name of the task that a request opens or is about, with a colon."""
    name = task.name if task is not None else body["task"]["name"]
    return f"task {name!r}: "


def _exit_code(process: Runner) -> int | None:
    """The exit status of a judge that has left by itself; None when a signal, kengine's own failure or the end of its
    zygote was the end of it, and while it runs."""
    message = {"op": "reap", "pid": process.pid, "timeout_s": 1.0}
    try:
        answer = process._zygote.ask_running(process._generation, message)
    except InfraError:
        return None
    status = int(answer.get("status") or 0)
    if not answer.get("exited") or not os.WIFEXITED(status) or os.WEXITSTATUS(status) == _FAILED:
        return None
    return os.WEXITSTATUS(status)
