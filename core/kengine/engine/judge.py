"""The engine's end of a judge: the trusted process that owns inputs, references and comparisons of one device."""

from __future__ import annotations

import os
import resource
import socket
import threading
import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from kengine import codec, wire
from kengine.engine import standing
from kengine.engine.device import Device
from kengine.engine.runner import describe_death
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

_RUNS = _OF_A_TASK | {"screen"}

_SLOW = (
    "its reference and inputs were not done within {}; make the cases smaller, or raise timeout_s in its block or the "
    "plan's task_timeout_s"
)
_UNENDING = {
    **dict.fromkeys(_OF_A_TASK - {"time"}, _SLOW),
    "prepare": "the inputs and answers that timing needs were not drawn within {}; make the cases smaller or raise the "
    "plan's time_timeout_s",
}
"""What is a task's own fault when there is no end of it. A timing may be the candidate's."""

_FAILED = 70
"""What a fork exits with when kengine's own code in it has failed."""

_NO_MEMORY = "the judge's host has no memory left"
"""How the answer of a judge begins that could not have as much memory as it wanted."""

MAX_CHILDREN = 64
"""Processes that a task's code may have left running in a judge of several tasks when a request is answered."""


class Overrun(TimeoutError):
    """A judge did not answer in time. where: place in the task's own code where it stood, "" when in none."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message)
        self.where = where


class OpenTask:
    """What a judge says of a task that it has opened: cases and their views, and which were left out.

    timeout_s: how long any request about it may take. filename: what its source is called in a traceback.
    """

    def __init__(self, answer: dict[str, Any], generation: int, timeout_s: float, task: Task) -> None:
        self.generation = generation
        self.id = str(answer["task_id"])
        self.cases = tuple(codec.from_json(c, Case) for c in answer["cases"])
        self.views = tuple(codec.from_json(v, CaseView) for v in answer["views"])
        self.notes = tuple(str(n) for n in answer.get("notes", ()))
        self.skipped = {str(k): str(v) for k, v in answer.get("skipped", {}).items()}
        self.module = bool(answer.get("module"))
        self.elapsed_ns = int(answer.get("elapsed_ns", 0))
        self.timeout_s = timeout_s
        self.name = task.name
        self.filename = _filename(task.path, task.name)


class Judge:
    """A connection to one judge process, started by `fork` and started again when it is lost.

    timeout_s: how long a request may take when its task does not say so. device: what its work shares with that of
    runners; a timing holds it alone. beside: how many judges share the device's memory. waiting: requests that are
    under way or stand before it, those aside that wait for the device. memory_bytes: how much host memory a judge
    without a sandbox may take, as long as it works on the processor; a sandbox has limits of its own.
    """

    def __init__(
        self,
        fork: Callable[[], Runner],
        timeout_s: float,
        device: Device | None = None,
        beside: int = 1,
        memory_bytes: int | None = None,
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
        self._memory_bytes = memory_bytes
        self._limited = False
        self._opened: set[int] = set()

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
        answer, _ = self.call("open", body, timeout_s)
        return OpenTask(answer, self._generation, timeout_s, task)

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

    def compare_withheld(
        self, task: OpenTask, case: int, phase: str, holder: str, outputs: Any, before: str
    ) -> tuple[bool, str]:
        """Whether an answer is right although launches were withheld; where it is not, which parts of it are and
        cannot be by chance ("" for none). before: an earlier phase on this case, with other inputs."""
        body = {"task_id": task.id, "case": case, "phase": phase, "holder": holder, "outputs": outputs}
        answer, _ = self.call("compare", body | {"brief": True, "before": before}, task.timeout_s, task=task)
        return codec.from_json(answer["comparison"], Comparison).ok, str(answer.get("parts", ""))

    def prepare(
        self, task: OpenTask, cases: Sequence[int], plan: dict[str, Any], timeout_s: float, holder: str = ""
    ) -> None:
        """Draw the inputs and answers that timing will need, or those that the holder's timing needs to go on. Raises
        TaskError when that does not end in time: the candidate has no part in it."""
        body = {"task_id": task.id, "cases": list(cases), "plan": plan, "holder": holder}
        self.call("prepare", body, timeout_s, task=task)

    def time(
        self, task: OpenTask, cases: Sequence[int], runner: Runner, plan: dict[str, Any], timeout_s: float
    ) -> tuple[TimeRecord | None, CandidateFault | None] | None:
        """Time candidate and baseline in turn; the judge talks to the runner itself, by its own clock.

        None when `prepare` for this runner should draw more before the same is asked for again. Raises Overrun when
        there is no end of it.
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

        Raises what the judge says is wrong, TaskError when the task's code has ended it, wants more memory than there
        is or does not end, WorkerLost when it died otherwise, and Overrun at the end of the time for what is not a
        task's alone (the judge is then killed, since it cannot be interrupted).
        """
        with self._device.shared() if op in _ON_DEVICE else nullcontext(), self._queued(), self._lock:
            if task is not None and (self._process is None or task.generation != self._generation):
                raise WorkerLost("the judge that had opened this task is gone")
            process = self._start()
            self._bound(process, body.get("device"))
            if "task" in body:
                self._opened.add(hash(str(body["task"])))
            try:
                process.sock.settimeout(timeout_s)
                wire.send(process.sock, {"op": op, **body}, fds)
                answer, extra = wire.receive(process.sock, time.monotonic() + timeout_s)
            except wire.WireTimeout as error:
                file = (task.filename if task else _filename_of(body)) if op in _RUNS else ""
                where = standing.ask(process.innermost, process.output.text, file) if file else ""
                self._stop()
                if op in _UNENDING:
                    raise TaskError(f"{_name(body, task, where)}: {_UNENDING[op].format(f'{timeout_s:g} s')}") from None
                raise Overrun(f"the judge did not answer '{op}' within {timeout_s:g} s", where) from error
            except (wire.WireError, OSError) as error:
                printed = process.output.text()[-1500:]
                blame = _blame(process, op) if op in _OF_A_TASK else ""
                self._stop()
                if blame:
                    raise TaskError(f"{_name(body, task)}: {blame}\n{printed}".rstrip()) from error
                raise WorkerLost(f"the judge died during '{op}': {error}\n{printed}".rstrip()) from error
            if op in _RUNS and not process.sandboxed and (n := len(standing.children(process.pid))) > MAX_CHILDREN:
                wire.close_all(extra)
                self._stop()
                raise TaskError(
                    f"{_name(body, task)}: its code has left {n} processes running, and {MAX_CHILDREN} may be; "
                    "have it start none, or wait for their ends"
                )
            if op in _RUNS and str(answer.get("message")).startswith(_NO_MEMORY):
                alone = len(self._opened) <= 1
                self._stop()
                if not alone:  # what it keeps for others may be what is in the way: tried anew in a fresh one
                    raise WorkerLost("the judge had no memory left beside what it keeps for other tasks")
                raise TaskError(
                    f"{_name(body, task)}: its code, or what the judge computes with it, wants more memory than there "
                    f"is{self._allowance(process)}; make its cases smaller"
                )
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
            self._limited = False
            self._opened.clear()
        return self._process

    def _bound(self, process: Runner, device: str | None) -> None:
        """Limit the memory of a judge without a sandbox; a device's driver needs more than can be told beforehand."""
        if self._memory_bytes is None or process.sandboxed or device is None or self._limited == (device == "cpu"):
            return
        self._limited = device == "cpu"
        with suppress(OSError, ValueError):
            hard = resource.prlimit(process.pid, resource.RLIMIT_DATA)[1]
            soft = self._memory_bytes if self._limited else hard
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (soft, hard))

    def _allowance(self, process: Runner) -> str:
        if process.sandboxed:
            return " under the plan's limits.memory_bytes"
        limited = self._memory_bytes if self._limited else None
        return "" if limited is None else f" ({limited / 2**30:.3g} GiB, the plan's task_memory_bytes)"

    def _stop(self) -> None:
        if self._process is not None:
            with suppress(OSError):
                self._process.sock.shutdown(socket.SHUT_RDWR)
            self._process.kill()
            self._process = None


def _name(body: dict[str, Any], task: OpenTask | None, where: str = "") -> str:
    """The task that a request opens or is about, and where in its source."""
    name = task.name if task is not None else body["task"]["name"]
    return f"task {name!r}{where and f' ({where})'}"


def _filename(path: str, name: str) -> str:
    """What `kengine.judge.module` calls a task's source."""
    return path or f"<task {name}>"


def _filename_of(body: dict[str, Any]) -> str:
    return _filename(str(body["task"].get("path", "")), str(body["task"]["name"]))


def _blame(process: Runner, op: str) -> str:
    """What a task did when its judge has left by itself, or broke a limit of its sandbox; "" when another signal,
    kengine's own failure or the end of its zygote was the end of it, and while it runs."""
    try:
        ended = process.exit_status()
    except InfraError:
        return ""
    status, reason = ended or (_FAILED << 8, "")
    if reason and process.sandboxed:
        return f"its code broke a limit of the plan: {describe_death(status, op, reason)[1]}"
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) == _FAILED:
        return ""
    return (
        f"the task's code ended the judge's process with exit status {os.WEXITSTATUS(status)} during '{op}'; "
        "take os._exit and the like out of its code"
    )
