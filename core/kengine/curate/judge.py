"""Engines of a curation: one a target, kept warm; a sample's verdict on each target of its backend, in short form."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from kengine.curate.record import Judgement, Sample
from kengine.errors import BackendNotFound, InfraError, InternalError, KengineError, UsageError, WorkerLost
from kengine.model import Artifact, Candidate, KernelResources, SourceFile, Status, Task, Verdict
from kengine.target import Target

if TYPE_CHECKING:
    from kengine.config import Plan
    from kengine.curate.stage import Context
    from kengine.engine import Engine
    from kengine.tasks import Item


class Bench:
    """Engines by target. targets: `BACKEND:ARCH` or a backend's name, which then picks its device, else its emulator.

    compile_for: targets to compile for beside, each by its backend. Engines start when they are first needed.
    """

    def __init__(
        self, targets: Sequence[str], compile_for: Sequence[str], plan: Plan, jobs: int, run: Path | None = None
    ) -> None:
        self.targets = tuple(targets)
        self._beside: dict[str, list[str]] = {}
        for text in compile_for:
            self._beside.setdefault(Target.parse(text).backend, []).append(text)
        self._plan = plan
        self._jobs = jobs
        self._run = run
        self._engines: dict[str, Engine] = {}
        self._closed = False
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(jobs)

    def targets_of(self, sample: Sample) -> list[str]:
        """Targets that a sample is judged on: those of its backend."""
        return [t for t in self.targets if t.partition(":")[0] == sample.backend]

    def engine(self, target: str) -> Engine:
        """The engine of a target; an emulator's measures nothing.

        Raises UsageError, PluginError, TargetUnavailable, and WorkerLost once they were closed.
        """
        from kengine.engine import Engine

        with self._lock:
            if self._closed:
                raise WorkerLost("the engines were closed")
            if target not in self._engines:
                backend = target.partition(":")[0]
                where = (None, target) if ":" in target else (target, None)
                plan = replace(self._plan, time=False, min_speedup=None) if self._emulated(*where) else self._plan
                self._engines[target] = Engine(
                    *where, compile_for=self._beside.get(backend), plan=plan, workers=self._jobs, run=self._run
                )
            return self._engines[target]

    def check(self) -> None:
        """Make every engine, so that a target that is not there shows before any sample is judged."""
        for target in self.targets:
            self.engine(target)
        if self._plan.timed and all(engine.info.emulated for engine in self._engines.values()):
            raise UsageError(
                f"time and min_speedup need a device to measure on, and {', '.join(self.targets)} are emulators"
            )

    def _emulated(self, backend: str | None, target: str | None) -> bool:
        from kengine.engine import selection

        return selection.choose(backend, target, False)[1].emulated

    def verify(self, target: str, item: Item, uid: str) -> Verdict:
        """One verdict for the sample `uid`, as many side by side as there are jobs.

        Raises TaskError, TargetUnavailable, InternalError for a mistake of kengine's own over this sample, or
        InfraError, which says what to do and rejects nothing.
        """
        with self._slots:
            try:
                return self.engine(target).verify(item)
            except InternalError:
                raise
            except InfraError as error:
                raise type(error)(
                    f"{uid} on {target}: the machine failed, not the sample: {error}. It was tried anew and is not "
                    "counted as rejected: once the machine is well, run the same command again, which goes on where "
                    "it was and judges the sample then"
                ) from error

    def close(self) -> None:
        """End every process."""
        with self._lock:
            self._closed = True
            for engine in self._engines.values():
                engine.close()
            self._engines.clear()


def is_device(target: str) -> bool:
    """Whether a target is a device that is there or named, and no emulator; False for what is not known here."""
    from kengine.engine import selection

    try:
        return ":" in target and not selection.choose(None, target, False)[1].emulated
    except KengineError:
        return False


def check_targets(context: Context, key: str, targets: Sequence[str]) -> None:
    """Refuse targets that nothing here is called, with file and line; what cannot run now shows when it is to.

    A run that is done with its verdicts is not asked. Raises ConfigError with the list of what there is, PluginError.
    """
    from kengine.engine import selection
    from kengine.plugins import backend as backends

    if context.store is not None and context.store.last() is not None:
        return
    for text in targets:
        name, colon, _ = text.partition(":")
        try:
            backend = backends.load(name)
            if colon:
                selection.find(backend, Target.parse(text))
        except (UsageError, BackendNotFound) as error:
            raise context.settings.fail(key, f"{text!r}: {error}", text) from None


def check_codes(context: Context, key: str, targets: Sequence[str], codes: Sequence[str]) -> None:
    """Refuse codes that no lint rule for the targets has: one would switch all of them off. Raises ConfigError."""
    from kengine.lint.codes import find_codes
    from kengine.plugins import backend as backends

    if not codes or (context.store is not None and context.store.last() is not None):
        return
    found = [find_codes(backends.load(name)) for name in dict.fromkeys(text.partition(":")[0] for text in targets)]
    for code in codes:
        if not any(rules.silent or rules.names(code) for rules in found):
            near = next((rules.nearest(code) for rules in found if rules.nearest(code)), "")
            hint = f"; did you mean {near}?" if near else "; docs/rules.md lists the codes"
            raise context.settings.fail(key, f"{code!r}: no lint rule has a code that begins so{hint}", code)


def make_item(sample: Sample, task: Task | None = None) -> Item:
    """The candidate of a sample and its task, or another one."""
    from kengine import tasks
    from kengine.tasks import Item

    task = task or sample.task
    assert task is not None
    item = tasks.pair(sample.code, task, sample.files[0].path)
    candidate = item.candidate
    if sample.entry and sample.entry != candidate.entry:
        candidate = replace(candidate, entry=sample.entry)
    if len(sample.files) > 1:
        candidate = Candidate(
            (candidate.files[0], *map(_same, sample.files[1:])), candidate.entry, candidate.language, candidate.options
        )
    return Item(candidate, task)


def _same(file: SourceFile) -> SourceFile:
    return SourceFile(file.path, file.text)


def summarise(verdict: Verdict, target: str) -> Judgement:
    """The short form of a verdict; `target` is what was asked for."""
    stages = verdict.stages
    artifacts = stages.compile.artifacts if stages.compile else ()
    compared = stages.compare.comparisons if stages.compare else ()
    timed = stages.time.cases if stages.time else ()
    latency = [median(case.candidate_ns) for case in timed if case.candidate_ns]
    params = {c.name: c.params for c in verdict.task.spec.cases}
    right = {str(sorted(params.get(c.case, {}).items())) for c in compared if c.ok}
    return Judgement(
        target=str(verdict.target),
        status=str(verdict.status),
        emulated=verdict.emulated,
        stage=verdict.stage,
        message=verdict.message,
        speedup=verdict.speedup,
        latency_ns=round(math.exp(sum(map(math.log, latency)) / len(latency))) if latency else None,
        kernels=tuple(_kernels(artifacts, verdict.target)),
        compiled_for=tuple(str(a.target) for a in artifacts),
        cases=len(compared),
        shapes="several" if len(right) > 1 else "one" if right else "",
        memory_bytes=_memory(verdict),
        salt=verdict.salt,
        device=verdict.environment.device,
        versions={"kengine": verdict.environment.kengine, "python": verdict.environment.python,
                  **verdict.environment.versions},
        duration_ns=sum(v for k, v in verdict.durations_ns.items() if k not in ("candidate", "reference")),
    )  # fmt: skip


def _kernels(artifacts: Sequence[Artifact], launched: Target) -> Iterator[KernelResources]:
    """What kernels take on every target that they were compiled for; `target` says where it is not the launch's."""
    for artifact in artifacts:
        for kernel in artifact.kernels:
            same = artifact.target == launched
            yield kernel if same else replace(kernel, details={**kernel.details, "target": str(artifact.target)})


def _memory(verdict: Verdict) -> int | None:
    details: Mapping[str, object] = verdict.stages.launch.details if verdict.stages.launch else {}
    value = details.get("memory_bytes")
    return value if isinstance(value, int) else None


def is_specialised(verdict: Verdict) -> bool:
    """Whether a candidate is right on one shape and fails on others: every failure at a shape where nothing is right.

    Looks at what was compared; a candidate that died at a shape leaves no comparison for it, and the cases before
    it, all of one other shape, were right.
    """
    if verdict.status not in (Status.wrong_result, Status.launch_failed, Status.crashed):
        return False
    spec = {c.name: str(sorted(c.params.items())) for c in verdict.task.spec.cases}
    if len(set(spec.values())) < 2 or verdict.stages.compare is None:
        return False
    right = {spec.get(c.case, "") for c in verdict.stages.compare.comparisons if c.ok}
    wrong = {spec.get(c.case, "") for c in verdict.stages.compare.comparisons if not c.ok}
    return len(right) == 1 and not right & wrong
