"""All processes of one engine: its zygotes, the standby runners, the judges, and the folders they work in."""

from __future__ import annotations

import itertools
import os
import shutil
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kengine.device import contexts
from kengine.engine.assignment import Assignment
from kengine.engine.device import Device
from kengine.engine.drain import Drain
from kengine.engine.judge import Judge
from kengine.engine.runner import Runner
from kengine.engine.scratch import Scratch, sweep
from kengine.engine.zygote import Recipe, Zygote
from kengine.errors import InfraError, KengineError, TargetUnavailable, WorkerLost

if TYPE_CHECKING:
    from kengine.config import Limits, Plan
    from kengine.model import TargetInfo, Task
    from kengine.plugins.backend import Backend

_ATTEMPTS = 3
_SERVED = 6
"""Candidates side by side that one judge serves without being what they wait for."""
_FOR_NUMPY = ("numpy", "numpy.random", "kengine.provenance.numeric")
_FOR_TORCH = ("torch", "kengine.judge.ahead")
"""What every judge needs sooner or later: the judge of one candidate would import it anew for each."""


class Crew:
    """Starts processes when they are first needed and keeps a few runners ready; thread-safe."""

    def __init__(self, plan: Plan, standbys: int, device: Device | None = None) -> None:
        self._plan = plan
        self._device = device or Device()
        self._standbys = standbys
        self._lock = threading.Lock()
        self._zygotes: dict[str, Zygote] = {}
        self._ready: dict[str, deque[Runner]] = {}
        self._coming: dict[str, int] = {}
        self._judges: dict[str, Assignment[Judge]] = {}
        self._alive: set[Runner] = set()
        self._numbers = itertools.count(1)
        self._drain = Drain()
        self._closed = False
        self._scratch = Scratch(mode=0o711)
        self._root = self._scratch.path
        sweep(self._root.parent)

    @contextmanager
    def runner(self, info: TargetInfo, module: str) -> Iterator[Runner]:
        """Lend a ready runner for one candidate; it is killed in the end, and the next one is already being forked."""
        runner = self._take(info, module)
        try:
            yield runner
        finally:
            self._discard(runner)

    def judge(self, info: TargetInfo, task: Task, backend: Backend) -> Judge:
        """A long-lived judge of a device, for tasks that are trusted; where many are judged side by side there are
        several, each with the tasks that fall to it."""
        recipe = _judge_recipe(info, task.source, backend)
        return self._judges_of(recipe).choose(task.digest)

    def _judges_of(self, recipe: Recipe) -> Assignment[Judge]:
        with self._lock:
            judges = self._judges.get(recipe.key)
            if judges is None:
                zygote, count = self._zygote(recipe), 1 + self._standbys // _SERVED
                judges = self._judges[recipe.key] = Assignment(
                    [self._make_judge(zygote, None, count) for _ in range(count)]
                )
        return judges

    def _make_judge(self, zygote: Zygote, limits: dict[str, Any] | None, beside: int) -> Judge:
        memory_bytes = None if limits else self._plan.task_memory_bytes or _machine_bytes() * 3 // 4 or None
        fork = partial(self._fork, zygote, "judge", limits)
        return Judge(fork, self._plan.task_timeout_s, self._device, beside, memory_bytes)

    @contextmanager
    def own_judge(self, info: TargetInfo, task: Task, backend: Backend) -> Iterator[Judge]:
        """A sandboxed judge for one self-referenced task, thrown away in the end: its text came with the candidate."""
        recipe = _judge_recipe(info, task.source, backend)
        with self._lock:
            zygote = self._zygote(recipe)
        judge = self._make_judge(zygote, _limits(self._plan.limits, info), 1)
        try:
            yield judge
        finally:
            judge.close()
            self._sweep()

    def warm(self, info: TargetInfo, backend: Backend) -> None:
        """Start the zygote of a target, fork its standbys and wait until they are ready, so that the first candidates
        need not wait; on a device each of them opens a context first. One that does not get ready is left to `runner`,
        which says so.

        The judges of a device start beside it, and open it: which ones these are does not depend on the task there.
        """
        recipe = _runner_recipe(info, backend.module)
        with self._lock:
            zygote = self._zygote(recipe)
        judges = self._judges_of(_judge_recipe(info, "", backend)).judges if info.device != "cpu" else ()
        beside = [threading.Thread(target=_open, args=(judge, info.device), daemon=True) for judge in judges]
        for thread in beside:
            thread.start()
        zygote.start()
        self._refill(recipe, zygote, info)
        for thread in beside:
            thread.join()
        with self._lock:
            forked = list(self._ready[recipe.key])
            self._ready[recipe.key].clear()
        for runner in forked:
            try:
                runner.wait_ready()
            except (InfraError, TargetUnavailable):
                self._discard(runner)
                continue
            with self._lock:
                self._ready[recipe.key].append(runner)

    def processes(self) -> dict[str, int | None]:
        """Process numbers of zygotes and judges by name, for tests and reports."""
        with self._lock:
            named = {f"zygote {z.recipe.role} {z.recipe.target}".strip(): z.pid for z in self._zygotes.values()}
            judges = [judge for each in self._judges.values() for judge in each.judges if judge.pid is not None]
            return {**named, **{f"judge {n}": judge.pid for n, judge in enumerate(judges)}}

    @property
    def closed(self) -> bool:
        """Whether it is being closed or has been: what becomes of a candidate from then on says nothing about it."""
        return self._closed

    def close(self) -> None:
        """Kill every process and remove every folder; safe to call again."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            judges = [judge for each in self._judges.values() for judge in each.judges]
            zygotes, alive = list(self._zygotes.values()), list(self._alive)
        for runner in alive:
            runner.kill()
        for zygote in zygotes:
            zygote.close()
        for judge in judges:
            judge.close()
        self._drain.close()
        self._scratch.close()

    def _take(self, info: TargetInfo, module: str) -> Runner:
        recipe = _runner_recipe(info, module)
        with self._lock:
            zygote = self._zygote(recipe)
        problem: InfraError | None = None
        # When a zygote dies its standbys die with it: all of them may have to be passed over.
        for _ in range(_ATTEMPTS + self._standbys):
            with self._lock:
                queue = self._ready.setdefault(recipe.key, deque())
                runner = queue.popleft() if queue else None
            try:
                if runner is None:
                    runner = self._fork(zygote, "runner", _limits(self._plan.limits, info))
                self._refill(recipe, zygote, info)
                runner.wait_ready()
                if runner.alive():
                    return runner
                raise WorkerLost("a standby runner has died")
            except InfraError as error:
                problem = error
                if runner is not None:
                    self._discard(runner)
            except TargetUnavailable:
                if runner is not None:
                    self._discard(runner)
                raise
        raise problem or WorkerLost("no runner")

    def _refill(self, recipe: Recipe, zygote: Zygote, info: TargetInfo) -> None:
        with self._lock:
            queue = self._ready.setdefault(recipe.key, deque())
            # What others are about to add counts: candidates that begin at once would each make up for all of them.
            coming = self._coming.get(recipe.key, 0)
            missing = 0 if self._closed else max(self._standbys - len(queue) - coming, 0)
            self._coming[recipe.key] = coming + missing
        for left in range(missing, 0, -1):
            try:
                runner = self._fork(zygote, "runner", _limits(self._plan.limits, info))
            except BaseException:
                with self._lock:
                    self._coming[recipe.key] -= left
                raise
            with self._lock:
                self._coming[recipe.key] -= 1
                queue.append(runner)

    def _fork(self, zygote: Zygote, kind: str, limits: dict[str, Any] | None) -> Runner:
        if self._closed:
            raise WorkerLost("the engine is closed")
        holder = f"{kind[0]}{next(self._numbers)}"
        workdir = self._root / holder
        workdir.mkdir(mode=0o777)
        os.chmod(workdir, 0o777)  # the runner may have another uid; the umask must not lock it out
        on_device = kind == "runner" and (limits or {}).get("device", "cpu") != "cpu"
        environ = contexts.environ(self._plan.timed) if on_device else {}
        runner = Runner(zygote, self._drain, holder, kind, limits, str(workdir), environ)
        with self._lock:
            self._alive.add(runner)
        return runner

    def _discard(self, runner: Runner) -> None:
        runner.kill()
        with self._lock:
            self._alive.discard(runner)
        shutil.rmtree(runner.workdir, ignore_errors=True)

    def _sweep(self) -> None:
        """Forget the throw-away judges that are gone, and their folders."""
        with self._lock:
            gone = [r for r in self._alive if r.ended]
            self._alive.difference_update(gone)
        for runner in gone:
            shutil.rmtree(runner.workdir, ignore_errors=True)

    def _zygote(self, recipe: Recipe) -> Zygote:
        if self._closed:
            raise WorkerLost("the engine is closed")
        return self._zygotes.setdefault(recipe.key, Zygote(recipe))


def _runner_recipe(info: TargetInfo, module: str) -> Recipe:
    return Recipe("runner", str(info.target), module, info.preload, info.environ)


def _open(judge: Judge, device: str) -> None:
    with suppress(KengineError, TimeoutError):  # whoever needs it starts it again, and is told why it does not
        judge.reserve(device)


def _judge_recipe(info: TargetInfo, source: str, backend: Backend) -> Recipe:
    # numpy always; torch only for tasks that speak of it, since importing it takes longer than most verdicts.
    # Where it is missing the judge says so of the task that needs it.
    wanted = info.device != "cpu" or "torch" in source
    preload = _FOR_NUMPY + (_FOR_TORCH if wanted and find_spec("torch") is not None else ())
    packages = tuple(sorted({module.partition(".")[0] for _, module in backend.comparers()}))
    return Recipe("judge", preload=preload, packages=packages)


def _machine_bytes() -> int:
    """Memory of this machine, or of the control group that this process is confined to; 0 when neither can be told."""
    sizes = []
    with suppress(OSError, ValueError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError), open(path) as file:
            sizes.append(int(file.read()))
    return min(sizes, default=0)


def _limits(limits: Limits, info: TargetInfo) -> dict[str, Any]:
    return {**asdict(limits), "device": info.device}
