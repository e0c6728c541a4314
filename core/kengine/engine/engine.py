"""The engine itself: one backend, one target, many candidates."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kengine import __version__
from kengine.config import Plan
from kengine.engine import opinions, pipeline, selection
from kengine.engine.batch import Batch, Pool
from kengine.engine.crew import Crew
from kengine.engine.device import Device
from kengine.engine.job import Job
from kengine.engine.store import Store
from kengine.errors import (
    DeadlineExceeded,
    InfraError,
    InternalError,
    KengineError,
    TargetUnavailable,
    UsageError,
    WorkerLost,
)
from kengine.model import Capability, TargetInfo, Verdict
from kengine.tasks.item import Item

if TYPE_CHECKING:
    from types import TracebackType

    from kengine.engine.ray import Cluster
    from kengine.engine.ray_actors import Actors

_ATTEMPTS = 3
_CLOSED = "the engine was closed while this candidate was judged"


class Engine:
    """Judges candidates on one target; keeps its processes warm until it is closed.

    backend, target: "triton" picks the device, else the emulator; "triton:sm_90" picks exactly that.
    compile_for: architectures to compile for beside the launch; None takes what the target names, () takes none.
    workers: candidates judged side by side; default the number of processors. run: folder that keeps verdicts, so
    that a run that was killed goes on where it was. executor: "ray", or a `kengine.engine.ray.Cluster`, judges on the
    nodes of a Ray cluster; workers then counts over all of them. Raises UsageError, PluginError or TargetUnavailable
    at once.
    """

    def __init__(
        self,
        backend: str | None = None,
        target: str | None = None,
        *,
        compile_for: Sequence[str] | None = None,
        plan: Plan | None = None,
        workers: int | None = None,
        run: Path | str | None = None,
        executor: str | Cluster = "local",
    ) -> None:
        self.plan = plan or Plan()
        self.salt = self.plan.salt or secrets.token_hex(16)
        self._actors: Actors | None = None
        if executor == "local":
            self.backend, self.info = selection.choose(
                backend, target, self.plan.device_only, Capability.launch if self.plan.check else Capability.compile
            )
            asked = None if compile_for is None else selection.find_all(self.backend, compile_for)
            self.compile_for = self.info.companions if asked is None else asked
            self._check_plan()
            self.workers = workers or len(os.sched_getaffinity(0))
        else:
            from kengine.engine import ray

            # One salt for all nodes: the inputs do not depend on where a candidate is judged.
            same = replace(self.plan, salt=self.salt)
            self._actors = ray.connect(executor, backend, target, compile_for, same, workers)
            self.backend, self.info = self._actors.backend, self._actors.info
            self.compile_for, self.workers = self._actors.compile_for, self._actors.workers
        self._store = Store(Path(run)) if run is not None else None
        self._lock = threading.Lock()
        self._device = Device(gather=max(1, 3 * self.workers // 4))
        self._begin()

    @property
    def target_info(self) -> TargetInfo:
        """The target that launches, and what it can do here."""
        return self.info

    def warm(self) -> None:
        """Start the processes now instead of with the first candidate."""
        self._renew()
        if isinstance(self._crew, Crew):  # actors are warm from the beginning
            self._crew.warm(self.info, self.backend)

    def verify(self, item: Item) -> Verdict:
        """Judge one candidate.

        Raises TaskError when the task is broken, InfraError when the machine failed three times in a row, and
        InternalError (one of these) when kengine itself did.
        """
        self._renew()
        return self._verify(item)

    def verify_many(self, items: Iterable[Item], return_exceptions: bool = False) -> Batch:
        """Judge many; iterate the result with `for` or `async for`, verdicts come in the order of the items."""
        self._renew()
        return Batch(self._pool, self._verify, items, return_exceptions)

    def processes(self) -> dict[str, int | None]:
        """Process numbers by name: zygotes and judges."""
        return self._crew.processes()

    def close(self) -> None:
        """End every process and remove every temporary file; safe to call again."""
        self._finalizer()
        if self._store is not None:
            self._store.close()
            self._store = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._crew = self._actors or Crew(self.plan, self.workers, self._device)
        self._pool = Pool(self._actors.threads if self._actors else self.workers)
        self._finalizer = weakref.finalize(self, _end, self._crew, self._pool, self._pid)

    def _renew(self) -> None:
        # After a fork the processes belong to the parent: leave them alone and start one's own.
        with self._lock:
            if os.getpid() != self._pid:
                if self._actors is not None:
                    raise UsageError("a Ray cluster is joined by one process: make an Engine of its own after a fork")
                self._finalizer.detach()
                self._begin()

    def _verify(self, item: Item) -> Verdict:
        if not isinstance(item, Item):
            raise UsageError(f"want items (`kengine.tasks.load` and the like make them), got {type(item).__name__}")
        try:
            return self._verify_anew(item)
        except KengineError:
            raise
        except (Exception, SystemExit) as error:
            raise InternalError.of(error) from error

    def _verify_anew(self, item: Item) -> Verdict:
        key = self._key(item)
        if self._store is not None and (kept := self._store.get(key)) is not None:
            return kept
        for attempt in range(_ATTEMPTS):
            try:
                verdict = self._judge(item)
                break
            except DeadlineExceeded:
                raise
            except InfraError:
                if attempt == _ATTEMPTS - 1:
                    raise
        if self._store is not None:
            self._store.put(key, verdict)
        return verdict

    def _judge(self, item: Item) -> Verdict:
        crew = self._crew
        try:
            if not isinstance(crew, Crew):
                return crew.judge(item)
            verdict = pipeline.run(self._job(item), crew, self._device)
        except (Exception, SystemExit) as error:
            if isinstance(crew, Crew) and crew.closed:
                raise WorkerLost(_CLOSED) from error
            if isinstance(error, KengineError):
                raise
            raise InternalError.of(error) from error
        if crew.closed:  # a runner that is killed by the end of the engine looks like one that crashed by itself
            raise WorkerLost(_CLOSED)
        return verdict

    def _job(self, item: Item) -> Job:
        wanted = item.task.spec.device
        if wanted and wanted != self.info.device and self.plan.check:
            raise TargetUnavailable(
                f"task {item.task.name} needs a device ({wanted}), and {self.info.target} works on {self.info.device}; "
                f'choose a target with such a device, or take device = "{wanted}" out of the task\'s block'
            )
        until = None if item.within_s is None else time.monotonic() + item.within_s
        return Job(
            item.candidate, item.task, self.info, self.backend, self.plan, self.salt, self.compile_for, until=until
        )

    def _key(self, item: Item) -> str:
        plan = json.dumps(self.plan.to_json(), sort_keys=True)
        parts = (item.candidate.digest, item.task.digest, str(self.info.target), plan, __version__, item.key)
        return hashlib.sha256(
            "\0".join((*parts, *map(str, self.compile_for))).encode(errors="surrogatepass")
        ).hexdigest()

    def _check_plan(self) -> None:
        opinions.require(self.plan, self.backend)
        if self.plan.timed and Capability.time not in self.info.capabilities:
            if self.info.emulated:
                raise UsageError(f"{self.info.target} is an emulator: it can say what is right, never how fast it is")
            raise UsageError(f"{self.info.target} cannot time here: {self.info.reasons.get('time', 'no reason given')}")


def _end(crew: Crew | Actors, pool: Pool, pid: int) -> None:
    if os.getpid() == pid:
        crew.close()
        pool.close()
